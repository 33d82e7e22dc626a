/* SPDX-License-Identifier: MIT */
/*
 * Reads in batches: absent pages of asynchronous stores are asked for all together, so that their
 * latencies overlap; afterwards each read finds its pages there.
 *
 * While a batch holds pages as their writer it waits for stores alone, never for another page, so
 * two batches cannot wait for each other.
 */
#include "data/data.h"

#include <string.h>

/* Pages in flight at once (chosen: a deep queue of any device; each has a place on the stack). */
#define BATCH_PAGES 128u

/* A page that was asked for. */
struct asked {
    struct mglru_store_request request;
    struct mglru_store_vec vec;
    struct data_map *map;
    struct folio *folio;
    uint64_t end; /* map_end when it was asked for */
    _Atomic uint32_t done;
};

struct batch {
    struct asked asked[BATCH_PAGES];
    unsigned count;
};

static void answered(struct mglru_store_request *request)
{
    struct asked *asked = request->context;
    /* Release: pairs with the acquire of mglru_store_wait. */
    atomic_store_release(&asked->done, 1);
}

/* Waits for all answers and ends the fills. What failed is absent again: the read itself meets the
 * error once more and reports it. */
static void finish(struct batch *batch)
{
    for (unsigned i = 0; i < batch->count; i++) {
        struct asked *asked = &batch->asked[i];
        mglru_store_wait(asked->map->store, (const uint32_t *)(const void *)&asked->done, 0);
        page_zero_from(asked->map->data, asked->folio, asked->end);
        if (asked->request.error)
            page_discard(asked->map->data, asked->folio);
        hold_end_write(asked->map->data, asked->folio);
    }
    batch->count = 0;
}

/* Makes @page and asks for it, unless it is there. False: no memory for it. */
static bool ask(struct batch *batch, struct mglru_file *file, uint64_t page)
{
    struct data_map *map = mapping_map(file->mapping);
    struct data *data = map->data;
    struct folio *folio;
    if (page_is_there(map, page))
        return true;
    if (batch->count == BATCH_PAGES)
        finish(batch);
    if (page_make(file, page, PAGE_ONCE | PAGE_INSIDE, &folio))
        return false;
    if (!folio)
        return true; /* somebody else brings it */
    struct asked *asked = &batch->asked[batch->count++];
    memset(asked, 0, sizeof(*asked));
    asked->map = map;
    asked->folio = folio;
    asked->end = map_end(map);
    asked->vec.frame = folio_data(data, folio);
    asked->vec.bytes = (size_t)1 << data->frame_shift;
    asked->request.op = MGLRU_STORE_READ;
    asked->request.vec = &asked->vec;
    asked->request.count = 1;
    asked->request.offset = page << data->frame_shift;
    asked->request.complete = answered;
    asked->request.context = asked;
    struct mglru_store_request *request = &asked->request;
    mglru_store_submit(map->store, &request, 1);
    /* The read will count a hit of what is a miss. */
    page_count_misses(file->memcg, 1, 1);
    page_count_hits(file->memcg, (uint64_t)-1);
    return true;
}

/* Asks for what a read will miss. */
static bool ask_all(struct batch *batch, const struct mglru_read_item *item)
{
    const struct data_map *map = mapping_map(item->file->mapping);
    if (!map || !map->store || !mglru_store_caps(map->store)->asynchronous)
        return true;
    uint64_t size = atomic_load_acquire(&map->bytes); /* pairs with dirty_set */
    if (!item->bytes || item->offset >= size)
        return true;
    uint64_t left = size - item->offset, bytes = item->bytes < left ? item->bytes : left;
    uint64_t last = (item->offset + bytes - 1) >> map->data->frame_shift;
    for (uint64_t page = item->offset >> map->data->frame_shift; page <= last; page++)
        if (!ask(batch, item->file, page))
            return false;
    return true;
}

int mglru_read_many(struct mglru_read_item *items, size_t count)
{
    struct batch batch;
    int first_error = MGLRU_OK;
    batch.count = 0;
    for (size_t i = 0; i < count && ask_all(&batch, &items[i]); i++) {}
    finish(&batch);
    for (size_t i = 0; i < count; i++) {
        struct mglru_read_item *item = &items[i];
        item->error = mglru_read(item->file, item->offset, item->buffer, item->bytes, &item->done);
        first_error = first_error ? first_error : item->error;
    }
    return first_error;
}
