/* SPDX-License-Identifier: MIT */
/*
 * Small numbers for threads: dense, from 0, given out at the first call of a thread and taken back
 * when it ends. No call registers or unregisters; the number indexes per-thread lines.
 *
 * Guarantees: (A) no two living threads have the same number below SLOT_MAX; (B) what a thread
 * wrote before it ended is seen by the next owner of its number; (C) a number does not change
 * while its thread lives. Progress: slot_current is wait-free after the first call of a thread.
 */
#ifndef SYNC_SLOT_H
#define SYNC_SLOT_H

#include "base/check.h"

/* Chosen: more threads than any machine has CPUs; the map of free numbers stays at 64 words. */
#define SLOT_MAX 4096u
/* Given when SLOT_MAX threads live: the caller has to use its shared, atomic path. */
#define SLOT_NONE SLOT_MAX

/* This thread's number plus one; 0 before the first call. The model of access costs one
 * instruction. */
extern _Thread_local unsigned slot_plus_one __attribute__((tls_model("initial-exec")));

/* Out of line part of slot_current: the first call of a thread. */
unsigned slot_assign(void);

/* The number of the calling thread: below SLOT_MAX, or SLOT_NONE. Any thread, never blocks long. */
static inline unsigned slot_current(void)
{
    return MGLRU_LIKELY(slot_plus_one) ? slot_plus_one - 1 : slot_assign();
}

/* Numbers in use now; for tests and reports. */
unsigned slot_count(void);

#endif
