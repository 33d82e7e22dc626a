/* SPDX-License-Identifier: MIT */
/*
 * Calls that every implementation of os/os.h answers alike: scattered transfers, holes, sizes,
 * ranges of address space. Include after <cmocka.h>.
 */
#ifndef TESTS_OS_CONTRACT_H
#define TESTS_OS_CONTRACT_H

#include <stdlib.h>
#include <string.h>

#include "os/os.h"

static void contract_transfers_are_scattered(const char *path)
{
    char first[4], second[8], whole[16];
    struct os_span spans[2] = {{first, sizeof(first)}, {second, sizeof(second)}};
    struct os_file *file;
    size_t done;
    memcpy(first, "abcd", 4);
    memcpy(second, "efghijkl", 8);
    assert_int_equal(os_file_open(path, OS_OPEN_CREATE, &file), MGLRU_OK);
    assert_int_equal(os_file_writev(file, spans, 2, 3, &done), MGLRU_OK);
    assert_int_equal(done, 12);
    assert_int_equal(os_file_datasync(file), MGLRU_OK);
    assert_int_equal(os_file_read(file, whole, sizeof(whole), 0, &done), MGLRU_OK);
    assert_int_equal(done, 15);
    assert_memory_equal(whole, "\0\0\0abcdefghijkl", 15);
    memset(first, 0, sizeof(first));
    memset(second, 'x', sizeof(second));
    assert_int_equal(os_file_readv(file, spans, 2, 9, &done), MGLRU_OK);
    assert_int_equal(done, 6);
    assert_memory_equal(first, "ghij", 4);
    assert_memory_equal(second, "klxxxxxx", 8);
    assert_int_equal(os_file_readv(file, spans, 2, 15, &done), MGLRU_OK);
    assert_int_equal(done, 0);
    os_file_close(file);
    assert_int_equal(os_file_open(path, OS_OPEN_READ, &file), MGLRU_OK);
    assert_int_equal(os_file_writev(file, spans, 2, 0, &done), MGLRU_EIO);
    assert_int_equal(done, 0);
    assert_int_equal(os_file_resize(file, 1), MGLRU_EIO);
    os_file_close(file);
    assert_int_equal(os_file_remove(path), MGLRU_OK);
}

static void contract_sizes_and_holes(const char *path)
{
    enum { BYTES = 3 * 4096 };
    static unsigned char data[BYTES], back[BYTES + 10];
    struct os_file *file;
    uint64_t bytes;
    size_t done;
    memset(data, 7, sizeof(data));
    assert_int_equal(os_file_open(path, OS_OPEN_CREATE, &file), MGLRU_OK);
    assert_int_equal(os_file_write(file, data, sizeof(data), 0), MGLRU_OK);
    int error = os_file_punch(file, 4096, 4096);
    assert_true(error == MGLRU_OK || error == MGLRU_ENOTSUP);
    if (!error)
        memset(data + 4096, 0, 4096);
    assert_int_equal(os_file_punch(file, 0, 0), MGLRU_OK);
    assert_int_equal(os_file_resize(file, 9000), MGLRU_OK);
    assert_int_equal(os_file_resize(file, sizeof(data)), MGLRU_OK);
    memset(data + 9000, 0, sizeof(data) - 9000);
    assert_int_equal(os_file_read(file, back, sizeof(back), 0, &done), MGLRU_OK);
    assert_int_equal(done, sizeof(data));
    assert_memory_equal(back, data, sizeof(data));
    assert_int_equal(os_file_size(file, &bytes), MGLRU_OK);
    assert_int_equal(bytes, sizeof(data));
    os_file_close(file);
    assert_int_equal(os_file_remove(path), MGLRU_OK);
}

/* A direct handle sees what the other wrote and the other way round, where there are any. */
static void contract_direct_handles_see_the_same_file(const char *path)
{
    struct os_file *file, *direct;
    size_t done;
    char *page;
    assert_int_equal(os_pages_map(OS_DIRECT_ALIGN, false, (void **)&page), MGLRU_OK);
    struct os_span span = {page, OS_DIRECT_ALIGN};
    assert_int_equal(os_file_open(path, OS_OPEN_CREATE, &file), MGLRU_OK);
    int error = os_file_open_direct(file, &direct);
    assert_true(error == MGLRU_OK || error == MGLRU_ENOTSUP);
    if (!error) {
        memset(page, 'd', OS_DIRECT_ALIGN);
        assert_int_equal(os_file_writev(direct, &span, 1, OS_DIRECT_ALIGN, &done), MGLRU_OK);
        assert_int_equal(done, OS_DIRECT_ALIGN);
        char back[2] = "";
        assert_int_equal(os_file_read(file, back, 1, OS_DIRECT_ALIGN, &done), MGLRU_OK);
        assert_string_equal(back, "d");
        assert_int_equal(os_file_write(file, "w", 1, OS_DIRECT_ALIGN), MGLRU_OK);
        assert_int_equal(os_file_readv(direct, &span, 1, OS_DIRECT_ALIGN, &done), MGLRU_OK);
        assert_memory_equal(page, "wd", 2);
        os_file_close(direct);
    } else {
        assert_null(direct);
    }
    os_file_close(file);
    assert_int_equal(os_file_remove(path), MGLRU_OK);
    os_pages_unmap(page, OS_DIRECT_ALIGN);
}

static void contract_ranges_come_and_go(void)
{
    static const enum os_range_kind kinds[] = {OS_RANGE_SMALL, OS_RANGE_HUGE_HINT};
    size_t bytes = (size_t)5 << 20;
    for (unsigned i = 0; i < 2; i++) {
        unsigned char *start;
        assert_int_equal(os_range_map(bytes, kinds[i], (void **)&start), MGLRU_OK);
        assert_int_equal((uintptr_t)start % OS_HUGE_BYTES, 0);
        assert_int_equal(start[bytes - 1], 0);
        start[4096] = start[8192] = start[bytes - 1] = 9;
        assert_int_equal(os_range_release(start + 4096, 4096), MGLRU_OK);
        assert_int_equal(start[4096], 0);
        assert_int_equal(start[8192], 9);
        assert_int_equal(start[bytes - 1], 9);
        assert_int_equal(os_range_release(start, 0), MGLRU_OK);
        os_pages_unmap(start, bytes);
    }
    void *none = &none;
    assert_int_equal(os_range_map(0, OS_RANGE_SMALL, &none), MGLRU_EINVAL);
    assert_null(none);
    assert_int_equal(os_range_map(SIZE_MAX, OS_RANGE_SMALL, &none), MGLRU_ENOMEM);
    assert_int_equal(os_range_map(SIZE_MAX / 4, OS_RANGE_SMALL, &none), MGLRU_ENOMEM);
    assert_int_equal(os_range_map(4096, OS_RANGE_HUGE_STRICT, &none), MGLRU_EINVAL);
    assert_null(none);
    /* More huge pages than any machine has set aside. */
    assert_int_equal(os_range_map((size_t)1 << 46, OS_RANGE_HUGE_STRICT, &none), MGLRU_ENOMEM);
    assert_null(none);
}

#endif
