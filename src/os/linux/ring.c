/* SPDX-License-Identifier: MIT */
/* io_uring through liburing; without it, rings that cannot be opened. */
#include "os/ring.h"

#include "os/linux/linux.h"

#ifdef MGLRU_HAVE_URING

#include <errno.h>
#include <liburing.h>
#include <stdlib.h>

#include "base/check.h"

struct os_ring {
    struct io_uring uring;
};

/* The kernel reads spans as its own struct. */
_Static_assert(sizeof(struct os_span) == sizeof(struct iovec) &&
                   offsetof(struct os_span, start) == offsetof(struct iovec, iov_base) &&
                   offsetof(struct os_span, bytes) == offsetof(struct iovec, iov_len),
               "spans are handed to the kernel as they are");

static int open_error(int errno_value)
{
    if (errno_value == ENOSYS)
        return MGLRU_ENOTSUP;
    if (errno_value == EINVAL)
        return MGLRU_EINVAL;
    int error = linux_error(errno_value);
    return error == MGLRU_EPERM ? error : MGLRU_ENOMEM; /* EPERM, else a limit was reached */
}

int os_ring_open(unsigned entries, struct os_ring **out)
{
    *out = NULL;
    if (os_current() != os_linux())
        return MGLRU_ENOTSUP;
    struct os_ring *ring = malloc(sizeof(*ring));
    if (!ring)
        return MGLRU_ENOMEM;
    int result = io_uring_queue_init(entries, &ring->uring, 0);
    if (result < 0) {
        free(ring);
        return open_error(-result);
    }
    *out = ring;
    return MGLRU_OK;
}

bool os_ring_push(struct os_ring *ring, const struct os_ring_op *op)
{
    struct io_uring_sqe *sqe = io_uring_get_sqe(&ring->uring);
    const struct iovec *iov = (const struct iovec *)(const void *)op->spans;
    if (!sqe)
        return false;
    if (op->kind == OS_RING_READ)
        io_uring_prep_readv(sqe, op->file->fd, iov, op->count, op->offset);
    else if (op->kind == OS_RING_WRITE)
        io_uring_prep_writev(sqe, op->file->fd, iov, op->count, op->offset);
    else
        io_uring_prep_fsync(sqe, op->file->fd, IORING_FSYNC_DATASYNC);
    sqe->user_data = op->tag;
    return true;
}

unsigned os_ring_submit(struct os_ring *ring)
{
    int result;
    do {
        result = io_uring_submit(&ring->uring);
    } while (result == -EINTR);
    return io_uring_sq_ready(&ring->uring);
}

static void end_of(const struct io_uring_cqe *cqe, struct os_ring_end *end)
{
    *end = (struct os_ring_end){.tag = cqe->user_data};
    if (cqe->res >= 0)
        end->moved = (size_t)cqe->res;
    else if (cqe->res == -EAGAIN || cqe->res == -EINTR || cqe->res == -EINVAL ||
             cqe->res == -EOPNOTSUPP || cqe->res == -ECANCELED)
        end->error = MGLRU_EAGAIN;
    else
        end->error = linux_error(-cqe->res) == MGLRU_ENOSPC ? MGLRU_ENOSPC : MGLRU_EIO;
}

unsigned os_ring_reap(struct os_ring *ring, bool block, struct os_ring_end *ends, unsigned capacity)
{
    struct io_uring_cqe *cqe = NULL;
    unsigned count = 0;
    if (block && io_uring_wait_cqe(&ring->uring, &cqe))
        return 0; /* a signal */
    while (count < capacity && !io_uring_peek_cqe(&ring->uring, &cqe)) {
        end_of(cqe, &ends[count++]);
        io_uring_cqe_seen(&ring->uring, cqe);
    }
    return count;
}

void os_ring_close(struct os_ring *ring)
{
    if (!ring)
        return;
    io_uring_queue_exit(&ring->uring);
    free(ring);
}

#else

int os_ring_open(unsigned entries, struct os_ring **out)
{
    *out = NULL;
    return MGLRU_ENOTSUP;
}

bool os_ring_push(struct os_ring *ring, const struct os_ring_op *op)
{
    return false;
}

unsigned os_ring_submit(struct os_ring *ring)
{
    return 0;
}

unsigned os_ring_reap(struct os_ring *ring, bool block, struct os_ring_end *ends, unsigned capacity)
{
    return 0;
}

void os_ring_close(struct os_ring *ring)
{
}

#endif
