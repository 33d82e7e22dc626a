/* SPDX-License-Identifier: MIT */
/* Numbers as people read them; see number.h. */
#include "report/number.h"

#include <inttypes.h>
#include <stdio.h>

void report_number_size(uint64_t size_bytes, char *text, size_t bytes)
{
    static const char units[] = "KMGTPE";
    /* Largest unit that divides the size in tenths, so that the text is never rounded. */
    for (int unit = 5; unit >= 0; unit--) {
        uint64_t scale = UINT64_C(1) << (10 * (unit + 1));
        uint64_t whole = size_bytes / scale;
        uint64_t rest = size_bytes % scale;
        if (whole == 0)
            continue;
        if (rest == 0) {
            snprintf(text, bytes, "%" PRIu64 "%c", whole, units[unit]);
            return;
        }
        /* rest < 2^60, so ten times it fits in 64 bits. */
        if (whole < 100 && rest * 10 % scale == 0) {
            snprintf(text, bytes, "%" PRIu64 ".%" PRIu64 "%c", whole, rest * 10 / scale,
                     units[unit]);
            return;
        }
    }
    snprintf(text, bytes, "%" PRIu64, size_bytes);
}

void report_number_count(uint64_t count, char *text, size_t bytes)
{
    char digits[24];
    int length = snprintf(digits, sizeof(digits), "%" PRIu64, count);
    size_t used = 0;
    for (int i = 0; i < length && used + 2 < bytes; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            text[used++] = ',';
        text[used++] = digits[i];
    }
    text[used] = '\0';
}

void report_number_percent(uint64_t part, uint64_t whole, char *text, size_t bytes)
{
    if (whole == 0)
        snprintf(text, bytes, "-");
    else
        snprintf(text, bytes, "%.2f%%", 100.0 * (double)part / (double)whole);
}
