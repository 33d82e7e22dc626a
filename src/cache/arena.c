/* SPDX-License-Identifier: MIT */
/*
 * The arena of arena.h. Free frames hang together by number in chains, apart from the frames
 * themselves, so that freeing touches no memory of a page.
 *
 * Each thread has a magazine of two chains of up to batch frames. It takes from and puts into the
 * first; when that is empty or full the two change places, and when neither helps a whole chain
 * comes from or goes to the pool: one lock of the pool in that many calls (Bonwick and Adams,
 * "Magazines and Vmem", USENIX 2001). Large frames have no magazines: two chains a thread of them
 * would be too much memory to have lying about, and what is done to such a frame dwarfs a lock.
 *
 * The pool is a list of chains of warm frames, one of chains of cold ones, and the frames from
 * fresh on, which were never used. resident changes under the pool's lock alone: when a frame goes
 * from cold to used or from warm to cold. above, an atomic copy of "resident > limit", tells the
 * path of a free whether it must go to the pool.
 *
 * Locks: magazine.lock (RANK_ARENA_MAGAZINE), by its owner and by those who drain; pool lock
 * (RANK_ARENA_POOL) under it. Giving memory back is a system call, so frames on their way from warm
 * to cold are in nobody's list and counted as releasing; no lock is held meanwhile.
 */
#include "cache/arena.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "os/os.h"
#include "sync/atomic.h"
#include "sync/lock.h"
#include "sync/slot.h"

/* Chosen: enough to lock the pool rarely; a magazine of small frames is 256 KiB. */
#define BATCH_MAX 32u
#define MAGAZINE_BYTES ((uint32_t)256 << 10)

/* What a free frame knows: the rest of its chain, and, if it is the first, the next chain. */
struct frame_link {
    uint32_t next;
    uint32_t next_chain;
    uint32_t count; /* of a first frame: frames in its chain */
};

struct chain {
    uint32_t first;
    uint32_t count;
};

/* One thread's, by slot. A line of its own: no other thread writes it unless the pool is empty. */
struct magazine {
    _Alignas(64) struct lock_spin lock;
    struct chain one; /* alloc and free work here */
    struct chain two; /* empty or full, mostly */
};

_Static_assert(sizeof(struct magazine) == 64, "threads share no line of magazines");

struct pool {
    struct lock_spin lock;
    uint32_t warm_first; /* first frame of the first chain */
    uint32_t cold_first;
    uint32_t warm;  /* frames in warm chains */
    uint32_t cold;  /* frames in cold chains */
    uint32_t fresh; /* the first frame that was never used */
    uint32_t resident;
    uint32_t releasing; /* on their way to cold; still counted in resident */
    uint32_t limit;
    uint64_t released;
};

_Static_assert(sizeof(struct pool) <= 64, "a refill touches one line of the pool");

struct arena {
    /* Line 0: fixed at creation, but for above, which changes with the limit only. */
    struct arena_geometry geometry;
    uint32_t batch; /* frames of a full chain; 0: no magazines */
    bool releases;  /* memory can go back frame by frame */
    _Atomic bool above;
    struct frame_link *links;
    struct magazine *magazines; /* SLOT_MAX, memory comes with use */
    /* Line 1: written once a slot. */
    _Alignas(64) _Atomic uint32_t slots; /* magazines below this one were used */
    /* Line 2: under its lock. */
    _Alignas(64) struct pool pool;
};

_Static_assert(offsetof(struct arena, geometry) == 0, "arena_geometry reads it there");
_Static_assert(offsetof(struct arena, slots) == 64, "every call reads line 0, few write line 1");
_Static_assert(offsetof(struct arena, pool) == 128, "the pool's line bounces, line 0 must not");

#define CHAIN_EMPTY ((struct chain){ARENA_NONE, 0})

/* ---- Chains ---- */

static uint32_t chain_pop(struct arena *arena, struct chain *chain)
{
    uint32_t frame = chain->first;
    MGLRU_ASSERT(chain->count && frame < arena->geometry.frames);
    chain->first = arena->links[frame].next;
    chain->count--;
    return frame;
}

static void chain_push(struct arena *arena, struct chain *chain, uint32_t frame)
{
    arena->links[frame].next = chain->first;
    chain->first = frame;
    chain->count++;
}

static void list_push(struct arena *arena, uint32_t *first, struct chain chain)
{
    if (!chain.count)
        return;
    arena->links[chain.first].next_chain = *first;
    arena->links[chain.first].count = chain.count;
    *first = chain.first;
}

static struct chain list_pop(struct arena *arena, uint32_t *first)
{
    if (*first == ARENA_NONE)
        return CHAIN_EMPTY;
    struct chain chain = {*first, arena->links[*first].count};
    *first = arena->links[*first].next_chain;
    return chain;
}

/* ---- The pool ---- */

static void note_above(struct arena *arena)
{
    bool above = arena->pool.resident > arena->pool.limit;
    MGLRU_ASSERT(lock_spin_held(&arena->pool.lock));
    if (atomic_load_relaxed(&arena->above) != above)
        atomic_store_relaxed(&arena->above, above); /* a hint: the pool's lock decides */
}

static void pool_put(struct arena *arena, struct chain chain)
{
    lock_spin_acquire(&arena->pool.lock);
    list_push(arena, &arena->pool.warm_first, chain);
    arena->pool.warm += chain.count;
    lock_spin_release(&arena->pool.lock);
}

/* One cold frame, within the limit. */
static uint32_t take_cold(struct arena *arena)
{
    struct pool *pool = &arena->pool;
    MGLRU_ASSERT(lock_spin_held(&pool->lock));
    if (pool->resident >= pool->limit)
        return ARENA_NONE;
    uint32_t frame = ARENA_NONE;
    if (pool->cold) {
        struct chain chain = list_pop(arena, &pool->cold_first);
        frame = chain_pop(arena, &chain);
        list_push(arena, &pool->cold_first, chain);
        pool->cold--;
    } else if (pool->fresh < arena->geometry.frames) {
        frame = pool->fresh++;
    }
    pool->resident += frame != ARENA_NONE;
    return frame;
}

/* A chain for a magazine, or of a single frame without magazines; empty: there is none. */
static struct chain pool_take(struct arena *arena)
{
    struct pool *pool = &arena->pool;
    uint32_t wanted = arena->batch ? arena->batch : 1;
    struct chain chain = CHAIN_EMPTY;
    lock_spin_acquire(&pool->lock);
    /* Above the limit warm frames are on their way back to the machine. */
    if (pool->resident - pool->releasing <= pool->limit)
        chain = list_pop(arena, &pool->warm_first);
    if (chain.count > wanted) { /* the limit was cut, and chains with it */
        struct chain rest = chain;
        chain = CHAIN_EMPTY;
        chain_push(arena, &chain, chain_pop(arena, &rest));
        list_push(arena, &pool->warm_first, rest);
    }
    pool->warm -= chain.count;
    while (!chain.count || (chain.count < wanted && !pool->warm)) {
        uint32_t frame = take_cold(arena);
        if (frame == ARENA_NONE)
            break;
        chain_push(arena, &chain, frame);
    }
    lock_spin_release(&pool->lock);
    return chain;
}

/* ---- Giving memory back ---- */

/* Gives back the memory of the frames first..last. */
static void release_run(struct arena *arena, uint32_t first, uint32_t last)
{
    if (!arena->releases)
        return; /* the memory stays reserved, only the limit counts */
    size_t bytes = (size_t)(last - first + 1) << arena->geometry.frame_shift;
    int error = os_range_release(arena_frame(arena, first), bytes);
    MGLRU_ASSERT(!error);
    (void)error;
}

/* The memory of a chain goes back, neighbours in one call. The caller counted it as releasing. */
static void release_chain(struct arena *arena, struct chain chain)
{
    uint32_t first = chain.first, last = chain.first;
    for (uint32_t frame = arena->links[first].next, left = chain.count - 1; left; left--) {
        if (frame == last + 1)
            last = frame;
        else if (frame + 1 == first)
            first = frame;
        else {
            release_run(arena, first, last);
            first = last = frame;
        }
        frame = arena->links[frame].next;
    }
    release_run(arena, first, last);
    struct pool *pool = &arena->pool;
    lock_spin_acquire(&pool->lock);
    list_push(arena, &pool->cold_first, chain);
    pool->cold += chain.count;
    pool->releasing -= chain.count;
    pool->resident -= chain.count;
    pool->released += chain.count;
    note_above(arena);
    lock_spin_release(&pool->lock);
}

/* Cuts @chain to the frames that are too many; the rest is put back. */
static struct chain cut_to_excess(struct arena *arena, struct chain chain, uint32_t excess)
{
    struct chain rest = CHAIN_EMPTY;
    while (chain.count > excess)
        chain_push(arena, &rest, chain_pop(arena, &chain));
    list_push(arena, &arena->pool.warm_first, rest);
    arena->pool.warm += rest.count;
    return chain;
}

/* Warm frames above the limit, marked as releasing; empty: none. */
static struct chain take_excess(struct arena *arena)
{
    struct pool *pool = &arena->pool;
    struct chain chain = CHAIN_EMPTY;
    lock_spin_acquire(&pool->lock);
    uint32_t stay = pool->resident - pool->releasing;
    if (stay > pool->limit) {
        chain = list_pop(arena, &pool->warm_first);
        pool->warm -= chain.count;
        chain = cut_to_excess(arena, chain, stay - pool->limit);
        pool->releasing += chain.count;
    }
    lock_spin_release(&pool->lock);
    return chain;
}

static void release_excess(struct arena *arena)
{
    for (struct chain chain; (chain = take_excess(arena)).count;)
        release_chain(arena, chain);
}

uint32_t arena_limit_set(struct arena *arena, uint32_t limit_frames)
{
    struct pool *pool = &arena->pool;
    uint32_t frames = arena->geometry.frames;
    lock_spin_acquire(&pool->lock);
    pool->limit = limit_frames < frames ? limit_frames : frames;
    note_above(arena);
    lock_spin_release(&pool->lock);
    if (atomic_load_relaxed(&arena->above)) {
        arena_drain(arena);
        release_excess(arena);
    }
    lock_spin_acquire(&pool->lock);
    uint32_t above = pool->resident > pool->limit ? pool->resident - pool->limit : 0;
    lock_spin_release(&pool->lock);
    return above;
}

/* ---- Magazines ---- */

/* Makes the magazines up to @slot, once each: nobody has looked at those at or above slots. */
static void magazines_make(struct arena *arena, unsigned slot)
{
    lock_spin_acquire(&arena->pool.lock);
    uint32_t slots = atomic_load_relaxed(&arena->slots);
    for (; slots <= slot; slots++) {
        arena->magazines[slots].one = arena->magazines[slots].two = CHAIN_EMPTY;
        lock_spin_init(&arena->magazines[slots].lock, RANK_ARENA_MAGAZINE);
    }
    /* Pairs with the loads in magazine_lock, arena_drain, steal and arena_counts. */
    atomic_store_release(&arena->slots, slots);
    lock_spin_release(&arena->pool.lock);
}

/* The calling thread's magazine, locked; NULL: it has none and uses the pool. */
static struct magazine *magazine_lock(struct arena *arena) MGLRU_NO_LOCK_ANALYSIS
{
    unsigned slot = arena->batch ? slot_current() : SLOT_NONE;
    if (slot == SLOT_NONE)
        return NULL;
    struct magazine *magazine = &arena->magazines[slot];
    /* Pairs with the store in magazines_make. */
    if (MGLRU_UNLIKELY(atomic_load_acquire(&arena->slots) <= slot))
        magazines_make(arena, slot);
    lock_spin_acquire(&magazine->lock);
    return magazine;
}

static void magazine_unlock(struct magazine *magazine) MGLRU_NO_LOCK_ANALYSIS
{
    lock_spin_release(&magazine->lock);
}

static void swap_chains(struct magazine *magazine)
{
    struct chain one = magazine->one;
    magazine->one = magazine->two;
    magazine->two = one;
}

void arena_drain(struct arena *arena)
{
    /* Pairs with the store in magazines_make. */
    uint32_t slots = atomic_load_acquire(&arena->slots);
    for (uint32_t slot = 0; slot < slots; slot++) {
        struct magazine *magazine = &arena->magazines[slot];
        lock_spin_acquire(&magazine->lock);
        struct chain one = magazine->one, two = magazine->two;
        magazine->one = magazine->two = CHAIN_EMPTY;
        if (one.count)
            pool_put(arena, one);
        if (two.count)
            pool_put(arena, two);
        lock_spin_release(&magazine->lock);
    }
}

/* ---- Frames ---- */

/* A frame from the pool, and the rest of its chain for @magazine, which may be NULL. */
static uint32_t take_from_pool(struct arena *arena, struct magazine *magazine)
{
    struct chain chain = pool_take(arena);
    if (!chain.count)
        return ARENA_NONE;
    uint32_t frame = chain_pop(arena, &chain);
    if (magazine)
        magazine->one = chain;
    else if (chain.count)
        pool_put(arena, chain);
    return frame;
}

static uint32_t take_frame(struct arena *arena)
{
    struct magazine *magazine = magazine_lock(arena);
    if (!magazine)
        return take_from_pool(arena, NULL);
    if (!magazine->one.count)
        swap_chains(magazine);
    uint32_t frame =
        magazine->one.count ? chain_pop(arena, &magazine->one) : take_from_pool(arena, magazine);
    magazine_unlock(magazine);
    return frame;
}

/* A frame of whichever magazine has one; the rest of its chain goes to the pool. */
static uint32_t steal(struct arena *arena)
{
    uint32_t frame = ARENA_NONE;
    /* Pairs with the store in magazines_make. */
    uint32_t slots = atomic_load_acquire(&arena->slots);
    for (uint32_t slot = 0; slot < slots && frame == ARENA_NONE; slot++) {
        struct magazine *magazine = &arena->magazines[slot];
        struct chain chain = CHAIN_EMPTY;
        lock_spin_acquire(&magazine->lock);
        if (!magazine->one.count)
            swap_chains(magazine);
        if (magazine->one.count) {
            chain = magazine->one;
            magazine->one = CHAIN_EMPTY;
            frame = chain_pop(arena, &chain);
            if (chain.count)
                pool_put(arena, chain);
        }
        lock_spin_release(&magazine->lock);
    }
    return frame;
}

uint32_t arena_alloc(struct arena *arena)
{
    uint32_t frame = take_frame(arena);
    if (MGLRU_LIKELY(frame != ARENA_NONE))
        return frame;
    frame = steal(arena);
    /* Another thread may have filled the pool behind this one's back. */
    return frame == ARENA_NONE ? take_frame(arena) : frame;
}

uint32_t arena_alloc_batch(struct arena *arena, uint32_t *out, uint32_t count)
{
    uint32_t got = 0;
    while (got < count && (out[got] = arena_alloc(arena)) != ARENA_NONE)
        got++;
    return got;
}

static void put_frame(struct arena *arena, uint32_t frame)
{
    struct magazine *magazine = magazine_lock(arena);
    struct chain full = CHAIN_EMPTY;
    if (!magazine) {
        chain_push(arena, &full, frame);
        pool_put(arena, full);
        return;
    }
    if (magazine->one.count >= arena->batch) {
        swap_chains(magazine);
        if (magazine->one.count >= arena->batch) {
            full = magazine->one;
            magazine->one = CHAIN_EMPTY;
            pool_put(arena, full);
        }
    }
    chain_push(arena, &magazine->one, frame);
    magazine_unlock(magazine);
}

void arena_free(struct arena *arena, uint32_t frame)
{
    MGLRU_CHECK(frame < arena->geometry.frames);
    if (MGLRU_LIKELY(!atomic_load_relaxed(&arena->above))) {
        put_frame(arena, frame);
        return;
    }
    struct chain chain = CHAIN_EMPTY;
    chain_push(arena, &chain, frame);
    pool_put(arena, chain);
    release_excess(arena);
}

/* ---- Life ---- */

static uint32_t batch_for(uint32_t frame_bytes)
{
    uint32_t batch = MAGAZINE_BYTES / 2 / frame_bytes;
    return batch < BATCH_MAX ? batch : BATCH_MAX;
}

static size_t links_bytes(const struct arena *arena)
{
    return arena->geometry.frames * sizeof(struct frame_link);
}

static size_t range_bytes(const struct arena *arena)
{
    size_t bytes = (size_t)arena->geometry.frames << arena->geometry.frame_shift;
    return (bytes + OS_HUGE_BYTES - 1) / OS_HUGE_BYTES * OS_HUGE_BYTES;
}

static int map_all(struct arena *arena, enum arena_pages pages)
{
    static const enum os_range_kind kinds[] = {
        [ARENA_PAGES_SMALL] = OS_RANGE_SMALL,
        [ARENA_PAGES_HUGE] = OS_RANGE_HUGE_HINT,
        [ARENA_PAGES_HUGE_STRICT] = OS_RANGE_HUGE_STRICT,
    };
    int error = os_range_map(range_bytes(arena), kinds[pages], (void **)&arena->geometry.start);
    if (!error)
        error = os_range_map(links_bytes(arena), OS_RANGE_SMALL, (void **)&arena->links);
    if (!error)
        error = os_range_map(SLOT_MAX * sizeof(struct magazine), OS_RANGE_SMALL,
                             (void **)&arena->magazines);
    return error;
}

static bool options_valid(const struct arena_options *options)
{
    uint32_t bytes = options->frame_bytes;
    return bytes >= ARENA_FRAME_MIN && bytes <= ARENA_FRAME_MAX && !(bytes & (bytes - 1)) &&
           options->frames && options->frames < ARENA_NONE &&
           options->limit_frames <= options->frames && options->pages <= ARENA_PAGES_HUGE_STRICT;
}

int arena_create(const struct arena_options *options, struct arena **out)
{
    *out = NULL;
    if (!options_valid(options))
        return MGLRU_EINVAL;
    struct arena *arena = aligned_alloc(_Alignof(struct arena), sizeof(*arena));
    if (!arena)
        return MGLRU_ENOMEM;
    memset(arena, 0, sizeof(*arena));
    arena->geometry.frame_shift = (uint32_t)__builtin_ctz(options->frame_bytes);
    arena->geometry.frames = options->frames;
    arena->batch = batch_for(options->frame_bytes);
    arena->releases =
        options->pages != ARENA_PAGES_HUGE_STRICT || options->frame_bytes >= OS_HUGE_BYTES;
    lock_spin_init(&arena->pool.lock, RANK_ARENA_POOL);
    arena->pool.warm_first = arena->pool.cold_first = ARENA_NONE;
    arena->pool.limit = options->limit_frames ? options->limit_frames : options->frames;
    int error = map_all(arena, options->pages);
    if (error) {
        arena_destroy(arena);
        return error;
    }
    *out = arena;
    return MGLRU_OK;
}

void arena_destroy(struct arena *arena)
{
    if (!arena)
        return;
    os_pages_unmap(arena->geometry.start, range_bytes(arena));
    os_pages_unmap(arena->links, links_bytes(arena));
    os_pages_unmap(arena->magazines, SLOT_MAX * sizeof(struct magazine));
    free(arena);
}

void arena_counts(struct arena *arena, struct arena_counts *out)
{
    struct pool *pool = &arena->pool;
    uint32_t in_magazines = 0;
    /* Pairs with the store in magazines_make. */
    uint32_t slots = atomic_load_acquire(&arena->slots);
    for (uint32_t slot = 0; slot < slots; slot++) {
        struct magazine *magazine = &arena->magazines[slot];
        lock_spin_acquire(&magazine->lock);
        in_magazines += magazine->one.count + magazine->two.count;
        lock_spin_release(&magazine->lock);
    }
    lock_spin_acquire(&pool->lock);
    uint32_t free_frames = pool->warm + pool->releasing + in_magazines;
    *out = (struct arena_counts){
        .frames = arena->geometry.frames,
        .limit = pool->limit,
        .used = pool->resident > free_frames ? pool->resident - free_frames : 0,
        .warm_pool = pool->warm + pool->releasing,
        .warm_magazines = in_magazines,
        .cold = pool->cold + (arena->geometry.frames - pool->fresh),
        .released = pool->released,
    };
    lock_spin_release(&pool->lock);
}

/* Marks the frames of a chain in @seen and returns how many there are. */
static uint32_t verify_chain(struct arena *arena, struct chain chain, uint8_t *seen)
{
    uint32_t frame = chain.first;
    for (uint32_t left = chain.count; left; left--) {
        MGLRU_CHECK(frame < arena->pool.fresh);
        MGLRU_CHECK(!seen[frame]);
        seen[frame] = 1;
        frame = arena->links[frame].next;
    }
    return chain.count;
}

static uint32_t verify_list(struct arena *arena, uint32_t first, uint8_t *seen)
{
    uint32_t count = 0;
    while (first != ARENA_NONE) {
        count += verify_chain(arena, (struct chain){first, arena->links[first].count}, seen);
        first = arena->links[first].next_chain;
    }
    return count;
}

void arena_verify(struct arena *arena, const uint8_t *used)
{
    struct pool *pool = &arena->pool;
    uint32_t frames = arena->geometry.frames, in_magazines = 0, free_frames = 0;
    uint8_t *seen = calloc(frames, 1);
    MGLRU_CHECK(seen);
    uint32_t slots = atomic_load_acquire(&arena->slots); /* pairs as in arena_counts */
    for (uint32_t slot = 0; slot < slots; slot++) {
        in_magazines += verify_chain(arena, arena->magazines[slot].one, seen);
        in_magazines += verify_chain(arena, arena->magazines[slot].two, seen);
    }
    MGLRU_CHECK(verify_list(arena, pool->warm_first, seen) == pool->warm);
    MGLRU_CHECK(verify_list(arena, pool->cold_first, seen) == pool->cold);
    MGLRU_CHECK(!pool->releasing);
    for (uint32_t frame = 0; frame < pool->fresh; frame++) {
        free_frames += seen[frame];
        MGLRU_CHECK(!used || used[frame] != seen[frame]);
    }
    for (uint32_t frame = pool->fresh; used && frame < frames; frame++)
        MGLRU_CHECK(!used[frame]);
    MGLRU_CHECK(pool->fresh - free_frames + pool->warm + in_magazines == pool->resident);
    free(seen);
}
