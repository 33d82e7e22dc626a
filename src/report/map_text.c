/* SPDX-License-Identifier: MIT */
/*
 * The map as text: each line of memory a row of boxes, as people draw it in mails.
 *
 *   line 25, bytes 1600-1663, in lruvec.lrugen: error: false sharing (read x atomic)
 *   +--------------------+-------------------+-----------------+-----------+
 *   | refaulted[0][1][*] | enabled, gen, seg | (hole: 5 bytes) | list      |
 *   | 1608-1639          | 1640-1642         | 1643-1647       | 1648-1663 |
 *   | A atomic           | R read            |                 | R read    |
 *   +--------------------+-------------------+-----------------+-----------+
 *
 * A box is as wide as its words; boxes that do not fit beside the others go on in another row.
 */
#include "report/map.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/linewise.h"

#define COLUMNS 100
#define ROWS 3 /* name, place, class */
/* Longer words are cut in the middle. */
#define WORD_BYTES (COLUMNS - 4)
#define LABEL_BYTES 4096
#define CELLS_IN_ROW 24

struct box {
    char words[ROWS][WORD_BYTES + 1];
    int width;
};

/* Box characters; the ends of a border row are corners. */
struct pen {
    const char *bar;
    const char *dash;
    const char *top[3]; /* left, between, right */
    const char *bottom[3];
};

static const struct pen ascii = {"|", "-", {"+", "+", "+"}, {"+", "+", "+"}};
static const struct pen unicode = {"│", "─", {"┌", "┬", "┐"}, {"└", "┴", "┘"}};

static void put_word(struct box *box, int row, const char *text)
{
    size_t length = strlen(text), half = WORD_BYTES / 2 - 2;
    if (length <= WORD_BYTES)
        snprintf(box->words[row], sizeof(box->words[row]), "%s", text);
    else
        snprintf(box->words[row], sizeof(box->words[row]), "%.*s...%s", (int)half, text,
                 text + length - half);
    int width = (int)strlen(box->words[row]);
    if (width > box->width)
        box->width = width;
}

static void fill_box(const struct layout_cell *cell, size_t prefix, struct box *box)
{
    char text[LABEL_BYTES];
    *box = (struct box){.width = 1};
    report_map_label(cell, prefix, text, sizeof(text));
    put_word(box, 0, text);
    if (cell->kind != LAYOUT_CELL_OUTSIDE) {
        report_map_range(cell->first_bit, cell->last_bit, text, sizeof(text));
        put_word(box, 1, text);
    }
    report_map_class(cell, text, sizeof(text));
    put_word(box, 2, text);
}

static void print_border(struct report_out *out, const struct pen *pen, const char *const ends[3],
                         const struct box *boxes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        report_printf(out, "%s", ends[i == 0 ? 0 : 1]);
        for (int j = 0; j < boxes[i].width + 2; j++)
            report_printf(out, "%s", pen->dash);
    }
    report_printf(out, "%s\n", ends[2]);
}

static void print_row(struct report_out *out, const struct pen *pen, const struct box *boxes,
                      size_t count)
{
    print_border(out, pen, pen->top, boxes, count);
    for (int row = 0; row < ROWS; row++) {
        bool any = row < 2;
        for (size_t i = 0; i < count; i++)
            any = any || boxes[i].words[row][0] != '\0';
        for (size_t i = 0; any && i < count; i++)
            report_printf(out, "%s %-*s ", pen->bar, boxes[i].width, boxes[i].words[row]);
        if (any)
            report_printf(out, "%s\n", pen->bar);
    }
    print_border(out, pen, pen->bottom, boxes, count);
}

static void print_line(struct report_out *out, const struct report_map *view,
                       const struct layout_line *line)
{
    char text[LABEL_BYTES];
    size_t prefix = report_map_prefix(line);
    if (line->number == line->last_number)
        report_printf(out, "\nline %" PRIu64, line->number);
    else
        report_printf(out, "\nlines %" PRIu64 "-%" PRIu64, line->number, line->last_number);
    report_printf(out, ", bytes %" PRIu64 "-%" PRIu64, line->first_byte, line->last_byte);
    for (size_t i = 0; prefix > 0 && i < line->cell_count; i++) {
        if (line->cells[i].field_count == 0)
            continue;
        report_printf(out, ", in %.*s", (int)prefix - 1, line->cells[i].fields[0]->path);
        break;
    }
    report_map_verdicts(view, line, text, sizeof(text));
    report_printf(out, "%s%s\n", text[0] != '\0' ? ": " : "", text);
    struct box boxes[CELLS_IN_ROW];
    size_t count = 0;
    int width = 1;
    for (size_t i = 0; i < line->cell_count; i++) {
        struct box box;
        fill_box(&line->cells[i], prefix, &box);
        if (count > 0 && (count == CELLS_IN_ROW || width + box.width + 3 > COLUMNS)) {
            print_row(out, view->unicode ? &unicode : &ascii, boxes, count);
            count = 0;
            width = 1;
        }
        boxes[count++] = box;
        width += box.width + 3;
    }
    if (count > 0)
        print_row(out, view->unicode ? &unicode : &ascii, boxes, count);
}

/* True when the nest has bytes on the lines that are shown. */
static bool on_shown_lines(const struct report_map *view, const struct layout_nest *nest)
{
    const struct layout_conflict_options *options = &view->lines->options;
    uint64_t base = options->any_base ? 0 : options->base_bytes;
    uint64_t first = (nest->bit_offset / 8 + base) / options->line_bytes;
    uint64_t bytes = nest->type->size_bytes > 0 ? nest->type->size_bytes : 1;
    uint64_t last = (nest->bit_offset / 8 + base + bytes - 1) / options->line_bytes;
    return first <= view->last_line && last >= view->first_line;
}

static void print_nests(struct report_out *out, const struct report_map *view)
{
    const struct layout_flat *flat = view->flat;
    int path_width = 0, type_width = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 1; i < flat->nest_count; i++) {
            const struct layout_nest *nest = &flat->nests[i];
            char chain[256];
            if (!report_map_nest_shown(flat, nest) || !on_shown_lines(view, nest))
                continue;
            const char *type = nest->member->type_name;
            int path_length = (int)strlen(nest->path), type_length = (int)strlen(type);
            if (pass == 0) {
                path_width = path_length > path_width ? path_length : path_width;
                type_width = type_length > type_width ? type_length : type_width;
                continue;
            }
            report_map_chain(flat, nest, chain, sizeof(chain));
            report_printf(out, "  %-*s  %-*s  %" PRIu64 " bytes at %s\n",
                          path_width < 40 ? path_width : 40, nest->path,
                          type_width < 32 ? type_width : 32, type, nest->type->size_bytes, chain);
        }
    }
}

/* Holes and padding of the whole type, and what fights at bases that the map does not show. */
static void print_sums(struct report_out *out, const struct report_map *view)
{
    uint64_t holes = 0, hole_bits = 0, padding_bits = 0;
    for (size_t i = 0; i < view->flat->gap_count; i++) {
        const struct layout_gap *gap = &view->flat->gaps[i];
        if (gap->repeat.dim_count > 0)
            continue;
        if (gap->kind == LAYOUT_PADDING && gap->nest == 0) {
            padding_bits += gap->bit_size;
            continue;
        }
        holes++;
        hole_bits += gap->bit_size;
    }
    char hole_text[32], padding_text[32];
    report_map_amount(hole_bits, hole_text, sizeof(hole_text));
    report_map_amount(padding_bits, padding_text, sizeof(padding_text));
    report_printf(out, "\n%" PRIu64 " hole%s, %s; padding at the end: %s\n", holes,
                  holes == 1 ? "" : "s", hole_text, padding_text);
    if (view->findings == NULL || !view->findings->options.any_base || view->findings->count == 0)
        return;
    report_printf(out,
                  "drawn for an object at a line's start; %zu finding%s at some base, see"
                  " `linewise conflicts --base any`\n",
                  view->findings->count, view->findings->count == 1 ? "" : "s");
}

void report_map_text(struct report_out *out, const struct report_map *view)
{
    const struct layout_type *type = view->map->type;
    report_type_head(out, type, view->lines->options.line_bytes);
    if (type->decl_file != NULL)
        report_printf(out, "  declared at %s:%u\n", type->decl_file, type->decl_line);
    if (type->misses_members)
        report_printf(out, "  parts without a fixed place (virtual bases) are not shown\n");
    print_nests(out, view);
    for (size_t i = 0; i < view->lines->line_count; i++) {
        const struct layout_line *line = &view->lines->lines[i];
        if (line->last_number >= view->first_line && line->number <= view->last_line)
            print_line(out, view, line);
    }
    print_sums(out, view);
}
