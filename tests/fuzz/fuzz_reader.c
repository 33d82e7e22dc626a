/* SPDX-License-Identifier: MIT */
/*
 * One harness for each reader: compiled once a format with FUZZ_FORMAT set to its name, or to ""
 * for the choice by content (and with it decompression). Whatever the bytes are:
 *
 *   - records keep the promises of trace/record.h,
 *   - an error comes with one line of text and stays,
 *   - the size of the batches changes nothing.
 *
 * A broken promise aborts, which libFuzzer reports as a crash with its input.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "trace/format.h"

#ifndef FUZZ_FORMAT
#define FUZZ_FORMAT ""
#endif

#define BATCH 64

/* Small enough that one input takes no time; the corpus holds no more either. */
#define INPUT_MAX ((size_t)64 << 10)

/* Compressed bytes can stand for very many records. */
#define RECORDS_MAX 200000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What a run over the input came to, for comparison with another. */
struct outcome {
    int rc;
    uint64_t records;
    uint64_t hash;
    struct trace_error error;
};

static void mix(struct outcome *outcome, uint64_t value)
{
    outcome->hash = (outcome->hash ^ value) * 0x100000001b3ull;
}

static void check_pages(const struct trace_record *record)
{
    MGLRU_CHECK(record->count >= 1);
    MGLRU_CHECK(record->page <= TRACE_PAGE_MAX);
    MGLRU_CHECK(record->count - 1 <= TRACE_PAGE_MAX - record->page);
}

static void check_record(const struct trace_reader *reader, const struct trace_record *record)
{
    bool has_object = record->op <= TRACE_FREE;
    bool has_name =
        record->op == TRACE_SET || record->op == TRACE_STAT || record->op == TRACE_LRU_GEN;
    MGLRU_CHECK(record->op >= TRACE_READ && record->op <= TRACE_EVICT);
    if (has_object && record->op != TRACE_OPEN)
        check_pages(record);
    if (record->op != TRACE_LRU_GEN) {
        MGLRU_CHECK(record->memcg < trace_reader_memcgs(reader));
        MGLRU_CHECK(trace_reader_memcg_name(reader, record->memcg)[0] == '/');
    }
    if (has_object) {
        MGLRU_CHECK(record->object < trace_reader_objects(reader));
        MGLRU_CHECK(trace_reader_object_name(reader, record->object)[0] != '\0');
    }
    MGLRU_CHECK(has_name == (record->name != NULL));
    MGLRU_CHECK(!record->name || record->name[0] != '\0');
    MGLRU_CHECK(!record->text || record->text[0] != '\0');
    MGLRU_CHECK(record->line >= 1);
}

static void check_error(const struct trace_error *error)
{
    MGLRU_CHECK(error->text[0] != '\0');
    MGLRU_CHECK(memchr(error->text, '\0', sizeof(error->text)) != NULL);
    for (const char *c = error->text; *c; c++)
        MGLRU_CHECK((unsigned char)*c >= ' ' && *c != 0x7f);
}

static void drain(struct trace_reader *reader, size_t batch, struct outcome *outcome)
{
    struct trace_record records[BATCH];
    size_t count = 1;
    while (!outcome->rc && count > 0 && outcome->records < RECORDS_MAX) {
        outcome->rc = trace_reader_next(reader, records, batch, &count, &outcome->error);
        MGLRU_CHECK(count <= batch);
        for (size_t i = 0; i < count; i++) {
            check_record(reader, &records[i]);
            mix(outcome, (uint64_t)records[i].op << 56 ^ records[i].page);
            mix(outcome, (uint64_t)records[i].count << 32 ^ records[i].object);
            mix(outcome, records[i].time_ns);
        }
        outcome->records += count;
    }
    if (outcome->rc) {
        struct trace_error again;
        MGLRU_CHECK(trace_reader_next(reader, records, batch, &count, &again) == outcome->rc);
        MGLRU_CHECK(count == 0 && strcmp(again.text, outcome->error.text) == 0);
    }
}

static struct outcome run(const uint8_t *data, size_t size,
                          const struct trace_open_options *options, size_t batch)
{
    struct outcome outcome = {0};
    struct trace_reader *reader;
    outcome.rc = trace_reader_open_memory(data, size, options, &reader, &outcome.error);
    if (!outcome.rc)
        drain(reader, batch, &outcome);
    if (outcome.rc)
        check_error(&outcome.error);
    trace_reader_close(reader);
    return outcome;
}

static void run_both(const uint8_t *data, size_t size, const struct trace_open_options *options)
{
    struct outcome many = run(data, size, options, BATCH);
    if (many.records >= RECORDS_MAX)
        return;
    struct outcome single = run(data, size, options, 1);
    MGLRU_CHECK(many.rc == single.rc && many.records == single.records);
    MGLRU_CHECK(many.hash == single.hash);
    MGLRU_CHECK(strcmp(many.error.text, single.error.text) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char format[] = FUZZ_FORMAT;
    struct trace_open_options options = {.format = format[0] ? format : NULL};
    if (size > INPUT_MAX)
        return 0;
    run_both(data, size, &options);
    options.whole_requests = true;
    run_both(data, size, &options);
    if (strcmp(format, "csv") == 0) {
        options.whole_requests = false;
        options.columns = "time=0,op=1,lbn=2,size=3,object=4,memcg=name";
        run_both(data, size, &options);
        options.columns = "id=0,size=1";
        run_both(data, size, &options);
    }
    return 0;
}
