/* SPDX-License-Identifier: MIT */
/*
 * memcg/stat: the three views of a counter against amounts kept beside, through random updates,
 * flushes and removals; the thresholds of mglru-facts 7.5; names; row 41 of mglru-facts 10.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "memcg_helper.h"
#include "seeded.h"

enum { MEMCGS = 9, CPUS = 3, NODES = 2 };

static const enum memcg_stat_item watched[] = {MEMCG_NR_FILE, MEMCG_PGSCAN_DIRECT,
                                               MEMCG_SLAB_RECLAIMABLE, MEMCG_THROTTLED};
enum { WATCHED = 4 };

struct stat_model {
    struct memcg_tree *tree;
    struct memcg *memcgs[MEMCGS];
    long added[MEMCGS][NODES][WATCHED];
    long flushed[MEMCGS][NODES][WATCHED]; /* the subtree, as of its last flush */
};

static long model_exact(const struct stat_model *m, int i, unsigned node, int item)
{
    long sum = 0;
    for (int k = 0; k < MEMCGS; k++)
        if (memcg_is_descendant(m->memcgs[k], m->memcgs[i]))
            sum += m->added[k][node][item];
    return sum;
}

static void model_flush(struct stat_model *m, int i)
{
    memcg_stat_flush(m->memcgs[i]);
    for (int k = 0; k < MEMCGS; k++)
        for (unsigned node = 0; node < NODES; node++)
            for (int item = 0; item < WATCHED; item++)
                if (memcg_is_descendant(m->memcgs[k], m->memcgs[i]))
                    m->flushed[k][node][item] = model_exact(m, k, node, item);
}

static void stat_model_compare(const struct stat_model *m, struct seeded *s)
{
    for (int i = 0; i < MEMCGS; i++) {
        struct memcg *memcg = m->memcgs[i];
        for (int item = 0; item < WATCHED; item++) {
            long all_exact = 0, all_flushed = 0, all_local = 0;
            for (unsigned node = 0; node < NODES; node++) {
                long exact = model_exact(m, i, node, item);
                long local = m->added[i][node][item];
                SEEDED_CHECK(s, memcg_stat_exact(memcg, node, watched[item]) == exact);
                SEEDED_CHECK(s, memcg_stat_local_node_exact(memcg, node, watched[item]) == local);
                SEEDED_CHECK(s, memcg_stat_flushed(memcg, node, watched[item]) ==
                                    m->flushed[i][node][item]);
                all_exact += exact;
                all_local += local;
                all_flushed += m->flushed[i][node][item];
            }
            SEEDED_CHECK(s, memcg_stat_exact(memcg, MEMCG_ALL_NODES, watched[item]) == all_exact);
            SEEDED_CHECK(s, memcg_stat_local_exact(memcg, watched[item]) == all_local);
            SEEDED_CHECK(s,
                         memcg_stat_flushed(memcg, MEMCG_ALL_NODES, watched[item]) == all_flushed);
        }
    }
}

static void random_stat(struct seeded *s)
{
    static struct stat_model m;
    memset(&m, 0, sizeof(m));
    unsigned cpus = s->seed % 2 ? 1 : CPUS;
    m.tree = helper_tree(&memcg_params_73, cpus);
    for (int i = 0; i < MEMCGS; i++) {
        char name[8];
        snprintf(name, sizeof(name), "m%d", i);
        struct memcg *parent = i ? m.memcgs[seeded_below(s, (unsigned long)i)] : m.tree->root;
        assert_int_equal(memcg_create(parent, name, &m.memcgs[i]), MGLRU_OK);
    }
    for (s->step = 0; s->step < 2000; s->step++) {
        int i = (int)seeded_below(s, MEMCGS);
        if (!seeded_below(s, 30)) {
            model_flush(&m, i);
            stat_model_compare(&m, s);
            memcg_tree_verify(m.tree);
            continue;
        }
        unsigned node = (unsigned)seeded_below(s, NODES);
        int item = (int)seeded_below(s, WATCHED);
        /* Never below zero: the clamp has its own test. */
        long delta = (long)seeded_below(s, 200) - 50;
        if (m.added[i][node][item] + delta < 0)
            delta = 0;
        memcg_stat_add(m.memcgs[i], (unsigned)seeded_below(s, cpus), node, watched[item], delta);
        m.added[i][node][item] += delta;
    }
    stat_model_compare(&m, s);
    memcg_tree_destroy(m.tree);
}

static void views_agree_with_amounts_kept_beside(void **state)
{
    seeded_cases(8, random_stat);
}

static void readers_clamp_negative_amounts(void **state)
{
    struct memcg_tree *tree = helper_tree(&memcg_params_73, 1);
    struct memcg *a = helper_memcg(tree, "/a");
    memcg_stat_add(a, 0, 0, MEMCG_NR_FILE, -5);
    memcg_stat_flush(tree->root);
    assert_int_equal(memcg_stat_exact(a, 0, MEMCG_NR_FILE), 0);
    assert_int_equal(memcg_stat_local_exact(a, MEMCG_NR_FILE), 0);
    assert_int_equal(memcg_stat_flushed(tree->root, 0, MEMCG_NR_FILE), 0);
    assert_int_equal(memcg_stat_local_flushed(a, 0, MEMCG_NR_FILE), 0);
    /* The clamp is the reader's: nothing was lost. */
    memcg_stat_add(a, 0, 0, MEMCG_NR_FILE, 7);
    memcg_stat_flush(tree->root);
    assert_int_equal(memcg_stat_flushed(tree->root, 0, MEMCG_NR_FILE), 2);
    assert_int_equal(memcg_stat_local_flushed(a, MEMCG_ALL_NODES, MEMCG_NR_FILE), 2);
    memcg_tree_destroy(tree);
}

/* One CPU: updates reach the shared sum in lots of 64; more than 64 of them make a flush due. */
static void flush_is_due_above_64_pages_a_cpu(void **state)
{
    struct memcg_tree *tree = helper_tree(&memcg_params_73, 1);
    struct memcg *a = helper_memcg(tree, "/a");
    for (int i = 0; i < 127; i++) {
        assert_false(memcg_stat_flushable(a));
        memcg_stat_add(a, 0, 0, MEMCG_NR_FILE, i % 2 ? -1 : 1);
    }
    assert_false(memcg_stat_flush_if_needed(a));
    memcg_stat_add(a, 0, 0, MEMCG_PGFAULT, 1);
    assert_true(memcg_stat_flushable(a));
    assert_true(memcg_stat_flushable(tree->root));
    assert_true(memcg_stat_flush_if_needed(tree->root));
    assert_false(memcg_stat_flushable(a));
    assert_false(memcg_stat_flushable(tree->root));
    assert_int_equal(memcg_stat_flushed(a, 0, MEMCG_PGFAULT), 1);
    memcg_tree_destroy(tree);
}

static void threshold_grows_with_the_cpus(void **state)
{
    struct memcg_tree *tree = helper_tree(&memcg_params_73, 4);
    struct memcg *a = helper_memcg(tree, "/a");
    memcg_stat_add(a, 3, 0, MEMCG_PGSCAN_DIRECT, 256);
    assert_false(memcg_stat_flushable(a));
    memcg_stat_add(a, 3, 0, MEMCG_PGSCAN_DIRECT, 63);
    assert_false(memcg_stat_flushable(a));
    memcg_stat_add(a, 3, 0, MEMCG_PGSCAN_DIRECT, 1);
    assert_true(memcg_stat_flushable(a));
    memcg_tree_destroy(tree);
}

static void bytes_count_as_pages_towards_the_threshold(void **state)
{
    struct memcg_tree *tree = helper_tree(&memcg_params_73, 1);
    struct memcg *a = helper_memcg(tree, "/a");
    memcg_stat_add(a, 0, 0, MEMCG_SLAB_RECLAIMABLE, 4096L * 127 + 4095);
    assert_true(memcg_stat_flushable(a));
    memcg_stat_flush(a);
    for (int i = 0; i < 128; i++) {
        assert_false(memcg_stat_flushable(a));
        memcg_stat_add(a, 0, 0, MEMCG_SLAB_RECLAIMABLE, i % 2 ? -1 : 1); /* each counts 1 */
    }
    assert_true(memcg_stat_flushable(a));
    memcg_tree_destroy(tree);
}

/* A child that is flushable stops counting for its ancestors, and a flush of the parent resets
 * both. */
static void flushable_child_has_made_its_parent_flushable(void **state)
{
    struct memcg_tree *tree = helper_tree(&memcg_params_73, 1);
    struct memcg *a = helper_memcg(tree, "/a");
    struct memcg *b = helper_memcg(tree, "/a/b");
    memcg_stat_add(b, 0, 0, MEMCG_NR_ANON, 1000);
    assert_true(memcg_stat_flushable(b));
    assert_true(memcg_stat_flushable(a));
    long seen = a->stat.updates;
    memcg_stat_add(b, 0, 0, MEMCG_NR_ANON, 1000);
    assert_int_equal(a->stat.updates, seen);
    memcg_stat_flush(a);
    assert_false(memcg_stat_flushable(a));
    assert_false(memcg_stat_flushable(b));
    memcg_tree_destroy(tree);
}

/* Once flushable a block tells nothing of its updates: they count in its next flush all the same,
 * also when a sibling was flushed in between. */
static void flush_takes_updates_that_were_not_told_of(void **state)
{
    struct memcg_tree *tree = helper_tree(&memcg_params_73, 2);
    struct memcg *a = helper_memcg(tree, "/a");
    struct memcg *b = helper_memcg(tree, "/b");
    for (long round = 1; round <= 3; round++) {
        for (unsigned cpu = 0; cpu < 2; cpu++) {
            memcg_stat_add(a, cpu, 0, MEMCG_PGFAULT, 1000);
            assert_true(memcg_stat_flushable(a));
            memcg_stat_add(a, cpu, 1, MEMCG_PGFAULT, 1);
            memcg_stat_flush(b);
            memcg_stat_add(a, cpu, 1, MEMCG_PGFAULT, 1);
        }
        memcg_stat_flush(tree->root);
        assert_false(memcg_stat_flushable(a));
        assert_int_equal(memcg_stat_flushed(a, MEMCG_ALL_NODES, MEMCG_PGFAULT), 2004 * round);
    }
    memcg_tree_destroy(tree);
}

static void removed_memcg_leaves_its_amounts_to_the_parent(void **state)
{
    static const struct memcg_params *const all[] = {&memcg_params_612, &memcg_params_73};
    for (size_t i = 0; i < 2; i++) {
        struct memcg_tree *tree = helper_tree(all[i], 2);
        struct memcg *a = helper_memcg(tree, "/a");
        struct memcg *b = helper_memcg(tree, "/a/b");
        memcg_stat_add(b, 1, 1, MEMCG_PGSCAN_DIRECT, 11);
        memcg_stat_add(b, 0, 0, MEMCG_NR_FILE, 3);
        memcg_stat_add(b, 0, 0, MEMCG_NR_FILE, -3);
        assert_int_equal(memcg_offline(b, 0), MGLRU_OK);
        assert_int_equal(tree->count, 2);
        assert_int_equal(memcg_stat_exact(a, 1, MEMCG_PGSCAN_DIRECT), 11);
        assert_int_equal(memcg_stat_exact(a, MEMCG_ALL_NODES, MEMCG_NR_FILE), 0);
        memcg_stat_flush(tree->root);
        assert_int_equal(memcg_stat_flushed(a, 1, MEMCG_PGSCAN_DIRECT), 11);
        assert_int_equal(memcg_stat_flushed(tree->root, 1, MEMCG_PGSCAN_DIRECT), 11);
        memcg_tree_destroy(tree);
    }
}

/*
 * Row 41: once the amounts of a dying memcg were moved to its parent, its later updates must reach
 * the live ancestor, neither lost nor counted twice. 6.12 has no move: they stay where they are.
 */
static void row_41_updates_of_a_dying_memcg_go_to_a_live_ancestor(void **state)
{
    struct memcg_tree *tree = helper_tree(&memcg_params_73, 2);
    struct memcg *a = helper_memcg(tree, "/a");
    struct memcg *b = helper_memcg(tree, "/a/b");
    struct memcg *c = helper_memcg(tree, "/a/b/c");
    memcg_get(c);
    memcg_stat_add(c, 1, 0, MEMCG_INACTIVE_FILE, 100);
    memcg_stat_add(c, 1, 0, MEMCG_PGSTEAL_DIRECT, 9);
    assert_int_equal(memcg_offline(c, 0), MGLRU_OK);
    assert_int_equal(memcg_stat_local_exact(c, MEMCG_INACTIVE_FILE), 0);
    assert_int_equal(memcg_stat_local_exact(c, MEMCG_PGSTEAL_DIRECT), 9);
    assert_int_equal(memcg_stat_local_exact(b, MEMCG_INACTIVE_FILE), 100);
    memcg_stat_add(c, 1, 0, MEMCG_INACTIVE_FILE, -40);
    assert_int_equal(memcg_stat_local_exact(b, MEMCG_INACTIVE_FILE), 60);
    assert_int_equal(memcg_offline(b, 0), MGLRU_OK); /* c refers to it: dying, not gone */
    memcg_stat_add(c, 0, 0, MEMCG_INACTIVE_FILE, -10);
    assert_int_equal(memcg_stat_local_exact(a, MEMCG_INACTIVE_FILE), 50);
    memcg_stat_flush(tree->root);
    assert_int_equal(memcg_stat_flushed(a, 0, MEMCG_INACTIVE_FILE), 50);
    assert_int_equal(memcg_stat_flushed(tree->root, 0, MEMCG_INACTIVE_FILE), 50);
    assert_int_equal(memcg_stat_flushed(tree->root, 0, MEMCG_PGSTEAL_DIRECT), 9);
    memcg_put(c);
    assert_int_equal(tree->count, 2);
    assert_int_equal(memcg_stat_exact(tree->root, 0, MEMCG_INACTIVE_FILE), 50);
    assert_int_equal(memcg_stat_exact(tree->root, 0, MEMCG_PGSTEAL_DIRECT), 9);
    memcg_tree_destroy(tree);
}

static void dying_memcg_of_612_keeps_its_counters(void **state)
{
    struct memcg_tree *tree = helper_tree(&memcg_params_612, 1);
    struct memcg *a = helper_memcg(tree, "/a");
    helper_charge(a, 0, 64);
    memcg_stat_add(a, 0, 0, MEMCG_INACTIVE_FILE, 64);
    assert_int_equal(memcg_offline(a, 0), MGLRU_OK);
    memcg_stat_add(a, 0, 0, MEMCG_INACTIVE_FILE, -4);
    assert_int_equal(memcg_stat_local_exact(a, MEMCG_INACTIVE_FILE), 60);
    assert_int_equal(memcg_stat_local_exact(tree->root, MEMCG_INACTIVE_FILE), 0);
    memcg_stat_add(a, 0, 0, MEMCG_INACTIVE_FILE, -60);
    memcg_uncharge(a, 64);
    assert_int_equal(tree->count, 1);
    memcg_tree_destroy(tree);
}

static void lines_have_the_names_and_units_of_memory_stat(void **state)
{
    struct memcg_tree *tree = helper_tree(&memcg_params_73, 1);
    struct memcg *a = helper_memcg(tree, "/a");
    memcg_stat_add(a, 0, 0, MEMCG_NR_FILE, 3);
    memcg_stat_add(a, 0, 1, MEMCG_SLAB_RECLAIMABLE, 4144);
    memcg_stat_add(a, 0, 1, MEMCG_SLAB_UNRECLAIMABLE, 200);
    memcg_stat_add(a, 0, 0, MEMCG_PGSCAN_DIRECT, 5);
    memcg_stat_add(a, 0, 0, MEMCG_PGSCAN_PROACTIVE, 6);
    memcg_stat_add(a, 0, 0, MEMCG_PGROTATED, 8);
    static const struct {
        const char *name;
        uint64_t value;
    } cases[] = {{"file", 3 * 4096},         {"slab", 4344},
                 {"slab_reclaimable", 4144}, {"pgscan", 11},
                 {"pgscan_direct", 5},       {"pgsteal", 0},
                 {"pgrotated", 8},           {"workingset_nodereclaim", 0}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct memcg_stat_line *line = memcg_stat_line_find(cases[i].name);
        assert_non_null(line);
        assert_int_equal(memcg_stat_line_value(a, line, MEMCG_ALL_NODES, true, 4096),
                         cases[i].value);
        assert_int_equal(memcg_stat_line_value(a, line, MEMCG_ALL_NODES, false, 4096), 0);
    }
    assert_null(memcg_stat_line_find("nonsense"));
    memcg_stat_flush(a);
    assert_int_equal(memcg_stat_line_value(a, memcg_stat_line_find("file"), 0, false, 4096),
                     3 * 4096);
    memcg_tree_destroy(tree);
}

static void every_line_is_found_by_its_name_once(void **state)
{
    for (size_t i = 0; i < memcg_stat_line_count; i++)
        assert_ptr_equal(memcg_stat_line_find(memcg_stat_lines[i].name), &memcg_stat_lines[i]);
    for (size_t i = 0; i < MEMCG_STAT_COUNT; i++) {
        const struct memcg_stat_line *line = memcg_stat_line_find(memcg_stat_infos[i].name);
        assert_non_null(line);
        assert_int_equal(line->first, i);
        assert_int_equal(line->count, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_agree_with_amounts_kept_beside),
        cmocka_unit_test(readers_clamp_negative_amounts),
        cmocka_unit_test(flush_is_due_above_64_pages_a_cpu),
        cmocka_unit_test(threshold_grows_with_the_cpus),
        cmocka_unit_test(bytes_count_as_pages_towards_the_threshold),
        cmocka_unit_test(flushable_child_has_made_its_parent_flushable),
        cmocka_unit_test(flush_takes_updates_that_were_not_told_of),
        cmocka_unit_test(removed_memcg_leaves_its_amounts_to_the_parent),
        cmocka_unit_test(row_41_updates_of_a_dying_memcg_go_to_a_live_ancestor),
        cmocka_unit_test(dying_memcg_of_612_keeps_its_counters),
        cmocka_unit_test(lines_have_the_names_and_units_of_memory_stat),
        cmocka_unit_test(every_line_is_found_by_its_name_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
