/* SPDX-License-Identifier: MIT */
/*
 * The deterministic machine: clock, threads and randomness from one seed.
 *
 * Its threads are real ones, of which exactly one runs at a time: the one that holds the baton
 * (sim.running). It passes the baton on when it yields, sleeps, waits, joins or ends; who gets it
 * is drawn from the seed among the threads that could run, in order of their creation. The clock
 * moves by a fixed step at each decision, and to the next sleeper's time when nobody else can run.
 *
 *   RUNNABLE --chosen--> running --os_thread_yield--> RUNNABLE
 *   running --os_clock_sleep_ns--> SLEEPING --its time--> RUNNABLE
 *   running --os_wait--> WAITING --os_wake--> RUNNABLE
 *   running --os_thread_join--> JOINING --the other's end--> RUNNABLE
 *   running --body returned--> ENDED
 * When no thread can ever run again the simulation aborts: the program under test has a deadlock.
 * Lock: sim.lock guards all of this; between decisions only the running thread touches it.
 */
#include "os/sim/sim.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/check.h"
#include "base/list.h"
#include "os/hooks.h"

/* Chosen: time that passes at each decision, so that loops around the clock end. */
#define STEP_NS 100u
/* Chosen: a machine with more than one CPU, whatever the real one has. */
#define SIM_CPUS 4u

enum sim_state { RUNNABLE, SLEEPING, WAITING, JOINING, ENDED };

struct os_thread {
    struct list_node link; /* on sim.threads, in order of creation */
    enum sim_state state;
    uint64_t wake_ns;               /* SLEEPING */
    const void *word;               /* WAITING; SLEEPING: that ends the sleep too, or NULL */
    const struct os_thread *joined; /* JOINING */
    pthread_cond_t turn;
    pthread_t id;
    void (*body)(void *);
    void *argument;
};

static struct {
    pthread_mutex_t lock;
    struct list_node threads;
    struct os_thread *running;
    struct os_thread first; /* the thread that called os_sim */
    uint64_t now_ns;
    uint64_t random_state;
    uint64_t schedule_state; /* apart, so that reading random bytes changes no schedule */
    uint64_t switches;
} sim = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint64_t draw(uint64_t *state)
{
    return bits_mix64(*state += 0x9E3779B97F4A7C15ull);
}

static struct os_thread *thread_of(struct list_node *link)
{
    return container_of(link, struct os_thread, link);
}

/* Moves the clock to the first sleeper and wakes all that are due. False: nobody sleeps. */
static bool wake_sleepers(bool jump)
{
    uint64_t earliest = UINT64_MAX;
    struct list_node *pos;
    list_for_each (pos, &sim.threads) {
        if (thread_of(pos)->state == SLEEPING && thread_of(pos)->wake_ns < earliest)
            earliest = thread_of(pos)->wake_ns;
    }
    if (earliest == UINT64_MAX)
        return false;
    if (jump && sim.now_ns < earliest)
        sim.now_ns = earliest;
    list_for_each (pos, &sim.threads) {
        if (thread_of(pos)->state == SLEEPING && thread_of(pos)->wake_ns <= sim.now_ns)
            thread_of(pos)->state = RUNNABLE;
    }
    return true;
}

/* The @number-th runnable thread; with @count, how many there are. */
static struct os_thread *pick_runnable(uint64_t number, uint64_t *count)
{
    struct os_thread *picked = NULL;
    struct list_node *pos;
    *count = 0;
    list_for_each (pos, &sim.threads) {
        if (thread_of(pos)->state != RUNNABLE)
            continue;
        if ((*count)++ == number)
            picked = thread_of(pos);
    }
    return picked;
}

static struct os_thread *choose(void)
{
    uint64_t count;
    wake_sleepers(false);
    pick_runnable(0, &count);
    if (!count) {
        /* Nobody can run and nobody sleeps: a deadlock of the program under test. */
        MGLRU_CHECK(wake_sleepers(true));
        pick_runnable(0, &count);
    }
    return pick_runnable(draw(&sim.schedule_state) % count, &count);
}

/* Passes the baton on, from a thread in its new @state, and waits for it unless that is ENDED. */
static void decide(struct os_thread *self, enum sim_state state)
{
    self->state = state;
    sim.now_ns += STEP_NS;
    sim.switches++;
    sim.running = choose();
    if (sim.running == self)
        return;
    pthread_cond_signal(&sim.running->turn);
    while (state != ENDED && sim.running != self)
        pthread_cond_wait(&self->turn, &sim.lock);
}

static uint64_t sim_now_ns(void)
{
    return sim.now_ns;
}

static void sim_sleep_ns(uint64_t duration_ns)
{
    pthread_mutex_lock(&sim.lock);
    sim.running->wake_ns = sim.now_ns + duration_ns;
    sim.running->word = NULL;
    decide(sim.running, SLEEPING);
    pthread_mutex_unlock(&sim.lock);
}

static void *thread_body(void *argument)
{
    struct os_thread *self = argument;
    pthread_mutex_lock(&sim.lock);
    while (sim.running != self)
        pthread_cond_wait(&self->turn, &sim.lock);
    pthread_mutex_unlock(&sim.lock);
    self->body(self->argument);
    hooks_run_now(); /* with the baton: at the real end others run already */
    pthread_mutex_lock(&sim.lock);
    struct list_node *pos;
    list_for_each (pos, &sim.threads) {
        if (thread_of(pos)->state == JOINING && thread_of(pos)->joined == self)
            thread_of(pos)->state = RUNNABLE;
    }
    decide(self, ENDED);
    pthread_mutex_unlock(&sim.lock);
    return NULL;
}

static int sim_thread_start(void (*body)(void *), void *argument, struct os_thread **out)
{
    struct os_thread *thread = calloc(1, sizeof(*thread));
    if (!thread)
        return MGLRU_ENOMEM;
    thread->body = body;
    thread->argument = argument;
    pthread_cond_init(&thread->turn, NULL);
    if (pthread_create(&thread->id, NULL, thread_body, thread)) {
        pthread_cond_destroy(&thread->turn);
        free(thread);
        return MGLRU_ENOMEM;
    }
    pthread_mutex_lock(&sim.lock);
    list_add_tail(&sim.threads, &thread->link);
    pthread_mutex_unlock(&sim.lock);
    *out = thread;
    return MGLRU_OK;
}

static void sim_thread_join(struct os_thread *thread)
{
    pthread_mutex_lock(&sim.lock);
    if (thread->state != ENDED) {
        sim.running->joined = thread;
        decide(sim.running, JOINING);
    }
    list_del(&thread->link);
    pthread_mutex_unlock(&sim.lock);
    int error = pthread_join(thread->id, NULL);
    MGLRU_CHECK(!error);
    pthread_cond_destroy(&thread->turn);
    free(thread);
}

static void sim_thread_yield(void)
{
    pthread_mutex_lock(&sim.lock);
    decide(sim.running, RUNNABLE);
    pthread_mutex_unlock(&sim.lock);
}

static void sim_wait(const void *word, uint32_t expected)
{
    uint32_t value;
    memcpy(&value, word, sizeof(value)); /* no other thread runs: nobody writes it now */
    if (value != expected)
        return;
    pthread_mutex_lock(&sim.lock);
    sim.running->word = word;
    decide(sim.running, WAITING);
    pthread_mutex_unlock(&sim.lock);
}

/* A sleeper that a wake reaches as well. */
static void sim_wait_for(const void *word, uint32_t expected, uint64_t timeout_ns)
{
    uint32_t value;
    memcpy(&value, word, sizeof(value));
    if (value != expected)
        return;
    pthread_mutex_lock(&sim.lock);
    sim.running->word = word;
    sim.running->wake_ns = sim.now_ns + timeout_ns;
    decide(sim.running, SLEEPING);
    pthread_mutex_unlock(&sim.lock);
}

static void sim_wake(const void *word, bool all)
{
    struct list_node *pos;
    pthread_mutex_lock(&sim.lock);
    list_for_each (pos, &sim.threads) {
        enum sim_state state = thread_of(pos)->state;
        if ((state != WAITING && state != SLEEPING) || thread_of(pos)->word != word)
            continue;
        thread_of(pos)->state = RUNNABLE;
        if (!all)
            break;
    }
    pthread_mutex_unlock(&sim.lock);
}

static unsigned sim_cpu_count(void)
{
    return SIM_CPUS;
}

static int sim_random_fill(void *buffer, size_t bytes)
{
    char *at = buffer;
    while (bytes) {
        uint64_t value = draw(&sim.random_state);
        size_t part = bytes < sizeof(value) ? bytes : sizeof(value);
        memcpy(at, &value, part);
        at += part;
        bytes -= part;
    }
    return MGLRU_OK;
}

static int sim_pages_map(size_t bytes, bool huge, void **out)
{
    return os_linux()->pages_map(bytes, huge, out);
}

static void sim_pages_unmap(void *start, size_t bytes)
{
    os_linux()->pages_unmap(start, bytes);
}

/* There is no pool of huge pages on this machine, so that a run does not depend on one. */
static int sim_range_map(size_t bytes, enum os_range_kind kind, void **out)
{
    return kind == OS_RANGE_HUGE_STRICT ? MGLRU_ENOMEM : os_linux()->range_map(bytes, kind, out);
}

static int sim_range_release(void *start, size_t bytes)
{
    return os_linux()->range_release(start, bytes);
}

static const struct os_ops sim_ops = {
    .name = "sim",
    .clock_now_ns = sim_now_ns,
    .clock_sleep_ns = sim_sleep_ns,
    .pages_map = sim_pages_map,
    .pages_unmap = sim_pages_unmap,
    .range_map = sim_range_map,
    .range_release = sim_range_release,
    .file_open = sim_file_open,
    .file_read = sim_file_read,
    .file_write = sim_file_write,
    .file_size = sim_file_size,
    .file_sync = sim_file_sync,
    .file_open_direct = sim_file_open_direct,
    .file_readv = sim_file_readv,
    .file_writev = sim_file_writev,
    .file_datasync = sim_file_datasync,
    .file_punch = sim_file_punch,
    .file_resize = sim_file_resize,
    .file_close = sim_file_close,
    .file_remove = sim_file_remove,
    .thread_start = sim_thread_start,
    .thread_join = sim_thread_join,
    .thread_yield = sim_thread_yield,
    .wait = sim_wait,
    .wait_for = sim_wait_for,
    .wake = sim_wake,
    .cpu_count = sim_cpu_count,
    .random_fill = sim_random_fill,
};

const struct os_ops *os_sim(uint64_t seed)
{
    pthread_mutex_lock(&sim.lock);
    memset(&sim.first, 0, sizeof(sim.first));
    pthread_cond_init(&sim.first.turn, NULL);
    list_init(&sim.threads);
    list_add_tail(&sim.threads, &sim.first.link);
    sim.running = &sim.first;
    sim.now_ns = 0;
    sim.switches = 0;
    sim.random_state = bits_mix64(seed);
    sim.schedule_state = bits_mix64(~seed);
    pthread_mutex_unlock(&sim.lock);
    sim_files_reset();
    return &sim_ops;
}

uint64_t os_sim_switches(void)
{
    return sim.switches;
}
