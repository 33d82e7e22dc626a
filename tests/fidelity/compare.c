/* SPDX-License-Identifier: MIT */
/*
 * One recording against the library.
 *
 * The classic LRU decides by statistics that may be stale, and the recordings hold only part of
 * the moments at which the kernel refreshed them. So its runs are repeated over a list of flush
 * schedules: the first is the stated one, the others give the range. Reading memory.stat at the
 * samples refreshes them in all schedules.
 */
#include "compare.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "through.h"

static uint64_t bits_differing(const uint8_t *a, const uint8_t *b, uint64_t count)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count / 8; i++)
        sum += (unsigned)__builtin_popcount(a[i] ^ b[i]);
    uint8_t mask = (uint8_t)((1u << (count % 8)) - 1);
    if (mask)
        sum += (unsigned)__builtin_popcount((a[count / 8] ^ b[count / 8]) & mask);
    return sum;
}

/* Misses of a figure: of one part, or of all for the figure past the parts. */
static uint64_t figure_misses(const struct recording *recording, const struct drive_result *result,
                              size_t figure)
{
    if (figure < recording->parts)
        return result->misses[figure];
    uint64_t sum = 0;
    for (size_t i = 0; i < recording->parts; i++)
        sum += result->misses[i];
    return sum;
}

/* Hot pages of a round are recorded as a number a round; counts the rounds' differences. */
static uint64_t rounds_differing(const struct recording *recording,
                                 const struct drive_result *result)
{
    uint64_t hot = recording->rounds ? result->accesses[0] / recording->rounds : 0;
    uint64_t sum = 0;
    for (uint64_t round = 0; round < recording->rounds; round++) {
        uint64_t misses = 0;
        for (uint64_t i = round * hot; i < (round + 1) * hot; i++)
            misses += result->bits[0][i / 8] >> (i % 8) & 1;
        uint64_t theirs = recording->hot_misses[round];
        sum += misses > theirs ? misses - theirs : theirs - misses;
    }
    return sum;
}

static void row_differing(struct row *row, const struct recording *recording,
                          const struct drive_result *result, size_t figure)
{
    if (figure >= recording->parts)
        return;
    const struct recording_part *part = &recording->part[figure];
    if (part->bits) {
        uint64_t count = part->bit_count;
        if (count > result->accesses[figure])
            count = result->accesses[figure];
        row->accesses = part->bit_count;
        row->differing =
            bits_differing(part->bits, result->bits[figure], count) + (part->bit_count - count);
    } else if (figure == 0 && recording->hot_misses) {
        row->accesses = result->accesses[0];
        row->differing = rounds_differing(recording, result);
    }
}

static void row_start(struct row *row, const struct recording *recording, const char *what)
{
    *row = (struct row){0};
    snprintf(row->kernel, sizeof(row->kernel), "%s", recording->kernel);
    snprintf(row->name, sizeof(row->name), "%s", recording->name);
    snprintf(row->mode, sizeof(row->mode), "%s", recording->mode);
    snprintf(row->what, sizeof(row->what), "%s", what);
}

/* Is OOM the outcome, and did it come as in the recording? */
static void row_oom(struct row *row, const struct recording *recording,
                    const struct drive_result *result)
{
    row_start(row, recording, "OOM kill");
    row->theirs = recording->oom;
    row->ours = result->oom;
    row->low = row->high = row->ours;
    row->exact = true;
    row->verdict = recording->oom == result->oom ? VERDICT_INSIDE : VERDICT_OUTSIDE;
    uint64_t done = result->accesses[0] + result->accesses[1];
    const struct scenario_clock *clock = &recording->clock;
    if (result->oom)
        snprintf(row->note, sizeof(row->note), "ours at access %" PRIu64, done);
    if (recording->oom && clock->samples) {
        size_t used = strlen(row->note);
        snprintf(row->note + used, sizeof(row->note) - used, "%skernel's after t=%" PRIu64,
                 used ? ", " : "", clock->t[clock->samples - 1]);
    }
}

static void row_figure(struct row *row, const struct recording *recording,
                       const struct drive_result *result, size_t figure)
{
    const struct recording_part *part = &recording->part[figure];
    row_start(row, recording, part->what);
    row->theirs = part->misses;
    row->least = part->least;
    row->most = part->most;
    row->ours = figure_misses(recording, result, figure);
    row->low = row->high = row->ours;
    row_differing(row, recording, result, figure);
    row->bound = bound_find(recording->kernel, recording->name, recording->mode, part->what);
}

static void row_judge(struct row *row)
{
    row->verdict = VERDICT_STUDY;
    if (row->bound.kind == BOUND_NONE)
        return;
    bool inside = bound_holds(&row->bound, row->theirs, row->ours, row->low, row->high);
    if (row->bound.differing_percent > 0 && row->accesses)
        inside = inside && (double)row->differing * 100.0 <=
                               row->bound.differing_percent * (double)row->accesses;
    row->verdict = inside ? VERDICT_INSIDE : VERDICT_OUTSIDE;
}

struct comparison {
    const struct recording *recording;
    struct compare *compare;
    struct script script;
    struct row row[RECORDING_PARTS + 1];
    size_t rows;
};

static int run_once(struct comparison *c, const struct schedule *schedule, bool capture,
                    struct drive_result *result)
{
    const char *model = c->compare->model ? c->compare->model : c->recording->kernel;
    struct drive_options drive = {.model = model, .schedule = schedule, .capture = capture};
    const char *failed = NULL;
    int code = drive_run(&c->script, &drive, result, &failed);
    if (code)
        snprintf(c->compare->error, COMPARE_ERROR_BYTES, "%s/%s %s: %s: %s", c->recording->kernel,
                 c->recording->name, c->recording->mode, failed ? failed : "the library",
                 mglru_error_text(code));
    return code;
}

/* The same script through `mglru replay`: the row counts accesses that came out the same. */
static int run_through(struct comparison *c, const struct schedule *schedule,
                       const struct drive_result *direct)
{
    struct drive_result other;
    const char *model = c->compare->model ? c->compare->model : c->recording->kernel;
    const struct drive_options options = {.model = model, .schedule = schedule};
    int code = through_replay(c->compare->through, &c->script, &options, &other);
    struct row *row = &c->row[c->rows];
    row_start(row, c->recording, "replay = library");
    row->exact = true;
    for (size_t i = 0; i < c->recording->parts && !code; i++) {
        uint64_t count = direct->accesses[i];
        row->theirs += count;
        row->ours += count - bits_differing(direct->bits[i], other.bits[i], count);
    }
    row->low = row->high = row->ours;
    row->verdict = row->ours == row->theirs ? VERDICT_INSIDE : VERDICT_OUTSIDE;
    c->rows++;
    if (code)
        snprintf(c->compare->error, COMPARE_ERROR_BYTES, "%s replay of %s/%s %s failed",
                 c->compare->through, c->recording->kernel, c->recording->name, c->recording->mode);
    drive_result_free(&other);
    return code;
}

/* The stated schedule: rows, and the counters of each sample if asked for. */
static int run_stated(struct comparison *c, const struct schedule *schedule)
{
    struct drive_result result;
    bool verbose = c->compare->verbose != NULL;
    int code = run_once(c, schedule, verbose, &result);
    if (code) {
        drive_result_free(&result);
        return code;
    }
    if (verbose)
        verbose_samples(c->compare->verbose, c->recording, &c->script, &result);
    if (c->recording->oom || result.oom) {
        row_oom(&c->row[0], c->recording, &result);
        c->rows = 1;
    } else {
        c->rows = c->recording->figures;
        for (size_t i = 0; i < c->rows; i++) {
            row_figure(&c->row[i], c->recording, &result, i);
            snprintf(c->row[i].note, sizeof(c->row[i].note), "%s", schedule->name);
        }
    }
    if (c->compare->through)
        code = run_through(c, schedule, &result);
    drive_result_free(&result);
    return code;
}

static int run_range(struct comparison *c, const struct schedule *schedule)
{
    struct drive_result result;
    int code = run_once(c, schedule, false, &result);
    for (size_t i = 0; i < c->rows && !code && !c->row[i].exact; i++) {
        uint64_t misses = figure_misses(c->recording, &result, i);
        if (misses < c->row[i].low)
            c->row[i].low = misses;
        if (misses > c->row[i].high)
            c->row[i].high = misses;
    }
    drive_result_free(&result);
    return code;
}

/* Is a range over schedules wanted for what was run? */
static bool range_wanted(const struct comparison *c)
{
    const struct compare *compare = c->compare;
    if (compare->schedule || (c->rows && c->row[0].exact))
        return false;
    if (compare->all_schedules)
        return true;
    bool classic = strcmp(c->recording->mode, "classic") == 0;
    return classic && (!compare->stated_only || c->row[0].bound.kind == BOUND_RANGE);
}

static int run_all(struct comparison *c)
{
    const struct schedule *stated = schedule_stated(c->recording->kernel);
    if (c->compare->schedule)
        stated = schedule_find(c->compare->schedule);
    MGLRU_CHECK(stated != NULL);
    int code = run_stated(c, stated);
    for (size_t i = 0; !code && range_wanted(c) && schedule_at(i); i++)
        code = run_range(c, schedule_at(i));
    return code;
}

/* The streams must be the recorded ones, or nothing that follows means anything. */
static bool streams_match(const struct recording *recording, const struct script *script)
{
    if (!recording->streams)
        return true;
    return recording->stream_fnv == script->stream_fnv &&
           recording->second_fnv == script->second_fnv;
}

int compare_add(struct compare *compare, const struct row *row)
{
    if (compare->progress)
        table_print_row(compare->progress, row);
    return table_add(&compare->table, row) ? 0 : MGLRU_ENOMEM;
}

int compare_recording(const struct recording *recording, struct compare *compare)
{
    struct comparison c = {.recording = recording, .compare = compare};
    int code = script_init(&c.script, &recording->scenario, &recording->clock,
                           recording_mode_enabled(recording->mode));
    if (code) {
        snprintf(compare->error, COMPARE_ERROR_BYTES, "%s: no stream: %s", recording->name,
                 mglru_error_text(code));
        return code;
    }
    if (streams_match(recording, &c.script)) {
        code = run_all(&c);
    } else {
        code = MGLRU_EINVAL;
        snprintf(compare->error, COMPARE_ERROR_BYTES,
                 "%s: the stream differs from the recorded one", recording->name);
    }
    for (size_t i = 0; i < c.rows && !code; i++) {
        if (!c.row[i].exact)
            row_judge(&c.row[i]);
        code = compare_add(compare, &c.row[i]);
    }
    script_free(&c.script);
    return code;
}
