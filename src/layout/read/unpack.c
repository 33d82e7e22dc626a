/* SPDX-License-Identifier: MIT */
/* Decompression; see unpack.h. Each library is optional at build time. */
#include "layout/read/unpack.h"

#include <stdlib.h>

#include <mglru/error.h>

#ifdef MGLRU_HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef MGLRU_HAVE_LZMA
#include <lzma.h>
#endif
#ifdef MGLRU_HAVE_ZSTD
#include <zstd.h>
#endif
#ifdef MGLRU_HAVE_LZ4
#include <lz4.h>
#endif

/* Chosen: debug information shrinks to a third, kernels to a sixth; 256 is far from both, and the
 * constant lets small test files be anything. */
#define RATIO_MAX 256u
#define GROWTH_FREE ((size_t)64 << 20)

/* Blocks of the legacy lz4 format hold at most this much (its specification). */
#define LZ4_BLOCK_MAX ((size_t)8 << 20)

/* Output under construction. */
struct sink {
    uint8_t *data;
    size_t used;
    size_t capacity;
    size_t limit;
};

size_t unpack_limit(size_t packed_bytes)
{
    size_t limit =
        packed_bytes < SIZE_MAX / RATIO_MAX / 2 ? packed_bytes * RATIO_MAX : SIZE_MAX / 2;
    return limit + GROWTH_FREE;
}

enum unpack_format unpack_detect(struct span packed)
{
    static const struct {
        enum unpack_format format;
        uint8_t length;
        uint8_t magic[6];
    } magics[] = {
        {UNPACK_GZIP, 3, {0x1f, 0x8b, 8}},          {UNPACK_XZ, 6, {0xfd, '7', 'z', 'X', 'Z', 0}},
        {UNPACK_ZSTD, 4, {0x28, 0xb5, 0x2f, 0xfd}}, {UNPACK_LZ4, 4, {0x02, 0x21, 0x4c, 0x18}},
        {UNPACK_OTHER, 3, {'B', 'Z', 'h'}},         {UNPACK_OTHER, 4, {0x5d, 0, 0, 0}},
        {UNPACK_OTHER, 4, {0x89, 'L', 'Z', 'O'}},
    };
    for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
        if (packed.bytes > magics[i].length &&
            memcmp(packed.data, magics[i].magic, magics[i].length) == 0)
            return magics[i].format;
    return UNPACK_NONE;
}

#if defined(MGLRU_HAVE_ZLIB) || defined(MGLRU_HAVE_LZMA) || defined(MGLRU_HAVE_ZSTD) ||            \
    defined(MGLRU_HAVE_LZ4)
/* Makes room for at least @least more bytes: MGLRU_OK, MGLRU_EINVAL (limit) or MGLRU_ENOMEM. */
static int make_room(struct sink *sink, size_t least)
{
    if (sink->capacity - sink->used >= least)
        return MGLRU_OK;
    if (sink->limit - sink->used < least)
        return MGLRU_EINVAL;
    size_t want = sink->capacity * 2 > sink->used + least ? sink->capacity * 2 : sink->used + least;
    if (want > sink->limit)
        want = sink->limit;
    uint8_t *more = realloc(sink->data, want);
    if (more == NULL)
        return MGLRU_ENOMEM;
    sink->data = more;
    sink->capacity = want;
    return MGLRU_OK;
}
#endif

#ifdef MGLRU_HAVE_ZLIB
/* Chosen: one step of output. */
#define STEP ((size_t)256 << 10)

static int inflate_all(struct span packed, struct sink *sink, int window)
{
    z_stream stream = {0};
    if (inflateInit2(&stream, window) != Z_OK)
        return MGLRU_ENOMEM;
    int code = MGLRU_OK, status = Z_OK;
    while (code == MGLRU_OK && status != Z_STREAM_END) {
        code = make_room(sink, STEP);
        if (code != MGLRU_OK)
            break;
        size_t in = packed.bytes < UINT32_MAX / 2 ? packed.bytes : UINT32_MAX / 2;
        size_t room = sink->capacity - sink->used;
        room = room < UINT32_MAX / 2 ? room : UINT32_MAX / 2;
        stream.next_in = (Bytef *)packed.data;
        stream.avail_in = (uInt)in;
        stream.next_out = sink->data + sink->used;
        stream.avail_out = (uInt)room;
        status = inflate(&stream, Z_NO_FLUSH);
        size_t eaten = in - stream.avail_in, made = room - stream.avail_out;
        packed.data += eaten;
        packed.bytes -= eaten;
        sink->used += made;
        if (status != Z_STREAM_END && (status != Z_OK || eaten + made == 0))
            code = status == Z_MEM_ERROR ? MGLRU_ENOMEM : MGLRU_EINVAL;
    }
    inflateEnd(&stream);
    return code;
}
#endif

#ifdef MGLRU_HAVE_LZMA
static int unxz_all(struct span packed, struct sink *sink)
{
    /* Chosen: the largest preset of xz needs 65 MB; kernels are packed with less. */
    const uint64_t memory = (uint64_t)128 << 20;
    lzma_stream stream = LZMA_STREAM_INIT;
    if (lzma_stream_decoder(&stream, memory, 0) != LZMA_OK)
        return MGLRU_ENOMEM;
    stream.next_in = packed.data;
    stream.avail_in = packed.bytes;
    int code = MGLRU_OK;
    lzma_ret status = LZMA_OK;
    while (code == MGLRU_OK && status != LZMA_STREAM_END) {
        code = make_room(sink, (size_t)256 << 10);
        if (code != MGLRU_OK)
            break;
        stream.next_out = sink->data + sink->used;
        stream.avail_out = sink->capacity - sink->used;
        status = lzma_code(&stream, LZMA_RUN);
        sink->used = sink->capacity - stream.avail_out;
        if (status != LZMA_OK && status != LZMA_STREAM_END)
            code = status == LZMA_MEM_ERROR ? MGLRU_ENOMEM : MGLRU_EINVAL;
    }
    lzma_end(&stream);
    return code;
}
#endif

#ifdef MGLRU_HAVE_ZSTD
static int unzstd_all(struct span packed, struct sink *sink)
{
    ZSTD_DCtx *context = ZSTD_createDCtx();
    if (context == NULL)
        return MGLRU_ENOMEM;
    /* Chosen: what zstd --ultra -22 needs, as kernels are packed with it. */
    ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, 27);
    ZSTD_inBuffer in = {packed.data, packed.bytes, 0};
    int code = MGLRU_OK;
    for (size_t left = 1; code == MGLRU_OK && left != 0;) {
        code = make_room(sink, ZSTD_DStreamOutSize());
        if (code != MGLRU_OK)
            break;
        ZSTD_outBuffer out = {sink->data, sink->capacity, sink->used};
        size_t eaten = in.pos;
        left = ZSTD_decompressStream(context, &out, &in);
        if (ZSTD_isError(left) || (left != 0 && eaten == in.pos && out.pos == sink->used))
            code = MGLRU_EINVAL;
        sink->used = out.pos;
    }
    ZSTD_freeDCtx(context);
    return code;
}
#endif

#ifdef MGLRU_HAVE_LZ4
/* Frames of [magic] {[size] block}: the list ends with the input, or with what cannot be a size, as
 * a kernel's image has its length behind it. */
static int unlz4_all(struct span packed, struct sink *sink)
{
    struct bytes in = bytes_from(packed, 4, false);
    while (bytes_left(&in) >= 4) {
        uint32_t size = bytes_u32(&in);
        if (size == 0x184c2102u)
            continue;
        if (size == 0 || size > (uint32_t)LZ4_compressBound((int)LZ4_BLOCK_MAX) ||
            size > bytes_left(&in))
            return sink->used > 0 && bytes_left(&in) == 0 ? MGLRU_OK : MGLRU_EINVAL;
        int code = make_room(sink, LZ4_BLOCK_MAX);
        if (code != MGLRU_OK)
            return code;
        int made = LZ4_decompress_safe((const char *)in.at, (char *)sink->data + sink->used,
                                       (int)size, (int)LZ4_BLOCK_MAX);
        if (made < 0)
            return MGLRU_EINVAL;
        sink->used += (size_t)made;
        bytes_skip(&in, size);
    }
    return sink->used > 0 ? MGLRU_OK : MGLRU_EINVAL;
}
#endif

static int run(enum unpack_format format, struct span packed, struct sink *sink)
{
    switch (format) {
#ifdef MGLRU_HAVE_ZLIB
    case UNPACK_ZLIB:
        return inflate_all(packed, sink, 15);
    case UNPACK_GZIP:
        return inflate_all(packed, sink, 15 + 16);
#endif
#ifdef MGLRU_HAVE_LZMA
    case UNPACK_XZ:
        return unxz_all(packed, sink);
#endif
#ifdef MGLRU_HAVE_ZSTD
    case UNPACK_ZSTD:
        return unzstd_all(packed, sink);
#endif
#ifdef MGLRU_HAVE_LZ4
    case UNPACK_LZ4:
        return unlz4_all(packed, sink);
#endif
    default:
        return MGLRU_ENOTSUP;
    }
}

int unpack(enum unpack_format format, struct span packed, struct blob *plain, const char *name,
           struct layout_error *error)
{
    static const char *const packages[] = {"",
                                           "zlib (zlib1g-dev)",
                                           "zlib (zlib1g-dev)",
                                           "liblzma (liblzma-dev)",
                                           "libzstd (libzstd-dev)",
                                           "liblz4 (liblz4-dev)"};
    *plain = (struct blob){0};
    struct sink sink = {.limit = unpack_limit(packed.bytes)};
    int code = run(format, packed, &sink);
    if (code == MGLRU_OK) {
        *plain = (struct blob){.span = {sink.data, sink.used}, .owner = BLOB_ALLOCATED};
        return MGLRU_OK;
    }
    free(sink.data);
    if (code == MGLRU_ENOMEM)
        return layout_fail(error, code, "%s: out of memory while decompressing", name);
    if (code == MGLRU_EINVAL)
        return layout_fail(error, code, "%s: the compressed data is damaged or cut off", name);
    if (format == UNPACK_NONE)
        return layout_fail(error, MGLRU_EINVAL,
                           "%s: no packed kernel lies where the image's header says", name);
    if (format == UNPACK_OTHER)
        return layout_fail(error, MGLRU_EINVAL,
                           "%s: compressed with bzip2, lzma or lzo; decompress it first", name);
    return layout_fail(error, code, "%s: compressed, and this program was built without %s", name,
                       packages[format]);
}
