/* SPDX-License-Identifier: MIT */
/* Recorded writes to lru_gen, enabled, min_ttl_ms and memory.reclaim, played and compared. */
#ifndef FIDELITY_COMMANDS_H
#define FIDELITY_COMMANDS_H

#include "compare.h"
#include "recording.h"

/*
 * cmds: every write must give the recorded errno, and knobs must read back the same.
 * age: every command its errno and its numbers of generations, and after each phase the
 * generations must be the recorded ones with the population in the recorded places.
 * Appends one row for each kind of check. 0, or a MGLRU_E code with an error line.
 */
int commands_compare(const struct oracle_file *file, struct compare *compare);

#endif
