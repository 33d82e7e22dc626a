/* SPDX-License-Identifier: MIT */
/*
 * The calls of <mglru/data.h> on one thread: results, errors and edges, over a memory store and
 * over one that fails on demand. Each test ends with the walkers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "data_bench.h"

static void reads_end_at_the_size(void **state)
{
    struct bench b = bench_make(PAGE + 10);
    char buffer[2 * PAGE];
    size_t done;
    assert_int_equal(mglru_read(b.file, PAGE, buffer, PAGE, &done), MGLRU_OK);
    assert_int_equal(done, 10);
    assert_int_equal(mglru_read(b.file, PAGE + 10, buffer, 1, &done), MGLRU_OK);
    assert_int_equal(done, 0);
    assert_int_equal(mglru_read(b.file, 5, buffer, 0, &done), MGLRU_OK);
    assert_int_equal(done, 0);
    bench_end(&b);
}

static void writes_grow_the_mapping_and_leave_zeros(void **state)
{
    struct bench b = bench_make(0);
    bench_put(&b, 10 * PAGE - 2, "abcd"); /* over the edge of a page */
    assert_int_equal(mglru_data_mapping_bytes(b.mapping), 10 * PAGE + 2);
    for (int turn = 0; turn < 2; turn++) {
        bench_expect(&b, 10 * PAGE - 4, "\0", 2);
        bench_expect(&b, 10 * PAGE - 2, "abcd", 4);
        bench_expect(&b, 3 * PAGE, "", 16);
        bench_forget(&b);
    }
    size_t done;
    assert_int_equal(mglru_write(b.file, STORE_BYTES, "x", 1, &done), MGLRU_ENOSPC);
    assert_int_equal(done, 0);
    bench_end(&b);
}

static void a_truncated_tail_reads_as_zeros(void **state)
{
    struct bench b = bench_make(0);
    bench_put(&b, 0, "abcdefgh");
    bench_put(&b, 5 * PAGE, "ijkl");
    bench_forget(&b);
    bench_expect(&b, 0, "abcdefgh", 8);
    assert_int_equal(mglru_truncate(b.mapping, 3), MGLRU_OK);
    assert_int_equal(mglru_data_mapping_bytes(b.mapping), 3);
    assert_int_equal(mglru_truncate(b.mapping, 6 * PAGE), MGLRU_OK);
    for (int turn = 0; turn < 2; turn++) {
        bench_expect(&b, 0, "abc", 8);
        bench_expect(&b, 5 * PAGE, "", 4);
        bench_forget(&b);
    }
    bench_end(&b);
}

/* What the store still has beyond the end never shows, and it is cut before the mapping grows. */
static void a_truncation_that_the_store_refused_holds(void **state)
{
    struct bench b = bench_make(0);
    char buffer[8];
    size_t done;
    bench_put(&b, 0, "abcdefgh");
    bench_put(&b, 5 * PAGE, "ijkl");
    bench_forget(&b);
    bench_faults(&b, (struct mglru_store_faulty_options){.discard_error_ppm = 1000000});
    assert_int_equal(mglru_truncate(b.mapping, 3), MGLRU_EIO);
    assert_int_equal(mglru_data_mapping_bytes(b.mapping), 3);
    bench_expect(&b, 0, "abc", 3); /* brings the page from the longer store */
    assert_int_equal(mglru_write(b.file, 5, "x", 1, &done), MGLRU_EIO);
    assert_int_equal(mglru_write(b.file, 6 * PAGE, "x", 1, &done), MGLRU_EIO);
    assert_int_equal(mglru_truncate(b.mapping, 6 * PAGE), MGLRU_EIO);
    assert_int_equal(mglru_sync(b.file, 0, 0), MGLRU_EIO);
    assert_int_equal(mglru_data_mapping_bytes(b.mapping), 3);
    bench_faults(&b, (struct mglru_store_faulty_options){0});
    bench_put(&b, 5, "x");
    assert_int_equal(mglru_read(b.file, 0, buffer, sizeof(buffer), &done), MGLRU_OK);
    assert_int_equal(done, 6);
    assert_memory_equal(buffer, "abc\0\0x", 6);
    bench_put(&b, 6 * PAGE, "y");
    for (int turn = 0; turn < 2; turn++) {
        bench_expect(&b, 6, "", 2);
        bench_expect(&b, 5 * PAGE, "", 4);
        bench_forget(&b);
    }
    bench_end(&b);
}

static void a_punch_zeroes_parts_and_whole_pages(void **state)
{
    struct bench b = bench_make(0);
    for (unsigned page = 0; page < 5; page++) {
        bench_put(&b, page * PAGE, "head");
        bench_put(&b, page * PAGE + PAGE - 4, "tail");
    }
    assert_int_equal(mglru_punch(b.file, PAGE - 2, 2 * PAGE + 4), MGLRU_OK);
    for (int turn = 0; turn < 2; turn++) {
        bench_expect(&b, PAGE - 4, "ta", 4);
        bench_expect(&b, PAGE, "", 4);
        bench_expect(&b, 3 * PAGE - 4, "", 4);
        bench_expect(&b, 3 * PAGE, "\0", 2);
        bench_expect(&b, 3 * PAGE + 2, "ad", 2);
        bench_expect(&b, 4 * PAGE, "head", 4);
        bench_forget(&b);
    }
    bench_end(&b);
}

static void drops_take_clean_pages_that_nobody_uses(void **state)
{
    struct bench b = bench_make(4 * PAGE);
    struct mglru_pin pin;
    bench_put(&b, PAGE, "dirty");
    assert_int_equal(mglru_pin(b.file, 2, MGLRU_PIN_READ, &pin), MGLRU_OK);
    bench_expect(&b, 3 * PAGE, "", 4);
    assert_int_equal(mglru_drop(b.mapping, 0, 4 * PAGE), 1);
    mglru_unpin(&pin, MGLRU_UNPIN_CLEAN);
    assert_int_equal(mglru_drop(b.mapping, 0, 3 * PAGE), 1);
    bench_expect(&b, PAGE, "dirty", 5);
    bench_end(&b);
}

static void peeks_find_only_what_is_there(void **state)
{
    struct bench b = bench_make(16 * PAGE);
    char buffer[2 * PAGE];
    size_t done;
    assert_int_equal(mglru_peek(b.file, 8 * PAGE, buffer, 8, &done), MGLRU_OK);
    assert_int_equal(done, 0);
    bench_expect(&b, 8 * PAGE, "", 4); /* no sequence: one page */
    assert_int_equal(mglru_peek(b.file, 8 * PAGE, buffer, sizeof(buffer), &done), MGLRU_OK);
    assert_int_equal(done, PAGE);
    bench_end(&b);
}

static void pins_beyond_the_end_are_for_overwriting(void **state)
{
    struct bench b = bench_make(PAGE);
    struct mglru_pin pin;
    assert_int_equal(mglru_pin(b.file, 1, MGLRU_PIN_READ, &pin), MGLRU_ERANGE);
    assert_int_equal(mglru_pin(b.file, 1, MGLRU_PIN_WRITE, &pin), MGLRU_ERANGE);
    assert_int_equal(mglru_pin(b.file, 0, (enum mglru_pin_mode)0, &pin), MGLRU_EINVAL);
    assert_int_equal(mglru_pin(b.file, 2, MGLRU_PIN_OVERWRITE, &pin), MGLRU_OK);
    assert_int_equal((uintptr_t)pin.data % PAGE, 0);
    memset(pin.data, 'x', PAGE);
    mglru_unpin(&pin, MGLRU_UNPIN_DIRTY);
    assert_int_equal(mglru_data_mapping_bytes(b.mapping), 3 * PAGE);
    bench_forget(&b);
    bench_expect(&b, 2 * PAGE, "xxxx", 4);
    bench_end(&b);
}

/* Or a pinner would be shown what another tenant left in the frame. */
static void what_was_not_overwritten_is_not_kept(void **state)
{
    struct bench b = bench_make(0);
    struct mglru_pin pin;
    bench_put(&b, 0, "old");
    bench_forget(&b);
    assert_int_equal(mglru_pin(b.file, 0, MGLRU_PIN_OVERWRITE, &pin), MGLRU_OK);
    memset(pin.data, 'z', PAGE);
    mglru_unpin(&pin, MGLRU_UNPIN_CLEAN);
    bench_expect(&b, 0, "old", 3);
    bench_end(&b);
}

static void a_discarded_page_goes_back_to_the_store(void **state)
{
    struct bench b = bench_make(0);
    struct mglru_pin pin;
    bench_put(&b, 0, "old");
    assert_int_equal(mglru_sync(b.file, 0, 0), MGLRU_OK);
    assert_int_equal(mglru_pin(b.file, 0, MGLRU_PIN_WRITE, &pin), MGLRU_OK);
    memcpy(pin.data, "new", 3);
    mglru_unpin(&pin, MGLRU_UNPIN_DISCARD);
    bench_expect(&b, 0, "old", 3);
    bench_end(&b);
}

static void a_page_has_room_for_its_readers_and_no_more(void **state)
{
    struct bench b = bench_make(PAGE);
    static struct mglru_pin pins[16384];
    unsigned count = 0;
    while (count < 16384 && !mglru_pin(b.file, 0, MGLRU_PIN_READ, &pins[count]))
        count++;
    assert_int_equal(count, 16383);
    assert_int_equal(mglru_pin(b.file, 0, MGLRU_PIN_READ, &pins[count]), MGLRU_EBUSY);
    bench_expect(&b, 0, "", 4); /* copies need no place */
    bench_verify(&b);
    while (count > 0)
        mglru_unpin(&pins[--count], MGLRU_UNPIN_CLEAN);
    bench_end(&b);
}

static void an_error_is_told_to_each_file_once(void **state)
{
    struct bench b = bench_make(0);
    struct mglru_file *other, *later;
    assert_int_equal(mglru_file_open(b.mapping, b.memcg, &other), MGLRU_OK);
    bench_put(&b, 0, "abc");
    bench_faults(&b, (struct mglru_store_faulty_options){.write_error_ppm = 1000000});
    assert_int_equal(mglru_sync(b.file, 0, 0), MGLRU_EIO);
    bench_faults(&b, (struct mglru_store_faulty_options){0});
    assert_int_equal(mglru_file_open(b.mapping, b.memcg, &later), MGLRU_OK);
    assert_int_equal(mglru_sync(b.file, 0, 0), MGLRU_OK); /* the page had stayed dirty */
    assert_int_equal(mglru_sync(other, 0, 0), MGLRU_EIO);
    assert_int_equal(mglru_sync(other, 0, 0), MGLRU_OK);
    assert_int_equal(mglru_sync(later, 0, 0), MGLRU_OK);
    mglru_drop(b.mapping, 0, UINT64_MAX);
    bench_expect(&b, 0, "abc", 3);
    bench_end(&b);
}

static void a_failed_sync_makes_pages_dirty_again(void **state)
{
    struct bench b = bench_make(0);
    bench_put(&b, 0, "abc");
    bench_faults(&b, (struct mglru_store_faulty_options){.sync_error_ppm = 1000000});
    assert_int_equal(mglru_sync(b.file, 0, 0), MGLRU_EIO);
    assert_int_equal(mglru_drop(b.mapping, 0, PAGE), 0); /* dirty */
    bench_verify(&b);
    bench_faults(&b, (struct mglru_store_faulty_options){0});
    assert_int_equal(mglru_sync(b.file, 0, 0), MGLRU_OK);
    assert_int_equal(mglru_drop(b.mapping, 0, PAGE), 1);
    bench_end(&b);
}

static void flush_all(void *argument)
{
    const struct bench *b = argument;
    assert_int_equal(flush_some(cache_data(b->cache), 64, UINT64_MAX), 0);
}

/* A flusher has the page on its way when the sync begins, and the store refuses it. */
static void a_sync_notices_what_a_flusher_could_not_write(void **state)
{
    struct os_thread *flusher;
    os_use(os_sim(1));
    struct bench b = bench_make(0);
    bench_put(&b, 0, "abc");
    bench_faults(
        &b, (struct mglru_store_faulty_options){.write_error_ppm = 1000000, .delay_ppm = 1000000});
    assert_int_equal(os_thread_start(flush_all, &b, &flusher), MGLRU_OK);
    while (data_dirty_pages(cache_data(b.cache)))
        os_thread_yield();
    assert_int_equal(mglru_sync_all(b.cache), MGLRU_EIO);
    os_thread_join(flusher);
    bench_end(&b);
    os_use(NULL);
}

static void what_left_before_a_failed_sync_is_lost_for_ever(void **state)
{
    struct bench b = bench_make(0);
    bench_put(&b, 0, "abc");
    assert_int_equal(flush_some(cache_data(b.cache), 64, UINT64_MAX), 1);
    assert_int_equal(mglru_drop(b.mapping, 0, PAGE), 1); /* written, no sync covered it */
    bench_faults(&b, (struct mglru_store_faulty_options){.sync_error_ppm = 1000000});
    assert_int_equal(mglru_sync(b.file, 0, 0), MGLRU_EIO);
    bench_faults(&b, (struct mglru_store_faulty_options){0});
    assert_int_equal(mglru_sync(b.file, 0, 0), MGLRU_EIO);
    assert_int_equal(mglru_sync(b.file, 0, 0), MGLRU_EIO);
    assert_int_equal(mglru_truncate(b.mapping, 0), MGLRU_OK);
    assert_int_equal(mglru_sync(b.file, 0, 0), MGLRU_OK);
    bench_end(&b);
}

/* A store that could not sync may forget them, and there is nothing left to do them again from. */
static void a_failed_sync_loses_punches_and_truncations(void **state)
{
    for (int cut = 0; cut < 2; cut++) {
        struct bench b = bench_make(0);
        bench_put(&b, 0, "abc");
        bench_put(&b, 2 * PAGE, "def");
        assert_int_equal(mglru_sync(b.file, 0, 0), MGLRU_OK);
        assert_int_equal(cut ? mglru_truncate(b.mapping, PAGE) : mglru_punch(b.file, PAGE, PAGE),
                         MGLRU_OK);
        bench_faults(&b, (struct mglru_store_faulty_options){.sync_error_ppm = 1000000});
        assert_int_equal(mglru_sync(b.file, 0, 0), MGLRU_EIO);
        bench_faults(&b, (struct mglru_store_faulty_options){0});
        assert_int_equal(mglru_sync(b.file, 0, 0), MGLRU_EIO);
        assert_int_equal(mglru_truncate(b.mapping, 0), MGLRU_OK);
        assert_int_equal(mglru_sync(b.file, 0, 0), MGLRU_OK);
        bench_end(&b);
    }
}

static void a_read_that_failed_leaves_no_page(void **state)
{
    struct bench b = bench_make(8 * PAGE);
    char byte;
    size_t done;
    bench_faults(&b, (struct mglru_store_faulty_options){.read_error_ppm = 1000000});
    assert_int_equal(mglru_read(b.file, PAGE, &byte, 1, &done), MGLRU_EIO);
    assert_int_equal(done, 0);
    bench_verify(&b);
    bench_faults(&b, (struct mglru_store_faulty_options){0});
    bench_expect(&b, PAGE, "", 4);
    bench_end(&b);
}

static void a_purgeable_page_vanishes_when_unpinned(void **state)
{
    struct bench b = bench_make(0);
    struct mglru_mapping *mapping;
    struct mglru_file *file;
    struct mglru_pin pin;
    char byte;
    size_t done;
    assert_int_equal(mglru_data_mapping_create(b.cache, "p", NULL, 4 * PAGE, &mapping), 0);
    assert_int_equal(mglru_file_open(mapping, b.memcg, &file), MGLRU_OK);
    assert_int_equal(mglru_write(file, 0, "x", 1, &done), MGLRU_OK);
    assert_int_equal(mglru_sync(file, 0, 0), MGLRU_OK);
    assert_int_equal(mglru_pin(file, 0, MGLRU_PIN_READ, &pin), MGLRU_OK);
    assert_int_equal(mglru_drop(mapping, 0, PAGE), 0);
    assert_int_equal(*(char *)pin.data, 'x');
    mglru_unpin(&pin, MGLRU_UNPIN_CLEAN);
    assert_int_equal(mglru_drop(mapping, 0, PAGE), 1);
    assert_int_equal(mglru_read(file, 0, &byte, 1, &done), MGLRU_OK);
    assert_int_equal(byte, 0);
    bench_end(&b);
}

/* A shadow entry that outlived its memcg says nothing about the next owner of the id. */
static void a_refault_is_not_that_of_a_removed_memcg(void **state)
{
    for (unsigned turn = 0; turn < 2; turn++) {
        struct bench b = bench_make_with(
            (struct mglru_data_options){.no_threads = true, .readahead_bytes = UINT64_MAX},
            FRAMES * PAGE);
        struct memcg_tree *tree = b.cache->tree;
        uint64_t id = mglru_memcg_id(b.memcg);
        bench_limit(&b, "memory.max", 64);
        for (unsigned page = 0; page < FRAMES; page++)
            bench_expect(&b, page * PAGE, "", 1);
        mglru_drop(b.mapping, 0, UINT64_MAX); /* leaves the shadows */
        mglru_file_close(b.file);
        assert_int_equal(mglru_memcg_remove(b.memcg), MGLRU_OK);
        tree->id_hint = (uint32_t)id; /* as after 65535 others; turn 0: as if there were no turns */
        tree->id_turn = (uint8_t)(tree->id_turn + turn);
        assert_int_equal(mglru_memcg_create(b.cache, "/b", &b.memcg), MGLRU_OK);
        assert_int_equal(mglru_memcg_id(b.memcg), id);
        assert_int_equal(mglru_file_open(b.mapping, b.memcg, &b.file), MGLRU_OK);
        for (unsigned page = 0; page < 32; page++)
            bench_expect(&b, page * PAGE, "", 1);
        assert_int_equal(bench_stat(&b, "workingset_refault_file"), turn ? 0 : 32);
        bench_end(&b);
    }
}

/* T7: the error comes after a bounded time, and the verdict says how many pages are pinned. */
static void T7_a_full_memcg_says_who_pins(void **state)
{
    struct bench b = bench_make(FRAMES * PAGE);
    static struct mglru_pin pins[FRAMES];
    struct mglru_verdict verdict;
    unsigned count = 0;
    int error;
    mglru_memcg_verdict(b.memcg, &verdict);
    assert_int_equal(verdict.scanned, 0);
    bench_limit(&b, "memory.max", 64);
    while (!(error = mglru_pin(b.file, count, MGLRU_PIN_READ, &pins[count])))
        assert_true(++count <= 64);
    assert_int_equal(error, MGLRU_EOOM);
    mglru_memcg_verdict(b.memcg, &verdict);
    assert_int_equal(verdict.pinned, count);
    assert_int_equal(verdict.dirty, 0);
    bench_verify(&b);
    while (count > 0)
        mglru_unpin(&pins[--count], MGLRU_UNPIN_CLEAN);
    bench_expect(&b, 100 * PAGE, "", 4);
    bench_end(&b);
}

/* T8, T12: a memcg full of dirty pages writes some and goes on. */
static void T8_a_write_into_a_full_memcg_reclaims_first(void **state)
{
    struct bench b = bench_make(0);
    bench_limit(&b, "memory.max", 64);
    for (unsigned page = 0; page < 4 * 64; page++)
        bench_put(&b, page * PAGE, "page");
    uint64_t used;
    assert_int_equal(mglru_memcg_stat(b.memcg, "file", &used), MGLRU_OK);
    assert_true(used <= 64 * PAGE);
    bench_forget(&b);
    for (unsigned page = 0; page < 4 * 64; page++)
        bench_expect(&b, page * PAGE, "page", 4);
    bench_end(&b);
}

/* T9, T12: the store refuses everything: an error with a reason, and a way out of it. */
static void T9_a_memcg_full_of_dirty_pages_has_an_exit(void **state)
{
    struct bench b = bench_make(0);
    struct mglru_verdict verdict;
    unsigned page = 0;
    size_t done;
    int error;
    bench_limit(&b, "memory.max", 64);
    bench_faults(&b, (struct mglru_store_faulty_options){.write_error_ppm = 1000000});
    while (!(error = mglru_write(b.file, page * PAGE, "dirty", 5, &done)))
        assert_true(++page <= 64);
    assert_int_equal(error, MGLRU_EOOM);
    mglru_memcg_verdict(b.memcg, &verdict);
    assert_true(verdict.dirty > 0);
    bench_verify(&b);
    bench_faults(&b, (struct mglru_store_faulty_options){0});
    bench_put(&b, page * PAGE, "dirty");
    for (unsigned i = 0; i <= page; i++)
        bench_expect(&b, i * PAGE, "dirty", 5);
    bench_end(&b);
}

/* T24 */
static void T24_frames_are_aligned_to_their_size(void **state)
{
    for (uint32_t bytes = 4096; bytes <= 2u << 20; bytes *= 8) {
        struct mglru_data_options options = {.size = sizeof(options),
                                             .memory_bytes = (uint64_t)bytes * 64,
                                             .frame_bytes = bytes,
                                             .no_threads = true};
        struct bench b = {0};
        struct mglru_pin pin;
        assert_int_equal(mglru_data_create(&options, &b.cache), MGLRU_OK);
        assert_int_equal(mglru_data_mapping_create(b.cache, "p", NULL, bytes, &b.mapping), 0);
        assert_int_equal(mglru_memcg_create(b.cache, "/a", &b.memcg), MGLRU_OK);
        assert_int_equal(mglru_file_open(b.mapping, b.memcg, &b.file), MGLRU_OK);
        assert_int_equal(mglru_pin(b.file, 0, MGLRU_PIN_WRITE, &pin), MGLRU_OK);
        assert_int_equal((uintptr_t)pin.data % bytes, 0);
        mglru_unpin(&pin, MGLRU_UNPIN_CLEAN);
        bench_end(&b);
    }
}

/* T11 */
static void T11_fewer_than_64_frames_are_refused(void **state)
{
    struct mglru_data_options options = {.size = sizeof(options), .memory_bytes = 63 * PAGE};
    struct mglru_cache *cache;
    assert_int_equal(mglru_data_create(&options, &cache), MGLRU_EINVAL);
    assert_null(cache);
    options.memory_bytes = 64 * PAGE;
    assert_int_equal(mglru_data_create(&options, &cache), MGLRU_OK);
    mglru_cache_destroy(cache);
}

/* What it brings it does not take again, however long the range is. */
static void prefetch_stays_within_half_of_the_limit(void **state)
{
    struct bench b = bench_make(STORE_BYTES);
    char byte;
    size_t done;
    bench_limit(&b, "memory.max", 96);
    mglru_prefetch(b.file, 0, STORE_BYTES);
    for (unsigned page = 0; page < FRAMES; page++) {
        mglru_peek(b.file, (uint64_t)page * PAGE, &byte, 1, &done);
        assert_int_equal(done, page < 48);
    }
    bench_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prefetch_stays_within_half_of_the_limit),
        cmocka_unit_test(reads_end_at_the_size),
        cmocka_unit_test(writes_grow_the_mapping_and_leave_zeros),
        cmocka_unit_test(a_truncated_tail_reads_as_zeros),
        cmocka_unit_test(a_truncation_that_the_store_refused_holds),
        cmocka_unit_test(a_punch_zeroes_parts_and_whole_pages),
        cmocka_unit_test(drops_take_clean_pages_that_nobody_uses),
        cmocka_unit_test(peeks_find_only_what_is_there),
        cmocka_unit_test(pins_beyond_the_end_are_for_overwriting),
        cmocka_unit_test(what_was_not_overwritten_is_not_kept),
        cmocka_unit_test(a_discarded_page_goes_back_to_the_store),
        cmocka_unit_test(a_page_has_room_for_its_readers_and_no_more),
        cmocka_unit_test(an_error_is_told_to_each_file_once),
        cmocka_unit_test(a_failed_sync_makes_pages_dirty_again),
        cmocka_unit_test(a_sync_notices_what_a_flusher_could_not_write),
        cmocka_unit_test(what_left_before_a_failed_sync_is_lost_for_ever),
        cmocka_unit_test(a_failed_sync_loses_punches_and_truncations),
        cmocka_unit_test(a_read_that_failed_leaves_no_page),
        cmocka_unit_test(a_purgeable_page_vanishes_when_unpinned),
        cmocka_unit_test(a_refault_is_not_that_of_a_removed_memcg),
        cmocka_unit_test(T7_a_full_memcg_says_who_pins),
        cmocka_unit_test(T8_a_write_into_a_full_memcg_reclaims_first),
        cmocka_unit_test(T9_a_memcg_full_of_dirty_pages_has_an_exit),
        cmocka_unit_test(T11_fewer_than_64_frames_are_refused),
        cmocka_unit_test(T24_frames_are_aligned_to_their_size),
    };
    return bench_each_model(tests, sizeof(tests) / sizeof(tests[0]));
}
