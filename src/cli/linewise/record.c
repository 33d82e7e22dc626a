/* SPDX-License-Identifier: MIT */
/*
 * `linewise record`: runs a program that was linked with the recorder, and says what it got.
 *
 * The recorder writes the log beside its final name; it gets the name when it is complete, so a
 * program that died leaves nothing that looks like a recording.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mglru/error.h>

#include "cli/linewise/command.h"
#include "cli/args.h"
#include "coherence/log.h"
#include "report/number.h"

#define COMMAND "record"
#define LOG_DEFAULT "linewise.log"
/* What a shell says of a command that is not there; chosen for our child too. */
#define EXEC_FAILED 127

static const char help[] =
    "usage: linewise record [-o FILE] [--watch NAME[=TYPE],...] [--mode MODE]\n"
    "                       [--max SIZE] -- COMMAND [ARGUMENT...]\n"
    "\n"
    "Runs COMMAND and writes down which thread reads and writes what. COMMAND is compiled\n"
    "with -fsanitize=thread and linked with the recorder instead of the sanitizer:\n"
    "\n"
    "  cc -g -O2 $(pkg-config --cflags linewise-rt) -c server.c\n"
    "  cc server.o $(pkg-config --libs linewise-rt) -pthread -o server\n"
    "  linewise record -o server.log -- ./server\n"
    "\n"
    "Its variables are watched without a word, objects from the heap when the program calls\n"
    "linewise_watch() of <linewise/watch.h>.\n"
    "\n"
    "  -o FILE              where to (linewise.log)\n"
    "  --watch NAME[=TYPE]  only these variables, with commas between\n"
    "  --mode MODE          log (default); count: how many accesses are watched, no log of\n"
    "                       them; filter: what the recorder costs alone\n"
    "  --max SIZE           the log's size (1G); what comes later is lost and counted\n"
    "\n"
    "Not seen: atomics in inline assembly, libc, libraries that were not compiled so, and\n"
    "small memcpy and memset that the compiler made (-fno-builtin shows them).\n"
    "\n"
    "exit status: 0 done; 2 usage, or COMMAND cannot be recorded; 3 the environment refused\n";

struct record {
    const char *output;
    const char *watch;
    const char *mode;
    uint64_t max_bytes;
    char **command;
    char *temporary;
    bool help;
};

enum { OPTION_HELP, OPTION_OUTPUT, OPTION_WATCH, OPTION_MODE, OPTION_MAX, OPTION_IGNORED };

static int read_option(struct record *record, int id, const char *value)
{
    switch (id) {
    case OPTION_OUTPUT:
        record->output = value;
        return LINEWISE_CLEAN;
    case OPTION_WATCH:
        record->watch = value;
        return LINEWISE_CLEAN;
    case OPTION_MODE:
        record->mode = value;
        if (strcmp(value, "log") == 0 || strcmp(value, "count") == 0 ||
            strcmp(value, "filter") == 0)
            return LINEWISE_CLEAN;
        return linewise_fail(COMMAND, LINEWISE_USAGE, "--mode: '%s' is none of log, count, filter",
                             value);
    case OPTION_MAX:
        if (args_size(value, &record->max_bytes) && record->max_bytes >= 4096)
            return LINEWISE_CLEAN;
        return linewise_fail(COMMAND, LINEWISE_USAGE, "--max: '%s' is no size of 4K or more",
                             value);
    default:
        return LINEWISE_CLEAN;
    }
}

static int read_options(struct record *record, int argc, char **argv)
{
    static const struct args_option allowed[] = {
        {"--help", false, OPTION_HELP},
        {"-h", false, OPTION_HELP},
        {"-o", true, OPTION_OUTPUT},
        {"--watch", true, OPTION_WATCH},
        {"--mode", true, OPTION_MODE},
        {"--max", true, OPTION_MAX},
        {"--btf", false, OPTION_IGNORED},
        {"--btf-base", true, OPTION_IGNORED},
        {NULL, false, 0},
    };
    struct args line = {.argc = argc, .argv = argv, .next = 1};
    while (record->command == NULL) {
        const char *value;
        int id = args_next(&line, allowed, &value), status = LINEWISE_CLEAN;
        struct args_error refused;
        if (id == ARGS_END)
            return linewise_fail(COMMAND, LINEWISE_USAGE,
                                 "no command was given; `linewise record -- COMMAND`");
        if (id == OPTION_HELP) {
            fputs(help, stdout);
            record->help = true;
            return LINEWISE_CLEAN;
        }
        if (id == ARGS_PLAIN)
            record->command = &argv[line.next - 1]; /* the rest is the command's */
        else if (args_refused(id, value, "linewise record", &refused))
            status = linewise_fail(COMMAND, LINEWISE_USAGE, "%s", refused.text);
        else
            status = read_option(record, id, value);
        if (status != LINEWISE_CLEAN)
            return status;
    }
    return LINEWISE_CLEAN;
}

static void run_child(const struct record *record)
{
    char max[32];
    snprintf(max, sizeof(max), "%" PRIu64, record->max_bytes);
    setenv("LINEWISE_LOG", record->temporary, 1);
    setenv("LINEWISE_MODE", record->mode, 1);
    setenv("LINEWISE_MAX", max, 1);
    unsetenv("LINEWISE_WATCH");
    if (record->watch != NULL)
        setenv("LINEWISE_WATCH", record->watch, 1);
    signal(SIGPIPE, SIG_DFL);
    execvp(record->command[0], record->command);
    linewise_fail(COMMAND, LINEWISE_USAGE, "%s: %s", record->command[0], strerror(errno));
    _exit(EXEC_FAILED);
}

/* Runs the command to its end. A terminal's interrupt goes to both; the command decides. */
static int run_command(const struct record *record, int *ended)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, old;
    pid_t child = fork();
    if (child == 0)
        run_child(record);
    if (child < 0)
        return linewise_fail(COMMAND, LINEWISE_ENVIRONMENT, "fork: %s", strerror(errno));
    sigaction(SIGINT, &ignore, &old);
    while (waitpid(child, ended, 0) < 0 && errno == EINTR)
        ;
    sigaction(SIGINT, &old, NULL);
    return LINEWISE_CLEAN;
}

static void print_count(const char *what, uint64_t count)
{
    char text[REPORT_NUMBER_BYTES];
    report_number_count(count, text, sizeof(text));
    fprintf(stderr, "  %-28s %s\n", what, text);
}

static void print_totals(const struct record *record, const uint64_t *totals)
{
    fprintf(stderr, "linewise record: %s\n", record->output);
    print_count("accesses logged", totals[LOG_TOTAL_LOGGED]);
    print_count("watched", totals[LOG_TOTAL_COUNTED]);
    print_count("of other memory", totals[LOG_TOTAL_FILTERED]);
    print_count("lost: the log was full", totals[LOG_TOTAL_LOST]);
    if (totals[LOG_TOTAL_LOST_OBJECTS] > 0)
        print_count("objects beyond the bound", totals[LOG_TOTAL_LOST_OBJECTS]);
    if (totals[LOG_TOTAL_LOST_THREADS] > 0)
        print_count("threads beyond the bound", totals[LOG_TOTAL_LOST_THREADS]);
    fprintf(stderr,
            "  cost of an access, measured  %.1f ns other, %.1f ns counted, %.1f ns logged\n",
            (double)totals[LOG_TOTAL_FILTER_PS] / 1000, (double)totals[LOG_TOTAL_COUNT_PS] / 1000,
            (double)totals[LOG_TOTAL_LOG_PS] / 1000);
    fputs("  not seen: atomics in inline assembly, libc, libraries that are not instrumented,\n"
          "  small memcpy and memset that the compiler made (-fno-builtin shows them)\n",
          stderr);
}

static int not_recorded(const struct record *record)
{
    return linewise_fail(
        COMMAND, LINEWISE_USAGE,
        "%s was not recorded: it has to be compiled with -fsanitize=thread and linked, without that"
        " option, with -llinewise-rt; `linewise record --help` shows how",
        record->command[0]);
}

/* Looks at what the recorder left and gives it its name. */
static int keep_log(const struct record *record)
{
    struct coherence_log log;
    struct coherence_error error;
    int code = coherence_log_read(record->temporary, 64, &log, &error);
    int status = LINEWISE_CLEAN;
    if (code == MGLRU_ENOENT)
        status = not_recorded(record);
    else if (code != MGLRU_OK)
        status = linewise_fail(COMMAND, cli_status_of(code), "%s", error.text);
    else if (rename(record->temporary, record->output) != 0)
        status =
            linewise_fail(COMMAND, LINEWISE_ENVIRONMENT, "%s: %s", record->output, strerror(errno));
    else
        print_totals(record, log.totals);
    coherence_log_free(&log);
    if (status != LINEWISE_CLEAN)
        unlink(record->temporary);
    return status;
}

static int run(struct record *record)
{
    int ended = 0;
    if (asprintf(&record->temporary, "%s.%ld", record->output, (long)getpid()) < 0) {
        record->temporary = NULL;
        return linewise_fail(COMMAND, LINEWISE_ENVIRONMENT, "out of memory");
    }
    int status = run_command(record, &ended);
    if (status != LINEWISE_CLEAN)
        return status;
    if (WIFEXITED(ended) && WEXITSTATUS(ended) == EXEC_FAILED &&
        access(record->temporary, F_OK) != 0)
        return LINEWISE_USAGE; /* the child said why */
    if (WIFSIGNALED(ended))
        fprintf(stderr, "linewise record: the command was ended by signal %d\n", WTERMSIG(ended));
    else if (WEXITSTATUS(ended) != 0)
        fprintf(stderr, "linewise record: the command's exit status was %d\n", WEXITSTATUS(ended));
    return keep_log(record);
}

int linewise_record(int argc, char **argv)
{
    struct record record = {.output = LOG_DEFAULT, .mode = "log", .max_bytes = (uint64_t)1 << 30};
    int status = read_options(&record, argc, argv);
    if (status == LINEWISE_CLEAN && !record.help)
        status = run(&record);
    free(record.temporary);
    return status;
}
