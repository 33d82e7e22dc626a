/* SPDX-License-Identifier: MIT */
/*
 * Adaptive binary range coding of miss vectors. The carry-less coder keeps a 32-bit range
 * [low, high] and shifts out the leading bytes on which both ends agree (Schindler 1998 describes
 * the family; this is the binary form without carry, as in Mahoney's fpaq0).
 *
 * Both directions walk the same contexts, so they must see the same pages in the same order.
 */
#include "vector.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"

#define PROBABILITY_BITS 16
#define ADAPT_SHIFT 6    /* chosen: forgets after about 64 bits of a context */
#define GAP_STEPS 4      /* context classes an octave of reuse distance */
#define GAP_CLASSES 256  /* 64 octaves */
#define NEVER_ACCESSED 0 /* class of a page's first access */

struct model {
    uint32_t one[GAP_CLASSES][2]; /* probability of a miss, [reuse class][last was a miss] */
    uint64_t *last;               /* by page: 1 + index of its last access; 0: none */
    uint8_t *missed;              /* by page: the last access missed */
    uint32_t *current;            /* context of the bit in work */
};

static bool model_init(struct model *model, uint64_t page_count)
{
    for (size_t i = 0; i < GAP_CLASSES; i++)
        model->one[i][0] = model->one[i][1] = 1u << (PROBABILITY_BITS - 1);
    model->last = calloc(page_count + 1, sizeof(*model->last));
    model->missed = calloc(page_count + 1, 1);
    return model->last && model->missed;
}

static void model_free(struct model *model)
{
    free(model->last);
    free(model->missed);
}

static void model_choose(struct model *model, uint32_t page, uint64_t index)
{
    size_t class = NEVER_ACCESSED;
    if (model->last[page]) {
        uint64_t gap = index + 1 - model->last[page];
        unsigned octave = bits_fls(gap) - 1;
        uint64_t within = octave >= 2 ? gap >> (octave - 2) & 3 : 0;
        class = 1 + octave * GAP_STEPS + within;
    }
    model->current = &model->one[class][model->missed[page]];
}

static void model_learn(struct model *model, uint32_t page, uint64_t index, bool miss)
{
    uint32_t full = 1u << PROBABILITY_BITS;
    if (miss)
        *model->current += (full - *model->current) >> ADAPT_SHIFT;
    else
        *model->current -= *model->current >> ADAPT_SHIFT;
    model->last[page] = index + 1;
    model->missed[page] = miss;
}

/* Where [low, high] is cut: misses get the lower part. */
static uint32_t range_cut(const struct model *model, uint32_t low, uint32_t high)
{
    uint64_t span = (uint64_t)(high - low);
    uint64_t one = *model->current;
    if (one < 32)
        one = 32;
    if (one > (1u << PROBABILITY_BITS) - 32)
        one = (1u << PROBABILITY_BITS) - 32;
    return low + (uint32_t)((span * one) >> PROBABILITY_BITS);
}

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static char *base64_encode(const uint8_t *bytes, size_t count)
{
    char *text = malloc((count + 2) / 3 * 4 + 1);
    size_t used = 0;
    for (size_t i = 0; text && i < count; i += 3) {
        uint32_t group = (uint32_t)bytes[i] << 16;
        group |= i + 1 < count ? (uint32_t)bytes[i + 1] << 8 : 0;
        group |= i + 2 < count ? bytes[i + 2] : 0;
        for (unsigned k = 0; k < 4; k++)
            text[used++] = i + k <= count ? digits[group >> (18 - 6 * k) & 63] : '=';
    }
    if (text)
        text[used] = '\0';
    return text;
}

/* Decoded bytes with @pad zero bytes behind; NULL: a character outside base64, or no memory. */
static uint8_t *base64_decode(const char *text, size_t pad, size_t *count)
{
    size_t length = strlen(text);
    uint8_t *bytes = calloc(length / 4 * 3 + pad + 1, 1);
    *count = 0;
    for (size_t i = 0; bytes && i + 4 <= length; i += 4) {
        uint32_t group = 0;
        for (unsigned k = 0; k < 4; k++) {
            const char *digit = text[i + k] == '=' ? digits : strchr(digits, text[i + k]);
            if (!digit) {
                free(bytes);
                return NULL;
            }
            group = group << 6 | (uint32_t)(digit - digits);
        }
        for (unsigned k = 0; k < 3; k++)
            bytes[(*count)++] = (uint8_t)(group >> (16 - 8 * k));
    }
    return bytes;
}

struct output {
    uint8_t *bytes;
    size_t count;
};

/* Shifts out the bytes on which both ends of the range agree. */
static void encoder_shift(struct output *out, uint32_t *low, uint32_t *high)
{
    while (((*low ^ *high) >> 24) == 0) {
        out->bytes[out->count++] = (uint8_t)(*high >> 24);
        *low <<= 8;
        *high = *high << 8 | 255;
    }
}

char *vector_pack(const uint8_t *bits, const uint32_t *pages, uint64_t count, uint64_t page_count)
{
    struct model model;
    struct output out = {0};
    uint32_t low = 0;
    uint32_t high = UINT32_MAX;
    char *text = NULL;
    bool good = model_init(&model, page_count);
    /* A bit costs at most 11 bits at the clamped probabilities. */
    out.bytes = malloc((size_t)count * 2 + 16);
    for (uint64_t i = 0; good && out.bytes && i < count; i++) {
        bool miss = bits[i / 8] >> (i % 8) & 1;
        model_choose(&model, pages[i], i);
        uint32_t cut = range_cut(&model, low, high);
        if (miss)
            high = cut;
        else
            low = cut + 1;
        encoder_shift(&out, &low, &high);
        model_learn(&model, pages[i], i, miss);
    }
    if (good && out.bytes) {
        for (unsigned shift = 32; shift > 0; shift -= 8)
            out.bytes[out.count++] = (uint8_t)(high >> (shift - 8));
        text = base64_encode(out.bytes, out.count);
    }
    model_free(&model);
    free(out.bytes);
    return text;
}

static uint8_t *unpack(const uint8_t *bytes, size_t size, const uint32_t *pages, uint64_t count,
                       struct model *model)
{
    uint8_t *bits = calloc((size_t)(count / 8 + 1), 1);
    uint32_t low = 0;
    uint32_t high = UINT32_MAX;
    size_t next = 4;
    uint32_t code =
        (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
    for (uint64_t i = 0; bits && i < count; i++) {
        model_choose(model, pages[i], i);
        uint32_t cut = range_cut(model, low, high);
        bool miss = code <= cut;
        if (miss) {
            high = cut;
            bits[i / 8] |= (uint8_t)(1u << (i % 8));
        } else {
            low = cut + 1;
        }
        for (; ((low ^ high) >> 24) == 0; low <<= 8, high = high << 8 | 255)
            code = code << 8 | (next < size ? bytes[next++] : 0);
        model_learn(model, pages[i], i, miss);
    }
    return bits;
}

uint8_t *vector_unpack(const char *text, const uint32_t *pages, uint64_t count, uint64_t page_count)
{
    struct model model;
    size_t size = 0;
    uint8_t *bits = NULL;
    uint8_t *bytes = base64_decode(text, 4, &size);
    bool good = model_init(&model, page_count);
    if (good && bytes && size >= 4)
        bits = unpack(bytes, size, pages, count, &model);
    model_free(&model);
    free(bytes);
    return bits;
}
