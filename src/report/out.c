/* SPDX-License-Identifier: MIT */
/*
 * Outputs with remembered errors; see out.h for the idea and the invariants.
 */
#include "report/out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mglru/error.h>

#include "base/errno.h"

static void say(struct report_error *error, const char *path, const char *what, int reason)
{
    snprintf(error->text, sizeof(error->text), "%s: %s: %s", path, what, strerror(reason));
}

/* Frees the names; the stream must be closed already. */
static void forget(struct report_out *out)
{
    free(out->path);
    free(out->temporary);
    *out = (struct report_out){0};
}

/* Chooses invariant 2's case for @path: whether the output is written under another name first. */
static bool wants_temporary(const char *path)
{
    struct stat info;
    return lstat(path, &info) != 0 || S_ISREG(info.st_mode);
}

/* Returns the descriptor, or -1 with errno. */
static int open_file(struct report_out *out)
{
    struct stat info;
    if (out->path[0] == '\0') {
        errno = ENOENT;
        return -1;
    }
    if (stat(out->path, &info) == 0 && S_ISDIR(info.st_mode)) {
        errno = EISDIR;
        return -1;
    }
    if (!wants_temporary(out->path))
        return open(out->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    /* An existing file that may not be written must not be replaced behind its owner's back. */
    if (access(out->path, W_OK) != 0 && errno != ENOENT)
        return -1;
    size_t bytes = strlen(out->path) + 32;
    out->temporary = malloc(bytes);
    if (out->temporary == NULL)
        return -1;
    snprintf(out->temporary, bytes, "%s.part-%ld", out->path, (long)getpid());
    return open(out->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

int report_out_open(struct report_out *out, const char *path, struct report_error *error)
{
    *out = (struct report_out){0};
    error->text[0] = '\0';
    if (strcmp(path, "-") == 0)
        return report_out_stream(out, stdout, "standard output");
    out->path = strdup(path);
    int fd = out->path != NULL ? open_file(out) : -1;
    if (fd >= 0)
        out->stream = fdopen(fd, "w");
    if (out->stream == NULL) {
        int reason = errno;
        say(error, path, "cannot write", reason);
        if (fd >= 0) {
            close(fd);
            if (out->temporary != NULL)
                unlink(out->temporary);
        }
        forget(out);
        return errno_code(reason);
    }
    return MGLRU_OK;
}

int report_out_stream(struct report_out *out, FILE *stream, const char *name)
{
    *out = (struct report_out){.stream = stream, .path = strdup(name), .borrowed = true};
    if (out->path == NULL) {
        out->stream = NULL;
        return MGLRU_ENOMEM;
    }
    return MGLRU_OK;
}

/* Keeps the errno of the first failure; stdio may report it calls later, then it is a plain EIO. */
static void note_failure(struct report_out *out)
{
    if (out->error_errno == 0)
        out->error_errno = errno != 0 ? errno : EIO;
}

void report_printf(struct report_out *out, const char *format, ...)
{
    if (out->stream == NULL || out->error_errno != 0)
        return;
    va_list arguments;
    va_start(arguments, format);
    errno = 0;
    if (vfprintf(out->stream, format, arguments) < 0)
        note_failure(out);
    va_end(arguments);
}

void report_write(struct report_out *out, const void *data, size_t bytes)
{
    if (out->stream == NULL || out->error_errno != 0)
        return;
    errno = 0;
    if (fwrite(data, 1, bytes, out->stream) != bytes)
        note_failure(out);
}

/* Flushes and closes; errors end in error_errno. */
static void finish_stream(struct report_out *out)
{
    errno = 0;
    if (fflush(out->stream) != 0 || ferror(out->stream))
        note_failure(out);
    errno = 0;
    if (!out->borrowed && fclose(out->stream) != 0)
        note_failure(out);
    out->stream = NULL;
}

int report_out_close(struct report_out *out, struct report_error *error)
{
    error->text[0] = '\0';
    if (out->stream == NULL)
        return MGLRU_OK;
    finish_stream(out);
    if (out->temporary != NULL) {
        if (out->error_errno == 0 && rename(out->temporary, out->path) != 0)
            out->error_errno = errno;
        if (out->error_errno != 0)
            unlink(out->temporary);
    }
    int code = MGLRU_OK;
    if (out->error_errno != 0) {
        say(error, out->path, "write failed", out->error_errno);
        code = MGLRU_EIO;
    }
    forget(out);
    return code;
}

void report_out_abandon(struct report_out *out)
{
    if (out->stream == NULL)
        return;
    finish_stream(out);
    if (out->temporary != NULL)
        unlink(out->temporary);
    forget(out);
}
