/* SPDX-License-Identifier: MIT */
/*
 * Per-CPU stocks of prepaid pages.
 *
 * Invariants: a slot with owner NULL has 0 pages; a memcg has at most one slot per CPU; each used
 * slot holds one reference. Whatever leaves a slot is uncharged after the lock is dropped, since
 * dropping the reference may free the memcg.
 */
#include "memcg/stock.h"

#include <stdlib.h>
#include <string.h>

/* What left the slots of one CPU and has to be uncharged. */
struct leaving {
    unsigned count;
    struct memcg *owner[MEMCG_STOCK_SLOTS];
    unsigned pages[MEMCG_STOCK_SLOTS];
    bool referenced[MEMCG_STOCK_SLOTS];
};

int memcg_stock_create(const struct memcg_params *params, unsigned cpus, struct memcg_stock **out)
{
    MGLRU_ASSERT(params->stock_slots && params->stock_slots <= MEMCG_STOCK_SLOTS);
    size_t bytes = sizeof(struct memcg_stock) + cpus * sizeof(struct memcg_stock_cpu);
    struct memcg_stock *stock = aligned_alloc(64, bytes);
    *out = stock;
    if (!stock)
        return MGLRU_ENOMEM;
    memset(stock, 0, bytes);
    stock->params = params;
    stock->cpus = cpus;
    stock->shared = cpus > 1;
    lock_mutex_init(&stock->drain, RANK_STOCK_DRAIN);
    for (unsigned i = 0; i < cpus; i++)
        lock_spin_init(&stock->cpu[i].lock, RANK_STOCK);
    return MGLRU_OK;
}

void memcg_stock_destroy(struct memcg_stock *stock)
{
    free(stock);
}

static void leave(struct leaving *leaving, struct memcg *owner, unsigned pages, bool referenced)
{
    MGLRU_CHECK(leaving->count < MEMCG_STOCK_SLOTS);
    leaving->owner[leaving->count] = owner;
    leaving->pages[leaving->count] = pages;
    leaving->referenced[leaving->count++] = referenced;
}

static void empty_slot(struct memcg_stock_cpu *cpu, unsigned slot, struct leaving *leaving)
{
    if (!cpu->owner[slot])
        return;
    leave(leaving, cpu->owner[slot], cpu->pages[slot], true);
    cpu->owner[slot] = NULL;
    cpu->pages[slot] = 0;
}

static void settle(const struct leaving *leaving)
{
    for (unsigned i = 0; i < leaving->count; i++) {
        page_counter_uncharge(&leaving->owner[i]->memory, leaving->pages[i]);
        if (leaving->referenced[i])
            memcg_put(leaving->owner[i]);
    }
}

/* Below a limit that is reached the stocks are mostly empty: one look instead of seven. */
static bool is_empty(const struct memcg_stock_cpu *cpu)
{
    unsigned all = 0;
    for (unsigned i = 0; i < MEMCG_STOCK_SLOTS; i++)
        all |= cpu->pages[i];
    return all == 0;
}

static int find_slot(const struct memcg_stock_cpu *cpu, const struct memcg *memcg, unsigned slots)
{
    for (unsigned i = 0; i < slots; i++)
        if (cpu->owner[i] == memcg)
            return (int)i;
    return -1;
}

/* The lock is for several CPUs only: its taking is conditional, beyond clang's analysis. */
static bool stock_enter(struct memcg_stock *stock,
                        struct memcg_stock_cpu *cpu) MGLRU_NO_LOCK_ANALYSIS
{
    return !stock->shared || lock_spin_try(&cpu->lock);
}

static void stock_wait(struct memcg_stock *stock,
                       struct memcg_stock_cpu *cpu) MGLRU_NO_LOCK_ANALYSIS
{
    if (stock->shared)
        lock_spin_acquire(&cpu->lock);
}

static void stock_leave(struct memcg_stock *stock,
                        struct memcg_stock_cpu *cpu) MGLRU_NO_LOCK_ANALYSIS
{
    if (stock->shared)
        lock_spin_release(&cpu->lock);
}

bool memcg_stock_consume(struct memcg *memcg, unsigned cpu_number, unsigned pages)
{
    struct memcg_stock *stock = memcg->tree->stock;
    MGLRU_ASSERT(cpu_number < stock->cpus);
    struct memcg_stock_cpu *cpu = &stock->cpu[cpu_number];
    if (pages > MEMCG_CHARGE_BATCH || !stock_enter(stock, cpu))
        return false;
    int slot = is_empty(cpu) ? -1 : find_slot(cpu, memcg, stock->params->stock_slots);
    bool enough = slot >= 0 && cpu->pages[slot] >= pages;
    bool emptied = false;
    if (enough) {
        cpu->pages[slot] = (uint8_t)(cpu->pages[slot] - pages);
        emptied = !cpu->pages[slot];
        if (emptied)
            cpu->owner[slot] = NULL;
    }
    stock_leave(stock, cpu);
    if (emptied)
        memcg_put(memcg);
    return enough;
}

/* The slot that takes pages of @memcg: its own, a free one, or the next to be evicted. */
static unsigned slot_for(struct memcg_stock_cpu *cpu, struct memcg *memcg, unsigned slots,
                         struct leaving *leaving)
{
    int slot = find_slot(cpu, memcg, slots);
    if (slot >= 0)
        return (unsigned)slot;
    slot = find_slot(cpu, NULL, slots);
    if (slot < 0) {
        slot = cpu->next_evict;
        cpu->next_evict = (uint8_t)((cpu->next_evict + 1) % slots);
        empty_slot(cpu, (unsigned)slot, leaving);
    }
    memcg_get(memcg);
    cpu->owner[slot] = memcg;
    return (unsigned)slot;
}

void memcg_stock_refill(struct memcg *memcg, unsigned cpu_number, unsigned pages)
{
    struct memcg_stock *stock = memcg->tree->stock;
    if (!pages)
        return;
    MGLRU_ASSERT(cpu_number < stock->cpus);
    struct memcg_stock_cpu *cpu = &stock->cpu[cpu_number];
    if (pages > MEMCG_CHARGE_BATCH || !stock_enter(stock, cpu)) {
        page_counter_uncharge(&memcg->memory, pages);
        return;
    }
    struct leaving leaving = {0};
    unsigned slot = slot_for(cpu, memcg, stock->params->stock_slots, &leaving);
    unsigned sum = cpu->pages[slot] + pages;
    cpu->pages[slot] = (uint8_t)sum;
    if (sum > MEMCG_CHARGE_BATCH) {
        if (stock->params->stock_trims) {
            leave(&leaving, memcg, sum - MEMCG_CHARGE_BATCH, false);
            cpu->pages[slot] = MEMCG_CHARGE_BATCH;
        } else {
            empty_slot(cpu, slot, &leaving);
        }
    }
    stock_leave(stock, cpu);
    settle(&leaving);
}

void memcg_stock_drain_cpu(struct memcg_tree *tree, unsigned cpu_number)
{
    struct memcg_stock *stock = tree->stock;
    MGLRU_ASSERT(cpu_number < stock->cpus);
    struct memcg_stock_cpu *cpu = &stock->cpu[cpu_number];
    struct leaving leaving = {0};
    stock_wait(stock, cpu);
    for (unsigned i = 0; i < stock->params->stock_slots; i++)
        empty_slot(cpu, i, &leaving);
    stock_leave(stock, cpu);
    atomic_store_relaxed(&cpu->flushing, 0);
    settle(&leaving);
}

/* Whether @cpu has pages for @root or below. */
static bool has_subtree(struct memcg_stock *stock, struct memcg_stock_cpu *cpu,
                        const struct memcg *root)
{
    bool found = false;
    stock_wait(stock, cpu);
    for (unsigned i = 0; i < stock->params->stock_slots && !found; i++)
        found = cpu->owner[i] && memcg_is_descendant(cpu->owner[i], root);
    stock_leave(stock, cpu);
    return found;
}

/* Announces a drain of one CPU and runs it, unless the CPU is isolated. */
static void drain_one(struct memcg_tree *tree, unsigned cpu_number, bool local)
{
    struct memcg_stock *stock = tree->stock;
    struct memcg_stock_cpu *cpu = &stock->cpu[cpu_number];
    if (atomic_exchange_relaxed(&cpu->flushing, 1))
        return;
    if (local || !atomic_load_relaxed(&cpu->isolated))
        memcg_stock_drain_cpu(tree, cpu_number);
    else if (!stock->params->stock_forgets_flag)
        /* Nobody will drain it: a mark left behind would keep every later drain away (row 33). */
        atomic_store_relaxed(&cpu->flushing, 0);
}

bool memcg_stock_drain_all(struct memcg *root, unsigned cpu)
{
    struct memcg_tree *tree = root->tree;
    struct memcg_stock *stock = tree->stock;
    if (!lock_mutex_try(&stock->drain))
        return false;
    for (unsigned i = 0; i < stock->cpus; i++)
        if (has_subtree(stock, &stock->cpu[i], root))
            drain_one(tree, i, i == cpu);
    lock_mutex_release(&stock->drain);
    return true;
}

void memcg_stock_isolate(struct memcg_tree *tree, unsigned cpu, bool isolated)
{
    MGLRU_ASSERT(cpu < tree->cpus);
    atomic_store_relaxed(&tree->stock->cpu[cpu].isolated, isolated);
}

long memcg_stock_pages(const struct memcg *memcg)
{
    const struct memcg_stock *stock = memcg->tree->stock;
    long sum = 0;
    for (unsigned i = 0; i < stock->cpus; i++) {
        int slot = find_slot(&stock->cpu[i], memcg, stock->params->stock_slots);
        if (slot >= 0)
            sum += stock->cpu[i].pages[slot];
    }
    return sum;
}
