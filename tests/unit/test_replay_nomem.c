/* SPDX-License-Identifier: MIT */
/*
 * A replay in which the n-th allocation fails, for every n: it ends with MGLRU_ENOMEM or does
 * without, and leaves nothing behind (the sanitizers look for leaks and for what was freed twice).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mglru/error.h>

#include "policy/policy.h"
#include "replay/replay.h"

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
char *__wrap_strdup(const char *text);

/* Allocations come from the replay's threads as well. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long allowed = -1; /* before the one that fails; negative: none fails */
static bool failed;

static bool refuses(void)
{
    pthread_mutex_lock(&lock);
    bool refused = allowed == 0;
    failed = failed || refused;
    allowed -= allowed >= 0;
    pthread_mutex_unlock(&lock);
    return refused;
}

void *__wrap_malloc(size_t bytes)
{
    return refuses() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return refuses() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
    return refuses() ? NULL : __real_realloc(old, bytes);
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    return refuses() ? NULL : __real_aligned_alloc(alignment, bytes);
}

char *__wrap_strdup(const char *text)
{
    return refuses() ? NULL : __real_strdup(text);
}

static const char trace[] = "#mglru-trace 1 page_size=4096\n"
                            "!mkdir /a\n"
                            "!set /a memory.max 512K\n"
                            "r /a data 0 200\n"
                            "a /a/b heap 0 90\n"
                            "w /c log 0 100\n"
                            "@5000000 m /c data 0 100\n"
                            "!age /a 0 60\n"
                            "r /a data 0 200\n"
                            "f /a/b heap 0 10\n"
                            "!read /a memory.stat\n"
                            "o /a data\n"
                            "!rmdir /a/b\n"
                            "r /a other 0 20\n";

static void write_trace(char *path)
{
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, trace, sizeof(trace) - 1), (ssize_t)sizeof(trace) - 1);
    close(fd);
}

static void options_for(struct replay_options *options, const char *const *path,
                        const struct replay_spec *spec)
{
    *options = (struct replay_options){
        .traces = path,
        .trace_count = 1,
        .specs = spec,
        .spec_count = 1,
        .swap_bytes = 1 << 20,
        .swappiness = 60,
        .every = 50,
        .explain = true,
        .workers = 1,
    };
}

/* Fails allocation after allocation of a replay of @spec until none is left to fail. */
static void fail_each(const struct replay_spec *spec)
{
    char path[] = "/tmp/mglru-test-XXXXXX";
    write_trace(path);
    const char *name = path;
    struct replay_options options;
    options_for(&options, &name, spec);
    for (long n = 0;; n++) {
        struct replay_result result;
        struct replay_error error;
        failed = false;
        allowed = n;
        int code = replay_run(&options, &result, &error);
        allowed = -1;
        if (!failed) {
            assert_int_equal(code, MGLRU_OK);
            assert_true(n > 20);
            replay_result_free(&result);
            break;
        }
        if (code == MGLRU_OK) {
            replay_result_free(&result);
            continue;
        }
        assert_int_equal(code, MGLRU_ENOMEM);
        assert_true(error.text[0] != '\0');
        assert_int_equal(result.run_count, 0);
        assert_null(result.runs);
    }
    unlink(path);
}

static void a_kernel_run_survives_each_refused_allocation(void **state)
{
    static const struct replay_spec specs[] = {
        {.policy = "mglru", .model = "6.12", .memory_bytes = 1 << 20},
        {.policy = "mglru", .model = "7.3", .memory_bytes = 1 << 20},
        {.policy = "classic", .model = "7.3", .classic = true, .memory_bytes = 1 << 20},
    };
    for (size_t i = 0; i < 3; i++)
        fail_each(&specs[i]);
}

static void a_baseline_run_survives_each_refused_allocation(void **state)
{
    static const char *const names[] = {"lru", "belady"};
    for (size_t i = 0; i < 2; i++) {
        struct replay_spec spec = {
            .baseline = policy_find(names[i]), .policy = names[i], .memory_bytes = 1 << 19};
        fail_each(&spec);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_run_survives_each_refused_allocation),
        cmocka_unit_test(a_baseline_run_survives_each_refused_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
