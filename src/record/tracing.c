/* SPDX-License-Identifier: MIT */
/* See tracing.h. */
#include "record/tracing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include <mglru/error.h>

#include <event-parse.h>
#include <tracefs.h>

#include "record/fail.h"
#include "record/mounts.h"

#define INSTANCE_PREFIX "mglru-record-"
/* Chosen: with events of 48 bytes, more than a second of 200,000 events a second on each CPU. */
#define BUFFER_BYTES_CHOSEN (UINT64_C(16) << 20)
/* Chosen: of the memory of the machine, for the buffers of all CPUs together. */
#define BUFFER_SHARE 64u

struct tracing {
    struct tracefs_instance *instance;
    struct tep_handle *tep;
    struct event_layout *layouts;
    int pids_fd; /* appends to the list of threads */
};

static bool is_tracefs(const char *path)
{
    struct statfs fs;
    return statfs(path, &fs) == 0 && (unsigned long)fs.f_type == TRACEFS_MAGIC;
}

/* Where tracefs is mounted. Not asked of libtracefs, which would mount it. */
static int find_tracefs(char *out, size_t bytes, struct record_error *error)
{
    static const char *const usual[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
    for (size_t i = 0; i < 2; i++)
        if (is_tracefs(usual[i])) {
            snprintf(out, bytes, "%s", usual[i]);
            return MGLRU_OK;
        }
    struct mounts mounts;
    bool found = false;
    if (mounts_read(&mounts) == MGLRU_OK)
        for (size_t i = 0; i < mounts.count && !found; i++)
            if (strcmp(mounts.items[i].type, "tracefs") == 0) {
                snprintf(out, bytes, "%s", mounts.items[i].path);
                found = true;
            }
    mounts_free(&mounts);
    if (found)
        return MGLRU_OK;
    error->root_helps = geteuid() != 0;
    return record_fail(error, error->root_helps ? MGLRU_EPERM : MGLRU_ENOTSUP,
                       "tracefs is not mounted, or this user cannot see it; as root: "
                       "mount -t tracefs tracefs /sys/kernel/tracing");
}

/* Before anything is made: may we, and has the kernel what a recording cannot do without? */
static int check_kernel(const char *folder, struct record_error *error)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/instances", folder);
    if (access(path, W_OK | X_OK) != 0) {
        error->root_helps = geteuid() != 0;
        return record_fail(error, MGLRU_EPERM, "%s: %s: tracing is not allowed here", path,
                           strerror(errno));
    }
    snprintf(path, sizeof(path), "%s/events/filemap/mm_filemap_get_pages/format", folder);
    if (access(path, R_OK) != 0)
        return record_fail(error, MGLRU_ENOTSUP,
                           "this kernel has no tracepoint filemap:mm_filemap_get_pages, which "
                           "tells of reads: it came with Linux 6.10");
    return MGLRU_OK;
}

/* An instance whose maker is dead and which nobody has open. */
static int remove_stale(const char *name, void *context)
{
    char *end;
    if (strncmp(name, INSTANCE_PREFIX, strlen(INSTANCE_PREFIX)) != 0)
        return 0;
    const long pid = strtol(name + strlen(INSTANCE_PREFIX), &end, 10);
    if (*end != '\0' || pid <= 0 || (kill((pid_t)pid, 0) == 0 || errno != ESRCH))
        return 0;
    struct tracefs_instance *stale = tracefs_instance_alloc(NULL, name);
    char *path = tracefs_instance_get_dir(stale);
    if (path != NULL)
        rmdir(path);
    tracefs_put_tracing_file(path);
    tracefs_instance_free(stale);
    return 0;
}

static void place_field(struct event_layout *layout, enum event_field at,
                        const struct tep_format_field *field)
{
    if (field != NULL && field->offset >= 0 && field->offset <= UINT16_MAX && field->size > 0 &&
        field->size <= UINT16_MAX) {
        layout->fields[at].offset = (uint16_t)field->offset;
        layout->fields[at].bytes = (uint16_t)field->size;
    }
}

/* False: the kernel has no such tracepoint, or it lacks a field that tells what we need. */
static bool read_layout(struct tracing *tracing, const struct event_source *source,
                        struct event_layout *layout)
{
    int bytes = 0;
    char *text = tracefs_event_file_read(NULL, source->system, source->name, "format", &bytes);
    if (text == NULL)
        return false;
    tep_parse_event(tracing->tep, text, (unsigned long)bytes, source->system);
    free(text);
    struct tep_event *event = tep_find_event_by_name(tracing->tep, source->system, source->name);
    if (event == NULL)
        return false;
    layout->type = (uint16_t)event->id;
    place_field(layout, EVENT_FIELD_PID,
                tep_find_common_field(event, source->fields[EVENT_FIELD_PID]));
    bool whole = layout->fields[EVENT_FIELD_PID].bytes > 0;
    for (size_t i = EVENT_FIELD_PID + 1; i < EVENT_FIELDS; i++) {
        if (source->fields[i] == NULL)
            continue;
        place_field(layout, (enum event_field)i, tep_find_field(event, source->fields[i]));
        /* Kernels without large folios have no order. */
        whole = whole && (layout->fields[i].bytes > 0 || i == EVENT_FIELD_ORDER);
    }
    if (whole)
        layout->source = source;
    return whole;
}

static int read_layouts(struct tracing *tracing, struct record_error *error)
{
    tracing->tep = tep_alloc();
    tracing->layouts = calloc(event_sources_count, sizeof(*tracing->layouts));
    if (tracing->tep == NULL || tracing->layouts == NULL)
        return record_fail(error, MGLRU_ENOMEM, "no memory");
    for (size_t i = 0; i < event_sources_count; i++)
        read_layout(tracing, &event_sources[i], &tracing->layouts[i]);
    if (!tracing_has(tracing, EVENT_READ))
        return record_fail(error, MGLRU_ENOTSUP,
                           "the description of filemap:mm_filemap_get_pages cannot be read");
    return MGLRU_OK;
}

static uint64_t choose_buffer(void)
{
    const uint64_t memory =
        (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / BUFFER_SHARE;
    const uint64_t share = memory / (uint64_t)sysconf(_SC_NPROCESSORS_CONF);
    return share < RECORD_BUFFER_BYTES_MIN ? RECORD_BUFFER_BYTES_MIN
           : share < BUFFER_BYTES_CHOSEN   ? share
                                           : BUFFER_BYTES_CHOSEN;
}

/* The cheapest one that agrees on all CPUs: the kernel makes "global" its default where the clocks
 * of CPUs run apart. */
static const char *choose_clock(void)
{
    char *clocks = tracefs_instance_file_read(NULL, "trace_clock", NULL);
    const bool apart = clocks != NULL && strstr(clocks, "[global]") != NULL;
    free(clocks);
    return apart ? "global" : "local";
}

static int set_up(struct tracing *tracing, uint64_t buffer_bytes, struct record_error *error)
{
    struct tracefs_instance *instance = tracing->instance;
    const uint64_t bytes = buffer_bytes != 0 ? buffer_bytes : choose_buffer();
    tracefs_trace_off(instance);
    if (tracefs_instance_file_write(instance, "trace_clock", choose_clock()) < 0 ||
        tracefs_option_enable(instance, TRACEFS_OPTION_EVENT_FORK) != 0)
        return record_fail(error, MGLRU_ENOTSUP, "this kernel's tracing does not follow forks");
    if (tracefs_instance_set_buffer_size(instance, (size_t)(bytes >> 10), -1) != 0)
        return record_fail(error, MGLRU_ENOMEM,
                           "the kernel has no memory for buffers of %" PRIu64 " KiB for each CPU",
                           bytes >> 10);
    tracing->pids_fd =
        tracefs_instance_file_open(instance, "set_event_pid", O_WRONLY | O_APPEND | O_CLOEXEC);
    if (tracing->pids_fd < 0)
        return record_fail(error, MGLRU_EIO, "set_event_pid: %s", strerror(errno));
    /* No process has the number 0, so nobody is followed yet. */
    return tracing_follow_also(tracing, 0)
               ? MGLRU_OK
               : record_fail(error, MGLRU_EIO, "set_event_pid: %s", strerror(errno));
}

int tracing_open(uint64_t buffer_bytes, struct tracing **out, struct record_error *error)
{
    char folder[256], name[64];
    *out = NULL;
    int code = find_tracefs(folder, sizeof(folder), error);
    if (code == MGLRU_OK)
        code = check_kernel(folder, error);
    if (code != MGLRU_OK)
        return code;
    struct tracing *tracing = calloc(1, sizeof(*tracing));
    if (tracing == NULL || tracefs_set_tracing_dir(folder) != 0) {
        free(tracing);
        return record_fail(error, MGLRU_ENOMEM, "no memory");
    }
    tracing->pids_fd = -1;
    tracefs_instances_walk(remove_stale, NULL);
    snprintf(name, sizeof(name), INSTANCE_PREFIX "%ld", (long)getpid());
    errno = 0;
    tracing->instance = tracefs_instance_create(name);
    if (tracing->instance == NULL)
        code = record_fail(error, errno == ENOMEM ? MGLRU_ENOMEM : MGLRU_EPERM,
                           "%s/instances/%s cannot be made: %s", folder, name, strerror(errno));
    if (code == MGLRU_OK)
        code = read_layouts(tracing, error);
    if (code == MGLRU_OK)
        code = set_up(tracing, buffer_bytes, error);
    if (code != MGLRU_OK)
        tracing_close(tracing);
    else
        *out = tracing;
    return code;
}

const struct event_layout *tracing_layouts(const struct tracing *tracing, size_t *count)
{
    *count = event_sources_count;
    return tracing->layouts;
}

bool tracing_has(const struct tracing *tracing, enum event_kind kind)
{
    for (size_t i = 0; i < event_sources_count; i++)
        if (tracing->layouts[i].source != NULL && tracing->layouts[i].source->kind == kind)
            return true;
    return false;
}

int tracing_enable(struct tracing *tracing, bool on, struct record_error *error)
{
    for (size_t i = 0; i < event_sources_count; i++) {
        const struct event_source *source = tracing->layouts[i].source;
        if (source == NULL)
            continue;
        int failed = on ? tracefs_event_enable(tracing->instance, source->system, source->name)
                        : tracefs_event_disable(tracing->instance, source->system, source->name);
        if (failed != 0)
            return record_fail(error, MGLRU_EIO, "the tracepoint %s:%s cannot be switched",
                               source->system, source->name);
    }
    return MGLRU_OK;
}

bool tracing_follow_also(struct tracing *tracing, int32_t id)
{
    char text[16];
    int bytes = snprintf(text, sizeof(text), "%" PRId32 "\n", id);
    return write(tracing->pids_fd, text, (size_t)bytes) == bytes;
}

int tracing_follow(struct tracing *tracing, const int32_t *ids, size_t count,
                   struct record_error *error)
{
    size_t followed = 0;
    int fd = tracefs_instance_file_open(tracing->instance, "set_event_pid", O_WRONLY | O_TRUNC);
    if (fd < 0)
        return record_fail(error, MGLRU_EIO, "set_event_pid: %s", strerror(errno));
    close(fd);
    for (size_t i = 0; i < count; i++)
        followed += tracing_follow_also(tracing, ids[i]);
    if (followed == 0 && !tracing_follow_also(tracing, 0))
        return record_fail(error, MGLRU_EIO, "set_event_pid: %s", strerror(errno));
    return MGLRU_OK;
}

void tracing_run(struct tracing *tracing, bool on)
{
    if (on)
        tracefs_trace_on(tracing->instance);
    else
        tracefs_trace_off(tracing->instance);
}

void tracing_clear(struct tracing *tracing)
{
    tracefs_instance_file_clear(tracing->instance, "trace");
}

int tracing_open_buffer(struct tracing *tracing, unsigned cpu)
{
    char path[64];
    snprintf(path, sizeof(path), "per_cpu/cpu%u/trace_pipe_raw", cpu);
    return tracefs_instance_file_open(tracing->instance, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

/* Where the value of a line of a CPU's statistics begins, in *@text to be freed; NULL: nowhere. */
static const char *read_stat(struct tracing *tracing, unsigned cpu, const char *key, char **text)
{
    char path[64];
    snprintf(path, sizeof(path), "per_cpu/cpu%u/stats", cpu);
    *text = tracefs_instance_file_read(tracing->instance, path, NULL);
    /* At the start of a line: "commit overrun" is not "overrun". */
    for (const char *at = *text; at != NULL; at = strchr(at, '\n'), at = at ? at + 1 : NULL)
        if (strncmp(at, key, strlen(key)) == 0)
            return at + strlen(key);
    return NULL;
}

uint64_t tracing_lost(struct tracing *tracing, unsigned cpu)
{
    static const char *const keys[] = {"overrun:", "dropped events:"};
    uint64_t lost = 0;
    for (size_t i = 0; i < 2; i++) {
        char *text;
        const char *at = read_stat(tracing, cpu, keys[i], &text);
        lost += at != NULL ? strtoull(at, NULL, 10) : 0;
        free(text);
    }
    return lost;
}

uint64_t tracing_now_ns(struct tracing *tracing)
{
    const unsigned cpus = (unsigned)sysconf(_SC_NPROCESSORS_CONF);
    uint64_t now_ns = 0;
    for (unsigned cpu = 0; cpu < cpus && now_ns == 0; cpu++) {
        char *text, *end;
        const char *at = read_stat(tracing, cpu, "now ts:", &text);
        /* SECONDS.MICROSECONDS, of six digits. */
        const uint64_t seconds = at != NULL ? strtoull(at, &end, 10) : 0;
        if (at != NULL && *end == '.')
            now_ns = seconds * 1000000000u + strtoull(end + 1, NULL, 10) * 1000u;
        free(text);
    }
    return now_ns;
}

void tracing_close(struct tracing *tracing)
{
    if (tracing == NULL)
        return;
    if (tracing->pids_fd >= 0)
        close(tracing->pids_fd);
    if (tracing->instance != NULL) {
        tracefs_trace_off(tracing->instance);
        tracefs_instance_destroy(tracing->instance);
        tracefs_instance_free(tracing->instance);
    }
    tep_free(tracing->tep);
    free(tracing->layouts);
    free(tracing);
}
