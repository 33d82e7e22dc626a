/* SPDX-License-Identifier: MIT */
/*
 * The reference models. A row is an array of pages from oldest to newest; every operation on it is
 * linear. Each model is one access function and uses the rows as it likes; a freed page is taken
 * out of all of them.
 */
#include "model/naive_policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/sketch.h"

#define ROW_PAGES_MAX 2048
#define ROWS 4

struct row {
    uint32_t page[ROW_PAGES_MAX];
    unsigned hits[ROW_PAGES_MAX]; /* or a reference bit */
    size_t length;
};

struct naive {
    bool (*access)(struct naive *naive, uint32_t page);
    void (*forget)(struct naive *naive, uint32_t page);
    unsigned resident_rows; /* the first so many rows hold resident pages */
    size_t capacity;
    struct row row[ROWS];
    size_t hand;          /* Clock, SIEVE: index into row 0 */
    double target;        /* ARC: p */
    struct sketch sketch; /* W-TinyLFU */
    /* Belady: where we are */
    const struct naive_event *events;
    size_t event_count;
    size_t at;
};

static size_t row_find(const struct row *row, uint32_t page)
{
    for (size_t i = 0; i < row->length; i++)
        if (row->page[i] == page)
            return i;
    return SIZE_MAX;
}

static bool row_has(const struct row *row, uint32_t page)
{
    return row_find(row, page) != SIZE_MAX;
}

static void row_insert(struct row *row, size_t at, uint32_t page, unsigned hits)
{
    if (row->length == ROW_PAGES_MAX)
        abort();
    for (size_t i = row->length; i > at; i--) {
        row->page[i] = row->page[i - 1];
        row->hits[i] = row->hits[i - 1];
    }
    row->page[at] = page;
    row->hits[at] = hits;
    row->length++;
}

static void row_append(struct row *row, uint32_t page)
{
    row_insert(row, row->length, page, 0);
}

static uint32_t row_take(struct row *row, size_t at)
{
    if (at >= row->length)
        abort();
    uint32_t page = row->page[at];
    row->length--;
    for (size_t i = at; i < row->length; i++) {
        row->page[i] = row->page[i + 1];
        row->hits[i] = row->hits[i + 1];
    }
    return page;
}

static bool row_drop(struct row *row, uint32_t page)
{
    size_t at = row_find(row, page);
    if (at == SIZE_MAX)
        return false;
    row_take(row, at);
    return true;
}

static void forget_everywhere(struct naive *naive, uint32_t page)
{
    for (unsigned i = 0; i < ROWS; i++)
        row_drop(&naive->row[i], page);
}

static bool lru_access(struct naive *naive, uint32_t page)
{
    struct row *row = &naive->row[0];
    bool hit = row_drop(row, page);
    if (row->length == naive->capacity)
        row_take(row, 0);
    row_append(row, page);
    return hit;
}

static bool fifo_access(struct naive *naive, uint32_t page)
{
    struct row *row = &naive->row[0];
    if (row_has(row, page))
        return true;
    if (row->length == naive->capacity)
        row_take(row, 0);
    row_append(row, page);
    return false;
}

/* A ring: the hand moves, pages keep their place, a new one goes in just behind the hand. */
static bool clock_access(struct naive *naive, uint32_t page)
{
    struct row *ring = &naive->row[0];
    size_t at = row_find(ring, page);
    if (at != SIZE_MAX) {
        ring->hits[at] = 1;
        return true;
    }
    if (ring->length == naive->capacity) {
        while (ring->hits[naive->hand]) {
            ring->hits[naive->hand] = 0;
            naive->hand = (naive->hand + 1) % ring->length;
        }
        row_take(ring, naive->hand);
    }
    row_insert(ring, naive->hand, page, 0);
    naive->hand = (naive->hand + 1) % ring->length;
    return false;
}

static void clock_forget(struct naive *naive, uint32_t page)
{
    struct row *ring = &naive->row[0];
    size_t at = row_find(ring, page);
    if (at == SIZE_MAX)
        return;
    row_take(ring, at);
    if (at < naive->hand)
        naive->hand--;
    if (naive->hand == ring->length)
        naive->hand = 0;
}

/* From the newest page the hand goes to the oldest, whatever comes in until it is used. */
static void sieve_take(struct naive *naive, size_t at)
{
    struct row *row = &naive->row[0];
    row_take(row, at);
    if (at < naive->hand)
        naive->hand--;
    if (naive->hand == row->length)
        naive->hand = 0;
}

static bool sieve_access(struct naive *naive, uint32_t page)
{
    struct row *row = &naive->row[0];
    size_t at = row_find(row, page);
    if (at != SIZE_MAX) {
        row->hits[at] = 1;
        return true;
    }
    if (row->length == naive->capacity) {
        while (row->hits[naive->hand]) {
            row->hits[naive->hand] = 0;
            naive->hand = (naive->hand + 1) % row->length;
        }
        sieve_take(naive, naive->hand);
    }
    row_append(row, page);
    return false;
}

static void sieve_forget(struct naive *naive, uint32_t page)
{
    size_t at = row_find(&naive->row[0], page);
    if (at != SIZE_MAX)
        sieve_take(naive, at);
}

/* Rows: A1in, Am, A1out. */
static bool twoq_access(struct naive *naive, uint32_t page)
{
    struct row *in = &naive->row[0], *hot = &naive->row[1], *out = &naive->row[2];
    if (row_has(in, page))
        return true;
    if (row_drop(hot, page)) {
        row_append(hot, page);
        return true;
    }
    bool known = row_drop(out, page);
    if (in->length + hot->length == naive->capacity) {
        if (in->length > naive->capacity / 4) {
            row_append(out, row_take(in, 0));
            if (out->length > naive->capacity / 2)
                row_take(out, 0);
        } else {
            row_take(hot, 0);
        }
    }
    row_append(known ? hot : in, page);
    return false;
}

static void arc_replace(struct naive *naive, bool in_b2)
{
    struct row *t1 = &naive->row[0], *t2 = &naive->row[1];
    struct row *b1 = &naive->row[2], *b2 = &naive->row[3];
    if (t1->length + t2->length < naive->capacity)
        return;
    double length = (double)t1->length;
    if (t1->length >= 1 && ((in_b2 && length == naive->target) || length > naive->target))
        row_append(b1, row_take(t1, 0));
    else if (t2->length >= 1)
        row_append(b2, row_take(t2, 0));
    else
        row_append(b1, row_take(t1, 0));
}

/* Rows: T1, T2, B1, B2; the four cases of the paper's figure 4. */
static bool arc_access(struct naive *naive, uint32_t page)
{
    struct row *t1 = &naive->row[0], *t2 = &naive->row[1];
    struct row *b1 = &naive->row[2], *b2 = &naive->row[3];
    double c = (double)naive->capacity;
    if (row_drop(t1, page) || row_drop(t2, page)) {
        row_append(t2, page);
        return true;
    }
    if (row_has(b1, page)) {
        double step = (double)b2->length / (double)b1->length;
        naive->target += step < 1 ? 1 : step;
        naive->target = naive->target > c ? c : naive->target;
        row_drop(b1, page);
        arc_replace(naive, false);
        row_append(t2, page);
        return false;
    }
    if (row_has(b2, page)) {
        double step = (double)b1->length / (double)b2->length;
        naive->target -= step < 1 ? 1 : step;
        naive->target = naive->target < 0 ? 0 : naive->target;
        row_drop(b2, page);
        arc_replace(naive, true);
        row_append(t2, page);
        return false;
    }
    if (t1->length + b1->length == naive->capacity) {
        row_take(b1->length ? b1 : t1, 0);
    } else if (t1->length + t2->length + b1->length + b2->length == 2 * naive->capacity) {
        row_take(b2, 0);
    }
    arc_replace(naive, false);
    row_append(t1, page);
    return false;
}

/* Rows: Q (resident HIR), LIR in no order of use, S, gone (by time of losing residence). */
enum { LIRS_Q, LIRS_LIR, LIRS_S, LIRS_GONE };

static size_t lirs_lir_limit(const struct naive *naive)
{
    size_t hir = naive->capacity / 100;
    return naive->capacity - (hir ? hir : 1);
}

/* All HIR pages below the lowest LIR page leave S. */
static void lirs_prune(struct naive *naive)
{
    struct row *s = &naive->row[LIRS_S];
    while (s->length && !row_has(&naive->row[LIRS_LIR], s->page[0]))
        row_drop(&naive->row[LIRS_GONE], row_take(s, 0));
}

static void lirs_evict_if_full(struct naive *naive)
{
    struct row *q = &naive->row[LIRS_Q];
    if (q->length < naive->capacity - lirs_lir_limit(naive))
        return;
    uint32_t page = row_take(q, 0);
    if (row_has(&naive->row[LIRS_S], page))
        row_append(&naive->row[LIRS_GONE], page);
}

/* @page is on top of S already. */
static void lirs_make_lir(struct naive *naive, uint32_t page)
{
    struct row *lir = &naive->row[LIRS_LIR];
    row_append(lir, page);
    if (lir->length <= lirs_lir_limit(naive))
        return;
    uint32_t lowest = row_take(&naive->row[LIRS_S], 0);
    row_drop(lir, lowest);
    lirs_evict_if_full(naive);
    row_append(&naive->row[LIRS_Q], lowest);
    lirs_prune(naive);
}

static bool lirs_access(struct naive *naive, uint32_t page)
{
    struct row *q = &naive->row[LIRS_Q], *lir = &naive->row[LIRS_LIR];
    struct row *s = &naive->row[LIRS_S], *gone = &naive->row[LIRS_GONE];
    bool was_on_s = row_drop(s, page);
    bool was_in_q = row_has(q, page);
    bool hit = was_in_q || row_has(lir, page);
    if (lirs_lir_limit(naive))
        row_append(s, page);
    if (row_has(lir, page)) {
        lirs_prune(naive);
    } else if (was_on_s) {
        row_drop(q, page);
        row_drop(gone, page);
        lirs_make_lir(naive, page);
    } else if (was_in_q) {
        row_drop(q, page);
        row_append(q, page);
    } else if (lir->length < lirs_lir_limit(naive)) {
        lirs_make_lir(naive, page);
    } else {
        lirs_evict_if_full(naive);
        row_append(q, page);
    }
    while (s->length > 2 * naive->capacity)
        row_drop(s, row_take(gone, 0));
    return hit;
}

static void lirs_forget(struct naive *naive, uint32_t page)
{
    forget_everywhere(naive, page);
    lirs_prune(naive);
}

/* Rows: S, M, G. */
enum { S3_SMALL, S3_MAIN, S3_GHOST };

/* Goes round M until a page without hits leaves; every other loses one hit. */
static void s3fifo_evict_main(struct naive *naive)
{
    struct row *main_row = &naive->row[S3_MAIN];
    for (;;) {
        unsigned hits = main_row->hits[0];
        uint32_t page = row_take(main_row, 0);
        if (hits == 0)
            return;
        row_insert(main_row, main_row->length, page, hits - 1);
    }
}

/* Pages with two hits move to M until another one leaves or S is empty. */
static void s3fifo_evict_small(struct naive *naive)
{
    struct row *small = &naive->row[S3_SMALL], *ghost = &naive->row[S3_GHOST];
    bool left = false;
    while (!left && small->length) {
        left = small->hits[0] < 2;
        uint32_t page = row_take(small, 0);
        row_append(left ? ghost : &naive->row[S3_MAIN], page);
        if (ghost->length > naive->capacity * 9 / 10)
            row_take(ghost, 0);
    }
}

static bool s3fifo_access(struct naive *naive, uint32_t page)
{
    struct row *small = &naive->row[S3_SMALL], *main_row = &naive->row[S3_MAIN];
    size_t share = naive->capacity / 10 ? naive->capacity / 10 : 1;
    for (unsigned i = S3_SMALL; i <= S3_MAIN; i++) {
        size_t at = row_find(&naive->row[i], page);
        if (at == SIZE_MAX)
            continue;
        if (naive->row[i].hits[at] < 3)
            naive->row[i].hits[at]++;
        return true;
    }
    bool known = row_drop(&naive->row[S3_GHOST], page);
    while (small->length + main_row->length == naive->capacity) {
        if (main_row->length > naive->capacity - share || small->length == 0)
            s3fifo_evict_main(naive);
        else
            s3fifo_evict_small(naive);
    }
    row_append(known ? main_row : small, page);
    return false;
}

/* Rows: window, probation, protected. */
static bool wtinylfu_access(struct naive *naive, uint32_t page)
{
    struct row *window = &naive->row[0], *trial = &naive->row[1], *safe = &naive->row[2];
    size_t share = naive->capacity / 100 ? naive->capacity / 100 : 1;
    sketch_count(&naive->sketch, page);
    if (row_drop(window, page)) {
        row_append(window, page);
        return true;
    }
    if (row_drop(trial, page) || row_drop(safe, page)) {
        row_append(safe, page);
        if (safe->length > (naive->capacity - share) * 4 / 5)
            row_append(trial, row_take(safe, 0));
        return true;
    }
    row_append(window, page);
    if (window->length <= share)
        return false;
    uint32_t newcomer = row_take(window, 0);
    if (window->length + trial->length + safe->length < naive->capacity) {
        row_append(trial, newcomer);
        return false;
    }
    struct row *from = trial->length ? trial : safe;
    if (from->length && sketch_estimate(&naive->sketch, newcomer) >
                            sketch_estimate(&naive->sketch, from->page[0])) {
        row_take(from, 0);
        row_append(trial, newcomer);
    }
    return false;
}

/* Where @page is accessed next behind event @at, UINT64_MAX if it is freed first or never used. */
static uint64_t next_use_of(const struct naive_event *events, size_t count, size_t at,
                            uint32_t page)
{
    for (size_t i = at + 1; i < count; i++)
        if (events[i].page == page)
            return events[i].is_forget ? UINT64_MAX : i;
    return UINT64_MAX;
}

uint64_t naive_next_use(const struct naive_event *events, size_t count, size_t at)
{
    return next_use_of(events, count, at, events[at].page);
}

static bool belady_access(struct naive *naive, uint32_t page)
{
    struct row *row = &naive->row[0];
    if (row_has(row, page))
        return true;
    if (row->length == naive->capacity) {
        size_t farthest = 0;
        uint64_t farthest_use = 0;
        for (size_t i = 0; i < row->length; i++) {
            uint64_t use = next_use_of(naive->events, naive->event_count, naive->at, row->page[i]);
            if (use > farthest_use) {
                farthest_use = use;
                farthest = i;
            }
        }
        row_take(row, farthest);
    }
    row_append(row, page);
    return false;
}

static const struct {
    const char *name;
    bool (*access)(struct naive *naive, uint32_t page);
    void (*forget)(struct naive *naive, uint32_t page);
    unsigned resident_rows;
} models[] = {
    {"lru", lru_access, forget_everywhere, 1},
    {"fifo", fifo_access, forget_everywhere, 1},
    {"clock", clock_access, clock_forget, 1},
    {"sieve", sieve_access, sieve_forget, 1},
    {"2q", twoq_access, forget_everywhere, 2},
    {"arc", arc_access, forget_everywhere, 2},
    {"lirs", lirs_access, lirs_forget, 2},
    {"s3fifo", s3fifo_access, forget_everywhere, 2},
    {"w-tinylfu", wtinylfu_access, forget_everywhere, 3},
    {"belady", belady_access, forget_everywhere, 1},
};

struct naive *naive_create(const char *name, uint64_t capacity_pages)
{
    for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
        if (strcmp(models[i].name, name) != 0)
            continue;
        struct naive *naive = calloc(1, sizeof(*naive));
        if (!naive || sketch_init(&naive->sketch, capacity_pages))
            abort();
        naive->access = models[i].access;
        naive->forget = models[i].forget;
        naive->resident_rows = models[i].resident_rows;
        naive->capacity = capacity_pages;
        return naive;
    }
    fprintf(stderr, "no reference model of policy %s\n", name);
    abort();
}

void naive_destroy(struct naive *naive)
{
    sketch_free(&naive->sketch);
    free(naive);
}

bool naive_step(struct naive *naive, const struct naive_event *events, size_t count, size_t at)
{
    naive->events = events;
    naive->event_count = count;
    naive->at = at;
    if (!events[at].is_forget)
        return naive->access(naive, events[at].page);
    naive->forget(naive, events[at].page);
    return false;
}

uint64_t naive_resident(const struct naive *naive)
{
    uint64_t pages = 0;
    for (unsigned i = 0; i < naive->resident_rows; i++)
        pages += naive->row[i].length;
    return pages;
}
