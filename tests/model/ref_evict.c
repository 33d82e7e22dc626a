/* SPDX-License-Identifier: MIT */
/* Eviction by MGLRU in the reference (ref_kernel.h): sorting, batches, verdicts, budgets. */
#include "model/ref_state.h"

/* --- eviction (3) --------------------------------------------------------------------------- */

struct batch {
    int page[64];
    int count;
    long budget;
};

/* 3.3: true: the page was moved to where it belongs. */
static bool sort_page(struct ref *ref, int page, int limit)
{
    int type = ref_type(ref, page);
    int old = (int)(ref->min_seq[type] % REF_GENS);
    struct ref_row *row = &ref->gens[old][type];
    int tier = ref_gens_tier(ref, page);
    bool full = ref_gens_full(ref, page);
    if (ref->pages[page].gen != old) {
        ref_remove(row, page);
        ref_push_head(&ref->gens[ref->pages[page].gen][type], page);
        return true;
    }
    if (tier <= limit && !full)
        return false;
    ref_remove(row, page);
    struct ref_row *next = &ref->gens[ref_gens_bump(ref, page, old)][type];
    if (ref_is_612(ref))
        ref_push_tail(next, page);
    else
        ref_push_head(next, page);
    if (ref_is_612(ref) || !full)
        ref->protected_pages[type][tier]++;
    return true;
}

/* 3.2: isolate. */
static void isolate(struct ref *ref, struct ref_row *row, int page, struct batch *batch)
{
    struct ref_page *p = &ref->pages[page];
    if (!p->referenced) {
        p->refs = 0;
        if (ref_is_612(ref))
            p->workingset = false;
    }
    if (ref_is_612(ref))
        p->referenced = false;
    ref_gens_leave(ref, row, page);
    batch->page[batch->count++] = page;
}

/* 3.2: scan_folios. Returns pages scanned. */
static long scan_type(struct ref *ref, int type, int limit, struct batch *batch)
{
    if (ref->max_seq - ref->min_seq[type] + 1 == 2)
        return 0;
    struct ref_row *row = &ref->gens[ref->min_seq[type] % REF_GENS][type];
    long scanned = 0;
    while (row->count) {
        int page = row->page[0];
        scanned++;
        if (sort_page(ref, page, limit))
            ref->counts.refilled++;
        else
            isolate(ref, row, page, batch);
        if (--batch->budget == 0 || batch->count >= 64)
            break;
    }
    ref->counts.scanned += (uint64_t)batch->count;
    if (ref_is_612(ref) && !batch->count && batch->budget)
        return 0;
    return scanned;
}

/* 3.4, 3.5 of [73]: type, tier, scan; switch when nothing was scanned. */
static long take_batch_73(struct ref *ref, long nr, struct batch *batch)
{
    int swappiness = ref_swappiness(ref);
    int type = FILE_TYPE;
    if (swappiness >= 200)
        type = ANON;
    else if (swappiness > 1)
        type = ref_refaults_less(ref_position(ref, ANON, 0, 3, swappiness),
                                 ref_position(ref, FILE_TYPE, 0, 3, 200 - swappiness));
    long total = 0;
    for (int round = swappiness ? 0 : 1; round < 2; round++) {
        batch->budget = nr;
        long scanned = scan_type(ref, type, ref_own_tier_limit(ref, type), batch);
        total += scanned;
        if (batch->count)
            break;
        if (!scanned)
            type = !type;
    }
    return total;
}

/* 3.4, 3.5 of [612]. */
static long take_batch_612(struct ref *ref, struct batch *batch)
{
    int swappiness = ref_swappiness(ref);
    int type = FILE_TYPE, limit = -1;
    if (swappiness && ref->min_seq[ANON] < ref->min_seq[FILE_TYPE]) {
        type = ANON;
    } else if (swappiness == 200) {
        type = ANON;
    } else if (swappiness > 1) {
        long gain[2] = {swappiness, 200 - swappiness};
        type = ref_refaults_less(ref_position(ref, ANON, 0, 0, gain[ANON]),
                                 ref_position(ref, FILE_TYPE, 0, 0, gain[FILE_TYPE]));
        limit = ref_tier_limit(ref, type, ref_position(ref, !type, 0, 0, gain[!type]), gain[type]);
    }
    long scanned = 0;
    for (int round = swappiness ? 0 : 1; round < 2 && !scanned; round++) {
        batch->budget = 4096;
        scanned = scan_type(ref, type, limit < 0 ? ref_own_tier_limit(ref, type) : limit, batch);
        type = !type;
        limit = -1;
    }
    return scanned;
}

/* 4.1: what stays behind. */
static void leave_shadow(struct ref *ref, int page)
{
    struct ref_page *p = &ref->pages[page];
    int type = ref_type(ref, page);
    int refs = ref_gens_refs(ref, page);
    p->has_shadow = true;
    p->shadow_seq = ref->min_seq[type];
    p->shadow_refs = refs ? refs - 1 : 0;
    p->shadow_workingset = p->workingset;
    ref->evicted[type][ref_gens_tier(ref, page)]++;
}

/* 3.6, 1.5: what the accessed bit and R say. */
static enum ref_verdict judge_references(struct ref *ref, int page)
{
    struct ref_page *p = &ref->pages[page];
    bool file = ref_type(ref, page) == FILE_TYPE;
    if (!ref_is_612(ref)) {
        if (!ref_maps_take_young(ref, page))
            return REF_RECLAIM;
        return ref_maps_set_refs(ref, page) ? REF_ACTIVATE : REF_KEEP;
    }
    /* Isolation cleared R: looking around another page has set it since (row 28). */
    if (p->mapped && p->referenced)
        return REF_KEEP;
    bool young = ref_maps_take_young(ref, page);
    bool referenced = p->referenced;
    p->referenced = young;
    if (!young)
        return REF_RECLAIM;
    return referenced || (ref->exec && file) ? REF_ACTIVATE : REF_KEEP;
}

/* 3.6: the verdict on one isolated page. */
static enum ref_verdict judge(struct ref *ref, int page)
{
    struct ref_page *p = &ref->pages[page];
    enum ref_verdict verdict = judge_references(ref, page);
    if (verdict != REF_RECLAIM)
        return verdict;
    if (ref_type(ref, page) == ANON && !p->swapcache) {
        if (ref_swap_left(ref) <= 0)
            return REF_ACTIVATE;
        p->swapcache = true;
        ref->swapped++;
    }
    p->mapped = p->young = false;
    /* The activate batch holds a reference: the mapping cannot let it go. */
    return p->queued ? REF_KEEP : REF_RECLAIM;
}

/* 3.5: a page that was rejected; true: try once more. */
static bool leftover(struct ref *ref, int page, bool second)
{
    struct ref_page *p = &ref->pages[page];
    bool retry = !second && !p->active && !p->mapped && !(ref_is_612(ref) && p->referenced);
    if (retry)
        return true;
    if (ref_is_612(ref)) {
        p->active = true;
        p->referenced = p->workingset = false;
        p->refs = 0;
    } else if (ref_gens_add_seq(ref, page) == ref->min_seq[ref_type(ref, page)]) {
        p->active = true;
        p->referenced = false;
        p->refs = 0;
    }
    return false;
}

/* 3.5, 3.6: frees what can go, twice. */
static void shrink_batch(struct ref *ref, struct batch *batch)
{
    for (int pass = 0; pass < 2; pass++) {
        int kept = 0, retried = 0, keep[64];
        for (int i = 0; i < batch->count; i++) {
            int page = batch->page[i];
            enum ref_verdict verdict = judge(ref, page);
            if (verdict == REF_RECLAIM) {
                leave_shadow(ref, page);
                ref_free(ref, page);
                continue;
            }
            if (verdict == REF_ACTIVATE) {
                ref->pages[page].active = true;
                ref->counts.activated++;
            }
            keep[kept++] = page;
        }
        for (int i = 0; i < kept; i++) {
            if (leftover(ref, keep[i], pass > 0))
                batch->page[retried++] = keep[i];
            else
                ref_gens_add(ref, keep[i]);
        }
        batch->count = retried;
    }
}

/* 3.5: evict_folios. */
static long evict(struct ref *ref, long nr)
{
    struct batch batch = {.count = 0};
    long scanned;
    if (ref_is_612(ref)) {
        scanned = take_batch_612(ref, &batch);
        if (scanned)
            ref->mm_ran = true;
        scanned += ref_gens_advance(ref);
        if (ref->max_seq - ref->min_seq[ref_swappiness(ref) ? ANON : FILE_TYPE] + 1 == 2)
            scanned = 0;
    } else {
        ref_gens_advance(ref);
        scanned = take_batch_73(ref, nr, &batch);
        if (scanned) {
            ref->mm_ran = true;
            ref_gens_advance(ref);
        }
    }
    if (batch.count)
        shrink_batch(ref, &batch);
    return scanned;
}

/* 3.1 of [612]: the budget anew each time; aging ends the turn. */
static void shrink_612(struct ref *ref)
{
    long scanned = 0;
    for (;;) {
        long budget;
        bool old = ref_gens_old_612(ref, &budget);
        if (old && ref->priority < REF_PRIORITY) {
            ref_gens_age(ref, ref_swappiness(ref), false);
            return;
        }
        budget >>= ref->priority;
        if (budget <= 0)
            return;
        long delta = evict(ref, 0);
        scanned += delta;
        if (!delta || scanned >= budget)
            return;
    }
}

/* 3.1 of [73]: one budget. */
static void shrink_73(struct ref *ref)
{
    long left = ref_gens_size(ref, UINT64_MAX) >> ref->priority;
    while (left > 0) {
        if (ref_gens_old_73(ref))
            ref_gens_age(ref, ref_swappiness(ref), false);
        long delta = evict(ref, left < 64 ? left : 64);
        if (!delta || ref->reclaimed >= ref->wanted)
            return;
        left -= delta;
    }
}

void ref_gens_shrink(struct ref *ref)
{
    ref_drain(ref);
    ref->walking = false;
    if (ref_is_612(ref))
        shrink_612(ref);
    else
        shrink_73(ref);
    ref->walking = false;
}
