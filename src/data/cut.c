/* SPDX-License-Identifier: MIT */
/* Taking pages away: truncation, holes, dropping what is clean. */
#include "data/data.h"

#include <string.h>

void page_zero_from(const struct data *data, const struct folio *folio, uint64_t end)
{
    uint64_t start = folio->index << data->frame_shift, frame = UINT64_C(1) << data->frame_shift;
    uint64_t from = end > start ? end - start : 0; /* before it: the page was cut meanwhile */
    if (from < frame)
        memset((char *)folio_data(data, folio) + from, 0, (size_t)(frame - from));
}

/* Bytes of the page at @bytes that lie beyond it become zeros, if the page is there. */
static void zero_tail(struct data_map *map, uint64_t bytes)
{
    struct data *data = map->data;
    for (;;) {
        uint64_t seen;
        struct folio *folio;
        enum hold_result result = page_hold(map, bytes >> data->frame_shift, true, &folio, &seen);
        if (result == HOLD_TAKEN) {
            page_zero_from(data, folio, bytes);
            hold_end_write(data, folio);
            return;
        }
        if (!folio)
            return;
        page_hold_again(folio, result, seen);
    }
}

/* Sets the size of the mapping. Who brings its last page from now on sees that the store is longer
 * (map_end); who was bringing it before has it when its tail is zeroed. */
static void cut_cache(struct data_map *map, uint64_t bytes)
{
    unsigned shift = map->data->frame_shift;
    uint64_t frame = UINT64_C(1) << shift;
    map_lock(map);
    uint64_t before = atomic_load_relaxed(&map->bytes);
    if (bytes < before && map->store)
        atomic_store_relaxed(&map->uncut, true);
    atomic_store_release(&map->bytes, bytes); /* pairs with readable */
    if (!bytes)
        map->failed = map->lost = false;
    map_unlock(map);
    if (bytes >= before)
        return;
    page_cut(map, (bytes + frame - 1) >> shift, UINT64_MAX >> shift, false);
    if (bytes & (frame - 1))
        zero_tail(map, bytes);
}

void discard_begin(struct data_map *map)
{
    map_lock(map);
    map->discards++;
    map_unlock(map);
}

void discard_end(struct data_map *map)
{
    map_lock(map);
    map->discards--;
    map->lost = true;
    map_unlock(map);
}

/* Cuts the store to the size of the mapping, or makes it as long. */
static int cut_store(struct data_map *map, uint64_t bytes)
{
    if (!map->store)
        return MGLRU_OK;
    discard_begin(map);
    int error = mglru_store_truncate(map->store, bytes);
    discard_end(map);
    map_lock(map);
    /* Another truncation that cut the cache meanwhile has its own cut of the store to come. */
    if (!error && atomic_load_relaxed(&map->bytes) == bytes)
        atomic_store_release(&map->uncut, false); /* pairs with map_end */
    map_unlock(map);
    return error;
}

int mglru_truncate(struct mglru_mapping *mapping, uint64_t bytes)
{
    struct data_map *map = mapping_map(mapping);
    if (!map)
        return MGLRU_EINVAL;
    const struct mglru_store_caps *caps = map->store ? mglru_store_caps(map->store) : NULL;
    if (caps && caps->read_only)
        return MGLRU_EPERM;
    if (bytes > (caps ? caps->size_max : MGLRU_STORE_BYTES_MAX))
        return MGLRU_ENOSPC;
    int error = bytes > atomic_load_relaxed(&map->bytes) ? cut_again(map) : MGLRU_OK;
    if (error)
        return error;
    cut_cache(map, bytes);
    flush_wait(map); /* writes in flight must not make the store longer again */
    return cut_store(map, bytes);
}

int cut_again(struct data_map *map)
{
    if (MGLRU_LIKELY(!atomic_load_relaxed(&map->uncut)))
        return MGLRU_OK;
    /* Whoever would make the mapping grow comes here first: its size stays. */
    uint64_t bytes = atomic_load_relaxed(&map->bytes), shift = map->data->frame_shift;
    hole_begin(map, (bytes >> shift) + 1, UINT64_MAX);
    /* Another may have been faster, and have made it grow. */
    int error = atomic_load_relaxed(&map->uncut) ? cut_store(map, bytes) : MGLRU_OK;
    hole_end(map);
    return error;
}

static bool in_hole(const struct data_map *map, uint64_t first, uint64_t last)
    MGLRU_REQUIRES(map->lock)
{
    return map->hole_first <= map->hole_last && first <= map->hole_last && last >= map->hole_first;
}

/* Waits under the lock, which it gives up meanwhile. */
static void wait_for_holes(struct data_map *map, uint64_t first, uint64_t last)
    MGLRU_REQUIRES(map->lock)
{
    while (in_hole(map, first, last)) {
        uint32_t holes = atomic_load_relaxed(&map->holes);
        map_unlock(map);
        os_wait(&map->holes, holes);
        map_lock(map);
    }
}

void hole_begin(struct data_map *map, uint64_t first, uint64_t last)
{
    map_lock(map);
    wait_for_holes(map, 0, UINT64_MAX); /* there is one hole at a time */
    map->hole_first = first;
    map->hole_last = last;
    map_unlock(map);
}

void hole_end(struct data_map *map)
{
    map_lock(map);
    map->hole_first = 1;
    map->hole_last = 0;
    atomic_add_relaxed(&map->holes, 1);
    map_unlock(map);
    os_wake(&map->holes, true);
}

void hole_wait(struct data_map *map, uint64_t page)
{
    map_lock(map);
    wait_for_holes(map, page, page);
    map_unlock(map);
}

/* Writes zeros over @bytes from @offset, which lie in one page. */
static int write_zeros(struct mglru_file *file, uint64_t offset, uint64_t bytes)
{
    static const char zeros[4096];
    while (bytes) {
        size_t part = bytes < sizeof(zeros) ? (size_t)bytes : sizeof(zeros), done;
        int error = mglru_write(file, offset, zeros, part, &done);
        if (error)
            return error;
        offset += part;
        bytes -= part;
    }
    return MGLRU_OK;
}

int mglru_punch(struct mglru_file *file, uint64_t offset, uint64_t bytes)
{
    struct data_map *map = mapping_map(file->mapping);
    if (!map)
        return MGLRU_EINVAL;
    if (map->store && mglru_store_caps(map->store)->read_only)
        return MGLRU_EPERM;
    unsigned shift = map->data->frame_shift;
    uint64_t frame = UINT64_C(1) << shift, size = atomic_load_acquire(&map->bytes);
    if (offset >= size || !bytes)
        return MGLRU_OK;
    uint64_t end = bytes < size - offset ? offset + bytes : size;
    uint64_t first = (offset + frame - 1) >> shift, last = end >> shift; /* whole: first..last-1 */
    if (first >= last)
        return write_zeros(file, offset, end - offset);
    int error = write_zeros(file, offset, (first << shift) - offset);
    if (!error)
        error = write_zeros(file, last << shift, end - (last << shift));
    if (error)
        return error;
    /* Nobody may bring a page back before the store is punched. */
    hole_begin(map, first, last - 1);
    page_cut(map, first, last - 1, false);
    flush_wait(map);
    if (map->store) {
        discard_begin(map);
        error = mglru_store_punch(map->store, first << shift, (last - first) << shift);
        discard_end(map);
    }
    hole_end(map);
    return error == MGLRU_ENOTSUP ? write_zeros(file, first << shift, (last - first) << shift)
                                  : error;
}

uint64_t mglru_drop(struct mglru_mapping *mapping, uint64_t offset, uint64_t bytes)
{
    struct data_map *map = mapping_map(mapping);
    if (!map || !bytes)
        return 0;
    unsigned shift = map->data->frame_shift;
    uint64_t end = offset + bytes - 1 >= offset ? offset + bytes - 1 : UINT64_MAX;
    background_drain(map->data); /* a page that waits in a batch is in use */
    return page_cut(map, offset >> shift, end >> shift, true);
}
