/* SPDX-License-Identifier: MIT */
/*
 * What is special to one kind of store, what the general part does for a store of a program's own,
 * and opening stores when memory runs out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mglru/stores.h>

#include "os/os.h"

/* Allocations until one is refused; negative: none is. */
static long allowed = -1;
static long living;

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
void __real_free(void *memory);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
void __wrap_free(void *memory);

static bool refuse(void)
{
    return allowed >= 0 && allowed-- == 0;
}

static void *count_living(void *memory)
{
    living += memory != NULL;
    return memory;
}

void *__wrap_malloc(size_t bytes)
{
    return refuse() ? NULL : count_living(__real_malloc(bytes));
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return refuse() ? NULL : count_living(__real_calloc(count, bytes));
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    return refuse() ? NULL : count_living(__real_aligned_alloc(alignment, bytes));
}

void __wrap_free(void *memory)
{
    living -= memory != NULL;
    __real_free(memory);
}

static char folder[] = "store-kinds-XXXXXX";
static char path[64];

static int make_folder(void **state)
{
    if (!mkdtemp(folder))
        return -1;
    strcpy(path, folder);
    strcat(path, "/file");
    return 0;
}

static int remove_folder(void **state)
{
    unlink(path);
    return rmdir(folder);
}

/* ---- Memory ---- */

static void a_power_cut_goes_back_to_the_last_sync(void **state)
{
    struct mglru_store_memory_options options = {
        .size = sizeof(options), .size_max = 1 << 20, .synced_copy = true};
    struct mglru_store *store;
    char text[6] = "";
    struct mglru_store_vec one = {"first", 5}, two = {"again", 5}, in = {text, 5};
    uint64_t size;
    assert_int_equal(mglru_store_memory_open(&options, &store), MGLRU_OK);
    assert_int_equal(mglru_store_write(store, 4094, &one, 1), MGLRU_OK);
    assert_int_equal(mglru_store_sync(store), MGLRU_OK);
    assert_int_equal(mglru_store_write(store, 4094, &two, 1), MGLRU_OK);
    assert_int_equal(mglru_store_write(store, 90000, &two, 1), MGLRU_OK);
    assert_int_equal(mglru_store_memory_power_cut(store), MGLRU_OK);
    assert_int_equal(mglru_store_read(store, 4094, &in, 1), MGLRU_OK);
    assert_string_equal(text, "first");
    assert_int_equal(mglru_store_size(store, &size), MGLRU_OK);
    assert_int_equal(size, 4099);
    assert_int_equal(mglru_store_truncate(store, 0), MGLRU_OK);
    assert_int_equal(mglru_store_memory_power_cut(store), MGLRU_OK);
    assert_int_equal(mglru_store_read(store, 4094, &in, 1), MGLRU_OK);
    assert_string_equal(text, "first");
    mglru_store_close(store);
}

static void memory_has_a_largest_size(void **state)
{
    struct mglru_store_memory_options options = {.size = sizeof(options), .size_max = 10000};
    struct mglru_store *store;
    char byte;
    struct mglru_store_vec vec = {&byte, 1};
    assert_int_equal(mglru_store_memory_open(&options, &store), MGLRU_OK);
    assert_int_equal(mglru_store_write(store, 9999, &vec, 1), MGLRU_OK);
    assert_int_equal(mglru_store_write(store, 10000, &vec, 1), MGLRU_ENOSPC);
    assert_int_equal(mglru_store_truncate(store, 10001), MGLRU_ENOSPC);
    assert_int_equal(mglru_store_memory_power_cut(store), MGLRU_EINVAL);
    mglru_store_close(store);
    options.size_max = (UINT64_C(1) << 45) + 1;
    assert_int_equal(mglru_store_memory_open(&options, &store), MGLRU_EINVAL);
    assert_null(store);
    options.size = 4;
    assert_int_equal(mglru_store_memory_open(&options, &store), MGLRU_EINVAL);
    mglru_store_close(NULL);
}

/* ---- Files ---- */

static void files_open_as_they_are_asked_to(void **state)
{
    struct mglru_store_file_options options = {.size = sizeof(options)};
    struct mglru_store *store;
    char byte = 'b';
    struct mglru_store_vec vec = {&byte, 1};
    assert_int_equal(mglru_store_file_open(&options, &store), MGLRU_EINVAL);
    options.path = path;
    assert_int_equal(mglru_store_file_open(&options, &store), MGLRU_ENOENT);
    assert_null(store);
    options.create = true;
    options.queue = 4097;
    assert_int_equal(mglru_store_file_open(&options, &store), MGLRU_EINVAL);
    options.queue = 0;
    assert_int_equal(mglru_store_file_open(&options, &store), MGLRU_OK);
    assert_int_equal(mglru_store_write(store, 0, &vec, 1), MGLRU_OK);
    assert_true(mglru_store_caps(store)->durable);
    assert_string_equal(mglru_store_name(store), "file");
    mglru_store_close(store);
    options.read_only = true;
    assert_int_equal(mglru_store_file_open(&options, &store), MGLRU_OK);
    assert_int_equal(mglru_store_write(store, 0, &vec, 1), MGLRU_EPERM);
    assert_int_equal(mglru_store_truncate(store, 0), MGLRU_EPERM);
    assert_int_equal(mglru_store_punch(store, 0, 1), MGLRU_EPERM);
    assert_int_equal(mglru_store_read(store, 0, &vec, 1), MGLRU_OK);
    assert_int_equal(mglru_store_sync(store), MGLRU_OK);
    mglru_store_close(store);
    options.path = folder;
    assert_int_equal(mglru_store_file_open(&options, &store), MGLRU_EIO);
    unlink(path);
}

static void rings_are_refused_on_simulated_machines(void **state)
{
    struct mglru_store_file_options options = {
        .size = sizeof(options), .path = "f", .create = true};
    struct mglru_store *store;
    os_use(os_sim(1));
    assert_int_equal(mglru_store_uring_open(&options, &store), MGLRU_ENOTSUP);
    assert_null(store);
    os_use(NULL);
}

/* ---- A store of one's own ---- */

static uint64_t step; /* bytes that the store moves at a time */
static unsigned submits;
static bool closed;

static void slow_submit(void *context, struct mglru_store_request *const *requests, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct mglru_store_vec piece;
        uint64_t offset, moved = 0;
        submits++;
        if (requests[i]->op <= MGLRU_STORE_WRITE && step) {
            mglru_store_pieces(requests[i], &piece, 1, &offset);
            moved = piece.bytes < step ? piece.bytes : step;
            if (requests[i]->op == MGLRU_STORE_READ)
                memset(piece.frame, 'r', moved);
        }
        mglru_store_complete(requests[i], MGLRU_OK, moved);
    }
}

static int slow_size(void *context, uint64_t *bytes)
{
    return MGLRU_EIO;
}

static void slow_close(void *context)
{
    closed = true;
}

static const struct mglru_store_ops slow_ops = {
    .size = sizeof(slow_ops),
    .name = "slow",
    .submit = slow_submit,
    .size_get = slow_size,
    .close = slow_close,
};

static void short_transfers_repeat_without_recursion(void **state)
{
    static char data[1 << 20];
    struct mglru_store_vec vec[] = {{data, 1000}, {data + 1000, sizeof(data) - 1000}};
    struct mglru_store *store;
    step = 1; /* a million parts: a stack frame each would overflow */
    submits = 0;
    assert_int_equal(mglru_store_create(&slow_ops, NULL, NULL, &store), MGLRU_OK);
    assert_int_equal(mglru_store_read(store, 0, vec, 2), MGLRU_OK);
    assert_int_equal(submits, sizeof(data));
    for (size_t i = 0; i < sizeof(data); i++)
        assert_int_equal(data[i], 'r');
    step = 0; /* the end for a read, no end for a write */
    assert_int_equal(mglru_store_read(store, 0, vec, 2), MGLRU_OK);
    assert_int_equal(data[sizeof(data) - 1], 0);
    assert_int_equal(mglru_store_write(store, 0, vec, 2), MGLRU_EIO);
    uint64_t size = 5;
    assert_int_equal(mglru_store_size(store, &size), MGLRU_EIO);
    mglru_store_close(store);
    assert_true(closed);
}

static void alignment_is_checked_before_the_store_is_asked(void **state)
{
    static _Alignas(512) char data[1024];
    struct mglru_store_vec fine = {data, 512}, odd = {data + 8, 512}, small = {data, 100};
    struct mglru_store_caps caps = {.size = sizeof(caps), .align_bytes = 512};
    struct mglru_store *store;
    step = 512;
    submits = 0;
    assert_int_equal(mglru_store_create(&slow_ops, &caps, NULL, &store), MGLRU_OK);
    assert_int_equal(mglru_store_write(store, 8, &fine, 1), MGLRU_EINVAL);
    assert_int_equal(mglru_store_write(store, 0, &odd, 1), MGLRU_EINVAL);
    assert_int_equal(mglru_store_read(store, 0, &small, 1), MGLRU_EINVAL);
    assert_int_equal(mglru_store_punch(store, 512, 100), MGLRU_EINVAL);
    assert_int_equal(submits, 0);
    assert_int_equal(mglru_store_write(store, 1024, &fine, 1), MGLRU_OK);
    mglru_store_close(store);
    caps.align_bytes = 3;
    assert_int_equal(mglru_store_create(&slow_ops, &caps, NULL, &store), MGLRU_EINVAL);
    assert_null(store);
    struct mglru_store_ops old = slow_ops;
    old.size = 8;
    assert_int_equal(mglru_store_create(&old, NULL, NULL, &store), MGLRU_EINVAL);
    old = slow_ops;
    old.submit = NULL;
    assert_int_equal(mglru_store_create(&old, NULL, NULL, &store), MGLRU_EINVAL);
}

/* ---- Without memory ---- */

static int open_memory(struct mglru_store **out)
{
    return mglru_store_memory_open(NULL, out);
}

static int open_file(struct mglru_store **out)
{
    struct mglru_store_file_options options = {
        .size = sizeof(options), .path = path, .create = true};
    return mglru_store_file_open(&options, out);
}

static struct mglru_store *base;

static int open_drive(struct mglru_store **out)
{
    struct mglru_store_faulty_options options = {.size = sizeof(options), .volatile_cache = true};
    return mglru_store_faulty_open(base, &options, out);
}

static void refused_allocations_leave_nothing(void **state)
{
    int (*const opens[])(struct mglru_store **) = {open_memory, open_file, open_drive};
    assert_int_equal(open_memory(&base), MGLRU_OK);
    for (size_t i = 0; i < sizeof(opens) / sizeof(opens[0]); i++) {
        struct mglru_store *store;
        int error = MGLRU_ENOMEM;
        long refusals = 0, before = living;
        for (; error && refusals < 20; refusals++) {
            allowed = refusals;
            error = opens[i](&store);
            allowed = -1;
            if (!error)
                break;
            assert_int_equal(error, MGLRU_ENOMEM);
            assert_null(store);
            assert_int_equal(living, before);
        }
        assert_int_equal(error, MGLRU_OK);
        assert_in_range(refusals, 2, 19);
        mglru_store_close(store);
        assert_int_equal(living, before);
    }
    mglru_store_close(base);
}

static void a_drive_without_memory_says_so(void **state)
{
    struct mglru_store *store;
    char byte = 1;
    struct mglru_store_vec vec = {&byte, 1};
    assert_int_equal(open_memory(&base), MGLRU_OK);
    assert_int_equal(open_drive(&store), MGLRU_OK);
    allowed = 0;
    assert_int_equal(mglru_store_write(store, 0, &vec, 1), MGLRU_ENOMEM);
    allowed = -1;
    assert_int_equal(mglru_store_write(store, 0, &vec, 1), MGLRU_OK);
    assert_int_equal(mglru_store_sync(store), MGLRU_OK);
    mglru_store_close(store);
    mglru_store_close(base);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_power_cut_goes_back_to_the_last_sync),
        cmocka_unit_test(memory_has_a_largest_size),
        cmocka_unit_test(files_open_as_they_are_asked_to),
        cmocka_unit_test(rings_are_refused_on_simulated_machines),
        cmocka_unit_test(short_transfers_repeat_without_recursion),
        cmocka_unit_test(alignment_is_checked_before_the_store_is_asked),
        cmocka_unit_test(refused_allocations_leave_nothing),
        cmocka_unit_test(a_drive_without_memory_says_so),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
