/* SPDX-License-Identifier: MIT */
/* mglru: dispatches to one file per subcommand. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "cli/mglru/command.h"

static const struct command {
    const char *name;
    const char *about;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"record", "record which pages of files a program accesses, as the kernel sees it",
     command_record},
    {"replay", "replay a trace under memory limits, as the kernel or another policy would",
     command_replay},
    {"plan", "say how much memory a workload needs: memory.high, .max and .low", command_plan},
    {"merge", "join the results of `mglru replay --shard` into one", command_merge},
    {"bench", "measure the library on this machine: hits, refaults, replays", command_bench},
    {"ctl", "control the page cache of a running program", command_ctl},
    {"top", "watch the memory cgroups of a running program's page cache", command_top},
};

static int print_help(void)
{
    puts("usage: mglru COMMAND [ARGUMENT...]\n"
         "\n"
         "Linux page reclaim in user space: how often would a workload miss at other memory\n"
         "limits, on other kernels, under other policies?\n"
         "\n"
         "commands:");
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(commands); i++)
        printf("  %-8s %s\n", commands[i].name, commands[i].about);
    puts("\n"
         "  mglru COMMAND --help   what a command does, its options and examples\n"
         "  mglru --version        the version\n"
         "\n"
         "exit status: 0 done; 1 a check found something; 2 usage or bad input; 3 the environment\n"
         "refused (permission, missing feature, full disk, closed pipe)\n"
         "\n"
         "example:\n"
         "  mglru replay trace.gz --memory 256M,512M,1G --model 6.12,7.3 --policy mglru,classic");
    return COMMAND_DONE;
}

/* Standard output is complete, or the exit status says that it is not. */
static int finish_output(int status)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    if (status == COMMAND_DONE)
        fprintf(stderr, "mglru: standard output: write failed: %s\n",
                strerror(errno != 0 ? errno : EIO));
    return status == COMMAND_DONE ? COMMAND_ENVIRONMENT : status;
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        fputs("mglru: no command given; `mglru --help` lists them\n", stderr);
        return COMMAND_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return print_help();
    if (strcmp(argv[1], "--version") == 0) {
        puts("mglru " MGLRU_VERSION);
        return COMMAND_DONE;
    }
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(commands); i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    fprintf(stderr, "mglru: no command is named '%s'; `mglru --help` lists them\n", argv[1]);
    return COMMAND_USAGE;
}

int main(int argc, char **argv)
{
    /* A closed pipe shall be an error of the write, not the end of the program. */
    signal(SIGPIPE, SIG_IGN);
    return finish_output(dispatch(argc, argv));
}
