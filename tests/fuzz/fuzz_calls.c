/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as calls of the public API, with the laws of tests/model/cache_laws.h after each.
 * A broken law aborts, which libFuzzer reports as a crash with its input.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/cache_script.h"

/* Calls take a few bytes each; more than this makes inputs slow, not better. */
#define INPUT_MAX ((size_t)2 << 10)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct script_result result = cache_script_run(data, size < INPUT_MAX ? size : INPUT_MAX);
    if (result.broken) {
        fprintf(stderr, "call %u, \"%s\": %s\n", result.calls, result.last, result.broken);
        abort();
    }
    return 0;
}
