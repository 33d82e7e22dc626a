/* SPDX-License-Identifier: MIT */
/* The ops tables behind policy_find() and policy_at(), one a file. For the registry alone. */
#ifndef POLICY_BASELINES_H
#define POLICY_BASELINES_H

#include "policy/policy.h"

extern const struct policy_ops policy_lru;
extern const struct policy_ops policy_fifo;
extern const struct policy_ops policy_clock;
extern const struct policy_ops policy_twoq;
extern const struct policy_ops policy_arc;
extern const struct policy_ops policy_lirs;
extern const struct policy_ops policy_s3fifo;
extern const struct policy_ops policy_sieve;
extern const struct policy_ops policy_wtinylfu;
extern const struct policy_ops policy_belady;

#endif
