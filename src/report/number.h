/* SPDX-License-Identifier: MIT */
/* Numbers as people read them: 32M, 400,000, 52.55%. All write a NUL and never more than @bytes. */
#ifndef REPORT_NUMBER_H
#define REPORT_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#define REPORT_NUMBER_BYTES 32 /* enough for any of them: 20 digits, 6 commas, sign and unit */

/* Powers of 1024: 32M is exact, decimals say that the number is rounded: 26.0M, 1.50G. */
void report_number_size(uint64_t size_bytes, char *text, size_t bytes);

/* Thousands apart: 400,000. */
void report_number_count(uint64_t count, char *text, size_t bytes);

/* @part / @whole with 2 decimals and a percent sign: 52.55%; "-" when @whole is 0. */
void report_number_percent(uint64_t part, uint64_t whole, char *text, size_t bytes);

#endif
