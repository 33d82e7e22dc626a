/* SPDX-License-Identifier: MIT */
/* os/linux: the contract of os/os.h on the real machine, its refusals included. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/os.h"
#include "os_contract.h"
#include "sync/atomic.h"

static char directory[] = "/tmp/mglru-os-XXXXXX";
static char path[sizeof(directory) + 8];

static int make_directory(void **state)
{
    os_use(NULL);
    if (!mkdtemp(directory))
        return -1;
    strcpy(path, directory);
    strcat(path, "/file");
    return 0;
}

static int remove_directory(void **state)
{
    unlink(path);
    return rmdir(directory);
}

static void clock_goes_forward_by_at_least_the_sleep(void **state)
{
    assert_string_equal(os_current()->name, "linux");
    uint64_t before = os_clock_now_ns();
    os_clock_sleep_ns(2000000);
    assert_true(os_clock_now_ns() - before >= 2000000);
}

static void pages_are_zeroed_and_aligned(void **state)
{
    for (int huge = 0; huge < 2; huge++) {
        unsigned char *start;
        assert_int_equal(os_pages_map(10000, huge, (void **)&start), MGLRU_OK);
        assert_int_equal((uintptr_t)start % 4096, 0);
        for (size_t i = 0; i < 10000; i++)
            assert_int_equal(start[i], 0);
        memset(start, 1, 10000);
        os_pages_unmap(start, 10000);
    }
    void *none = &none;
    assert_int_equal(os_pages_map(0, false, &none), MGLRU_EINVAL);
    assert_null(none);
    assert_int_equal(os_pages_map(SIZE_MAX / 2, false, &none), MGLRU_ENOMEM);
    assert_null(none);
    os_pages_unmap(NULL, 1);
}

static void files_keep_what_was_written(void **state)
{
    struct os_file *file;
    char buffer[16];
    size_t done;
    uint64_t bytes;
    assert_int_equal(os_file_open(path, OS_OPEN_READ, &file), MGLRU_ENOENT);
    assert_null(file);
    assert_int_equal(os_file_open(path, OS_OPEN_WRITE, &file), MGLRU_OK);
    assert_int_equal(os_file_write(file, "hello", 5, 3), MGLRU_OK);
    assert_int_equal(os_file_sync(file), MGLRU_OK);
    assert_int_equal(os_file_size(file, &bytes), MGLRU_OK);
    assert_int_equal(bytes, 8);
    os_file_close(file);
    assert_int_equal(os_file_open(path, OS_OPEN_READ, &file), MGLRU_OK);
    assert_int_equal(os_file_read(file, buffer, sizeof(buffer), 0, &done), MGLRU_OK);
    assert_int_equal(done, 8);
    assert_memory_equal(buffer, "\0\0\0hello", 8);
    assert_int_equal(os_file_read(file, buffer, 4, 100, &done), MGLRU_OK);
    assert_int_equal(done, 0);
    assert_int_equal(os_file_write(file, "x", 1, 0), MGLRU_EIO);
    os_file_close(file);
    assert_int_equal(os_file_open(path, OS_OPEN_CREATE, &file), MGLRU_OK);
    assert_int_equal(os_file_size(file, &bytes), MGLRU_OK);
    assert_int_equal(bytes, 0);
    os_file_close(file);
    assert_int_equal(os_file_remove(path), MGLRU_OK);
    assert_int_equal(os_file_remove(path), MGLRU_ENOENT);
    os_file_close(NULL);
}

static void refusals_have_their_codes(void **state)
{
    struct os_file *file;
    assert_int_equal(os_file_open(directory, OS_OPEN_READ, &file), MGLRU_EIO);
    assert_null(file);
    assert_int_equal(os_file_open("/nonexistent/x", OS_OPEN_CREATE, &file), MGLRU_ENOENT);
    if (os_file_open("/dev/full", OS_OPEN_WRITE, &file) != MGLRU_OK)
        skip();
    assert_int_equal(os_file_write(file, "x", 1, 0), MGLRU_ENOSPC);
    os_file_close(file);
}

static void transfers_are_scattered(void **state)
{
    contract_transfers_are_scattered(path);
}

static void sizes_and_holes(void **state)
{
    contract_sizes_and_holes(path);
}

static void direct_handles_see_the_same_file(void **state)
{
    contract_direct_handles_see_the_same_file(path);
}

static void direct_transfers_name_a_wrong_alignment(void **state)
{
    struct os_file *file, *direct;
    size_t done;
    char *page;
    assert_int_equal(os_file_open(path, OS_OPEN_CREATE, &file), MGLRU_OK);
    if (os_file_open_direct(file, &direct) != MGLRU_OK) {
        os_file_close(file);
        skip();
    }
    assert_int_equal(os_pages_map(OS_DIRECT_ALIGN, false, (void **)&page), MGLRU_OK);
    struct os_span span = {page + 1, 100};
    int error = os_file_writev(direct, &span, 1, 1, &done);
    assert_true(error == MGLRU_EINVAL || error == MGLRU_OK); /* tmpfs takes anything */
    os_pages_unmap(page, OS_DIRECT_ALIGN);
    os_file_close(direct);
    os_file_close(file);
    assert_int_equal(os_file_remove(path), MGLRU_OK);
}

static void ranges_come_and_go(void **state)
{
    contract_ranges_come_and_go();
}

static _Atomic uint32_t word;
static _Atomic uint32_t ended;

static void note_end(void *argument)
{
    atomic_add_acq_rel(&ended, *(uint32_t *)argument);
}

static void wait_for_word(void *argument)
{
    assert_int_equal(os_thread_at_exit(note_end, argument), MGLRU_OK);
    while (!atomic_load_acquire(&word))
        os_wait(&word, 0);
}

static void waiters_are_woken_and_exit_hooks_run(void **state)
{
    struct os_thread *threads[2];
    uint32_t amounts[2] = {1, 10};
    atomic_store_relaxed(&word, 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(os_thread_start(wait_for_word, &amounts[i], &threads[i]), MGLRU_OK);
    os_thread_yield();
    atomic_store_release(&word, 1);
    os_wake(&word, true);
    for (int i = 0; i < 2; i++)
        os_thread_join(threads[i]);
    assert_int_equal(atomic_load_acquire(&ended), 11);
    assert_true(os_cpu_count() >= 1);
}

static void random_bytes_differ(void **state)
{
    uint64_t a[4] = {0}, b[4] = {0};
    assert_int_equal(os_random_fill(a, sizeof(a)), MGLRU_OK);
    assert_int_equal(os_random_fill(b, sizeof(b)), MGLRU_OK);
    assert_memory_not_equal(a, b, sizeof(a));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clock_goes_forward_by_at_least_the_sleep),
        cmocka_unit_test(pages_are_zeroed_and_aligned),
        cmocka_unit_test(files_keep_what_was_written),
        cmocka_unit_test(refusals_have_their_codes),
        cmocka_unit_test(transfers_are_scattered),
        cmocka_unit_test(sizes_and_holes),
        cmocka_unit_test(direct_handles_see_the_same_file),
        cmocka_unit_test(direct_transfers_name_a_wrong_alignment),
        cmocka_unit_test(ranges_come_and_go),
        cmocka_unit_test(waiters_are_woken_and_exit_hooks_run),
        cmocka_unit_test(random_bytes_differ),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
