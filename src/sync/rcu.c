/* SPDX-License-Identifier: MIT */
/* Registration of threads with liburcu at their first read section; undone when they end. A thread
 * that the program, or another copy of this library, has registered already stays theirs. */
#include "sync/rcu.h"

#include "base/list.h"
#include "os/os.h"

_Thread_local bool rcu_thread_known;
_Atomic unsigned rcu_tsan_order;

static void rcu_unregister_self(void *unused)
{
    if (rcu_thread_known)
        urcu_memb_unregister_thread();
    rcu_thread_known = false;
}

void rcu_register_self(void)
{
    MGLRU_ASSERT(!rcu_thread_known);
    rcu_thread_known = true;
    if (URCU_TLS(urcu_memb_reader).registered)
        return;
    urcu_memb_register_thread();
    /* Without the hook the thread would stay registered and stall writers after its end. */
    MGLRU_CHECK(os_thread_at_exit(rcu_unregister_self, NULL) == MGLRU_OK);
}

static void later_run(struct rcu_head *head)
{
    struct rcu_later *node = container_of(head, struct rcu_later, head);
    rcu_tsan_acquire();
    node->release(node);
    rcu_tsan_release();
}

void rcu_free_later(struct rcu_later *node, void (*release)(struct rcu_later *))
{
    if (!rcu_thread_known)
        rcu_register_self();
    node->release = release;
    rcu_tsan_release();
    urcu_memb_call_rcu(&node->head, later_run);
}

#ifdef RCU_TSAN
/* TSan asks for this by name. liburcu's own allocations are ordered by means that it cannot see. */
__attribute__((visibility("default"))) const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
    return "called_from_lib:liburcu-memb\n";
}
#endif
