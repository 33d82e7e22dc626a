/* SPDX-License-Identifier: MIT */
/* Files with debug information, opened; see set.h. Finding types is in find.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "layout/read/image.h"
#include "layout/read/search.h"
#include "layout/read/unpack.h"
#include "layout/set_private.h"

/* A kernel in an image in a compressed file. */
#define PACKED_DEEP 3

#define KERNEL_BTF_FOLDER "/sys/kernel/btf/"
#define KERNEL_BTF KERNEL_BTF_FOLDER "vmlinux"

/* EM_386 and EM_68K align less than their integers are wide. */
static uint32_t align_max_of(const struct elf *elf)
{
    return elf->machine == 3 ? 4 : elf->machine == 4 ? 2 : 8;
}

static int open_span(struct layout_set *set, struct span span, unsigned deep);

/* Keeps @blob until the set is closed. */
static int keep_blob(struct layout_set *set, const struct blob *blob)
{
    if (set->blob_count == sizeof(set->blobs) / sizeof(set->blobs[0])) {
        struct blob extra = *blob;
        blob_free(&extra);
        return layout_fail(set->error, MGLRU_EINVAL, "%s: compressed too many times", set->path);
    }
    set->blobs[set->blob_count++] = *blob;
    return MGLRU_OK;
}

static int unpack_kept(struct layout_set *set, struct span packed, struct span *plain)
{
    struct blob blob;
    int code = unpack(unpack_detect(packed), packed, &blob, set->path, set->error);
    if (code != MGLRU_OK)
        return code;
    *plain = blob.span;
    return keep_blob(set, &blob);
}

/* The BTF of @span, whatever it is wrapped in; empty when it has none. */
static int find_btf(struct layout_set *set, struct span span, unsigned deep, struct span *btf)
{
    struct elf elf;
    struct span packed, plain;
    *btf = (struct span){span.data, 0};
    if (btf_is(span)) {
        *btf = span;
        return MGLRU_OK;
    }
    if (elf_is(span)) {
        int code = elf_open(span, set->path, &elf, set->error);
        if (code != MGLRU_OK)
            return code;
        /* The section must outlive the elf: a compressed one would not. */
        for (size_t i = 0; i < elf.section_count; i++)
            if (strcmp(elf.sections[i].name, ".BTF") == 0 && elf.sections[i].type == 1 &&
                elf.sections[i].offset <= span.bytes &&
                elf.sections[i].size_bytes <= span.bytes - elf.sections[i].offset)
                *btf = (struct span){span.data + elf.sections[i].offset,
                                     (size_t)elf.sections[i].size_bytes};
        elf_close(&elf);
        return MGLRU_OK;
    }
    if (deep < PACKED_DEEP && image_payload(span, &packed)) {
        int code = unpack_kept(set, packed, &plain);
        return code == MGLRU_OK ? find_btf(set, plain, deep + 1, btf) : code;
    }
    image_find_btf(span, btf);
    return MGLRU_OK;
}

/* What a module's BTF builds on: the file that was named, or the running kernel's. */
static int open_base(struct layout_set *set, struct span *base)
{
    struct blob blob;
    const char *path = set->options.base;
    if (path == NULL && set->options.no_debug_search)
        return MGLRU_OK;
    path = path != NULL ? path : KERNEL_BTF;
    int code = blob_open(path, &blob, set->error);
    if (code == MGLRU_OK)
        code = keep_blob(set, &blob);
    if (code == MGLRU_OK)
        code = find_btf(set, blob.span, 0, base);
    if (code == MGLRU_OK && base->bytes == 0)
        code = layout_fail(set->error, MGLRU_EINVAL, "%s: has no BTF to build on", path);
    return code;
}

static int open_btf(struct layout_set *set, struct span own, struct elf *elf)
{
    struct btf_source source = {.own = own, .path = set->path, .align_max = 8};
    if (elf != NULL) {
        source.align_max = align_max_of(elf);
        source.address_bytes = elf->machine == 247 || elf->wide ? 8 : 4;
        int code = elf_section(elf, ".BTF.base", &source.base, set->error);
        if (code != MGLRU_OK)
            return code;
    }
    /* Only what is a module by its looks is taken for one: other files may just be damaged. */
    bool module = elf != NULL || (strcmp(set->path, KERNEL_BTF) != 0 &&
                                  strncmp(set->path, KERNEL_BTF, strlen(KERNEL_BTF_FOLDER)) == 0);
    if (source.base.bytes == 0 && (set->options.base != NULL || (module && btf_needs_base(own)))) {
        int code = open_base(set, &source.base);
        if (code != MGLRU_OK)
            return code;
    }
    set->info.format = LAYOUT_BTF;
    return btf_open(&source, &set->reader, set->error);
}

/* The stripped file's debug file; *found: whether there is one. */
static int open_debug_file(struct layout_set *set, struct elf *elf, bool *found)
{
    char path[SEARCH_PATH_MAX];
    struct blob blob;
    struct layout_error unused;
    *found = false;
    if (set->options.no_debug_search || set->source_path != NULL || !search_debug_file(elf, path) ||
        blob_open(path, &blob, &unused) != MGLRU_OK)
        return MGLRU_OK;
    *found = true;
    set->source_path = strdup(path);
    int code = keep_blob(set, &blob);
    if (code == MGLRU_OK && set->source_path == NULL)
        code = layout_fail(set->error, MGLRU_ENOMEM, "%s: out of memory", set->path);
    return code == MGLRU_OK ? open_span(set, blob.span, 0) : code;
}

static int no_types(struct layout_set *set)
{
    return layout_fail(set->error, MGLRU_EINVAL,
                       "%s: has no debug information: compile with -g, install its -dbgsym or -dbg"
                       " package, or for a kernel open " KERNEL_BTF " or its vmlinuz",
                       set->path);
}

static int open_elf(struct layout_set *set, struct span span)
{
    struct elf *elf = &set->elf;
    const char *path = set->source_path != NULL ? set->source_path : set->path;
    int code = elf_open(span, path, elf, set->error);
    if (code != MGLRU_OK)
        return code;
    bool has_btf = elf_has(elf, ".BTF");
    bool has_dwarf = elf_has(elf, ".debug_info") || elf_has(elf, ".debug_types") ||
                     elf_has(elf, ".debug_info.dwo");
    if (has_dwarf && !(has_btf && set->options.prefer_btf)) {
        struct elf own = *elf;
        *elf = (struct elf){0};
        set->info.format = LAYOUT_DWARF;
        return dwarf_open(&own, !set->options.no_debug_search, &set->reader, set->error);
    }
    bool found = false;
    struct span own = {span.data, 0};
    if (has_btf) {
        code = elf_section(elf, ".BTF", &own, set->error);
        return code == MGLRU_OK ? open_btf(set, own, elf) : code;
    }
    struct elf stripped = *elf;
    *elf = (struct elf){0};
    code = open_debug_file(set, &stripped, &found);
    elf_close(&stripped);
    if (code != MGLRU_OK || found)
        return code;
    return no_types(set);
}

static int open_span(struct layout_set *set, struct span span, unsigned deep)
{
    struct span packed, plain, btf;
    if (elf_is(span))
        return open_elf(set, span);
    if (btf_is(span))
        return open_btf(set, span, NULL);
    if (span.bytes >= 8 && memcmp(span.data, "!<arch>\n", 8) == 0)
        return layout_fail(set->error, MGLRU_EINVAL,
                           "%s: is an archive: take a member out of it with `ar x`", set->path);
    if (deep < PACKED_DEEP && image_payload(span, &packed)) {
        int code = unpack_kept(set, packed, &plain);
        return code == MGLRU_OK ? open_span(set, plain, deep + 1) : code;
    }
    if (image_find_btf(span, &btf))
        return open_btf(set, btf, NULL);
    return layout_fail(set->error, MGLRU_EINVAL,
                       span.bytes == 0 ? "%s: is empty" : "%s: is no ELF file, BTF or kernel image",
                       set->path);
}

static void describe(struct layout_set *set)
{
    const struct model *model = set->reader->model;
    set->info.path = set->path;
    set->info.source = set->source_path != NULL ? set->source_path : set->path;
    set->info.text = set->reader->text;
    set->info.note = set->reader->note;
    set->info.address_bytes = model->address_bytes;
    set->info.big_endian = strstr(set->reader->text, "big-endian") != NULL;
}

/* Opens what @blob holds; the set owns it from here on. */
static int open_blob(const char *name, struct blob *blob, const struct layout_open_options *options,
                     struct layout_set **result, struct layout_error *error)
{
    struct layout_set *set = calloc(1, sizeof(*set));
    *result = NULL;
    if (set == NULL || (set->path = strdup(name)) == NULL) {
        blob_free(blob);
        free(set);
        return layout_fail(error, MGLRU_ENOMEM, "%s: out of memory", name);
    }
    if (options != NULL)
        set->options = *options;
    set->error = error;
    set->blobs[set->blob_count++] = *blob;
    int code = open_span(set, blob->span, 0);
    if (code != MGLRU_OK) {
        layout_close(set);
        return code;
    }
    describe(set);
    *result = set;
    return MGLRU_OK;
}

int layout_open(const char *path, const struct layout_open_options *options,
                struct layout_set **set, struct layout_error *error)
{
    struct blob blob;
    *set = NULL;
    int code = blob_open(path, &blob, error);
    return code == MGLRU_OK ? open_blob(path, &blob, options, set, error) : code;
}

int layout_open_memory(const struct layout_memory *memory,
                       const struct layout_open_options *options, struct layout_set **set,
                       struct layout_error *error)
{
    struct blob blob = {.span = {memory->data, memory->bytes}, .owner = BLOB_BORROWED};
    return open_blob(memory->name, &blob, options, set, error);
}

void layout_close(struct layout_set *set)
{
    if (set == NULL)
        return;
    if (set->reader != NULL)
        set->reader->close(set->reader);
    elf_close(&set->elf);
    while (set->blob_count > 0)
        blob_free(&set->blobs[--set->blob_count]);
    free(set->choices);
    table_free(&set->seen);
    free(set->source_path);
    free(set->path);
    free(set);
}

const struct layout_info *layout_set_info(const struct layout_set *set)
{
    return &set->info;
}
