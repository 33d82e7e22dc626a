/* SPDX-License-Identifier: MIT */
/* Finds the codec for some bytes or for a file name. */
#include "trace/codec.h"

#include <string.h>

#include "base/check.h"

static const struct codec *const codecs[] = {&codec_gzip, &codec_xz, &codec_zstd};

const struct codec *codec_by_magic(const unsigned char *data, size_t bytes)
{
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(codecs); i++) {
        const struct codec *codec = codecs[i];
        if (bytes >= codec->magic_bytes && memcmp(data, codec->magic, codec->magic_bytes) == 0)
            return codec;
    }
    return NULL;
}

const struct codec *codec_by_suffix(const char *path)
{
    size_t bytes = strlen(path);
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(codecs); i++) {
        size_t suffix = strlen(codecs[i]->suffix);
        if (bytes > suffix && strcmp(path + bytes - suffix, codecs[i]->suffix) == 0)
            return codecs[i];
    }
    return NULL;
}
