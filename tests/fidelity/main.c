/* SPDX-License-Identifier: MIT */
/*
 * fidelity: compares the library with recordings of real kernels.
 *
 *   fidelity [options] [FILE.json ...]
 *
 * Without files it takes every recording of 6.12/, 7.3/ and real/ below the oracle folder. Exit
 * status: 0 all inside their bounds, 1 some outside, 2 usage or bad input, 3 no recordings there.
 */
#include <getopt.h>
#include <glob.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "commands.h"
#include "compare.h"
#include "emit.h"
#include "fixtures.h"
#include "real.h"

#define ORACLE_DEFAULT "../shared/oracle"
#define PATH_BYTES 4096

enum { STATUS_INSIDE = 0, STATUS_OUTSIDE = 1, STATUS_USAGE = 2, STATUS_ENVIRONMENT = 3 };

struct program {
    const char *oracle;
    const char *mode;
    const char *emit;
    const char *json;
    const char *markdown;
    const char *fixtures;
    regex_t only;
    bool has_only;
    struct compare compare;
    size_t matched;
};

static const char help[] =
    "usage: fidelity [options] [FILE.json ...]\n"
    "  --oracle DIR       recordings (default " ORACLE_DEFAULT ", or $MGLRU_ORACLE)\n"
    "  --only REGEX       of \"KERNEL/SCENARIO\", for example '7.3/pread_.*'\n"
    "  --mode MODE        mglru, mglru_nowalk or classic\n"
    "  --model MODEL      run this model instead of the recording's kernel\n"
    "  --schedule NAME    one flush schedule instead of the stated one and the range\n"
    "  --all-schedules    the range over schedules for every mode\n"
    "  --verbose          counters and generations at each sample, the kernel's beside ours\n"
    "  --json FILE        the table as JSON\n"
    "  --markdown FILE    the table as Markdown\n"
    "  --emit-trace FILE  write the selected scenario as a native trace instead of running it\n"
    "  --through MGLRU    play each script through `MGLRU replay` as well: the same bits\n"
    "  --stated-only      flush schedules only where the bound is a range over them\n"
    "  --write-fixtures DIR  cut the selected recordings down to fixtures in DIR\n";

static const struct option options[] = {
    {"oracle", required_argument, NULL, 'o'},
    {"only", required_argument, NULL, 'r'},
    {"mode", required_argument, NULL, 'm'},
    {"model", required_argument, NULL, 'M'},
    {"schedule", required_argument, NULL, 's'},
    {"all-schedules", no_argument, NULL, 'a'},
    {"verbose", no_argument, NULL, 'v'},
    {"json", required_argument, NULL, 'j'},
    {"markdown", required_argument, NULL, 'd'},
    {"emit-trace", required_argument, NULL, 'e'},
    {"through", required_argument, NULL, 't'},
    {"stated-only", no_argument, NULL, 'S'},
    {"write-fixtures", required_argument, NULL, 'f'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static bool option_take(struct program *program, int letter, const char *value)
{
    switch (letter) {
    case 'o':
        program->oracle = value;
        return true;
    case 'r':
        program->has_only = regcomp(&program->only, value, REG_EXTENDED | REG_NOSUB) == 0;
        return program->has_only;
    case 'm':
        program->mode = value;
        return recording_mode_enabled(value) != NULL;
    case 'M':
        program->compare.model = value;
        return true;
    case 's':
        program->compare.schedule = value;
        return schedule_find(value) != NULL;
    case 'a':
        program->compare.all_schedules = true;
        return true;
    case 'v':
        program->compare.verbose = stdout;
        return true;
    case 'j':
        program->json = value;
        return true;
    case 'd':
        program->markdown = value;
        return true;
    case 'e':
        program->emit = value;
        return true;
    case 't':
        program->compare.through = value;
        return true;
    case 'S':
        program->compare.stated_only = true;
        return true;
    case 'f':
        program->fixtures = value;
        return true;
    default:
        return false;
    }
}

static bool selected(const struct program *program, const char *kernel, const char *name)
{
    char text[2 * PATH_BYTES];
    snprintf(text, sizeof(text), "%s/%s", kernel, name);
    return !program->has_only || regexec(&program->only, text, 0, NULL, 0) == 0;
}

static int emit_one(const struct program *program, const struct recording *recording)
{
    struct script script;
    int code = script_init(&script, &recording->scenario, &recording->clock,
                           recording_mode_enabled(recording->mode));
    if (!code)
        code = emit_trace(&script, 0, program->emit);
    script_free(&script);
    return code;
}

/* Passes @code on, with its error line on stderr. */
static int report(const struct program *program, int code)
{
    if (code)
        fprintf(stderr, "fidelity: %s\n", program->compare.error);
    return code;
}

static int run_recording(struct program *program, const struct recording *recording)
{
    if (program->mode && strcmp(program->mode, recording->mode) != 0)
        return 0;
    program->matched++;
    if (program->emit) {
        if (program->matched > 1) {
            fprintf(stderr, "fidelity: --emit-trace needs --only and --mode that select one run\n");
            return MGLRU_EINVAL;
        }
        int code = emit_one(program, recording);
        if (code)
            fprintf(stderr, "fidelity: %s: %s\n", program->emit, mglru_error_text(code));
        return code;
    }
    return report(program, compare_recording(recording, &program->compare));
}

/* DIR/KERNEL/NAME.json, with the folder of the recording; the folder must exist. */
static int write_fixture(struct program *program, const struct oracle_file *file, const char *path)
{
    char out[PATH_BYTES];
    const char *base = strrchr(path, '/');
    const char *folder = base;
    while (folder && folder > path && folder[-1] != '/')
        folder--;
    snprintf(out, sizeof(out), "%s/%s", program->fixtures, folder ? folder : path);
    int code = fixture_write(file, out);
    program->matched++;
    if (code)
        snprintf(program->compare.error, COMPARE_ERROR_BYTES, "%.400s: %s", out,
                 mglru_error_text(code));
    return report(program, code);
}

static int run_modes(struct program *program, const struct oracle_file *file)
{
    bool commands = file->scenario.family == FAMILY_AGE || file->scenario.family == FAMILY_CMDS;
    if (commands && !program->mode && !program->emit) {
        program->matched++;
        return report(program, commands_compare(file, &program->compare));
    }
    int code = 0;
    for (size_t i = 0; i < file->mode_count && !code; i++)
        code = run_recording(program, &file->modes[i]);
    return code;
}

static int run_file(struct program *program, const char *path)
{
    struct oracle_file file;
    int code = report(program, oracle_load(path, &file, program->compare.error));
    if (code)
        return code;
    code = program->fixtures ? write_fixture(program, &file, path) : run_modes(program, &file);
    oracle_free(&file);
    return code;
}

/* A file's kernel and scenario can be told from its path: spares reading what is not asked for. */
static bool path_selected(const struct program *program, const char *kernel, const char *path)
{
    const char *base = strrchr(path, '/');
    char name[PATH_BYTES];
    snprintf(name, sizeof(name), "%s", base ? base + 1 : path);
    char *dot = strrchr(name, '.');
    if (dot)
        *dot = '\0';
    return selected(program, kernel, name);
}

static int run_folder(struct program *program, const char *kernel)
{
    char pattern[PATH_BYTES];
    int length = snprintf(pattern, sizeof(pattern), "%s/%s/*.json", program->oracle, kernel);
    if (length < 0 || (size_t)length >= sizeof(pattern))
        return MGLRU_EINVAL;
    glob_t found;
    if (glob(pattern, 0, NULL, &found) != 0)
        return MGLRU_ENOENT;
    int code = 0;
    for (size_t i = 0; i < found.gl_pathc && !code; i++)
        if (path_selected(program, kernel, found.gl_pathv[i]))
            code = run_file(program, found.gl_pathv[i]);
    globfree(&found);
    return code;
}

static int run_workload(struct program *program, const char *dir, const char *name)
{
    char out[PATH_BYTES];
    if (!program->fixtures)
        return real_compare(dir, name, &program->compare);
    snprintf(out, sizeof(out), "%s/real/%s", program->fixtures, name);
    return real_write_fixtures(dir, name, out, &program->compare);
}

/* Real programs: whole workloads; --mode does not apply. */
static int run_real(struct program *program)
{
    static const char *const workloads[] = {"sqlite_a", "grep_hot", "grep_a"};
    char dir[PATH_BYTES];
    int length = snprintf(dir, sizeof(dir), "%s/real", program->oracle);
    int code = length < 0 || (size_t)length >= sizeof(dir) ? MGLRU_EINVAL : 0;
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(workloads) && !code; i++) {
        if (!selected(program, "real", workloads[i]))
            continue;
        program->matched++;
        code = report(program, run_workload(program, dir, workloads[i]));
    }
    return code;
}

static int run_all(struct program *program)
{
    static const char *const kernels[] = {"6.12", "7.3"};
    int code = 0;
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(kernels) && !code; i++)
        code = run_folder(program, kernels[i]);
    if (!code && !program->mode && !program->emit)
        code = run_real(program);
    if (code == MGLRU_ENOENT)
        fprintf(stderr, "fidelity: no recordings below %s (see --oracle)\n", program->oracle);
    return code;
}

static int write_report(const struct program *program, const char *path, bool markdown)
{
    FILE *out = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
    bool written = out != NULL;
    if (written && markdown)
        table_print_markdown(out, &program->compare.table);
    else if (written)
        written = table_print_json(out, &program->compare.table);
    if (out && out != stdout)
        written = fclose(out) == 0 && written;
    if (!written)
        fprintf(stderr, "fidelity: %s: cannot be written\n", path);
    return written ? 0 : MGLRU_EIO;
}

static int run(struct program *program, char **paths, int count)
{
    int code = 0;
    if (!program->emit && !program->fixtures)
        table_print_head(stdout);
    for (int i = 0; i < count && !code; i++)
        code = run_file(program, paths[i]);
    if (count == 0)
        code = run_all(program);
    if (code == MGLRU_ENOENT)
        return STATUS_ENVIRONMENT;
    if (code)
        return STATUS_USAGE;
    if (program->matched == 0) {
        fprintf(stderr, "fidelity: nothing selected\n");
        return STATUS_USAGE;
    }
    if (program->emit || program->fixtures)
        return STATUS_INSIDE;
    table_print_summary(stdout, &program->compare.table);
    if (program->json && write_report(program, program->json, false))
        return STATUS_ENVIRONMENT;
    if (program->markdown && write_report(program, program->markdown, true))
        return STATUS_ENVIRONMENT;
    return table_outside(&program->compare.table) ? STATUS_OUTSIDE : STATUS_INSIDE;
}

int main(int argc, char **argv)
{
    struct program program = {.oracle = getenv("MGLRU_ORACLE")};
    program.compare.progress = stdout;
    if (!program.oracle)
        program.oracle = ORACLE_DEFAULT;
    int letter;
    while ((letter = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (letter == 'h') {
            fputs(help, stdout);
            return STATUS_INSIDE;
        }
        if (!option_take(&program, letter, optarg)) {
            fputs(help, stderr);
            return STATUS_USAGE;
        }
    }
    int status = run(&program, argv + optind, argc - optind);
    table_free(&program.compare.table);
    if (program.has_only)
        regfree(&program.only);
    return status;
}
