/* SPDX-License-Identifier: MIT */
/* Memory of the page queues; the operations are inline in the header. */
#include "policy/pageq.h"

#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

/* First size of the arrays: small enough for tests of tiny caches, large enough to grow seldom. */
#define PAGEQ_PAGES_MIN 1024u
/* With ids below it every index fits into 32 bits. */
#define PAGEQ_PAGES_MAX (UINT32_MAX - PAGEQ_FIRST)

int pageq_init(struct pageq *queue)
{
    memset(queue, 0, sizeof(*queue));
    queue->links = calloc(PAGEQ_FIRST, sizeof(*queue->links));
    if (!queue->links)
        return MGLRU_ENOMEM;
    for (uint32_t list = 1; list <= PAGEQ_LISTS; list++)
        queue->links[list] = (struct pageq_link){.newer = list, .older = list};
    return 0;
}

void pageq_free(struct pageq *queue)
{
    free(queue->links);
    free(queue->marks);
    memset(queue, 0, sizeof(*queue));
}

int pageq_grow(struct pageq *queue, uint32_t page)
{
    if (page >= PAGEQ_PAGES_MAX)
        return MGLRU_EOVERFLOW;
    uint64_t pages = queue->pages ? (uint64_t)queue->pages * 2 : PAGEQ_PAGES_MIN;
    if (pages <= page)
        pages = (uint64_t)page + 1;
    if (pages > PAGEQ_PAGES_MAX)
        pages = PAGEQ_PAGES_MAX;
    struct pageq_link *links = realloc(queue->links, (PAGEQ_FIRST + pages) * sizeof(*links));
    if (!links)
        return MGLRU_ENOMEM;
    queue->links = links;
    uint8_t *marks = realloc(queue->marks, pages);
    if (!marks)
        return MGLRU_ENOMEM;
    queue->marks = marks;
    memset(marks + queue->pages, 0, pages - queue->pages);
    queue->pages = (uint32_t)pages;
    return 0;
}
