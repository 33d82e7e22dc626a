/* SPDX-License-Identifier: MIT */
/* Page numbers drawn by Zipf's law, the popular ones spread over the whole range. */
#ifndef MEASURE_ZIPF_H
#define MEASURE_ZIPF_H

#include <stdint.h>

struct zipf;

/* @pages (1 .. 2^31), the k-th most popular with a weight of 1 / k^@theta. NULL: no memory. */
struct zipf *zipf_create(uint32_t pages, double theta);
void zipf_destroy(struct zipf *zipf);
/* Fills @out with @count page numbers of the sequence that @seed stands for. */
void zipf_draw(const struct zipf *zipf, uint64_t seed, uint32_t *out, uint32_t count);

#endif
