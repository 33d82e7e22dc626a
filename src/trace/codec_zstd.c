/* SPDX-License-Identifier: MIT */
/* zstd (RFC 8878) through libzstd. Frames one behind the other are one stream. */
#include "trace/codec.h"

static const unsigned char zstd_magic[] = {0x28, 0xb5, 0x2f, 0xfd};

#ifdef MGLRU_HAVE_ZSTD
#include <zstd.h>
#include <zstd_errors.h>

#include <mglru/error.h>

static int zstd_decoder_create(void **stream)
{
    *stream = ZSTD_createDStream();
    return *stream ? 0 : MGLRU_ENOMEM;
}

static void zstd_decoder_destroy(void *stream)
{
    ZSTD_freeDStream(stream);
}

static int zstd_decoder_run(void *stream, struct codec_io *io, bool *whole, const char **why)
{
    *why = "invalid data";
    /* Without input there may still be output that found no room before. */
    if (*whole && io->in_bytes == 0)
        return 0;
    do {
        ZSTD_inBuffer in = {io->in, io->in_bytes, 0};
        ZSTD_outBuffer out = {io->out, io->out_bytes, 0};
        size_t rc = ZSTD_decompressStream(stream, &out, &in);
        io->in += in.pos;
        io->in_bytes -= in.pos;
        io->out += out.pos;
        io->out_bytes -= out.pos;
        if (ZSTD_isError(rc)) {
            *why = ZSTD_getErrorName(rc);
            return ZSTD_getErrorCode(rc) == ZSTD_error_memory_allocation ? MGLRU_ENOMEM
                                                                         : MGLRU_EINVAL;
        }
        *whole = rc == 0;
    } while (io->out_bytes > 0 && io->in_bytes > 0);
    return 0;
}

static int zstd_encoder_create(void **stream)
{
    *stream = ZSTD_createCStream();
    return *stream ? 0 : MGLRU_ENOMEM;
}

static void zstd_encoder_destroy(void *stream)
{
    ZSTD_freeCStream(stream);
}

static int zstd_encoder_run(void *stream, struct codec_io *io, bool finish, bool *whole)
{
    ZSTD_inBuffer in = {io->in, io->in_bytes, 0};
    ZSTD_outBuffer out = {io->out, io->out_bytes, 0};
    size_t rc = ZSTD_compressStream2(stream, &out, &in, finish ? ZSTD_e_end : ZSTD_e_continue);
    io->in += in.pos;
    io->in_bytes -= in.pos;
    io->out += out.pos;
    io->out_bytes -= out.pos;
    *whole = finish && rc == 0;
    if (!ZSTD_isError(rc))
        return 0;
    return ZSTD_getErrorCode(rc) == ZSTD_error_memory_allocation ? MGLRU_ENOMEM : MGLRU_EIO;
}
#endif

const struct codec codec_zstd = {
    .name = "zstd",
    .suffix = ".zst",
    .library = "libzstd",
    .magic = zstd_magic,
    .magic_bytes = sizeof(zstd_magic),
#ifdef MGLRU_HAVE_ZSTD
    .decoder_create = zstd_decoder_create,
    .decoder_run = zstd_decoder_run,
    .decoder_destroy = zstd_decoder_destroy,
    .encoder_create = zstd_encoder_create,
    .encoder_run = zstd_encoder_run,
    .encoder_destroy = zstd_encoder_destroy,
#endif
};
