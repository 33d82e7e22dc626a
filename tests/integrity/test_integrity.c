/* SPDX-License-Identifier: MIT */
/*
 * The verifying workload over a cache that keeps nothing: with each store, with faults and power
 * cuts it finds nothing; each way of being broken is found. MGLRU_INTEGRITY=N multiplies the
 * operations.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

#include "bases.h"
#include "driver.h"
#include "os/os.h"
#include "through.h"
#include "unit/seeded.h"

enum { MAPPINGS = 4, PAGES = 64, PAGE_BYTES = 4096, OPERATIONS = 20000 };

static char folder[] = "integrity-XXXXXX";

static const struct oracle_shape shape = {MAPPINGS, PAGES, PAGE_BYTES};

static uint64_t operations(void)
{
    const char *more = getenv("MGLRU_INTEGRITY");
    return OPERATIONS * (more ? strtoull(more, NULL, 0) : 1);
}

/* ---- Stores ---- */

/* False: there is no such store here. */
static bool open_through(struct through *through, enum base_kind kind)
{
    through->page_bytes = PAGE_BYTES;
    through->mappings = MAPPINGS;
    through_init(through);
    for (unsigned i = 0; i < MAPPINGS; i++) {
        int error = base_open(kind, (struct base_place){folder, i}, &through->base[i]);
        if (kind == BASE_URING && (error == MGLRU_ENOTSUP || error == MGLRU_EPERM))
            return false;
        assert_int_equal(error, MGLRU_OK);
    }
    assert_int_equal(through_open(through), MGLRU_OK);
    return true;
}

static void close_through(struct through *through)
{
    through_close(through);
    for (unsigned i = 0; i < MAPPINGS; i++) {
        mglru_store_close(through->base[i]);
        base_remove((struct base_place){folder, i});
    }
}

/* ---- Runs ---- */

static struct driver_options usual(struct through *through, void *memory)
{
    return (struct driver_options){
        .shape = shape,
        .oracle = oracle_init(memory, &shape),
        .ops = &through_ops,
        .subject = through,
        .seed = 1,
        .operations = operations(),
        .round = 1000,
        .threads = 1,
        .pages_max = 4,
        .write_ppm = 400000,
        .sync_ppm = 5000,
        .truncate_ppm = 2000,
    };
}

static void *oracle_memory(void)
{
    size_t bytes = (oracle_bytes(&shape) + 63) / 64 * 64;
    void *memory = aligned_alloc(64, bytes);
    assert_non_null(memory);
    return memory;
}

static void expect_clean(const struct driver_options *options, struct driver_result *result)
{
    driver_run(options, result);
    if (result->findings)
        print_error("%s, seed %llu\n", result->first, (unsigned long long)options->seed);
    assert_int_equal(result->findings, 0);
    assert_int_equal(result->reads + result->writes + result->syncs + result->truncates,
                     options->operations);
    assert_true(result->pages_judged > options->operations / 2);
}

static void run_plain(enum base_kind kind, const struct subject_ops *ops, unsigned threads)
{
    struct through through = {0};
    struct driver_result result;
    if (!open_through(&through, kind))
        skip();
    void *memory = oracle_memory();
    struct driver_options options = usual(&through, memory);
    options.ops = ops;
    options.threads = threads;
    if (kind == BASE_FILE || kind == BASE_URING)
        options.sync_ppm = 1000; /* disks take their time */
    expect_clean(&options, &result);
    assert_true(result.cuts > 0 || !ops->power_cut);
    close_through(&through);
    free(memory);
}

static void memory_that_is_synced(void **state)
{
    run_plain(BASE_SYNCED, &through_ops, 1);
}

static void memory_and_threads(void **state)
{
    run_plain(BASE_SYNCED, &through_ops, 4);
}

static void files(void **state)
{
    run_plain(BASE_FILE, &through_ops_uncut, 1);
}

static void files_and_threads(void **state)
{
    run_plain(BASE_FILE, &through_ops_uncut, 3);
}

static void rings_and_threads(void **state)
{
    run_plain(BASE_URING, &through_ops_uncut, 3);
}

static const struct mglru_store_faulty_options drive = {
    .size = sizeof(drive),
    .seed = 77,
    .short_ppm = 20000,
    .delay_ppm = 2000,
    .delay_max_ns = 10000,
    .destage_ppm = 300000,
    .volatile_cache = true,
};

static void run_drive_lingering(struct mglru_store_faulty_options faults, enum base_kind kind,
                                unsigned threads, uint64_t linger_ns)
{
    struct through through = {.faults = faults, .linger_ns = linger_ns};
    struct driver_result result;
    void *memory = oracle_memory();
    assert_true(open_through(&through, kind));
    struct driver_options options = usual(&through, memory);
    options.threads = threads;
    options.sync_ppm = kind == BASE_FILE ? 1000 : options.sync_ppm;
    options.errors = faults.write_error_ppm || faults.read_error_ppm;
    options.may_tear = faults.sector_bytes != 0;
    expect_clean(&options, &result);
    assert_true(result.cuts == options.operations / options.round);
    assert_true(through.counts.pages_lost > 0 && through.counts.pages_destaged > 0);
    assert_true(!options.may_tear == !through.counts.pages_torn);
    assert_true(!options.errors == !result.failures);
    close_through(&through);
    free(memory);
}

static void run_drive(struct mglru_store_faulty_options faults, enum base_kind kind,
                      unsigned threads)
{
    run_drive_lingering(faults, kind, threads, 0);
}

static void power_cuts(void **state)
{
    run_drive(drive, BASE_MEMORY, 1);
}

static void power_cuts_and_threads(void **state)
{
    run_drive(drive, BASE_MEMORY, 4);
}

static void power_cuts_over_files(void **state)
{
    run_drive(drive, BASE_FILE, 1);
}

static void torn_pages(void **state)
{
    struct mglru_store_faulty_options faults = drive;
    faults.sector_bytes = 512;
    run_drive(faults, BASE_MEMORY, 1);
}

static struct mglru_store_faulty_options every_error(void)
{
    struct mglru_store_faulty_options faults = drive;
    faults.sector_bytes = 512;
    faults.read_error_ppm = 20000;
    faults.write_error_ppm = 20000;
    faults.write_nospace_ppm = 20000;
    faults.sync_error_ppm = 200000;
    faults.discard_error_ppm = 100000;
    return faults;
}

static void errors_of_every_kind(void **state)
{
    run_drive(every_error(), BASE_MEMORY, 2);
}

/* Readers find the page torn, and judge it, before the write that tore it has said that it failed;
 * simulated, so that each run has the same of them. */
static void errors_that_are_told_late(void **state)
{
    os_use(os_sim(1));
    run_drive_lingering(every_error(), BASE_MEMORY, 3, 100000);
    os_use(NULL);
}

static void simulated_machines(void **state)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct mglru_store_faulty_options faults = drive;
        faults.seed = seed;
        faults.sync_error_ppm = faults.write_error_ppm = 10000;
        os_use(os_sim(seed));
        run_drive(faults, BASE_MEMORY, 3);
        os_use(NULL);
    }
}

/* ---- A process that is killed ---- */

static struct driver_options killed_options(struct through *through, void *memory, uint64_t seed)
{
    struct driver_options options = usual(through, memory);
    options.ops = &through_ops_uncut;
    options.operations = UINT64_MAX; /* it ends by being killed */
    options.seed = seed;
    options.threads = 2;
    options.sync_ppm = 1000;
    return options;
}

/* The kernel lives on and has every write that completed. */
static void killed_processes_lose_nothing(void **state)
{
    size_t bytes = oracle_bytes(&shape);
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct through through = {0};
        struct driver_result result = {0};
        int status;
        oracle_init(memory, &shape); /* the process may be killed before it does anything */
        fflush(NULL);
        pid_t child = fork();
        assert_true(child >= 0);
        if (!child) {
            if (open_through(&through, BASE_FILE)) {
                struct driver_options options = killed_options(&through, memory, seed);
                driver_run(&options, &result);
            }
            _exit(result.findings ? 1 : 2);
        }
        os_clock_sleep_ns(100000000);
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status)); /* else it had found something */
        assert_true(open_through(&through, BASE_FILE));
        struct driver_options options = {
            .shape = shape, .oracle = memory, .ops = &through_ops_uncut, .subject = &through};
        driver_recover(&options, true, &result);
        if (result.findings)
            print_error("%s\n", result.first);
        assert_int_equal(result.findings, 0);
        assert_int_equal(result.pages_judged, MAPPINGS * PAGES);
        close_through(&through);
    }
    munmap(memory, bytes);
}

/* ---- What is broken is found ---- */

static void expect_found(enum through_breakage breakage, struct mglru_store_faulty_options faults,
                         const char *what)
{
    struct through through = {.breakage = breakage, .faults = faults};
    struct driver_result result;
    void *memory = oracle_memory();
    assert_true(open_through(&through, BASE_MEMORY));
    struct driver_options options = usual(&through, memory);
    options.errors = faults.sync_error_ppm != 0;
    options.ops = faults.size ? &through_ops : &through_ops_uncut;
    driver_run(&options, &result);
    assert_true(result.findings > 0);
    if (!strstr(result.first, what))
        print_error("found: %s\n", result.first);
    assert_non_null(strstr(result.first, what));
    close_through(&through);
    free(memory);
}

static const struct mglru_store_faulty_options none;

static void lost_writes_are_found(void **state)
{
    expect_found(THROUGH_LOSES_WRITES, none, "stale read");
}

static void stale_reads_are_found(void **state)
{
    expect_found(THROUGH_READS_STALE, none, "stale read");
}

static void torn_pages_are_found(void **state)
{
    expect_found(THROUGH_TEARS_PAGES, none, "torn page");
}

static void mixed_up_pages_are_found(void **state)
{
    expect_found(THROUGH_MIXES_UP_PAGES, none, "");
}

static void data_after_a_truncate_is_found(void **state)
{
    expect_found(THROUGH_KEEPS_TRUNCATED, none, "stale read");
}

static void syncs_that_do_nothing_are_found(void **state)
{
    expect_found(THROUGH_LIES_ABOUT_SYNCS, drive, "lost synced write");
}

static void hidden_sync_errors_are_found(void **state)
{
    struct mglru_store_faulty_options faults = drive;
    faults.sync_error_ppm = 500000;
    expect_found(THROUGH_HIDES_SYNC_ERRORS, faults, "lost synced write");
}

/* The cache would have to write again what a failed sync forgot; this one has nothing to write. */
static void forgotten_pages_are_found(void **state)
{
    struct mglru_store_faulty_options faults = drive;
    faults.sync_error_ppm = 500000;
    faults.failed_sync_loses = true;
    expect_found(THROUGH_RIGHT, faults, "lost synced write");
}

/* Tearing that the options do not allow. */
static void torn_pages_of_the_store_are_found(void **state)
{
    struct mglru_store_faulty_options faults = drive;
    faults.sector_bytes = 512;
    expect_found(THROUGH_RIGHT, faults, "torn page");
}

/* ---- Pages and oracle by themselves ---- */

static void pages_say_what_they_are(void **state)
{
    static char page[PAGE_BYTES], other[PAGE_BYTES];
    struct page_id id = {3, 17}, next = {3, 18};
    uint64_t version;
    assert_int_equal(page_check(page, PAGE_BYTES, id, &version), PAGE_ZEROS);
    page_stamp(page, PAGE_BYTES, id, 5);
    assert_int_equal(page_check(page, PAGE_BYTES, id, &version), PAGE_WHOLE);
    assert_int_equal(version, 5);
    assert_int_equal(page_check(page, PAGE_BYTES, next, &version), PAGE_ALIEN);
    assert_int_equal(version, 0);
    page_stamp(other, PAGE_BYTES, id, 6);
    memcpy(page + 3584, other + 3584, 512);
    assert_int_equal(page_check(page, PAGE_BYTES, id, &version), PAGE_TORN);
    memset(page, 0, 512); /* zeros and data */
    assert_int_equal(page_check(page, PAGE_BYTES, id, &version), PAGE_TORN);
    for (unsigned at = 0; at < PAGE_BYTES; at += 97) { /* any one bit */
        page_stamp(page, PAGE_BYTES, id, 5);
        page[at] ^= 4;
        assert_int_equal(page_check(page, PAGE_BYTES, id, &version), PAGE_TORN);
    }
}

static void the_oracle_knows_what_may_be_found(void **state)
{
    static char page[PAGE_BYTES], zeros[PAGE_BYTES];
    void *memory = oracle_memory();
    struct oracle *oracle = oracle_init(memory, &shape);
    struct page_id id = {1, 2};
    struct oracle_covered snapshot[PAGES];
    struct oracle_before before = oracle_before(oracle, id);
    assert_int_equal(oracle_judge(oracle, id, before, zeros), ORACLE_FINE);
    assert_int_equal(oracle_begin(oracle, id, ORACLE_WRITE), 1);
    page_stamp(page, PAGE_BYTES, id, 1);
    assert_int_equal(oracle_judge(oracle, id, before, zeros), ORACLE_FINE); /* not yet there */
    assert_int_equal(oracle_judge(oracle, id, before, page), ORACLE_FINE);
    oracle_end(oracle, id, 1, ORACLE_DONE);
    before = oracle_before(oracle, id);
    assert_int_equal(before.oldest, 1);
    assert_int_equal(oracle_judge(oracle, id, before, zeros), ORACLE_STALE);
    page_stamp(page, PAGE_BYTES, id, 2);
    assert_int_equal(oracle_judge(oracle, id, before, page), ORACLE_FUTURE);
    oracle_sync_begin(oracle, 1, snapshot);
    assert_int_equal(oracle_begin(oracle, id, ORACLE_WRITE), 2);
    oracle_end(oracle, id, 2, ORACLE_DONE);
    oracle_sync_end(oracle, (struct page_id){1, 0}, PAGES - 1,
                    snapshot); /* covers version 1 alone */
    page_stamp(page, PAGE_BYTES, id, 1);
    assert_int_equal(oracle_judge(oracle, id, before, page), ORACLE_FINE); /* began before */
    before = oracle_before(oracle, id);
    assert_int_equal(oracle_judge(oracle, id, before, page), ORACLE_STALE);
    assert_int_equal(oracle_recover(oracle, id, page, true, false), ORACLE_LOST);
    assert_int_equal(oracle_recover(oracle, id, page, false, false), ORACLE_FINE);
    assert_int_equal(oracle_recover(oracle, id, zeros, false, false), ORACLE_LOST);
    assert_int_equal(oracle_begin(oracle, id, ORACLE_ZEROS), 3); /* numbers go on */
    oracle_end(oracle, id, 3, ORACLE_TEARING);
    page[600] ^= 1; /* a change that failed may have torn it, be it during the read or before */
    assert_int_equal(oracle_judge(oracle, id, before, page), ORACLE_FINE);
    before = oracle_before(oracle, id);
    assert_int_equal(oracle_judge(oracle, id, before, page), ORACLE_FINE);
    assert_int_equal(oracle_begin(oracle, id, ORACLE_ZEROS), 4);
    oracle_end(oracle, id, 4, ORACLE_DONE);
    before = oracle_before(oracle, id);
    assert_int_equal(oracle_judge(oracle, id, before, page), ORACLE_TORN);
    assert_int_equal(oracle_judge(oracle, id, before, zeros), ORACLE_FINE);
    free(memory);
}

/* What is discarded, and what a punch that failed leaves, is as old as the last sync or newer. */
static void the_oracle_knows_what_is_taken_back(void **state)
{
    static char first[PAGE_BYTES], second[PAGE_BYTES];
    void *memory = oracle_memory();
    struct page_id id = {1, 2};
    struct oracle_covered snapshot[PAGES];
    for (enum oracle_change change = ORACLE_PUNCH; change <= ORACLE_DISCARD; change++) {
        struct oracle *oracle = oracle_init(memory, &shape);
        for (uint64_t version = 1; version <= 2; version++) {
            page_stamp(version == 1 ? first : second, PAGE_BYTES, id, version);
            assert_int_equal(oracle_begin(oracle, id, ORACLE_WRITE), version);
            oracle_end(oracle, id, version, ORACLE_DONE);
            oracle_sync_begin(oracle, 1, snapshot);
            if (version == 1)
                oracle_sync_end(oracle, id, id.index, snapshot);
        }
        struct oracle_before before = oracle_before(oracle, id);
        assert_int_equal(oracle_judge(oracle, id, before, first), ORACLE_STALE);
        assert_int_equal(oracle_begin(oracle, id, change), 3);
        assert_int_equal(oracle_judge(oracle, id, before, first), ORACLE_FINE);
        oracle_end(oracle, id, 3, ORACLE_FAILED);
        assert_int_equal(oracle_judge(oracle, id, before, first), ORACLE_FINE);
        oracle_sync_end(oracle, id, id.index, snapshot); /* of version 2, which went meanwhile */
        assert_int_equal(oracle_judge(oracle, id, oracle_before(oracle, id), first), ORACLE_FINE);
        assert_int_equal(oracle_recover(oracle, id, first, false, false), ORACLE_FINE);
    }
    free(memory);
}

struct change {
    struct oracle *oracle;
    struct page_id id;
    bool ok;
};

static void end_the_change(void *argument)
{
    struct change *change = argument;
    os_clock_sleep_ns(1000000);
    oracle_end(change->oracle, change->id, 1, change->ok ? ORACLE_DONE : ORACLE_TEARING);
}

/* Of a torn page the oracle judges by how the change that was under way has ended. */
static void torn_pages_wait_for_the_change(void **state)
{
    static char page[PAGE_BYTES];
    void *memory = oracle_memory();
    os_use(os_sim(1));
    for (unsigned ok = 0; ok < 2; ok++) {
        struct os_thread *thread;
        struct change change = {oracle_init(memory, &shape), {1, 2}, ok};
        struct oracle_before before = oracle_before(change.oracle, change.id);
        page_stamp(page, PAGE_BYTES, change.id,
                   oracle_begin(change.oracle, change.id, ORACLE_WRITE));
        page[600] ^= 1;
        assert_int_equal(os_thread_start(end_the_change, &change, &thread), MGLRU_OK);
        assert_int_equal(oracle_judge(change.oracle, change.id, before, page),
                         ok ? ORACLE_TORN : ORACLE_FINE);
        os_thread_join(thread);
    }
    os_use(NULL);
    free(memory);
}

static int make_folder(void **state)
{
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_say_what_they_are),
        cmocka_unit_test(the_oracle_knows_what_may_be_found),
        cmocka_unit_test(the_oracle_knows_what_is_taken_back),
        cmocka_unit_test(torn_pages_wait_for_the_change),
        cmocka_unit_test(memory_that_is_synced),
        cmocka_unit_test(memory_and_threads),
        cmocka_unit_test(files),
        cmocka_unit_test(files_and_threads),
        cmocka_unit_test(rings_and_threads),
        cmocka_unit_test(power_cuts),
        cmocka_unit_test(power_cuts_and_threads),
        cmocka_unit_test(power_cuts_over_files),
        cmocka_unit_test(torn_pages),
        cmocka_unit_test(errors_of_every_kind),
        cmocka_unit_test(errors_that_are_told_late),
        cmocka_unit_test(simulated_machines),
        cmocka_unit_test(killed_processes_lose_nothing),
        cmocka_unit_test(lost_writes_are_found),
        cmocka_unit_test(stale_reads_are_found),
        cmocka_unit_test(torn_pages_are_found),
        cmocka_unit_test(mixed_up_pages_are_found),
        cmocka_unit_test(data_after_a_truncate_is_found),
        cmocka_unit_test(syncs_that_do_nothing_are_found),
        cmocka_unit_test(hidden_sync_errors_are_found),
        cmocka_unit_test(forgotten_pages_are_found),
        cmocka_unit_test(torn_pages_of_the_store_are_found),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
