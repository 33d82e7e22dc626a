/* SPDX-License-Identifier: MIT */
/* See spool.h. */
#include "record/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mglru/error.h>

#include "base/check.h"
#include "base/errno.h"
#include "record/fail.h"
#include "trace/codec.h"
#include "trace/reader.h"
#include "trace/writer.h"

#define BATCH 512u

struct spool {
    struct trace_writer *writer;
    int fd; /* keeps the file while the writer closes its own */
    uint64_t puts;
};

static int pass_on(struct record_error *error, int code, const struct trace_error *said)
{
    return record_fail(error, code, "%s", said->text);
}

/* The same refusals that opening the output will meet at the end, but before the work. */
static int check_output(const char *output, bool *is_file, struct record_error *error)
{
    struct stat status;
    *is_file = false;
    if (strcmp(output, "-") == 0)
        return MGLRU_OK;
    const bool exists = stat(output, &status) == 0;
    *is_file = !exists || S_ISREG(status.st_mode);
    int reason = 0;
    if (exists && S_ISDIR(status.st_mode))
        reason = EISDIR;
    else if (exists && access(output, W_OK) != 0)
        reason = errno;
    return reason == 0 ? MGLRU_OK
                       : record_fail(error, errno_code(reason), "%s: cannot write: %s", output,
                                     strerror(reason));
}

/* A file without a name beside @output, or where temporary files go. -1: errno tells. */
static int open_unnamed(const char *output, bool beside)
{
    char path[PATH_MAX];
    const char *folder = getenv("TMPDIR");
    if (beside) {
        snprintf(path, sizeof(path), "%s.spool-XXXXXX", output);
    } else {
        snprintf(path, sizeof(path), "%s/mglru-record-XXXXXX",
                 folder != NULL && folder[0] != '\0' ? folder : "/var/tmp");
    }
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

int spool_open(const char *output, struct spool **out, struct record_error *error)
{
    bool is_file;
    struct trace_error said;
    *out = NULL;
    int code = check_output(output, &is_file, error);
    if (code != MGLRU_OK)
        return code;
    struct spool *spool = calloc(1, sizeof(*spool));
    if (spool == NULL)
        return record_fail(error, MGLRU_ENOMEM, "no memory");
    spool->fd = open_unnamed(output, is_file);
    int copy = spool->fd >= 0 ? fcntl(spool->fd, F_DUPFD_CLOEXEC, 0) : -1;
    if (copy < 0) {
        code =
            record_fail(error, errno_code(errno), "%s: cannot write: %s", output, strerror(errno));
    } else {
        char name[PATH_MAX + 16];
        snprintf(name, sizeof(name), "%s%s", output,
                 codec_zstd.encoder_create != NULL ? codec_zstd.suffix : "");
        code = trace_writer_open_fd(copy, name, (uint32_t)sysconf(_SC_PAGESIZE), &spool->writer,
                                    &said);
        if (code != MGLRU_OK)
            code = pass_on(error, code, &said);
    }
    if (code != MGLRU_OK)
        spool_close(spool);
    else
        *out = spool;
    return code;
}

int spool_put(struct spool *spool, const struct rules_access *access, const char *memcg,
              struct record_error *error)
{
    char name[16];
    struct trace_error said;
    snprintf(name, sizeof(name), "%" PRIu32, access->file);
    const uint64_t count = access->count < UINT32_MAX ? access->count : UINT32_MAX;
    const struct trace_record record = {.op = access->op,
                                        .count = (uint32_t)count,
                                        .page = access->page,
                                        .time_ns = access->time_ns};
    int code = trace_writer_put(spool->writer, &record, memcg, name, &said);
    return code == MGLRU_OK ? code : pass_on(error, code, &said);
}

uint64_t spool_bytes(const struct spool *spool)
{
    return trace_writer_bytes(spool->writer);
}

/* The second pass. */
struct pass {
    const struct spool_finish *finish;
    struct record_report *report;
    struct spool_file *files; /* by number; name NULL: not asked for yet */
    struct trace_reader *reader;
    struct trace_writer *writer;
    struct trace_error said;
};

/* The file that stands in the spool under its number. NULL: no memory. */
static const struct spool_file *file_of(struct pass *pass, const char *name)
{
    const unsigned long number = strtoul(name, NULL, 10);
    struct spool_file *file = &pass->files[number];
    if (file->name == NULL) {
        if (!pass->finish->file(pass->finish->context, (uint32_t)number, file))
            return NULL;
        pass->report->files++;
    }
    return file;
}

static int pass_record(struct pass *pass, struct trace_record *record)
{
    const struct spool_file *file =
        file_of(pass, trace_reader_object_name(pass->reader, record->object));
    if (file == NULL)
        return MGLRU_ENOMEM;
    if (record->op == TRACE_OPEN)
        record->count = file->end < UINT32_MAX ? (uint32_t)file->end : UINT32_MAX;
    if (record->op == TRACE_READ || record->op == TRACE_MAP_READ) {
        if (record->page >= file->end)
            return MGLRU_OK;
        if (record->count > file->end - record->page)
            record->count = (uint32_t)(file->end - record->page);
    }
    if (trace_op_is_access(record->op)) {
        pass->report->accesses += record->count;
        pass->report->requests++;
    }
    return trace_writer_put(pass->writer, record,
                            trace_reader_memcg_name(pass->reader, record->memcg), file->name,
                            &pass->said);
}

/* What stands before the first access. */
static int pass_head(struct pass *pass)
{
    const struct spool_finish *finish = pass->finish;
    char lost[24] = "";
    if (pass->report->lost > 0)
        snprintf(lost, sizeof(lost), "%" PRIu64, pass->report->lost);
    const char *const set[][2] = {{"kernel", finish->kernel},
                                  {"lru", finish->lru},
                                  {"read_ahead_kb", finish->readahead_kb},
                                  {"events_lost", lost}};
    int code = MGLRU_OK;
    for (unsigned i = 0; code == MGLRU_OK && i < finish->facts_count; i++)
        code = trace_writer_comment(pass->writer, finish->facts[i], &pass->said);
    for (size_t i = 0; code == MGLRU_OK && i < MGLRU_ARRAY_LEN(set); i++) {
        const struct trace_record record = {
            .op = TRACE_SET, .time_ns = TRACE_NO_TIME, .name = set[i][0], .text = set[i][1]};
        if (record.text[0] != '\0')
            code = trace_writer_put(pass->writer, &record, "/", NULL, &pass->said);
    }
    return code;
}

static int pass_all(struct pass *pass)
{
    struct trace_record records[BATCH];
    size_t count = 0;
    int code = pass_head(pass);
    const uint64_t max_bytes = pass->finish->max_bytes;
    do {
        if (max_bytes > 0 && trace_writer_bytes(pass->writer) + SPOOL_BYTES_RESERVED >= max_bytes) {
            pass->report->end = RECORD_END_BYTES;
            return trace_writer_comment(pass->writer, "cut here: --max-size was reached",
                                        &pass->said);
        }
        if (code == MGLRU_OK)
            code = trace_reader_next(pass->reader, records, BATCH, &count, &pass->said);
        for (size_t i = 0; i < count && code == MGLRU_OK; i++)
            code = pass_record(pass, &records[i]);
    } while (code == MGLRU_OK && count > 0);
    return code;
}

int spool_finish(struct spool *spool, const struct spool_finish *finish,
                 struct record_report *report, struct record_error *error)
{
    char path[64];
    const struct trace_open_options options = {.format = "native"};
    struct pass pass = {.finish = finish, .report = report};
    snprintf(pass.said.text, sizeof(pass.said.text), "no memory");
    int code = trace_writer_commit(spool->writer, &pass.said);
    spool->writer = NULL;
    pass.files = calloc((size_t)finish->files + 1, sizeof(*pass.files));
    if (pass.files == NULL)
        code = MGLRU_ENOMEM;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", spool->fd);
    if (code == MGLRU_OK)
        code = trace_reader_open(path, &options, &pass.reader, &pass.said);
    if (code == MGLRU_OK)
        code = trace_writer_open(finish->output, trace_reader_page_bytes(pass.reader), &pass.writer,
                                 &pass.said);
    if (code == MGLRU_OK)
        code = pass_all(&pass);
    if (code == MGLRU_OK) {
        code = trace_writer_commit(pass.writer, &pass.said);
        pass.writer = NULL;
    }
    if (code != MGLRU_OK)
        pass_on(error, code, &pass.said);
    trace_writer_discard(pass.writer);
    if (pass.reader != NULL)
        trace_reader_close(pass.reader);
    free(pass.files);
    return code;
}

void spool_close(struct spool *spool)
{
    if (spool == NULL)
        return;
    trace_writer_discard(spool->writer);
    if (spool->fd >= 0)
        close(spool->fd);
    free(spool);
}
