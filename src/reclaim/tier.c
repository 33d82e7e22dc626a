/* SPDX-License-Identifier: MIT */
/*
 * Tiers and the refault-rate controller: a proportional feedback loop that compares how often the
 * evicted folios of one tier (or type) come back with those of another. Facts: mglru-facts 3.4.
 */
#include "reclaim/reclaim.h"

#include "base/bits.h"

struct tier_position tier_read(const struct lruvec *lruvec, enum lru_type type, unsigned tier,
                               int gain)
{
    struct tier_position position = {.gain = gain};
    unsigned first = tier < MAX_NR_TIERS ? tier : 0;
    unsigned last = tier < MAX_NR_TIERS ? tier : MAX_NR_TIERS - 1;
    for (unsigned t = first; t <= last; t++) {
        position.refaulted +=
            lruvec->avg_refaulted[type][t] + atomic_load_relaxed(&lruvec->refaulted[type][t]);
        position.total += lruvec->avg_total[type][t] +
                          atomic_load_relaxed(&lruvec->evicted[type][t]) +
                          lruvec->protected_pages[type][t];
    }
    return position;
}

bool tier_ok(const struct tier_position *sp, const struct tier_position *pv)
{
    if (pv->refaulted < MIN_LRU_BATCH)
        return true;
    /* Three longs multiplied: 128 bits cannot overflow (3.4, Overflow). */
    uint128 left = (uint128)pv->refaulted * (sp->total + MIN_LRU_BATCH);
    uint128 right = (uint128)(sp->refaulted + 1) * pv->total;
    return left * (unsigned)sp->gain <= right * (unsigned)pv->gain;
}

/* What was counted so far, which starts anew. A refault that is counted in between is lost, as in
 * the kernel: one of thousands in an average. */
static unsigned long take_count(_Atomic unsigned long *counter)
{
    unsigned long count = atomic_load_relaxed(counter);
    atomic_store_relaxed(counter, 0);
    return count;
}

void tier_reset(struct lruvec *lruvec, enum lru_type type, bool carry_over)
{
    /* With one history slot only the carry-over clears (NR_HIST_GENS == 1). */
    if (!carry_over)
        return;
    for (unsigned t = 0; t < MAX_NR_TIERS; t++) {
        unsigned long evicted = take_count(&lruvec->evicted[type][t]);
        unsigned long refaulted = take_count(&lruvec->refaulted[type][t]);
        unsigned long total =
            lruvec->avg_total[type][t] + lruvec->protected_pages[type][t] + evicted;
        lruvec->avg_refaulted[type][t] = (lruvec->avg_refaulted[type][t] + refaulted) / 2;
        lruvec->avg_total[type][t] = total / 2;
        lruvec->protected_pages[type][t] = 0;
    }
}
