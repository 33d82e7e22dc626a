/* SPDX-License-Identifier: MIT */
/*
 * Every control file of a memcg and of the cache: which exist where, the grammar of what they take
 * with the code of each refusal, what they show, and that a refused text changes nothing.
 * Facts: mglru-facts 9.1, 9.3. The commands of lru_gen are in test_cache_lru_gen.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/cache.h>
#include <mglru/control.h>

#include "cache/cache.h"

#define PAGE 4096u

struct bench {
    struct mglru_cache *cache;
    struct mglru_memcg *root, *parent, *memcg;
    struct mglru_file *file;
};

static void create(struct bench *bench, const char *model, bool classic)
{
    struct mglru_cache_options options = {.size = sizeof(options),
                                          .model = model,
                                          .classic = classic,
                                          .swap_bytes = 1000 * PAGE,
                                          .kernel_charge = MGLRU_KERNEL_CHARGE_NONE};
    struct mglru_mapping *mapping;
    assert_int_equal(mglru_cache_create(&options, &bench->cache), 0);
    assert_int_equal(mglru_memcg_create(bench->cache, "/a/b", &bench->memcg), 0);
    assert_int_equal(mglru_memcg_find(bench->cache, "/a", &bench->parent), 0);
    assert_int_equal(mglru_memcg_find(bench->cache, "/", &bench->root), 0);
    assert_int_equal(mglru_mapping_create(bench->cache, "data", MGLRU_FILE, 0, &mapping), 0);
    assert_int_equal(mglru_file_open(mapping, bench->memcg, &bench->file), 0);
}

static int put(struct mglru_memcg *memcg, const char *name, const char *text)
{
    return mglru_memcg_write(memcg, name, text, strlen(text));
}

static void expect(struct mglru_memcg *memcg, const char *name, const char *want)
{
    char text[4096];
    size_t length;
    int error = mglru_memcg_read(memcg, name, text, sizeof(text), &length);
    if (error || strcmp(text, want) != 0)
        fail_msg("%s: '%s' (%s), expected '%s'", name, error ? "" : text, mglru_error_text(error),
                 want);
    assert_int_equal(length, strlen(want));
}

static int access_pages(const struct bench *bench, enum mglru_access_kind kind, uint32_t count)
{
    struct mglru_access access = {.file = bench->file, .count = count, .kind = kind};
    size_t done;
    return mglru_cache_access(bench->cache, &access, 1, NULL, &done);
}

/* --- which files there are ------------------------------------------------------------------ */

/* r, w, rw of a memcg; the second letter group: of the root, "" = none. */
static const struct {
    const char *name, *mode, *root;
} table[] = {
    {"memory.current", "r", ""},      {"memory.peak", "rw", ""},
    {"memory.min", "rw", ""},         {"memory.low", "rw", ""},
    {"memory.high", "rw", ""},        {"memory.max", "rw", ""},
    {"memory.reclaim", "w", "w"},     {"memory.events", "r", ""},
    {"memory.events.local", "r", ""}, {"memory.oom.group", "rw", ""},
    {"memory.stat", "r", "r"},        {"memory.numa_stat", "r", "r"},
    {"memory.swap.current", "r", ""}, {"memory.swap.peak", "r", ""},
    {"memory.swap.high", "rw", ""},   {"memory.swap.max", "rw", ""},
    {"memory.swap.events", "r", ""},  {"swappiness", "rw", "rw"},
    {"memory.swappiness", "rw", ""},
};

static void check_modes(struct mglru_memcg *memcg, const char *name, const char *mode)
{
    char text[16384];
    size_t length;
    int read = mglru_memcg_read(memcg, name, text, sizeof(text), &length);
    int write = put(memcg, name, "0");
    int want_read = !*mode ? MGLRU_ENOENT : strchr(mode, 'r') ? 0 : MGLRU_EPERM;
    int want_write = !*mode ? MGLRU_ENOENT : strchr(mode, 'w') ? 0 : MGLRU_EPERM;
    if (read != want_read || write != want_write)
        fail_msg("%s of %s: read %d, write %d", name, mglru_memcg_path(memcg), read, write);
}

static void files_exist_with_the_kernels_modes(void **state)
{
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(table); i++) {
        struct bench bench;
        create(&bench, "7.3", false);
        check_modes(bench.memcg, table[i].name, table[i].mode);
        check_modes(bench.root, table[i].name, table[i].root);
        mglru_cache_destroy(bench.cache);
    }
}

static void unknown_names_are_not_found(void **state)
{
    static const char *const names[] = {
        "",           "memory",       "memory.",     "memory.maxx",
        "Memory.max", "memory.max\n", " memory.max", "memory.zswap.max",
        "lru_gen",    "cgroup.procs"};
    struct bench bench;
    char text[64];
    size_t length;
    create(&bench, "7.3", false);
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(names); i++) {
        assert_int_equal(put(bench.memcg, names[i], "1"), MGLRU_ENOENT);
        assert_int_equal(mglru_memcg_read(bench.memcg, names[i], text, sizeof(text), &length),
                         MGLRU_ENOENT);
    }
    assert_int_equal(mglru_cache_write(bench.cache, "memory.max", "1", 1), MGLRU_ENOENT);
    assert_int_equal(mglru_cache_read(bench.cache, "memory.stat", text, sizeof(text), &length),
                     MGLRU_ENOENT);
    assert_int_equal(mglru_error_errno(MGLRU_ENOENT), ENOENT);
    mglru_cache_destroy(bench.cache);
}

/* --- limits --------------------------------------------------------------------------------- */

static const char *const limits[] = {"memory.min", "memory.low",      "memory.high",
                                     "memory.max", "memory.swap.max", "memory.swap.high"};

static void limits_take_bytes_with_suffixes(void **state)
{
    static const struct {
        const char *text, *shown;
    } good[] = {
        {"0", "0\n"},           {"1", "0\n"},
        {"4095", "0\n"},        {"4096", "4096\n"},
        {"4097", "4096\n"},     {"8K", "8192\n"},
        {"8k", "8192\n"},       {"3M\n", "3145728\n"},
        {"2g", "2147483648\n"}, {"1T", "1099511627776\n"},
        {" 16K ", "16384\n"},   {"0x1000", "4096\n"},
        {"010000", "4096\n"},   {"max", "max\n"},
        {"max\n", "max\n"},     {"18446744073709551615", "max\n"},
    };
    struct bench bench;
    create(&bench, "7.3", false);
    for (size_t l = 0; l < MGLRU_ARRAY_LEN(limits); l++)
        for (size_t i = 0; i < MGLRU_ARRAY_LEN(good); i++) {
            if (put(bench.memcg, limits[l], good[i].text))
                fail_msg("%s refuses '%s'", limits[l], good[i].text);
            expect(bench.memcg, limits[l], good[i].shown);
        }
    mglru_cache_destroy(bench.cache);
}

static void limits_refuse_everything_else(void **state)
{
    static const char *const bad[] = {"",    "\n",    " ",       "-1",      "+",     "K",    "1KK",
                                      "1 2", "1KB",   "MAX",     "maxx",    "ma",    "1.5M", "0x",
                                      "1e6", "max 1", "max,max", "\t-4096", "4096;", "inf"};
    struct bench bench;
    create(&bench, "7.3", false);
    for (size_t l = 0; l < MGLRU_ARRAY_LEN(limits); l++) {
        assert_int_equal(put(bench.memcg, limits[l], "1M"), 0);
        for (size_t i = 0; i < MGLRU_ARRAY_LEN(bad); i++) {
            if (put(bench.memcg, limits[l], bad[i]) != MGLRU_EINVAL)
                fail_msg("%s takes '%s'", limits[l], bad[i]);
            expect(bench.memcg, limits[l], "1048576\n");
        }
    }
    mglru_cache_destroy(bench.cache);
}

/* What is no text of at most a page is refused by every file that can be written. */
static void texts_are_bounded_and_have_no_nul(void **state)
{
    static const char *const of_cache[] = {"lru_gen", "enabled", "min_ttl_ms", "swappiness"};
    struct bench bench;
    char text[5000];
    create(&bench, "7.3", false);
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(table); i++) {
        if (!strchr(table[i].mode, 'w'))
            continue;
        memset(text, ' ', sizeof(text));
        text[0] = '1';
        assert_int_equal(mglru_memcg_write(bench.memcg, table[i].name, text, 4096), MGLRU_EINVAL);
        assert_int_equal(mglru_memcg_write(bench.memcg, table[i].name, text, 5000), MGLRU_EINVAL);
        assert_int_equal(mglru_memcg_write(bench.memcg, table[i].name, "1\0", 2), MGLRU_EINVAL);
        assert_int_equal(mglru_memcg_write(bench.memcg, table[i].name, "\0", 1), MGLRU_EINVAL);
    }
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(of_cache); i++) {
        assert_int_equal(mglru_cache_write(bench.cache, of_cache[i], text, 4096), MGLRU_EINVAL);
        assert_int_equal(mglru_cache_write(bench.cache, of_cache[i], "1\0002", 3), MGLRU_EINVAL);
    }
    /* Leading zeros fill the page up to its last byte. */
    memset(text, '0', 4095);
    memcpy(text + 4090, "x2000", 5);
    assert_int_equal(mglru_memcg_write(bench.memcg, "memory.max", text + 4089, 6), 0);
    expect(bench.memcg, "memory.max", "8192\n");
    mglru_cache_destroy(bench.cache);
}

static void max_and_high_bring_usage_down(void **state)
{
    struct bench bench;
    create(&bench, "7.3", false);
    assert_int_equal(access_pages(&bench, MGLRU_READ, 1000), 0);
    assert_int_equal(put(bench.memcg, "memory.high", "2M"), 0);
    /* A reclaim takes a batch at most beyond what was asked for. */
    assert_in_range(page_counter_read(&bench.memcg->memcg->memory), 512 - 64, 512);
    assert_int_equal(put(bench.memcg, "memory.max", "1M"), 0);
    assert_true(page_counter_read(&bench.memcg->memcg->memory) <= 256);
    assert_int_equal(put(bench.parent, "memory.max", "512K"), 0);
    assert_true(page_counter_read(&bench.parent->memcg->memory) <= 128);
    mglru_cache_destroy(bench.cache);
}

/* memory.max below what cannot go: reclaimed, then out of memory; the limit stands. */
static void a_max_that_cannot_be_met_raises_oom(void **state)
{
    struct bench bench;
    create(&bench, "7.3", false);
    assert_int_equal(access_pages(&bench, MGLRU_READ, 100), 0);
    lru_batch_drain(&bench.cache->reclaim);
    for (uint64_t page = 0; page < 100; page++)
        folio_set(slot_folio(index_get(&bench.file->mapping->index, page)), FOLIO_PINNED);
    assert_int_equal(put(bench.memcg, "memory.max", "40K"), 0);
    expect(bench.memcg, "memory.max", "40960\n");
    expect(bench.memcg, "memory.current", "409600\n");
    assert_int_equal(memcg_events(bench.memcg->memcg, MEMCG_EVENT_OOM), 1);
    assert_int_equal(memcg_events(bench.parent->memcg, MEMCG_EVENT_OOM), 1);
    assert_int_equal(memcg_events_local(bench.parent->memcg, MEMCG_EVENT_OOM), 0);
    for (uint64_t page = 0; page < 100; page++)
        folio_clear(slot_folio(index_get(&bench.file->mapping->index, page)), FOLIO_PINNED);
    mglru_cache_destroy(bench.cache);
}

/* --- small numbers -------------------------------------------------------------------------- */

static void swappiness_is_0_to_200(void **state)
{
    static const char *const good[] = {"0", "60", "200", "200\n", "+7", "0xC8", "0310"};
    static const char *const bad[] = {"",
                                      "201",
                                      "-1",
                                      "max",
                                      " 60",
                                      "60 ",
                                      "6 0",
                                      "4294967296",
                                      "+",
                                      "0x",
                                      "-0",
                                      "60x",
                                      "18446744073709551616"};
    struct bench bench;
    create(&bench, "7.3", false);
    expect(bench.memcg, "swappiness", "60\n");
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(good); i++)
        assert_int_equal(put(bench.memcg, "swappiness", good[i]), 0);
    expect(bench.memcg, "memory.swappiness", "200\n");
    expect(bench.parent, "swappiness", "60\n");
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(bad); i++) {
        assert_int_equal(put(bench.memcg, "swappiness", bad[i]), MGLRU_EINVAL);
        assert_int_equal(mglru_cache_write(bench.cache, "swappiness", bad[i], strlen(bad[i])),
                         MGLRU_EINVAL);
    }
    expect(bench.memcg, "swappiness", "200\n");
    assert_int_equal(mglru_cache_write(bench.cache, "swappiness", "5", 1), 0);
    expect(bench.memcg, "swappiness", "5\n");
    expect(bench.root, "swappiness", "5\n");
    struct mglru_memcg *child;
    assert_int_equal(mglru_memcg_create(bench.cache, "/a/b/c", &child), 0);
    expect(child, "swappiness", "5\n");
    mglru_cache_destroy(bench.cache);
}

static void oom_group_is_0_or_1(void **state)
{
    static const char *const bad[] = {"", "2", "-1", "y", "1 ", "max"};
    struct bench bench;
    create(&bench, "7.3", false);
    expect(bench.memcg, "memory.oom.group", "0\n");
    assert_int_equal(put(bench.memcg, "memory.oom.group", "1\n"), 0);
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(bad); i++)
        assert_int_equal(put(bench.memcg, "memory.oom.group", bad[i]), MGLRU_EINVAL);
    expect(bench.memcg, "memory.oom.group", "1\n");
    mglru_cache_destroy(bench.cache);
}

/* --- memory.reclaim ------------------------------------------------------------------------- */

static void reclaim_takes_bytes_and_a_swappiness(void **state)
{
    static const char *const bad[] = {"",
                                      "swappiness=60",
                                      "1M swappiness",
                                      "1M swappiness=",
                                      "1M swappiness=201",
                                      "1M swappiness=-1",
                                      "1M Swappiness=1",
                                      "1M 60",
                                      "1M 1M",
                                      "x",
                                      "-1",
                                      "1M swappiness=max1"};
    struct bench bench;
    create(&bench, "7.3", false);
    assert_int_equal(access_pages(&bench, MGLRU_READ, 1000), 0);
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(bad); i++)
        if (put(bench.memcg, "memory.reclaim", bad[i]) != MGLRU_EINVAL)
            fail_msg("memory.reclaim takes '%s'", bad[i]);
    assert_in_range(page_counter_read(&bench.memcg->memcg->memory), 1000, 1000 + 64);
    assert_int_equal(put(bench.memcg, "memory.reclaim", "0"), 0);
    assert_int_equal(put(bench.memcg, "memory.reclaim", " 1M  swappiness=0\n"), 0);
    assert_int_equal(put(bench.memcg, "memory.reclaim", "64K swappiness=5 swappiness=10"), 0);
    assert_true(page_counter_read(&bench.memcg->memcg->memory) <= 1024 - 256 - 16);
    /* Anonymous memory alone: there is none. */
    assert_int_equal(put(bench.memcg, "memory.reclaim", "64K swappiness=max"), MGLRU_EAGAIN);
    assert_int_equal(put(bench.memcg, "memory.reclaim", "1G"), MGLRU_EAGAIN);
    assert_int_equal(mglru_error_errno(MGLRU_EAGAIN), EAGAIN);
    mglru_cache_destroy(bench.cache);
    create(&bench, "6.12", false); /* knows no "max" */
    assert_int_equal(put(bench.memcg, "memory.reclaim", "64K swappiness=max"), MGLRU_EINVAL);
    mglru_cache_destroy(bench.cache);
}

/* The whole machine: the memcg LRU gives the turns. A memcg below its memory.low is passed over
 * once; its second turn takes from it and says so (mglru-facts 5). 6.12 does not know what is low
 * when nobody computed it before (row 23). */
static void reclaim_of_the_root_goes_by_the_memcg_lru(void **state)
{
    static const char *const models[] = {"6.12", "7.3", "next", "ours"};
    for (size_t m = 0; m < MGLRU_ARRAY_LEN(models); m++) {
        struct bench bench;
        struct mglru_memcg *other;
        create(&bench, models[m], false);
        assert_int_equal(access_pages(&bench, MGLRU_READ, 4000), 0);
        assert_int_equal(put(bench.parent, "memory.low", "max"), 0);
        assert_int_equal(put(bench.memcg, "memory.low", "max"), 0);
        assert_int_equal(mglru_memcg_create(bench.cache, "/c", &other), 0);
        struct bench beside = bench;
        beside.memcg = other;
        struct mglru_mapping *mapping;
        assert_int_equal(mglru_mapping_create(bench.cache, "m", MGLRU_FILE, 0, &mapping), 0);
        assert_int_equal(mglru_file_open(mapping, other, &beside.file), 0);
        assert_int_equal(access_pages(&beside, MGLRU_READ, 4000), 0);
        assert_int_equal(put(bench.root, "memory.reclaim", "14M"), 0);
        bool heeds = strcmp(models[m], "6.12") != 0;
        unsigned long left = (unsigned long)page_counter_read(&bench.memcg->memcg->memory);
        assert_in_range(left, heeds ? 3000 : 1000, heeds ? 4000 : 3000);
        assert_int_equal(memcg_events(bench.memcg->memcg, MEMCG_EVENT_LOW) > 0, heeds);
        assert_null(cache_verify(bench.cache));
        assert_int_equal(put(bench.root, "memory.reclaim", "1G"), MGLRU_EAGAIN);
        assert_true(page_counter_read(&bench.memcg->memcg->memory) < 200);
        assert_true(page_counter_read(&other->memcg->memory) < 200);
        assert_null(cache_verify(bench.cache));
        mglru_cache_destroy(bench.cache);
    }
}

/* --- what is shown -------------------------------------------------------------------------- */

static void counters_and_peaks_are_shown_in_bytes(void **state)
{
    struct bench bench;
    create(&bench, "7.3", false);
    expect(bench.memcg, "memory.current", "0\n");
    assert_int_equal(access_pages(&bench, MGLRU_READ, 128), 0); /* a multiple of the batch */
    expect(bench.memcg, "memory.current", "524288\n");
    expect(bench.parent, "memory.current", "524288\n");
    assert_int_equal(put(bench.memcg, "memory.max", "256K"), 0);
    expect(bench.memcg, "memory.peak", "524288\n");
    assert_int_equal(put(bench.memcg, "memory.peak", "anything"), 0);
    assert_true(atomic_load_relaxed(&bench.memcg->memcg->memory.watermark) <= 128);
    expect(bench.memcg, "memory.swap.current", "0\n");
    expect(bench.memcg, "memory.swap.peak", "0\n");
    expect(bench.memcg, "memory.swap.events", "high 0\nmax 0\nfail 0\n");
    mglru_cache_destroy(bench.cache);
}

static void events_name_what_happened_below(void **state)
{
    struct bench bench;
    create(&bench, "7.3", false);
    expect(bench.memcg, "memory.events",
           "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\noom_group_kill 0\nsock_throttled 0\n");
    assert_int_equal(put(bench.memcg, "memory.max", "0"), 0);
    assert_int_equal(access_pages(&bench, MGLRU_READ, 1), MGLRU_EOOM);
    expect(bench.memcg, "memory.events",
           "low 0\nhigh 0\nmax 1\noom 1\noom_kill 1\noom_group_kill 0\nsock_throttled 0\n");
    expect(bench.parent, "memory.events",
           "low 0\nhigh 0\nmax 1\noom 1\noom_kill 1\noom_group_kill 0\nsock_throttled 0\n");
    expect(bench.parent, "memory.events.local",
           "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\noom_group_kill 0\nsock_throttled 0\n");
    mglru_cache_destroy(bench.cache);
}

/* The value behind "@key " at the start of a line; fails where there is none. */
static uint64_t value_of(const char *text, const char *key)
{
    size_t length = strlen(key);
    for (const char *line = text; *line; line = strchr(line, '\n') + 1)
        if (strncmp(line, key, length) == 0 && line[length] == ' ')
            return strtoull(line + length, NULL, 10);
    fail_msg("no line '%s'", key);
    return 0;
}

static void stat_has_a_line_for_each_name(void **state)
{
    struct bench bench;
    static char text[16384];
    size_t length;
    create(&bench, "7.3", false);
    assert_int_equal(access_pages(&bench, MGLRU_READ, 700), 0);
    assert_int_equal(access_pages(&bench, MGLRU_WRITE, 10), 0);
    lru_batch_drain(&bench.cache->reclaim);
    assert_int_equal(mglru_cache_write(bench.cache, "stat_refresh", "1", 1), 0);
    assert_int_equal(mglru_memcg_read(bench.memcg, "memory.stat", text, sizeof(text), &length), 0);
    assert_int_equal(length, strlen(text));
    for (size_t i = 0; mglru_stat_name(i); i++) {
        uint64_t exact;
        assert_int_equal(mglru_memcg_stat(bench.memcg, mglru_stat_name(i), &exact), 0);
        assert_true(value_of(text, mglru_stat_name(i)) == exact);
    }
    assert_int_equal(value_of(text, "file"), 700 * PAGE);
    assert_int_equal(value_of(text, "inactive_file") + value_of(text, "active_file"), 700 * PAGE);
    assert_int_equal(value_of(text, "file_dirty"), 10 * PAGE);
    uint64_t value;
    assert_int_equal(mglru_memcg_stat(bench.memcg, "no_such", &value), MGLRU_ENOENT);
    assert_int_equal(mglru_memcg_stat(bench.memcg, "aged", &value), 0);
    assert_int_equal(mglru_memcg_read(bench.memcg, "memory.numa_stat", text, sizeof(text), &length),
                     0);
    assert_non_null(strstr(text, "\nfile N0=2867200\n"));
    mglru_cache_destroy(bench.cache);
}

/* 7.5: what is too little for a flush of its own is shown after the periodic one, 2 s apart. */
static void facts_7_5_a_reader_is_stale_for_at_most_2_s(void **state)
{
    static const uint64_t second = UINT64_C(1000000000);
    struct bench bench;
    static char text[16384];
    create(&bench, "7.3", false);
    for (uint64_t period = 1; period <= 3; period++) {
        assert_int_equal(mglru_memcg_read(bench.memcg, "memory.stat", text, sizeof(text), NULL), 0);
        uint64_t before = value_of(text, "pgfault");
        mglru_cache_set_time(bench.cache, 2 * period * second - 1);
        memcg_stat_add(bench.memcg->memcg, 0, 0, MEMCG_PGFAULT, 1);
        assert_int_equal(mglru_memcg_read(bench.memcg, "memory.stat", text, sizeof(text), NULL), 0);
        assert_int_equal(value_of(text, "pgfault"), before);
        mglru_cache_set_time(bench.cache, 2 * period * second);
        assert_int_equal(mglru_memcg_read(bench.memcg, "memory.stat", text, sizeof(text), NULL), 0);
        assert_int_equal(value_of(text, "pgfault"), before + 1);
    }
    mglru_cache_destroy(bench.cache);
}

/* A buffer that is too small gets the beginning, terminated, and the whole length. */
static void short_buffers_are_cut_and_told(void **state)
{
    struct bench bench;
    static char whole[16384], cut[16384];
    size_t length, told;
    create(&bench, "7.3", false);
    assert_int_equal(mglru_memcg_read(bench.memcg, "memory.stat", whole, sizeof(whole), &length),
                     0);
    for (size_t capacity = 0; capacity <= length + 1; capacity++) {
        memset(cut, 'x', capacity + 1);
        int error = mglru_memcg_read(bench.memcg, "memory.stat", cut, capacity, &told);
        assert_int_equal(error, capacity > length ? 0 : MGLRU_EOVERFLOW);
        assert_int_equal(told, length);
        assert_int_equal(cut[capacity], 'x');
        if (!capacity)
            continue;
        assert_int_equal(cut[capacity > length ? length : capacity - 1], '\0');
        assert_memory_equal(cut, whole, capacity > length ? length : capacity - 1);
    }
    assert_int_equal(mglru_memcg_read(bench.memcg, "memory.max", cut, 64, NULL), 0);
    mglru_cache_destroy(bench.cache);
}

/* --- files of the cache --------------------------------------------------------------------- */

static void expect_cache(struct mglru_cache *cache, const char *name, const char *want)
{
    char text[64];
    size_t length;
    assert_int_equal(mglru_cache_read(cache, name, text, sizeof(text), &length), 0);
    assert_string_equal(text, want);
}

static int put_cache(struct mglru_cache *cache, const char *name, const char *text)
{
    return mglru_cache_write(cache, name, text, strlen(text));
}

static void enabled_takes_letters_and_numbers(void **state)
{
    static const struct {
        const char *text, *shown;
    } good[] = {
        {"0", "0x0000\n"},          {"1", "0x0001\n"},   {"n", "0x0000\n"},   {"yes", "0x0007\n"},
        {"No!", "0x0000\n"},        {"Y", "0x0007\n"},   {"5\n", "0x0005\n"}, {"0x6", "0x0006\n"},
        {"010", "0x0000\n"},        {"255", "0x0007\n"}, {"", "0x0007\n"},    {"2", "0x0002\n"},
        {"4294967295", "0x0007\n"},
    };
    static const char *const bad[] = {"x", "-1", "1 ", " 1", "4294967296", "+", "7x", "\n"};
    struct bench bench;
    create(&bench, "7.3", true);
    expect_cache(bench.cache, "enabled", "0x0000\n");
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(good); i++) {
        if (put_cache(bench.cache, "enabled", good[i].text))
            fail_msg("enabled refuses '%s'", good[i].text);
        expect_cache(bench.cache, "enabled", good[i].shown);
    }
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(bad); i++)
        if (put_cache(bench.cache, "enabled", bad[i]) != MGLRU_EINVAL)
            fail_msg("enabled takes '%s'", bad[i]);
    expect_cache(bench.cache, "enabled", "0x0007\n");
    mglru_cache_destroy(bench.cache);
}

static void min_ttl_is_kept_in_ticks(void **state)
{
    static const char *const bad[] = {"x", "-1", "1 ", "4294967296", "1000ms"};
    struct bench bench;
    create(&bench, "7.3", false);
    expect_cache(bench.cache, "min_ttl_ms", "0\n");
    assert_int_equal(put_cache(bench.cache, "min_ttl_ms", "1001\n"), 0);
    expect_cache(bench.cache, "min_ttl_ms", "1004\n");
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(bad); i++)
        assert_int_equal(put_cache(bench.cache, "min_ttl_ms", bad[i]), MGLRU_EINVAL);
    expect_cache(bench.cache, "min_ttl_ms", "1004\n");
    assert_int_equal(put_cache(bench.cache, "min_ttl_ms", "0x10"), 0);
    expect_cache(bench.cache, "min_ttl_ms", "16\n");
    mglru_cache_destroy(bench.cache);
}

static void modes_of_the_caches_files(void **state)
{
    struct bench bench;
    char text[64];
    size_t length;
    create(&bench, "7.3", false);
    assert_int_equal(put_cache(bench.cache, "lru_gen_full", "+ 1 0 3"), MGLRU_EPERM);
    assert_int_equal(mglru_cache_read(bench.cache, "stat_refresh", text, 64, &length), MGLRU_EPERM);
    assert_int_equal(put_cache(bench.cache, "stat_refresh", ""), 0);
    expect_cache(bench.cache, "swappiness", "60\n");
    assert_int_equal(mglru_cache_read(bench.cache, "lru_gen", text, 64, &length), MGLRU_EOVERFLOW);
    assert_true(length > 64);
    mglru_cache_destroy(bench.cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_exist_with_the_kernels_modes),
        cmocka_unit_test(unknown_names_are_not_found),
        cmocka_unit_test(limits_take_bytes_with_suffixes),
        cmocka_unit_test(limits_refuse_everything_else),
        cmocka_unit_test(texts_are_bounded_and_have_no_nul),
        cmocka_unit_test(max_and_high_bring_usage_down),
        cmocka_unit_test(a_max_that_cannot_be_met_raises_oom),
        cmocka_unit_test(swappiness_is_0_to_200),
        cmocka_unit_test(oom_group_is_0_or_1),
        cmocka_unit_test(reclaim_takes_bytes_and_a_swappiness),
        cmocka_unit_test(reclaim_of_the_root_goes_by_the_memcg_lru),
        cmocka_unit_test(counters_and_peaks_are_shown_in_bytes),
        cmocka_unit_test(events_name_what_happened_below),
        cmocka_unit_test(stat_has_a_line_for_each_name),
        cmocka_unit_test(facts_7_5_a_reader_is_stale_for_at_most_2_s),
        cmocka_unit_test(short_buffers_are_cut_and_told),
        cmocka_unit_test(enabled_takes_letters_and_numbers),
        cmocka_unit_test(min_ttl_is_kept_in_ticks),
        cmocka_unit_test(modes_of_the_caches_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
