/* SPDX-License-Identifier: MIT */
/*
 * lru_gen and lru_gen_full as text: the layout to the last blank, and the grammar of the commands
 * with the code of each refusal, under the grammar of 6.12 and of 7.3. Facts: mglru-facts 9.2.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include <mglru/cache.h>
#include <mglru/control.h>

#include "cache/cache.h"

struct bench {
    struct mglru_cache *cache;
    struct mglru_memcg *memcg;
    struct mglru_file *file;
    struct lruvec *lruvec;
};

static void create(struct bench *bench, const char *model, uint32_t nodes)
{
    struct mglru_cache_options options = {.size = sizeof(options),
                                          .model = model,
                                          .nodes = nodes,
                                          .swap_bytes = 4096 * 1000,
                                          .kernel_charge = MGLRU_KERNEL_CHARGE_NONE};
    struct mglru_mapping *mapping;
    assert_int_equal(mglru_cache_create(&options, &bench->cache), 0);
    assert_int_equal(mglru_memcg_create(bench->cache, "/a", &bench->memcg), 0);
    assert_int_equal(mglru_mapping_create(bench->cache, "m", MGLRU_FILE, 0, &mapping), 0);
    assert_int_equal(mglru_file_open(mapping, bench->memcg, &bench->file), 0);
    bench->lruvec = memcg_lruvec(bench->memcg->memcg, 0);
}

static void read_pages(const struct bench *bench, uint32_t count)
{
    struct mglru_access access = {.file = bench->file, .count = count, .kind = MGLRU_READ};
    size_t done;
    assert_int_equal(mglru_cache_access(bench->cache, &access, 1, NULL, &done), 0);
    lru_batch_drain(&bench->cache->reclaim);
}

static void expect(const struct bench *bench, const char *name, const char *want)
{
    static char text[8192];
    size_t length;
    assert_int_equal(mglru_cache_read(bench->cache, name, text, sizeof(text), &length), 0);
    assert_string_equal(text, want);
    assert_int_equal(length, strlen(want));
}

/* --- layout --------------------------------------------------------------------------------- */

static void generations_of_7_3(void **state)
{
    struct bench bench;
    create(&bench, "7.3", 0);
    mglru_cache_set_time(bench.cache, 12345678901);
    /* Read once: the oldest but one. Those that filled a batch of 31 (23 were in it) entered the
     * lists before they were marked. */
    read_pages(&bench, 70);
    expect(&bench, "lru_gen",
           "memcg 1 /\n node     0\n"
           "          0      12345          0           0 \n"
           "          1      12345          0           0 \n"
           "          2      12345          0           0 \n"
           "          3      12345          0           0 \n"
           "memcg 2 /a\n node     0\n"
           "          0      12345          0           3 \n"
           "          1      12345          0          67 \n"
           "          2      12345          0           0 \n"
           "          3      12345          0           0 \n");
    mglru_cache_destroy(bench.cache);
}

static void generations_of_6_12_and_two_nodes(void **state)
{
    struct bench bench;
    create(&bench, "6.12", 2);
    expect(&bench, "lru_gen",
           "memcg     1 /\n node     0\n"
           "          0          0          0           0 \n"
           "          1          0          0           0 \n"
           "          2          0          0           0 \n"
           "          3          0          0           0 \n"
           " node     1\n"
           "          0          0          0           0 \n"
           "          1          0          0           0 \n"
           "          2          0          0           0 \n"
           "          3          0          0           0 \n"
           "memcg     2 /a\n node     0\n"
           "          0          0          0           0 \n"
           "          1          0          0           0 \n"
           "          2          0          0           0 \n"
           "          3          0          0           0 \n"
           " node     1\n"
           "          0          0          0           0 \n"
           "          1          0          0           0 \n"
           "          2          0          0           0 \n"
           "          3          0          0           0 \n");
    mglru_cache_destroy(bench.cache);
}

/* The file that shows the counters of the controller: their place by the letters behind them. */
static void full_text_marks_what_each_number_is(void **state)
{
    struct bench bench;
    static char text[8192];
    size_t length;
    create(&bench, "7.3", 0);
    struct lruvec *lruvec = bench.lruvec;
    lruvec->avg_refaulted[LRU_TYPE_ANON][1] = 11;
    lruvec->avg_total[LRU_TYPE_FILE][3] = 12;
    lruvec->refaulted[LRU_TYPE_ANON][0] = 13;
    lruvec->evicted[LRU_TYPE_FILE][2] = 14;
    lruvec->protected_pages[LRU_TYPE_FILE][1] = 15;
    assert_int_equal(mglru_cache_read(bench.cache, "lru_gen_full", text, sizeof(text), &length), 0);
    const char *own = strstr(text, "memcg 2 /a\n");
    assert_non_null(own);
    static const char *const lines[] = {
        "                     0         13r          0e          0p          0r          0e        "
        "  0p\n",
        "                     1          0r          0e          0p          0r          0e        "
        " 15p\n",
        "                     2          0r          0e          0p          0r         14e        "
        "  0p\n",
        "                     3          0r          0e          0p          0r          0e        "
        "  0p\n",
        "                                0x          0x          0x          0x\n",
        "                     0          0x          0x          0x          0x          0x        "
        "  0x\n",
        "                     1         11R          0T          0x          0R          0T        "
        "  0x\n",
        "                     3          0R          0T          0x          0R         12T        "
        "  0x\n",
        "                                0T          0Y          0F          0A\n",
    };
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(lines); i++) {
        own = strstr(own, lines[i]); /* in this order */
        if (!own)
            fail_msg("no line '%s' in\n%s", lines[i], text);
    }
    mglru_cache_destroy(bench.cache);
}

/* Generations that a type no longer has are shown, marked. */
static void full_text_marks_generations_that_are_gone(void **state)
{
    struct bench bench;
    static char text[8192];
    size_t length;
    create(&bench, "7.3", 0);
    bench.lruvec->min_seq[LRU_TYPE_ANON] = 2;
    bench.lruvec->min_seq[LRU_TYPE_FILE] = 1;
    assert_int_equal(mglru_cache_read(bench.cache, "lru_gen_full", text, sizeof(text), &length), 0);
    const char *own = strstr(text, "memcg 2 /a\n");
    assert_non_null(own);
    assert_non_null(strstr(own, "          0          0          0x          0x\n"));
    assert_non_null(strstr(own, "          1          0          0x          0 \n"));
    assert_non_null(strstr(own, "          2          0          0           0 \n"));
    assert_int_equal(mglru_cache_read(bench.cache, "lru_gen", text, sizeof(text), &length), 0);
    own = strstr(text, "memcg 2 /a\n");
    assert_null(strstr(own, "          0          0          0 ")); /* begins with the oldest */
    mglru_cache_destroy(bench.cache);
}

/* --- commands ------------------------------------------------------------------------------- */

static int command(const struct bench *bench, const char *text)
{
    return mglru_cache_write(bench->cache, "lru_gen", text, strlen(text));
}

struct line {
    const char *text;
    int code_612, code_73;
};

#define INVAL MGLRU_EINVAL, MGLRU_EINVAL
#define FINE 0, 0

/* A new memcg 2 has generations 0 to 3. */
static const struct line lines[] = {
    /* Nothing, and separators alone. */
    {"", INVAL},
    {" ", INVAL},
    {"\n", INVAL},
    {",;\n,", INVAL},
    /* Numbers that are missing or none. */
    {"+", INVAL},
    {"+ 2", INVAL},
    {"+ 2 0", INVAL},
    {"+ x 0 3", INVAL},
    {"+ 2 0 x", INVAL},
    {"+ -2 0 3", INVAL},
    {"+ 2 0 -3", INVAL},
    {"+ 2 0 3 x", INVAL},
    {"+ 2 0 3 60 x", INVAL},
    {"+ 2 0 3 60 1 1", INVAL},
    {"+ 2 0 3 60 1 x", INVAL},
    {"+ 0x2 0 3", INVAL},
    /* Verbs. */
    {"* 2 0 3", INVAL},
    {"2 0 3", INVAL},
    {"a 2 0 3", INVAL},
    {"+2 0 3", FINE},
    /* Who. */
    {"+ 0 0 3", INVAL},
    {"+ 3 0 3", INVAL},
    {"+ 99999999 0 3", INVAL},
    {"+ 2 1 3", INVAL},
    {"+ 2 8 3", INVAL},
    {"+ 1 0 3", FINE},
    {"+ 18446744073709551618 0 3", FINE},
    /* Aging. */
    {"+ 2 0 3", FINE},
    {"+ 2 0 3\n", FINE},
    {"  +  2  0  3  ", FINE},
    {"+\t2\t0\t3", FINE},
    {"+ 2 0 4", INVAL},
    {"+ 2 0 2", FINE},
    {"+ 2 0 0", FINE},
    {"+ 2 0 3 60", FINE},
    {"+ 2 0 3 60 1", FINE},
    {"+ 2 0 3 0 1", FINE},
    {"+ 2 0 3 60 0", MGLRU_ERANGE, 0},
    /* Swappiness. */
    {"+ 2 0 3 200", FINE},
    {"+ 2 0 3 201", MGLRU_EINVAL, 0},
    {"+ 2 0 3 202", INVAL},
    {"+ 2 0 3 max", MGLRU_EINVAL, 0},
    {"+ 2 0 3 maxx", INVAL},
    {"+ 2 0 3 0x3c", MGLRU_EINVAL, 0},
    {"+ 2 0 3 -1", INVAL},
    {"+ 2 0 3 4294967295", 0, MGLRU_EINVAL},
    /* Eviction. */
    {"- 2 0 0", FINE},
    {"- 2 0 1", FINE},
    {"- 2 0 2", INVAL},
    {"- 2 0 3", INVAL},
    {"- 2 0 1 60", FINE},
    {"- 2 0 1 60 0", FINE},
    {"- 2 0 1 60 100000000000", FINE},
    {"- 2 0 1 max", MGLRU_EINVAL, 0},
    {"- 2 0 1 201", MGLRU_EINVAL, 0},
    /* Several: the first refusal ends it. */
    {"+ 2 0 3;- 2 0 1", FINE},
    {"+ 2 0 3,+ 2 0 4,\n+ 2 0 5", FINE},
    {"+ 2 0 3;;;", FINE},
    {";+ 2 0 3", FINE},
    {"+ 2 0 3;x", INVAL},
    {"x;+ 2 0 3", INVAL},
    {"+ 2 0 3 + 2 0 4", INVAL},
};

static void commands_are_judged(const char *model, bool newer)
{
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(lines); i++) {
        struct bench bench;
        create(&bench, model, 0);
        read_pages(&bench, 300);
        int want = newer ? lines[i].code_73 : lines[i].code_612;
        int code = command(&bench, lines[i].text);
        if (code != want)
            fail_msg("%s, '%s': %s, expected %s", model, lines[i].text, mglru_error_text(code),
                     mglru_error_text(want));
        const char *broken = cache_verify(bench.cache);
        if (broken)
            fail_msg("%s, '%s': %s", model, lines[i].text, broken);
        mglru_cache_destroy(bench.cache);
    }
}

static void commands_of_6_12(void **state)
{
    commands_are_judged("6.12", false);
}

static void commands_of_7_3(void **state)
{
    commands_are_judged("7.3", true);
    commands_are_judged("ours", true);
}

static void commands_before_a_refused_one_stay_done(void **state)
{
    struct bench bench;
    create(&bench, "7.3", 0);
    assert_int_equal(command(&bench, "+ 2 0 3;+ 2 0 4;x;+ 2 0 5"), MGLRU_EINVAL);
    assert_int_equal(bench.lruvec->max_seq, 5);
    mglru_cache_destroy(bench.cache);
}

/* A number that was passed already: 7.3 ages once more, 6.12 does nothing. */
static void stale_numbers(void **state)
{
    struct bench bench;
    create(&bench, "7.3", 0);
    assert_int_equal(command(&bench, "+ 2 0 1"), 0);
    assert_int_equal(bench.lruvec->max_seq, 4);
    mglru_cache_destroy(bench.cache);
    create(&bench, "6.12", 0);
    assert_int_equal(command(&bench, "+ 2 0 1"), 0);
    assert_int_equal(bench.lruvec->max_seq, 3);
    mglru_cache_destroy(bench.cache);
}

static void eviction_stops_at_the_number_and_at_the_count(void **state)
{
    static const char *const models[] = {"6.12", "7.3", "ours"};
    for (size_t m = 0; m < MGLRU_ARRAY_LEN(models); m++) {
        struct bench bench;
        create(&bench, models[m], 0);
        read_pages(&bench, 1000);
        assert_int_equal(command(&bench, "- 2 0 1 0 100"), 0);
        long left = page_counter_read(&bench.memcg->memcg->memory);
        assert_in_range(1024 - left, 60, 24 + 100 + 64);
        assert_int_equal(command(&bench, "- 2 0 1 0"), 0); /* the pages lie there or below */
        assert_true(page_counter_read(&bench.memcg->memcg->memory) <= 64);
        assert_true(bench.lruvec->min_seq[LRU_TYPE_FILE] == 2);
        mglru_cache_destroy(bench.cache);
    }
}

static void a_removed_memcg_is_unknown(void **state)
{
    struct bench bench;
    create(&bench, "7.3", 0);
    read_pages(&bench, 10);
    assert_int_equal(mglru_memcg_remove(bench.memcg), 0);
    assert_int_equal(command(&bench, "+ 2 0 3"), MGLRU_EINVAL);
    mglru_cache_destroy(bench.cache);
}

/* --- walks ---------------------------------------------------------------------------------- */

/* Entries that a walk passes after page 3 of a mapping of @size pages was touched. */
static unsigned long entries_walked(uint64_t size, enum mglru_mapping_kind kind)
{
    struct bench bench;
    struct mglru_mapping *mapping;
    create(&bench, "7.3", 0);
    assert_int_equal(mglru_mapping_create(bench.cache, "sized", kind, size, &mapping), 0);
    assert_int_equal(mglru_file_open(mapping, bench.memcg, &bench.file), 0);
    struct mglru_access access = {.file = bench.file,
                                  .index = 3,
                                  .count = 1,
                                  .kind = kind == MGLRU_FILE ? MGLRU_MAP_READ : MGLRU_TOUCH};
    size_t done;
    assert_int_equal(mglru_cache_access(bench.cache, &access, 1, NULL, &done), 0);
    assert_int_equal(mglru_cache_write(bench.cache, "lru_gen", "+ 2 0 3 200", 11), 0);
    unsigned long total = bench.lruvec->mm_state.stats[0];
    mglru_cache_destroy(bench.cache);
    return total;
}

static void walks_go_by_the_size_of_a_mapping(void **state)
{
    static const enum mglru_mapping_kind kinds[] = {MGLRU_FILE, MGLRU_ANON};
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(entries_walked(100, kinds[i]), 100);
        assert_int_equal(entries_walked(5000, kinds[i]), 512); /* one table exists */
        assert_int_equal(entries_walked(0, kinds[i]), 4);      /* unknown: up to what was touched */
        assert_int_equal(entries_walked(2, kinds[i]), 4);      /* touched beyond its end */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generations_of_7_3),
        cmocka_unit_test(walks_go_by_the_size_of_a_mapping),
        cmocka_unit_test(generations_of_6_12_and_two_nodes),
        cmocka_unit_test(full_text_marks_what_each_number_is),
        cmocka_unit_test(full_text_marks_generations_that_are_gone),
        cmocka_unit_test(commands_of_6_12),
        cmocka_unit_test(commands_of_7_3),
        cmocka_unit_test(commands_before_a_refused_one_stay_done),
        cmocka_unit_test(stale_numbers),
        cmocka_unit_test(eviction_stops_at_the_number_and_at_the_count),
        cmocka_unit_test(a_removed_memcg_is_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
