/* SPDX-License-Identifier: MIT */
/* Hands each call of the contract to the implementation in use; thread-exit hooks. */
#include "os/os.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/check.h"
#include "os/hooks.h"

/* Written by os_use before the first thread; read-only afterwards. */
static const struct os_ops *current;

void os_use(const struct os_ops *ops)
{
    current = ops;
}

const struct os_ops *os_current(void)
{
    return MGLRU_LIKELY(current) ? current : os_linux();
}

uint64_t os_clock_now_ns(void)
{
    return os_current()->clock_now_ns();
}

void os_clock_sleep_ns(uint64_t duration_ns)
{
    os_current()->clock_sleep_ns(duration_ns);
}

int os_pages_map(size_t bytes, bool huge, void **out)
{
    *out = NULL;
    return bytes ? os_current()->pages_map(bytes, huge, out) : MGLRU_EINVAL;
}

void os_pages_unmap(void *start, size_t bytes)
{
    if (start)
        os_current()->pages_unmap(start, bytes);
}

int os_range_map(size_t bytes, enum os_range_kind kind, void **out)
{
    *out = NULL;
    if (!bytes || (kind == OS_RANGE_HUGE_STRICT && bytes % OS_HUGE_BYTES))
        return MGLRU_EINVAL;
    return os_current()->range_map(bytes, kind, out);
}

int os_range_release(void *start, size_t bytes)
{
    return bytes ? os_current()->range_release(start, bytes) : MGLRU_OK;
}

int os_file_open(const char *path, enum os_open_mode mode, struct os_file **out)
{
    *out = NULL;
    return os_current()->file_open(path, mode, out);
}

int os_file_read(struct os_file *file, void *buffer, size_t bytes, uint64_t offset, size_t *done)
{
    *done = 0;
    return os_current()->file_read(file, buffer, bytes, offset, done);
}

int os_file_write(struct os_file *file, const void *buffer, size_t bytes, uint64_t offset)
{
    return os_current()->file_write(file, buffer, bytes, offset);
}

int os_file_size(struct os_file *file, uint64_t *bytes)
{
    *bytes = 0;
    return os_current()->file_size(file, bytes);
}

int os_file_sync(struct os_file *file)
{
    return os_current()->file_sync(file);
}

int os_file_open_direct(const struct os_file *file, struct os_file **out)
{
    *out = NULL;
    return os_current()->file_open_direct(file, out);
}

static unsigned spans_clip(unsigned count)
{
    return count < OS_SPANS_MAX ? count : OS_SPANS_MAX;
}

int os_file_readv(struct os_file *file, const struct os_span *spans, unsigned count,
                  uint64_t offset, size_t *done)
{
    *done = 0;
    return os_current()->file_readv(file, spans, spans_clip(count), offset, done);
}

int os_file_writev(struct os_file *file, const struct os_span *spans, unsigned count,
                   uint64_t offset, size_t *done)
{
    *done = 0;
    return os_current()->file_writev(file, spans, spans_clip(count), offset, done);
}

int os_file_datasync(struct os_file *file)
{
    return os_current()->file_datasync(file);
}

int os_file_punch(struct os_file *file, uint64_t offset, uint64_t bytes)
{
    return bytes ? os_current()->file_punch(file, offset, bytes) : MGLRU_OK;
}

int os_file_resize(struct os_file *file, uint64_t bytes)
{
    return os_current()->file_resize(file, bytes);
}

void os_file_close(struct os_file *file)
{
    if (file)
        os_current()->file_close(file);
}

int os_file_remove(const char *path)
{
    return os_current()->file_remove(path);
}

int os_thread_start(void (*body)(void *), void *argument, struct os_thread **out)
{
    *out = NULL;
    return os_current()->thread_start(body, argument, out);
}

void os_thread_join(struct os_thread *thread)
{
    os_current()->thread_join(thread);
}

void os_thread_yield(void)
{
    os_current()->thread_yield();
}

void os_wait(const void *word, uint32_t expected)
{
    os_current()->wait(word, expected);
}

void os_wait_for(const void *word, uint32_t expected, uint64_t timeout_ns)
{
    os_current()->wait_for(word, expected, timeout_ns);
}

void os_wake(const void *word, bool all)
{
    os_current()->wake(word, all);
}

unsigned os_cpu_count(void)
{
    return os_current()->cpu_count();
}

int os_random_fill(void *buffer, size_t bytes)
{
    return os_current()->random_fill(buffer, bytes);
}

/* Exit hooks hang as a list on one thread-specific key, whose destructor runs them. */
struct exit_hook {
    void (*run)(void *);
    void *argument;
    struct exit_hook *next;
};

static pthread_key_t hooks_key;
static pthread_once_t hooks_once = PTHREAD_ONCE_INIT;
static int hooks_error;

static void hooks_run(void *first)
{
    struct exit_hook *hook = first;
    while (hook) {
        struct exit_hook *next = hook->next;
        hook->run(hook->argument);
        free(hook);
        hook = next;
    }
}

static void hooks_prepare(void)
{
    hooks_error = pthread_key_create(&hooks_key, hooks_run);
}

void hooks_run_now(void)
{
    pthread_once(&hooks_once, hooks_prepare);
    void *first = hooks_error ? NULL : pthread_getspecific(hooks_key);
    if (first)
        pthread_setspecific(hooks_key, NULL);
    hooks_run(first);
}

int os_thread_at_exit(void (*hook)(void *), void *argument)
{
    pthread_once(&hooks_once, hooks_prepare);
    struct exit_hook *node = hooks_error ? NULL : malloc(sizeof(*node));
    if (!node)
        return MGLRU_ENOMEM;
    *node = (struct exit_hook){hook, argument, pthread_getspecific(hooks_key)};
    if (pthread_setspecific(hooks_key, node)) {
        free(node);
        return MGLRU_ENOMEM;
    }
    return MGLRU_OK;
}
