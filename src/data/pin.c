/* SPDX-License-Identifier: MIT */
/* Pins: pages that stay where they are while their pinner reads or changes them in place. */
#include "data/data.h"

/* In mglru_pin.mode: the page has no content yet. It must not be seen unless its pinner made it. */
#define PIN_RAW 0x100u

/* Joins the readers of a page; brings it when it is absent. */
static int pin_read(struct mglru_file *file, uint64_t page, struct folio **out)
{
    struct data_map *map = mapping_map(file->mapping);
    struct data *data = map->data;
    for (;;) {
        uint64_t seen;
        struct folio *folio;
        enum hold_result result = page_hold(map, page, false, &folio, &seen);
        if (result == HOLD_TAKEN) {
            folio_mark_accessed(&data->cache->reclaim, folio);
            page_count_hits(file->memcg, 1);
            *out = folio;
            return 0;
        }
        if (result == HOLD_FULL)
            return MGLRU_EBUSY;
        if (folio) {
            page_hold_again(folio, result, seen);
            continue;
        }
        int error = page_read_in(file, page, page_window(file, page), false, out);
        if (error)
            return error;
        if (*out) {
            folio_mark_accessed(&data->cache->reclaim, *out);
            page_count_misses(file->memcg, 1, 0);
            hold_downgrade(*out);
            return 0;
        }
    }
}

/* Bytes that the mapping may ever have. */
static uint64_t most_bytes(const struct data_map *map)
{
    return map->store ? mglru_store_caps(map->store)->size_max : MGLRU_STORE_BYTES_MAX;
}

int mglru_pin(struct mglru_file *file, uint64_t page, enum mglru_pin_mode mode,
              struct mglru_pin *pin)
{
    struct data_map *map = mapping_map(file->mapping);
    *pin = (struct mglru_pin){.page = page, .mode = (uint32_t)mode};
    if (!map || mode < MGLRU_PIN_READ || mode > MGLRU_PIN_OVERWRITE)
        return MGLRU_EINVAL;
    struct data *data = map->data;
    if (mode != MGLRU_PIN_READ && map->store && mglru_store_caps(map->store)->read_only)
        return MGLRU_EPERM;
    uint64_t bytes =
        mode == MGLRU_PIN_OVERWRITE ? most_bytes(map) : atomic_load_acquire(&map->bytes);
    if (page > (UINT64_MAX >> data->frame_shift) || page << data->frame_shift >= bytes)
        return MGLRU_ERANGE;
    struct data_page held = {0};
    int error = mode == MGLRU_PIN_READ
                    ? pin_read(file, page, &held.folio)
                    : page_hold_write(file, page, mode == MGLRU_PIN_OVERWRITE, &held);
    if (error)
        return error;
    page_count_pins(held.folio, 1);
    pin->folio = held.folio;
    pin->data = folio_data(data, held.folio);
    pin->mode |= held.raw ? PIN_RAW : 0;
    return MGLRU_OK;
}

int mglru_pin_many(struct mglru_file *file, const uint64_t *pages, size_t count,
                   enum mglru_pin_mode mode, struct mglru_pin *pins)
{
    for (size_t i = 0; i < count; i++) {
        int error = mglru_pin(file, pages[i], mode, &pins[i]);
        if (!error)
            continue;
        while (i-- > 0)
            mglru_unpin(&pins[i], MGLRU_UNPIN_CLEAN);
        return error;
    }
    return MGLRU_OK;
}

void mglru_unpin(struct mglru_pin *pin, enum mglru_unpin_how how)
{
    struct folio *folio = pin->folio;
    struct data_map *map = folio_map(folio);
    struct data *data = map->data;
    struct mglru_memcg *throttled = NULL;
    bool raw = pin->mode & PIN_RAW;
    page_count_pins(folio, (uint64_t)-1);
    *pin = (struct mglru_pin){.page = pin->page, .mode = pin->mode & ~PIN_RAW};
    if (pin->mode == MGLRU_PIN_READ) {
        hold_end_read(data, folio);
        return;
    }
    if (how == MGLRU_UNPIN_DISCARD || (raw && how != MGLRU_UNPIN_DIRTY)) {
        page_discard(data, folio);
    } else if (how == MGLRU_UNPIN_DIRTY) {
        /* A page that was cut meanwhile is its pinner's own. */
        uint64_t end = (folio->index + 1) << data->frame_shift, most = most_bytes(map);
        dirty_set(data, folio, end < most ? end : most);
        throttled = map->store ? flush_throttles(data, folio) : NULL;
    }
    hold_end_write(data, folio);
    if (throttled)
        flush_throttle(data, throttled);
}

/* Pages that a prefetch may bring: half of what there is room for, so that it never displaces what
 * it has just brought. */
static uint64_t prefetch_most(const struct data *data, const struct mglru_file *file)
{
    long most = (long)data->frames;
    for (const struct memcg *memcg = file->memcg->memcg; memcg; memcg = memcg->parent) {
        long max = atomic_load_relaxed(&memcg->memory.max);
        long high = atomic_load_relaxed(&memcg->memory.high);
        most = max < most ? max : most;
        most = high < most ? high : most;
    }
    return (uint64_t)most / 2;
}

void mglru_prefetch(struct mglru_file *file, uint64_t offset, uint64_t bytes)
{
    struct data_map *map = mapping_map(file->mapping);
    uint64_t size = map ? atomic_load_acquire(&map->bytes) : 0;
    if (offset >= size || !bytes)
        return;
    unsigned shift = map->data->frame_shift;
    uint64_t last = (bytes < size - offset ? offset + bytes - 1 : size - 1) >> shift;
    uint64_t most = prefetch_most(map->data, file);
    for (uint64_t page = offset >> shift; page <= last && most;) {
        uint64_t left = last - page + 1 < most ? last - page + 1 : most;
        struct folio *folio;
        if (page_is_there(map, page)) {
            page++;
            continue;
        }
        uint32_t count = left < FLUSH_PAGES ? (uint32_t)left : FLUSH_PAGES;
        if (page_read_in(file, page, count, true, &folio))
            return;
        if (folio)
            hold_end_write(map->data, folio);
        page++; /* the others are there now, and are passed over */
        most -= count;
    }
}
