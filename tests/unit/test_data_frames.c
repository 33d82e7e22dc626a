/* SPDX-License-Identifier: MIT */
/*
 * Caches with frames of every kind under every model: small, middle and huge frames, huge pages
 * asked for, a store that takes no changes, limits written below what is in use. Goal: content and
 * errors are the same everywhere; the walkers find every law kept.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "data_bench.h"

enum { FEW_FRAMES = 64, FEW_LIMIT = 8, FEW_PAGES = 24 };

/* Writes, evicts and reads back more pages than the limit lets in, and pins some. */
static void use_frames(uint32_t frame_bytes, bool huge_pages)
{
    struct bench b = bench_make_with(
        (struct mglru_data_options){.memory_bytes = (uint64_t)frame_bytes * FEW_FRAMES,
                                    .frame_bytes = frame_bytes,
                                    .huge_pages = huge_pages,
                                    .no_threads = true},
        0);
    char text[16];
    struct mglru_pin pin;
    bench_limit(&b, "memory.max", FEW_LIMIT * (frame_bytes / PAGE));
    for (uint64_t page = 0; page < FEW_PAGES; page++) {
        snprintf(text, sizeof(text), "page %u", (unsigned)page);
        bench_put(&b, page * frame_bytes + frame_bytes / 2, text);
        assert_in_range(bench_stat(&b, "file"), 0, FEW_LIMIT * (uint64_t)frame_bytes);
    }
    for (uint64_t page = 0; page < FEW_PAGES; page++) {
        snprintf(text, sizeof(text), "page %u", (unsigned)page);
        bench_expect(&b, page * frame_bytes + frame_bytes / 2, text, strlen(text));
        assert_int_equal(mglru_pin(b.file, page, MGLRU_PIN_WRITE, &pin), MGLRU_OK);
        assert_int_equal((uintptr_t)pin.data % frame_bytes, 0);
        assert_memory_equal((char *)pin.data + frame_bytes / 2, text, strlen(text));
        memcpy((char *)pin.data + frame_bytes - 4, "tail", 4);
        mglru_unpin(&pin, MGLRU_UNPIN_DIRTY);
    }
    bench_forget(&b);
    assert_int_equal(bench_stat(&b, "file"), 0);
    for (uint64_t page = 0; page < FEW_PAGES; page++)
        bench_expect(&b, (page + 1) * frame_bytes - 4, "tail", 4);
    bench_end(&b);
}

static void small_frames(void **state)
{
    use_frames(4096, false);
}

static void middle_frames(void **state)
{
    use_frames(64 << 10, false);
}

static void huge_frames(void **state)
{
    use_frames(2 << 20, false);
}

/* Whether the machine has any or not. */
static void huge_pages_that_are_asked_for(void **state)
{
    use_frames(4096, true);
    use_frames(64 << 10, true);
    use_frames(2 << 20, true);
}

static void frames_of_no_such_size_are_refused(void **state)
{
    static const uint32_t sizes[] = {1, 2048, 4097, 12288, 4 << 20};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct mglru_data_options options = {
            .size = sizeof(options), .memory_bytes = 1 << 30, .frame_bytes = sizes[i]};
        struct mglru_cache *cache;
        assert_int_equal(mglru_data_create(&options, &cache), MGLRU_EINVAL);
        assert_null(cache);
    }
}

/* --- a store that takes no changes ----------------------------------------------------------- */

static void constant_submit(void *context, struct mglru_store_request *const *requests,
                            uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct mglru_store_vec vec;
        uint64_t offset;
        bool reads = requests[i]->op == MGLRU_STORE_READ;
        bool changes = !reads && requests[i]->op != MGLRU_STORE_SYNC;
        size_t moved = reads && mglru_store_pieces(requests[i], &vec, 1, &offset) ? vec.bytes : 0;
        if (moved)
            memset(vec.frame, 'c', moved);
        mglru_store_complete(requests[i], changes ? MGLRU_EPERM : MGLRU_OK, moved);
    }
}

static int constant_size(void *context, uint64_t *bytes)
{
    *bytes = 1 << 20;
    return MGLRU_OK;
}

static void constant_close(void *context)
{
}

static void a_read_only_store_is_read_and_never_changed(void **state)
{
    static const struct mglru_store_ops ops = {sizeof(ops), "constant",    constant_submit,
                                               NULL,        constant_size, constant_close};
    struct mglru_store_caps caps = {.size = sizeof(caps), .read_only = true};
    struct bench b = bench_make(0);
    struct mglru_store *store;
    struct mglru_mapping *mapping;
    struct mglru_file *file;
    struct mglru_pin pin;
    char found[4];
    size_t done;
    assert_int_equal(mglru_store_create(&ops, &caps, NULL, &store), MGLRU_OK);
    assert_int_equal(mglru_data_mapping_create(b.cache, "c", store, 1 << 20, &mapping), 0);
    assert_int_equal(mglru_file_open(mapping, b.memcg, &file), MGLRU_OK);
    for (uint64_t page = 0; page < FRAMES; page++) {
        assert_int_equal(mglru_read(file, page * PAGE, found, 4, &done), MGLRU_OK);
        assert_memory_equal(found, "cccc", 4);
    }
    assert_int_equal(mglru_write(file, 0, "x", 1, &done), MGLRU_EPERM);
    assert_int_equal(done, 0);
    assert_int_equal(mglru_pin(file, 0, MGLRU_PIN_WRITE, &pin), MGLRU_EPERM);
    assert_int_equal(mglru_pin(file, 0, MGLRU_PIN_OVERWRITE, &pin), MGLRU_EPERM);
    assert_int_equal(mglru_punch(file, 10, 5), MGLRU_EPERM);
    assert_int_equal(mglru_punch(file, 0, 4 * PAGE), MGLRU_EPERM);
    assert_int_equal(mglru_truncate(mapping, 0), MGLRU_EPERM);
    assert_int_equal(mglru_pin(file, 3, MGLRU_PIN_READ, &pin), MGLRU_OK);
    mglru_unpin(&pin, MGLRU_UNPIN_CLEAN);
    for (uint64_t page = 0; page < 8; page++) {
        assert_int_equal(mglru_read(file, page * PAGE, found, 4, &done), MGLRU_OK);
        assert_memory_equal(found, "cccc", 4);
    }
    assert_int_equal(mglru_sync(file, 0, 0), MGLRU_OK); /* nothing failed */
    bench_verify(&b);
    mglru_file_close(file);
    mglru_data_mapping_destroy(mapping);
    mglru_store_close(store);
    bench_end(&b);
}

/* --- limits below what is in use ------------------------------------------------------------- */

enum { PINNED = 20, DIRTY = 20, CLEAN = 20 };

static void lower_limit_to(unsigned pages)
{
    struct bench b = bench_make(0);
    struct mglru_pin pins[PINNED], pin;
    struct mglru_usage usage;
    size_t done;
    for (uint64_t page = 0; page < PINNED + DIRTY + CLEAN; page++)
        bench_put(&b, page * PAGE, "page");
    assert_int_equal(mglru_sync(b.file, 0, 0), MGLRU_OK);
    for (uint64_t page = 0; page < PINNED; page++)
        assert_int_equal(mglru_pin(b.file, page, MGLRU_PIN_WRITE, &pins[page]), MGLRU_OK);
    for (uint64_t page = PINNED; page < PINNED + DIRTY; page++)
        bench_put(&b, page * PAGE, "more");
    bench_limit(&b, "memory.max", pages);
    mglru_memcg_usage(b.memcg, &usage);
    assert_in_range(usage.resident, PINNED, pages > PINNED ? pages : PINNED);
    assert_int_equal(usage.pinned, PINNED);
    bench_verify(&b);
    bench_expect(&b, PINNED * PAGE, "more", 4); /* it was written before it left */
    if (pages <= PINNED) {
        assert_int_equal(mglru_write(b.file, 100 * PAGE, "x", 1, &done), MGLRU_EOOM);
        assert_int_equal(mglru_pin(b.file, PINNED, MGLRU_PIN_READ, &pin), MGLRU_EOOM);
    }
    for (unsigned i = 0; i < PINNED; i++) {
        memcpy(pins[i].data, "pins", 4);
        mglru_unpin(&pins[i], MGLRU_UNPIN_DIRTY);
    }
    bench_limit(&b, "memory.max", pages);
    mglru_memcg_usage(b.memcg, &usage);
    assert_in_range(usage.resident, 0, pages);
    bench_verify(&b);
    bench_limit(&b, "memory.max", FRAMES);
    for (uint64_t page = 0; page < PINNED + DIRTY + CLEAN; page++)
        bench_expect(&b, page * PAGE,
                     page < PINNED           ? "pins"
                     : page < PINNED + DIRTY ? "more"
                                             : "page",
                     4);
    bench_end(&b);
}

static void a_limit_below_usage(void **state)
{
    lower_limit_to(30);
}

static void a_limit_below_what_is_pinned(void **state)
{
    lower_limit_to(10);
}

static void a_limit_of_nothing(void **state)
{
    lower_limit_to(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_frames),
        cmocka_unit_test(middle_frames),
        cmocka_unit_test(huge_frames),
        cmocka_unit_test(huge_pages_that_are_asked_for),
        cmocka_unit_test(frames_of_no_such_size_are_refused),
        cmocka_unit_test(a_read_only_store_is_read_and_never_changed),
        cmocka_unit_test(a_limit_below_usage),
        cmocka_unit_test(a_limit_below_what_is_pinned),
        cmocka_unit_test(a_limit_of_nothing),
    };
    return bench_each_model(tests, sizeof(tests) / sizeof(tests[0]));
}
