/* SPDX-License-Identifier: MIT */
/* Included before src/reclaim/aging.c in the test of its properties: counts its splices (P6). */
#ifndef TESTS_COUNT_SPLICES_H
#define TESTS_COUNT_SPLICES_H

#include "base/list.h"

extern unsigned long counted_splices;

#define list_cut_to_tail(to, from, last) (counted_splices++, list_cut_to_tail(to, from, last))

#endif
