/* SPDX-License-Identifier: MIT */
/*
 * Compression behind one table: gzip, xz and zstd, each present only when its library was found
 * at build time. A codec turns bytes into bytes; files and buffers are the caller's business.
 * A stream belongs to one thread at a time.
 */
#ifndef TRACE_CODEC_H
#define TRACE_CODEC_H

#include <stdbool.h>
#include <stddef.h>

/* Buffers of one step; the codec moves the pointers and lowers the counts. */
struct codec_io {
    const unsigned char *in;
    size_t in_bytes;
    unsigned char *out;
    size_t out_bytes;
};

struct codec {
    const char *name;   /* "gzip" */
    const char *suffix; /* ".gz" */
    const char *library;
    const unsigned char *magic; /* first bytes of every stream */
    size_t magic_bytes;
    /* NULL where the library was missing. 0, MGLRU_ENOMEM or MGLRU_EIO. */
    int (*decoder_create)(void **stream);
    /*
     * Decodes until the input is used up or the output is full; streams one behind the other are
     * one. *@whole, false at first and then left alone between calls: the input so far ends where
     * a stream ends. No input is given only when the input has ended. MGLRU_EINVAL: not such a
     * stream, *@why tells (static text); MGLRU_ENOMEM.
     */
    int (*decoder_run)(void *stream, struct codec_io *io, bool *whole, const char **why);
    void (*decoder_destroy)(void *stream);
    int (*encoder_create)(void **stream);
    /* With @finish the end of the stream is written; *@whole: all of it has been. */
    int (*encoder_run)(void *stream, struct codec_io *io, bool finish, bool *whole);
    void (*encoder_destroy)(void *stream);
};

extern const struct codec codec_gzip;
extern const struct codec codec_xz;
extern const struct codec codec_zstd;

/* The codec whose magic stands at @data; NULL: none. */
const struct codec *codec_by_magic(const unsigned char *data, size_t bytes);

/* The codec whose suffix ends @path; NULL: none. */
const struct codec *codec_by_suffix(const char *path);

#endif
