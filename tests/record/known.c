/* SPDX-License-Identifier: MIT */
/*
 * A program whose page accesses are known: reads, writes, maps and truncates files in the way that
 * its steps say, and prints the lines that a recording of it must hold for these files.
 *
 *   known FOLDER       FOLDER/data is there, has PAGES pages and a half, and is cached
 *
 * exit: 0 done; 1 a call failed
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE ((off_t)4096)
#define PAGES 200
/* What the kernel maps around a fault, in pages (fault_around_bytes: 64 KiB). */
#define AROUND 16
/* Where a mapping starts as the ranges around faults do; it holds the file. */
#define ALIGN ((uintptr_t)2 << 20)

static char data[512], out[512];
static char buffer[64 * 4096];

static void check(int good, const char *what)
{
    if (!good) {
        fprintf(stderr, "known: %s: %s\n", what, strerror(errno));
        exit(1);
    }
}

static void expect(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void expect(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
}

static int open_data(void)
{
    int fd = open(data, O_RDONLY);
    check(fd >= 0, data);
    expect("o %s", data);
    return fd;
}

/* One read() of @bytes bytes at @offset, and the line for it. */
static void read_at(int fd, off_t offset, size_t bytes)
{
    const off_t size = PAGES * PAGE + PAGE / 2;
    const off_t end = offset + (off_t)bytes < size ? offset + (off_t)bytes : size;
    const off_t first = offset / PAGE, count = (end - 1) / PAGE - first + 1;
    check(pread(fd, buffer, bytes, offset) == end - offset, "pread");
    if (count == 1)
        expect("r %s %ld", data, (long)first);
    else
        expect("r %s %ld %ld", data, (long)first, (long)count);
}

/* To the end and behind it, in calls of one page, several pages, and parts of pages. */
static void read_all(void)
{
    int fd = open_data();
    for (off_t at = 0; at < (PAGES + 1) * PAGE; at += 64 * PAGE)
        read_at(fd, at, 64 * PAGE);
    for (off_t page = 0; page < 40; page++)
        read_at(fd, page * 37 % PAGES * PAGE, PAGE);
    read_at(fd, 5 * PAGE + 100, 2 * PAGE);
    read_at(fd, 5 * PAGE + 100, 10);
    close(fd);
    fd = open_data();
    read_at(fd, PAGES * PAGE, PAGE);
    close(fd);
}

/* A child that forks before it reads, for the forks that a recording follows. */
static void read_in_child(void)
{
    fflush(stdout);
    pid_t child = fork();
    check(child >= 0, "fork");
    if (child == 0) {
        int fd = open_data();
        read_at(fd, 9 * PAGE, PAGE);
        fflush(stdout);
        _exit(0);
    }
    check(waitpid(child, NULL, 0) == child, "waitpid");
}

/* Pages become dirty once, and leave the cache with the truncation. */
static void write_and_truncate(void)
{
    int fd = open(out, O_RDWR | O_CREAT | O_TRUNC, 0600);
    check(fd >= 0, out);
    check(write(fd, buffer, 8 * PAGE) == 8 * PAGE, "write");
    check(pwrite(fd, buffer, 10, 3 * PAGE) == 10, "pwrite");
    check(ftruncate(fd, 0) == 0, "ftruncate");
    expect("o %s", out);
    expect("w %s 0 8", out);
    expect("f %s 0 8", out);
    close(fd);
}

/* A fault on a cached page maps those around it, in a mapping that starts where they do. */
static void map_and_touch(void)
{
    char *room = mmap(NULL, 2 * ALIGN, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check(room != MAP_FAILED, "mmap");
    char *const place = room + (ALIGN - (uintptr_t)room % ALIGN);
    int fd = open(data, O_RDONLY); /* an open shows with the next read only */
    check(fd >= 0, data);
    char *pages = mmap(place, PAGES * PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0);
    check(pages != MAP_FAILED, "mmap");
    int sum = 0;
    for (int page = 3; page < PAGES; page += 50) {
        sum += pages[page * PAGE];
        const int first = page / AROUND * AROUND;
        const int count = first + AROUND < PAGES ? AROUND : PAGES - first;
        expect("m %s %d %d", data, first, count);
    }
    check(sum == 0, "zeros");
    munmap(room, 2 * ALIGN);
    close(fd);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 1;
    snprintf(data, sizeof(data), "%s/data", argv[1]);
    snprintf(out, sizeof(out), "%s/out", argv[1]);
    read_all();
    read_in_child();
    write_and_truncate();
    map_and_touch();
    return 0;
}
