/* SPDX-License-Identifier: MIT */
/*
 * The oracle of oracle.h. Orders: the writer of a page begins a version before its call and ends it
 * afterwards; a reader takes oracle_before its call and judges afterwards. Whatever the
 * cache under test orders between the two, the release of one pairs with the acquire of the other.
 */
#include "oracle.h"

#include <string.h>

#include "os/os.h"
#include "sync/atomic.h"

struct oracle_page {
    _Atomic uint64_t started;
    _Atomic uint64_t ended; /* started, but while a change is under way */
    _Atomic uint64_t completed;
    _Atomic uint64_t synced;
    _Atomic uint64_t zeros;
    _Atomic uint64_t failures;
    _Atomic uint64_t returns; /* odd: a change is under way that may take others back */
    _Atomic bool damaged;     /* a change has torn it, and none has succeeded since */
};

struct oracle {
    struct oracle_shape shape;
    struct oracle_page pages[];
};

const char *oracle_finding_text(enum oracle_finding finding)
{
    static const char *const texts[] = {
        [ORACLE_FINE] = "fine",
        [ORACLE_LOST] = "lost synced write",
        [ORACLE_STALE] = "stale read",
        [ORACLE_TORN] = "torn page",
        [ORACLE_ALIEN] = "another page's data",
        [ORACLE_FUTURE] = "version never written",
    };
    return texts[finding];
}

size_t oracle_bytes(const struct oracle_shape *shape)
{
    return sizeof(struct oracle) +
           (size_t)shape->mappings * shape->pages * sizeof(struct oracle_page);
}

struct oracle *oracle_init(void *memory, const struct oracle_shape *shape)
{
    struct oracle *oracle = memory;
    memset(memory, 0, oracle_bytes(shape));
    oracle->shape = *shape;
    return oracle;
}

static struct oracle_page *page_of(const struct oracle *oracle, struct page_id id)
{
    return (struct oracle_page *)&oracle->pages[id.mapping * oracle->shape.pages + id.index];
}

uint64_t oracle_begin(struct oracle *oracle, struct page_id id, enum oracle_change change)
{
    struct oracle_page *page = page_of(oracle, id);
    uint64_t version = atomic_load_relaxed(&page->started) + 1; /* one writer at a time */
    if (change == ORACLE_ZEROS || change == ORACLE_PUNCH)
        atomic_store_release(&page->zeros, version);
    /* Pairs with may_return and the loads for a sync. */
    if (change == ORACLE_PUNCH || change == ORACLE_DISCARD)
        atomic_add_acq_rel(&page->returns, 1);
    /* Pairs with the load in judge_version. */
    atomic_store_release(&page->started, version);
    return version;
}

/* What the page is now may be as old as its last sync. */
static void take_back(struct oracle_page *page)
{
    uint64_t synced = atomic_load_acquire(&page->synced);
    if (synced < atomic_load_relaxed(&page->completed))
        atomic_store_release(&page->completed, synced);
}

void oracle_end(struct oracle *oracle, struct page_id id, uint64_t version,
                enum oracle_outcome outcome)
{
    struct oracle_page *page = page_of(oracle, id);
    bool returns = atomic_load_relaxed(&page->returns) & 1;
    if (outcome != ORACLE_FAILED)
        atomic_store_release(&page->damaged, outcome == ORACLE_TEARING);
    /* After the mark, so that who sees the count sees the mark. Pairs with oracle_before. */
    if (outcome == ORACLE_TEARING)
        atomic_add_release(&page->failures, 1);
    /* Pairs with oldest_of. */
    if (outcome == ORACLE_DONE)
        atomic_store_release(&page->completed, version);
    else if (returns)
        take_back(page);
    if (returns)
        atomic_add_release(&page->returns, 1);
    /* Last of all: who sees the end sees how it ended. Pairs with wait_for_change. */
    atomic_store_release(&page->ended, version);
}

uint64_t oracle_started(const struct oracle *oracle, struct page_id id)
{
    return atomic_load_relaxed(&page_of(oracle, id)->started);
}

static uint64_t oldest_of(const struct oracle_page *page)
{
    /* Pairs with oracle_end. */
    return atomic_load_acquire(&page->completed);
}

struct oracle_before oracle_before(const struct oracle *oracle, struct page_id id)
{
    const struct oracle_page *page = page_of(oracle, id);
    struct oracle_before before = {.failures = atomic_load_acquire(&page->failures)};
    before.returns = atomic_load_acquire(&page->returns);
    before.synced = atomic_load_acquire(&page->synced);
    before.damaged = atomic_load_acquire(&page->damaged);
    before.oldest = oldest_of(page);
    return before;
}

static enum oracle_finding judge_version(const struct oracle_page *page, uint64_t oldest,
                                         enum page_verdict verdict, uint64_t version)
{
    /* Zeros are the newest version of zeros, if they may be one that is new enough. */
    if (verdict == PAGE_ZEROS)
        return !oldest || atomic_load_acquire(&page->zeros) >= oldest ? ORACLE_FINE : ORACLE_STALE;
    if (verdict == PAGE_ALIEN)
        return ORACLE_ALIEN;
    /* Pairs with oracle_begin. */
    if (version > atomic_load_acquire(&page->started))
        return ORACLE_FUTURE;
    return version < oldest ? ORACLE_STALE : ORACLE_FINE;
}

/* Until the change that is under way, if one is, has ended. */
static void wait_for_change(const struct oracle_page *page)
{
    uint64_t started = atomic_load_acquire(&page->started);
    /* Pairs with oracle_end. */
    while (atomic_load_acquire(&page->ended) < started)
        os_thread_yield();
}

/* Whether a change failed that may have torn what a read found. */
static bool may_be_torn(const struct oracle_page *page, struct oracle_before before)
{
    if (before.damaged)
        return true;
    /* A change tears the page when it is done, and its writer says later that it has failed. */
    wait_for_change(page);
    return atomic_load_acquire(&page->failures) != before.failures;
}

/* Whether a change that was under way during a read may have taken others back. */
static bool may_return(const struct oracle_page *page, struct oracle_before before)
{
    return before.returns & 1 || atomic_load_acquire(&page->returns) != before.returns;
}

enum oracle_finding oracle_judge(const struct oracle *oracle, struct page_id id,
                                 struct oracle_before before, const void *data)
{
    const struct oracle_page *page = page_of(oracle, id);
    uint64_t version;
    enum page_verdict verdict = page_check(data, oracle->shape.page_bytes, id, &version);
    if (verdict == PAGE_TORN)
        return may_be_torn(page, before) ? ORACLE_FINE : ORACLE_TORN;
    enum oracle_finding finding = judge_version(page, before.oldest, verdict, version);
    if (finding == ORACLE_STALE && may_return(page, before))
        finding = judge_version(page, before.synced, verdict, version);
    return finding;
}

void oracle_sync_begin(const struct oracle *oracle, uint64_t mapping,
                       struct oracle_covered *snapshot)
{
    for (uint64_t i = 0; i < oracle->shape.pages; i++) {
        const struct oracle_page *page = page_of(oracle, (struct page_id){mapping, i});
        snapshot[i].returns = atomic_load_acquire(&page->returns);
        snapshot[i].version = oldest_of(page);
    }
}

/* The sync covers what was completed, unless that was taken back before its end. */
static void cover(struct oracle_page *page, struct oracle_covered covered)
{
    if (covered.returns & 1 || atomic_load_acquire(&page->returns) != covered.returns)
        return;
    uint64_t synced = atomic_load_relaxed(&page->synced);
    while (synced < covered.version && !atomic_cas_acq_rel(&page->synced, &synced, covered.version))
        ;
}

void oracle_sync_end(struct oracle *oracle, struct page_id first, uint64_t last,
                     const struct oracle_covered *snapshot)
{
    for (; first.index <= last; first.index++)
        cover(page_of(oracle, first), snapshot[first.index]);
}

/* What was found is what the page is from now on. */
static void adopt(struct oracle_page *page, enum page_verdict verdict, uint64_t version)
{
    if (verdict == PAGE_ZEROS)
        version = atomic_load_relaxed(&page->zeros);
    if (verdict != PAGE_TORN) {
        atomic_store_relaxed(&page->completed, version);
        atomic_store_relaxed(&page->synced, version);
    }
    atomic_store_relaxed(&page->damaged, verdict == PAGE_TORN);
    /* A change that the crash broke off will not end. */
    atomic_store_relaxed(&page->returns, (atomic_load_relaxed(&page->returns) + 1) & ~UINT64_C(1));
    atomic_store_relaxed(&page->ended, atomic_load_relaxed(&page->started));
}

enum oracle_finding oracle_recover(struct oracle *oracle, struct page_id id, const void *data,
                                   bool killed, bool may_tear)
{
    struct oracle_page *page = page_of(oracle, id);
    uint64_t version;
    enum page_verdict verdict = page_check(data, oracle->shape.page_bytes, id, &version);
    uint64_t synced = atomic_load_relaxed(&page->synced);
    uint64_t oldest = killed ? atomic_load_relaxed(&page->completed) : synced;
    bool changing = atomic_load_relaxed(&page->started) > oldest;
    enum oracle_finding finding = ORACLE_FINE;
    if (verdict == PAGE_TORN) {
        if (!(atomic_load_relaxed(&page->damaged) || (may_tear && changing)))
            finding = ORACLE_TORN;
    } else {
        finding = judge_version(page, oldest, verdict, version);
        if (finding == ORACLE_STALE)
            finding = ORACLE_LOST;
    }
    adopt(page, verdict, version);
    return finding;
}
