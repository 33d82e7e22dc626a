/* SPDX-License-Identifier: MIT */
/*
 * Transfers that the machine carries out while the caller goes on: one io_uring. Only the real
 * machine has it, and only when the library was built with liburing.
 *
 * Threads: os_ring_push and os_ring_submit one at a time (the caller's lock), os_ring_reap one at a
 * time; the two sides run beside each other.
 */
#ifndef OS_RING_H
#define OS_RING_H

#include "os/os.h"

struct os_ring;

enum os_ring_kind { OS_RING_READ = 1, OS_RING_WRITE, OS_RING_DATASYNC };

/* One transfer. The spans and what they point to live until it has ended. */
struct os_ring_op {
    enum os_ring_kind kind;
    struct os_file *file;
    const struct os_span *spans; /* at most OS_SPANS_MAX */
    unsigned count;
    uint64_t offset;
    uint64_t tag; /* comes back with the end */
};

/* How a transfer ended: @moved bytes, which may be fewer than asked for, or an error. */
struct os_ring_end {
    uint64_t tag;
    int error; /* MGLRU_EAGAIN: the machine did not try, or not this way: do it otherwise */
    size_t moved;
};

/*
 * Makes a ring for @entries > 0 transfers at once. The caller owns *out. MGLRU_ENOTSUP: built
 * without liburing, a kernel without io_uring, or a simulated machine; MGLRU_EPERM: the kernel
 * refuses; MGLRU_ENOMEM; MGLRU_EINVAL: more entries than the kernel takes.
 */
int os_ring_open(unsigned entries, struct os_ring **out);

/* Queues @op; it starts with the next os_ring_submit. False: the ring is full. */
bool os_ring_push(struct os_ring *ring, const struct os_ring_op *op);

/* Starts what is queued and returns how many of it could not start yet; call again later. */
unsigned os_ring_submit(struct os_ring *ring);

/* Takes at most @capacity ends; with @block waits for the first. Something has been started. */
unsigned os_ring_reap(struct os_ring *ring, bool block, struct os_ring_end *ends,
                      unsigned capacity);

/* Frees the ring. Nothing is under way. NULL is allowed. */
void os_ring_close(struct os_ring *ring);

#endif
