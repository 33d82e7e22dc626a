/* SPDX-License-Identifier: MIT */
/*
 * Work that is compared between layouts of the library's hot structs: `mglru bench --layout`.
 *
 * The library and this work are compiled once a layout (before, after, ours: base/layout.h), twice
 * each: for the clock, and with every access instrumented, to be recorded for the coherence model.
 * All copies are linked into one program (variant/), each with one name that others see, its
 * struct work_build. Builds without them have work_build_count 0.
 */
#ifndef MEASURE_WORK_H
#define MEASURE_WORK_H

#include <stddef.h>
#include <stdint.h>

#include "coherence/inside.h"
#include "coherence/subject.h"

/* Objects that one piece of work tells of at most. */
#define WORK_OBJECTS_MAX 512

/* What to make. */
struct work_setup {
    const char *test; /* name of the work */
    unsigned jobs;    /* threads 0 .. jobs - 1 will work */
    unsigned nodes;   /* of the machine, 1 or 2; thread t is on node t mod nodes */
    uint64_t size_bytes;
};

/* A figure that a piece of work knows itself. */
struct work_fact {
    const char *metric;
    const char *unit;
    double value;
};
#define WORK_FACTS_MAX 16

struct work {
    const char *bench;
    const char *test;
    const char *unit; /* of an operation: "refaults" */
    int (*create)(const struct work_setup *setup, void **state);
    /* Thread @thread does @count operations; those that count as such are added to @done. Threads
     * may work at the same time. 0 or a negative MGLRU_E code. */
    int (*run)(void *state, unsigned thread, unsigned count, uint64_t *done);
    void (*destroy)(void *state);
    /* What CPUs meet on, by address. Returns how many. */
    size_t (*objects)(void *state, struct coherence_subject *objects);
    /* After the work, in builds for the clock; NULL: it knows none. Returns how many. */
    size_t (*facts)(void *state, struct work_fact *facts);
};

/* Recording of a build that is instrumented; the calls of coherence/inside.h in that copy. */
struct work_recorder {
    void (*watch)(const void *object, size_t bytes);
    void (*begin)(inside_sink *sink, void *context);
    void (*end)(void);
};

struct work_build {
    const char *layout;
    const struct work *const *works; /* ends with NULL */
    const struct work_recorder *recorder;
};

/* A layout in both forms. */
struct work_layout {
    const char *name;
    const struct work_build *timed;
    const struct work_build *recorded;
};

extern const struct work_layout work_layouts[];
extern const size_t work_layout_count;

/* The work of that name; NULL: there is none. */
const struct work *work_find(const struct work_build *build, const char *bench, const char *test);

#endif
