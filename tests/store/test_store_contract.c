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

static const struct contract_kind kinds[] = {
    {"memory", open_memory, mglru_store_close, false, true},
    {"memory with a synced copy", open_memory_synced, mglru_store_close, false, true},
    {"file", open_file, mglru_store_close, true, true},
    {"file through the page cache", open_file_cached, mglru_store_close, true, true},
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
