/* SPDX-License-Identifier: MIT */
/*
 * A cache with frames under 8 threads: reads, writes, pins, syncs, truncations, punches and drops
 * in 16 memcgs on 3 levels whose limits change, while memcgs and mappings come and go, stores fail
 * and allocations are refused. Every page says whose it is and which version, so a wrong page is
 * noticed at once. At the end the walkers find every law kept, and nothing stays charged.
 *
 * A page's model: started <= what a writer may have begun, committed: what readers must find at
 * least, zeros: newest version that is zeros. One writer a page at a time, kept apart here; readers
 * run beside it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include <mglru/control.h>
#include <mglru/stores.h>

#include "data/data.h"

#define STRESS_THREADS 8u
#ifdef RCU_TSAN
#define STRESS_ROUNDS_REAL 200ul
#else
#define STRESS_ROUNDS_REAL 3000ul
#endif
#define STRESS_ROUNDS_SIM 60ul
#define STRESS_SEEDS 50u
#define STRESS_POINTS_REAL 9
#include "stress_helper.h"

enum { SLOTS = 6, PAGES = 96, MEMCGS = 16, FRAMES = 256, PAGE = 4096, MANY = 4 };
enum { PURGEABLE_SLOT = 0 };

/* Sharers, or -1 while one has it alone. */
struct gate {
    _Atomic int32_t sharers;
};

struct page_state {
    _Atomic uint32_t busy; /* a writer has it */
    _Atomic uint64_t started;
    _Atomic uint64_t committed;
    _Atomic uint64_t zeros;
};

struct slot {
    struct gate gate;    /* alone: to make it anew */
    struct gate writers; /* alone: truncation and punch */
    struct mglru_store *base;
    struct mglru_store *store;
    struct mglru_mapping *mapping; /* NULL: it could not be made */
    struct mglru_file *files[MEMCGS];
    uint64_t generation;
    struct page_state pages[PAGES];
};

struct group {
    struct gate gate; /* alone: to remove it */
    struct mglru_memcg *memcg;
};

static const char *const paths[MEMCGS] = {
    "/a",     "/b",     "/a/c",   "/a/d",   "/b/e",   "/b/f",   "/a/c/1", "/a/c/2",
    "/a/c/3", "/a/d/1", "/a/d/2", "/b/e/1", "/b/e/2", "/b/e/3", "/b/f/1", "/b/f/2",
};
enum { FIRST_LEAF = 6 };

static struct mglru_cache *cache;
static struct slot slots[SLOTS];
static struct group groups[MEMCGS];

/* --- refused allocations -------------------------------------------------------------------- */

static _Thread_local struct seeded *refusals; /* NULL: none */

static bool refused(void)
{
    return refusals && seeded_below(refusals, 200) == 0;
}

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes)
{
    return refused() ? NULL : __real_malloc(bytes);
}

void *__real_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes)
{
    return refused() ? NULL : __real_calloc(count, bytes);
}

void *__real_aligned_alloc(size_t align, size_t bytes);
void *__wrap_aligned_alloc(size_t align, size_t bytes);
void *__wrap_aligned_alloc(size_t align, size_t bytes)
{
    return refused() ? NULL : __real_aligned_alloc(align, bytes);
}

char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);
char *__wrap_strdup(const char *text)
{
    return refused() ? NULL : __real_strdup(text);
}

/* --- gates ---------------------------------------------------------------------------------- */

static bool gate_enter(struct gate *gate)
{
    int32_t seen = atomic_load_relaxed(&gate->sharers);
    do {
        if (seen < 0)
            return false;
    } while (!atomic_cas_acq_rel(&gate->sharers, &seen, seen + 1));
    return true;
}

static void gate_leave(struct gate *gate)
{
    atomic_sub_acq_rel(&gate->sharers, 1);
}

static bool gate_close(struct gate *gate)
{
    int32_t seen = 0;
    return atomic_cas_acq_rel(&gate->sharers, &seen, -1);
}

static void gate_open(struct gate *gate)
{
    atomic_store_release(&gate->sharers, 0); /* pairs with gate_enter and gate_close */
}

/* --- pages that say what they are ------------------------------------------------------------ */

#define WORDS (PAGE / sizeof(uint64_t))

static uint64_t stamp_of(const struct slot *slot, uint64_t page, uint64_t version)
{
    return ((uint64_t)(slot - slots) << 56 ^ slot->generation << 40 ^ page << 24 ^ version) *
               0x9E3779B97F4A7C15u |
           1;
}

static void fill_page(const struct slot *slot, uint64_t page, uint64_t version, uint64_t *words)
{
    uint64_t stamp = stamp_of(slot, page, version);
    words[0] = version;
    for (size_t i = 1; i < WORDS; i++)
        words[i] = stamp + i;
}

/* What stands in a page; UINT64_MAX: nothing that this page ever was. 0: zeros. */
static uint64_t version_in(const struct slot *slot, uint64_t page, const uint64_t *words)
{
    uint64_t version = words[0], stamp = version ? stamp_of(slot, page, version) : 0;
    for (size_t i = 1; i < WORDS; i++)
        if (words[i] != (version ? stamp + i : 0))
            return UINT64_MAX;
    return version;
}

static uint64_t floor_of(struct slot *slot, uint64_t page)
{
    return atomic_load_acquire(&slot->pages[page].committed);
}

static void judge(struct slot *slot, uint64_t page, uint64_t floor, const uint64_t *words)
{
    struct page_state *state = &slot->pages[page];
    uint64_t version = version_in(slot, page, words);
    uint64_t started = atomic_load_acquire(&state->started);
    uint64_t zeros = atomic_load_acquire(&state->zeros);
    bool purged = slot == &slots[PURGEABLE_SLOT] && !version;
    bool fine = version ? version >= floor && version <= started : purged || zeros >= floor;
    /* A punch that failed left it to the store, which may have a part of what it once refused. */
    bool doubtful = version == UINT64_MAX && !floor_of(slot, page);
    if (fine || doubtful)
        return;
    print_error("slot %d page %llu: version %lld (word0 %llx word1 %llx), at least %llu, started "
                "%llu, zeros %llu\n",
                (int)(slot - slots), (unsigned long long)page, (long long)version,
                (unsigned long long)words[0], (unsigned long long)words[1],
                (unsigned long long)floor, (unsigned long long)started, (unsigned long long)zeros);
    abort();
}

static bool page_grab(struct slot *slot, uint64_t page)
{
    uint32_t free_mark = 0;
    return atomic_cas_acq_rel(&slot->pages[page].busy, &free_mark, 1);
}

static void page_let_go(struct slot *slot, uint64_t page)
{
    atomic_store_release(&slot->pages[page].busy, 0); /* pairs with page_grab */
}

static uint64_t page_begin(struct slot *slot, uint64_t page, bool zeros)
{
    struct page_state *state = &slot->pages[page];
    uint64_t version = atomic_load_relaxed(&state->started) + 1;
    if (zeros)
        atomic_store_release(&state->zeros, version); /* pairs with judge */
    atomic_store_release(&state->started, version);   /* pairs with judge */
    return version;
}

static void page_commit(struct slot *slot, uint64_t page, uint64_t version)
{
    atomic_store_release(&slot->pages[page].committed, version); /* pairs with floor_of */
}

/* --- making and unmaking -------------------------------------------------------------------- */

static void expect(int error)
{
    switch (error) {
    case MGLRU_OK:
    case MGLRU_EIO:
    case MGLRU_ENOMEM:
    case MGLRU_EOOM:
    case MGLRU_ENOSPC:
        return;
    default:
        print_error("unexpected error %d\n", error);
        abort();
    }
}

static struct mglru_store_faulty_options faults_of(uint64_t seed)
{
    uint32_t often = (uint32_t)(seed % 3) * 10000;
    return (struct mglru_store_faulty_options){.size = sizeof(struct mglru_store_faulty_options),
                                               .seed = seed,
                                               .read_error_ppm = often,
                                               .write_error_ppm = often,
                                               .write_nospace_ppm = often / 2,
                                               .sync_error_ppm = often * 3,
                                               .discard_error_ppm = often,
                                               .short_ppm = often,
                                               .delay_ppm = often,
                                               .delay_max_ns = 20000};
}

static void slot_make(struct slot *slot, uint64_t seed)
{
    bool purgeable = slot == &slots[PURGEABLE_SLOT];
    struct mglru_store_faulty_options faults = faults_of(seed);
    struct mglru_store_memory_options memory = {.size = sizeof(memory), .size_max = 1 << 24};
    slot->generation++;
    for (unsigned page = 0; page < PAGES; page++) {
        struct page_state *state = &slot->pages[page];
        atomic_store_relaxed(&state->started, 1);
        atomic_store_relaxed(&state->zeros, 1);
        atomic_store_relaxed(&state->committed, 1);
    }
    if (!purgeable) {
        int error = mglru_store_memory_open(&memory, &slot->base);
        if (!error)
            error = mglru_store_faulty_open(slot->base, &faults, &slot->store);
        if (error) {
            mglru_store_close(slot->base);
            slot->base = NULL;
            return;
        }
    }
    mglru_data_mapping_create(cache, "stress", slot->store, PAGES * PAGE, &slot->mapping);
}

static void slot_unmake(struct slot *slot)
{
    for (unsigned i = 0; i < MEMCGS; i++) {
        if (slot->files[i])
            mglru_file_close(slot->files[i]);
        slot->files[i] = NULL;
    }
    mglru_data_mapping_destroy(slot->mapping);
    mglru_store_close(slot->store);
    mglru_store_close(slot->base);
    slot->mapping = NULL;
    slot->store = slot->base = NULL;
}

static void group_make(unsigned number)
{
    mglru_memcg_create(cache, paths[number], &groups[number].memcg);
}

/* Closes the files of a leaf of the tree, removes it, and makes it anew. */
static void group_renew(struct stress_thread *self)
{
    unsigned number = FIRST_LEAF + (unsigned)seeded_below(&self->random, MEMCGS - FIRST_LEAF);
    struct group *group = &groups[number];
    if (!gate_close(&group->gate))
        return;
    for (unsigned i = 0; i < SLOTS && group->memcg; i++) {
        while (!gate_enter(&slots[i].gate))
            os_thread_yield();
        if (slots[i].files[number])
            mglru_file_close(slots[i].files[number]);
        slots[i].files[number] = NULL;
        gate_leave(&slots[i].gate);
    }
    if (group->memcg && mglru_memcg_remove(group->memcg))
        abort();
    group->memcg = NULL;
    group_make(number);
    gate_open(&group->gate);
}

static void slot_renew(struct stress_thread *self)
{
    struct slot *slot = &slots[seeded_below(&self->random, SLOTS)];
    if (!gate_close(&slot->gate))
        return;
    slot_unmake(slot);
    slot_make(slot, seeded_next(&self->random));
    gate_open(&slot->gate);
}

/* --- one operation --------------------------------------------------------------------------- */

struct op {
    struct stress_thread *self;
    struct seeded *random;
    struct slot *slot;
    struct mglru_file *file;
    uint64_t page;
    uint64_t words[MANY][WORDS];
};

static void do_read(struct op *op)
{
    uint64_t floor = floor_of(op->slot, op->page);
    size_t done;
    int error = mglru_read(op->file, op->page * PAGE, op->words[0], PAGE, &done);
    expect(error);
    if (!error && done == PAGE)
        judge(op->slot, op->page, floor, op->words[0]);
}

static void do_peek(struct op *op)
{
    uint64_t floor = floor_of(op->slot, op->page);
    size_t done;
    if (mglru_peek(op->file, op->page * PAGE, op->words[0], PAGE, &done))
        abort();
    if (done == PAGE)
        judge(op->slot, op->page, floor, op->words[0]);
}

static void do_read_many(struct op *op)
{
    struct mglru_read_item items[MANY];
    uint64_t pages[MANY], floors[MANY];
    for (unsigned i = 0; i < MANY; i++) {
        pages[i] = seeded_below(op->random, PAGES);
        floors[i] = floor_of(op->slot, pages[i]);
        items[i] = (struct mglru_read_item){op->file, pages[i] * PAGE, op->words[i], PAGE, 0, 0};
    }
    expect(mglru_read_many(items, MANY));
    for (unsigned i = 0; i < MANY; i++)
        if (!items[i].error && items[i].done == PAGE)
            judge(op->slot, pages[i], floors[i], op->words[i]);
}

static void do_write(struct op *op)
{
    unsigned wanted = 1 + (unsigned)seeded_below(op->random, MANY), count = 0;
    uint64_t versions[MANY];
    size_t done;
    if (!gate_enter(&op->slot->writers))
        return;
    while (count < wanted && op->page + count < PAGES && page_grab(op->slot, op->page + count)) {
        versions[count] = page_begin(op->slot, op->page + count, false);
        fill_page(op->slot, op->page + count, versions[count], op->words[count]);
        count++;
    }
    if (count) {
        int error = mglru_write(op->file, op->page * PAGE, op->words, count * (size_t)PAGE, &done);
        expect(error);
        if (done % PAGE || (!error && done != count * (size_t)PAGE))
            abort();
        for (unsigned i = 0; i < done / PAGE; i++)
            page_commit(op->slot, op->page + i, versions[i]);
    }
    for (unsigned i = 0; i < count; i++)
        page_let_go(op->slot, op->page + i);
    gate_leave(&op->slot->writers);
}

static void linger(struct op *op)
{
    for (unsigned long i = seeded_below(op->random, 6); i > 0; i--)
        os_thread_yield();
}

static void do_pin_read(struct op *op)
{
    struct mglru_pin pins[2];
    uint64_t pages[2] = {op->page, op->page + 1 < PAGES ? op->page + 1 : op->page};
    uint64_t floors[2] = {floor_of(op->slot, pages[0]), floor_of(op->slot, pages[1])};
    int error = mglru_pin_many(op->file, pages, 2, MGLRU_PIN_READ, pins);
    if (error == MGLRU_ERANGE)
        return; /* truncated */
    expect(error);
    if (error)
        return;
    for (unsigned turn = 0; turn < 2; turn++) {
        for (unsigned i = 0; i < 2; i++)
            judge(op->slot, pages[i], floors[i], pins[i].data);
        linger(op);
    }
    for (unsigned i = 0; i < 2; i++)
        mglru_unpin(&pins[i], MGLRU_UNPIN_CLEAN);
}

static void do_pin_write(struct op *op)
{
    struct mglru_pin pin;
    if (!gate_enter(&op->slot->writers))
        return;
    if (page_grab(op->slot, op->page)) {
        bool overwrite = seeded_below(op->random, 2), keep = seeded_below(op->random, 4);
        uint64_t floor = floor_of(op->slot, op->page);
        int error =
            mglru_pin(op->file, op->page, overwrite ? MGLRU_PIN_OVERWRITE : MGLRU_PIN_WRITE, &pin);
        if (error != MGLRU_ERANGE)
            expect(error);
        if (!error) {
            if (!overwrite)
                judge(op->slot, op->page, floor, pin.data);
            linger(op);
            uint64_t version = keep ? page_begin(op->slot, op->page, false) : 0;
            if (keep)
                fill_page(op->slot, op->page, version, pin.data);
            mglru_unpin(&pin, keep ? MGLRU_UNPIN_DIRTY : MGLRU_UNPIN_CLEAN);
            if (keep)
                page_commit(op->slot, op->page, version);
        }
        page_let_go(op->slot, op->page);
    }
    gate_leave(&op->slot->writers);
}

/* What is not written may be thrown away in a purgeable mapping alone. */
static void do_discard(struct op *op)
{
    struct mglru_pin pin;
    int error = mglru_pin(op->file, op->page, MGLRU_PIN_WRITE, &pin);
    if (error != MGLRU_ERANGE)
        expect(error);
    if (error)
        return;
    judge(op->slot, op->page, 0, pin.data);
    mglru_unpin(&pin, op->slot == &slots[PURGEABLE_SLOT] ? MGLRU_UNPIN_DISCARD : MGLRU_UNPIN_CLEAN);
}

static void do_sync(struct op *op)
{
    uint64_t bytes = seeded_below(op->random, 3) ? seeded_below(op->random, PAGES) * PAGE : 0;
    expect(mglru_sync(op->file, op->page * PAGE, bytes));
}

/* A truncation or a punch: the pages first..last become zeros. */
static void do_zeros(struct op *op)
{
    bool cut = seeded_below(op->random, 2);
    uint64_t first = op->page, last = cut ? PAGES - 1 : first + seeded_below(op->random, 8);
    uint64_t versions[PAGES];
    if (!gate_close(&op->slot->writers))
        return;
    last = last < PAGES ? last : PAGES - 1;
    for (uint64_t page = first; page <= last; page++)
        versions[page] = page_begin(op->slot, page, true);
    int error = cut ? mglru_truncate(op->slot->mapping, first * PAGE)
                    : mglru_punch(op->file, first * PAGE, (last - first + 1) * PAGE);
    expect(error);
    if (cut && seeded_below(op->random, 4))
        expect(mglru_truncate(op->slot->mapping, PAGES * PAGE));
    /* After a punch that failed the store may have what was there before, however old. */
    for (uint64_t page = first; page <= last; page++)
        page_commit(op->slot, page, error && !cut ? 0 : versions[page]);
    gate_open(&op->slot->writers);
}

static void do_drop(struct op *op)
{
    mglru_drop(op->slot->mapping, op->page * PAGE, seeded_below(op->random, PAGES) * PAGE);
}

static void do_prefetch(struct op *op)
{
    mglru_prefetch(op->file, op->page * PAGE, seeded_below(op->random, 40) * PAGE);
}

static void do_limit(struct op *op)
{
    static const char *const names[] = {"memory.max", "memory.max", "memory.high", "memory.low",
                                        "memory.min"};
    unsigned which = (unsigned)seeded_below(op->random, 5);
    uint64_t pages = seeded_below(op->random, 6) ? 64 + seeded_below(op->random, 192)
                                                 : seeded_below(op->random, 16);
    char text[32];
    if (which >= 3)
        pages = seeded_below(op->random, 16);
    int length = seeded_below(op->random, 4) || which >= 3
                     ? snprintf(text, sizeof(text), "%llu", (unsigned long long)(pages * PAGE))
                     : snprintf(text, sizeof(text), "max");
    int error = mglru_memcg_write(op->file->memcg, names[which], text, (size_t)length);
    if (error != MGLRU_OK && error != MGLRU_ENOMEM)
        abort();
}

static void do_look(struct op *op)
{
    struct mglru_verdict verdict;
    struct mglru_counts counts;
    uint64_t value;
    struct mglru_usage usage;
    mglru_memcg_verdict(op->file->memcg, &verdict);
    mglru_memcg_usage(op->file->memcg, &usage);
    mglru_memcg_next(cache, op->file->memcg);
    mglru_memcg_counts(op->file->memcg, true, &counts);
    if (mglru_memcg_stat(op->file->memcg, "file", &value))
        abort();
    char text[4096];
    size_t length;
    mglru_memcg_read(op->file->memcg, "memory.stat", text, sizeof(text), &length);
}

static void do_faults(struct op *op)
{
    struct mglru_store_faulty_options faults = faults_of(seeded_next(op->random));
    if (op->slot->store && mglru_store_faulty_set(op->slot->store, &faults))
        abort();
}

static void do_one(struct op *op, unsigned long which)
{
    static const struct {
        unsigned long below; /* of 1000 */
        void (*call)(struct op *);
    } ops[] = {
        {400, do_read},     {480, do_peek},      {540, do_read_many}, {680, do_write},
        {740, do_pin_read}, {800, do_pin_write}, {815, do_discard},   {855, do_sync},
        {885, do_zeros},    {915, do_drop},      {945, do_prefetch},  {957, do_limit},
        {965, do_look},     {972, do_faults},    {1000, do_write},
    };
    for (unsigned i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
        if (which < ops[i].below) {
            ops[i].call(op);
            return;
        }
    }
}

/* A file of a slot in a memcg; opens it when it is needed for the first time. */
static struct mglru_file *file_of(struct slot *slot, unsigned number)
{
    static _Atomic uint32_t opening;
    while (atomic_exchange_acquire(&opening, 1)) /* pairs with the store below */
        os_thread_yield();
    if (!slot->files[number])
        mglru_file_open(slot->mapping, groups[number].memcg, &slot->files[number]);
    struct mglru_file *file = slot->files[number];
    atomic_store_release(&opening, 0);
    return file;
}

static void do_in_slot(struct op *op)
{
    unsigned number = (unsigned)seeded_below(op->random, MEMCGS);
    struct slot *slot = &slots[seeded_below(op->random, SLOTS)];
    unsigned long which = seeded_below(op->random, 1000);
    op->slot = slot;
    op->page = seeded_below(op->random, seeded_below(op->random, 2) ? PAGES : PAGES / 6);
    if (!gate_enter(&groups[number].gate))
        return;
    if (gate_enter(&slot->gate)) {
        op->file = slot->mapping && groups[number].memcg ? file_of(slot, number) : NULL;
        if (op->file)
            do_one(op, which);
        gate_leave(&slot->gate);
    }
    gate_leave(&groups[number].gate);
}

static void work(struct stress_thread *self)
{
    static _Thread_local struct op op;
    struct seeded own = self->random;
    rcu_enter(); /* what a thread registers with needs memory */
    rcu_leave();
    slot_current();
    op.self = self;
    op.random = &self->random;
    for (unsigned long i = 0; i < self->rounds; i++) {
        self->random.step = i;
        refusals = i % 4 ? NULL : &own;
        unsigned long which = seeded_below(&self->random, 400);
        if (which == 0)
            slot_renew(self);
        else if (which <= 2)
            group_renew(self);
        else if (which == 3)
            expect(mglru_sync_all(cache));
        else
            do_in_slot(&op);
    }
    refusals = NULL;
}

/* --- the whole ------------------------------------------------------------------------------- */

static void verify(const char *when)
{
    const char *broken = data_verify(cache);
    if (broken)
        print_error("%s: %s\n", when, broken);
    assert_null(broken);
}

static void read_everything_back(void)
{
    static uint64_t words[WORDS];
    struct mglru_memcg *root;
    assert_int_equal(mglru_memcg_find(cache, "/", &root), MGLRU_OK);
    for (unsigned i = 0; i < SLOTS; i++) {
        struct mglru_store_faulty_options none = {.size = sizeof(none)};
        struct mglru_file *file;
        if (!slots[i].mapping)
            continue;
        if (slots[i].store)
            assert_int_equal(mglru_store_faulty_set(slots[i].store, &none), MGLRU_OK);
        assert_int_equal(mglru_file_open(slots[i].mapping, root, &file), MGLRU_OK);
        int error = mglru_sync(file, 0, 0);
        if (error != MGLRU_OK && error != MGLRU_EIO)
            fail();
        mglru_drop(slots[i].mapping, 0, UINT64_MAX);
        for (unsigned page = 0; page < PAGES; page++) {
            size_t done;
            assert_int_equal(mglru_read(file, page * (uint64_t)PAGE, words, PAGE, &done), 0);
            if (done == PAGE)
                judge(&slots[i], page, floor_of(&slots[i], page), words);
        }
        mglru_file_close(file);
    }
}

static void run(const char *model, unsigned flushers)
{
    void (*const bodies[])(struct stress_thread *) = {work};
    struct mglru_data_options options = {.size = sizeof(options),
                                         .memory_bytes = FRAMES * PAGE,
                                         .model = model,
                                         .no_threads = !flushers,
                                         .flushers = flushers,
                                         .cpus = STRESS_THREADS - 2,
                                         .flush_after_ms = 2};
    assert_int_equal(mglru_data_create(&options, &cache), MGLRU_OK);
    for (unsigned i = 0; i < MEMCGS; i++)
        group_make(i);
    for (unsigned i = 0; i < SLOTS; i++)
        slot_make(&slots[i], stress_seed * SLOTS + i);
    stress_run(bodies, 1);
    for (unsigned i = 0; i < MEMCGS; i++)
        if (groups[i].memcg)
            assert_int_equal(mglru_memcg_write(groups[i].memcg, "memory.min", "0", 1), MGLRU_OK);
    read_everything_back();
    background_stop(cache_data(cache)); /* nothing may run while the walkers do */
    verify("with pages");
    for (unsigned i = 0; i < SLOTS; i++)
        slot_unmake(&slots[i]);
    background_drain(cache_data(cache));
    verify("without pages");
    struct arena_counts counts;
    arena_counts(cache_data(cache)->arena, &counts);
    assert_int_equal(counts.used, 1); /* the spare frame */
    mglru_cache_destroy(cache);
}

static void nothing_is_lost_with_our_model(void **state)
{
    run("ours", 2);
}

static void nothing_is_lost_with_the_kernels_model(void **state)
{
    run("7.3", 1);
}

static void nothing_is_lost_without_threads(void **state)
{
    run("6.12", 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost_with_our_model),
        cmocka_unit_test(nothing_is_lost_with_the_kernels_model),
        cmocka_unit_test(nothing_is_lost_without_threads),
    };
    return stress_groups(tests, sizeof(tests) / sizeof(tests[0]));
}
