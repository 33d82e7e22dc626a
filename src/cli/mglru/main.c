/* SPDX-License-Identifier: MIT */
/* mglru: dispatches to one file per subcommand. */
#include <stdio.h>

int main(void)
{
    fprintf(stderr, "mglru: no command given\n");
    return 2;
}
