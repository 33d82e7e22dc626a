/* SPDX-License-Identifier: MIT */
/*
 * Any bytes sent to a control socket. Byte 0 says in what pieces they come; the rest is what a
 * client sends before it is done. Whatever the bytes:
 *
 *   - every reply is "ok LENGTH" and that many bytes, or one line "error ERRNO TEXT",
 *   - a line has one reply, and the session comes to its end,
 *   - the laws of the cache hold.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "control/session.h"
#include "data/data.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A small cache in use: one memcg of the program's with pages. */
static struct mglru_cache *create(void)
{
    struct mglru_data_options options = {
        .size = sizeof(options), .memory_bytes = 64 * 4096, .no_threads = true, .cpus = 1};
    struct mglru_cache *cache;
    struct mglru_memcg *memcg;
    struct mglru_mapping *mapping;
    struct mglru_file *file;
    char bytes[20 * 4096];
    size_t done;
    memset(bytes, 1, sizeof(bytes));
    MGLRU_CHECK(!mglru_data_create(&options, &cache));
    MGLRU_CHECK(!mglru_memcg_create(cache, "/a", &memcg));
    MGLRU_CHECK(!mglru_data_mapping_create(cache, "m", NULL, sizeof(bytes), &mapping));
    MGLRU_CHECK(!mglru_file_open(mapping, memcg, &file));
    MGLRU_CHECK(!mglru_write(file, 0, bytes, sizeof(bytes), &done));
    return cache;
}

static void check_reply(const struct control_session *session)
{
    char head[64];
    size_t length, bytes = session->reply_bytes;
    const char *end = memchr(session->reply, '\n', bytes);
    MGLRU_CHECK(end);
    if (strncmp(session->reply, "error E", 7) == 0) {
        MGLRU_CHECK(end == session->reply + bytes - 1);
        return;
    }
    size_t head_bytes = (size_t)(end - session->reply) + 1;
    MGLRU_CHECK(head_bytes < sizeof(head));
    memcpy(head, session->reply, head_bytes);
    head[head_bytes] = '\0';
    MGLRU_CHECK(sscanf(head, "ok %zu\n", &length) == 1 && head_bytes + length == bytes);
}

/* Answers what there is; returns how many replies. */
static size_t answer_all(struct control_session *session)
{
    size_t replies = 0;
    while (control_session_has_request(session)) {
        control_session_step(session);
        check_reply(session);
        control_session_sent(session, session->reply_bytes);
        replies++;
    }
    return replies;
}

/* Sends as a client would; returns how many replies came. */
static size_t send_all(struct control_session *session, const uint8_t *data, size_t size,
                       size_t piece)
{
    size_t replies = 0;
    while (size > 0 && control_session_reads(session)) {
        size_t room = CONTROL_LINE_MAX - session->input_bytes;
        size_t bytes = size < piece ? size : piece;
        bytes = bytes < room ? bytes : room;
        memcpy(session->input + session->input_bytes, data, bytes);
        session->input_bytes += bytes;
        data += bytes;
        size -= bytes;
        replies += answer_all(session);
    }
    return replies;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    struct mglru_cache *cache = create();
    struct control_session *session = malloc(sizeof(*session));
    MGLRU_CHECK(session);
    control_session_begin(session, cache);
    size_t lines = 0;
    for (size_t i = 1; i < size; i++)
        lines += data[i] == '\n';
    size_t replies = send_all(session, data + 1, size - 1, (size_t)data[0] + 1);
    bool refused = session->ended; /* a line was too long */
    session->ended = true;
    replies += answer_all(session);
    bool torn = size > 1 && data[size - 1] != '\n';
    MGLRU_CHECK(refused || replies == lines + torn);
    MGLRU_CHECK(control_session_over(session));
    control_session_end(session);
    free(session);
    const char *broken = data_verify(cache);
    MGLRU_CHECK(!broken);
    mglru_cache_destroy(cache);
    return 0;
}
