/* SPDX-License-Identifier: MIT */
/*
 * What a kernel did in one scenario and mode: totals (medians over repeats), the miss of each
 * access where it was recorded, and the samples. It comes from an oracle JSON or from a fixture.
 */
#ifndef FIDELITY_RECORDING_H
#define FIDELITY_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scenario.h"

struct json_object;

#define RECORDING_PARTS 3
#define RECORDING_NAME_BYTES 48

/* A figure to compare: misses of one part, or of all parts together. */
struct recording_part {
    const char *what; /* "misses", "swap-ins", "/p/h", ... */
    uint64_t misses;  /* median over repeats */
    uint64_t least;   /* over repeats */
    uint64_t most;
    uint8_t *bits; /* one bit an access of this part, 1 = miss; NULL: not recorded */
    uint64_t bit_count;
};

struct recording {
    char kernel[8]; /* "6.12" or "7.3" */
    char name[RECORDING_NAME_BYTES];
    char mode[RECORDING_NAME_BYTES];
    struct scenario scenario;
    struct scenario_clock clock;
    struct recording_part part[RECORDING_PARTS]; /* script parts, then their sum */
    size_t parts;                                /* script parts */
    size_t figures;       /* parts, or parts + 1 when the sum is a figure too */
    uint32_t *hot_misses; /* ROUND: of each round; NULL: not recorded */
    size_t rounds;
    unsigned repeats;
    bool oom;     /* the run ended with an OOM kill */
    bool streams; /* hashes of the streams are known */
    uint64_t stream_fnv;
    uint64_t second_fnv;        /* 0 where the scenario has one stream */
    struct json_object *events; /* of the first repeat, for --verbose; NULL: none */
};

/* Text that the harness wrote to lru_gen/enabled for a mode; NULL: no such mode. */
const char *recording_mode_enabled(const char *mode);

/* Frees what the recording owns, not itself. */
void recording_free(struct recording *recording);

/* Names the figures of the recording's family and sets parts and figures. */
void recording_name_parts(struct recording *recording);

#define ORACLE_ERROR_BYTES 512

struct oracle_file {
    struct json_object *root;
    char kernel[8];
    char name[RECORDING_NAME_BYTES];
    struct scenario scenario;
    struct recording *modes; /* one for each mode; empty for age and cmds */
    size_t mode_count;
};

/*
 * Loads a recording file. Identities that must hold in it (popcounts of miss vectors equal the
 * totals) are checked. Returns 0, or MGLRU_EINVAL with one line in @error
 * (ORACLE_ERROR_BYTES). The name is that of the file, without folder and ending.
 */
int oracle_load(const char *path, struct oracle_file *out, char *error);
void oracle_free(struct oracle_file *file);

#endif
