/* SPDX-License-Identifier: MIT */
/* Proposals of other orders as text and JSON. */
#include "report/linewise.h"

#include <inttypes.h>
#include <stdio.h>

static void print_move(struct report_out *out, const struct layout_move *move)
{
    report_printf(out, "  move ");
    for (uint32_t i = 0; i < move->member_count; i++) {
        char path[LAYOUT_PATH_BYTES];
        layout_member_path(move->type, i == 0 ? move->type_path : "", move->members[i], path,
                           sizeof(path));
        report_printf(out, "%s%s", i == 0 ? "" : ", ", path);
    }
    if (move->before == UINT32_MAX) {
        report_printf(out, " to the end of %s\n", move->type->display);
        return;
    }
    const char *name = move->type->members[move->before].name;
    report_printf(out, " before %s\n", name != NULL ? name : "(unnamed)");
}

static void print_suggestion(struct report_out *out, const struct layout_suggestion *item,
                             size_t number)
{
    report_printf(out,
                  "\n%zu. residual %" PRIu64 ", %+" PRId64 " bytes (then %" PRIu64
                  "), %u field%s moved%s\n",
                  number, item->residual, item->growth_bytes, item->size_bytes, item->moved,
                  item->moved == 1 ? "" : "s", item->aligned_count > 0 ? ", with padding" : "");
    for (size_t i = 0; i < item->move_count; i++)
        print_move(out, &item->moves[i]);
    for (size_t i = 0; i < item->aligned_count; i++) {
        char path[LAYOUT_PATH_BYTES];
        layout_member_path(item->aligned[i].type, item->aligned[i].type_path,
                           item->aligned[i].member, path, sizeof(path));
        report_printf(out, "  align %s to %u: it starts a line\n", path,
                      item->aligned[i].align_bytes);
    }
    if (item->luck)
        report_printf(out, "  holds by luck of where it starts; to keep it:\n    %s\n", item->pin);
    else
        report_printf(out, "  holds wherever the struct starts\n");
}

void report_suggestions(struct report_out *out, const struct layout_map *map,
                        const struct layout_suggestions *suggestions)
{
    report_printf(out, "%s: residual conflict %" PRIu64 ", %" PRIu64 " bytes\n", map->type->display,
                  suggestions->residual, suggestions->size_bytes);
    for (size_t i = 0; i < suggestions->count; i++)
        print_suggestion(out, &suggestions->items[i], i + 1);
    if (suggestions->residual == 0)
        report_printf(out, "\nno fight to remove\n");
    else if (suggestions->fixed)
        report_printf(out, "\nits members cannot be moved: the layout is packed, a union, or not "
                           "what the rules of C give\n");
    else if (suggestions->count == 0)
        report_printf(out, "\nno order of its members is better\n");
    if (suggestions->cut_short)
        report_printf(out, "\nthe search was cut short: there may be better orders\n");
}

static void move_json(struct report_json_stream *json, const struct layout_move *move)
{
    char path[LAYOUT_PATH_BYTES];
    report_json_object(json, NULL);
    report_json_array(json, "fields");
    for (uint32_t i = 0; i < move->member_count; i++) {
        layout_member_path(move->type, move->type_path, move->members[i], path, sizeof(path));
        report_json_text(json, NULL, path);
    }
    report_json_end(json);
    if (move->before != UINT32_MAX)
        layout_member_path(move->type, move->type_path, move->before, path, sizeof(path));
    report_json_text(json, "before", move->before != UINT32_MAX ? path : NULL);
    report_json_text(json, "type", move->type->display);
    report_json_end(json);
}

void report_suggestions_json(struct report_json_stream *json, const struct layout_map *map,
                             const struct layout_suggestions *suggestions)
{
    for (size_t i = 0; i < suggestions->count; i++) {
        const struct layout_suggestion *item = &suggestions->items[i];
        report_json_object(json, NULL);
        report_json_text(json, "type", map->type->display);
        report_json_array(json, "moves");
        for (size_t j = 0; j < item->move_count; j++)
            move_json(json, &item->moves[j]);
        report_json_end(json);
        report_json_array(json, "aligned");
        for (size_t j = 0; j < item->aligned_count; j++) {
            char path[LAYOUT_PATH_BYTES];
            layout_member_path(item->aligned[j].type, item->aligned[j].type_path,
                               item->aligned[j].member, path, sizeof(path));
            report_json_text(json, NULL, path);
        }
        report_json_end(json);
        report_json_count(json, "moved", item->moved);
        report_json_signed(json, "growth", item->growth_bytes);
        report_json_count(json, "size", item->size_bytes);
        report_json_count(json, "residual", item->residual);
        report_json_bool(json, "luck", item->luck);
        report_json_text(json, "pin", item->pin);
        report_json_end(json);
    }
}
