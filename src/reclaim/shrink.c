/* SPDX-License-Identifier: MIT */
/*
 * The verdict on each isolated folio: free it, keep it, or activate it. Both algorithms end here.
 * Facts: mglru-facts 3.6, 12.5. Linux mm/vmscan.c (shrink_folio_list).
 *
 * Nothing here waits or allocates. A folio that is freed leaves through host->release, which takes
 * it out of its mapping; the charge of a batch is given back at its end. Every other folio stays on
 * the caller's list.
 */
#include "reclaim/reclaim.h"

#include "base/check.h"
#include "memcg/charge.h"
#include "reclaim/hold.h"

enum verdict { VERDICT_FREE, VERDICT_KEEP, VERDICT_ACTIVATE };

static void count_io_state(struct scan_control *sc, const struct folio *folio)
{
    bool dirty = folio_test(folio, FOLIO_DIRTY) && folio_type(folio) == LRU_TYPE_FILE;
    if (dirty || folio_test(folio, FOLIO_WRITEBACK))
        sc->outcome.dirty += (unsigned long)folio_pages(folio);
    if (dirty && !folio_test(folio, FOLIO_WRITEBACK))
        sc->counts.unqueued_dirty += (unsigned long)folio_pages(folio);
}

/* An anonymous folio needs a swap slot; KEEP and ACTIVATE mean that it got none. */
static enum verdict judge_swap(struct scan_control *sc, struct folio *folio)
{
    const struct reclaim *reclaim = sc->reclaim;
    if (!folio_test(folio, FOLIO_ANON) || !folio_test(folio, FOLIO_SWAPBACKED) ||
        folio_test(folio, FOLIO_SWAPCACHE))
        return VERDICT_FREE;
    if (!sc->may_io)
        return VERDICT_KEEP;
    if (!reclaim->host->swap_alloc(reclaim->host_context, folio))
        return VERDICT_ACTIVATE;
    folio_set(folio, FOLIO_SWAPCACHE | FOLIO_DIRTY);
    return VERDICT_FREE;
}

static enum verdict judge_dirty(struct scan_control *sc, struct folio *folio, bool clean_only)
{
    const struct reclaim *reclaim = sc->reclaim;
    if (!folio_test(folio, FOLIO_DIRTY))
        return VERDICT_FREE;
    if (folio_type(folio) == LRU_TYPE_FILE && !folio_test(folio, FOLIO_ANON)) {
        /* Flushers write files; reclaim only asks to see it again soon. */
        folio_set(folio, FOLIO_RECLAIM);
        return VERDICT_ACTIVATE;
    }
    if (clean_only || !sc->may_io || !sc->may_writepage)
        return VERDICT_KEEP;
    if (!folio_test(folio, FOLIO_SWAPBACKED)) {
        /* Written to after MADV_FREE: it is ordinary anonymous memory again. */
        folio_set(folio, FOLIO_SWAPBACKED);
        return VERDICT_ACTIVATE;
    }
    folio_set(folio, FOLIO_RECLAIM);
    lruvec_stat(folio_lruvec(folio), MEMCG_NR_VMSCAN_WRITE, folio_pages(folio));
    sc->counts.pageout += (unsigned long)folio_pages(folio);
    bool done = reclaim->host->swap_write(reclaim->host_context, folio);
    if (!done)
        return VERDICT_KEEP;
    folio_clear(folio, FOLIO_DIRTY | FOLIO_RECLAIM);
    return VERDICT_FREE;
}

static enum verdict judge(struct scan_control *sc, struct folio *folio)
{
    if (folio_test(folio, FOLIO_LOCKED | FOLIO_PINNED))
        return VERDICT_KEEP;
    if (sc->reclaim->shared && hold_busy(folio)) {
        sc->outcome.busy += (unsigned long)folio_pages(folio);
        return VERDICT_KEEP;
    }
    if (!folio_evictable(folio))
        return VERDICT_ACTIVATE;
    if (folio->map_count && !sc->may_unmap)
        return VERDICT_KEEP;
    /* R appeared while it was isolated: a look-around or a walk wanted to promote it. */
    if (sc->reclaim->model->isolated_promotes && reclaim_enabled(sc->reclaim) && folio->map_count &&
        folio_test(folio, FOLIO_REFERENCED))
        return VERDICT_KEEP;
    count_io_state(sc, folio);
    if (folio_test(folio, FOLIO_WRITEBACK)) {
        folio_set(folio, FOLIO_RECLAIM); /* back to the tail when the write ends (row 18) */
        return VERDICT_ACTIVATE;
    }

    bool exec = false;
    int young = folio->map_count ? mm_referenced(sc, folio, &exec) : 0;
    enum reference_verdict reference =
        sc->reclaim->model->references(sc->reclaim, folio, young, exec);
    if (reference == REFERENCE_ACTIVATE)
        return VERDICT_ACTIVATE;
    if (reference == REFERENCE_KEEP)
        return VERDICT_KEEP;

    enum verdict verdict = judge_swap(sc, folio);
    if (verdict != VERDICT_FREE)
        return verdict;
    if (folio->map_count)
        mm_unmap_folio(folio);
    verdict = judge_dirty(sc, folio, reference == REFERENCE_RECLAIM_CLEAN);
    /* The activate batch refers to it: the mapping cannot let it go. */
    return verdict == VERDICT_FREE && folio_test(folio, FOLIO_QUEUED) ? VERDICT_KEEP : verdict;
}

/* Pages of one memcg that were freed and are still charged. */
struct freed {
    struct memcg *memcg;
    unsigned pages;
};

static void uncharge_freed(struct freed *freed, struct memcg *next)
{
    if (freed->pages)
        memcg_uncharge(freed->memcg, freed->pages);
    *freed = (struct freed){.memcg = next};
}

/* A batch has many folios and each of them is found by a few pointers, one after the other: asking
 * for the same pointer of all of them first waits for memory once, not once a folio. */
static void prefetch_folios(const struct reclaim *reclaim, struct list_node *folios)
{
    struct list_node *pos;
    for (unsigned depth = 0; reclaim->host->prefetch && depth < RECLAIM_PREFETCH_DEPTH; depth++)
        list_for_each (pos, folios)
            reclaim->host->prefetch(reclaim->host_context, folio_of(pos), depth);
}

unsigned long shrink_folios(struct scan_control *sc, struct list_node *folios,
                            unsigned long activated[LRU_TYPES])
{
    struct reclaim *reclaim = sc->reclaim;
    unsigned long reclaimed = 0;
    struct freed freed = {0};
    struct list_node *pos, *tmp;
    prefetch_folios(reclaim, folios);
    list_for_each_reverse_safe (pos, tmp, folios) {
        struct folio *folio = folio_of(pos);
        unsigned long pages = (unsigned long)folio_pages(folio);
        enum verdict verdict = judge(sc, folio);
        if (verdict == VERDICT_FREE && reclaim->shared && !hold_freeze(folio, HOLD_ISOLATED_REFS))
            verdict = VERDICT_KEEP;
        if (verdict == VERDICT_FREE) {
            list_del(pos);
            if (folio_lruvec(folio)->memcg != freed.memcg)
                uncharge_freed(&freed, folio_lruvec(folio)->memcg);
            uint64_t shadow = workingset_evict(reclaim, folio, sc->target);
            reclaim->host->release(reclaim->host_context, folio, shadow);
            freed.pages += (unsigned)pages;
            reclaimed += pages;
        } else if (verdict == VERDICT_ACTIVATE && folio_evictable(folio)) {
            folio_set(folio, FOLIO_ACTIVE);
            activated[folio_type(folio)] += pages;
        }
    }
    uncharge_freed(&freed, NULL);
    return reclaimed;
}
