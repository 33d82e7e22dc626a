/* SPDX-License-Identifier: MIT */
/*
 * Calls of <mglru/data.h> that meet in one place, and what a store's largest size means for pins.
 * A store with a gate holds a truncation back for as long as the test wants.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "data_bench.h"

enum { FIRST_END = PAGE, SECOND_END = 100, SIZE_MAX_ODD = 2 * PAGE + 100 };

/* The bytes of the store, and how far two truncations came. */
struct gate {
    char bytes[4 * PAGE];
    uint64_t size_max;
    struct mglru_mapping *mapping;
    struct os_thread *second;
    _Atomic bool arrived; /* the second one is in the store */
    _Atomic bool open;
};

static void truncate_second(void *argument)
{
    struct gate *gate = argument;
    assert_int_equal(mglru_truncate(gate->mapping, SECOND_END), MGLRU_OK);
}

/* The first truncation lets the second one come after it; the second waits at the gate. */
static void gated_truncate(struct gate *gate, uint64_t bytes)
{
    if (bytes == SECOND_END) {
        atomic_store_release(&gate->arrived, true);
        while (!atomic_load_acquire(&gate->open))
            os_thread_yield();
    }
    if (bytes < sizeof(gate->bytes))
        memset(gate->bytes + bytes, 0, sizeof(gate->bytes) - bytes);
    if (bytes != FIRST_END)
        return;
    assert_int_equal(os_thread_start(truncate_second, gate, &gate->second), MGLRU_OK);
    while (!atomic_load_acquire(&gate->arrived))
        os_thread_yield();
}

static uint64_t move(struct gate *gate, const struct mglru_store_request *request)
{
    struct mglru_store_vec piece;
    uint64_t offset;
    mglru_store_pieces(request, &piece, 1, &offset);
    if (offset >= sizeof(gate->bytes))
        return 0;
    uint64_t left = sizeof(gate->bytes) - offset, bytes = piece.bytes < left ? piece.bytes : left;
    if (request->op == MGLRU_STORE_READ)
        memcpy(piece.frame, gate->bytes + offset, bytes);
    else
        memcpy(gate->bytes + offset, piece.frame, bytes);
    return bytes;
}

static void gated_submit(void *context, struct mglru_store_request *const *requests, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t moved = 0;
        if (requests[i]->op == MGLRU_STORE_TRUNCATE)
            gated_truncate(context, requests[i]->offset);
        else if (requests[i]->op != MGLRU_STORE_SYNC)
            moved = move(context, requests[i]);
        mglru_store_complete(requests[i], MGLRU_OK, moved);
    }
}

static int gated_size(void *context, uint64_t *bytes)
{
    *bytes = sizeof(((struct gate *)context)->bytes);
    return MGLRU_OK;
}

static void gated_close(void *context)
{
}

/* Opens a cache whose mapping is @gate's store. */
static struct bench make_gated(struct gate *gate, uint64_t size_bytes)
{
    static const struct mglru_store_ops ops = {sizeof(ops), "gated",    gated_submit,
                                               NULL,        gated_size, gated_close};
    struct mglru_store_caps caps = {.size = sizeof(caps), .size_max = gate->size_max};
    struct mglru_data_options options = {
        .size = sizeof(options), .memory_bytes = FRAMES * PAGE, .no_threads = true};
    struct bench b = {0};
    assert_int_equal(mglru_data_create(&options, &b.cache), MGLRU_OK);
    assert_int_equal(mglru_store_create(&ops, &caps, gate, &b.store), MGLRU_OK);
    assert_int_equal(mglru_data_mapping_create(b.cache, "m", b.store, size_bytes, &b.mapping), 0);
    assert_int_equal(mglru_memcg_create(b.cache, "/a", &b.memcg), MGLRU_OK);
    assert_int_equal(mglru_file_open(b.mapping, b.memcg, &b.file), MGLRU_OK);
    gate->mapping = b.mapping;
    return b;
}

/*
 * The second truncation has cut the cache and not yet the store when the first one ends. A page
 * that is read between brings what the store still has beyond the end, which must not come back
 * when the mapping grows.
 */
static void two_truncations_at_once_leave_zeros_beyond_the_end(void **state)
{
    struct gate gate = {.size_max = sizeof(gate.bytes)};
    memset(gate.bytes, 'x', sizeof(gate.bytes));
    struct bench b = make_gated(&gate, 2 * PAGE);
    assert_int_equal(mglru_truncate(b.mapping, FIRST_END), MGLRU_OK);
    assert_int_equal(mglru_data_mapping_bytes(b.mapping), SECOND_END);
    bench_expect(&b, SECOND_END - 4, "xxxx", 4);
    atomic_store_release(&gate.open, true);
    os_thread_join(gate.second);
    assert_int_equal(mglru_truncate(b.mapping, 2 * PAGE), MGLRU_OK);
    bench_expect(&b, SECOND_END - 4, "xxxx", 8);
    bench_end(&b);
}

/* The store ends within a page: what a pin may change of it can be written. */
static void a_pin_does_not_grow_the_mapping_beyond_the_store(void **state)
{
    struct gate gate = {.size_max = SIZE_MAX_ODD};
    struct bench b = make_gated(&gate, 0);
    struct mglru_pin pin;
    assert_int_equal(mglru_pin(b.file, 3, MGLRU_PIN_OVERWRITE, &pin), MGLRU_ERANGE);
    assert_int_equal(mglru_pin(b.file, 2, MGLRU_PIN_OVERWRITE, &pin), MGLRU_OK);
    memset(pin.data, 'p', PAGE);
    mglru_unpin(&pin, MGLRU_UNPIN_DIRTY);
    assert_int_equal(mglru_data_mapping_bytes(b.mapping), SIZE_MAX_ODD);
    assert_int_equal(mglru_sync(b.file, 0, 0), MGLRU_OK);
    assert_int_equal(gate.bytes[SIZE_MAX_ODD - 1], 'p');
    assert_int_equal(gate.bytes[SIZE_MAX_ODD], 0);
    bench_end(&b);
}

/* A thread's unpin of what another one pinned is seen first: not 2^64 - 1 pins. */
static void pins_that_are_seen_half_are_not_below_none(void **state)
{
    struct bench b = bench_make(PAGE);
    struct mglru_usage usage;
    bench_expect(&b, 0, "", 1);
    background_drain(cache_data(b.cache));
    atomic_store_relaxed(&b.memcg->use_slots[USE_SLOTS - 1].pins, UINT64_MAX);
    mglru_memcg_usage(b.memcg, &usage);
    assert_int_equal(usage.pinned, 0);
    assert_int_equal(usage.reclaimable, 1);
    atomic_store_relaxed(&b.memcg->use_slots[USE_SLOTS - 1].pins, 0);
    bench_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_truncations_at_once_leave_zeros_beyond_the_end),
        cmocka_unit_test(a_pin_does_not_grow_the_mapping_beyond_the_store),
        cmocka_unit_test(pins_that_are_seen_half_are_not_below_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
