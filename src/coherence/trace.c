/* SPDX-License-Identifier: MIT */
/*
 * Makes accesses ready for the model; see trace.h.
 *
 * Invariants
 *   1. slots has at least twice as many places as there are lines and a power of 2 of them.
 *   2. locksets are distinct; number 0 is the empty one.
 */
#include "coherence/trace.h"

#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "base/bits.h"
#include "base/check.h"
#include "base/hash.h"

#define SLOTS_MIN 1024u
#define WORD_BYTES 8u
#define WORDS_MAX (COHERENCE_LINE_MAX / WORD_BYTES)
#define LOCKSET_SLOTS 131072u /* a power of 2, at least twice COHERENCE_LOCKSETS_MAX */
#define NOBODY UINT16_MAX
#define SEVERAL (UINT16_MAX - 1)

/* Room for one more in an array that doubles. */
static void *grow(void *array, size_t count, size_t *capacity, size_t bytes)
{
    if (count < *capacity)
        return array;
    size_t wanted = *capacity == 0 ? 256 : *capacity * 2;
    void *larger = realloc(array, wanted * bytes);
    if (larger != NULL)
        *capacity = wanted;
    return larger;
}

int coherence_trace_begin(struct coherence_trace *trace, uint32_t line_bytes)
{
    *trace = (struct coherence_trace){.line_bytes = line_bytes};
    if (line_bytes != 32 && line_bytes != 64 && line_bytes != COHERENCE_LINE_MAX)
        return MGLRU_EINVAL;
    trace->slots = calloc(SLOTS_MIN, sizeof(*trace->slots));
    trace->locksets = calloc(1, sizeof(*trace->locksets));
    trace->lockset_slots = calloc(LOCKSET_SLOTS, sizeof(*trace->lockset_slots));
    trace->clocks_ns = calloc(COHERENCE_THREADS_MAX, sizeof(*trace->clocks_ns));
    trace->starts_ns = malloc(COHERENCE_THREADS_MAX * sizeof(*trace->starts_ns));
    if (trace->slots == NULL || trace->locksets == NULL || trace->lockset_slots == NULL ||
        trace->clocks_ns == NULL || trace->starts_ns == NULL)
        return MGLRU_ENOMEM;
    memset(trace->starts_ns, 0xff, COHERENCE_THREADS_MAX * sizeof(*trace->starts_ns));
    trace->slot_count = SLOTS_MIN;
    trace->lockset_count = 1;
    return MGLRU_OK;
}

void coherence_trace_free(struct coherence_trace *trace)
{
    free(trace->ops);
    free(trace->line_addresses);
    free(trace->sharing);
    free(trace->locksets);
    free(trace->lockset_slots);
    free(trace->clocks_ns);
    free(trace->starts_ns);
    free(trace->slots);
    *trace = (struct coherence_trace){0};
}

static int compare_locks(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

int coherence_trace_lockset(struct coherence_trace *trace, const uint64_t *locks, uint32_t count,
                            uint32_t *number)
{
    struct coherence_lockset set;
    memset(&set, 0, sizeof(set)); /* sets are compared as bytes */
    set.count = count < COHERENCE_HELD_MAX ? count : COHERENCE_HELD_MAX;
    *number = 0;
    if (count == 0)
        return MGLRU_OK;
    memcpy(set.locks, locks, set.count * sizeof(*locks));
    qsort(set.locks, set.count, sizeof(*set.locks), compare_locks);
    size_t at = hash_bytes(set.locks, sizeof(set.locks), set.count) & (LOCKSET_SLOTS - 1);
    for (; trace->lockset_slots[at] != 0; at = (at + 1) & (LOCKSET_SLOTS - 1))
        if (memcmp(&trace->locksets[trace->lockset_slots[at]], &set, sizeof(set)) == 0) {
            *number = trace->lockset_slots[at];
            return MGLRU_OK;
        }
    if (trace->lockset_count >= COHERENCE_LOCKSETS_MAX)
        return MGLRU_OK;
    struct coherence_lockset *larger =
        realloc(trace->locksets, (trace->lockset_count + 1) * sizeof(*larger));
    if (larger == NULL)
        return MGLRU_ENOMEM;
    trace->locksets = larger;
    larger[trace->lockset_count] = set;
    *number = (uint32_t)trace->lockset_count++;
    trace->lockset_slots[at] = (uint16_t)*number;
    return MGLRU_OK;
}

static uint32_t *find_slot(uint32_t *slots, size_t slot_count, const uint64_t *addresses,
                           uint64_t address)
{
    size_t at = (size_t)bits_mix64(address) & (slot_count - 1);
    while (slots[at] != 0 && addresses[slots[at] - 1] != address)
        at = (at + 1) & (slot_count - 1);
    return &slots[at];
}

static int grow_slots(struct coherence_trace *trace)
{
    size_t count = trace->slot_count * 2;
    uint32_t *slots = calloc(count, sizeof(*slots));
    if (slots == NULL)
        return MGLRU_ENOMEM;
    for (size_t i = 0; i < trace->line_count; i++)
        *find_slot(slots, count, trace->line_addresses, trace->line_addresses[i]) = (uint32_t)i + 1;
    free(trace->slots);
    trace->slots = slots;
    trace->slot_count = count;
    return MGLRU_OK;
}

static int find_line(struct coherence_trace *trace, uint64_t address, uint32_t *line)
{
    uint32_t *slot = find_slot(trace->slots, trace->slot_count, trace->line_addresses, address);
    if (*slot == 0) {
        uint64_t *lines =
            grow(trace->line_addresses, trace->line_count, &trace->line_capacity, sizeof(*lines));
        if (lines == NULL)
            return MGLRU_ENOMEM;
        trace->line_addresses = lines;
        lines[trace->line_count++] = address;
        *slot = (uint32_t)trace->line_count;
        *line = *slot - 1;
        return trace->line_count * 2 > trace->slot_count ? grow_slots(trace) : MGLRU_OK;
    }
    *line = *slot - 1;
    return MGLRU_OK;
}

static int add_op(struct coherence_trace *trace, struct coherence_op op, uint64_t line_address)
{
    if (trace->op_count >= COHERENCE_OPS_MAX)
        return MGLRU_EOVERFLOW;
    struct coherence_op *ops = grow(trace->ops, trace->op_count, &trace->op_capacity, sizeof(*ops));
    if (ops == NULL)
        return MGLRU_ENOMEM;
    trace->ops = ops;
    int code = find_line(trace, line_address, &op.line);
    if (code == MGLRU_OK)
        ops[trace->op_count++] = op;
    return code;
}

void coherence_trace_start(struct coherence_trace *trace, uint32_t thread, uint32_t maker)
{
    if (thread < COHERENCE_THREADS_MAX && maker < COHERENCE_THREADS_MAX &&
        trace->clocks_ns[thread] == 0)
        trace->starts_ns[thread] = trace->clocks_ns[maker];
}

/* Moves the thread's clock over the access. True: it was its first. */
static bool pass_time(struct coherence_trace *trace, const struct coherence_access *access)
{
    uint64_t *clock_ns = &trace->clocks_ns[access->thread];
    uint64_t *start_ns = &trace->starts_ns[access->thread];
    bool begins = *clock_ns == 0;
    if (begins && *start_ns == UINT64_MAX)
        *start_ns = trace->latest_ns;
    if (begins)
        *clock_ns = *start_ns;
    *clock_ns += access->gap_ns;
    if (*clock_ns > trace->latest_ns)
        trace->latest_ns = *clock_ns;
    *clock_ns += COHERENCE_HIT_NS;
    return begins;
}

int coherence_trace_add(struct coherence_trace *trace, const struct coherence_access *access)
{
    uint64_t end = access->address + access->bytes; /* may be 0: the end of memory */
    if (access->bytes == 0 || access->bytes > COHERENCE_ACCESS_MAX || end - 1 < access->address ||
        access->thread >= COHERENCE_THREADS_MAX || access->lockset >= trace->lockset_count)
        return MGLRU_EINVAL;
    uint64_t mask = trace->line_bytes - 1;
    uint64_t last_line = (end - 1) & ~mask;
    uint32_t gap_ns = access->gap_ns;
    bool begins = pass_time(trace, access);
    for (uint64_t line = access->address & ~mask;; line += trace->line_bytes) {
        struct coherence_op op = {
            .gap_ns = gap_ns,
            .thread = (uint16_t)access->thread,
            .lockset = (uint16_t)access->lockset,
            .first = (uint8_t)(line < access->address ? access->address & mask : 0),
            .last = (uint8_t)(line == last_line ? (end - 1) & mask : mask),
            .kind = (uint8_t)access->kind,
            .begins = begins,
        };
        int code = add_op(trace, op, line);
        if (code != MGLRU_OK)
            return code;
        gap_ns = 0;
        begins = false;
        if (line == last_line)
            break;
    }
    if (access->thread >= trace->thread_count)
        trace->thread_count = access->thread + 1;
    return MGLRU_OK;
}

/* Who touches the words of each line. */
static void mark_words(const struct coherence_trace *trace, uint16_t *words)
{
    for (size_t i = 0; i < trace->op_count; i++) {
        const struct coherence_op *op = &trace->ops[i];
        uint16_t *line = &words[(size_t)op->line * WORDS_MAX];
        for (unsigned w = op->first / WORD_BYTES; w <= op->last / WORD_BYTES; w++)
            line[w] = line[w] == NOBODY || line[w] == op->thread ? op->thread : SEVERAL;
    }
}

static enum coherence_sharing sharing_of(const uint16_t *words)
{
    enum coherence_sharing sharing = COHERENCE_ALONE;
    uint16_t someone = NOBODY;
    for (unsigned w = 0; w < WORDS_MAX; w++) {
        if (words[w] == NOBODY)
            continue;
        if (words[w] == SEVERAL)
            return COHERENCE_COMMON;
        if (someone != NOBODY && someone != words[w])
            sharing = COHERENCE_SPLIT;
        someone = words[w];
    }
    return sharing;
}

int coherence_trace_finish(struct coherence_trace *trace)
{
    size_t word_count = trace->line_count * WORDS_MAX;
    uint16_t *words = malloc(word_count * sizeof(*words) + 1);
    trace->sharing = malloc(trace->line_count + 1);
    if (words == NULL || trace->sharing == NULL) {
        free(words);
        return MGLRU_ENOMEM;
    }
    memset(words, 0xff, word_count * sizeof(*words));
    mark_words(trace, words);
    for (size_t i = 0; i < trace->line_count; i++)
        trace->sharing[i] = (uint8_t)sharing_of(&words[i * WORDS_MAX]);
    free(words);
    return MGLRU_OK;
}

bool coherence_trace_coupled(const struct coherence_trace *trace, uint32_t a, uint32_t b)
{
    const struct coherence_lockset *left = &trace->locksets[a], *right = &trace->locksets[b];
    uint32_t i = 0, j = 0;
    while (i < left->count && j < right->count) {
        if (left->locks[i] == right->locks[j])
            return true;
        if (left->locks[i] < right->locks[j])
            i++;
        else
            j++;
    }
    return false;
}
