/* SPDX-License-Identifier: MIT */
/*
 * What linewise found, for people and for programs. Text fits into about 100 columns. Write errors
 * stay in the output; nothing is kept. One thread per output.
 */
#ifndef REPORT_LINEWISE_H
#define REPORT_LINEWISE_H

#include <stdbool.h>

#include "layout/conflicts.h"
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

#endif
