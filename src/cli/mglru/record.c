/* SPDX-License-Identifier: MIT */
/*
 * `mglru record`: command line -> recording -> summary -> the command's exit status.
 *
 * Like strace and perf record, it ends as the command ended: with its exit status, or by the same
 * signal. A refusal of its own goes before that.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mglru/error.h>

#include "cli/mglru/command.h"
#include "cli/mglru/record_args.h"
#include "cli/mglru/stop.h"

static const char name[] = "record";

static bool is_plain(const char *word)
{
    return word[0] != '\0' &&
           word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                             "0123456789_@%+=:,./-")] == '\0';
}

/* The command line again, for root. */
static void print_sudo(char **argv)
{
    fputs("mglru record: root may: sudo mglru", stderr);
    for (; *argv != NULL; argv++) {
        if (is_plain(*argv)) {
            fprintf(stderr, " %s", *argv);
            continue;
        }
        fputs(" '", stderr);
        for (const char *c = *argv; *c != '\0'; c++)
            fputs(*c == '\'' ? "'\\''" : (const char[]){*c, '\0'}, stderr);
        fputc('\'', stderr);
    }
    fputc('\n', stderr);
}

/* Ends this program as the command ended. */
static int end_as(int wait_status)
{
    if (wait_status < 0)
        return COMMAND_DONE;
    if (!WIFSIGNALED(wait_status))
        return WEXITSTATUS(wait_status);
    const struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    fflush(NULL);
    signal(WTERMSIG(wait_status), SIG_DFL);
    raise(WTERMSIG(wait_status));
    return 128 + WTERMSIG(wait_status);
}

static int run(const struct record_options *options, char **argv)
{
    struct record_report report;
    struct record_error error;
    int code = record_run(options, &report, &error), status = COMMAND_DONE;
    if (report.end == RECORD_END_TARGET)
        record_wait(&report, options->stop_fd);
    if (code == MGLRU_OK) {
        record_summary(options, &report);
    } else {
        status = command_fail(name, cli_status_of(code), "%s", error.text);
        if (error.root_helps)
            print_sudo(argv);
    }
    record_wait(&report, options->stop_fd);
    const int wait_status = report.wait_status;
    record_report_free(&report);
    return status == COMMAND_DONE ? end_as(wait_status) : status;
}

int command_record(int argc, char **argv)
{
    struct record_args args;
    struct args_error error;
    if (!record_args_parse(&args, argc, argv, &error))
        return command_fail(name, COMMAND_USAGE, "%s", error.text);
    if (args.help) {
        record_help();
        return COMMAND_DONE;
    }
    if (!stop_catch())
        return command_fail(name, COMMAND_ENVIRONMENT, "cannot catch signals: %s", strerror(errno));
    args.options.stop_fd = stop_fd();
    return run(&args.options, argv);
}
