/* SPDX-License-Identifier: MIT */
/*
 * The recorder's logs: whatever the bytes are, reading ends with accesses that keep their promises,
 * over which the model runs, or with one line of text that names the file.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <mglru/error.h>

#include "base/check.h"
#include "coherence/blame.h"
#include "coherence/log.h"
#include "coherence/uses.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Larger inputs find nothing new. */
#define INPUT_MAX ((size_t)64 << 10)

static const struct coherence_field fields[] = {{"all[]", 0, 64, 4, 0}, {"tail", 64, 8, 0, 0}};

static void check_objects(const struct coherence_log *log)
{
    for (size_t i = 0; i < log->object_count; i++) {
        const struct coherence_object *object = &log->objects[i];
        MGLRU_CHECK(object->bytes > 0 && object->type[0] != '\0');
        MGLRU_CHECK(i == 0 || object->address - object[-1].address >= object[-1].bytes);
    }
    for (size_t i = 0; i < log->module_count; i++)
        MGLRU_CHECK(log->modules[i].path[0] != '\0');
}

static void run_model(const struct coherence_log *log)
{
    struct coherence_options options = {.cpus = 3, .latency_ns = 60, .quantum = 1};
    struct coherence_subject subject = {0};
    struct coherence_subjects subjects = {&subject, 0};
    struct coherence_result result;
    struct coherence_blame blame;
    struct coherence_uses uses;
    options.ops_max = 10000;
    if (log->object_count > 0) {
        subject = (struct coherence_subject){log->objects[0].address, log->objects[0].bytes,
                                             log->objects[0].type, fields, 2};
        subjects.count = 1;
    }
    MGLRU_CHECK(coherence_run(&log->trace, &options, &result) == MGLRU_OK);
    MGLRU_CHECK(coherence_blame_make(&log->trace, &result, &subjects, &blame) == MGLRU_OK);
    uint64_t told = 0;
    for (size_t i = 0; i < blame.count; i++)
        told += blame.pairs[i].count;
    MGLRU_CHECK(told == coherence_result_caused(&result));
    MGLRU_CHECK(coherence_uses_make(&log->trace, &subjects, &uses) == MGLRU_OK);
    coherence_uses_free(&uses);
    coherence_blame_free(&blame);
    coherence_result_free(&result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct coherence_log log;
    struct coherence_error error;
    if (size > INPUT_MAX)
        return 0;
    struct coherence_bytes file = {data, size, "input"};
    int code = coherence_log_parse(&file, 64, &log, &error);
    MGLRU_CHECK((code == MGLRU_OK) == (error.text[0] == '\0'));
    MGLRU_CHECK(code == MGLRU_OK || strncmp(error.text, "input:", 6) == 0);
    for (const char *c = error.text; *c != '\0'; c++)
        MGLRU_CHECK((unsigned char)*c >= ' ' && *c != 0x7f);
    if (code == MGLRU_OK) {
        check_objects(&log);
        run_model(&log);
    }
    coherence_log_free(&log);
    return 0;
}
