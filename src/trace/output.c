/* SPDX-License-Identifier: MIT */
/* Files that are whole or absent; see output.h for the idea. */
#include "trace/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mglru/error.h>

#include "base/check.h"
#include "base/errno.h"
#include "trace/message.h"

static int fail(struct trace_output *output, int reason, const char *what,
                struct trace_error *error)
{
    output->failed = message_set(error, errno_code(reason), "%s: %s: %s",
                                 output->path ? output->path : "output", what, strerror(reason));
    return output->failed;
}

/* Opens output->path itself, or a file beside it. -1: errno tells. */
static int open_file(struct trace_output *output)
{
    struct stat st;
    bool exists = stat(output->path, &st) == 0;
    if (exists && S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        return -1;
    }
    if (exists && !S_ISREG(st.st_mode))
        return open(output->path, O_WRONLY | O_CLOEXEC);
    /* A file that may not be written must not be replaced behind its owner's back. */
    if (exists && access(output->path, W_OK) != 0)
        return -1;
    size_t bytes = strlen(output->path) + 32;
    output->temporary = malloc(bytes);
    if (!output->temporary) {
        errno = ENOMEM;
        return -1;
    }
    snprintf(output->temporary, bytes, "%s.part-%ld", output->path, (long)getpid());
    int fd = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) {
        /* Somebody else's file, or none: not ours to remove. */
        int reason = errno;
        free(output->temporary);
        output->temporary = NULL;
        errno = reason;
    }
    return fd;
}

static int start_encoder(struct trace_output *output, struct trace_error *error)
{
    output->codec = codec_by_suffix(output->path);
    if (!output->codec)
        return 0;
    if (!output->codec->encoder_create) {
        output->failed = message_set(error, MGLRU_ENOTSUP,
                                     "%s: cannot compress, this program was built without %s",
                                     output->path, output->codec->library);
        return output->failed;
    }
    output->packed = malloc(TRACE_OUTPUT_BYTES);
    if (!output->packed || output->codec->encoder_create(&output->encoder) != 0)
        return fail(output, ENOMEM, "cannot compress", error);
    return 0;
}

/* The buffer, and the name for messages. */
static int start(struct trace_output *output, int fd, const char *name, struct trace_error *error)
{
    *output = (struct trace_output){.fd = fd};
    output->path = strdup(name);
    output->buffer = malloc(TRACE_OUTPUT_BYTES);
    return output->path && output->buffer ? 0 : fail(output, ENOMEM, "cannot write", error);
}

int trace_output_open_fd(struct trace_output *output, int fd, const char *name,
                         struct trace_error *error)
{
    int rc = start(output, fd, name, error);
    return rc ? rc : start_encoder(output, error);
}

int trace_output_open(struct trace_output *output, const char *path, struct trace_error *error)
{
    bool is_stdout = strcmp(path, "-") == 0;
    int rc = start(output, -1, is_stdout ? "standard output" : path, error);
    if (rc)
        return rc;
    if (is_stdout) {
        output->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
        return output->fd < 0 ? fail(output, errno, "cannot write", error) : 0;
    }
    rc = start_encoder(output, error);
    if (rc)
        return rc;
    output->fd = open_file(output);
    return output->fd < 0 ? fail(output, errno, "cannot write", error) : 0;
}

static int write_all(struct trace_output *output, const unsigned char *data, size_t bytes,
                     struct trace_error *error)
{
    while (bytes > 0) {
        ssize_t n = write(output->fd, data, bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail(output, errno, "cannot write", error);
        data += n;
        bytes -= (size_t)n;
        output->written += (uint64_t)n;
    }
    return 0;
}

/* Sends the buffer through the encoder, and with @finish the end of its stream. */
static int encode(struct trace_output *output, bool finish, struct trace_error *error)
{
    struct codec_io io = {.in = (const unsigned char *)output->buffer, .in_bytes = output->used};
    bool whole = false;
    while (io.in_bytes > 0 || (finish && !whole)) {
        io.out = output->packed;
        io.out_bytes = TRACE_OUTPUT_BYTES;
        int rc = output->codec->encoder_run(output->encoder, &io, finish, &whole);
        if (rc)
            return fail(output, rc == MGLRU_ENOMEM ? ENOMEM : EIO, "cannot compress", error);
        rc = write_all(output, output->packed, TRACE_OUTPUT_BYTES - io.out_bytes, error);
        if (rc)
            return rc;
    }
    return 0;
}

static int flush(struct trace_output *output, bool finish, struct trace_error *error)
{
    MGLRU_CHECK(output->used <= TRACE_OUTPUT_BYTES);
    if (output->failed)
        return output->failed;
    int rc = output->codec
                 ? encode(output, finish, error)
                 : write_all(output, (const unsigned char *)output->buffer, output->used, error);
    output->used = 0;
    return rc;
}

int trace_output_flush(struct trace_output *output, struct trace_error *error)
{
    return flush(output, false, error);
}

/* Closes and frees; the temporary file is the caller's to rename or remove before. */
static void forget(struct trace_output *output)
{
    if (output->encoder)
        output->codec->encoder_destroy(output->encoder);
    if (output->fd >= 0)
        close(output->fd);
    free(output->path);
    free(output->temporary);
    free(output->packed);
    free(output->buffer);
    *output = (struct trace_output){.fd = -1, .failed = MGLRU_EINVAL};
}

int trace_output_commit(struct trace_output *output, struct trace_error *error)
{
    int rc = flush(output, true, error);
    if (!rc) {
        /* Network file systems tell of a full disk no sooner than here. */
        int fd = output->fd;
        output->fd = -1;
        if (close(fd) != 0)
            rc = fail(output, errno, "cannot write", error);
    }
    if (!rc && output->temporary && rename(output->temporary, output->path) != 0)
        rc = fail(output, errno, "cannot rename the finished file", error);
    if (rc) {
        trace_output_discard(output);
        return rc;
    }
    forget(output);
    return 0;
}

void trace_output_discard(struct trace_output *output)
{
    if (output->temporary)
        unlink(output->temporary);
    forget(output);
}
