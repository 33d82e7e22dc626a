/* SPDX-License-Identifier: MIT */
/*
 * Texts of perf, read: the columns of several releases, the words before a sample, whose stores the
 * loads met, and what is refused with its line. Texts are made by hand after what perf prints.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "base/check.h"
#include "coherence/blame.h"
#include "coherence/samples.h"
#include "coherence/uses.h"

static struct coherence_samples samples;
static struct coherence_result result;
static struct coherence_blame blame;
static struct coherence_error error;

/* One object of four fields of 8 bytes at 0x1000. */
static const struct coherence_field fields[] = {
    {"limit", 0, 8, 0, 0}, {"hits", 8, 8, 0, 0}, {"name", 16, 8, 0, 0}, {"last", 24, 8, 0, 0}};
static const struct coherence_subject subject = {0x1000, 32, "shared", fields, 4};
static const struct coherence_subjects subjects = {&subject, 1};

static int read_text(const char *text)
{
    struct coherence_bytes file = {text, strlen(text), "t"};
    return coherence_samples_parse(&file, 64, &samples, &error);
}

static void read_good(const char *text)
{
    int code = read_text(text);
    if (code != MGLRU_OK)
        print_error("%s\n", error.text);
    assert_int_equal(code, MGLRU_OK);
    assert_int_equal(coherence_samples_finish(&samples, &result), MGLRU_OK);
    assert_int_equal(coherence_blame_make(&samples.log.trace, &result, &subjects, &blame), 0);
}

static int end(void **state)
{
    coherence_blame_free(&blame);
    coherence_result_free(&result);
    coherence_samples_free(&samples);
    return 0;
}

static void expect_pair(size_t i, const char *reader, const char *writer, uint64_t count)
{
    assert_true(i < blame.count);
    assert_string_equal(blame.pairs[i].reader, reader);
    assert_string_equal(blame.pairs[i].writer, writer);
    assert_int_equal(blame.pairs[i].count, count);
}

static void expect_refusal(const char *text, const char *message)
{
    assert_int_equal(read_text(text), MGLRU_EINVAL);
    assert_string_equal(error.text, message);
    coherence_samples_free(&samples);
}

/* --- perf c2c ------------------------------------------------------------------------------- */

#define PARETO                                                                                     \
    "=================================================\n"                                          \
    "      Shared Cache Line Distribution Pareto      \n"                                          \
    "=================================================\n"                                          \
    "#\n"

/* As of perf 6.x: with a column of other CPUs' answers, stores of any level, and cycles. */
#define HEAD_6                                                                                     \
    PARETO                                                                                         \
    "#        ----- HITM -----    Snoop  ------- Store Refs ------  - Data address -  \n"          \
    "#   Num  RmtHitm  LclHitm     Peer   L1 Hit  L1 Miss      N/A  Offset  Node  PA cnt  "        \
    "Code address  rmt hitm  lcl hitm      load  records       cnt  Symbol  Object\n"              \
    "# .....  .......  .......  .......  .......  .......  .......  ......  ....  ......  "        \
    "............  ........  ........  ........  .......  ........  ......  ......\n"              \
    "#\n"

static const char report_6[] =
    HEAD_6 "  -------------------------------------\n"
           "      0        2      100        0      300      100        0  0x1000\n"
           "  -------------------------------------\n"
           "   50.00%   90.00%    0.00%    0.00%    0.00%    0.00%  0x0  0  1  0x401136  0  90  50"
           "  500  2  [.] read_limit  program  program.c:7   0\n"
           "   50.00%   10.00%    0.00%    0.00%    0.00%    0.00%  0x8  0  1  0x401200  0  90  50"
           "   60  2  [.] count  program\n"
           "    0.00%    0.00%    0.00%  100.00%  100.00%    0.00%  0x8  0  1  0x401210  0  0  0"
           "  400  3  [.] count  program\n"
           "\n";

static void test_shares_of_a_report_become_pairs(void **state)
{
    read_good(report_6);
    assert_int_equal(samples.hitm, 102);
    assert_int_equal(samples.unknown, 0);
    assert_int_equal(samples.log.trace.op_count, 960);
    assert_int_equal(blame.count, 2);
    expect_pair(0, "limit", "hits", 91);
    assert_int_equal(blame.pairs[0].verdict, COHERENCE_PAIR_FALSE);
    expect_pair(1, "hits", "hits", 11);
    assert_int_equal(blame.pairs[1].verdict, COHERENCE_PAIR_TRUE);
}

static void test_report_says_who_reads_and_writes(void **state)
{
    struct coherence_uses uses;
    read_good(report_6);
    assert_int_equal(coherence_uses_make(&samples.log.trace, &subjects, &uses), MGLRU_OK);
    assert_string_equal(uses.items[0].field->name, "limit");
    assert_int_equal(uses.items[0].used, COHERENCE_USED_READ);
    assert_int_equal(uses.items[0].writes, 0);
    assert_in_range(uses.items[0].reads, 490, 500); /* but before a second thread came */
    assert_int_equal(uses.items[1].used, COHERENCE_USED_ATOMIC);
    assert_in_range(uses.items[1].writes, 395, 400);
    assert_int_equal(uses.items[2].used, COHERENCE_USED_COLD);
    coherence_uses_free(&uses);
}

/* Older releases have no snoop and no third kind of store, and a thread with -c tid. */
static void test_columns_go_by_their_names(void **state)
{
    read_good(
        PARETO
        "#        ----- HITM -----  -- Store Refs --  - Data address -      \n"
        "#   Num  RmtHitm  LclHitm   L1 Hit  L1 Miss   Offset  Tid  Node  PA cnt  Code address"
        "  records  cnt  Symbol\n"
        "# .....  .......  .......  .......  .......  .......  ...  ....  ......  ............"
        "  .......  ...  ......\n"
        "#\n"
        "      0        0       10        8        0  0x1000\n"
        "    0.00%  100.00%    0.00%    0.00%  0x10  77  0  1  0x40  20  1  [.] a b\n"
        "            |\n"
        "            ---main\n"
        "    0.00%    0.00%  100.00%    0.00%  0x18  78  0  1  0x44   8  1  [.] c\n");
    assert_int_equal(blame.count, 1);
    expect_pair(0, "name", "last", 10);
}

static void test_line_without_a_store_has_no_known_writer(void **state)
{
    read_good(HEAD_6
              "      0        4       20        0        0        0        0  0x1000\n"
              "  100.00%   50.00%    0.00%    0.00%    0.00%    0.00%  0x0  0  1  0x4  0  0  0  30"
              "  2  [.] f\n"
              "    0.00%   50.00%    0.00%    0.00%    0.00%    0.00%  0x8  0  1  0x8  0  0  0  30"
              "  2  [.] g\n");
    assert_int_equal(samples.hitm, 24);
    assert_int_equal(samples.unknown, 24);
    assert_int_equal(blame.count, 0);
}

static void test_damaged_reports_are_refused_with_their_line(void **state)
{
    expect_refusal("bogus\n", "t: neither perf c2c report --stdio ('Shared Cache Line Distribution "
                              "Pareto') nor perf script with data_src ('|OP ')");
    expect_refusal("", "t: neither perf c2c report --stdio ('Shared Cache Line Distribution "
                       "Pareto') nor perf script with data_src ('|OP ')");
    expect_refusal(PARETO, "t: line 4: the table of lines ends before its columns are named");
    expect_refusal(PARETO "# Num  Offset\n# ...  ......\n",
                   "t: line 6: a column is missing: expected Num, RmtHitm, LclHitm, L1 Hit, L1 "
                   "Miss, Offset, records, cnt and Symbol");
    expect_refusal(HEAD_6 "  50.00%\n", "t: line 9: shares before the line they are of");
    expect_refusal(HEAD_6 "      0        2       x\n",
                   "t: line 9: expected number, counts and address of a line");
    expect_refusal(HEAD_6 "      0  2  100  0  300  100  0  0x1001\n",
                   "t: line 9: expected the address of a line");
#define LINE_ROW HEAD_6 "      0  2  100  0  300  100  0  0x1000\n"
    expect_refusal(LINE_ROW " 50.00% 90.00%\n",
                   "t: line 10: expected shares in percent of the line's counts");
    expect_refusal(LINE_ROW " 0% 101% 0% 0% 0% 0% 0x0 0 1 0x4 0 0 0 1 1 f\n",
                   "t: line 10: expected shares in percent of the line's counts");
    expect_refusal(LINE_ROW " 0% 1% 0% 0% 0% 0% 0x40 0 1 0x4 0 0 0 1 1 f\n",
                   "t: line 10: expected an offset inside of the line");
    expect_refusal(LINE_ROW " 0% 1% 0% 0% 0% 0% 0x4 0 1 0x4 0 0 0 -1 1 f\n",
                   "t: line 10: expected numbers of records and of CPUs");
}

/* --- perf script ---------------------------------------------------------------------------- */

#define LOAD "|OP LOAD|LVL L3 or L3 hit|SNP HitM|TLB L1 or L2 hit|LCK No|BLK  N/A"
#define QUIET "|OP LOAD|LVL L1 or L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A"
#define STORE "|OP STORE|LVL L1 or L1 hit|SNP N/A|TLB N/A|LCK No|BLK  N/A"
#define LOCKED "|OP LOAD|LVL L1 or L1 hit|SNP None|TLB N/A|LCK Yes|BLK  N/A"

static void test_samples_meet_stores_of_other_threads(void **state)
{
    read_good("      program  100     1000      68100142 " QUIET "   401136\n"
              "      program  100     1000      68100842 " LOAD "   401136\n"
              "      program  101     1008      68100144 " STORE "   401210\n"
              "      program  101     1008      68100144 " LOCKED "   401210\n"
              "      program  100     1018      68100144 " STORE "   401210\n"
              "      program  101     1008      68100842 " LOAD "   401210\n");
    assert_int_equal(samples.log.trace.thread_count, 2);
    assert_int_equal(samples.hitm, 2);
    assert_int_equal(blame.count, 2);
    expect_pair(0, "hits", "last", 1); /* 101's own stores took nothing from it */
    expect_pair(1, "limit", "hits", 1);
}

/* Names with blanks and numbers, more fields, samples that are none, call chains. */
static void test_words_before_a_sample(void **state)
{
    read_good("# a header\n"
              "Web Content 2 4711/4712 [003] 26755.412141:     1 cpu/mem-loads,ldlat=30/P:  1000 "
              "68100842 " LOAD "  401136 f+0x1 (/usr/bin/x)\n"
              "\tffffffff8177539a elf_load+0x28a\n"
              "\n"
              "x 4713 26755.4: cpu/mem-stores/P: 1008 68100144 " STORE " 401136\n"
              "x 4713 26755.5: 0 68100144 " STORE " 401136\n"
              "x 4713 26755.5: 1000 1 |OP N/A|LVL N/A|SNP N/A 401136\n"
              "x 4713 26755.6:    sched:sched_switch: prev=x\n");
    assert_int_equal(samples.log.trace.op_count, 2);
    assert_int_equal(samples.left_out, 2);
    assert_int_equal(samples.log.trace.thread_count, 2);
    assert_int_equal(blame.count, 1);
    expect_pair(0, "limit", "hits", 1);
}

static void test_damaged_samples_are_refused_with_their_line(void **state)
{
    expect_refusal("x 1 1000 1 " LOAD " 4\nx 1 100g 1 " LOAD " 4\n",
                   "t: line 2: expected an address and data_src before |OP, as perf script -F "
                   "comm,tid,ip,addr,data_src prints them");
    expect_refusal("1000 1 " LOAD "\n",
                   "t: line 1: expected an address and data_src before |OP, as perf script -F "
                   "comm,tid,ip,addr,data_src prints them");
    expect_refusal("x y: 1000 1 " LOAD "\n",
                   "t: line 1: expected the number of a thread before the address");
    char *many = malloc(200000), *at = many;
    for (int i = 1; i <= 1025; i++)
        at += sprintf(at, "x %d 1000 1 " STORE "\n", i);
    expect_refusal(many, "t: line 1025: more than 1024 threads");
    free(many);
}

#define SAMPLES_TEST(name) cmocka_unit_test_teardown(name, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SAMPLES_TEST(test_shares_of_a_report_become_pairs),
        SAMPLES_TEST(test_report_says_who_reads_and_writes),
        SAMPLES_TEST(test_columns_go_by_their_names),
        SAMPLES_TEST(test_line_without_a_store_has_no_known_writer),
        SAMPLES_TEST(test_damaged_reports_are_refused_with_their_line),
        SAMPLES_TEST(test_samples_meet_stores_of_other_threads),
        SAMPLES_TEST(test_words_before_a_sample),
        SAMPLES_TEST(test_damaged_samples_are_refused_with_their_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
