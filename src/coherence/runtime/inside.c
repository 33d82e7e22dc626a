/* SPDX-License-Identifier: MIT */
/* The rest of the runtime for inside.h: watched lines as bits, accesses to a function. */
#include "coherence/inside.h"

#include <string.h>

#include "coherence/runtime/accesses.h"
#include "coherence/runtime/runtime.h"

/* Bytes of a copy that take about as long as an access. */
#define WORD_BYTES 8u

__thread struct rt_thread rt_self __attribute__((tls_model("initial-exec")));
uint64_t rt_filter[RT_FILTER_BITS / 64];

static inside_sink *sink; /* set while one thread runs alone */
static void *sink_context;

static void tell(uintptr_t address, size_t bytes, enum log_kind kind)
{
    struct inside_access access = {address, (uint32_t)bytes, rt_self.unlogged, kind};
    rt_self.unlogged = 0;
    sink(sink_context, &access);
}

void inside_watch(const void *object, size_t bytes)
{
    uintptr_t first = (uintptr_t)object;
    for (uintptr_t at = first; at < first + bytes; at = (at | ((1u << RT_LINE_BITS) - 1)) + 1) {
        uintptr_t line = at >> RT_LINE_BITS & (RT_FILTER_BITS - 1);
        rt_filter[line / 64] |= UINT64_C(1) << line % 64;
    }
}

void inside_begin(inside_sink *to, void *context)
{
    sink_context = context;
    sink = to;
}

void inside_end(void)
{
    sink = NULL;
    memset(rt_filter, 0, sizeof(rt_filter));
}

void rt_access_line(uintptr_t address, size_t bytes, enum log_kind kind)
{
    if (sink)
        tell(address, bytes, kind);
}

/* A copy: what is not watched of it counts as work. */
void rt_access_range(const void *object, size_t bytes, enum log_kind kind)
{
    uintptr_t first = (uintptr_t)object;
    if (bytes > 0 && bytes <= WORD_BYTES)
        rt_access(object, bytes, kind);
    else if (bytes > 0 && (rt_line_watched(first) || rt_line_watched(first + bytes - 1)))
        rt_access_line(first, bytes, kind);
    else
        rt_self.unlogged += (uint32_t)(bytes / WORD_BYTES);
}

void rt_start(void)
{
}

void lock_recorded(const void *lock, bool taken);
void lock_recorded(const void *lock, bool taken)
{
    if (sink)
        tell((uintptr_t)lock, 0, taken ? LOG_ACQUIRE : LOG_RELEASE);
}
