/* SPDX-License-Identifier: MIT */
/* See ring.h. */
#include "record/ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mglru/error.h>

#include <kbuffer.h>

#include "record/fail.h"
#include "record/tracing.h"

/* Chosen: a read hands out at most one page of the buffer, which may be set to 64 KiB. */
#define PAGE_BYTES ((size_t)64 << 10)
/* Chosen: a busy writer must not keep a round from ending. */
#define PAGES_A_ROUND 65536u
#define QUEUE_FIRST 1024u

/* Events of one CPU that wait: items[head..count). */
struct queue {
    int fd;
    struct event *items;
    size_t head, count, capacity;
};

struct ring {
    const struct event_layout *layouts;
    size_t layouts_count;
    struct kbuffer *kbuffer;
    unsigned char *page;
    struct queue *queues;
    unsigned cpus;
    unsigned current;  /* the CPU whose event was handed out last */
    uint64_t other_ns; /* no other CPU has an older event than this */
};

int ring_open(struct tracing *tracing, struct ring **out, struct record_error *error)
{
    *out = NULL;
    struct ring *ring = calloc(1, sizeof(*ring));
    if (ring == NULL)
        return record_fail(error, MGLRU_ENOMEM, "no memory");
    ring->layouts = tracing_layouts(tracing, &ring->layouts_count);
    ring->cpus = (unsigned)sysconf(_SC_NPROCESSORS_CONF);
    ring->page = malloc(PAGE_BYTES);
    ring->queues = calloc(ring->cpus, sizeof(*ring->queues));
    ring->kbuffer = kbuffer_alloc(sizeof(long) == 8 ? KBUFFER_LSIZE_8 : KBUFFER_LSIZE_4,
                                  __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? KBUFFER_ENDIAN_LITTLE
                                                                            : KBUFFER_ENDIAN_BIG);
    unsigned opened = 0;
    for (unsigned i = 0; ring->queues != NULL && i < ring->cpus; i++) {
        ring->queues[i].fd = tracing_open_buffer(tracing, i);
        opened += ring->queues[i].fd >= 0;
    }
    int code = MGLRU_OK;
    if (ring->page == NULL || ring->queues == NULL || ring->kbuffer == NULL)
        code = record_fail(error, MGLRU_ENOMEM, "no memory");
    else if (opened == 0)
        code = record_fail(error, MGLRU_EIO, "trace_pipe_raw: %s", strerror(errno));
    if (code != MGLRU_OK)
        ring_close(ring);
    else
        *out = ring;
    return code;
}

static struct event *queue_push(struct queue *queue)
{
    if (queue->count == queue->capacity && queue->head > queue->capacity / 2) {
        queue->count -= queue->head;
        memmove(queue->items, queue->items + queue->head, queue->count * sizeof(*queue->items));
        queue->head = 0;
    }
    if (queue->count == queue->capacity) {
        const size_t capacity = queue->capacity > 0 ? 2 * queue->capacity : QUEUE_FIRST;
        struct event *items = realloc(queue->items, capacity * sizeof(*items));
        if (items == NULL)
            return NULL;
        queue->items = items;
        queue->capacity = capacity;
    }
    return &queue->items[queue->count++];
}

/* The events of one page of the buffer. False: no memory. */
static bool take_page(struct ring *ring, struct queue *queue)
{
    unsigned long long time_ns;
    if (kbuffer_load_subbuffer(ring->kbuffer, ring->page) != 0)
        return true;
    for (const void *data = kbuffer_read_event(ring->kbuffer, &time_ns); data != NULL;
         data = kbuffer_next_event(ring->kbuffer, &time_ns)) {
        const size_t bytes = (size_t)kbuffer_event_size(ring->kbuffer);
        const struct event_layout *layout =
            event_layout_of(ring->layouts, ring->layouts_count, data, bytes);
        struct event event;
        if (layout == NULL || !event_decode(layout, data, bytes, &event))
            continue;
        struct event *place = queue_push(queue);
        if (place == NULL)
            return false;
        *place = event;
        place->time_ns = time_ns;
    }
    return true;
}

static int read_cpu(struct ring *ring, struct queue *queue, size_t *bytes,
                    struct record_error *error)
{
    for (unsigned pages = 0; pages < PAGES_A_ROUND; pages++) {
        ssize_t n = read(queue->fd, ring->page, PAGE_BYTES);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0 || (n < 0 && errno == EAGAIN))
            return MGLRU_OK;
        if (n < 0)
            return record_fail(error, MGLRU_EIO, "trace_pipe_raw: %s", strerror(errno));
        *bytes += (size_t)n;
        if (!take_page(ring, queue))
            return record_fail(error, MGLRU_ENOMEM, "no memory");
    }
    return MGLRU_OK;
}

int ring_read(struct ring *ring, size_t *bytes, struct record_error *error)
{
    *bytes = 0;
    ring->other_ns = 0;
    for (unsigned i = 0; i < ring->cpus; i++) {
        if (ring->queues[i].fd < 0)
            continue;
        int code = read_cpu(ring, &ring->queues[i], bytes, error);
        if (code != MGLRU_OK)
            return code;
    }
    return MGLRU_OK;
}

static uint64_t head_time(const struct queue *queue)
{
    return queue->head < queue->count ? queue->items[queue->head].time_ns : UINT64_MAX;
}

/* Finds the CPU with the oldest event, and how long it stays that. */
static void choose_cpu(struct ring *ring)
{
    uint64_t oldest = UINT64_MAX;
    ring->other_ns = UINT64_MAX;
    for (unsigned i = 0; i < ring->cpus; i++) {
        const uint64_t time_ns = head_time(&ring->queues[i]);
        if (time_ns < oldest) {
            ring->other_ns = oldest;
            oldest = time_ns;
            ring->current = i;
        } else if (time_ns < ring->other_ns) {
            ring->other_ns = time_ns;
        }
    }
}

bool ring_next(struct ring *ring, uint64_t before_ns, struct event *out)
{
    if (head_time(&ring->queues[ring->current]) >= ring->other_ns)
        choose_cpu(ring);
    struct queue *queue = &ring->queues[ring->current];
    if (head_time(queue) >= before_ns)
        return false;
    *out = queue->items[queue->head++];
    if (queue->head == queue->count)
        queue->head = queue->count = 0;
    return true;
}

unsigned ring_cpus(const struct ring *ring)
{
    return ring->cpus;
}

void ring_close(struct ring *ring)
{
    if (ring == NULL)
        return;
    for (unsigned i = 0; ring->queues != NULL && i < ring->cpus; i++) {
        if (ring->queues[i].fd >= 0)
            close(ring->queues[i].fd);
        free(ring->queues[i].items);
    }
    kbuffer_free(ring->kbuffer);
    free(ring->queues);
    free(ring->page);
    free(ring);
}
