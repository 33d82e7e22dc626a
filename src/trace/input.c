/* SPDX-License-Identifier: MIT */
/*
 * Input of traces. Plain input is read straight into the buffer; compressed input goes through a
 * second one.
 *
 * Invariants: begin <= lines_end <= end <= TRACE_INPUT_BYTES (a line break that was added at the
 * very end may stand one behind). After ended no byte is added, except that one line break.
 */
#include "trace/input.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mglru/error.h>

#include "base/check.h"
#include "base/errno.h"
#include "trace/message.h"

/* Chosen: a quarter of the buffer, since traces compress about four to one. */
#define RAW_BYTES ((size_t)64 << 10)
/* The longest magic is six bytes. */
#define MAGIC_BYTES 8

/* Waits for input; false: told to stop. Files are always ready. */
static bool wait_readable(const struct trace_input *input)
{
    struct pollfd fds[2] = {{input->fd, POLLIN, 0}, {input->wake_fd, POLLIN, 0}};
    if (input->wake_fd < 0)
        return true;
    while (poll(fds, 2, -1) < 0 && errno == EINTR)
        ;
    return !(fds[1].revents & POLLIN);
}

/* read(2) without interruptions. *@got 0: the end. */
static int read_some(struct trace_input *input, unsigned char *to, size_t bytes, size_t *got,
                     struct trace_error *error)
{
    *got = 0;
    if (input->fd < 0)
        return 0;
    if (!wait_readable(input))
        return message_set(error, MGLRU_EINTR, "%s: reading was stopped", input->name);
    ssize_t n;
    do
        n = read(input->fd, to, bytes);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return message_set(error, errno_code(errno), "%s: cannot read at offset %" PRIu64 ": %s",
                           input->name, trace_input_consumed(input), strerror(errno));
    *got = (size_t)n;
    return 0;
}

uint64_t trace_input_consumed(const struct trace_input *input)
{
    return input->codec ? input->raw_taken + input->raw_end : input->taken + input->end;
}

static int raw_fill(struct trace_input *input, struct trace_error *error)
{
    if (input->raw_begin < input->raw_end || input->raw_ended)
        return 0;
    input->raw_taken += input->raw_end;
    input->raw_begin = input->raw_end = 0;
    size_t got;
    int rc = read_some(input, input->raw, RAW_BYTES, &got, error);
    input->raw_end = got;
    input->raw_ended = got == 0;
    return rc;
}

/* One step of decoding into the free part of the buffer; ends when the file does. */
static int decode_some(struct trace_input *input, struct trace_error *error)
{
    int rc = raw_fill(input, error);
    if (rc)
        return rc;
    struct codec_io io = {.in = input->raw + input->raw_begin,
                          .in_bytes = input->raw_end - input->raw_begin,
                          .out = input->buffer + input->end,
                          .out_bytes = TRACE_INPUT_BYTES - input->end};
    size_t in_before = io.in_bytes, out_before = io.out_bytes;
    const char *why = NULL;
    rc = input->codec->decoder_run(input->decoder, &io, &input->whole, &why);
    input->raw_begin = input->raw_end - io.in_bytes;
    input->end = TRACE_INPUT_BYTES - io.out_bytes;
    uint64_t place = input->raw_taken + input->raw_begin;
    if (rc == MGLRU_ENOMEM)
        return message_set(error, rc, "%s: no memory to decompress %s", input->name,
                           input->codec->name);
    if (rc)
        return message_set(error, MGLRU_EINVAL, "%s: damaged %s data near byte %" PRIu64 ": %s",
                           input->name, input->codec->name, place, why);
    if (io.out_bytes != out_before || !input->raw_ended)
        return 0;
    if (in_before == 0 && !input->whole)
        return message_set(error, MGLRU_EINVAL,
                           "%s: %s data cut short at byte %" PRIu64 ", expected more", input->name,
                           input->codec->name, place);
    input->ended = in_before == 0;
    return 0;
}

/* Adds at least one byte, or notes the end. */
static int input_more(struct trace_input *input, struct trace_error *error)
{
    size_t before = input->end;
    while (input->end == before && !input->ended && before < TRACE_INPUT_BYTES) {
        if (input->codec) {
            int rc = decode_some(input, error);
            if (rc)
                return rc;
            continue;
        }
        size_t got;
        int rc = read_some(input, input->buffer + before, TRACE_INPUT_BYTES - before, &got, error);
        if (rc)
            return rc;
        input->end += got;
        input->ended = got == 0;
    }
    return 0;
}

/* Moves the unread bytes to the front. */
static void input_compact(struct trace_input *input)
{
    if (input->begin == 0)
        return;
    memmove(input->buffer, input->buffer + input->begin, input->end - input->begin);
    input->taken += input->begin;
    input->end -= input->begin;
    input->lines_end -= input->begin < input->lines_end ? input->begin : input->lines_end;
    input->begin = 0;
}

int trace_input_lines(struct trace_input *input, struct trace_error *error)
{
    if (input->begin < input->lines_end)
        return 0;
    input_compact(input);
    size_t searched = 0; /* bytes known to hold no line break */
    for (;;) {
        const unsigned char *last = memrchr(input->buffer + searched, '\n', input->end - searched);
        if (last) {
            input->lines_end = (size_t)(last - input->buffer) + 1;
            return 0;
        }
        searched = input->end;
        if (input->ended)
            break;
        if (input->end == TRACE_INPUT_BYTES)
            return message_set(error, MGLRU_EINVAL,
                               "%s: offset %" PRIu64 ": no line break in %zu bytes, expected text",
                               input->name, input->taken, TRACE_INPUT_BYTES);
        int rc = input_more(input, error);
        if (rc)
            return rc;
    }
    if (input->end > 0) {
        /* The buffer has room behind TRACE_INPUT_BYTES. */
        input->buffer[input->end++] = '\n';
        input->torn = true;
    }
    input->lines_end = input->end;
    return 0;
}

int trace_input_bytes(struct trace_input *input, size_t bytes, struct trace_error *error)
{
    MGLRU_CHECK(bytes <= TRACE_INPUT_BYTES);
    if (input->end - input->begin >= bytes)
        return 0;
    input_compact(input);
    while (input->end < bytes && !input->ended) {
        int rc = input_more(input, error);
        if (rc)
            return rc;
    }
    return 0;
}

/* The bytes read so far turn out to be compressed: they become the raw buffer. */
static int start_decoder(struct trace_input *input, struct trace_error *error)
{
    const struct codec *codec = input->codec;
    if (!codec->decoder_create)
        return message_set(error, MGLRU_ENOTSUP,
                           "%s: compressed with %s, and this program was built without %s",
                           input->name, codec->name, codec->library);
    input->raw = input->buffer;
    input->raw_begin = 0;
    input->raw_end = input->end;
    input->raw_ended = input->ended;
    input->end = 0;
    input->ended = false;
    input->buffer = calloc(1, TRACE_INPUT_BYTES + TRACE_INPUT_PADDING);
    int rc = input->buffer ? codec->decoder_create(&input->decoder) : MGLRU_ENOMEM;
    if (rc)
        return message_set(error, rc, "%s: no memory to decompress %s", input->name, codec->name);
    return 0;
}

/* A first look: recognises compression, and leaves the buffer as full as one can get it. */
static int first_look(struct trace_input *input, struct trace_error *error)
{
    int rc = trace_input_bytes(input, MAGIC_BYTES, error);
    if (rc)
        return rc;
    if (input->end == 0)
        return message_set(error, MGLRU_EINVAL, "%s: is empty, expected a trace", input->name);
    input->codec = codec_by_magic(input->buffer, input->end);
    if (input->codec) {
        rc = start_decoder(input, error);
        if (!rc)
            rc = trace_input_bytes(input, 1, error);
        if (rc)
            return rc;
        if (input->end == 0)
            return message_set(error, MGLRU_EINVAL,
                               "%s: is empty once decompressed, expected a trace", input->name);
    }
    return trace_input_bytes(input, TRACE_INPUT_BYTES, error);
}

static int open_path(struct trace_input *input, const char *path, struct trace_error *error)
{
    bool is_stdin = strcmp(path, "-") == 0;
    input->name = is_stdin ? "standard input" : path;
    input->fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    input->own_fd = !is_stdin;
    struct stat st;
    if (input->fd < 0 || fstat(input->fd, &st) != 0)
        return message_set(error, errno_code(errno), "%s: cannot open: %s", input->name,
                           strerror(errno));
    if (S_ISDIR(st.st_mode))
        return message_set(error, MGLRU_EINVAL, "%s: is a directory, expected a trace file",
                           input->name);
    input->file_bytes = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
    return 0;
}

int trace_input_open(struct trace_input *input, const char *path, struct trace_error *error)
{
    return trace_input_open_with(input, path, -1, error);
}

int trace_input_open_with(struct trace_input *input, const char *path, int wake_fd,
                          struct trace_error *error)
{
    *input = (struct trace_input){.fd = -1, .wake_fd = wake_fd};
    int rc = open_path(input, path, error);
    if (rc)
        return rc;
    input->buffer = calloc(1, TRACE_INPUT_BYTES + TRACE_INPUT_PADDING);
    if (!input->buffer)
        return message_set(error, MGLRU_ENOMEM, "%s: no memory for the input buffer", input->name);
    return first_look(input, error);
}

int trace_input_open_memory(struct trace_input *input, const void *data, size_t bytes,
                            struct trace_error *error)
{
    *input = (struct trace_input){.fd = -1, .wake_fd = -1, .name = "memory", .file_bytes = bytes};
    if (bytes > TRACE_INPUT_BYTES)
        return message_set(error, MGLRU_EOVERFLOW, "memory: more than %zu bytes",
                           TRACE_INPUT_BYTES);
    input->buffer = calloc(1, TRACE_INPUT_BYTES + TRACE_INPUT_PADDING);
    if (!input->buffer)
        return message_set(error, MGLRU_ENOMEM, "memory: no memory for the input buffer");
    memcpy(input->buffer, data, bytes);
    input->end = bytes;
    return first_look(input, error);
}

void trace_input_close(struct trace_input *input)
{
    if (input->decoder)
        input->codec->decoder_destroy(input->decoder);
    if (input->own_fd && input->fd >= 0)
        close(input->fd);
    free(input->buffer);
    free(input->raw);
    *input = (struct trace_input){.fd = -1, .wake_fd = -1};
}
