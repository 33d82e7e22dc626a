/* SPDX-License-Identifier: MIT */
/*
 * Accessed bits in the reference (ref_kernel.h): one process that maps the file and the region,
 * whose page tables are walked by aging and looked around in by eviction.
 */
#include "model/ref_state.h"

#include <string.h>

#define WINDOW 64
/* Walks that would find the process not to have run, of which one goes ahead all the same. */
#define INTERRUPTED 4

/* 1.5: a walk sees the page young and promotes it to @ref->max_seq. */
static void promote(struct ref *ref, int page)
{
    struct ref_page *p = &ref->pages[page];
    int type = ref_type(ref, page);
    bool old_kernel = ref->options.model == REF_612;
    if (p->gen < 0) {
        if (old_kernel)
            p->referenced = true;
        return;
    }
    bool exec_file = ref->exec && type == FILE_TYPE;
    if (!old_kernel && !p->referenced && !p->workingset && !exec_file) {
        p->referenced = true; /* first sighting */
        p->refs = 0;
        return;
    }
    ref->nr[p->gen][type]--;
    p->gen = (int)(ref->max_seq % REF_GENS);
    ref->nr[p->gen][type]++;
    p->referenced = false;
    p->refs = 0;
    p->workingset = !old_kernel;
}

/* 1.5: the rmap finds the page young. True: it shall be activated. */
bool ref_maps_set_refs(struct ref *ref, int page)
{
    struct ref_page *p = &ref->pages[page];
    if (!p->referenced && !p->workingset) {
        p->refs = 0;
        if (ref->exec && ref_type(ref, page) == FILE_TYPE) {
            p->workingset = true;
            return true;
        }
        p->referenced = true;
        return false;
    }
    if (ref_gens_refs(ref, page) > 1) {
        p->referenced = false;
        p->refs = 0;
        p->workingset = true;
    } else {
        ref_gens_mark(ref, page);
    }
    return true;
}

/* One past the last page of the mapping that @page belongs to. */
static int mapping_end(const struct ref *ref, int page)
{
    return ref_type(ref, page) == ANON ? ref->size : ref->options.file_size;
}

/* Whether walks look at the page behind an entry (2.3, 2.4). */
static bool visible(const struct ref *ref, int page)
{
    const struct ref_page *p = &ref->pages[page];
    return p->mapped && p->young && (p->gen >= 0 || ref->options.model == REF_612);
}

/* 2.3: one page table. True: it is dense. */
static bool walk_table(struct ref *ref, int first)
{
    int end =
        mapping_end(ref, first) < first + REF_TABLE ? mapping_end(ref, first) : first + REF_TABLE;
    int young = 0;
    for (int page = first; page < end; page++) {
        if (!visible(ref, page))
            continue;
        ref->pages[page].young = false;
        promote(ref, page);
        young++;
    }
    return young * 8 >= end - first;
}

static bool process_ran(struct ref *ref)
{
    if (!ref->mm_ran && ++ref->skipped_walks < INTERRUPTED)
        return false;
    if (!ref->mm_ran)
        ref->skipped_walks = 0;
    return true;
}

/* 2.2, 2.3: the walk that precedes a new generation. */
void ref_maps_walk(struct ref *ref, int swappiness, bool force)
{
    ref->walking = true;
    if (!ref->has_mm)
        return;
    force = force || !ref->walked_before;
    ref->walked_before = true;
    if (!force && !process_ran(ref))
        return;
    ref->mm_ran = false;
    int now = (int)(ref->max_seq % 2), next = !now;
    memset(ref->filter[next], 0, (size_t)ref->tables * sizeof(bool));
    ref->have_filter[next] = true;
    for (int t = 0; t < ref->tables; t++) {
        int first = t * REF_TABLE;
        if (!ref->table[t] || (ref_type(ref, first) == ANON && !swappiness))
            continue;
        if (!force) {
            if (!ref->table_young[t])
                continue;
            ref->table_young[t] = false;
            if (ref->have_filter[now] && !ref->filter[now][t])
                continue;
        }
        if (walk_table(ref, first))
            ref->filter[next][t] = true;
    }
}

/* 2.4: one young neighbour. */
static void look_at(struct ref *ref, int page)
{
    struct ref_page *p = &ref->pages[page];
    int young_gen = (int)(ref->max_seq % REF_GENS);
    p->young = false;
    if (ref->walking) {
        promote(ref, page);
    } else if (ref->options.model == REF_612) {
        if (p->gen < 0)
            p->referenced = true;
        else if (p->gen != young_gen)
            ref_queue_activation(ref, page);
    } else if (ref_maps_set_refs(ref, page) && p->gen != young_gen) {
        ref_queue_activation(ref, page);
    }
}

static void look_around(struct ref *ref, int page)
{
    int start = page / REF_TABLE * REF_TABLE;
    int end =
        start + REF_TABLE < mapping_end(ref, page) ? start + REF_TABLE : mapping_end(ref, page);
    if (end - start > WINDOW) {
        if (page - start < WINDOW / 2) {
            end = start + WINDOW;
        } else if (end - page < WINDOW / 2) {
            start = end - WINDOW;
        } else {
            start = page - WINDOW / 2;
            end = page + WINDOW / 2;
        }
    }
    if (end - start == 1)
        return;
    int young = 1;
    for (int near = start; near < end; near++) {
        /* A window around a file page skips anonymous ones; here they never share a table. */
        if (!visible(ref, near))
            continue;
        look_at(ref, near);
        young++;
    }
    int now = (int)(ref->max_seq % 2);
    if (young * 8 >= end - start && ref->have_filter[now])
        ref->filter[now][page / REF_TABLE] = true;
}

bool ref_maps_take_young(struct ref *ref, int page)
{
    struct ref_page *p = &ref->pages[page];
    if (!p->mapped || !p->young)
        return false;
    p->young = false;
    if (!ref->options.classic)
        look_around(ref, page);
    return true;
}
