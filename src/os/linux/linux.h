/* SPDX-License-Identifier: MIT */
/* What the parts of the real machine share. Not for anybody outside os/. */
#ifndef OS_LINUX_LINUX_H
#define OS_LINUX_LINUX_H

#include "os/os.h"

struct os_file {
    int fd;
};

/* The code of <mglru/error.h> for an errno value; MGLRU_EIO for those without one of their own. */
int linux_error(int errno_value);

/* The file calls of the contract. */
int linux_file_open(const char *path, enum os_open_mode mode, struct os_file **out);
int linux_file_read(struct os_file *file, void *buffer, size_t bytes, uint64_t offset,
                    size_t *done);
int linux_file_write(struct os_file *file, const void *buffer, size_t bytes, uint64_t offset);
int linux_file_size(struct os_file *file, uint64_t *bytes);
int linux_file_sync(struct os_file *file);
int linux_file_open_direct(const struct os_file *file, struct os_file **out);
int linux_file_readv(struct os_file *file, const struct os_span *spans, unsigned count,
                     uint64_t offset, size_t *done);
int linux_file_writev(struct os_file *file, const struct os_span *spans, unsigned count,
                      uint64_t offset, size_t *done);
int linux_file_datasync(struct os_file *file);
int linux_file_punch(struct os_file *file, uint64_t offset, uint64_t bytes);
int linux_file_resize(struct os_file *file, uint64_t bytes);
void linux_file_close(struct os_file *file);
int linux_file_remove(const char *path);

#endif
