/* SPDX-License-Identifier: MIT */
/*
 * What `mglru bench hit` compares: caches of pages that are read by many threads. Ours, the simple
 * rivals of this folder, and those of a shared object that `--rival` names, implement this table;
 * it is C and C++.
 *
 * A shared object exports measure_rivals, of type measure_rivals_fn; a NULL variant ends its list.
 */
#ifndef MEASURE_SUBJECT_H
#define MEASURE_SUBJECT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the caches hold. */
struct measure_setup {
    uint64_t memory_bytes; /* all pages that may be resident, without metadata */
    uint32_t page_bytes;
    uint32_t pages;     /* of the data set */
    const char *source; /* the data set, pages * page_bytes; lives as long as the subject */
};

/* A batch of reads by one thread. */
struct measure_reads {
    const uint32_t *pages;
    uint32_t count;
    uint32_t bytes;  /* to copy from each page, from measure_offset(page, page_bytes, bytes) on */
    char *buffer;    /* of bytes; every read goes there */
    uint64_t misses; /* result: added to, unless the subject has misses() */
};

struct measure_subject {
    const char *variant; /* name in the rows */
    /* Makes the cache, empty. 0, or a negative MGLRU_E code and nothing is left. */
    int (*create)(const struct measure_setup *setup, void **state);
    /* Reads all pages of the batch, bringing whole absent ones from the source. Any thread, many at
     * once. 0 or a negative MGLRU_E code. */
    int (*read)(void *state, struct measure_reads *reads);
    void (*destroy)(void *state);
    /* Reads so far that had to bring a page; NULL: read counts them. */
    uint64_t (*misses)(void *state);
    /* 1: reads may sleep (for a mutex), so that using less than the whole processor is its own
     * doing and not that of other work on the machine. */
    int sleeps;
};

typedef const struct measure_subject *measure_rivals_fn(void);

/* Where the bytes lie that are read of a page: a line of its own choice, as records do, so that
 * the reads do not all fall into the same sets of the processor's caches. */
static inline uint32_t measure_offset(uint32_t page, uint32_t page_bytes, uint32_t bytes)
{
    uint32_t places = page_bytes / bytes;
    return (uint32_t)(((uint64_t)(page * 0x9E3779B1u) * places) >> 32) * bytes;
}

#ifdef __cplusplus
}
#endif
#endif
