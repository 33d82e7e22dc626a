/* SPDX-License-Identifier: MIT */
/* A client that knows the installed library alone; built by `make check` through pkg-config. */
#include <mglru/cache.h>
#include <mglru/control.h>
#include <mglru/error.h>
#include <mglru/stores.h>

#include <string.h>

int main(void)
{
    return strcmp(mglru_error_text(MGLRU_OK), "success") == 0 ? 0 : 1;
}
