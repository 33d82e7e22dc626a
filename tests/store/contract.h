/* SPDX-License-Identifier: MIT */
/*
 * The contract of <mglru/store.h> as one list of tests, which runs over each kind of store. A kind
 * says how to open an empty store; file kinds use the path that they get.
 */
#ifndef TESTS_STORE_CONTRACT_H
#define TESTS_STORE_CONTRACT_H

#include <mglru/stores.h>

struct contract_kind {
    const char *name;
    /* Opens the store as it was left; MGLRU_ENOTSUP and MGLRU_EPERM skip the kind. */
    int (*open)(const char *path, struct mglru_store **out);
    void (*close)(struct mglru_store *store);
    bool reopens;   /* what was written is there after a close and an open */
    bool simulated; /* may run on os/sim */
};

/* Runs all tests over @kind with files below @folder; returns how many failed. */
int contract_run(const struct contract_kind *kind, const char *folder);

#endif
