/* SPDX-License-Identifier: MIT */
/* The classic LRU of the reference (ref_kernel.h), facts 12. */
#include "model/ref_state.h"

static int row_index(const struct ref *ref, int page, bool active)
{
    return ref_type(ref, page) * 2 + (active ? 1 : 0);
}

/* --- adding and marking (12.2) -------------------------------------------------------------- */

void ref_classic_add(struct ref *ref, int page)
{
    struct ref_page *p = &ref->pages[page];
    int row = row_index(ref, page, p->active);
    p->listed = true;
    ref_push_head(&ref->rows[row], page);
    ref->exact.list[row]++;
}

void ref_classic_del(struct ref *ref, int page)
{
    struct ref_page *p = &ref->pages[page];
    int row = row_index(ref, page, p->active);
    p->listed = false;
    ref_remove(&ref->rows[row], page);
    ref->exact.list[row]--;
}

void ref_classic_activate(struct ref *ref, int page)
{
    ref_classic_del(ref, page);
    ref->pages[page].active = true;
    ref_classic_add(ref, page);
}

void ref_classic_mark(struct ref *ref, int page)
{
    struct ref_page *p = &ref->pages[page];
    if (!p->referenced) {
        p->referenced = true;
        return;
    }
    if (p->active)
        return;
    if (p->listed)
        ref_queue_activation(ref, page);
    else
        p->active = true; /* in the add batch */
    p->referenced = false;
    ref->nonresident_age++;
}

/* --- cost (12.6) ---------------------------------------------------------------------------- */

static bool too_costly(const struct ref *ref)
{
    const struct ref_seen *seen = ref_seen(ref);
    long size = 0;
    for (int row = 0; row < CLASSIC_ROWS; row++)
        size += seen->list[row];
    return ref->cost[0] + ref->cost[1] > (uint64_t)size / 4;
}

static void note_cost_612(struct ref *ref, int type, long io, long rotated)
{
    if (!io && !rotated)
        return;
    ref->cost[type] += (uint64_t)(io * 32 + rotated);
    if (too_costly(ref)) {
        ref->cost[0] /= 2;
        ref->cost[1] /= 2;
    }
}

static void update_cost_73(struct ref *ref)
{
    const struct ref_seen *seen = ref_seen(ref);
    for (int type = 0; type < 2; type++) {
        long io = seen->restore[type] + (type == ANON ? seen->swap_writes : 0);
        ref->cost[type] += (uint64_t)((io - ref->cost_io[type]) * 32 + seen->rotate[type] -
                                      ref->cost_rotated[type]);
        ref->cost_io[type] = io;
        ref->cost_rotated[type] = seen->rotate[type];
    }
    while (ref->cost[0] + ref->cost[1] && too_costly(ref)) {
        ref->cost[0] /= 2;
        ref->cost[1] /= 2;
    }
}

static void note_rotated(struct ref *ref, int type, long written, long rotated)
{
    if (ref_is_612(ref))
        note_cost_612(ref, type, written, rotated);
    else
        ref->exact.rotate[type] += rotated;
}

/* --- before and after the lists (12.3) ------------------------------------------------------ */

static bool inactive_is_low(const struct ref *ref, int type)
{
    const struct ref_seen *seen = ref_seen(ref);
    return seen->list[type * 2] < seen->list[type * 2 + 1]; /* below 1 GiB: ratio 1 */
}

void ref_classic_prepare(struct ref *ref)
{
    const struct ref_seen *seen = ref_seen(ref);
    if (!ref_is_612(ref))
        update_cost_73(ref);
    for (int type = 0; type < 2; type++) {
        ref->may_deactivate[type] = ref->force_deactivate ||
                                    seen->activate[type] != ref->snapshot[type] ||
                                    inactive_is_low(ref, type);
        ref->cost_now[type] = ref->cost[type];
    }
    ref->cache_trim = seen->list[INACTIVE_FILE] >> ref->priority && !ref->may_deactivate[FILE_TYPE];
}

void ref_classic_snapshot(struct ref *ref)
{
    for (int type = 0; type < 2; type++)
        ref->snapshot[type] = ref_seen(ref)->activate[type];
}

/* --- shrinking (12.5) ----------------------------------------------------------------------- */

static void shrink_active(struct ref *ref, int row, long nr)
{
    int type = row / 2, taken[32], kept[32];
    long count = 0, rotated = 0;
    ref_drain(ref);
    while (count < nr && ref->rows[row].count) {
        taken[count] = ref->rows[row].page[0];
        ref_classic_del(ref, taken[count++]);
    }
    long down = 0;
    for (long i = 0; i < count; i++) {
        struct ref_page *p = &ref->pages[taken[i]];
        bool young = ref_maps_take_young(ref, taken[i]);
        if (young && ref->exec && type == FILE_TYPE) {
            kept[rotated++] = taken[i];
            continue;
        }
        p->active = false;
        p->workingset = true;
        taken[down++] = taken[i];
    }
    for (long i = 0; i < rotated; i++) {
        ref_classic_add(ref, kept[i]);
        ref->nonresident_age++;
    }
    for (long i = 0; i < down; i++)
        ref_classic_add(ref, taken[i]);
    ref->counts.refilled += (uint64_t)count;
    ref->counts.deactivated += (uint64_t)down;
    if (rotated)
        note_rotated(ref, type, 0, rotated);
}

/* The table of 12.5, then 3.6. */
static enum ref_verdict judge(struct ref *ref, int page)
{
    struct ref_page *p = &ref->pages[page];
    bool file = ref_type(ref, page) == FILE_TYPE;
    bool referenced = p->referenced;
    bool young = ref_maps_take_young(ref, page);
    p->referenced = young;
    if (young)
        return referenced || (ref->exec && file) ? REF_ACTIVATE : REF_KEEP;
    if (!file) {
        if (ref_swap_left(ref) <= 0)
            return REF_ACTIVATE;
        ref->swapped++;
        ref->exact.swap_writes++;
    }
    p->mapped = false;
    return REF_RECLAIM;
}

/* 12.7: the shadow ages with all that leaves or is activated. */
static void leave_shadow(struct ref *ref, int page)
{
    struct ref_page *p = &ref->pages[page];
    p->has_shadow = true;
    p->shadow_seq = ref->nonresident_age++;
    p->shadow_workingset = p->workingset;
}

static long shrink_inactive(struct ref *ref, int row, long nr)
{
    int type = row / 2, taken[32];
    long count = 0, kept = 0;
    ref_drain(ref);
    while (count < nr && ref->rows[row].count) {
        taken[count] = ref->rows[row].page[0];
        ref_classic_del(ref, taken[count++]);
    }
    ref->counts.scanned += (uint64_t)count;
    if (!count)
        return 0;
    long writes = ref->exact.swap_writes;
    for (long i = 0; i < count; i++) {
        enum ref_verdict verdict = judge(ref, taken[i]);
        if (verdict == REF_RECLAIM && !ref->pages[taken[i]].queued) {
            leave_shadow(ref, taken[i]);
            ref_free(ref, taken[i]);
            continue;
        }
        if (verdict == REF_ACTIVATE) {
            ref->pages[taken[i]].active = true;
            ref->counts.activated++;
        }
        taken[kept++] = taken[i];
    }
    for (long i = 0; i < kept; i++) {
        ref->nonresident_age += ref->pages[taken[i]].active ? 1 : 0;
        ref_classic_add(ref, taken[i]);
    }
    note_rotated(ref, type, ref->exact.swap_writes - writes, kept);
    return count - kept;
}

static long shrink_row(struct ref *ref, int row, long nr)
{
    if (row != ACTIVE_ANON && row != ACTIVE_FILE)
        return shrink_inactive(ref, row, nr);
    if (ref->may_deactivate[row / 2])
        shrink_active(ref, row, nr);
    else
        ref->skipped_deactivate = true;
    return 0;
}

/* --- how much (12.4) ------------------------------------------------------------------------ */

static void scan_targets(const struct ref *ref, long target[CLASSIC_ROWS])
{
    int swappiness = ref->options.swappiness;
    uint64_t total = ref->cost_now[0] + ref->cost_now[1];
    uint64_t anon = total + ref->cost_now[ANON], file = total + ref->cost_now[FILE_TYPE];
    uint64_t whole = anon + file;
    uint64_t share[2] = {(uint64_t)swappiness * (whole + 1) / (anon + 1),
                         (uint64_t)(200 - swappiness) * (whole + 1) / (file + 1)};
    bool file_only = ref_swap_left(ref) <= 0 || swappiness == 0;
    bool equal = !file_only && ref->priority == 0;
    file_only |= !equal && ref->cache_trim;
    for (int row = 0; row < CLASSIC_ROWS; row++) {
        target[row] = ref->exact.list[row] >> ref->priority;
        if (file_only && row < INACTIVE_FILE)
            target[row] = 0;
        else if (!file_only && !equal)
            target[row] = (long)((uint64_t)target[row] * share[row / 2] / (share[0] + share[1]));
    }
}

/* Once enough was reclaimed: the type with the smaller rest is finished, the other in proportion.*/
static void level_rests(const long target[CLASSIC_ROWS], long rest[CLASSIC_ROWS])
{
    long anon = rest[INACTIVE_ANON] + rest[ACTIVE_ANON];
    long file = rest[INACTIVE_FILE] + rest[ACTIVE_FILE];
    int less = file > anon ? INACTIVE_ANON : INACTIVE_FILE;
    int more = file > anon ? INACTIVE_FILE : INACTIVE_ANON;
    long percent = (file > anon ? anon : file) * 100 / (target[less] + target[less + 1] + 1);
    rest[less] = rest[less + 1] = 0;
    for (int row = more; row < more + 2; row++) {
        long scanned = target[row] - rest[row];
        rest[row] = target[row] * (100 - percent) / 100 - scanned;
        rest[row] = rest[row] > 0 ? rest[row] : 0;
    }
}

void ref_classic_shrink(struct ref *ref)
{
    long target[CLASSIC_ROWS], rest[CLASSIC_ROWS], reclaimed = 0;
    scan_targets(ref, target);
    for (int row = 0; row < CLASSIC_ROWS; row++)
        rest[row] = target[row];
    while (rest[INACTIVE_ANON] || rest[ACTIVE_FILE] || rest[INACTIVE_FILE]) {
        for (int row = 0; row < CLASSIC_ROWS; row++) {
            long nr = rest[row] < 32 ? rest[row] : 32;
            rest[row] -= nr;
            if (nr)
                reclaimed += shrink_row(ref, row, nr);
        }
        if (reclaimed < ref->wanted)
            continue;
        if (!(rest[INACTIVE_ANON] + rest[ACTIVE_ANON]) ||
            !(rest[INACTIVE_FILE] + rest[ACTIVE_FILE]))
            break;
        level_rests(target, rest);
    }
    if (ref->options.swap_size && inactive_is_low(ref, ANON))
        shrink_active(ref, ACTIVE_ANON, 32);
}

/* --- refaults (12.7) ------------------------------------------------------------------------ */

void ref_classic_refault(struct ref *ref, int page)
{
    struct ref_page *p = &ref->pages[page];
    const struct ref_seen *seen = ref_seen(ref);
    int type = ref_type(ref, page);
    ref->counts.refaults[type]++;
    long size = seen->list[ACTIVE_FILE];
    if (type == ANON)
        size += seen->list[INACTIVE_FILE];
    if (ref_swap_left(ref) > 0)
        size += seen->list[ACTIVE_ANON] + (type == FILE_TYPE ? seen->list[INACTIVE_ANON] : 0);
    if (ref->nonresident_age - p->shadow_seq > (uint64_t)size)
        return;
    p->active = true;
    ref->nonresident_age++;
    ref->exact.activate[type]++;
    ref->counts.recent++;
    if (!p->shadow_workingset)
        return;
    p->workingset = true;
    if (ref_is_612(ref))
        note_cost_612(ref, type, 1, 0);
    ref->exact.restore[type]++;
    ref->counts.restored++;
}
