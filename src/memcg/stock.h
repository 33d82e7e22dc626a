/* SPDX-License-Identifier: MIT */
/*
 * Prepaid pages: each CPU keeps a few charged pages for up to seven memcgs (one in 6.12), so that
 * most charges touch no shared counter (mglru-facts 6.2).
 *
 * Conservation: memory.usage of a memcg = its users' pages + pages in stocks for it and below.
 * A slot in use holds one reference of its memcg.
 * Threads: consume and refill by the owner of the CPU; drains from anywhere. With one CPU no lock
 * is taken. Progress: consume and refill never wait (a busy lock means "no stock").
 */
#ifndef MEMCG_STOCK_H
#define MEMCG_STOCK_H

#include "memcg/memcg.h"

/* Slots of one CPU in the largest model: lock, seven counts and seven pointers fill a line. */
#define MEMCG_STOCK_SLOTS 7u

struct memcg_stock_cpu {
    /* Line 0: owner of the CPU, or a drainer, under lock. */
    _Alignas(64) struct lock_spin lock;
    uint8_t pages[MEMCG_STOCK_SLOTS]; /* at most MEMCG_CHARGE_BATCH each */
    struct memcg *owner[MEMCG_STOCK_SLOTS];
    /* Line 1: drainers, and rare evictions. */
    _Alignas(64) _Atomic uint8_t flushing; /* a drain of this CPU was announced and has not run */
    _Atomic uint8_t isolated;              /* must not be disturbed: remote drains pass it by */
    uint8_t next_evict; /* slot that is emptied next when all are taken; under lock */
};

_Static_assert(offsetof(struct memcg_stock_cpu, flushing) == 64,
               "a charge from stock touches one line, which no other CPU writes");

struct memcg_stock {
    const struct memcg_params *params;
    unsigned cpus;
    bool shared;
    struct lock_mutex drain; /* one drainer of all CPUs at a time */
    struct memcg_stock_cpu cpu[];
};

/* Creates empty stocks. MGLRU_ENOMEM. */
int memcg_stock_create(const struct memcg_params *params, unsigned cpus, struct memcg_stock **out);

/* Frees the stocks; their pages are forgotten, not uncharged. NULL is allowed. */
void memcg_stock_destroy(struct memcg_stock *stock);

/* Takes @pages prepaid pages of @memcg on @cpu; false: not enough, or more than a batch. */
bool memcg_stock_consume(struct memcg *memcg, unsigned cpu, unsigned pages);

/* Puts @pages charged pages into the stock of @cpu; what does not fit is uncharged. */
void memcg_stock_refill(struct memcg *memcg, unsigned cpu, unsigned pages);

/* Uncharges everything that @cpu has in stock. From the owner, or with @cpu idle. */
void memcg_stock_drain_cpu(struct memcg_tree *tree, unsigned cpu);

/*
 * Uncharges what all CPUs have in stock for @root's subtree (whole CPUs are emptied, as the kernel
 * does). @cpu: the caller's. Returns false if another drain is going on: nothing was done then.
 */
bool memcg_stock_drain_all(struct memcg *root, unsigned cpu);

/* Marks a CPU that remote drains must leave alone, or takes the mark away. */
void memcg_stock_isolate(struct memcg_tree *tree, unsigned cpu, bool isolated);

/* Pages in all stocks for exactly @memcg; when nothing else runs. For verification and reports. */
long memcg_stock_pages(const struct memcg *memcg);

#endif
