/* SPDX-License-Identifier: MIT */
/*
 * Goal: the type model agrees with the compiler that made this very program.
 * Method: opens the running program, which is compiled with -g, and compares the types below with
 * offsetof, sizeof and _Alignof.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <mglru/error.h>

#include "layout/flat.h"
#include "layout/set.h"

struct undefined;

struct link {
    struct link *next;
    struct link *previous;
};

typedef struct {
    long count;
} counter_like;

struct inner {
    char letter;
    int three : 3;
    int five : 5;
    unsigned twenty : 20;
    union {
        float single;
        double twice[3];
    };
    short tail;
};

struct outer {
    _Atomic int flag;
    struct inner inner[2];
    struct link heads[4][2][3];
    const char *const name;
    int (*call)(struct undefined *, void *, ...);
    counter_like counters[2][4] __attribute__((aligned(64)));
    struct undefined *elsewhere;
    char rest[];
};

union either {
    int number;
    long three[3];
};

static struct outer outer_object;
static union either either_object;

static void keep_types(void)
{
    struct local {
        int field;
    } local = {1};
    assert_int_equal(local.field, 1);
    assert_null(outer_object.name);
    assert_int_equal(either_object.number, 0);
}

static struct layout_set *open_self(void)
{
    struct layout_set *set;
    struct layout_error error = {0};
    int code = layout_open("/proc/self/exe", NULL, &set, &error);
    if (code != MGLRU_OK)
        fail_msg("%s", error.text);
    assert_int_equal(layout_set_info(set)->format, LAYOUT_DWARF);
    assert_int_equal(layout_set_info(set)->address_bytes, sizeof(void *));
    return set;
}

static const struct layout_type *find(struct layout_set *set, const char *name)
{
    const struct layout_type *type;
    struct layout_error error = {0};
    int code = layout_find(set, name, &type, NULL, &error);
    if (code != MGLRU_OK)
        fail_msg("%s: %s", name, error.text);
    return type;
}

static const struct layout_member *member(const struct layout_type *type, const char *name)
{
    for (uint32_t i = 0; i < type->member_count; i++)
        if (type->members[i].name != NULL && strcmp(type->members[i].name, name) == 0)
            return &type->members[i];
    fail_msg("%s has no member %s", type->display, name);
    return NULL;
}

static void test_members(void **state)
{
    struct layout_set *set = open_self();
    const struct layout_type *type = find(set, "struct outer");
    assert_string_equal(type->name, "outer");
    assert_string_equal(type->display, "struct outer");
    assert_int_equal(type->size_bytes, sizeof(struct outer));
    assert_int_equal(type->align_bytes, _Alignof(struct outer));
    assert_non_null(strstr(type->decl_file, "test_layout_dwarf.c"));
    assert_int_equal(type->member_count, 8);
    const struct layout_member *heads = member(type, "heads");
    assert_int_equal(heads->bit_offset, 8 * offsetof(struct outer, heads));
    assert_int_equal(heads->bit_size, 8 * sizeof(outer_object.heads));
    assert_int_equal(heads->dim_count, 3);
    assert_int_equal(heads->dims[0], 4);
    assert_int_equal(heads->dims[2], 3);
    assert_string_equal(heads->type_name, "struct link");
    assert_ptr_equal(heads->type, find(set, "link"));
    const struct layout_member *counters = member(type, "counters");
    assert_int_equal(counters->align_bytes, 64);
    assert_string_equal(counters->type_name, "counter_like");
    assert_string_equal(member(type, "call")->type_name,
                        "int (*)(struct undefined *, void *, ...)");
    assert_string_equal(member(type, "name")->type_name, "const char *const");
    assert_int_equal(member(type, "elsewhere")->flags, LAYOUT_POINTER);
    assert_int_equal(member(type, "rest")->flags & LAYOUT_FLEXIBLE, LAYOUT_FLEXIBLE);
    assert_int_equal(member(type, "rest")->bit_offset, 8 * offsetof(struct outer, rest));
    layout_close(set);
}

static void test_bits_and_unions(void **state)
{
    struct layout_set *set = open_self();
    const struct layout_type *type = find(set, "inner");
    assert_int_equal(member(type, "three")->bit_size, 3);
    assert_int_equal(member(type, "five")->bit_offset, member(type, "three")->bit_offset + 3);
    assert_int_equal(member(type, "twenty")->flags, LAYOUT_BITFIELD);
    assert_int_equal(member(type, "tail")->bit_offset, 8 * offsetof(struct inner, tail));
    struct layout_summary summary;
    layout_summarise(type, &summary);
    assert_int_equal(summary.padding_bytes,
                     sizeof(struct inner) - offsetof(struct inner, tail) - sizeof(short));
    type = find(set, "union either");
    assert_int_equal(type->kind, LAYOUT_UNION);
    assert_int_equal(type->size_bytes, sizeof(union either));
    assert_int_equal(member(type, "three")->bit_offset, 0);
    layout_close(set);
}

static void test_flat(void **state)
{
    struct layout_set *set = open_self();
    struct layout_flat flat;
    struct layout_error error = {0};
    assert_int_equal(layout_flatten(find(set, "outer"), NULL, &flat, &error), MGLRU_OK);
    const struct layout_leaf *leaf = layout_flat_leaf(&flat, "inner.twice");
    assert_non_null(leaf);
    assert_string_equal(leaf->path, "inner[].twice[]");
    assert_int_equal(leaf->bit_offset,
                     8 * (offsetof(struct outer, inner) + offsetof(struct inner, twice)));
    assert_int_equal(leaf->repeat.dim_count, 2);
    assert_int_equal(leaf->repeat.dims[1], 3);
    assert_int_equal(leaf->repeat.stride_bytes[0], sizeof(struct inner));
    assert_int_equal(leaf->bit_extent, 8 * (sizeof(struct inner) + 3 * sizeof(double)));
    assert_int_equal(leaf->union_id, 1);
    assert_int_equal(leaf->alternative, 1);
    /* Between the last element of one copy and the first of the next lies the short. */
    uint64_t tail = offsetof(struct outer, inner) + offsetof(struct inner, tail);
    assert_false(layout_leaf_touches(leaf, tail, tail + 1));
    assert_true(layout_leaf_touches(leaf, tail - 1, tail + 1));
    assert_true(layout_leaf_touches(leaf, 0, sizeof(struct outer)));
    assert_non_null(layout_flat_leaf(&flat, "heads[][][]"));
    assert_null(layout_flat_leaf(&flat, "heads.next"));
    assert_string_equal(flat.nests[1].path, "inner[]");
    layout_flat_free(&flat);
    layout_close(set);
}

static void test_answers(void **state)
{
    struct layout_set *set = open_self();
    struct layout_error error = {0};
    const struct layout_type *type;
    assert_int_equal(find(set, "counter_like")->size_bytes, sizeof(counter_like));
    assert_int_equal(find(set, "local")->size_bytes, sizeof(int));
    assert_int_equal(layout_find(set, "undefined", &type, NULL, &error), MGLRU_ENOENT);
    assert_non_null(strstr(error.text, "only declared"));
    assert_int_equal(layout_find(set, "ouster", &type, NULL, &error), MGLRU_ENOENT);
    assert_non_null(strstr(error.text, "did you mean outer"));
    assert_int_equal(layout_find(set, "union outer", &type, NULL, &error), MGLRU_ENOENT);
    assert_int_equal(layout_find(set, "int", &type, NULL, &error), MGLRU_EINVAL);
    struct layout_choices all;
    assert_int_equal(layout_all(set, &all, &error), MGLRU_OK);
    size_t found = 0;
    for (size_t i = 0; i < all.count; i++)
        found += strcmp(all.types[i]->name, "outer") == 0;
    assert_int_equal(found, 1);
    layout_close(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members),
        cmocka_unit_test(test_bits_and_unions),
        cmocka_unit_test(test_flat),
        cmocka_unit_test(test_answers),
    };
    keep_types();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
