/* SPDX-License-Identifier: MIT */
/*
 * Result codes of libmglru.
 *
 * Every fallible function returns 0 or one of the negative codes below. Values are pinned: a code
 * keeps its number once released. The library never sets errno; mglru_error_errno() gives the
 * errno that the kernel's own interface would have returned for the same refusal.
 */
#ifndef MGLRU_ERROR_H
#define MGLRU_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define MGLRU_API __attribute__((visibility("default")))
#else
#define MGLRU_API
#endif

enum mglru_error {
    MGLRU_OK = 0,
    MGLRU_EINVAL = -1,    /* an argument, a text or an option is not acceptable */
    MGLRU_ENOMEM = -2,    /* the memory allocator refused */
    MGLRU_ENOENT = -3,    /* no such memcg, mapping, file or control name */
    MGLRU_EEXIST = -4,    /* the name is taken, or aging did not advance */
    MGLRU_EBUSY = -5,     /* the object still has children, users or pages over the limit */
    MGLRU_EAGAIN = -6,    /* less was reclaimed than asked for */
    MGLRU_ERANGE = -7,    /* the number is outside what the object can hold */
    MGLRU_EINTR = -8,     /* the caller asked to stop */
    MGLRU_ENOSPC = -9,    /* swap or another store is full */
    MGLRU_EIO = -10,      /* a store failed */
    MGLRU_EOOM = -11,     /* the memcg is out of memory: nothing left to reclaim below its limit */
    MGLRU_EPERM = -12,    /* the environment or the file mode does not allow it */
    MGLRU_ENOTSUP = -13,  /* the model or this build has no such feature */
    MGLRU_EOVERFLOW = -14 /* a count or a size does not fit */
};

/*
 * Text of a code, for people. @code: any value; unknown ones give "unknown error".
 * Returns a string that lives for ever. Any thread, never blocks.
 */
MGLRU_API const char *mglru_error_text(int code);

/*
 * The errno (positive, <errno.h>) that the kernel returns in the same case; 0 for MGLRU_OK.
 * Any thread, never blocks.
 */
MGLRU_API int mglru_error_errno(int code);

#ifdef __cplusplus
}
#endif
#endif
