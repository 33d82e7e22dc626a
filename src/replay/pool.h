/* SPDX-License-Identifier: MIT */
/*
 * Threads that work through the same list of tasks, round after round. In a round every task is
 * done once, by whichever thread is free; tasks of one round must not touch each other's state.
 * What a round computes does not depend on the number of threads.
 */
#ifndef REPLAY_POOL_H
#define REPLAY_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct replay_pool;

struct replay_pool_tasks {
    void (*work)(void *context, size_t task); /* called by the pool's threads */
    void *context;
    size_t count;
};

/* Starts min(@threads, tasks.count) threads, at least one. MGLRU_ENOMEM; MGLRU_EPERM: the system
 * refuses to start a thread. */
int replay_pool_create(const struct replay_pool_tasks *tasks, unsigned threads,
                       struct replay_pool **out);

/* Waits for the round in work and ends the threads. NULL is allowed. */
void replay_pool_destroy(struct replay_pool *pool);

/* Starts a round; the one before must have been waited for. What the caller wrote before is seen
 * by the tasks. */
void replay_pool_start(struct replay_pool *pool);

/* Returns when the round is done, at once when there is none. What the tasks wrote is seen by the
 * caller. */
void replay_pool_wait(struct replay_pool *pool);

/* The same, for @timeout_ns at most. False: the round goes on. */
bool replay_pool_wait_for(struct replay_pool *pool, uint64_t timeout_ns);

#endif
