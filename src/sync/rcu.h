/* SPDX-License-Identifier: MIT */
/*
 * Read-copy-update over liburcu's memb flavour, with the registration of threads done at the
 * first read section of each and undone at its end.
 *
 * What a reader may rely on: a pointer read with rcu_load between rcu_enter and rcu_leave stays
 * valid until rcu_leave. A writer publishes with rcu_store, and frees what it took out of sight
 * through rcu_free_later or after rcu_wait_readers. Sections nest and never block.
 */
#ifndef SYNC_RCU_H
#define SYNC_RCU_H

#include <urcu/urcu-memb.h>
/* The sections' own code: a few lines that its licence lets any program compile in. */
#include <urcu/static/urcu-memb.h>

#include "base/check.h"
#include "sync/atomic.h"

/* Whether this thread is known to liburcu. The model of access costs one instruction. */
extern _Thread_local bool rcu_thread_known __attribute__((tls_model("initial-exec")));

/* Out of line part of rcu_enter: the first section of a thread. */
void rcu_register_self(void);

#if defined(__SANITIZE_THREAD__)
#define RCU_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define RCU_TSAN 1
#endif
#endif

/*
 * liburcu is not instrumented, so TSan cannot see that a grace period orders readers before what
 * follows it. In TSan builds both sides say so through this word; it is not used
 * otherwise.
 */
extern _Atomic unsigned rcu_tsan_order;

static inline void rcu_tsan_release(void)
{
#ifdef RCU_TSAN
    atomic_add_release(&rcu_tsan_order, 1); /* pairs with rcu_tsan_acquire */
#endif
}

static inline void rcu_tsan_acquire(void)
{
#ifdef RCU_TSAN
    (void)atomic_load_acquire(&rcu_tsan_order); /* pairs with rcu_tsan_release */
#endif
}

/* Begins a read section. Any thread, never blocks. */
static inline void rcu_enter(void)
{
    if (MGLRU_UNLIKELY(!rcu_thread_known))
        rcu_register_self();
#ifdef RCU_TSAN
    urcu_memb_read_lock(); /* TSan does not see through the assembly of the inline form */
#else
    _urcu_memb_read_lock();
#endif
}

/* Ends the innermost read section of this thread. */
static inline void rcu_leave(void)
{
#ifdef RCU_TSAN
    rcu_tsan_release();
    urcu_memb_read_unlock();
#else
    _urcu_memb_read_unlock();
#endif
}

/* Whether this thread is in a read section. */
static inline bool rcu_inside(void)
{
    return rcu_thread_known && urcu_memb_read_ongoing();
}

/* Reads / publishes a pointer: rcu_load pairs with rcu_store of the same field. */
#define rcu_load(p) atomic_load_acquire(p)
#define rcu_store(p, v) atomic_store_release((p), (v))

/* Waits until every read section that is going on has ended. Not inside one. Blocks. */
static inline void rcu_wait_readers(void)
{
    MGLRU_ASSERT(!rcu_inside());
    urcu_memb_synchronize_rcu();
    rcu_tsan_acquire();
}

/* Node to embed in what rcu_free_later frees. */
struct rcu_later {
    struct rcu_head head;
    void (*release)(struct rcu_later *node);
};

/*
 * Calls @release(@node) after every read section that is going on has ended, on another thread.
 * @release must not wait for readers. Any thread; may block for memory at its first call.
 */
void rcu_free_later(struct rcu_later *node, void (*release)(struct rcu_later *));

/* Waits until everything given to rcu_free_later before is freed. Blocks. */
static inline void rcu_drain(void)
{
    urcu_memb_barrier();
    rcu_tsan_acquire();
}

#endif
