/* SPDX-License-Identifier: MIT */
/* Differences, growth and broken checks as text and JSON. */
#include "report/linewise.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PATH_BYTES 1024

static void field_name(const struct layout_field *field, char *text)
{
    snprintf(text, PATH_BYTES, "%s%s", field->path, field->elements);
}

/* Fields in a row that moved by the same distance are one line. */
static void print_moved(struct report_out *out, const struct layout_diff *diff)
{
    for (size_t i = 0, next; i < diff->moved_count; i = next) {
        int64_t delta = (int64_t)(diff->moved[i].after->bit_offset / 8) -
                        (int64_t)(diff->moved[i].before->bit_offset / 8);
        for (next = i + 1; next < diff->moved_count; next++)
            if (diff->moved[next].after != diff->moved[next - 1].after + 1 ||
                (int64_t)(diff->moved[next].after->bit_offset / 8) -
                        (int64_t)(diff->moved[next].before->bit_offset / 8) !=
                    delta)
                break;
        char first[PATH_BYTES];
        char last[PATH_BYTES];
        field_name(diff->moved[i].after, first);
        field_name(diff->moved[next - 1].after, last);
        report_printf(out, "  moved  %" PRIu64 " -> %" PRIu64 " (%+" PRId64 ")  %s",
                      diff->moved[i].before->bit_offset / 8, diff->moved[i].after->bit_offset / 8,
                      delta, first);
        if (next > i + 1)
            report_printf(out, " .. %s (%zu fields)", last, next - i);
        report_printf(out, "\n");
    }
}

static void print_changed(struct report_out *out, const struct layout_diff *diff)
{
    for (size_t i = 0; i < diff->changed_count; i++) {
        const struct layout_change *change = &diff->changed[i];
        char name[PATH_BYTES];
        field_name(change->after != NULL ? change->after : change->before, name);
        if (change->before == NULL)
            report_printf(out, "  new    at %" PRIu64 ", %" PRIu64 " bytes  %s\n",
                          change->after->bit_offset / 8, (change->after->bit_size + 7) / 8, name);
        else if (change->after == NULL)
            report_printf(out, "  gone   was at %" PRIu64 ", %" PRIu64 " bytes  %s\n",
                          change->before->bit_offset / 8, (change->before->bit_size + 7) / 8, name);
        else
            report_printf(out, "  size   %" PRIu64 " -> %" PRIu64 " bytes  %s\n",
                          (change->before->bit_size + 7) / 8, (change->after->bit_size + 7) / 8,
                          name);
    }
}

static void print_findings(struct report_out *out, const char *title,
                           const struct layout_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        const struct layout_finding *finding = &findings->items[i];
        report_printf(out, "\n%s: %s, line %" PRIu64 ": %s (%s)\n    %s\n", title,
                      layout_severity_name(finding->severity), finding->line,
                      layout_verdict_name(finding->verdict), layout_verdict_pair(finding->verdict),
                      finding->why);
    }
}

void report_diff(struct report_out *out, const struct layout_map *after,
                 const struct layout_diff *diff)
{
    report_printf(out, "%s: %" PRIu64 " -> %" PRIu64 " bytes (%+" PRId64 ")\n",
                  after->type->display,
                  (uint64_t)((int64_t)after->type->size_bytes - diff->growth_bytes),
                  after->type->size_bytes, diff->growth_bytes);
    print_moved(out, diff);
    print_changed(out, diff);
    print_findings(out, "new", &diff->fresh);
    print_findings(out, "gone", &diff->gone);
    report_printf(out, "\n%zu field%s moved, %zu new finding%s, %zu gone\n", diff->moved_count,
                  diff->moved_count == 1 ? "" : "s", diff->fresh.count,
                  diff->fresh.count == 1 ? "" : "s", diff->gone.count);
}

void report_moved_json(struct report_json_stream *json, const struct layout_map *after,
                       const struct layout_diff *diff)
{
    for (size_t i = 0; i < diff->moved_count; i++) {
        char name[PATH_BYTES];
        field_name(diff->moved[i].after, name);
        report_json_object(json, NULL);
        report_json_text(json, "type", after->type->display);
        report_json_text(json, "path", name);
        report_json_count(json, "from", diff->moved[i].before->bit_offset / 8);
        report_json_count(json, "to", diff->moved[i].after->bit_offset / 8);
        report_json_end(json);
    }
}

void report_growth(struct report_out *out, const struct layout_growth *growth)
{
    for (size_t i = 0; i < growth->count; i++) {
        const struct layout_growth_step *step = &growth->steps[i];
        report_printf(out, "%s%s  %" PRIu64 " -> %" PRIu64 "  (%+" PRId64 ")\n", i == 0 ? "" : "\n",
                      step->after->display, step->before->size_bytes, step->after->size_bytes,
                      step->delta_bytes);
        const char *at = step->reason;
        while (*at != '\0') {
            const char *end = strstr(at, "; ");
            size_t length = end != NULL ? (size_t)(end - at) : strlen(at);
            report_printf(out, "    %.*s\n", (int)length, at);
            at += length;
            at += *at != '\0' ? 2 : 0;
        }
    }
    report_printf(out, "\ntotal %+" PRId64 " bytes\n", growth->total_bytes);
}

void report_growth_json(struct report_json_stream *json, const struct layout_growth *growth)
{
    for (size_t i = 0; i < growth->count; i++) {
        report_json_object(json, NULL);
        report_json_text(json, "type", growth->steps[i].after->display);
        report_json_signed(json, "delta", growth->steps[i].delta_bytes);
        report_json_text(json, "reason", growth->steps[i].reason);
        report_json_end(json);
    }
}

void report_breaches(struct report_out *out, const char *type,
                     const struct layout_breaches *breaches)
{
    for (size_t i = 0; i < breaches->count; i++) {
        const struct layout_breach *breach = &breaches->items[i];
        report_printf(out, "%s: line %" PRIu64 ": %s: %s: %s\n", type, breach->line,
                      layout_severity_name(breach->severity), breach->verdict, breach->why);
        for (size_t j = 0; j < breach->writer_count; j++)
            report_printf(out, "    writes  %s\n", breach->writers[j]);
        for (size_t j = 0; j < breach->reader_count; j++)
            report_printf(out, "    reads   %s\n", breach->readers[j]);
    }
}

static void paths_json(struct report_json_stream *json, const char *key, char *const *paths,
                       size_t count)
{
    report_json_array(json, key);
    for (size_t i = 0; i < count; i++)
        report_json_text(json, NULL, paths[i]);
    report_json_end(json);
}

void report_breaches_json(struct report_json_stream *json, const char *type,
                          const struct layout_breaches *breaches)
{
    for (size_t i = 0; i < breaches->count; i++) {
        const struct layout_breach *breach = &breaches->items[i];
        report_json_object(json, NULL);
        report_json_text(json, "type", type);
        report_json_count(json, "line", breach->line);
        report_json_text(json, "verdict", breach->verdict);
        report_json_text(json, "severity", layout_severity_name(breach->severity));
        paths_json(json, "readers", breach->readers, breach->reader_count);
        paths_json(json, "writers", breach->writers, breach->writer_count);
        report_json_text(json, "why", breach->why);
        report_json_end(json);
    }
}

static void locked_fields_json(struct report_json_stream *json, const struct layout_lock_type *type)
{
    report_json_array(json, "fields");
    for (size_t i = 0; i < type->field_count; i++) {
        report_json_object(json, NULL);
        report_json_text(json, "path", type->fields[i].path);
        report_json_count(json, "offset", type->fields[i].offset_bytes);
        report_json_count(json, "size", type->fields[i].size_bytes);
        report_json_text(json, "class", type->fields[i].class);
        report_json_end(json);
    }
    report_json_end(json);
    report_json_array(json, "groups");
    for (size_t i = 0; i < type->group_count; i++) {
        report_json_object(json, NULL);
        report_json_text(json, "name", type->groups[i].name);
        report_json_count(json, "first", type->groups[i].first_byte);
        report_json_count(json, "end", type->groups[i].end_byte);
        report_json_end(json);
    }
    report_json_end(json);
}

void report_lock_json(struct report_json_stream *json, const struct layout_lock *lock)
{
    report_json_count(json, "line", lock->line_bytes);
    report_json_array(json, "types");
    for (size_t i = 0; i < lock->type_count; i++) {
        const struct layout_lock_type *type = &lock->types[i];
        report_json_object(json, NULL);
        report_json_text(json, "type", type->name);
        report_json_count(json, "size", type->size_bytes);
        report_json_count(json, "align", type->align_bytes);
        locked_fields_json(json, type);
        report_json_array(json, "pairs");
        for (size_t j = 0; j < type->pair_count; j++) {
            report_json_object(json, NULL);
            report_json_text(json, "pair", layout_verdict_pair(type->pairs[j].verdict));
            report_json_text(json, "first", type->pairs[j].first);
            report_json_text(json, "second", type->pairs[j].second);
            report_json_end(json);
        }
        report_json_end(json);
        report_json_end(json);
    }
    report_json_end(json);
}

static void guess_text(const struct layout_guess *guess, char *text, size_t bytes)
{
    if (guess->class == LAYOUT_CLASS_LOCK)
        snprintf(text, bytes, "lock(%s)", guess->lock);
    else
        snprintf(text, bytes, "%s", layout_class_name(guess->class));
}

void report_draft(struct report_out *out, const struct layout_map *map,
                  const struct layout_draft *draft)
{
    const char *name = map->type->name != NULL ? map->type->name : map->name;
    report_printf(
        out,
        "# Draft for %s, guessed from the names of types alone. Correct each line, give\n"
        "# those behind '#' a class or leave them: read (read by many, seldom written),\n"
        "# lock(NAME), atomic (written without a lock), owner (one CPU or thread), cold.\n",
        map->type->display);
    if (map->type->align_bytes > LAYOUT_MALLOC_ALIGN)
        report_printf(out,
                      "# How it is allocated: malloc, static, or the alignment that is kept.\n"
                      "#alloc %s: malloc\n",
                      name);
    report_printf(out, "check %s\n", name);
    for (size_t i = 0; i < draft->count; i++) {
        const struct layout_guess *guess = &draft->items[i];
        char left[2 * PATH_BYTES];
        char use[PATH_BYTES / 4];
        guess_text(guess, use, sizeof(use));
        snprintf(left, sizeof(left), "%s%s.%.800s: %s",
                 guess->class == LAYOUT_CLASS_NONE ? "#" : "", name, guess->field->path, use);
        report_printf(out, "%-48s # %s\n", left, guess->reason);
    }
}

void report_draft_json(struct report_json_stream *json, const struct layout_map *map,
                       const struct layout_draft *draft)
{
    for (size_t i = 0; i < draft->count; i++) {
        const struct layout_guess *guess = &draft->items[i];
        char use[PATH_BYTES / 4];
        guess_text(guess, use, sizeof(use));
        report_json_object(json, NULL);
        report_json_text(json, "type", map->type->display);
        report_json_text(json, "path", guess->field->path);
        report_json_text(json, "class", guess->class != LAYOUT_CLASS_NONE ? use : NULL);
        report_json_text(json, "reason", guess->reason);
        report_json_end(json);
    }
}
