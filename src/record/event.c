/* SPDX-License-Identifier: MIT */
/* See event.h. */
#include "record/event.h"

#include <string.h>

#include "base/check.h"

#define PAGE_MAX ((UINT64_C(1) << 52) - 1) /* what a trace can name */
#define ORDER_MAX 30u

#define PID "common_pid"
#define INODE_OF_FILEMAP "i_ino"
#define RANGE_OF_FILEMAP                                                                           \
    {                                                                                              \
        PID, "s_dev", INODE_OF_FILEMAP, "index", "last_index", NULL, NULL                          \
    }
#define FOLIO_OF_FILEMAP                                                                           \
    {                                                                                              \
        PID, "s_dev", INODE_OF_FILEMAP, "index", NULL, "order", NULL                               \
    }
#define PAGE_OF_FILEMAP                                                                            \
    {                                                                                              \
        PID, "s_dev", INODE_OF_FILEMAP, "index", NULL, NULL, NULL                                  \
    }
#define PAGE_OF_WRITEBACK                                                                          \
    {                                                                                              \
        PID, NULL, "ino", "index", NULL, NULL, "name"                                              \
    }
#define ONLY_PID                                                                                   \
    {                                                                                              \
        PID, NULL, NULL, NULL, NULL, NULL, NULL                                                    \
    }

/* The most frequent first. Of tracepoints that mean the same a kernel has one. */
const struct event_source event_sources[] = {
    {"filemap", "mm_filemap_get_pages", EVENT_READ, RANGE_OF_FILEMAP},
    {"filemap", "mm_filemap_add_to_page_cache", EVENT_ADD, FOLIO_OF_FILEMAP},
    {"filemap", "mm_filemap_delete_from_page_cache", EVENT_DELETE, FOLIO_OF_FILEMAP},
    {"filemap", "mm_filemap_map_pages", EVENT_MAP, RANGE_OF_FILEMAP},
    {"filemap", "mm_filemap_fault", EVENT_FAULT, PAGE_OF_FILEMAP},
    {"writeback", "writeback_dirty_folio", EVENT_DIRTY, PAGE_OF_WRITEBACK},
    {"writeback", "writeback_dirty_page", EVENT_DIRTY, PAGE_OF_WRITEBACK},
    {"syscalls", "sys_enter_openat", EVENT_OPEN, ONLY_PID},
    {"syscalls", "sys_enter_openat2", EVENT_OPEN, ONLY_PID},
    {"syscalls", "sys_enter_open", EVENT_OPEN, ONLY_PID},
    {"vmscan", "mm_vmscan_memcg_reclaim_begin", EVENT_RECLAIM_BEGIN, ONLY_PID},
    {"vmscan", "mm_vmscan_memcg_reclaim_end", EVENT_RECLAIM_END, ONLY_PID},
    {"vmscan", "mm_vmscan_direct_reclaim_begin", EVENT_RECLAIM_BEGIN, ONLY_PID},
    {"vmscan", "mm_vmscan_direct_reclaim_end", EVENT_RECLAIM_END, ONLY_PID},
};
const size_t event_sources_count = MGLRU_ARRAY_LEN(event_sources);

/* A number of 1, 2, 4 or 8 bytes; 0 where the event has no such field. */
static bool read_field(const struct event_layout *layout, enum event_field field,
                       const unsigned char *data, size_t bytes, uint64_t *out)
{
    const size_t offset = layout->fields[field].offset, width = layout->fields[field].bytes;
    uint8_t one;
    uint16_t two;
    uint32_t four;
    *out = 0;
    if (width == 0)
        return true;
    if (offset > bytes || width > bytes - offset)
        return false;
    switch (width) {
    case 1:
        memcpy(&one, data + offset, width);
        *out = one;
        return true;
    case 2:
        memcpy(&two, data + offset, width);
        *out = two;
        return true;
    case 4:
        memcpy(&four, data + offset, width);
        *out = four;
        return true;
    case 8:
        memcpy(out, data + offset, width);
        return true;
    default:
        return false;
    }
}

/* The name of a bdi, which fills its field or ends with NUL. */
static bool read_bdi(const struct event_layout *layout, const unsigned char *data, size_t bytes,
                     struct event *out)
{
    const size_t offset = layout->fields[EVENT_FIELD_BDI].offset;
    size_t width = layout->fields[EVENT_FIELD_BDI].bytes;
    memset(out->bdi, 0, sizeof(out->bdi));
    if (offset > bytes || width > bytes - offset)
        return false;
    if (width > sizeof(out->bdi) - 1)
        width = sizeof(out->bdi) - 1;
    memcpy(out->bdi, data + offset, strnlen((const char *)data + offset, width));
    return true;
}

bool event_decode(const struct event_layout *layout, const void *data, size_t bytes,
                  struct event *out)
{
    uint64_t pid, order;
    out->kind = layout->source->kind;
    if (!read_field(layout, EVENT_FIELD_PID, data, bytes, &pid) ||
        !read_field(layout, EVENT_FIELD_DEVICE, data, bytes, &out->device) ||
        !read_field(layout, EVENT_FIELD_INODE, data, bytes, &out->inode) ||
        !read_field(layout, EVENT_FIELD_FIRST, data, bytes, &out->first) ||
        !read_field(layout, EVENT_FIELD_LAST, data, bytes, &out->last) ||
        !read_field(layout, EVENT_FIELD_ORDER, data, bytes, &order) ||
        !read_bdi(layout, data, bytes, out) || order > ORDER_MAX)
        return false;
    out->pid = (int32_t)pid;
    if (layout->fields[EVENT_FIELD_LAST].bytes == 0)
        out->last = out->first + (UINT64_C(1) << order) - 1;
    return out->first <= out->last && out->last <= PAGE_MAX;
}

const struct event_layout *event_layout_of(const struct event_layout *layouts, size_t count,
                                           const void *data, size_t bytes)
{
    uint16_t type;
    if (bytes < sizeof(type))
        return NULL;
    memcpy(&type, data, sizeof(type));
    for (size_t i = 0; i < count; i++)
        if (layouts[i].source != NULL && layouts[i].type == type)
            return &layouts[i];
    return NULL;
}
