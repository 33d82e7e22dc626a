/* SPDX-License-Identifier: MIT */
/*
 * Readahead against a naive model of it: a file is an array of pages, each with the folio that it
 * lies in; nothing is evicted. Random calls, sequential, backward, strided and scattered, through
 * two open files on one mapping; every folio that comes must be the model's, in order.
 *
 * The model is written from the rules (docs/readahead.md), not from the code: it has no bits, no
 * index and no reclaim.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <mglru/cache.h>

#include "base/bits.h"
#include "base/check.h"

#define FILE_PAGES 3000
#define NODE_PAGES 64
#define DEVICE_PAGES 320
#define BATCH 31
#define OPEN_FILES 2
#define CALLS 400
#define FOLIOS_MAX 8192

struct naive_folio {
    int first, pages;
    bool marked;
};

/* The state of one open file. */
struct naive_window {
    int start, size, async, order;
    int next; /* page behind the last call's; -1: none */
};

struct naive {
    bool large, slips;
    int max;
    struct naive_folio *at[FILE_PAGES]; /* NULL: absent */
    struct naive_folio folios[FOLIOS_MAX];
    int count;
    struct naive_window window[OPEN_FILES];
};

static int least(int a, int b)
{
    return a < b ? a : b;
}

static void naive_add(struct naive *naive, int first, int pages, bool marked)
{
    assert_true(naive->count < FOLIOS_MAX);
    struct naive_folio *folio = &naive->folios[naive->count++];
    *folio = (struct naive_folio){first, pages, marked};
    for (int page = first; page < first + pages; page++) {
        assert_null(naive->at[page]);
        naive->at[page] = folio;
    }
}

static void naive_singles(struct naive *naive, int start, int size, int async)
{
    int end = least(start + size, FILE_PAGES);
    for (int page = start; page < end; page++)
        if (!naive->at[page])
            naive_add(naive, page, 1, async > 0 && page == end - async);
}

static void naive_read_window(struct naive *naive, struct naive_window *window)
{
    if (!naive->large) {
        naive_singles(naive, window->start, window->size, window->async);
        return;
    }
    while (1 << window->order > window->size || window->order > 9)
        window->order--;
    int end = least(window->start + window->size, FILE_PAGES), page = window->start;
    int mark = window->start + window->size - window->async;
    while (page < end) {
        int pages = 1 << window->order;
        while (page % pages || page + pages > end)
            pages /= 2;
        bool absent = true;
        for (int i = 0; i < pages; i++)
            absent = absent && !naive->at[page + i];
        if (!absent) {
            naive_singles(naive, page, window->start + window->size - page, window->async);
            return;
        }
        naive_add(naive, page, pages, window->async > 0 && page == mark - mark % pages);
        page += pages;
    }
}

static int naive_first_slot(const struct naive *naive, int page)
{
    if (page >= FILE_PAGES || !naive->at[page] || !naive->slips ||
        naive->at[page]->pages >= NODE_PAGES)
        return page;
    return naive->at[page]->first;
}

static bool naive_there(const struct naive *naive, int slot)
{
    return slot < FILE_PAGES && naive->at[slot];
}

/* Pages in a row before @page. */
static int naive_before(const struct naive *naive, int page, int max)
{
    int slot = naive_first_slot(naive, page - 1), count = 0;
    for (int at = page - 1; count < max && naive_there(naive, slot); at--) {
        count++;
        if (at == 0 || slot == 0)
            break;
        /* A node that is entered is entered by the page that is looked for. */
        slot = slot % NODE_PAGES ? slot - 1 : slot - NODE_PAGES + (at - 1) % NODE_PAGES;
    }
    return count;
}

static int naive_hole_after(const struct naive *naive, int page, int max)
{
    int at = page + 1, slot = naive_first_slot(naive, page + 1);
    for (; at <= page + max && naive_there(naive, slot); at++)
        slot = (slot + 1) % NODE_PAGES ? slot + 1 : at + 1;
    return at;
}

static int naive_next_size(int size, int max)
{
    return size < max / 16 ? 4 * size : size <= max / 2 ? 2 * size : max;
}

static int naive_max(const struct naive *naive, int request)
{
    return request > naive->max && DEVICE_PAGES > naive->max ? least(request, DEVICE_PAGES)
                                                             : naive->max;
}

static void naive_miss(struct naive *naive, struct naive_window *window, int page, int request)
{
    int max = naive_max(naive, request);
    bool follows = window->next >= 0 && (page == window->next || page == window->next + 1);
    if (page == 0 || request > max || follows) {
        int size = 1;
        while (size < request)
            size *= 2;
        window->size = size <= max / 32 ? 4 * size : size <= max / 4 ? 2 * size : max;
        window->async = window->size > request ? window->size - request : window->size / 2;
    } else {
        int before = naive_before(naive, page, max);
        if (before <= request) {
            naive_singles(naive, page, request, 0);
            return;
        }
        window->size = least((before == page ? 2 * before : before) + request, max);
        window->async = 1;
    }
    window->start = page;
    window->order = 0;
    naive_read_window(naive, window);
}

static void naive_mark(struct naive *naive, struct naive_window *window, struct naive_folio *folio,
                       int request)
{
    int max = naive_max(naive, request), page = folio->first;
    folio->marked = false;
    int expected = window->start + window->size - window->async;
    if (page == expected - expected % folio->pages) {
        int size = naive_next_size(window->size, max);
        window->start += window->size;
        window->size = size > window->size ? size : window->size;
    } else {
        int hole = naive_hole_after(naive, page, max);
        if (hole - page > max)
            return;
        window->start = hole;
        window->size = naive_next_size(hole - page + request, max);
    }
    window->order += 2;
    int largest = 1;
    while (naive->large && largest < 1 << window->order && max % (2 * largest) == 0)
        largest *= 2;
    int end = window->start + window->size;
    if (end - end % largest > window->start)
        window->size -= end % largest;
    window->async = window->size;
    naive_read_window(naive, window);
}

static void naive_call(struct naive *naive, int file, int first, int count)
{
    struct naive_window *window = &naive->window[file];
    int page = first, end = first + count;
    while (page < end) {
        if (!naive->at[page])
            naive_miss(naive, window, page, end - page);
        struct naive_folio *folio = NULL;
        for (int i = 0; i < BATCH && page < end && naive->at[page]; i++) {
            folio = naive->at[page];
            page = folio->first + folio->pages;
            if (folio->marked)
                break;
        }
        if (folio->marked)
            naive_mark(naive, window, folio, end - folio->first);
    }
    window->next = end;
}

/* --- the comparison ------------------------------------------------------------------------- */

struct comparison {
    const struct naive *naive;
    int seen;
    bool differs;
};

static void on_event(void *context, const struct mglru_event *event)
{
    struct comparison *comparison = context;
    if (event->kind != MGLRU_EVENT_READ || comparison->differs)
        return;
    const struct naive_folio *folio = &comparison->naive->folios[comparison->seen++];
    comparison->differs = comparison->seen > comparison->naive->count ||
                          folio->first != (int)event->index || folio->pages != (int)event->pages;
}

/* The next call: mostly goes on from the last one of its file. */
static void draw_call(uint64_t *state, const struct naive_window *window, int *first, int *count)
{
    uint64_t r = bits_mix64(++*state);
    *count = r % 16 == 0 ? 1 + (int)((r >> 8) % 500) : 1 + (int)((r >> 8) % 7);
    int from = window->next < 0 ? 0 : window->next;
    switch (r >> 4 & 7) {
    case 0:
        *first = (int)((r >> 20) % FILE_PAGES);
        break;
    case 1:
        *first = from + (int)((r >> 20) % 6);
        break;
    case 2:
        *first = from - (int)((r >> 20) % 40);
        break;
    default:
        *first = from;
        break;
    }
    if (*first < 0 || *first >= FILE_PAGES)
        *first = 0;
    *count = least(*count, FILE_PAGES - *first);
}

static void play(const char *model, unsigned max, uint64_t seed)
{
    static struct naive naive;
    naive = (struct naive){.large = strcmp(model, "6.12") != 0,
                           .slips = strcmp(model, "7.3") == 0 || strcmp(model, "next") == 0,
                           .max = (int)max};
    struct comparison comparison = {.naive = &naive};
    struct mglru_cache_options options = {.size = sizeof(options),
                                          .model = model,
                                          .readahead_bytes = max * UINT64_C(4096),
                                          .kernel_charge = MGLRU_KERNEL_CHARGE_NONE,
                                          .on_event = on_event,
                                          .on_event_context = &comparison};
    struct mglru_cache *cache;
    struct mglru_memcg *memcg;
    struct mglru_mapping *mapping;
    struct mglru_file *files[OPEN_FILES];
    assert_int_equal(mglru_cache_create(&options, &cache), 0);
    assert_int_equal(mglru_memcg_create(cache, "/a", &memcg), 0);
    assert_int_equal(mglru_mapping_create(cache, "f", MGLRU_FILE, FILE_PAGES, &mapping), 0);
    for (int i = 0; i < OPEN_FILES; i++) {
        assert_int_equal(mglru_file_open(mapping, memcg, &files[i]), 0);
        naive.window[i].next = -1;
    }
    uint64_t state = seed << 32;
    for (int i = 0; i < CALLS; i++) {
        int file = (int)((bits_mix64(state) >> 40) % OPEN_FILES), first, count;
        draw_call(&state, &naive.window[file], &first, &count);
        naive_call(&naive, file, first, count);
        struct mglru_access access = {.file = files[file],
                                      .index = (uint64_t)first,
                                      .count = (uint32_t)count,
                                      .kind = MGLRU_READ};
        size_t done;
        assert_int_equal(mglru_cache_access(cache, &access, 1, NULL, &done), 0);
        if (comparison.differs || comparison.seen != naive.count)
            fail_msg("model %s, window %u, seed %llu: call %d, %d pages from %d, folio %d", model,
                     max, (unsigned long long)seed, i, count, first, comparison.seen);
    }
    mglru_cache_destroy(cache);
}

static void every_folio_is_the_naive_models(void **state)
{
    static const char *const names[] = {"6.12", "7.3", "next", "ours"};
    static const unsigned windows[] = {1, 2, 3, 16, 32, 40, 256, 1024};
    for (size_t m = 0; m < MGLRU_ARRAY_LEN(names); m++)
        for (size_t w = 0; w < MGLRU_ARRAY_LEN(windows); w++)
            for (uint64_t seed = 0; seed < 20; seed++)
                play(names[m], windows[w], seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_folio_is_the_naive_models)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
