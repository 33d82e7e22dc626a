/* SPDX-License-Identifier: MIT */
/*
 * A cache when memory runs out (failure mode T5). Each call of the public API is made again and
 * again on a new cache, and its n-th allocation, or page mapping of a pool, is refused, for every
 * n. Goal: the call says MGLRU_ENOMEM or does without; every law of cache_verify holds, which the
 * charges are part of; the same call then succeeds; the cache gives back all that it took.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/cache.h>
#include <mglru/control.h>

#include "cache/cache.h"
#include "os/os.h"

/* --- refusing ------------------------------------------------------------------------------- */

static long allowed = -1; /* allocations until one is refused; negative: none is */
static bool refused;
static long living; /* blocks and mappings not given back */
static long taken;  /* since the count was cleared */

static bool refuse(void)
{
    bool now = allowed == 0;
    allowed -= allowed >= 0;
    refused |= now;
    taken++;
    return now;
}

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
void __real_free(void *memory);
int __real_os_pages_map(size_t bytes, bool huge, void **out);
void __real_os_pages_unmap(void *start, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
char *__wrap_strdup(const char *text);
void __wrap_free(void *memory);
int __wrap_os_pages_map(size_t bytes, bool huge, void **out);
void __wrap_os_pages_unmap(void *start, size_t bytes);

static void *count_living(void *memory)
{
    living += memory != NULL;
    return memory;
}

void *__wrap_malloc(size_t bytes)
{
    return refuse() ? NULL : count_living(__real_malloc(bytes));
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return refuse() ? NULL : count_living(__real_calloc(count, bytes));
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    return refuse() ? NULL : count_living(__real_aligned_alloc(alignment, bytes));
}

char *__wrap_strdup(const char *text)
{
    char *copy = __wrap_malloc(strlen(text) + 1);
    return copy ? strcpy(copy, text) : NULL;
}

void __wrap_free(void *memory)
{
    living -= memory != NULL;
    __real_free(memory);
}

int __wrap_os_pages_map(size_t bytes, bool huge, void **out)
{
    if (refuse())
        return MGLRU_ENOMEM;
    int error = __real_os_pages_map(bytes, huge, out);
    living += !error;
    return error;
}

void __wrap_os_pages_unmap(void *start, size_t bytes)
{
    living--;
    __real_os_pages_unmap(start, bytes);
}

/* --- worlds --------------------------------------------------------------------------------- */

#define PAGE 4096u

/* A cache with a memcg "/a", one open file and one region of anonymous memory of it. */
struct world {
    struct mglru_cache *cache;
    struct mglru_memcg *memcg;
    struct mglru_mapping *data, *heap;
    struct mglru_file *file, *region;
};

struct variant {
    const char *model;
    bool classic;
    uint64_t readahead_bytes;
};

static const struct variant variants[] = {
    {"6.12", false, 0},        {"7.3", false, 32 * PAGE}, {"ours", false, 0},
    {"6.12", true, 32 * PAGE}, {"7.3", true, 0},
};

static struct mglru_cache_options options_of(const struct variant *variant)
{
    return (struct mglru_cache_options){.size = sizeof(struct mglru_cache_options),
                                        .model = variant->model,
                                        .classic = variant->classic,
                                        .readahead_bytes = variant->readahead_bytes,
                                        .nodes = 2,
                                        .swap_bytes = 1000 * PAGE,
                                        .container = "/box"};
}

static void build(struct world *w, const struct variant *variant)
{
    struct mglru_cache_options options = options_of(variant);
    assert_int_equal(mglru_cache_create(&options, &w->cache), 0);
    assert_int_equal(mglru_memcg_create(w->cache, "/a", &w->memcg), 0);
    assert_int_equal(mglru_mapping_create(w->cache, "data", MGLRU_FILE, 0, &w->data), 0);
    assert_int_equal(mglru_mapping_create(w->cache, "heap", MGLRU_ANON, 0, &w->heap), 0);
    assert_int_equal(mglru_file_open(w->data, w->memcg, &w->file), 0);
    assert_int_equal(mglru_file_open(w->heap, w->memcg, &w->region), 0);
}

static void verify(const struct world *w)
{
    const char *broken = cache_verify(w->cache);
    if (broken)
        fail_msg("%s", broken);
}

/* One access of @count pages. */
static int access_pages(struct world *w, enum mglru_access_kind kind, uint64_t index,
                        uint32_t count)
{
    struct mglru_access access = {.file = kind == MGLRU_TOUCH ? w->region : w->file,
                                  .index = index,
                                  .count = count,
                                  .kind = kind};
    size_t done;
    return mglru_cache_access(w->cache, &access, 1, NULL, &done);
}

static int write_file(struct world *w, const char *name, const char *text)
{
    return mglru_memcg_write(w->memcg, name, text, strlen(text));
}

/* --- the calls ------------------------------------------------------------------------------ */

/* One call; @least: allocations that it makes at least under every variant. */
struct call {
    const char *name;
    int (*run)(struct world *w);
    void (*before)(struct world *w); /* NULL: nothing */
    long least;
    bool whole; /* refused, it leaves nothing allocated behind */
};

static int make_memcgs(struct world *w)
{
    struct mglru_memcg *made;
    int error = mglru_memcg_create(w->cache, "/x/y/z", &made);
    if (error)
        assert_null(made);
    return error;
}

static int make_mapping(struct world *w)
{
    struct mglru_mapping *made;
    int error = mglru_mapping_create(w->cache, "new", MGLRU_FILE, 0, &made);
    if (error)
        assert_null(made);
    return error;
}

static int open_again(struct world *w)
{
    struct mglru_file *made;
    int error = mglru_file_open(w->data, w->memcg, &made);
    if (error)
        assert_null(made);
    return error;
}

static int read_first(struct world *w)
{
    return access_pages(w, MGLRU_READ, 0, 1);
}

static int read_far(struct world *w)
{
    int error = access_pages(w, MGLRU_READ, UINT64_C(1) << 40, 1);
    return error ? error : access_pages(w, MGLRU_READ, 3, 1);
}

static int read_many(struct world *w)
{
    return access_pages(w, MGLRU_READ, 0, 3000);
}

static int read_sparse(struct world *w)
{
    for (uint64_t page = 0; page < 64 * 400; page += 64 * 8) {
        int error = access_pages(w, MGLRU_READ, page + page / 64 % 64, 1);
        if (error)
            return error;
    }
    return 0;
}

static int write_many(struct world *w)
{
    return access_pages(w, MGLRU_WRITE, 0, 300);
}

static int map_many(struct world *w)
{
    int error = access_pages(w, MGLRU_MAP_READ, 0, 20);
    if (!error)
        error = access_pages(w, MGLRU_MAP_EXEC, 100, 5);
    for (uint64_t i = 1; i < 20 && !error; i++)
        error = access_pages(w, MGLRU_MAP_WRITE, i * 512, 1);
    return error;
}

static int touch_many(struct world *w)
{
    int error = 0;
    for (uint64_t i = 0; i < 20 && !error; i++)
        error = access_pages(w, MGLRU_TOUCH, i * 512, 50);
    return error;
}

static void make_swapped(struct world *w)
{
    assert_int_equal(write_file(w, "memory.max", "1M"), 0);
    assert_int_equal(access_pages(w, MGLRU_TOUCH, 0, 300), 0);
}

static int touch_swapped(struct world *w)
{
    return access_pages(w, MGLRU_TOUCH, 0, 1100);
}

static void make_full(struct world *w)
{
    assert_int_equal(write_file(w, "memory.max", "2M"), 0);
    assert_int_equal(access_pages(w, MGLRU_READ, 0, 2000), 0);
    assert_int_equal(access_pages(w, MGLRU_MAP_READ, 1900, 64), 0);
    assert_int_equal(access_pages(w, MGLRU_TOUCH, 0, 64), 0);
}

static int read_under_pressure(struct world *w)
{
    int error = access_pages(w, MGLRU_READ, 5000, 3000);
    return error ? error : access_pages(w, MGLRU_WRITE, 0, 600);
}

static int remove_memcg(struct world *w)
{
    return mglru_memcg_remove(w->memcg);
}

static int write_limits(struct world *w)
{
    int error = write_file(w, "memory.high", "1M");
    return error ? error : write_file(w, "memory.max", "512K");
}

static int reclaim_some(struct world *w)
{
    return write_file(w, "memory.reclaim", "400K");
}

static int switch_off_and_on(struct world *w)
{
    static const char *const texts[] = {"0", "7", "1", "0", "7"};
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(texts); i++) {
        int error = mglru_cache_write(w->cache, "enabled", texts[i], 1);
        if (error)
            return error;
    }
    return 0;
}

static int age_and_evict(struct world *w)
{
    char text[64];
    const struct lruvec *lruvec = memcg_lruvec(w->memcg->memcg, 0);
    unsigned long long id = mglru_memcg_id(w->memcg);
    uint64_t seq = lruvec->max_seq;
    snprintf(text, sizeof(text), "+ %llu 0 %llu 60 1", id, (unsigned long long)seq);
    int error = mglru_cache_write(w->cache, "lru_gen", text, strlen(text));
    if (error)
        return error;
    snprintf(text, sizeof(text), "- %llu 0 %llu 60 100", id, (unsigned long long)seq - 1);
    return mglru_cache_write(w->cache, "lru_gen", text, strlen(text));
}

static int read_files(struct world *w)
{
    static const char *const of_memcg[] = {"memory.current", "memory.stat", "memory.numa_stat",
                                           "memory.events",  "memory.max",  "swappiness"};
    static const char *const of_cache[] = {"lru_gen", "lru_gen_full", "enabled", "min_ttl_ms"};
    char text[16384];
    size_t length;
    int error = 0;
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(of_memcg) && !error; i++)
        error = mglru_memcg_read(w->memcg, of_memcg[i], text, sizeof(text), &length);
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(of_cache) && !error; i++)
        error = mglru_cache_read(w->cache, of_cache[i], text, sizeof(text), &length);
    return error;
}

static int tick(struct world *w)
{
    mglru_cache_set_time(w->cache, w->cache->reclaim.now_ns + UINT64_C(60000000000));
    return 0;
}

static const struct call calls[] = {
    {"create memcgs", make_memcgs, NULL, 10, true},
    {"create a mapping", make_mapping, NULL, 2, true},
    {"open a file", open_again, NULL, 1, true},
    {"read one page", read_first, NULL, 4, false},
    {"read a far page", read_far, NULL, 5, false},
    {"read many pages", read_many, NULL, 10, false},
    {"read sparse pages", read_sparse, NULL, 10, false},
    {"write", write_many, NULL, 8, false},
    {"map", map_many, NULL, 15, false},
    {"touch", touch_many, NULL, 15, false},
    {"swap in", touch_swapped, make_swapped, 1, false},
    {"read under pressure", read_under_pressure, make_full, 1, false},
};

/* Calls that allocate nothing: reclaim may not, and what is read or freed need not. */
static const struct call quiet_calls[] = {
    {"remove", remove_memcg, make_full, 0, true},
    {"write limits", write_limits, make_full, 0, true},
    {"reclaim", reclaim_some, make_full, 0, true},
    {"switch", switch_off_and_on, make_full, 0, true},
    {"set the clock", tick, make_full, 0, true},
    {"read control files", read_files, make_full, 0, true},
};

/* --- tests ---------------------------------------------------------------------------------- */

/* More allocations than any of the calls makes; a loop that gets here does not end by itself. */
enum { ALLOCATIONS_MAX = 1000 };

/* Refuses the @n-th allocation of @call in a new world. False: it makes fewer. */
static bool refuse_nth(const struct call *call, const struct variant *variant, long n)
{
    struct world w;
    long start = living;
    build(&w, variant);
    if (call->before)
        call->before(&w);
    long before = living;
    refused = false;
    allowed = n;
    int error = call->run(&w);
    allowed = -1;
    if (error != (refused ? MGLRU_ENOMEM : 0) && !(refused && error == 0))
        fail_msg("%s, %s, allocation %ld: %s", call->name, variant->model, n,
                 mglru_error_text(error));
    verify(&w);
    if (error) {
        if (call->whole)
            assert_int_equal(living, before);
        assert_int_equal(call->run(&w), 0);
        verify(&w);
    }
    mglru_cache_destroy(w.cache);
    assert_int_equal(living, start);
    return refused;
}

static void each_refused_allocation_of_a_call(void **state)
{
    for (size_t v = 0; v < MGLRU_ARRAY_LEN(variants); v++)
        for (size_t c = 0; c < MGLRU_ARRAY_LEN(calls); c++) {
            long n = 0;
            while (refuse_nth(&calls[c], &variants[v], n) && n < ALLOCATIONS_MAX)
                n++;
            if (n < calls[c].least || n == ALLOCATIONS_MAX)
                fail_msg("%s, %s: %ld allocations", calls[c].name, variants[v].model, n);
        }
}

static void reclaim_and_reports_allocate_nothing(void **state)
{
    for (size_t v = 0; v < MGLRU_ARRAY_LEN(variants); v++)
        for (size_t c = 0; c < MGLRU_ARRAY_LEN(quiet_calls); c++) {
            struct world w;
            build(&w, &variants[v]);
            quiet_calls[c].before(&w);
            taken = 0;
            int error = quiet_calls[c].run(&w);
            if (taken || error)
                fail_msg("%s, %s: %ld allocations, %s", quiet_calls[c].name, variants[v].model,
                         taken, mglru_error_text(error));
            verify(&w);
            mglru_cache_destroy(w.cache);
        }
    struct world w;
    build(&w, &variants[2]);
    make_full(&w);
    taken = 0;
    assert_int_equal(age_and_evict(&w), 0);
    assert_int_equal(taken, 0);
    verify(&w);
    mglru_cache_destroy(w.cache);
}

/* A large folio that lies partly in a range that goes: split, or gone whole where memory lacks. */
static void a_drop_that_cannot_split_takes_the_whole_folio(void **state)
{
    static const struct variant large = {"7.3", false, 128 * PAGE};
    bool some = false;
    for (long n = 0;; n++) {
        struct world w;
        build(&w, &large);
        for (uint64_t page = 0; page < 2000; page++) /* readahead brings larger and larger folios */
            assert_int_equal(access_pages(&w, MGLRU_READ, page, 1), 0);
        lru_batch_drain(&w.cache->reclaim);
        /* Pools that are at their end, so that parts of a folio need a new chunk. */
        while ((size_t)(w.cache->folios.end - w.cache->folios.next) >= w.cache->folios.object_bytes)
            assert_non_null(slab_alloc(&w.cache->folios));
        w.cache->folios.free_list = NULL;
        refused = false;
        allowed = n;
        mglru_mapping_drop(w.data, 1001, 1);
        allowed = -1;
        verify(&w);
        assert_int_equal(index_get(&w.data->index, 1001), 0);
        assert_int_equal(index_get(&w.data->index, 1002) == 0, refused);
        assert_int_equal(access_pages(&w, MGLRU_READ, 0, 2000), 0);
        verify(&w);
        mglru_cache_destroy(w.cache);
        some |= refused;
        if (!refused)
            break;
    }
    assert_true(some);
}

static void each_refused_allocation_of_a_creation(void **state)
{
    for (size_t v = 0; v < MGLRU_ARRAY_LEN(variants); v++) {
        struct mglru_cache_options options = options_of(&variants[v]);
        struct mglru_cache *cache;
        long n = 0;
        int error;
        do {
            long before = living;
            allowed = n;
            error = mglru_cache_create(&options, &cache);
            allowed = -1;
            if (error) {
                assert_int_equal(error, MGLRU_ENOMEM);
                assert_null(cache);
                assert_int_equal(living, before);
            }
        } while (error && ++n < ALLOCATIONS_MAX);
        assert_int_equal(error, 0);
        assert_in_range(n, 10, ALLOCATIONS_MAX - 1);
        mglru_cache_destroy(cache);
    }
}

static int allow_all(void **state)
{
    allowed = -1;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(each_refused_allocation_of_a_creation, allow_all),
        cmocka_unit_test_teardown(each_refused_allocation_of_a_call, allow_all),
        cmocka_unit_test_teardown(reclaim_and_reports_allocate_nothing, allow_all),
        cmocka_unit_test_teardown(a_drop_that_cannot_split_takes_the_whole_folio, allow_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
