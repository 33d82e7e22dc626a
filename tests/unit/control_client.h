/* SPDX-License-Identifier: MIT */
/* A client of a control socket for tests: lines out, answers in. Failures end the test. */
#ifndef UNIT_CONTROL_CLIENT_H
#define UNIT_CONTROL_CLIENT_H

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/check.h"

/* Connects; -1: refused. */
static inline int client_connect(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    MGLRU_CHECK(client >= 0);
    if (connect(client, (struct sockaddr *)&address, sizeof(address)) == 0)
        return client;
    close(client);
    return -1;
}

static inline void client_send(int client, const void *bytes, size_t length)
{
    MGLRU_CHECK(send(client, bytes, length, MSG_NOSIGNAL) == (ssize_t)length);
}

/* Receives @length bytes; false: the connection ended before. */
static inline bool client_receive(int client, char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t got = recv(client, bytes, length, 0);
        if (got <= 0)
            return false;
        bytes += got;
        length -= (size_t)got;
    }
    return true;
}

/* Receives one answer: its first line and what follows it. False: the connection ended. */
static inline bool client_answer(int client, char *answer, size_t capacity)
{
    size_t used = 0, length = 0;
    do {
        if (used + 1 >= capacity || !client_receive(client, answer + used, 1))
            return false;
    } while (answer[used++] != '\n');
    if (sscanf(answer, "ok %zu", &length) == 1) {
        MGLRU_CHECK(used + length < capacity);
        if (!client_receive(client, answer + used, length))
            return false;
    }
    answer[used + length] = '\0';
    return true;
}

/* Sends @line and a newline, and receives the answer. */
static inline bool client_ask(int client, const char *line, char *answer, size_t capacity)
{
    char text[8192];
    int length = snprintf(text, sizeof(text), "%s\n", line);
    client_send(client, text, (size_t)length);
    return client_answer(client, answer, capacity);
}

#endif
