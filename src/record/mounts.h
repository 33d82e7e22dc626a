/* SPDX-License-Identifier: MIT */
/*
 * What is mounted where, from the text of /proc/self/mountinfo, and which devices write through
 * which bdi (the kernel's name for a device's writeback).
 */
#ifndef RECORD_MOUNTS_H
#define RECORD_MOUNTS_H

#include <stddef.h>
#include <stdint.h>

struct mount {
    uint64_t device; /* the kernel's number, major << 20 | minor */
    char *root;      /* what of the file system is mounted */
    char *path;      /* where */
    char *type;
    char *options; /* of the file system */
    char bdi[32];  /* that of the disk; MAJOR:MINOR where there is none */
};

struct mounts {
    struct mount *items;
    size_t count;
};

static inline uint64_t mounts_device(unsigned major, unsigned minor)
{
    return (uint64_t)major << 20 | minor;
}

/* Lines that make no sense are passed over. MGLRU_ENOMEM. @text is changed. */
int mounts_parse(struct mounts *mounts, char *text);

/* Reads the running system's. MGLRU_ENOMEM; MGLRU_ENOTSUP: there is no /proc. */
int mounts_read(struct mounts *mounts);

void mounts_free(struct mounts *mounts);

#endif
