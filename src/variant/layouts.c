/* SPDX-License-Identifier: MIT */
/* The builds that are linked into a program. */
#include "measure/work.h"

extern const struct work_build work_before_timed, work_before_recorded, work_after_timed,
    work_after_recorded, work_ours_timed, work_ours_recorded;

const struct work_layout work_layouts[] = {
    {"before", &work_before_timed, &work_before_recorded},
    {"after", &work_after_timed, &work_after_recorded},
    {"ours", &work_ours_timed, &work_ours_recorded},
};
const size_t work_layout_count = sizeof(work_layouts) / sizeof(work_layouts[0]);
