/* SPDX-License-Identifier: MIT */
/* Goal: a C++ program links with the library by the names that the headers declare. */
#include <mglru/cache.h>
#include <mglru/control.h>
#include <mglru/error.h>
#include <mglru/stores.h>

int main()
{
    return mglru_error_text(MGLRU_EINVAL) != nullptr && mglru_error_errno(MGLRU_OK) == 0 ? 0 : 1;
}
