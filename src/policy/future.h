/* SPDX-License-Identifier: MIT */
/*
 * When each access of a trace is repeated: the future that Belady's policy needs.
 *
 * A first pass over the trace calls future_access() for every page access and future_forget() for
 * every page that is freed; a second pass asks future_next() for access 0, 1, 2, ... and replays.
 * Memory: 4 bytes an access, 4 bytes a distinct page. That is the one thing here that grows with
 * the length of a trace; other policies do not need it.
 *
 * A page that is freed before its next access counts as never used again: keeping it is no use.
 * Not thread-safe while it is built; future_next() may be called by many threads afterwards.
 */
#ifndef POLICY_FUTURE_H
#define POLICY_FUTURE_H

#include <stdint.h>

struct future {
    uint32_t **chunks;   /* index of the next access, by access, in chunks of 1 MiB */
    uint32_t chunk_room; /* entries allocated in @chunks */
    uint32_t *last;      /* by page: its latest access; UINT32_MAX: none since it was freed */
    uint32_t pages;      /* ids below it have room in @last */
    uint64_t accesses;   /* recorded so far */
};

/* Starts empty; nothing is allocated. */
void future_init(struct future *future);

/* Frees everything; @future may be all zero bytes. */
void future_free(struct future *future);

/*
 * Records the next access of the trace, to dense id @page.
 * MGLRU_ENOMEM; MGLRU_EOVERFLOW: 2^32 - 2 accesses are recorded, or the id is UINT32_MAX.
 */
int future_access(struct future *future, uint32_t page);

/* Records that @page is freed here; ids that were never accessed are ignored. */
void future_forget(struct future *future, uint32_t page);

/* Frees what only the first pass needs (4 bytes a distinct page). Optional. */
void future_seal(struct future *future);

/* Index of the access that repeats access @index (< accesses), POLICY_NEVER if none does. */
uint64_t future_next(const struct future *future, uint64_t index);

#endif
