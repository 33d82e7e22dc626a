/* SPDX-License-Identifier: MIT */
/*
 * Plots through gnuplot. Its standard input is a file with the script, its standard output a pipe
 * that is copied into a struct report_out: gnuplot says nothing when the disk is full, we do. So a
 * picture appears only when it is complete, and the name of the file never meets gnuplot's syntax.
 *
 * Colours are told apart by people with colour blindness (Okabe and Ito's palette); points and
 * dashes differ as well, for prints without colour.
 */
#include "report/report.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mglru/error.h>

#include "base/check.h"
#include "report/axis.h"
#include "report/curves.h"

extern char **environ;

#define MESSAGE_BYTES 256
#define COPY_BYTES 4096

static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                      "#e69f00", "#56b4e9", "#000000", "#8c6d00"};

/* Text inside gnuplot's double quotes; line ends would end the command. */
static void print_quoted(FILE *script, const char *text)
{
    fputc('"', script);
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(script, "\\%c", c);
        else if (c == '`')
            fputs("'", script); /* gnuplot would run a command */
        else
            fputc(c < ' ' ? '?' : c, script);
    }
    fputc('"', script);
}

static void print_axes(FILE *script, const struct report_curves *curves)
{
    struct report_tick ticks[REPORT_TICKS_MAX];
    size_t count = report_axis_x(curves, 12, ticks);
    /* Rounding on a log axis drops a tick that stands exactly at its end. */
    double pad = curves->log_x ? 1.001 : 1;
    fprintf(script, "set xlabel '%s'\n",
            curves->series  ? "page accesses"
            : curves->log_x ? "memory (log scale)"
                            : "memory");
    fprintf(script, "set ylabel 'miss ratio'\nset format y '%%g%%%%'\n");
    if (curves->log_x)
        fprintf(script, "set logscale x 2\n");
    fprintf(script, "set xtics (");
    for (size_t i = 0; i < count; i++)
        fprintf(script, "%s'%s' %.17g", i > 0 ? ", " : "", ticks[i].text, ticks[i].value);
    fprintf(script, ")\n");
    if (curves->most.x > curves->least.x)
        fprintf(script, "set xrange [%.17g:%.17g]\n", curves->least.x / pad, curves->most.x * pad);
    count = report_axis_percent(curves->most.y > 0 ? curves->most.y : 1, 8, ticks);
    fprintf(script, "set yrange [0:%.17g]\nset ytics %.17g\n", ticks[count - 1].value,
            ticks[1].value);
}

static void print_data(FILE *script, const struct report_curves *curves)
{
    for (size_t i = 0; i < curves->count; i++) {
        fprintf(script, "$c%zu << END\n", i);
        for (size_t j = 0; j < curves->curves[i].count; j++)
            fprintf(script, "%.17g %.17g\n", curves->curves[i].points[j].x,
                    curves->curves[i].points[j].y);
        fprintf(script, "END\n");
    }
    fprintf(script, "plot ");
    for (size_t i = 0; i < curves->count; i++) {
        fprintf(script, "%s$c%zu using 1:2 with %s lc rgb '%s' lw 2 dt %zu pt %zu ps 0.7 title ",
                i > 0 ? ", \\\n  " : "", i, curves->curves[i].count > 60 ? "lines" : "linespoints",
                colours[i % MGLRU_ARRAY_LEN(colours)], i / MGLRU_ARRAY_LEN(colours) + 1,
                i % 7 * 2 + 5 - i % 7 / 5 * 9);
        print_quoted(script, curves->curves[i].label);
    }
    fprintf(script, "\n");
}

static void print_script(FILE *script, const struct replay_result *result,
                         const struct report_curves *curves, bool png)
{
    if (png)
        fprintf(script, "set terminal pngcairo size 960,540 font 'sans,11' background '#ffffff'\n");
    else
        fprintf(script, "set terminal svg size 960,540 font 'sans-serif,13' background '#ffffff' "
                        "dynamic\n");
    fprintf(script, "set title ");
    const char *path = result->trace.path != NULL ? result->trace.path : "trace";
    print_quoted(script, strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path);
    fprintf(script, " noenhanced\nset key noenhanced outside right top reverse Left\n"
                    "set grid lc rgb '#dddddd' lt 1\nset border 3 lc rgb '#444444'\n"
                    "set tics nomirror out\n");
    print_axes(script, curves);
    print_data(script, curves);
}

/* Starts gnuplot on the script; what it draws goes into @picture. 0, or the errno. */
static int start_gnuplot(FILE *script, int picture, FILE *said, pid_t *pid)
{
    char *const arguments[] = {(char *)"gnuplot", NULL};
    posix_spawn_file_actions_t actions;
    int reason = posix_spawn_file_actions_init(&actions);
    if (reason != 0)
        return reason;
    reason = posix_spawn_file_actions_adddup2(&actions, fileno(script), STDIN_FILENO);
    if (reason == 0)
        reason = posix_spawn_file_actions_adddup2(&actions, picture, STDOUT_FILENO);
    if (reason == 0)
        reason = posix_spawn_file_actions_adddup2(&actions, fileno(said), STDERR_FILENO);
    if (reason == 0)
        reason = posix_spawnp(pid, "gnuplot", &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return reason;
}

/* Copies the picture to its end, also after a failed write, so that gnuplot never waits for us. */
static int copy_picture(int picture, struct report_out *out)
{
    char bytes[COPY_BYTES];
    for (;;) {
        ssize_t got = read(picture, bytes, sizeof(bytes));
        if (got > 0)
            report_write(out, bytes, (size_t)got);
        else if (got == 0)
            return 0;
        else if (errno != EINTR)
            return errno;
    }
}

/* Runs gnuplot on the script and waits. Returns its wait status, or minus the errno. */
static int run_gnuplot(FILE *script, struct report_out *out, FILE *said)
{
    int ends[2];
    pid_t pid;
    int status;
    if (fflush(script) != 0 || fseek(script, 0, SEEK_SET) != 0 || pipe2(ends, O_CLOEXEC) != 0)
        return -errno;
    int reason = start_gnuplot(script, ends[1], said, &pid);
    close(ends[1]);
    if (reason != 0) {
        close(ends[0]);
        return -reason;
    }
    reason = copy_picture(ends[0], out);
    close(ends[0]);
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -errno;
    return reason != 0 ? -reason : status;
}

/* The last line that gnuplot said, which names the reason. */
static void say_failure(FILE *said, const char *path, struct report_error *error)
{
    char line[MESSAGE_BYTES];
    char last[MESSAGE_BYTES] = "it gave no reason";
    rewind(said);
    while (fgets(line, sizeof(line), said) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (line[strspn(line, " \t^")] != '\0')
            strcpy(last, line);
    }
    snprintf(error->text, sizeof(error->text), "%s: gnuplot failed: %s", path, last);
}

/* Draws the script into @out. */
static int draw(struct report_out *out, FILE *script, const char *path, struct report_error *error)
{
    FILE *said = tmpfile();
    if (said == NULL) {
        snprintf(error->text, sizeof(error->text), "%s: no temporary file: %s", path,
                 strerror(errno));
        return MGLRU_EIO;
    }
    int code = MGLRU_OK;
    int status = run_gnuplot(script, out, said);
    if (status == -ENOENT) {
        snprintf(error->text, sizeof(error->text),
                 "%s: gnuplot is not installed (package gnuplot-nox)", path);
        code = MGLRU_ENOTSUP;
    } else if (status < 0) {
        snprintf(error->text, sizeof(error->text), "%s: cannot run gnuplot: %s", path,
                 strerror(-status));
        code = MGLRU_EIO;
    } else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        say_failure(said, path, error);
        code = MGLRU_EIO;
    }
    fclose(said);
    return code;
}

static int draw_curves(const char *path, const struct replay_result *result,
                       const struct report_curves *curves, struct report_error *error)
{
    struct report_out out;
    FILE *script = tmpfile();
    if (script == NULL) {
        snprintf(error->text, sizeof(error->text), "%s: no temporary file: %s", path,
                 strerror(errno));
        return MGLRU_EIO;
    }
    print_script(script, result, curves, strcmp(strrchr(path, '.'), ".png") == 0);
    int code = report_out_open(&out, path, error);
    if (code == MGLRU_OK) {
        code = draw(&out, script, path, error);
        if (code == MGLRU_OK)
            code = report_out_close(&out, error);
        else
            report_out_abandon(&out);
    }
    fclose(script);
    return code;
}

int report_plot(const char *path, const struct replay_result *result, struct report_error *error)
{
    struct report_curves curves;
    const char *ending = strrchr(path, '.');
    error->text[0] = '\0';
    if (ending == NULL || (strcmp(ending, ".svg") != 0 && strcmp(ending, ".png") != 0)) {
        snprintf(error->text, sizeof(error->text),
                 "%s: expected a name that ends in .svg or .png for a plot", path);
        return MGLRU_EINVAL;
    }
    int code = report_curves_find(result, &curves);
    if (code != MGLRU_OK) {
        snprintf(error->text, sizeof(error->text), "%s: %s", path,
                 code == MGLRU_ENOENT ? "nothing to draw, expected several memory sizes or a series"
                                      : mglru_error_text(code));
        return code == MGLRU_ENOENT ? MGLRU_EINVAL : code;
    }
    code = draw_curves(path, result, &curves, error);
    report_curves_free(&curves);
    return code;
}
