/* SPDX-License-Identifier: MIT */
/*
 * Turning MGLRU on and off while the cache runs, and what happens to the folios of a memcg that
 * is removed. Facts: mglru-facts 9.1 (fill, drain), 5 (reparenting). Linux mm/vmscan.c.
 */
#include "reclaim/reclaim.h"

#include "base/check.h"

/* Folios moved between two looks at the outside (the kernel drops the lock here). */
#define SWITCH_CHUNK MAX_LRU_BATCH

/* True: the classic lists are empty. */
static bool fill_lruvec(struct lruvec *lruvec)
{
    unsigned budget = SWITCH_CHUNK;
    bool keep_order = lruvec->reclaim->model->fill_keeps_order;
    for (unsigned l = 0; l < LRU_UNEVICTABLE; l++) {
        struct list_node *list = &lruvec->lists[l];
        bool inactive = l == LRU_INACTIVE_ANON || l == LRU_INACTIVE_FILE;
        while (!list_empty(list)) {
            /* Row 36: inactive folios belong to the oldest generation, in their order. */
            bool tail = keep_order && inactive;
            struct folio *folio = folio_of(tail ? list->next : list->prev);
            /* The list said active by its flag; the new placement reads the same flag. */
            atomic_store_relaxed(&lruvec->enabled, false);
            bool active = folio_test(folio, FOLIO_ACTIVE);
            lruvec_del(folio, false);
            if (active)
                folio_set(folio, FOLIO_ACTIVE);
            atomic_store_relaxed(&lruvec->enabled, true);
            lruvec_add(folio, tail);
            if (--budget == 0)
                return false;
        }
    }
    return true;
}

/* True: the generations are empty. */
static bool drain_lruvec(struct lruvec *lruvec)
{
    unsigned budget = SWITCH_CHUNK;
    for (unsigned gen = 0; gen < MAX_NR_GENS; gen++)
        for (unsigned type = 0; type < LRU_TYPES; type++)
            for (unsigned zone = 0; zone < MAX_NR_ZONES; zone++) {
                struct list_node *list = &lruvec->folios[gen][type][zone];
                while (!list_empty(list)) {
                    struct folio *folio = folio_of(list->prev);
                    lruvec_del(folio, false);
                    lruvec_add(folio, false);
                    if (--budget == 0)
                        return false;
                }
            }
    return true;
}

void reclaim_switch(struct reclaim *reclaim, bool enabled, void (*pause)(void *), void *context)
{
    if (reclaim_enabled(reclaim) == enabled)
        return;
    lru_batch_drain(reclaim);
    reclaim->switching = true;
    atomic_store_relaxed(&reclaim->enabled, enabled);
    struct memcg *root = reclaim->tree->root;
    for (struct memcg *memcg = root; memcg; memcg = memcg_next(root, memcg)) {
        for (unsigned node = 0; node < reclaim->nodes; node++) {
            struct lruvec *lruvec = memcg_lruvec(memcg, node);
            atomic_store_relaxed(&lruvec->enabled, enabled);
            while (!(enabled ? fill_lruvec(lruvec) : drain_lruvec(lruvec)))
                if (pause)
                    pause(context);
        }
    }
    reclaim->switching = false;
}

/* The sequence numbers of child and parent have nothing in common: a folio keeps the number of its
 * generation modulo 4, which is what the kernel's field holds. Returns the new number. */
static uint64_t adopt_seq(const struct lruvec *child, const struct lruvec *parent,
                          struct folio *folio)
{
    uint64_t oldest = lruvec_min_seq(parent, folio_type(folio));
    uint64_t seq = oldest + ((generation_seq(child, folio) - oldest) & (MAX_NR_GENS - 1));
    unsigned state = generation_state(child, folio);
    folio_change(folio, FOLIO_SEQ_MASK | FOLIO_STATE_MASK, folio_seq_bits(seq) | state);
    return seq;
}

/* Moves a classic list to another lruvec, coldest end first, behind what is there. */
static void adopt_list(struct lruvec *parent, struct list_node *to, struct list_node *from)
{
    struct list_node *pos;
    list_for_each (pos, from)
        atomic_store_relaxed(&folio_of(pos)->lruvec, parent);
    list_splice_tail(to, from);
}

/* The same for the list of a generation. What a walk promoted without moving it goes where it
 * belongs: older and younger mean something else in the parent, and a folio in a list younger than
 * itself would be passed by min_seq. */
static void adopt_folios(struct lruvec *parent, unsigned gen, enum lru_type type, unsigned zone,
                         struct list_node *from)
{
    struct list_node *pos, *tmp;
    list_for_each_safe (pos, tmp, from) {
        struct folio *folio = folio_of(pos);
        unsigned own = gen_of(adopt_seq(folio_lruvec(folio), parent, folio));
        atomic_store_relaxed(&folio->lruvec, parent);
        if (own != gen)
            list_move_head(&parent->folios[own][type][zone], pos);
    }
    list_splice_tail(&parent->folios[gen][type][zone], from);
}

static void adopt_sizes(struct lruvec *child, struct lruvec *parent, enum lru_list list,
                        unsigned zone)
{
    long pages = lruvec_size(child, zone, list);
    atomic_store_relaxed(&child->lru_size[zone][list], 0);
    atomic_add_owner(&parent->lru_size[zone][list], pages);
}

/* A generation that is active for one lruvec and inactive for the other changes its size list. */
static void adopt_generation(struct lruvec *child, struct lruvec *parent, unsigned gen,
                             enum lru_type type, unsigned zone)
{
    long pages = lruvec_nr_pages(child, gen, type, zone);
    bool was = gen == gen_of(lruvec_max_seq(child)) || gen == gen_of(lruvec_max_seq(child) - 1);
    bool is = gen == gen_of(lruvec_max_seq(parent)) || gen == gen_of(lruvec_max_seq(parent) - 1);
    adopt_folios(parent, gen, type, zone, &child->folios[gen][type][zone]);
    atomic_add_owner(&parent->nr_pages[gen][type][zone], pages);
    atomic_store_relaxed(&child->nr_pages[gen][type][zone], 0);
    if (was != is) {
        lruvec_account(parent, lru_list_of(type, was), zone, -pages);
        lruvec_account(parent, lru_list_of(type, is), zone, pages);
    }
}

/* With absolute numbers each generation keeps its distance from the youngest. */
static void adopt_absolute(struct lruvec *child, struct lruvec *parent, enum lru_type type,
                           unsigned zone)
{
    for (uint64_t seq = lruvec_min_seq(child, type); seq <= lruvec_max_seq(child); seq++) {
        struct list_node *from = &child->folios[gen_of(seq)][type][zone];
        unsigned gen = gen_of(lruvec_max_seq(parent) - (lruvec_max_seq(child) - seq));
        struct list_node *pos;
        list_for_each (pos, from) {
            struct folio *folio = folio_of(pos);
            unsigned state = generation_state(child, folio);
            uint64_t distance = lruvec_max_seq(child) - generation_seq(child, folio);
            folio_change(folio, FOLIO_SEQ_MASK | FOLIO_STATE_MASK,
                         folio_seq_bits(lruvec_max_seq(parent) - distance) | state);
        }
        adopt_list(parent, &parent->folios[gen][type][zone], from);
        atomic_add_owner(&parent->nr_pages[gen][type][zone],
                         lruvec_nr_pages(child, gen_of(seq), type, zone));
        atomic_store_relaxed(&child->nr_pages[gen_of(seq)][type][zone], 0);
    }
}

static void reparent(struct lruvec *child, struct lruvec *parent)
{
    for (unsigned t = 0; t < LRU_TYPES; t++)
        while (lruvec_enabled(parent) && lruvec_gens(parent, (enum lru_type)t) < MAX_NR_GENS)
            aging_bump(parent, SWAPPINESS_ANON_ONLY - 1);
    for (unsigned zone = 0; zone < MAX_NR_ZONES; zone++) {
        for (unsigned l = 0; l < NR_LRU_LISTS; l++)
            adopt_sizes(child, parent, (enum lru_list)l, zone);
        for (unsigned t = 0; t < LRU_TYPES && parent->reclaim->model->absolute_seq; t++)
            adopt_absolute(child, parent, (enum lru_type)t, zone);
        for (unsigned gen = 0; gen < MAX_NR_GENS; gen++)
            for (unsigned t = 0; t < LRU_TYPES; t++)
                adopt_generation(child, parent, gen, (enum lru_type)t, zone);
    }
    for (unsigned l = 0; l < NR_LRU_LISTS; l++)
        adopt_list(parent, &parent->lists[l], &child->lists[l]);
}

void reclaim_offline(struct reclaim *reclaim, struct memcg *memcg)
{
    lru_batch_drain(reclaim);
    for (unsigned node = 0; node < reclaim->nodes; node++) {
        struct lruvec *lruvec = memcg_lruvec(memcg, node);
        memcg_lru_offline(lruvec);
        /* In a shared cache folios wait in batches of other CPUs at any time: they stay with the
         * dying memcg, which reclaim of the parent visits as any child. */
        if (reclaim->model->reparents_folios && !reclaim->shared)
            reparent(lruvec, memcg_lruvec(memcg->parent, node));
    }
}
