/* SPDX-License-Identifier: MIT */
/* The decoder and runner of cache_script.h. Byte 0..3 choose the cache, the rest are calls. */
#include "model/cache_script.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "model/cache_laws.h"

#define CALLS_MAX 3000
#define FILES_MAX 32

struct script {
    struct laws laws;
    const uint8_t *data;
    size_t left;
    struct mglru_file *files[FILES_MAX];
    unsigned file_mapping[FILES_MAX];
    unsigned file_memcg[FILES_MAX];
    uint64_t now_ns;
    bool wrote_max;
    struct script_result result;
};

static unsigned take(struct script *script, unsigned bound)
{
    unsigned value = script->left ? *script->data++ : 0;
    script->left -= script->left != 0;
    if (bound > 256 && script->left) {
        value = value << 8 | *script->data++;
        script->left--;
    }
    return value % bound;
}

static struct laws_memcg *pick_memcg(struct script *script)
{
    unsigned i = take(script, LAWS_MEMCGS);
    for (unsigned tries = 0; tries < LAWS_MEMCGS; tries++, i = (i + 1) % LAWS_MEMCGS)
        if (script->laws.memcgs[i].memcg)
            return &script->laws.memcgs[i];
    return NULL; /* the root is always there */
}

static int pick_file(struct script *script)
{
    unsigned i = take(script, FILES_MAX);
    for (unsigned tries = 0; tries < FILES_MAX; tries++, i = (i + 1) % FILES_MAX)
        if (script->files[i])
            return (int)i;
    return -1;
}

#define NOTE(script, ...)                                                                          \
    snprintf((script)->result.last, sizeof((script)->result.last), __VA_ARGS__)

static void call_access(struct script *script, bool many)
{
    int f = pick_file(script);
    if (f < 0)
        return;
    unsigned m = script->file_mapping[f];
    unsigned n = take(script, LAWS_PAGES);
    enum mglru_access_kind kind = script->laws.mappings[m]->kind == MGLRU_ANON
                                      ? MGLRU_TOUCH
                                      : (enum mglru_access_kind)(MGLRU_READ + take(script, 5));
    unsigned room = LAWS_RUN - n % LAWS_RUN;
    unsigned count = many ? 1 + take(script, 40) : 1;
    count = count < room ? count : room;
    NOTE(script, "access file %d mapping %u page %u count %u kind %d", f, m, n, count, (int)kind);
    int error;
    if (many)
        error = laws_access_many(&script->laws, script->files[f], m, n,
                                 (struct mglru_access){.count = count, .kind = kind});
    else
        error = laws_access(&script->laws, script->files[f], m, n, kind);
    MGLRU_CHECK(error == 0 || error == MGLRU_EOOM);
}

static void call_drop(struct script *script)
{
    unsigned m = take(script, LAWS_MAPPINGS), n = take(script, LAWS_PAGES);
    unsigned count = take(script, 8) ? 1 + take(script, 16) : LAWS_RUN;
    if (count > LAWS_RUN - n % LAWS_RUN)
        count = LAWS_RUN - n % LAWS_RUN;
    NOTE(script, "drop mapping %u page %u count %u", m, n, count);
    mglru_mapping_drop(script->laws.mappings[m], laws_page(n), count);
    laws_dropped(&script->laws, m, n, count);
}

/* A size that matters to caches of some tens of pages. */
static void size_text(struct script *script, char text[32])
{
    unsigned pages = take(script, 120);
    if (pages > 110)
        snprintf(text, 32, "max");
    else
        snprintf(text, 32, "%u", pages * script->laws.cache->page_bytes);
}

static void call_write(struct script *script)
{
    static const char *const names[] = {"memory.max",  "memory.max",       "memory.high",
                                        "memory.min",  "memory.low",       "memory.swap.max",
                                        "memory.peak", "memory.swap.high", "memory.reclaim"};
    struct laws_memcg *own = pick_memcg(script);
    const char *name = names[take(script, MGLRU_ARRAY_LEN(names))];
    char text[64];
    size_text(script, text);
    if (!strcmp(name, "memory.reclaim") && take(script, 2))
        snprintf(text + strlen(text), 24, " swappiness=%u", take(script, 201));
    NOTE(script, "write %s %s of %s", name, text, mglru_memcg_path(own->memcg));
    int error = mglru_memcg_write(own->memcg, name, text, strlen(text));
    MGLRU_CHECK(error == 0 || error == MGLRU_ENOENT || error == MGLRU_EAGAIN);
    script->wrote_max = !strcmp(name, "memory.max");
}

static void call_create(struct script *script)
{
    struct laws_memcg *slot = NULL, *parent = pick_memcg(script);
    for (unsigned i = 0; i < LAWS_MEMCGS && !slot; i++)
        if (!script->laws.memcgs[i].memcg)
            slot = &script->laws.memcgs[i];
    if (!slot)
        return;
    char path[512];
    const char *above = mglru_memcg_path(parent->memcg);
    if (strlen(above) > 400)
        return;
    snprintf(path, sizeof(path), "%s/%c", above[1] ? above : "", 'a' + (char)take(script, 4));
    struct mglru_memcg *memcg;
    NOTE(script, "create %.60s", path);
    int error = mglru_memcg_create(script->laws.cache, path, &memcg);
    MGLRU_CHECK(error == 0 || error == MGLRU_EOOM);
    for (unsigned i = 0; i < LAWS_MEMCGS; i++)
        if (script->laws.memcgs[i].memcg == memcg)
            return; /* was there */
    if (!error)
        *slot = (struct laws_memcg){.memcg = memcg};
}

static void call_remove(struct script *script)
{
    struct laws_memcg *own = pick_memcg(script);
    NOTE(script, "remove %.60s", mglru_memcg_path(own->memcg));
    struct mglru_memcg *gone = own->memcg;
    unsigned number = (unsigned)(own - script->laws.memcgs);
    int error = mglru_memcg_remove(gone);
    MGLRU_CHECK(error == 0 || error == MGLRU_EBUSY || error == MGLRU_EINVAL);
    if (error)
        return;
    own->memcg = NULL;
    for (unsigned i = 0; i < FILES_MAX; i++)
        if (script->files[i] && script->file_memcg[i] == number)
            script->files[i] = NULL;
    laws_resync_anon(&script->laws);
}

static void call_open(struct script *script)
{
    struct laws_memcg *own = pick_memcg(script);
    unsigned m = take(script, LAWS_MAPPINGS);
    for (unsigned i = 0; i < FILES_MAX; i++) {
        if (script->files[i])
            continue;
        NOTE(script, "open mapping %u in %.40s", m, mglru_memcg_path(own->memcg));
        int error = mglru_file_open(script->laws.mappings[m], own->memcg, &script->files[i]);
        MGLRU_CHECK(error == 0 || error == MGLRU_EOOM);
        script->file_mapping[i] = m;
        script->file_memcg[i] = (unsigned)(own - script->laws.memcgs);
        return;
    }
}

static void call_cache_write(struct script *script)
{
    static const char *const enabled[] = {"0", "1", "3", "5", "7", "n", "y"};
    char text[64];
    const char *name = "enabled";
    struct laws_memcg *own = pick_memcg(script);
    switch (take(script, 5)) {
    case 0:
        snprintf(text, sizeof(text), "%s", enabled[take(script, 7)]);
        break;
    case 1:
        name = "swappiness";
        snprintf(text, sizeof(text), "%u", take(script, 201));
        break;
    case 2:
        name = "stat_refresh";
        text[0] = '\0';
        break;
    default:
        name = "lru_gen";
        snprintf(text, sizeof(text), "%c %u 0 %u %u %u", take(script, 2) ? '+' : '-',
                 (unsigned)mglru_memcg_id(own->memcg),
                 (unsigned)memcg_lruvec(own->memcg->memcg, 0)->max_seq - take(script, 4),
                 take(script, 201), take(script, 64));
    }
    NOTE(script, "write %s: %s", name, text);
    mglru_cache_write(script->laws.cache, name, text, strlen(text));
}

static void call_read(struct script *script)
{
    static const char *const names[] = {"memory.stat", "memory.numa_stat", "memory.current",
                                        "memory.swap.events"};
    char text[64];
    size_t length;
    struct laws_memcg *own = pick_memcg(script);
    NOTE(script, "read");
    mglru_memcg_read(own->memcg, names[take(script, 4)], text, take(script, sizeof(text)), &length);
    mglru_cache_read(script->laws.cache, "lru_gen_full", text, take(script, sizeof(text)), &length);
}

static void call_other(struct script *script)
{
    int f = pick_file(script);
    switch (take(script, 3)) {
    case 0:
        if (f >= 0)
            mglru_file_reopen(script->files[f]);
        NOTE(script, "reopen");
        break;
    case 1:
        script->now_ns += (uint64_t)take(script, 256) * take(script, 256) * 1000000;
        NOTE(script, "time %llu", (unsigned long long)script->now_ns);
        mglru_cache_set_time(script->laws.cache, script->now_ns);
        break;
    default:
        NOTE(script, "metadata");
        MGLRU_CHECK(mglru_cache_metadata_bytes(script->laws.cache) > 0);
    }
}

static void call(struct script *script)
{
    unsigned what = take(script, 32);
    script->wrote_max = false;
    if (what < 17)
        call_access(script, false);
    else if (what < 20)
        call_access(script, true);
    else if (what < 21)
        call_drop(script);
    else if (what < 24)
        call_write(script);
    else if (what < 25)
        call_create(script);
    else if (what < 26)
        call_remove(script);
    else if (what < 28)
        call_open(script);
    else if (what < 29)
        call_cache_write(script);
    else if (what < 30)
        call_read(script);
    else
        call_other(script);
}

static void count_event(void *context, const struct mglru_event *event)
{
    struct script *script = context;
    script->result.evictions += event->kind == MGLRU_EVENT_EVICT;
    laws_event(&script->laws, event);
}

static void create_cache(struct script *script)
{
    static const char *const models[] = {"6.12", "7.3", "next", "ours"};
    static const char *const agings[] = {NULL, "per-folio", "batched"};
    unsigned shape = take(script, 256), more = take(script, 256);
    struct mglru_cache_options options = {
        .size = sizeof(options),
        .model = models[shape & 3],
        .classic = shape & 4,
        .aging = agings[(shape >> 3 & 3) % 3],
        .kernel_charge = (enum mglru_kernel_charge)((shape >> 5 & 3) % 3),
        .kernel_charge_bytes = 9000,
        .page_bytes = shape & 128 ? 16384 : 4096,
        .swap_bytes = (uint64_t)(more & 7) * 300000,
        .readahead_bytes = more & 8 ? (uint64_t)(more >> 4 & 3) * 65536 + 8192 : 0,
        .stat_flush = (enum mglru_stat_flush)(more >> 6 & 3),
        .stat_flush_period = more & 64 ? 50 : 0,
        .nodes = 1,
        .container = more & 1 ? "/a" : NULL,
        .on_event = count_event,
        .on_event_context = script,
    };
    script->laws.readahead = options.readahead_bytes > 0;
    MGLRU_CHECK(mglru_cache_create(&options, &script->laws.cache) == 0);
    MGLRU_CHECK(!mglru_memcg_create(script->laws.cache, "/", &script->laws.memcgs[0].memcg));
    MGLRU_CHECK(!mglru_memcg_create(script->laws.cache, "/a", &script->laws.memcgs[1].memcg));
    for (unsigned m = 0; m < LAWS_MAPPINGS; m++) {
        enum mglru_mapping_kind kind = m < LAWS_MAPPINGS / 2 + 1 ? MGLRU_FILE : MGLRU_ANON;
        MGLRU_CHECK(
            !mglru_mapping_create(script->laws.cache, "x", kind, 0, &script->laws.mappings[m]));
        MGLRU_CHECK(!mglru_file_open(script->laws.mappings[m], script->laws.memcgs[1].memcg,
                                     &script->files[m]));
        script->file_mapping[m] = m;
        script->file_memcg[m] = 1;
    }
}

struct script_result cache_script_run(const uint8_t *data, size_t size)
{
    struct script script = {.data = data, .left = size, .laws.page = LAWS_PAGES};
    create_cache(&script);
    while (script.left && !script.laws.broken && script.result.calls < CALLS_MAX) {
        call(&script);
        script.result.calls++;
        laws_check(&script.laws, script.wrote_max);
    }
    struct mglru_counts counts;
    mglru_memcg_counts(script.laws.memcgs[0].memcg, true, &counts);
    script.result.accesses = counts.accesses;
    script.result.misses = counts.misses;
    script.result.broken = script.laws.broken;
    mglru_cache_destroy(script.laws.cache);
    return script.result;
}
