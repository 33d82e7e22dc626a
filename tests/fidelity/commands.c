/* SPDX-License-Identifier: MIT */
/*
 * The text interfaces against the recording. The memcg is populated as the harness did: all
 * anonymous pages stored to once, for cmds also 4096 file pages read once; then every recorded
 * event is replayed in order, so that a command meets the state that it met in the kernel.
 *
 * Populations are compared up to POPULATION_SLACK pages: the kernel's per-CPU batch held a few
 * pages back, and how many depends on what else the machine did.
 */
#include "commands.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/control.h>

#include "base/check.h"
#include "json.h"

/* One batch of 31 pages that may wait on the CPU. */
#define POPULATION_SLACK 31
/*
 * The emulated machine of the recordings sets accessed bits only when a TLB entry is filled, so
 * up to 0.3 % of re-stored pages looked idle to it on 7.3 (375 of 131072). 1 % is chosen.
 */
#define POPULATION_SLACK_PERCENT 1

#define CMDS_FILE_PAGES 4096
#define MEMCG_PATH "/t"
#define GENERATIONS_MAX 8
#define TEXT_BYTES 1024

struct generation {
    uint64_t seq;
    uint64_t pages[2]; /* anonymous, file */
};

struct generations {
    struct generation list[GENERATIONS_MAX];
    size_t count;
};

struct check {
    const char *what;
    uint64_t total;
    uint64_t agreed;
};

struct commands {
    const struct oracle_file *file;
    FILE *verbose;
    struct mglru_cache *cache;
    struct mglru_memcg *memcg;
    struct mglru_file *heap;
    struct check errnos;
    struct check numbers;
    struct check knobs;
    struct check places;
};

static void check_count(struct check *check, bool agreed)
{
    check->total++;
    check->agreed += agreed;
}

/* Reads the generations of the memcg out of a lru_gen text. */
static void generations_parse(const char *text, struct generations *out)
{
    bool inside = false;
    out->count = 0;
    while (text && *text) {
        size_t length = strcspn(text, "\n");
        char line[160];
        snprintf(line, sizeof(line), "%.*s", (int)length, text);
        text += length + (text[length] == '\n');
        if (strncmp(line, "memcg", 5) == 0) {
            size_t path = strlen(MEMCG_PATH);
            inside = strlen(line) > path && strcmp(line + strlen(line) - path, MEMCG_PATH) == 0;
            continue;
        }
        struct generation g;
        uint64_t age = 0;
        if (inside && out->count < GENERATIONS_MAX && !strstr(line, "node") &&
            sscanf(line, "%" SCNu64 " %" SCNu64 " %" SCNu64 "%*[ x]%" SCNu64, &g.seq, &age,
                   &g.pages[0], &g.pages[1]) == 4)
            out->list[out->count++] = g;
    }
}

static void generations_now(struct commands *c, struct generations *out)
{
    char *text = drive_read(c->cache, NULL, "lru_gen");
    generations_parse(text ? text : "", out);
    free(text);
}

static uint64_t seq_min(const struct generations *g)
{
    return g->count ? g->list[0].seq : 0;
}

static uint64_t seq_max(const struct generations *g)
{
    return g->count ? g->list[g->count - 1].seq : 0;
}

static int store_all(struct commands *c)
{
    uint64_t pages = c->file->scenario.pages;
    struct mglru_access access = {.file = c->heap, .kind = MGLRU_TOUCH, .count = (uint32_t)pages};
    size_t done = 0;
    return mglru_cache_access(c->cache, &access, 1, NULL, &done);
}

static int read_file(struct commands *c)
{
    struct mglru_mapping *mapping = NULL;
    struct mglru_file *file = NULL;
    int code = mglru_mapping_create(c->cache, "f", MGLRU_FILE, CMDS_FILE_PAGES, &mapping);
    if (!code)
        code = mglru_file_open(mapping, c->memcg, &file);
    for (uint64_t i = 0; i < CMDS_FILE_PAGES && !code; i++) {
        struct mglru_access access = {.file = file, .kind = MGLRU_READ, .index = i, .count = 1};
        size_t done = 0;
        code = mglru_cache_access(c->cache, &access, 1, NULL, &done);
    }
    return code;
}

static int set_up(struct commands *c, const char *model)
{
    const struct scenario *s = &c->file->scenario;
    struct mglru_cache_options options = {.size = sizeof(options), .model = model};
    options.swap_bytes = s->swap ? s->swap_mb << 20 : 0;
    struct mglru_mapping *mapping = NULL;
    int code = mglru_cache_create(&options, &c->cache);
    if (!code)
        code = mglru_memcg_create(c->cache, MEMCG_PATH, &c->memcg);
    if (!code)
        code = mglru_mapping_create(c->cache, "heap", MGLRU_ANON, s->pages, &mapping);
    if (!code)
        code = mglru_file_open(mapping, c->memcg, &c->heap);
    if (!code)
        code = store_all(c);
    if (!code && s->family == FAMILY_CMDS)
        code = read_file(c);
    return code;
}

/* The harness's placeholders: @I id, @M newest, @N newest + 1, @P, @T newest - 1, - 2, @O oldest,
 * @Q oldest - 1, @S oldest + 1. */
static int64_t placeholder(const struct commands *c, const struct generations *g, char letter)
{
    int64_t newest = (int64_t)seq_max(g);
    int64_t oldest = (int64_t)seq_min(g);
    switch (letter) {
    case 'I':
        return (int64_t)mglru_memcg_id(c->memcg);
    case 'M':
        return newest;
    case 'N':
        return newest + 1;
    case 'P':
        return newest - 1;
    case 'T':
        return newest - 2;
    case 'O':
        return oldest;
    case 'Q':
        return oldest - 1;
    case 'S':
        return oldest + 1;
    default:
        return 0;
    }
}

static void command_expand(const struct commands *c, const struct generations *g,
                           const char *format, char *out)
{
    size_t used = 0;
    out[0] = '\0';
    for (; *format && used + 24 < TEXT_BYTES; format++) {
        if (*format == '@' && format[1])
            used += (size_t)snprintf(out + used, TEXT_BYTES - used, "%" PRId64,
                                     placeholder(c, g, *++format));
        else
            out[used++] = *format;
        out[used] = '\0';
    }
}

static void report(struct commands *c, const char *text, json_object *event, int code,
                   const struct generations *after)
{
    if (!c->verbose)
        return;
    fprintf(c->verbose,
            "  \"%s\": errno %d, kernel %" PRIu64 "; generations %" PRIu64 "-%" PRIu64
            ", kernel %" PRIu64 "-%" PRIu64 "\n",
            text, mglru_error_errno(code), json_number(event, "errno"), seq_min(after),
            seq_max(after), json_number(event, "min_after"), json_number(event, "max_after"));
}

/* A command of the lru_gen file, as the harness wrote it with this cache's own numbers. */
static void play_command(struct commands *c, json_object *event, const char *text)
{
    struct generations before;
    struct generations after;
    generations_now(c, &before);
    char command[TEXT_BYTES];
    command_expand(c, &before, text, command);
    int code = mglru_cache_write(c->cache, "lru_gen", command, strlen(command));
    generations_now(c, &after);
    bool same_errno = (uint64_t)mglru_error_errno(code) == json_number(event, "errno");
    /* The recording's own state, not the number of generations it had run through, is compared. */
    bool same_numbers = seq_min(&after) - seq_min(&before) ==
                            json_number(event, "min_after") - json_number(event, "min_before") &&
                        seq_max(&after) - seq_max(&before) ==
                            json_number(event, "max_after") - json_number(event, "max_before");
    check_count(&c->errnos, same_errno);
    check_count(&c->numbers, same_numbers);
    if (!same_errno || !same_numbers)
        report(c, command, event, code, &after);
}

static void play_knob(struct commands *c, json_object *event)
{
    const char *name = json_text(event, "file");
    const char *text = json_text(event, "write");
    bool reclaim = strcmp(name, "memory.reclaim") == 0;
    int code;
    if (reclaim) {
        code = mglru_memcg_write(c->memcg, name, text, strlen(text));
    } else {
        /* The harness set the default before each try. */
        const char *base = strcmp(name, "enabled") == 0 ? "7" : "0";
        mglru_cache_write(c->cache, name, base, strlen(base));
        code = mglru_cache_write(c->cache, name, text, strlen(text));
    }
    bool agreed = (uint64_t)mglru_error_errno(code) == json_number(event, "errno");
    char *back = reclaim ? NULL : drive_read(c->cache, NULL, name);
    if (!reclaim)
        agreed = agreed && back && strcmp(back, json_text(event, "readback")) == 0;
    check_count(&c->knobs, agreed);
    if (!agreed && c->verbose)
        fprintf(c->verbose,
                "  %s <- \"%s\": errno %d, kernel %" PRIu64 "; reads back \"%s\", kernel \"%s\"\n",
                name, text, mglru_error_errno(code), json_number(event, "errno"), back ? back : "",
                json_text(event, "readback"));
    free(back);
}

static bool population_near(uint64_t a, uint64_t b, uint64_t slack)
{
    return a > b ? a - b <= slack : b - a <= slack;
}

/* After a phase: the same generations, the population in the same places. */
static void play_dump(struct commands *c, json_object *event)
{
    const char *what = json_text(event, "what");
    struct generations theirs;
    struct generations ours;
    generations_parse(json_text(event, "lru_gen"), &theirs);
    generations_now(c, &ours);
    uint64_t slack = c->file->scenario.pages * POPULATION_SLACK_PERCENT / 100;
    if (slack < POPULATION_SLACK || strcmp(c->file->kernel, "6.12") == 0)
        slack = POPULATION_SLACK;
    bool agreed = ours.count == theirs.count;
    for (size_t i = 0; i < ours.count && agreed; i++)
        agreed = ours.list[i].seq == theirs.list[i].seq &&
                 population_near(ours.list[i].pages[0], theirs.list[i].pages[0], slack) &&
                 population_near(ours.list[i].pages[1], theirs.list[i].pages[1], slack);
    check_count(&c->places, agreed);
    if (agreed || !c->verbose)
        return;
    fprintf(c->verbose, "  %s: generations (anon, file)\n", what);
    for (size_t i = 0; i < ours.count || i < theirs.count; i++) {
        const struct generation none = {0};
        const struct generation *a = i < theirs.count ? &theirs.list[i] : &none;
        const struct generation *b = i < ours.count ? &ours.list[i] : &none;
        fprintf(c->verbose,
                "    kernel %6" PRIu64 " %8" PRIu64 " %8" PRIu64 " | ours %6" PRIu64 " %8" PRIu64
                " %8" PRIu64 "\n",
                a->seq, a->pages[0], a->pages[1], b->seq, b->pages[0], b->pages[1]);
    }
}

/* The text of an aging command without id and number: "+ ID 0 SEQ<suffix>". */
static const char *aging_suffix(const char *command)
{
    int used = 0;
    if (sscanf(command, "+ %*u 0 %*u%n", &used) != 0 || used == 0)
        return "";
    return command + used;
}

static int play_aging(struct commands *c, json_object *event)
{
    const char *phase = json_text(event, "phase");
    bool first = json_number(event, "i") == 0;
    const char *enabled = NULL;
    if (first && strcmp(phase, "retouch_force_nowalk") == 0)
        enabled = "0x0001";
    if (first && strcmp(phase, "retouch_force_nononleaf") == 0)
        enabled = "0x0003";
    int code = enabled ? mglru_cache_write(c->cache, "enabled", enabled, strlen(enabled)) : 0;
    if (!code && strncmp(phase, "retouch", strlen("retouch")) == 0)
        code = store_all(c);
    if (code)
        return code;
    char text[TEXT_BYTES];
    snprintf(text, sizeof(text), "+ @I 0 @M%s", aging_suffix(json_text(event, "cmd")));
    play_command(c, event, text);
    return 0;
}

static int play_event(struct commands *c, json_object *event)
{
    const char *kind = json_text(event, "ev");
    const char *what = json_text(event, "what");
    if (strcmp(kind, "cmd") == 0)
        play_command(c, event, json_text(event, "fmt"));
    else if (strcmp(kind, "aging") == 0)
        return play_aging(c, event);
    else if (strcmp(kind, "knob") == 0)
        play_knob(c, event);
    else if (strcmp(kind, "debugfs") == 0 && strcmp(what, "before_touch") != 0) {
        const char *enabled = strcmp(what, "disabled") == 0    ? "0"
                              : strcmp(what, "reenabled") == 0 ? "7"
                                                               : NULL;
        if (enabled)
            mglru_cache_write(c->cache, "enabled", enabled, strlen(enabled));
        play_dump(c, event);
    }
    return 0;
}

static int add_row(const struct commands *c, const struct check *check, struct compare *compare)
{
    if (check->total == 0)
        return 0;
    struct row row = {.theirs = check->total,
                      .least = check->total,
                      .most = check->total,
                      .ours = check->agreed,
                      .low = check->agreed,
                      .high = check->agreed,
                      .exact = true};
    row.verdict = check->agreed == check->total ? VERDICT_INSIDE : VERDICT_OUTSIDE;
    snprintf(row.kernel, sizeof(row.kernel), "%s", c->file->kernel);
    snprintf(row.name, sizeof(row.name), "%s", c->file->name);
    snprintf(row.mode, sizeof(row.mode), "mglru");
    snprintf(row.what, sizeof(row.what), "%s", check->what);
    snprintf(row.note, sizeof(row.note), "agreeing of all");
    return compare_add(compare, &row);
}

int commands_compare(const struct oracle_file *file, struct compare *compare)
{
    struct commands c = {.file = file,
                         .verbose = compare->verbose,
                         .errnos = {.what = "errnos"},
                         .numbers = {.what = "generations"},
                         .knobs = {.what = "knobs"},
                         .places = {.what = "populations"}};
    json_object *runs = json_path(file->root, "runs", NULL);
    json_object *events = json_path(json_object_array_get_idx(runs, 0), "events", NULL);
    if (c.verbose)
        fprintf(c.verbose, "== %s/%s: what differs\n", file->kernel, file->name);
    int code = set_up(&c, compare->model ? compare->model : file->kernel);
    for (size_t i = 0; i < json_object_array_length(events) && !code; i++)
        code = play_event(&c, json_object_array_get_idx(events, i));
    mglru_cache_destroy(c.cache);
    if (code) {
        snprintf(compare->error, COMPARE_ERROR_BYTES, "%s/%s: %s", file->kernel, file->name,
                 mglru_error_text(code));
        return code;
    }
    const struct check *checks[] = {&c.errnos, &c.numbers, &c.knobs, &c.places};
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(checks) && !code; i++)
        code = add_row(&c, checks[i], compare);
    return code;
}
