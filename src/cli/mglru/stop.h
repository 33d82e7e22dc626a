/* SPDX-License-Identifier: MIT */
/*
 * SIGINT, SIGTERM and SIGHUP end a command in order: nothing partial is left, and the program ends
 * as the signal would have ended it. The work looks at stop_wanted() after each batch; whoever
 * waits for input also waits for stop_fd().
 */
#ifndef CLI_MGLRU_STOP_H
#define CLI_MGLRU_STOP_H

#include <stdbool.h>

/* From here on signals are caught. False: errno says why not. */
bool stop_catch(void);

/* Readable once a signal came; each byte is the number of one. */
int stop_fd(void);

bool stop_wanted(void);

/* Says "mglru @command: interrupted" and ends the program as the signal would have. Returns an exit
 * status where the signal is blocked. */
int stop_now(const char *command);

#endif
