/* SPDX-License-Identifier: MIT */
/* Text into HTML; see html.h. */
#include "report/html.h"

void report_html_text(struct report_out *out, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '<':
            report_printf(out, "&lt;");
            break;
        case '>':
            report_printf(out, "&gt;");
            break;
        case '&':
            report_printf(out, "&amp;");
            break;
        case '"':
            report_printf(out, "&quot;");
            break;
        default:
            report_write(out, text, 1);
            break;
        }
    }
}
