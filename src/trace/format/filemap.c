/* SPDX-License-Identifier: MIT */
/*
 * The kernel's filemap tracepoints, as perf script or tracefs print them. Pages of 4096 bytes.
 *
 *   mm_filemap_get_pages          a read() asked for a range     -> buffered read
 *   mm_filemap_fault              a fault on a mapping           -> access through a mapping
 *   mm_filemap_map_pages          a fault mapped pages around it -> the same, for all of them
 *   mm_filemap_add_to_page_cache  pages came in                  -> buffered read, but only in
 *                                 traces without the three above (kernels before 6.10)
 *   writeback_dirty_folio, writeback_dirty_page                  -> buffered write
 *   mm_filemap_delete_from_page_cache and all other events       -> nothing
 *
 * One read() emits get_pages once a batch of folios, always with the end of the whole request:
 * "0-7", "1-7", "2-7". Lines of one process that go on like this are one read, so pages that were
 * handed out are not handed out again. The end of a request may lie behind the end of the file.
 * The trace does not tell sizes; but a read that reaches a page brings it in, so for a file of
 * which additions were seen nothing behind the last page known is taken as read.
 *
 * Each inode is an object, "MAJ:MIN/INODE" in hexadecimal. Caveat: writeback names the disk, not
 * the partition, so writes meet reads only where the file system has a device of its own.
 */
#include "trace/format/event.h"
#include "trace/format/request.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <mglru/error.h>

#define PAGE_SHIFT 12
#define ORDER_MAX 30
/* Chosen: "MAJ:MIN" has 14 at most, names of other backing devices a few more. */
#define DEVICE_BYTES 40
/* Chosen: processes that read at the same time; two that share a slot split their reads. */
#define PROCESSES 1024u

/* What is known of a file. */
struct filemap_file {
    uint64_t end;  /* one behind the last page that the trace showed to be there */
    bool complete; /* additions were seen */
};

/* The last read and the last fault of a process. */
struct filemap_process {
    uint64_t pid;
    uint64_t first, last; /* of the latest line of the read */
    uint64_t next;        /* first page that was not yet handed out */
    uint64_t fault_page;
    uint32_t object, fault_object;
    bool reading, faulting;
};

struct filemap_state {
    struct filemap_file *files; /* by object */
    uint32_t files_capacity;
    bool additions_are_reads;
    bool any;
    struct filemap_process processes[PROCESSES];
};

enum filemap_event { EVENT_READ = 1, EVENT_FAULT, EVENT_MAP, EVENT_ADD, EVENT_DIRTY };

struct filemap_line {
    enum filemap_event event;
    struct event_line line;
    char name[64]; /* of the object */
    size_t name_bytes;
    uint64_t first, last; /* pages */
};

static const struct {
    const char *name;
    enum filemap_event event;
} events[] = {{"mm_filemap_get_pages", EVENT_READ},   {"mm_filemap_fault", EVENT_FAULT},
              {"mm_filemap_map_pages", EVENT_MAP},    {"mm_filemap_add_to_page_cache", EVENT_ADD},
              {"writeback_dirty_folio", EVENT_DIRTY}, {"writeback_dirty_page", EVENT_DIRTY}};

/* The text behind "KEY=" or "KEY " in the arguments; NULL: no such key in this line. */
static const char *argument(const char *arguments, const char *key)
{
    size_t bytes = strlen(key);
    for (const char *p = arguments; *p != '\n'; p = scan_blanks(scan_field_end(p))) {
        if (strncmp(p, key, bytes) == 0 && (p[bytes] == '=' || p[bytes] == ' '))
            return p + bytes + 1;
        if ((unsigned char)*p < ' ')
            break;
    }
    return NULL;
}

static bool argument_u64(const char *arguments, const char *key, uint64_t *out)
{
    const char *p = argument(arguments, key);
    return p && scan_u64(&p, out);
}

/*
 * "MAJ:MIN/INODE" from "dev 8:1 ino 1a2b", "dev=8:1 ino=1a2b" or, for writeback,
 * "bdi 8:1: ino=6699" (which counts in decimal; the name has it in hexadecimal, so that they meet).
 */
static bool take_name(struct filemap_line *out)
{
    bool dirty = out->event == EVENT_DIRTY;
    const char *dev = argument(out->line.arguments, dirty ? "bdi" : "dev");
    const char *ino = argument(out->line.arguments, "ino");
    uint64_t inode;
    if (!dev || !ino)
        return false;
    size_t dev_bytes = (size_t)(scan_field_end(dev) - dev);
    if (dirty && dev_bytes > 0 && dev[dev_bytes - 1] == ':')
        dev_bytes--;
    if (ino[0] == '0' && ino[1] == 'x')
        ino += 2;
    if (dev_bytes == 0 || dev_bytes > DEVICE_BYTES ||
        !(dirty ? scan_u64(&ino, &inode) : scan_hex(&ino, &inode)))
        return false;
    memcpy(out->name, dev, dev_bytes);
    int ino_bytes =
        snprintf(out->name + dev_bytes, sizeof(out->name) - dev_bytes, "/%" PRIx64, inode);
    out->name_bytes = dev_bytes + (size_t)ino_bytes;
    return true;
}

/* Pages of "ofs=BYTES [order=N]", "ofs=FIRST-LAST", "ofs=FIRST max_ofs=LAST", "index=PAGE". */
static bool take_pages(struct filemap_line *out)
{
    const char *arguments = out->line.arguments;
    uint64_t last, order;
    if (out->event == EVENT_DIRTY) {
        bool ok = argument_u64(arguments, "index", &out->first);
        out->last = out->first;
        return ok && out->last <= TRACE_PAGE_MAX;
    }
    const char *p = argument(arguments, "ofs");
    if (!p || !scan_u64(&p, &out->first))
        return false;
    last = out->first;
    if (*p == '-') {
        p++;
        if (!scan_u64(&p, &last))
            return false;
    } else {
        argument_u64(arguments, "max_ofs", &last);
    }
    out->first >>= PAGE_SHIFT;
    out->last = last >> PAGE_SHIFT;
    if (out->event == EVENT_ADD && argument_u64(arguments, "order", &order) && order <= ORDER_MAX)
        out->last = out->first + (UINT64_C(1) << order) - 1;
    return out->last >= out->first && out->last <= TRACE_PAGE_MAX;
}

/* 1: a line of ours; 0: something else; -1: one of ours that cannot be read. */
static int parse(const char *line, struct filemap_line *out)
{
    out->event = (enum filemap_event)0;
    if (event_parse(line, "mm_filemap_", &out->line) ||
        event_parse(line, "writeback_dirty_", &out->line))
        for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
            if (scan_field_is(out->line.name, events[i].name))
                out->event = events[i].event;
    if (!out->event)
        return 0;
    return take_name(out) && take_pages(out) ? 1 : -1;
}

static int filemap_probe(const struct format_sample *sample)
{
    static const char mark[] = "mm_filemap_";
    const char *found = memmem(sample->data, sample->line_bytes, mark, sizeof(mark) - 1);
    struct filemap_line parsed;
    if (!found)
        return FORMAT_NO;
    const char *line = found;
    while (line > sample->data && line[-1] != '\n')
        line--;
    /* A deletion is no access but marks the format as well. */
    return parse(line, &parsed) >= 0 && event_parse(line, mark, &parsed.line) ? FORMAT_MARKED
                                                                              : FORMAT_NO;
}

static int filemap_open(struct trace_reader *reader, struct trace_error *error)
{
    struct filemap_state *state = reader->state;
    state->additions_are_reads = true;
    int rc = trace_input_lines(&reader->input, error);
    if (rc)
        return rc;
    const char *line = (const char *)reader->input.buffer + reader->input.begin;
    const char *end = (const char *)reader->input.buffer + reader->input.lines_end;
    for (; line < end; line = scan_line_end(line) + 1) {
        struct filemap_line parsed;
        if (parse(line, &parsed) == 1 && parsed.event <= EVENT_MAP)
            state->additions_are_reads = false;
    }
    uint32_t root;
    return format_name(reader, &reader->memcgs, (struct scan_field){"/", 1}, &root, error);
}

static void filemap_close(struct trace_reader *reader)
{
    struct filemap_state *state = reader->state;
    free(state->files);
}

/* The entry of a file, new ones zero; NULL: no memory. */
static struct filemap_file *file_of(struct filemap_state *state, uint32_t object)
{
    if (object >= state->files_capacity) {
        uint32_t capacity = object < 512 ? 1024 : object * 2;
        struct filemap_file *files = realloc(state->files, capacity * sizeof(*files));
        if (!files)
            return NULL;
        memset(files + state->files_capacity, 0,
               (capacity - state->files_capacity) * sizeof(*files));
        state->files = files;
        state->files_capacity = capacity;
    }
    return &state->files[object];
}

static struct filemap_process *process_of(struct filemap_state *state, uint64_t pid)
{
    struct filemap_process *process = &state->processes[pid % PROCESSES];
    if (process->pid != pid)
        *process = (struct filemap_process){.pid = pid};
    return process;
}

/* Takes away from a read what lies behind the end of the file or was handed out before. */
static bool clip_read(struct filemap_process *process, const struct filemap_file *file,
                      uint32_t object, struct filemap_line *line)
{
    bool goes_on = process->reading && process->object == object && process->last == line->last &&
                   line->first > process->first;
    process->reading = true;
    process->object = object;
    process->first = line->first;
    process->last = line->last;
    if (goes_on)
        line->first = process->next;
    if (file->complete && line->last >= file->end)
        line->last = file->end - 1;
    if (line->first > line->last)
        return false;
    process->next = line->last + 1;
    return true;
}

/* A fault that had to wait for the disk is tried, and traced, once more. */
static bool is_repeated_fault(struct filemap_process *process, uint32_t object,
                              const struct filemap_line *line)
{
    bool repeated =
        process->faulting && process->fault_object == object && process->fault_page == line->first;
    process->faulting = !repeated;
    process->fault_object = object;
    process->fault_page = line->first;
    return repeated;
}

/* The operation of a line after clipping; 0: no access. */
static enum trace_op access_of(struct filemap_state *state, struct filemap_file *file,
                               uint32_t object, struct filemap_line *line)
{
    struct filemap_process *process = process_of(state, line->line.pid);
    uint64_t shown = line->event == EVENT_READ ? line->first : line->last;
    if (line->event != EVENT_MAP && shown >= file->end)
        file->end = shown + 1;
    if (line->event == EVENT_ADD) {
        file->complete = true;
        return state->additions_are_reads ? TRACE_READ : (enum trace_op)0;
    }
    bool repeated = line->event == EVENT_FAULT && is_repeated_fault(process, object, line);
    process->faulting &= line->event == EVENT_FAULT;
    switch (line->event) {
    case EVENT_READ:
        return clip_read(process, file, object, line) ? TRACE_READ : (enum trace_op)0;
    case EVENT_DIRTY:
        return TRACE_WRITE;
    case EVENT_MAP:
        if (file->complete && line->last >= file->end)
            line->last = file->end - 1;
        return line->first <= line->last ? TRACE_MAP_READ : (enum trace_op)0;
    default:
        return repeated ? (enum trace_op)0 : TRACE_MAP_READ;
    }
}

static int filemap_line(struct trace_reader *reader, const char *text, struct format_batch *batch,
                        struct trace_error *error)
{
    struct filemap_state *state = reader->state;
    struct filemap_line line;
    int kind = parse(text, &line);
    if (kind == 0)
        return 0;
    if (kind < 0 || line.last - line.first >= UINT32_MAX) {
        const char *end = scan_line_end(line.line.arguments);
        return format_fail_field(
            reader, error, "'dev MAJ:MIN ino INODE ofs=BYTES'",
            (struct scan_field){line.line.arguments, (size_t)(end - line.line.arguments)});
    }
    state->any = true;
    uint32_t object;
    int rc = format_name(reader, &reader->objects, (struct scan_field){line.name, line.name_bytes},
                         &object, error);
    if (rc)
        return rc;
    struct filemap_file *file = file_of(state, object);
    if (!file)
        return message_set(error, MGLRU_ENOMEM, "%s: no memory", reader->input.name);
    enum trace_op op = access_of(state, file, object, &line);
    if (!op)
        return 0;
    struct trace_record *record = format_record(reader, batch, op);
    record->object = object;
    record->page = line.first;
    record->count = (uint32_t)(line.last - line.first + 1);
    record->time_ns = request_time(reader, line.line.time_ns);
    return 0;
}

static int filemap_finish(struct trace_reader *reader, struct trace_error *error)
{
    const struct filemap_state *state = reader->state;
    return state->any ? 0
                      : message_set(error, MGLRU_EINVAL,
                                    "%s: no filemap event in %" PRIu64
                                    " lines, expected mm_filemap_get_pages and the like",
                                    reader->input.name, reader->line);
}

const struct trace_format format_filemap = {
    .name = "filemap",
    .about = "perf script or tracefs text of the kernel's filemap tracepoints",
    .state_bytes = sizeof(struct filemap_state),
    .probe = filemap_probe,
    .open = filemap_open,
    .line = filemap_line,
    .finish = filemap_finish,
    .close = filemap_close,
};
