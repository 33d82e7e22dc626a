/* SPDX-License-Identifier: MIT */
/* The tests of contract.h. Each opens an empty store of the kind and closes it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract.h"
#include "os/os.h"
#include "sync/atomic.h"
#include "unit/seeded.h"

static const struct contract_kind *kind;
static char path[256];
static struct mglru_store *store;

static int open_store(void **state)
{
    os_file_remove(path);
    return kind->open(path, &store);
}

static int close_store(void **state)
{
    kind->close(store);
    store = NULL;
    os_file_remove(path);
    return 0;
}

struct countdown {
    _Atomic uint32_t left;
    unsigned rounds;
};

static void count_down(struct mglru_store_request *request)
{
    struct countdown *countdown = request->context;
    atomic_sub_acq_rel(&countdown->left, 1);
}

static void wait_for(struct countdown *countdown)
{
    for (uint32_t left; (left = atomic_load_acquire(&countdown->left)) != 0;)
        mglru_store_wait(store, (const uint32_t *)&countdown->left, left);
}

/* The request as it comes back. */
static struct mglru_store_request finished(struct mglru_store_request request)
{
    struct countdown countdown = {.left = 1};
    struct mglru_store_request *list[] = {&request};
    request.complete = count_down;
    request.context = &countdown;
    mglru_store_submit(store, list, 1);
    wait_for(&countdown);
    return request;
}

static int error_of(struct mglru_store_request request)
{
    return finished(request).error;
}

static void expect_bytes(uint64_t offset, const void *expected, size_t bytes)
{
    unsigned char *got = malloc(bytes + 1);
    struct mglru_store_vec vec = {got, bytes};
    memset(got, 0xEE, bytes);
    assert_int_equal(mglru_store_read(store, offset, &vec, 1), MGLRU_OK);
    assert_memory_equal(got, expected, bytes);
    free(got);
}

static void expect_size(uint64_t expected)
{
    uint64_t bytes = 1;
    assert_int_equal(mglru_store_size(store, &bytes), MGLRU_OK);
    assert_int_equal(bytes, expected);
}

static void an_empty_store_reads_as_zeros(void **state)
{
    static const char zeros[10000];
    expect_size(0);
    expect_bytes(0, zeros, sizeof(zeros));
    expect_bytes(123456789, zeros, sizeof(zeros));
    assert_int_equal(mglru_store_sync(store), MGLRU_OK);
    assert_int_equal(mglru_store_punch(store, 0, 100), MGLRU_OK);
    expect_size(0);
}

static void pieces_are_scattered_and_gathered(void **state)
{
    char text[] = "one two three four five";
    struct mglru_store_vec out[] = {{text, 4}, {NULL, 0}, {text + 4, 10}, {text + 14, 9}};
    char a[8], b[3], c[12];
    struct mglru_store_vec in[] = {{a, sizeof(a)}, {b, sizeof(b)}, {NULL, 0}, {c, sizeof(c)}};
    assert_int_equal(mglru_store_write(store, 4093, out, 4), MGLRU_OK);
    expect_size(4093 + 23);
    assert_int_equal(mglru_store_read(store, 4093, in, 4), MGLRU_OK);
    assert_memory_equal(a, "one two ", 8);
    assert_memory_equal(b, "thr", 3);
    assert_memory_equal(c, "ee four five", 12);
    expect_bytes(4090, "\0\0\0one", 6);
    expect_bytes(4093 + 19, "five\0\0\0", 7);
    assert_string_equal(text, "one two three four five");
}

static void more_pieces_than_a_transfer_takes(void **state)
{
    enum { PIECES = 1300, BYTES = 7 };
    static char data[PIECES * BYTES], back[PIECES * BYTES];
    static struct mglru_store_vec out[PIECES], in[PIECES];
    for (unsigned i = 0; i < PIECES; i++) {
        memset(data + i * BYTES, (char)i, BYTES);
        out[i] = (struct mglru_store_vec){data + i * BYTES, BYTES};
        in[i] = (struct mglru_store_vec){back + i * BYTES, BYTES};
    }
    assert_int_equal(mglru_store_write(store, 5, out, PIECES), MGLRU_OK);
    assert_int_equal(mglru_store_read(store, 5, in, PIECES), MGLRU_OK);
    assert_memory_equal(data, back, sizeof(data));
}

/* Frames of page and huge-page size, aligned, which take the direct way where there is one. */
static void whole_frames_come_back(void **state)
{
    enum { BYTES = 2 << 20 };
    char *frames;
    assert_int_equal(os_pages_map(2 * BYTES, false, (void **)&frames), MGLRU_OK);
    for (unsigned i = 0; i < BYTES; i += 64)
        memset(frames + i, (char)(i / 64 % 251), 64);
    struct mglru_store_vec out = {frames, BYTES},
                           in[] = {{frames + BYTES, 4096}, {frames + BYTES + 4096, BYTES - 4096}};
    assert_int_equal(mglru_store_write(store, 8192, &out, 1), MGLRU_OK);
    assert_int_equal(mglru_store_sync(store), MGLRU_OK);
    assert_int_equal(mglru_store_read(store, 8192, in, 2), MGLRU_OK);
    assert_memory_equal(frames, frames + BYTES, BYTES);
    /* The last frame lies half beyond the end. */
    assert_int_equal(mglru_store_truncate(store, 8192 + 4096 + 1000), MGLRU_OK);
    memset(frames + 4096 + 1000, 0, 4096 - 1000);
    memset(frames + BYTES, 1, 8192);
    struct mglru_store_request request = {
        .op = MGLRU_STORE_READ, .vec = in, .count = 1, .offset = 8192 + 4096};
    request = finished(request);
    assert_int_equal(request.error, MGLRU_OK);
    assert_int_equal(request.done, 1000);
    assert_memory_equal(frames + BYTES, frames + 4096, 4096);
    os_pages_unmap(frames, 2 * BYTES);
}

/* ---- Against a byte array ---- */

enum { MODEL_BYTES = 40000, MODEL_STEPS = 400 };

static unsigned char model[MODEL_BYTES], scratch[MODEL_BYTES];
static uint64_t model_size;

static uint32_t random_pieces(struct seeded *s, struct mglru_store_vec *vec, size_t bytes)
{
    uint32_t count = 0;
    size_t at = 0;
    while (at < bytes && count < 30) {
        size_t part = count == 29 ? bytes - at : seeded_below(s, bytes - at + 1);
        vec[count++] = (struct mglru_store_vec){scratch + at, part};
        at += part;
    }
    return count;
}

static void write_step(struct seeded *s, uint64_t offset, size_t bytes)
{
    struct mglru_store_vec vec[30] = {{NULL, 0}};
    uint32_t count = random_pieces(s, vec, bytes);
    uint64_t moved = 0;
    for (uint32_t i = 0; i < count; i++)
        moved += vec[i].bytes;
    for (size_t i = 0; i < moved; i++)
        scratch[i] = (unsigned char)seeded_next(s);
    SEEDED_CHECK(s, mglru_store_write(store, offset, vec, count) == MGLRU_OK);
    memcpy(model + offset, scratch, moved);
    if (moved && model_size < offset + moved)
        model_size = offset + moved;
}

static void read_step(struct seeded *s, uint64_t offset, size_t bytes)
{
    struct mglru_store_vec vec[30] = {{NULL, 0}};
    uint32_t count = random_pieces(s, vec, bytes);
    uint64_t moved = 0;
    for (uint32_t i = 0; i < count; i++)
        moved += vec[i].bytes;
    memset(scratch, 0xEE, sizeof(scratch));
    SEEDED_CHECK(s, mglru_store_read(store, offset, vec, count) == MGLRU_OK);
    SEEDED_CHECK(s, !memcmp(scratch, model + offset, moved));
}

static void truncate_step(struct seeded *s, uint64_t size)
{
    SEEDED_CHECK(s, mglru_store_truncate(store, size) == MGLRU_OK);
    memset(model + size, 0, MODEL_BYTES - size);
    model_size = size;
}

static void punch_step(struct seeded *s, uint64_t offset, uint64_t bytes)
{
    SEEDED_CHECK(s, mglru_store_punch(store, offset, bytes) == MGLRU_OK);
    memset(model + offset, 0, bytes);
}

static void random_calls(struct seeded *s)
{
    for (s->step = 0; s->step < MODEL_STEPS; s->step++) {
        uint64_t offset = seeded_below(s, MODEL_BYTES);
        size_t bytes = seeded_below(s, MODEL_BYTES - offset);
        uint64_t size;
        if (seeded_below(s, 3)) { /* most are small */
            bytes %= 5000;
            if (seeded_below(s, 2))
                offset -= offset % 4096;
        }
        unsigned long which = seeded_below(s, 12);
        if (which == 0)
            truncate_step(s, offset);
        else if (which == 1)
            punch_step(s, offset, bytes);
        else if (which == 2)
            SEEDED_CHECK(s, mglru_store_sync(store) == MGLRU_OK);
        else if (which < 8)
            write_step(s, offset, bytes);
        else
            read_step(s, offset, bytes);
        SEEDED_CHECK(s, mglru_store_size(store, &size) == MGLRU_OK && size == model_size);
    }
    truncate_step(s, 0);
}

static void random_calls_equal_a_byte_array(void **state)
{
    memset(model, 0, sizeof(model));
    model_size = 0;
    seeded_cases(4, random_calls);
}

/* ---- Many requests ---- */

enum { MANY = 200 };

static void batches_complete_once_each(void **state)
{
    static struct mglru_store_request requests[MANY];
    static struct mglru_store_request *list[MANY];
    static struct mglru_store_vec vec[MANY];
    static char data[MANY][512];
    struct countdown countdown = {.left = MANY};
    for (int pass = 0; pass < 2; pass++) {
        atomic_store_relaxed(&countdown.left, MANY);
        for (unsigned i = 0; i < MANY; i++) {
            if (!pass)
                memset(data[i], (char)(i + 1), sizeof(data[i]));
            else
                memset(data[i], 0, sizeof(data[i]));
            vec[i] = (struct mglru_store_vec){data[i], sizeof(data[i])};
            requests[i] = (struct mglru_store_request){
                .op = pass ? MGLRU_STORE_READ : MGLRU_STORE_WRITE,
                .vec = &vec[i],
                .count = 1,
                .offset = (uint64_t)i * sizeof(data[i]),
                .complete = count_down,
                .context = &countdown,
            };
            list[i] = &requests[i];
        }
        mglru_store_submit(store, list, MANY);
        wait_for(&countdown);
        for (unsigned i = 0; i < MANY; i++) {
            assert_int_equal(requests[i].error, MGLRU_OK);
            assert_int_equal(requests[i].done, sizeof(data[i]));
            assert_int_equal(data[i][0], (char)(i + 1));
            assert_int_equal(data[i][511], (char)(i + 1));
        }
    }
    assert_int_equal(mglru_store_poll(store), 0);
}

/* Each completion submits the next write, a sync among them. */
static void chain_on(struct mglru_store_request *request)
{
    struct countdown *countdown = request->context;
    assert_int_equal(request->error, MGLRU_OK);
    if (++countdown->rounds < 100) {
        request->op = countdown->rounds % 10 ? MGLRU_STORE_WRITE : MGLRU_STORE_SYNC;
        request->offset = countdown->rounds;
        mglru_store_submit(store, &request, 1);
        return;
    }
    count_down(request);
}

static void completions_may_submit(void **state)
{
    char byte = 'x', expected[100];
    struct mglru_store_vec vec = {&byte, 1};
    struct countdown countdown = {.left = 1};
    struct mglru_store_request request = {.op = MGLRU_STORE_WRITE,
                                          .vec = &vec,
                                          .count = 1,
                                          .complete = chain_on,
                                          .context = &countdown};
    struct mglru_store_request *list[] = {&request};
    mglru_store_submit(store, list, 1);
    wait_for(&countdown);
    for (unsigned i = 0; i < 100; i++)
        expected[i] = i % 10 && i ? 'x' : i ? '\0' : 'x';
    expect_bytes(0, expected, 100);
}

static void senseless_requests_are_refused(void **state)
{
    char byte = 0;
    struct mglru_store_vec one = {&byte, 1};
    struct mglru_store_vec vast[] = {{&byte, SIZE_MAX}, {&byte, SIZE_MAX}};
    struct mglru_store_request request = {.vec = &one, .count = 1};
    assert_int_equal(error_of(request), MGLRU_EINVAL);
    request.op = (enum mglru_store_op)99;
    assert_int_equal(error_of(request), MGLRU_EINVAL);
    for (int op = MGLRU_STORE_READ; op <= MGLRU_STORE_WRITE; op++) {
        request = (struct mglru_store_request){.op = (enum mglru_store_op)op, .vec = &one};
        request.count = 1;
        request.offset = MGLRU_STORE_BYTES_MAX;
        assert_int_equal(error_of(request), MGLRU_EINVAL);
        request.offset = UINT64_MAX;
        assert_int_equal(error_of(request), MGLRU_EINVAL);
        request.offset = 0;
        request.vec = vast;
        request.count = 2;
        assert_int_equal(error_of(request), MGLRU_EINVAL);
        request.count = 0; /* nothing to move, at any place */
        assert_int_equal(error_of(request), MGLRU_OK);
    }
    request = (struct mglru_store_request){.op = MGLRU_STORE_TRUNCATE, .offset = UINT64_MAX};
    assert_int_equal(error_of(request), MGLRU_EINVAL);
    request = (struct mglru_store_request){
        .op = MGLRU_STORE_PUNCH, .offset = 4096, .bytes = MGLRU_STORE_BYTES_MAX};
    assert_int_equal(error_of(request), MGLRU_EINVAL);
    request.offset = 0;
    assert_int_equal(error_of(request), MGLRU_OK);
    /* Above what any of the stores can hold, below what a request can say. */
    request = (struct mglru_store_request){
        .op = MGLRU_STORE_WRITE, .vec = &one, .count = 1, .offset = MGLRU_STORE_BYTES_MAX - 1};
    assert_int_not_equal(error_of(request), MGLRU_OK);
    expect_size(0);
}

static void waiting_for_a_word_that_differs_returns(void **state)
{
    _Atomic uint32_t word = 3;
    mglru_store_wait(store, (const uint32_t *)&word, 2);
    assert_int_equal(mglru_store_poll(store), 0);
}

/* ---- Threads ---- */

enum { THREADS = 4, PAGES = 12, ROUNDS = 60 };

struct worker {
    unsigned number;
    struct os_thread *thread;
    unsigned failures;
};

/* Each has every fourth page; syncs are everybody's. */
static void work(void *argument)
{
    struct worker *self = argument;
    unsigned char page[512], back[512];
    struct mglru_store_vec out = {page, sizeof(page)}, in = {back, sizeof(back)};
    struct seeded s = {.state = self->number};
    unsigned char versions[PAGES] = {0};
    for (unsigned i = 0; i < ROUNDS; i++) {
        unsigned which = (unsigned)seeded_below(&s, PAGES);
        uint64_t offset = (uint64_t)(which * THREADS + self->number) * sizeof(page);
        memset(page, versions[which], sizeof(page));
        self->failures += mglru_store_read(store, offset, &in, 1) != MGLRU_OK;
        self->failures += memcmp(page, back, sizeof(page)) != 0;
        memset(page, ++versions[which], sizeof(page));
        self->failures += mglru_store_write(store, offset, &out, 1) != MGLRU_OK;
        if (i % 16 == self->number)
            self->failures += mglru_store_sync(store) != MGLRU_OK;
    }
}

static void threads_do_not_disturb_each_other(void **state)
{
    struct worker workers[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.number = i};
        assert_int_equal(os_thread_start(work, &workers[i], &workers[i].thread), MGLRU_OK);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        os_thread_join(workers[i].thread);
        assert_int_equal(workers[i].failures, 0);
    }
}

static void what_was_written_outlives_the_handle(void **state)
{
    struct mglru_store_vec vec = {"kept", 4};
    assert_int_equal(mglru_store_write(store, 4094, &vec, 1), MGLRU_OK);
    assert_int_equal(mglru_store_sync(store), MGLRU_OK);
    kind->close(store);
    assert_int_equal(kind->open(path, &store), MGLRU_OK);
    expect_size(4098);
    expect_bytes(4092, "\0\0kept", 6);
}

#define CONTRACT(test) cmocka_unit_test_setup_teardown(test, open_store, close_store)

int contract_run(const struct contract_kind *which, const char *folder)
{
    const struct CMUnitTest tests[] = {
        CONTRACT(an_empty_store_reads_as_zeros),
        CONTRACT(pieces_are_scattered_and_gathered),
        CONTRACT(more_pieces_than_a_transfer_takes),
        CONTRACT(whole_frames_come_back),
        CONTRACT(random_calls_equal_a_byte_array),
        CONTRACT(batches_complete_once_each),
        CONTRACT(completions_may_submit),
        CONTRACT(senseless_requests_are_refused),
        CONTRACT(waiting_for_a_word_that_differs_returns),
        CONTRACT(threads_do_not_disturb_each_other),
    };
    const struct CMUnitTest of_lasting_stores[] = {CONTRACT(what_was_written_outlives_the_handle)};
    kind = which;
    snprintf(path, sizeof(path), "%s/store", folder);
    int error = open_store(NULL);
    if (error == MGLRU_ENOTSUP || error == MGLRU_EPERM) {
        print_message("%s: skipped, %s\n", which->name, mglru_error_text(error));
        return 0;
    }
    if (error)
        return 1;
    close_store(NULL);
    print_message("%s on %s\n", which->name, os_current()->name);
    int failures = cmocka_run_group_tests_name(which->name, tests, NULL, NULL);
    if (which->reopens)
        failures += cmocka_run_group_tests_name(which->name, of_lasting_stores, NULL, NULL);
    return failures;
}
