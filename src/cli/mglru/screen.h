/* SPDX-License-Identifier: MIT */
/*
 * A terminal taken over for a display that is drawn anew again and again: plain ANSI sequences, the
 * alternate screen, keys without echo. However the program ends, but by SIGKILL, the terminal is
 * as it was. One screen a program; standard input and output are the terminal.
 */
#ifndef CLI_MGLRU_SCREEN_H
#define CLI_MGLRU_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

enum screen_key { SCREEN_NONE, SCREEN_QUIT, SCREEN_UP, SCREEN_DOWN };

/* Takes the terminal over. False: standard input or output is none. */
bool screen_enter(void);

/* Gives it back; nothing to do when it was not taken. */
void screen_leave(void);

/* Waits for a key, at most @ms; SCREEN_NONE also when the window got another size, a signal came
 * (stop.h) or the key means nothing. */
enum screen_key screen_wait(int ms);

/*
 * Draws lines of text, cut to the window: @head lines stay on top, of the others those from
 * *@scroll on, which is lowered to what there is to scroll. @colours: the first line of the table
 * stands out.
 */
void screen_draw(const char *text, size_t head, size_t *scroll, bool colours);

#endif
