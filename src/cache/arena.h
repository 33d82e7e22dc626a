/* SPDX-License-Identifier: MIT */
/*
 * The memory of a cache's pages: equal frames in one range of address space, known by number.
 *
 * A frame is in exactly one state:
 *   COLD   nobody's, holds no memory: it was never used, or its memory went back to the machine
 *   WARM   free, holds memory: in the pool, or in the magazine of a thread
 *   USED   allocated
 *   COLD --arena_alloc--> USED <--arena_alloc-- WARM ; USED --arena_free--> WARM
 *   WARM --arena_limit_set, or arena_free above the limit--> COLD
 *
 * Conservation: frames = cold + warm + used; resident = warm + used.
 * Invariants: (1) resident never grows beyond limit; it may be above it after the limit was cut, as
 * long as frames are used that were before; then each free brings it down. (2) Nothing is allocated
 * after creation. (3) arena_alloc fails only when it found no frame below the limit free in the
 * pool nor in any thread's magazine, each looked at once.
 *
 * RSS of the range is resident * frame_bytes at most, plus 12 bytes a frame that was ever used and
 * a line a thread.
 *
 * Guarantees: (A) what a thread did to a frame before arena_free is seen by whoever gets it from
 * arena_alloc. Progress: alloc and free take a lock of the thread's own, every so often that of the
 * pool, both for a few dozen instructions; O(1), but for an alloc that finds the pool empty, which
 * looks at the magazine of each thread that has ever used the arena.
 */
#ifndef CACHE_ARENA_H
#define CACHE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mglru/error.h>

struct arena;

/* No frame. */
#define ARENA_NONE UINT32_MAX

#define ARENA_FRAME_MIN ((uint32_t)4096)
#define ARENA_FRAME_MAX ((uint32_t)2 << 20)

enum arena_pages {
    ARENA_PAGES_SMALL = 0,  /* RSS is exact to the page */
    ARENA_PAGES_HUGE,       /* huge pages where the machine has some; RSS in steps of 2 MiB */
    ARENA_PAGES_HUGE_STRICT /* the administrator's pool, all reserved at creation; frames below 2
                               MiB never give memory back */
};

struct arena_options {
    uint32_t frame_bytes;  /* a power of two, ARENA_FRAME_MIN..ARENA_FRAME_MAX */
    uint32_t frames;       /* capacity, 1..2^32 - 2 */
    uint32_t limit_frames; /* first limit, 0: all */
    enum arena_pages pages;
};

/* Where the frames are; their sum is the capacity. */
struct arena_counts {
    uint32_t frames; /* capacity */
    uint32_t limit;
    uint32_t used;
    uint32_t warm_pool;
    uint32_t warm_magazines;
    uint32_t cold;
    uint64_t released; /* frames whose memory went back, ever */
};

/*
 * Makes an arena. The caller owns *out. MGLRU_EINVAL: an option out of its range; MGLRU_ENOMEM: no
 * memory for it, not so much address space, or not so many huge pages set aside.
 */
int arena_create(const struct arena_options *options, struct arena **out);

/* Unmaps all frames, used ones too. No other call runs. NULL is allowed. */
void arena_destroy(struct arena *arena);

/*
 * A frame with any content, or ARENA_NONE: no frame below the limit is free. Any thread; holds
 * nothing of rank RANK_ARENA_MAGAZINE or above.
 */
uint32_t arena_alloc(struct arena *arena);

/* As arena_alloc, up to @count frames into @out; returns how many there were. */
uint32_t arena_alloc_batch(struct arena *arena, uint32_t *out, uint32_t count);

/* Gives a used frame back. Never fails, never allocates. Any thread, as arena_alloc. */
void arena_free(struct arena *arena, uint32_t frame);

/*
 * Changes the limit, at most the capacity. Above a smaller one the memory of free frames goes back
 * to the machine at once (a system call a run of neighbours), that of used ones when they are
 * freed. Returns the frames that are still resident above the limit. Any thread; blocks for the
 * system calls.
 */
uint32_t arena_limit_set(struct arena *arena, uint32_t limit_frames);

/* Puts all magazines' frames into the pool. Any thread. */
void arena_drain(struct arena *arena);

/* Snapshot; exact when nothing else runs, else each field by itself. */
void arena_counts(struct arena *arena, struct arena_counts *out);

/* Aborts unless every frame is in exactly one place and the counts say so. When nothing runs.
 * @used: which frames the caller holds, one byte a frame (0 or 1); NULL: not compared. */
void arena_verify(struct arena *arena, const uint8_t *used);

/* Fixed at creation, for the inline functions. */
struct arena_geometry {
    char *start;
    uint32_t frame_shift;
    uint32_t frames;
};

/* The first field of struct arena. */
static inline const struct arena_geometry *arena_geometry(const struct arena *arena)
{
    return (const struct arena_geometry *)(const void *)arena;
}

/* Address of a frame, aligned to its size. Any thread, wait-free. */
static inline void *arena_frame(const struct arena *arena, uint32_t frame)
{
    const struct arena_geometry *geometry = arena_geometry(arena);
    return geometry->start + ((size_t)frame << geometry->frame_shift);
}

/* Number of the frame that @address lies in; ARENA_NONE: in none. Any thread, wait-free. */
static inline uint32_t arena_number(const struct arena *arena, const void *address)
{
    const struct arena_geometry *geometry = arena_geometry(arena);
    uintptr_t distance = (uintptr_t)address - (uintptr_t)geometry->start;
    uintptr_t frame = distance >> geometry->frame_shift;
    return frame < geometry->frames ? (uint32_t)frame : ARENA_NONE;
}

static inline uint32_t arena_frame_bytes(const struct arena *arena)
{
    return (uint32_t)1 << arena_geometry(arena)->frame_shift;
}

#endif
