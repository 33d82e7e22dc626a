/* SPDX-License-Identifier: MIT */
/*
 * Whom a recording follows: a command that waits for its start, a process, or what is in a cgroup
 * and below it. And which memcg of the trace each thread belongs to: a command or a process counts
 * as one memcg with its name, threads of a cgroup as that of the cgroup they are in.
 */
#ifndef RECORD_TARGET_H
#define RECORD_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/mounts.h"
#include "record/record.h"

struct target;
struct tracing;

/* Finds the process or cgroup, or makes the process of the command, which waits. MGLRU_EINVAL: it
 * is not there; MGLRU_EPERM, MGLRU_ENOMEM. */
int target_open(const struct record_options *options, const struct mounts *mounts,
                struct target **out, struct record_error *error);

/* Gives all threads to the instance. MGLRU_EINVAL: the process ended meanwhile; MGLRU_EIO. */
int target_follow(struct target *target, struct tracing *tracing, struct record_error *error);

/* Lets the command go on to what it is. MGLRU_EINVAL: it cannot be run; MGLRU_EIO. */
int target_start(struct target *target, struct record_error *error);

/* Adds threads that came to the cgroup otherwise than by a fork. False: the cgroup is gone. */
bool target_refresh(struct target *target, struct tracing *tracing);

/* Readable once the command or process has ended; -1: the target is a cgroup. */
int target_end_fd(const struct target *target);

/* Sends @signal to the command, if it runs. */
void target_signal(struct target *target, int signal);

/* Hands a command that runs over to @report, for record_wait. */
void target_hand_over(struct target *target, struct record_report *report);

/* Number and name of the memcg of a thread. Numbers start at 0 and are dense. */
uint32_t target_memcg_of(struct target *target, int32_t pid);
const char *target_memcg_name(const struct target *target, uint32_t memcg);

/* The folder of the target's memory cgroup; NULL: unknown. */
const char *target_cgroup_folder(const struct target *target);

/* Ends a command that was not started. NULL is ignored. */
void target_close(struct target *target);

#endif
