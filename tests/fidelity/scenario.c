/* SPDX-License-Identifier: MIT */
/* Parameters of a recorded scenario, by the names that the harness gives them. */
#include "scenario.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

static const struct {
    const char *name;
    enum scenario_family family;
} families[] = {
    {"pread", FAMILY_PREAD}, {"mmap", FAMILY_MMAP}, {"anon", FAMILY_ANON}, {"mixed", FAMILY_MIXED},
    {"round", FAMILY_ROUND}, {"two", FAMILY_TWO},   {"age", FAMILY_AGE},   {"cmds", FAMILY_CMDS},
};

#define NUMBER(name, field)                                                                        \
    {                                                                                              \
        name, offsetof(struct scenario, field)                                                     \
    }
static const struct {
    const char *name;
    size_t offset;
} numbers[] = {
    NUMBER("n", n),
    NUMBER("pages", pages),
    NUMBER("max_kb", max_kb),
    NUMBER("seed", seed),
    NUMBER("s", exponent_milli),
    NUMBER("L", loop),
    NUMBER("H", hot),
    NUMBER("hotp", hot_per_1024),
    NUMBER("nh", lead),
    NUMBER("seg", segment),
    NUMBER("step", step),
    NUMBER("S", stream),
    NUMBER("flush", flush),
    NUMBER("swap_mb", swap_mb),
    NUMBER("swappiness", swappiness),
    NUMBER("samples", samples),
    NUMBER("turns", turns),
    NUMBER("qs", turn_stream),
    NUMBER("qh", turn_hot),
    NUMBER("h_low_kb", hot_low_kb),
    NUMBER("fpages", file_pages),
    NUMBER("fs", file_exponent_milli),
    NUMBER("fH", file_hot),
    NUMBER("fhotp", file_hot_per_1024),
    NUMBER("count", count),
    NUMBER("retouch", retouch),
};

static const struct {
    const char *name;
    size_t offset;
} patterns[] = {
    {"pat", offsetof(struct scenario, pattern)},
    {"fpat", offsetof(struct scenario, file_pattern)},
    {"hpat", offsetof(struct scenario, hot_pattern)},
};

/* Recording options that change nothing in what the guest's programs do. */
static const char *const ignored[] = {"trace", "trace_kb"};

void scenario_init(struct scenario *scenario)
{
    *scenario = (struct scenario){
        .pattern = "uniform",
        .file_pattern = "zipf",
        .hot_pattern = "uniform",
        .n = 200000,
        .pages = 32768,
        .max_kb = 32768,
        .seed = 1,
        .exponent_milli = 1000,
        .hot_per_1024 = 512,
        .segment = 1,
        .stream = 1024,
        .swap_mb = 256,
        .swappiness = 60,
        .samples = 10,
        .turns = 2000,
        .turn_stream = 64,
        .turn_hot = 64,
        .file_exponent_milli = 1000,
        .file_hot = 2048,
        .file_hot_per_1024 = 512,
        .count = 100,
        .retouch = 20,
    };
}

const char *scenario_family_name(enum scenario_family family)
{
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(families); i++)
        if (families[i].family == family)
            return families[i].name;
    return "none";
}

static bool set_family(struct scenario *scenario, const char *value)
{
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(families); i++) {
        if (strcmp(families[i].name, value) != 0)
            continue;
        scenario->family = families[i].family;
        return true;
    }
    return false;
}

static bool set_number(uint64_t *field, const char *value)
{
    char *end = NULL;
    errno = 0;
    *field = strtoull(value, &end, 10);
    return errno == 0 && end != value && *end == '\0';
}

static bool set_swap(struct scenario *scenario, const char *value)
{
    scenario->zram = strcmp(value, "zram") == 0;
    scenario->swap = scenario->zram || strcmp(value, "brd") == 0;
    return scenario->swap || strcmp(value, "none") == 0;
}

bool scenario_set(struct scenario *scenario, const char *name, const char *value)
{
    if (strcmp(name, "scn") == 0)
        return set_family(scenario, value);
    if (strcmp(name, "swap") == 0)
        return set_swap(scenario, value);
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(numbers); i++)
        if (strcmp(numbers[i].name, name) == 0)
            return set_number((uint64_t *)((char *)scenario + numbers[i].offset), value);
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(patterns); i++) {
        if (strcmp(patterns[i].name, name) != 0)
            continue;
        char *field = (char *)scenario + patterns[i].offset;
        int length = snprintf(field, SCENARIO_NAME_BYTES, "%s", value);
        return length > 0 && length < SCENARIO_NAME_BYTES;
    }
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(ignored); i++)
        if (strcmp(ignored[i], name) == 0)
            return true;
    return false;
}
