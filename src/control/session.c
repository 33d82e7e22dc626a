/* SPDX-License-Identifier: MIT */
/* The line protocol; see session.h and docs/control.md. */
#include "control/session.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "cache/cache.h"

/* "ok " and a length stand before the text, which is made first. */
#define HEAD_ROOM 32u
/* A reply's first buffer: memory.stat and its like fit. */
#define REPLY_FIRST_BYTES 8192u
/* Tries of a read whose text grows while nobody looks. */
#define REPLY_TRIES 8u

void control_session_begin(struct control_session *session, struct mglru_cache *cache)
{
    *session = (struct control_session){.cache = cache};
}

void control_session_end(struct control_session *session)
{
    free(session->reply);
    session->reply = NULL;
}

void control_session_abandon(struct control_session *session)
{
    control_session_end(session);
    session->ended = true;
    session->input_bytes = 0;
}

/* --- replies -------------------------------------------------------------------------------- */

static void set_reply(struct control_session *session, char *reply, size_t bytes)
{
    session->reply = reply;
    session->reply_bytes = bytes;
    session->reply_sent = 0;
    if (!reply)
        session->ended = true; /* no memory to say so */
}

static const char *errno_name(int code)
{
    static const struct {
        int value;
        const char *name;
    } names[] = {{EINVAL, "EINVAL"},      {ENOMEM, "ENOMEM"}, {ENOENT, "ENOENT"},
                 {EEXIST, "EEXIST"},      {EBUSY, "EBUSY"},   {EAGAIN, "EAGAIN"},
                 {ERANGE, "ERANGE"},      {EINTR, "EINTR"},   {ENOSPC, "ENOSPC"},
                 {EPERM, "EPERM"},        {EIO, "EIO"},       {EOPNOTSUPP, "EOPNOTSUPP"},
                 {EOVERFLOW, "EOVERFLOW"}};
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(names); i++)
        if (names[i].value == mglru_error_errno(code))
            return names[i].name;
    return "EINVAL";
}

static void reply_error(struct control_session *session, int code, const char *text)
{
    char line[160];
    snprintf(line, sizeof(line), "error %s %s\n", errno_name(code), text);
    set_reply(session, strdup(line), strlen(line));
}

static void reply_done(struct control_session *session, int code)
{
    if (code)
        reply_error(session, code, mglru_error_text(code));
    else
        set_reply(session, strdup("ok 0\n"), strlen("ok 0\n"));
}

/* Puts the head before a text that begins at HEAD_ROOM. */
static void reply_text(struct control_session *session, char *buffer, size_t length)
{
    char head[HEAD_ROOM];
    int bytes = snprintf(head, sizeof(head), "ok %zu\n", length);
    memmove(buffer + bytes, buffer + HEAD_ROOM, length);
    memcpy(buffer, head, (size_t)bytes);
    set_reply(session, buffer, (size_t)bytes + length);
}

/* --- verbs ---------------------------------------------------------------------------------- */

/* Writes a text that ends where the buffer does, or tells how long it is; 0 or an error code. */
typedef int (*text_source)(struct control_session *session, const char *name, struct text *text);

static void answer_text(struct control_session *session, const char *name, text_source source)
{
    size_t capacity = REPLY_FIRST_BYTES;
    char *buffer = NULL;
    int error = MGLRU_EOVERFLOW;
    for (unsigned i = 0; i < REPLY_TRIES && capacity <= CONTROL_REPLY_MAX; i++) {
        free(buffer);
        buffer = malloc(HEAD_ROOM + capacity);
        if (!buffer) {
            error = MGLRU_ENOMEM;
            break;
        }
        struct text text = {.buffer = buffer + HEAD_ROOM, .capacity = capacity};
        error = source(session, name, &text);
        if (!error && text.length < capacity) {
            reply_text(session, buffer, text.length);
            return;
        }
        if (error)
            break;
        capacity = text.length + text.length / 8 + 1; /* it may have grown by then */
        error = MGLRU_EOVERFLOW;
    }
    free(buffer);
    reply_done(session, error);
}

/* Cuts "/a/b/memory.max" behind the path; "lru_gen" has none: it is of the cache. */
static struct cache_file_name split_name(char *name)
{
    char *slash = strrchr(name, '/');
    if (!slash)
        return (struct cache_file_name){.path = NULL, .name = name};
    *slash = '\0';
    return (struct cache_file_name){.path = slash == name ? "/" : name, .name = slash + 1};
}

static int file_text(struct control_session *session, const char *name, struct text *text)
{
    char copy[CONTROL_LINE_MAX];
    snprintf(copy, sizeof(copy), "%s", name);
    struct cache_file_name file = split_name(copy);
    return cache_file_read(session->cache, &file, text);
}

static int list_text(struct control_session *session, const char *name, struct text *text)
{
    cache_memcg_list(session->cache, text);
    return 0;
}

static void verb_read(struct control_session *session, char *name, const char *text)
{
    answer_text(session, name, file_text);
}

static void verb_list(struct control_session *session, char *name, const char *text)
{
    answer_text(session, name, list_text);
}

static void verb_write(struct control_session *session, char *name, const char *text)
{
    struct cache_file_name file = split_name(name);
    reply_done(session, cache_file_write(session->cache, &file, text, strlen(text)));
}

static void verb_mkdir(struct control_session *session, char *name, const char *text)
{
    reply_done(session, cache_memcg_mkdir(session->cache, name));
}

static void verb_rmdir(struct control_session *session, char *name, const char *text)
{
    reply_done(session, cache_memcg_rmdir(session->cache, name));
}

static const struct verb {
    const char *name;
    void (*run)(struct control_session *session, char *name, const char *text);
    bool has_name;
    bool has_text;
} verbs[] = {
    {"read", verb_read, true, false},   {"write", verb_write, true, true},
    {"mkdir", verb_mkdir, true, false}, {"rmdir", verb_rmdir, true, false},
    {"list", verb_list, false, false},
};

/* Cuts the word at *@rest off; NULL: none is left. */
static char *next_word(char **rest)
{
    char *word = *rest;
    if (!word)
        return NULL;
    *rest = strchr(word, ' ');
    if (*rest)
        *(*rest)++ = '\0';
    return *word ? word : NULL;
}

/* @line: one line without its newline, ended by NUL. */
static void answer(struct control_session *session, char *line)
{
    char *rest = line;
    const char *word = next_word(&rest);
    for (size_t i = 0; word && i < MGLRU_ARRAY_LEN(verbs); i++) {
        const struct verb *verb = &verbs[i];
        if (strcmp(verb->name, word) != 0)
            continue;
        char *name = verb->has_name ? next_word(&rest) : NULL;
        if (verb->has_name && !name)
            reply_error(session, MGLRU_EINVAL, "a name is missing");
        else if (verb->has_text && !rest)
            reply_error(session, MGLRU_EINVAL, "a text is missing");
        else if (!verb->has_text && rest)
            reply_error(session, MGLRU_EINVAL, "more words than the verb takes");
        else
            verb->run(session, name, rest);
        return;
    }
    reply_error(session, MGLRU_EINVAL, "expected read, write, mkdir, rmdir or list");
}

/* --- lines ---------------------------------------------------------------------------------- */

static const char *line_end(const struct control_session *session)
{
    return memchr(session->input, '\n', session->input_bytes);
}

bool control_session_reads(const struct control_session *session)
{
    return !session->ended && !session->reply && session->input_bytes < CONTROL_LINE_MAX &&
           !line_end(session);
}

bool control_session_has_request(const struct control_session *session)
{
    bool refusable =
        session->input_bytes == CONTROL_LINE_MAX || (session->ended && session->input_bytes > 0);
    return !session->reply && (line_end(session) || refusable);
}

void control_session_step(struct control_session *session)
{
    if (!control_session_has_request(session))
        return;
    char *end = memchr(session->input, '\n', session->input_bytes);
    if (!end) {
        bool torn = session->ended;
        session->ended = true;
        session->input_bytes = 0;
        reply_error(session, MGLRU_EINVAL,
                    torn ? "the last line has no end" : "the line is too long");
        return;
    }
    size_t length = (size_t)(end - session->input);
    *end = '\0';
    if (memchr(session->input, '\0', length))
        reply_error(session, MGLRU_EINVAL, "the line has a NUL byte");
    else
        answer(session, session->input);
    session->input_bytes -= length + 1;
    memmove(session->input, end + 1, session->input_bytes);
}

void control_session_sent(struct control_session *session, size_t bytes)
{
    session->reply_sent += bytes;
    MGLRU_ASSERT(session->reply_sent <= session->reply_bytes);
    if (session->reply_sent == session->reply_bytes)
        control_session_end(session);
}

bool control_session_over(const struct control_session *session)
{
    return session->ended && !session->reply && !session->input_bytes;
}
