/* SPDX-License-Identifier: MIT */
/* See overhead.h. */
#include "record/overhead.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <mglru/error.h>

/* Chosen: slices short enough to fall between two interruptions, and the least of each kind. */
#define READS 1000u
#define SLICES 8u

static double cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* CPU time of a read of a cached page, the least of some slices; 0: it cannot be read. */
static double read_ns(int fd)
{
    char page[4096];
    double least = 0;
    for (unsigned slice = 0; slice < SLICES; slice++) {
        const double begin = cpu_ns();
        for (unsigned i = 0; i < READS; i++)
            if (pread(fd, page, sizeof(page), 0) <= 0)
                return 0;
        const double one = (cpu_ns() - begin) / READS;
        if (slice == 0 || one < least)
            least = one;
    }
    return least;
}

int overhead_measure(struct tracing *tracing, double *event_ns, struct record_error *error)
{
    const int32_t self = (int32_t)getpid();
    *event_ns = 0;
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    const double without = fd >= 0 ? read_ns(fd) : 0;
    int code = tracing_enable(tracing, true, error);
    if (code == MGLRU_OK)
        code = tracing_follow(tracing, &self, 1, error);
    tracing_run(tracing, true);
    const double with = fd >= 0 && code == MGLRU_OK ? read_ns(fd) : 0;
    tracing_run(tracing, false);
    if (with > without && without > 0)
        *event_ns = with - without;
    if (fd >= 0)
        close(fd);
    if (code == MGLRU_OK)
        code = tracing_follow(tracing, NULL, 0, error);
    tracing_clear(tracing);
    return code;
}
