/* SPDX-License-Identifier: MIT */
/* Subjects of a shared object. */
#ifndef MEASURE_RIVALS_H
#define MEASURE_RIVALS_H

#include "measure/measure.h"
#include "measure/subject.h"

/*
 * Loads @result->rival from @path; *@out is its list, as long as it is loaded.
 * 0; MGLRU_ENOENT, MGLRU_EINVAL, with the line in @result->error.
 */
int rivals_load(struct measure_result *result, const char *path,
                const struct measure_subject **out);
void rivals_unload(void *rival);

#endif
