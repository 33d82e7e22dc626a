/* SPDX-License-Identifier: MIT */
/*
 * A client's side of a control socket (docs/control.md). Calls block until the answer has come;
 * a signal that was caught (stop.h) ends them. What a server answers is bounded and checked.
 */
#ifndef CLI_MGLRU_CONNECTION_H
#define CLI_MGLRU_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/args.h"

/* The longest text that a server sends, with room for those of later releases. */
#define CONNECTION_TEXT_MAX ((size_t)256 << 20)

struct connection {
    const char *path; /* of the socket; the caller's */
    int fd;           /* -1: not open */
    char *text;       /* of the last answer, ended by NUL; NULL before the first */
    size_t length;
    char refusal[16];   /* the errno that the last answer named; empty: none */
    char pending[4096]; /* received and not yet looked at */
    size_t pending_bytes;
};

/* Connects to the socket at @path. 0; else an exit status, and @error says why. */
int connection_open(struct connection *connection, const char *path, struct args_error *error);

/*
 * Sends "@verb @name @text" (NULL: without) and receives the answer. 0: it is in connection->text;
 * else an exit status, and @error says why: the server refused, or is gone, or is none.
 */
int connection_ask(struct connection *connection, const char *verb, const char *name,
                   const char *text, struct args_error *error);

/* NULL text; may be called twice. */
void connection_close(struct connection *connection);

#endif
