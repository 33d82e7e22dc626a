/* SPDX-License-Identifier: MIT */
/*
 * What an errno of open, read, write and their kin is as a code of <mglru/error.h>: the one place
 * that says so, for the library and the tools. Threads: any.
 */
#ifndef BASE_ERRNO_H
#define BASE_ERRNO_H

#include <errno.h>

#include <mglru/error.h>

/*
 * MGLRU_ENOENT, _EPERM, _ENOMEM; MGLRU_ENOSPC: the disk or a quota is full; MGLRU_EINVAL: the name
 * cannot be that of such a file; MGLRU_EIO: anything else.
 */
static inline int errno_code(int errno_value)
{
    switch (errno_value) {
    case ENOENT:
    case ENOTDIR:
        return MGLRU_ENOENT;
    case EACCES:
    case EPERM:
    case EROFS:
        return MGLRU_EPERM;
    case ENOMEM:
        return MGLRU_ENOMEM;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return MGLRU_ENOSPC;
    case EISDIR:
    case EINVAL:
    case ENAMETOOLONG:
    case ELOOP:
        return MGLRU_EINVAL;
    default:
        return MGLRU_EIO;
    }
}

#endif
