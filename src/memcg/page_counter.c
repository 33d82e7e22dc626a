/* SPDX-License-Identifier: MIT */
/*
 * Page counters: charge verdicts, protection sums, watermarks, limit texts.
 *
 * Invariants, when no call is going on:
 *   1. usage(c) = own charges + sum of usage(child)            (the caller's charges)
 *   2. min_usage(c) = min(usage(c), min(c)), and likewise low  (not kept at a root)
 *   3. children_min_usage(p) = sum of min_usage(child)
 *   4. watermark >= local_watermark >= usage right after a charge
 * No lock: each field is atomic. Shared counters use locked adds; the others plain ones.
 */
#include "memcg/page_counter.h"

#include <string.h>

void page_counter_init(struct page_counter *counter, struct page_counter *parent, unsigned flags)
{
    MGLRU_ASSERT(counter != parent);
    memset(counter, 0, sizeof(*counter));
    counter->parent = parent;
    counter->shared = flags & PAGE_COUNTER_SHARED;
    counter->protection = flags & PAGE_COUNTER_PROTECTED;
    atomic_store_relaxed(&counter->max, PAGE_COUNTER_MAX);
    atomic_store_relaxed(&counter->high, PAGE_COUNTER_MAX);
    MGLRU_ASSERT(!parent || parent->shared == counter->shared);
}

/*
 * Adds and gives the new value. The locked add is sequentially consistent: it pairs with the
 * exchange of max in page_counter_set_max and page_counter_store_max, so that either the charge
 * sees the new max or the writer of max sees the charge.
 */
static inline long usage_add(struct page_counter *counter, long pages)
{
    if (counter->shared)
        return atomic_add_seq_cst(&counter->usage, pages) + pages;
    return atomic_add_owner(&counter->usage, pages);
}

/* One of the two protections: brings protected usage and the parent's sum up to @usage. */
static void propagate_one(struct page_counter *counter, long target, _Atomic long *mine,
                          _Atomic long *sum)
{
    if (MGLRU_LIKELY(atomic_load_relaxed(mine) == target))
        return;
    if (counter->shared) {
        long old = atomic_exchange_relaxed(mine, target);
        atomic_add_relaxed(sum, target - old);
    } else {
        long old = atomic_load_relaxed(mine);
        atomic_store_relaxed(mine, target);
        atomic_add_owner(sum, target - old);
    }
}

static void propagate_both(struct page_counter *counter, long usage)
{
    struct page_counter *parent = counter->parent;
    if (!counter->protection || !parent)
        return;
    long min = atomic_load_relaxed(&counter->min);
    long low = atomic_load_relaxed(&counter->low);
    propagate_one(counter, usage < min ? usage : min, &counter->min_usage,
                  &parent->children_min_usage);
    propagate_one(counter, usage < low ? usage : low, &counter->low_usage,
                  &parent->children_low_usage);
}

/* Until a protection is set both targets are 0, as they are already: the written line is spared. */
static inline void propagate(struct page_counter *counter, long usage)
{
    if (MGLRU_UNLIKELY(atomic_load_relaxed(&counter->guarded)))
        propagate_both(counter, usage);
}

/* Racy on purpose: a lost race loses a peak that lasted for nanoseconds. */
static inline void raise_watermarks(struct page_counter *counter, long usage)
{
    if (usage <= atomic_load_relaxed(&counter->local_watermark))
        return;
    atomic_store_relaxed(&counter->local_watermark, usage);
    if (usage > atomic_load_relaxed(&counter->watermark))
        atomic_store_relaxed(&counter->watermark, usage);
}

void page_counter_charge(struct page_counter *counter, long pages)
{
    MGLRU_ASSERT(pages >= 0);
    for (struct page_counter *c = counter; c; c = c->parent) {
        long usage = usage_add(c, pages);
        propagate(c, usage);
        raise_watermarks(c, usage);
    }
}

/*
 * Adds to one counter if that keeps it within max, and gives the new usage, else a negative value.
 * Shared counters add first and take back, as the header's guarantees say.
 */
static inline long usage_try_add(struct page_counter *counter, long pages)
{
    if (!counter->shared) {
        long usage = atomic_load_relaxed(&counter->usage) + pages;
        if (MGLRU_UNLIKELY(usage > atomic_load_relaxed(&counter->max)))
            return -1;
        atomic_store_relaxed(&counter->usage, usage);
        return usage;
    }
    long usage = usage_add(counter, pages);
    /* Read after the add: see usage_add. */
    if (MGLRU_LIKELY(usage <= atomic_load_relaxed(&counter->max)))
        return usage;
    usage_add(counter, -pages);
    return -1;
}

bool page_counter_try_charge(struct page_counter *counter, long pages, struct page_counter **over)
{
    MGLRU_ASSERT(pages >= 0 && pages <= PAGE_COUNTER_MAX);
    for (struct page_counter *c = counter; c; c = c->parent) {
        long usage = usage_try_add(c, pages);
        if (MGLRU_UNLIKELY(usage < 0)) {
            for (struct page_counter *below = counter; below != c; below = below->parent)
                page_counter_cancel(below, pages);
            *over = c;
            return false;
        }
        propagate(c, usage);
        raise_watermarks(c, usage);
    }
    *over = NULL;
    return true;
}

void page_counter_cancel(struct page_counter *counter, long pages)
{
    long usage = usage_add(counter, -pages);
    if (MGLRU_UNLIKELY(usage < 0)) {
        usage_add(counter, -usage);
        atomic_add_relaxed(&counter->underflows, 1);
        usage = 0;
    }
    propagate(counter, usage);
}

void page_counter_uncharge(struct page_counter *counter, long pages)
{
    MGLRU_ASSERT(pages >= 0);
    for (struct page_counter *c = counter; c; c = c->parent)
        page_counter_cancel(c, pages);
}

int page_counter_set_max(struct page_counter *counter, long pages)
{
    MGLRU_ASSERT(pages >= 0 && pages <= PAGE_COUNTER_MAX);
    for (;;) {
        long usage = page_counter_read(counter);
        if (usage > pages)
            return MGLRU_EBUSY;
        /* Pairs with usage_add. */
        long old = atomic_exchange_seq_cst(&counter->max, pages);
        if (page_counter_read(counter) <= usage || pages >= old)
            return MGLRU_OK;
        /* A charge slipped in under the old max: undo, and look at usage again. */
        atomic_store_seq_cst(&counter->max, old);
    }
}

void page_counter_store_max(struct page_counter *counter, long pages)
{
    MGLRU_ASSERT(pages >= 0 && pages <= PAGE_COUNTER_MAX);
    /* Pairs with usage_add. */
    atomic_exchange_seq_cst(&counter->max, pages);
}

/*
 * Marks the counter as guarded, before its protection is stored and usage read again. Pairs with
 * the add in usage_add: either a racing charge sees the mark, or propagate_up sees the charge.
 */
static void guard(struct page_counter *counter)
{
    if (!atomic_load_relaxed(&counter->guarded))
        atomic_exchange_seq_cst(&counter->guarded, true);
}

static void propagate_up(struct page_counter *counter)
{
    for (struct page_counter *c = counter; c; c = c->parent)
        propagate(c, page_counter_read(c));
}

void page_counter_set_min(struct page_counter *counter, long pages)
{
    guard(counter);
    atomic_store_relaxed(&counter->min, pages);
    propagate_up(counter);
}

void page_counter_set_low(struct page_counter *counter, long pages)
{
    guard(counter);
    atomic_store_relaxed(&counter->low, pages);
    propagate_up(counter);
}

void page_counter_reset_watermark(struct page_counter *counter)
{
    long usage = page_counter_read(counter);
    atomic_store_relaxed(&counter->local_watermark, usage);
    if (usage > atomic_load_relaxed(&counter->watermark))
        atomic_store_relaxed(&counter->watermark, usage);
}

__extension__ typedef __int128 wide;

/* a * b / c without overflow in between; c > 0. */
static long scale(long a, long b, long c)
{
    return (long)((wide)a * b / c);
}

/* One protection of one counter. */
struct share {
    long usage;
    long parent_usage;
    long setting;        /* min or low */
    long parent_eff;     /* the parent's effective value */
    long siblings_claim; /* sum of min(usage, setting) over the parent's children */
};

static long effective(struct share s, struct page_counter_rules rules)
{
    long claim = s.usage < s.setting ? s.usage : s.setting;
    /* Overcommitted: everybody gets the part of the whole that they claim. */
    if (s.siblings_claim > s.parent_eff)
        return scale(claim, s.parent_eff, s.siblings_claim);
    if (!rules.recursive || s.parent_eff <= s.siblings_claim ||
        s.parent_usage <= s.siblings_claim || s.usage <= claim)
        return claim;
    /* What nobody claimed goes to all, by the usage that they have beyond their claim. */
    long unclaimed = s.parent_eff - s.siblings_claim;
    long beyond = s.usage - claim;
    long beyond_all = s.parent_usage - s.siblings_claim;
    if (rules.clamp && beyond > beyond_all)
        beyond = beyond_all;
    return claim + scale(unclaimed, beyond, beyond_all);
}

void page_counter_protect(const struct page_counter *root, struct page_counter *counter,
                          struct page_counter_rules rules)
{
    const struct page_counter *parent = counter->parent;
    if (counter == root || !parent)
        return;
    long usage = page_counter_read(counter);
    if (!usage)
        return;
    long min = atomic_load_relaxed(&counter->min);
    long low = atomic_load_relaxed(&counter->low);
    if (parent == root) {
        atomic_store_relaxed(&counter->emin, min);
        atomic_store_relaxed(&counter->elow, low);
        return;
    }
    struct share s = {.usage = usage, .parent_usage = page_counter_read(parent)};
    s.setting = min;
    s.parent_eff = atomic_load_relaxed(&parent->emin);
    s.siblings_claim = atomic_load_relaxed(&parent->children_min_usage);
    atomic_store_relaxed(&counter->emin, effective(s, rules));
    s.setting = low;
    s.parent_eff = atomic_load_relaxed(&parent->elow);
    s.siblings_claim = atomic_load_relaxed(&parent->children_low_usage);
    atomic_store_relaxed(&counter->elow, effective(s, rules));
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

/* log2 of the factor that @c stands for, or -1. */
static int suffix_shift(char c)
{
    static const char letters[] = "kmgtpe";
    const char *at = c ? strchr(letters, c | 0x20) : NULL;
    return at ? (int)(at - letters + 1) * 10 : -1;
}

/* Value of @c as a digit, or something >= any base. */
static unsigned digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    char letter = (char)(c | 0x20);
    return letter >= 'a' && letter <= 'z' ? (unsigned)(letter - 'a') + 10 : 99;
}

/* Reads a number as C writes it (0x, leading 0), saturating. @at is moved behind it. */
static bool parse_number(const char **at, const char *end, uint64_t *value)
{
    const char *text = *at;
    unsigned base = 10;
    if (text < end && *text == '0') {
        base = 8;
        if (end - text > 2 && (text[1] | 0x20) == 'x' && digit_of(text[2]) < 16) {
            base = 16;
            text += 2;
        }
    }
    const char *first = text;
    *value = 0;
    for (; text < end && digit_of(*text) < base; text++)
        if (__builtin_mul_overflow(*value, base, value) ||
            __builtin_add_overflow(*value, digit_of(*text), value))
            *value = UINT64_MAX;
    *at = text;
    return text > first;
}

int page_counter_parse(const char *text, size_t length, size_t page_bytes, long *pages)
{
    MGLRU_ASSERT(page_bytes && !(page_bytes & (page_bytes - 1)));
    *pages = 0;
    const char *end = text + length;
    while (text < end && is_blank(*text))
        text++;
    while (text < end && is_blank(end[-1]))
        end--;
    if (end - text == 3 && !memcmp(text, "max", 3)) {
        *pages = PAGE_COUNTER_MAX;
        return MGLRU_OK;
    }
    uint64_t bytes;
    if (!parse_number(&text, end, &bytes))
        return MGLRU_EINVAL;
    int shift = text < end ? suffix_shift(*text++) : 0;
    if (shift < 0 || text != end)
        return MGLRU_EINVAL;
    /* Saturates: any number of bytes too large for the counter means "no limit". */
    bytes = bytes > UINT64_MAX >> shift ? UINT64_MAX : bytes << shift;
    uint64_t whole = bytes / page_bytes;
    *pages = whole > (uint64_t)PAGE_COUNTER_MAX ? PAGE_COUNTER_MAX : (long)whole;
    return MGLRU_OK;
}
