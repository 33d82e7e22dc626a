/* SPDX-License-Identifier: MIT */
/*
 * The control socket of a live cache: one thread that serves all clients in turn.
 *
 * Idea: nothing here waits for a client. Sockets do not block, a session reads and writes what is
 * there, and in each turn of the loop a client gets at most one request answered. A command itself
 * takes as long as its library call (reclaim to a lower memory.max, say), and the others wait for
 * that as control calls do.
 *
 * What clients can use up is bounded: connections (the process that has most of them loses its
 * idlest when a new client finds no place) and replies that are not read (the oldest of them goes
 * when they exceed CONTROL_REPLY_MAX together).
 *
 * Threads: all but the bell and `stop` belongs to the server's thread. Takes no lock of its own.
 */
#include <mglru/control.h>

#include <stdlib.h>

#include "base/check.h"
#include "cache/cache.h"
#include "control/session.h"
#include "os/local.h"

struct client {
    struct control_session session;
    uint64_t used; /* turn of the last request, or of the connection */
};

struct mglru_control {
    /* Fixed at creation. */
    struct mglru_cache *cache;
    struct os_local *local;
    struct os_thread *thread;
    _Atomic bool stop; /* set once */
    /* The server's thread. */
    unsigned count;
    struct os_local_peer peers[OS_LOCAL_PEERS_MAX];
    struct client *clients[OS_LOCAL_PEERS_MAX]; /* of the peer with the same number */
    uint64_t turn;
};

/* The last client takes the place of the one that goes. */
static void drop_client(struct mglru_control *control, unsigned i)
{
    os_local_hang_up(&control->peers[i]);
    control_session_end(&control->clients[i]->session);
    free(control->clients[i]);
    control->count--;
    control->peers[i] = control->peers[control->count];
    control->clients[i] = control->clients[control->count];
}

/* --- places --------------------------------------------------------------------------------- */

static unsigned connections_of(const struct mglru_control *control, int64_t process)
{
    unsigned count = 0;
    for (unsigned i = 0; i < control->count; i++)
        count += control->peers[i].process == process;
    return count;
}

/* Makes room for a client: of the process with most connections the one longest without a request
 * goes. A flood of connections so drives out itself alone. */
static void make_place(struct mglru_control *control)
{
    unsigned victim = 0, most = 0;
    for (unsigned i = 0; i < control->count; i++) {
        unsigned connections = connections_of(control, control->peers[i].process);
        bool idler = control->clients[i]->used < control->clients[victim]->used;
        if (connections > most || (connections == most && idler)) {
            victim = i;
            most = connections;
        }
    }
    drop_client(control, victim);
}

static void admit(struct mglru_control *control)
{
    struct os_local_peer peer;
    if (os_local_accept(control->local, &peer))
        return;
    struct client *client = malloc(sizeof(*client));
    if (!client) {
        os_local_hang_up(&peer);
        return;
    }
    if (control->count == OS_LOCAL_PEERS_MAX)
        make_place(control);
    control_session_begin(&client->session, control->cache);
    client->used = control->turn;
    control->peers[control->count] = peer;
    control->clients[control->count++] = client;
}

/* Gives up the oldest replies that are not read while all of them take too much. */
static void limit_replies(struct mglru_control *control)
{
    for (;;) {
        size_t bytes = 0;
        struct client *oldest = NULL;
        for (unsigned i = 0; i < control->count; i++) {
            struct client *client = control->clients[i];
            if (!client->session.reply)
                continue;
            bytes += client->session.reply_bytes;
            if (!oldest || client->used < oldest->used)
                oldest = client;
        }
        if (bytes <= CONTROL_REPLY_MAX)
            return;
        control_session_abandon(&oldest->session);
    }
}

/* --- serving -------------------------------------------------------------------------------- */

/* Takes in what has come. False: the client is gone. */
static bool receive(const struct os_local_peer *peer, struct control_session *session)
{
    size_t done;
    int error = os_local_read(peer, session->input + session->input_bytes,
                              CONTROL_LINE_MAX - session->input_bytes, &done);
    if (error == MGLRU_OK && done == 0)
        session->ended = true;
    session->input_bytes += done;
    return error == MGLRU_OK || error == MGLRU_EAGAIN;
}

static bool transmit(const struct os_local_peer *peer, struct control_session *session)
{
    size_t done;
    int error = os_local_write(peer, session->reply + session->reply_sent,
                               session->reply_bytes - session->reply_sent, &done);
    control_session_sent(session, done);
    return error == MGLRU_OK || error == MGLRU_EAGAIN;
}

/* One turn of a client. False: it is gone or done. */
static bool serve(struct mglru_control *control, const struct os_local_peer *peer,
                  struct client *client)
{
    struct control_session *session = &client->session;
    if (control_session_reads(session) && !receive(peer, session))
        return false;
    if (control_session_has_request(session)) {
        client->used = control->turn;
        control_session_step(session);
        limit_replies(control);
    }
    if (session->reply && !transmit(peer, session))
        return false;
    return !control_session_over(session);
}

static void serve_ready(struct mglru_control *control)
{
    for (unsigned i = 0; i < control->count;) {
        struct client *client = control->clients[i];
        const struct os_local_peer *peer = &control->peers[i];
        if (control_session_over(&client->session) ||
            (peer->ready && !serve(control, peer, client)))
            drop_client(control, i); /* another client stands there now */
        else
            i++;
    }
}

static void want(struct os_local_peer *peer, const struct control_session *session)
{
    peer->wants_read = control_session_reads(session);
    /* A request that came with the last one is answered in the next turn. */
    peer->wants_write = session->reply || control_session_has_request(session);
}

static void server(void *argument)
{
    struct mglru_control *control = argument;
    while (!atomic_load_acquire(&control->stop)) { /* pairs with mglru_control_close */
        bool knocks;
        control->turn++;
        for (unsigned i = 0; i < control->count; i++)
            want(&control->peers[i], &control->clients[i]->session);
        os_local_wait(control->local, control->peers, control->count, &knocks);
        serve_ready(control);
        if (knocks)
            admit(control);
    }
    while (control->count)
        drop_client(control, control->count - 1);
}

/* --- the public calls ----------------------------------------------------------------------- */

int mglru_control_open(struct mglru_cache *cache, const char *path, struct mglru_control **out)
{
    *out = NULL;
    if (!cache_is_shared(cache))
        return MGLRU_ENOTSUP;
    struct mglru_control *control = calloc(1, sizeof(*control));
    if (!control)
        return MGLRU_ENOMEM;
    control->cache = cache;
    int error = os_local_open(path, &control->local);
    if (!error && os_thread_start(server, control, &control->thread))
        error = MGLRU_EAGAIN;
    if (error) {
        os_local_close(control->local);
        free(control);
        return error;
    }
    atomic_add_relaxed(&cache->controls, 1);
    *out = control;
    return MGLRU_OK;
}

void mglru_control_close(struct mglru_control *control)
{
    if (!control)
        return;
    /* Release: pairs with the load of the server. */
    atomic_store_release(&control->stop, true);
    os_local_wake(control->local);
    os_thread_join(control->thread);
    os_local_close(control->local);
    atomic_sub_relaxed(&control->cache->controls, 1);
    free(control);
}
