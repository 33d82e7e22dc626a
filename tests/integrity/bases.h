/* SPDX-License-Identifier: MIT */
/* Stores to run a workload over, and counts of the faults above them. */
#ifndef TESTS_INTEGRITY_BASES_H
#define TESTS_INTEGRITY_BASES_H

#include <mglru/stores.h>

enum base_kind { BASE_MEMORY, BASE_SYNCED, BASE_FILE, BASE_URING };

struct base_place {
    const char *folder; /* of files; others ignore it */
    unsigned mapping;
};

/* Opens the store of a mapping, up to 16 MiB in memory; a file that is there is kept. Errors as
 * those stores'. */
int base_open(enum base_kind kind, struct base_place place, struct mglru_store **out);

/* Removes its file, if there is one. */
void base_remove(struct base_place place);

/* Adds counts, or those of a faulty store. */
void base_add_counts(struct mglru_store_faulty_counts *to,
                     const struct mglru_store_faulty_counts *from);
void base_add_faults(struct mglru_store_faulty_counts *to, struct mglru_store *faulty);

#endif
