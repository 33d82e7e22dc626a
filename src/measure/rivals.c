/* SPDX-License-Identifier: MIT */
/* Loads subjects from a shared object. */
#include "measure/rivals.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <mglru/error.h>

int rivals_load(struct measure_result *result, const char *path, const struct measure_subject **out)
{
    *out = NULL;
    if (access(path, R_OK)) {
        snprintf(result->error, sizeof(result->error), "%s: no such file, or not readable", path);
        return MGLRU_ENOENT;
    }
    char own[512]; /* dlopen searches for names without a slash */
    snprintf(own, sizeof(own), "%s%s", strchr(path, '/') ? "" : "./", path);
    result->rival = dlopen(own, RTLD_NOW | RTLD_LOCAL);
    if (!result->rival) {
        snprintf(result->error, sizeof(result->error), "%s: %s", path, dlerror());
        return MGLRU_EINVAL;
    }
    measure_rivals_fn *rivals;
    *(void **)&rivals = dlsym(result->rival, "measure_rivals");
    if (!rivals) {
        snprintf(result->error, sizeof(result->error),
                 "%s: exports no measure_rivals, expected a shared object of subjects", path);
        return MGLRU_EINVAL;
    }
    *out = rivals();
    return 0;
}

void rivals_unload(void *rival)
{
    if (rival)
        dlclose(rival);
}
