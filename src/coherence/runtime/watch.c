/* SPDX-License-Identifier: MIT */
/* What is watched, and what happens to an access to it. */
#include "coherence/runtime/runtime.h"

#include <string.h>

#include <linewise/watch.h>

uint64_t rt_filter[RT_FILTER_BITS / 64];
enum rt_mode rt_mode = RT_OFF;
uint64_t rt_lost_objects;

/*
 * Sorted by first, without overlaps. Written under rt_lock; read by anybody, who looks at version
 * before and after: odd, or another than before, means that a writer was at it.
 */
static struct rt_range ranges[RT_RANGES_MAX];
static size_t range_count;
static uint32_t version;

void rt_set_mode(enum rt_mode mode)
{
    __atomic_store_n(&rt_mode, mode, __ATOMIC_RELAXED);
}

/* Index of the first range that ends at or behind @address. */
static size_t lower(uintptr_t address)
{
    size_t first = 0, end = __atomic_load_n(&range_count, __ATOMIC_RELAXED);
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (__atomic_load_n(&ranges[middle].last, __ATOMIC_RELAXED) < address)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

bool rt_watched(uintptr_t first, size_t bytes)
{
    uint32_t before, after;
    bool found;
    do {
        before = __atomic_load_n(&version, __ATOMIC_ACQUIRE); /* pairs with end_change */
        size_t at = lower(first);
        found = at < __atomic_load_n(&range_count, __ATOMIC_RELAXED) &&
                __atomic_load_n(&ranges[at].first, __ATOMIC_RELAXED) <= first + (bytes - 1);
        __atomic_thread_fence(__ATOMIC_ACQUIRE); /* pairs with begin_change */
        after = __atomic_load_n(&version, __ATOMIC_RELAXED);
    } while (before != after || (before & 1) != 0);
    return found;
}

/* The lock is held around a change. */
static void begin_change(void)
{
    __atomic_store_n(&version, version + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE); /* pairs with rt_watched */
}

static void end_change(void)
{
    __atomic_store_n(&version, version + 1, __ATOMIC_RELEASE); /* pairs with rt_watched */
}

/* Moves the ranges from @from on to @to. */
static void move(size_t to, size_t from)
{
    size_t count = range_count - from;
    for (size_t i = 0; i < count; i++) {
        size_t at = to < from ? i : count - 1 - i;
        struct rt_range range = ranges[from + at];
        __atomic_store_n(&ranges[to + at].first, range.first, __ATOMIC_RELAXED);
        __atomic_store_n(&ranges[to + at].last, range.last, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&range_count, to + count, __ATOMIC_RELAXED);
}

/* Locks that are held but not in the log yet: what is accessed under them makes them matter. */
static void log_held(struct rt_thread *self, uint64_t now)
{
    for (uint32_t i = 0; i < self->held_count; i++)
        if (!self->held[i].logged) {
            struct log_record record = {
                .time = now, .address = self->held[i].lock, .kind = LOG_ACQUIRE};
            rt_put(self, &record, NULL);
            self->held[i].logged = true;
        }
}

static void log_access(struct rt_thread *self, uintptr_t address, size_t bytes, enum log_kind kind)
{
    struct log_record record = {
        .time = rt_now(),
        .address = address,
        .bytes = (uint32_t)bytes,
        .kind = (uint8_t)kind,
        .skipped = (uint8_t)(self->unlogged < 255 ? self->unlogged : 255),
    };
    log_held(self, record.time);
    rt_put(self, &record, NULL);
    self->logged++;
    self->unlogged = 0;
}

void rt_access_line(uintptr_t address, size_t bytes, enum log_kind kind)
{
    struct rt_thread *self = &rt_self;
    enum rt_mode mode = __atomic_load_n(&rt_mode, __ATOMIC_RELAXED);
    if (mode < RT_COUNT || self->inside || !rt_watched(address, bytes)) {
        self->filtered++;
        self->unlogged++;
        return;
    }
    self->counted++;
    if (mode != RT_LOG)
        return;
    self->inside = true;
    log_access(self, address, bytes, kind);
    self->inside = false;
}

void rt_access_range(const void *object, size_t bytes, enum log_kind kind)
{
    uintptr_t address = (uintptr_t)object;
    while (bytes > 0) {
        size_t piece = bytes < LOG_ACCESS_MAX ? bytes : LOG_ACCESS_MAX;
        rt_access_line(address, piece, kind);
        address += piece;
        bytes -= piece;
    }
}

void rt_acquired(const void *lock)
{
    struct rt_thread *self = &rt_self;
    if (self->held_count < RT_HELD_MAX)
        self->held[self->held_count] = (struct rt_held){(uintptr_t)lock, false};
    self->held_count++; /* those beyond the bound are counted, so that releases match */
}

void rt_releasing(const void *lock)
{
    struct rt_thread *self = &rt_self;
    uint32_t kept = self->held_count < RT_HELD_MAX ? self->held_count : RT_HELD_MAX;
    for (uint32_t i = kept; i-- > 0;) {
        if (self->held[i].lock != (uintptr_t)lock)
            continue;
        if (self->held[i].logged && !self->inside) {
            struct log_record record = {
                .time = rt_now(), .address = (uintptr_t)lock, .kind = LOG_RELEASE};
            self->inside = true;
            rt_put(self, &record, NULL);
            self->inside = false;
        }
        memmove(&self->held[i], &self->held[i + 1], (kept - i - 1) * sizeof(self->held[0]));
        self->held_count--;
        return;
    }
    if (self->held_count > RT_HELD_MAX)
        self->held_count--;
}

/* Puts @range in, in place of what it overlaps. The lock is held. */
static bool insert(struct rt_range range)
{
    size_t at = lower(range.first), behind = at;
    while (behind < range_count && ranges[behind].first <= range.last) {
        /* Objects inside of a watched segment add nothing to what is seen. */
        if (ranges[behind].first <= range.first && ranges[behind].last >= range.last)
            return true;
        behind++;
    }
    if (at == behind && range_count == RT_RANGES_MAX)
        return false;
    if (at < behind && ranges[at].first < range.first)
        range.first = ranges[at].first;
    if (at < behind && ranges[behind - 1].last > range.last)
        range.last = ranges[behind - 1].last;
    begin_change();
    move(at + 1, behind);
    __atomic_store_n(&ranges[at].first, range.first, __ATOMIC_RELAXED);
    __atomic_store_n(&ranges[at].last, range.last, __ATOMIC_RELAXED);
    end_change();
    return true;
}

static void mark_lines(uintptr_t first, uintptr_t last)
{
    for (uintptr_t line = first >> RT_LINE_BITS; line <= last >> RT_LINE_BITS; line++) {
        uintptr_t bit = line & (RT_FILTER_BITS - 1);
        __atomic_fetch_or(&rt_filter[bit / 64], (uint64_t)1 << (bit % 64), __ATOMIC_RELAXED);
    }
}

void rt_watch(uintptr_t first, size_t bytes, const char *type)
{
    struct rt_thread *self = &rt_self;
    struct rt_range range = {first, first + (bytes - 1)};
    if (bytes == 0 || range.last < first || self->inside || rt_mode == RT_OFF)
        return;
    self->inside = true;
    rt_lock();
    bool done = insert(range);
    if (!done)
        rt_lost_objects++;
    rt_unlock();
    if (done)
        mark_lines(first, range.last);
    char name[LOG_NAME_MAX + 1] = "";
    if (type != NULL)
        strncpy(name, type, LOG_NAME_MAX);
    if (done && rt_mode == RT_LOG && name[0] != '\0' && bytes <= UINT32_MAX) {
        struct log_record record = {.time = rt_now(),
                                    .address = first,
                                    .bytes = (uint32_t)bytes,
                                    .kind = LOG_OBJECT,
                                    .skipped = (uint8_t)strlen(name)};
        rt_put(self, &record, name);
    }
    self->inside = false;
}

void rt_unwatch(uintptr_t first)
{
    struct rt_thread *self = &rt_self;
    if (self->inside || rt_mode == RT_OFF)
        return;
    self->inside = true;
    rt_lock();
    size_t at = lower(first);
    if (at < range_count && ranges[at].first == first) {
        begin_change();
        move(at, at + 1);
        end_change();
    }
    rt_unlock();
    self->inside = false;
}

#pragma GCC visibility push(default)

void linewise_rt_watch(const void *object, size_t bytes, const char *type)
{
    rt_start();
    rt_watch((uintptr_t)object, bytes, type);
}

void linewise_rt_unwatch(const void *object)
{
    rt_unwatch((uintptr_t)object);
}

void linewise_rt_operations(unsigned long count)
{
    struct rt_thread *self = &rt_self;
    if (self->inside || rt_mode != RT_LOG)
        return;
    struct log_record record = {.time = rt_now(), .address = count, .kind = LOG_MARK};
    self->inside = true;
    rt_put(self, &record, NULL);
    self->inside = false;
}

#pragma GCC visibility pop
