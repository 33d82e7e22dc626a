/* SPDX-License-Identifier: MIT */
/*
 * Goal: an output tells every write error, and leaves nothing behind after one.
 * Method: /dev/full, a closed pipe, folders and files in a scratch folder.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mglru/error.h>

#include "report/out.h"

static char folder[64];

static int make_folder(void **state)
{
    strcpy(folder, "/tmp/mglru-test-out-XXXXXX");
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int files_in_folder(void)
{
    int count = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir))
        count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

static int remove_folder(void **state)
{
    return rmdir(folder);
}

static void path_in_folder(char *path, size_t bytes, const char *name)
{
    snprintf(path, bytes, "%s/%s", folder, name);
}

static void a_file_appears_when_it_is_complete(void **state)
{
    char path[128];
    char text[16] = "";
    struct report_out out;
    struct report_error error;
    path_in_folder(path, sizeof(path), "report");
    assert_int_equal(report_out_open(&out, path, &error), MGLRU_OK);
    report_printf(&out, "seven %d", 7);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(report_out_close(&out, &error), MGLRU_OK);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof(text), file));
    fclose(file);
    assert_string_equal(text, "seven 7");
    assert_int_equal(files_in_folder(), 1);
    unlink(path);
}

static void an_abandoned_file_leaves_the_old_one(void **state)
{
    char path[128];
    struct stat info;
    struct report_out out;
    struct report_error error;
    path_in_folder(path, sizeof(path), "report");
    assert_int_equal(report_out_open(&out, path, &error), MGLRU_OK);
    report_printf(&out, "old");
    assert_int_equal(report_out_close(&out, &error), MGLRU_OK);
    assert_int_equal(report_out_open(&out, path, &error), MGLRU_OK);
    report_printf(&out, "the new one is longer");
    report_out_abandon(&out);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_size, 3);
    assert_int_equal(files_in_folder(), 1);
    unlink(path);
}

static void a_full_disk_is_told_and_leaves_nothing(void **state)
{
    struct report_out out;
    struct report_error error;
    struct rlimit old, small = {4096, 4096};
    char path[128];
    char block[8192] = {0};
    path_in_folder(path, sizeof(path), "report");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small.rlim_max = old.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_int_equal(report_out_open(&out, path, &error), MGLRU_OK);
    report_write(&out, block, sizeof(block));
    report_printf(&out, "more");
    int code = report_out_close(&out, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(code, MGLRU_EIO);
    assert_non_null(strstr(error.text, path));
    assert_non_null(strstr(error.text, "File too large"));
    assert_int_equal(files_in_folder(), 0);
}

static void a_device_is_written_directly(void **state)
{
    struct report_out out;
    struct report_error error;
    assert_int_equal(report_out_open(&out, "/dev/full", &error), MGLRU_OK);
    report_printf(&out, "x");
    assert_int_equal(report_out_close(&out, &error), MGLRU_EIO);
    assert_string_equal(error.text, "/dev/full: write failed: No space left on device");
    assert_int_equal(access("/dev/full", F_OK), 0);
}

static void a_closed_pipe_is_told(void **state)
{
    int ends[2];
    struct report_out out;
    struct report_error error;
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    FILE *stream = fdopen(ends[1], "w");
    assert_non_null(stream);
    assert_int_equal(report_out_stream(&out, stream, "standard output"), MGLRU_OK);
    report_printf(&out, "x");
    assert_int_equal(report_out_close(&out, &error), MGLRU_EIO);
    assert_string_equal(error.text, "standard output: write failed: Broken pipe");
    fclose(stream);
}

static void what_cannot_be_opened_is_named(void **state)
{
    char path[128];
    struct report_out out;
    struct report_error error;
    assert_int_equal(report_out_open(&out, folder, &error), MGLRU_EINVAL);
    assert_non_null(strstr(error.text, "Is a directory"));
    path_in_folder(path, sizeof(path), "absent/report");
    assert_int_equal(report_out_open(&out, path, &error), MGLRU_ENOENT);
    assert_non_null(strstr(error.text, path));
    assert_int_equal(report_out_open(&out, "", &error), MGLRU_ENOENT);
    assert_int_equal(report_out_close(&out, &error), MGLRU_OK);
    report_out_abandon(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_appears_when_it_is_complete),
        cmocka_unit_test(an_abandoned_file_leaves_the_old_one),
        cmocka_unit_test(a_full_disk_is_told_and_leaves_nothing),
        cmocka_unit_test(a_device_is_written_directly),
        cmocka_unit_test(a_closed_pipe_is_told),
        cmocka_unit_test(what_cannot_be_opened_is_named),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
