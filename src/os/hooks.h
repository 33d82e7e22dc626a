/* SPDX-License-Identifier: MIT */
/* Thread-exit hooks, for implementations that end threads themselves. Not for use outside os/. */
#ifndef OS_HOOKS_H
#define OS_HOOKS_H

/* Runs the calling thread's exit hooks now instead of at its real end. */
void hooks_run_now(void);

#endif
