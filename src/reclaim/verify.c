/* SPDX-License-Identifier: MIT */
/*
 * Walkers over everything that reclaim keeps, for tests: the invariants I1 to I8 of mglru-facts
 * 1.1, list sizes, the memcg LRU. No walk may be live.
 */
#include "reclaim/reclaim.h"

#include <stdio.h>

/* Text of the last failure; written by tests' threads only through verify_reclaim. */
static _Thread_local char failure[160];

static const char *fail(const struct lruvec *lruvec, const char *what, long found, long expected)
{
    snprintf(failure, sizeof(failure), "%s: %s (found %ld, expected %ld)", lruvec->memcg->path,
             what, found, expected);
    return failure;
}

struct tally {
    long by_gen[MAX_NR_GENS][LRU_TYPES][MAX_NR_ZONES];
    long on_list[LRU_TYPES];
    long lists[MAX_NR_ZONES][NR_LRU_LISTS];
};

static const char *walk_generation(const struct lruvec *lruvec, unsigned gen, unsigned type,
                                   unsigned zone, struct tally *tally)
{
    struct list_node *pos;
    list_for_each (pos, &lruvec->folios[gen][type][zone]) {
        const struct folio *folio = folio_of(pos);
        long pages = folio_pages(folio);
        if (pos->next->prev != pos)
            return fail(lruvec, "broken list link", 0, 1);
        if (folio_lruvec(folio) != lruvec)
            return fail(lruvec, "I6: folio of another lruvec", 0, 1);
        if (folio_type(folio) != type || folio_zone(folio) != zone)
            return fail(lruvec, "I6: type or zone differs from the list", (long)folio_type(folio),
                        (long)type);
        if (!folio_has_seq(folio) || !folio_test(folio, FOLIO_LRU))
            return fail(lruvec, "I4: listed folio without a generation", 0, 1);
        if (folio_test(folio, FOLIO_ACTIVE))
            return fail(lruvec, "I5: active flag on a listed folio", 1, 0);
        uint64_t seq = generation_seq(lruvec, folio);
        /* Kernel models: a number may alias a generation to come, where lists were not sorted:
         * types that may not be evicted, folios of a removed memcg. */
        if (lruvec->reclaim->model->absolute_seq && seq > lruvec_max_seq(lruvec))
            return fail(lruvec, "generation beyond the youngest", (long)seq,
                        (long)lruvec_max_seq(lruvec));
        tally->by_gen[gen_of(seq)][type][zone] += pages;
        tally->on_list[type] += pages;
        bool active = seq + MIN_NR_GENS > lruvec_max_seq(lruvec) && seq <= lruvec_max_seq(lruvec);
        tally->lists[zone][lru_list_of((enum lru_type)type, active)] += pages;
    }
    return NULL;
}

static const char *check_sequences(const struct lruvec *lruvec)
{
    for (unsigned t = 0; t < LRU_TYPES; t++) {
        unsigned gens = lruvec_gens(lruvec, (enum lru_type)t);
        if (gens < MIN_NR_GENS || gens > MAX_NR_GENS)
            return fail(lruvec, "I1: number of generations", (long)gens, MAX_NR_GENS);
    }
    return NULL;
}

static const char *walk_classic(const struct lruvec *lruvec, struct tally *tally)
{
    struct list_node *pos;
    for (unsigned l = 0; l < NR_LRU_LISTS; l++)
        list_for_each (pos, &lruvec->lists[l]) {
            const struct folio *folio = folio_of(pos);
            if (folio_lruvec(folio) != lruvec || folio_has_seq(folio) ||
                !folio_test(folio, FOLIO_LRU))
                return fail(lruvec, "classic list holds a foreign folio", (long)l, -1);
            tally->lists[folio_zone(folio)][l] += folio_pages(folio);
        }
    return NULL;
}

static const char *check_sizes(const struct lruvec *lruvec, const struct tally *tally)
{
    for (unsigned zone = 0; zone < MAX_NR_ZONES; zone++) {
        for (unsigned gen = 0; gen < MAX_NR_GENS; gen++)
            for (unsigned t = 0; t < LRU_TYPES; t++)
                if (tally->by_gen[gen][t][zone] != lruvec_nr_pages(lruvec, gen, t, zone))
                    return fail(lruvec, "I7: nr_pages", lruvec_nr_pages(lruvec, gen, t, zone),
                                tally->by_gen[gen][t][zone]);
        for (unsigned l = 0; l < NR_LRU_LISTS; l++)
            if (tally->lists[zone][l] != lruvec_size(lruvec, zone, l))
                return fail(lruvec, "list size", lruvec_size(lruvec, zone, l),
                            tally->lists[zone][l]);
    }
    return NULL;
}

static const char *check_enabled(const struct lruvec *lruvec, const struct tally *tally)
{
    if (lruvec->reclaim->switching)
        return NULL;
    for (unsigned t = 0; t < LRU_TYPES; t++) {
        if (!lruvec_enabled(lruvec) && tally->on_list[t])
            return fail(lruvec, "I8: generations while off", tally->on_list[t], 0);
        if (lruvec_enabled(lruvec) &&
            (!list_empty(&lruvec->lists[2 * t]) || !list_empty(&lruvec->lists[2 * t + 1])))
            return fail(lruvec, "I8: classic lists while on", 1, 0);
    }
    return NULL;
}

static const char *verify_lruvec(const struct lruvec *lruvec)
{
    struct tally tally = {0};
    const char *broken = check_sequences(lruvec);
    for (unsigned gen = 0; gen < MAX_NR_GENS && !broken; gen++)
        for (unsigned t = 0; t < LRU_TYPES && !broken; t++)
            for (unsigned zone = 0; zone < MAX_NR_ZONES && !broken; zone++)
                broken = walk_generation(lruvec, gen, t, zone, &tally);
    if (!broken)
        broken = walk_classic(lruvec, &tally);
    if (!broken)
        broken = check_sizes(lruvec, &tally);
    return broken ? broken : check_enabled(lruvec, &tally);
}

static const char *verify_memcg_lru(const struct reclaim *reclaim, unsigned node)
{
    const struct memcg_lru *lru = &reclaim->memcg_lru[node];
    for (unsigned gen = 0; gen < MEMCG_NR_GENS; gen++) {
        long count = 0;
        struct list_node *pos;
        for (unsigned bin = 0; bin < MEMCG_NR_BINS; bin++)
            list_for_each (pos, &lru->fifo[gen][bin])
                count++;
        if (count != lru->nr_memcgs[gen])
            return "memcg LRU: count of a generation differs from its lists";
        if (count && gen == (lru->seq + 2) % MEMCG_NR_GENS)
            return "memcg LRU: the third generation is populated";
    }
    return NULL;
}

const char *verify_reclaim(struct reclaim *reclaim)
{
    struct memcg *root = reclaim->tree->root;
    const char *broken = NULL;
    for (struct memcg *memcg = root; memcg && !broken; memcg = memcg_next(root, memcg))
        for (unsigned node = 0; node < reclaim->nodes && !broken; node++)
            broken = verify_lruvec(memcg_lruvec(memcg, node));
    for (unsigned node = 0; node < reclaim->nodes && !broken; node++)
        broken = verify_memcg_lru(reclaim, node);
    return broken;
}
