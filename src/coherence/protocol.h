/* SPDX-License-Identifier: MIT */
/* One line among N CPUs, and where its misses are counted: what model.c drives. Private. */
#ifndef COHERENCE_PROTOCOL_H
#define COHERENCE_PROTOCOL_H

#include "coherence/model.h"

#define COHERENCE_MASK_WORDS (COHERENCE_CPUS_MAX / 64)
#define COHERENCE_NO_CPU UINT16_MAX

/* A CPU's view of a line. */
struct protocol_copy {
    uint32_t seen;               /* writes to the line when the CPU lost it */
    uint32_t open;               /* row + 1 of the miss that may still turn out to be true */
    struct coherence_part taker; /* access that took the line, or its exclusiveness */
    bool known;                  /* the CPU had the line before */
    bool taken;                  /* taker is set */
    uint16_t taker_lockset;
    uint32_t open_seen; /* seen at that miss */
};

struct protocol_line {
    uint64_t holders[COHERENCE_MASK_WORDS];
    uint64_t exclusive_free_ns; /* end of the last transfer to or from a writer */
    uint64_t all_free_ns;       /* end of the last transfer */
    uint32_t writes;
    uint16_t owner; /* may write without asking */
    uint16_t queue_first, queue_last;
    struct coherence_part reader; /* the last transfer for a read */
    uint16_t reader_lockset;
    uint16_t byte_writer[COHERENCE_LINE_MAX];
    uint32_t byte_write[COHERENCE_LINE_MAX]; /* number of the last write of the byte */
    struct protocol_copy copies[];           /* one a CPU */
};

/* A CPU waits for at most one transfer. */
struct protocol_transfer {
    struct coherence_op op;
    struct protocol_line *line; /* NULL: none */
    uint64_t end_ns;
    uint16_t next; /* CPU of the transfer behind it in the queue of the line */
};

/* Counts of misses by line and both accesses: an open hash. */
struct protocol_rows {
    struct coherence_miss *rows;
    size_t count, capacity;
    uint32_t *slots; /* row + 1 */
    size_t slot_count;
};

struct protocol {
    const struct coherence_trace *trace;
    struct protocol_transfer transfers[COHERENCE_CPUS_MAX];
    struct protocol_line **lines; /* one a line of the trace and round; NULL: never touched */
    struct protocol_rows rows;
    uint64_t misses[COHERENCE_CLASSES];
    uint64_t ideal_ns;
    uint32_t cpus;
    uint32_t latency_ns;
    bool no_memory;
};

/* Ends the transfer that @cpu waits for, if any, and those before it. Called before each access. */
void protocol_settle(struct protocol *protocol, uint32_t cpu);

/* @cpu does @op to the line in @place at @now_ns. Returns when it is done. */
uint64_t protocol_access(struct protocol *protocol, uint32_t cpu, const struct coherence_op *op,
                         struct protocol_line **place, uint64_t now_ns);

#endif
