/* SPDX-License-Identifier: MIT */
/* Reads small text files whole; see text.h. */
#include "layout/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <mglru/error.h>

#include "base/errno.h"

/* Reads @stream to its end into *@text; -1: out of memory, 0: longer than @limit_bytes, 1: done. */
static int read_all(FILE *stream, size_t limit_bytes, char **text, size_t *bytes)
{
    size_t capacity = 0;
    *bytes = 0;
    for (;;) {
        if (*bytes + 1 >= capacity) {
            capacity = capacity == 0 ? 4096 : capacity * 2;
            char *larger = realloc(*text, capacity);
            if (larger == NULL)
                return -1;
            *text = larger;
        }
        size_t got = fread(*text + *bytes, 1, capacity - *bytes - 1, stream);
        *bytes += got;
        (*text)[*bytes] = '\0';
        if (got == 0)
            return 1;
        if (*bytes > limit_bytes)
            return 0;
    }
}

int layout_text_read(const char *path, size_t limit_bytes, char **text, size_t *bytes,
                     struct layout_error *error)
{
    *text = NULL;
    bool standard = strcmp(path, "-") == 0;
    const char *name = standard ? "standard input" : path;
    FILE *stream = standard ? stdin : fopen(path, "r");
    struct stat info;
    int code = MGLRU_OK;
    if (stream == NULL || fstat(fileno(stream), &info) != 0) {
        code = errno_code(errno);
        snprintf(error->text, sizeof(error->text), "%s: cannot open: %s", name, strerror(errno));
    } else if (S_ISDIR(info.st_mode)) {
        code = MGLRU_EINVAL;
        snprintf(error->text, sizeof(error->text), "%s: is a directory, expected a file", name);
    } else {
        int result = read_all(stream, limit_bytes, text, bytes);
        if (result <= 0 || ferror(stream)) {
            code = result < 0 ? MGLRU_ENOMEM : result == 0 ? MGLRU_EINVAL : MGLRU_EIO;
            snprintf(error->text, sizeof(error->text), "%s: %s", name,
                     result < 0    ? "out of memory"
                     : result == 0 ? "is too large for such a file"
                                   : "cannot read");
        }
    }
    if (stream != NULL && !standard)
        fclose(stream);
    if (code != MGLRU_OK) {
        free(*text);
        *text = NULL;
    }
    return code;
}

int layout_text_fail(struct layout_error *error, const char *name, unsigned line,
                     const char *format, va_list arguments)
{
    char text[512];
    vsnprintf(text, sizeof(text), format, arguments);
    snprintf(error->text, sizeof(error->text), "%s:%u: %s", name, line, text);
    return MGLRU_EINVAL;
}
