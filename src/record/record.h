/* SPDX-License-Identifier: MIT */
/*
 * Records which pages of which files programs access, from the kernel's tracepoints, as a native
 * trace. This is the only header of the folder that others include.
 *
 *   kernel -> tracing (own tracefs instance) -> ring (binary events in order of time)
 *          -> rules (events -> accesses) -> spool (unnamed file) -> names, ends of files -> output
 *
 * Promises:
 * 1. Other users of tracefs notice nothing, and nothing stays behind on any return. A recorder that
 *    was killed leaves its instance; the next one removes it.
 * 2. The output appears whole under its name or not at all. A recording that ends early (a bound, a
 *    signal, a cgroup that vanished) is a valid, shorter trace, and the report says why it ended.
 * 3. Lost events are counted. More than RECORD_LOST_MAX of all make no trace.
 *
 * One recording at a time in a process, by one thread.
 */
#ifndef RECORD_RECORD_H
#define RECORD_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Chosen: a hole of one event in a hundred moves a miss ratio by no more than that. */
#define RECORD_LOST_MAX 0.01
/* Least values of options. The encoder of a trace holds back as much as 128 KiB. */
#define RECORD_MAX_BYTES_MIN (UINT64_C(1) << 20)
#define RECORD_BUFFER_BYTES_MIN (UINT64_C(64) << 10)

#define RECORD_ERROR_BYTES 512

struct record_error {
    char text[RECORD_ERROR_BYTES]; /* one line */
    bool root_helps;               /* the kernel refused what it grants to root */
};

enum record_target { RECORD_COMMAND, RECORD_CGROUP, RECORD_PID };

struct record_options {
    const char *output; /* "-": standard output; the suffix says the compression */
    enum record_target target;
    char *const *command;  /* RECORD_COMMAND: what execvp gets */
    const char *cgroup;    /* RECORD_CGROUP: a folder, or its path below the mount */
    pid_t pid;             /* RECORD_PID */
    uint64_t duration_ns;  /* 0: to the end of the target */
    uint64_t max_bytes;    /* of the output; 0: no bound */
    uint64_t buffer_bytes; /* of the kernel, for each CPU; 0: chosen by the memory there is */
    int stop_fd;           /* each byte read from it is a signal: stop, and tell the command */
};

/* Why a recording ended. */
enum record_end {
    RECORD_END_TARGET,  /* the command or process ended */
    RECORD_END_GONE,    /* the cgroup was removed */
    RECORD_END_SIGNAL,  /* a byte came from stop_fd */
    RECORD_END_TIME,    /* duration_ns */
    RECORD_END_BYTES,   /* max_bytes */
    RECORD_END_REFUSED, /* an error, which record_run returned */
};

struct record_report {
    enum record_end end;
    pid_t command;            /* it was started and not waited for; 0: none */
    int command_fd;           /* its pidfd */
    int wait_status;          /* of the command, as waitpid gives it; -1: unknown */
    uint64_t duration_ns;     /* of the recording */
    uint64_t accesses;        /* pages in the trace */
    uint64_t requests;        /* lines in the trace */
    uint64_t added_pages;     /* came into the page cache for the target */
    uint32_t files;           /* with accesses */
    uint32_t unnamed;         /* of them, without a path */
    uint64_t events;          /* seen */
    uint64_t lost;            /* by the kernel, its buffer being full */
    uint64_t *lost_on;        /* the same for each CPU; owned by the report */
    unsigned cpus;            /* in lost_on */
    double event_ns;          /* what an event costs the program, measured before the start */
    uint64_t own_cpu_ns;      /* CPU time of the recorder */
    uint64_t cpu_ns;          /* of the command; 0: unknown */
    uint64_t mapped_pages;    /* accesses through mappings: later ones are invisible */
    uint64_t metadata_pages;  /* of file systems, added; their accesses are invisible */
    uint64_t reclaimed_pages; /* taken by reclaim meanwhile */
    bool no_faults, no_maps, no_adds, no_frees, no_dirty, no_opens; /* tracepoints missing */
};

/*
 * Records until the target ends or a bound is met. A command runs on then, until record_wait.
 * @report is filled as far as things went, also after an error, and is to be freed.
 *
 * MGLRU_ENOTSUP: the kernel or this build lacks what is needed; MGLRU_EPERM: no right to trace, or
 * to write the output; MGLRU_EINVAL: no such process, cgroup or command, or nothing was accessed;
 * MGLRU_EIO: too many events were lost, or reading failed; MGLRU_ENOSPC; MGLRU_ENOMEM.
 */
int record_run(const struct record_options *options, struct record_report *report,
               struct record_error *error);

/* Waits for the command, if one runs; signals from @stop_fd go to it meanwhile. */
void record_wait(struct record_report *report, int stop_fd);

void record_report_free(struct record_report *report);

#endif
