/* SPDX-License-Identifier: MIT */
/* base/list.h: order and emptiness after every operation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/list.h"

struct item {
    struct list_node node;
    int value;
};

static void expect_values(struct list_node *head, const int *values, size_t count)
{
    struct list_node *pos;
    size_t i = 0;
    list_for_each (pos, head) {
        assert_true(i < count);
        assert_int_equal(container_of(pos, struct item, node)->value, values[i]);
        i++;
    }
    assert_int_equal(i, count);
    i = count;
    list_for_each_reverse (pos, head) {
        i--;
        assert_int_equal(container_of(pos, struct item, node)->value, values[i]);
    }
}

static void splice_keeps_the_order_of_both_lists(void **state)
{
    struct list_node a, b;
    struct item items[5];
    list_init(&a);
    list_init(&b);
    for (int i = 0; i < 5; i++) {
        items[i].value = i;
        list_add_tail(i < 2 ? &a : &b, &items[i].node);
    }
    list_splice_tail(&a, &b);
    assert_true(list_empty(&b));
    expect_values(&a, (int[]){0, 1, 2, 3, 4}, 5);
    list_splice_head(&b, &a);
    assert_true(list_empty(&a));
    expect_values(&b, (int[]){0, 1, 2, 3, 4}, 5);
}

static void cut_to_tail_moves_just_the_run(void **state)
{
    struct list_node a, b;
    struct item items[5];
    list_init(&a);
    list_init(&b);
    for (int i = 0; i < 5; i++) {
        items[i].value = i;
        list_add_tail(i < 1 ? &a : &b, &items[i].node);
    }
    list_cut_to_tail(&a, &b, &items[2].node);
    expect_values(&a, (int[]){0, 1, 2}, 3);
    expect_values(&b, (int[]){3, 4}, 2);
    list_cut_to_tail(&a, &b, &items[4].node);
    expect_values(&a, (int[]){0, 1, 2, 3, 4}, 5);
    assert_true(list_empty(&b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splice_keeps_the_order_of_both_lists),
        cmocka_unit_test(cut_to_tail_moves_just_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
