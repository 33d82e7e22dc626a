/* SPDX-License-Identifier: MIT */
/* Separate debug files; see search.h. */
#include "layout/read/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mglru/error.h>

#define DEBUG_ROOT "/usr/lib/debug"
#define NOTE_BUILD_ID 3u
#define ID_MAX 64

/* True when @path is a file that can be read, and not @self. */
static bool usable(const char *path, const char *self)
{
    struct stat info, own;
    if (access(path, R_OK) != 0 || stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return false;
    return self == NULL || stat(self, &own) != 0 || own.st_ino != info.st_ino ||
           own.st_dev != info.st_dev;
}

/* Length of the folder part of @file, with its slash. */
static int folder_length(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash != NULL ? (int)(slash - file) + 1 : 0;
}

bool search_beside(const char *file, const char *name, char path[SEARCH_PATH_MAX])
{
    if (name[0] == '/')
        snprintf(path, SEARCH_PATH_MAX, "%s", name);
    else
        snprintf(path, SEARCH_PATH_MAX, "%.*s%s", folder_length(file), file, name);
    return usable(path, file);
}

bool search_build_id(struct span id, char path[SEARCH_PATH_MAX])
{
    char hex[2 * ID_MAX + 1];
    if (id.bytes < 2 || id.bytes > ID_MAX)
        return false;
    for (size_t i = 0; i < id.bytes; i++)
        snprintf(hex + 2 * i, 3, "%02x", id.data[i]);
    snprintf(path, SEARCH_PATH_MAX, DEBUG_ROOT "/.build-id/%.2s/%s.debug", hex, hex + 2);
    return usable(path, NULL);
}

/* The id in a section of notes; empty when there is none. */
static struct span build_id(struct elf *elf)
{
    struct layout_error unused;
    struct span notes;
    if (elf_section(elf, ".note.gnu.build-id", &notes, &unused) != MGLRU_OK)
        return (struct span){elf->file.data, 0};
    struct bytes at = bytes_from(notes, 0, elf->big);
    while (bytes_left(&at) >= 12) {
        uint64_t name = bytes_u32(&at), bytes = bytes_u32(&at);
        uint32_t type = bytes_u32(&at);
        bytes_skip(&at, (name + 3) & ~UINT64_C(3));
        if (type == NOTE_BUILD_ID && bytes <= bytes_left(&at))
            return (struct span){at.at, (size_t)bytes};
        bytes_skip(&at, (bytes + 3) & ~UINT64_C(3));
    }
    return (struct span){elf->file.data, 0};
}

bool search_debug_file(struct elf *elf, char path[SEARCH_PATH_MAX])
{
    struct layout_error unused;
    struct span link;
    if (search_build_id(build_id(elf), path))
        return true;
    if (elf_section(elf, ".gnu_debuglink", &link, &unused) != MGLRU_OK || link.bytes == 0)
        return false;
    const char *name = span_text(link, 0);
    if (name == NULL || name[0] == '\0' || strchr(name, '/') != NULL)
        return false;
    int folder = folder_length(elf->path);
    snprintf(path, SEARCH_PATH_MAX, "%.*s%s", folder, elf->path, name);
    if (usable(path, elf->path))
        return true;
    snprintf(path, SEARCH_PATH_MAX, "%.*s.debug/%s", folder, elf->path, name);
    if (usable(path, elf->path))
        return true;
    char *absolute = realpath(elf->path, NULL);
    if (absolute == NULL)
        return false;
    snprintf(path, SEARCH_PATH_MAX, DEBUG_ROOT "%.*s%s", folder_length(absolute), absolute, name);
    free(absolute);
    return usable(path, elf->path);
}
