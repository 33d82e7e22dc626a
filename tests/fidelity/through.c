/* SPDX-License-Identifier: MIT */
/* Runs `mglru replay` on an emitted trace and takes its miss bits in. */
#include "through.h"

#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emit.h"

#define PATH_BYTES 256
#define NS_OF_MS UINT64_C(1000000)

extern char **environ;

struct files {
    char folder[PATH_BYTES];
    char trace[PATH_BYTES + 16];
    char bits[PATH_BYTES + 16];
    char table[PATH_BYTES + 16];
};

static int files_make(struct files *files)
{
    const char *base = getenv("TMPDIR");
    int length =
        snprintf(files->folder, sizeof(files->folder), "%s/fidelity-XXXXXX", base ? base : "/tmp");
    if (length < 0 || (size_t)length >= sizeof(files->folder) || !mkdtemp(files->folder))
        return MGLRU_EIO;
    snprintf(files->trace, sizeof(files->trace), "%s/trace", files->folder);
    snprintf(files->bits, sizeof(files->bits), "%s/bits", files->folder);
    snprintf(files->table, sizeof(files->table), "%s/table", files->folder);
    return 0;
}

static void files_remove(const struct files *files)
{
    unlink(files->trace);
    unlink(files->bits);
    unlink(files->table);
    rmdir(files->folder);
}

/* The program's table goes to a file; its errors are shown. */
static int run_program(const char *program, const struct files *files, char *const *arguments)
{
    posix_spawn_file_actions_t actions;
    pid_t pid = 0;
    int status = 0;
    if (posix_spawn_file_actions_init(&actions))
        return MGLRU_ENOMEM;
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, files->table,
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int error = posix_spawn(&pid, program, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error || waitpid(pid, &status, 0) != pid)
        return MGLRU_EIO;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : MGLRU_EIO;
}

static int replay(const char *program, const struct files *files, const struct script *script,
                  const struct drive_options *options)
{
    char swap[24];
    char flush[32];
    const struct scenario *s = &script->scenario;
    snprintf(flush, sizeof(flush), "%" PRIu64 "ms", options->schedule->period / NS_OF_MS);
    snprintf(swap, sizeof(swap), "%" PRIu64 "M", s->swap ? s->swap_mb : 0);
    const char *arguments[] = {
        program,       "replay",    files->trace,   "--policy", "mglru",  "--model", options->model,
        "--miss-bits", files->bits, "--stat-flush", flush,      "--swap", swap,      NULL};
    return run_program(program, files, (char *const *)arguments);
}

static int read_bits(const struct files *files, const struct script *script,
                     struct drive_result *out)
{
    uint64_t accesses = 0;
    for (size_t i = 0; i < script->parts; i++)
        accesses += script_part_accesses(script, i);
    uint8_t *bits = calloc((size_t)(accesses / 8 + 2), 1);
    FILE *in = fopen(files->bits, "rb");
    int code = bits && in ? 0 : MGLRU_EIO;
    size_t got = code ? 0 : fread(bits, 1, (size_t)(accesses / 8 + 2), in);
    if (in)
        fclose(in);
    if (!code && got != (accesses + 7) / 8)
        code = MGLRU_EIO;
    if (!code)
        code = emit_split_bits(script, bits, accesses, out);
    free(bits);
    return code;
}

int through_replay(const char *program, const struct script *script,
                   const struct drive_options *options, struct drive_result *out)
{
    struct files files;
    *out = (struct drive_result){0};
    int code = files_make(&files);
    if (code)
        return code;
    code = emit_trace(script, options->schedule->offset_ns, files.trace);
    if (!code)
        code = replay(program, &files, script, options);
    if (!code)
        code = read_bits(&files, script, out);
    files_remove(&files);
    return code;
}
