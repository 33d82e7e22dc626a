/* SPDX-License-Identifier: MIT */
/*
 * A cache with frames for tests of one thread or a few: a mapping over a store that fails on
 * demand, above a memory store, and one memcg with an open file. Calls that are expected to
 * succeed fail the test when they do not. Include after <cmocka.h>.
 */
#ifndef TESTS_DATA_BENCH_H
#define TESTS_DATA_BENCH_H

#include <mglru/control.h>
#include <mglru/stores.h>

#include "data/data.h"

enum { PAGE = 4096, FRAMES = 256, STORE_BYTES = 1 << 26 };

struct bench {
    struct mglru_cache *cache;
    struct mglru_store *base;
    struct mglru_store *store; /* faulty, over base */
    struct mglru_mapping *mapping;
    struct mglru_memcg *memcg; /* "/a" */
    struct mglru_file *file;
};

/* Runs the tests once for each model, which bench_make uses; the number of failures. */
int bench_each_model(const struct CMUnitTest *tests, size_t count);

/* Of FRAMES pages, without threads. */
struct bench bench_make(uint64_t size_bytes);
/* Of @options, whose size is set here; memory_bytes 0: FRAMES frames. */
struct bench bench_make_with(struct mglru_data_options options, uint64_t size_bytes);
/* The walkers. Nothing runs. */
void bench_verify(const struct bench *b);
/* Ends the threads of the cache, walks it, and frees everything. */
void bench_end(struct bench *b);

void bench_faults(struct bench *b, struct mglru_store_faulty_options faults);
void bench_put(struct bench *b, uint64_t offset, const char *text);
/* What @length bytes, at most 64, at @offset are must be @text, zeros where it ends. */
void bench_expect(struct bench *b, uint64_t offset, const char *text, size_t length);
/* Syncs and drops everything, so that the next read asks the store. */
void bench_forget(struct bench *b);
/* Writes @pages of 4 KiB to a control file of the memcg, memory.max or the like. */
void bench_limit(struct bench *b, const char *name, unsigned pages);
/* A counter of memory.stat. */
uint64_t bench_stat(struct bench *b, const char *name);

#endif
