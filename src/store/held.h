/* SPDX-License-Identifier: MIT */
/*
 * The write cache of a faulty store: pages that were changed and did not reach the base.
 *
 *   (none) --write, zero, truncate--> PENDING --sync, destage--> (none)
 *   PENDING --a sync that failed--> FORGOTTEN --write--> PENDING
 *   PENDING, FORGOTTEN --power cut--> (none), on the base or lost
 *
 * Invariants: (1) what the store reads is the held page, else the base, cut at size; (2) beyond
 * size, up to the size of the base, every held page holds zeros, and so does the base where no page
 * is held; (3) every choice is drawn from one seed in order of the calls. Not thread-safe.
 */
#ifndef STORE_HELD_H
#define STORE_HELD_H

#include <mglru/stores.h>

#include "base/list.h"

struct held_page;

struct held {
    /* Fixed at creation. */
    struct mglru_store *base;
    uint32_t page_bytes;
    uint32_t sector_bytes; /* page_bytes: never torn */
    /* Changed by every call. */
    uint64_t random;
    uint64_t size;          /* of the store, in bytes */
    struct list_node pages; /* all pages, oldest first */
    struct held_page **buckets;
    uint64_t bucket_count; /* a power of two */
    uint64_t page_count;
    struct mglru_store_faulty_counts *counts; /* of the owner */
};

/* Makes an empty cache over @held->base; base, page_bytes, sector_bytes, random and counts are set.
 * MGLRU_ENOMEM, or the base's error. */
int held_init(struct held *held);

/* Frees all pages without writing any. */
void held_fini(struct held *held);

/* Changes @bytes at @offset; @from NULL: to zeros. Grows the size. MGLRU_ENOMEM or an error of the
 * base, after part of it. */
int held_change(struct held *held, uint64_t offset, const char *from, uint64_t bytes);

/* Sets the size; what was cut reads as zeros. Errors as held_change, nothing cut then. */
int held_truncate(struct held *held, uint64_t size);

/* Puts what is held of [offset, offset + bytes) over @to, which came from the base. */
void held_overlay(const struct held *held, uint64_t offset, char *to, uint64_t bytes);

/* Lets one pending page reach the base, torn perhaps. The base's error. */
int held_destage(struct held *held);

/* Writes all pending pages and syncs the base. The base's error: the rest stays pending. */
int held_sync(struct held *held);

/* A sync has failed: about half of the pending pages are forgotten. */
void held_forget(struct held *held);

/* All pending pages reach the base (@lose: or are lost, or torn); nothing is held afterwards. */
int held_empty(struct held *held, bool lose);

#endif
