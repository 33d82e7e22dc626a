/* SPDX-License-Identifier: MIT */
/*
 * Accesses of several threads in the order in which they were recorded, made ready for the model.
 *
 * Idea: the model runs over the same accesses for many numbers of CPUs and latencies, so what does
 * not depend on them is done once: addresses become numbers of lines, an access over two lines
 * becomes two, sets of held locks become numbers.
 *
 * Which CPU sees which copy of a line when there are more CPUs than threads (each thread is then
 * repeated, a repetition of all threads is a round):
 *   alone    touched by one thread only: every repetition has its own, nobody ever loses it
 *   split    several threads, but each aligned word of 8 bytes has one of its own (per-thread
 *            elements of an array): every round has its own copy
 *   common   anything else: all CPUs meet on it
 *
 * A thread begins when the one that made it had done what it did before; where that is unknown,
 * when the access before its first one, of any thread, did. So threads that were made together
 * start together in the model, whatever the machine's scheduler did.
 *
 * One thread per trace.
 */
#ifndef COHERENCE_TRACE_H
#define COHERENCE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COHERENCE_LINE_MAX 128u
/* A load that hits the first cache, of a CPU of 3 GHz; chosen: of no weight beside 40 ns. */
#define COHERENCE_HIT_NS 1u
#define COHERENCE_THREADS_MAX 1024u
/* An access longer than that is a copy of a file, not a field. */
#define COHERENCE_ACCESS_MAX ((uint64_t)1 << 30)
/* Bounds memory: 16 bytes each. */
#define COHERENCE_OPS_MAX ((size_t)1 << 30)
/* More locks at once nobody holds in order; later ones are left out. */
#define COHERENCE_HELD_MAX 8u
#define COHERENCE_LOCKSETS_MAX 65535u

enum coherence_kind { COHERENCE_READ, COHERENCE_WRITE, COHERENCE_ATOMIC };

struct coherence_access {
    uint64_t address;
    uint64_t bytes;
    uint32_t thread;
    uint32_t gap_ns;  /* work of the thread since its access before */
    uint32_t lockset; /* of coherence_trace_lockset() */
    enum coherence_kind kind;
};

enum coherence_sharing { COHERENCE_ALONE, COHERENCE_SPLIT, COHERENCE_COMMON };

/* One access to one line. */
struct coherence_op {
    uint32_t line;
    uint32_t gap_ns;
    uint16_t thread;
    uint16_t lockset;
    uint8_t first; /* bytes in the line, both ends included */
    uint8_t last;
    uint8_t kind; /* enum coherence_kind */
    bool begins;  /* the first access of its thread */
};
_Static_assert(sizeof(struct coherence_op) == 16, "four of them fill a line");

struct coherence_lockset {
    uint64_t locks[COHERENCE_HELD_MAX]; /* sorted */
    uint32_t count;
};

struct coherence_trace {
    struct coherence_op *ops;
    size_t op_count, op_capacity;
    uint64_t *line_addresses; /* of each line's first byte */
    uint8_t *sharing;         /* enum coherence_sharing, one a line; after finish */
    size_t line_count, line_capacity;
    struct coherence_lockset *locksets; /* number 0 is empty */
    size_t lockset_count;
    uint16_t *lockset_slots; /* hash of locksets: number, 0 is free */
    uint64_t *clocks_ns;     /* of each thread: work so far, COHERENCE_HIT_NS an access */
    uint64_t *starts_ns;     /* of each thread, on these clocks; UINT64_MAX: not known yet */
    uint64_t latest_ns;      /* largest start of an access so far */
    uint32_t *slots;         /* hash of lines: number + 1, 0 is free */
    size_t slot_count;
    uint64_t operations; /* told by the caller; 0: an access is an operation */
    uint32_t line_bytes;
    uint32_t thread_count;
};

/* @line_bytes: 32, 64 or 128. 0; MGLRU_EINVAL; MGLRU_ENOMEM. The caller frees in any case. */
int coherence_trace_begin(struct coherence_trace *trace, uint32_t line_bytes);
void coherence_trace_free(struct coherence_trace *trace);

/* Number of the set of @count locks; sets beyond the bound are taken as empty.
 * 0; MGLRU_ENOMEM. */
int coherence_trace_lockset(struct coherence_trace *trace, const uint64_t *locks, uint32_t count,
                            uint32_t *number);

/* @thread, which has no access yet, is made by @maker now. Numbers out of range are ignored. */
void coherence_trace_start(struct coherence_trace *trace, uint32_t thread, uint32_t maker);

/* Adds the next access of the recorded order.
 * 0; MGLRU_EINVAL: no bytes, too many, an address that wraps, a thread or set out of range;
 * MGLRU_EOVERFLOW: too many accesses; MGLRU_ENOMEM. */
int coherence_trace_add(struct coherence_trace *trace, const struct coherence_access *access);

/* Call once after the last access. 0; MGLRU_ENOMEM. */
int coherence_trace_finish(struct coherence_trace *trace);

/* True when the sets @a and @b have a lock in common. */
bool coherence_trace_coupled(const struct coherence_trace *trace, uint32_t a, uint32_t b);

#endif
