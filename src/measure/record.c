/* SPDX-License-Identifier: MIT */
/* Threads that take turns, and what they access; see record.h. */
#include "measure/record.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

/* Where fields that are thought away go: no address of a process. */
#define APART_BASE (UINT64_C(1) << 60)

struct turn;

struct recorder {
    const struct work *work;
    const struct record_wish *wish;
    struct recording *out;
    struct turn *turns;
    void *state;
    sem_t done;
    bool recording;
    uint32_t thread; /* whose turn it is */
    int error;
};

/* A thread of the work. */
struct turn {
    struct recorder *recorder;
    pthread_t thread;
    sem_t go;
    unsigned number;
    unsigned operations; /* of the next turn; 0: end */
    uint64_t gap;        /* accesses elsewhere since the last that was recorded */
    uint64_t locks[COHERENCE_HELD_MAX];
    uint32_t held;
};

static void note_lock(struct turn *turn, uint64_t lock, bool taken)
{
    if (taken) {
        if (turn->held < COHERENCE_HELD_MAX)
            turn->locks[turn->held++] = lock;
        return;
    }
    for (uint32_t i = turn->held; i-- > 0;)
        if (turn->locks[i] == lock) {
            memmove(&turn->locks[i], &turn->locks[i + 1],
                    (--turn->held - i) * sizeof(turn->locks[0]));
            return;
        }
}

/* Where the access is taken to be: its place, unless its field is thought away. */
static uint64_t place_of(const struct recorder *recorder, const struct coherence_subject *object,
                         uint64_t address)
{
    const struct record_wish *wish = recorder->wish;
    const struct coherence_field *field = coherence_field_at(object, address - object->address);
    for (size_t i = 0; field != NULL && i < wish->apart_count; i++)
        if (strcmp(object->name, wish->apart[i].object) == 0 &&
            strcmp(field->name, wish->apart[i].field) == 0) {
            uint64_t number = (uint64_t)(object - recorder->out->objects) * wish->apart_count + i;
            return APART_BASE + number * 4096 + (address - object->address - field->offset);
        }
    return address;
}

static void on_access(void *context, const struct inside_access *access)
{
    struct recorder *recorder = context;
    struct turn *turn = &recorder->turns[recorder->thread];
    turn->gap += access->skipped;
    if (access->kind == LOG_ACQUIRE || access->kind == LOG_RELEASE) {
        note_lock(turn, access->address, access->kind == LOG_ACQUIRE);
        return;
    }
    struct coherence_subjects subjects = {recorder->out->objects, recorder->out->object_count};
    const struct coherence_subject *object = coherence_subject_at(&subjects, access->address);
    if (object == NULL || !recorder->recording) {
        turn->gap++;
        return;
    }
    struct coherence_access one = {
        .address = place_of(recorder, object, access->address),
        .bytes = access->bytes,
        .thread = recorder->thread,
        .gap_ns = (uint32_t)(turn->gap * COHERENCE_HIT_NS),
        .kind = access->kind == LOG_READ    ? COHERENCE_READ
                : access->kind == LOG_WRITE ? COHERENCE_WRITE
                                            : COHERENCE_ATOMIC,
    };
    turn->gap = 0;
    int error =
        coherence_trace_lockset(&recorder->out->trace, turn->locks, turn->held, &one.lockset);
    if (!error)
        error = coherence_trace_add(&recorder->out->trace, &one);
    if (error)
        recorder->error = error;
}

static void wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore)) {} /* a signal came */
}

static void *turn_main(void *argument)
{
    struct turn *turn = argument;
    struct recorder *recorder = turn->recorder;
    for (;;) {
        uint64_t done = 0;
        wait_for(&turn->go);
        if (turn->operations == 0)
            return NULL;
        int error = recorder->work->run(recorder->state, turn->number, turn->operations, &done);
        if (recorder->recording)
            recorder->out->trace.operations += done;
        if (error)
            recorder->error = error;
        sem_post(&recorder->done);
    }
}

static void take_turn(struct recorder *recorder, unsigned thread, unsigned operations)
{
    struct turn *turn = &recorder->turns[thread];
    recorder->thread = thread;
    turn->operations = operations;
    sem_post(&turn->go);
    if (operations > 0)
        wait_for(&recorder->done);
}

static int by_address(const void *left, const void *right)
{
    const struct coherence_subject *a = left, *b = right;
    return (a->address > b->address) - (a->address < b->address);
}

static void run_turns(struct recorder *recorder, const struct work_build *build)
{
    const struct record_wish *wish = recorder->wish;
    struct recording *out = recorder->out;
    for (unsigned t = 0; t < wish->setup.jobs && wish->warm > 0; t++)
        take_turn(recorder, t, wish->warm);
    out->object_count = recorder->work->objects(recorder->state, out->objects);
    qsort(out->objects, out->object_count, sizeof(out->objects[0]), by_address);
    for (size_t i = 0; i < out->object_count; i++)
        build->recorder->watch((const void *)(uintptr_t)out->objects[i].address,
                               out->objects[i].bytes);
    build->recorder->begin(on_access, recorder);
    recorder->recording = true;
    for (unsigned i = 0; i < wish->operations && !recorder->error; i++)
        for (unsigned t = 0; t < wish->setup.jobs && !recorder->error; t++)
            take_turn(recorder, t, 1);
    recorder->recording = false;
    build->recorder->end();
}

/* Starts the threads, takes their turns and ends them. */
static int run_threads(struct recorder *recorder, const struct work_build *build)
{
    unsigned jobs = recorder->wish->setup.jobs, started = 0;
    for (; started < jobs && !recorder->error; started++) {
        struct turn *turn = &recorder->turns[started];
        turn->recorder = recorder;
        turn->number = started;
        sem_init(&turn->go, 0, 0);
        if (pthread_create(&turn->thread, NULL, turn_main, turn)) {
            recorder->error = MGLRU_EAGAIN;
            break;
        }
    }
    if (!recorder->error)
        run_turns(recorder, build);
    for (unsigned t = 0; t < started; t++) {
        take_turn(recorder, t, 0);
        pthread_join(recorder->turns[t].thread, NULL);
    }
    return recorder->error;
}

int record_work(const struct work_build *build, const struct work *work,
                const struct record_wish *wish, struct recording *out)
{
    struct recorder recorder = {.work = work, .wish = wish, .out = out};
    out->object_count = 0;
    int error = coherence_trace_begin(&out->trace, 64);
    if (error)
        return error;
    recorder.turns = calloc(wish->setup.jobs, sizeof(*recorder.turns));
    if (recorder.turns == NULL)
        return MGLRU_ENOMEM;
    sem_init(&recorder.done, 0, 0);
    error = work->create(&wish->setup, &recorder.state);
    if (!error) {
        error = run_threads(&recorder, build);
        work->destroy(recorder.state);
    }
    free(recorder.turns);
    return error ? error : coherence_trace_finish(&out->trace);
}

void recording_free(struct recording *recording)
{
    coherence_trace_free(&recording->trace);
}
