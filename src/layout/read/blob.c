/* SPDX-License-Identifier: MIT */
/* Files as bytes; see blob.h. */
#include "layout/read/blob.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mglru/error.h>

#include "base/text.h"

/* Chosen: below this a copy costs less than a mapping's page faults, and cannot be cut from under
 * the reader by another process. */
#define MAP_MIN ((size_t)32 << 20)

/* Chosen: what a pipe or a file in /sys or /proc may bring. */
#define READ_MAX ((size_t)4 << 30)

int layout_fail(struct layout_error *error, int code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_line(error->text, sizeof(error->text), format, arguments);
    va_end(arguments);
    return code;
}

static int code_of(int reason)
{
    switch (reason) {
    case ENOENT:
    case ENOTDIR:
        return MGLRU_ENOENT;
    case EACCES:
    case EPERM:
        return MGLRU_EPERM;
    case ENOMEM:
        return MGLRU_ENOMEM;
    default:
        return MGLRU_EIO;
    }
}

static int refused(const char *path, int reason, struct layout_error *error)
{
    return layout_fail(error, code_of(reason), "%s: cannot read: %s", path,
                       reason == ENOENT ? "no such file" : strerror(reason));
}

static int read_all(int file, const char *path, struct blob *blob, struct layout_error *error)
{
    size_t capacity = (size_t)1 << 16, used = 0;
    struct stat info;
    if (fstat(file, &info) == 0 && info.st_size > 0 && (size_t)info.st_size < READ_MAX)
        capacity = (size_t)info.st_size + 1;
    uint8_t *data = malloc(capacity);
    for (ssize_t got = 1; data != NULL && got != 0;) {
        if (used == capacity) {
            uint8_t *more = capacity < READ_MAX ? realloc(data, capacity * 2) : NULL;
            if (more == NULL)
                break;
            data = more;
            capacity *= 2;
        }
        got = read(file, data + used, capacity - used);
        if (got < 0 && errno != EINTR) {
            int reason = errno;
            free(data);
            return refused(path, reason, error);
        }
        used += got > 0 ? (size_t)got : 0;
        if (got == 0) {
            *blob = (struct blob){.span = {data, used}, .owner = BLOB_ALLOCATED};
            return MGLRU_OK;
        }
    }
    free(data);
    return layout_fail(error, MGLRU_ENOMEM, "%s: too large to read", path);
}

int blob_open(const char *path, struct blob *blob, struct layout_error *error)
{
    *blob = (struct blob){0};
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return refused(path, errno, error);
    struct stat info;
    int code = MGLRU_OK;
    void *mapped = MAP_FAILED;
    if (fstat(file, &info) != 0)
        code = refused(path, errno, error);
    else if (S_ISDIR(info.st_mode))
        code = layout_fail(error, MGLRU_EINVAL, "%s: is a folder, expected a file", path);
    else if (S_ISREG(info.st_mode) && info.st_size >= (off_t)MAP_MIN)
        mapped = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapped != MAP_FAILED)
        *blob = (struct blob){.span = {mapped, (size_t)info.st_size}, .owner = BLOB_MAPPED};
    else if (code == MGLRU_OK)
        code = read_all(file, path, blob, error);
    close(file);
    return code;
}

void blob_free(struct blob *blob)
{
    if (blob->owner == BLOB_MAPPED)
        munmap((void *)blob->span.data, blob->span.bytes);
    else if (blob->owner == BLOB_ALLOCATED)
        free((void *)blob->span.data);
    *blob = (struct blob){0};
}
