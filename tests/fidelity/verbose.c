/* SPDX-License-Identifier: MIT */
/*
 * Counters and generations at each sample, the kernel's beside ours: where they part first is
 * where a mechanism differs.
 */
#include "compare.h"

#include <inttypes.h>
#include <string.h>

#include <json-c/json.h>

#include "base/check.h"
#include "json.h"

static const char *const names[] = {
    "anon",
    "file",
    "kernel",
    "pagetables",
    "slab",
    "inactive_anon",
    "active_anon",
    "inactive_file",
    "active_file",
    "workingset_refault_anon",
    "workingset_refault_file",
    "workingset_activate_anon",
    "workingset_activate_file",
    "workingset_restore_anon",
    "workingset_restore_file",
    "workingset_nodereclaim",
    "pgscan",
    "pgsteal",
    "pgrefill",
    "pgactivate",
    "pgdeactivate",
    "pgfault",
    "pgmajfault",
    "pswpin",
    "pswpout",
};

/* Amounts in bytes are shown in pages. */
#define BYTE_NAMES 9

static void print_counters(FILE *out, json_object *theirs, const char *ours)
{
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(names); i++) {
        uint64_t unit = i < BYTE_NAMES ? 4096 : 1;
        uint64_t a = json_number(theirs, names[i]);
        uint64_t b = drive_stat(ours, names[i]);
        if (a == 0 && b == 0)
            continue;
        fprintf(out, "    %-26s %10" PRIu64 " %10" PRIu64 " %+10" PRId64 "\n", names[i], a / unit,
                b / unit, (int64_t)(b / unit) - (int64_t)(a / unit));
    }
}

/* The next line of *text into @line, without the newline; false at the end. */
static bool next_line(const char **text, char *line, size_t bytes)
{
    if (!*text || **text == '\0')
        return false;
    size_t length = strcspn(*text, "\n");
    snprintf(line, bytes, "%.*s", (int)length, *text);
    *text += length + ((*text)[length] == '\n');
    return true;
}

/* Start of the section of @path in the lru_gen text of a whole cache. */
static const char *lru_gen_section(const char *text, const char *path)
{
    size_t length = strlen(path);
    for (const char *line = text; line && *line;) {
        size_t end = strcspn(line, "\n");
        if (strncmp(line, "memcg", 5) == 0 && end > length &&
            strncmp(line + end - length, path, length) == 0 && line[end - length - 1] == ' ')
            return line;
        line += end + (line[end] == '\n');
    }
    return NULL;
}

static void print_generations(FILE *out, const char *theirs, const char *ours)
{
    char left[96] = "";
    char right[96] = "";
    bool first = true;
    for (;;) {
        bool a = next_line(&theirs, left, sizeof(left));
        bool b = next_line(&ours, right, sizeof(right));
        if (b && !first && strncmp(right, "memcg", 5) == 0)
            b = false;
        if (!a && !b)
            return;
        fprintf(out, "    %-50s | %s\n", a ? left : "", b ? right : "");
        if (!b)
            ours = NULL;
        first = false;
    }
}

static void print_memcg(FILE *out, json_object *theirs, const struct drive_sample *ours, size_t i)
{
    const char *path = json_text(theirs, "cg");
    fprintf(out,
            "   %s: misses so far %" PRIu64 ", hot %" PRIu64 "   (kernel, ours, ours - kernel)\n",
            path, json_number(theirs, "misses"), json_number(theirs, "hotmiss"));
    print_counters(out, json_path(theirs, "stat", NULL), ours->stat[i]);
    print_generations(out, json_text(theirs, "lru_gen"), lru_gen_section(ours->lru_gen, path));
}

void verbose_samples(FILE *out, const struct recording *recording, const struct script *script,
                     const struct drive_result *result)
{
    fprintf(out, "== %s/%s %s\n", recording->kernel, recording->name, recording->mode);
    size_t number = 0;
    size_t events = recording->events ? json_object_array_length(recording->events) : 0;
    for (size_t i = 0; i < events && number < result->samples; i++) {
        json_object *event = json_object_array_get_idx(recording->events, i);
        if (strcmp(json_text(event, "ev"), "sample") != 0)
            continue;
        fprintf(out, "  sample %zu, t=%" PRIu64 "\n", number, json_number(event, "t"));
        json_object *cgs = json_path(event, "cgs", NULL);
        for (size_t k = 0; k < script->memcgs; k++)
            print_memcg(out, json_object_array_get_idx(cgs, k), &result->sample[number], k);
        number++;
    }
}
