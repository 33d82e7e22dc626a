/* SPDX-License-Identifier: MIT */
/* `mglru ctl`: one request to a live cache. */
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "cli/mglru/command.h"
#include "cli/mglru/tenants.h"

static const char name[] = "ctl";

static const char help[] =
    "usage: mglru ctl SOCKET read NAME | write NAME TEXT | mkdir PATH | rmdir PATH\n"
    "       mglru ctl SOCKET list | metrics\n"
    "\n"
    "Controls the page cache of a program that listens at SOCKET (mglru_control_open), by the\n"
    "names of the kernel's files.\n"
    "\n"
    "requests\n"
    "  read             prints the file NAME: of a memcg, as /a/b/memory.max, or of the cache:\n"
    "                   lru_gen, lru_gen_full, enabled, min_ttl_ms, swappiness\n"
    "  write            writes TEXT to it, as echo into the kernel's file\n"
    "  mkdir            makes the memcg at PATH, whose parent exists\n"
    "  rmdir            removes it; one that the program uses, or that has children, is busy\n"
    "  list             prints all memcgs as a table, the names of its columns first\n"
    "  metrics          prints figures of all memcgs as OpenMetrics text\n"
    "\n"
    "examples\n"
    "  mglru ctl /run/server/cache write /gold/memory.low 8G\n"
    "  mglru ctl /run/server/cache read lru_gen\n"
    "  mglru ctl /run/server/cache write lru_gen '+ 2 0 7'\n"
    "  mglru ctl /run/server/cache metrics > /var/lib/node-exporter/cache.prom\n"
    "\n"
    "exit status: 0 done; 2 usage, or the cache refused; 3 the environment refused\n";

static int print_metrics(struct connection *connection, struct args_error *error)
{
    struct tenants tenants;
    struct report_out out;
    int status = tenants_ask(connection, &tenants, error);
    if (!status)
        status = tenants_ask_stats(connection, &tenants, error);
    if (status)
        return status;
    struct report_error refused = {.text = ""};
    int code = report_out_stream(&out, stdout, "standard output");
    if (!code) {
        report_tenants_metrics(&out, &tenants.view);
        code = report_out_close(&out, &refused);
    }
    tenants_free(&tenants);
    if (code)
        args_fail(error, "%s", refused.text);
    return code ? COMMAND_ENVIRONMENT : COMMAND_DONE;
}

static const struct request {
    const char *verb;
    int words;         /* behind the verb */
    const char *usage; /* of them */
} requests[] = {
    {"read", 1, " NAME"}, {"write", 2, " NAME TEXT"}, {"mkdir", 1, " PATH"}, {"rmdir", 1, " PATH"},
    {"list", 0, ""},      {"metrics", 0, ""},
};

/* Whether a word may stand in a request: the protocol has one line. */
static bool check_words(char **words, int count, struct args_error *error)
{
    for (int i = 0; i < count; i++) {
        if (strpbrk(words[i], "\r\n"))
            return args_fail(error, "a line break; ';' separates the commands of lru_gen");
        if (i == 0 && (!words[i][0] || strchr(words[i], ' ')))
            return args_fail(error, "'%s': names and paths hold no blanks", words[i]);
    }
    return true;
}

static bool parse(int argc, char **argv, struct args_error *error)
{
    if (argc < 3)
        return args_fail(error, "expected SOCKET and read, write, mkdir, rmdir, list or metrics");
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(requests); i++) {
        if (strcmp(requests[i].verb, argv[2]) != 0)
            continue;
        if (argc - 3 != requests[i].words)
            return args_fail(error, "expected SOCKET %s%s", argv[2], requests[i].usage);
        return check_words(argv + 3, argc - 3, error);
    }
    return args_fail(error, "%s: expected read, write, mkdir, rmdir, list or metrics", argv[2]);
}

static int run(struct connection *connection, char **words, struct args_error *error)
{
    if (strcmp(words[0], "metrics") == 0)
        return print_metrics(connection, error);
    int status = connection_ask(connection, words[0], words[1], words[1] ? words[2] : NULL, error);
    if (!status)
        fwrite(connection->text, 1, connection->length, stdout);
    return status;
}

int command_ctl(int argc, char **argv)
{
    struct args_error error;
    struct connection connection;
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        fputs(help, stdout);
        return COMMAND_DONE;
    }
    if (!parse(argc, argv, &error))
        return command_fail(name, COMMAND_USAGE, "%s", error.text);
    int status = connection_open(&connection, argv[1], &error);
    if (!status)
        status = run(&connection, argv + 2, &error);
    connection_close(&connection);
    return status ? command_fail(name, status, "%s", error.text) : status;
}
