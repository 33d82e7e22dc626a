/* SPDX-License-Identifier: MIT */
/*
 * One client of a control socket: bytes in, answers out. Knows the line protocol (docs/control.md)
 * and no sockets.
 *
 * Invariants
 *   1. One answer at a time: no line is looked at while a reply waits to be sent.
 *   2. Memory: the input buffer is fixed, a reply has at most CONTROL_REPLY_MAX bytes.
 */
#ifndef CONTROL_SESSION_H
#define CONTROL_SESSION_H

#include <stdbool.h>
#include <stddef.h>

#include "memcg/memcg.h"

struct mglru_cache;

/* The longest line: verb, path, name of a file, and a text of a page, as a write(2) to a file. */
#define CONTROL_LINE_MAX (8192u + 512u)
/* The longest reply. Chosen: lru_gen_full of 20,000 memcgs has 45 MB. */
#define CONTROL_REPLY_MAX ((size_t)64 << 20)

struct control_session {
    struct mglru_cache *cache;
    char input[CONTROL_LINE_MAX];
    size_t input_bytes;
    bool ended;  /* nothing is read any more: the client has sent all, or was refused */
    char *reply; /* NULL: none */
    size_t reply_bytes;
    size_t reply_sent;
};

/* A session without input and reply; @session is the caller's. */
void control_session_begin(struct control_session *session, struct mglru_cache *cache);
/* Frees a reply that was not sent. */
void control_session_end(struct control_session *session);
/* Gives up what was read and what was not sent: the session is over. */
void control_session_abandon(struct control_session *session);

/* Whether bytes may be added to input. */
bool control_session_reads(const struct control_session *session);
/* Whether control_session_step would answer something. */
bool control_session_has_request(const struct control_session *session);
/* Answers the first request, if there is one and no reply waits: the reply is set, but when memory
 * is short: then the session has ended. May take as long as the command. */
void control_session_step(struct control_session *session);
/* @bytes of the reply were sent; the last of them frees it. */
void control_session_sent(struct control_session *session, size_t bytes);
/* Whether all is done: the connection may go. */
bool control_session_over(const struct control_session *session);

#endif
