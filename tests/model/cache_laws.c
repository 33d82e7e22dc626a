/* SPDX-License-Identifier: MIT */
/* The laws of cache_laws.h, checked page by page after every call. */
#include "model/cache_laws.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

static void breaks(struct laws *laws, const char *law)
{
    if (!laws->broken)
        laws->broken = law;
}

uint64_t laws_page(unsigned n)
{
    /* At 0, across a leaf border in the middle of a tree of height 3, and at the very end. */
    static const uint64_t starts[LAWS_REGIONS] = {0, 4096 - 32, (UINT64_C(1) << 30) - 16,
                                                  MGLRU_INDEX_MAX - LAWS_RUN + 1};
    return starts[n / LAWS_RUN] + n % LAWS_RUN;
}

/* Number of a page that the model watches; LAWS_PAGES: none. */
static unsigned number_of(uint64_t page)
{
    for (unsigned region = 0; region < LAWS_REGIONS; region++) {
        uint64_t start = laws_page(region * LAWS_RUN);
        if (page >= start && page - start < LAWS_RUN)
            return region * LAWS_RUN + (unsigned)(page - start);
    }
    return LAWS_PAGES;
}

static unsigned mapping_number(const struct laws *laws, const struct mglru_mapping *mapping)
{
    unsigned m = 0;
    while (m < LAWS_MAPPINGS && laws->mappings[m] != mapping)
        m++;
    MGLRU_CHECK(m < LAWS_MAPPINGS);
    return m;
}

void laws_event(void *context, const struct mglru_event *event)
{
    struct laws *laws = context;
    if (event->kind != MGLRU_EVENT_EVICT && event->kind != MGLRU_EVENT_REFAULT)
        return;
    unsigned m = mapping_number(laws, event->mapping);
    bool any_evicted = false;
    for (uint64_t i = 0; i < event->pages; i++) {
        unsigned n = number_of(event->index + i);
        if (n == LAWS_PAGES) {
            any_evicted = true; /* readahead beyond what is watched */
            continue;
        }
        any_evicted |= laws->evicted[m][n];
        if (event->kind == MGLRU_EVENT_EVICT) {
            /* What this call brought is not known to be there: by readahead, or by a fault that
             * pays for its page table after the page. */
            if (!laws->resident[m][n] && !laws->readahead &&
                (m != laws->mapping || n != laws->page))
                breaks(laws, "L1: a page was evicted that was not there");
            laws->evicted_again += m == laws->mapping && n == laws->page;
            laws->resident[m][n] = false;
            laws->evicted[m][n] = true;
        }
    }
    if (event->kind == MGLRU_EVENT_REFAULT && !any_evicted)
        breaks(laws, "L4: refault of a page that was never evicted");
}

static bool is_resident(const struct laws *laws, unsigned m, unsigned n)
{
    return slot_is_folio(index_get(&laws->mappings[m]->index, laws_page(n)));
}

static void now_resident(struct laws *laws, unsigned m, unsigned n)
{
    laws->resident[m][n] = true;
    laws->evicted[m][n] = false;
}

/* Takes over what readahead brought. */
static void adopt_readahead(struct laws *laws, unsigned m)
{
    for (unsigned n = 0; n < LAWS_PAGES; n++)
        if (!laws->resident[m][n] && is_resident(laws, m, n))
            now_resident(laws, m, n);
}

/* The page accessed, as it was before. */
struct watched {
    bool resident;
    bool evicted;
    bool anon;
};

static void judge(struct laws *laws, struct watched was, const struct mglru_counts *before,
                  const struct mglru_counts *after)
{
    bool hit = after->hits != before->hits;
    bool missed = after->misses != before->misses;
    bool first = after->first_touches != before->first_touches;
    if (hit + missed + first != 1)
        breaks(laws, "L3: one access counts once");
    /* Paying for a page table may evict the very page. */
    if (hit != was.resident && !(was.resident && laws->evicted_again))
        breaks(laws, "L2: a hit means that the page was there");
    if (was.anon && !was.resident && missed != was.evicted)
        breaks(laws, "L2: an anonymous page misses when it was swapped");
    if (!was.anon && !was.resident && !missed)
        breaks(laws, "L2: an absent file page misses");
    uint64_t read = after->pages_read - before->pages_read;
    if (!laws->readahead && (read < missed || read > missed + laws->evicted_again))
        breaks(laws, "L3: pages read without readahead are the misses");
}

int laws_access(struct laws *laws, struct mglru_file *file, unsigned m, unsigned n,
                enum mglru_access_kind kind)
{
    struct mglru_access access = {.file = file, .index = laws_page(n), .count = 1, .kind = kind};
    struct mglru_counts before, after;
    uint8_t bits = 0;
    struct mglru_miss_log log = {.bits = &bits};
    size_t done;
    struct watched was = {.resident = laws->resident[m][n],
                          .evicted = laws->evicted[m][n],
                          .anon = laws->mappings[m]->kind == MGLRU_ANON};
    laws->mapping = m;
    laws->page = n;
    laws->evicted_again = 0;
    mglru_memcg_counts(file->memcg, false, &before);
    int error = mglru_cache_access(laws->cache, &access, 1, &log, &done);
    laws->page = LAWS_PAGES;
    mglru_memcg_counts(file->memcg, false, &after);
    if (error && (after.accesses != before.accesses || log.next || done))
        breaks(laws, "L3: an access that failed was counted");
    if (!error) {
        judge(laws, was, &before, &after);
        if (bits != (after.misses != before.misses))
            breaks(laws, "L3: the miss log differs from the counts");
        if (is_resident(laws, m, n))
            now_resident(laws, m, n);
        else if (!laws->readahead)
            breaks(laws, "L1: the page just read is not there");
    }
    /* A fault may have brought the page and then found no room for its page table. */
    if (error && kind >= MGLRU_MAP_READ && is_resident(laws, m, n))
        now_resident(laws, m, n);
    if (laws->readahead)
        adopt_readahead(laws, m);
    return error;
}

int laws_access_many(struct laws *laws, struct mglru_file *file, unsigned m, unsigned n,
                     struct mglru_access access)
{
    bool readahead = laws->readahead;
    struct mglru_counts before, after;
    uint8_t bits[LAWS_RUN / 8 + 1] = {0};
    struct mglru_miss_log log = {.bits = bits};
    size_t done;
    unsigned missed = 0;
    access.file = file;
    access.index = laws_page(n);
    laws->readahead = true; /* pages of this call may be evicted by it */
    mglru_memcg_counts(file->memcg, false, &before);
    int error = mglru_cache_access(laws->cache, &access, 1, &log, &done);
    mglru_memcg_counts(file->memcg, false, &after);
    laws->readahead = readahead;
    adopt_readahead(laws, m);
    for (uint64_t i = 0; i < log.next; i++)
        missed += bits[i / 8] >> (i % 8) & 1;
    if (missed != after.misses - before.misses || log.next != after.accesses - before.accesses)
        breaks(laws, "L3: the miss log differs from the counts");
    if (!error && log.next != access.count)
        breaks(laws, "L3: a call that was done logged fewer pages");
    return error;
}

void laws_dropped(struct laws *laws, unsigned m, unsigned n, unsigned count)
{
    for (unsigned i = n; i < n + count && i / LAWS_RUN == n / LAWS_RUN; i++) {
        laws->resident[m][i] = false;
        laws->evicted[m][i] = false;
    }
}

void laws_resync_anon(struct laws *laws)
{
    for (unsigned m = 0; m < LAWS_MAPPINGS; m++)
        for (unsigned n = 0; n < LAWS_PAGES && laws->mappings[m]->kind == MGLRU_ANON; n++) {
            uint64_t slot = index_get(&laws->mappings[m]->index, laws_page(n));
            laws->resident[m][n] &= slot_is_folio(slot);
            laws->evicted[m][n] &= slot_is_shadow(slot);
        }
}

static void check_pages(struct laws *laws)
{
    for (unsigned m = 0; m < LAWS_MAPPINGS; m++)
        for (unsigned n = 0; n < LAWS_PAGES; n++)
            if (laws->resident[m][n] != is_resident(laws, m, n))
                breaks(laws, "L1: a page came or went by itself");
}

static void check_events(struct laws *laws, struct laws_memcg *own)
{
    char text[256];
    size_t length;
    int error = mglru_memcg_read(own->memcg, "memory.events", text, sizeof(text), &length);
    if (error == MGLRU_ENOENT)
        return; /* the root */
    MGLRU_CHECK(!error);
    const char *line = text;
    for (unsigned i = 0; i < MGLRU_ARRAY_LEN(own->events); i++) {
        uint64_t value = strtoull(strchr(line, ' '), NULL, 10);
        if (value < own->events[i])
            breaks(laws, "L6: an event counter fell");
        own->events[i] = value;
        line = strchr(line, '\n') + 1;
    }
}

static void check_memcg(struct laws *laws, struct laws_memcg *own, bool wrote_max)
{
    struct memcg *memcg = own->memcg->memcg;
    struct mglru_counts all, sum = {0};
    long usage = page_counter_read(&memcg->memory);
    long excess = usage - atomic_load_relaxed(&memcg->memory.max);
    if (!wrote_max && excess > 0 && excess > own->excess)
        breaks(laws, "L5: usage exceeds memory.max");
    own->excess = excess;
    if (!memcg_is_root(memcg) && atomic_load_relaxed(&memcg->memory.watermark) < usage)
        breaks(laws, "L6: the peak is below the usage");
    check_events(laws, own);
    mglru_memcg_counts(own->memcg, true, &all);
    for (struct memcg *below = memcg; below; below = memcg_next(memcg, below)) {
        struct mglru_counts one;
        mglru_memcg_counts(memcg_user(below), false, &one);
        if (one.hits + one.misses + one.first_touches != one.accesses)
            breaks(laws, "L3: hits + misses + first_touches = accesses");
        sum.accesses += one.accesses;
        sum.misses += one.misses;
        sum.pages_read += one.pages_read;
    }
    if (sum.accesses != all.accesses || sum.misses != all.misses ||
        sum.pages_read != all.pages_read)
        breaks(laws, "L3: recursive counts are the sum of local ones");
}

void laws_check(struct laws *laws, bool wrote_max)
{
    check_pages(laws);
    for (unsigned i = 0; i < LAWS_MEMCGS; i++)
        if (laws->memcgs[i].memcg)
            check_memcg(laws, &laws->memcgs[i], wrote_max);
    const char *broken = cache_verify(laws->cache);
    if (broken)
        breaks(laws, broken);
}
