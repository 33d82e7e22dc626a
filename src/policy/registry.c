/* SPDX-License-Identifier: MIT */
/* The list of baseline policies, in the order in which help and reports show them. */
#include <string.h>

#include "base/check.h"
#include "policy/baselines.h"

static const struct policy_ops *const policies[] = {
    &policy_lru,  &policy_fifo,   &policy_clock, &policy_twoq,     &policy_arc,
    &policy_lirs, &policy_s3fifo, &policy_sieve, &policy_wtinylfu, &policy_belady,
};

const struct policy_ops *policy_find(const char *name)
{
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(policies); i++)
        if (strcmp(policies[i]->name, name) == 0)
            return policies[i];
    return NULL;
}

const struct policy_ops *policy_at(size_t i)
{
    return i < MGLRU_ARRAY_LEN(policies) ? policies[i] : NULL;
}
