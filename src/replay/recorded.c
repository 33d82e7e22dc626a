/* SPDX-License-Identifier: MIT */
/* See recorded.h. */
#include "replay/recorded.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

static int take_kernel(struct replay_recorded *recorded, const char *text)
{
    char *end;
    strtoul(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || *end != '.' || strlen(text) >= REPLAY_RELEASE_BYTES)
        return MGLRU_EINVAL;
    if (recorded->kernel[0] == '\0')
        memcpy(recorded->kernel, text, strlen(text) + 1);
    return MGLRU_OK;
}

static int take_lru(struct replay_recorded *recorded, const char *text)
{
    const bool classic = strcmp(text, "classic") == 0;
    if (!classic && strcmp(text, "mglru") != 0)
        return MGLRU_EINVAL;
    if (!recorded->known_lru)
        recorded->classic = classic;
    recorded->known_lru = true;
    return MGLRU_OK;
}

static int take_lost(struct replay_recorded *recorded, const char *text)
{
    char *end;
    errno = 0;
    const unsigned long long lost = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || *end != '\0' || errno != 0 ||
        lost > UINT64_MAX - recorded->events_lost)
        return MGLRU_EINVAL;
    recorded->events_lost += lost;
    return MGLRU_OK;
}

int replay_recorded_take(struct replay_recorded *recorded, const struct trace_record *record)
{
    const char *text = record->text != NULL ? record->text : "";
    if (strcmp(record->name, "kernel") == 0)
        return take_kernel(recorded, text);
    if (strcmp(record->name, "lru") == 0)
        return take_lru(recorded, text);
    if (strcmp(record->name, "events_lost") == 0)
        return take_lost(recorded, text);
    return MGLRU_ENOENT;
}

const char *replay_recorded_model(const struct replay_recorded *recorded)
{
    if (recorded->kernel[0] == '\0')
        return NULL;
    return strtoul(recorded->kernel, NULL, 10) < 7 ? "6.12" : "7.3";
}
