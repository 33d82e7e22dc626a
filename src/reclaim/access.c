/* SPDX-License-Identifier: MIT */
/*
 * What an access through a file descriptor, and what advice about a folio, does to its flags and
 * place. Facts: mglru-facts 1.4, 1.7. Linux mm/swap.c.
 */
#include "reclaim/reclaim.h"

#include "base/check.h"

/* @flags after one more access. Where they stay as they are nothing is written. */
static uint64_t marked_flags(const struct reclaim_model *model, const struct folio *folio,
                             uint64_t flags)
{
    if (model->absolute_seq && flags & FOLIO_SEQ_MASK) {
        const struct lruvec *lruvec = folio_lruvec(folio);
        uint64_t oldest = lruvec_min_seq(lruvec, folio_type(folio));
        if ((flags >> FOLIO_SEQ_SHIFT) - 1 < oldest) {
            /* Catch up with the splices before counting (decision 1). */
            flags &= ~(FOLIO_SEQ_MASK | (uint64_t)model->bump_clears);
            flags |= folio_seq_bits(oldest);
        }
    }
    return (flags & ~(uint64_t)FOLIO_STATE_MASK) | model->marked[flags & FOLIO_STATE_MASK];
}

void folio_mark_accessed(struct reclaim *reclaim, struct folio *folio)
{
    if (!reclaim_enabled(reclaim)) {
        classic_mark_accessed(reclaim, folio);
        return;
    }
    if (folio_test(folio, FOLIO_UNEVICTABLE))
        return;
    uint64_t seen = folio_flags(folio), next;
    do {
        next = marked_flags(reclaim->model, folio, seen);
    } while (next != seen && !folio_flags_replace(folio, &seen, next));
}

/* Clears the references of a listed folio; true: it is in the oldest generation or off the lists */
static bool clear_refs(struct folio *folio)
{
    if (!folio_has_seq(folio))
        return true;
    const struct lruvec *lruvec = folio_lruvec(folio);
    uint64_t seq = generation_seq(lruvec, folio);
    uint64_t oldest = lruvec_min_seq(lruvec, folio_type(folio));
    folio_change(folio, FOLIO_SEQ_MASK | FOLIO_STATE_MASK, folio_seq_bits(seq));
    return seq == oldest;
}

void folio_deactivate(struct folio *folio)
{
    struct lruvec *lruvec = folio_lruvec(folio);
    if (!folio_test(folio, FOLIO_LRU) || !folio_evictable(folio))
        return;
    if (lruvec_enabled(lruvec)) {
        if (lruvec->reclaim->model->deactivate_checks_gen && clear_refs(folio))
            return;
    } else if (!folio_test(folio, FOLIO_ACTIVE)) {
        return;
    }
    lruvec_del(folio, false);
    folio_clear(folio, FOLIO_ACTIVE | FOLIO_REFERENCED);
    lruvec_add(folio, false);
    lruvec_stat(lruvec, MEMCG_PGDEACTIVATE, folio_pages(folio));
}

void folio_deactivate_file(struct folio *folio)
{
    struct lruvec *lruvec = folio_lruvec(folio);
    if (!folio_test(folio, FOLIO_LRU) || !folio_evictable(folio) || folio->map_count)
        return;
    if (lruvec_enabled(lruvec) && lruvec->reclaim->model->deactivate_checks_gen &&
        clear_refs(folio))
        return;
    bool busy = folio_test(folio, FOLIO_DIRTY | FOLIO_WRITEBACK);
    lruvec_del(folio, false);
    folio_clear(folio, FOLIO_ACTIVE | FOLIO_REFERENCED);
    lruvec_add(folio, !busy);
    if (busy)
        folio_set(folio, FOLIO_RECLAIM);
    else
        lruvec_stat(lruvec, MEMCG_PGROTATED, folio_pages(folio));
}

void folio_make_lazyfree(struct folio *folio)
{
    struct lruvec *lruvec = folio_lruvec(folio);
    if (!folio_test(folio, FOLIO_LRU) || !folio_test(folio, FOLIO_SWAPBACKED) ||
        folio_test(folio, FOLIO_SWAPCACHE) || !folio_evictable(folio))
        return;
    lruvec_del(folio, false);
    folio_clear(folio, FOLIO_ACTIVE);
    /* Off the lists nothing is cleared: quirk (b) of facts 1.7, kept by all kernel models. */
    if (lruvec->reclaim->model->absolute_seq)
        folio_clear(folio, FOLIO_STATE_MASK);
    folio_clear(folio, FOLIO_SWAPBACKED);
    lruvec_add(folio, false);
    lruvec_stat(lruvec, MEMCG_PGLAZYFREE, folio_pages(folio));
}

void folio_rotate_reclaimable(struct folio *folio)
{
    if (folio_test(folio, FOLIO_LOCKED | FOLIO_DIRTY | FOLIO_UNEVICTABLE) ||
        !folio_test(folio, FOLIO_LRU))
        return;
    lruvec_del(folio, false);
    folio_clear(folio, FOLIO_ACTIVE);
    lruvec_add(folio, true);
    lruvec_stat(folio_lruvec(folio), MEMCG_PGROTATED, folio_pages(folio));
}
