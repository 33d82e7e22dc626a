/* SPDX-License-Identifier: MIT */
/* The subjects of `mglru bench hit` that come with the program. */
#ifndef MEASURE_SUBJECTS_H
#define MEASURE_SUBJECTS_H

#include "measure/subject.h"

/* A cache with frames of this library, small pages or huge ones, one memcg with a limit. */
extern const struct measure_subject measure_ours;
extern const struct measure_subject measure_ours_huge;
/* What a program would write first: one mutex, a list in the order of use, a hash map. */
extern const struct measure_subject measure_mutex;
/* No memory at all: how much faster two threads are than one on this machine, at best. */
extern const struct measure_subject measure_control;

#endif
