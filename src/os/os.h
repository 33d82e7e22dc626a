/* SPDX-License-Identifier: MIT */
/*
 * The contract with the machine: clock, page memory, files, threads, randomness.
 *
 * Two implementations: linux/ (the real machine) and sim/ (a deterministic one: the clock moves
 * only when somebody sleeps or yields, files live in memory, random bytes come from a seed, and of
 * all its threads one runs at a time, chosen by the seed). os_use() selects one for the process
 * before any thread is started; the default is linux/. Nothing above this header asks the machine
 * directly, so a run on sim/ is a pure function of (commit, seed, config).
 *
 * Preconditions shared by all calls: sizes and offsets are in bytes; a pointer argument is not
 * NULL unless said; calls may come from any thread; results named *_ns are nanoseconds.
 * Errors are the negative codes of <mglru/error.h>.
 */
#ifndef OS_OS_H
#define OS_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mglru/error.h>

struct os_file;
struct os_thread;

enum os_open_mode {
    OS_OPEN_READ = 1, /* must exist */
    OS_OPEN_WRITE,    /* read and write; created when absent, kept when present */
    OS_OPEN_CREATE    /* read and write; created, or cut to nothing when present */
};

/* One piece of memory of a scattered transfer. */
struct os_span {
    void *start;
    size_t bytes;
};

/* Most spans of one transfer; more are not looked at. Chosen: 2 MiB of 4 KiB pages need 512. */
#define OS_SPANS_MAX 512u

/* Multiple that memory, offset and size of a transfer past the machine's page cache must be of.
 * Chosen: no device or file system in use asks for more. */
#define OS_DIRECT_ALIGN 4096u

/* What pages a range is made of. */
enum os_range_kind {
    OS_RANGE_SMALL = 1,  /* smallest pages only, so that each of them comes and goes alone */
    OS_RANGE_HUGE_HINT,  /* huge pages where the machine finds some */
    OS_RANGE_HUGE_STRICT /* huge pages set aside by the administrator, all reserved at once */
};

/* Size and alignment of a huge page; ranges start at such an address. */
#define OS_HUGE_BYTES ((size_t)2 << 20)

/* What an implementation provides; the meaning of each entry is that of the os_ call below it. */
struct os_ops {
    const char *name;
    uint64_t (*clock_now_ns)(void);
    void (*clock_sleep_ns)(uint64_t duration_ns);
    int (*pages_map)(size_t bytes, bool huge, void **out);
    void (*pages_unmap)(void *start, size_t bytes);
    int (*range_map)(size_t bytes, enum os_range_kind kind, void **out);
    int (*range_release)(void *start, size_t bytes);
    int (*file_open)(const char *path, enum os_open_mode mode, struct os_file **out);
    int (*file_read)(struct os_file *file, void *buffer, size_t bytes, uint64_t offset,
                     size_t *done);
    int (*file_write)(struct os_file *file, const void *buffer, size_t bytes, uint64_t offset);
    int (*file_size)(struct os_file *file, uint64_t *bytes);
    int (*file_sync)(struct os_file *file);
    int (*file_open_direct)(const struct os_file *file, struct os_file **out);
    int (*file_readv)(struct os_file *file, const struct os_span *spans, unsigned count,
                      uint64_t offset, size_t *done);
    int (*file_writev)(struct os_file *file, const struct os_span *spans, unsigned count,
                       uint64_t offset, size_t *done);
    int (*file_datasync)(struct os_file *file);
    int (*file_punch)(struct os_file *file, uint64_t offset, uint64_t bytes);
    int (*file_resize)(struct os_file *file, uint64_t bytes);
    void (*file_close)(struct os_file *file);
    int (*file_remove)(const char *path);
    int (*thread_start)(void (*body)(void *), void *argument, struct os_thread **out);
    void (*thread_join)(struct os_thread *thread);
    void (*thread_yield)(void);
    void (*wait)(const void *word, uint32_t expected);
    void (*wait_for)(const void *word, uint32_t expected, uint64_t timeout_ns);
    void (*wake)(const void *word, bool all);
    unsigned (*cpu_count)(void);
    int (*random_fill)(void *buffer, size_t bytes);
};

/* Selects the implementation. Before the first thread and the first file. NULL selects linux/. */
void os_use(const struct os_ops *ops);

/* The implementation in use. */
const struct os_ops *os_current(void);

/* The real machine. */
const struct os_ops *os_linux(void);

/*
 * The deterministic machine, reset: clock at 0, no files, random bytes and scheduling from @seed.
 * The calling thread becomes its first thread. No other thread of an earlier simulation may live.
 */
const struct os_ops *os_sim(uint64_t seed);

/* Number of scheduling decisions since os_sim(); equal seeds give equal numbers. */
uint64_t os_sim_switches(void);

/* Nanoseconds since some fixed start; never goes back. */
uint64_t os_clock_now_ns(void);

/* Sleeps for at least @duration_ns; other threads run meanwhile. */
void os_clock_sleep_ns(uint64_t duration_ns);

/*
 * Maps @bytes (> 0, rounded up to whole pages) of zeroed, page-aligned memory. @huge hints that
 * huge pages are welcome. *out is NULL on failure. MGLRU_ENOMEM, MGLRU_EINVAL (0 bytes).
 */
int os_pages_map(size_t bytes, bool huge, void **out);

/* Gives back a whole mapping of os_pages_map; @bytes as given there. NULL is allowed. */
void os_pages_unmap(void *start, size_t bytes);

/*
 * Reserves @bytes of address space, aligned to OS_HUGE_BYTES, that reads as zeros; memory comes
 * with the first access to each page (OS_RANGE_HUGE_STRICT: is set aside now, and @bytes must be a
 * multiple of OS_HUGE_BYTES). Freed by os_pages_unmap. *out is NULL on failure. MGLRU_ENOMEM: not
 * so much address space or not so many huge pages; MGLRU_EINVAL: 0 bytes, or no such multiple.
 */
int os_range_map(size_t bytes, enum os_range_kind kind, void **out);

/*
 * Gives the memory of whole pages in a range back to the machine; they read as zeros afterwards.
 * @start and @bytes are multiples of the range's page size. MGLRU_ENOTSUP: the machine cannot for
 * such pages; nothing changed.
 */
int os_range_release(void *start, size_t bytes);

/*
 * Opens @path. The caller owns *out and closes it. MGLRU_ENOENT, MGLRU_EPERM, MGLRU_EIO (also a
 * directory), MGLRU_ENOMEM.
 */
int os_file_open(const char *path, enum os_open_mode mode, struct os_file **out);

/*
 * Reads up to @bytes at @offset; *done is less than @bytes only at the end of the file.
 * May block. MGLRU_EIO.
 */
int os_file_read(struct os_file *file, void *buffer, size_t bytes, uint64_t offset, size_t *done);

/* Writes all of @bytes at @offset, growing the file. May block. MGLRU_ENOSPC, MGLRU_EIO. */
int os_file_write(struct os_file *file, const void *buffer, size_t bytes, uint64_t offset);

/* Size of the file. MGLRU_EIO. */
int os_file_size(struct os_file *file, uint64_t *bytes);

/* Makes everything written before durable. May block. MGLRU_EIO. */
int os_file_sync(struct os_file *file);

/*
 * Opens the file of @file once more, with the same rights, for transfers that go past the machine's
 * page cache; spans, offsets and sizes are multiples of OS_DIRECT_ALIGN. The caller owns *out.
 * MGLRU_ENOTSUP: the file system or the machine has no such transfers; MGLRU_ENOMEM; MGLRU_EIO.
 */
int os_file_open_direct(const struct os_file *file, struct os_file **out);

/*
 * One transfer between the file at @offset and @count spans in order (the first OS_SPANS_MAX of
 * them). *done, set on success and on error alike, may be less than asked for without any error:
 * the caller goes on behind it; a read of nothing means the end of the file. May block.
 * MGLRU_EINVAL: a direct file and no such alignment; MGLRU_EIO; writes also MGLRU_ENOSPC.
 */
int os_file_readv(struct os_file *file, const struct os_span *spans, unsigned count,
                  uint64_t offset, size_t *done);
int os_file_writev(struct os_file *file, const struct os_span *spans, unsigned count,
                   uint64_t offset, size_t *done);

/* As os_file_sync, for the data and what is needed to find it; not for times. MGLRU_EIO. */
int os_file_datasync(struct os_file *file);

/*
 * Lets @bytes > 0 at @offset read as zeros and gives their space back; the size of the file stays.
 * MGLRU_ENOTSUP: the file system cannot; MGLRU_EIO.
 */
int os_file_punch(struct os_file *file, uint64_t offset, uint64_t bytes);

/* Cuts the file to @bytes, or grows it with zeros. MGLRU_ENOSPC, MGLRU_EIO. */
int os_file_resize(struct os_file *file, uint64_t bytes);

/* Closes and frees @file. NULL is allowed. */
void os_file_close(struct os_file *file);

/* Removes the name @path. MGLRU_ENOENT, MGLRU_EPERM, MGLRU_EIO. */
int os_file_remove(const char *path);

/* Starts a thread that runs @body(@argument). The caller owns *out and joins it. MGLRU_ENOMEM. */
int os_thread_start(void (*body)(void *), void *argument, struct os_thread **out);

/* Waits for the end of @thread and frees it. Once per thread. */
void os_thread_join(struct os_thread *thread);

/*
 * Calls @hook(@argument) when the calling thread ends (the main thread's hooks need not run).
 * Hooks run in reverse order. Works for threads that os_thread_start did not make. MGLRU_ENOMEM.
 */
int os_thread_at_exit(void (*hook)(void *), void *argument);

/* Lets others run. */
void os_thread_yield(void);

/*
 * Sleeps while the 32-bit word at @word equals @expected; may return without reason, so callers
 * test again. The test and the falling asleep are one step against os_wake().
 */
void os_wait(const void *word, uint32_t expected);

/* As os_wait, for at most @timeout_ns; who wakes does not say which of the two it was. */
void os_wait_for(const void *word, uint32_t expected, uint64_t timeout_ns);

/* Wakes one waiter on @word, or @all. */
void os_wake(const void *word, bool all);

/* CPUs that this process may use, at least 1. */
unsigned os_cpu_count(void);

/* Fills @buffer with random bytes (seeds; not for keys). MGLRU_EIO. */
int os_random_fill(void *buffer, size_t bytes);

#endif
