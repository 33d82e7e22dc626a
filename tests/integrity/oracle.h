/* SPDX-License-Identifier: MIT */
/*
 * Remembers what every page may be. Each write or truncate of a page is an event with the page's
 * next version number; a truncate is a version of zeros.
 *
 *   started    newest version that was begun
 *   ended      newest version whose call has returned
 *   completed  newest version whose call has succeeded: a read finds it or a later one
 *   synced     newest version that a successful sync covers: a power cut leaves it or a later one
 *   zeros      newest version that is zeros
 * synced <= completed <= started; ended, zeros <= started.
 * A change may take others back: from its begin to its end the page may be any version since the
 * last sync, and afterwards what it then was is the oldest that may be found.
 *
 * A page has one writer at a time; reads, syncs and judgements may run beside it. All state lies in
 * memory that the caller gives, which may be shared with a process that is about to be killed.
 */
#ifndef TESTS_INTEGRITY_ORACLE_H
#define TESTS_INTEGRITY_ORACLE_H

#include <stdbool.h>
#include <stddef.h>

#include "page.h"

struct oracle;

struct oracle_shape {
    uint32_t mappings;
    uint32_t pages; /* of each mapping */
    uint32_t page_bytes;
};

enum oracle_finding {
    ORACLE_FINE = 0,
    ORACLE_LOST,  /* older than what was synced, after a power cut */
    ORACLE_STALE, /* older than what a call had completed, before the read began */
    ORACLE_TORN,
    ORACLE_ALIEN, /* another page's data */
    ORACLE_FUTURE /* a version that nobody has written */
};

/* "lost synced write", ... */
const char *oracle_finding_text(enum oracle_finding finding);

/* Bytes of memory for @shape. */
size_t oracle_bytes(const struct oracle_shape *shape);

/* Makes an oracle in @memory (64-byte aligned), which knows nothing but zeros. */
struct oracle *oracle_init(void *memory, const struct oracle_shape *shape);

enum oracle_change {
    ORACLE_WRITE = 1,
    ORACLE_ZEROS,  /* a truncate */
    ORACLE_PUNCH,  /* zeros; unless it succeeds, it may take changes back */
    ORACLE_DISCARD /* takes changes back */
};

enum oracle_outcome {
    ORACLE_DONE = 1,
    ORACLE_FAILED, /* it may have happened, or not */
    ORACLE_TEARING /* or in part */
};

/* A change of one page begins; gives its version. */
uint64_t oracle_begin(struct oracle *oracle, struct page_id id, enum oracle_change change);

/* It ended. */
void oracle_end(struct oracle *oracle, struct page_id id, uint64_t version,
                enum oracle_outcome outcome);

/* Newest version that was begun; for its writer. */
uint64_t oracle_started(const struct oracle *oracle, struct page_id id);

/* What a read has to know from before it began. */
struct oracle_before {
    uint64_t oldest;   /* version that it may find */
    uint64_t synced;   /* the same, if changes are taken back meanwhile */
    uint64_t returns;  /* changes that took others back: begins and ends of them */
    uint64_t failures; /* changes of the page that had torn it */
    bool damaged;      /* the last change had */
};

/* Before a read of the page begins. */
struct oracle_before oracle_before(const struct oracle *oracle, struct page_id id);

/*
 * Judges what the read found. Torn pages are fine if a change failed that may have torn them. With
 * a torn page this waits for a change of it that is under way, since only its end tells whether it
 * failed: whoever judges is not its writer, and holds nothing that this one waits for.
 */
enum oracle_finding oracle_judge(const struct oracle *oracle, struct page_id id,
                                 struct oracle_before before, const void *page);

/* What a sync has to cover of one page. */
struct oracle_covered {
    uint64_t version;
    uint64_t returns;
};

/* A sync of @mapping begins; one entry of @snapshot a page. */
void oracle_sync_begin(const struct oracle *oracle, uint64_t mapping,
                       struct oracle_covered *snapshot);

/* It has succeeded for the pages of [@first, @last] of @mapping. */
void oracle_sync_end(struct oracle *oracle, struct page_id first, uint64_t last,
                     const struct oracle_covered *snapshot);

/*
 * Judges what was found after a crash, and goes on from it. @killed: the machine lived on, so what
 * was completed must be there; else only what was synced. @may_tear: pages with changes that were
 * not synced may be torn. When nothing else runs.
 */
enum oracle_finding oracle_recover(struct oracle *oracle, struct page_id id, const void *page,
                                   bool killed, bool may_tear);

#endif
