/* SPDX-License-Identifier: MIT */
/* See mounts.h. */
#include "record/mounts.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mglru/error.h>

#include "record/readfile.h"

/* mountinfo writes blanks and the like in paths as \040. */
static void unescape(char *text)
{
    char *to = text;
    for (const char *from = text; *from != '\0'; to++) {
        if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] >= '0' &&
            from[2] <= '7' && from[3] >= '0' && from[3] <= '7') {
            *to = (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 | (from[3] - '0'));
            from += 4;
        } else {
            *to = *from++;
        }
    }
    *to = '\0';
}

/* ID PARENT MAJOR:MINOR ROOT PATH OPTIONS [TAG...] - TYPE SOURCE OPTIONS */
static int parse_line(char *line, struct mount *mount)
{
    char *fields[6], *rest = NULL, *word = strtok_r(line, " ", &rest);
    size_t count = 0;
    for (; word != NULL && strcmp(word, "-") != 0; word = strtok_r(NULL, " ", &rest))
        if (count < 6)
            fields[count++] = word;
    const char *type = strtok_r(NULL, " ", &rest);
    const char *source = strtok_r(NULL, " ", &rest);
    const char *options = strtok_r(NULL, " ", &rest);
    unsigned major, minor;
    if (count < 6 || type == NULL || source == NULL || options == NULL ||
        sscanf(fields[2], "%u:%u", &major, &minor) != 2)
        return MGLRU_EINVAL;
    unescape(fields[3]);
    unescape(fields[4]);
    *mount = (struct mount){.device = mounts_device(major, minor),
                            .root = strdup(fields[3]),
                            .path = strdup(fields[4]),
                            .type = strdup(type),
                            .options = strdup(options)};
    snprintf(mount->bdi, sizeof(mount->bdi), "%u:%u", major, minor);
    return mount->root && mount->path && mount->type && mount->options ? MGLRU_OK : MGLRU_ENOMEM;
}

int mounts_parse(struct mounts *mounts, char *text)
{
    *mounts = (struct mounts){0};
    size_t lines = 1;
    for (const char *c = text; *c != '\0'; c++)
        lines += *c == '\n';
    mounts->items = calloc(lines, sizeof(*mounts->items));
    if (mounts->items == NULL)
        return MGLRU_ENOMEM;
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        int code = parse_line(line, &mounts->items[mounts->count]);
        if (code == MGLRU_ENOMEM) {
            mounts->count++;
            mounts_free(mounts);
            return code;
        }
        mounts->count += code == MGLRU_OK;
    }
    return MGLRU_OK;
}

/* A partition writes through the bdi of its disk, whose folder lies above its own. */
static void find_bdi(struct mount *mount)
{
    static const char *const places[] = {"bdi", "../bdi"};
    char path[64], target[PATH_MAX];
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/%s", (unsigned)(mount->device >> 20),
                 (unsigned)(mount->device & 0xfffff), places[i]);
        ssize_t bytes = readlink(path, target, sizeof(target) - 1);
        if (bytes <= 0)
            continue;
        target[bytes] = '\0';
        const char *name = strrchr(target, '/');
        snprintf(mount->bdi, sizeof(mount->bdi), "%.*s", (int)sizeof(mount->bdi) - 1,
                 name != NULL ? name + 1 : target);
        return;
    }
}

int mounts_read(struct mounts *mounts)
{
    *mounts = (struct mounts){0};
    char *text = readfile_all("/proc/self/mountinfo");
    if (text == NULL)
        return MGLRU_ENOTSUP;
    int code = mounts_parse(mounts, text);
    free(text);
    for (size_t i = 0; i < mounts->count; i++)
        find_bdi(&mounts->items[i]);
    return code;
}

void mounts_free(struct mounts *mounts)
{
    for (size_t i = 0; i < mounts->count; i++) {
        free(mounts->items[i].root);
        free(mounts->items[i].path);
        free(mounts->items[i].type);
        free(mounts->items[i].options);
    }
    free(mounts->items);
    *mounts = (struct mounts){0};
}
