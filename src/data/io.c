/* SPDX-License-Identifier: MIT */
/*
 * Reading and writing by copying.
 *
 * A hit copies first and asks afterwards: it takes no reference, and touches no shared line but to
 * mark a page that was not marked yet. What it copied counts if the slot still holds the folio and
 * the folio's version did not move meanwhile (reclaim/hold.h); else it looks again. After some
 * failures it joins the readers, which keeps the writers away.
 */
#include "data/data.h"

#include <string.h>

/* Copies that may come to nothing before a reader holds the page (chosen: a writer is quick). */
#define COPY_TRIES 3

struct span {
    char *buffer;
    size_t offset; /* in the page */
    size_t bytes;
    bool peek; /* leaves the page as little used as it was */
};

#ifdef RCU_TSAN
/* A copy that a writer may overtake; what it got is thrown away then. This race is the design, and
 * the only place where TSan may not look: the loop keeps its memcpy out of it as well. */
__attribute__((no_sanitize("thread"))) static void copy_racy(char *to, const char *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = ((const char *)from)[i];
}
#else
static inline void copy_racy(char *to, const char *from, size_t n)
{
    memcpy(to, from, n);
}
#endif

/* The slot in which this thread counts; *@own: no other thread does. */
static inline struct use_slot *use_slot(struct mglru_memcg *user, bool *own)
{
    unsigned slot = slot_current();
    *own = MGLRU_LIKELY(slot < USE_SLOTS - 1);
    return &user->use_slots[*own ? slot : USE_SLOTS - 1];
}

static inline void count(_Atomic uint64_t *counter, bool own, uint64_t amount)
{
    if (MGLRU_LIKELY(own))
        atomic_add_owner(counter, amount);
    else
        atomic_add_relaxed(counter, amount);
}

void page_count_hits(struct mglru_memcg *user, uint64_t hits)
{
    bool own;
    struct use_slot *slot = use_slot(user, &own);
    count(&slot->hits, own, hits);
}

void page_count_misses(struct mglru_memcg *user, uint64_t misses, uint64_t pages_read)
{
    bool own;
    struct use_slot *slot = use_slot(user, &own);
    count(&slot->misses, own, misses);
    count(&slot->pages_read, own, pages_read);
}

void page_count_pins(const struct folio *folio, uint64_t pins)
{
    bool own;
    struct use_slot *slot = use_slot(memcg_user(folio_lruvec(folio)->memcg), &own);
    count(&slot->pins, own, pins);
}

enum copied { COPIED, COPY_ABSENT, COPY_BUSY, COPY_MOVED };

/*
 * Tries to copy a page that is there, and marks it accessed but for a peek. *@folio, *@seen: whom
 * to wait for on COPY_BUSY. Compiled into its callers: a hit is a hundred instructions, and the
 * fewer they are, the more hits the processor has under way while it waits for memory.
 */
static inline __attribute__((always_inline)) enum copied
copy_hit(struct data_map *map, uint64_t page, const struct span *span, struct folio **folio,
         uint64_t *seen)
{
    struct data *data = map->data;
    enum copied result = COPY_ABSENT;
    *folio = NULL;
    *seen = 0;
    rcu_enter();
    const struct data_leaf *leaf = map_find(map, page);
    uint64_t slot = map_slot(leaf, page);
    if (MGLRU_LIKELY(slot_has_folio(slot))) {
        *folio = slot_get_folio(slot);
        uint64_t before = *seen = hold_load(*folio);
        if (MGLRU_LIKELY(!(before & (HOLD_WRITER | HOLD_FROZEN)))) {
            copy_racy(span->buffer, (char *)folio_data(data, *folio) + span->offset, span->bytes);
            atomic_fence_acquire(); /* pairs with the releases of hold_end_write and hold_freeze */
            uint64_t after = atomic_load_relaxed(&(*folio)->hold);
            bool same = !((before ^ after) & (HOLD_VERSION_MASK | HOLD_WRITER | HOLD_FROZEN)) &&
                        atomic_load_relaxed(&leaf->slots[page % LEAF_PAGES]) == slot;
            result = same ? COPIED : COPY_MOVED;
            if (!span->peek && MGLRU_LIKELY(same))
                folio_mark_again(&data->cache->reclaim, *folio);
        } else {
            result = before & HOLD_FROZEN ? COPY_MOVED : COPY_BUSY;
        }
    }
    rcu_leave();
    return result;
}

/* The same as a reader that holds the page. A page full of readers has no writer: it is copied
 * without. */
static enum copied copy_held(struct data_map *map, uint64_t page, const struct span *span,
                             struct folio **folio, uint64_t *seen)
{
    struct data *data = map->data;
    enum hold_result result = page_hold(map, page, false, folio, seen);
    if (result == HOLD_FULL)
        return copy_hit(map, page, span, folio, seen);
    if (result != HOLD_TAKEN)
        return !*folio ? COPY_ABSENT : result == HOLD_BUSY ? COPY_BUSY : COPY_MOVED;
    memcpy(span->buffer, (char *)folio_data(data, *folio) + span->offset, span->bytes);
    folio_mark_accessed(&data->cache->reclaim, *folio);
    hold_end_read(data, *folio);
    return COPIED;
}

/* --- absent pages --------------------------------------------------------------------------- */

static int fill(struct data_map *map, uint64_t first, struct folio **folios, uint32_t count)
{
    struct data *data = map->data;
    size_t frame = (size_t)1 << data->frame_shift;
    struct mglru_store_vec vec[FLUSH_PAGES];
    uint64_t end = map_end(map);
    for (uint32_t i = 0; i < count; i++) {
        vec[i] = (struct mglru_store_vec){folio_data(data, folios[i]), frame};
        if (!map->store)
            memset(vec[i].frame, 0, frame);
    }
    int error =
        map->store ? mglru_store_read(map->store, first << data->frame_shift, vec, count) : 0;
    for (uint32_t i = 0; i < count && end != UINT64_MAX; i++)
        page_zero_from(data, folios[i], end);
    return error;
}

/* Ends the fill of pages that the caller does not keep. */
static void finish(struct data *data, struct folio **folios, uint32_t count, int error)
{
    for (uint32_t i = 0; i < count; i++) {
        if (error)
            page_discard(data, folios[i]);
        hold_end_write(data, folios[i]);
    }
}

static bool stands(const struct data_map *map, const struct folio *folio)
{
    rcu_enter();
    bool stands = map_slot(map_find(map, folio->index), folio->index) == (uintptr_t)folio;
    rcu_leave();
    return stands;
}

/* Pages that are worth reading when @page is absent: a window that grows while misses follow each
 * other, one page otherwise. Several threads on one file may spoil each other's window, no more. */
uint32_t page_window(struct mglru_file *file, uint64_t page)
{
    struct data *data = mapping_map(file->mapping)->data;
    uint64_t expected = atomic_load_relaxed(&file->next_page);
    uint32_t pages = atomic_load_relaxed(&file->window);
    if (page == expected && data->readahead_pages > 1)
        pages = pages < 2 ? 4 : pages * 2;
    else
        pages = 1;
    if (pages > data->readahead_pages)
        pages = data->readahead_pages ? data->readahead_pages : 1;
    if (pages > FLUSH_PAGES)
        pages = FLUSH_PAGES;
    atomic_store_relaxed(&file->window, pages);
    atomic_store_relaxed(&file->next_page, page + pages);
    return pages;
}

int page_read_in(struct mglru_file *file, uint64_t page, uint32_t most, bool once,
                 struct folio **out)
{
    struct data_map *map = mapping_map(file->mapping);
    struct folio *folios[FLUSH_PAGES];
    uint32_t count = 0;
    int error = 0;
    *out = NULL;
    while (count < most) {
        error = page_make(file, page + count, PAGE_INSIDE | (once || count ? PAGE_ONCE : 0),
                          &folios[count]);
        if (error || !folios[count])
            break;
        count++;
    }
    if (!count)
        return error; /* 0: somebody else brings it */
    error = fill(map, page, folios, count);
    finish(map->data, folios + 1, count - 1, error);
    page_count_misses(file->memcg, 0, count);
    if (!error && stands(map, folios[0])) {
        *out = folios[0];
        return 0;
    }
    finish(map->data, folios, 1, error);
    if (!error)
        return 0; /* it was cut while the store read it, and may be half of what it was */
    /* It may be a neighbour that cannot be read, which nobody asked for. */
    return count > 1 ? page_read_in(file, page, 1, once, out) : error;
}

/* Brings @page in a frame of its own kind, copies from it and takes it out again. *@done: false
 * and no error: look again. */
static int read_and_drop(struct mglru_file *file, uint64_t page, unsigned how,
                         const struct span *span, bool *done)
{
    struct data_map *map = mapping_map(file->mapping);
    struct data *data = map->data;
    struct folio *folio;
    int error = page_make(file, page, PAGE_INSIDE | PAGE_OUTSIDE | how, &folio);
    if (error || !folio)
        return error;
    error = fill(map, page, &folio, 1);
    *done = !error && stands(map, folio); /* or it was cut while the store read it */
    if (*done) {
        memcpy(span->buffer, (char *)folio_data(data, folio) + span->offset, span->bytes);
        atomic_add_relaxed(&file->memcg->outside, 1);
    }
    page_count_misses(file->memcg, *done, 1);
    page_discard(data, folio);
    hold_end_write(data, folio);
    return error;
}

/* A page for which there is no room. Without a free frame such reads go one by one. */
static int read_outside(struct mglru_file *file, uint64_t page, const struct span *span, bool *done)
{
    struct data *data = mapping_map(file->mapping)->data;
    int error = read_and_drop(file, page, 0, span, done);
    if (error != MGLRU_EOOM)
        return error;
    lock_mutex_acquire(&data->spare_lock);
    error = read_and_drop(file, page, PAGE_SPARE, span, done);
    lock_mutex_release(&data->spare_lock);
    return error;
}

static int read_absent(struct mglru_file *file, uint64_t page, const struct span *span, bool *done)
{
    struct data *data = mapping_map(file->mapping)->data;
    struct folio *folio;
    int error = page_read_in(file, page, page_window(file, page), false, &folio);
    *done = folio != NULL;
    if (error == MGLRU_EOOM && !data->strict_limits)
        return read_outside(file, page, span, done);
    if (!folio)
        return error;
    memcpy(span->buffer, (char *)folio_data(data, folio) + span->offset, span->bytes);
    folio_mark_accessed(&data->cache->reclaim, folio);
    hold_end_write(data, folio);
    page_count_misses(file->memcg, 1, 0);
    return 0;
}

/* One page of a read. */
static int read_page(struct mglru_file *file, uint64_t page, const struct span *span)
{
    struct data_map *map = mapping_map(file->mapping);
    for (unsigned tries = 0;; tries++) {
        struct folio *folio;
        uint64_t seen;
        enum copied copied = tries < COPY_TRIES ? copy_hit(map, page, span, &folio, &seen)
                                                : copy_held(map, page, span, &folio, &seen);
        if (copied == COPIED) {
            page_count_hits(file->memcg, 1);
            return 0;
        }
        if (copied == COPY_BUSY) {
            hold_wait(folio, seen);
        } else if (copied == COPY_MOVED && tries >= COPY_TRIES) {
            os_thread_yield(); /* it is on its way out of the slot */
        } else if (copied == COPY_ABSENT) {
            bool done;
            int error = read_absent(file, page, span, &done);
            if (error || done)
                return error;
        }
    }
}

/* Cuts a range into pages. */
static inline struct span next_span(const struct data *data, uint64_t at, char *buffer, size_t left)
{
    size_t frame = (size_t)1 << data->frame_shift;
    size_t offset = (size_t)(at & (frame - 1));
    return (struct span){buffer, offset, left < frame - offset ? left : frame - offset, false};
}

/* Bytes of the range that are readable. */
static size_t readable(const struct data_map *map, uint64_t offset, size_t bytes)
{
    uint64_t size = atomic_load_acquire(&map->bytes); /* pairs with dirty_set */
    if (offset >= size)
        return 0;
    return bytes < size - offset ? bytes : (size_t)(size - offset);
}

static __attribute__((noinline)) int read_slowly(struct mglru_file *file, uint64_t offset,
                                                 void *buffer, size_t bytes, size_t *done)
{
    struct data_map *map = mapping_map(file->mapping);
    *done = 0;
    if (!map)
        return MGLRU_EINVAL;
    size_t most = readable(map, offset, bytes);
    while (*done < most) {
        uint64_t at = offset + *done;
        struct span span = next_span(map->data, at, (char *)buffer + *done, most - *done);
        int error = read_page(file, at >> map->data->frame_shift, &span);
        if (MGLRU_UNLIKELY(error))
            return error == MGLRU_ERANGE ? MGLRU_OK : error; /* truncated meanwhile */
        *done += span.bytes;
    }
    return MGLRU_OK;
}

/* The quick way is for a part of one page, some bytes, all readable, which is there. */
int mglru_read(struct mglru_file *file, uint64_t offset, void *buffer, size_t bytes, size_t *done)
{
    struct data_map *map = mapping_map(file->mapping);
    if (MGLRU_UNLIKELY(!map))
        return read_slowly(file, offset, buffer, bytes, done);
    unsigned shift = map->data->frame_shift;
    struct span span = {buffer, (size_t)(offset & (((uint64_t)1 << shift) - 1)), bytes, false};
    uint64_t size = atomic_load_acquire(&map->bytes); /* pairs with map_extend */
    struct folio *folio;
    uint64_t seen;
    if (MGLRU_LIKELY(bytes - 1 < ((size_t)1 << shift) - span.offset && offset < size &&
                     bytes <= size - offset) &&
        MGLRU_LIKELY(copy_hit(map, offset >> shift, &span, &folio, &seen) == COPIED)) {
        page_count_hits(file->memcg, 1);
        *done = bytes;
        return MGLRU_OK;
    }
    return read_slowly(file, offset, buffer, bytes, done);
}

int mglru_peek(struct mglru_file *file, uint64_t offset, void *buffer, size_t bytes, size_t *done)
{
    struct data_map *map = mapping_map(file->mapping);
    *done = 0;
    if (!map)
        return MGLRU_EINVAL;
    size_t most = readable(map, offset, bytes);
    while (*done < most) {
        uint64_t at = offset + *done, seen;
        struct span span = next_span(map->data, at, (char *)buffer + *done, most - *done);
        struct folio *folio;
        span.peek = true;
        if (copy_hit(map, at >> map->data->frame_shift, &span, &folio, &seen) != COPIED)
            break;
        *done += span.bytes;
    }
    return MGLRU_OK;
}

/* --- writing -------------------------------------------------------------------------------- */

/* page_hold_write for an absent page. MGLRU_ERANGE: the mapping's end moved meanwhile. */
static int make_for_write(struct mglru_file *file, uint64_t page, bool overwrite,
                          struct folio **out)
{
    struct data_map *map = mapping_map(file->mapping);
    struct data *data = map->data;
    bool beyond = page << data->frame_shift >= atomic_load_relaxed(&map->bytes);
    if (!overwrite && !beyond)
        return page_read_in(file, page, 1, false, out);
    int error = page_make(file, page, overwrite ? 0 : PAGE_BEYOND, out);
    if (!error && *out && !overwrite)
        memset(folio_data(data, *out), 0, (size_t)1 << data->frame_shift);
    return error;
}

int page_hold_write(struct mglru_file *file, uint64_t page, bool overwrite, struct data_page *out)
{
    struct data_map *map = mapping_map(file->mapping);
    struct data *data = map->data;
    if ((page + 1) << data->frame_shift > map_end(map)) {
        int error = cut_again(map);
        if (error)
            return error;
    }
    for (;;) {
        uint64_t seen;
        struct folio *folio;
        enum hold_result result = page_hold(map, page, true, &folio, &seen);
        if (result == HOLD_TAKEN) {
            folio_mark_accessed(&data->cache->reclaim, folio);
            page_count_hits(file->memcg, 1);
            *out = (struct data_page){folio, false};
            return 0;
        }
        if (folio) {
            page_hold_again(folio, result, seen);
            continue;
        }
        int error = make_for_write(file, page, overwrite, &folio);
        if (error && error != MGLRU_ERANGE) /* truncated or extended meanwhile */
            return error;
        if (!error && folio) {
            folio_mark_accessed(&data->cache->reclaim, folio);
            page_count_misses(file->memcg, 1, 0);
            *out = (struct data_page){folio, overwrite};
            return 0;
        }
    }
}

static int write_page(struct mglru_file *file, uint64_t page, const struct span *span)
{
    struct data_map *map = mapping_map(file->mapping);
    struct data *data = map->data;
    struct data_page held;
    bool whole = span->bytes == (size_t)1 << data->frame_shift;
    int error = page_hold_write(file, page, whole, &held);
    if (error)
        return error;
    struct folio *folio = held.folio;
    memcpy((char *)folio_data(data, folio) + span->offset, span->buffer, span->bytes);
    dirty_set(data, folio, (page << data->frame_shift) + span->offset + span->bytes);
    struct mglru_memcg *throttled = map->store ? flush_throttles(data, folio) : NULL;
    hold_end_write(data, folio);
    if (throttled)
        flush_throttle(data, throttled);
    return 0;
}

int mglru_write(struct mglru_file *file, uint64_t offset, const void *buffer, size_t bytes,
                size_t *done)
{
    struct data_map *map = mapping_map(file->mapping);
    *done = 0;
    if (!map)
        return MGLRU_EINVAL;
    const struct mglru_store_caps *caps = map->store ? mglru_store_caps(map->store) : NULL;
    uint64_t most = caps ? caps->size_max : MGLRU_STORE_BYTES_MAX;
    if (caps && caps->read_only)
        return MGLRU_EPERM;
    if (offset > most || bytes > most - offset)
        return MGLRU_ENOSPC;
    while (*done < bytes) {
        uint64_t at = offset + *done;
        struct span span =
            next_span(map->data, at, (char *)(uintptr_t)buffer + *done, bytes - *done);
        int error = write_page(file, at >> map->data->frame_shift, &span);
        if (error)
            return error;
        *done += span.bytes;
    }
    return MGLRU_OK;
}
