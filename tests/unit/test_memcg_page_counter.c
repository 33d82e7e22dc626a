/* SPDX-License-Identifier: MIT */
/*
 * memcg/page_counter: a tree of counters against sums kept beside it, limits at their edges,
 * protection by hand-computed shares, limit texts. Row 31 of mglru-facts 10.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "memcg/page_counter.h"
#include "seeded.h"

enum { COUNTERS = 12 };

/* A tree of counters, and what a person with paper would know about it. */
struct model {
    struct page_counter counters[COUNTERS];
    int parent[COUNTERS]; /* -1: root */
    long own[COUNTERS];   /* charged to exactly this one */
    long max[COUNTERS];
    long min[COUNTERS];
    long low[COUNTERS];
    long peak[COUNTERS]; /* speculative charges included */
    long underflows;
};

static void model_init(struct model *m, struct seeded *s, unsigned flags)
{
    memset(m, 0, sizeof(*m));
    for (int i = 0; i < COUNTERS; i++) {
        m->parent[i] = i ? (int)seeded_below(s, (unsigned long)i) : -1;
        m->max[i] = PAGE_COUNTER_MAX;
        page_counter_init(&m->counters[i], i ? &m->counters[m->parent[i]] : NULL, flags);
    }
}

static bool model_below(const struct model *m, int i, int ancestor)
{
    while (i >= 0 && i != ancestor)
        i = m->parent[i];
    return i == ancestor;
}

static long model_usage(const struct model *m, int counter)
{
    long sum = 0;
    for (int i = 0; i < COUNTERS; i++)
        if (model_below(m, i, counter))
            sum += m->own[i];
    return sum;
}

static long least(long a, long b)
{
    return a < b ? a : b;
}

static void model_compare(const struct model *m, struct seeded *s)
{
    for (int i = 0; i < COUNTERS; i++) {
        const struct page_counter *c = &m->counters[i];
        long usage = model_usage(m, i);
        SEEDED_CHECK(s, page_counter_read(c) == usage);
        SEEDED_CHECK(s, c->max == m->max[i]);
        SEEDED_CHECK(s, c->watermark == m->peak[i]);
        SEEDED_CHECK(s, c->watermark >= c->local_watermark);
        SEEDED_CHECK(s, c->local_watermark >= usage);
        SEEDED_CHECK(s, !c->underflows);
        long children_min = 0, children_low = 0;
        for (int k = 1; k < COUNTERS; k++) {
            if (m->parent[k] != i)
                continue;
            children_min += least(model_usage(m, k), m->min[k]);
            children_low += least(model_usage(m, k), m->low[k]);
        }
        SEEDED_CHECK(s, c->children_min_usage == children_min);
        SEEDED_CHECK(s, c->children_low_usage == children_low);
        SEEDED_CHECK(s, i == 0 || c->min_usage == least(usage, m->min[i]));
        SEEDED_CHECK(s, i == 0 || c->low_usage == least(usage, m->low[i]));
    }
}

static void model_peaks(struct model *m, int from, int stop, long pages)
{
    for (int i = from; i != stop; i = m->parent[i])
        if (model_usage(m, i) + pages > m->peak[i])
            m->peak[i] = model_usage(m, i) + pages;
}

static void step_try_charge(struct model *m, struct seeded *s)
{
    int i = (int)seeded_below(s, COUNTERS);
    long pages = (long)seeded_below(s, 130);
    int full = i;
    while (full >= 0 && model_usage(m, full) + pages <= m->max[full])
        full = m->parent[full];
    struct page_counter *over;
    bool ok = page_counter_try_charge(&m->counters[i], pages, &over);
    SEEDED_CHECK(s, ok == (full < 0));
    SEEDED_CHECK(s, over == (full < 0 ? NULL : &m->counters[full]));
    model_peaks(m, i, full, pages);
    if (ok)
        m->own[i] += pages;
}

static void step_charge_or_uncharge(struct model *m, struct seeded *s)
{
    int i = (int)seeded_below(s, COUNTERS);
    long pages = (long)seeded_below(s, 130);
    if (seeded_below(s, 4)) {
        pages = least(pages, m->own[i]);
        page_counter_uncharge(&m->counters[i], pages);
        m->own[i] -= pages;
    } else {
        model_peaks(m, i, -1, pages);
        page_counter_charge(&m->counters[i], pages);
        m->own[i] += pages;
    }
}

static void step_limits(struct model *m, struct seeded *s)
{
    int i = (int)seeded_below(s, COUNTERS);
    long pages = seeded_below(s, 8) ? (long)seeded_below(s, 3000) : PAGE_COUNTER_MAX;
    switch (seeded_below(s, 4)) {
    case 0:
        page_counter_set_min(&m->counters[i], m->min[i] = pages);
        break;
    case 1:
        page_counter_set_low(&m->counters[i], m->low[i] = pages);
        break;
    case 2:
        page_counter_store_max(&m->counters[i], m->max[i] = pages);
        break;
    default: {
        bool fits = model_usage(m, i) <= pages;
        SEEDED_CHECK(s, page_counter_set_max(&m->counters[i], pages) ==
                            (fits ? MGLRU_OK : MGLRU_EBUSY));
        if (fits)
            m->max[i] = pages;
    }
    }
}

static void random_case(struct seeded *s, unsigned flags)
{
    static struct model m;
    model_init(&m, s, flags);
    for (s->step = 0; s->step < 4000; s->step++) {
        unsigned long what = seeded_below(s, 20);
        if (what < 10)
            step_try_charge(&m, s);
        else if (what < 19)
            step_charge_or_uncharge(&m, s);
        else
            step_limits(&m, s);
        if (s->step % 16 == 0)
            model_compare(&m, s);
    }
    model_compare(&m, s);
}

static void random_shared(struct seeded *s)
{
    random_case(s, PAGE_COUNTER_PROTECTED | PAGE_COUNTER_SHARED);
}

static void random_unshared(struct seeded *s)
{
    random_case(s, PAGE_COUNTER_PROTECTED);
}

static void random_operations_agree_with_sums(void **state)
{
    seeded_cases(8, random_shared);
    seeded_cases(8, random_unshared);
}

static void limit_is_exact_at_its_edges(void **state)
{
    struct page_counter c, *over;
    page_counter_init(&c, NULL, 0);
    page_counter_store_max(&c, 10);
    assert_true(page_counter_try_charge(&c, 9, &over));
    assert_true(page_counter_try_charge(&c, 1, &over));
    assert_false(page_counter_try_charge(&c, 1, &over));
    assert_ptr_equal(over, &c);
    assert_int_equal(page_counter_read(&c), 10);
    assert_true(page_counter_try_charge(&c, 0, &over));
    assert_int_equal(page_counter_set_max(&c, 9), MGLRU_EBUSY);
    assert_int_equal(c.max, 10);
    assert_int_equal(page_counter_set_max(&c, 10), MGLRU_OK);
    page_counter_store_max(&c, 3); /* v2: published, reclaim follows */
    assert_int_equal(c.max, 3);
    assert_false(page_counter_try_charge(&c, 0, &over));
}

static void uncharge_below_zero_is_clamped_and_counted(void **state)
{
    struct page_counter c;
    page_counter_init(&c, NULL, PAGE_COUNTER_SHARED);
    page_counter_charge(&c, 3);
    page_counter_uncharge(&c, 5);
    assert_int_equal(page_counter_read(&c), 0);
    assert_int_equal(c.underflows, 1);
}

static void watermark_reset_begins_a_local_peak(void **state)
{
    struct page_counter c;
    page_counter_init(&c, NULL, 0);
    page_counter_charge(&c, 100);
    page_counter_uncharge(&c, 60);
    page_counter_reset_watermark(&c);
    assert_int_equal(c.local_watermark, 40);
    assert_int_equal(c.watermark, 100);
    page_counter_charge(&c, 10);
    assert_int_equal(c.local_watermark, 50);
    assert_int_equal(c.watermark, 100);
}

/* root > parent > {left, right}, root being the root of reclaim. */
struct family {
    struct page_counter root, parent, left, right;
};

static void family_init(struct family *f, long left_usage, long right_usage)
{
    page_counter_init(&f->root, NULL, PAGE_COUNTER_PROTECTED);
    page_counter_init(&f->parent, &f->root, PAGE_COUNTER_PROTECTED);
    page_counter_init(&f->left, &f->parent, PAGE_COUNTER_PROTECTED);
    page_counter_init(&f->right, &f->parent, PAGE_COUNTER_PROTECTED);
    page_counter_charge(&f->left, left_usage);
    page_counter_charge(&f->right, right_usage);
}

static void family_protect(struct family *f, struct page_counter_rules rules)
{
    page_counter_protect(&f->root, &f->root, rules);
    page_counter_protect(&f->root, &f->parent, rules);
    page_counter_protect(&f->root, &f->left, rules);
    page_counter_protect(&f->root, &f->right, rules);
}

static void overcommitted_children_share_by_claim(void **state)
{
    struct family f;
    family_init(&f, 100, 300);
    page_counter_set_low(&f.parent, 200);
    page_counter_set_low(&f.left, 100);
    page_counter_set_low(&f.right, 500); /* claims its usage, 300 */
    family_protect(&f, (struct page_counter_rules){.recursive = true, .clamp = true});
    assert_int_equal(f.parent.elow, 200);
    assert_int_equal(f.left.elow, 200 * 100 / 400);
    assert_int_equal(f.right.elow, 200 * 300 / 400);
    assert_int_equal(f.root.elow, 0);
}

static void unclaimed_protection_goes_to_all_when_recursive(void **state)
{
    struct family f;
    family_init(&f, 100, 300);
    page_counter_set_min(&f.parent, 200);
    page_counter_set_min(&f.left, 40);
    family_protect(&f, (struct page_counter_rules){.recursive = false, .clamp = true});
    assert_int_equal(f.left.emin, 40);
    assert_int_equal(f.right.emin, 0);
    family_protect(&f, (struct page_counter_rules){.recursive = true, .clamp = true});
    /* 160 unclaimed, usage beyond claims 60 and 300 */
    assert_int_equal(f.left.emin, 40 + 160 * 60 / 360);
    assert_int_equal(f.right.emin, 160 * 300 / 360);
}

static void unused_counter_keeps_its_old_protection(void **state)
{
    struct family f;
    family_init(&f, 100, 0);
    f.right.elow = 77;
    page_counter_set_low(&f.right, 10);
    family_protect(&f, (struct page_counter_rules){.recursive = true, .clamp = true});
    assert_int_equal(f.right.elow, 77);
}

/*
 * A child's usage is read after its parent's and may be larger by then. 7.3 and later clamp the
 * child's part to the whole; 6.12 multiplies and divides, so the share passes the parent's.
 */
static void row_31_share_is_clamped_to_the_parent(void **state)
{
    struct family f;
    family_init(&f, 900, 0);
    page_counter_set_low(&f.parent, 100);
    f.parent.usage = 300; /* what a racing reader would have seen */
    page_counter_protect(&f.root, &f.parent, (struct page_counter_rules){.recursive = true});
    struct page_counter_rules fixed = {.recursive = true, .clamp = true};
    page_counter_protect(&f.root, &f.left, fixed);
    assert_int_equal(f.left.elow, 100);
    struct page_counter_rules of_612 = {.recursive = true, .clamp = false};
    page_counter_protect(&f.root, &f.left, of_612);
    assert_int_equal(f.left.elow, 300);
}

static void shares_of_huge_amounts_do_not_overflow(void **state)
{
    struct family f;
    long huge = PAGE_COUNTER_MAX / 2;
    family_init(&f, huge, huge);
    page_counter_set_low(&f.parent, huge);
    page_counter_set_low(&f.left, PAGE_COUNTER_MAX);
    page_counter_set_low(&f.right, PAGE_COUNTER_MAX);
    family_protect(&f, (struct page_counter_rules){.recursive = true, .clamp = true});
    assert_int_equal(f.left.elow, huge / 2);
}

static void limit_texts_are_parsed_as_the_kernel_does(void **state)
{
    static const struct {
        const char *text;
        int error;
        long pages;
    } cases[] = {
        {"max", 0, PAGE_COUNTER_MAX},
        {" max\n", 0, PAGE_COUNTER_MAX},
        {"0", 0, 0},
        {"4095", 0, 0},
        {"4096", 0, 1},
        {"8191\n", 0, 1},
        {"32M", 0, 8192},
        {"1k", 0, 0},
        {"4K", 0, 1},
        {"1G", 0, 262144},
        {"1t", 0, 268435456},
        {"1P", 0, 274877906944},
        {"0x2000", 0, 2},
        {"020000", 0, 2},
        {"9223372036854775807", 0, PAGE_COUNTER_MAX},
        {"99999999999999999999999", 0, PAGE_COUNTER_MAX},
        {"999999999999E", 0, PAGE_COUNTER_MAX},
        {"", MGLRU_EINVAL, 0},
        {" ", MGLRU_EINVAL, 0},
        {"-1", MGLRU_EINVAL, 0},
        {"maxx", MGLRU_EINVAL, 0},
        {"MAX", MGLRU_EINVAL, 0},
        {"4096x", MGLRU_EINVAL, 0},
        {"4KK", MGLRU_EINVAL, 0},
        {"4 K", MGLRU_EINVAL, 0},
        {"1.5G", MGLRU_EINVAL, 0},
        {"0x", MGLRU_EINVAL, 0},
        {"08", MGLRU_EINVAL, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        long pages = -1;
        int error = page_counter_parse(cases[i].text, strlen(cases[i].text), 4096, &pages);
        if (error != cases[i].error || pages != cases[i].pages)
            fail_msg("\"%s\" gives %d, %ld pages", cases[i].text, error, pages);
    }
    long pages;
    assert_int_equal(page_counter_parse("64Kgarbage", 3, 65536, &pages), MGLRU_OK);
    assert_int_equal(pages, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_operations_agree_with_sums),
        cmocka_unit_test(limit_is_exact_at_its_edges),
        cmocka_unit_test(uncharge_below_zero_is_clamped_and_counted),
        cmocka_unit_test(watermark_reset_begins_a_local_peak),
        cmocka_unit_test(overcommitted_children_share_by_claim),
        cmocka_unit_test(unclaimed_protection_goes_to_all_when_recursive),
        cmocka_unit_test(unused_counter_keeps_its_old_protection),
        cmocka_unit_test(row_31_share_is_clamped_to_the_parent),
        cmocka_unit_test(shares_of_huge_amounts_do_not_overflow),
        cmocka_unit_test(limit_texts_are_parsed_as_the_kernel_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
