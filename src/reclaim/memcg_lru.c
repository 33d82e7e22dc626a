/* SPDX-License-Identifier: MIT */
/*
 * The memcg LRU: in which order global reclaim visits memcgs. Two live generations of eight bins;
 * a reclaimed memcg goes to the young one, so that all get their turn before any gets a second.
 * Facts: mglru-facts 5. Linux mm/vmscan.c (lru_gen_rotate_memcg, shrink_many).
 *
 * Invariants: the sum of nr_memcgs is the number of linked lruvecs; only the slots old and young
 * are populated; seq only grows, and never past a populated old slot.
 */
#include "reclaim/reclaim.h"

#include "base/bits.h"
#include "base/check.h"

enum { SEG_DEFAULT, SEG_HEAD, SEG_TAIL };

static unsigned slot_old(uint64_t seq)
{
    return (unsigned)(seq % MEMCG_NR_GENS);
}

static unsigned slot_young(uint64_t seq)
{
    return (unsigned)((seq + 1) % MEMCG_NR_GENS);
}

static unsigned random_bin(struct reclaim *reclaim)
{
    reclaim_count(reclaim, &reclaim->random, UINT64_C(0x9E3779B97F4A7C15));
    return (unsigned)(bits_mix64(atomic_load_relaxed(&reclaim->random)) % MEMCG_NR_BINS);
}

/* For shared caches only, beyond clang's analysis. */
static void lru_lock(struct reclaim *reclaim, struct memcg_lru *lru) MGLRU_NO_LOCK_ANALYSIS
{
    if (reclaim->shared)
        lock_spin_acquire(&lru->lock);
}

static void lru_unlock(struct reclaim *reclaim, struct memcg_lru *lru) MGLRU_NO_LOCK_ANALYSIS
{
    if (reclaim->shared)
        lock_spin_release(&lru->lock);
}

void memcg_lru_init(struct memcg_lru *lru)
{
    lock_spin_init(&lru->lock, RANK_MEMCG_LRU);
    for (unsigned gen = 0; gen < MEMCG_NR_GENS; gen++)
        for (unsigned bin = 0; bin < MEMCG_NR_BINS; bin++)
            list_init(&lru->fifo[gen][bin]);
}

static void leave(struct memcg_lru *lru, struct lruvec *lruvec)
{
    list_del_init(&lruvec->memcg_list);
    lru->nr_memcgs[lruvec->memcg_gen]--;
}

static void advance(struct memcg_lru *lru, unsigned from)
{
    if (lru->nr_memcgs[from] == 0 && from == slot_old(lru->seq))
        lru->seq++;
}

void memcg_lru_online(struct lruvec *lruvec)
{
    struct memcg_lru *lru = &lruvec->reclaim->memcg_lru[lruvec->node];
    lru_lock(lruvec->reclaim, lru);
    unsigned gen = slot_old(lru->seq);
    lruvec->memcg_gen = (uint8_t)gen;
    atomic_store_relaxed(&lruvec->memcg_seg, SEG_DEFAULT);
    lruvec->memcg_linked = true;
    list_add_tail(&lru->fifo[gen][random_bin(lruvec->reclaim)], &lruvec->memcg_list);
    lru->nr_memcgs[gen]++;
    lru_unlock(lruvec->reclaim, lru);
}

void memcg_lru_offline(struct lruvec *lruvec)
{
    memcg_lru_rotate(lruvec, MEMCG_LRU_OLD);
}

void memcg_lru_release(struct lruvec *lruvec)
{
    if (!lruvec->memcg_linked)
        return;
    struct memcg_lru *lru = &lruvec->reclaim->memcg_lru[lruvec->node];
    lru_lock(lruvec->reclaim, lru);
    unsigned gen = lruvec->memcg_gen;
    leave(lru, lruvec);
    lruvec->memcg_linked = false;
    advance(lru, gen);
    lru_unlock(lruvec->reclaim, lru);
}

static void rotate(struct memcg_lru *lru, struct lruvec *lruvec, enum memcg_lru_op op)
{
    unsigned from = lruvec->memcg_gen;
    unsigned to = op == MEMCG_LRU_OLD     ? slot_old(lru->seq)
                  : op == MEMCG_LRU_YOUNG ? slot_young(lru->seq)
                                          : from;
    leave(lru, lruvec);
    lruvec->memcg_gen = (uint8_t)to;
    unsigned seg = op == MEMCG_LRU_HEAD ? SEG_HEAD : op == MEMCG_LRU_TAIL ? SEG_TAIL : SEG_DEFAULT;
    atomic_store_relaxed(&lruvec->memcg_seg, (uint8_t)seg);
    struct list_node *bin = &lru->fifo[to][random_bin(lruvec->reclaim)];
    if (op == MEMCG_LRU_HEAD || op == MEMCG_LRU_OLD)
        list_add_head(bin, &lruvec->memcg_list);
    else
        list_add_tail(bin, &lruvec->memcg_list);
    lru->nr_memcgs[to]++;
    advance(lru, from);
}

void memcg_lru_rotate(struct lruvec *lruvec, enum memcg_lru_op op)
{
    struct memcg_lru *lru = &lruvec->reclaim->memcg_lru[lruvec->node];
    if (op == MEMCG_LRU_NOP)
        return;
    lru_lock(lruvec->reclaim, lru);
    if (lruvec->memcg_linked)
        rotate(lru, lruvec, op);
    lru_unlock(lruvec->reclaim, lru);
}

static unsigned long evictable_pages(const struct lruvec *lruvec, int swappiness)
{
    unsigned long pages = 0;
    for (unsigned t = 0; t < LRU_TYPES; t++) {
        if (!type_evictable((enum lru_type)t, swappiness))
            continue;
        for (unsigned gen = 0; gen < MAX_NR_GENS; gen++)
            for (unsigned zone = 0; zone < MAX_NR_ZONES; zone++)
                if (lruvec_nr_pages(lruvec, gen, t, zone) > 0)
                    pages += (unsigned long)lruvec_nr_pages(lruvec, gen, t, zone);
    }
    return pages;
}

/* Reclaims from one memcg and says where it goes (the event table of facts 5). */
static enum memcg_lru_op shrink_one(struct lruvec *lruvec, struct scan_control *sc)
{
    struct memcg *memcg = lruvec->memcg;
    if (sc->background || sc->reclaim->model->protects_on_direct)
        memcg_protection_update_path(sc->reclaim->tree->root, memcg);
    if (memcg_below_min(NULL, memcg))
        return MEMCG_LRU_YOUNG;
    if (memcg_below_low(NULL, memcg)) {
        if (atomic_load_relaxed(&lruvec->memcg_seg) != SEG_TAIL)
            return MEMCG_LRU_TAIL;
        memcg_raise(memcg, MEMCG_EVENT_LOW);
    }
    bool rotate = sc->reclaim->model->shrink(lruvec, sc);
    reclaim_shrink_slab(lruvec, sc);
    bool online = memcg_online(memcg);
    if (rotate && online)
        return MEMCG_LRU_YOUNG;
    unsigned long left = evictable_pages(lruvec, reclaim_swappiness(lruvec, sc));
    if (!rotate && (online ? left >> sc->priority : left))
        return MEMCG_LRU_NOP;
    return atomic_load_relaxed(&lruvec->memcg_seg) != SEG_TAIL ? MEMCG_LRU_TAIL : MEMCG_LRU_YOUNG;
}

/* One bin; false: enough was reclaimed. A memcg that rotates leaves the bin at once, which is what
 * the kernel's nulls lists achieve with a deferred rotation. */
static bool shrink_bin(struct scan_control *sc, struct list_node *bin, long visits)
{
    struct list_node *pos = bin->next;
    while (pos != bin && visits-- > 0) {
        struct lruvec *lruvec = container_of(pos, struct lruvec, memcg_list);
        struct list_node *next = pos->next;
        struct memcg *memcg = lruvec->memcg;
        memcg_get(memcg); /* its last page may go */
        enum memcg_lru_op op = shrink_one(lruvec, sc);
        bool enough = reclaim_enough(sc);
        memcg_lru_rotate(lruvec, op);
        memcg_put(memcg);
        if (enough)
            return false;
        pos = next;
    }
    return true;
}

/* The first memcg of a bin that is still in the tree, with a reference; it goes to the end of the
 * bin, so that the next call gives the next one. NULL: the bin is empty. */
static struct lruvec *take_turn(struct memcg_lru *lru, struct list_node *bin, long *visits)
{
    struct lruvec *found = NULL;
    lock_spin_acquire(&lru->lock);
    while (!found && !list_empty(bin) && (*visits)-- > 0) {
        struct lruvec *lruvec = container_of(bin->next, struct lruvec, memcg_list);
        list_move_tail(bin, &lruvec->memcg_list);
        if (memcg_try_get(lruvec->memcg))
            found = lruvec;
    }
    lock_spin_release(&lru->lock);
    return found;
}

/* shrink_bin of a shared cache: others rotate memcgs at the same time, so nothing but the bin
 * itself is remembered between two visits. */
static bool shrink_bin_shared(struct scan_control *sc, struct memcg_lru *lru, struct list_node *bin,
                              long visits)
{
    struct lruvec *lruvec;
    while ((lruvec = take_turn(lru, bin, &visits))) {
        struct memcg *memcg = lruvec->memcg;
        enum memcg_lru_op op = shrink_one(lruvec, sc);
        memcg_lru_rotate(lruvec, op);
        memcg_put(memcg);
        if (reclaim_enough(sc))
            return false;
    }
    return true;
}

/* The slot of the old generation; *@visits: how many memcgs there are, a bound for the visits. */
static unsigned count_visits(struct reclaim *reclaim, struct memcg_lru *lru, long *visits)
{
    *visits = 0;
    lru_lock(reclaim, lru);
    unsigned gen = slot_old(lru->seq);
    for (unsigned g = 0; g < MEMCG_NR_GENS; g++)
        *visits += lru->nr_memcgs[g];
    lru_unlock(reclaim, lru);
    return gen;
}

void memcg_lru_shrink(struct scan_control *sc, unsigned node)
{
    struct memcg_lru *lru = &sc->reclaim->memcg_lru[node];
    long visits;
    unsigned gen = count_visits(sc->reclaim, lru, &visits);
    unsigned first = random_bin(sc->reclaim);
    for (unsigned i = 0; i < MEMCG_NR_BINS; i++) {
        struct list_node *bin = &lru->fifo[gen][(first + i) % MEMCG_NR_BINS];
        if (!(sc->reclaim->shared ? shrink_bin_shared(sc, lru, bin, visits)
                                  : shrink_bin(sc, bin, visits)))
            return;
    }
}
