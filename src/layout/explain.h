/* SPDX-License-Identifier: MIT */
/* Sentences that say why a finding is one. Private to layout/. */
#ifndef LAYOUT_EXPLAIN_H
#define LAYOUT_EXPLAIN_H

#include "layout/conflicts.h"

/* Gives @finding its why. False: out of memory. */
bool layout_finding_explain(const struct layout_map *map,
                            const struct layout_conflict_options *options,
                            struct layout_finding *finding);

/* "a, b and 3 more" of the fields' paths, into @text. */
void layout_field_list(const struct layout_field *const *fields, size_t count, char *text,
                       size_t bytes);

#endif
