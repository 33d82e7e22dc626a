/* SPDX-License-Identifier: MIT */
/*
 * The access record: what every reader produces and every consumer takes. Names are interned by
 * the reader; ids are dense and start at 0, so that consumers can use arrays.
 */
#ifndef TRACE_RECORD_H
#define TRACE_RECORD_H

#include <stdbool.h>
#include <stdint.h>

enum trace_op {
    TRACE_READ = 1,  /* r: buffered read of pages page .. page + count - 1 */
    TRACE_WRITE,     /* w: buffered write */
    TRACE_MAP_READ,  /* m: access through a mapping */
    TRACE_MAP_WRITE, /* M: write through a mapping */
    TRACE_MAP_EXEC,  /* x: access through an executable mapping */
    TRACE_TOUCH,     /* a: touch of anonymous memory */
    TRACE_OPEN,      /* o: the file is opened anew; count: its pages, 0: unknown */
    TRACE_FREE,      /* f: pages leave the cache */
    TRACE_MKDIR,     /* !mkdir PATH */
    TRACE_RMDIR,     /* !rmdir PATH */
    TRACE_SET,       /* !set PATH NAME VALUE: a control file of a memcg, or swappiness of "/" */
    TRACE_STAT,      /* !read PATH NAME: somebody reads a control file (memory.stat flushes) */
    TRACE_LRU_GEN,   /* !lru_gen NAME VALUE: enabled or min_ttl_ms */
    TRACE_AGE,       /* !age PATH NODE SWAPPINESS */
    TRACE_EVICT      /* !evict PATH NODE SEQ SWAPPINESS [NR] */
};

static inline bool trace_op_is_access(enum trace_op op)
{
    return op >= TRACE_READ && op <= TRACE_TOUCH;
}

struct trace_record {
    enum trace_op op;
    uint32_t memcg;  /* id of the path; 0 is the first path seen ("/" for formats without memcgs) */
    uint32_t object; /* id of the file or region name; files and anonymous regions share ids */
    uint32_t count;  /* pages, >= 1 for accesses and TRACE_FREE, else 0, or see above */
    uint64_t page;   /* first page, <= 2^52 - 1 */
    uint64_t time_ns; /* since start; TRACE_NO_TIME where the trace has none */
    const char *name; /* TRACE_SET, _STAT, _LRU_GEN: file name; else NULL. Valid until next batch */
    const char *text; /* value, or the rest of an !age or !evict line. Valid until the next batch */
    uint64_t line;    /* line or record number in the input, from 1, for messages */
};

#define TRACE_NO_TIME UINT64_MAX
#define TRACE_PAGE_MAX ((UINT64_C(1) << 52) - 1)

#endif
