/* SPDX-License-Identifier: MIT */
/*
 * The verifying workload: threads read, change and sync random pages of a subject, and
 * judge every page that they read; between rounds the power is cut and every page is judged.
 * Mapping m is changed by thread m mod threads and read by all.
 *
 * One thread, or a simulated machine, makes a run a function of its options.
 */
#ifndef TESTS_INTEGRITY_DRIVER_H
#define TESTS_INTEGRITY_DRIVER_H

#include "oracle.h"
#include "subject.h"

struct driver_options {
    struct oracle_shape shape;
    struct oracle *oracle; /* of this shape, the caller's */
    const struct subject_ops *ops;
    void *subject;
    uint64_t seed;
    uint64_t operations; /* of all threads together */
    uint64_t round;      /* operations between power cuts; 0: one round */
    unsigned threads;    /* 1..DRIVER_THREADS_MAX */
    unsigned pages_max;  /* pages of one call, 1..DRIVER_PAGES_MAX */
    unsigned write_ppm;  /* the rest are reads */
    unsigned sync_ppm;
    unsigned truncate_ppm;
    unsigned punch_ppm; /* these for subjects that have the call */
    unsigned discard_ppm;
    unsigned stir_ppm;
    bool errors;   /* calls may fail; else the first failure is a finding */
    bool no_room;  /* calls may fail with MGLRU_EOOM */
    bool may_tear; /* the store tears pages that were not synced */
};

#define DRIVER_THREADS_MAX 16u
#define DRIVER_PAGES_MAX 16u

struct driver_result {
    uint64_t reads; /* calls */
    uint64_t writes;
    uint64_t syncs;
    uint64_t truncates;
    uint64_t punches;
    uint64_t discards;
    uint64_t stirs;
    uint64_t failures; /* calls that gave an error */
    uint64_t pages_judged;
    uint64_t cuts;
    uint64_t
        findings; /* pages, or calls that must not fail; a run ends at its first round with one */
    char first[200]; /* what the first one was, and where */
};

/* Runs the workload. */
void driver_run(const struct driver_options *options, struct driver_result *result);

/* Adds the counts of @from; the first finding of the two stays. */
void driver_add(struct driver_result *to, const struct driver_result *from);

/* Judges every page as after a crash: see oracle_recover. Adds to @result. */
void driver_recover(const struct driver_options *options, bool killed,
                    struct driver_result *result);

#endif
