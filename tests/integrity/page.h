/* SPDX-License-Identifier: MIT */
/*
 * Pages that say what they are: each sector of 512 bytes carries mapping, index, version and its
 * place in the page, and a checksum over itself. So a page of two versions, a page in a wrong place
 * and a damaged one are told apart.
 */
#ifndef TESTS_INTEGRITY_PAGE_H
#define TESTS_INTEGRITY_PAGE_H

#include <stddef.h>
#include <stdint.h>

#define PAGE_SECTOR 512u

struct page_id {
    uint64_t mapping;
    uint64_t index;
};

enum page_verdict {
    PAGE_WHOLE = 1, /* one version of this page */
    PAGE_ZEROS,     /* zeros all over */
    PAGE_TORN,      /* sectors of different versions, or damaged ones */
    PAGE_ALIEN      /* whole, but another page */
};

/* Fills @page, @bytes long (a multiple of PAGE_SECTOR), with version @version > 0 of @id. */
void page_stamp(void *page, size_t bytes, struct page_id id, uint64_t version);

/* What @page is; *version is set for PAGE_WHOLE, else 0. */
enum page_verdict page_check(const void *page, size_t bytes, struct page_id id, uint64_t *version);

#endif
