/* SPDX-License-Identifier: MIT */
/*
 * The index of a mapping and the pools below it, beside models so simple that they are right: a
 * list of (page, value) for the slots, and for the nodes of the kernel's tree the formula of
 * mglru-facts 13.1, counted afresh each time: with h levels, for each level l of them the number of
 * distinct values page >> 6l.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "cache/index.h"
#include "seeded.h"

#define ENTRIES_MAX 600
#define STEPS 4000

struct entry {
    uint64_t page;
    uint64_t value;
};

struct world {
    struct seeded *s;
    struct index_pool pool;
    struct page_index index;
    struct entry entries[ENTRIES_MAX];
    unsigned count;
    uint64_t highest;    /* page since the index was last empty */
    unsigned long nodes; /* as the index reported them */
    uint64_t bound;      /* pages lie below it */
};

static struct entry *find(struct world *w, uint64_t page)
{
    for (unsigned i = 0; i < w->count; i++)
        if (w->entries[i].page == page)
            return &w->entries[i];
    return NULL;
}

static unsigned naive_height(uint64_t highest)
{
    unsigned height = 0;
    while (height < 10 && (highest >> (6 * height)) != 0)
        height++;
    return height;
}

/* Distinct values page >> shift among the entries. */
static unsigned long distinct(const struct world *w, unsigned shift)
{
    unsigned long count = 0;
    for (unsigned i = 0; i < w->count; i++) {
        bool seen = false;
        for (unsigned j = 0; j < i && !seen; j++)
            seen = w->entries[j].page >> shift == w->entries[i].page >> shift;
        count += !seen;
    }
    return count;
}

static unsigned long naive_nodes(const struct world *w)
{
    unsigned height = w->count ? naive_height(w->highest) : 0;
    unsigned long nodes = 0;
    for (unsigned level = 1; level <= height; level++)
        nodes += distinct(w, 6 * level);
    return nodes;
}

static void check(struct world *w)
{
    SEEDED_CHECK(w->s, w->nodes == naive_nodes(w));
    SEEDED_CHECK(w->s, w->index.height == (w->count ? naive_height(w->highest) : 0));
    SEEDED_CHECK(w->s, w->index.leaves == distinct(w, 6));
    for (unsigned i = 0; i < w->count; i++)
        SEEDED_CHECK(w->s, index_get(&w->index, w->entries[i].page) == w->entries[i].value);
    for (unsigned i = 0; i < 50; i++) {
        uint64_t page = seeded_next(w->s) % w->bound;
        const struct entry *entry = find(w, page);
        SEEDED_CHECK(w->s, index_get(&w->index, page) == (entry ? entry->value : 0));
    }
}

static uint64_t any_page(struct world *w)
{
    uint64_t page = seeded_next(w->s) % w->bound;
    /* Neighbours of what is there as well, so that leaves fill up. */
    if (w->count && seeded_below(w->s, 4))
        page = (w->entries[seeded_below(w->s, w->count)].page & ~UINT64_C(63)) +
               seeded_below(w->s, 64);
    return seeded_below(w->s, 50) ? page : 0;
}

static void store(struct world *w)
{
    uint64_t page = any_page(w);
    uint64_t value = seeded_below(w->s, 2) ? (1 + seeded_below(w->s, 1 << 20)) * 8
                                           : slot_of_shadow(seeded_next(w->s) >> 1);
    struct entry *entry = find(w, page);
    if (!entry && w->count == ENTRIES_MAX)
        return;
    struct index_leaf *leaf;
    bool created;
    unsigned nodes = 0;
    SEEDED_CHECK(w->s, index_leaf_create(&w->index, page, &leaf, &created) == 0);
    if (created || page > w->index.max_page)
        SEEDED_CHECK(w->s, index_grow(&w->index, page, created, NULL, &nodes) == 0);
    SEEDED_CHECK(w->s, leaf_store(leaf, page, value) == 0);
    w->nodes += nodes;
    w->highest = page > w->highest ? page : w->highest;
    if (!entry)
        entry = &w->entries[w->count++];
    *entry = (struct entry){page, value};
}

/* What index_shrink is for: the leaf, then the inner nodes that go with it. */
static void free_leaf(struct world *w, struct index_leaf *leaf)
{
    struct memcg *payers[INDEX_LEVELS];
    uint64_t chunk = leaf->chunk;
    bool has_node = w->index.height != 0;
    index_leaf_free(leaf);
    w->nodes -= has_node + index_shrink(&w->index, chunk, payers);
}

static void erase(struct world *w)
{
    if (!w->count)
        return;
    struct entry *entry = &w->entries[seeded_below(w->s, w->count)];
    struct index_leaf *leaf = index_leaf(&w->index, entry->page);
    leaf_erase(leaf, entry->page);
    leaf_erase(leaf, entry->page); /* of what is absent: nothing */
    *entry = w->entries[--w->count];
    if (!leaf->occupied)
        free_leaf(w, leaf);
    if (!w->count)
        w->highest = 0;
}

static void prefetch(struct world *w)
{
    for (unsigned step = 0; step < 4; step++)
        index_prefetch(&w->index, any_page(w), step);
}

static void folio_pages_are_counted(struct world *w)
{
    for (unsigned i = 0; i < w->count; i++) {
        const struct index_leaf *leaf = index_leaf(&w->index, w->entries[i].page);
        unsigned folios = 0, all = 0;
        for (unsigned j = 0; j < w->count; j++) {
            bool here = w->entries[j].page >> 6 == leaf->chunk;
            folios += here && slot_is_folio(w->entries[j].value);
            all += here;
        }
        SEEDED_CHECK(w->s, leaf->folio_pages == folios);
        SEEDED_CHECK(w->s, bits_count(leaf->occupied) == all);
        SEEDED_CHECK(w->s, all <= 2u << leaf->class);
    }
}

static void random_slots(struct seeded *s)
{
    static const uint64_t bounds[] = {
        64, 65, 4096, 70000, 1 << 24, UINT64_C(1) << 40, UINT64_C(1) << 52};
    struct world w = {.s = s, .bound = bounds[s->seed % 7]};
    index_pool_init(&w.pool);
    index_init(&w.index, &w.pool);
    for (s->step = 0; s->step < STEPS; s->step++) {
        /* Grows for a while, then shrinks to nothing. */
        bool growing = s->step % 1500 < 800;
        if (seeded_below(s, 10) < (growing ? 7 : 2))
            store(&w);
        else
            erase(&w);
        if (s->step % 20 == 0)
            check(&w);
        if (s->step % 200 == 0)
            folio_pages_are_counted(&w);
        prefetch(&w);
    }
    while (w.count)
        erase(&w);
    check(&w);
    index_fini(&w.index);
    SEEDED_CHECK(s, w.pool.table_bytes == 0);
    index_pool_fini(&w.pool);
    SEEDED_CHECK(s, index_pool_bytes(&w.pool) == 0);
}

static void slots_and_nodes_are_those_of_the_models(void **state)
{
    seeded_cases(14, random_slots);
}

/* Examples of mglru-facts 13.1. */
static unsigned long nodes_of_a_file(uint64_t pages)
{
    struct index_pool pool;
    struct page_index index;
    unsigned long total = 0;
    index_pool_init(&pool);
    index_init(&index, &pool);
    for (uint64_t page = 0; page < pages; page++) {
        struct index_leaf *leaf;
        bool created;
        unsigned nodes = 0;
        assert_int_equal(index_leaf_create(&index, page, &leaf, &created), 0);
        if (created || page > index.max_page)
            assert_int_equal(index_grow(&index, page, created, NULL, &nodes), 0);
        assert_int_equal(leaf_store(leaf, page, 8), 0);
        total += nodes;
    }
    index_fini(&index);
    index_pool_fini(&pool);
    return total;
}

static void whole_files_have_the_nodes_of_the_kernel(void **state)
{
    assert_int_equal(nodes_of_a_file(1), 0); /* a lone page 0 hangs in the root */
    assert_int_equal(nodes_of_a_file(2), 1);
    assert_int_equal(nodes_of_a_file(64), 1);
    assert_int_equal(nodes_of_a_file(65), 3);
    assert_int_equal(nodes_of_a_file(4096), 65);
    assert_int_equal(nodes_of_a_file(4097), 65 + 1 + 2);
    assert_int_equal(nodes_of_a_file(16384), 261);
    assert_int_equal(nodes_of_a_file(32768), 521);
}

/* A page that does not come after all: the levels put on top for it go. */
static void levels_for_a_page_that_did_not_come_are_taken_back(void **state)
{
    static const uint64_t firsts[] = {0, 5, 63, 64, 4095, 5000, 1 << 20};
    for (size_t i = 0; i < sizeof(firsts) / sizeof(firsts[0]); i++)
        for (unsigned shift = 6; shift <= 52; shift += 5) {
            struct index_pool pool;
            struct page_index index;
            struct index_leaf *leaf;
            bool created;
            unsigned nodes, more;
            uint64_t far = (UINT64_C(1) << shift) - 1;
            index_pool_init(&pool);
            index_init(&index, &pool);
            assert_int_equal(index_leaf_create(&index, firsts[i], &leaf, &created), 0);
            assert_int_equal(index_grow(&index, firsts[i], true, NULL, &nodes), 0);
            assert_int_equal(leaf_store(leaf, firsts[i], 8), 0);
            unsigned height = index.height;
            uint64_t inner = index.inner_count, highest = index.max_page;
            assert_int_equal(index_grow(&index, far, false, NULL, &more), 0);
            unsigned gone = index_lower(&index, height, highest);
            /* The node of a lone page 0 is the caller's to take back. */
            assert_int_equal(gone + (more && height == 0), more);
            assert_int_equal(index.height, height);
            assert_int_equal(index.inner_count, inner);
            /* Within the old height the mark may stay: it costs a look, and no node. */
            assert_true(index.max_page == highest || more == 0);
            index_fini(&index);
            index_pool_fini(&pool);
        }
}

/* --- pools ---------------------------------------------------------------------------------- */

#define OBJECTS 20000u

static void objects_of_a_pool_are_apart_and_aligned(void **state)
{
    static const size_t sizes[] = {8, 16, 40, 64, 512};
    unsigned char **objects = malloc(OBJECTS * sizeof(*objects));
    assert_non_null(objects);
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        size_t bytes = sizes[k], align = bytes & -bytes;
        struct slab slab;
        slab_init(&slab, bytes);
        assert_true(slab.bytes == 0);
        for (unsigned i = 0; i < OBJECTS; i++) {
            objects[i] = slab_alloc(&slab);
            assert_non_null(objects[i]);
            assert_int_equal((uintptr_t)objects[i] % (align < 64 ? align : 64), 0);
            memset(objects[i], (int)(i % 251), bytes);
        }
        for (unsigned i = 0; i < OBJECTS; i++)
            for (size_t j = 0; j < bytes; j++)
                assert_int_equal(objects[i][j], i % 251);
        /* An eighth may lie idle, and a first chunk. */
        assert_in_range(slab.bytes, OBJECTS * bytes, OBJECTS * bytes * 9 / 8 + 65536);
        slab_fini(&slab);
        assert_true(slab.bytes == 0);
    }
    free(objects);
}

static void freed_objects_are_used_again(void **state)
{
    struct slab slab;
    void *objects[1000];
    slab_init(&slab, 24);
    for (unsigned i = 0; i < 1000; i++)
        objects[i] = slab_alloc(&slab);
    uint64_t bytes = slab.bytes;
    for (unsigned round = 0; round < 50; round++) {
        for (unsigned i = 0; i < 1000; i++)
            slab_free(&slab, objects[i]);
        assert_ptr_equal(slab_alloc(&slab), objects[999]); /* the last one is warm */
        slab_free(&slab, objects[999]);
        for (unsigned i = 0; i < 1000; i++)
            objects[i] = slab_alloc(&slab);
    }
    assert_true(slab.bytes == bytes);
    slab_fini(&slab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_and_nodes_are_those_of_the_models),
        cmocka_unit_test(whole_files_have_the_nodes_of_the_kernel),
        cmocka_unit_test(levels_for_a_page_that_did_not_come_are_taken_back),
        cmocka_unit_test(objects_of_a_pool_are_apart_and_aligned),
        cmocka_unit_test(freed_objects_are_used_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
