/* SPDX-License-Identifier: MIT */
/*
 * The decoder thread and its ring.
 *
 * Invariants, under lock: filled <= PUMP_SLOTS; slots head .. head + filled - 1 (modulo PUMP_SLOTS)
 * hold batches in order. Outside of the lock the consumer owns slot head while it holds a batch,
 * the decoder the slot behind the last filled one. A slot with rc or without records is the last.
 */
#include "trace/pump.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <mglru/error.h>

#include "base/check.h"
#include "trace/format.h"

struct pump_slot {
    struct trace_record records[PUMP_BATCH];
    size_t count;
    int rc;
    struct trace_error error;
    struct trace_progress progress;
    uint32_t memcgs;
    uint32_t objects;
    char *text; /* copies of the names and texts of control records */
    size_t text_capacity;
};

struct trace_pump {
    /* Fixed at start. */
    struct trace_reader *reader;
    pthread_t thread;
    int wake_fd; /* readable once the pump is to stop */

    /* Guarded by lock. */
    pthread_mutex_t lock;
    pthread_cond_t filled_more;
    pthread_cond_t freed_more;
    unsigned filled;
    bool stop;

    /* The consumer's own. */
    unsigned head;
    bool holding; /* the batch in slot head has been handed out */

    struct pump_slot slots[PUMP_SLOTS];
};

/* Moves the texts of control records out of the reader, which reuses their memory. */
static int slot_keep_texts(struct pump_slot *slot)
{
    size_t bytes = 0;
    for (size_t i = 0; i < slot->count; i++) {
        bytes += slot->records[i].name ? strlen(slot->records[i].name) + 1 : 0;
        bytes += slot->records[i].text ? strlen(slot->records[i].text) + 1 : 0;
    }
    if (bytes > slot->text_capacity) {
        char *text = realloc(slot->text, bytes);
        if (!text)
            return MGLRU_ENOMEM;
        slot->text = text;
        slot->text_capacity = bytes;
    }
    char *p = slot->text;
    for (size_t i = 0; bytes > 0 && i < slot->count; i++) {
        struct trace_record *record = &slot->records[i];
        const char *name = record->name, *text = record->text;
        if (name) {
            record->name = p;
            p = stpcpy(p, name) + 1;
        }
        if (text) {
            record->text = p;
            p = stpcpy(p, text) + 1;
        }
    }
    return 0;
}

/* Decodes one batch. True: more may follow. */
static bool slot_fill(struct pump_slot *slot, struct trace_reader *reader)
{
    slot->rc = trace_reader_next(reader, slot->records, PUMP_BATCH, &slot->count, &slot->error);
    if (slot_keep_texts(slot) != 0) {
        slot->count = 0;
        slot->rc = message_set(&slot->error, MGLRU_ENOMEM, "%s: no memory", reader->input.name);
    }
    trace_reader_progress(reader, &slot->progress);
    slot->memcgs = trace_reader_memcgs(reader);
    slot->objects = trace_reader_objects(reader);
    return slot->rc == 0 && slot->count > 0;
}

static void *decode(void *arg)
{
    struct trace_pump *pump = arg;
    unsigned tail = 0;
    bool more = true;
    while (more) {
        pthread_mutex_lock(&pump->lock);
        while (pump->filled == PUMP_SLOTS && !pump->stop)
            pthread_cond_wait(&pump->freed_more, &pump->lock);
        bool stop = pump->stop;
        pthread_mutex_unlock(&pump->lock);
        if (stop)
            break;
        more = slot_fill(&pump->slots[tail], pump->reader);
        tail = (tail + 1) % PUMP_SLOTS;
        pthread_mutex_lock(&pump->lock);
        pump->filled++;
        MGLRU_ASSERT(pump->filled <= PUMP_SLOTS);
        pthread_cond_signal(&pump->filled_more);
        pthread_mutex_unlock(&pump->lock);
    }
    return NULL;
}

/* Signals are the business of the program's own threads. */
static int start_thread(struct trace_pump *pump)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&pump->thread, NULL, decode, pump);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

int trace_pump_start(struct trace_reader *reader, struct trace_pump **out,
                     struct trace_error *error)
{
    *out = NULL;
    struct trace_pump *pump = calloc(1, sizeof(*pump));
    if (!pump)
        return message_set(error, MGLRU_ENOMEM, "%s: no memory to read ahead", reader->input.name);
    pump->reader = reader;
    pump->wake_fd = eventfd(0, EFD_CLOEXEC);
    pthread_mutex_init(&pump->lock, NULL);
    pthread_cond_init(&pump->filled_more, NULL);
    pthread_cond_init(&pump->freed_more, NULL);
    reader->input.wake_fd = pump->wake_fd;
    if (pump->wake_fd < 0 || start_thread(pump) != 0) {
        pump->reader->input.wake_fd = -1;
        if (pump->wake_fd >= 0)
            close(pump->wake_fd);
        free(pump);
        return message_set(error, MGLRU_EAGAIN, "%s: no thread to read ahead", reader->input.name);
    }
    *out = pump;
    return 0;
}

/* Gives the batch handed out before back to the decoder, unless it was the last. */
static void release(struct trace_pump *pump)
{
    const struct pump_slot *slot = &pump->slots[pump->head];
    if (!pump->holding || slot->rc || slot->count == 0)
        return;
    pump->holding = false;
    pump->head = (pump->head + 1) % PUMP_SLOTS;
    pthread_mutex_lock(&pump->lock);
    pump->filled--;
    pthread_cond_signal(&pump->freed_more);
    pthread_mutex_unlock(&pump->lock);
}

int trace_pump_next(struct trace_pump *pump, struct trace_record **records, size_t *count,
                    struct trace_error *error)
{
    release(pump);
    struct pump_slot *slot = &pump->slots[pump->head];
    bool again = pump->holding; /* the last batch is handed out once, its end for ever */
    if (!again) {
        pthread_mutex_lock(&pump->lock);
        while (pump->filled == 0)
            pthread_cond_wait(&pump->filled_more, &pump->lock);
        pthread_mutex_unlock(&pump->lock);
        pump->holding = true;
    }
    *records = slot->records;
    *count = again ? 0 : slot->count;
    if (slot->rc)
        *error = slot->error;
    return slot->rc;
}

void trace_pump_progress(const struct trace_pump *pump, struct trace_progress *out)
{
    *out = pump->slots[pump->head].progress;
}

uint32_t trace_pump_memcgs(const struct trace_pump *pump)
{
    return pump->slots[pump->head].memcgs;
}

uint32_t trace_pump_objects(const struct trace_pump *pump)
{
    return pump->slots[pump->head].objects;
}

void trace_pump_stop(struct trace_pump *pump)
{
    if (!pump)
        return;
    pthread_mutex_lock(&pump->lock);
    pump->stop = true;
    pthread_cond_signal(&pump->freed_more);
    pthread_mutex_unlock(&pump->lock);
    /* The decoder may be waiting for input that never comes. */
    eventfd_write(pump->wake_fd, 1);
    pthread_join(pump->thread, NULL);
    pump->reader->input.wake_fd = -1;
    close(pump->wake_fd);
    for (unsigned i = 0; i < PUMP_SLOTS; i++)
        free(pump->slots[i].text);
    pthread_cond_destroy(&pump->freed_more);
    pthread_cond_destroy(&pump->filled_more);
    pthread_mutex_destroy(&pump->lock);
    free(pump);
}
