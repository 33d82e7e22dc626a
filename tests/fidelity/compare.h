/* SPDX-License-Identifier: MIT */
/* Plays one recording and makes its rows of the table. */
#ifndef FIDELITY_COMPARE_H
#define FIDELITY_COMPARE_H

#include <stdbool.h>
#include <stdio.h>

#include "drive.h"
#include "recording.h"
#include "table.h"

#define COMPARE_ERROR_BYTES 512

/* What is asked for, and what came of it so far. */
struct compare {
    const char *model;    /* NULL: the recording's kernel */
    const char *schedule; /* NULL: the stated one, and for classic the range over all */
    bool stated_only;     /* the range only where the bound is one over schedules */
    bool all_schedules;   /* the range for every mode */
    const char *through;  /* path of mglru: replay must give the same bits; NULL: not tried */
    FILE *verbose;        /* counters of each sample beside the kernel's; NULL: none */
    FILE *progress;       /* rows as they come; NULL: none */
    struct table table;
    char error[COMPARE_ERROR_BYTES]; /* one line, when a call fails */
};

/*
 * Appends the recording's rows to the table. 0, or a MGLRU_E code and the error line when the
 * library could not run it (an OOM is a result).
 */
int compare_recording(const struct recording *recording, struct compare *compare);

/* Appends a row and shows it. 0 or MGLRU_ENOMEM. */
int compare_add(struct compare *compare, const struct row *row);

/* Prints the counters and generations of each sample, the kernel's beside ours. */
void verbose_samples(FILE *out, const struct recording *recording, const struct script *script,
                     const struct drive_result *result);

#endif
