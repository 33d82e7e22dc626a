/* SPDX-License-Identifier: MIT */
/* What the pages of HTML share. */
#ifndef REPORT_HTML_H
#define REPORT_HTML_H

#include "report/out.h"

/* @text with the characters escaped that mean something in HTML, also within quotes. */
void report_html_text(struct report_out *out, const char *text);

/* A page of linewise: begin, contents, end. Its style is in it; it has no scripts and loads
 * nothing. */
void report_html_begin(struct report_out *out, const char *title);
void report_html_end(struct report_out *out);

#endif
