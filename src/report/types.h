/* SPDX-License-Identifier: MIT */
/* The table of a file's types, for people and for programs. Write errors stay in the output. */
#ifndef REPORT_TYPES_H
#define REPORT_TYPES_H

#include "layout/set.h"
#include "report/out.h"

/* Types to show, in this order. */
struct report_types {
    const struct layout_info *info;
    const struct layout_type *const *types;
    size_t count;
    size_t total; /* of the file, before filters */
    uint64_t line_bytes;
};

void report_types_text(struct report_out *out, const struct report_types *types);

/* The same as a page of HTML. */
void report_types_html(struct report_out *out, const struct report_types *types);

/* {"types":[{"name","kind","size","align","lines","holes",...}]} */
void report_types_json(struct report_out *out, const struct report_types *types);

#endif
