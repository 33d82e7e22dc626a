/* SPDX-License-Identifier: MIT */
/*
 * The second way: the script as a native trace through `mglru replay`, as users and others who
 * check this project run it. Both ways must agree on every single access.
 */
#ifndef FIDELITY_THROUGH_H
#define FIDELITY_THROUGH_H

#include "drive.h"

/*
 * Writes the trace to a temporary folder, replays it with @program (a path), and sorts the miss
 * bits by part. Of @options it takes the model and the schedule, which must be one of time.
 * @out: bits, accesses and misses. MGLRU_EIO: the program failed or wrote something else;
 * MGLRU_ENOMEM.
 */
int through_replay(const char *program, const struct script *script,
                   const struct drive_options *options, struct drive_result *out);

#endif
