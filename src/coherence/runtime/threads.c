/* SPDX-License-Identifier: MIT */
/*
 * Threads as they are made: pthread_create in front of libc's own, so that the log knows when a
 * thread could have begun.
 *
 * What the new thread needs waits in one of a fixed number of places; when all are taken, a thread
 * is made without a note.
 */
#include "coherence/runtime/runtime.h"

#include <dlfcn.h>
#include <pthread.h>

typedef void *thread_body(void *argument);
typedef int create_call(pthread_t *thread, const pthread_attr_t *attributes, thread_body *body,
                        void *argument);

struct start {
    thread_body *body;
    void *argument;
    uint64_t time;
    uint16_t maker;
    bool taken;
};

static struct start starts[RT_THREADS_MAX];

static struct start *take_place(void)
{
    for (unsigned i = 0; i < RT_THREADS_MAX; i++)
        if (!__atomic_exchange_n(&starts[i].taken, true, __ATOMIC_ACQUIRE)) /* pairs with run */
            return &starts[i];
    return NULL;
}

static void *run(void *argument)
{
    struct start *place = argument, start = *place;
    __atomic_store_n(&place->taken, false, __ATOMIC_RELEASE); /* pairs with take_place */
    if (rt_mode == RT_LOG) {
        rt_self.inside = true;
        rt_started(start.time, start.maker);
        rt_self.inside = false;
    }
    return start.body(start.argument);
}

#pragma GCC visibility push(default)

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, thread_body *body,
                   void *argument)
{
    static void *next;
    if (next == NULL)
        next = dlsym(RTLD_NEXT, "pthread_create");
    create_call *create = (create_call *)(uintptr_t)next;
    struct start *place = rt_mode == RT_LOG && !rt_self.inside ? take_place() : NULL;
    if (place == NULL)
        return create(thread, attributes, body, argument);
    rt_self.inside = true;
    place->maker = rt_number();
    rt_self.inside = false;
    place->body = body;
    place->argument = argument;
    place->time = rt_now();
    int result = create(thread, attributes, run, place);
    if (result != 0)
        __atomic_store_n(&place->taken, false, __ATOMIC_RELEASE); /* pairs with take_place */
    return result;
}

#pragma GCC visibility pop
