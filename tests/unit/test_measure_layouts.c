/* SPDX-License-Identifier: MIT */
/*
 * Goal: what `mglru bench --layout` predicts has the documents' pairs of fields before their
 * changes, none after them, and no read-mostly field of the library's own order suffers from other
 * fields' writes; a pair goes when its fields are on lines of their own and nothing else changed.
 * Method: the recorded builds that are linked in, through the recorder and the model.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "coherence/predict.h"
#include "measure/layouts.h"
#include "measure/record.h"

struct counts {
    double document;    /* misses an operation on the document's pairs */
    double read_mostly; /* on read-mostly fields, by writes of others */
    double all;
};

struct question {
    const char *layout;
    const char *bench;
    const char *test;
    unsigned nodes;
    unsigned cpus;
    const struct record_apart *apart;
    size_t apart_count;
};

/* Files that two threads read once in a recording. */
#define PASS_BYTES (4u << 20)

static struct recording recording;

static struct counts ask(const struct question *question, const char *document)
{
    const struct work_build *build = NULL;
    for (size_t i = 0; i < work_layout_count; i++)
        if (strcmp(work_layouts[i].name, question->layout) == 0)
            build = work_layouts[i].recorded;
    assert_non_null(build);
    struct record_wish wish = {
        .setup = {question->test, 2 * question->nodes, question->nodes,
                  strcmp(question->bench, "refault") == 0 ? PASS_BYTES : 1 << 20},
        .operations = strcmp(question->bench, "refault") == 0 ? PASS_BYTES / 4096 / 2 : 600,
        .warm = 512,
        .apart = question->apart,
        .apart_count = question->apart_count,
    };
    const struct work *work = work_find(build, question->bench, question->test);
    assert_non_null(work);
    assert_int_equal(record_work(build, work, &wish, &recording), 0);
    assert_true(recording.trace.op_count > 0);
    assert_true(recording.trace.operations > 0);
    struct coherence_subjects subjects = {recording.objects, recording.object_count};
    struct coherence_wish predict = {question->cpus, {40, 200}, 4000000, true};
    struct coherence_prediction prediction;
    assert_int_equal(coherence_predict(&recording.trace, &subjects, &predict, &prediction), 0);
    double operations = (double)prediction.operations;
    struct counts counts = {
        .document = layouts_count_document(&prediction, document) / operations,
        .read_mostly = layouts_count_read_mostly(&prediction) / operations,
        .all = prediction.misses_per_op,
    };
    coherence_prediction_free(&prediction);
    recording_free(&recording);
    return counts;
}

static const char *const added[][2] = {{"fault", "page_fault1"},
                                       {"fault", "page_fault2"},
                                       {"fallocate", "fallocate1"},
                                       {"fallocate", "fallocate2"}};

static void before_has_the_pairs_of_document_001_on_one_node_and_two(void **state)
{
    for (unsigned i = 0; i < 4; i++)
        for (unsigned nodes = 1; nodes <= 2; nodes++) {
            struct question question = {"before", added[i][0], added[i][1], nodes, 52, NULL, 0};
            assert_true(ask(&question, "001").document > 1);
        }
}

static void page_fault3_has_hardly_any(void **state)
{
    struct question question = {"before", "fault", "page_fault3", 1, 52, NULL, 0};
    assert_true(ask(&question, "001").document < 0.01);
}

static void after_has_none_of_them(void **state)
{
    for (unsigned i = 0; i < 4; i++) {
        struct question question = {"after", added[i][0], added[i][1], 1, 52, NULL, 0};
        struct counts counts = ask(&question, "001");
        assert_true(counts.document == 0);
        assert_true(counts.all > 0);
    }
}

static void pairs_of_document_000_grow_from_nothing_to_24_cpus(void **state)
{
    static const unsigned cpus[] = {1, 2, 8, 24};
    double last = -1;
    for (unsigned i = 0; i < 4; i++) {
        struct question question = {"before", "refault", "random", 1, cpus[i], NULL, 0};
        double found = ask(&question, "000").document;
        assert_true(i == 0 ? found == 0 : found > last);
        last = found;
        question.layout = "after";
        assert_true(ask(&question, "000").document == 0);
        question.layout = "ours";
        assert_true(ask(&question, "000").read_mostly == 0);
    }
}

static void one_cpu_misses_nothing(void **state)
{
    struct question question = {"before", "fallocate", "fallocate1", 1, 1, NULL, 0};
    assert_true(ask(&question, "001").all == 0);
}

static void read_mostly_fields_of_ours_are_left_alone(void **state)
{
    static const unsigned cpus[] = {2, 8, 24, 52, 80};
    for (unsigned i = 0; i < 4; i++)
        for (unsigned k = 0; k < sizeof(cpus) / sizeof(cpus[0]); k++) {
            struct question question = {"ours", added[i][0], added[i][1], 1, cpus[k], NULL, 0};
            assert_true(ask(&question, "001").read_mostly == 0);
        }
}

static void a_pair_goes_when_its_fields_have_lines_of_their_own(void **state)
{
    static const struct record_apart apart[] = {
        {"lruvec", "reclaim"}, {"lruvec", "memcg"}, {"lruvec", "node"}};
    struct question question = {"before", "fallocate", "fallocate1", 1, 52, NULL, 0};
    struct counts together = ask(&question, "001");
    question.apart = apart;
    question.apart_count = 3;
    struct counts moved = ask(&question, "001");
    assert_true(together.document > 1);
    assert_true(moved.document == 0);
    /* What else misses is what missed before. */
    assert_true(moved.all < together.all - together.document / 2);
}

static void the_same_work_gives_the_same_prediction(void **state)
{
    struct question question = {"before", "fault", "page_fault1", 2, 24, NULL, 0};
    struct counts first = ask(&question, "001"), second = ask(&question, "001");
    assert_true(first.all == second.all);
    assert_true(first.document == second.document);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(before_has_the_pairs_of_document_001_on_one_node_and_two),
        cmocka_unit_test(page_fault3_has_hardly_any),
        cmocka_unit_test(after_has_none_of_them),
        cmocka_unit_test(pairs_of_document_000_grow_from_nothing_to_24_cpus),
        cmocka_unit_test(one_cpu_misses_nothing),
        cmocka_unit_test(read_mostly_fields_of_ours_are_left_alone),
        cmocka_unit_test(a_pair_goes_when_its_fields_have_lines_of_their_own),
        cmocka_unit_test(the_same_work_gives_the_same_prediction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
