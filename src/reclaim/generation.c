/* SPDX-License-Identifier: MIT */
/*
 * Generations: which one a folio is in, how it enters and leaves, and the sizes that follow.
 * Facts: mglru-facts 1.2, 1.6, 1.7.
 *
 * Invariant: nr_pages follows the folio's seq field, the list follows the last move. A walker
 * changes the field alone; sorting at eviction or aging moves the folio later (I6).
 */
#include "reclaim/reclaim.h"

#include "base/check.h"

static enum lru_type type_of(uint64_t flags)
{
    return flags & FOLIO_SWAPBACKED ? LRU_TYPE_ANON : LRU_TYPE_FILE;
}

/* generation_seq of a folio with @flags. */
static uint64_t seq_of(const struct lruvec *lruvec, uint64_t flags)
{
    uint64_t stored = (flags >> FOLIO_SEQ_SHIFT) - 1;
    uint64_t oldest = lruvec_min_seq(lruvec, type_of(flags));
    if (lruvec->reclaim->model->absolute_seq)
        return stored > oldest ? stored : oldest;
    /* The kernel's field is seq mod 4: a skipped generation aliases the youngest (2.5). */
    return oldest + ((stored - oldest) & (MAX_NR_GENS - 1));
}

uint64_t generation_seq(const struct lruvec *lruvec, const struct folio *folio)
{
    MGLRU_ASSERT(folio_has_seq(folio));
    return seq_of(lruvec, folio_flags(folio));
}

unsigned generation_state_of(const struct lruvec *lruvec, uint64_t flags)
{
    unsigned state = (unsigned)(flags & FOLIO_STATE_MASK);
    /* A splice clears references lazily: what lies below min_seq was moved since. */
    if (lruvec->reclaim->model->absolute_seq && flags & FOLIO_SEQ_MASK &&
        (flags >> FOLIO_SEQ_SHIFT) - 1 < lruvec_min_seq(lruvec, type_of(flags)))
        state &= ~(unsigned)lruvec->reclaim->model->bump_clears;
    return state;
}

unsigned generation_state(const struct lruvec *lruvec, const struct folio *folio)
{
    return generation_state_of(lruvec, folio_flags(folio));
}

void generation_catch_up(const struct lruvec *lruvec, struct folio *folio)
{
    uint64_t seen = folio_flags(folio), next;
    do {
        if (!(seen & FOLIO_SEQ_MASK))
            return; /* taken off the lists meanwhile */
        next = seen & ~(FOLIO_SEQ_MASK | (uint64_t)FOLIO_STATE_MASK);
        next |= folio_seq_bits(seq_of(lruvec, seen));
        next |= generation_state_of(lruvec, seen);
    } while (next != seen && !folio_flags_replace(folio, &seen, next));
}

/* Beyond the youngest lie folios whose stored number aliases a generation that is to come: of a
 * removed memcg, or promoted in a generation that aging skipped (2.6). Inactive until it is the
 * youngest. */
static bool seq_is_active(const struct lruvec *lruvec, uint64_t seq)
{
    return seq + MIN_NR_GENS > lruvec_max_seq(lruvec) && seq <= lruvec_max_seq(lruvec);
}

void generation_account(struct lruvec *lruvec, const struct folio *folio, uint64_t from,
                        uint64_t to)
{
    enum lru_type type = folio_type(folio);
    unsigned zone = folio_zone(folio);
    long pages = folio_pages(folio);

    if (from != GENERATION_NONE)
        atomic_add_owner(&lruvec->nr_pages[gen_of(from)][type][zone], -pages);
    if (to != GENERATION_NONE)
        atomic_add_owner(&lruvec->nr_pages[gen_of(to)][type][zone], pages);

    if (from == GENERATION_NONE) {
        lruvec_account(lruvec, lru_list_of(type, seq_is_active(lruvec, to)), zone, pages);
    } else if (to == GENERATION_NONE) {
        lruvec_account(lruvec, lru_list_of(type, seq_is_active(lruvec, from)), zone, -pages);
    } else if (!seq_is_active(lruvec, from) && seq_is_active(lruvec, to)) {
        lruvec_account(lruvec, lru_list_of(type, false), zone, -pages);
        lruvec_account(lruvec, lru_list_of(type, true), zone, pages);
    }
}

uint64_t generation_bump(struct lruvec *lruvec, struct folio *folio, bool account)
{
    enum lru_type type = folio_type(folio);
    uint64_t oldest = lruvec_min_seq(lruvec, type);
    uint64_t clear = FOLIO_SEQ_MASK | lruvec->reclaim->model->bump_clears;
    uint64_t seen = folio_flags(folio);
    do {
        uint64_t seq = seq_of(lruvec, seen);
        if (seq != oldest)
            return seq; /* a walk promoted it meanwhile */
    } while (!folio_flags_replace(folio, &seen, (seen & ~clear) | folio_seq_bits(oldest + 1)));
    if (account)
        generation_account(lruvec, folio, oldest, oldest + 1);
    return oldest + 1;
}

uint64_t generation_place(struct lruvec *lruvec, struct folio *folio, bool tail)
{
    MGLRU_ASSERT(!folio_has_seq(folio));
    const struct reclaim_model *model = lruvec->reclaim->model;
    enum lru_type type = folio_type(folio);
    uint64_t seq = model->add_seq(lruvec, folio, tail);
    MGLRU_ASSERT(seq >= lruvec_min_seq(lruvec, type) && seq <= lruvec_max_seq(lruvec));

    uint64_t clear = FOLIO_SEQ_MASK | FOLIO_ACTIVE;
    if (folio_test(folio, FOLIO_ACTIVE))
        clear |= model->active_add_clears;
    folio_change(folio, clear, folio_seq_bits(seq));
    struct list_node *list = &lruvec->folios[gen_of(seq)][type][folio_zone(folio)];
    if (tail)
        list_add_tail(list, &folio->lru);
    else
        list_add_head(list, &folio->lru);
    return seq;
}

void generation_account_added(struct lruvec *lruvec, const struct generation_run *run)
{
    atomic_add_owner(&lruvec->nr_pages[gen_of(run->seq)][run->type][run->zone], run->pages);
    bool active = seq_is_active(lruvec, run->seq);
    lruvec_account(lruvec, lru_list_of(run->type, active), run->zone, run->pages);
}

void generation_del(struct lruvec *lruvec, struct folio *folio, bool reclaiming)
{
    uint64_t seq = generation_seq(lruvec, folio);
    uint64_t seen = folio_flags(folio), flags;
    do {
        flags = seen & ~(FOLIO_SEQ_MASK | FOLIO_STATE_MASK);
        flags |= generation_state_of(lruvec, seen);
        if (!reclaiming && seq_is_active(lruvec, seq))
            flags |= FOLIO_ACTIVE; /* a putback returns to the young end */
    } while (!folio_flags_replace(folio, &seen, flags));
    generation_account(lruvec, folio, seq, GENERATION_NONE);
    list_del_init(&folio->lru);
}
