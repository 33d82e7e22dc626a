/* SPDX-License-Identifier: MIT */
/* See samples.h. Cells are sorted by line, thread and byte once all have come. */
#include "coherence/samples.h"

#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

int coherence_samples_begin(struct coherence_samples *samples, uint32_t line_bytes)
{
    *samples = (struct coherence_samples){0};
    return coherence_trace_begin(&samples->log.trace, line_bytes);
}

void coherence_samples_free(struct coherence_samples *samples)
{
    coherence_log_free(&samples->log);
    free(samples->cells);
    *samples = (struct coherence_samples){0};
}

int coherence_samples_access(struct coherence_samples *samples, uint64_t address, uint32_t thread,
                             enum coherence_kind kind)
{
    struct coherence_access access = {
        .address = address, .bytes = 1, .thread = thread, .kind = kind};
    if (samples->log.trace.op_count >= COHERENCE_SAMPLES_MAX)
        return MGLRU_EOVERFLOW;
    return coherence_trace_add(&samples->log.trace, &access);
}

/* The number of the line of the access that was added last. */
static uint32_t last_line(const struct coherence_trace *trace)
{
    return trace->ops[trace->op_count - 1].line;
}

int coherence_samples_count(struct coherence_samples *samples, uint64_t address,
                            struct coherence_cell counts)
{
    if (samples->cell_count == samples->cell_capacity) {
        size_t capacity = samples->cell_capacity * 2 + 256;
        struct coherence_cell *larger = realloc(samples->cells, capacity * sizeof(*larger));
        if (larger == NULL)
            return MGLRU_ENOMEM;
        samples->cells = larger;
        samples->cell_capacity = capacity;
    }
    counts.line = last_line(&samples->log.trace);
    counts.byte = (uint8_t)(address & (samples->log.trace.line_bytes - 1));
    samples->cells[samples->cell_count++] = counts;
    samples->hitm += counts.hitm;
    return MGLRU_OK;
}

/* --- whose stores the loads met ------------------------------------------------------------- */

static int compare_cells(const void *left, const void *right)
{
    const struct coherence_cell *a = left, *b = right;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return (int)a->byte - (int)b->byte;
}

static void merge_cells(struct coherence_samples *samples)
{
    size_t kept = 0;
    if (samples->cell_count == 0)
        return;
    qsort(samples->cells, samples->cell_count, sizeof(*samples->cells), compare_cells);
    for (size_t i = 1; i < samples->cell_count; i++) {
        struct coherence_cell *last = &samples->cells[kept], *cell = &samples->cells[i];
        if (compare_cells(last, cell) == 0) {
            last->stores += cell->stores;
            last->hitm += cell->hitm;
        } else {
            samples->cells[++kept] = *cell;
        }
    }
    samples->cell_count = kept + 1;
}

struct spread {
    struct coherence_samples *samples;
    struct coherence_result *result;
    size_t row_capacity;
    uint64_t stores[COHERENCE_LINE_MAX]; /* on the line, of all threads */
    uint64_t own[COHERENCE_LINE_MAX];    /* of the thread whose loads are spread */
};

static int add_row(struct spread *spread, const struct coherence_cell *cell, unsigned byte,
                   uint64_t count)
{
    struct coherence_result *result = spread->result;
    if (result->row_count == spread->row_capacity) {
        size_t capacity = spread->row_capacity * 2 + 64;
        struct coherence_miss *larger = realloc(result->rows, capacity * sizeof(*larger));
        if (larger == NULL)
            return MGLRU_ENOMEM;
        result->rows = larger;
        spread->row_capacity = capacity;
    }
    enum coherence_class class = byte == cell->byte ? COHERENCE_TRUE : COHERENCE_FALSE;
    struct coherence_miss row = {.line = cell->line,
                                 .victim = {cell->byte, cell->byte, COHERENCE_READ},
                                 .cause = {(uint8_t)byte, (uint8_t)byte, COHERENCE_WRITE}};
    row.count[class] = count;
    result->misses[class] += count;
    result->rows[result->row_count++] = row;
    return MGLRU_OK;
}

/* Rounds so that the parts add up to the whole. */
static int spread_cell(struct spread *spread, const struct coherence_cell *cell)
{
    double all = 0, before = 0;
    uint64_t given = 0;
    for (unsigned i = 0; i < COHERENCE_LINE_MAX; i++)
        all += (double)(spread->stores[i] - spread->own[i]);
    if (all <= 0) {
        spread->samples->unknown += cell->hitm;
        return MGLRU_OK;
    }
    for (unsigned i = 0; i < COHERENCE_LINE_MAX; i++) {
        before += (double)(spread->stores[i] - spread->own[i]);
        uint64_t upto = before >= all ? cell->hitm : (uint64_t)((double)cell->hitm * before / all);
        int code = upto > given ? add_row(spread, cell, i, upto - given) : MGLRU_OK;
        if (code != MGLRU_OK)
            return code;
        given = upto > given ? upto : given;
    }
    return MGLRU_OK;
}

/* The cells first .. end - 1 are those of one thread on a line. */
static int spread_thread(struct spread *spread, size_t first, size_t end)
{
    const struct coherence_cell *cells = spread->samples->cells;
    memset(spread->own, 0, sizeof(spread->own));
    for (size_t i = first; i < end && cells[i].thread != COHERENCE_SAMPLE_THREADLESS; i++)
        spread->own[cells[i].byte] = cells[i].stores;
    for (size_t i = first; i < end; i++) {
        int code = cells[i].hitm > 0 ? spread_cell(spread, &cells[i]) : MGLRU_OK;
        if (code != MGLRU_OK)
            return code;
    }
    return MGLRU_OK;
}

static int spread_line(struct spread *spread, size_t first, size_t end)
{
    const struct coherence_cell *cells = spread->samples->cells;
    memset(spread->stores, 0, sizeof(spread->stores));
    for (size_t i = first; i < end; i++)
        spread->stores[cells[i].byte] += cells[i].stores;
    for (size_t next; first < end; first = next) {
        for (next = first + 1; next < end && cells[next].thread == cells[first].thread;)
            next++;
        int code = spread_thread(spread, first, next);
        if (code != MGLRU_OK)
            return code;
    }
    return MGLRU_OK;
}

int coherence_samples_finish(struct coherence_samples *samples, struct coherence_result *result)
{
    struct spread spread = {.samples = samples, .result = result};
    *result = (struct coherence_result){0};
    merge_cells(samples);
    for (size_t first = 0, end; first < samples->cell_count; first = end) {
        for (end = first + 1;
             end < samples->cell_count && samples->cells[end].line == samples->cells[first].line;)
            end++;
        int code = spread_line(&spread, first, end);
        if (code != MGLRU_OK)
            return code;
    }
    result->ops = samples->log.trace.op_count;
    result->operations = samples->hitm;
    return coherence_trace_finish(&samples->log.trace);
}
