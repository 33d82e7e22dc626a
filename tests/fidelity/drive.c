/* SPDX-License-Identifier: MIT */
/*
 * The library as the guest kernel: one sink for scripts. The clock is set before each batch and
 * each sample; a sample reads memory.stat of every memcg, which refreshes the statistics as it
 * did in the recording.
 */
#include "drive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/control.h>

#include "base/check.h"

/* Room for one text; the largest, lru_gen_full of two memcgs, has about 8 KiB. */
#define TEXT_BYTES 65536

struct driver {
    const struct script *script;
    const struct drive_options *options;
    struct drive_result *result;
    struct mglru_cache *cache;
    struct mglru_memcg *memcg[SCENARIO_MEMCGS_MAX];
    struct mglru_mapping *mapping[DRIVE_PARTS];
    struct mglru_file *file[DRIVE_PARTS];
    const char *failed;
};

static int fail(struct driver *driver, const char *what, int code)
{
    if (code)
        driver->failed = what;
    return code;
}

char *drive_read(struct mglru_cache *cache, struct mglru_memcg *memcg, const char *name)
{
    char *text = malloc(TEXT_BYTES);
    if (!text)
        return NULL;
    size_t length = 0;
    int code = memcg ? mglru_memcg_read(memcg, name, text, TEXT_BYTES, &length)
                     : mglru_cache_read(cache, name, text, TEXT_BYTES, &length);
    if (code == 0)
        return text;
    free(text);
    return NULL;
}

uint64_t drive_stat(const char *text, const char *name)
{
    size_t length = strlen(name);
    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) == 0 && line[length] == ' ')
            return strtoull(line + length + 1, NULL, 10);
    }
    return 0;
}

static int on_mkdir(void *context, const char *path)
{
    struct driver *driver = context;
    struct mglru_memcg *memcg = NULL;
    int code = mglru_memcg_create(driver->cache, path, &memcg);
    for (size_t i = 0; i < driver->script->memcgs && !code; i++)
        if (strcmp(driver->script->memcg[i], path) == 0)
            driver->memcg[i] = memcg;
    return fail(driver, "mglru_memcg_create", code);
}

static int on_set(void *context, const char *path, const char *name, const char *value)
{
    struct driver *driver = context;
    if (strcmp(path, "/") == 0)
        return fail(driver, name, mglru_cache_write(driver->cache, name, value, strlen(value)));
    struct mglru_memcg *memcg = NULL;
    int code = mglru_memcg_find(driver->cache, path, &memcg);
    if (!code)
        code = mglru_memcg_write(memcg, name, value, strlen(value));
    return fail(driver, name, code);
}

static int on_lru_gen(void *context, const char *name, const char *value)
{
    struct driver *driver = context;
    return fail(driver, name, mglru_cache_write(driver->cache, name, value, strlen(value)));
}

/* The programs open their files when they are first let go, after sample 0. */
static int open_files(struct driver *driver)
{
    for (unsigned i = 0; i < script_objects(driver->script); i++) {
        bool two = driver->script->scenario.family == FAMILY_TWO;
        int code =
            mglru_file_open(driver->mapping[i], driver->memcg[two ? i : 0], &driver->file[i]);
        if (code)
            return fail(driver, "mglru_file_open", code);
    }
    return 0;
}

static void record_bits(struct driver *driver, const struct script_access *list, size_t count,
                        const uint8_t *bits)
{
    struct drive_result *result = driver->result;
    for (size_t i = 0; i < count; i++) {
        uint8_t part = list[i].part;
        uint64_t at = result->accesses[part]++;
        if (!(bits[i / 8] >> (i % 8) & 1))
            continue;
        result->bits[part][at / 8] |= (uint8_t)(1u << (at % 8));
        result->misses[part]++;
    }
}

static int on_access(void *context, const struct script_access *list, size_t count, uint64_t now_ns)
{
    struct driver *driver = context;
    if (!driver->file[0]) {
        int code = open_files(driver);
        if (code)
            return code;
    }
    mglru_cache_set_time(driver->cache, now_ns + driver->options->schedule->offset_ns);
    struct mglru_access access[SCRIPT_BATCH];
    uint8_t bits[SCRIPT_BATCH / 8 + 1] = {0};
    for (size_t i = 0; i < count; i++)
        access[i] = (struct mglru_access){.file = driver->file[list[i].object],
                                          .index = list[i].page,
                                          .count = 1,
                                          .kind = list[i].kind};
    struct mglru_miss_log log = {.bits = bits};
    size_t done = 0;
    int code = mglru_cache_access(driver->cache, access, count, &log, &done);
    MGLRU_CHECK(done <= count);
    record_bits(driver, list, done, bits);
    driver->result->oom = code == MGLRU_EOOM;
    return fail(driver, "mglru_cache_access", code);
}

static int on_sample(void *context, size_t number, uint64_t now_ns)
{
    struct driver *driver = context;
    struct drive_result *result = driver->result;
    mglru_cache_set_time(driver->cache, now_ns + driver->options->schedule->offset_ns);
    bool keep = driver->options->capture && number < SCENARIO_SAMPLES_MAX;
    for (size_t i = 0; i < driver->script->memcgs; i++) {
        char *text = drive_read(driver->cache, driver->memcg[i], "memory.stat");
        if (!text)
            return fail(driver, "reading memory.stat", MGLRU_EIO);
        if (keep)
            result->sample[number].stat[i] = text;
        else
            free(text);
    }
    if (keep) {
        result->sample[number].lru_gen = drive_read(driver->cache, NULL, "lru_gen");
        result->samples = number + 1;
    }
    return 0;
}

static int set_up(struct driver *driver)
{
    const struct script *script = driver->script;
    const struct drive_options *options = driver->options;
    struct mglru_cache_options cache = {
        .size = sizeof(cache),
        .model = options->model,
        .swap_bytes = script->scenario.swap ? script->scenario.swap_mb << 20 : 0,
        .readahead_bytes = options->readahead_bytes,
        .kernel_charge = options->kernel_charge,
        .kernel_charge_bytes = options->kernel_charge_bytes,
        .stat_flush = options->schedule->kind,
        .stat_flush_period = options->schedule->period,
    };
    int code = mglru_cache_create(&cache, &driver->cache);
    if (code)
        return fail(driver, "mglru_cache_create", code);
    for (unsigned i = 0; i < script_objects(script); i++) {
        code = mglru_mapping_create(driver->cache, script_object_name(script, i),
                                    script_object_kind(script, i), script_object_pages(script, i),
                                    &driver->mapping[i]);
        if (code)
            return fail(driver, "mglru_mapping_create", code);
    }
    for (size_t i = 0; i < script->parts; i++) {
        driver->result->bits[i] = calloc(script_part_accesses(script, i) / 8 + 1, 1);
        if (!driver->result->bits[i])
            return fail(driver, "calloc", MGLRU_ENOMEM);
    }
    return 0;
}

int drive_run(const struct script *script, const struct drive_options *options,
              struct drive_result *out, const char **failed)
{
    *out = (struct drive_result){0};
    struct driver driver = {.script = script, .options = options, .result = out};
    const struct script_sink sink = {.context = &driver,
                                     .mkdir = on_mkdir,
                                     .set = on_set,
                                     .lru_gen = on_lru_gen,
                                     .access = on_access,
                                     .sample = on_sample};
    int code = set_up(&driver);
    if (!code)
        code = script_run(script, &sink);
    mglru_cache_destroy(driver.cache);
    *failed = driver.failed;
    return out->oom ? 0 : code;
}

void drive_result_free(struct drive_result *result)
{
    for (size_t i = 0; i < DRIVE_PARTS; i++)
        free(result->bits[i]);
    for (size_t i = 0; i < result->samples; i++) {
        for (size_t k = 0; k < SCENARIO_MEMCGS_MAX; k++)
            free(result->sample[i].stat[k]);
        free(result->sample[i].lru_gen);
    }
    *result = (struct drive_result){0};
}
