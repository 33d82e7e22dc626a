/* SPDX-License-Identifier: MIT */
/*
 * Charge verdicts. The batch that a charge takes beyond what was asked for goes into the stock of
 * the CPU, so usage may exceed what users hold by up to 64 pages per CPU and memcg.
 */
#include "memcg/charge.h"

#include "memcg/stock.h"

static struct memcg *of_memory(struct page_counter *counter)
{
    return container_of(counter, struct memcg, memory);
}

static struct memcg *of_swap(struct page_counter *counter)
{
    return container_of(counter, struct memcg, swap);
}

/* Nearest ancestor, itself included, whose memory or swap is above its high. */
static struct memcg *find_high(struct memcg *memcg)
{
    for (; memcg; memcg = memcg->parent) {
        const struct page_counter *memory = &memcg->memory;
        const struct page_counter *swap = &memcg->swap;
        if (page_counter_read(memory) > atomic_load_relaxed(&memory->high) ||
            page_counter_read(swap) > atomic_load_relaxed(&swap->high))
            return memcg;
    }
    return NULL;
}

long memcg_margin(const struct memcg *memcg)
{
    long usage = page_counter_read(&memcg->memory);
    long max = atomic_load_relaxed(&memcg->memory.max);
    return usage < max ? max - usage : 0;
}

int memcg_try_charge(struct memcg *memcg, unsigned cpu, unsigned pages,
                     struct memcg_verdict *verdict)
{
    MGLRU_ASSERT(pages > 0);
    *verdict = (struct memcg_verdict){0};
    if (memcg_is_root(memcg) || memcg_stock_consume(memcg, cpu, pages))
        return MGLRU_OK;
    unsigned batch = pages > MEMCG_CHARGE_BATCH ? pages : MEMCG_CHARGE_BATCH;
    if (memcg_margin(memcg) < (long)batch)
        batch = pages; /* near the limit a batch is refused: spare the attempt */
    struct page_counter *over;
    while (!page_counter_try_charge(&memcg->memory, batch, &over)) {
        if (batch == pages) {
            verdict->over = of_memory(over);
            verdict->pages = pages;
            return MGLRU_EAGAIN;
        }
        batch = pages;
    }
    verdict->batch = batch;
    memcg_stock_refill(memcg, cpu, batch - pages);
    verdict->high = find_high(memcg);
    return MGLRU_OK;
}

void memcg_charge_force(struct memcg *memcg, unsigned pages)
{
    if (!memcg_is_root(memcg))
        page_counter_charge(&memcg->memory, pages);
}

/*
 * Charged pages keep a dying memcg alive without a reference of their own, so whoever takes the
 * last ones has to ask whether it can go. With several CPUs the memcg may be removed between the
 * uncharge and the question: a reference bridges that.
 */
static void uncharge_counter(struct memcg *memcg, struct page_counter *counter, unsigned pages)
{
    if (memcg->tree->shared) {
        memcg_get(memcg);
        page_counter_uncharge(counter, pages);
        memcg_put(memcg);
        return;
    }
    page_counter_uncharge(counter, pages);
    if (MGLRU_UNLIKELY(!memcg_online(memcg))) {
        memcg_get(memcg);
        memcg_put(memcg);
    }
}

void memcg_uncharge(struct memcg *memcg, unsigned pages)
{
    if (!memcg_is_root(memcg) && pages)
        uncharge_counter(memcg, &memcg->memory, pages);
}

bool memcg_charge_refused(const struct memcg_verdict *verdict, bool raised, bool reclaimed)
{
    struct memcg *over = verdict->over;
    MGLRU_ASSERT(over);
    if (raised)
        return true;
    if (!reclaimed && !over->tree->params->rejected_raises_max)
        return false;
    memcg_raise(over, MEMCG_EVENT_MAX);
    return true;
}

int memcg_try_charge_swap(struct memcg *memcg, unsigned pages, struct memcg **over)
{
    struct page_counter *full = NULL;
    if (over)
        *over = NULL;
    if (memcg_is_root(memcg) || page_counter_try_charge(&memcg->swap, pages, &full))
        return MGLRU_OK;
    memcg_raise(of_swap(full), MEMCG_EVENT_SWAP_MAX);
    memcg_raise(of_swap(full), MEMCG_EVENT_SWAP_FAIL);
    if (over)
        *over = of_swap(full);
    return MGLRU_ENOSPC;
}

void memcg_uncharge_swap(struct memcg *memcg, unsigned pages)
{
    if (!memcg_is_root(memcg) && pages)
        uncharge_counter(memcg, &memcg->swap, pages);
}

long memcg_swap_margin(const struct memcg *memcg)
{
    long least = PAGE_COUNTER_MAX;
    for (; memcg && !memcg_is_root(memcg); memcg = memcg->parent) {
        long room = atomic_load_relaxed(&memcg->swap.max) - page_counter_read(&memcg->swap);
        if (room < least)
            least = room;
    }
    return least < 0 ? 0 : least;
}

uint32_t memcg_write_max(struct memcg *memcg, long pages)
{
    uint32_t ticket = atomic_add_acq_rel(&memcg->max_writes, 1) + 1;
    page_counter_store_max(&memcg->memory, pages);
    return ticket;
}

bool memcg_max_superseded(const struct memcg *memcg, uint32_t ticket)
{
    return atomic_load_relaxed(&memcg->max_writes) != ticket;
}
