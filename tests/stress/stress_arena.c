/* SPDX-License-Identifier: MIT */
/*
 * One arena under several threads: frames are taken, stamped, handed to other threads and given
 * back there, while the limit changes and magazines are drained. A frame never has two owners, and
 * at the end none is lost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cache/arena.h"
#include "stress_helper.h"

enum { FRAMES = 160, HELD_MAX = 60, BOXES = 8 };

static struct arena *arena;
static _Atomic uint32_t boxes[BOXES]; /* a frame on its way to another thread, plus one */

static uint64_t *stamp_of(uint32_t frame)
{
    return arena_frame(arena, frame);
}

/* Swaps a frame with what lies in a box; gives the number of frames held now. */
static uint32_t swap_frames(struct stress_thread *self, uint32_t *held, uint32_t count)
{
    uint32_t give = count ? held[count - 1] + 1 : 0;
    if (give)
        *stamp_of(give - 1) = give; /* the box orders it before the next owner's look */
    /* Pairs with itself: who takes a frame sees what its giver wrote to it. */
    uint32_t got = atomic_exchange_acq_rel(&boxes[seeded_below(&self->random, BOXES)], give);
    count -= give != 0;
    if (got) {
        assert_true(*stamp_of(got - 1) == got);
        held[count++] = got - 1;
    }
    return count;
}

static void work(struct stress_thread *self)
{
    uint32_t held[HELD_MAX + 1], count = 0;
    for (unsigned long i = 0; i < self->rounds; i++) {
        unsigned long which = seeded_below(&self->random, 100);
        if (which < 45 && count < HELD_MAX) {
            uint32_t frame = arena_alloc(arena);
            if (frame == ARENA_NONE)
                continue;
            *stamp_of(frame) = self->number; /* TSan: nobody else may touch it */
            held[count++] = frame;
        } else if (which < 85 && count) {
            uint32_t at = (uint32_t)seeded_below(&self->random, count);
            *stamp_of(held[at]) = 0;
            arena_free(arena, held[at]);
            held[at] = held[--count];
        } else if (which < 97) {
            count = swap_frames(self, held, count);
        } else if (which == 97) {
            arena_limit_set(arena, (uint32_t)(40 + seeded_below(&self->random, FRAMES)));
        } else if (which == 98) {
            arena_drain(arena);
        } else {
            struct arena_counts counts;
            arena_counts(arena, &counts);
            assert_in_range(counts.cold, 0, FRAMES);
        }
    }
    while (count)
        arena_free(arena, held[--count]);
}

static void run(uint32_t frame_bytes)
{
    void (*const bodies[])(struct stress_thread *) = {work};
    struct arena_options options = {.frame_bytes = frame_bytes, .frames = FRAMES};
    assert_int_equal(arena_create(&options, &arena), MGLRU_OK);
    stress_run(bodies, 1);
    for (unsigned i = 0; i < BOXES; i++) {
        uint32_t left = atomic_exchange_acq_rel(&boxes[i], 0);
        if (left)
            arena_free(arena, left - 1);
    }
    arena_verify(arena, NULL);
    assert_int_equal(arena_limit_set(arena, FRAMES), 0);
    struct arena_counts counts;
    arena_counts(arena, &counts);
    assert_int_equal(counts.used, 0);
    assert_int_equal(counts.warm_pool + counts.warm_magazines + counts.cold, FRAMES);
    uint32_t frames[FRAMES + 1];
    assert_int_equal(arena_alloc_batch(arena, frames, FRAMES + 1), FRAMES);
    arena_destroy(arena);
}

static void small_frames_have_one_owner(void **state)
{
    run(4096);
}

static void frames_without_magazines_have_one_owner(void **state)
{
    run(262144);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_frames_have_one_owner),
        cmocka_unit_test(frames_without_magazines_have_one_owner),
    };
    return stress_groups(tests, sizeof(tests) / sizeof(tests[0]));
}
