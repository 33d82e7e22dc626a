/* SPDX-License-Identifier: MIT */
/* Flush schedules by name. */
#include "schedule.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"

#define MS_NS UINT64_C(1000000)

/* Flushes at @start + k * @period of the guest's clock; the cache flushes at multiples. */
#define EVERY(name, period, start)                                                                 \
    {                                                                                              \
        name, MGLRU_STAT_FLUSH_TIME, (period)*MS_NS, ((period) - (start)) * MS_NS                  \
    }

static const struct schedule stated_612 = EVERY("2020ms@850", 2020, 850);
static const struct schedule stated_73 = EVERY("2112ms@105", 2112, 105);

static const struct schedule schedules[] = {
    EVERY("2s@0", 2000, 0),
    EVERY("2s@250", 2000, 250),
    EVERY("2s@500", 2000, 500),
    EVERY("2s@750", 2000, 750),
    EVERY("2s@1000", 2000, 1000),
    EVERY("2s@1500", 2000, 1500),
    {"N=20000", MGLRU_STAT_FLUSH_ACCESSES, 20000, 0},
    {"N=40000", MGLRU_STAT_FLUSH_ACCESSES, 40000, 0},
};

const struct schedule *schedule_stated(const char *kernel)
{
    return strcmp(kernel, "6.12") == 0 ? &stated_612 : &stated_73;
}

const struct schedule *schedule_at(size_t i)
{
    return i < MGLRU_ARRAY_LEN(schedules) ? &schedules[i] : NULL;
}

const struct schedule *schedule_find(const char *name)
{
    static struct schedule custom;
    unsigned period_ms = 0;
    unsigned start_ms = 0;
    int used = 0;
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(schedules); i++)
        if (strcmp(schedules[i].name, name) == 0)
            return &schedules[i];
    if (sscanf(name, "%ums@%u%n", &period_ms, &start_ms, &used) != 2 || name[used] != '\0' ||
        start_ms >= period_ms)
        return NULL;
    custom = (struct schedule)EVERY(name, period_ms, start_ms);
    return &custom;
}
