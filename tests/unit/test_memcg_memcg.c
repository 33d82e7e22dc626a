/* SPDX-License-Identifier: MIT */
/*
 * memcg/memcg and memcg/iter: creation and names, the life of a dying memcg, ids, walks, and
 * protection along a path (row 23 of mglru-facts 10).
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

static void paths_are_made_and_found(void **state)
{
    struct memcg_tree *tree = helper_tree(&memcg_params_73, 1);
    struct memcg *b = helper_memcg(tree, "/a/b");
    struct memcg *found;
    assert_string_equal(b->path, "/a/b");
    assert_string_equal(b->name, "b");
    assert_string_equal(tree->root->path, "/");
    assert_int_equal(memcg_find(tree, "/a/b", &found), MGLRU_OK);
    assert_ptr_equal(found, b);
    assert_int_equal(memcg_find(tree, "/", &found), MGLRU_OK);
    assert_ptr_equal(found, tree->root);
    assert_ptr_equal(helper_memcg(tree, "/a/b"), b);
    assert_int_equal(memcg_find(tree, "/a/bb", &found), MGLRU_ENOENT);
    assert_null(found);
    assert_int_equal(memcg_find(tree, "/a/", &found), MGLRU_ENOENT);
    assert_int_equal(tree->root->serial, 1);
    assert_int_equal(b->parent->serial, 2);
    assert_int_equal(b->serial, 3);
    assert_int_equal(b->id, 3);
    memcg_tree_verify(tree);
    memcg_tree_destroy(tree);
}

static void bad_names_are_refused(void **state)
{
    static const char *const paths[] = {"",     "a",  "//a",   "/a//b", "/a/",
                                        "/a b", "/.", "/a/..", "/a\tb", "/a\n"};
    struct memcg_tree *tree = helper_tree(&memcg_params_73, 1);
    struct memcg *made;
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        if (memcg_create_path(tree, paths[i], &made) != MGLRU_EINVAL)
            fail_msg("\"%s\" was taken", paths[i]);
        assert_null(made);
    }
    assert_int_equal(memcg_create(tree->root, "x/y", &made), MGLRU_EINVAL);
    assert_int_equal(memcg_create(tree->root, "", &made), MGLRU_EINVAL);
    assert_int_equal(memcg_create(tree->root, "x", &made), MGLRU_OK);
    struct memcg *again;
    assert_int_equal(memcg_create(tree->root, "x", &again), MGLRU_EEXIST);
    assert_null(again);
    memcg_tree_verify(tree);
    memcg_tree_destroy(tree);
}

static void options_out_of_range_are_refused(void **state)
{
    struct memcg_tree *tree;
    struct memcg_tree_options options = {.nodes = MEMCG_NODES_MAX + 1};
    assert_int_equal(memcg_tree_create(&options, &tree), MGLRU_ERANGE);
    assert_null(tree);
    options = (struct memcg_tree_options){.cpus = RSTAT_CPUS_MAX + 1};
    assert_int_equal(memcg_tree_create(&options, &tree), MGLRU_ERANGE);
    options = (struct memcg_tree_options){0};
    assert_int_equal(memcg_tree_create(&options, &tree), MGLRU_OK);
    assert_ptr_equal(tree->params, &memcg_params_ours);
    assert_int_equal(tree->cpus, 1);
    memcg_tree_destroy(tree);
    memcg_tree_destroy(NULL);
}

static void children_inherit_swappiness(void **state)
{
    struct memcg_tree *tree = helper_tree(&memcg_params_73, 1);
    struct memcg *a = helper_memcg(tree, "/a");
    assert_int_equal(a->swappiness, MEMCG_SWAPPINESS_DEFAULT);
    a->swappiness = 100;
    assert_int_equal(helper_memcg(tree, "/a/b")->swappiness, 100);
    memcg_tree_destroy(tree);
}

static unsigned released;
static char released_paths[64];

static void note_release(struct memcg *memcg, void *context)
{
    assert_ptr_equal(context, &released);
    released++;
    strncat(released_paths, memcg->path, sizeof(released_paths) - strlen(released_paths) - 1);
}

static struct memcg_tree *noting_tree(const struct memcg_params *params, unsigned cpus)
{
    struct memcg_tree_options options = {
        .params = params, .cpus = cpus, .release = note_release, .release_context = &released};
    struct memcg_tree *tree;
    assert_int_equal(memcg_tree_create(&options, &tree), MGLRU_OK);
    released = 0;
    released_paths[0] = '\0';
    return tree;
}

/* 6.12: pages stay with the dying memcg and keep it. Both with and without locked counts. */
static void charged_memcg_stays_until_its_last_page_goes(void **state)
{
    for (unsigned cpus = 1; cpus <= 2; cpus++) {
        struct memcg_tree *tree = noting_tree(&memcg_params_612, cpus);
        struct memcg *a = helper_memcg(tree, "/a");
        struct memcg *b = helper_memcg(tree, "/a/b");
        struct memcg *found;
        helper_charge(b, 0, 10);
        assert_int_equal(memcg_try_charge_swap(b, 2, NULL), MGLRU_OK);
        assert_int_equal(memcg_offline(a, 0), MGLRU_EBUSY);
        assert_int_equal(memcg_offline(b, 0), MGLRU_OK);
        assert_int_equal(memcg_offline(b, 0), MGLRU_ENOENT);
        assert_int_equal(page_counter_read(&b->memory), 10); /* the stock was drained */
        assert_int_equal(memcg_find(tree, "/a/b", &found), MGLRU_ENOENT);
        assert_ptr_equal(memcg_by_id(tree, 3), b); /* swap keeps the id */
        assert_int_equal(memcg_create(b, "c", &found), MGLRU_ENOENT);
        assert_int_equal(memcg_offline(a, 0), MGLRU_OK);
        assert_ptr_equal(memcg_live(b), tree->root);
        memcg_tree_verify(tree);
        memcg_uncharge(b, 9);
        memcg_uncharge_swap(b, 2);
        assert_null(memcg_by_id(tree, 3));
        assert_int_equal(released, 0);
        memcg_uncharge(b, 1);
        assert_string_equal(released_paths, "/a/b/a");
        assert_int_equal(tree->count, 1);
        assert_int_equal(page_counter_read(&tree->root->memory), 0);
        memcg_tree_verify(tree);
        memcg_tree_destroy(tree);
        assert_int_equal(released, 3);
    }
}

static void removed_memcg_hands_its_charge_to_the_parent(void **state)
{
    struct memcg_tree *tree = noting_tree(&memcg_params_73, 1);
    struct memcg *a = helper_memcg(tree, "/a");
    struct memcg *b = helper_memcg(tree, "/a/b");
    helper_charge(b, 0, 10);
    assert_int_equal(memcg_offline(b, 0), MGLRU_OK);
    assert_int_equal(released, 1);
    assert_int_equal(page_counter_read(&a->memory), 10);
    memcg_uncharge(a, 4);
    assert_int_equal(page_counter_read(&tree->root->memory), 6);
    assert_int_equal(memcg_offline(a, 0), MGLRU_OK); /* to the root, which is free */
    assert_int_equal(released, 2);
    assert_int_equal(page_counter_read(&tree->root->memory), 0);
    memcg_tree_destroy(tree);
}

static void reference_keeps_a_removed_memcg(void **state)
{
    for (unsigned cpus = 1; cpus <= 2; cpus++) {
        struct memcg_tree *tree = noting_tree(&memcg_params_73, cpus);
        struct memcg *a = helper_memcg(tree, "/a");
        memcg_get(a);
        assert_int_equal(memcg_offline(a, 0), MGLRU_OK);
        assert_int_equal(released, 0);
        assert_false(memcg_online(a));
        /* The name is free again while the old one is dying. */
        assert_ptr_not_equal(helper_memcg(tree, "/a"), a);
        memcg_put(a);
        assert_string_equal(released_paths, "/a");
        memcg_tree_destroy(tree);
    }
}

static void root_cannot_be_removed(void **state)
{
    struct memcg_tree *tree = helper_tree(&memcg_params_73, 1);
    assert_int_equal(memcg_offline(tree->root, 0), MGLRU_EINVAL);
    memcg_tree_destroy(tree);
}

static void ids_are_the_lowest_free_ones(void **state)
{
    struct memcg_tree *tree = helper_tree(&memcg_params_73, 1);
    struct memcg *a = helper_memcg(tree, "/a");
    helper_memcg(tree, "/b");
    struct memcg *c = helper_memcg(tree, "/c");
    assert_int_equal(memcg_by_id(tree, 1), tree->root);
    assert_ptr_equal(memcg_by_id(tree, 4), c);
    assert_int_equal(memcg_offline(a, 0), MGLRU_OK);
    assert_null(memcg_by_id(tree, 2));
    assert_int_equal(helper_memcg(tree, "/d")->id, 2);
    assert_int_equal(helper_memcg(tree, "/e")->id, 5);
    assert_int_equal(helper_memcg(tree, "/e")->serial, 6);
    assert_null(memcg_by_id(tree, 0));
    assert_null(memcg_by_id(tree, MEMCG_ID_MAX + 1));
    memcg_tree_destroy(tree);
}

static void ids_of_a_shared_tree_come_back_in_another_turn(void **state)
{
    struct memcg_tree *tree = helper_tree(&memcg_params_73, 2);
    struct memcg *a = helper_memcg(tree, "/a");
    assert_int_equal(memcg_offline(a, 0), MGLRU_OK);
    struct memcg *b = helper_memcg(tree, "/b");
    assert_int_equal(b->id, 3);
    assert_int_equal(b->id_turn, 0);
    tree->id_hint = MEMCG_ID_MAX; /* 65535 memcgs would take long to make */
    assert_int_equal(helper_memcg(tree, "/c")->id, MEMCG_ID_MAX);
    struct memcg *d = helper_memcg(tree, "/d"); /* 1 is the root's */
    assert_int_equal(d->id, 2);
    assert_int_equal(d->id_turn, 1);
    assert_int_equal(helper_memcg(tree, "/e")->id, 4);
    memcg_tree_verify(tree);
    memcg_tree_destroy(tree);
}

static void ids_can_run_out(void **state)
{
    struct memcg_tree *tree = helper_tree(&memcg_params_73, 1);
    struct memcg *made;
    tree->id_count = MEMCG_ID_MAX; /* 65535 memcgs would take long to make */
    assert_int_equal(memcg_create(tree->root, "a", &made), MGLRU_ENOSPC);
    assert_null(made);
    tree->id_count = 1;
    memcg_tree_verify(tree);
    memcg_tree_destroy(tree);
}

static void many_names_are_found(void **state)
{
    struct memcg_tree *tree = helper_tree(&memcg_params_73, 1);
    enum { MANY = 5000 };
    char path[16];
    for (int i = 0; i < MANY; i++) {
        snprintf(path, sizeof(path), "/m%d", i);
        assert_int_equal(helper_memcg(tree, path)->id, i + 2);
    }
    for (int i = 0; i < MANY; i += 7) {
        struct memcg *found;
        snprintf(path, sizeof(path), "/m%d", i);
        assert_int_equal(memcg_find(tree, path, &found), MGLRU_OK);
        assert_string_equal(found->path, path);
        assert_int_equal(memcg_offline(found, 0), MGLRU_OK);
        assert_int_equal(memcg_find(tree, path, &found), MGLRU_ENOENT);
    }
    memcg_tree_verify(tree);
    memcg_tree_destroy(tree);
}

static void collect(struct memcg *root, char *out, size_t capacity)
{
    out[0] = '\0';
    for (struct memcg *pos = root; pos; pos = memcg_next(root, pos))
        strncat(out, pos->name[0] ? pos->name : "/", capacity - strlen(out) - 1);
}

static struct memcg_tree *letters_tree(void)
{
    struct memcg_tree *tree = helper_tree(&memcg_params_73, 1);
    static const char *const paths[] = {"/a", "/b", "/c", "/b/d", "/b/e", "/b/d/f", "/a/g"};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        helper_memcg(tree, paths[i]);
    return tree;
}

static void walk_is_pre_order_oldest_first(void **state)
{
    struct memcg_tree *tree = letters_tree();
    char seen[32];
    collect(tree->root, seen, sizeof(seen));
    assert_string_equal(seen, "/agbdfec");
    struct memcg *b = helper_memcg(tree, "/b");
    collect(b, seen, sizeof(seen));
    assert_string_equal(seen, "bdfe");
    assert_true(memcg_is_descendant(helper_memcg(tree, "/b/d/f"), b));
    assert_true(memcg_is_descendant(b, b));
    assert_false(memcg_is_descendant(helper_memcg(tree, "/c"), b));
    memcg_tree_destroy(tree);
}

static void whole_walk_survives_a_removal(void **state)
{
    struct memcg_tree *tree = letters_tree();
    char seen[32] = "";
    struct memcg *pos = NULL;
    while ((pos = memcg_iter_next(tree->root, pos, NULL))) {
        strcat(seen, pos->name);
        if (!strcmp(pos->path, "/a/g") || !strcmp(pos->path, "/b/d/f"))
            assert_int_equal(memcg_offline(pos, 0), MGLRU_OK);
    }
    assert_string_equal(seen, "agbdfec");
    assert_int_equal(tree->count, 6);
    memcg_tree_verify(tree);
    memcg_tree_destroy(tree);
}

static const char *step(struct memcg *root, struct memcg **pos, struct memcg_iter_cookie *cookie)
{
    *pos = memcg_iter_next(root, *pos, cookie);
    return *pos ? (*pos)->path : "end";
}

static void shared_walk_hands_each_memcg_to_one_reclaimer(void **state)
{
    struct memcg_tree *tree = letters_tree();
    struct memcg *b = helper_memcg(tree, "/b");
    struct memcg_iter_cookie one = {0}, two = {0}, elsewhere = {.node = 1};
    struct memcg *p1 = NULL, *p2 = NULL, *p3 = NULL;
    assert_string_equal(step(b, &p1, &one), "/b");
    assert_string_equal(step(b, &p2, &two), "/b/d");
    assert_string_equal(step(b, &p3, &elsewhere), "/b"); /* another node, another position */
    memcg_iter_break(p3);
    assert_string_equal(step(b, &p1, &one), "/b/d/f");
    assert_string_equal(step(b, &p2, &two), "/b/e");
    assert_string_equal(step(b, &p1, &one), "end"); /* the round trip is complete */
    assert_string_equal(step(b, &p2, &two), "end"); /* for both, by the generation */
    assert_string_equal(step(b, &p1, &one), "/b");  /* a new walk begins at the top */
    memcg_iter_break(p1);
    memcg_tree_verify(tree);
    memcg_tree_destroy(tree);
}

/* A reclaimer that stops early leaves its position to the next: nobody is favoured. */
static void partial_walks_continue_where_the_last_one_stopped(void **state)
{
    struct memcg_tree *tree = letters_tree();
    struct memcg *b = helper_memcg(tree, "/b");
    static const char *const expected[] = {"/b", "/b/d", "/b/d/f", "/b/e", "/b", "/b/d"};
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        struct memcg_iter_cookie cookie = {0};
        struct memcg *pos = NULL;
        assert_string_equal(step(b, &pos, &cookie), expected[i]);
        memcg_iter_break(pos);
    }
    assert_int_equal(b->iters[0].generation, 1);
    memcg_tree_destroy(tree);
}

static void position_on_a_dead_memcg_is_forgotten(void **state)
{
    struct memcg_tree *tree = letters_tree();
    struct memcg *b = helper_memcg(tree, "/b");
    struct memcg_iter_cookie cookie = {0};
    struct memcg *pos = NULL;
    assert_string_equal(step(b, &pos, &cookie), "/b");
    assert_string_equal(step(b, &pos, &cookie), "/b/d");
    assert_string_equal(step(b, &pos, &cookie), "/b/d/f");
    assert_int_equal(memcg_offline(pos, 0), MGLRU_OK);
    memcg_iter_break(pos); /* frees it */
    assert_null(b->iters[0].position);
    pos = NULL;
    cookie = (struct memcg_iter_cookie){0};
    assert_string_equal(step(b, &pos, &cookie), "/b");
    memcg_iter_break(pos);
    memcg_tree_destroy(tree);
}

static void set_low(struct memcg *memcg, long pages)
{
    page_counter_set_low(&memcg->memory, pages);
    page_counter_set_min(&memcg->memory, pages);
}

/*
 * Row 23: a reclaimer that has not walked the tree (direct reclaim) must compute the path from the
 * root of reclaim down, for a child's share depends on its parent's. The single step alone, which
 * 6.12 relies on kswapd to have prepared, sees a parent without protection.
 */
static void row_23_protection_is_computed_along_the_path(void **state)
{
    struct memcg_tree *tree = helper_tree(&memcg_params_73, 1);
    struct memcg *a = helper_memcg(tree, "/a");
    struct memcg *b = helper_memcg(tree, "/a/b");
    struct memcg *c = helper_memcg(tree, "/a/b/c");
    helper_charge(c, 0, 100);
    set_low(a, 200);
    set_low(b, 200);
    set_low(c, 200);
    memcg_protection_update(tree->root, c);
    assert_false(memcg_below_low(tree->root, c));
    memcg_protection_update_path(tree->root, c);
    assert_int_equal(c->memory.elow, 100);
    assert_true(memcg_below_low(tree->root, c));
    assert_true(memcg_below_min(tree->root, c));
    assert_false(memcg_below_min(c, c)); /* its own reclaim ignores its protection */
    assert_false(memcg_below_low(tree->root, tree->root));
    memcg_protection_update_path(tree->root, tree->root);
    assert_int_equal(tree->root->memory.elow, 0);
    memcg_tree_destroy(tree);
}

static void recursive_protection_is_an_option(void **state)
{
    for (int plain = 0; plain < 2; plain++) {
        struct memcg_tree_options options = {.params = &memcg_params_73,
                                             .no_recursive_protection = plain};
        struct memcg_tree *tree;
        assert_int_equal(memcg_tree_create(&options, &tree), MGLRU_OK);
        struct memcg *a = helper_memcg(tree, "/a");
        struct memcg *b = helper_memcg(tree, "/a/b");
        helper_charge(b, 0, 100);
        page_counter_set_low(&a->memory, 50);
        memcg_protection_update_path(tree->root, b);
        assert_int_equal(b->memory.elow, plain ? 0 : 50);
        memcg_tree_destroy(tree);
    }
}

enum { LIVES = 24 };

/* Uncharges, removes and forgets everything, children before parents. */
static void end_lives(struct memcg_tree *tree, struct memcg **lives, const long *held)
{
    bool hands_over = tree->params->reparents;
    for (int i = 0; i < LIVES; i++)
        if (lives[i])
            memcg_uncharge(hands_over ? memcg_live(lives[i]) : lives[i], (unsigned)held[i]);
    for (int round = 0; round < LIVES; round++)
        for (int i = 0; i < LIVES; i++)
            if (lives[i] && memcg_online(lives[i]))
                memcg_offline(lives[i], 0);
    for (int i = 0; i < LIVES; i++)
        if (lives[i])
            memcg_put(lives[i]);
    /* Charges to a dying memcg have left it prepaid pages, which keep it. */
    for (unsigned cpu = 0; cpu < tree->cpus; cpu++)
        memcg_stock_drain_cpu(tree, cpu);
}

/* Random lives: creations, charges, references and removals; the tree stays whole, and everything
 * is gone when the last page is. */
static void random_life(struct seeded *s)
{
    struct memcg_tree *tree =
        noting_tree(s->seed % 2 ? &memcg_params_612 : &memcg_params_ours, s->seed % 3 ? 1 : 2);
    bool hands_over = tree->params->reparents;
    struct memcg *lives[LIVES] = {NULL};
    long held[LIVES] = {0};
    for (s->step = 0; s->step < 1500; s->step++) {
        size_t i = seeded_below(s, LIVES);
        if (!lives[i]) {
            char name[32];
            snprintf(name, sizeof(name), "m%lu", s->step);
            struct memcg *parent = lives[seeded_below(s, LIVES)];
            parent = parent && memcg_online(parent) ? parent : tree->root;
            SEEDED_CHECK(s, !memcg_create(parent, name, &lives[i]));
            memcg_get(lives[i]);
        } else if (seeded_below(s, 4)) {
            struct memcg *owner = hands_over ? memcg_live(lives[i]) : lives[i];
            if (memcg_is_root(owner))
                held[i] = 0; /* the root is free: handed to it, pages are nobody's */
            long pages = (long)seeded_below(s, 20);
            if (held[i] < pages) {
                struct memcg_verdict verdict;
                SEEDED_CHECK(s,
                             pages == 0 || !memcg_try_charge(owner, 0, (unsigned)pages, &verdict));
                held[i] += pages;
            } else {
                memcg_uncharge(owner, (unsigned)pages);
                held[i] -= pages;
            }
        } else if (memcg_online(lives[i])) {
            int error = memcg_offline(lives[i], 0);
            SEEDED_CHECK(s, !error || error == MGLRU_EBUSY);
        } else if (!held[i]) {
            memcg_put(lives[i]);
            lives[i] = NULL;
        }
        if (s->step % 64 == 0)
            memcg_tree_verify(tree);
    }
    end_lives(tree, lives, held);
    memcg_tree_verify(tree);
    SEEDED_CHECK(s, tree->count == 1);
    SEEDED_CHECK(s, page_counter_read(&tree->root->memory) == 0);
    memcg_tree_destroy(tree);
}

static void tree_stays_whole_through_random_lives(void **state)
{
    seeded_cases(30, random_life);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_made_and_found),
        cmocka_unit_test(bad_names_are_refused),
        cmocka_unit_test(options_out_of_range_are_refused),
        cmocka_unit_test(children_inherit_swappiness),
        cmocka_unit_test(charged_memcg_stays_until_its_last_page_goes),
        cmocka_unit_test(removed_memcg_hands_its_charge_to_the_parent),
        cmocka_unit_test(reference_keeps_a_removed_memcg),
        cmocka_unit_test(root_cannot_be_removed),
        cmocka_unit_test(ids_are_the_lowest_free_ones),
        cmocka_unit_test(ids_of_a_shared_tree_come_back_in_another_turn),
        cmocka_unit_test(ids_can_run_out),
        cmocka_unit_test(many_names_are_found),
        cmocka_unit_test(walk_is_pre_order_oldest_first),
        cmocka_unit_test(whole_walk_survives_a_removal),
        cmocka_unit_test(shared_walk_hands_each_memcg_to_one_reclaimer),
        cmocka_unit_test(partial_walks_continue_where_the_last_one_stopped),
        cmocka_unit_test(position_on_a_dead_memcg_is_forgotten),
        cmocka_unit_test(row_23_protection_is_computed_along_the_path),
        cmocka_unit_test(recursive_protection_is_an_option),
        cmocka_unit_test(tree_stays_whole_through_random_lives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
