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

static const char style[] =
    "<style>\n"
    ":root{--bg:#fff;--fg:#1c1c1c;--dim:#666;--edge:#999;--hole:#e8e8e8;--none:#f6f6f6;\n"
    "--R:#cfe6ff;--L:#d9f0d2;--A:#ffd0c7;--O:#e9dcff;--C:#ededed;--bad:#b3001b;--warn:#9a6700}\n"
    "@media(prefers-color-scheme:dark){:root{--bg:#181818;--fg:#e6e6e6;--dim:#a0a0a0;\n"
    "--edge:#666;--hole:#2c2c2c;--none:#222;--R:#17406b;--L:#22502a;--A:#74271c;--O:#45306b;\n"
    "--C:#333;--bad:#ff7b72;--warn:#e3b341}}\n"
    "body{background:var(--bg);color:var(--fg);font:14px/1.4 system-ui,sans-serif;\n"
    "margin:1.5rem auto;max-width:1200px;padding:0 1rem}\n"
    "h2{margin:1.5rem 0 .3rem}.dim{color:var(--dim)}\n"
    ".line{display:flex;align-items:stretch;margin:2px 0}\n"
    ".no{flex:0 0 11rem;text-align:right;padding-right:.6rem;font-variant-numeric:tabular-nums}\n"
    ".bar{display:flex;flex:1;border:1px solid var(--edge);min-height:2.6rem;min-width:0}\n"
    ".cell{border-right:1px solid var(--edge);overflow:hidden;padding:1px 3px;min-width:2px;\n"
    "white-space:nowrap;text-overflow:ellipsis;flex-basis:0;background:var(--none)}\n"
    ".cell:last-child{border-right:0}.cell small{display:block;color:var(--dim)}\n"
    ".R{background:var(--R)}.L{background:var(--L)}.A{background:var(--A)}\n"
    ".O{background:var(--O)}.C{background:var(--C)}\n"
    ".gap{background:repeating-linear-gradient(45deg,var(--hole),var(--hole) 4px,\n"
    "transparent 4px,transparent 8px);color:var(--dim)}\n"
    ".error{border:2px solid var(--bad)}.warning{border:2px solid var(--warn)}\n"
    ".says{margin:0 0 .4rem 11rem}.says.error{border:0;color:var(--bad)}\n"
    ".says.warning{border:0;color:var(--warn)}\n"
    "table{border-collapse:collapse;margin:.6rem 0}td,th{padding:1px 10px 1px 0;text-align:left}\n"
    ".n{text-align:right;font-variant-numeric:tabular-nums}\n"
    ".key span{display:inline-block;padding:0 .5rem;margin-right:.4rem;\n"
    "border:1px solid var(--edge)}\n"
    "</style>\n";

void report_html_begin(struct report_out *out, const char *title)
{
    report_printf(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
                       "<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
    report_html_text(out, title);
    report_printf(out, "</title>\n%s", style);
    report_printf(out, "<h1>");
    report_html_text(out, title);
    report_printf(out, "</h1>\n");
}

void report_html_end(struct report_out *out)
{
    report_printf(out, "</html>\n");
}
