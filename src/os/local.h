/* SPDX-License-Identifier: MIT */
/*
 * A listening socket with a name in the file system, for clients on the same machine, and what its
 * one server thread needs: wait for any of them, read and write without blocking, be woken. Only
 * the real machine has it.
 *
 * Who may connect: the file has mode 0600 from the moment it exists, and a client whose user is
 * neither the server's nor root is turned away after the connection all the same.
 *
 * Threads: everything on one thread, but os_local_wake on any.
 */
#ifndef OS_LOCAL_H
#define OS_LOCAL_H

#include "os/os.h"

struct os_local;

/* One client: what to wait for, and what came. */
struct os_local_peer {
    int handle;
    int64_t process; /* its number when it connected */
    bool wants_read;
    bool wants_write;
    bool ready; /* one of them would not block, or the client is gone */
};

/* Most clients of os_local_wait. Chosen: people and monitors, not requests of users. */
#define OS_LOCAL_PEERS_MAX 32u

/*
 * Listens at @path. A socket that nobody listens on any more is replaced; the folder is locked
 * meanwhile, so that of two servers one gets the name. The caller owns *out.
 * MGLRU_EBUSY: a server listens there, or another opens one at this moment; MGLRU_EEXIST: there is
 * something that is no socket, or not ours; MGLRU_EINVAL: longer than the address of a socket may
 * be; MGLRU_ENOENT, MGLRU_EPERM, MGLRU_EIO, MGLRU_ENOMEM; MGLRU_ENOTSUP: a simulated machine.
 */
int os_local_open(const char *path, struct os_local **out);

/*
 * Sleeps until a peer is ready, a client waits to be accepted (*knocks) or os_local_wake was
 * called. @peers: @count of them, at most OS_LOCAL_PEERS_MAX.
 */
void os_local_wait(struct os_local *local, struct os_local_peer *peers, unsigned count,
                   bool *knocks);

/* Accepts a client. MGLRU_EAGAIN: there is none, or no descriptor for it; MGLRU_EPERM: it is
 * another user's. */
int os_local_accept(struct os_local *local, struct os_local_peer *out);

/* Moves up to @bytes > 0; a read of nothing: the client sends no more. MGLRU_EAGAIN: would block;
 * MGLRU_EIO: the client is gone. */
int os_local_read(const struct os_local_peer *peer, void *buffer, size_t bytes, size_t *done);
int os_local_write(const struct os_local_peer *peer, const void *buffer, size_t bytes,
                   size_t *done);

/* Ends a connection. */
void os_local_hang_up(struct os_local_peer *peer);

/* Ends the os_local_wait that sleeps, or the next one. */
void os_local_wake(struct os_local *local);

/* Stops listening and removes the name, if it is still this socket's. NULL is allowed. */
void os_local_close(struct os_local *local);

#endif
