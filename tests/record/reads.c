/* SPDX-License-Identifier: MIT */
/*
 * Reads of one page at random places, the same in each run: seven of ten in the first tenth of the
 * file, the others anywhere. Prints how many ns of CPU time a read took.
 *
 *   reads FILE COUNT [PAGES [RATE]]     PAGES: of the file, as far as they are used (0: all);
 *                                       RATE: reads a second at most
 *
 * exit: 0 done; 1 a call failed
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096
/* Reads between two looks at the time; chosen: a fraction of a millisecond. */
#define BURST 100

static double cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Sleeps until @done reads are due. */
static void wait_for(uint64_t done, uint64_t rate, const struct timespec *begin)
{
    struct timespec due = *begin;
    due.tv_sec += (time_t)(done / rate);
    due.tv_nsec += (long)(done % rate * 1000000000u / rate);
    due.tv_sec += due.tv_nsec / 1000000000;
    due.tv_nsec %= 1000000000;
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
}

int main(int argc, char **argv)
{
    static char buffer[PAGE];
    struct stat status;
    int fd = argc >= 3 ? open(argv[1], O_RDONLY) : -1;
    if (fd < 0 || fstat(fd, &status) != 0 || status.st_size < PAGE)
        return 1;
    const uint64_t count = strtoull(argv[2], NULL, 10);
    const uint64_t wish = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    const uint64_t pages = wish > 0 ? wish : (uint64_t)status.st_size / PAGE;
    const uint64_t rate = argc > 4 ? strtoull(argv[4], NULL, 10) : 0;
    struct timespec start;
    uint64_t state = 42;
    clock_gettime(CLOCK_MONOTONIC, &start);
    const double begin = cpu_ns();
    for (uint64_t i = 0; i < count; i++) {
        if (rate > 0 && i % BURST == 0)
            wait_for(i, rate, &start);
        state = state * 6364136223846793005u + 1442695040888963407u;
        const uint64_t random = state >> 33;
        const uint64_t span = random % 10 < 7 ? pages / 10 + 1 : pages;
        const off_t offset = (off_t)(random / 10 % span * PAGE);
        if (pread(fd, buffer, PAGE, offset) != PAGE)
            return 1;
    }
    printf("%.0f ns of CPU time a read\n", (cpu_ns() - begin) / (double)count);
    return 0;
}
