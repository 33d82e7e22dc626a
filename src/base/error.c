/* SPDX-License-Identifier: MIT */
/* Texts and errno values of the public result codes; the one place that lists them. */
#include <mglru/error.h>

#include <errno.h>
#include <stddef.h>

static const struct {
    int code;
    int errno_value;
    const char *text;
} errors[] = {
    {MGLRU_OK, 0, "success"},
    {MGLRU_EINVAL, EINVAL, "invalid argument"},
    {MGLRU_ENOMEM, ENOMEM, "out of memory for metadata"},
    {MGLRU_ENOENT, ENOENT, "no such object"},
    {MGLRU_EEXIST, EEXIST, "exists already, or aging did not advance"},
    {MGLRU_EBUSY, EBUSY, "object is in use"},
    {MGLRU_EAGAIN, EAGAIN, "less was reclaimed than asked for"},
    {MGLRU_ERANGE, ERANGE, "number out of range"},
    {MGLRU_EINTR, EINTR, "interrupted"},
    {MGLRU_ENOSPC, ENOSPC, "no space left in swap or store"},
    {MGLRU_EIO, EIO, "store failed"},
    {MGLRU_EOOM, ENOMEM, "memcg is out of memory: nothing left to reclaim below its limit"},
    {MGLRU_EPERM, EPERM, "not permitted"},
    {MGLRU_ENOTSUP, EOPNOTSUPP, "not supported by this model or build"},
    {MGLRU_EOVERFLOW, EOVERFLOW, "value too large"},
};

const char *mglru_error_text(int code)
{
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
        if (errors[i].code == code)
            return errors[i].text;
    return "unknown error";
}

int mglru_error_errno(int code)
{
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
        if (errors[i].code == code)
            return errors[i].errno_value;
    return EINVAL;
}
