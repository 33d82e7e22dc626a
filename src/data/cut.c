/* SPDX-License-Identifier: MIT */
/* Taking pages away: truncation, holes, dropping what is clean. */
#include "data/data.h"

#include <string.h>

/* Bytes of the page at @bytes that lie beyond it become zeros, if the page is there. */
static void zero_tail(struct data_map *map, uint64_t bytes)
{
    struct data *data = map->data;
    uint64_t page = bytes >> data->frame_shift;
    size_t frame = (size_t)1 << data->frame_shift, offset = (size_t)(bytes & (frame - 1));
    for (;;) {
        uint64_t seen;
        struct folio *folio;
        enum hold_result result = page_hold(map, page, true, &folio, &seen);
        if (result == HOLD_TAKEN) {
            memset((char *)folio_data(data, folio) + offset, 0, frame - offset);
            hold_end_write(data, folio);
            return;
        }
        if (!folio)
            return;
        page_hold_again(folio, result, seen);
    }
}

int mglru_truncate(struct mglru_mapping *mapping, uint64_t bytes)
{
    struct data_map *map = mapping_map(mapping);
    if (!map)
        return MGLRU_EINVAL;
    struct data *data = map->data;
    const struct mglru_store_caps *caps = map->store ? mglru_store_caps(map->store) : NULL;
    if (caps && caps->read_only)
        return MGLRU_EPERM;
    if (bytes > (caps ? caps->size_max : MGLRU_STORE_BYTES_MAX))
        return MGLRU_ENOSPC;
    uint64_t frame = UINT64_C(1) << data->frame_shift;
    map_lock(map);
    uint64_t before = atomic_load_relaxed(&map->bytes);
    atomic_store_release(&map->bytes, bytes); /* pairs with readable */
    if (!bytes)
        map->failed = map->lost = false;
    map_unlock(map);
    if (bytes < before) {
        page_cut(map, (bytes + frame - 1) >> data->frame_shift, UINT64_MAX >> data->frame_shift,
                 false);
        if (bytes & (frame - 1))
            zero_tail(map, bytes);
    }
    flush_wait(map); /* writes in flight must not make the store longer again */
    int error = map->store ? mglru_store_truncate(map->store, bytes) : MGLRU_OK;
    if (bytes < before && bytes & (frame - 1))
        zero_tail(map, bytes); /* a reader may have brought the page from the longer store */
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
    if (map->store)
        error = mglru_store_punch(map->store, first << shift, (last - first) << shift);
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
