/* SPDX-License-Identifier: MIT */
/*
 * The work of one build (measure/work.h): this folder is compiled with the library, once a layout.
 * It is above the public headers and sees the inside of the library all the same, since what it
 * compares is inside.
 */
#ifndef VARIANT_VARIANT_H
#define VARIANT_VARIANT_H

#include "measure/work.h"
#include "reclaim/reclaim.h"

extern const struct work refault_work, rstat_work, page_fault1_work, page_fault2_work,
    page_fault3_work, fallocate1_work, fallocate2_work;

/* Threads that work on one state. */
#define VARIANT_JOBS_MAX 64u

/* Lists of hot objects. Each appends, within WORK_OBJECTS_MAX. */
struct variant_objects {
    struct coherence_subject *items;
    size_t count;
};
void variant_add_reclaim(struct variant_objects *objects, const struct reclaim *reclaim);
void variant_add_tree(struct variant_objects *objects, const struct memcg_tree *tree);
/* The memcg with its lruvecs and per-CPU counters. */
void variant_add_memcg(struct variant_objects *objects, const struct memcg *memcg);

/* A machine whose memory is managed by the reclaim of this build, with many CPUs: for work below
 * the level of caches. */
struct variant_machine {
    struct reclaim reclaim;
    struct memcg_tree *tree;
};
/* 0; MGLRU_ENOMEM. */
int variant_machine_create(unsigned cpus, unsigned nodes, struct variant_machine **out);
/* No folio is on a list. */
void variant_machine_destroy(struct variant_machine *machine);

#endif
