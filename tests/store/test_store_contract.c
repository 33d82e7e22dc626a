/* SPDX-License-Identifier: MIT */
/* The contract of stores over every kind, on the real machine, then on the simulated one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <unistd.h>

#include "contract.h"
#include "os/os.h"

static int open_memory(const char *path, struct mglru_store **out)
{
    return mglru_store_memory_open(NULL, out);
}

static int open_memory_synced(const char *path, struct mglru_store **out)
{
    struct mglru_store_memory_options options = {
        .size = sizeof(options), .size_max = UINT64_C(1) << 32, .synced_copy = true};
    return mglru_store_memory_open(&options, out);
}

static int open_file(const char *path, struct mglru_store **out)
{
    struct mglru_store_file_options options = {
        .size = sizeof(options), .path = path, .create = true};
    return mglru_store_file_open(&options, out);
}

static int open_file_cached(const char *path, struct mglru_store **out)
{
    struct mglru_store_file_options options = {
        .size = sizeof(options), .path = path, .create = true, .cached = true};
    return mglru_store_file_open(&options, out);
}

static int open_uring(const char *path, struct mglru_store **out)
{
    struct mglru_store_file_options options = {
        .size = sizeof(options), .path = path, .create = true};
    return mglru_store_uring_open(&options, out);
}

/* Most requests find the ring full. */
static int open_uring_small(const char *path, struct mglru_store **out)
{
    struct mglru_store_file_options options = {
        .size = sizeof(options), .path = path, .create = true, .cached = true, .queue = 2};
    return mglru_store_uring_open(&options, out);
}

/* ---- Faulty stores without faults ---- */

static struct mglru_store *below;

static int open_over_memory(const struct mglru_store_faulty_options *options,
                            struct mglru_store **out)
{
    int error = open_memory(NULL, &below);
    return error ? error : mglru_store_faulty_open(below, options, out);
}

static int open_faulty(const char *path, struct mglru_store **out)
{
    struct mglru_store_faulty_options options = {.size = sizeof(options), .seed = 1};
    return open_over_memory(&options, out);
}

static int open_drive(const char *path, struct mglru_store **out)
{
    struct mglru_store_faulty_options options = {
        .size = sizeof(options), .seed = 2, .volatile_cache = true};
    return open_over_memory(&options, out);
}

/* What no caller may notice. */
static int open_restless_drive(const char *path, struct mglru_store **out)
{
    struct mglru_store_faulty_options options = {
        .size = sizeof(options),
        .seed = 3,
        .short_ppm = 200000,
        .delay_ppm = 100000,
        .delay_max_ns = 20000,
        .destage_ppm = 500000,
        .volatile_cache = true,
        .page_bytes = 512,
        .sector_bytes = 16,
    };
    return open_over_memory(&options, out);
}

static int open_late_file(const char *path, struct mglru_store **out)
{
    struct mglru_store_faulty_options options = {.size = sizeof(options),
                                                 .seed = 4,
                                                 .short_ppm = 50000,
                                                 .delay_ppm = 100000,
                                                 .delay_max_ns = 20000};
    int error = open_file(path, &below);
    return error ? error : mglru_store_faulty_open(below, &options, out);
}

static void close_with_base(struct mglru_store *store)
{
    mglru_store_close(store);
    mglru_store_close(below);
}

static const struct contract_kind kinds[] = {
    {"memory", open_memory, mglru_store_close, false, true},
    {"memory with a synced copy", open_memory_synced, mglru_store_close, false, true},
    {"file", open_file, mglru_store_close, true, true},
    {"file through the page cache", open_file_cached, mglru_store_close, true, true},
    {"uring", open_uring, mglru_store_close, true, false},
    {"uring with two places", open_uring_small, mglru_store_close, true, false},
    {"faulty without faults", open_faulty, close_with_base, false, true},
    {"drive with a write cache", open_drive, close_with_base, false, true},
    {"drive, short and late", open_restless_drive, close_with_base, false, true},
    {"file, short and late", open_late_file, close_with_base, true, true},
};

int main(void)
{
    /* Beside the build, since /tmp may be a file system without direct transfers. */
    char folder[] = "store-test-XXXXXX";
    int failed = 0;
    if (!mkdtemp(folder))
        return 99;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        failed += contract_run(&kinds[i], folder);
    for (uint64_t seed = 1; seed <= 5; seed++) {
        os_use(os_sim(seed));
        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
            failed += kinds[i].simulated ? contract_run(&kinds[i], "/simulated") : 0;
        os_use(NULL);
    }
    rmdir(folder);
    return failed ? 1 : 0;
}
