/* SPDX-License-Identifier: MIT */
/*
 * Charging pages and swap to a memcg. Charging never reclaims: it answers "ok", or "over: this
 * ancestor, this many pages", and cache/ reclaims and tries again (mglru-facts 6.3).
 *
 * The root is free: nothing is counted for pages of its own. All calls: by the owner of @cpu.
 */
#ifndef MEMCG_CHARGE_H
#define MEMCG_CHARGE_H

#include "memcg/memcg.h"

/* The answer of a charge. */
struct memcg_verdict {
    struct memcg *over; /* refused: this ancestor (or itself) is at its max; else NULL */
    uint32_t pages;     /* refused: pages that it lacks room for (those asked for) */
    uint32_t batch;     /* granted: pages taken from the counters now, prepaid ones included;
                           0 when the stock paid */
    struct memcg *high; /* granted: nearest ancestor (or itself) above its high; else NULL */
};

/*
 * Charges @pages (> 0): from the stock; else a batch of at least 64; else exactly @pages.
 * *verdict says what happened. Returns 0, or MGLRU_EAGAIN with verdict->over: nothing is charged.
 */
int memcg_try_charge(struct memcg *memcg, unsigned cpu, unsigned pages,
                     struct memcg_verdict *verdict);

/* Charges @pages beyond any limit. */
void memcg_charge_force(struct memcg *memcg, unsigned pages);

/* Takes back @pages; past the stock, as the kernel does for folios. May free a dying memcg. */
void memcg_uncharge(struct memcg *memcg, unsigned pages);

/* Room below max: pages that could be charged to @memcg itself now. */
long memcg_margin(const struct memcg *memcg);

/*
 * Raises the max event of a refused charge once per sequence of attempts. @raised: whether this
 * sequence has raised it; @reclaimed: whether reclaim was tried. Models with row 32's bug stay
 * silent when it was not. Returns whether the sequence has raised it now.
 */
bool memcg_charge_refused(const struct memcg_verdict *verdict, bool raised, bool reclaimed);

/*
 * Charges @pages of swap. Swap entries remember the memcg by its id: where that was given back
 * (dying, no swap left), charge memcg_live() of it instead. Returns 0, or MGLRU_ENOSPC: swap.max
 * of *over was reached; the events "max" and "fail" were raised on it. @over may be NULL.
 */
int memcg_try_charge_swap(struct memcg *memcg, unsigned pages, struct memcg **over);

/* Takes back @pages of swap. May give back the id of a dying memcg, and free it. */
void memcg_uncharge_swap(struct memcg *memcg, unsigned pages);

/* Swap that @memcg may still use: least of max - usage up to below the root; PAGE_COUNTER_MAX for
 * the root. The caller takes the minimum with the free swap of the machine. */
long memcg_swap_margin(const struct memcg *memcg);

/*
 * Publishes memory.max and numbers the write. Reclaim down to it is the caller's loop, which ends
 * as soon as memcg_max_superseded(memcg, ticket): a newer write took over (row 32).
 */
uint32_t memcg_write_max(struct memcg *memcg, long pages);
bool memcg_max_superseded(const struct memcg *memcg, uint32_t ticket);

#endif
