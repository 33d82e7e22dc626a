/* SPDX-License-Identifier: MIT */
/*
 * Keys of 64 bits as pages: the low 52 bits are the page, the high 12 bits choose the object
 * ("keys" for 0, else "keys.fff"), so that no two keys fall together. Formats that call key_emit
 * have a struct key_objects at the start of their state.
 */
#ifndef TRACE_FORMAT_KEY_H
#define TRACE_FORMAT_KEY_H

#include <stdio.h>

#include "trace/format.h"

#define KEY_PAGE_BITS 52

/* The object of the key before; most traces have one. */
struct key_objects {
    uint32_t object;
    uint16_t high;
    bool known;
};

/* Interns "/" and the object for the high bits of @key. */
static inline int key_object(struct trace_reader *reader, uint64_t key, struct trace_error *error)
{
    struct key_objects *objects = reader->state;
    uint32_t root;
    unsigned high = (unsigned)(key >> KEY_PAGE_BITS);
    char name[16];
    int bytes = high ? snprintf(name, sizeof(name), "keys.%03x", high)
                     : snprintf(name, sizeof(name), "keys");
    int rc = 0;
    /* A csv trace may have named memcgs of its own. */
    if (reader->memcgs.count == 0)
        rc = format_name(reader, &reader->memcgs, (struct scan_field){"/", 1}, &root, error);
    if (!rc)
        rc = format_name(reader, &reader->objects, (struct scan_field){name, (size_t)bytes},
                         &objects->object, error);
    objects->high = (uint16_t)high;
    objects->known = rc == 0;
    return rc;
}

/* Adds a read of the page of @key to the batch, which has room. */
static inline int key_emit(struct trace_reader *reader, uint64_t key, struct format_batch *batch,
                           struct trace_error *error)
{
    struct key_objects *objects = reader->state;
    if (!objects->known || key >> KEY_PAGE_BITS != objects->high) {
        int rc = key_object(reader, key, error);
        if (rc)
            return rc;
    }
    struct trace_record *record = format_record(reader, batch, TRACE_READ);
    record->page = key & TRACE_PAGE_MAX;
    record->object = objects->object;
    return 0;
}

#endif
