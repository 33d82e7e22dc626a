/* SPDX-License-Identifier: MIT */
/* The models' data at this level; see params.h. */
#include "memcg/params.h"

#include <stddef.h>

const struct memcg_params memcg_params_612 = {
    .name = "6.12",
    .stock_slots = 1,
    .stock_forgets_flag = true,
};

const struct memcg_params memcg_params_73 = {
    .name = "7.3",
    .stock_slots = 7,
    .protection_clamped = true,
    .rejected_raises_max = true,
    .reparents = true,
};

const struct memcg_params memcg_params_ours = {
    .name = "ours",
    .stock_slots = 7,
    .stock_trims = true,
    .protection_clamped = true,
    .rejected_raises_max = true,
    .reparents = true,
};
