/* SPDX-License-Identifier: MIT */
/* See facts.h. */
#include "record/facts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "record/readfile.h"

#define VALUE_BYTES 128u
/* cgroup v1 shows "no limit" as a number of this size or more. */
#define NO_LIMIT (UINT64_C(1) << 62)

__attribute__((format(printf, 2, 3))) static void add(struct facts *facts, const char *format, ...)
{
    if (facts->count == FACTS_MAX)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(facts->lines[facts->count], FACTS_BYTES, format, arguments);
    va_end(arguments);
    facts->at[facts->count] = facts->lines[facts->count];
    facts->count++;
}

static void add_command(struct facts *facts, char *const *argv)
{
    char text[FACTS_BYTES / 2] = "";
    size_t used = 0;
    for (; *argv != NULL && used < sizeof(text) - 1; argv++) {
        const int bytes = snprintf(text + used, sizeof(text) - used, " %s", *argv);
        used += bytes > 0 ? (size_t)bytes : 0;
    }
    add(facts, "command%s", text);
}

/* The limit of the cgroup in its own words; "max" where there is none. */
static const char *limit_of(const char *folder, char *out)
{
    char path[FACTS_BYTES];
    snprintf(path, sizeof(path), "%s/memory.max", folder);
    if (access(path, F_OK) != 0)
        snprintf(path, sizeof(path), "%s/memory.limit_in_bytes", folder);
    readfile_line(path, "max", out, VALUE_BYTES);
    return strtoull(out, NULL, 10) >= NO_LIMIT ? "max" : out;
}

void facts_begin(struct facts *facts, const struct record_options *options,
                 const struct target *target)
{
    struct utsname system;
    char value[VALUE_BYTES];
    memset(facts, 0, sizeof(*facts));
    add(facts, "recorded by mglru " MGLRU_VERSION);
    if (options->target == RECORD_COMMAND)
        add_command(facts, options->command);
    else if (options->target == RECORD_CGROUP)
        add(facts, "cgroup %s", options->cgroup);
    else
        add(facts, "pid %ld", (long)options->pid);
    if (uname(&system) == 0) {
        snprintf(facts->kernel, sizeof(facts->kernel), "%s", system.release);
        add(facts, "kernel %s %s", system.release, system.machine);
    }
    add(facts, "memory %" PRIu64 "K",
        (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) >> 10);
    readfile_line("/sys/kernel/mm/lru_gen/enabled", "", value, sizeof(value));
    facts->lru = value[0] == '\0' || strtoul(value, NULL, 0) == 0 ? "classic" : "mglru";
    if (strcmp(facts->lru, "classic") == 0)
        add(facts, "lru classic");
    else
        add(facts, "lru mglru %s", value);
    add(facts, "swappiness %s",
        readfile_line("/proc/sys/vm/swappiness", "unknown", value, sizeof(value)));
    if (target_cgroup_folder(target) != NULL)
        add(facts, "memory.max %s", limit_of(target_cgroup_folder(target), value));
}

/* Pages that were accessed on a device. */
static uint64_t accesses_on(const struct rules *rules, uint64_t device)
{
    uint64_t accesses = 0;
    for (uint32_t i = 0; i < rules_files(rules); i++)
        if (rules_file(rules, i)->device == device)
            accesses += rules_file(rules, i)->accesses;
    return accesses;
}

/* The readahead of a mounted device; empty: unknown. */
static void read_readahead(const struct mount *mount, char *value, size_t bytes)
{
    char path[128];
    snprintf(path, sizeof(path), "/sys/class/bdi/%s/read_ahead_kb", mount->bdi);
    readfile_line(path, "", value, bytes);
}

/* The readahead of the devices that hold files of the trace. */
static void add_readahead(struct facts *facts, const struct rules *rules,
                          const struct mounts *mounts)
{
    uint64_t most = 0;
    for (size_t m = 0; m < mounts->count; m++) {
        const struct mount *mount = &mounts->items[m];
        char value[sizeof(facts->readahead_kb)] = "";
        bool said = false;
        for (size_t k = 0; k < m && !said; k++)
            said = mounts->items[k].device == mount->device;
        const uint64_t accesses = said ? 0 : accesses_on(rules, mount->device);
        if (accesses > 0)
            read_readahead(mount, value, sizeof(value));
        if (value[0] == '\0')
            continue;
        add(facts, "readahead %sK of device %" PRIu64 ":%" PRIu64 ", %s", value,
            mount->device >> 20, mount->device & 0xfffff, mount->type);
        if (accesses > most) {
            most = accesses;
            memcpy(facts->readahead_kb, value, sizeof(value));
        }
    }
}

void facts_end(struct facts *facts, const struct rules *rules, const struct mounts *mounts,
               const struct record_report *report)
{
    static const char *const ends[] = {[RECORD_END_TARGET] = "the target ended",
                                       [RECORD_END_GONE] = "the cgroup was removed",
                                       [RECORD_END_SIGNAL] = "a signal ended it",
                                       [RECORD_END_TIME] = "--duration was reached",
                                       [RECORD_END_BYTES] = "--max-size was reached"};
    add_readahead(facts, rules, mounts);
    if (report->end != RECORD_END_REFUSED)
        add(facts, "end: %s", ends[report->end]);
    add(facts, "events %" PRIu64 ", lost %" PRIu64, report->events, report->lost);
}
