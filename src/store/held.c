/* SPDX-License-Identifier: MIT */
/* The write cache of held.h: a hash table of pages, and a list of them by age. */
#include "store/held.h"

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/check.h"

/* Chosen: grows with the pages. */
#define BUCKETS_MIN 64u
/* Chosen: the oldest pages among which one is destaged, which bounds the walk to it. */
#define DESTAGE_RANGE 64u

struct held_page {
    struct list_node link;
    struct held_page *chain;
    uint64_t number;
    bool pending; /* a sync has to write it; otherwise a failed sync has forgotten it */
    char data[];
};

static uint64_t draw(struct held *held)
{
    return bits_mix64(held->random += 0x9E3779B97F4A7C15ull);
}

static struct held_page *page_of(struct list_node *link)
{
    return container_of(link, struct held_page, link);
}

int held_init(struct held *held)
{
    list_init(&held->pages);
    held->page_count = 0;
    held->bucket_count = BUCKETS_MIN;
    held->buckets = calloc(held->bucket_count, sizeof(struct held_page *));
    return held->buckets ? mglru_store_size(held->base, &held->size) : MGLRU_ENOMEM;
}

static struct held_page **bucket_of(const struct held *held, uint64_t number)
{
    return &held->buckets[bits_mix64(number) & (held->bucket_count - 1)];
}

static struct held_page *find(const struct held *held, uint64_t number)
{
    struct held_page *page = *bucket_of(held, number);
    while (page && page->number != number)
        page = page->chain;
    return page;
}

/* More buckets, if there is memory for them; without, chains get longer. */
static void grow(struct held *held)
{
    uint64_t count = held->bucket_count * 2;
    struct held_page **buckets = calloc(count, sizeof(struct held_page *));
    if (!buckets)
        return;
    free(held->buckets);
    held->buckets = buckets;
    held->bucket_count = count;
    struct list_node *pos;
    list_for_each (pos, &held->pages) {
        struct held_page *page = page_of(pos);
        struct held_page **bucket = bucket_of(held, page->number);
        page->chain = *bucket;
        *bucket = page;
    }
}

static void drop(struct held *held, struct held_page *page)
{
    struct held_page **at = bucket_of(held, page->number);
    while (*at != page)
        at = &(*at)->chain;
    *at = page->chain;
    list_del(&page->link);
    held->page_count--;
    free(page);
}

void held_fini(struct held *held)
{
    while (!list_empty(&held->pages))
        drop(held, page_of(held->pages.next));
    free(held->buckets);
    held->buckets = NULL;
}

/* The held page, made from the base if need be. */
static int hold(struct held *held, uint64_t number, struct held_page **out)
{
    *out = find(held, number);
    if (*out)
        return MGLRU_OK;
    if (held->page_count >= held->bucket_count)
        grow(held);
    struct held_page *page = malloc(sizeof(*page) + held->page_bytes);
    if (!page)
        return MGLRU_ENOMEM;
    struct mglru_store_vec vec = {page->data, held->page_bytes};
    int error = mglru_store_read(held->base, number * held->page_bytes, &vec, 1);
    if (error) {
        free(page);
        return error;
    }
    struct held_page **bucket = bucket_of(held, number);
    page->number = number;
    page->pending = true;
    page->chain = *bucket;
    *bucket = page;
    list_add_tail(&held->pages, &page->link);
    held->page_count++;
    *out = page;
    return MGLRU_OK;
}

/* The part of one page that [offset, offset + bytes) begins with. */
static size_t part_of(const struct held *held, uint64_t offset, uint64_t bytes)
{
    size_t left = held->page_bytes - (size_t)(offset % held->page_bytes);
    return bytes < left ? (size_t)bytes : left;
}

static int change_pages(struct held *held, uint64_t offset, const char *from, uint64_t bytes)
{
    while (bytes) {
        size_t part = part_of(held, offset, bytes);
        struct held_page *page;
        int error = hold(held, offset / held->page_bytes, &page);
        if (error)
            return error;
        page->pending = true;
        char *to = page->data + offset % held->page_bytes;
        if (from)
            memcpy(to, from, part);
        else
            memset(to, 0, part);
        from = from ? from + part : NULL;
        offset += part;
        bytes -= part;
    }
    return MGLRU_OK;
}

int held_change(struct held *held, uint64_t offset, const char *from, uint64_t bytes)
{
    int error = change_pages(held, offset, from, bytes);
    if (!error && held->size < offset + bytes)
        held->size = offset + bytes;
    return error;
}

/* Invariant 2: all that is cut is held as zeros until a sync cuts the base. */
int held_truncate(struct held *held, uint64_t size)
{
    int error = size < held->size ? change_pages(held, size, NULL, held->size - size) : MGLRU_OK;
    if (!error)
        held->size = size;
    return error;
}

void held_overlay(const struct held *held, uint64_t offset, char *to, uint64_t bytes)
{
    while (bytes) {
        size_t part = part_of(held, offset, bytes);
        const struct held_page *page = find(held, offset / held->page_bytes);
        if (page)
            memcpy(to, page->data + offset % held->page_bytes, part);
        to += part;
        offset += part;
        bytes -= part;
    }
}

/* ---- On the way to the base ---- */

/*
 * Writes [from, to) of @page without letting the base grow beyond the size of the store. A page
 * beyond both is zeros that need not be written.
 */
static int write_part(struct held *held, struct held_page *page, uint32_t from, uint32_t to)
{
    uint64_t start = page->number * held->page_bytes, end;
    int error = mglru_store_size(held->base, &end);
    if (error)
        return error;
    if (end < held->size)
        end = held->size;
    if (start + from >= end)
        return MGLRU_OK;
    if (start + to > end)
        to = (uint32_t)(end - start);
    struct mglru_store_vec vec = {page->data + from, to - from};
    return mglru_store_write(held->base, start + from, &vec, 1);
}

/* Writes about half of the sectors (*written: how many). */
static int write_torn(struct held *held, struct held_page *page, uint32_t *written)
{
    int error = MGLRU_OK;
    uint64_t bits = 0;
    *written = 0;
    for (uint32_t at = 0, i = 0; at < held->page_bytes && !error; at += held->sector_bytes, i++) {
        bits = i % 64 ? bits >> 1 : draw(held);
        if (!(bits & 1))
            continue;
        error = write_part(held, page, at, at + held->sector_bytes);
        *written += !error;
    }
    return error;
}

static uint32_t sectors(const struct held *held)
{
    return held->page_bytes / held->sector_bytes;
}

int held_destage(struct held *held)
{
    uint64_t range = held->page_count < DESTAGE_RANGE ? held->page_count : DESTAGE_RANGE;
    uint64_t skip = range ? draw(held) % range : 0;
    struct list_node *pos = held->pages.next;
    while (skip--)
        pos = pos->next;
    if (pos == &held->pages || !page_of(pos)->pending)
        return MGLRU_OK;
    struct held_page *page = page_of(pos);
    uint32_t written = sectors(held);
    int error = sectors(held) > 1 && draw(held) % 2 ? write_torn(held, page, &written)
                                                    : write_part(held, page, 0, held->page_bytes);
    if (error)
        return error;
    held->counts->pages_destaged += written > 0;
    held->counts->pages_torn += written > 0 && written < sectors(held);
    if (written == sectors(held))
        drop(held, page);
    return MGLRU_OK;
}

/* The base gets the size of the store; what it loses was zeros already (invariant 2). */
static int settle_size(struct held *held)
{
    uint64_t size;
    int error = mglru_store_size(held->base, &size);
    if (error || size == held->size)
        return error;
    return mglru_store_truncate(held->base, held->size);
}

int held_sync(struct held *held)
{
    struct list_node *pos, *next;
    int error = MGLRU_OK;
    list_for_each_safe (pos, next, &held->pages) {
        struct held_page *page = page_of(pos);
        if (!page->pending)
            continue;
        error = write_part(held, page, 0, held->page_bytes);
        if (error)
            return error;
        drop(held, page);
    }
    error = settle_size(held);
    return error ? error : mglru_store_sync(held->base);
}

void held_forget(struct held *held)
{
    struct list_node *pos;
    list_for_each (pos, &held->pages) {
        struct held_page *page = page_of(pos);
        if (page->pending && draw(held) % 2) {
            page->pending = false;
            held->counts->pages_lost++;
        }
    }
}

/* One page at a power cut: kept, lost, or torn. */
static int settle_page(struct held *held, struct held_page *page)
{
    uint32_t written = 0;
    int error = MGLRU_OK;
    if (!page->pending)
        return MGLRU_OK; /* counted when it was forgotten */
    if (sectors(held) > 1 && draw(held) % 2)
        error = write_torn(held, page, &written);
    else if (draw(held) % 2) {
        error = write_part(held, page, 0, held->page_bytes);
        written = error ? 0 : sectors(held);
    }
    held->counts->pages_torn += written > 0 && written < sectors(held);
    held->counts->pages_lost += !written;
    return error;
}

int held_empty(struct held *held, bool lose)
{
    int first_error = MGLRU_OK;
    while (!list_empty(&held->pages)) {
        struct held_page *page = page_of(held->pages.next);
        int error = lose            ? settle_page(held, page)
                    : page->pending ? write_part(held, page, 0, held->page_bytes)
                                    : MGLRU_OK;
        first_error = first_error ? first_error : error;
        drop(held, page);
    }
    int error = lose ? MGLRU_OK : settle_size(held);
    return first_error ? first_error : error;
}
