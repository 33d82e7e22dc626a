/* SPDX-License-Identifier: MIT */
/* Plays a script through the public interface of the library and keeps what it answered. */
#ifndef FIDELITY_DRIVE_H
#define FIDELITY_DRIVE_H

#include <stdbool.h>
#include <stdint.h>

#include <mglru/cache.h>

#include "scenario.h"
#include "schedule.h"

struct drive_options {
    const char *model;
    const struct schedule *schedule;
    enum mglru_kernel_charge kernel_charge;
    uint64_t kernel_charge_bytes;
    uint64_t readahead_bytes;
    bool capture; /* keep the texts of each sample */
};

/* memory.stat and lru_gen of one memcg at one sample; owned, NULL where not captured. */
struct drive_sample {
    char *stat[SCENARIO_MEMCGS_MAX];
    char *lru_gen; /* of the whole cache */
};

#define DRIVE_PARTS 2

struct drive_result {
    uint8_t *bits[DRIVE_PARTS];     /* one bit an access of the part, 1 = miss */
    uint64_t accesses[DRIVE_PARTS]; /* done before the end or the OOM */
    uint64_t misses[DRIVE_PARTS];
    struct drive_sample sample[SCENARIO_SAMPLES_MAX];
    size_t samples;
    bool oom; /* a charge failed: the program would have been killed */
};

/*
 * Runs the script in a new cache. An OOM ends it and is a result, not an error. Returns 0 or the
 * MGLRU_E code of the call that failed, with its name in @failed.
 */
int drive_run(const struct script *script, const struct drive_options *options,
              struct drive_result *out, const char **failed);
void drive_result_free(struct drive_result *result);

/* Reads a control file whole into a new string; NULL on any failure. @memcg NULL: of the cache. */
char *drive_read(struct mglru_cache *cache, struct mglru_memcg *memcg, const char *name);

/* Value of "name value" in a memory.stat text; 0 where the name is missing. */
uint64_t drive_stat(const char *text, const char *name);

#endif
