/* SPDX-License-Identifier: MIT */
/*
 * The map of a type's lines, for people (text, a page of HTML) and for programs (JSON).
 *
 * Everything printed is a function of the view alone. Write errors stay in the output.
 */
#ifndef REPORT_MAP_H
#define REPORT_MAP_H

#include <stdbool.h>

#include "layout/flat.h"
#include "layout/lines.h"
#include "report/json_stream.h"
#include "report/out.h"

/* What a map shows; everything is borrowed. */
struct report_map {
    const struct layout_info *info; /* where the type comes from */
    const struct layout_map *map;
    const struct layout_flat *flat; /* of the same type: nests and gaps */
    const struct layout_lines *lines;
    const struct layout_findings *findings;
    uint64_t first_line; /* shown */
    uint64_t last_line;
    bool unicode; /* box characters */
};

/* The nesting chain, then each line as a row of boxes, then what is unused. */
void report_map_text(struct report_out *out, const struct report_map *view);

/* The object of ARCHITECTURE.md's `show --json`, complete. */
void report_map_json(struct report_out *out, const struct report_map *view);

/* A page: begin, one map a type, end. Nothing in it refers to another file. */
void report_map_html_begin(struct report_out *out, const char *title);
void report_map_html(struct report_out *out, const struct report_map *view);
void report_map_html_text(struct report_out *out, const char *text); /* as it stands */
void report_map_html_end(struct report_out *out);

/* Shared by the forms. @text: "1608-1639", "1640", "8.0-8.2" for bits within bytes. */
void report_map_range(uint64_t first_bit, uint64_t last_bit, char *text, size_t bytes);
/* "5 bytes", "1 byte", "3 bits". */
void report_map_amount(uint64_t bits, char *text, size_t bytes);
/* What a cell is called, without the first @skip characters of its path. */
void report_map_label(const struct layout_cell *cell, size_t skip, char *text, size_t bytes);
/* "A atomic", "L lock(lru_lock)"; "" for what has no class. */
void report_map_class(const struct layout_cell *cell, char *text, size_t bytes);
/* Length of the path, with its dot, that all fields of @line begin with. */
size_t report_map_prefix(const struct layout_line *line);
/* "error: false sharing (read x atomic)" of each kind of finding on @line, with "; " between. */
void report_map_verdicts(const struct report_map *view, const struct layout_line *line, char *text,
                         size_t bytes);

/* A nest that is shown: it has a name of its own on the way. */
bool report_map_nest_shown(const struct layout_flat *flat, const struct layout_nest *nest);
/* "128 + 192 = 320". */
void report_map_chain(const struct layout_flat *flat, const struct layout_nest *nest, char *text,
                      size_t bytes);

#endif
