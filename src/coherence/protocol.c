/* SPDX-License-Identifier: MIT */
/*
 * The states of a line and the transfers between CPUs; see model.h for the rules.
 *
 *             read transfer ends              write transfer ends
 *   nobody -------------------> owner  <------------------------- any state
 *   owner  -------------------> shared (both have it, nobody may write)
 *   shared -------------------> shared
 *
 * A transfer is queued with the time of its end; until then the state is the old one. end_transfer
 * does the access of the CPU that waited, so what it finds and writes is as of that moment.
 *
 * Invariants
 *   1. owner is a holder and then the only one.
 *   2. A queue is in order of end_ns; a CPU is in at most one queue.
 *   3. A holder's copy is known.
 */
#include "coherence/protocol.h"

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/check.h"

static bool holds(const struct protocol_line *line, uint32_t cpu)
{
    return line->holders[cpu / 64] >> (cpu % 64) & 1;
}

static bool holds_alone(const struct protocol_line *line, uint32_t cpu)
{
    for (uint32_t w = 0; w < COHERENCE_MASK_WORDS; w++)
        if (line->holders[w] != (w == cpu / 64 ? (uint64_t)1 << (cpu % 64) : 0))
            return false;
    return true;
}

static struct coherence_part part_of(const struct coherence_op *op)
{
    return (struct coherence_part){op->first, op->last, op->kind};
}

static uint64_t row_hash(const struct coherence_miss *row)
{
    uint64_t key = (uint64_t)row->line << 32 | (uint32_t)row->victim.first << 24 |
                   (uint32_t)row->victim.last << 16 | (uint32_t)row->cause.first << 8 |
                   row->cause.last;
    return bits_mix64(key ^ (uint64_t)(row->victim.kind * 4u + row->cause.kind) << 60);
}

static bool same_part(struct coherence_part a, struct coherence_part b)
{
    return a.first == b.first && a.last == b.last && a.kind == b.kind;
}

static bool same_row(const struct coherence_miss *a, const struct coherence_miss *b)
{
    return a->line == b->line && same_part(a->victim, b->victim) && same_part(a->cause, b->cause);
}

static uint32_t *row_slot(const struct protocol_rows *rows, const struct coherence_miss *key)
{
    size_t at = (size_t)row_hash(key) & (rows->slot_count - 1);
    while (rows->slots[at] != 0 && !same_row(&rows->rows[rows->slots[at] - 1], key))
        at = (at + 1) & (rows->slot_count - 1);
    return &rows->slots[at];
}

/* Room for one row more. Slots are at least twice the rows. */
static bool reserve_row(struct protocol_rows *rows)
{
    if (rows->count < rows->capacity)
        return true;
    size_t capacity = rows->capacity == 0 ? 256 : rows->capacity * 2;
    struct coherence_miss *larger = realloc(rows->rows, capacity * sizeof(*larger));
    if (larger == NULL)
        return false;
    rows->rows = larger;
    uint32_t *slots = calloc(capacity * 2, sizeof(*slots));
    if (slots == NULL)
        return false;
    free(rows->slots);
    rows->slots = slots;
    rows->slot_count = capacity * 2;
    rows->capacity = capacity;
    for (size_t i = 0; i < rows->count; i++)
        *row_slot(rows, &rows->rows[i]) = (uint32_t)i + 1;
    return true;
}

/* Number + 1 of the row of @key, 0 without memory. */
static uint32_t find_row(struct protocol *protocol, const struct coherence_miss *key)
{
    struct protocol_rows *rows = &protocol->rows;
    if (!reserve_row(rows)) {
        protocol->no_memory = true;
        return 0;
    }
    uint32_t *slot = row_slot(rows, key);
    if (*slot == 0) {
        rows->rows[rows->count++] = *key;
        *slot = (uint32_t)rows->count;
    }
    return *slot;
}

/* True when another CPU wrote one of the bytes since write number @seen. */
static bool touches_news(const struct protocol_line *line, const struct coherence_op *op,
                         uint32_t cpu, uint32_t seen)
{
    for (unsigned b = op->first; b <= op->last; b++)
        if (line->byte_write[b] > seen && line->byte_writer[b] != cpu)
            return true;
    return false;
}

/* A miss that was false so far was not. */
static void turn_true(struct protocol *protocol, struct protocol_copy *copy)
{
    struct coherence_miss *row = &protocol->rows.rows[copy->open - 1];
    row->count[COHERENCE_FALSE]--;
    row->count[COHERENCE_TRUE]++;
    protocol->misses[COHERENCE_FALSE]--;
    protocol->misses[COHERENCE_TRUE]++;
    copy->open = 0;
}

static void write_bytes(struct protocol_line *line, const struct coherence_op *op, uint32_t cpu)
{
    line->writes++;
    for (unsigned b = op->first; b <= op->last; b++) {
        line->byte_write[b] = line->writes;
        line->byte_writer[b] = (uint16_t)cpu;
    }
}

/* A CPU that kept the line since its last miss touches it. */
static void look_back(struct protocol *protocol, struct protocol_line *line,
                      const struct coherence_op *op, uint32_t cpu)
{
    struct protocol_copy *copy = &line->copies[cpu];
    if (copy->open != 0 && touches_news(line, op, cpu, copy->open_seen))
        turn_true(protocol, copy);
}

/* An access by a CPU that may do it. */
static void hit(struct protocol *protocol, struct protocol_line *line,
                const struct coherence_op *op, uint32_t cpu)
{
    look_back(protocol, line, op, cpu);
    if (op->kind != COHERENCE_READ)
        write_bytes(line, op, cpu);
}

/* Counts the miss of @cpu that has just been served; the line is still as it was. */
static void count_miss(struct protocol *protocol, struct protocol_line *line,
                       const struct coherence_op *op, struct protocol_copy *copy, uint32_t cpu)
{
    bool upgrade = holds(line, cpu);
    bool taken = copy->taken;
    /* The line was kept until now, so this access may be what the last miss was for. */
    if (upgrade)
        look_back(protocol, line, op, cpu);
    copy->taken = false;
    if (!copy->known) {
        protocol->misses[COHERENCE_COLD]++;
        protocol->ideal_ns += protocol->latency_ns;
        return;
    }
    /* Who shares a line without having been its owner learns of the last reader. */
    struct coherence_miss key = {
        .line = op->line,
        .victim = part_of(op),
        .cause = taken ? copy->taker : line->reader,
    };
    uint32_t lockset = taken ? copy->taker_lockset : line->reader_lockset;
    enum coherence_class class = COHERENCE_FALSE;
    if (coherence_trace_coupled(protocol->trace, op->lockset, lockset))
        class = COHERENCE_LOCKED;
    else if (upgrade ? op->first <= key.cause.last && key.cause.first <= op->last
                     : touches_news(line, op, cpu, copy->seen))
        class = COHERENCE_TRUE;
    uint32_t row = find_row(protocol, &key);
    if (row == 0)
        return;
    protocol->rows.rows[row - 1].count[class]++;
    protocol->misses[class]++;
    if (upgrade)
        return;
    copy->open = class == COHERENCE_FALSE ? row : 0;
    copy->open_seen = copy->seen;
}

/* @copy's CPU loses the line, or only its exclusiveness, to @op. */
static void take(const struct protocol_line *line, struct protocol_copy *copy,
                 const struct coherence_op *op)
{
    copy->taker = part_of(op);
    copy->taker_lockset = op->lockset;
    copy->taken = true;
    if (op->kind == COHERENCE_READ)
        return;
    copy->seen = line->writes;
    copy->open = 0;
}

static void take_from_all(struct protocol_line *line, const struct coherence_op *op, uint32_t cpu)
{
    for (uint32_t w = 0; w < COHERENCE_MASK_WORDS; w++) {
        for (uint64_t bits = line->holders[w]; bits != 0; bits &= bits - 1) {
            uint32_t other = w * 64 + (uint32_t)__builtin_ctzll(bits);
            if (other != cpu)
                take(line, &line->copies[other], op);
        }
        line->holders[w] = 0;
    }
}

/* The first transfer of the queue ends. */
static void end_transfer(struct protocol *protocol, struct protocol_line *line)
{
    uint32_t cpu = line->queue_first;
    struct protocol_transfer *transfer = &protocol->transfers[cpu];
    const struct coherence_op *op = &transfer->op;
    struct protocol_copy *copy = &line->copies[cpu];
    line->queue_first = transfer->next;
    transfer->line = NULL;
    count_miss(protocol, line, op, copy, cpu);
    copy->known = true;
    if (op->kind == COHERENCE_READ) {
        if (line->owner != COHERENCE_NO_CPU && line->owner != cpu)
            take(line, &line->copies[line->owner], op);
        line->holders[cpu / 64] |= (uint64_t)1 << (cpu % 64);
        line->owner = holds_alone(line, cpu) ? (uint16_t)cpu : COHERENCE_NO_CPU;
        line->reader = part_of(op);
        line->reader_lockset = op->lockset;
        return;
    }
    take_from_all(line, op, cpu);
    line->holders[cpu / 64] |= (uint64_t)1 << (cpu % 64);
    line->owner = (uint16_t)cpu;
    write_bytes(line, op, cpu);
}

static void end_transfers(struct protocol *protocol, struct protocol_line *line, uint64_t now_ns)
{
    while (line->queue_first != COHERENCE_NO_CPU &&
           protocol->transfers[line->queue_first].end_ns <= now_ns)
        end_transfer(protocol, line);
}

static struct protocol_line *make_line(struct protocol *protocol)
{
    struct protocol_line *line =
        calloc(1, sizeof(*line) + protocol->cpus * sizeof(line->copies[0]));
    if (line == NULL) {
        protocol->no_memory = true;
        return NULL;
    }
    line->owner = line->queue_first = line->queue_last = COHERENCE_NO_CPU;
    return line;
}

/* Queues the transfer; returns its end. */
static uint64_t request(struct protocol *protocol, struct protocol_line *line, uint32_t cpu,
                        const struct coherence_op *op, uint64_t now_ns)
{
    struct protocol_transfer *transfer = &protocol->transfers[cpu];
    bool write = op->kind != COHERENCE_READ;
    uint64_t start_ns = write ? line->all_free_ns : line->exclusive_free_ns;
    if (start_ns < now_ns)
        start_ns = now_ns;
    uint64_t end_ns = start_ns + protocol->latency_ns;
    if (end_ns < line->all_free_ns)
        end_ns = line->all_free_ns; /* clocks of coarse quanta may lie behind */
    *transfer = (struct protocol_transfer){*op, line, end_ns, COHERENCE_NO_CPU};
    bool from_writer = line->owner != COHERENCE_NO_CPU;
    if (line->queue_first == COHERENCE_NO_CPU) {
        line->queue_first = (uint16_t)cpu;
    } else {
        struct protocol_transfer *before = &protocol->transfers[line->queue_last];
        before->next = (uint16_t)cpu;
        from_writer = before->op.kind != COHERENCE_READ;
    }
    line->queue_last = (uint16_t)cpu;
    line->all_free_ns = end_ns;
    if (write || from_writer)
        line->exclusive_free_ns = end_ns;
    return end_ns;
}

uint64_t protocol_access(struct protocol *protocol, uint32_t cpu, const struct coherence_op *op,
                         struct protocol_line **place, uint64_t now_ns)
{
    struct protocol_line *line = *place;
    if (line == NULL && (line = *place = make_line(protocol)) == NULL)
        return now_ns;
    end_transfers(protocol, line, now_ns);
    if (op->kind == COHERENCE_READ ? holds(line, cpu) : line->owner == cpu) {
        hit(protocol, line, op, cpu);
        return now_ns;
    }
    return request(protocol, line, cpu, op, now_ns);
}

void protocol_settle(struct protocol *protocol, uint32_t cpu)
{
    struct protocol_transfer *own = &protocol->transfers[cpu];
    if (own->line != NULL)
        end_transfers(protocol, own->line, own->end_ns);
}
