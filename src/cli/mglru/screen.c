/* SPDX-License-Identifier: MIT */
/* See screen.h. Handlers of signals reach file-scope variables alone, hence the state here. */
#include "cli/mglru/screen.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/check.h"
#include "base/utf8.h"
#include "cli/mglru/stop.h"

#define ENTER "\033[?1049h\033[?25l"        /* alternate screen, no cursor */
#define LEAVE "\033[0m\033[?25h\033[?1049l" /* and back */
#define HOME "\033[H"
#define NEXT_LINE "\n"
#define CLEAR_LINE                                                                                 \
    "\033[K" /* before its text: behind a full line it would take the last character */
#define END_OF_SCREEN "\033[J"
#define REVERSE "\033[7m"
#define PLAIN "\033[0m"

static struct termios before;
static volatile sig_atomic_t taken;

void screen_leave(void)
{
    if (!taken)
        return;
    taken = 0;
    ssize_t written = write(STDOUT_FILENO, LEAVE, sizeof(LEAVE) - 1);
    (void)written;
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
}

/* Restores the terminal and lets the signal do what it does. */
static void on_death(int number)
{
    screen_leave();
    signal(number, SIG_DFL);
    raise(number);
}

/* Ends the poll that waits. */
static void on_resize(int number)
{
}

static void catch_signals(void)
{
    static const int deaths[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGQUIT};
    const struct sigaction death = {.sa_handler = on_death}, resize = {.sa_handler = on_resize};
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(deaths); i++)
        sigaction(deaths[i], &death, NULL);
    sigaction(SIGWINCH, &resize, NULL);
    signal(SIGTSTP, SIG_IGN); /* stopped, it would leave the terminal as it is */
}

bool screen_enter(void)
{
    if (!isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &before) != 0)
        return false;
    struct termios raw = before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    atexit(screen_leave);
    catch_signals();
    taken = 1;
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw);
    fputs(ENTER, stdout);
    fflush(stdout);
    return true;
}

enum screen_key screen_wait(int ms)
{
    struct pollfd polls[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                             {.fd = stop_fd(), .events = POLLIN}};
    char keys[16];
    if (poll(polls, MGLRU_ARRAY_LEN(polls), ms) <= 0 || !polls[0].revents)
        return SCREEN_NONE;
    ssize_t count = read(STDIN_FILENO, keys, sizeof(keys) - 1);
    if (count <= 0 || memchr(keys, 'q', (size_t)count))
        return SCREEN_QUIT; /* the terminal is gone, or the user wants to be */
    keys[count] = '\0';
    if (keys[0] == 'k' || strcmp(keys, "\033[A") == 0 || strcmp(keys, "\033OA") == 0)
        return SCREEN_UP;
    if (keys[0] == 'j' || strcmp(keys, "\033[B") == 0 || strcmp(keys, "\033OB") == 0)
        return SCREEN_DOWN;
    return SCREEN_NONE;
}

/* --- drawing -------------------------------------------------------------------------------- */

/* Bytes of the first @columns characters of a line of @bytes. */
static size_t cut(const char *line, size_t bytes, size_t columns)
{
    size_t at = 0;
    for (size_t column = 0; at < bytes && column < columns; column++) {
        size_t length = utf8_sequence((const unsigned char *)line + at, bytes - at);
        at += length ? length : 1;
    }
    return at;
}

static size_t count_lines(const char *text)
{
    size_t count = 0;
    for (; (text = strchr(text, '\n')); text++)
        count++;
    return count;
}

static void draw_line(const char *line, size_t bytes, bool stands_out)
{
    printf("%s%.*s%s", stands_out ? REVERSE : "", (int)bytes, line, stands_out ? PLAIN : "");
}

void screen_draw(const char *text, size_t head, size_t *scroll, bool colours)
{
    struct winsize window;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || !window.ws_row || !window.ws_col)
        window = (struct winsize){.ws_row = 24, .ws_col = 80};
    size_t lines = count_lines(text);
    size_t most = lines > window.ws_row ? lines - window.ws_row : 0;
    if (*scroll > most)
        *scroll = most;
    fputs(HOME, stdout);
    size_t row = 0;
    for (size_t i = 0; i < lines && row < window.ws_row; i++) {
        const char *end = strchr(text, '\n');
        if (i < head || i >= head + *scroll) {
            fputs(row > 0 ? NEXT_LINE CLEAR_LINE : CLEAR_LINE, stdout);
            draw_line(text, cut(text, (size_t)(end - text), window.ws_col),
                      colours && i + 1 == head);
            row++;
        }
        text = end + 1;
    }
    if (row < window.ws_row)
        fputs(NEXT_LINE END_OF_SCREEN, stdout);
    fflush(stdout);
}
