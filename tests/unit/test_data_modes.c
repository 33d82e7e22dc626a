/* SPDX-License-Identifier: MIT */
/*
 * Failure modes of caches with frames, each named after its row of docs/failure-modes.md, under
 * every model. Goal: the call comes back, with the right answer and a reason; afterwards the
 * walkers find every law kept. A test that hangs is ended by an alarm.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "data_bench.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define UNDER_SANITIZER 1
#else
#define UNDER_SANITIZER 0
#endif

/* Seconds after which a test has hung. */
enum { WATCHDOG_S = 100 };

static struct mglru_pin pins[FRAMES + 1];

/* Pins pages first, first + 1, ... for reading until there is no room. Returns how many. */
static unsigned pin_all(struct bench *b, uint64_t first)
{
    unsigned count = 0;
    int error = 0;
    while (count <= FRAMES && !error) {
        error = mglru_pin(b->file, first + count, MGLRU_PIN_READ, &pins[count]);
        count += !error;
    }
    assert_int_equal(error, MGLRU_EOOM);
    return count;
}

static void unpin_all(unsigned count)
{
    while (count > 0)
        mglru_unpin(&pins[--count], MGLRU_UNPIN_CLEAN);
}

static struct mglru_usage usage_of(const struct bench *b)
{
    struct mglru_usage usage;
    mglru_memcg_usage(b->memcg, &usage);
    return usage;
}

/* What memory.events says of running out of memory. */
static void expect_events(struct bench *b, const char *text)
{
    char events[256];
    size_t length;
    assert_int_equal(mglru_memcg_read(b->memcg, "memory.events", events, sizeof(events), &length),
                     MGLRU_OK);
    assert_non_null(strstr(events, text));
}

static void T1_a_read_among_pinned_pages_is_served_outside_the_limit(void **state)
{
    struct bench b = bench_make(0);
    struct mglru_verdict verdict;
    struct mglru_pin pin;
    char byte;
    size_t done;
    bench_put(&b, 300 * PAGE, "far");
    bench_forget(&b);
    bench_limit(&b, "memory.max", 64);
    unsigned count = pin_all(&b, 0);
    assert_int_equal(count, 64);
    for (unsigned i = 1; i <= 3; i++) {
        bench_expect(&b, 300 * PAGE, "far", 3);
        assert_int_equal(usage_of(&b).outside, i);
        assert_int_equal(usage_of(&b).resident, count);
        bench_verify(&b);
    }
    assert_int_equal(mglru_peek(b.file, 300 * PAGE, &byte, 1, &done), MGLRU_OK);
    assert_int_equal(done, 0); /* it was not kept */
    mglru_memcg_verdict(b.memcg, &verdict);
    assert_int_equal(verdict.pinned, count);
    assert_int_equal(verdict.pinner, mglru_memcg_id(b.memcg));
    expect_events(&b, "oom 4\noom_kill 0\n"); /* one of pin_all, and three reads */
    assert_int_equal(mglru_pin(b.file, 300, MGLRU_PIN_READ, &pin), MGLRU_EOOM);
    unpin_all(count);
    bench_expect(&b, 300 * PAGE, "far", 3);
    assert_int_equal(usage_of(&b).outside, 3); /* there is room again */
    bench_end(&b);
}

static void T1_a_cache_full_of_pins_has_a_frame_left_for_reads(void **state)
{
    struct bench b = bench_make(0);
    bench_put(&b, 300 * PAGE, "far");
    bench_forget(&b);
    unsigned count = pin_all(&b, 0);
    assert_int_equal(count, FRAMES);
    bench_expect(&b, 300 * PAGE, "far", 3);
    bench_expect(&b, 299 * PAGE, "", 3);
    assert_int_equal(usage_of(&b).outside, 2);
    bench_verify(&b);
    unpin_all(count);
    bench_end(&b);
}

static void T1_a_read_among_dirty_pages_that_cannot_be_written_is_served(void **state)
{
    struct bench b = bench_make(0);
    unsigned page = 0;
    size_t done;
    bench_put(&b, 300 * PAGE, "far");
    bench_forget(&b);
    bench_limit(&b, "memory.max", 64);
    bench_faults(&b, (struct mglru_store_faulty_options){.write_error_ppm = 1000000});
    while (!mglru_write(b.file, page * PAGE, "dirty", 5, &done))
        assert_true(++page <= 64);
    bench_expect(&b, 300 * PAGE, "far", 3);
    assert_int_equal(usage_of(&b).outside, 1);
    bench_faults(&b, (struct mglru_store_faulty_options){0});
    bench_end(&b);
}

static void T1_a_read_outside_the_limit_reports_the_store(void **state)
{
    struct bench b = bench_make(FRAMES * 2 * PAGE);
    char byte;
    size_t done;
    unsigned count = pin_all(&b, 0);
    bench_faults(&b, (struct mglru_store_faulty_options){.read_error_ppm = 1000000});
    assert_int_equal(mglru_read(b.file, 300 * PAGE, &byte, 1, &done), MGLRU_EIO);
    assert_int_equal(done, 0);
    bench_verify(&b);
    bench_faults(&b, (struct mglru_store_faulty_options){0});
    bench_expect(&b, 300 * PAGE, "", 1);
    unpin_all(count);
    bench_end(&b);
}

static void T1_a_strict_limit_refuses_the_read(void **state)
{
    struct bench b = bench_make_with(
        (struct mglru_data_options){.no_threads = true, .strict_limits = true}, FRAMES * 2 * PAGE);
    char byte;
    size_t done;
    bench_limit(&b, "memory.max", 64);
    unsigned count = pin_all(&b, 0);
    assert_int_equal(mglru_read(b.file, 300 * PAGE, &byte, 1, &done), MGLRU_EOOM);
    assert_int_equal(usage_of(&b).outside, 0);
    unpin_all(count);
    bench_expect(&b, 300 * PAGE, "", 1);
    bench_end(&b);
}

static void read_one_page(void *argument)
{
    struct bench *b = argument;
    bench_expect(b, 300 * PAGE, "", 1);
    bench_expect(b, 301 * PAGE, "", 1);
}

/* What other threads' CPUs have prepaid is room of the memcg all the same. */
static void T2_one_thread_may_fill_the_whole_limit(void **state)
{
    struct bench b = bench_make(FRAMES * 2 * PAGE);
    bench_limit(&b, "memory.max", 200);
    for (unsigned i = 0; i < 4; i++) {
        struct os_thread *thread;
        cpu_claim_number(b.cache->claims, i); /* the thread gets another CPU each time */
        assert_int_equal(os_thread_start(read_one_page, &b, &thread), 0);
        os_thread_join(thread);
        cpu_release(b.cache->claims);
    }
    unsigned count = pin_all(&b, 0);
    assert_int_equal(count, 200);
    bench_verify(&b);
    unpin_all(count);
    bench_end(&b);
}

/* However large the memcg: one reclaim, which looks at each page four times at most. */
static void T3_a_refusal_looks_at_each_page_a_few_times(void **state)
{
    enum { MANY = 8192 };
    static struct mglru_pin many[MANY];
    struct bench b = bench_make_with((struct mglru_data_options){.memory_bytes = 2 * MANY * PAGE,
                                                                 .no_threads = true,
                                                                 .readahead_bytes = UINT64_MAX},
                                     2 * MANY * PAGE);
    struct mglru_pin pin;
    bench_limit(&b, "memory.max", MANY);
    for (unsigned i = 0; i < MANY; i++)
        assert_int_equal(mglru_pin(b.file, i, MGLRU_PIN_READ, &many[i]), MGLRU_OK);
    uint64_t before = bench_stat(&b, "pgscan");
    assert_int_equal(mglru_pin(b.file, MANY, MGLRU_PIN_READ, &pin), MGLRU_EOOM);
    assert_in_range(bench_stat(&b, "pgscan") - before, MANY / 8, 5 * MANY + 4096);
    for (unsigned i = 0; i < MANY; i++)
        mglru_unpin(&many[i], MGLRU_UNPIN_CLEAN);
    bench_end(&b);
}

/* Bytes of memory that this process has now; 0: unknown. */
static uint64_t resident_bytes(void)
{
    unsigned long long total, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%llu %llu", &total, &resident) != 2)
        resident = 0;
    if (file)
        fclose(file);
    return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* 5 % and 8 MiB beyond the limit are what all metadata and slack of allocators may take. */
static void T4_memory_of_the_process_stays_near_the_limit(void **state)
{
    enum { MIB = 1 << 20, CACHE_MIB = 64, LIMIT_MIB = 24 };
    static char page[PAGE];
    uint64_t before = resident_bytes();
    if (UNDER_SANITIZER || !before)
        skip();
    struct bench b = bench_make_with(
        (struct mglru_data_options){.memory_bytes = (uint64_t)CACHE_MIB * MIB, .no_threads = true},
        0);
    struct mglru_mapping *mapping;
    struct mglru_file *file;
    size_t done;
    memset(page, 1, sizeof(page));
    assert_int_equal(mglru_data_mapping_create(b.cache, "p", NULL, 0, &mapping), MGLRU_OK);
    assert_int_equal(mglru_file_open(mapping, b.memcg, &file), MGLRU_OK);
    for (unsigned turn = 0; turn < 2; turn++) {
        uint64_t limit = turn ? CACHE_MIB : LIMIT_MIB;
        bench_limit(&b, "memory.max", (unsigned)(limit * MIB / PAGE));
        for (uint64_t i = 0; i < UINT64_C(3) * CACHE_MIB * MIB / PAGE; i++)
            assert_int_equal(mglru_write(file, i * PAGE, page, PAGE, &done), MGLRU_OK);
        uint64_t grown = resident_bytes() - before;
        assert_in_range(grown, limit * MIB * 9 / 10, limit * MIB * 105 / 100 + 8 * MIB);
    }
    bench_end(&b);
}

enum { TINY_THREADS = 16, TINY_ROUNDS = 200, TINY_FRAMES = 64 };

static void use_tiny_cache(void *argument)
{
    struct bench *b = argument;
    char buffer[2 * PAGE] = "tiny";
    struct mglru_pin pin;
    size_t done;
    for (unsigned i = 0; i < TINY_ROUNDS; i++) {
        uint64_t page = (i * 37 + (unsigned)(uintptr_t)&buffer / 64) % (TINY_FRAMES * 3);
        assert_int_equal(mglru_read(b->file, page * PAGE, buffer, sizeof(buffer), &done), 0);
        assert_int_equal(mglru_write(b->file, page * PAGE, buffer, PAGE, &done), 0);
        if (!mglru_pin(b->file, page, MGLRU_PIN_WRITE, &pin)) {
            os_thread_yield();
            mglru_unpin(&pin, MGLRU_UNPIN_DIRTY);
        }
    }
}

static void T11_the_smallest_cache_serves_many_threads(void **state)
{
    for (unsigned flushers = 0; flushers < 2; flushers++) {
        struct os_thread *threads[TINY_THREADS];
        struct bench b = bench_make_with(
            (struct mglru_data_options){
                .memory_bytes = TINY_FRAMES * PAGE, .no_threads = !flushers, .flushers = flushers},
            TINY_FRAMES * 4 * PAGE);
        for (unsigned i = 0; i < TINY_THREADS; i++)
            assert_int_equal(os_thread_start(use_tiny_cache, &b, &threads[i]), 0);
        for (unsigned i = 0; i < TINY_THREADS; i++)
            os_thread_join(threads[i]);
        bench_end(&b);
    }
}

enum { DIRTY_LIMIT = 100 * 20 / 100, THROTTLE_MS = 200 };

/* A cache of one flusher on the simulated machine, whose clock moves only when all wait. */
static struct bench bench_simulated(void)
{
    os_use(os_sim(1));
    return bench_make_with((struct mglru_data_options){.flushers = 1, .flush_after_ms = 1000000},
                           0);
}

static void bench_end_simulated(struct bench *b)
{
    bench_end(b);
    os_use(NULL);
}

static uint64_t dirty_pages(struct bench *b)
{
    return bench_stat(b, "file_dirty") / PAGE;
}

static void T12_writers_above_the_dirty_limit_wait_for_the_flusher(void **state)
{
    struct bench b = bench_simulated();
    uint64_t start = os_clock_now_ns();
    bench_limit(&b, "memory.max", 100);
    bench_faults(
        &b, (struct mglru_store_faulty_options){.delay_ppm = 1000000, .delay_max_ns = 4000000});
    for (uint64_t page = 0; page < 500; page++) {
        bench_put(&b, page * PAGE, "page");
        assert_in_range(dirty_pages(&b), 0, DIRTY_LIMIT);
    }
    /* The flusher wrote at most 64 pages at once, and each time took a part of 4 ms. */
    assert_in_range(os_clock_now_ns() - start, 1000000, UINT64_C(500) * THROTTLE_MS * 1000000);
    assert_int_equal(bench_stat(&b, "pgsteal") > 0, 1);
    bench_faults(&b, (struct mglru_store_faulty_options){0});
    bench_forget(&b);
    for (uint64_t page = 0; page < 500; page++)
        bench_expect(&b, page * PAGE, "page", 4);
    bench_end_simulated(&b);
}

/* A tenant's children have its limit together. */
static void T12_writers_of_two_children_wait_for_the_limit_of_their_parent(void **state)
{
    struct bench b = bench_simulated();
    struct mglru_memcg *children[2];
    struct mglru_file *files[2];
    size_t done;
    bench_limit(&b, "memory.max", 100);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(mglru_memcg_create(b.cache, i ? "/a/two" : "/a/one", &children[i]), 0);
        assert_int_equal(mglru_file_open(b.mapping, children[i], &files[i]), 0);
    }
    for (uint64_t page = 0; page < 200; page++) {
        assert_int_equal(mglru_write(files[page % 2], page * PAGE, "page", 4, &done), 0);
        assert_in_range(dirty_pages(&b), 0, DIRTY_LIMIT);
    }
    bench_end_simulated(&b);
}

/* The bound of the wait, then the error. */
static void T12_a_store_that_refuses_ends_the_wait_and_then_the_room(void **state)
{
    struct bench b = bench_simulated();
    uint64_t page = 0;
    size_t done;
    int error = 0;
    bench_limit(&b, "memory.max", 100);
    bench_faults(&b, (struct mglru_store_faulty_options){.write_error_ppm = 1000000});
    for (;; page++) {
        uint64_t start = os_clock_now_ns();
        error = mglru_write(b.file, page * PAGE, "page", 4, &done);
        if (error)
            break;
        uint64_t ms = (os_clock_now_ns() - start) / 1000000;
        assert_in_range(ms, page < DIRTY_LIMIT ? 0 : THROTTLE_MS,
                        page < DIRTY_LIMIT ? 10 : THROTTLE_MS + 10);
        assert_true(page < 100);
    }
    assert_int_equal(error, MGLRU_EOOM);
    assert_true(page > DIRTY_LIMIT);
    bench_faults(&b, (struct mglru_store_faulty_options){0});
    bench_put(&b, page * PAGE, "page");
    for (uint64_t i = 0; i <= page; i++)
        bench_expect(&b, i * PAGE, "page", 4);
    bench_end_simulated(&b);
}

static void T12_the_whole_cache_has_a_dirty_limit(void **state)
{
    struct bench b = bench_simulated();
    for (uint64_t page = 0; page < 2 * FRAMES; page++) {
        bench_put(&b, page * PAGE, "page");
        assert_in_range(dirty_pages(&b), 0, FRAMES * 20 / 100);
    }
    bench_end_simulated(&b);
}

/* One page that needs room takes a batch, whatever there is to take. */
static void T13_a_read_takes_a_small_batch(void **state)
{
    struct bench b = bench_make(FRAMES * 8 * PAGE);
    uint64_t stolen = 0, scanned = 0;
    bench_limit(&b, "memory.max", 200);
    for (unsigned i = 0; i < FRAMES * 8; i++) {
        bench_expect(&b, (i * 997 % (FRAMES * 8)) * PAGE, "", 1);
        uint64_t steal = bench_stat(&b, "pgsteal"), scan = bench_stat(&b, "pgscan");
        assert_in_range(steal - stolen, 0, MIN_LRU_BATCH);
        assert_in_range(scan - scanned, 0, 2 * MIN_LRU_BATCH);
        stolen = steal;
        scanned = scan;
    }
    assert_true(stolen > 0);
    bench_end(&b);
}

static void T13_background_reclaim_brings_a_memcg_to_memory_high(void **state)
{
    struct bench b = bench_make_with(
        (struct mglru_data_options){.readahead_bytes = UINT64_MAX, .flushers = 1}, FRAMES * PAGE);
    uint64_t used = 0;
    bench_limit(&b, "memory.high", 100);
    /* Up to an eighth above it callers leave the work to the background. */
    for (unsigned i = 0; i < 108; i++)
        bench_expect(&b, i * PAGE, "", 1);
    for (unsigned i = 0; i < 1000 && (used = bench_stat(&b, "file")) > 100 * PAGE; i++)
        os_clock_sleep_ns(5000000);
    assert_in_range(used, 0, 100 * PAGE);
    bench_end(&b);
}

static void T18_what_memory_is_used_for_is_told_apart(void **state)
{
    struct bench b = bench_make_with(
        (struct mglru_data_options){.no_threads = true, .readahead_bytes = UINT64_MAX}, 64 * PAGE);
    struct mglru_usage usage = usage_of(&b);
    assert_int_equal(usage.resident + usage.reclaimable + usage.dirty + usage.pinned, 0);
    for (unsigned i = 0; i < 40; i += 2)
        bench_expect(&b, i * PAGE, "", 1);
    for (unsigned i = 40; i < 45; i++)
        bench_put(&b, i * PAGE, "dirty");
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(mglru_pin(b.file, i * 2, MGLRU_PIN_READ, &pins[i]), MGLRU_OK);
    assert_int_equal(mglru_pin(b.file, 0, MGLRU_PIN_READ, &pins[3]), MGLRU_OK);
    background_drain(cache_data(b.cache));
    usage = usage_of(&b);
    assert_int_equal(usage.resident, 25);
    assert_int_equal(usage.dirty, 5);
    assert_int_equal(usage.pinned, 4);
    assert_int_equal(usage.reclaimable, 25 - 5 - 4);
    assert_in_range(usage.working_set, 0, 25);
    assert_int_equal(usage.working_set * PAGE, bench_stat(&b, "active_file"));
    struct mglru_memcg *root;
    assert_int_equal(mglru_memcg_find(b.cache, "/", &root), MGLRU_OK);
    mglru_memcg_usage(root, &usage);
    assert_int_equal(usage.resident, 25);
    assert_int_equal(usage.pinned, 4);
    unpin_all(4);
    assert_int_equal(mglru_sync(b.file, 0, 0), MGLRU_OK);
    usage = usage_of(&b);
    assert_int_equal(usage.dirty + usage.pinned, 0);
    assert_int_equal(usage.reclaimable, 25);
    bench_end(&b);
}

/* A limit that cannot be kept says why, and memory.min of a child is a reason. */
static void the_verdict_names_protected_pages(void **state)
{
    struct bench b = bench_make(FRAMES * PAGE);
    struct mglru_memcg *child;
    struct mglru_file *file;
    struct mglru_verdict verdict;
    char byte;
    size_t done;
    assert_int_equal(mglru_memcg_create(b.cache, "/a/b", &child), MGLRU_OK);
    assert_int_equal(mglru_file_open(b.mapping, child, &file), MGLRU_OK);
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(mglru_read(file, i * PAGE, &byte, 1, &done), MGLRU_OK);
    bench_limit(&b, "memory.min", FRAMES);
    assert_int_equal(mglru_memcg_write(child, "memory.min", "1M", 2), MGLRU_OK);
    bench_limit(&b, "memory.max", 64);
    mglru_memcg_verdict(b.memcg, &verdict);
    assert_int_equal(verdict.protected_ * PAGE, bench_stat(&b, "file"));
    assert_int_equal(verdict.pinned, 0);
    assert_int_equal(verdict.pinner, 0);
    assert_int_equal(verdict.dirty, 0);
    bench_end(&b);
}

static int start_watchdog(void **state)
{
    alarm(WATCHDOG_S);
    return 0;
}

static int stop_watchdog(void **state)
{
    alarm(0);
    return 0;
}

#define WATCHED(test) cmocka_unit_test_setup_teardown(test, start_watchdog, stop_watchdog)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WATCHED(T1_a_read_among_pinned_pages_is_served_outside_the_limit),
        WATCHED(T1_a_cache_full_of_pins_has_a_frame_left_for_reads),
        WATCHED(T1_a_read_among_dirty_pages_that_cannot_be_written_is_served),
        WATCHED(T1_a_read_outside_the_limit_reports_the_store),
        WATCHED(T1_a_strict_limit_refuses_the_read),
        WATCHED(T2_one_thread_may_fill_the_whole_limit),
        WATCHED(T3_a_refusal_looks_at_each_page_a_few_times),
        WATCHED(T4_memory_of_the_process_stays_near_the_limit),
        WATCHED(T11_the_smallest_cache_serves_many_threads),
        WATCHED(T12_writers_above_the_dirty_limit_wait_for_the_flusher),
        WATCHED(T12_writers_of_two_children_wait_for_the_limit_of_their_parent),
        WATCHED(T12_a_store_that_refuses_ends_the_wait_and_then_the_room),
        WATCHED(T12_the_whole_cache_has_a_dirty_limit),
        WATCHED(T13_a_read_takes_a_small_batch),
        WATCHED(T13_background_reclaim_brings_a_memcg_to_memory_high),
        WATCHED(T18_what_memory_is_used_for_is_told_apart),
        WATCHED(the_verdict_names_protected_pages),
    };
    return bench_each_model(tests, sizeof(tests) / sizeof(tests[0]));
}
