/* SPDX-License-Identifier: MIT */
/*
 * The recorder's rules: what events of the kernel become as accesses (the numbers of
 * record/rules.h), how bytes become events, and what a mount table tells. Events are made up here,
 * as Linux 6.12 and 7.3 emitted them in recordings.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <mglru/error.h>

#include "base/check.h"
#include "record/event.h"
#include "record/mounts.h"
#include "record/rules.h"
#include "record/table.h"

#define DEVICE (UINT64_C(254) << 20)
#define LOG_BYTES 4096

/* What was emitted, one word an access: "r0:4" reads 0..3. Files are a, b, c by number. */
struct log {
    char text[LOG_BYTES];
    int refuse; /* emit answers with it */
};

static int on_access(void *context, const struct rules_access *access)
{
    static const char letters[] = " rwmMxaof";
    struct log *log = context;
    if (log->refuse != MGLRU_OK)
        return log->refuse;
    size_t used = strlen(log->text);
    used += (size_t)snprintf(log->text + used, LOG_BYTES - used, "%s%c%c", used > 0 ? " " : "",
                             letters[access->op], 'a' + (char)access->file);
    if (access->op != TRACE_OPEN)
        snprintf(log->text + used, LOG_BYTES - used, "%d:%d", (int)access->page,
                 (int)access->count);
    return MGLRU_OK;
}

/* Threads from 100 on belong to another memcg. */
static uint32_t memcg_of(void *context, int32_t pid)
{
    return pid >= 100;
}

static struct mounts mounts;
static struct log log_of_test;
static struct rules *rules;

static int set_up(void **state)
{
    static char text[] = "1 0 254:0 / / rw - ext4 /dev/vda rw\n"
                         "2 1 254:1 / /data rw - ext4 /dev/vda1 rw\n"
                         "3 1 0:33 / /sub\\040vol rw shared:1 - btrfs /dev/vdb rw\n"
                         "nonsense\n";
    const struct rules_hooks hooks = {on_access, memcg_of, &log_of_test};
    char copy[sizeof(text)];
    memcpy(copy, text, sizeof(text));
    assert_int_equal(mounts_parse(&mounts, copy), MGLRU_OK);
    assert_int_equal(mounts.count, 3);
    for (size_t i = 0; i < 2; i++)
        strcpy(mounts.items[i].bdi, "254:0");
    log_of_test = (struct log){.text = ""};
    rules = rules_create(&hooks, &mounts);
    assert_non_null(rules);
    return 0;
}

static int tear_down(void **state)
{
    rules_free(rules);
    mounts_free(&mounts);
    return 0;
}

static int take(enum event_kind kind, int32_t pid, uint64_t inode, uint64_t first, uint64_t last)
{
    const struct event event = {.kind = kind,
                                .pid = pid,
                                .device = DEVICE,
                                .inode = inode,
                                .first = first,
                                .last = last,
                                .bdi = "254:0"};
    return rules_take(rules, &event);
}

/* The same for one that succeeds. */
static void event(enum event_kind kind, int32_t pid, uint64_t inode, uint64_t first, uint64_t last)
{
    assert_int_equal(take(kind, pid, inode, first, last), MGLRU_OK);
}

static void expect(const char *text)
{
    assert_int_equal(rules_flush(rules), MGLRU_OK);
    assert_string_equal(log_of_test.text, text);
    log_of_test.text[0] = '\0';
}

static void r1_batches_of_one_read_are_one_access(void **state)
{
    event(EVENT_READ, 1, 7, 0, 7);
    event(EVENT_READ, 1, 7, 1, 7);
    event(EVENT_READ, 1, 7, 5, 7);
    expect("oa ra0:8");
    /* The next call ends elsewhere, or starts before. */
    event(EVENT_READ, 1, 7, 8, 15);
    event(EVENT_READ, 1, 7, 8, 15);
    expect("ra8:8 ra8:8");
}

static void r1_reads_of_two_threads_do_not_mix(void **state)
{
    event(EVENT_READ, 1, 7, 0, 7);
    event(EVENT_READ, 2, 7, 4, 7);
    event(EVENT_READ, 1, 7, 2, 7);
    event(EVENT_READ, 1, 8, 3, 7);
    expect("oa ra0:8 oa ra4:4 ob rb3:5");
}

static void r1_the_end_of_a_file_is_what_was_seen(void **state)
{
    event(EVENT_READ, 1, 7, 0, 31);
    assert_int_equal(rules_file(rules, 0)->end, 1);
    event(EVENT_ADD, 1, 7, 0, 3);
    assert_int_equal(rules_file(rules, 0)->end, 4);
    event(EVENT_READ, 1, 7, 5, 31);
    event(EVENT_MAP, 1, 7, 2, 17);
    assert_int_equal(rules_file(rules, 0)->end, 6);
    event(EVENT_DELETE, 1, 7, 9, 9);
    assert_int_equal(rules_file(rules, 0)->end, 6);
    event(EVENT_FAULT, 1, 7, 8, 8);
    assert_int_equal(rules_file(rules, 0)->end, 9);
}

static void r2_another_reader_and_an_open_start_anew(void **state)
{
    event(EVENT_READ, 1, 7, 0, 0);
    event(EVENT_READ, 1, 7, 0, 0);
    expect("oa ra0:1 ra0:1");
    event(EVENT_OPEN, 1, 0, 0, 0);
    event(EVENT_READ, 1, 7, 0, 0);
    event(EVENT_READ, 1, 7, 0, 0);
    expect("oa ra0:1 ra0:1");
    event(EVENT_OPEN, 2, 0, 0, 0);
    event(EVENT_READ, 1, 7, 0, 0);
    event(EVENT_READ, 2, 7, 0, 0);
    expect("ra0:1 oa ra0:1");
}

static void r3_a_repeated_fault_is_one(void **state)
{
    event(EVENT_FAULT, 1, 7, 3, 3);
    event(EVENT_FAULT, 1, 7, 3, 3);
    event(EVENT_FAULT, 1, 7, 3, 3);
    event(EVENT_FAULT, 1, 7, 4, 4);
    event(EVENT_FAULT, 2, 7, 4, 4);
    expect("oa ma3:1 ma3:1 ma4:1 ma4:1");
    event(EVENT_MAP, 1, 7, 16, 31);
    expect("ma16:16");
    struct rules_counts counts;
    rules_counts(rules, &counts);
    assert_int_equal(counts.mapped_pages, 20);
}

static void r4_dirty_pages_are_writes_and_join(void **state)
{
    for (uint64_t page = 0; page < 3; page++) {
        event(EVENT_ADD, 1, 7, page, page);
        event(EVENT_DIRTY, 1, 7, page, page);
    }
    event(EVENT_DIRTY, 1, 7, 9, 9);
    expect("oa wa0:3 wa9:1");
    event(EVENT_FAULT, 1, 7, 5, 5);
    event(EVENT_DIRTY, 1, 7, 5, 5);
    expect("ma5:1 Ma5:1");
    /* Between them lies something else. */
    event(EVENT_DIRTY, 1, 7, 6, 6);
    event(EVENT_READ, 1, 7, 0, 0);
    event(EVENT_DIRTY, 1, 7, 7, 7);
    expect("wa6:1 ra0:1 wa7:1");
}

static void r4_a_new_folio_is_written_whole(void **state)
{
    event(EVENT_ADD, 1, 7, 8, 15);
    event(EVENT_DIRTY, 1, 7, 8, 8);
    event(EVENT_DIRTY, 2, 7, 8, 8);
    event(EVENT_ADD, 1, 8, 16, 31);
    event(EVENT_FAULT, 1, 8, 19, 19);
    event(EVENT_DIRTY, 1, 8, 16, 16);
    expect("oa wa8:8 wa8:1 ob mb19:1 Mb19:1");
}

static void r4_a_bdi_means_the_partition_that_has_the_file(void **state)
{
    struct event read = {.kind = EVENT_READ, .pid = 1, .device = DEVICE + 1, .inode = 5};
    assert_int_equal(rules_take(rules, &read), MGLRU_OK);
    event(EVENT_DIRTY, 1, 5, 0, 0);
    expect("oa ra0:1 wa0:1");
    event(EVENT_DIRTY, 1, 6, 0, 0);
    assert_int_equal(rules_find(rules, DEVICE, 6), 1);
    struct event strange = {.kind = EVENT_DIRTY, .pid = 1, .inode = 5, .bdi = "btrfs-1"};
    assert_int_equal(rules_take(rules, &strange), MGLRU_OK);
    expect("ob wb0:1 oc wc0:1");
    /* A file of a file system without a disk, where no mount has such a bdi. */
    struct event diskless = {.kind = EVENT_READ, .pid = 1, .device = 33, .inode = 8};
    assert_int_equal(rules_take(rules, &diskless), MGLRU_OK);
    strange.inode = 8;
    assert_int_equal(rules_take(rules, &strange), MGLRU_OK);
    expect("od rd0:1 wd0:1");
}

static void r5_what_leaves_outside_reclaim_is_freed(void **state)
{
    event(EVENT_DELETE, 1, 7, 5, 5);
    expect("");
    event(EVENT_READ, 1, 7, 0, 3);
    event(EVENT_RECLAIM_BEGIN, 1, 0, 0, 0);
    event(EVENT_DELETE, 1, 7, 0, 1);
    event(EVENT_DELETE, 2, 7, 2, 2);
    event(EVENT_RECLAIM_END, 1, 0, 0, 0);
    event(EVENT_DELETE, 1, 7, 3, 3);
    expect("oa ra0:4 fa2:2");
    struct rules_counts counts;
    rules_counts(rules, &counts);
    assert_int_equal(counts.reclaimed_pages, 2);
}

static void r6_metadata_is_no_access(void **state)
{
    event(EVENT_ADD, 1, DEVICE, 100, 100);
    event(EVENT_DIRTY, 1, DEVICE, 100, 100);
    expect("");
    struct rules_counts counts;
    rules_counts(rules, &counts);
    assert_int_equal(counts.metadata_pages, 1);
    assert_int_equal(counts.added_pages, 0);
}

static void a_refused_access_ends_it(void **state)
{
    log_of_test.refuse = MGLRU_ENOSPC;
    assert_int_equal(take(EVENT_READ, 1, 7, 0, 0), MGLRU_ENOSPC);
    assert_int_equal(take(EVENT_FAULT, 1, 8, 0, 0), MGLRU_ENOSPC);
    assert_int_equal(take(EVENT_DIRTY, 1, 7, 0, 0), MGLRU_OK);
    assert_int_equal(rules_flush(rules), MGLRU_ENOSPC);
}

static void many_files_and_threads_keep_their_numbers(void **state)
{
    for (uint64_t inode = 10; inode < 3000; inode++)
        event(EVENT_ADD, (int32_t)inode, inode, 0, 0);
    assert_int_equal(rules_files(rules), 2990);
    for (uint64_t inode = 10; inode < 3000; inode++)
        assert_int_equal(rules_find(rules, DEVICE, inode), inode - 10);
    assert_int_equal(rules_find(rules, DEVICE, 9), TABLE_NONE);
}

/* mm_filemap_add_to_page_cache of Linux 6.18. */
static const struct event_source add_source = {
    "filemap", "add", EVENT_ADD, {"common_pid", "s_dev", "i_ino", "index", NULL, "order", NULL}};
static const struct event_layout add_layout = {.source = &add_source,
                                               .type = 600,
                                               .fields = {[EVENT_FIELD_PID] = {4, 4},
                                                          [EVENT_FIELD_DEVICE] = {32, 4},
                                                          [EVENT_FIELD_INODE] = {16, 8},
                                                          [EVENT_FIELD_FIRST] = {24, 8},
                                                          [EVENT_FIELD_ORDER] = {36, 1}}};

static void bytes_become_an_event(void **state)
{
    unsigned char data[40] = {0};
    struct event out;
    const uint16_t type = 600;
    const uint32_t pid = 1234, device = 254u << 20 | 3;
    const uint64_t inode = 0x123456789, page = 16;
    memcpy(data, &type, sizeof(type));
    memcpy(data + 4, &pid, sizeof(pid));
    memcpy(data + 16, &inode, sizeof(inode));
    memcpy(data + 24, &page, sizeof(page));
    memcpy(data + 32, &device, sizeof(device));
    data[36] = 4;
    assert_ptr_equal(event_layout_of(&add_layout, 1, data, sizeof(data)), &add_layout);
    assert_true(event_decode(&add_layout, data, sizeof(data), &out));
    assert_int_equal(out.pid, pid);
    assert_int_equal(out.device, device);
    assert_int_equal(out.inode, inode);
    assert_int_equal(out.first, 16);
    assert_int_equal(out.last, 31);
    data[36] = 31; /* no folio is so large */
    assert_false(event_decode(&add_layout, data, sizeof(data), &out));
    data[36] = 0;
    memset(data + 24, 0xff, 8);
    assert_false(event_decode(&add_layout, data, sizeof(data), &out));
    data[0]++;
    assert_null(event_layout_of(&add_layout, 1, data, sizeof(data)));
}

static void short_bytes_are_no_event(void **state)
{
    const unsigned char data[40] = {0x58, 0x02};
    struct event out;
    for (size_t bytes = 0; bytes < 37; bytes++)
        assert_false(event_decode(&add_layout, data, bytes, &out));
    assert_true(event_decode(&add_layout, data, 37, &out));
    assert_null(event_layout_of(&add_layout, 1, data, 1));
}

static void mounts_are_read_with_their_odd_names(void **state)
{
    assert_string_equal(mounts.items[2].path, "/sub vol");
    assert_string_equal(mounts.items[2].type, "btrfs");
    assert_int_equal(mounts.items[1].device, DEVICE + 1);
    char text[] = "1 0 8:1 / / rw - ext4";
    struct mounts none;
    assert_int_equal(mounts_parse(&none, text), MGLRU_OK);
    assert_int_equal(none.count, 0);
    mounts_free(&none);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(r1_batches_of_one_read_are_one_access),
        TEST(r1_reads_of_two_threads_do_not_mix),
        TEST(r1_the_end_of_a_file_is_what_was_seen),
        TEST(r2_another_reader_and_an_open_start_anew),
        TEST(r3_a_repeated_fault_is_one),
        TEST(r4_dirty_pages_are_writes_and_join),
        TEST(r4_a_new_folio_is_written_whole),
        TEST(r4_a_bdi_means_the_partition_that_has_the_file),
        TEST(r5_what_leaves_outside_reclaim_is_freed),
        TEST(r6_metadata_is_no_access),
        TEST(a_refused_access_ends_it),
        TEST(many_files_and_threads_keep_their_numbers),
        TEST(bytes_become_an_event),
        TEST(short_bytes_are_no_event),
        TEST(mounts_are_read_with_their_odd_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
