/* SPDX-License-Identifier: MIT */
/*
 * A recorded scenario: its parameters, and what the guest program did with them, as a script of
 * control operations, accesses and sample points. One script feeds the library, a native trace
 * or a counter; all of them see the same calls in the same order with the same clock.
 *
 * The script repeats the recording harness: the MGLRU switch and swappiness first, then memcgs
 * and limits, sample 0, and then work with a sample after every tenth of it.
 */
#ifndef FIDELITY_SCENARIO_H
#define FIDELITY_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mglru/cache.h>

enum scenario_family {
    FAMILY_PREAD = 1, /* reads of one file */
    FAMILY_MMAP,      /* loads through a mapping of one file */
    FAMILY_ANON,      /* stores to anonymous memory */
    FAMILY_MIXED,     /* anonymous store and file read in turn */
    FAMILY_ROUND,     /* hot mapped pages, then a stream of reads, each round */
    FAMILY_TWO,       /* a streaming and a hot memcg under one limit */
    FAMILY_AGE,       /* commands of the lru_gen file; not an access script */
    FAMILY_CMDS
};

#define SCENARIO_NAME_BYTES 32

/* Parameters as the harness takes them; amounts in pages, accesses, rounds or turns. */
struct scenario {
    enum scenario_family family;
    char pattern[SCENARIO_NAME_BYTES];
    char file_pattern[SCENARIO_NAME_BYTES]; /* MIXED */
    char hot_pattern[SCENARIO_NAME_BYTES];  /* TWO */
    uint64_t n;
    uint64_t pages;
    uint64_t max_kb;
    uint64_t seed;
    uint64_t exponent_milli;
    uint64_t loop; /* 0: pages */
    uint64_t hot;  /* 0: the family's default */
    uint64_t hot_per_1024;
    uint64_t lead;
    uint64_t segment;
    uint64_t step;
    uint64_t stream; /* ROUND: reads a round */
    uint64_t flush;  /* accesses between two flushes of the TLB; 0: none, for study only */
    uint64_t swap_mb;
    bool swap;
    bool zram;
    uint64_t swappiness;
    uint64_t samples;
    uint64_t turns;
    uint64_t turn_stream;
    uint64_t turn_hot;
    uint64_t hot_low_kb;
    uint64_t file_pages; /* MIXED; 0: pages */
    uint64_t file_exponent_milli;
    uint64_t file_hot;
    uint64_t file_hot_per_1024;
    uint64_t count;   /* AGE: commands of a long phase */
    uint64_t retouch; /* AGE: commands of the retouch phase */
};

/* Defaults of the harness. */
void scenario_init(struct scenario *scenario);

/*
 * Takes one parameter by the harness's name. Names that do not concern a replay (trace, trace_kb)
 * are accepted; false: the name or the value is unknown.
 */
bool scenario_set(struct scenario *scenario, const char *name, const char *value);

/* Name of the family as the harness says it ("pread", "two", ...). */
const char *scenario_family_name(enum scenario_family family);

#define SCENARIO_SAMPLES_MAX 16
#define SCENARIO_MEMCGS_MAX 2

/* When the recording took its samples: work units done and the guest's clock. */
struct scenario_clock {
    uint64_t t[SCENARIO_SAMPLES_MAX];
    uint64_t now_ns[SCENARIO_SAMPLES_MAX];
    size_t samples;
};

/*
 * The parts whose misses are counted apart:
 *   MIXED 0 anonymous, 1 file; TWO 0 stream, 1 hot; ROUND 0 hot, 1 stream; others 0.
 */
struct script_access {
    enum mglru_access_kind kind;
    uint8_t memcg;  /* index into script memcgs */
    uint8_t object; /* 0 the file or region, 1 the second one */
    uint8_t part;
    uint64_t page;
};

struct script_sink {
    void *context;
    /* Each returns 0 to go on, or a code that ends the script and is returned by it. */
    int (*mkdir)(void *context, const char *path);
    int (*set)(void *context, const char *path, const char *name, const char *value);
    int (*lru_gen)(void *context, const char *name, const char *value);
    int (*access)(void *context, const struct script_access *list, size_t count, uint64_t now_ns);
    int (*sample)(void *context, size_t number, uint64_t now_ns);
};

/* Most accesses that one call of access() hands over; the clock is set that often. */
#define SCRIPT_BATCH 64

struct script {
    struct scenario scenario;
    struct scenario_clock clock;
    const char *enabled; /* text written to lru_gen/enabled */
    uint32_t *stream;    /* access pages of the first part; NULL where none is needed */
    uint32_t *second;    /* MIXED: file pages; TWO: hot pages */
    uint64_t stream_fnv;
    uint64_t second_fnv;
    const char *memcg[SCENARIO_MEMCGS_MAX]; /* paths that do accesses */
    size_t memcgs;
    size_t parts;
};

/* Generates the streams. MGLRU_EINVAL: parameters that make no stream; MGLRU_ENOMEM. */
int script_init(struct script *script, const struct scenario *scenario,
                const struct scenario_clock *clock, const char *enabled);
void script_free(struct script *script);

/* Accesses of a part over the whole script. */
uint64_t script_part_accesses(const struct script *script, size_t part);

/* Name and kind of an object (0 or 1) of the script; size in pages. */
const char *script_object_name(const struct script *script, unsigned object);
enum mglru_mapping_kind script_object_kind(const struct script *script, unsigned object);
uint64_t script_object_pages(const struct script *script, unsigned object);
unsigned script_objects(const struct script *script);

/* Plays the script into @sink. Returns 0 at its end, else the code of the call that ended it. */
int script_run(const struct script *script, const struct script_sink *sink);

#endif
