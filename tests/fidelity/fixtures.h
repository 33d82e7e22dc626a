/* SPDX-License-Identifier: MIT */
/*
 * Fixtures: recordings cut down to what a comparison needs, small enough to live in this
 * repository. They keep the shape of the recordings, so that one loader serves both, with miss
 * vectors packed; real programs have one native trace and the totals of each boot.
 */
#ifndef FIDELITY_FIXTURES_H
#define FIDELITY_FIXTURES_H

#include "real.h"
#include "recording.h"

/* Writes the fixture of a loaded recording. MGLRU_EIO, MGLRU_ENOMEM. */
int fixture_write(const struct oracle_file *file, const char *path);

/*
 * Writes the JSON of a boot at @path. @limited: the reads of the run with a limit of
 * @limited_kb, for its miss vector; NULL: there is none. MGLRU_EIO, MGLRU_ENOMEM.
 */
int fixture_write_boot(struct json_object *boot, const struct real_stream *limited,
                       uint64_t limited_kb, const char *path);

#endif
