/* SPDX-License-Identifier: MIT */
/*
 * The arena of frames: every frame is in one place, the limit holds, memory goes back to the
 * machine, and nothing is allocated on the way.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cache/arena.h"
#include "os/os.h"
#include "seeded.h"
#include "sync/slot.h"

enum { FRAMES = 1000 };

static struct arena *arena;

static void create(uint32_t frame_bytes, uint32_t frames, uint32_t limit, enum arena_pages pages)
{
    struct arena_options options = {
        .frame_bytes = frame_bytes, .frames = frames, .limit_frames = limit, .pages = pages};
    assert_int_equal(arena_create(&options, &arena), MGLRU_OK);
}

static int destroy(void **state)
{
    arena_destroy(arena);
    arena = NULL;
    return 0;
}

static struct arena_counts counts_now(void)
{
    struct arena_counts counts;
    arena_counts(arena, &counts);
    assert_int_equal(counts.used + counts.warm_pool + counts.warm_magazines + counts.cold,
                     counts.frames);
    return counts;
}

/* Pages of the arena that hold memory now, by the kernel's word. */
static size_t resident_pages(uint32_t frames)
{
    size_t bytes = (size_t)frames * arena_frame_bytes(arena), pages = bytes / 4096, count = 0;
    unsigned char *map = malloc(pages);
    assert_int_equal(mincore(arena_frame(arena, 0), bytes, map), 0);
    for (size_t i = 0; i < pages; i++)
        count += map[i] & 1;
    free(map);
    return count;
}

static void every_frame_is_given_out_once(void **state)
{
    static uint8_t used[FRAMES];
    memset(used, 0, sizeof(used));
    create(4096, FRAMES, 0, ARENA_PAGES_SMALL);
    for (unsigned i = 0; i < FRAMES; i++) {
        uint32_t frame = arena_alloc(arena);
        assert_in_range(frame, 0, FRAMES - 1);
        assert_int_equal(used[frame], 0);
        used[frame] = 1;
        memset(arena_frame(arena, frame), (int)i, 4096);
    }
    assert_int_equal(arena_alloc(arena), ARENA_NONE);
    assert_int_equal(counts_now().used, FRAMES);
    arena_verify(arena, used);
    for (uint32_t i = 0; i < FRAMES; i++)
        arena_free(arena, i);
    memset(used, 0, sizeof(used));
    arena_verify(arena, used);
    assert_int_equal(counts_now().used, 0);
    for (unsigned i = 0; i < FRAMES; i++)
        assert_int_not_equal(arena_alloc(arena), ARENA_NONE);
    assert_int_equal(arena_alloc(arena), ARENA_NONE);
}

static void numbers_and_addresses_match(void **state)
{
    static const uint32_t sizes[] = {4096, 16384, 65536, 2u << 20};
    for (unsigned i = 0; i < 4; i++) {
        create(sizes[i], 10, 0, ARENA_PAGES_HUGE);
        assert_int_equal(arena_frame_bytes(arena), sizes[i]);
        for (uint32_t frame = 0; frame < 10; frame++) {
            char *start = arena_frame(arena, frame);
            assert_int_equal((uintptr_t)start % sizes[i], 0);
            assert_int_equal(arena_number(arena, start), frame);
            assert_int_equal(arena_number(arena, start + sizes[i] - 1), frame);
        }
        assert_int_equal(arena_number(arena, (char *)arena_frame(arena, 0) - 1), ARENA_NONE);
        assert_int_equal(arena_number(arena, (char *)arena_frame(arena, 9) + sizes[i]), ARENA_NONE);
        assert_int_equal(arena_number(arena, NULL), ARENA_NONE);
        destroy(NULL);
    }
}

static void the_limit_holds(void **state)
{
    create(4096, FRAMES, 100, ARENA_PAGES_SMALL);
    uint32_t frames[FRAMES + 1];
    assert_int_equal(arena_alloc_batch(arena, frames, FRAMES), 100);
    assert_int_equal(arena_limit_set(arena, 150), 0);
    assert_int_equal(arena_alloc_batch(arena, frames + 100, FRAMES - 100), 50);
    assert_int_equal(arena_limit_set(arena, UINT32_MAX), 0);
    assert_int_equal(arena_alloc_batch(arena, frames + 150, FRAMES - 149), FRAMES - 150);
    assert_int_equal(counts_now().limit, FRAMES);
}

static void a_smaller_limit_gives_memory_back(void **state)
{
    uint32_t frames[FRAMES];
    create(4096, FRAMES, 0, ARENA_PAGES_SMALL);
    assert_int_equal(arena_alloc_batch(arena, frames, FRAMES), FRAMES);
    for (unsigned i = 0; i < FRAMES; i++)
        memset(arena_frame(arena, frames[i]), 1, 4096);
    assert_int_equal(resident_pages(FRAMES), FRAMES);
    for (unsigned i = 0; i < 600; i++)
        arena_free(arena, frames[i]);
    assert_int_equal(resident_pages(FRAMES), FRAMES); /* warm */
    assert_int_equal(arena_limit_set(arena, 500), 0);
    assert_int_equal(resident_pages(FRAMES), 500);
    assert_int_equal(counts_now().released, 500);
    assert_int_equal(counts_now().used, 400);
    /* Below what is used: the rest goes as it is freed. */
    assert_int_equal(arena_limit_set(arena, 300), 100);
    assert_int_equal(resident_pages(FRAMES), 400);
    assert_int_equal(arena_alloc(arena), ARENA_NONE);
    for (unsigned i = 600; i < 650; i++)
        arena_free(arena, frames[i]);
    assert_int_equal(resident_pages(FRAMES), 350);
    assert_int_equal(arena_alloc(arena), ARENA_NONE);
    for (unsigned i = 650; i < FRAMES; i++)
        arena_free(arena, frames[i]);
    assert_int_equal(resident_pages(FRAMES), 300);
    arena_verify(arena, NULL);
    /* What went back comes again, as zeros. */
    assert_int_equal(arena_limit_set(arena, FRAMES), 0);
    assert_int_equal(arena_alloc_batch(arena, frames, FRAMES), FRAMES);
    unsigned zeros = 0;
    for (unsigned i = 0; i < FRAMES; i++)
        zeros += *(char *)arena_frame(arena, frames[i]) == 0;
    assert_int_equal(zeros, 700);
}

static void a_limit_of_none_gives_all_back(void **state)
{
    uint32_t frames[FRAMES];
    create(4096, FRAMES, 0, ARENA_PAGES_SMALL);
    assert_int_equal(arena_alloc_batch(arena, frames, FRAMES), FRAMES);
    for (unsigned i = 0; i < FRAMES; i++)
        memset(arena_frame(arena, frames[i]), 1, 4096);
    for (unsigned i = 0; i < FRAMES; i++)
        arena_free(arena, frames[i]);
    assert_int_equal(arena_limit_set(arena, 0), 0);
    assert_int_equal(resident_pages(FRAMES), 0);
    assert_int_equal(arena_alloc(arena), ARENA_NONE);
    arena_verify(arena, NULL);
}

static void memory_comes_with_use(void **state)
{
    uint32_t frames = (uint32_t)1 << 24; /* 64 GiB of addresses */
    create(4096, frames, 0, ARENA_PAGES_SMALL);
    for (unsigned i = 0; i < 100; i++)
        *(char *)arena_frame(arena, arena_alloc(arena)) = 1;
    assert_int_equal(resident_pages(1000), 100);
    assert_int_equal(counts_now().used, 100);
}

/* ---- Threads ---- */

static uint32_t theirs[FRAMES];
static uint32_t their_count;

static void take_and_leave(void *argument)
{
    their_count = arena_alloc_batch(arena, theirs, 50);
    for (unsigned i = 0; i < their_count; i++)
        arena_free(arena, theirs[i]); /* stays in this thread's magazine */
    theirs[0] = slot_current();
}

static void free_frames_of_other_threads_are_found(void **state)
{
    struct os_thread *thread;
    uint32_t frames[FRAMES];
    slot_current(); /* so that the thread's slot is another one */
    create(4096, FRAMES, 100, ARENA_PAGES_SMALL);
    assert_int_equal(os_thread_start(take_and_leave, NULL, &thread), MGLRU_OK);
    os_thread_join(thread);
    assert_int_equal(their_count, 50);
    assert_int_not_equal(theirs[0], slot_current());
    assert_true(counts_now().warm_magazines > 0);
    assert_int_equal(arena_alloc_batch(arena, frames, FRAMES), 100);
    assert_int_equal(counts_now().warm_magazines, 0);
    arena_verify(arena, NULL);
}

static void draining_empties_the_magazines(void **state)
{
    create(4096, FRAMES, 0, ARENA_PAGES_SMALL);
    arena_free(arena, arena_alloc(arena));
    assert_true(counts_now().warm_magazines > 0);
    uint32_t warm = counts_now().warm_magazines;
    arena_drain(arena);
    assert_int_equal(counts_now().warm_magazines, 0);
    assert_int_equal(counts_now().warm_pool, warm);
    arena_verify(arena, NULL);
}

/* ---- Random calls against a set of used frames ---- */

enum { SMALL = 200, STEPS = 3000 };

static void random_calls(struct seeded *s)
{
    static const uint32_t sizes[] = {4096, 65536, 262144};
    uint8_t used[SMALL] = {0};
    uint32_t held[SMALL], count = 0, limit = SMALL;
    create(sizes[s->seed % 3], SMALL, 0, ARENA_PAGES_SMALL);
    for (s->step = 0; s->step < STEPS; s->step++) {
        unsigned long which = seeded_below(s, 100);
        if (which == 0) {
            limit = (uint32_t)seeded_below(s, SMALL + 1);
            uint32_t above = arena_limit_set(arena, limit);
            SEEDED_CHECK(s, above == (count > limit ? count - limit : 0));
        } else if (which < 55) {
            uint32_t frame = arena_alloc(arena);
            SEEDED_CHECK(s, (frame == ARENA_NONE) == (count >= limit));
            if (frame == ARENA_NONE)
                continue;
            SEEDED_CHECK(s, !used[frame]);
            used[frame] = 1;
            held[count++] = frame;
        } else if (count) {
            uint32_t at = (uint32_t)seeded_below(s, count);
            used[held[at]] = 0;
            arena_free(arena, held[at]);
            held[at] = held[--count];
        }
        struct arena_counts counts = counts_now();
        SEEDED_CHECK(s, counts.used == count);
        uint32_t resident = counts.frames - counts.cold;
        SEEDED_CHECK(s, resident <= (count > limit ? count : limit));
        if (s->step % 64 == 0)
            arena_verify(arena, used);
    }
    destroy(NULL);
}

static void random_calls_keep_every_frame_in_one_place(void **state)
{
    seeded_cases(12, random_calls);
}

static void senseless_options_are_refused(void **state)
{
    const struct arena_options wrong[] = {
        {.frame_bytes = 2048, .frames = 1},
        {.frame_bytes = 5000, .frames = 1},
        {.frame_bytes = 4u << 20, .frames = 1},
        {.frame_bytes = 4096},
        {.frame_bytes = 4096, .frames = UINT32_MAX},
        {.frame_bytes = 4096, .frames = 5, .limit_frames = 6},
        {.frame_bytes = 4096, .frames = 5, .pages = (enum arena_pages)9},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        arena = (struct arena *)&arena;
        assert_int_equal(arena_create(&wrong[i], &arena), MGLRU_EINVAL);
        assert_null(arena);
    }
    /* 8 PiB: no such address space. */
    struct arena_options vast = {.frame_bytes = 2u << 20, .frames = UINT32_MAX - 1};
    assert_int_equal(arena_create(&vast, &arena), MGLRU_ENOMEM);
    assert_null(arena);
}

/* Huge pages that nobody has set aside are refused at creation, not at the first access. */
static void strict_huge_pages_are_all_there_or_refused(void **state)
{
    struct arena_options options = {.frame_bytes = 4096,
                                    .frames = 1 << 20,
                                    .limit_frames = 10,
                                    .pages = ARENA_PAGES_HUGE_STRICT};
    int error = arena_create(&options, &arena);
    if (error) {
        assert_int_equal(error, MGLRU_ENOMEM);
        assert_null(arena);
        return;
    }
    uint32_t frame = arena_alloc(arena);
    *(char *)arena_frame(arena, frame) = 1;
    arena_free(arena, frame);
    assert_int_equal(arena_limit_set(arena, 0), 0);
    assert_int_equal(arena_alloc(arena), ARENA_NONE);
}

#define ARENA(test) cmocka_unit_test_teardown(test, destroy)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA(every_frame_is_given_out_once),
        ARENA(numbers_and_addresses_match),
        ARENA(the_limit_holds),
        ARENA(a_smaller_limit_gives_memory_back),
        ARENA(a_limit_of_none_gives_all_back),
        ARENA(memory_comes_with_use),
        ARENA(free_frames_of_other_threads_are_found),
        ARENA(draining_empties_the_magazines),
        ARENA(random_calls_keep_every_frame_in_one_place),
        ARENA(senseless_options_are_refused),
        ARENA(strict_huge_pages_are_all_there_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
