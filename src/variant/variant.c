/* SPDX-License-Identifier: MIT */
/* The one name of a build that others see: VARIANT_BUILD, as the build says. */
#include "variant/variant.h"

#if MGLRU_LAYOUT == MGLRU_LAYOUT_BEFORE
#define LAYOUT_NAME "before"
#elif MGLRU_LAYOUT == MGLRU_LAYOUT_AFTER
#define LAYOUT_NAME "after"
#else
#define LAYOUT_NAME "ours"
#endif

static const struct work *const works[] = {
    &refault_work,     &rstat_work,      &page_fault1_work, &page_fault2_work,
    &page_fault3_work, &fallocate1_work, &fallocate2_work,  NULL,
};

#ifdef MGLRU_RECORD_LOCKS
static const struct work_recorder recorder = {inside_watch, inside_begin, inside_end};
#define RECORDER &recorder
#else
#define RECORDER NULL
#endif

extern const struct work_build VARIANT_BUILD;
const struct work_build VARIANT_BUILD __attribute__((visibility("default"))) = {
    .layout = LAYOUT_NAME,
    .works = works,
    .recorder = RECORDER,
};
