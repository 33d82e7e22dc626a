/* SPDX-License-Identifier: MIT */
/*
 * Runs a fuzz harness over files and folders of inputs, without libFuzzer, so that the corpus is
 * replayed with every compiler in the ordinary tests.
 *
 * usage: fuzz_FORMAT_replay PATH...     exit: 0 all inputs are fine; 2 a path cannot be read
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define INPUT_MAX ((size_t)1 << 20)

static unsigned inputs;

static int cannot_read(const char *path)
{
    fprintf(stderr, "%s: cannot read: %s\n", path, strerror(errno));
    return 2;
}

static int run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return cannot_read(path);
    /* A buffer of the exact size, so that a sanitizer sees a read behind it. */
    uint8_t *all = malloc(INPUT_MAX);
    size_t size = all ? fread(all, 1, INPUT_MAX, file) : 0;
    uint8_t *data = malloc(size ? size : 1);
    fclose(file);
    if (all && data) {
        memcpy(data, all, size);
        LLVMFuzzerTestOneInput(data, size);
        inputs++;
    }
    free(all);
    free(data);
    return all && data ? 0 : cannot_read(path);
}

static int run_folder(const char *path)
{
    DIR *dir = opendir(path);
    if (!dir)
        return cannot_read(path);
    int rc = 0;
    for (struct dirent *entry; !rc && (entry = readdir(dir));) {
        char name[4096];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
        rc = run_file(name);
    }
    closedir(dir);
    return rc;
}

int main(int argc, char **argv)
{
    int rc = 0;
    for (int i = 1; i < argc && !rc; i++) {
        struct stat st;
        if (stat(argv[i], &st) != 0)
            return cannot_read(argv[i]);
        rc = S_ISDIR(st.st_mode) ? run_folder(argv[i]) : run_file(argv[i]);
    }
    if (!rc && inputs == 0) {
        fprintf(stderr, "no inputs found\n");
        rc = 2;
    }
    printf("%u inputs\n", inputs);
    return rc;
}
