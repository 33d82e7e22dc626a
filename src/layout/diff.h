/* SPDX-License-Identifier: MIT */
/*
 * What changed between two layouts of a type: where fields went, how it grew, which pairs of fields
 * fight that did not, and which no longer do.
 *
 * Fields are matched by path and elements. Both maps must come from the same class file. One thread
 * per object.
 */
#ifndef LAYOUT_DIFF_H
#define LAYOUT_DIFF_H

#include "layout/conflicts.h"

struct layout_change {
    const struct layout_field *before; /* NULL: new */
    const struct layout_field *after;  /* NULL: gone */
};

struct layout_diff {
    struct layout_change *moved; /* another place; by place in the new layout */
    size_t moved_count;
    struct layout_change *changed; /* new, gone, or another size */
    size_t changed_count;
    int64_t growth_bytes;
    struct layout_findings fresh; /* of the new layout, only what the old one did not have */
    struct layout_findings gone;  /* of the old layout, only what the new one does not have */
};

/*
 * Compares. @diff: filled in; empty after an error; points into both maps. 0; MGLRU_ENOMEM.
 */
int layout_diff(const struct layout_map *before, const struct layout_map *after,
                const struct layout_conflict_options *options, struct layout_diff *diff);
void layout_diff_free(struct layout_diff *diff);

/* Fields of a map by path, for looking them up. */
struct layout_index_of {
    const struct layout_field **fields; /* sorted by path and elements */
    size_t count;
};

/* 0; MGLRU_ENOMEM. */
int layout_index_build(const struct layout_map *map, struct layout_index_of *index);
void layout_index_free(struct layout_index_of *index);

/* The field with this path and these elements; NULL: none. */
const struct layout_field *layout_index_find(const struct layout_index_of *index, const char *path,
                                             const char *elements);

/*
 * Calls @visit for each pair of the finding; for what is no pair, for each field with @b NULL. Ends
 * when it returns false.
 */
void layout_finding_pairs(const struct layout_finding *finding,
                          bool (*visit)(void *context, const struct layout_field *a,
                                        const struct layout_field *b),
                          void *context);

/* True when the two share a line at a base that the options look at. */
bool layout_fields_meet(const struct layout_field *a, const struct layout_field *b,
                        const struct layout_conflict_options *options);

#endif
