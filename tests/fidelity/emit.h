/* SPDX-License-Identifier: MIT */
/* Writes a script as a native trace, and sorts the miss bits that a replay of it gives by part. */
#ifndef FIDELITY_EMIT_H
#define FIDELITY_EMIT_H

#include <stdint.h>

#include "drive.h"
#include "scenario.h"

/* @offset_ns is added to every time. 0, or MGLRU_EIO when the file cannot be written. */
int emit_trace(const struct script *script, uint64_t offset_ns, const char *path);

/*
 * Takes the bits of a whole replay, in order of accesses, apart into the parts of the script.
 * Only bits, accesses and misses of @out are filled. MGLRU_EINVAL: fewer bits than accesses;
 * MGLRU_ENOMEM.
 */
int emit_split_bits(const struct script *script, const uint8_t *bits, uint64_t bit_count,
                    struct drive_result *out);

#endif
