/* SPDX-License-Identifier: MIT */
/*
 * The files that `mglru replay` writes. They are opened before the replay, so that a name that
 * cannot be written is noticed at once, and appear complete or not at all.
 */
#ifndef CLI_MGLRU_REPLAY_OUTPUTS_H
#define CLI_MGLRU_REPLAY_OUTPUTS_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/mglru/replay_args.h"
#include "replay/result.h"
#include "report/out.h"
#include "trace/writer.h"

struct replay_outputs {
    struct report_out json;
    struct report_out csv;
    struct trace_writer *native;  /* made with the first records, which tell the page size */
    struct report_out *miss_bits; /* by number of specification; NULL: not wanted */
    size_t miss_bits_count;
    bool stdout_taken; /* one of them is standard output */
};

/* Opens what @args names. A MGLRU_E code; @error says what was refused. */
int replay_outputs_open(struct replay_outputs *outputs, const struct replay_args *args,
                        struct report_error *error);

/* Adds records to the native trace. A MGLRU_E code; @error says what was refused. */
int replay_outputs_native(struct replay_outputs *outputs, const struct replay_args *args,
                          const struct replay_records *records, struct replay_error *error);

/* Writes table, files and plot of @result and completes everything. */
int replay_outputs_finish(struct replay_outputs *outputs, const struct replay_args *args,
                          const struct replay_result *result, struct report_error *error);

/* Gives up what is still open; nothing partial stays. */
void replay_outputs_abandon(struct replay_outputs *outputs);

#endif
