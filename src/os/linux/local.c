/* SPDX-License-Identifier: MIT */
/*
 * Sockets in the file system.
 *
 * The name: bind fails where anything exists, so a socket left behind by a dead server has to be
 * removed first. Between "nobody listens" and the removal another server could put its own there;
 * therefore all of it happens under an flock of the folder, which ends with the process and leaves
 * no file.
 */
#include "os/local.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/check.h"
#include "os/linux/linux.h"

/* Clients that wait to be accepted. Chosen. */
#define BACKLOG 16
/* How often, and how long between, the lock of the folder is tried: others hold it for a bind. */
#define LOCK_TRIES 100
#define LOCK_PAUSE_NS UINT64_C(10000000)
/* How long a server without descriptors waits before it looks again. Chosen. */
#define ACCEPT_PAUSE_NS UINT64_C(10000000)

struct os_local {
    int listener;
    int bell;   /* an eventfd */
    int folder; /* of the name: the program may change its own */
    dev_t device;
    ino_t inode; /* of the name, which another may have taken since */
    struct sockaddr_un address;
};

/* The name in its folder. */
static const char *name_of(const struct os_local *local)
{
    const char *slash = strrchr(local->address.sun_path, '/');
    return slash ? slash + 1 : local->address.sun_path;
}

/* Opens the folder and locks it. */
static int lock_folder(struct os_local *local)
{
    char copy[sizeof(local->address.sun_path)];
    snprintf(copy, sizeof(copy), "%s", local->address.sun_path);
    local->folder = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (local->folder < 0)
        return linux_error(errno);
    for (unsigned i = 0; i < LOCK_TRIES; i++) {
        if (flock(local->folder, LOCK_EX | LOCK_NB) == 0)
            return MGLRU_OK;
        os_clock_sleep_ns(LOCK_PAUSE_NS);
    }
    return MGLRU_EBUSY;
}

static int stream_socket(void)
{
    return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

/* Makes the name free: nothing is there, or a socket of ours that nobody listens on. */
static int clear_name(const struct sockaddr_un *address)
{
    struct stat info;
    if (lstat(address->sun_path, &info))
        return errno == ENOENT ? MGLRU_OK : linux_error(errno);
    if (!S_ISSOCK(info.st_mode) || info.st_uid != geteuid())
        return MGLRU_EEXIST;
    int probe = stream_socket();
    if (probe < 0)
        return MGLRU_EIO;
    bool dead = connect(probe, (const struct sockaddr *)address, sizeof(*address)) != 0 &&
                errno == ECONNREFUSED;
    close(probe);
    if (!dead)
        return MGLRU_EBUSY;
    return unlink(address->sun_path) ? linux_error(errno) : MGLRU_OK;
}

/* The mode of an unbound socket is what bind creates the name with, so it is never wider. */
static int bind_name(struct os_local *local)
{
    const struct sockaddr *address = (const struct sockaddr *)&local->address;
    struct stat info;
    if (fchmod(local->listener, 0600) || bind(local->listener, address, sizeof(local->address)))
        return errno == EADDRINUSE ? MGLRU_EEXIST : linux_error(errno);
    if (stat(local->address.sun_path, &info) || chmod(local->address.sun_path, 0600) ||
        listen(local->listener, BACKLOG)) {
        int error = linux_error(errno);
        unlink(local->address.sun_path);
        return error;
    }
    local->device = info.st_dev;
    local->inode = info.st_ino;
    return MGLRU_OK;
}

static int open_at(struct os_local *local, const char *path)
{
    if (strlen(path) >= sizeof(local->address.sun_path) || !path[0])
        return MGLRU_EINVAL;
    local->address.sun_family = AF_UNIX;
    strcpy(local->address.sun_path, path);
    local->listener = stream_socket();
    local->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (local->listener < 0 || local->bell < 0)
        return MGLRU_EIO;
    int error = lock_folder(local);
    if (!error)
        error = clear_name(&local->address);
    if (!error)
        error = bind_name(local);
    if (local->folder >= 0)
        flock(local->folder, LOCK_UN);
    return error;
}

static void free_local(struct os_local *local)
{
    if (local->listener >= 0)
        close(local->listener);
    if (local->bell >= 0)
        close(local->bell);
    if (local->folder >= 0)
        close(local->folder);
    free(local);
}

int os_local_open(const char *path, struct os_local **out)
{
    *out = NULL;
    if (os_current() != os_linux())
        return MGLRU_ENOTSUP;
    struct os_local *local = calloc(1, sizeof(*local));
    if (!local)
        return MGLRU_ENOMEM;
    local->listener = local->bell = local->folder = -1;
    int error = open_at(local, path);
    if (error)
        free_local(local);
    else
        *out = local;
    return error;
}

void os_local_wait(struct os_local *local, struct os_local_peer *peers, unsigned count,
                   bool *knocks)
{
    struct pollfd polls[OS_LOCAL_PEERS_MAX + 2];
    uint64_t rings;
    MGLRU_CHECK(count <= OS_LOCAL_PEERS_MAX);
    polls[0] = (struct pollfd){.fd = local->bell, .events = POLLIN};
    polls[1] = (struct pollfd){.fd = local->listener, .events = POLLIN};
    for (unsigned i = 0; i < count; i++)
        polls[i + 2] = (struct pollfd){.fd = peers[i].handle,
                                       .events = (short)((peers[i].wants_read ? POLLIN : 0) |
                                                         (peers[i].wants_write ? POLLOUT : 0))};
    int ready = poll(polls, count + 2, -1);
    if (read(local->bell, &rings, sizeof(rings)) < 0)
        rings = 0; /* nobody rang */
    *knocks = ready > 0 && polls[1].revents;
    for (unsigned i = 0; i < count; i++)
        peers[i].ready = ready > 0 && polls[i + 2].revents;
}

int os_local_accept(struct os_local *local, struct os_local_peer *out)
{
    struct ucred who;
    socklen_t length = sizeof(who);
    *out = (struct os_local_peer){
        .handle = accept4(local->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)};
    if (out->handle < 0) {
        /* Without a free descriptor the client goes on knocking: no loop without a pause. */
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
            os_clock_sleep_ns(ACCEPT_PAUSE_NS);
        return MGLRU_EAGAIN;
    }
    if (getsockopt(out->handle, SOL_SOCKET, SO_PEERCRED, &who, &length) ||
        (who.uid != 0 && who.uid != geteuid())) {
        os_local_hang_up(out);
        return MGLRU_EPERM;
    }
    out->process = who.pid;
    return MGLRU_OK;
}

static int moved(ssize_t result, size_t *done)
{
    *done = result > 0 ? (size_t)result : 0;
    if (result >= 0)
        return MGLRU_OK;
    return errno == EAGAIN || errno == EINTR ? MGLRU_EAGAIN : MGLRU_EIO;
}

int os_local_read(const struct os_local_peer *peer, void *buffer, size_t bytes, size_t *done)
{
    return moved(recv(peer->handle, buffer, bytes, 0), done);
}

int os_local_write(const struct os_local_peer *peer, const void *buffer, size_t bytes, size_t *done)
{
    return moved(send(peer->handle, buffer, bytes, MSG_NOSIGNAL), done);
}

void os_local_hang_up(struct os_local_peer *peer)
{
    close(peer->handle);
    peer->handle = -1;
}

void os_local_wake(struct os_local *local)
{
    uint64_t one = 1;
    ssize_t written = write(local->bell, &one, sizeof(one)); /* full: it rings already */
    (void)written;
}

void os_local_close(struct os_local *local)
{
    struct stat info;
    if (!local)
        return;
    if (fstatat(local->folder, name_of(local), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
        info.st_dev == local->device && info.st_ino == local->inode)
        unlinkat(local->folder, name_of(local), 0);
    free_local(local);
}
