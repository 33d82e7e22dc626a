/* SPDX-License-Identifier: MIT */
/* What the library's own stores share with the general part. Not public. */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <mglru/store.h>

/* The context of @store if it has these @ops, else NULL. */
void *store_context(const struct mglru_store *store, const struct mglru_store_ops *ops);

/* Sum of @count pieces; saturates above MGLRU_STORE_BYTES_MAX. */
uint64_t store_vec_bytes(const struct mglru_store_vec *vec, uint32_t count);

/* Bytes of a transfer that are still to be moved; 0 for other requests. */
uint64_t store_bytes_left(const struct mglru_store_request *request);

/* Submits @request, waits for it, and returns its error; complete and context become the call's. */
int store_run(struct mglru_store *store, struct mglru_store_request *request);

/*
 * Reads an option struct that may be older or newer than this library: zeroes @full, then copies
 * what both know. @given begins with its size_t size. MGLRU_EINVAL: smaller than @oldest.
 */
int store_options_read(void *full, size_t full_bytes, const void *given, size_t oldest);

#endif
