/* SPDX-License-Identifier: MIT */
/* MGLRU of the reference (ref_kernel.h): generations, tiers, the controller, aging, refaults. */
#include "model/ref_state.h"

bool ref_is_612(const struct ref *ref)
{
    return ref->options.model == REF_612;
}

/* --- one page (1.3, 1.4) -------------------------------------------------------------------- */

int ref_gens_refs(const struct ref *ref, int page)
{
    const struct ref_page *p = &ref->pages[page];
    if (ref_is_612(ref))
        return p->refs + (p->workingset ? 1 : 0);
    return p->referenced ? p->refs + 1 : 0;
}

int ref_gens_tier(const struct ref *ref, int page)
{
    int refs = ref_gens_refs(ref, page);
    if (ref_is_612(ref))
        return ref_log2up(refs + 1);
    return ref->pages[page].workingset ? 3 : ref_log2up(refs);
}

bool ref_gens_full(const struct ref *ref, int page)
{
    int refs = ref_gens_refs(ref, page);
    return ref_is_612(ref) ? refs == 4 : refs + (ref->pages[page].workingset ? 1 : 0) == 5;
}

/* 1.4: the table of the n-th access. */
void ref_gens_mark(struct ref *ref, int page)
{
    struct ref_page *p = &ref->pages[page];
    if (!p->referenced) {
        p->referenced = true;
        if (!ref_is_612(ref))
            p->refs = 0;
    } else if (ref_is_612(ref) && !p->workingset) {
        p->workingset = true;
    } else if (p->refs < 3) {
        p->refs++;
    } else {
        p->workingset = true;
    }
}

/* 1.6: before the add, in a fault. */
void ref_gens_mark_fault(struct ref *ref, int page)
{
    struct ref_page *p = &ref->pages[page];
    if (ref_is_612(ref) || p->workingset)
        p->active = true;
    else if (!p->referenced)
        ref_gens_mark(ref, page);
}

/* 1.6: the generation that a page enters. */
uint64_t ref_gens_add_seq(const struct ref *ref, int page)
{
    const struct ref_page *p = &ref->pages[page];
    int type = ref_type(ref, page);
    uint64_t min = ref->min_seq[type];
    bool fresh_anon = type == ANON && !p->swapcache;
    if (ref_is_612(ref)) {
        if (p->active)
            return ref->max_seq;
        if (fresh_anon)
            return ref->max_seq - 1;
        return min + 2 >= ref->max_seq ? min : min + 1;
    }
    uint64_t d = 4;
    if (p->active)
        d = p->workingset ? 1 : 2;
    else if (fresh_anon)
        d = 2;
    else if (p->workingset || p->referenced)
        d = 3;
    uint64_t seq = ref->max_seq + 1 - d;
    return seq > min ? seq : min;
}

void ref_gens_add(struct ref *ref, int page)
{
    struct ref_page *p = &ref->pages[page];
    int type = ref_type(ref, page);
    p->gen = (int)(ref_gens_add_seq(ref, page) % REF_GENS);
    if (ref_is_612(ref) && p->active) {
        p->refs = 0;
        p->referenced = false;
    }
    p->active = false;
    p->listed = true;
    ref->nr[p->gen][type]++;
    ref->exact.list[2 * type]++; /* only the sum counts here (13.3) */
    ref_push_head(&ref->gens[p->gen][type], page);
}

/* The page leaves @row for another list, or for reclaim. */
void ref_gens_leave(struct ref *ref, struct ref_row *row, int page)
{
    struct ref_page *p = &ref->pages[page];
    ref_remove(row, page);
    ref->nr[p->gen][ref_type(ref, page)]--;
    ref->exact.list[2 * ref_type(ref, page)]--;
    p->gen = -1;
    p->listed = false;
}

static bool row_has(const struct ref_row *row, int page)
{
    int at = 0;
    while (at < row->count && row->page[at] != page)
        at++;
    return at < row->count;
}

/* The row that @page lies in may be behind its field (I6). */
void ref_gens_del(struct ref *ref, int page)
{
    int gen = 0;
    while (!row_has(&ref->gens[gen][ref_type(ref, page)], page))
        gen++;
    ref_gens_leave(ref, &ref->gens[gen][ref_type(ref, page)], page);
}

/* --- the controller (3.4) ------------------------------------------------------------------- */

/* 3.4: reset_ctrl_pos with carryover. */
static void reset_controller(struct ref *ref, int type)
{
    for (int t = 0; t < REF_TIERS; t++) {
        long total = ref->evicted[type][t] + ref->protected_pages[type][t];
        ref->avg_refaulted[type][t] = (ref->avg_refaulted[type][t] + ref->refaulted[type][t]) / 2;
        ref->avg_total[type][t] = (ref->avg_total[type][t] + total) / 2;
        ref->refaulted[type][t] = ref->evicted[type][t] = ref->protected_pages[type][t] = 0;
    }
}

/* Tiers @first .. @last of a type together. */
struct ref_position ref_position(const struct ref *ref, int type, int first, int last, long gain)
{
    struct ref_position p = {.gain = gain};
    for (int t = first; t <= last; t++) {
        p.refaulted += ref->avg_refaulted[type][t] + ref->refaulted[type][t];
        p.total += ref->avg_total[type][t] + ref->evicted[type][t] + ref->protected_pages[type][t];
    }
    return p;
}

bool ref_refaults_less(struct ref_position sp, struct ref_position pv)
{
    return pv.refaulted < 64 ||
           pv.refaulted * (sp.total + 64) * sp.gain <= (sp.refaulted + 1) * pv.total * pv.gain;
}

/* Highest tier that is still evicted, judged against @sp. */
int ref_tier_limit(const struct ref *ref, int type, struct ref_position sp, long gain)
{
    int t = 1;
    while (t < REF_TIERS && ref_refaults_less(sp, ref_position(ref, type, t, t, gain)))
        t++;
    return t - 1;
}

int ref_own_tier_limit(const struct ref *ref, int type)
{
    long gain = ref_is_612(ref) ? 1 : 2;
    return ref_tier_limit(ref, type, ref_position(ref, type, 0, 0, gain), gain + 1);
}

/* --- aging (2) ------------------------------------------------------------------------------ */

static bool evictable(int type, int swappiness)
{
    return type == FILE_TYPE || swappiness > 0;
}

/* 2.6: the page leaves the oldest generation, unless a walk promoted it. Returns its generation. */
int ref_gens_bump(struct ref *ref, int page, int old)
{
    struct ref_page *p = &ref->pages[page];
    int type = ref_type(ref, page);
    if (p->gen != old)
        return p->gen;
    p->gen = (old + 1) % REF_GENS;
    p->referenced = false;
    p->refs = 0;
    if (ref_is_612(ref))
        p->workingset = false;
    ref->nr[old][type]--;
    ref->nr[p->gen][type]++;
    return p->gen;
}

/* 2.6: from the tail to the tail, one by one, which turns the order around. */
static void move_per_page(struct ref *ref, int type, int old)
{
    struct ref_row *row = &ref->gens[old][type];
    while (row->count) {
        int page = row->page[0];
        int tier = ref_gens_tier(ref, page);
        bool full = ref_gens_full(ref, page);
        ref_remove(row, page);
        ref_push_tail(&ref->gens[ref_gens_bump(ref, page, old)][type], page);
        if (!ref_is_612(ref) && !full)
            ref->protected_pages[type][tier]++;
    }
}

/* 2.7: order kept; promoted pages go to the head of their generation and are not counted. */
static void move_in_order(struct ref *ref, int type, int old)
{
    struct ref_row *row = &ref->gens[old][type];
    struct ref_row *next = &ref->gens[(old + 1) % REF_GENS][type];
    while (row->count) {
        int page = row->page[row->count - 1];
        int tier = ref_gens_tier(ref, page);
        bool full = ref_gens_full(ref, page);
        bool promoted = ref->pages[page].gen != old;
        ref_remove(row, page);
        int gen = ref_gens_bump(ref, page, old);
        if (promoted) {
            ref_push_head(&ref->gens[gen][type], page);
            continue;
        }
        ref_push_tail(next, page);
        if (!full)
            ref->protected_pages[type][tier]++;
    }
}

/* Our own model: one splice in order; nothing is counted, promoted pages are sorted later. */
static void move_by_splice(struct ref *ref, int type, int old)
{
    struct ref_row *row = &ref->gens[old][type];
    struct ref_row *next = &ref->gens[(old + 1) % REF_GENS][type];
    while (row->count) {
        int page = row->page[row->count - 1];
        ref_remove(row, page);
        ref_gens_bump(ref, page, old);
        ref_push_tail(next, page);
    }
}

/* 2.2, 2.5: walk the page tables, then begin a generation. */
void ref_gens_age(struct ref *ref, int swappiness, bool force)
{
    if (!ref->options.no_walk)
        ref_maps_walk(ref, swappiness, force);
    for (int type = ANON; type <= FILE_TYPE; type++) {
        if (ref->max_seq - ref->min_seq[type] < REF_GENS - 1)
            continue;
        int old = (int)(ref->min_seq[type] % REF_GENS);
        enum ref_model model = ref->options.model;
        if (model == REF_OURS)
            move_by_splice(ref, type, old);
        else if (evictable(type, swappiness) && model == REF_NEXT)
            move_in_order(ref, type, old);
        else if (evictable(type, swappiness))
            move_per_page(ref, type, old);
        reset_controller(ref, type);
        ref->min_seq[type]++;
    }
    ref->max_seq++;
    ref->counts.agings++;
}

/* 2.8: try_to_inc_min_seq. */
bool ref_gens_advance(struct ref *ref)
{
    int swappiness = ref_swappiness(ref);
    uint64_t min[2] = {ref->min_seq[0], ref->min_seq[1]};
    bool empty = false;
    for (int type = ANON; type <= FILE_TYPE; type++)
        while (evictable(type, swappiness) && min[type] + 2 <= ref->max_seq &&
               !ref->gens[min[type] % REF_GENS][type].count) {
            min[type]++;
            empty = true;
        }
    if (ref_is_612(ref) && swappiness) {
        min[ANON] = min[ANON] < min[FILE_TYPE] ? min[ANON] : min[FILE_TYPE];
        min[FILE_TYPE] = min[ANON] > ref->min_seq[FILE_TYPE] ? min[ANON] : ref->min_seq[FILE_TYPE];
    } else if (!ref_is_612(ref) && empty && swappiness) {
        uint64_t s = ref->max_seq - 2;
        if (min[ANON] > s && min[FILE_TYPE] < s)
            min[ANON] = s;
        else if (min[FILE_TYPE] > s && min[ANON] < s)
            min[FILE_TYPE] = s;
    }
    bool advanced = false;
    for (int type = ANON; type <= FILE_TYPE; type++) {
        if (!evictable(type, swappiness) || min[type] <= ref->min_seq[type])
            continue;
        reset_controller(ref, type);
        ref->min_seq[type] = min[type];
        advanced = true;
    }
    return advanced;
}

static long size_of(const struct ref *ref, int type, uint64_t seq)
{
    long size = ref->nr[seq % REF_GENS][type];
    return size > 0 ? size : 0;
}

/* Pages of all evictable types, or of those that lie in generation @only (UINT64_MAX: all). */
long ref_gens_size(const struct ref *ref, uint64_t only)
{
    int swappiness = ref_swappiness(ref);
    long total = 0;
    for (int type = ANON; type <= FILE_TYPE; type++)
        for (uint64_t seq = ref->min_seq[type]; seq <= ref->max_seq; seq++)
            if (evictable(type, swappiness) && (only == UINT64_MAX || only == seq))
                total += size_of(ref, type, seq);
    return total;
}

/* 2.1 of [612]; *total: evictable pages. */
bool ref_gens_old_612(const struct ref *ref, long *total)
{
    uint64_t min = ref->min_seq[ref_swappiness(ref) ? ANON : FILE_TYPE];
    *total = 0;
    if (min + 2 > ref->max_seq)
        return true;
    *total = ref_gens_size(ref, UINT64_MAX);
    if (min + 2 < ref->max_seq)
        return false;
    return ref_gens_size(ref, ref->max_seq) * 2 > *total ||
           ref_gens_size(ref, ref->max_seq - 2) * 4 < *total;
}

/* 2.1 of [73]. */
bool ref_gens_old_73(const struct ref *ref)
{
    uint64_t min = ref->min_seq[FILE_TYPE];
    if (ref_swappiness(ref) && ref->min_seq[ANON] < min)
        min = ref->min_seq[ANON];
    if (min + 2 > ref->max_seq)
        return true;
    return ref->priority < REF_PRIORITY && min + 2 == ref->max_seq;
}

/* --- refaults (4.2) ------------------------------------------------------------------------- */

void ref_gens_refault(struct ref *ref, int page, bool in_fault)
{
    struct ref_page *p = &ref->pages[page];
    int type = ref_type(ref, page);
    ref->counts.refaults[type]++;
    if (ref_is_612(ref)) {
        if (p->shadow_seq != ref->min_seq[type])
            return;
        int refs = p->shadow_refs + (p->shadow_workingset ? 1 : 0);
        ref->refaulted[type][ref_log2up(refs + 1)]++;
        ref->counts.recent++;
        if (in_fault || refs >= 3) {
            p->workingset = true;
            p->refs = 3;
            ref->counts.restored++;
        }
        return;
    }
    if (ref->max_seq - p->shadow_seq >= REF_GENS)
        return;
    ref->counts.recent++;
    ref->refaulted[type][p->shadow_workingset ? 3 : ref_log2up(p->shadow_refs + 1)]++;
    if (p->shadow_workingset) {
        p->workingset = true;
        ref->counts.restored++;
    } else {
        p->refs = p->shadow_refs;
    }
}
