/* SPDX-License-Identifier: MIT */
/* Zipf by the inverse of its distribution: the sums of the weights, searched by halves. */
#include "measure/zipf.h"

#include <math.h>
#include <stdlib.h>

#include "base/bits.h"

struct zipf {
    uint32_t pages;
    uint32_t *page; /* of a rank */
    double *sums;   /* of the weights up to a rank, the last one being 1 */
};

void zipf_destroy(struct zipf *zipf)
{
    if (!zipf)
        return;
    free(zipf->page);
    free(zipf->sums);
    free(zipf);
}

/* Fisher and Yates. */
static void shuffle(uint32_t *page, uint32_t pages)
{
    for (uint32_t i = 0; i < pages; i++)
        page[i] = i;
    for (uint32_t i = pages - 1; i > 0; i--) {
        uint32_t j = (uint32_t)(bits_mix64(i) % (i + 1)), other = page[j];
        page[j] = page[i];
        page[i] = other;
    }
}

struct zipf *zipf_create(uint32_t pages, double theta)
{
    struct zipf *zipf = calloc(1, sizeof(*zipf));
    if (!zipf)
        return NULL;
    zipf->pages = pages;
    zipf->page = malloc(pages * sizeof(*zipf->page));
    zipf->sums = malloc(pages * sizeof(*zipf->sums));
    if (!zipf->page || !zipf->sums) {
        zipf_destroy(zipf);
        return NULL;
    }
    shuffle(zipf->page, pages);
    double sum = 0;
    for (uint32_t i = 0; i < pages; i++)
        zipf->sums[i] = sum += pow(i + 1.0, -theta);
    for (uint32_t i = 0; i < pages; i++)
        zipf->sums[i] /= sum;
    return zipf;
}

void zipf_draw(const struct zipf *zipf, uint64_t seed, uint32_t *out, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        seed += UINT64_C(0x9E3779B97F4A7C15);
        double at = (double)(bits_mix64(seed) >> 11) * 0x1p-53;
        uint32_t low = 0, high = zipf->pages - 1;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (zipf->sums[middle] > at)
                high = middle;
            else
                low = middle + 1;
        }
        out[i] = zipf->page[low];
    }
}
