/* SPDX-License-Identifier: MIT */
/*
 * Texts of perf: whatever they are, reading ends with samples whose misses add up, or with one line
 * that names the file.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <mglru/error.h>

#include "base/check.h"
#include "coherence/blame.h"
#include "coherence/samples.h"
#include "coherence/uses.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Larger inputs find nothing new. */
#define INPUT_MAX ((size_t)64 << 10)
/* A report may claim as many accesses as there are; few are enough here. */
#define ACCESSES_MAX ((size_t)1 << 16)

static const struct coherence_field fields[] = {{"all[]", 0, 64, 4, 0}, {"tail", 64, 8, 0, 0}};

static void check_samples(struct coherence_samples *samples)
{
    struct coherence_subject subject = {0x1000, 72, "object", fields, 2};
    struct coherence_subjects subjects = {&subject, 1};
    struct coherence_result result;
    struct coherence_blame blame;
    struct coherence_uses uses;
    MGLRU_CHECK(coherence_samples_finish(samples, &result) == MGLRU_OK);
    MGLRU_CHECK(coherence_blame_make(&samples->log.trace, &result, &subjects, &blame) == MGLRU_OK);
    uint64_t told = samples->unknown;
    for (size_t i = 0; i < blame.count; i++)
        told += blame.pairs[i].count;
    MGLRU_CHECK(told == samples->hitm);
    MGLRU_CHECK(coherence_uses_make(&samples->log.trace, &subjects, &uses) == MGLRU_OK);
    coherence_uses_free(&uses);
    coherence_blame_free(&blame);
    coherence_result_free(&result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct coherence_samples samples;
    struct coherence_error error;
    if (size > INPUT_MAX)
        return 0;
    struct coherence_bytes file = {data, size, "input"};
    int code = coherence_samples_parse(&file, 64, &samples, &error);
    MGLRU_CHECK((code == MGLRU_OK) == (error.text[0] == '\0'));
    MGLRU_CHECK(code == MGLRU_OK || strncmp(error.text, "input:", 6) == 0);
    for (const char *c = error.text; *c != '\0'; c++)
        MGLRU_CHECK((unsigned char)*c >= ' ' && *c != 0x7f);
    if (code == MGLRU_OK && samples.log.trace.op_count <= ACCESSES_MAX)
        check_samples(&samples);
    coherence_samples_free(&samples);
    return 0;
}
