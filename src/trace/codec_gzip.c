/* SPDX-License-Identifier: MIT */
/* gzip (RFC 1952) through zlib. Members one behind the other are one stream, as gzip reads them. */
#include "trace/codec.h"

static const unsigned char gzip_magic[] = {0x1f, 0x8b};

#ifdef MGLRU_HAVE_ZLIB
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

#include <mglru/error.h>

/* windowBits of zlib: 15 is the largest window, 16 more asks for the gzip wrapper. */
#define GZIP_WINDOW (15 + 16)

struct gzip_stream {
    z_stream z;
    bool between; /* a member has ended; whatever follows must be another */
};

static int gzip_decoder_create(void **stream)
{
    struct gzip_stream *gzip = calloc(1, sizeof(*gzip));
    *stream = gzip;
    if (!gzip)
        return MGLRU_ENOMEM;
    if (inflateInit2(&gzip->z, GZIP_WINDOW) == Z_OK)
        return 0;
    free(gzip);
    *stream = NULL;
    return MGLRU_ENOMEM;
}

static void gzip_decoder_destroy(void *stream)
{
    struct gzip_stream *gzip = stream;
    inflateEnd(&gzip->z);
    free(gzip);
}

/* zlib counts in unsigned int; our buffers are far smaller. */
static void gzip_lend(struct gzip_stream *gzip, const struct codec_io *io)
{
    gzip->z.next_in = (unsigned char *)(uintptr_t)io->in;
    gzip->z.avail_in = (unsigned)io->in_bytes;
    gzip->z.next_out = io->out;
    gzip->z.avail_out = (unsigned)io->out_bytes;
}

static void gzip_take_back(const struct gzip_stream *gzip, struct codec_io *io)
{
    io->in = gzip->z.next_in;
    io->in_bytes = gzip->z.avail_in;
    io->out = gzip->z.next_out;
    io->out_bytes = gzip->z.avail_out;
}

static int gzip_decoder_run(void *stream, struct codec_io *io, bool *whole, const char **why)
{
    struct gzip_stream *gzip = stream;
    int rc = Z_OK;
    /* Without input there may still be output that found no room before. */
    do {
        if (gzip->between) {
            if (io->in_bytes == 0)
                break;
            if (inflateReset(&gzip->z) != Z_OK)
                return MGLRU_EIO;
            gzip->between = false;
        }
        gzip_lend(gzip, io);
        rc = inflate(&gzip->z, Z_NO_FLUSH);
        gzip_take_back(gzip, io);
        if (rc == Z_STREAM_END)
            gzip->between = true;
        else if (rc != Z_OK)
            break;
    } while (io->out_bytes > 0 && io->in_bytes > 0);
    *whole = gzip->between;
    *why = gzip->z.msg ? gzip->z.msg : "invalid data";
    if (rc == Z_MEM_ERROR)
        return MGLRU_ENOMEM;
    return rc == Z_DATA_ERROR || rc == Z_NEED_DICT || rc == Z_STREAM_ERROR ? MGLRU_EINVAL : 0;
}

static int gzip_encoder_create(void **stream)
{
    struct gzip_stream *gzip = calloc(1, sizeof(*gzip));
    *stream = gzip;
    if (!gzip)
        return MGLRU_ENOMEM;
    int rc = deflateInit2(&gzip->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, MAX_MEM_LEVEL,
                          Z_DEFAULT_STRATEGY);
    if (rc == Z_OK)
        return 0;
    free(gzip);
    *stream = NULL;
    return MGLRU_ENOMEM;
}

static void gzip_encoder_destroy(void *stream)
{
    struct gzip_stream *gzip = stream;
    deflateEnd(&gzip->z);
    free(gzip);
}

static int gzip_encoder_run(void *stream, struct codec_io *io, bool finish, bool *whole)
{
    struct gzip_stream *gzip = stream;
    gzip_lend(gzip, io);
    int rc = deflate(&gzip->z, finish ? Z_FINISH : Z_NO_FLUSH);
    gzip_take_back(gzip, io);
    *whole = rc == Z_STREAM_END;
    return rc == Z_STREAM_ERROR ? MGLRU_EIO : 0;
}
#endif

const struct codec codec_gzip = {
    .name = "gzip",
    .suffix = ".gz",
    .library = "zlib",
    .magic = gzip_magic,
    .magic_bytes = sizeof(gzip_magic),
#ifdef MGLRU_HAVE_ZLIB
    .decoder_create = gzip_decoder_create,
    .decoder_run = gzip_decoder_run,
    .decoder_destroy = gzip_decoder_destroy,
    .encoder_create = gzip_encoder_create,
    .encoder_run = gzip_encoder_run,
    .encoder_destroy = gzip_encoder_destroy,
#endif
};
