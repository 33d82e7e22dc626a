/* SPDX-License-Identifier: MIT */
/*
 * Accesses on their way to the trace. While the recording runs they go, packed, to a file without
 * a name beside the output, which vanishes with the process; files are numbers there, and ranges
 * may reach behind their ends. At the end it is read once more and becomes the output, with names
 * and without what is behind the ends.
 */
#ifndef RECORD_SPOOL_H
#define RECORD_SPOOL_H

#include <stdint.h>

#include "record/record.h"
#include "record/rules.h"

struct spool;

/* What the encoder of an output may hold back, twice; chosen. */
#define SPOOL_BYTES_RESERVED (UINT64_C(256) << 10)

/* Also looks whether @output can be written. MGLRU_ENOENT, MGLRU_EPERM, MGLRU_EINVAL (a folder),
 * MGLRU_ENOSPC, MGLRU_EIO, MGLRU_ENOMEM. */
int spool_open(const char *output, struct spool **out, struct record_error *error);

/* Codes as for trace_writer_put. */
int spool_put(struct spool *spool, const struct rules_access *access, const char *memcg,
              struct record_error *error);

/* Bytes of the file so far. */
uint64_t spool_bytes(const struct spool *spool);

/* What the output needs to know of a file. */
struct spool_file {
    const char *name;
    uint64_t end; /* one behind the last page that is there */
};

struct spool_finish {
    const char *output;
    uint64_t max_bytes;       /* the output ends before it; 0: no bound */
    const char *const *facts; /* comments at the start */
    unsigned facts_count;
    /* What replays and plans take from the head; empty: unknown */
    const char *readahead_kb; /* what --readahead auto of a replay means */
    const char *kernel;       /* release */
    const char *lru;          /* "classic" or "mglru" */
    /* Called once for each file; false: no memory. */
    bool (*file)(void *context, uint32_t number, struct spool_file *out);
    void *context;
    uint32_t files;
};

/* Writes the output and counts what is in it in @report; there, end becomes RECORD_END_BYTES where
 * max_bytes cut it. Codes as above. */
int spool_finish(struct spool *spool, const struct spool_finish *finish,
                 struct record_report *report, struct record_error *error);

/* NULL is ignored. */
void spool_close(struct spool *spool);

#endif
