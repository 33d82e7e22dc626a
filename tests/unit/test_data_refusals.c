/* SPDX-License-Identifier: MIT */
/*
 * Failure mode T5 for caches with frames. Each call of <mglru/data.h> is made again and again on a
 * new cache, and its n-th allocation, or the n-th request that it makes to the store, is refused,
 * for every n. Goal: the call says so or does without; nothing that was written is lost; the
 * walkers, which count charges, references and frames, find every law kept; and the same call then
 * succeeds. (Memory that leaks is found by ASan.)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "data_bench.h"

/* --- refusing ------------------------------------------------------------------------------- */

enum what { ALLOCATIONS, STORE_CALLS };

/* Of this thread, until one is refused; negative: none is. The threads of the library's own are
 * left alone. */
static _Thread_local long allowed[2] = {-1, -1};
static _Thread_local bool refused;

static bool refuse(enum what what)
{
    bool now = allowed[what] == 0;
    allowed[what] -= allowed[what] >= 0;
    refused |= now;
    return now;
}

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
char *__real_strdup(const char *text);
int __real_os_range_map(size_t bytes, enum os_range_kind kind, void **out);
int __real_os_thread_start(void (*body)(void *), void *argument, struct os_thread **out);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
char *__wrap_strdup(const char *text);
int __wrap_os_range_map(size_t bytes, enum os_range_kind kind, void **out);
int __wrap_os_thread_start(void (*body)(void *), void *argument, struct os_thread **out);

void *__wrap_malloc(size_t bytes)
{
    return refuse(ALLOCATIONS) ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return refuse(ALLOCATIONS) ? NULL : __real_calloc(count, bytes);
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    return refuse(ALLOCATIONS) ? NULL : __real_aligned_alloc(alignment, bytes);
}

char *__wrap_strdup(const char *text)
{
    return refuse(ALLOCATIONS) ? NULL : __real_strdup(text);
}

int __wrap_os_range_map(size_t bytes, enum os_range_kind kind, void **out)
{
    return refuse(ALLOCATIONS) ? MGLRU_ENOMEM : __real_os_range_map(bytes, kind, out);
}

int __wrap_os_thread_start(void (*body)(void *), void *argument, struct os_thread **out)
{
    return refuse(ALLOCATIONS) ? MGLRU_ENOMEM : __real_os_thread_start(body, argument, out);
}

/* A store over the one of the context that refuses the call whose turn it is. */
static void picky_submit(void *context, struct mglru_store_request *const *requests, uint32_t count)
{
    struct mglru_store *base = context;
    for (uint32_t i = 0; i < count; i++) {
        struct mglru_store_request *request = requests[i];
        struct mglru_store_vec vec[FLUSH_PAGES];
        uint64_t offset, moved = 0;
        uint32_t pieces = 0;
        int error = refuse(STORE_CALLS) ? MGLRU_EIO : MGLRU_OK;
        if (request->op == MGLRU_STORE_READ || request->op == MGLRU_STORE_WRITE)
            pieces = mglru_store_pieces(request, vec, FLUSH_PAGES, &offset);
        if (error)
            pieces = 0;
        else if (request->op == MGLRU_STORE_READ)
            error = mglru_store_read(base, offset, vec, pieces);
        else if (request->op == MGLRU_STORE_WRITE)
            error = mglru_store_write(base, offset, vec, pieces);
        else if (request->op == MGLRU_STORE_SYNC)
            error = mglru_store_sync(base);
        else if (request->op == MGLRU_STORE_PUNCH)
            error = mglru_store_punch(base, request->offset, request->bytes);
        else
            error = mglru_store_truncate(base, request->offset);
        while (pieces > 0 && !error)
            moved += vec[--pieces].bytes;
        mglru_store_complete(request, error, moved);
    }
}

static int picky_size(void *context, uint64_t *bytes)
{
    return mglru_store_size(context, bytes);
}

static void picky_close(void *context)
{
}

static const struct mglru_store_ops picky_ops = {sizeof(picky_ops), "picky",    picky_submit, NULL,
                                                 picky_size,        picky_close};

/* --- the world ------------------------------------------------------------------------------ */

enum { PAGES = 200, LIMIT = 100 };

/* A bench whose mapping lies over a picky store; pages KEPT hold "kept", half of them dirty. */
enum { KEPT = 8 };
struct world {
    struct bench b;
    struct mglru_store *picky;
};

static struct world build(void)
{
    struct world w = {.b = bench_make((uint64_t)PAGES * PAGE)};
    struct bench *b = &w.b;
    mglru_file_close(b->file);
    mglru_data_mapping_destroy(b->mapping);
    assert_int_equal(mglru_store_create(&picky_ops, NULL, b->base, &w.picky), MGLRU_OK);
    assert_int_equal(
        mglru_data_mapping_create(b->cache, "p", w.picky, (uint64_t)PAGES * PAGE, &b->mapping), 0);
    assert_int_equal(mglru_file_open(b->mapping, b->memcg, &b->file), MGLRU_OK);
    bench_limit(b, "memory.max", LIMIT);
    for (unsigned i = 0; i < KEPT; i++) {
        bench_put(b, i * PAGE, "kept");
        if (i == KEPT / 2)
            assert_int_equal(mglru_sync(b->file, 0, 0), MGLRU_OK);
    }
    return w;
}

static void demolish(struct world *w)
{
    bench_end(&w->b);
    mglru_store_close(w->picky);
}

/* --- the calls ------------------------------------------------------------------------------ */

static int read_first(struct bench *b)
{
    char byte;
    size_t done;
    return mglru_read(b->file, 100 * PAGE, &byte, 1, &done);
}

static int read_all(struct bench *b)
{
    static char buffer[PAGES * PAGE];
    size_t done;
    int error = mglru_read(b->file, 0, buffer, sizeof(buffer), &done);
    assert_true(error ? done < sizeof(buffer) : done == sizeof(buffer));
    return error;
}

static int read_many(struct bench *b)
{
    char bytes[3];
    struct mglru_read_item items[3];
    for (unsigned i = 0; i < 3; i++)
        items[i] = (struct mglru_read_item){b->file, (50 + i * 40) * PAGE, &bytes[i], 1, 0, 0};
    return mglru_read_many(items, 3);
}

static int write_sparse(struct bench *b)
{
    int error = 0;
    size_t done;
    for (uint64_t page = 20; page < 4000 && !error; page += 100)
        error = mglru_write(b->file, page * PAGE + 10, "new", 3, &done);
    return error;
}

static int write_under_pressure(struct bench *b)
{
    static char buffer[(PAGES - KEPT) * PAGE];
    size_t done;
    return mglru_write(b->file, KEPT * PAGE, buffer, sizeof(buffer), &done);
}

static int pin_each_way(struct bench *b)
{
    for (unsigned mode = MGLRU_PIN_READ; mode <= MGLRU_PIN_OVERWRITE; mode++) {
        uint64_t pages[] = {10 + mode * 40, 20 + mode * 40};
        struct mglru_pin pins[2];
        int error = mglru_pin_many(b->file, pages, 2, (enum mglru_pin_mode)mode, pins);
        if (error)
            return error;
        for (unsigned i = 0; i < 2; i++) {
            if (mode == MGLRU_PIN_OVERWRITE)
                memset(pins[i].data, 0, PAGE);
            mglru_unpin(&pins[i], mode == MGLRU_PIN_READ ? MGLRU_UNPIN_CLEAN : MGLRU_UNPIN_DIRTY);
        }
    }
    return 0;
}

static int discard(struct bench *b)
{
    struct mglru_pin pin;
    int error = mglru_pin(b->file, 150, MGLRU_PIN_WRITE, &pin);
    if (!error)
        mglru_unpin(&pin, MGLRU_UNPIN_DISCARD);
    return error;
}

static int prefetch(struct bench *b)
{
    mglru_prefetch(b->file, (uint64_t)110 * PAGE, PAGES * PAGE);
    return 0;
}

static int sync_file(struct bench *b)
{
    return mglru_sync(b->file, 0, 0);
}

static int sync_all(struct bench *b)
{
    return mglru_sync_all(b->cache);
}

static int truncate_it(struct bench *b)
{
    int error = mglru_truncate(b->mapping, KEPT * PAGE + 100);
    return error ? error : mglru_truncate(b->mapping, PAGES * PAGE);
}

static int punch(struct bench *b)
{
    return mglru_punch(b->file, KEPT * PAGE + 10, 20 * PAGE);
}

static int drop(struct bench *b)
{
    mglru_drop(b->mapping, 0, UINT64_MAX);
    return 0;
}

static int shrink_limit(struct bench *b)
{
    int error = mglru_memcg_write(b->memcg, "memory.max", "0", 1);
    return error ? error : mglru_memcg_write(b->memcg, "memory.max", "400K", 4);
}

static int make_mapping(struct bench *b)
{
    struct mglru_mapping *mapping;
    int error = mglru_data_mapping_create(b->cache, "new", NULL, PAGE, &mapping);
    assert_int_equal(error == 0, mapping != NULL);
    mglru_data_mapping_destroy(mapping);
    return error;
}

static int make_memcgs(struct bench *b)
{
    struct mglru_memcg *made;
    int error = mglru_memcg_create(b->cache, "/x/y", &made);
    assert_int_equal(error == 0, made != NULL);
    return error;
}

static int open_file(struct bench *b)
{
    struct mglru_file *file;
    int error = mglru_file_open(b->mapping, b->memcg, &file);
    assert_int_equal(error == 0, file != NULL);
    return error;
}

static int remove_memcg(struct bench *b)
{
    struct mglru_memcg *made;
    int error = mglru_memcg_create(b->cache, "/a/b", &made);
    return error ? error : mglru_memcg_remove(made);
}

static int look(struct bench *b)
{
    struct mglru_usage usage;
    struct mglru_verdict verdict;
    char text[8192];
    size_t length;
    mglru_memcg_usage(b->memcg, &usage);
    mglru_memcg_verdict(b->memcg, &verdict);
    return mglru_memcg_read(b->memcg, "memory.stat", text, sizeof(text), &length);
}

/* One call, and how often it allocates and asks the store at least. */
static const struct call {
    const char *name;
    int (*run)(struct bench *b);
    long least[2];
} calls[] = {
    {"read a page", read_first, {1, 1}},
    {"read all pages", read_all, {2, 4}},
    {"read many", read_many, {1, 2}},
    {"write sparse pages", write_sparse, {30, 2}},
    {"write under pressure", write_under_pressure, {2, 2}},
    {"pin", pin_each_way, {2, 4}},
    {"discard", discard, {1, 1}},
    {"prefetch", prefetch, {2, 1}},
    {"sync", sync_file, {0, 2}},
    {"sync all", sync_all, {0, 2}},
    {"truncate", truncate_it, {0, 2}},
    {"punch", punch, {0, 1}},
    {"drop", drop, {0, 0}},
    {"shrink the limit", shrink_limit, {0, 1}},
    {"make a mapping", make_mapping, {3, 0}},
    {"make memcgs", make_memcgs, {10, 0}},
    {"open a file", open_file, {1, 0}},
    {"remove a memcg", remove_memcg, {5, 0}},
    {"look", look, {0, 0}},
};

/* --- tests ---------------------------------------------------------------------------------- */

/* More than any call makes; a loop that gets here does not end by itself. */
enum { TURNS_MAX = 1000 };

static void check_kept(struct bench *b)
{
    for (unsigned turn = 0; turn < 2; turn++) {
        for (unsigned i = 0; i < KEPT; i++)
            bench_expect(b, i * PAGE, "kept", 5);
        assert_int_equal(mglru_sync(b->file, 0, 0), MGLRU_OK);
        mglru_drop(b->mapping, 0, UINT64_MAX); /* the next turn asks the store */
    }
}

/* Refuses the @n-th allocation or store call of @call. False: it makes fewer. */
static bool refuse_nth(const struct call *call, enum what what, long n)
{
    struct world w = build();
    refused = false;
    allowed[what] = n;
    int error = call->run(&w.b);
    allowed[what] = -1;
    int expected = what == ALLOCATIONS ? MGLRU_ENOMEM : MGLRU_EIO;
    if (error && (error != expected || !refused))
        fail_msg("%s, %ld: %s", call->name, n, mglru_error_text(error));
    bench_verify(&w.b);
    error = error ? call->run(&w.b) : 0;
    /* A flusher's error is told by the next sync, once. */
    if (error == MGLRU_EIO && what == STORE_CALLS)
        error = call->run(&w.b);
    if (error)
        fail_msg("%s again, %ld: %s", call->name, n, mglru_error_text(error));
    if (what == STORE_CALLS)
        mglru_sync(w.b.file, 0, 0); /* may tell an error that no sync was told */
    check_kept(&w.b);
    demolish(&w);
    return refused;
}

static void each_refusal_of(enum what what)
{
    for (size_t c = 0; c < sizeof(calls) / sizeof(calls[0]); c++) {
        long n = 0;
        while (n < TURNS_MAX && refuse_nth(&calls[c], what, n))
            n++;
        if (n < calls[c].least[what] || n == TURNS_MAX)
            fail_msg("%s: %ld", calls[c].name, n);
    }
}

static void T5_each_refused_allocation_of_each_call(void **state)
{
    each_refusal_of(ALLOCATIONS);
}

static void T5_each_refused_store_call_of_each_call(void **state)
{
    each_refusal_of(STORE_CALLS);
}

/* Threads that cannot be started included. */
static void T5_each_refused_allocation_of_a_creation(void **state)
{
    for (unsigned flushers = 0; flushers < 3; flushers++) {
        struct mglru_data_options options = {.size = sizeof(options),
                                             .memory_bytes = FRAMES * PAGE,
                                             .no_threads = !flushers,
                                             .flushers = flushers};
        struct mglru_cache *cache;
        long n = -1;
        do {
            refused = false;
            allowed[ALLOCATIONS] = ++n;
            int error = mglru_data_create(&options, &cache);
            allowed[ALLOCATIONS] = -1;
            if (error && error != MGLRU_EAGAIN)
                assert_int_equal(error, MGLRU_ENOMEM);
            assert_int_equal(error == 0, cache != NULL);
            mglru_cache_destroy(cache);
        } while (refused && n < TURNS_MAX);
        assert_in_range(n, 10, TURNS_MAX - 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(T5_each_refused_allocation_of_a_creation),
        cmocka_unit_test(T5_each_refused_allocation_of_each_call),
        cmocka_unit_test(T5_each_refused_store_call_of_each_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
