/* SPDX-License-Identifier: MIT */
/*
 * The verifying workload over the cache with frames: over each store, with and without faults, and
 * through power cuts no synced write is lost and no read is stale. A seed chooses the sizes, the
 * threads, the model and the faults of a run. Killed processes leave files with all that they had
 * synced.
 *
 * MGLRU_INTEGRITY=N runs N times as many seeds, MGLRU_TEST_SEED=N that one alone, and an argument
 * the tests of that name. Compiled with MGLRU_RACE_POINTS, the runs are on simulated machines,
 * where a seed repeats a run exactly; MGLRU_SEEDS=N is how many.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bases.h"
#include "cached.h"
#include "driver.h"
#include "os/os.h"
#include "stress/race_point.h"
#include "sync/atomic.h"

enum { MAPPINGS = CACHED_MAPPINGS_MAX, FRAMES_A_MAPPING = 48, SEEDS = 3 };
/* Of a run. Files are on disks, which take their time. */
#ifdef MGLRU_RACE_POINTS
enum { OPERATIONS = 600, OPERATIONS_FILES = 600 };
#else
enum { OPERATIONS = 20000, OPERATIONS_FILES = 2000 };
#endif

/* Without faults one call of this many may find no room (chosen: it is rare). */
enum { FAILURES_SHARE = 200 };

static char folder[] = "integrity-cache-XXXXXX";

/* Of all runs; shared with the processes that make some of them. */
static struct total {
    struct driver_result result;
    struct mglru_store_faulty_counts faults;
    uint64_t calls[CACHED_CALLS];
} * total;

/* --- one run, chosen by its seed ------------------------------------------------------------- */

struct plan {
    uint64_t seed;
    enum base_kind kind;
    bool faults;
};

struct run {
    struct plan plan;
    struct cached cached;
    struct subject_ops ops;
    struct driver_options options;
};

/* The cache is smaller than the mappings together: a few times, or much. */
static void plan_cache(struct run *run, struct seeded *random)
{
    static const char *const models[] = {"ours", "ours", "7.3", "6.12", "next"};
    static const unsigned parts[] = {1, 1, 4, 8};
    struct cached *cached = &run->cached;
    uint32_t frame = seeded_below(random, 4) ? 4096 : 16384;
    unsigned part = parts[seeded_below(random, 4)], flushers = (unsigned)seeded_below(random, 3);
    cached->shape =
        (struct oracle_shape){MAPPINGS, FRAMES_A_MAPPING * part, (uint32_t)(frame / part)};
    cached->options = (struct mglru_data_options){
        .size = sizeof(cached->options),
        .memory_bytes = (64 + seeded_below(random, 48)) * frame,
        .frame_bytes = frame,
        .model = models[seeded_below(random, 5)],
        .no_threads = !flushers,
        .flushers = flushers,
        .cpus = 2 + (uint32_t)seeded_below(random, 7),
        .readahead_bytes = seeded_below(random, 2) ? UINT64_MAX : 0,
        .flush_after_ms = 1 + (uint32_t)seeded_below(random, 20),
    };
    cached->threads = 1 + (unsigned)seeded_below(random, MAPPINGS);
    cached->seed = seeded_next(random);
    cached->synced = run->plan.kind == BASE_SYNCED;
}

static uint32_t chance(struct seeded *random, unsigned long most_ppm)
{
    return seeded_below(random, 2) ? 0 : (uint32_t)seeded_below(random, most_ppm);
}

/* A drive with a cache of its own; one in eight has none, and tears what it fails to write. */
static void plan_faults(struct run *run, struct seeded *random)
{
    struct cached *cached = &run->cached;
    bool drive = seeded_below(random, 8);
    cached->faults = (struct mglru_store_faulty_options){
        .size = sizeof(cached->faults),
        .read_error_ppm = chance(random, 20000),
        .write_error_ppm = chance(random, 50000),
        .write_nospace_ppm = chance(random, 20000),
        .sync_error_ppm = chance(random, 200000),
        .discard_error_ppm = chance(random, 300000),
        .short_ppm = chance(random, 50000),
        .delay_ppm = chance(random, 10000),
        .delay_max_ns = 20000,
        .destage_ppm = chance(random, 400000),
        .volatile_cache = drive,
        .failed_sync_loses = drive && seeded_below(random, 2),
        .sector_bytes = seeded_below(random, 2) ? 512 : 0,
    };
    cached->cut_within = 4 * run->options.round;
    /* Pages are torn by what is smaller than they are. */
    uint32_t whole = cached->faults.sector_bytes ? 512 : drive ? 4096 : 1;
    run->options.may_tear = whole < cached->shape.page_bytes;
}

static void plan_run(struct run *run, struct plan plan, uint64_t operations)
{
    bool files = plan.kind == BASE_FILE || plan.kind == BASE_URING;
    struct seeded random = {.seed = plan.seed,
                            .state = plan.seed * 8 + plan.kind * 2 + plan.faults};
    *run = (struct run){.plan = plan};
    plan_cache(run, &random);
    run->options = (struct driver_options){
        .shape = run->cached.shape,
        .ops = &run->ops,
        .subject = &run->cached,
        .seed = seeded_next(&random),
        .operations = operations,
        .round = 300 + seeded_below(&random, 1500),
        .threads = run->cached.threads,
        .pages_max = 1 + (unsigned)seeded_below(&random, DRIVER_PAGES_MAX),
        .write_ppm = 150000 + (unsigned)seeded_below(&random, 300000),
        .sync_ppm = files ? 2000 : 40000, /* disks take their time */
        .truncate_ppm = 2000,
        .punch_ppm = 10000,
        .discard_ppm = 5000,
        .stir_ppm = 100000,
        .errors = plan.faults,
        .no_room = true, /* several threads in a small memcg may leave one of them without room */
    };
    run->options.may_tear = plan.kind == BASE_SYNCED && run->cached.shape.page_bytes > 4096;
    if (plan.faults)
        plan_faults(run, &random);
    run->ops = cached_ops(&run->cached);
}

/* --- running --------------------------------------------------------------------------------- */

/* False: there is no such store here. */
static bool open_run(struct run *run)
{
    enum base_kind kind = run->plan.kind;
    for (unsigned i = 0; i < MAPPINGS; i++) {
        int error = base_open(kind, (struct base_place){folder, i}, &run->cached.base[i]);
        if (kind == BASE_URING && (error == MGLRU_ENOTSUP || error == MGLRU_EPERM))
            return false;
        assert_int_equal(error, MGLRU_OK);
    }
    assert_int_equal(cached_open(&run->cached), MGLRU_OK);
    return true;
}

static int close_run(struct run *run)
{
    int error = cached_close(&run->cached);
    for (unsigned i = 0; i < MAPPINGS; i++)
        mglru_store_close(run->cached.base[i]);
    return error;
}

static void remove_files(void)
{
    for (unsigned i = 0; i < MAPPINGS; i++)
        base_remove((struct base_place){folder, i});
}

static void add_to_total(const struct run *run, const struct driver_result *result)
{
    driver_add(&total->result, result);
    base_add_counts(&total->faults, &run->cached.counts);
    for (unsigned i = 0; i < run->cached.threads; i++)
        for (unsigned call = 0; call < CACHED_CALLS; call++)
            total->calls[call] += run->cached.thread[i].calls[call];
}

enum run_end {
    RUN_FINE = 0,
    RUN_BROKEN,
    RUN_ABSENT /* there is no such store here */
};

/* @test: for the command that repeats it. */
static enum run_end run_plan(struct plan plan, const char *test)
{
    static struct run run;
    struct driver_result result;
    bool files = plan.kind == BASE_FILE || plan.kind == BASE_URING;
    uint64_t operations = files ? OPERATIONS_FILES : OPERATIONS;
    plan_run(&run, plan, operations);
    remove_files(); /* of a run that failed */
    if (!open_run(&run))
        return RUN_ABSENT;
    size_t bytes = (oracle_bytes(&run.options.shape) + 63) / 64 * 64;
    void *memory = aligned_alloc(64, bytes);
    assert_non_null(memory);
    run.options.oracle = oracle_init(memory, &run.options.shape);
    driver_run(&run.options, &result);
    int error = close_run(&run);
    free(memory);
    remove_files();
    add_to_total(&run, &result);
    bool refuses = !plan.faults && result.failures > operations / FAILURES_SHARE;
    if (!result.findings && !error && !refuses)
        return RUN_FINE;
    print_error("%s; repeat with MGLRU_TEST_SEED=%llu and the argument %s\n",
                result.findings ? result.first
                : refuses       ? "too many calls fail"
                                : "a law is broken",
                (unsigned long long)plan.seed, test);
    return RUN_BROKEN;
}

static uint64_t number_of(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);
    return text ? strtoull(text, NULL, 0) : otherwise;
}

static void print_total(void)
{
    const struct driver_result *result = &total->result;
    const struct mglru_store_faulty_counts *faults = &total->faults;
    uint64_t operations = result->reads + result->writes + result->syncs + result->truncates +
                          result->punches + result->discards + result->stirs;
#define PRINT(name, value) print_message("%12llu %s\n", (unsigned long long)(value), name)
    PRINT("operations", operations);
    PRINT("that failed", result->failures);
    PRINT("pages judged", result->pages_judged);
    PRINT("power cuts", result->cuts);
    for (unsigned call = 0; call < CACHED_CALLS; call++)
        PRINT(cached_call_text((enum cached_call)call), total->calls[call]);
    PRINT("requests to faulty stores", faults->requests);
    PRINT("reads refused", faults->read_errors);
    PRINT("writes refused", faults->write_errors + faults->write_nospaces);
    PRINT("syncs refused", faults->sync_errors);
    PRINT("punches and truncations refused", faults->discard_errors);
    PRINT("short transfers", faults->shorts);
    PRINT("delays", faults->delays);
    PRINT("requests without power", faults->refused);
    PRINT("pages torn", faults->pages_torn);
    PRINT("unsynced pages lost", faults->pages_lost);
#undef PRINT
}

#ifdef MGLRU_RACE_POINTS

static _Thread_local uint64_t points;

void atomic_race_point(void)
{
    race_point(&points, 6);
}

/* In a process of its own, so that nothing of one run reaches the next. */
static void simulate(struct plan plan)
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        points = plan.seed;
        os_use(os_sim(plan.seed));
        _exit(run_plan(plan, "simulated_machines"));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void simulated_machines(void **state)
{
    static const enum base_kind kinds[] = {BASE_MEMORY, BASE_SYNCED, BASE_FILE};
    uint64_t only = number_of("MGLRU_TEST_SEED", 0);
    uint64_t last = only ? only : number_of("MGLRU_SEEDS", 50);
    for (uint64_t seed = only ? only : 1; seed <= last; seed++)
        simulate((struct plan){seed, kinds[seed % 3], kinds[seed % 3] != BASE_SYNCED});
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(simulated_machines),
};

#else

static void run_seeds(enum base_kind kind, bool faults, const char *test)
{
    uint64_t only = number_of("MGLRU_TEST_SEED", 0);
    uint64_t last = only ? only : SEEDS * number_of("MGLRU_INTEGRITY", 1);
    for (uint64_t seed = only ? only : 1; seed <= last; seed++) {
        switch (run_plan((struct plan){seed, kind, faults}, test)) {
        case RUN_FINE:
            break;
        case RUN_ABSENT:
            print_message("the kernel has no such store for us\n");
            skip();
            break;
        default:
            fail();
        }
    }
}

static void memory(void **state)
{
    run_seeds(BASE_MEMORY, false, __func__);
}

static void memory_that_is_synced(void **state)
{
    run_seeds(BASE_SYNCED, false, __func__);
}

static void memory_with_faults(void **state)
{
    run_seeds(BASE_MEMORY, true, __func__);
}

static void files(void **state)
{
    run_seeds(BASE_FILE, false, __func__);
}

static void files_with_faults(void **state)
{
    run_seeds(BASE_FILE, true, __func__);
}

static void rings(void **state)
{
    run_seeds(BASE_URING, false, __func__);
}

static void rings_with_faults(void **state)
{
    run_seeds(BASE_URING, true, __func__);
}

/* --- processes that are killed --------------------------------------------------------------- */

/* Shared with the process that is killed: the oracle hears of a sync after it has succeeded. */
struct shared {
    _Atomic uint64_t syncs;
    _Alignas(64) char oracle[];
};

static struct shared *shared;

static int counted_sync(void *subject, struct subject_range range)
{
    int error = cached_ops(subject).sync(subject, range);
    if (!error)
        atomic_add_relaxed(&shared->syncs, 1);
    return error;
}

/* In a process of its own: writes until it is killed, or judges what another has left. */
static void live(const struct plan *plan, bool judges)
{
    static struct run run;
    struct driver_result result = {0};
    plan_run(&run, *plan, UINT64_MAX);
    run.options.oracle = (struct oracle *)(void *)shared->oracle;
    run.options.round = 0;
    run.options.sync_ppm = 20000;
    run.ops.sync = counted_sync;
    if (!open_run(&run))
        _exit(77);
    if (judges) {
        driver_recover(&run.options, false, &result);
        result.findings += close_run(&run) != MGLRU_OK;
    } else {
        driver_run(&run.options, &result);
    }
    if (result.findings)
        print_error("%s\n", result.first);
    _exit(result.findings ? 1 : 0);
}

static pid_t start(const struct plan *plan, bool judges)
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child)
        live(plan, judges);
    return child;
}

/* One store, through several lives of the process that has it. */
static void kill_again_and_again(uint64_t seed)
{
    struct plan plan = {seed, BASE_FILE, false};
    struct run shape;
    struct seeded random = {.seed = seed, .state = seed};
    plan_run(&shape, plan, 0);
    size_t bytes = sizeof(*shared) + oracle_bytes(&shape.options.shape);
    shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    oracle_init(shared->oracle, &shape.options.shape);
    for (unsigned life = 0; life < 4; life++) {
        int status;
        uint64_t syncs = atomic_load_relaxed(&shared->syncs);
        pid_t child = start(&plan, false);
        while (atomic_load_relaxed(&shared->syncs) == syncs && !waitpid(child, &status, WNOHANG))
            os_clock_sleep_ns(1000000);
        os_clock_sleep_ns(1000 * seeded_below(&random, 50000));
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status)); /* else it had found something */
        assert_int_equal(waitpid(start(&plan, true), &status, 0) > 0 ? status : -1, 0);
    }
    munmap(shared, bytes);
    remove_files();
}

/* First of all tests: those after it start threads in this process. */
static void killed_processes_keep_what_they_synced(void **state)
{
    uint64_t only = number_of("MGLRU_TEST_SEED", 0);
    uint64_t last = only ? only : SEEDS * number_of("MGLRU_INTEGRITY", 1);
    for (uint64_t seed = only ? only : 1; seed <= last; seed++)
        kill_again_and_again(seed);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(killed_processes_keep_what_they_synced),
    cmocka_unit_test(memory),
    cmocka_unit_test(memory_that_is_synced),
    cmocka_unit_test(memory_with_faults),
    cmocka_unit_test(files),
    cmocka_unit_test(files_with_faults),
    cmocka_unit_test(rings),
    cmocka_unit_test(rings_with_faults),
};

#endif

static int make_folder(void **state)
{
    total = mmap(NULL, sizeof(*total), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return total != MAP_FAILED && mkdtemp(folder) ? 0 : -1;
}

static int end_group(void **state)
{
    print_total();
    return rmdir(folder);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, make_folder, end_group);
}
