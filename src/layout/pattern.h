/* SPDX-License-Identifier: MIT */
/* Reads the paths of class files: see classes.h for what they mean. Private to layout/. */
#ifndef LAYOUT_PATTERN_H
#define LAYOUT_PATTERN_H

#include "layout/classes.h"

/*
 * Reads "TYPE.FIELD" in @text. @reason: a static text that says what was expected, when the result
 * is MGLRU_EINVAL. @pattern: filled in; after an error whatever layout_pattern_free() can free.
 * 0; MGLRU_EINVAL; MGLRU_ENOMEM.
 */
int layout_pattern_parse(const char *text, struct layout_pattern *pattern, const char **reason);
void layout_pattern_free(struct layout_pattern *pattern);

/* Length of the type's name at the start of @text, up to the dot behind it; 0: there is none. */
size_t layout_pattern_type_length(const char *text);

#endif
