/* SPDX-License-Identifier: MIT */
/* Files of the real machine. */
#include "os/linux/linux.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/check.h"
#include "base/errno.h"

int linux_error(int errno_value)
{
    int code = errno_code(errno_value);
    return code == MGLRU_EINVAL ? MGLRU_EIO : code; /* os/os.h knows no bad names */
}

static int open_flags(enum os_open_mode mode)
{
    switch (mode) {
    case OS_OPEN_READ:
        return O_RDONLY;
    case OS_OPEN_WRITE:
        return O_RDWR | O_CREAT;
    default:
        return O_RDWR | O_CREAT | O_TRUNC;
    }
}

int linux_file_open(const char *path, enum os_open_mode mode, struct os_file **out)
{
    struct os_file *file = malloc(sizeof(*file));
    if (!file)
        return MGLRU_ENOMEM;
    file->fd = open(path, open_flags(mode) | O_CLOEXEC, 0666);
    struct stat info;
    int error = file->fd < 0             ? linux_error(errno)
                : fstat(file->fd, &info) ? MGLRU_EIO
                : S_ISDIR(info.st_mode)  ? MGLRU_EIO
                                         : MGLRU_OK;
    if (error) {
        if (file->fd >= 0)
            close(file->fd);
        free(file);
        return error;
    }
    *out = file;
    return MGLRU_OK;
}

int linux_file_read(struct os_file *file, void *buffer, size_t bytes, uint64_t offset, size_t *done)
{
    while (*done < bytes) {
        ssize_t got =
            pread(file->fd, (char *)buffer + *done, bytes - *done, (off_t)(offset + *done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return MGLRU_EIO;
        if (!got)
            return MGLRU_OK;
        *done += (size_t)got;
    }
    return MGLRU_OK;
}

int linux_file_write(struct os_file *file, const void *buffer, size_t bytes, uint64_t offset)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t put =
            pwrite(file->fd, (const char *)buffer + done, bytes - done, (off_t)(offset + done));
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return linux_error(errno) == MGLRU_ENOSPC ? MGLRU_ENOSPC : MGLRU_EIO;
        done += (size_t)put;
    }
    return MGLRU_OK;
}

int linux_file_size(struct os_file *file, uint64_t *bytes)
{
    struct stat info;
    if (fstat(file->fd, &info))
        return MGLRU_EIO;
    off_t size = info.st_size;
    if (S_ISBLK(info.st_mode))
        size = lseek(file->fd, 0, SEEK_END); /* nobody reads at the handle's own position */
    if (size < 0)
        return MGLRU_EIO;
    *bytes = (uint64_t)size;
    return MGLRU_OK;
}

int linux_file_sync(struct os_file *file)
{
    return fsync(file->fd) ? MGLRU_EIO : MGLRU_OK;
}

void linux_file_close(struct os_file *file)
{
    close(file->fd);
    free(file);
}

int linux_file_remove(const char *path)
{
    return unlink(path) ? linux_error(errno) : MGLRU_OK;
}

/* The name under /proc leads to the same file even when its path was removed or taken anew. */
int linux_file_open_direct(const struct os_file *file, struct os_file **out)
{
    char name[sizeof("/proc/self/fd/") + 3 * sizeof(int)];
    int flags = fcntl(file->fd, F_GETFL);
    struct os_file *direct = flags < 0 ? NULL : malloc(sizeof(*direct));
    if (!direct)
        return flags < 0 ? MGLRU_EIO : MGLRU_ENOMEM;
    snprintf(name, sizeof(name), "/proc/self/fd/%d", file->fd);
    direct->fd = open(name, (flags & O_ACCMODE) | O_DIRECT | O_CLOEXEC);
    if (direct->fd < 0) {
        free(direct);
        return errno == ENOMEM ? MGLRU_ENOMEM : MGLRU_ENOTSUP;
    }
    *out = direct;
    return MGLRU_OK;
}

static int transfer_error(int errno_value)
{
    if (errno_value == EINVAL)
        return MGLRU_EINVAL;
    return linux_error(errno_value) == MGLRU_ENOSPC ? MGLRU_ENOSPC : MGLRU_EIO;
}

/* struct iovec is what os_span mirrors; copying it costs less than the system call by far. */
static void fill_iovec(struct iovec *iov, const struct os_span *spans, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        iov[i] = (struct iovec){.iov_base = spans[i].start, .iov_len = spans[i].bytes};
}

int linux_file_readv(struct os_file *file, const struct os_span *spans, unsigned count,
                     uint64_t offset, size_t *done)
{
    struct iovec iov[OS_SPANS_MAX];
    ssize_t got;
    fill_iovec(iov, spans, count);
    do {
        got = preadv(file->fd, iov, (int)count, (off_t)offset);
    } while (got < 0 && errno == EINTR);
    if (got < 0)
        return transfer_error(errno);
    *done = (size_t)got;
    return MGLRU_OK;
}

int linux_file_writev(struct os_file *file, const struct os_span *spans, unsigned count,
                      uint64_t offset, size_t *done)
{
    struct iovec iov[OS_SPANS_MAX];
    ssize_t put;
    fill_iovec(iov, spans, count);
    do {
        put = pwritev(file->fd, iov, (int)count, (off_t)offset);
    } while (put < 0 && errno == EINTR);
    if (put < 0)
        return transfer_error(errno);
    *done = (size_t)put;
    return MGLRU_OK;
}

int linux_file_datasync(struct os_file *file)
{
    return fdatasync(file->fd) ? MGLRU_EIO : MGLRU_OK;
}

int linux_file_punch(struct os_file *file, uint64_t offset, uint64_t bytes)
{
    int flags = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
    while (fallocate(file->fd, flags, (off_t)offset, (off_t)bytes)) {
        if (errno != EINTR)
            return errno == EOPNOTSUPP || errno == ENOSYS ? MGLRU_ENOTSUP : MGLRU_EIO;
    }
    return MGLRU_OK;
}

int linux_file_resize(struct os_file *file, uint64_t bytes)
{
    while (ftruncate(file->fd, (off_t)bytes)) {
        if (errno != EINTR)
            return linux_error(errno) == MGLRU_ENOSPC ? MGLRU_ENOSPC : MGLRU_EIO;
    }
    return MGLRU_OK;
}
