/* SPDX-License-Identifier: MIT */
/* Scripts as native traces: one line an operation, the time in front of each batch. */
#include "emit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct emitter {
    const struct script *script;
    FILE *out;
    uint64_t offset_ns;
};

static int on_mkdir(void *context, const char *path)
{
    struct emitter *emitter = context;
    fprintf(emitter->out, "!mkdir %s\n", path);
    return 0;
}

static int on_set(void *context, const char *path, const char *name, const char *value)
{
    struct emitter *emitter = context;
    fprintf(emitter->out, "!set %s %s %s\n", path, name, value);
    return 0;
}

static int on_lru_gen(void *context, const char *name, const char *value)
{
    struct emitter *emitter = context;
    fprintf(emitter->out, "!lru_gen %s %s\n", name, value);
    return 0;
}

static char operation(enum mglru_access_kind kind)
{
    switch (kind) {
    case MGLRU_READ:
        return 'r';
    case MGLRU_WRITE:
        return 'w';
    case MGLRU_MAP_READ:
        return 'm';
    case MGLRU_MAP_WRITE:
        return 'M';
    case MGLRU_MAP_EXEC:
        return 'x';
    case MGLRU_TOUCH:
        break;
    }
    return 'a';
}

static int on_access(void *context, const struct script_access *list, size_t count, uint64_t now_ns)
{
    struct emitter *emitter = context;
    const struct script *script = emitter->script;
    fprintf(emitter->out, "@%" PRIu64 " ", now_ns + emitter->offset_ns);
    for (size_t i = 0; i < count; i++)
        fprintf(emitter->out, "%c %s %s %" PRIu64 "\n", operation(list[i].kind),
                script->memcg[list[i].memcg], script_object_name(script, list[i].object),
                list[i].page);
    return 0;
}

static int on_sample(void *context, size_t number, uint64_t now_ns)
{
    struct emitter *emitter = context;
    for (size_t i = 0; i < emitter->script->memcgs; i++)
        fprintf(emitter->out, "@%" PRIu64 " !read %s memory.stat\n", now_ns + emitter->offset_ns,
                emitter->script->memcg[i]);
    return 0;
}

int emit_trace(const struct script *script, uint64_t offset_ns, const char *path)
{
    struct emitter emitter = {.script = script, .offset_ns = offset_ns, .out = fopen(path, "w")};
    if (!emitter.out)
        return MGLRU_EIO;
    const struct script_sink sink = {.context = &emitter,
                                     .mkdir = on_mkdir,
                                     .set = on_set,
                                     .lru_gen = on_lru_gen,
                                     .access = on_access,
                                     .sample = on_sample};
    fputs("#mglru-trace 1 page_size=4096\n", emitter.out);
    int code = script_run(script, &sink);
    if (ferror(emitter.out))
        code = MGLRU_EIO;
    if (fclose(emitter.out) != 0)
        code = MGLRU_EIO;
    if (code)
        remove(path);
    return code;
}

struct splitter {
    const uint8_t *bits;
    uint64_t bit_count;
    uint64_t next;
    struct drive_result *out;
};

static int skip_mkdir(void *context, const char *path)
{
    return 0;
}

static int skip_set(void *context, const char *path, const char *name, const char *value)
{
    return 0;
}

static int skip_lru_gen(void *context, const char *name, const char *value)
{
    return 0;
}

static int skip_sample(void *context, size_t number, uint64_t now_ns)
{
    return 0;
}

static int split_access(void *context, const struct script_access *list, size_t count,
                        uint64_t now_ns)
{
    struct splitter *splitter = context;
    struct drive_result *out = splitter->out;
    for (size_t i = 0; i < count; i++) {
        uint64_t bit = splitter->next++;
        if (bit >= splitter->bit_count)
            return MGLRU_EINVAL;
        uint64_t at = out->accesses[list[i].part]++;
        if (!(splitter->bits[bit / 8] >> (bit % 8) & 1))
            continue;
        out->bits[list[i].part][at / 8] |= (uint8_t)(1u << (at % 8));
        out->misses[list[i].part]++;
    }
    return 0;
}

int emit_split_bits(const struct script *script, const uint8_t *bits, uint64_t bit_count,
                    struct drive_result *out)
{
    *out = (struct drive_result){0};
    for (size_t i = 0; i < script->parts; i++) {
        out->bits[i] = calloc(script_part_accesses(script, i) / 8 + 1, 1);
        if (!out->bits[i])
            return MGLRU_ENOMEM;
    }
    struct splitter splitter = {.bits = bits, .bit_count = bit_count, .out = out};
    const struct script_sink sink = {.context = &splitter,
                                     .mkdir = skip_mkdir,
                                     .set = skip_set,
                                     .lru_gen = skip_lru_gen,
                                     .access = split_access,
                                     .sample = skip_sample};
    return script_run(script, &sink);
}
