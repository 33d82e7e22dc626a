/* SPDX-License-Identifier: MIT */
/*
 * One mutex guards the list; a task takes far longer than taking it from the list.
 *
 * Invariants, under the lock
 *   1. next <= tasks.count: tasks below it were taken in this round.
 *   2. unfinished: tasks of this round not done yet; the round is over when it is 0.
 */
#include "replay/pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include <mglru/error.h>

#include "base/check.h"

#define NS_PER_S UINT64_C(1000000000)

struct replay_pool {
    struct replay_pool_tasks tasks;
    pthread_mutex_t lock;
    pthread_cond_t started;
    pthread_cond_t finished;
    size_t next;
    size_t unfinished;
    bool stop;
    unsigned thread_count;
    pthread_t threads[];
};

static void *run_thread(void *argument)
{
    struct replay_pool *pool = argument;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (pool->next == pool->tasks.count && !pool->stop)
            pthread_cond_wait(&pool->started, &pool->lock);
        if (pool->stop)
            break;
        size_t task = pool->next++;
        pthread_mutex_unlock(&pool->lock);
        pool->tasks.work(pool->tasks.context, task);
        pthread_mutex_lock(&pool->lock);
        if (--pool->unfinished == 0)
            pthread_cond_signal(&pool->finished);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

int replay_pool_create(const struct replay_pool_tasks *tasks, unsigned threads,
                       struct replay_pool **out)
{
    *out = NULL;
    if (threads > tasks->count)
        threads = (unsigned)tasks->count;
    if (threads == 0)
        threads = 1;
    struct replay_pool *pool = calloc(1, sizeof(*pool) + threads * sizeof(pool->threads[0]));
    if (pool == NULL)
        return MGLRU_ENOMEM;
    pool->tasks = *tasks;
    pool->next = tasks->count;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->started, NULL);
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&pool->finished, &clock);
    pthread_condattr_destroy(&clock);
    for (; pool->thread_count < threads; pool->thread_count++)
        if (pthread_create(&pool->threads[pool->thread_count], NULL, run_thread, pool) != 0)
            break;
    /* Fewer threads than asked for are slower, not wrong. */
    if (pool->thread_count == 0) {
        replay_pool_destroy(pool);
        return MGLRU_EPERM;
    }
    *out = pool;
    return MGLRU_OK;
}

void replay_pool_destroy(struct replay_pool *pool)
{
    if (pool == NULL)
        return;
    replay_pool_wait(pool);
    pthread_mutex_lock(&pool->lock);
    pool->stop = true;
    pthread_cond_broadcast(&pool->started);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->thread_count; i++)
        pthread_join(pool->threads[i], NULL);
    pthread_cond_destroy(&pool->finished);
    pthread_cond_destroy(&pool->started);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

void replay_pool_start(struct replay_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    MGLRU_ASSERT(pool->unfinished == 0);
    pool->next = 0;
    pool->unfinished = pool->tasks.count;
    pthread_cond_broadcast(&pool->started);
    pthread_mutex_unlock(&pool->lock);
}

void replay_pool_wait(struct replay_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    while (pool->unfinished > 0)
        pthread_cond_wait(&pool->finished, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

bool replay_pool_wait_for(struct replay_pool *pool, uint64_t timeout_ns)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    timeout_ns += (uint64_t)end.tv_nsec;
    end.tv_sec += (time_t)(timeout_ns / NS_PER_S);
    end.tv_nsec = (long)(timeout_ns % NS_PER_S);
    int error = 0;
    pthread_mutex_lock(&pool->lock);
    while (pool->unfinished > 0 && error == 0)
        error = pthread_cond_timedwait(&pool->finished, &pool->lock, &end);
    bool done = pool->unfinished == 0;
    pthread_mutex_unlock(&pool->lock);
    return done;
}
