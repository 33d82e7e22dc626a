/* SPDX-License-Identifier: MIT */
/* Trees for the tests of memcg/. Include after <cmocka.h>. */
#ifndef TESTS_MEMCG_HELPER_H
#define TESTS_MEMCG_HELPER_H

#include "memcg/charge.h"
#include "memcg/stat.h"
#include "memcg/stock.h"

/* A tree of @cpus CPUs and two nodes by @params. */
static inline struct memcg_tree *helper_tree(const struct memcg_params *params, unsigned cpus)
{
    struct memcg_tree_options options = {.cpus = cpus, .nodes = 2, .params = params};
    struct memcg_tree *tree;
    assert_int_equal(memcg_tree_create(&options, &tree), MGLRU_OK);
    return tree;
}

/* The memcg at @path, made if it is missing. */
static inline struct memcg *helper_memcg(struct memcg_tree *tree, const char *path)
{
    struct memcg *memcg;
    assert_int_equal(memcg_create_path(tree, path, &memcg), MGLRU_OK);
    return memcg;
}

/* Charges that have to succeed. */
static inline void helper_charge(struct memcg *memcg, unsigned cpu, unsigned pages)
{
    struct memcg_verdict verdict;
    assert_int_equal(memcg_try_charge(memcg, cpu, pages, &verdict), MGLRU_OK);
}

#endif
