/* SPDX-License-Identifier: MIT */
/* See readfile.h. */
#include "record/readfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_FIRST 4096u
#define BYTES_MAX ((size_t)64 << 20) /* chosen: far above the longest list of processes */

char *readfile_all(const char *path)
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return NULL;
    size_t capacity = BYTES_FIRST, used = 0;
    char *text = malloc(capacity);
    while (text != NULL) {
        used += fread(text + used, 1, capacity - used - 1, file);
        if (used < capacity - 1 || capacity >= BYTES_MAX)
            break;
        char *larger = realloc(text, capacity *= 2);
        if (larger == NULL)
            free(text);
        text = larger;
    }
    if (text != NULL && ferror(file)) {
        free(text);
        text = NULL;
    }
    fclose(file);
    if (text != NULL)
        text[used] = '\0';
    return text;
}

const char *readfile_line(const char *path, const char *instead, char *out, size_t bytes)
{
    char *text = readfile_all(path);
    snprintf(out, bytes, "%.*s", text != NULL ? (int)strcspn(text, "\n") : (int)bytes - 1,
             text != NULL ? text : instead);
    free(text);
    return out;
}
