/* SPDX-License-Identifier: MIT */
/* xz through liblzma. */
#include "trace/codec.h"

static const unsigned char xz_magic[] = {0xfd, '7', 'z', 'X', 'Z', 0x00};

#ifdef MGLRU_HAVE_LZMA
#include <lzma.h>
#include <stdint.h>
#include <stdlib.h>

#include <mglru/error.h>

/*
 * Chosen: a header may ask for a dictionary of 4 GiB; xz -9 needs 65 MiB. More is refused, so that
 * a lying header cannot take the machine's memory.
 */
#define XZ_MEMORY_BYTES (UINT64_C(512) << 20)

struct xz_stream {
    lzma_stream lzma;
    bool ended;
};

static int xz_create(void **stream, bool encoder)
{
    struct xz_stream *xz = calloc(1, sizeof(*xz));
    *stream = xz;
    if (!xz)
        return MGLRU_ENOMEM;
    lzma_ret rc;
    if (encoder)
        rc = lzma_easy_encoder(&xz->lzma, LZMA_PRESET_DEFAULT, LZMA_CHECK_CRC64);
    else
        rc = lzma_stream_decoder(&xz->lzma, XZ_MEMORY_BYTES, LZMA_CONCATENATED);
    if (rc == LZMA_OK)
        return 0;
    free(xz);
    *stream = NULL;
    return MGLRU_ENOMEM;
}

static void xz_destroy(void *stream)
{
    struct xz_stream *xz = stream;
    lzma_end(&xz->lzma);
    free(xz);
}

static lzma_ret xz_step(struct xz_stream *xz, struct codec_io *io, lzma_action action)
{
    xz->lzma.next_in = io->in;
    xz->lzma.avail_in = io->in_bytes;
    xz->lzma.next_out = io->out;
    xz->lzma.avail_out = io->out_bytes;
    lzma_ret rc = lzma_code(&xz->lzma, action);
    io->in = xz->lzma.next_in;
    io->in_bytes = xz->lzma.avail_in;
    io->out = xz->lzma.next_out;
    io->out_bytes = xz->lzma.avail_out;
    return rc;
}

static int xz_decoder_create(void **stream)
{
    return xz_create(stream, false);
}

/*
 * Concatenated mode ends only when it is told that no input follows, so an empty input means
 * "that was all" here: the caller never runs the decoder without input before the end.
 */
static int xz_decoder_run(void *stream, struct codec_io *io, bool *whole, const char **why)
{
    struct xz_stream *xz = stream;
    *whole = xz->ended;
    *why = "invalid data";
    if (xz->ended)
        return 0;
    lzma_ret rc = xz_step(xz, io, io->in_bytes ? LZMA_RUN : LZMA_FINISH);
    xz->ended = rc == LZMA_STREAM_END;
    *whole = xz->ended;
    if (rc == LZMA_MEM_ERROR)
        return MGLRU_ENOMEM;
    if (rc == LZMA_MEMLIMIT_ERROR)
        *why = "it needs more than 512 MiB of memory";
    if (rc == LZMA_FORMAT_ERROR)
        *why = "no xz header where one must be";
    if (rc == LZMA_OPTIONS_ERROR)
        *why = "unknown options in a header";
    /* LZMA_BUF_ERROR is "no progress": at the end of the input the stream is not whole. */
    return rc == LZMA_OK || rc == LZMA_STREAM_END || rc == LZMA_BUF_ERROR ? 0 : MGLRU_EINVAL;
}

static int xz_encoder_create(void **stream)
{
    return xz_create(stream, true);
}

static int xz_encoder_run(void *stream, struct codec_io *io, bool finish, bool *whole)
{
    lzma_ret rc = xz_step(stream, io, finish ? LZMA_FINISH : LZMA_RUN);
    *whole = rc == LZMA_STREAM_END;
    if (rc == LZMA_MEM_ERROR)
        return MGLRU_ENOMEM;
    return rc == LZMA_OK || rc == LZMA_STREAM_END || rc == LZMA_BUF_ERROR ? 0 : MGLRU_EIO;
}
#endif

const struct codec codec_xz = {
    .name = "xz",
    .suffix = ".xz",
    .library = "liblzma",
    .magic = xz_magic,
    .magic_bytes = sizeof(xz_magic),
#ifdef MGLRU_HAVE_LZMA
    .decoder_create = xz_decoder_create,
    .decoder_run = xz_decoder_run,
    .decoder_destroy = xz_destroy,
    .encoder_create = xz_encoder_create,
    .encoder_run = xz_encoder_run,
    .encoder_destroy = xz_destroy,
#endif
};
