/* SPDX-License-Identifier: MIT */
/* What the pages of HTML share. */
#ifndef REPORT_HTML_H
#define REPORT_HTML_H

#include "report/out.h"

/* @text with the characters escaped that mean something in HTML, also within quotes. */
void report_html_text(struct report_out *out, const char *text);

#endif
