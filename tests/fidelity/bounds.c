/* SPDX-License-Identifier: MIT */
/*
 * The table of bounds. The first row whose name prefix, mode and figure fit decides; names that
 * are for study only come first.
 */
#include "bounds.h"

#include <stddef.h>
#include <string.h>

#include "base/check.h"

#define ANY NULL

static const struct {
    const char *prefix;
    const char *mode; /* ANY, "mglru" (with its variants), "classic" */
    const char *what; /* ANY or the only figure that is bound */
    enum bound_kind kind;
    double percent[2];   /* 6.12, 7.3 */
    double differing[2]; /* likewise */
} rules[] = {
    {"trace_", ANY, ANY, BOUND_NONE, {0}, {0}},
    {"rep_", ANY, ANY, BOUND_NONE, {0}, {0}},
    {"round_noflush", ANY, ANY, BOUND_NONE, {0}, {0}},
    {"anon_zipf10_noflush", ANY, ANY, BOUND_NONE, {0}, {0}},
    {"anon_zipf10_zram", ANY, ANY, BOUND_NONE, {0}, {0}},
    {"pread_shift", "mglru", ANY, BOUND_PERCENT, {1, 2.5}, {2, 10}},
    {"pread_", "mglru", ANY, BOUND_PERCENT, {0.2, 0.5}, {0.5, 5}},
    {"smp2_pread_", "mglru", ANY, BOUND_PERCENT, {0.2, 0.5}, {0.5, 5}},
    {"mmap_", "mglru", ANY, BOUND_PERCENT, {1, 2.5}, {0}},
    {"round_h", "mglru", "hot", BOUND_PERCENT, {1, 2.5}, {0}},
    {"round_h", "mglru", "all", BOUND_PERCENT, {1, 2.5}, {0}},
    {"anon_", "mglru", ANY, BOUND_PERCENT, {1, 2.5}, {0}},
    {"smp2_anon_", "mglru", ANY, BOUND_PERCENT, {1, 2.5}, {0}},
    {"two_", "mglru", ANY, BOUND_PERCENT, {1, 1.5}, {0}},
    {"smp2_two_", "mglru", ANY, BOUND_PERCENT, {1, 1.5}, {0}},
    {"mixed_", "mglru", "swap-ins + file", BOUND_PERCENT, {5, 7}, {0}},
    {"pread_", "classic", ANY, BOUND_PERCENT, {1.5, 1.5}, {0}},
    {"smp2_pread_", "classic", ANY, BOUND_PERCENT, {1.5, 1.5}, {0}},
    {"mmap_", "classic", ANY, BOUND_RANGE, {2, 2}, {0}},
    {"round_h", "classic", "hot", BOUND_RANGE, {2, 2}, {0}},
    {"round_h", "classic", "all", BOUND_RANGE, {2, 2}, {0}},
    {"anon_", "classic", ANY, BOUND_RANGE, {2, 2}, {0}},
    {"smp2_anon_", "classic", ANY, BOUND_RANGE, {2, 2}, {0}},
    {"mixed_", "classic", "swap-ins + file", BOUND_PERCENT, {8, 8}, {0}},
    {"two_", "classic", ANY, BOUND_PERCENT, {30, 30}, {0}},
    {"smp2_two_", "classic", ANY, BOUND_PERCENT, {30, 30}, {0}},
};

/* "mglru" stands for the page-table-walking mode and the one without walks. */
static bool mode_fits(const char *rule, const char *mode)
{
    if (rule == ANY || strcmp(rule, mode) == 0)
        return true;
    return strcmp(rule, "mglru") == 0 && strcmp(mode, "mglru_nowalk") == 0;
}

struct bound bound_find(const char *kernel, const char *name, const char *mode, const char *what)
{
    size_t column = strcmp(kernel, "6.12") == 0 ? 0 : 1;
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(rules); i++) {
        if (strncmp(rules[i].prefix, name, strlen(rules[i].prefix)) != 0)
            continue;
        if (!mode_fits(rules[i].mode, mode))
            continue;
        if (rules[i].what != ANY && strcmp(rules[i].what, what) != 0)
            continue;
        return (struct bound){.kind = rules[i].kind,
                              .percent = rules[i].percent[column],
                              .differing_percent = rules[i].differing[column]};
    }
    return (struct bound){.kind = BOUND_NONE};
}

bool bound_holds(const struct bound *bound, uint64_t kernel, uint64_t ours, uint64_t low,
                 uint64_t high)
{
    uint64_t off = kernel > ours ? kernel - ours : ours - kernel;
    double widened = bound->percent / 100.0;
    switch (bound->kind) {
    case BOUND_PERCENT:
        return off <= BOUND_MISSES || (double)off <= widened * (double)kernel;
    case BOUND_RANGE:
        if (kernel + BOUND_MISSES >= low && kernel <= high + BOUND_MISSES)
            return true;
        return (double)kernel >= (double)low * (1 - widened) &&
               (double)kernel <= (double)high * (1 + widened);
    case BOUND_NONE:
        break;
    }
    return true;
}
