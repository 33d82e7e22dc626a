/* SPDX-License-Identifier: MIT */
/*
 * Any bytes written to the control files. Byte 0 chooses the model and whether MGLRU is on, byte 1
 * the file, the rest is the text. Whatever the text:
 *
 *   - the answer is one of the documented codes, the same for the same text,
 *   - every file can still be read, cut or whole, with the same length,
 *   - the laws of the cache hold.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "cache/cache.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const cache_files[] = {"lru_gen", "enabled", "min_ttl_ms", "swappiness",
                                          "stat_refresh"};
static const char *const memcg_files[] = {
    "memory.current",    "memory.peak",        "memory.min",       "memory.low",
    "memory.high",       "memory.max",         "memory.reclaim",   "memory.events",
    "memory.oom.group",  "memory.stat",        "memory.numa_stat", "memory.swap.current",
    "memory.swap.peak",  "memory.swap.high",   "memory.swap.max",  "memory.swap.events",
    "memory.swappiness", "memory.events.local"};

/* Pages that the memcg has, so that limits and commands find something. */
#define PAGES 100

static struct mglru_cache *create(unsigned shape, struct mglru_memcg **memcg)
{
    static const char *const models[] = {"6.12", "7.3", "next", "ours"};
    struct mglru_cache_options options = {.size = sizeof(options),
                                          .model = models[shape & 3],
                                          .classic = shape & 4,
                                          .swap_bytes = shape & 8 ? 200 * 4096 : 0};
    struct mglru_cache *cache;
    struct mglru_mapping *file_mapping, *anon_mapping;
    struct mglru_file *file, *anon;
    size_t done;
    MGLRU_CHECK(!mglru_cache_create(&options, &cache));
    MGLRU_CHECK(!mglru_memcg_create(cache, "/a", memcg));
    MGLRU_CHECK(!mglru_mapping_create(cache, "f", MGLRU_FILE, 0, &file_mapping));
    MGLRU_CHECK(!mglru_mapping_create(cache, "h", MGLRU_ANON, 0, &anon_mapping));
    MGLRU_CHECK(!mglru_file_open(file_mapping, *memcg, &file));
    MGLRU_CHECK(!mglru_file_open(anon_mapping, *memcg, &anon));
    struct mglru_access accesses[] = {
        {.file = file, .index = 0, .count = PAGES, .kind = MGLRU_WRITE},
        {.file = anon, .index = 0, .count = PAGES, .kind = MGLRU_TOUCH},
        {.file = file, .index = 500, .count = PAGES, .kind = MGLRU_READ},
    };
    MGLRU_CHECK(!mglru_cache_access(cache, accesses, 3, NULL, &done));
    return cache;
}

static bool known(int code)
{
    return code <= MGLRU_OK && code >= MGLRU_EOVERFLOW && code != MGLRU_ENOMEM &&
           code != MGLRU_EOOM && code != MGLRU_EINTR;
}

static int write_file(struct mglru_cache *cache, struct mglru_memcg *memcg, unsigned file,
                      const char *text, size_t length)
{
    file %= MGLRU_ARRAY_LEN(cache_files) + MGLRU_ARRAY_LEN(memcg_files);
    int code = file < MGLRU_ARRAY_LEN(cache_files)
                   ? mglru_cache_write(cache, cache_files[file], text, length)
                   : mglru_memcg_write(memcg, memcg_files[file - MGLRU_ARRAY_LEN(cache_files)],
                                       text, length);
    MGLRU_CHECK(known(code));
    return code;
}

static void read_memcg(struct mglru_memcg *memcg)
{
    for (unsigned i = 0; i < MGLRU_ARRAY_LEN(memcg_files); i++) {
        char text[8192], cut[7];
        size_t length, again;
        int code = mglru_memcg_read(memcg, memcg_files[i], text, sizeof(text), &length);
        if (code == MGLRU_EPERM)
            continue;
        MGLRU_CHECK(code == MGLRU_OK && strlen(text) == length);
        code = mglru_memcg_read(memcg, memcg_files[i], cut, sizeof(cut), &again);
        MGLRU_CHECK(again == length && !strncmp(text, cut, sizeof(cut) - 1));
        MGLRU_CHECK(code == (length < sizeof(cut) ? MGLRU_OK : MGLRU_EOVERFLOW));
    }
}

static void read_cache(struct mglru_cache *cache)
{
    char text[16384];
    size_t length;
    MGLRU_CHECK(!mglru_cache_read(cache, "lru_gen", text, sizeof(text), &length));
    MGLRU_CHECK(!mglru_cache_read(cache, "lru_gen_full", text, sizeof(text), &length));
    MGLRU_CHECK(!mglru_cache_read(cache, "enabled", text, sizeof(text), &length));
    MGLRU_CHECK(!mglru_cache_read(cache, "min_ttl_ms", text, sizeof(text), &length));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    /* A buffer of the exact size: what is read behind the text is seen. */
    char *text = malloc(size - 2 ? size - 2 : 1);
    MGLRU_CHECK(text);
    memcpy(text, data + 2, size - 2);
    int codes[2];
    for (unsigned run = 0; run < 2; run++) {
        struct mglru_memcg *memcg;
        struct mglru_cache *cache = create(data[0], &memcg);
        codes[run] = write_file(cache, memcg, data[1], text, size - 2);
        MGLRU_CHECK(cache_verify(cache) == NULL);
        read_memcg(memcg);
        read_cache(cache);
        mglru_cache_destroy(cache);
    }
    MGLRU_CHECK(codes[0] == codes[1]);
    free(text);
    return 0;
}
