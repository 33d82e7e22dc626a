/* SPDX-License-Identifier: MIT */
/* Compressed kernels; see image.h. Offsets are those of the x86 boot protocol and of EFI zboot. */
#include "layout/read/image.h"

#include "layout/read/unpack.h"

#define SETUP_SECTS 0x1f1
#define BOOT_FLAG 0x1fe
#define HEADER_MAGIC 0x202
#define PROTOCOL 0x206
#define PAYLOAD_OFFSET 0x248
#define PAYLOAD_LENGTH 0x24c
/* The first protocol with a payload offset. */
#define PROTOCOL_MIN 0x208

#define BTF_HEADER_BYTES 24

static struct span part(struct span file, uint64_t offset, uint64_t bytes)
{
    if (offset > file.bytes)
        return (struct span){file.data, 0};
    uint64_t left = file.bytes - offset;
    return (struct span){file.data + offset, (size_t)(bytes < left ? bytes : left)};
}

static uint32_t u32_at(struct span file, uint64_t offset)
{
    struct bytes at = bytes_from(file, offset, false);
    return bytes_u32(&at);
}

static bool is_bzimage(struct span file)
{
    return file.bytes > PAYLOAD_LENGTH + 4 && file.data[BOOT_FLAG] == 0x55 &&
           file.data[BOOT_FLAG + 1] == 0xaa && memcmp(file.data + HEADER_MAGIC, "HdrS", 4) == 0 &&
           (u32_at(file, PROTOCOL) & 0xffff) >= PROTOCOL_MIN;
}

static bool is_zboot(struct span file)
{
    return file.bytes > 32 && memcmp(file.data, "MZ", 2) == 0 &&
           memcmp(file.data + 4, "zimg", 4) == 0;
}

bool image_payload(struct span file, struct span *packed)
{
    *packed = file;
    if (is_bzimage(file)) {
        /* 0 stands for 4 in files of the oldest loaders. */
        uint64_t sectors = file.data[SETUP_SECTS] != 0 ? file.data[SETUP_SECTS] : 4;
        *packed = part(file, (sectors + 1) * 512 + u32_at(file, PAYLOAD_OFFSET),
                       u32_at(file, PAYLOAD_LENGTH));
        return true;
    }
    if (is_zboot(file)) {
        *packed = part(file, u32_at(file, 8), u32_at(file, 12));
        return true;
    }
    return unpack_detect(file) != UNPACK_NONE;
}

/* A header whose parts follow each other and end inside the file. */
static bool is_btf(struct span file, size_t offset)
{
    struct bytes at = bytes_from(file, offset, file.data[offset] == 0xeb);
    bytes_skip(&at, 2);
    uint8_t version = bytes_u8(&at);
    bytes_skip(&at, 1);
    uint64_t header = bytes_u32(&at);
    uint64_t type_offset = bytes_u32(&at), type_bytes = bytes_u32(&at);
    uint64_t text_offset = bytes_u32(&at), text_bytes = bytes_u32(&at);
    return !at.bad && version == 1 && header == BTF_HEADER_BYTES && type_offset == 0 &&
           type_bytes > 0 && text_offset == type_bytes && text_bytes > 0 &&
           header + type_bytes + text_bytes <= file.bytes - offset;
}

bool image_find_btf(struct span file, struct span *btf)
{
    /* BTF is aligned to 4 bytes wherever a linker puts it. */
    for (size_t i = 0; file.bytes >= BTF_HEADER_BYTES && i <= file.bytes - BTF_HEADER_BYTES;
         i += 4) {
        bool magic = (file.data[i] == 0x9f && file.data[i + 1] == 0xeb) ||
                     (file.data[i] == 0xeb && file.data[i + 1] == 0x9f);
        if (magic && is_btf(file, i)) {
            *btf = (struct span){file.data + i, file.bytes - i};
            return true;
        }
    }
    return false;
}
