/* SPDX-License-Identifier: MIT */
/* Shorthands over json-c for reading documents whose shape is known: absent means 0 or "". */
#ifndef FIDELITY_JSON_H
#define FIDELITY_JSON_H

#include <stdarg.h>
#include <stdint.h>

#include <json-c/json.h>

/* Descends by names, the last one NULL. NULL where one is missing. */
static inline json_object *json_path(json_object *object, const char *name, ...)
{
    va_list names;
    va_start(names, name);
    for (; name && object; name = va_arg(names, const char *))
        if (!json_object_object_get_ex(object, name, &object))
            object = NULL;
    va_end(names);
    return object;
}

static inline uint64_t json_number(json_object *object, const char *name)
{
    json_object *value = NULL;
    if (!object || !json_object_object_get_ex(object, name, &value))
        return 0;
    return (uint64_t)json_object_get_int64(value);
}

static inline const char *json_text(json_object *object, const char *name)
{
    json_object *value = NULL;
    if (!object || !json_object_object_get_ex(object, name, &value))
        return "";
    const char *text = json_object_get_string(value);
    return text ? text : "";
}

#endif
