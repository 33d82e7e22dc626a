/* SPDX-License-Identifier: MIT */
/*
 * Fights that real projects found and mended: found before, none after, and the first proposals are
 * at least as cheap as what the projects did. Then the failure modes L1 to L4.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include <mglru/error.h>

#include "base/check.h"
#include "fixture.h"
#include "layout/diff.h"
#include "layout/suggest.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SECONDS_MAX 20.0
#else
#define SECONDS_MAX 1.0
#endif

static const char *file;
static const char *classes;

/* What is looked at beyond line 64, base 0. */
struct view {
    uint64_t line_bytes;
    bool any_base;
};

/* A case: before, after, the verdict before, and what the project's own fix moved. */
struct project {
    const char *before, *after;
    enum layout_verdict verdict;
    const char *reader, *writer;
    struct view view;
    unsigned moved;
};

static void open_case(struct fixture *f, const char *type, const struct view *view)
{
    fixture_open(f, file, type, classes);
    f->options.line_bytes = view->line_bytes != 0 ? view->line_bytes : 64;
    f->options.any_base = view->any_base;
}

static size_t fights(const struct layout_findings *findings)
{
    return fixture_count(findings, LAYOUT_ERROR) + fixture_count(findings, LAYOUT_WARNING);
}

static const struct layout_finding *find_verdict(const struct layout_findings *findings,
                                                 enum layout_verdict verdict)
{
    for (size_t i = 0; i < findings->count; i++)
        if (findings->items[i].verdict == verdict)
            return &findings->items[i];
    return NULL;
}

/* A proposal costs no more than the project's fix: in fights left, bytes and fields moved. */
static void check_suggestion(const struct fixture *f, const struct fixture *fixed, unsigned moved)
{
    struct layout_suggestions suggestions;
    int64_t growth = (int64_t)fixed->map.type->size_bytes - (int64_t)f->map.type->size_bytes;
    assert_int_equal(layout_suggest(&f->map, &f->options, &suggestions), MGLRU_OK);
    bool cheap = false;
    for (size_t i = 0; i < suggestions.count; i++) {
        const struct layout_suggestion *item = &suggestions.items[i];
        cheap =
            cheap || (item->residual == 0 && item->growth_bytes <= growth && item->moved <= moved);
    }
    assert_true(cheap);
    layout_suggestions_free(&suggestions);
}

static void check_project(const struct project *project)
{
    struct fixture before;
    struct fixture after;
    struct layout_findings findings;
    open_case(&before, project->before, &project->view);
    open_case(&after, project->after, &project->view);
    assert_int_equal(layout_conflicts_find(&before.map, &before.options, &findings), MGLRU_OK);
    const struct layout_finding *fight = find_verdict(&findings, project->verdict);
    assert_non_null(fight);
    assert_true(fight->severity != LAYOUT_NOTE);
    assert_true(fixture_names(fight, project->reader, true));
    assert_true(fixture_names(fight, project->writer, false));
    layout_findings_free(&findings);
    assert_int_equal(layout_conflicts_find(&after.map, &after.options, &findings), MGLRU_OK);
    assert_int_equal(fights(&findings), 0);
    layout_findings_free(&findings);
    check_suggestion(&before, &after, project->moved);
    fixture_close(&before);
    fixture_close(&after);
}

static void linux_18a5daf0e497_dentry_name_beside_lockref(void **state)
{
    check_project(&(struct project){
        "dentry_before", "dentry_after", LAYOUT_READ_ATOMIC, "d_iname", "d_lockref", {0}, 1});
}

static void linux_e249056c91a2_file_reference_on_the_first_line(void **state)
{
    check_project(&(struct project){
        "file_before", "file_after", LAYOUT_READ_ATOMIC, "f_op", "f_ref", {0}, 1});
}

static void linux_4df910620beb_needs_lines_of_128(void **state)
{
    static const struct view pairs = {.line_bytes = 128};
    struct fixture f;
    struct layout_findings findings;
    check_project(&(struct project){"mem_cgroup_before", "mem_cgroup_after", LAYOUT_READ_ATOMIC,
                                    "vmstats_percpu", "vmstats", pairs, 4});
    open_case(&f, "mem_cgroup_before", &(struct view){0});
    assert_int_equal(layout_conflicts_find(&f.map, &f.options, &findings), MGLRU_OK);
    assert_int_equal(fights(&findings), 0); /* lines of 64 hide it */
    layout_findings_free(&findings);
    fixture_close(&f);
}

static void linux_d3b1a9a778e1_needs_any_base(void **state)
{
    static const struct view any = {.any_base = true};
    struct fixture f;
    struct layout_findings findings;
    check_project(&(struct project){"address_space_before", "address_space_after",
                                    LAYOUT_READ_ATOMIC, "i_mmap", "i_mmap_rwsem", any, 1});
    open_case(&f, "address_space_before", &(struct view){0});
    assert_int_equal(layout_conflicts_find(&f.map, &f.options, &findings), MGLRU_OK);
    assert_int_equal(fights(&findings), 0); /* at base 0 they are apart */
    layout_findings_free(&findings);
    f.options.any_base = true;
    assert_int_equal(layout_conflicts_find(&f.map, &f.options, &findings), MGLRU_OK);
    /* i_mmap ends at 95, i_mmap_rwsem starts at 128: together from base 40 to 56. */
    assert_int_equal(findings.items[0].bases, 1u << 5 | 1u << 6 | 1u << 7);
    layout_findings_free(&findings);
    fixture_close(&f);
}

static void haproxy_4dd33d9c_pool_head_without_growth(void **state)
{
    check_project(&(struct project){
        "pool_head_before", "pool_head_after", LAYOUT_READ_ATOMIC, "limit", "used", {0}, 5});
}

static void linux_cgroup_rstat_of_document_004(void **state)
{
    struct fixture f;
    struct layout_findings findings;
    check_project(&(struct project){
        "cgroup_before", "cgroup_after", LAYOUT_READ_LOCK, "rstat_cpu", "last_bstat", {0}, 2});
    open_case(&f, "cgroup_before", &(struct view){0});
    assert_int_equal(layout_conflicts_find(&f.map, &f.options, &findings), MGLRU_OK);
    assert_non_null(fixture_finding(&findings, 14, LAYOUT_READ_LOCK));
    layout_findings_free(&findings);
    fixture_close(&f);
}

/* A pointer takes the place of what was embedded: lru_zone_size comes near. */
static void linux_lruvec_stats_of_document_001_is_a_new_pair(void **state)
{
    struct fixture before;
    struct fixture after;
    struct layout_diff diff;
    open_case(&before, "per_node_before", &(struct view){0});
    open_case(&after, "per_node_after", &(struct view){0});
    assert_int_equal(layout_diff(&before.map, &after.map, &after.options, &diff), MGLRU_OK);
    const struct layout_finding *fresh = fixture_finding(&diff.fresh, 25, LAYOUT_READ_LOCK);
    assert_non_null(fresh);
    assert_true(fixture_names(fresh, "lruvec_stats", true));
    assert_true(fixture_names(fresh, "lru_zone_size", false));
    layout_diff_free(&diff);
    fixture_close(&before);
    fixture_close(&after);
}

static void l1_atomics_bitfields_unions_and_flexible_arrays_have_their_sizes(void **state)
{
    static const struct {
        const char *name;
        uint64_t bit_offset, bit_size;
    } fields[] = {{"first", 0, 32}, {"second", 64, 64}, {"third", 128, 64}, {"bits", 192, 3},
                  {"more", 195, 5}, {"whole", 256, 64}, {"part", 256, 64},  {"flexible", 320, 0}};
    struct fixture f;
    open_case(&f, "with_atomics", &(struct view){0});
    assert_int_equal(f.map.field_count, MGLRU_ARRAY_LEN(fields));
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(fields); i++) {
        const struct layout_field *field = fixture_field(&f.map, fields[i].name);
        assert_int_equal(field->bit_offset, fields[i].bit_offset);
        assert_int_equal(field->bit_size, fields[i].bit_size);
    }
    assert_int_equal(f.map.type->size_bytes, 40);
    fixture_close(&f);
}

/* A reorder for size would put the counter into a hole beside what is read. */
static void l2_proposals_never_add_a_fight_nor_claim_a_wrong_size(void **state)
{
    struct fixture f;
    struct layout_suggestions suggestions;
    open_case(&f, "with_holes", &(struct view){0});
    assert_int_equal(layout_suggest(&f.map, &f.options, &suggestions), MGLRU_OK);
    for (size_t i = 0; i < suggestions.count; i++) {
        assert_int_equal(suggestions.items[i].size_bytes % f.map.type->align_bytes, 0);
        assert_true(suggestions.items[i].size_bytes >= 128); /* two lines at least */
        assert_true(suggestions.items[i].residual < suggestions.residual);
    }
    layout_suggestions_free(&suggestions);
    fixture_close(&f);
}

/* Also haproxy 6f2c215a: the type asks for 64, malloc gives 16. */
static void l3_alignment_that_malloc_does_not_keep_is_a_warning(void **state)
{
    struct fixture f;
    struct layout_findings findings;
    open_case(&f, "pool_head_after", &(struct view){0});
    f.options.alloc_align = LAYOUT_MALLOC_ALIGN;
    assert_int_equal(layout_conflicts_find(&f.map, &f.options, &findings), MGLRU_OK);
    const struct layout_finding *lost = find_verdict(&findings, LAYOUT_ALIGNMENT);
    assert_non_null(lost);
    assert_int_equal(lost->severity, LAYOUT_WARNING);
    assert_non_null(strstr(lost->why, "aligned_alloc"));
    layout_findings_free(&findings);
    f.options.alloc_align = 64; /* as the project allocates it since */
    assert_int_equal(layout_conflicts_find(&f.map, &f.options, &findings), MGLRU_OK);
    assert_null(find_verdict(&findings, LAYOUT_ALIGNMENT));
    layout_findings_free(&findings);
    fixture_close(&f);
}

/* CUBRID #7844: no fight before; after, the padding is what is wrong. */
static void l4_splitting_data_of_one_lock_is_a_warning(void **state)
{
    struct fixture before;
    struct fixture after;
    struct layout_findings findings;
    struct layout_suggestions suggestions;
    struct layout_diff diff;
    open_case(&before, "bcb_before", &(struct view){0});
    open_case(&after, "bcb_after", &(struct view){0});
    assert_int_equal(layout_conflicts_find(&before.map, &before.options, &findings), MGLRU_OK);
    assert_int_equal(fights(&findings), 0);
    layout_findings_free(&findings);
    assert_int_equal(layout_suggest(&before.map, &before.options, &suggestions), MGLRU_OK);
    assert_int_equal(suggestions.count, 0); /* nothing to split */
    layout_suggestions_free(&suggestions);
    assert_int_equal(layout_conflicts_find(&after.map, &after.options, &findings), MGLRU_OK);
    const struct layout_finding *split = find_verdict(&findings, LAYOUT_SPLIT);
    assert_non_null(split);
    assert_int_equal(split->severity, LAYOUT_WARNING);
    assert_non_null(strstr(split->why, "under BCB_mutex only"));
    layout_findings_free(&findings);
    assert_int_equal(layout_diff(&before.map, &after.map, &after.options, &diff), MGLRU_OK);
    assert_non_null(find_verdict(&diff.fresh, LAYOUT_SPLIT));
    layout_diff_free(&diff);
    fixture_close(&before);
    fixture_close(&after);
}

/* Bounded work: a struct of 40 fields in under a second (processor time). */
static void proposes_for_forty_fields_within_a_second(void **state)
{
    struct fixture f;
    struct layout_suggestions suggestions;
    open_case(&f, "forty", &(struct view){0});
    clock_t start = clock();
    assert_int_equal(layout_suggest(&f.map, &f.options, &suggestions), MGLRU_OK);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    print_message("%zu proposals in %.3f s, residual %llu to %llu\n", suggestions.count, seconds,
                  (unsigned long long)suggestions.residual,
                  (unsigned long long)suggestions.items[0].residual);
    assert_true(suggestions.count > 0);
    assert_true(suggestions.items[0].residual < suggestions.residual);
    /* Instrumented builds are slower by a factor, not by the struct. */
    assert_true(seconds < SECONDS_MAX);
    layout_suggestions_free(&suggestions);
    fixture_close(&f);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linux_18a5daf0e497_dentry_name_beside_lockref),
        cmocka_unit_test(linux_e249056c91a2_file_reference_on_the_first_line),
        cmocka_unit_test(linux_4df910620beb_needs_lines_of_128),
        cmocka_unit_test(linux_d3b1a9a778e1_needs_any_base),
        cmocka_unit_test(haproxy_4dd33d9c_pool_head_without_growth),
        cmocka_unit_test(linux_cgroup_rstat_of_document_004),
        cmocka_unit_test(linux_lruvec_stats_of_document_001_is_a_new_pair),
        cmocka_unit_test(l1_atomics_bitfields_unions_and_flexible_arrays_have_their_sizes),
        cmocka_unit_test(l2_proposals_never_add_a_fight_nor_claim_a_wrong_size),
        cmocka_unit_test(l3_alignment_that_malloc_does_not_keep_is_a_warning),
        cmocka_unit_test(l4_splitting_data_of_one_lock_is_a_warning),
        cmocka_unit_test(proposes_for_forty_fields_within_a_second),
    };
    MGLRU_CHECK(argc == 3);
    file = argv[1];
    classes = argv[2];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
