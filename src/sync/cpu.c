/* SPDX-License-Identifier: MIT */
/* Claims of cpu.h: one word a number, each on a line of its own. A thread tries the number that it
 * had last first: with fewer threads than numbers each soon has its own and takes its line from
 * nobody. */
#include "sync/cpu.h"

#include <stdlib.h>

#include "os/os.h"
#include "sync/atomic.h"

struct claim {
    _Alignas(64) _Atomic uint32_t taken;
};

struct cpu_claims {
    unsigned count;
    _Atomic uint32_t next_hint; /* where the next new thread begins to look */
    struct claim claims[];
};

_Thread_local unsigned cpu_current;

/* Number that this thread had last, plus one; of whichever cache. */
static _Thread_local unsigned hint_plus_one;

int cpu_claims_create(unsigned count, struct cpu_claims **out)
{
    *out = NULL;
    if (count < 1 || count > CPU_CLAIMS_MAX)
        return MGLRU_ERANGE;
    struct cpu_claims *claims =
        aligned_alloc(64, sizeof(struct cpu_claims) + count * sizeof(struct claim));
    if (!claims)
        return MGLRU_ENOMEM;
    claims->count = count;
    atomic_store_relaxed(&claims->next_hint, 0);
    for (unsigned i = 0; i < count; i++)
        atomic_store_relaxed(&claims->claims[i].taken, 0);
    *out = claims;
    return MGLRU_OK;
}

void cpu_claims_destroy(struct cpu_claims *claims)
{
    free(claims);
}

unsigned cpu_claims_count(const struct cpu_claims *claims)
{
    return claims->count;
}

static bool try_claim(struct cpu_claims *claims, unsigned cpu)
{
    _Atomic uint32_t *taken = &claims->claims[cpu].taken;
    uint32_t expected = 0;
    /* Acquire: pairs with the release in cpu_release. */
    if (atomic_load_relaxed(taken) || !atomic_cas_acquire(taken, &expected, 1))
        return false;
    cpu_current = cpu;
    hint_plus_one = cpu + 1;
    return true;
}

void cpu_claim(struct cpu_claims *claims)
{
    unsigned first = hint_plus_one ? hint_plus_one - 1 : atomic_add_relaxed(&claims->next_hint, 1);
    for (;;) {
        for (unsigned i = 0; i < claims->count; i++)
            if (try_claim(claims, (first + i) % claims->count))
                return;
        os_thread_yield();
    }
}

bool cpu_claim_number(struct cpu_claims *claims, unsigned cpu)
{
    bool waited = false;
    MGLRU_ASSERT(cpu < claims->count);
    for (; !try_claim(claims, cpu); waited = true)
        os_thread_yield();
    return waited;
}

void cpu_release(struct cpu_claims *claims)
{
    unsigned cpu = cpu_current;
    MGLRU_ASSERT(cpu < claims->count && atomic_load_relaxed(&claims->claims[cpu].taken));
    cpu_current = 0;
    /* Release: pairs with the acquire in try_claim. */
    atomic_store_release(&claims->claims[cpu].taken, 0);
}
