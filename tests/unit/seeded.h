/* SPDX-License-Identifier: MIT */
/*
 * Random tests that can be repeated: each case gets a seed; a failed check names it.
 * MGLRU_TEST_SEED=N in the environment runs that one seed instead of the usual ones.
 * Include after <cmocka.h>.
 */
#ifndef TESTS_SEEDED_H
#define TESTS_SEEDED_H

#include <stdint.h>
#include <stdlib.h>

struct seeded {
    uint64_t seed;
    uint64_t state;
    unsigned long step; /* set by the case, for the message */
};

/* splitmix64 (Steele, Lea, Flood, OOPSLA 2014). */
static inline uint64_t seeded_next(struct seeded *s)
{
    uint64_t z = s->state += 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

/* A number below @bound > 0. */
static inline unsigned long seeded_below(struct seeded *s, unsigned long bound)
{
    return (unsigned long)(seeded_next(s) % bound);
}

/* Runs @body for seeds 1..@count, or for the one of the environment. */
static inline void seeded_cases(unsigned count, void (*body)(struct seeded *))
{
    const char *only = getenv("MGLRU_TEST_SEED");
    uint64_t first = only ? strtoull(only, NULL, 0) : 1;
    uint64_t last = only ? first : count;
    for (uint64_t seed = first; seed <= last; seed++) {
        struct seeded s = {.seed = seed, .state = seed};
        body(&s);
    }
}

#define SEEDED_CHECK(s, cond)                                                                      \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            print_error("step %lu fails; repeat with MGLRU_TEST_SEED=%llu: %s\n", (s)->step,       \
                        (unsigned long long)(s)->seed, #cond);                                     \
            fail();                                                                                \
        }                                                                                          \
    } while (0)

#endif
