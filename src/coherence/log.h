/* SPDX-License-Identifier: MIT */
/*
 * A recorder's log, read: the accesses of all threads merged by time, and what they were to.
 *
 * Every record is checked before it is used; a log that lacks its end is torn and refused, since
 * nobody knows what else is missing. Memory is in proportion to the file.
 *
 * Work between two accesses of a thread is the time between them without what recording cost,
 * at most COHERENCE_GAP_MAX_NS: longer ones are waits and time slices.
 */
#ifndef COHERENCE_LOG_H
#define COHERENCE_LOG_H

#include "coherence/file.h"
#include "coherence/log_format.h"
#include "coherence/trace.h"

/* Chosen: far above the work between two accesses, far below a time slice. */
#define COHERENCE_GAP_MAX_NS 10000u
#define COHERENCE_MODULES_MAX 64u
#define COHERENCE_OBJECTS_MAX ((size_t)1 << 20)

/* Something that was watched under a type's name. */
struct coherence_object {
    uint64_t address;
    uint64_t bytes;
    const char *type; /* as the program said: "struct queue"; belongs to the log */
    uint32_t order;   /* of watching */
};

struct coherence_module {
    const char *path; /* belongs to the log */
    uint64_t bias;    /* what the loader added to its addresses */
};

struct coherence_log {
    struct coherence_trace trace;
    struct coherence_object *objects; /* by address; none overlap, later ones stay */
    size_t object_count, object_capacity;
    struct coherence_module modules[COHERENCE_MODULES_MAX];
    size_t module_count;
    uint64_t totals[LOG_TOTALS];
    char **names; /* owns all strings */
    size_t name_count, name_capacity;
};

/*
 * Reads @path into lines of @line_bytes. @log: the caller frees it in any case.
 * 0; MGLRU_EINVAL: no such log, torn, of another version, or damaged; MGLRU_ENOENT, MGLRU_EPERM,
 * MGLRU_EIO; MGLRU_EOVERFLOW: too large; MGLRU_ENOMEM. @error names the file and the place.
 */
int coherence_log_read(const char *path, uint32_t line_bytes, struct coherence_log *log,
                       struct coherence_error *error);

/* The same from memory. */
int coherence_log_parse(const struct coherence_bytes *file, uint32_t line_bytes,
                        struct coherence_log *log, struct coherence_error *error);
void coherence_log_free(struct coherence_log *log);

/* True when @file begins like a log. */
bool coherence_log_is(const struct coherence_bytes *file);

#endif
