/* SPDX-License-Identifier: MIT */
/*
 * What linewise found, for people and for programs. Text fits into about 100 columns. Write errors
 * stay in the output; nothing is kept. One thread per output.
 */
#ifndef REPORT_LINEWISE_H
#define REPORT_LINEWISE_H

#include <stdbool.h>

#include "layout/conflicts.h"
#include "layout/diff.h"
#include "layout/draft.h"
#include "layout/growth.h"
#include "layout/lock.h"
#include "layout/suggest.h"
#include "report/json_stream.h"
#include "report/out.h"

/* "struct foo: 128 bytes, 2 lines of 64, aligned to 64". */
void report_type_head(struct report_out *out, const struct layout_type *type, uint64_t line_bytes);

/* The fights as stories in two columns, then what is none and why. @unicode: arrows. */
void report_fights(struct report_out *out, const struct layout_map *map,
                   const struct layout_findings *findings, bool unicode);

/* Writes each finding as an object into the array that is open. */
void report_fights_json(struct report_json_stream *json, const struct layout_map *map,
                        const struct layout_findings *findings);

/* One finding as such an object; what @map names is its type. */
void report_finding_json(struct report_json_stream *json, const struct layout_map *map,
                         const struct layout_finding *finding);

/* The proposals, cheapest first, with their price. */
void report_suggestions(struct report_out *out, const struct layout_map *map,
                        const struct layout_suggestions *suggestions);
void report_suggestions_json(struct report_json_stream *json, const struct layout_map *map,
                             const struct layout_suggestions *suggestions);

/* What moved, what grew, which fights are new and which are gone. */
void report_diff(struct report_out *out, const struct layout_map *after,
                 const struct layout_diff *diff);

/* Writes each moved field as an object into the array that is open. */
void report_moved_json(struct report_json_stream *json, const struct layout_map *after,
                       const struct layout_diff *diff);

/* The chain of growth, innermost struct first. */
void report_growth(struct report_out *out, const struct layout_growth *growth);

/* Writes each step as an object into the array that is open. */
void report_growth_json(struct report_json_stream *json, const struct layout_growth *growth);

/* What a check found, one line each and the fields below it. @type: display name. */
void report_breaches(struct report_out *out, const char *type,
                     const struct layout_breaches *breaches);
void report_breaches_json(struct report_json_stream *json, const char *type,
                          const struct layout_breaches *breaches);

/* "line" and "types", the facts of a lock file, into the object that is open. */
void report_lock_json(struct report_json_stream *json, const struct layout_lock *lock);

/* A class file to start from. */
void report_draft(struct report_out *out, const struct layout_map *map,
                  const struct layout_draft *draft);
void report_draft_json(struct report_json_stream *json, const struct layout_map *map,
                       const struct layout_draft *draft);

#endif
