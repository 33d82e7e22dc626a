/* SPDX-License-Identifier: MIT */
/*
 * The faulty store: each fault happens when it is asked for, is counted, and repeats with its seed;
 * a power cut keeps what was synced and any part of the rest.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <mglru/stores.h>

#include "os/os.h"
#include "sync/atomic.h"

enum { PAGE = 4096, PAGES = 64, ALWAYS = 1000000 };

static struct mglru_store *base, *store;
static unsigned char page[PAGE];
static struct mglru_store_vec vec = {page, PAGE};

static int open_base(void **state)
{
    return mglru_store_memory_open(NULL, &base);
}

static int close_both(void **state)
{
    mglru_store_close(store);
    mglru_store_close(base);
    store = base = NULL;
    return 0;
}

static void open_faulty(struct mglru_store_faulty_options options)
{
    options.size = sizeof(options);
    assert_int_equal(mglru_store_faulty_open(base, &options, &store), MGLRU_OK);
}

static struct mglru_store_faulty_counts counts_now(void)
{
    struct mglru_store_faulty_counts counts = {.size = sizeof(counts)};
    assert_int_equal(mglru_store_faulty_counts(store, &counts), MGLRU_OK);
    return counts;
}

static int write_page(struct mglru_store *to, unsigned number, int value)
{
    memset(page, value, PAGE);
    return mglru_store_write(to, (uint64_t)number * PAGE, &vec, 1);
}

/* Fills all pages with @value. */
static void write_all(struct mglru_store *to, int value)
{
    for (unsigned i = 0; i < PAGES; i++)
        assert_int_equal(write_page(to, i, value), MGLRU_OK);
}

/* Pages that hold nothing but @value; *mixed: pages that hold more than one value. */
static unsigned count_pages(struct mglru_store *from, int value, unsigned *mixed)
{
    unsigned whole = 0;
    *mixed = 0;
    for (unsigned i = 0; i < PAGES; i++) {
        bool same = true;
        assert_int_equal(mglru_store_read(from, (uint64_t)i * PAGE, &vec, 1), MGLRU_OK);
        for (unsigned at = 1; at < PAGE; at++)
            same = same && page[at] == page[0];
        *mixed += !same;
        whole += same && page[0] == value;
    }
    return whole;
}

/* ---- Kinds of faults ---- */

static void errors_are_injected_and_counted(void **state)
{
    open_faulty((struct mglru_store_faulty_options){.read_error_ppm = ALWAYS,
                                                    .write_nospace_ppm = ALWAYS,
                                                    .sync_error_ppm = ALWAYS,
                                                    .discard_error_ppm = ALWAYS});
    assert_int_equal(mglru_store_read(store, 0, &vec, 1), MGLRU_EIO);
    assert_int_equal(write_page(store, 0, 1), MGLRU_ENOSPC);
    assert_int_equal(mglru_store_sync(store), MGLRU_EIO);
    assert_int_equal(mglru_store_punch(store, 0, 1), MGLRU_EIO);
    assert_int_equal(mglru_store_truncate(store, 9), MGLRU_EIO);
    struct mglru_store_faulty_counts counts = counts_now();
    assert_int_equal(counts.requests, 5);
    assert_int_equal(counts.read_errors, 1);
    assert_int_equal(counts.write_nospaces, 1);
    assert_int_equal(counts.sync_errors, 1);
    assert_int_equal(counts.discard_errors, 2);
    uint64_t size;
    assert_int_equal(mglru_store_size(base, &size), MGLRU_OK);
    assert_int_equal(size, 0); /* nothing got through */
}

static void a_failed_write_happens_in_part(void **state)
{
    unsigned mixed;
    write_all(base, 1);
    open_faulty((struct mglru_store_faulty_options){.write_error_ppm = ALWAYS});
    for (unsigned i = 0; i < PAGES; i++)
        assert_int_equal(write_page(store, i, 2), MGLRU_EIO);
    assert_int_equal(counts_now().write_errors, PAGES);
    count_pages(base, 2, &mixed);
    assert_in_range(mixed, PAGES / 2, PAGES);
}

static void chances_are_kept(void **state)
{
    open_faulty((struct mglru_store_faulty_options){.seed = 5, .read_error_ppm = 100000});
    unsigned failed = 0;
    for (unsigned i = 0; i < 10000; i++)
        failed += mglru_store_read(store, 0, &vec, 1) == MGLRU_EIO;
    assert_int_equal(counts_now().read_errors, failed);
    assert_in_range(failed, 850, 1150); /* five standard deviations around 1000 */
}

static void short_transfers_are_made_whole(void **state)
{
    open_faulty((struct mglru_store_faulty_options){.seed = 1, .short_ppm = 900000});
    for (unsigned i = 0; i < 20; i++)
        assert_int_equal(write_page(store, i, 7), MGLRU_OK);
    unsigned mixed;
    assert_int_equal(count_pages(store, 7, &mixed), 20);
    assert_true(counts_now().shorts > 40);
}

static void delays_take_their_time(void **state)
{
    open_faulty((struct mglru_store_faulty_options){
        .seed = 1, .delay_ppm = ALWAYS, .delay_max_ns = 2000000});
    uint64_t before = os_clock_now_ns();
    for (unsigned i = 0; i < 10; i++)
        assert_int_equal(write_page(store, i, 1), MGLRU_OK);
    uint64_t took = os_clock_now_ns() - before;
    assert_int_equal(counts_now().delays, 10);
    assert_true(took > 2000000); /* ten draws up to 2 ms: 10 ms on average */
}

/* ---- Reproducibility ---- */

/* What a fixed sequence of calls comes to, as a hash of all results. */
static uint64_t trace_of(uint64_t seed)
{
    uint64_t hash = 0;
    open_faulty((struct mglru_store_faulty_options){.seed = seed,
                                                    .read_error_ppm = 50000,
                                                    .write_error_ppm = 50000,
                                                    .write_nospace_ppm = 20000,
                                                    .sync_error_ppm = 200000,
                                                    .short_ppm = 200000,
                                                    .volatile_cache = true,
                                                    .failed_sync_loses = true,
                                                    .destage_ppm = 300000,
                                                    .sector_bytes = 512,
                                                    .cut_at_request = 900});
    for (unsigned i = 0; i < 1000; i++) {
        int result = i % 7 == 3   ? mglru_store_sync(store)
                     : i % 3 == 0 ? mglru_store_read(store, i % PAGES * PAGE, &vec, 1)
                                  : write_page(store, i * 5 % PAGES, (int)i);
        hash = hash * 31 + (unsigned)-result + (result ? 0 : page[PAGE - 1]);
    }
    for (unsigned i = 0; i < PAGES; i++) {
        assert_int_equal(mglru_store_read(base, (uint64_t)i * PAGE, &vec, 1), MGLRU_OK);
        for (unsigned at = 0; at < PAGE; at++)
            hash = hash * 31 + page[at];
    }
    struct mglru_store_faulty_counts counts = counts_now();
    assert_true(counts.pages_torn && counts.pages_lost && counts.pages_destaged && counts.refused);
    assert_int_equal(counts.requests, counts_now().requests);
    hash = hash * 31 + counts.shorts + counts.pages_torn + counts.pages_lost;
    mglru_store_close(store);
    mglru_store_close(base);
    assert_int_equal(mglru_store_memory_open(NULL, &base), MGLRU_OK);
    store = NULL;
    return hash;
}

static void a_seed_repeats_a_run(void **state)
{
    uint64_t first = trace_of(42), again = trace_of(42), other = trace_of(43);
    assert_true(first == again);
    assert_true(first != other);
}

/* ---- Power ---- */

static void a_power_cut_keeps_what_was_synced(void **state)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        unsigned mixed;
        open_faulty((struct mglru_store_faulty_options){
            .seed = seed, .volatile_cache = true, .destage_ppm = 300000});
        write_all(store, 1);
        assert_int_equal(mglru_store_sync(store), MGLRU_OK);
        for (unsigned i = 0; i < PAGES / 2; i++)
            assert_int_equal(write_page(store, i, 2), MGLRU_OK);
        assert_int_equal(mglru_store_faulty_power_cut(store), MGLRU_OK);
        unsigned old = count_pages(base, 1, &mixed);
        assert_int_equal(mixed, 0);
        assert_int_equal(old + count_pages(base, 2, &mixed), PAGES);
        assert_in_range(old, PAGES / 2 + 1, PAGES - 1); /* some of the rest was kept, some lost */
        assert_int_equal(counts_now().pages_lost, old - PAGES / 2);
        assert_int_equal(counts_now().pages_torn, 0);
        mglru_store_close(store);
        store = NULL;
    }
}

static void without_power_everything_fails(void **state)
{
    uint64_t size;
    open_faulty((struct mglru_store_faulty_options){.volatile_cache = true, .cut_at_request = 3});
    assert_int_equal(write_page(store, 0, 1), MGLRU_OK);
    assert_int_equal(mglru_store_sync(store), MGLRU_OK);
    assert_int_equal(write_page(store, 0, 2), MGLRU_EIO); /* the third */
    assert_int_equal(mglru_store_read(store, 0, &vec, 1), MGLRU_EIO);
    assert_int_equal(mglru_store_sync(store), MGLRU_EIO);
    assert_int_equal(mglru_store_truncate(store, 0), MGLRU_EIO);
    assert_int_equal(mglru_store_punch(store, 0, PAGE), MGLRU_EIO);
    assert_int_equal(mglru_store_size(store, &size), MGLRU_EIO);
    assert_int_equal(counts_now().refused, 5);
    assert_int_equal(mglru_store_faulty_power_cut(store), MGLRU_OK); /* cut already */
    unsigned mixed;
    assert_int_equal(count_pages(base, 1, &mixed), 1);
}

static void sectors_are_torn(void **state)
{
    unsigned mixed;
    open_faulty((struct mglru_store_faulty_options){
        .seed = 3, .volatile_cache = true, .sector_bytes = 512});
    write_all(store, 1);
    assert_int_equal(mglru_store_sync(store), MGLRU_OK);
    write_all(store, 2);
    assert_int_equal(mglru_store_faulty_power_cut(store), MGLRU_OK);
    count_pages(base, 1, &mixed);
    assert_in_range(mixed, PAGES / 4, PAGES * 3 / 4);
    assert_int_equal(counts_now().pages_torn, mixed);
    for (unsigned i = 0; i < PAGES; i++) { /* within a sector all is of one age */
        assert_int_equal(mglru_store_read(base, (uint64_t)i * PAGE, &vec, 1), MGLRU_OK);
        for (unsigned at = 0; at < PAGE; at++)
            assert_int_equal(page[at], page[at / 512 * 512]);
    }
}

/* A later page may survive where an earlier one is lost, and an early version a later one. */
static void writes_reach_the_base_in_any_order(void **state)
{
    unsigned mixed;
    open_faulty((struct mglru_store_faulty_options){
        .seed = 9, .volatile_cache = true, .destage_ppm = 500000});
    write_all(store, 1);
    assert_true(counts_now().pages_destaged > 5);
    write_all(store, 2);
    write_all(store, 3);
    assert_int_equal(mglru_store_faulty_power_cut(store), MGLRU_OK);
    unsigned first = count_pages(base, 1, &mixed);
    unsigned second = count_pages(base, 2, &mixed);
    unsigned third = count_pages(base, 3, &mixed);
    assert_true(first && second && third);
    assert_int_equal(first + second + third + count_pages(base, 0, &mixed), PAGES);
}

static unsigned lost_after_failed_sync(bool loses)
{
    unsigned mixed;
    open_faulty((struct mglru_store_faulty_options){
        .seed = 4, .volatile_cache = true, .sync_error_ppm = ALWAYS, .failed_sync_loses = loses});
    write_all(store, 1);
    assert_int_equal(mglru_store_sync(store), MGLRU_EIO);
    assert_int_equal(count_pages(store, 1, &mixed), PAGES); /* still there to be read */
    struct mglru_store_faulty_options calm = {.size = sizeof(calm)};
    assert_int_equal(mglru_store_faulty_set(store, &calm), MGLRU_OK);
    for (unsigned i = 0; i < PAGES / 4; i++)
        assert_int_equal(write_page(store, i, 1), MGLRU_OK); /* written again: pending again */
    assert_int_equal(mglru_store_sync(store), MGLRU_OK);
    assert_int_equal(count_pages(store, 1, &mixed), PAGES);
    assert_int_equal(mglru_store_faulty_power_cut(store), MGLRU_OK);
    for (unsigned i = 0; i < PAGES / 4; i++) {
        assert_int_equal(mglru_store_read(base, (uint64_t)i * PAGE, &vec, 1), MGLRU_OK);
        assert_int_equal(page[0], 1);
    }
    unsigned kept = count_pages(base, 1, &mixed);
    mglru_store_close(store);
    mglru_store_close(base);
    assert_int_equal(mglru_store_memory_open(NULL, &base), MGLRU_OK);
    store = NULL;
    return PAGES - kept;
}

static void a_good_sync_does_not_mend_a_failed_one(void **state)
{
    assert_int_equal(lost_after_failed_sync(false), 0);
    assert_in_range(lost_after_failed_sync(true), PAGES / 4, PAGES * 3 / 4);
}

static void truncates_and_holes_wait_for_the_sync(void **state)
{
    unsigned mixed;
    uint64_t size;
    open_faulty((struct mglru_store_faulty_options){.seed = 6, .volatile_cache = true});
    write_all(store, 1);
    assert_int_equal(mglru_store_sync(store), MGLRU_OK);
    assert_int_equal(mglru_store_punch(store, 0, 10 * PAGE), MGLRU_OK);
    assert_int_equal(mglru_store_truncate(store, 32 * PAGE), MGLRU_OK);
    assert_int_equal(count_pages(base, 1, &mixed), PAGES);
    assert_int_equal(mglru_store_sync(store), MGLRU_OK);
    assert_int_equal(count_pages(base, 1, &mixed), 22);
    assert_int_equal(mglru_store_size(base, &size), MGLRU_OK);
    assert_int_equal(size, 32 * PAGE);
    assert_int_equal(mglru_store_truncate(store, 0), MGLRU_OK);
    assert_int_equal(mglru_store_faulty_power_cut(store), MGLRU_OK);
    assert_in_range(count_pages(base, 1, &mixed), 1, 21); /* some zeros came through */
}

static void closing_is_no_power_cut(void **state)
{
    unsigned mixed;
    open_faulty((struct mglru_store_faulty_options){.volatile_cache = true});
    write_all(store, 1);
    assert_int_equal(count_pages(base, 1, &mixed), 0);
    mglru_store_close(store);
    store = NULL;
    assert_int_equal(count_pages(base, 1, &mixed), PAGES);
}

static void note_end(struct mglru_store_request *request)
{
    atomic_store_release((_Atomic uint32_t *)request->context, 1);
}

static void delayed_requests_fail_with_the_power(void **state)
{
    _Atomic uint32_t ended = 0;
    open_faulty((struct mglru_store_faulty_options){.delay_ppm = ALWAYS,
                                                    .delay_max_ns = UINT64_C(60000000000)});
    struct mglru_store_request request = {
        .op = MGLRU_STORE_READ, .vec = &vec, .count = 1, .complete = note_end, .context = &ended};
    struct mglru_store_request *list[] = {&request};
    mglru_store_submit(store, list, 1);
    assert_int_equal(mglru_store_poll(store), 0);
    assert_int_equal(atomic_load_acquire(&ended), 0);
    assert_int_equal(mglru_store_faulty_power_cut(store), MGLRU_OK);
    mglru_store_wait(store, (const uint32_t *)&ended, 0);
    assert_int_equal(request.error, MGLRU_EIO);
}

static void senseless_options_are_refused(void **state)
{
    const struct mglru_store_faulty_options wrong[] = {
        {.size = 8},
        {.size = sizeof(wrong[0]), .read_error_ppm = ALWAYS + 1},
        {.size = sizeof(wrong[0]), .destage_ppm = ALWAYS + 1},
        {.size = sizeof(wrong[0]), .delay_max_ns = UINT64_MAX},
        {.size = sizeof(wrong[0]), .page_bytes = 4095},
        {.size = sizeof(wrong[0]), .page_bytes = 256},
        {.size = sizeof(wrong[0]), .page_bytes = 1u << 22},
        {.size = sizeof(wrong[0]), .sector_bytes = 8192},
        {.size = sizeof(wrong[0]), .sector_bytes = 8},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(mglru_store_faulty_open(base, &wrong[i], &store), MGLRU_EINVAL);
        assert_null(store);
    }
    open_faulty((struct mglru_store_faulty_options){.seed = 1});
    struct mglru_store_faulty_options fine = {.size = sizeof(fine)};
    struct mglru_store *second;
    assert_int_equal(mglru_store_faulty_open(store, &fine, &second), MGLRU_EINVAL);
    assert_null(second);
    assert_int_equal(mglru_store_faulty_power_cut(base), MGLRU_EINVAL);
    assert_int_equal(mglru_store_faulty_set(base, &fine), MGLRU_EINVAL);
    assert_int_equal(mglru_store_faulty_set(store, &wrong[1]), MGLRU_EINVAL);
    struct mglru_store_faulty_counts counts = {.size = 1};
    assert_int_equal(mglru_store_faulty_counts(store, &counts), MGLRU_EINVAL);
}

#define FAULTY(test) cmocka_unit_test_setup_teardown(test, open_base, close_both)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FAULTY(errors_are_injected_and_counted),
        FAULTY(a_failed_write_happens_in_part),
        FAULTY(chances_are_kept),
        FAULTY(short_transfers_are_made_whole),
        FAULTY(delays_take_their_time),
        FAULTY(a_seed_repeats_a_run),
        FAULTY(a_power_cut_keeps_what_was_synced),
        FAULTY(without_power_everything_fails),
        FAULTY(sectors_are_torn),
        FAULTY(writes_reach_the_base_in_any_order),
        FAULTY(a_good_sync_does_not_mend_a_failed_one),
        FAULTY(truncates_and_holes_wait_for_the_sync),
        FAULTY(closing_is_no_power_cut),
        FAULTY(delayed_requests_fail_with_the_power),
        FAULTY(senseless_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
