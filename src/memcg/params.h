/* SPDX-License-Identifier: MIT */
/*
 * What differs between the modelled kernels at this level. Model data, not code: the functions of
 * memcg/ have no version checks. Reasons and rows: mglru-facts 6, 7 and 10.
 */
#ifndef MEMCG_PARAMS_H
#define MEMCG_PARAMS_H

#include <stdbool.h>
#include <stdint.h>

struct memcg_params {
    const char *name;
    uint8_t stock_slots;      /* memcgs that one CPU can hold prepaid pages for: 1 or 7 */
    bool stock_trims;         /* an overfull slot gives up its excess instead of everything */
    bool stock_forgets_flag;  /* row 33: the flushing mark of an isolated CPU stays set */
    bool protection_clamped;  /* row 31 */
    bool rejected_raises_max; /* row 32: a charge refused without reclaim raises the event too */
    bool reparents;           /* a removed memcg hands its pages, their charges and its counters
                                   to its parent (row 41); else it keeps them until they are gone */
};

extern const struct memcg_params memcg_params_612;
extern const struct memcg_params memcg_params_73; /* of 7.3 and next */
extern const struct memcg_params memcg_params_ours;

#endif
