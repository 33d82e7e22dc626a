/* SPDX-License-Identifier: MIT */
/*
 * What the screen can show. The environment is read directly, since the programs never call
 * setlocale(): numbers in reports must not change with the locale.
 */
#include "report/report.h"

#include <stdlib.h>
#include <strings.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define COLUMNS_DEFAULT 80
#define COLUMNS_MIN 40
#define COLUMNS_MAX 400 /* chosen: beyond it a line is no longer read */

static bool locale_is_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value = getenv(names[i]);
        if (value != NULL && value[0] != '\0') /* the first one that is set decides */
            return strcasestr(value, "utf-8") != NULL || strcasestr(value, "utf8") != NULL;
    }
    return false;
}

static unsigned columns_of(int fd)
{
    struct winsize size;
    const char *text = getenv("COLUMNS");
    long columns = text != NULL ? strtol(text, NULL, 10) : 0;
    if (columns <= 0 && ioctl(fd, TIOCGWINSZ, &size) == 0)
        columns = size.ws_col;
    if (columns <= 0)
        columns = COLUMNS_DEFAULT;
    if (columns < COLUMNS_MIN)
        columns = COLUMNS_MIN;
    return columns > COLUMNS_MAX ? COLUMNS_MAX : (unsigned)columns;
}

void report_style_detect(FILE *stream, struct report_style *style)
{
    int fd = fileno(stream);
    style->terminal = fd >= 0 && isatty(fd);
    style->unicode = locale_is_utf8();
    style->columns = columns_of(fd);
}
