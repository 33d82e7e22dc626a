/* SPDX-License-Identifier: MIT */
/* See data_bench.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "data_bench.h"

static const char *model; /* NULL: the default */

int bench_each_model(const struct CMUnitTest *tests, size_t count)
{
    static const char *const models[] = {"6.12", "7.3", "next", "ours"};
    int failed = 0;
    for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
        model = models[i];
        failed += _cmocka_run_group_tests(model, tests, count, NULL, NULL);
    }
    return failed;
}

struct bench bench_make_with(struct mglru_data_options options, uint64_t size_bytes)
{
    struct bench b = {0};
    struct mglru_store_memory_options memory = {.size = sizeof(memory), .size_max = STORE_BYTES};
    struct mglru_store_faulty_options none = {.size = sizeof(none), .seed = 1};
    options.size = sizeof(options);
    options.model = model;
    if (!options.memory_bytes)
        options.memory_bytes =
            FRAMES * (uint64_t)(options.frame_bytes ? options.frame_bytes : PAGE);
    assert_int_equal(mglru_data_create(&options, &b.cache), MGLRU_OK);
    assert_int_equal(mglru_store_memory_open(&memory, &b.base), MGLRU_OK);
    assert_int_equal(mglru_store_faulty_open(b.base, &none, &b.store), MGLRU_OK);
    assert_int_equal(mglru_data_mapping_create(b.cache, "m", b.store, size_bytes, &b.mapping), 0);
    assert_int_equal(mglru_memcg_create(b.cache, "/a", &b.memcg), MGLRU_OK);
    assert_int_equal(mglru_file_open(b.mapping, b.memcg, &b.file), MGLRU_OK);
    return b;
}

struct bench bench_make(uint64_t size_bytes)
{
    return bench_make_with((struct mglru_data_options){.no_threads = true}, size_bytes);
}

void bench_verify(const struct bench *b)
{
    const char *broken = data_verify(b->cache);
    if (broken)
        print_error("%s\n", broken);
    assert_null(broken);
}

void bench_end(struct bench *b)
{
    background_stop(cache_data(b->cache));
    bench_verify(b);
    mglru_cache_destroy(b->cache);
    mglru_store_close(b->store);
    mglru_store_close(b->base);
}

void bench_faults(struct bench *b, struct mglru_store_faulty_options faults)
{
    faults.size = sizeof(faults);
    assert_int_equal(mglru_store_faulty_set(b->store, &faults), MGLRU_OK);
}

void bench_put(struct bench *b, uint64_t offset, const char *text)
{
    size_t done;
    assert_int_equal(mglru_write(b->file, offset, text, strlen(text), &done), MGLRU_OK);
    assert_int_equal(done, strlen(text));
}

void bench_expect(struct bench *b, uint64_t offset, const char *text, size_t length)
{
    char found[64], wanted[64] = {0};
    size_t done;
    memcpy(wanted, text, strlen(text));
    assert_int_equal(mglru_read(b->file, offset, found, length, &done), MGLRU_OK);
    assert_int_equal(done, length);
    assert_memory_equal(found, wanted, length);
}

void bench_forget(struct bench *b)
{
    assert_int_equal(mglru_sync(b->file, 0, 0), MGLRU_OK);
    mglru_drop(b->mapping, 0, UINT64_MAX);
}

void bench_limit(struct bench *b, const char *name, unsigned pages)
{
    char text[32];
    int length = snprintf(text, sizeof(text), "%llu", (unsigned long long)pages * PAGE);
    assert_int_equal(mglru_memcg_write(b->memcg, name, text, (size_t)length), MGLRU_OK);
}

uint64_t bench_stat(struct bench *b, const char *name)
{
    uint64_t value;
    assert_int_equal(mglru_memcg_stat(b->memcg, name, &value), MGLRU_OK);
    return value;
}
