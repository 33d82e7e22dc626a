/* SPDX-License-Identifier: MIT */
/* Why a finding is one, in a sentence or two; see conflicts.h for the table. */
#include "layout/explain.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Chosen: a sentence stays readable. */
#define NAMES_SHOWN 6
#define TEXT_BYTES 2048
#define NAMES_BYTES 512

void layout_field_list(const struct layout_field *const *fields, size_t count, char *text,
                       size_t bytes)
{
    size_t length = 0;
    text[0] = '\0';
    size_t shown = count > NAMES_SHOWN ? NAMES_SHOWN - 1 : count;
    for (size_t i = 0; i < shown && length < bytes; i++)
        length += (size_t)snprintf(text + length, bytes - length, "%s%s%s",
                                   i == 0                        ? ""
                                   : i + 1 == count && count > 1 ? " and "
                                                                 : ", ",
                                   fields[i]->path, fields[i]->elements);
    if (shown < count && length < bytes)
        snprintf(text + length, bytes - length, " and %zu more", count - shown);
}

/* The first lock name of the fields, for sentences. */
static const char *lock_name(const struct layout_finding *finding)
{
    for (size_t i = 0; i < finding->writer_count; i++)
        if (layout_field_class(finding->writers[i]) == LAYOUT_CLASS_LOCK)
            return finding->writers[i]->use->names[0];
    return "the lock";
}

/* Bases as text: "0, 8, 24". */
static void list_bases(uint64_t bases, char *text, size_t bytes)
{
    size_t length = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < 64 && length < bytes; i++)
        if (bases >> i & 1)
            length += (size_t)snprintf(text + length, bytes - length, "%s%u",
                                       length > 0 ? ", " : "", i * LAYOUT_BASE_STEP);
}

static void explain_elements(const struct layout_conflict_options *options,
                             const struct layout_finding *finding, char *text)
{
    const struct layout_field *field = finding->writers[0];
    uint64_t stride = field->element_bits / 8;
    if (stride < options->line_bytes)
        snprintf(text, TEXT_BYTES,
                 "Elements of %s%s are %" PRIu64 " bytes apart and each is written by another CPU: "
                 "%" PRIu64 " of them share a line of %" PRIu64
                 ". Make it per-CPU data, or pad the element to a line.",
                 field->path, field->elements, stride, (options->line_bytes + stride - 1) / stride,
                 options->line_bytes);
    else
        snprintf(text, TEXT_BYTES,
                 "Elements of %s%s are %" PRIu64 " bytes apart, no multiple of a line of %" PRIu64
                 ": the end of one shares a line with the next, which another CPU writes.",
                 field->path, field->elements, stride, options->line_bytes);
}

static void explain_single(const struct layout_map *map,
                           const struct layout_conflict_options *options,
                           const struct layout_finding *finding, char *text)
{
    char names[NAMES_BYTES];
    if (finding->verdict == LAYOUT_ELEMENTS) {
        explain_elements(options, finding, text);
    } else if (finding->verdict == LAYOUT_ALIGNMENT) {
        snprintf(text, TEXT_BYTES,
                 "%s is aligned to %u, which the compiler takes for granted, but what allocates it "
                 "keeps %" PRIu64 " only: the lines below are not sure. Allocate it with "
                 "aligned_alloc() and say so by 'alloc %s: %u' in the class file, or look at all "
                 "bases by --base any.",
                 map->type->display, map->type->align_bytes, options->alloc_align,
                 map->type->name != NULL ? map->type->name : map->name, map->type->align_bytes);
    } else if (finding->verdict == LAYOUT_STRADDLE) {
        layout_field_list(finding->reader_count > 0 ? finding->readers : finding->writers, 1, names,
                          sizeof(names));
        snprintf(text, TEXT_BYTES,
                 "%s lies on lines %" PRIu64 " and %" PRIu64 ": each use may take two misses%s.",
                 names, finding->line, finding->last_line,
                 finding->severity == LAYOUT_WARNING ? ", and an access to all of it is split"
                                                     : "");
    } else {
        layout_field_list(finding->writers, finding->writer_count, names, sizeof(names));
        snprintf(text, TEXT_BYTES,
                 "%s are used under %s only, yet padding spreads them over more lines than they "
                 "need. Their lines move with the lock, so no CPU is spared a miss by the padding; "
                 "the holder takes more of them. Keep data of one lock together.",
                 names, lock_name(finding));
    }
}

static void explain_shared(const struct layout_finding *finding, const char *readers,
                           const char *writers, char *text)
{
    switch (finding->verdict) {
    case LAYOUT_READ_ATOMIC:
        snprintf(text, TEXT_BYTES,
                 "Every write to %s takes the line away from the CPUs that read %s, though they "
                 "need nothing of what was written.",
                 writers, readers);
        break;
    case LAYOUT_ATOMIC_LOCK:
        snprintf(text, TEXT_BYTES,
                 "%s lie together: who writes without the lock steals the line from the holder of "
                 "%s, who needs nothing of it.",
                 writers, lock_name(finding));
        break;
    case LAYOUT_LOCK_LOCK:
        snprintf(text, TEXT_BYTES,
                 "%s are written under different locks, so two holders take the line from each "
                 "other.",
                 writers);
        break;
    case LAYOUT_OWNER_WRITTEN:
        snprintf(text, TEXT_BYTES,
                 "%s lie together: what others write takes the line from the owner, who should "
                 "never miss.",
                 writers);
        break;
    case LAYOUT_READ_LOCK:
        snprintf(text, TEXT_BYTES,
                 "Each hand-over of %s takes the line of %s away from its readers too.",
                 lock_name(finding), readers);
        break;
    case LAYOUT_READ_OWNER:
        snprintf(text, TEXT_BYTES,
                 "If CPUs other than the owner of %s read %s, each write costs "
                 "them a miss.",
                 writers, readers);
        break;
    case LAYOUT_LOCK_WORD:
        snprintf(text, TEXT_BYTES,
                 "The lock lies beside its data (%s): one miss brings both, but CPUs that wait for "
                 "the lock take the line from its holder.",
                 writers);
        break;
    default:
        snprintf(text, TEXT_BYTES,
                 "%s %s written under %s only. %s move%s between CPUs only when the lock does, and "
                 "the next holder needs the values anyway: no fight, and nothing to split.",
                 writers, finding->writer_count == 1 ? "is" : "are", lock_name(finding),
                 finding->line == finding->last_line ? "The line" : "These lines",
                 finding->line == finding->last_line ? "s" : "");
    }
}

bool layout_finding_explain(const struct layout_map *map,
                            const struct layout_conflict_options *options,
                            struct layout_finding *finding)
{
    char text[TEXT_BYTES];
    char readers[NAMES_BYTES];
    char writers[NAMES_BYTES];
    if (finding->verdict >= LAYOUT_ELEMENTS) {
        explain_single(map, options, finding, text);
    } else {
        layout_field_list(finding->readers, finding->reader_count, readers, sizeof(readers));
        layout_field_list(finding->writers, finding->writer_count, writers, sizeof(writers));
        explain_shared(finding, readers, writers, text);
    }
    size_t length = strlen(text);
    if (finding->bases != 0 && length + 1 < sizeof(text)) {
        char bases[NAMES_BYTES];
        list_bases(finding->bases, bases, sizeof(bases));
        snprintf(text + length, sizeof(text) - length, " (Object starts at %s behind a line.)",
                 bases);
    }
    finding->why = strdup(text);
    return finding->why != NULL;
}
