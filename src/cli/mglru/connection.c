/* SPDX-License-Identifier: MIT */
/* See connection.h. */
#include "cli/mglru/connection.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/mglru/command.h"
#include "cli/mglru/stop.h"

/* An answer's first line; an error is the longest. */
#define HEAD_BYTES 512

static int fail_errno(const struct connection *connection, int status, struct args_error *error)
{
    args_fail(error, "%s: %s", connection->path, strerror(errno));
    return status;
}

int connection_open(struct connection *connection, const char *path, struct args_error *error)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    *connection = (struct connection){.path = path, .fd = -1};
    if (strlen(path) >= sizeof(address.sun_path)) {
        args_fail(error, "%s: longer than the name of a socket can be", path);
        return COMMAND_USAGE;
    }
    strcpy(address.sun_path, path);
    connection->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection->fd < 0)
        return fail_errno(connection, COMMAND_ENVIRONMENT, error);
    if (connect(connection->fd, (struct sockaddr *)&address, sizeof(address)) == 0)
        return COMMAND_DONE;
    int status = errno == ENOENT || errno == ENOTDIR ? COMMAND_USAGE : COMMAND_ENVIRONMENT;
    if (errno == ECONNREFUSED)
        args_fail(error, "%s: no cache listens there", path);
    else
        fail_errno(connection, status, error);
    connection_close(connection);
    return status;
}

void connection_close(struct connection *connection)
{
    if (connection->fd >= 0)
        close(connection->fd);
    free(connection->text);
    connection->fd = -1;
    connection->text = NULL;
}

static int fail_gone(const struct connection *connection, struct args_error *error)
{
    if (stop_wanted())
        args_fail(error, "interrupted");
    else
        args_fail(error, "%s: the cache hung up", connection->path);
    return COMMAND_ENVIRONMENT;
}

/* --- sending -------------------------------------------------------------------------------- */

static bool send_all(int to, const char *bytes, size_t left)
{
    while (left > 0 && !stop_wanted()) {
        ssize_t sent = send(to, bytes, left, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR)
            return false;
        bytes += sent > 0 ? sent : 0;
        left -= sent > 0 ? (size_t)sent : 0;
    }
    return left == 0;
}

static int send_request(struct connection *connection, const char *const words[3],
                        struct args_error *error)
{
    char *line = NULL;
    size_t bytes = 0;
    FILE *stream = open_memstream(&line, &bytes);
    if (!stream) {
        args_fail(error, "out of memory");
        return COMMAND_ENVIRONMENT;
    }
    for (unsigned i = 0; i < 3 && words[i]; i++)
        fprintf(stream, "%s%s", i ? " " : "", words[i]);
    fputc('\n', stream);
    bool sent = fclose(stream) == 0 && send_all(connection->fd, line, bytes);
    free(line);
    return sent ? COMMAND_DONE : fail_gone(connection, error);
}

/* --- receiving ------------------------------------------------------------------------------ */

/* More bytes behind those that are pending. False: there come none, or no place is left. */
static bool receive(struct connection *connection)
{
    size_t room = sizeof(connection->pending) - connection->pending_bytes;
    ssize_t got;
    do {
        got = room > 0
                  ? recv(connection->fd, connection->pending + connection->pending_bytes, room, 0)
                  : 0;
    } while (got < 0 && errno == EINTR && !stop_wanted());
    connection->pending_bytes += got > 0 ? (size_t)got : 0;
    return got > 0;
}

/* Moves up to @bytes of what is pending to @to. */
static size_t take(struct connection *connection, char *to, size_t bytes)
{
    if (bytes > connection->pending_bytes)
        bytes = connection->pending_bytes;
    memcpy(to, connection->pending, bytes);
    connection->pending_bytes -= bytes;
    memmove(connection->pending, connection->pending + bytes, connection->pending_bytes);
    return bytes;
}

/* The first line of an answer, without its newline. */
static bool receive_head(struct connection *connection, char head[HEAD_BYTES])
{
    const char *end;
    while (!(end = memchr(connection->pending, '\n', connection->pending_bytes)))
        if (!receive(connection))
            return false;
    size_t bytes = (size_t)(end - connection->pending) + 1;
    if (bytes > HEAD_BYTES)
        return false;
    take(connection, head, bytes);
    head[bytes - 1] = '\0';
    return true;
}

static int receive_text(struct connection *connection, size_t length, struct args_error *error)
{
    free(connection->text);
    connection->length = 0;
    connection->text = malloc(length + 1);
    if (!connection->text) {
        args_fail(error, "out of memory");
        return COMMAND_ENVIRONMENT;
    }
    while (connection->length < length) {
        if (connection->pending_bytes == 0 && !receive(connection))
            return fail_gone(connection, error);
        connection->length +=
            take(connection, connection->text + connection->length, length - connection->length);
    }
    connection->text[length] = '\0';
    return COMMAND_DONE;
}

/* Takes in "ERRNO TEXT". Its exit status is that of cli_status_of for the same refusal. */
static int refused(struct connection *connection, const char *answer)
{
    static const char *const environment[] = {"EPERM",  "EIO",   "ENOMEM",
                                              "ENOSPC", "EINTR", "EOPNOTSUPP"};
    snprintf(connection->refusal, sizeof(connection->refusal), "%.*s", (int)strcspn(answer, " "),
             answer);
    for (size_t i = 0; i < sizeof(environment) / sizeof(environment[0]); i++)
        if (strcmp(connection->refusal, environment[i]) == 0)
            return COMMAND_ENVIRONMENT;
    return COMMAND_USAGE;
}

int connection_ask(struct connection *connection, const char *verb, const char *name,
                   const char *text, struct args_error *error)
{
    const char *const words[3] = {verb, name, text};
    char head[HEAD_BYTES];
    uint64_t length;
    connection->refusal[0] = '\0';
    int status = send_request(connection, words, error);
    if (status)
        return status;
    if (!receive_head(connection, head))
        return fail_gone(connection, error);
    if (strncmp(head, "error ", 6) == 0) {
        args_fail(error, "%s%s%s: %s", verb, name ? " " : "", name ? name : "", head + 6);
        return refused(connection, head + 6);
    }
    if (strncmp(head, "ok ", 3) != 0 || !args_number(head + 3, &length) ||
        length > CONNECTION_TEXT_MAX) {
        args_fail(error, "%s: no control socket of a cache answers there", connection->path);
        return COMMAND_USAGE;
    }
    return receive_text(connection, (size_t)length, error);
}
