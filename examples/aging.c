/* SPDX-License-Identifier: MIT */
/*
 * Follows the steps of a microbenchmark for the kernel's lru_gen on a live cache: a memcg touches
 * 512 MB, then its generations are aged 100 times by commands to lru_gen, each of them timed. Every
 * aging beyond the third moves all pages from the oldest generation into the next.
 *
 *   aging [MIB [AGING [SOCKET]]]     AGING: per-folio, batched or splice
 *
 * With SOCKET it goes on as a server whose cache `mglru ctl` and `mglru top` control, until it is
 * told to end.
 *
 * Build: cc aging.c -o aging $(pkg-config --cflags --libs mglru) -pthread
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <mglru/control.h>
#include <mglru/data.h>

#define AGINGS 100
#define TARGET "/system.slice/agetest.scope"
#define MIB ((uint64_t)1 << 20)

/* Ends the program: an example has nobody else to tell. */
static void must(int code, const char *what)
{
    if (code == MGLRU_OK)
        return;
    fprintf(stderr, "aging: %s: %s\n", what, mglru_error_text(code));
    exit(1);
}

/* A cache with room for @bytes and a sixteenth more, so that nothing is reclaimed. */
static struct mglru_cache *make_cache(uint64_t bytes, const char *aging)
{
    struct mglru_cache *cache;
    struct mglru_data_options options = {
        .size = sizeof(options), .memory_bytes = bytes + bytes / 16 + MIB, .aging = aging};
    must(mglru_data_create(&options, &cache), "cache");
    return cache;
}

/* Writes every byte of @bytes of memory that is charged to the memcg. */
static void touch(struct mglru_cache *cache, struct mglru_memcg *memcg, uint64_t bytes)
{
    static char block[1 << 20];
    struct mglru_mapping *memory; /* without a store: pages are made of zeros */
    struct mglru_file *file;
    must(mglru_data_mapping_create(cache, "memory", NULL, bytes, &memory), "memory");
    must(mglru_file_open(memory, memcg, &file), "memory");
    memset(block, 0x55, sizeof(block));
    for (uint64_t offset = 0; offset < bytes; offset += sizeof(block)) {
        size_t done;
        must(mglru_write(file, offset, block, sizeof(block), &done), "touch");
    }
}

/* Finds the memcg in the text of lru_gen: its number, and its youngest generation. */
static void find_memcg(struct mglru_cache *cache, unsigned *id, uint64_t *youngest)
{
    char text[4096];
    size_t length;
    must(mglru_cache_read(cache, "lru_gen", text, sizeof(text), &length), "lru_gen");
    bool here = false;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char path[256];
        unsigned number;
        uint64_t seq;
        if (sscanf(line, "memcg %u %255s", &number, path) == 2) {
            here = strcmp(path, TARGET) == 0;
            if (here)
                *id = number;
        } else if (here && sscanf(line, "%" SCNu64 " %*u", &seq) == 1) {
            *youngest = seq; /* the last line of the memcg */
        }
    }
}

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static double age(struct mglru_cache *cache, unsigned id, uint64_t seq)
{
    char command[64];
    int length = snprintf(command, sizeof(command), "+ %u 0 %" PRIu64 "\n", id, seq);
    double start = now_ms();
    must(mglru_cache_write(cache, "lru_gen", command, (size_t)length), "write lru_gen");
    return now_ms() - start;
}

static void serve(struct mglru_cache *cache, const char *path, const sigset_t *ends)
{
    struct mglru_control *control;
    int number;
    must(mglru_control_open(cache, path, &control), path);
    printf("\nlistens at %s\n", path);
    fflush(stdout);
    sigwait(ends, &number);
    mglru_control_close(control);
}

int main(int argc, char **argv)
{
    uint64_t mib = argc > 1 ? strtoull(argv[1], NULL, 10) : 512, first = 0;
    if (argc > 4 || mib == 0 || mib > 1 << 20) {
        fprintf(stderr, "usage: aging [MIB [per-folio|batched|splice [SOCKET]]]\n");
        return 2;
    }
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    pthread_sigmask(SIG_BLOCK, &ends, NULL); /* for all threads: serve waits for them */

    struct mglru_cache *cache = make_cache(mib * MIB, argc > 2 ? argv[2] : NULL);
    struct mglru_memcg *memcg;
    unsigned id = 0;
    double total_ms = 0;
    must(mglru_memcg_create(cache, TARGET, &memcg), TARGET);
    touch(cache, memcg, mib * MIB);
    find_memcg(cache, &id, &first);
    printf("size: %" PRIu64 " MB\nmemcg: %u (%s)\naging generation %" PRIu64 " -> %" PRIu64 "\n",
           mib, id, TARGET, first, first + AGINGS - 1);
    for (uint64_t seq = first; seq < first + AGINGS; seq++) {
        double ms = age(cache, id, seq);
        total_ms += ms;
        printf("gen %3" PRIu64 ": %9.4f ms\n", seq, ms);
    }
    printf("\nTotal:   %.4f ms\nAverage: %.4f ms\n", total_ms, total_ms / AGINGS);
    if (argc > 3)
        serve(cache, argv[3], &ends);
    mglru_cache_destroy(cache);
    return 0;
}
