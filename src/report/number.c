/* SPDX-License-Identifier: MIT */
/* Numbers as people read them; see number.h. */
#include "report/number.h"

#include <inttypes.h>
#include <stdio.h>

void report_number_size(uint64_t size_bytes, char *text, size_t bytes)
{
    static const char units[] = "KMGTPE";
    int unit = 5;
    while (unit >= 0 && size_bytes >> (10 * (unit + 1)) == 0)
        unit--;
    if (unit < 0) {
        snprintf(text, bytes, "%" PRIu64, size_bytes);
        return;
    }
    double size = (double)size_bytes / (double)(UINT64_C(1) << (10 * (unit + 1)));
    int digits = size_bytes % (UINT64_C(1) << (10 * (unit + 1))) == 0 ? 0 : size < 10 ? 2 : 1;
    snprintf(text, bytes, "%.*f%c", digits, size, units[unit]);
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
