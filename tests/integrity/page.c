/* SPDX-License-Identifier: MIT */
/* Stamps and checks of pages (page.h). */
#include "page.h"

#include <stdbool.h>
#include <string.h>

#include "base/hash.h"

struct sector {
    uint64_t mapping;
    uint64_t index;
    uint64_t version;
    uint64_t place;
    uint64_t fill[PAGE_SECTOR / 8 - 5];
    uint64_t checksum; /* over all before it */
};

_Static_assert(sizeof(struct sector) == PAGE_SECTOR, "a sector is what a store may tear");

static uint64_t checksum_of(const struct sector *sector)
{
    return hash_bytes(sector, offsetof(struct sector, checksum), 1);
}

void page_stamp(void *page, size_t bytes, struct page_id id, uint64_t version)
{
    struct sector sector = {.mapping = id.mapping, .index = id.index, .version = version};
    for (size_t at = 0; at < bytes; at += PAGE_SECTOR) {
        sector.place = at;
        for (size_t i = 0; i < sizeof(sector.fill) / sizeof(sector.fill[0]); i++)
            sector.fill[i] = version * 0x9E3779B97F4A7C15ull + at + i;
        sector.checksum = checksum_of(&sector);
        memcpy((char *)page + at, &sector, PAGE_SECTOR);
    }
}

static bool is_zero(const struct sector *sector)
{
    static const struct sector zeros;
    return !memcmp(sector, &zeros, sizeof(zeros));
}

enum page_verdict page_check(const void *page, size_t bytes, struct page_id id, uint64_t *version)
{
    struct sector first, sector;
    *version = 0;
    memcpy(&first, page, PAGE_SECTOR);
    bool zero = is_zero(&first);
    for (size_t at = 0; at < bytes; at += PAGE_SECTOR) {
        memcpy(&sector, (const char *)page + at, PAGE_SECTOR);
        if (zero ? !is_zero(&sector) : sector.checksum != checksum_of(&sector))
            return PAGE_TORN;
        if (!zero && (sector.version != first.version || sector.place != at ||
                      sector.mapping != first.mapping || sector.index != first.index))
            return PAGE_TORN;
    }
    if (zero)
        return PAGE_ZEROS;
    if (first.mapping != id.mapping || first.index != id.index)
        return PAGE_ALIEN;
    *version = first.version;
    return PAGE_WHOLE;
}
