/* SPDX-License-Identifier: MIT */
/*
 * The recording itself: what record.h promises, put together from the parts.
 *
 *   open -> follow -> start the command -> rounds -> stop -> drain -> names -> output
 *
 * A round reads the kernel's buffers, takes what is old enough through the rules into the spool,
 * and looks for paths and new threads. Rounds are far shorter than the buffers are deep.
 */
#include "record/record.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <mglru/error.h>

#include "record/clock.h"
#include "record/facts.h"
#include "record/fail.h"
#include "record/overhead.h"
#include "record/paths.h"
#include "record/ring.h"
#include "record/rules.h"
#include "record/spool.h"
#include "record/target.h"
#include "record/tracing.h"

/* Chosen: a file that is open for this long is found in /proc. */
#define ROUND_MS 20
/* Chosen: for this long a CPU may have an event under way, its virtual machine stopped between. */
#define ARRIVAL_NS UINT64_C(10000000)
/* Looking for new threads takes at most one part in so many of the time; chosen. */
#define REFRESH_SHARE 20u

/* A recorder that waits behind what it records loses events. */
#define PRIORITY (-10)

struct session {
    const struct record_options *options;
    struct record_report *report;
    struct record_error *error;
    struct mounts mounts;
    struct tracing *tracing;
    struct ring *ring;
    struct target *target;
    struct rules *rules;
    struct paths *paths;
    struct spool *spool;
    struct facts facts;
    int priority;                     /* before the recording */
    uint64_t begin_ns, refresh_ns;    /* CLOCK_MONOTONIC */
    uint64_t first_event_ns, last_ns; /* the events' clock */
};

static uint64_t own_cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int on_access(void *context, const struct rules_access *access)
{
    struct session *session = context;
    struct rules_access placed = *access;
    /* Time never runs back in a trace, whatever a late event says. */
    if (placed.time_ns < session->last_ns)
        placed.time_ns = session->last_ns;
    session->last_ns = placed.time_ns;
    placed.time_ns -= session->first_event_ns;
    return spool_put(session->spool, &placed, target_memcg_name(session->target, placed.memcg),
                     session->error);
}

static uint32_t memcg_of(void *context, int32_t pid)
{
    const struct session *session = context;
    return target_memcg_of(session->target, pid);
}

static int open_parts(struct session *session)
{
    const struct record_options *options = session->options;
    const struct rules_hooks hooks = {on_access, memcg_of, session};
    struct record_error *error = session->error;
    int code = mounts_read(&session->mounts);
    if (code != MGLRU_OK)
        return record_fail(error, code, "/proc/self/mountinfo cannot be read");
    code = tracing_open(options->buffer_bytes, &session->tracing, error);
    if (code == MGLRU_OK)
        code = spool_open(options->output, &session->spool, error);
    if (code == MGLRU_OK)
        code = ring_open(session->tracing, &session->ring, error);
    if (code == MGLRU_OK)
        code = overhead_measure(session->tracing, &session->report->event_ns, error);
    if (code == MGLRU_OK)
        code = target_open(options, &session->mounts, &session->target, error);
    if (code != MGLRU_OK)
        return code;
    session->rules = rules_create(&hooks, &session->mounts);
    session->paths = session->rules ? paths_create(session->rules, &session->mounts) : NULL;
    session->report->lost_on = calloc(ring_cpus(session->ring), sizeof(uint64_t));
    session->report->cpus = ring_cpus(session->ring);
    if (session->paths == NULL || session->report->lost_on == NULL)
        return record_fail(error, MGLRU_ENOMEM, "no memory");
    facts_begin(&session->facts, options, session->target);
    return MGLRU_OK;
}

static void note_missing(struct session *session)
{
    struct record_report *report = session->report;
    report->no_faults = !tracing_has(session->tracing, EVENT_FAULT);
    report->no_maps = !tracing_has(session->tracing, EVENT_MAP);
    report->no_adds = !tracing_has(session->tracing, EVENT_ADD);
    report->no_frees = !tracing_has(session->tracing, EVENT_DELETE) ||
                       !tracing_has(session->tracing, EVENT_RECLAIM_BEGIN);
    report->no_dirty = !tracing_has(session->tracing, EVENT_DIRTY);
    report->no_opens = !tracing_has(session->tracing, EVENT_OPEN);
}

/* From here on events come. */
static int begin(struct session *session)
{
    note_missing(session);
    int code = target_follow(session->target, session->tracing, session->error);
    if (code != MGLRU_OK)
        return code;
    session->begin_ns = record_now_ns();
    session->first_event_ns = session->last_ns = tracing_now_ns(session->tracing);
    if (session->first_event_ns == 0)
        return record_fail(session->error, MGLRU_ENOTSUP, "per_cpu/cpu0/stats: tells no time");
    session->priority = getpriority(PRIO_PROCESS, 0);
    setpriority(PRIO_PROCESS, 0, PRIORITY); /* without it there is more to lose, that is all */
    tracing_run(session->tracing, true);
    return target_start(session->target, session->error);
}

/* Events older than @before_ns become accesses. */
static int take_events(struct session *session, uint64_t before_ns)
{
    struct event event;
    while (ring_next(session->ring, before_ns, &event)) {
        session->report->events++;
        /* Frees are told from reclaim by tracepoints that a kernel may lack. */
        if (event.kind == EVENT_DELETE && session->report->no_frees)
            continue;
        session->error->text[0] = '\0';
        int code = rules_take(session->rules, &event);
        if (code != MGLRU_OK)
            return session->error->text[0] != '\0' ? code
                                                   : record_fail(session->error, code, "no memory");
    }
    return MGLRU_OK;
}

/* Whether the recording ends here; then report->end tells why. */
static bool is_over(struct session *session, const struct pollfd *fds)
{
    const struct record_options *options = session->options;
    enum record_end *end = &session->report->end;
    const uint64_t now = record_now_ns();
    unsigned char signal;
    if (fds[1].revents != 0 && read(options->stop_fd, &signal, 1) == 1) {
        target_signal(session->target, signal);
        *end = RECORD_END_SIGNAL;
        return true;
    }
    if (now >= session->refresh_ns) {
        *end = RECORD_END_GONE;
        if (!target_refresh(session->target, session->tracing))
            return true;
        const uint64_t took_ns = record_now_ns() - now;
        session->refresh_ns = now + took_ns * REFRESH_SHARE;
    }
    *end = RECORD_END_TARGET;
    if (fds[0].revents != 0)
        return true;
    *end = RECORD_END_TIME;
    if (options->duration_ns > 0 && now - session->begin_ns >= options->duration_ns)
        return true;
    *end = RECORD_END_BYTES;
    return options->max_bytes > 0 &&
           spool_bytes(session->spool) + SPOOL_BYTES_RESERVED >= options->max_bytes;
}

/* How long a round may wait: not past the end of the duration. */
static int wait_ms(const struct session *session)
{
    const uint64_t left = session->begin_ns + session->options->duration_ns - record_now_ns();
    if (session->options->duration_ns > 0 && left < ROUND_MS * UINT64_C(1000000))
        return (int)(left / 1000000) + 1;
    return ROUND_MS;
}

static int run_rounds(struct session *session)
{
    struct pollfd fds[] = {{.fd = target_end_fd(session->target), .events = POLLIN},
                           {.fd = session->options->stop_fd, .events = POLLIN}};
    int code = MGLRU_OK;
    do {
        size_t bytes;
        if (poll(fds, 2, wait_ms(session)) < 0 && errno != EINTR)
            return record_fail(session->error, MGLRU_EIO, "poll: %s", strerror(errno));
        const uint64_t before_ns = tracing_now_ns(session->tracing) - ARRIVAL_NS;
        code = ring_read(session->ring, &bytes, session->error);
        if (code == MGLRU_OK)
            code = take_events(session, before_ns);
        if (code == MGLRU_OK)
            paths_look(session->paths);
    } while (code == MGLRU_OK && !is_over(session, fds));
    return code;
}

/* Stops the events and takes what the buffers still hold. */
static int end(struct session *session)
{
    struct record_report *report = session->report;
    size_t bytes = 1;
    int code = MGLRU_OK;
    tracing_run(session->tracing, false);
    setpriority(PRIO_PROCESS, 0, session->priority);
    report->duration_ns = record_now_ns() - session->begin_ns;
    while (code == MGLRU_OK && bytes > 0)
        code = ring_read(session->ring, &bytes, session->error);
    if (code == MGLRU_OK)
        code = take_events(session, UINT64_MAX);
    if (code == MGLRU_OK)
        code = rules_flush(session->rules);
    for (unsigned i = 0; i < report->cpus; i++) {
        report->lost_on[i] = tracing_lost(session->tracing, i);
        report->lost += report->lost_on[i];
    }
    struct rules_counts counts;
    rules_counts(session->rules, &counts);
    report->added_pages = counts.added_pages;
    report->metadata_pages = counts.metadata_pages;
    report->reclaimed_pages = counts.reclaimed_pages;
    report->mapped_pages = counts.mapped_pages;
    return code;
}

static bool describe_file(void *context, uint32_t number, struct spool_file *out)
{
    struct session *session = context;
    const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t pages = (paths_bytes(session->paths, number) + page_bytes - 1) / page_bytes;
    out->name = paths_name(session->paths, number);
    out->end = rules_file(session->rules, number)->end;
    if (pages > out->end)
        out->end = pages;
    session->report->unnamed += !paths_known(session->paths, number);
    return out->name != NULL;
}

/* Refuses a recording that is no use, else writes it. */
static int write_trace(struct session *session)
{
    struct record_report *report = session->report;
    if ((double)report->lost > RECORD_LOST_MAX * (double)(report->events + report->lost))
        return record_fail(session->error, MGLRU_EIO,
                           "lost %llu of %llu events, more than %.0f %%: a trace with such holes "
                           "answers wrongly, none was written; a larger --buffer helps",
                           (unsigned long long)report->lost,
                           (unsigned long long)(report->events + report->lost),
                           100 * RECORD_LOST_MAX);
    paths_finish(session->paths);
    facts_end(&session->facts, session->rules, &session->mounts, report);
    bool any = false;
    for (uint32_t i = 0; !any && i < rules_files(session->rules); i++)
        any = rules_file(session->rules, i)->accesses > 0;
    if (!any)
        return record_fail(session->error, MGLRU_EINVAL,
                           "nothing was recorded: no page of any file was accessed");
    const struct spool_finish finish = {.output = session->options->output,
                                        .max_bytes = session->options->max_bytes,
                                        .facts = session->facts.at,
                                        .facts_count = session->facts.count,
                                        .readahead_kb = session->facts.readahead_kb,
                                        .kernel = session->facts.kernel,
                                        .lru = session->facts.lru,
                                        .file = describe_file,
                                        .context = session,
                                        .files = rules_files(session->rules)};
    return spool_finish(session->spool, &finish, report, session->error);
}

/* Nothing of the kernel's is kept longer than events come. */
static void release_kernel(struct session *session)
{
    ring_close(session->ring);
    session->ring = NULL;
    tracing_close(session->tracing);
    session->tracing = NULL;
}

int record_run(const struct record_options *options, struct record_report *report,
               struct record_error *error)
{
    struct session session = {.options = options, .report = report, .error = error};
    *report = (struct record_report){.end = RECORD_END_REFUSED, .wait_status = -1};
    *error = (struct record_error){.text = ""};
    int code = open_parts(&session);
    if (code == MGLRU_OK)
        code = begin(&session);
    if (code == MGLRU_OK) {
        code = run_rounds(&session);
        if (code == MGLRU_OK)
            code = end(&session);
        if (code != MGLRU_OK)
            report->end = RECORD_END_REFUSED;
        release_kernel(&session);
        if (code == MGLRU_OK)
            code = write_trace(&session);
        report->own_cpu_ns = own_cpu_ns();
        target_hand_over(session.target, report);
    }
    release_kernel(&session);
    target_close(session.target);
    spool_close(session.spool);
    paths_free(session.paths);
    rules_free(session.rules);
    mounts_free(&session.mounts);
    return code;
}

void record_wait(struct record_report *report, int stop_fd)
{
    struct rusage usage;
    if (report->command == 0)
        return;
    struct pollfd fds[] = {{.fd = report->command_fd, .events = POLLIN},
                           {.fd = stop_fd, .events = POLLIN}};
    unsigned char signal;
    while (fds[0].revents == 0)
        if (poll(fds, 2, -1) > 0 && fds[1].revents != 0 && read(stop_fd, &signal, 1) == 1)
            kill(report->command, signal);
    if (wait4(report->command, &report->wait_status, 0, &usage) == report->command)
        report->cpu_ns = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000u +
                         (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000u;
    close(report->command_fd);
    report->command = 0;
}

void record_report_free(struct record_report *report)
{
    free(report->lost_on);
    report->lost_on = NULL;
}
