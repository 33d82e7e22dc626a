/* SPDX-License-Identifier: MIT */
/*
 * Shadow entries: what is remembered of an evicted folio, in one word, and what its return means.
 * Facts: mglru-facts 4 (MGLRU), 12.7 (classic). Linux mm/workingset.c.
 *
 * Packed, low to high: workingset(1) | anonymous(1) | node(3) | memcg id(16) | token(42). 63 bits,
 * so that an index slot can tell a shadow from a folio by its low bit. The memcg is the one whose
 * clock the token shows: under the classic LRU that of the reclaim target. A swapped page belongs
 * to its owner all the same, whose id takes the upper 16 bits of an anonymous token.
 *
 * A shadow may outlive its memcg, whose id another gets. The upper 6 bits of a file's token are the
 * turn in which the id was given out, so that it takes 64 turns around all ids of a shared tree,
 * four million memcgs, before a shadow may name the wrong one.
 */
#include "reclaim/reclaim.h"

#include "base/bits.h"
#include "base/check.h"

#define NODE_BITS 3
_Static_assert(RECLAIM_MAX_NODES <= 1 << NODE_BITS, "a shadow names the node");
#define MEMCG_ID_BITS 16
/* Of an anonymous token; 2^26 pages of distance are 256 GiB. Chosen: what is left. */
#define ANON_TOKEN_BITS 26
#define TURN_BITS 6

static uint64_t low_bits(uint64_t value, unsigned bits)
{
    return value & ((UINT64_C(1) << bits) - 1);
}

static uint64_t pack(const struct lruvec *lruvec, const struct folio *folio, uint64_t token,
                     bool workingset)
{
    bool anon = folio_test(folio, FOLIO_ANON);
    uint64_t packed = low_bits(token, anon ? ANON_TOKEN_BITS : WORKINGSET_TOKEN_BITS);
    if (anon)
        packed |= (uint64_t)atomic_load_relaxed(&folio->lruvec->memcg->id) << ANON_TOKEN_BITS;
    else
        packed |= low_bits(lruvec->memcg->id_turn, TURN_BITS) << WORKINGSET_TOKEN_BITS;
    packed = packed << MEMCG_ID_BITS | atomic_load_relaxed(&lruvec->memcg->id);
    packed = packed << NODE_BITS | lruvec->node;
    packed = packed << 1 | (anon ? 1 : 0);
    return packed << 1 | (workingset ? 1 : 0);
}

struct shadow workingset_unpack(uint64_t packed)
{
    struct shadow shadow = {.workingset = packed & 1};
    bool anon = packed >> 1 & 1;
    packed >>= 2;
    shadow.node = (uint8_t)low_bits(packed, NODE_BITS);
    packed >>= NODE_BITS;
    shadow.memcg_id = (uint32_t)low_bits(packed, MEMCG_ID_BITS);
    packed >>= MEMCG_ID_BITS;
    shadow.token_bits = anon ? ANON_TOKEN_BITS : WORKINGSET_TOKEN_BITS;
    shadow.token = low_bits(packed, shadow.token_bits);
    if (anon)
        shadow.owner_id = (uint32_t)(packed >> ANON_TOKEN_BITS);
    else
        shadow.id_turn = (uint8_t)(packed >> WORKINGSET_TOKEN_BITS);
    return shadow;
}

uint64_t workingset_shadow_seq(uint64_t packed)
{
    return workingset_unpack(packed).token >> 2;
}

void workingset_age_nonresident(struct lruvec *lruvec, long pages)
{
    for (struct memcg *memcg = lruvec->memcg; memcg; memcg = memcg->parent)
        lruvec_count(memcg_lruvec(memcg, lruvec->node),
                     &memcg_lruvec(memcg, lruvec->node)->nonresident_age, (uint64_t)pages);
}

static uint64_t evict_generation(struct lruvec *lruvec, const struct folio *folio)
{
    const struct reclaim_model *model = lruvec->reclaim->model;
    enum lru_type type = folio_type(folio);
    unsigned state = (unsigned)(folio_flags(folio) & FOLIO_STATE_MASK);
    unsigned refs = model->refs[state];
    lruvec_count(lruvec, &lruvec->evicted[type][model->tier[state]],
                 (unsigned long)folio_pages(folio));
    uint64_t token = lruvec_min_seq(lruvec, type) << 2 | (refs ? refs - 1 : 0);
    bool workingset = model->shadow_has_refs ? refs > 0 : folio_test(folio, FOLIO_WORKINGSET);
    return pack(lruvec, folio, token, workingset);
}

uint64_t workingset_evict(struct reclaim *reclaim, struct folio *folio, struct memcg *target)
{
    if (reclaim_enabled(reclaim))
        return evict_generation(folio_lruvec(folio), folio);
    /* Classic: by the age of the lruvec whose limit made room (12.7). */
    struct memcg *memcg = target ? target : reclaim->tree->root;
    struct lruvec *lruvec = memcg_lruvec(memcg, folio_lruvec(folio)->node);
    uint64_t shadow = pack(lruvec, folio, atomic_load_relaxed(&lruvec->nonresident_age),
                           folio_test(folio, FOLIO_WORKINGSET));
    workingset_age_nonresident(lruvec, folio_pages(folio));
    return shadow;
}

static struct lruvec *shadow_lruvec(struct reclaim *reclaim, const struct shadow *shadow)
{
    struct memcg *memcg = memcg_by_id(reclaim->tree, shadow->memcg_id);
    if (shadow->node >= reclaim->nodes)
        return NULL;
    if (memcg && !shadow->owner_id && low_bits(memcg->id_turn, TURN_BITS) != shadow->id_turn)
        return NULL; /* gone: another has its id */
    return memcg ? memcg_lruvec(memcg, shadow->node) : NULL;
}

static bool refault_generation(struct reclaim *reclaim, struct folio *folio,
                               const struct shadow *shadow, bool in_fault)
{
    enum lru_type type = folio_type(folio);
    struct lruvec *lruvec = shadow_lruvec(reclaim, shadow);
    long pages = folio_pages(folio);
    bool anon = type == LRU_TYPE_ANON;
    if (lruvec != folio_lruvec(folio))
        return false; /* somebody else's page now: nothing is counted */
    lruvec_stat(lruvec, anon ? MEMCG_WORKINGSET_REFAULT_ANON : MEMCG_WORKINGSET_REFAULT_FILE,
                pages);
    struct refault_result result = reclaim->model->refault(lruvec, folio, shadow, in_fault);
    if (!result.recent)
        return false;
    lruvec_count(lruvec, &lruvec->refaulted[type][result.tier], (unsigned long)pages);
    if (result.activate)
        lruvec_stat(lruvec, anon ? MEMCG_WORKINGSET_ACTIVATE_ANON : MEMCG_WORKINGSET_ACTIVATE_FILE,
                    pages);
    if (result.restored)
        lruvec_stat(lruvec, anon ? MEMCG_WORKINGSET_RESTORE_ANON : MEMCG_WORKINGSET_RESTORE_FILE,
                    pages);
    return true;
}

static bool refault_classic(struct reclaim *reclaim, struct folio *folio,
                            const struct shadow *shadow)
{
    struct lruvec *lruvec = folio_lruvec(folio);
    bool anon = folio_type(folio) == LRU_TYPE_ANON;
    long pages = folio_pages(folio);
    lruvec_stat(lruvec, anon ? MEMCG_WORKINGSET_REFAULT_ANON : MEMCG_WORKINGSET_REFAULT_FILE,
                pages);
    struct lruvec *eviction = shadow_lruvec(reclaim, shadow);
    if (!eviction || !classic_refault(eviction, folio, shadow))
        return false;
    folio_set(folio, FOLIO_ACTIVE);
    workingset_age_nonresident(lruvec, pages);
    lruvec_stat(lruvec, anon ? MEMCG_WORKINGSET_ACTIVATE_ANON : MEMCG_WORKINGSET_ACTIVATE_FILE,
                pages);
    if (shadow->workingset) {
        folio_set(folio, FOLIO_WORKINGSET);
        if (reclaim->model->cost_in_ancestors)
            classic_note_cost(lruvec, folio_type(folio), pages, 0);
        lruvec_stat(lruvec, anon ? MEMCG_WORKINGSET_RESTORE_ANON : MEMCG_WORKINGSET_RESTORE_FILE,
                    pages);
    }
    return true;
}

bool workingset_refault(struct reclaim *reclaim, struct folio *folio, uint64_t packed,
                        bool in_fault)
{
    struct shadow shadow = workingset_unpack(packed);
    if (reclaim_enabled(reclaim))
        return refault_generation(reclaim, folio, &shadow, in_fault);
    return refault_classic(reclaim, folio, &shadow);
}
