/* SPDX-License-Identifier: MIT */
/*
 * coherence/log.h, uses.h and blame.h: a log made by hand is read as it was meant, and what is
 * damaged is refused with one line that names the place.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <mglru/error.h>

#include "base/check.h"
#include "coherence/blame.h"
#include "coherence/log.h"
#include "coherence/uses.h"

#define RECORDS_MAX 256
#define TICKS_PER_S 1000000000u

static struct log_record records[RECORDS_MAX];
static size_t record_count;

static struct log_record *put(uint8_t kind, uint16_t thread, uint64_t address, uint32_t bytes)
{
    struct log_record *record = &records[record_count++];
    *record = (struct log_record){.time = record_count * 100,
                                  .kind = kind,
                                  .thread = thread,
                                  .address = address,
                                  .bytes = bytes};
    return record;
}

static void put_name(struct log_record *record, const char *name)
{
    record->skipped = (uint8_t)strlen(name);
    size_t needed = (strlen(name) + sizeof(*record) - 1) / sizeof(*record);
    memset(&records[record_count], 0, needed * sizeof(*record));
    memcpy(&records[record_count], name, strlen(name));
    record_count += needed;
}

static void begin(void)
{
    struct log_header header = {.version = LOG_VERSION, .layout = LOG_LAYOUT, .record_bytes = 24};
    memcpy(header.magic, LOG_MAGIC, 8);
    memcpy(&records[0], &header, sizeof(header));
    record_count = 1;
}

static void end(void)
{
    struct log_record *record = put(LOG_END, 0, record_count, 0);
    record->time = TICKS_PER_S;
}

static int parse(struct coherence_log *log, struct coherence_error *error, size_t bytes)
{
    struct coherence_bytes file = {records, bytes, "a.log"};
    return coherence_log_parse(&file, 64, log, error);
}

/* Two threads on an object of fields at 0 (8 bytes), 8 (8 bytes), a lock at 16, an array at 64. */
static void make_log(void)
{
    begin();
    put_name(put(LOG_MODULE, 0, 4096, 0), "/usr/bin/program-with-a-longer-name");
    put_name(put(LOG_OBJECT, 0, 6400, 128), "struct shared");
    put(LOG_WRITE, 0, 6400, 8); /* making the object does not count */
    put(LOG_WRITE, 0, 6408, 8);
    put(LOG_START, 1, 0, 0);
    for (int i = 0; i < 10; i++) {
        uint16_t thread = i % 2 == 0 ? 1 : 0;
        put(LOG_READ, thread, 6400, 8);
        put(LOG_ACQUIRE, thread, 6416, 0);
        put(LOG_WRITE, thread, 6408, 8);
        put(LOG_RELEASE, thread, 6416, 0);
        put(LOG_WRITE, thread, 6464 + thread * 8u, 8);
        put(LOG_ATOMIC, thread, 6424, 4);
    }
    put(LOG_MARK, 1, 5, 0);
    put(LOG_TOTAL, 0, 7, LOG_TOTAL_LOST);
    end();
}

static const struct coherence_field fields[] = {
    {"config", 0, 8, 0, 0}, {"total", 8, 8, 0, 0},     {"mutex", 16, 8, 0, 0},
    {"hits", 24, 4, 0, 0},  {"slots[]", 64, 64, 8, 0},
};
static const struct coherence_subject subject = {6400, 128, "shared", fields, 5};
static const struct coherence_subjects subjects = {&subject, 1};

static void a_log_is_read_as_written(void **state)
{
    struct coherence_log log;
    struct coherence_error error;
    make_log();
    assert_int_equal(parse(&log, &error, record_count * 24), MGLRU_OK);
    assert_int_equal(log.trace.op_count, 42);
    assert_int_equal(log.trace.thread_count, 2);
    assert_int_equal(log.trace.operations, 5);
    assert_int_equal(log.totals[LOG_TOTAL_LOST], 7);
    assert_int_equal(log.object_count, 1);
    assert_string_equal(log.objects[0].type, "struct shared");
    assert_string_equal(log.modules[0].path, "/usr/bin/program-with-a-longer-name");
    assert_int_equal(log.modules[0].bias, 4096);
    const struct coherence_op *op = &log.trace.ops[3];
    assert_int_equal(log.trace.locksets[op->lockset].count, 1);
    assert_int_equal(log.trace.locksets[op->lockset].locks[0], 6416);
    assert_int_equal(log.trace.ops[4].lockset, 0);
    assert_int_equal(op->gap_ns, 200); /* two records of 100 ns before it */
    coherence_log_free(&log);
}

static const struct coherence_use *use_of(const struct coherence_uses *uses, const char *name)
{
    for (size_t i = 0; i < uses->count; i++)
        if (strcmp(uses->items[i].field->name, name) == 0)
            return &uses->items[i];
    fail_msg("no field %s", name);
    return NULL;
}

static void uses_tell_classes(void **state)
{
    struct coherence_log log;
    struct coherence_error error;
    struct coherence_uses uses;
    make_log();
    assert_int_equal(parse(&log, &error, record_count * 24), MGLRU_OK);
    assert_int_equal(coherence_uses_make(&log.trace, &subjects, &uses), MGLRU_OK);
    assert_int_equal(uses.count, 5);
    assert_int_equal(use_of(&uses, "config")->used, COHERENCE_USED_READ);
    assert_int_equal(use_of(&uses, "config")->reads, 10);
    assert_int_equal(use_of(&uses, "config")->writes, 0);
    assert_int_equal(use_of(&uses, "total")->used, COHERENCE_USED_LOCK);
    assert_string_equal(use_of(&uses, "total")->lock, "mutex");
    assert_int_equal(use_of(&uses, "hits")->used, COHERENCE_USED_ATOMIC);
    assert_int_equal(use_of(&uses, "hits")->atomics, 10);
    assert_int_equal(use_of(&uses, "slots[]")->used, COHERENCE_USED_OWNER);
    assert_true(use_of(&uses, "slots[]")->each);
    assert_int_equal(use_of(&uses, "mutex")->used, COHERENCE_USED_COLD);
    coherence_uses_free(&uses);
    coherence_log_free(&log);
}

static uint64_t count_of(const struct coherence_blame *blame, const char *reader,
                         const char *writer, enum coherence_verdict verdict)
{
    uint64_t count = 0;
    for (size_t i = 0; i < blame->count; i++)
        if (strcmp(blame->pairs[i].reader, reader) == 0 &&
            strcmp(blame->pairs[i].writer, writer) == 0 && blame->pairs[i].verdict == verdict)
            count += blame->pairs[i].count;
    return count;
}

static void blame_names_pairs(void **state)
{
    struct coherence_log log;
    struct coherence_error error;
    struct coherence_result result;
    struct coherence_blame blame;
    make_log();
    assert_int_equal(parse(&log, &error, record_count * 24), MGLRU_OK);
    struct coherence_options options = {.cpus = 2, .latency_ns = 40};
    assert_int_equal(coherence_run(&log.trace, &options, &result), MGLRU_OK);
    assert_int_equal(coherence_blame_make(&log.trace, &result, &subjects, &blame), MGLRU_OK);
    /* Each turn begins with reading config, whose line the other took last for hits; the turn
     * goes on to total, which the other wrote: true. */
    assert_true(count_of(&blame, "config", "total", COHERENCE_PAIR_TRUE) +
                    count_of(&blame, "config", "hits", COHERENCE_PAIR_TRUE) >
                0);
    assert_true(count_of(&blame, "slots[]", "slots[]", COHERENCE_PAIR_ARRAY) > 0);
    for (size_t i = 0; i < blame.count; i++) {
        assert_string_equal(blame.pairs[i].subject, "shared");
        bool slots = strcmp(blame.pairs[i].writer, "slots[]") == 0;
        assert_int_equal(blame.pairs[i].line, slots ? 1 : 0);
    }
    coherence_blame_free(&blame);
    coherence_result_free(&result);
    coherence_log_free(&log);
}

/* The later of two objects in one place stays. */
static void freed_objects_make_room(void **state)
{
    struct coherence_log log;
    struct coherence_error error;
    begin();
    put_name(put(LOG_OBJECT, 0, 6400, 64), "struct a");
    put_name(put(LOG_OBJECT, 0, 6432, 64), "struct b");
    put_name(put(LOG_OBJECT, 0, 6496, 8), "struct c");
    end();
    assert_int_equal(parse(&log, &error, record_count * 24), MGLRU_OK);
    assert_int_equal(log.object_count, 2);
    assert_string_equal(log.objects[0].type, "struct b");
    assert_string_equal(log.objects[1].type, "struct c");
    coherence_log_free(&log);
}

static void refuse(const char *text, size_t bytes)
{
    struct coherence_log log;
    struct coherence_error error;
    assert_int_equal(parse(&log, &error, bytes), MGLRU_EINVAL);
    assert_int_equal(strncmp(error.text, "a.log: ", 7), 0);
    if (strstr(error.text, text) == NULL)
        fail_msg("'%s' is not in: %s", text, error.text);
    coherence_log_free(&log);
}

/* One record of the kind, alone in a log. */
static void refuse_record(const char *text, struct log_record record)
{
    begin();
    records[record_count++] = record;
    end();
    refuse(text, record_count * 24);
}

static void damage_is_refused(void **state)
{
    make_log();
    for (size_t bytes = 24; bytes < record_count * 24; bytes += 7)
        refuse("torn", bytes);
    refuse("ends inside of its header", 12);
    refuse("no log of the recorder", 0);
    refuse("no log of the recorder", 7);
    ((struct log_header *)(void *)records)->version = 2;
    refuse("a log of version 2", record_count * 24);
    make_log();
    ((struct log_header *)(void *)records)->layout++;
    refuse("laid out differently", record_count * 24);
    make_log();
    records[record_count - 1].time = 0;
    refuse("clock", record_count * 24);
    refuse_record("unknown kind", (struct log_record){.kind = 0});
    refuse_record("unknown kind", (struct log_record){.kind = 99});
    refuse_record("an access of no bytes", (struct log_record){.kind = LOG_READ});
    refuse_record("an access of no bytes", (struct log_record){.kind = LOG_READ, .bytes = 4097});
    refuse_record("an access of no bytes",
                  (struct log_record){.kind = LOG_WRITE, .address = UINT64_MAX, .bytes = 2});
    refuse_record("thread", (struct log_record){.kind = LOG_READ, .bytes = 1, .thread = 1024});
    refuse_record("name", (struct log_record){.kind = LOG_OBJECT, .bytes = 1, .skipped = 200});
    refuse_record("name", (struct log_record){.kind = LOG_MODULE, .skipped = 0});
    refuse_record("operations", (struct log_record){.kind = LOG_MARK, .address = UINT64_MAX});
    refuse_record("sum", (struct log_record){.kind = LOG_TOTAL, .bytes = LOG_TOTALS});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_is_read_as_written), cmocka_unit_test(uses_tell_classes),
        cmocka_unit_test(blame_names_pairs),        cmocka_unit_test(freed_objects_make_room),
        cmocka_unit_test(damage_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
