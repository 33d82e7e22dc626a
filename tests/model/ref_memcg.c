/* SPDX-License-Identifier: MIT */
/*
 * The frame of the reference (ref_kernel.h): charges and kernel metadata, the batches, the reclaim
 * driver of a memcg at its limit, and the accesses.
 */
#include "model/ref_state.h"

#include <stdlib.h>
#include <string.h>

#define NODE_BYTES 592
#define FILE_BYTES 200
#define REGION_BYTES 400
#define PAGE_BYTES 4096
#define STOCK 64
#define RETRIES 16

int ref_anon_first(const struct ref *ref)
{
    return (ref->options.file_size + REF_TABLE - 1) / REF_TABLE * REF_TABLE;
}

int ref_type(const struct ref *ref, int page)
{
    return page >= ref_anon_first(ref) ? ANON : FILE_TYPE;
}

int ref_log2up(int n)
{
    int log = 0;
    while ((1 << log) < n)
        log++;
    return log;
}

/* --- rows ----------------------------------------------------------------------------------- */

void ref_push_head(struct ref_row *row, int page)
{
    row->page[row->count++] = page;
}

void ref_push_tail(struct ref_row *row, int page)
{
    memmove(row->page + 1, row->page, (size_t)row->count++ * sizeof(int));
    row->page[0] = page;
}

void ref_remove(struct ref_row *row, int page)
{
    int at = 0;
    if (row->page[row->count - 1] == page)
        at = row->count - 1;
    while (row->page[at] != page)
        at++;
    row->count--;
    memmove(row->page + at, row->page + at + 1, (size_t)(row->count - at) * sizeof(int));
}

/* --- swap, statistics ----------------------------------------------------------------------- */

long ref_swap_left(const struct ref *ref)
{
    return ref->options.swap_size - ref->swapped;
}

int ref_swappiness(const struct ref *ref)
{
    return ref_swap_left(ref) < 64 ? 0 : ref->options.swappiness;
}

const struct ref_seen *ref_seen(const struct ref *ref)
{
    return ref->options.flush_accesses ? &ref->seen : &ref->exact;
}

void ref_flush(struct ref *ref)
{
    ref->seen = ref->exact;
}

/* --- charges (6.3) -------------------------------------------------------------------------- */

static long reclaim(struct ref *ref, long pages);

/* One page; false: out of memory. */
static bool charge(struct ref *ref)
{
    long batch = STOCK;
    bool drained = false;
    int retries = RETRIES;
    for (;;) {
        if (ref->stock) {
            ref->stock--;
            return true;
        }
        if (ref->usage + batch <= ref->options.limit) {
            ref->usage += batch;
            ref->stock = batch - 1;
            return true;
        }
        if (batch > 1) {
            batch = 1;
            continue;
        }
        long reclaimed = reclaim(ref, 1);
        if (ref->usage + 1 <= ref->options.limit)
            continue;
        if (!drained) {
            drained = true;
            ref->usage -= ref->stock;
            ref->stock = 0;
        } else if (!reclaimed && retries-- == 0) {
            return false;
        }
    }
}

/* 13.2: objects are paid in whole pages, of which one may be kept in advance. */
static long pages_of(long bytes)
{
    return (bytes + PAGE_BYTES - 1) / PAGE_BYTES;
}

static bool charge_bytes(struct ref *ref, long bytes)
{
    if (!ref->options.kernel_charge)
        return true;
    while (ref->kernel_pages < pages_of(ref->kernel_bytes + bytes)) {
        if (!charge(ref))
            return false;
        ref->kernel_pages++;
    }
    ref->kernel_bytes += bytes;
    while (ref->kernel_pages > pages_of(ref->kernel_bytes) + 1) {
        ref->kernel_pages--;
        ref->usage--;
    }
    /* Slab counters lag by up to a page. */
    ref->slab_lag += bytes;
    if (labs(ref->slab_lag) > PAGE_BYTES) {
        ref->exact.slab += ref->slab_lag;
        ref->slab_lag = 0;
    }
    return true;
}

/* --- the tree of the file (13.1) ------------------------------------------------------------ */

static int height_for(int index)
{
    int height = 0;
    for (; index; index >>= 6)
        height++;
    return height;
}

/* Nodes of a tree of @height above the leaves that exist, and those leaves. */
static long count_nodes(const struct ref *ref, int height)
{
    long nodes = 0;
    int chunks = ref->size / 64 + 1;
    for (int level = 1; level <= height; level++) {
        int last = -1;
        for (int chunk = 0; chunk < chunks; chunk++) {
            int node = chunk >> (6 * (level - 1));
            if (ref->leaf[chunk] && node != last) {
                nodes++;
                last = node;
            }
        }
    }
    return nodes;
}

static void leave_shadow_leaves(struct ref *ref, int leaf)
{
    for (int i = 0; i < ref->shadow_leaves; i++) {
        if (ref->shadow_leaf[i] != leaf)
            continue;
        ref->shadow_leaves--;
        memmove(ref->shadow_leaf + i, ref->shadow_leaf + i + 1,
                (size_t)(ref->shadow_leaves - i) * sizeof(int));
        return;
    }
}

/* 13.3: frees the oldest leaf that holds shadows only. */
static void free_shadow_leaf(struct ref *ref)
{
    int leaf = ref->shadow_leaf[0];
    long before = count_nodes(ref, ref->height);
    leave_shadow_leaves(ref, leaf);
    ref->leaf[leaf] = false;
    ref->leaves--;
    for (int page = leaf * 64; page < leaf * 64 + 64 && page < ref->options.file_size; page++)
        ref->pages[page].has_shadow = false;
    if (!ref->leaves)
        ref->height = 0;
    for (long gone = before - count_nodes(ref, ref->height); gone > 0; gone--)
        charge_bytes(ref, -NODE_BYTES);
    ref->counts.node_reclaims++;
}

/* Makes the nodes for file page @page. */
static bool make_nodes(struct ref *ref, int page)
{
    int leaf = page / 64;
    leave_shadow_leaves(ref, leaf);
    ref->held = leaf;
    if (ref->leaf[leaf])
        return true;
    long before = count_nodes(ref, ref->height);
    int height = height_for(page);
    ref->leaf[leaf] = true;
    ref->leaves++;
    if (height > ref->height)
        ref->height = height;
    long more = count_nodes(ref, ref->height) - before;
    return !more || charge_bytes(ref, more * NODE_BYTES);
}

/* 13.3: the shadow-node shrinker. */
static void shrink_slab(struct ref *ref)
{
    const struct ref_seen *seen = ref_seen(ref);
    if (!ref->options.kernel_charge || !ref->shadow_leaves)
        return;
    long pages = seen->slab / PAGE_BYTES;
    for (int row = 0; row < CLASSIC_ROWS; row++)
        pages += seen->list[row];
    long surplus = ref->shadow_leaves - (pages >> 3);
    if (surplus <= 0)
        return;
    long total = (ref->deferred >> ref->priority) + surplus / 2;
    total = total < 2 * surplus ? total : 2 * surplus;
    long scanned = 0;
    while (total >= 128 || total >= surplus) {
        long batch = total < 128 ? total : 128;
        if (!ref->shadow_leaves)
            break;
        for (long i = 0; i < batch && ref->shadow_leaves; i++)
            free_shadow_leaf(ref);
        scanned += batch;
        total -= batch;
    }
    long rest = ref->deferred + surplus / 2 - scanned;
    rest = rest > 0 ? rest : 0;
    ref->deferred = rest < 2 * surplus ? rest : 2 * surplus;
}

/* --- batches (1.6, 12.2) -------------------------------------------------------------------- */

static void drain_adds(struct ref *ref)
{
    for (int i = 0; i < ref->adds; i++)
        if (ref->options.classic)
            ref_classic_add(ref, ref->add[i]);
        else
            ref_gens_add(ref, ref->add[i]);
    ref->adds = 0;
    ref->foreign = 0;
}

static void drain_activates(struct ref *ref)
{
    int count = ref->activates;
    ref->activates = 0;
    for (int i = 0; i < count; i++) {
        int page = ref->activate[i];
        struct ref_page *p = &ref->pages[page];
        p->queued = 0;
        if (!p->listed || p->active)
            continue;
        if (ref->options.classic) {
            ref_classic_activate(ref, page);
        } else {
            ref_gens_del(ref, page);
            p->active = true;
            ref_gens_add(ref, page);
        }
        ref->counts.activated++;
    }
}

void ref_drain(struct ref *ref)
{
    drain_adds(ref);
    drain_activates(ref);
}

void ref_queue_activation(struct ref *ref, int page)
{
    ref->pages[page].queued++;
    ref->activate[ref->activates++] = page;
    if (ref->activates == REF_BATCH)
        drain_activates(ref);
}

static void queue_add(struct ref *ref, int page)
{
    ref->add[ref->adds++] = page;
    if (ref->adds + ref->foreign == REF_BATCH)
        drain_adds(ref);
}

/* --- reclaim (6.3, 12.3) -------------------------------------------------------------------- */

static void run_priorities(struct ref *ref)
{
    for (ref->priority = REF_PRIORITY; ref->priority >= 0; ref->priority--) {
        if (ref->options.classic) {
            ref_classic_prepare(ref);
            ref_classic_shrink(ref);
        } else {
            ref_gens_shrink(ref);
        }
        shrink_slab(ref);
        if (ref->reclaimed >= ref->wanted)
            break;
    }
    ref_classic_snapshot(ref);
}

static long reclaim(struct ref *ref, long pages)
{
    ref->reclaimed = 0;
    ref->wanted = pages > 32 ? pages : 32;
    ref->skipped_deactivate = ref->force_deactivate = false;
    run_priorities(ref);
    if (!ref->reclaimed)
        run_priorities(ref);
    if (!ref->reclaimed && ref->skipped_deactivate) {
        ref->force_deactivate = true;
        run_priorities(ref);
    }
    return ref->reclaimed;
}

void ref_free(struct ref *ref, int page)
{
    struct ref_page *p = &ref->pages[page];
    bool anon = ref_type(ref, page) == ANON;
    p->resident = p->listed = p->mapped = p->young = false;
    p->active = p->referenced = p->workingset = p->swapcache = false;
    p->refs = 0;
    p->gen = -1;
    ref->usage--;
    ref->reclaimed++;
    ref->counts.stolen++;
    ref->counts.evictions++;
    ref->counts.evict_hash = ref_hash(ref->counts.evict_hash, anon,
                                      (uint64_t)(anon ? page - ref_anon_first(ref) : page));
    if (anon || !ref->options.kernel_charge)
        return;
    int leaf = page / 64;
    if (--ref->leaf_pages[leaf] == 0 && leaf != ref->held)
        ref->shadow_leaf[ref->shadow_leaves++] = leaf;
}

/* --- accesses ------------------------------------------------------------------------------- */

/* A page comes into memory. The order decides: charge, nodes, refault, batch. */
static bool bring(struct ref *ref, int page, bool in_fault)
{
    struct ref_page *p = &ref->pages[page];
    bool file = ref_type(ref, page) == FILE_TYPE;
    if (!charge(ref))
        return false;
    if (file && ref->options.kernel_charge && !make_nodes(ref, page))
        return false;
    p->resident = true;
    if (file)
        ref->leaf_pages[page / 64]++;
    ref->held = -1;
    bool swapped_in = !file && p->has_shadow;
    if (p->has_shadow) {
        if (ref->options.classic)
            ref_classic_refault(ref, page);
        else
            ref_gens_refault(ref, page, in_fault);
    }
    p->has_shadow = false;
    if (in_fault && !ref->options.classic)
        ref_gens_mark_fault(ref, page);
    /* Newer kernels place the page that fills the batch while it is in the swap cache yet. */
    p->swapcache = swapped_in && ref->options.model != REF_612;
    queue_add(ref, page);
    p->swapcache = false;
    ref->swapped -= swapped_in;
    return true;
}

/* read(2) of one page; the same page again counts once (1.4). */
static enum ref_result read_page(struct ref *ref, int page)
{
    bool miss = !ref->pages[page].resident;
    if (miss && !bring(ref, page, false))
        return REF_OOM;
    if (ref->last_read != page && ref->options.classic)
        ref_classic_mark(ref, page);
    else if (ref->last_read != page)
        ref_gens_mark(ref, page);
    ref->last_read = page;
    return miss ? REF_MISS : REF_HIT;
}

/* A load or store through the page table. */
static enum ref_result map_page(struct ref *ref, int page)
{
    struct ref_page *p = &ref->pages[page];
    int table = page / REF_TABLE;
    enum ref_result result = REF_HIT;
    ref->has_mm = ref->mm_ran = true;
    if (!p->mapped) {
        if (!ref->table[table] && ref->options.kernel_charge && !charge(ref))
            return REF_OOM;
        ref->table[table] = true;
        if (!p->resident) {
            bool anon = ref_type(ref, page) == ANON;
            result = anon && !p->has_shadow ? REF_FIRST_TOUCH : REF_MISS;
            p->mapped = p->young = false;
            if (!bring(ref, page, true))
                return REF_OOM;
        } else if (p->swapcache) {
            p->swapcache = false;
            ref->swapped--;
        }
    }
    p->mapped = p->young = true;
    ref->table_young[table] = true;
    return result;
}

enum ref_result ref_access(struct ref *ref, enum ref_access kind, int page)
{
    ref->mm_ran = true;
    ref->accesses++;
    if (ref->options.flush_accesses && ref->accesses >= ref->next_flush) {
        ref->next_flush = ref->accesses + (uint64_t)ref->options.flush_accesses;
        ref_flush(ref);
    }
    if (kind == REF_READ)
        return read_page(ref, page);
    if (kind == REF_TOUCH) {
        if (!ref->region_paid && !charge_bytes(ref, REGION_BYTES))
            return REF_OOM;
        ref->region_paid = true;
        return map_page(ref, ref_anon_first(ref) + page);
    }
    ref->exec |= kind == REF_MAP_EXEC;
    return map_page(ref, page);
}

/* --- commands ------------------------------------------------------------------------------- */

void ref_age(struct ref *ref, int swappiness, bool force)
{
    ref_drain(ref);
    uint64_t oldest = ref->min_seq[swappiness ? ANON : FILE_TYPE];
    if (ref_is_612(ref) && !force && oldest + REF_GENS - 1 <= ref->max_seq)
        return; /* refused */
    ref_gens_age(ref, swappiness, force);
    ref->walking = false;
}

uint64_t ref_max_seq(const struct ref *ref)
{
    return ref->max_seq;
}

void ref_set_swappiness(struct ref *ref, int swappiness)
{
    ref->options.swappiness = swappiness;
}

void ref_set_limit(struct ref *ref, long pages)
{
    bool drained = false;
    int retries = RETRIES;
    ref->options.limit = pages;
    while (ref->usage > pages) {
        if (!drained) {
            drained = true;
            ref->usage -= ref->stock;
            ref->stock = 0;
        } else if (!reclaim(ref, ref->usage - pages) && retries-- == 0) {
            return;
        }
    }
}

static int forget(int *batch, int count, int page)
{
    int kept = 0;
    for (int i = 0; i < count; i++)
        if (batch[i] != page)
            batch[kept++] = batch[i];
    return kept;
}

void ref_drop(struct ref *ref, bool anon, int page)
{
    page += anon ? ref_anon_first(ref) : 0;
    struct ref_page *p = &ref->pages[page];
    ref->swapped -= p->swapcache || (anon && p->has_shadow);
    if (p->resident) {
        ref->adds = forget(ref->add, ref->adds, page);
        ref->activates = forget(ref->activate, ref->activates, page);
        if (p->listed && ref->options.classic)
            ref_classic_del(ref, page);
        else if (p->listed)
            ref_gens_del(ref, page);
        ref->usage--;
    }
    *p = (struct ref_page){.gen = -1};
}

/* --- creation ------------------------------------------------------------------------------- */

static struct ref_row make_row(int size)
{
    return (struct ref_row){.page = calloc((size_t)size + 1, sizeof(int))};
}

struct ref *ref_create(const struct ref_options *options)
{
    struct ref *ref = calloc(1, sizeof(*ref));
    ref->options = *options;
    ref->size = ref_anon_first(ref) + options->anon_size;
    size_t size = (size_t)ref->size + 1;
    ref->pages = calloc(size, sizeof(*ref->pages));
    for (int i = 0; i < ref->size; i++)
        ref->pages[i].gen = -1;
    ref->max_seq = 3;
    for (int type = 0; type < 2; type++)
        for (int g = 0; g < REF_GENS; g++)
            ref->gens[g][type] = make_row(ref->size);
    for (int row = 0; row < CLASSIC_ROWS; row++)
        ref->rows[row] = make_row(ref->size);
    ref->tables = ref->size / REF_TABLE + 1;
    ref->table = calloc((size_t)ref->tables, sizeof(bool));
    ref->table_young = calloc((size_t)ref->tables, sizeof(bool));
    for (int i = 0; i < 2; i++)
        ref->filter[i] = calloc((size_t)ref->tables, sizeof(bool));
    ref->leaf = calloc(size, sizeof(bool));
    ref->leaf_pages = calloc(size, sizeof(int));
    ref->shadow_leaf = calloc(size, sizeof(int));
    ref->held = ref->last_read = -1;
    ref->foreign = options->start_batch;
    ref->next_flush = (uint64_t)options->flush_accesses;
    bool fits = !options->file_size || charge_bytes(ref, FILE_BYTES);
    for (int i = 0; i < options->start_tables && options->kernel_charge; i++)
        fits = fits && charge(ref);
    if (fits)
        return ref;
    ref_destroy(ref);
    return NULL;
}

void ref_destroy(struct ref *ref)
{
    if (!ref)
        return;
    for (int type = 0; type < 2; type++)
        for (int g = 0; g < REF_GENS; g++)
            free(ref->gens[g][type].page);
    for (int row = 0; row < CLASSIC_ROWS; row++)
        free(ref->rows[row].page);
    free(ref->table);
    free(ref->table_young);
    free(ref->filter[0]);
    free(ref->filter[1]);
    free(ref->leaf);
    free(ref->leaf_pages);
    free(ref->shadow_leaf);
    free(ref->pages);
    free(ref);
}

const struct ref_counts *ref_counts(const struct ref *ref)
{
    return &ref->counts;
}

uint64_t ref_hash(uint64_t hash, bool anon, uint64_t page)
{
    return (hash ^ (page * 2 + anon + 1)) * UINT64_C(0x100000001b3);
}
