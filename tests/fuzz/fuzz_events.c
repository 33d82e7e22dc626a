/* SPDX-License-Identifier: MIT */
/*
 * What the recorder reads from the kernel: bytes of events and the text of the mount table. The
 * first byte says how many bytes of text follow; the rest are events of EVENT_BYTES bytes. Whatever
 * they are:
 *
 *   - an event that was taken lies in the bytes and has pages that a trace can name,
 *   - accesses have pages, lie in files that were counted, and end at or before 2^52,
 *   - writes and frees that were joined are as many pages as were emitted.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "base/check.h"
#include "record/event.h"
#include "record/mounts.h"
#include "record/rules.h"

#define EVENT_BYTES 48
#define EVENTS_MAX 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
    const struct rules *rules;
    uint64_t accesses;
};

static int on_access(void *context, const struct rules_access *access)
{
    struct seen *seen = context;
    MGLRU_CHECK(access->file < rules_files(seen->rules));
    MGLRU_CHECK(access->count > 0);
    MGLRU_CHECK(access->page <= TRACE_PAGE_MAX);
    MGLRU_CHECK(access->count - 1 <= TRACE_PAGE_MAX - access->page);
    seen->accesses++;
    return MGLRU_OK;
}

static uint32_t memcg_of(void *context, int32_t pid)
{
    (void)context;
    return (uint32_t)pid % 3;
}

/* Fields as a kernel has them, for all kinds: the second byte of an event chooses one. */
static void make_layouts(struct event_layout *layouts)
{
    for (size_t i = 0; i < event_sources_count; i++) {
        struct event_layout *layout = &layouts[i];
        const char *const *names = event_sources[i].fields;
        static const uint16_t places[EVENT_FIELDS][2] = {
            [EVENT_FIELD_PID] = {2, 4},    [EVENT_FIELD_DEVICE] = {6, 4},
            [EVENT_FIELD_INODE] = {10, 8}, [EVENT_FIELD_FIRST] = {18, 8},
            [EVENT_FIELD_LAST] = {26, 8},  [EVENT_FIELD_ORDER] = {34, 1},
            [EVENT_FIELD_BDI] = {34, 16}};
        layout->source = &event_sources[i];
        layout->type = (uint16_t)i;
        for (size_t field = 0; field < EVENT_FIELDS; field++)
            if (names[field] != NULL) {
                layout->fields[field].offset = places[field][0];
                layout->fields[field].bytes = places[field][1];
            }
    }
}

static void take_events(struct rules *rules, const uint8_t *data, size_t size)
{
    struct event_layout *layouts = calloc(event_sources_count, sizeof(*layouts));
    MGLRU_CHECK(layouts != NULL);
    make_layouts(layouts);
    for (unsigned n = 0; size > 0 && n < EVENTS_MAX; n++) {
        const size_t bytes = size < EVENT_BYTES ? size : EVENT_BYTES;
        /* A copy of its own, so that a read behind the end is seen. */
        uint8_t *copy = malloc(bytes);
        MGLRU_CHECK(copy != NULL);
        memcpy(copy, data, bytes);
        struct event event;
        const struct event_layout *layout =
            event_layout_of(layouts, event_sources_count, copy, bytes);
        if (layout != NULL && event_decode(layout, copy, bytes, &event)) {
            MGLRU_CHECK(event.first <= event.last);
            MGLRU_CHECK(event.last <= TRACE_PAGE_MAX);
            MGLRU_CHECK(memchr(event.bdi, '\0', sizeof(event.bdi)) != NULL);
            event.time_ns = n;
            MGLRU_CHECK(rules_take(rules, &event) == MGLRU_OK);
        }
        free(copy);
        data += bytes;
        size -= bytes;
    }
    MGLRU_CHECK(rules_flush(rules) == MGLRU_OK);
    free(layouts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const size_t text_bytes = data[0] < size - 1 ? data[0] : size - 1;
    char *text = calloc(1, text_bytes + 1);
    struct mounts mounts;
    MGLRU_CHECK(text != NULL);
    memcpy(text, data + 1, text_bytes);
    MGLRU_CHECK(mounts_parse(&mounts, text) == MGLRU_OK);
    free(text);
    for (size_t i = 0; i < mounts.count; i++)
        memcpy(mounts.items[i].bdi, "254:0", sizeof("254:0"));

    struct seen seen = {0};
    const struct rules_hooks hooks = {on_access, memcg_of, &seen};
    struct rules *rules = rules_create(&hooks, &mounts);
    MGLRU_CHECK(rules != NULL);
    seen.rules = rules;
    take_events(rules, data + 1 + text_bytes, size - 1 - text_bytes);
    rules_free(rules);
    mounts_free(&mounts);
    return 0;
}
