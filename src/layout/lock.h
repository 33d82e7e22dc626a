/* SPDX-License-Identifier: MIT */
/*
 * Lock files: the facts of layouts that are to stay, and the check against them.
 *
 * A lock file is text, one fact a line, sorted as the layout is, so that version control shows what
 * changed:
 *
 *   linewise-lock 1
 *   line 64
 *   type SIZE ALIGN NAME                   the facts that follow are about this type
 *   field OFFSET SIZE CLASS PATH           a hot field, in bytes
 *   group FIRST END NAME                   bytes that a group of the class file takes
 *   pair KIND, PATH, PATH                  two fields that fight; KIND as "read x atomic"
 *
 * A check finds: a pair that fights and is not in the lock, growth, a group that lies otherwise on
 * its lines, a field or group that is gone, a statement of the class file that fits nothing any
 * more, and each broken rule of the class file. Without a lock file every error and warning of
 * conflicts.h is found instead of new pairs. What became better is no finding.
 */
#ifndef LAYOUT_LOCK_H
#define LAYOUT_LOCK_H

#include <stdio.h>

#include "layout/conflicts.h"

#define LAYOUT_LOCK_VERSION 1
#define LAYOUT_LOCK_FILE_MAX ((size_t)16 << 20)
#define LAYOUT_LOCK_FACTS_MAX 200000u

struct layout_lock_field {
    char *path;
    char *class; /* "lock(a, b)", with '_' for blanks */
    uint64_t offset_bytes;
    uint64_t size_bytes;
};

struct layout_lock_group {
    char *name;
    uint64_t first_byte;
    uint64_t end_byte;
};

struct layout_lock_pair {
    enum layout_verdict verdict;
    char *first;
    char *second;
};

struct layout_lock_type {
    char *name;
    uint64_t size_bytes;
    uint64_t align_bytes;
    struct layout_lock_field *fields;
    size_t field_count;
    struct layout_lock_group *groups;
    size_t group_count;
    struct layout_lock_pair *pairs;
    size_t pair_count;
};

struct layout_lock {
    uint64_t line_bytes;
    struct layout_lock_type *types;
    size_t type_count;
};

/* Adds the facts of @map to @lock, which starts zeroed with line_bytes set. 0; MGLRU_ENOMEM. */
int layout_lock_add(struct layout_lock *lock, const struct layout_map *map,
                    const struct layout_classes *classes,
                    const struct layout_conflict_options *options);

/* Text of the file; the caller frees it. NULL: out of memory. */
char *layout_lock_text(const struct layout_lock *lock);

/*
 * Reads a lock file ("-" is standard input). @lock: filled in; empty after an error.
 * 0; MGLRU_EINVAL: @error names file, line, what is wrong and what was expected; MGLRU_ENOTSUP: a
 * version that this program does not know; MGLRU_ENOENT, _EPERM, _EIO, _ENOMEM.
 */
int layout_lock_read(const char *path, struct layout_lock *lock, struct layout_error *error);

/* The same from memory. */
int layout_lock_parse(const char *name, const char *text, size_t bytes, struct layout_lock *lock,
                      struct layout_error *error);
void layout_lock_free(struct layout_lock *lock);

const struct layout_lock_type *layout_lock_find(const struct layout_lock *lock, const char *name);

/* Something that a check found. */
struct layout_breach {
    const char
        *verdict; /* "false sharing", "growth", "moved group", "broken rule", "missing", ... */
    enum layout_severity severity;
    uint64_t line;
    char **readers;
    size_t reader_count;
    char **writers;
    size_t writer_count;
    char *why;
};

struct layout_breaches {
    struct layout_breach *items;
    size_t count;
};

/*
 * Checks @map against @locked (NULL: no lock file) and the rules of the class file; adds to
 * @breaches, which starts zeroed. 0; MGLRU_ENOMEM.
 */
int layout_check(const struct layout_map *map, const struct layout_classes *classes,
                 const struct layout_conflict_options *options,
                 const struct layout_lock_type *locked, struct layout_breaches *breaches);
void layout_breaches_free(struct layout_breaches *breaches);

/* Bytes of @map that the fields of @group take: first and end. False: a field is missing, whose
 * name is left in *@missing. */
bool layout_group_range(const struct layout_map *map, const struct layout_group *group,
                        uint64_t range[2], const char **missing);

/* True when @field is @path or lies in it. */
bool layout_field_under(const struct layout_field *field, const char *path);

/* Adds a breach; its text is formatted. NULL: out of memory. Private to layout/. */
struct layout_breach *layout_breach_add(struct layout_breaches *breaches, const char *verdict,
                                        enum layout_severity severity, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool layout_breach_reader(struct layout_breach *breach, const struct layout_field *field);
bool layout_breach_writer(struct layout_breach *breach, const struct layout_field *field);

/* Adds what the rules of the class file forbid. Private to layout/. 0; MGLRU_ENOMEM. */
int layout_demands_check(const struct layout_map *map, const struct layout_classes *classes,
                         const struct layout_conflict_options *options,
                         struct layout_breaches *breaches);

#endif
