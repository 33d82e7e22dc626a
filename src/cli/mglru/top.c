/* SPDX-License-Identifier: MIT */
/* `mglru top`: the memcgs of a live cache, once or as a display that goes on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <mglru/error.h>

#include "cli/mglru/command.h"
#include "cli/mglru/screen.h"
#include "cli/mglru/stop.h"
#include "cli/mglru/tenants.h"
#include "cli/mglru/values.h"

static const char name[] = "top";

/* How often the display looks. */
#define LOOK_MS 1000
/* Title, empty line and the names of the columns. */
#define HEAD_LINES 3

enum option_id { OPTION_HELP, OPTION_ONCE, OPTION_JSON };

static const struct args_option options[] = {
    {"--help", false, OPTION_HELP}, {"-h", false, OPTION_HELP}, {"--once", false, OPTION_ONCE},
    {"--json", true, OPTION_JSON},  {NULL, false, 0},
};

static const char help[] =
    "usage: mglru top SOCKET [--once] [--json FILE]\n"
    "\n"
    "Shows the memory cgroups of the page cache of a program that listens at SOCKET, parents "
    "before\n"
    "children, with what is below them: memory and limits, and hits, misses, pages read, "
    "refaults,\n"
    "pages reclaimed and generations a second. Keys: q quits, arrows or j and k scroll.\n"
    "\n"
    "options\n"
    "  --once           prints the table once, counts since the memcgs were made; so it is as "
    "well\n"
    "                   where input or output is no terminal\n"
    "  --json FILE      writes one look for programs; FILE - is standard output\n"
    "\n"
    "examples\n"
    "  mglru top /run/server/cache\n"
    "  mglru top /run/server/cache --json - | jq '.memcgs[] | select(.events_oom > 0).path'\n"
    "\n"
    "exit status: 0 done; 2 usage; 3 the environment refused, or the cache hung up\n";

struct top {
    const char *socket;
    const char *json;
    bool once;
    bool help;
};

static bool parse(struct top *top, int argc, char **argv, struct args_error *error)
{
    struct args line = {.argc = argc, .argv = argv, .next = 1};
    for (;;) {
        const char *value;
        int id = args_next(&line, options, &value);
        if (args_refused(id, value, "mglru top", error))
            return false;
        switch (id) {
        case ARGS_END:
            return top->socket || args_fail(error, "expected the SOCKET of a cache");
        case ARGS_PLAIN:
            if (top->socket)
                return args_fail(error, "%s: one socket at a time", value);
            top->socket = value;
            break;
        case OPTION_HELP:
            top->help = true;
            return true;
        case OPTION_ONCE:
            top->once = true;
            break;
        default:
            if (!values_output(&top->json, "--json", value, error))
                return false;
        }
    }
}

/* --- once ----------------------------------------------------------------------------------- */

static int write_once(const struct top *top, const struct tenants *tenants,
                      struct args_error *error)
{
    struct report_out out;
    struct report_error refused = {.text = ""};
    int code = top->json ? report_out_open(&out, top->json, &refused)
                         : report_out_stream(&out, stdout, "standard output");
    if (!code) {
        if (top->json)
            report_tenants_json(&out, &tenants->view);
        else
            report_tenants_table(&out, &tenants->view, NULL, 1);
        code = report_out_close(&out, &refused);
    }
    if (!code)
        return COMMAND_DONE;
    args_fail(error, "%s", refused.text[0] ? refused.text : mglru_error_text(code));
    return cli_status_of(code);
}

static int show_once(const struct top *top, struct connection *connection, struct args_error *error)
{
    struct tenants tenants;
    int status = tenants_ask(connection, &tenants, error);
    if (status)
        return status;
    status = write_once(top, &tenants, error);
    tenants_free(&tenants);
    return status;
}

/* --- the display ---------------------------------------------------------------------------- */

struct look {
    struct tenants tenants;
    double seconds; /* of the clock */
};

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The display as text; NULL: out of memory. */
static char *compose(const struct top *top, const struct look *now, const struct look *before)
{
    char *text = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&text, &bytes);
    struct report_out out;
    if (!stream)
        return NULL;
    if (report_out_stream(&out, stream, top->socket) == 0) {
        bool first = !before->tenants.items;
        report_printf(&out, "%s: %zu memcgs; counts %s; q quits\n\n", top->socket,
                      now->tenants.view.count, first ? "since the start" : "a second");
        report_tenants_table(&out, &now->tenants.view, first ? NULL : &before->tenants.view,
                             now->seconds - before->seconds);
        struct report_error refused;
        report_out_close(&out, &refused);
    }
    fclose(stream);
    return text;
}

static int show_display(const struct top *top, struct connection *connection,
                        struct args_error *error)
{
    struct look before = {.seconds = 0}, now;
    size_t scroll = 0;
    int status = COMMAND_DONE;
    bool quit = false, colours = !getenv("NO_COLOR");
    while (!quit && !stop_wanted()) {
        status = tenants_ask(connection, &now.tenants, error);
        if (status)
            break;
        now.seconds = seconds_now();
        char *text = compose(top, &now, &before);
        double next = now.seconds + LOOK_MS / 1e3;
        for (double left = LOOK_MS / 1e3; text && left > 0 && !quit && !stop_wanted();
             left = next - seconds_now()) {
            screen_draw(text, HEAD_LINES, &scroll, colours);
            enum screen_key key = screen_wait((int)(left * 1e3) + 1);
            quit = key == SCREEN_QUIT;
            scroll += key == SCREEN_DOWN;
            scroll -= key == SCREEN_UP && scroll > 0;
        }
        free(text);
        tenants_free(&before.tenants);
        before = now;
    }
    tenants_free(&before.tenants);
    screen_leave();
    return status;
}

int command_top(int argc, char **argv)
{
    struct top top = {.once = false};
    struct args_error error;
    struct connection connection;
    if (!parse(&top, argc, argv, &error))
        return command_fail(name, COMMAND_USAGE, "%s", error.text);
    if (top.help) {
        fputs(help, stdout);
        return COMMAND_DONE;
    }
    int status = connection_open(&connection, top.socket, &error);
    if (!status && !top.once && !top.json && stop_catch() && screen_enter())
        status = show_display(&top, &connection, &error);
    else if (!status)
        status = show_once(&top, &connection, &error);
    connection_close(&connection);
    if (stop_wanted())
        return stop_now(name);
    return status ? command_fail(name, status, "%s", error.text) : status;
}
