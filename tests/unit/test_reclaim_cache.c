/* SPDX-License-Identifier: MIT */
/*
 * A whole cache under random calls of its public interface: after each the laws of cache/cache.h
 * and the invariants of reclaim hold (cache_verify). Limits, removal of memcgs, switches, commands
 * and truncation are mixed with accesses of all kinds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <mglru/control.h>

#include "base/check.h"
#include "cache/cache.h"
#include "seeded.h"

#define GROUPS 4u
#define MAPPINGS 4u
#define PAGES 3000u
#define STEPS 250u

struct world {
    struct seeded *s;
    struct mglru_cache *cache;
    struct mglru_mapping *mappings[MAPPINGS]; /* the last slot: anonymous, one a group */
    struct mglru_memcg *groups[GROUPS];
    struct mglru_file *files[GROUPS][MAPPINGS];
    uint64_t now_ns;
    unsigned names;
    unsigned ooms;
};

static void count_oom(void *context, const struct mglru_event *event)
{
    if (event->kind == MGLRU_EVENT_OOM)
        ((struct world *)context)->ooms++;
}

static void create_group(struct world *w, unsigned g)
{
    char path[32];
    snprintf(path, sizeof(path), g ? "/a/g%u" : "/a", w->names++);
    int error = mglru_memcg_create(w->cache, path, &w->groups[g]);
    if (error == MGLRU_EOOM) { /* its structures found no room in the parent: nothing is left */
        assert_int_equal(mglru_memcg_find(w->cache, path, &w->groups[g]), MGLRU_ENOENT);
        assert_int_equal(mglru_memcg_write(w->groups[0], "memory.max", "max", 3), 0);
        error = mglru_memcg_create(w->cache, path, &w->groups[g]);
    }
    assert_int_equal(error, 0);
    struct mglru_mapping *heap;
    assert_int_equal(mglru_mapping_create(w->cache, "heap", MGLRU_ANON, PAGES, &heap), 0);
    w->mappings[MAPPINGS - 1] = heap;
    for (unsigned m = 0; m < MAPPINGS; m++) {
        error = mglru_file_open(w->mappings[m], w->groups[g], &w->files[g][m]);
        if (error == MGLRU_EOOM) {
            assert_int_equal(mglru_memcg_write(w->groups[0], "memory.max", "max", 3), 0);
            error = mglru_file_open(w->mappings[m], w->groups[g], &w->files[g][m]);
        }
        assert_int_equal(error, 0);
    }
}

static void write_text(struct world *w, unsigned g, const char *name, const char *format,
                       unsigned long value)
{
    char text[64];
    snprintf(text, sizeof(text), format, value);
    mglru_memcg_write(w->groups[g], name, text, strlen(text));
}

static void do_access(struct world *w)
{
    unsigned g = (unsigned)seeded_below(w->s, GROUPS);
    unsigned m = (unsigned)seeded_below(w->s, MAPPINGS);
    for (unsigned i = 0; i < 30; i++) {
        struct mglru_access access = {
            .file = w->files[g][m],
            .index = seeded_below(w->s, seeded_below(w->s, 4) ? 500 : PAGES),
            .count = (uint32_t)(1 + seeded_below(w->s, 8)),
            .kind = m == MAPPINGS - 1 ? MGLRU_TOUCH
                                      : (enum mglru_access_kind)(1 + seeded_below(w->s, 5))};
        size_t done;
        int error = mglru_cache_access(w->cache, &access, 1, NULL, &done);
        SEEDED_CHECK(w->s, error == 0 || error == MGLRU_EOOM);
        SEEDED_CHECK(w->s, error == 0 || w->ooms > 0);
    }
}

static void do_limits(struct world *w)
{
    static const char *const names[] = {"memory.max", "memory.high", "memory.low", "memory.min",
                                        "memory.swap.max"};
    unsigned g = (unsigned)seeded_below(w->s, GROUPS);
    unsigned long pages = 200 + seeded_below(w->s, 2000);
    const char *name = names[seeded_below(w->s, MGLRU_ARRAY_LEN(names))];
    if (strcmp(name, "memory.min") == 0)
        pages = seeded_below(w->s, 60); /* more would starve the others of "/a" */
    write_text(w, g, name, "%lu", pages * 4096);
    if (seeded_below(w->s, 4) == 0)
        write_text(w, g, "memory.max", "max", 0);
    write_text(w, g, "swappiness", "%lu", seeded_below(w->s, 201));
}

static void do_reclaim(struct world *w)
{
    write_text(w, (unsigned)seeded_below(w->s, GROUPS), "memory.reclaim", "%lu",
               4096 * seeded_below(w->s, 300));
}

static void do_command(struct world *w)
{
    char text[64];
    const struct mglru_memcg *group = w->groups[seeded_below(w->s, GROUPS)];
    const struct lruvec *lruvec = memcg_lruvec(group->memcg, 0);
    bool age = seeded_below(w->s, 2);
    uint64_t seq = age ? lruvec->max_seq : lruvec->max_seq - 2;
    snprintf(text, sizeof(text), "%c %llu 0 %llu %lu", age ? '+' : '-',
             (unsigned long long)mglru_memcg_id(group), (unsigned long long)seq,
             seeded_below(w->s, 201));
    mglru_cache_write(w->cache, "lru_gen", text, strlen(text));
}

static void do_switch(struct world *w)
{
    char text[8];
    snprintf(text, sizeof(text), "%lu", seeded_below(w->s, 8));
    assert_int_equal(mglru_cache_write(w->cache, "enabled", text, strlen(text)), 0);
}

static void do_drop(struct world *w)
{
    mglru_mapping_drop(w->mappings[seeded_below(w->s, MAPPINGS)], seeded_below(w->s, PAGES),
                       1 + seeded_below(w->s, 200));
}

static void do_time(struct world *w)
{
    w->now_ns += seeded_below(w->s, UINT64_C(8000000000));
    mglru_cache_set_time(w->cache, w->now_ns);
}

static void do_remove(struct world *w)
{
    unsigned g = 1 + (unsigned)seeded_below(w->s, GROUPS - 1);
    assert_int_equal(mglru_memcg_remove(w->groups[g]), 0);
    create_group(w, g);
}

static void step(struct world *w)
{
    static void (*const rare[])(struct world *) = {do_limits, do_reclaim, do_command, do_switch,
                                                   do_drop,   do_time,    do_remove};
    if (seeded_below(w->s, 3))
        do_access(w);
    else
        rare[seeded_below(w->s, MGLRU_ARRAY_LEN(rare))](w);
}

static void run_model(struct seeded *s, const char *model)
{
    struct world w = {.s = s};
    struct mglru_cache_options options = {.size = sizeof(options),
                                          .model = model,
                                          .classic = s->seed % 3 == 0,
                                          .swap_bytes = s->seed % 2 ? 500 * 4096 : 0,
                                          .readahead_bytes = s->seed % 2 ? 0 : 32 * 4096,
                                          .on_event = count_oom,
                                          .on_event_context = &w};
    assert_int_equal(mglru_cache_create(&options, &w.cache), 0);
    for (unsigned m = 0; m < MAPPINGS - 1; m++)
        assert_int_equal(mglru_mapping_create(w.cache, "m", MGLRU_FILE, PAGES, &w.mappings[m]), 0);
    for (unsigned g = 0; g < GROUPS; g++)
        create_group(&w, g);
    write_text(&w, 0, "memory.max", "%lu", 1500 * 4096);
    for (s->step = 0; s->step < STEPS; s->step++) {
        step(&w);
        const char *broken = cache_verify(w.cache);
        if (broken)
            print_error("%s: %s\n", model, broken);
        SEEDED_CHECK(s, !broken);
    }
    mglru_cache_destroy(w.cache);
}

static void all_models(struct seeded *s)
{
    static const char *const models[] = {"6.12", "7.3", "next", "ours"};
    for (unsigned m = 0; m < MGLRU_ARRAY_LEN(models); m++) {
        s->state = s->seed;
        run_model(s, models[m]);
    }
}

static void laws_hold_under_random_calls(void **state)
{
    seeded_cases(4, all_models);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laws_hold_under_random_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
