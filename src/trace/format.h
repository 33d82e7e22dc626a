/* SPDX-License-Identifier: MIT */
/*
 * The contract between trace/reader.c and the formats in trace/format/: one const table each.
 *
 * A format looks at a sample of the input and says how sure it is; reader.c takes the surest and
 * runs it. The format works on reader->input directly and turns what it finds into records.
 */
#ifndef TRACE_FORMAT_H
#define TRACE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/input.h"
#include "trace/message.h"
#include "trace/names.h"
#include "trace/reader.h"
#include "trace/scan.h"

/* Chosen: from a disk sector to the largest huge page of x86. */
#define FORMAT_PAGE_BYTES_MIN 512u
#define FORMAT_PAGE_BYTES_MAX (1u << 30)

/* How sure a format is of a sample. Chosen: only the order matters. */
enum format_score {
    FORMAT_NO = 0,
    FORMAT_LIKELY = 50,  /* all that was looked at fits; nothing marks the format */
    FORMAT_SHAPED = 80,  /* fits, and the shape is rare */
    FORMAT_MARKED = 100, /* a header or a mark that no other format has */
};

/* Chosen: enough lines to tell formats apart, few enough for a quick start. */
#define FORMAT_PROBE_LINES 64

/*
 * The beginning of the input. For text, data ends with a line break (the sample ends with its last
 * whole line, or a line break was added where the input ends without one).
 */
struct format_sample {
    const char *data;
    size_t bytes;
    size_t line_bytes;    /* of data: whole lines; 0: no text */
    uint64_t total_bytes; /* all there is, when the sample holds it or the file is plain; else 0 */
    const char *columns;  /* csv */
};

/* Text that lives for one batch, for the names and values of control records. */
struct format_text {
    struct format_text *next;
    size_t used;
    size_t capacity;
    char data[];
};

struct trace_reader {
    /* Fixed at open. */
    const struct trace_format *format;
    void *state; /* format->state_bytes, zero at first */
    uint32_t page_bytes;
    uint8_t page_shift;
    bool whole_requests;
    char *path; /* copies of what the caller gave; may be NULL */
    char *columns;

    struct trace_input input;
    struct names memcgs;
    struct names objects;
    struct format_text *text; /* newest first; one block is kept from batch to batch */
    uint64_t line;            /* lines or binary records taken so far */
    uint64_t records;         /* handed out */
    uint64_t time_first_ns;   /* of formats whose clock starts anywhere */
    bool time_started;

    int failed; /* code of the error that ended the trace; every later call returns it */
    struct trace_error failure;
};

struct format_batch {
    struct trace_record *records;
    size_t capacity;
    size_t count;
};

struct trace_format {
    const char *name;
    const char *about;
    size_t state_bytes;
    bool binary;
    int (*probe)(const struct format_sample *sample); /* enum format_score */
    /* May be NULL. Reads a header, takes options. */
    int (*open)(struct trace_reader *reader, struct trace_error *error);
    /* Text: takes the line at @line, at most one record. NULL where next is set. */
    int (*line)(struct trace_reader *reader, const char *line, struct format_batch *batch,
                struct trace_error *error);
    /* Fills the batch until it is full or the input ends. For binary and for fast formats. */
    int (*next)(struct trace_reader *reader, struct format_batch *batch, struct trace_error *error);
    /* May be NULL. At the end of the input: an error for the whole. */
    int (*finish)(struct trace_reader *reader, struct trace_error *error);
    void (*close)(struct trace_reader *reader); /* may be NULL; frees what state points to */
};

extern const struct trace_format format_native;
extern const struct trace_format format_lis;
extern const struct trace_format format_keys;
extern const struct trace_format format_lirs;
extern const struct trace_format format_webcachesim;
extern const struct trace_format format_csv;
extern const struct trace_format format_spec;
extern const struct trace_format format_lackey;
extern const struct trace_format format_blkparse;
extern const struct trace_format format_fio2;
extern const struct trace_format format_fio3;
extern const struct trace_format format_filemap;
extern const struct trace_format format_damon;
extern const struct trace_format format_vscsi1;
extern const struct trace_format format_vscsi2;
extern const struct trace_format format_oracle;
extern const struct trace_format format_oracle_blocks;
extern const struct trace_format format_oracle_objects;
extern const struct trace_format format_be32;
extern const struct trace_format format_le32;
extern const struct trace_format format_be64;
extern const struct trace_format format_le64;

/* Error in the line (or binary record) reader->line: "FILE:LINE: what". MGLRU_EINVAL. */
int format_fail(const struct trace_reader *reader, struct trace_error *error, const char *text, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with the field that is wrong quoted at the end: "..., found 'FIELD'". */
int format_fail_field(const struct trace_reader *reader, struct trace_error *error,
                      const char *expected, struct scan_field found);

/* Number of an object or memcg name; MGLRU_ENOMEM and _EOVERFLOW with a message. */
int format_name(struct trace_reader *reader, struct names *names, struct scan_field name,
                uint32_t *id, struct trace_error *error);

/*
 * Text formats with their own next: the place of the next line, counted in reader->line; NULL at
 * the end of the input or on an error. The format moves input.begin behind the line.
 */
int format_line_next(struct trace_reader *reader, const char **line, struct trace_error *error);

/* Copies @field into the text of this batch, ended by NUL. NULL: no memory. */
const char *format_text_keep(struct trace_reader *reader, struct scan_field field);

/* An access without control text; the caller fills what differs. */
static inline struct trace_record *format_record(struct trace_reader *reader,
                                                 struct format_batch *batch, enum trace_op op)
{
    struct trace_record *record = &batch->records[batch->count++];
    record->op = op;
    record->memcg = 0;
    record->object = 0;
    record->count = 1;
    record->page = 0;
    record->time_ns = TRACE_NO_TIME;
    record->name = NULL;
    record->text = NULL;
    record->line = reader->line;
    return record;
}

/*
 * For probes of line formats: how many of the first FORMAT_PROBE_LINES lines @fits accepts when
 * all of them do, 0 when one does not. Blank lines count as fitting but not in the result.
 */
size_t format_probe_lines(const struct format_sample *sample, bool (*fits)(const char *line));

#endif
