/* SPDX-License-Identifier: MIT */
/* linewise: dispatches to one file per subcommand. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "cli/linewise/command.h"

static const struct command {
    const char *name;
    const char *about;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"list", "the types of a file with their sizes, lines and holes", linewise_list},
    {"show", "the map of a type: what lies on each line", linewise_show},
    {"conflicts", "which fields fight over a line, as stories, and which only seem to",
     linewise_conflicts},
    {"suggest", "which members to move so that fewer fields fight, and what it costs",
     linewise_suggest},
    {"why-size", "why a type has another size than before: the chain of causes", linewise_why_size},
    {"diff", "what moved, what grew, which fights are new, between two files", linewise_diff},
    {"classes", "a draft of the file that says who reads and writes each field", linewise_classes},
    {"lock", "writes down a layout that is to stay", linewise_lock},
    {"check", "fails when a layout is worse than its lock, or breaks a rule", linewise_check},
    {"record", "which thread reads and writes what, from a run of a program", linewise_record},
    {"predict", "what a recording costs on more CPUs, which fields are to blame", linewise_predict},
    {"import", "which fields to blame for what perf sampled: perf c2c, perf script",
     linewise_import},
};

static int print_help(void)
{
    puts("usage: linewise COMMAND FILE [ARGUMENT...]\n"
         "\n"
         "Draws the cache lines of a struct, finds the fields that fight over one, proposes the\n"
         "cheapest fix, and keeps it. FILE is any ELF file with DWARF, or a kernel with BTF.\n"
         "Without knowledge who writes what, record a run.\n"
         "\n"
         "commands:");
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(commands); i++)
        printf("  %-9s %s\n", commands[i].name, commands[i].about);
    puts("\n"
         "  linewise COMMAND --help   what a command does, its options and examples\n"
         "  linewise --version        the version\n"
         "\n"
         "options of every command\n"
         "  --btf             take BTF where a file has DWARF as well\n"
         "  --btf-base FILE   what a kernel module's BTF builds on (the running kernel's)\n"
         "\n"
         "exit status: 0 clean; 1 something was found; 2 usage or bad input; 3 the environment\n"
         "refused (permission, missing feature, full disk, closed pipe)");
    return LINEWISE_CLEAN;
}

/* Standard output is complete, or the exit status says that it is not. */
static int finish_output(int status)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    if (status != LINEWISE_ENVIRONMENT)
        fprintf(stderr, "linewise: standard output: write failed: %s\n",
                strerror(errno != 0 ? errno : EIO));
    return LINEWISE_ENVIRONMENT;
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        fputs("linewise: no command given; `linewise --help` lists them\n", stderr);
        return LINEWISE_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return print_help();
    if (strcmp(argv[1], "--version") == 0) {
        puts("linewise " MGLRU_VERSION);
        return LINEWISE_CLEAN;
    }
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(commands); i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    fprintf(stderr, "linewise: no command is named '%s'; `linewise --help` lists them\n", argv[1]);
    return LINEWISE_USAGE;
}

int main(int argc, char **argv)
{
    /* A closed pipe shall be an error of the write, not the end of the program. */
    signal(SIGPIPE, SIG_IGN);
    return finish_output(dispatch(argc, argv));
}
