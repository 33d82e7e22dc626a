/* SPDX-License-Identifier: MIT */
/*
 * Accesses that a CPU's counters sampled, as perf tells them: which bytes of which lines were read
 * and written, and which loads found the line modified by another CPU (HITM). They come to the same
 * records as a recording: accesses for the class file, misses by parts of lines for the blame.
 *
 * Whose store a load met is not sampled. The loads at a byte are spread over the stores that were
 * sampled on the line, of other threads where threads are known, in proportion to their numbers. A
 * load that met its own byte's store is true sharing, any other false. Of a line without a sampled
 * store the writer is unknown.
 *
 * A sample has an address and no size: it stands for the field at that address.
 */
#ifndef COHERENCE_SAMPLES_H
#define COHERENCE_SAMPLES_H

#include "coherence/log.h"
#include "coherence/model.h"

/* A sample whose thread is not known. */
#define COHERENCE_SAMPLE_THREADLESS UINT16_MAX
/* More accesses than any report of perf has; bounds memory. */
#define COHERENCE_SAMPLES_MAX ((size_t)16 << 20)

/* What was sampled at one byte by one thread. */
struct coherence_cell {
    uint32_t line; /* of the trace */
    uint16_t thread;
    uint8_t byte;
    uint64_t stores;
    uint64_t hitm; /* loads that met a modified line */
};

struct coherence_samples {
    struct coherence_log log; /* its trace has the accesses; objects and modules are the caller's */
    struct coherence_cell *cells;
    size_t cell_count, cell_capacity;
    uint64_t hitm;     /* all cells' */
    uint64_t unknown;  /* of these, on lines without a sampled store */
    uint64_t left_out; /* samples without an address, or that are neither load nor store */
};

/* @line_bytes: 32, 64 or 128. 0; MGLRU_EINVAL; MGLRU_ENOMEM. The caller frees in any case. */
int coherence_samples_begin(struct coherence_samples *samples, uint32_t line_bytes);
void coherence_samples_free(struct coherence_samples *samples);

/* Adds accesses at @address to the trace: one of @kind by @thread. 0; as coherence_trace_add. */
int coherence_samples_access(struct coherence_samples *samples, uint64_t address, uint32_t thread,
                             enum coherence_kind kind);

/* Adds to the cell of @address, whose line has an access already. 0; MGLRU_ENOMEM. */
int coherence_samples_count(struct coherence_samples *samples, uint64_t address,
                            struct coherence_cell counts);

/* Once, after the last: makes the misses. @result: the caller frees. 0; MGLRU_ENOMEM. */
int coherence_samples_finish(struct coherence_samples *samples, struct coherence_result *result);

/*
 * Reads what `perf c2c report --stdio` or `perf script` printed; which of them is seen from the
 * text. @samples: the caller frees it in any case. 0; MGLRU_EINVAL: neither, or damaged: @error
 * names the line and what was expected; MGLRU_EOVERFLOW: too many; MGLRU_ENOMEM.
 */
int coherence_samples_parse(const struct coherence_bytes *file, uint32_t line_bytes,
                            struct coherence_samples *samples, struct coherence_error *error);

#endif
