/* SPDX-License-Identifier: MIT */
/* See file.h. */
#include "coherence/file.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mglru/error.h>

#include "base/errno.h"

int coherence_file_open(const char *path, struct coherence_bytes *file,
                        struct coherence_error *error)
{
    struct stat about;
    *file = (struct coherence_bytes){"", 0, path};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &about) != 0) {
        int code = errno_code(errno);
        coherence_fail(error, code, "%s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return code;
    }
    if (!S_ISREG(about.st_mode)) {
        close(fd);
        return coherence_fail(error, MGLRU_EINVAL, "%s: expected a regular file", path);
    }
    void *mapped = NULL;
    if (about.st_size > 0)
        mapped = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (mapped == MAP_FAILED)
        return coherence_fail(error, MGLRU_EIO, "%s: cannot be mapped", path);
    if (mapped != NULL)
        *file = (struct coherence_bytes){mapped, (size_t)about.st_size, path};
    return MGLRU_OK;
}

void coherence_file_close(struct coherence_bytes *file)
{
    if (file->bytes > 0)
        munmap((void *)file->data, file->bytes);
    *file = (struct coherence_bytes){"", 0, file->name};
}
