/* SPDX-License-Identifier: MIT */
/*
 * Numbers that stand for CPUs: per-CPU counters, stocks and batches are indexed by them. A thread
 * that works on a shared cache claims a number for as long as it does not wait for anything, as a
 * kernel thread has its CPU while preemption is off. So any number of threads, which never
 * register, share as few per-CPU parts as the machine can use at once.
 *
 * Guarantees: (A) a number is claimed by one thread at a time; (B) what was written under a claim
 * is seen by the next claimant of the number; (C) outside of a claim cpu_current is 0, the only
 * number of a cache of one thread. Progress: a claim waits while all numbers are taken; who
 * holds one neither sleeps nor does I/O.
 */
#ifndef SYNC_CPU_H
#define SYNC_CPU_H

#include <stdbool.h>
#include <stdint.h>

#include <mglru/error.h>

#include "base/check.h"

/* Chosen: more than the CPUs of the machines that documents 000 to 004 measured. */
#define CPU_CLAIMS_MAX 256u

/* The number that this thread works under. The model of access costs one instruction; libmglru.so
 * needs four bytes of static thread storage for it. */
extern _Thread_local unsigned cpu_current __attribute__((tls_model("initial-exec")));

struct cpu_claims;

/* Makes @count (1..CPU_CLAIMS_MAX) free numbers, 0 .. @count - 1. MGLRU_ERANGE, MGLRU_ENOMEM. */
int cpu_claims_create(unsigned count, struct cpu_claims **out);

/* Nobody holds a claim. NULL is allowed. */
void cpu_claims_destroy(struct cpu_claims *claims);

/* How many numbers there are. */
unsigned cpu_claims_count(const struct cpu_claims *claims);

/* Claims a number, preferably the one that this thread had last, and sets cpu_current. Claims do
 * not nest. Waits (yielding) while all are taken. */
void cpu_claim(struct cpu_claims *claims);

/* Claims the number @cpu, waiting for it; whether it had to. */
bool cpu_claim_number(struct cpu_claims *claims, unsigned cpu);

/* Gives the number of this thread back. */
void cpu_release(struct cpu_claims *claims);

#endif
