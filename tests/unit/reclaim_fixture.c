/* SPDX-License-Identifier: MIT */
/* See reclaim_fixture.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "memcg/charge.h"
#include "reclaim_fixture.h"

const struct reclaim_model *const fixture_models[4] = {&model_612, &model_73, &model_next,
                                                       &model_ours};

/* --- the host ------------------------------------------------------------------------------- */

static void forget(struct fixture *fixture, struct folio *folio)
{
    for (unsigned long i = 0; i < fixture->count; i++)
        if (fixture->folios[i] == folio) {
            fixture->folios[i] = fixture->folios[--fixture->count];
            free(folio);
            return;
        }
    fail_msg("a folio that the fixture does not know");
}

static void host_release(void *context, struct folio *folio, uint64_t shadow)
{
    struct fixture *fixture = context;
    if (fixture->releases == fixture->released_room) {
        fixture->released_room = fixture->released_room * 2 + 64;
        fixture->released =
            realloc(fixture->released, fixture->released_room * sizeof(*fixture->released));
        assert_non_null(fixture->released);
    }
    fixture->released[fixture->releases++] = folio->index;
    fixture->last_shadow = shadow;
    assert_false(folio_test(folio, FOLIO_LRU | FOLIO_DIRTY | FOLIO_WRITEBACK));
    assert_int_equal(folio->map_count, 0);
    forget(fixture, folio);
    if (fixture->on_release)
        fixture->on_release(fixture);
}

static bool host_swap_alloc(void *context, struct folio *folio)
{
    struct fixture *fixture = context;
    if (fixture->swap_refuses || fixture->swap_left < folio_pages(folio))
        return false;
    fixture->swap_left -= folio_pages(folio);
    return true;
}

static bool host_swap_write(void *context, struct folio *folio)
{
    struct fixture *fixture = context;
    fixture->swap_writes++;
    if (fixture->swap_write_is_slow)
        folio_set(folio, FOLIO_WRITEBACK);
    return !fixture->swap_write_is_slow;
}

static long host_swap_left(void *context, struct memcg *memcg)
{
    return ((const struct fixture *)context)->swap_left;
}

static void host_wake_flushers(void *context, struct memcg *memcg)
{
    struct fixture *fixture = context;
    fixture->wakes++;
    fixture->wakes_at_release = fixture->releases;
}

static unsigned long host_shadow_nodes(void *context, struct memcg *memcg, unsigned node)
{
    const struct fixture *fixture = context;
    return node == 0 && memcg == fixture->memcg ? fixture->shadow_nodes : 0;
}

static unsigned long host_shrink_shadow_nodes(void *context, struct memcg *memcg, unsigned node,
                                              unsigned long count)
{
    struct fixture *fixture = context;
    unsigned long freed = count < fixture->shadow_nodes ? count : fixture->shadow_nodes;
    fixture->shadow_nodes -= freed;
    fixture->shadow_calls++;
    return freed;
}

static void host_progress(void *context)
{
    ((struct fixture *)context)->rounds++;
}

static void host_on_age(void *context, struct lruvec *lruvec)
{
    ((struct fixture *)context)->ages++;
}

static const struct reclaim_host host = {
    .release = host_release,
    .swap_alloc = host_swap_alloc,
    .swap_write = host_swap_write,
    .swap_left = host_swap_left,
    .wake_flushers = host_wake_flushers,
    .shadow_nodes = host_shadow_nodes,
    .shrink_shadow_nodes = host_shrink_shadow_nodes,
    .progress = host_progress,
    .on_age = host_on_age,
};

/* --- life ----------------------------------------------------------------------------------- */

static void release_memcg(struct memcg *memcg, void *context)
{
    lruvec_detach(memcg);
}

static struct fixture *create(const struct reclaim_model *model, bool enabled)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    assert_non_null(fixture);
    struct memcg_tree_options options = {.nodes = 2,
                                         .params = model == &model_612 ? &memcg_params_612
                                                                       : &memcg_params_73,
                                         .release = release_memcg};
    assert_int_equal(memcg_tree_create(&options, &fixture->tree), MGLRU_OK);
    fixture->reclaim = (struct reclaim){.model = model,
                                        .aging = model->aging,
                                        .host = &host,
                                        .host_context = fixture,
                                        .tree = fixture->tree,
                                        .nodes = 2,
                                        .page_bytes = 4096,
                                        .swap_pages = 1u << 20,
                                        .stat_always = true,
                                        .enabled = enabled,
                                        .mm_walk = enabled,
                                        .nonleaf = enabled};
    fixture->swap_left = 1 << 20;
    list_init(&fixture->file.vmas);
    list_init(&fixture->anon.vmas);
    fixture->anon.anon = true;
    assert_int_equal(reclaim_init(&fixture->reclaim), 0);
    fixture->memcg = fixture_memcg(fixture, "/t");
    fixture->lruvec = memcg_lruvec(fixture->memcg, 0);
    return fixture;
}

struct fixture *fixture_new(const struct reclaim_model *model)
{
    return create(model, true);
}

struct fixture *fixture_new_classic(const struct reclaim_model *model)
{
    return create(model, false);
}

void fixture_free(struct fixture *fixture)
{
    struct memcg *root = fixture->tree->root;
    for (struct memcg *memcg = root; memcg; memcg = memcg_next(root, memcg))
        if (memcg->reclaim)
            mm_discard_all(memcg);
    memcg_tree_destroy(fixture->tree);
    for (unsigned long i = 0; i < fixture->count; i++)
        free(fixture->folios[i]);
    free(fixture->folios);
    free(fixture->released);
    free(fixture);
}

struct memcg *fixture_memcg(struct fixture *fixture, const char *path)
{
    struct memcg *memcg;
    assert_int_equal(memcg_create_path(fixture->tree, path, &memcg), MGLRU_OK);
    if (!memcg->reclaim)
        assert_int_equal(lruvec_attach(&fixture->reclaim, memcg), 0);
    return memcg;
}

/* --- folios --------------------------------------------------------------------------------- */

struct folio *fixture_folio_in(struct lruvec *lruvec, struct fixture *fixture,
                               struct page_mapping *mapping, unsigned zone, unsigned order)
{
    if (fixture->count == fixture->room) {
        fixture->room = fixture->room * 2 + 64;
        fixture->folios = realloc(fixture->folios, fixture->room * sizeof(*fixture->folios));
        assert_non_null(fixture->folios);
    }
    struct folio *folio = aligned_alloc(64, sizeof(*folio));
    assert_non_null(folio);
    uint64_t pages = UINT64_C(1) << order;
    uint64_t index = (fixture->next_index + pages - 1) / pages * pages;
    fixture->next_index = index + pages;
    *folio = (struct folio){
        .flags = (uint64_t)zone << FOLIO_ZONE_SHIFT | (uint64_t)order << FOLIO_ORDER_SHIFT |
                 (mapping->anon ? FOLIO_ANON | FOLIO_SWAPBACKED : 0),
        .lruvec = lruvec,
        .mapping = mapping,
        .index = index,
    };
    list_init(&folio->lru);
    memcg_charge_force(lruvec->memcg, (unsigned)pages);
    fixture->folios[fixture->count++] = folio;
    return folio;
}

struct folio *fixture_folio(struct fixture *fixture, struct page_mapping *mapping)
{
    return fixture_folio_in(fixture->lruvec, fixture, mapping, FIXTURE_ZONE, 0);
}

void fixture_place(struct folio *folio, uint64_t seq, unsigned state)
{
    struct lruvec *lruvec = folio->lruvec;
    folio->flags &= ~(FOLIO_SEQ_MASK | FOLIO_STATE_MASK);
    folio->flags |= folio_seq_bits(seq) | state | FOLIO_LRU;
    generation_account(lruvec, folio, GENERATION_NONE, seq);
    list_add_head(&lruvec->folios[gen_of(seq)][folio_type(folio)][folio_zone(folio)], &folio->lru);
}

struct folio *fixture_listed(struct fixture *fixture, struct page_mapping *mapping, uint64_t seq,
                             unsigned state)
{
    struct folio *folio = fixture_folio(fixture, mapping);
    fixture_place(folio, seq, state);
    return folio;
}

void fixture_fill(struct fixture *fixture, struct page_mapping *mapping, uint64_t seq,
                  unsigned count)
{
    while (count-- > 0)
        fixture_listed(fixture, mapping, seq, 0);
}

void fixture_drop(struct fixture *fixture, struct folio *folio)
{
    if (folio->map_count)
        mm_unmap_folio(folio);
    if (!folio_test(folio, FOLIO_LRU) || folio_test(folio, FOLIO_QUEUED))
        lru_batch_forget(&fixture->reclaim, folio);
    if (folio_test(folio, FOLIO_LRU))
        lruvec_del(folio, false);
    memcg_uncharge(folio->lruvec->memcg, (unsigned)folio_pages(folio));
    forget(fixture, folio);
}

bool fixture_was_released(const struct fixture *fixture, uint64_t index)
{
    for (unsigned long i = 0; i < fixture->releases; i++)
        if (fixture->released[i] == index)
            return true;
    return false;
}

void fixture_seqs(struct fixture *fixture, uint64_t max_seq, uint64_t min_anon, uint64_t min_file)
{
    fixture->lruvec->max_seq = max_seq;
    fixture->lruvec->min_seq[LRU_TYPE_ANON] = min_anon;
    fixture->lruvec->min_seq[LRU_TYPE_FILE] = min_file;
    fixture->lruvec->mm_state.seq = max_seq - 1;
}

struct vma *fixture_vma(struct fixture *fixture, struct page_mapping *mapping, bool exec)
{
    struct list_node *mms = &memcg_reclaim(fixture->memcg)->mm_list;
    struct mm *mm =
        list_empty(mms) ? mm_create(fixture->memcg) : container_of(mms->next, struct mm, mm_link);
    assert_non_null(mm);
    struct vma *vma = vma_create(mm, mapping, exec);
    assert_non_null(vma);
    return vma;
}

void fixture_map(struct vma *vma, struct folio *folio)
{
    for (long i = 0; i < folio_pages(folio); i++) {
        assert_int_equal(vma_reserve(vma, folio->index + (uint64_t)i), 0);
        vma_map(vma, folio->index + (uint64_t)i, folio, false);
    }
}

bool fixture_young(const struct vma *vma, uint64_t index)
{
    const uintptr_t *entry = vma_entry(vma, index, NULL);
    assert_non_null(entry);
    return *entry & PTE_YOUNG;
}

void fixture_age_entries(const struct vma *vma, const struct folio *folio)
{
    for (long i = 0; i < folio_pages(folio); i++)
        *vma_entry(vma, folio->index + (uint64_t)i, NULL) &= ~(uintptr_t)PTE_YOUNG;
}

bool fixture_walk(struct fixture *fixture, bool force_scan, struct mm_walk *walk)
{
    *walk = (struct mm_walk){.lruvec = fixture->lruvec,
                             .seq = fixture->lruvec->max_seq,
                             .swappiness = 60,
                             .force_scan = force_scan};
    return mm_walk_all(fixture->lruvec, walk);
}

struct scan_control fixture_control(struct fixture *fixture, int priority)
{
    return (struct scan_control){
        .reclaim = &fixture->reclaim,
        .target = fixture->memcg,
        .nr_to_reclaim = SWAP_CLUSTER_MAX,
        .priority = priority,
        .reclaim_zone = MAX_NR_ZONES - 1,
        .swappiness = -1,
        .may_swap = true,
        .may_unmap = true,
        .may_io = true,
        .may_writepage = true,
    };
}

long fixture_stat(const struct fixture *fixture, enum memcg_stat_item item)
{
    return memcg_stat_local_exact(fixture->memcg, item);
}

void fixture_verify(struct fixture *fixture)
{
    const char *broken = verify_reclaim(&fixture->reclaim);
    if (broken)
        fail_msg("%s", broken);
}
