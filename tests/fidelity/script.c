/* SPDX-License-Identifier: MIT */
/*
 * The script of a scenario: what the harness and its guest programs did, in order.
 *
 * The clock of an access is interpolated between the samples around it, linearly over accesses;
 * a recording that ended early (OOM kill) goes on at the rate of its last interval.
 */
#include "scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "trace/gen.h"

/* The harness seeds the file stream of a mixed scenario apart from the anonymous one. */
#define FILE_SEED_OFFSET 1000003

/* `mglru replay` moves the clock in steps of at least 1 ms; the script does the same. */
#define CLOCK_STEP_NS UINT64_C(1000000)

#define DEFAULT_HOT 2048     /* H where the family has no other default */
#define DEFAULT_TWO_HOT 4096 /* H of two memcgs */

static uint64_t hot_pages(const struct scenario *s)
{
    if (s->hot)
        return s->hot;
    return s->family == FAMILY_TWO ? DEFAULT_TWO_HOT : DEFAULT_HOT;
}

static uint64_t file_pages(const struct scenario *s)
{
    return s->file_pages ? s->file_pages : s->pages;
}

/* Accesses of one unit of the sample counter t. */
static uint64_t unit_accesses(const struct scenario *s)
{
    if (s->family == FAMILY_ROUND)
        return hot_pages(s) + s->stream;
    return s->family == FAMILY_TWO ? s->turn_stream + s->turn_hot : 1;
}

static uint64_t units(const struct scenario *s)
{
    return s->family == FAMILY_TWO ? s->turns : s->n;
}

static int stream_make(const struct gen_options *options, uint64_t count, uint32_t **out)
{
    *out = calloc(count ? count : 1, sizeof(**out));
    if (!*out)
        return MGLRU_ENOMEM;
    return gen_stream(options, *out, count);
}

static int streams_two(struct script *script)
{
    const struct scenario *s = &script->scenario;
    struct gen_options stream = {.pattern = GEN_LOOP, .pages = s->pages, .loop = s->pages};
    struct gen_options hot = {.pattern = gen_pattern_find(s->hot_pattern),
                              .pages = hot_pages(s),
                              .seed = s->seed,
                              .exponent_milli = s->exponent_milli,
                              .loop = hot_pages(s)};
    int error = stream_make(&stream, s->turns * s->turn_stream, &script->stream);
    if (!error)
        error = stream_make(&hot, s->turns * s->turn_hot, &script->second);
    if (error)
        return error;
    script->stream_fnv = gen_fnv(script->stream, s->turns * s->turn_stream);
    script->second_fnv = gen_fnv(script->second, s->turns * s->turn_hot);
    return 0;
}

static int streams_one(struct script *script)
{
    const struct scenario *s = &script->scenario;
    struct gen_options main = {.pattern = gen_pattern_find(s->pattern),
                               .pages = s->pages,
                               .seed = s->seed,
                               .exponent_milli = s->exponent_milli,
                               .loop = s->loop ? s->loop : s->pages,
                               .hot = hot_pages(s),
                               .hot_per_1024 = s->hot_per_1024,
                               .lead = s->lead,
                               .segment = s->segment,
                               .step = s->step};
    int error = stream_make(&main, s->n, &script->stream);
    if (error)
        return error;
    script->stream_fnv = gen_fnv(script->stream, s->n);
    if (s->family != FAMILY_MIXED)
        return 0;
    struct gen_options file = {.pattern = gen_pattern_find(s->file_pattern),
                               .pages = file_pages(s),
                               .seed = s->seed + FILE_SEED_OFFSET,
                               .exponent_milli = s->file_exponent_milli,
                               .loop = file_pages(s),
                               .hot = s->file_hot,
                               .hot_per_1024 = s->file_hot_per_1024,
                               .segment = 1};
    error = stream_make(&file, s->n / 2, &script->second);
    if (!error)
        script->second_fnv = gen_fnv(script->second, s->n / 2);
    return error;
}

int script_init(struct script *script, const struct scenario *scenario,
                const struct scenario_clock *clock, const char *enabled)
{
    *script = (struct script){.scenario = *scenario, .clock = *clock, .enabled = enabled};
    enum scenario_family family = scenario->family;
    if (family < FAMILY_PREAD || family > FAMILY_TWO)
        return MGLRU_EINVAL;
    bool two = family == FAMILY_TWO;
    script->memcg[0] = two ? "/p/s" : "/t";
    script->memcg[1] = two ? "/p/h" : NULL;
    script->memcgs = two ? 2 : 1;
    script->parts = two || family == FAMILY_MIXED || family == FAMILY_ROUND ? 2 : 1;
    int error = 0;
    if (two)
        error = streams_two(script);
    else if (family != FAMILY_ROUND)
        error = streams_one(script);
    if (error)
        script_free(script);
    return error;
}

void script_free(struct script *script)
{
    free(script->stream);
    free(script->second);
    script->stream = NULL;
    script->second = NULL;
}

uint64_t script_part_accesses(const struct script *script, size_t part)
{
    const struct scenario *s = &script->scenario;
    switch (s->family) {
    case FAMILY_MIXED:
        return part == 0 ? (s->n + 1) / 2 : s->n / 2;
    case FAMILY_ROUND:
        return s->n * (part == 0 ? hot_pages(s) : s->stream);
    case FAMILY_TWO:
        return s->turns * (part == 0 ? s->turn_stream : s->turn_hot);
    default:
        return s->n;
    }
}

unsigned script_objects(const struct script *script)
{
    enum scenario_family family = script->scenario.family;
    return family == FAMILY_MIXED || family == FAMILY_TWO ? 2 : 1;
}

const char *script_object_name(const struct script *script, unsigned object)
{
    switch (script->scenario.family) {
    case FAMILY_ANON:
        return "heap";
    case FAMILY_MIXED:
        return object == 0 ? "heap" : "f";
    case FAMILY_TWO:
        return object == 0 ? "s" : "h";
    default:
        return "f";
    }
}

enum mglru_mapping_kind script_object_kind(const struct script *script, unsigned object)
{
    enum scenario_family family = script->scenario.family;
    bool anon = family == FAMILY_ANON || (family == FAMILY_MIXED && object == 0);
    return anon ? MGLRU_ANON : MGLRU_FILE;
}

uint64_t script_object_pages(const struct script *script, unsigned object)
{
    const struct scenario *s = &script->scenario;
    if (object == 0)
        return s->pages;
    return s->family == FAMILY_TWO ? hot_pages(s) : file_pages(s);
}

/* Where the script stands while it runs. */
struct player {
    const struct script *script;
    const struct script_sink *sink;
    struct script_access batch[SCRIPT_BATCH];
    size_t filled;
    uint64_t done;    /* accesses handed over */
    size_t interval;  /* sample that was taken last */
    uint64_t told_ns; /* clock as the sink knows it */
};

/* The guest's clock after @done accesses. */
static uint64_t player_now(const struct player *player)
{
    const struct scenario_clock *clock = &player->script->clock;
    if (clock->samples < 2)
        return clock->samples ? clock->now_ns[0] : 0;
    size_t from = player->interval;
    if (from + 1 >= clock->samples)
        from = clock->samples - 2;
    uint64_t unit = unit_accesses(&player->script->scenario);
    uint64_t start = clock->t[from] * unit;
    uint64_t end = clock->t[from + 1] * unit;
    uint64_t span_ns = clock->now_ns[from + 1] - clock->now_ns[from];
    if (end <= start || player->done < start)
        return clock->now_ns[from];
    double share = (double)(player->done - start) / (double)(end - start);
    return clock->now_ns[from] + (uint64_t)(share * (double)span_ns);
}

/* The clock that the sink is told, which stays until the guest's is a step ahead. */
static uint64_t player_tell(struct player *player, uint64_t now_ns)
{
    if (now_ns >= player->told_ns + CLOCK_STEP_NS)
        player->told_ns = now_ns;
    return player->told_ns;
}

static int player_flush(struct player *player)
{
    if (player->filled == 0)
        return 0;
    size_t count = player->filled;
    uint64_t now_ns = player_tell(player, player_now(player));
    int code = player->sink->access(player->sink->context, player->batch, count, now_ns);
    player->filled = 0;
    player->done += count;
    return code;
}

static int player_access(struct player *player, struct script_access access)
{
    player->batch[player->filled++] = access;
    return player->filled == SCRIPT_BATCH ? player_flush(player) : 0;
}

static int player_sample(struct player *player, size_t number)
{
    int code = player_flush(player);
    if (code)
        return code;
    const struct scenario_clock *clock = &player->script->clock;
    uint64_t now_ns = number < clock->samples ? clock->now_ns[number] : player_now(player);
    player->interval = number;
    now_ns = player_tell(player, now_ns);
    return player->sink->sample(player->sink->context, number, now_ns);
}

static int set_amount(const struct script_sink *sink, const char *path, const char *name,
                      uint64_t amount)
{
    char text[24];
    snprintf(text, sizeof(text), "%llu", (unsigned long long)amount);
    return sink->set(sink->context, path, name, text);
}

static int set_up_two(const struct script *script, const struct script_sink *sink)
{
    const struct scenario *s = &script->scenario;
    int code = sink->mkdir(sink->context, "/p");
    if (!code)
        code = set_amount(sink, "/p", "memory.max", s->max_kb * 1024);
    if (!code)
        code = sink->mkdir(sink->context, "/p/s");
    if (!code)
        code = sink->mkdir(sink->context, "/p/h");
    if (!code && s->hot_low_kb)
        code = set_amount(sink, "/p/h", "memory.low", s->hot_low_kb * 1024);
    return code;
}

static int set_up(const struct script *script, const struct script_sink *sink)
{
    const struct scenario *s = &script->scenario;
    int code = sink->lru_gen(sink->context, "enabled", script->enabled);
    if (!code)
        code = set_amount(sink, "/", "swappiness", s->swappiness);
    if (code)
        return code;
    if (s->family == FAMILY_TWO)
        return set_up_two(script, sink);
    code = sink->mkdir(sink->context, "/t");
    return code ? code : set_amount(sink, "/t", "memory.max", s->max_kb * 1024);
}

/* One round: every hot page through the mapping, then the next pages of the stream by read(). */
static int unit_round(struct player *player, uint64_t i)
{
    const struct scenario *s = &player->script->scenario;
    uint64_t hot = hot_pages(s);
    int code = 0;
    for (uint64_t k = 0; k < hot && !code; k++)
        code = player_access(player, (struct script_access){.kind = MGLRU_MAP_READ, .page = k});
    for (uint64_t k = 0; k < s->stream && !code; k++) {
        uint64_t page = hot + (i * s->stream + k) % (s->pages - hot);
        code = player_access(player,
                             (struct script_access){.kind = MGLRU_READ, .part = 1, .page = page});
    }
    return code;
}

/* One turn: a quantum of the stream, then a quantum of the hot set. */
static int unit_two(struct player *player, uint64_t i)
{
    const struct script *script = player->script;
    const struct scenario *s = &script->scenario;
    int code = 0;
    for (uint64_t k = i * s->turn_stream; k < (i + 1) * s->turn_stream && !code; k++)
        code = player_access(player,
                             (struct script_access){.kind = MGLRU_READ, .page = script->stream[k]});
    for (uint64_t k = i * s->turn_hot; k < (i + 1) * s->turn_hot && !code; k++)
        code = player_access(
            player,
            (struct script_access){
                .kind = MGLRU_READ, .memcg = 1, .object = 1, .part = 1, .page = script->second[k]});
    return code;
}

static int unit_mixed(struct player *player, uint64_t i)
{
    const struct script *script = player->script;
    if (i % 2 == 0)
        return player_access(
            player, (struct script_access){.kind = MGLRU_TOUCH, .page = script->stream[i / 2]});
    return player_access(
        player, (struct script_access){
                    .kind = MGLRU_READ, .object = 1, .part = 1, .page = script->second[i / 2]});
}

static int unit_play(struct player *player, uint64_t i)
{
    const struct script *script = player->script;
    switch (script->scenario.family) {
    case FAMILY_ROUND:
        return unit_round(player, i);
    case FAMILY_TWO:
        return unit_two(player, i);
    case FAMILY_MIXED:
        return unit_mixed(player, i);
    default:
        break;
    }
    enum mglru_access_kind kind = script->scenario.family == FAMILY_ANON   ? MGLRU_TOUCH
                                  : script->scenario.family == FAMILY_MMAP ? MGLRU_MAP_READ
                                                                           : MGLRU_READ;
    return player_access(player, (struct script_access){.kind = kind, .page = script->stream[i]});
}

/* The number of the sample that is due after @done units; 0: none. */
static uint64_t sample_due(const struct scenario *s, uint64_t done)
{
    uint64_t total = units(s);
    uint64_t number = done * s->samples / total;
    if (s->family == FAMILY_TWO)
        return number != (done - 1) * s->samples / total ? number : 0;
    if (done == total * number / s->samples)
        return number;
    return done == total * (number + 1) / s->samples ? number + 1 : 0;
}

int script_run(const struct script *script, const struct script_sink *sink)
{
    MGLRU_CHECK(script->memcgs > 0);
    struct player player = {.script = script, .sink = sink};
    int code = set_up(script, sink);
    if (!code)
        code = player_sample(&player, 0);
    uint64_t total = units(&script->scenario);
    for (uint64_t i = 0; i < total && !code; i++) {
        code = unit_play(&player, i);
        uint64_t number = code ? 0 : sample_due(&script->scenario, i + 1);
        if (number)
            code = player_sample(&player, number);
    }
    return code;
}
