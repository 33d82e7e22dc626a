/* SPDX-License-Identifier: MIT */
/* Registration of threads with liburcu at their first read section; undone when they end. */
#include "sync/rcu.h"

#include "os/os.h"

_Thread_local bool rcu_thread_known;

static void rcu_unregister_self(void *unused)
{
    if (rcu_thread_known)
        urcu_memb_unregister_thread();
    rcu_thread_known = false;
}

void rcu_register_self(void)
{
    MGLRU_ASSERT(!rcu_thread_known);
    urcu_memb_register_thread();
    rcu_thread_known = true;
    /* Without the hook the thread would stay registered and stall writers after its end. */
    MGLRU_CHECK(os_thread_at_exit(rcu_unregister_self, NULL) == MGLRU_OK);
}
