/* SPDX-License-Identifier: MIT */
/*
 * Goal: a hit of a page that is marked already stores to no line that another thread reads.
 * Method: all memory of the cache, its heap, its descriptors and its frames, is read-only while
 * pages are read. Each store faults, is noted with its line, and is let through by one single step
 * of the processor. So every store is counted, also one that changes nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#endif

#if defined(__x86_64__) && !defined(SANITIZED)
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <mglru/stores.h>

#include "data/data.h"

#define PAGES 256u
#define HITS 2000u
#define PAGE_BYTES 4096u
#define TRAP_FLAG 0x100
#define RANGES 3

struct range {
    uintptr_t start;
    uintptr_t end;
};

static struct range ranges[RANGES];
static uintptr_t own_line;            /* of this thread's counter of hits */
static _Atomic unsigned own_stores;   /* to that line */
static _Atomic unsigned other_stores; /* to any other of the cache */
static _Atomic uintptr_t opened;      /* page that the next trap closes */

static void protect(int how)
{
    for (unsigned i = 0; i < RANGES; i++)
        if (mprotect((void *)ranges[i].start, ranges[i].end - ranges[i].start, how))
            _exit(98);
}

static void on_fault(int signal_number, siginfo_t *info, void *context)
{
    uintptr_t address = (uintptr_t)info->si_addr;
    bool known = false;
    for (unsigned i = 0; i < RANGES; i++)
        known |= address >= ranges[i].start && address < ranges[i].end;
    if (!known)
        _exit(99); /* a fault of the test's own */
    if (address / 64 * 64 == own_line)
        atomic_add_owner(&own_stores, 1u);
    else
        atomic_add_owner(&other_stores, 1u);
    uintptr_t page = address & ~(uintptr_t)(PAGE_BYTES - 1);
    atomic_store_relaxed(&opened, page);
    mprotect((void *)page, PAGE_BYTES, PROT_READ | PROT_WRITE);
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

static void on_step(int signal_number, siginfo_t *info, void *context)
{
    mprotect((void *)atomic_load_relaxed(&opened), PAGE_BYTES, PROT_READ);
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
}

static void find_heap(struct range *heap)
{
    char line[256];
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    while (fgets(line, sizeof(line), maps))
        if (strstr(line, "[heap]"))
            assert_int_equal(sscanf(line, "%lx-%lx", &heap->start, &heap->end), 2);
    fclose(maps);
    assert_true(heap->end > heap->start);
}

struct scene {
    struct mglru_store *store;
    struct mglru_cache *cache;
    struct mglru_memcg *memcg;
    struct mglru_mapping *mapping;
    struct mglru_file *file;
};

static void open_scene(struct scene *scene)
{
    struct mglru_store_memory_options store = {.size = sizeof(store),
                                               .size_max = PAGES * PAGE_BYTES};
    struct mglru_data_options options = {
        .size = sizeof(options), .memory_bytes = PAGES * 2 * PAGE_BYTES, .no_threads = true};
    assert_int_equal(mglru_store_memory_open(&store, &scene->store), 0);
    assert_int_equal(mglru_data_create(&options, &scene->cache), 0);
    assert_int_equal(mglru_memcg_create(scene->cache, "/a", &scene->memcg), 0);
    assert_int_equal(mglru_data_mapping_create(scene->cache, "data", scene->store,
                                               PAGES * PAGE_BYTES, &scene->mapping),
                     0);
    assert_int_equal(mglru_file_open(scene->mapping, scene->memcg, &scene->file), 0);
}

/* Where the cache's memory lies. Frames are the test's to name, since they are no heap. */
static void find_ranges(const struct scene *scene)
{
    const struct data *data = cache_data(scene->cache);
    find_heap(&ranges[0]);
    ranges[1].start = (uintptr_t)data->folios;
    ranges[1].end = ranges[1].start + data->folio_bytes / PAGE_BYTES * PAGE_BYTES;
    ranges[2].start = (uintptr_t)arena_frame(data->arena, 0);
    ranges[2].end = ranges[2].start + (uintptr_t)data->frames * PAGE_BYTES;
    own_line = (uintptr_t)&scene->memcg->use_slots[slot_current()];
}

static void read_page(const struct scene *scene, unsigned page)
{
    char buffer[64];
    size_t done;
    if (mglru_read(scene->file, (uint64_t)page * PAGE_BYTES + page % 60 * 64, buffer,
                   sizeof(buffer), &done) ||
        done != sizeof(buffer))
        _exit(97);
}

/* Stores of @hits hits, which are the only thing that runs meanwhile. */
static void count_stores(const struct scene *scene, unsigned hits)
{
    /* Here and not before: cmocka takes these signals for each test. */
    struct sigaction fault = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO}, old_fault;
    struct sigaction step = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO}, old_step;
    assert_int_equal(sigaction(SIGSEGV, &fault, &old_fault), 0);
    assert_int_equal(sigaction(SIGTRAP, &step, &old_step), 0);
    atomic_store_relaxed(&own_stores, 0);
    atomic_store_relaxed(&other_stores, 0);
    protect(PROT_READ);
    for (unsigned i = 0; i < hits; i++)
        read_page(scene, i * 37 % PAGES);
    protect(PROT_READ | PROT_WRITE);
    sigaction(SIGSEGV, &old_fault, NULL);
    sigaction(SIGTRAP, &old_step, NULL);
}

static void marked_pages_are_read_without_a_store_to_a_shared_line(void **state)
{
    struct scene scene = {0};
    open_scene(&scene);
    find_ranges(&scene);
    for (unsigned page = 0; page < PAGES; page++)
        read_page(&scene, page);
    /* The method sees stores: these hits mark pages. */
    count_stores(&scene, PAGES);
    assert_int_equal(atomic_load_relaxed(&own_stores), PAGES);
    assert_true(atomic_load_relaxed(&other_stores) > 0);
    for (unsigned turn = 0; turn < 8; turn++)
        for (unsigned page = 0; page < PAGES; page++)
            read_page(&scene, page);
    count_stores(&scene, HITS);
    assert_int_equal(atomic_load_relaxed(&other_stores), 0);
    assert_int_equal(atomic_load_relaxed(&own_stores), HITS);
    mglru_cache_destroy(scene.cache);
    mglru_store_close(scene.store);
}

/* Everything that is allocated lies in the one heap. */
static int set_up(void **state)
{
    return !mallopt(M_MMAP_THRESHOLD, 1 << 30);
}
#else
static void marked_pages_are_read_without_a_store_to_a_shared_line(void **state)
{
    skip(); /* it needs the processor's single step, and no sanitizer's memory */
}

static int set_up(void **state)
{
    return 0;
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marked_pages_are_read_without_a_store_to_a_shared_line),
    };
    return cmocka_run_group_tests_name("data_hit_stores", tests, set_up, NULL);
}
