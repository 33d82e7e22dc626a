/* SPDX-License-Identifier: MIT */
/*
 * Comma-separated values with a column map. The map comes from the names in the header, or from
 * --columns "ROLE=COLUMN,...", where COLUMN is a number from 0 or a name in the header:
 *
 *   page, lbn, offset or id   where: a page, a block of 512 bytes, a byte, an object by number
 *   count, size               how much: pages, bytes (default: one page; whole objects: one page)
 *   op                        what: r, w and the like, or a SCSI command in hexadecimal
 *   time, time_ms, _us, _ns   when: since any start, fractions of seconds allowed in "time"
 *   object, memcg             whose: a name each (default: one object, the root)
 *
 * Exactly one of the four wheres is needed. Fields may stand in double quotes; a quote inside or
 * a comma within quotes is not understood and is an error.
 */
#include "trace/format/request.h"

#include <strings.h>

#include <mglru/error.h>

#include "base/check.h"

/* Chosen: more columns than any trace has that was seen. */
#define CSV_COLUMNS 64u
/* Chosen: as long as a path of cgroups may reasonably be. */
#define CSV_NAME_BYTES 1024

enum csv_role {
    ROLE_NONE,
    ROLE_PAGE,
    ROLE_LBN,
    ROLE_OFFSET,
    ROLE_ID,
    ROLE_COUNT,
    ROLE_SIZE,
    ROLE_OP,
    ROLE_TIME,
    ROLE_TIME_MS,
    ROLE_TIME_US,
    ROLE_TIME_NS,
    ROLE_OBJECT,
    ROLE_MEMCG,
    ROLES
};

static const struct {
    const char *name;
    enum csv_role role;
} role_names[] = {
    {"page", ROLE_PAGE},       {"lbn", ROLE_LBN},         {"lba", ROLE_LBN},
    {"sector", ROLE_LBN},      {"offset", ROLE_OFFSET},   {"address", ROLE_OFFSET},
    {"id", ROLE_ID},           {"key", ROLE_ID},          {"obj_id", ROLE_ID},
    {"count", ROLE_COUNT},     {"pages", ROLE_COUNT},     {"size", ROLE_SIZE},
    {"length", ROLE_SIZE},     {"len", ROLE_SIZE},        {"bytes", ROLE_SIZE},
    {"op", ROLE_OP},           {"operation", ROLE_OP},    {"type", ROLE_OP},
    {"rw", ROLE_OP},           {"time", ROLE_TIME},       {"timestamp", ROLE_TIME},
    {"ts", ROLE_TIME},         {"time_ms", ROLE_TIME_MS}, {"time_us", ROLE_TIME_US},
    {"time_ns", ROLE_TIME_NS}, {"object", ROLE_OBJECT},   {"file", ROLE_OBJECT},
    {"device", ROLE_OBJECT},   {"volume", ROLE_OBJECT},   {"memcg", ROLE_MEMCG},
    {"cgroup", ROLE_MEMCG},    {"tenant", ROLE_MEMCG},
};

struct csv_state {
    struct key_objects objects; /* first, for key_emit */
    uint8_t role[CSV_COLUMNS];  /* of each column */
    uint8_t columns;            /* one behind the last column with a role */
    enum csv_role where;
};

/* The fields of one line that have a role; text NULL: absent. */
struct csv_line {
    struct scan_field field[ROLES];
};

static enum csv_role role_find(struct scan_field name)
{
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(role_names); i++)
        if (strlen(role_names[i].name) == name.bytes &&
            strncasecmp(role_names[i].name, name.text, name.bytes) == 0)
            return role_names[i].role;
    return ROLE_NONE;
}

/* The field at *@p up to a comma or the end of the line, without blanks and quotes around it. */
static struct scan_field take_field(const char **p)
{
    const char *start = scan_blanks(*p);
    const char *end = start;
    while (*end != ',' && *end != '\n')
        end++;
    *p = end;
    while (end > start && scan_is_blank(end[-1]))
        end--;
    if (end - start >= 2 && *start == '"' && end[-1] == '"') {
        start++;
        end--;
    }
    return (struct scan_field){start, (size_t)(end - start)};
}

static bool is_where(enum csv_role role)
{
    return role >= ROLE_PAGE && role <= ROLE_ID;
}

/* Gives @column its role. False: the role is taken, or is a second where. */
static bool role_set(struct csv_state *state, size_t column, enum csv_role role)
{
    if (column >= CSV_COLUMNS || state->role[column] || (is_where(role) && state->where))
        return false;
    for (size_t i = 0; i < CSV_COLUMNS; i++)
        if (state->role[i] == role)
            return false;
    state->role[column] = (uint8_t)role;
    if (column >= state->columns)
        state->columns = (uint8_t)(column + 1);
    if (is_where(role))
        state->where = role;
    return true;
}

/* Roles by the names in the header; of two columns with one role the first has it. */
static void roles_from_header(struct csv_state *state, const char *line)
{
    for (size_t column = 0; column < CSV_COLUMNS; column++) {
        enum csv_role role = role_find(take_field(&line));
        if (role)
            role_set(state, column, role);
        if (*line++ != ',')
            break;
    }
}

/* Number of the column named in the header. False: there is none. */
static bool column_find(const char *line, struct scan_field name, uint64_t *column)
{
    for (*column = 0;; (*column)++) {
        struct scan_field field = take_field(&line);
        if (field.bytes == name.bytes && memcmp(field.text, name.text, name.bytes) == 0)
            return true;
        if (*line++ != ',')
            return false;
    }
}

/* A number of at most three digits that is all of @name, or the column that the header names so. */
static bool column_of(const char *header, struct scan_field name, uint64_t *column)
{
    const char *p = name.text;
    if (name.bytes <= 3 && scan_u64(&p, column) && p == name.text + name.bytes)
        return true;
    return column_find(header, name, column);
}

/* One "ROLE=COLUMN" of the column map; @header is the first line. */
static int role_from_map(struct trace_reader *reader, struct scan_field part, const char *header,
                         struct trace_error *error)
{
    struct csv_state *state = reader->state;
    struct message_quote quote = message_quote(part.text, part.bytes);
    const char *equals = memchr(part.text, '=', part.bytes);
    if (!equals || equals + 1 == part.text + part.bytes)
        return message_set(error, MGLRU_EINVAL, "column map: expected ROLE=COLUMN, found '%s'",
                           quote.text);
    enum csv_role role = role_find((struct scan_field){part.text, (size_t)(equals - part.text)});
    if (!role)
        return message_set(error, MGLRU_EINVAL,
                           "column map: unknown role in '%s', expected page, lbn, offset, id, "
                           "count, size, op, time, time_ms, time_us, time_ns, object or memcg",
                           quote.text);
    struct scan_field name = {equals + 1, (size_t)(part.text + part.bytes - equals - 1)};
    uint64_t column;
    if (!column_of(header, name, &column))
        return message_set(error, MGLRU_EINVAL, "%s: no column for '%s' in the first line",
                           reader->input.name, quote.text);
    if (!role_set(state, column, role))
        return message_set(error, MGLRU_EINVAL,
                           "column map: '%s' gives a second column to a role, a second role to a "
                           "column, a second place, or a column above %u",
                           quote.text, CSV_COLUMNS - 1);
    return 0;
}

static int roles_from_map(struct trace_reader *reader, const char *header,
                          struct trace_error *error)
{
    int rc = 0;
    for (const char *p = reader->columns; !rc && *p;) {
        size_t bytes = strcspn(p, ",");
        /* The names in a map end with NUL, which scanning takes for the end of a field. */
        rc = role_from_map(reader, (struct scan_field){p, bytes}, header, error);
        p += bytes + (p[bytes] == ',');
    }
    return rc;
}

/* Splits the line by roles. False: fewer columns than roles need. */
static bool split(const struct csv_state *state, const char *line, struct csv_line *out)
{
    memset(out, 0, sizeof(*out));
    for (size_t column = 0; column < state->columns; column++) {
        out->field[state->role[column]] = take_field(&line);
        if (*line != ',' && column + 1 < state->columns)
            return false;
        line++;
    }
    return true;
}

static bool number_of(struct scan_field field, uint64_t *out)
{
    const char *p = field.text;
    bool hex = field.bytes > 2 && p[0] == '0' && (p[1] | 0x20) == 'x';
    p += hex ? 2 : 0;
    return field.bytes > 0 && (hex ? scan_hex(&p, out) : scan_u64(&p, out)) &&
           p == field.text + field.bytes;
}

static int csv_probe(const struct format_sample *sample)
{
    struct csv_state state = {0};
    if (sample->line_bytes == 0 || !memchr(sample->data, ',', sample->line_bytes))
        return FORMAT_NO;
    if (sample->columns)
        return FORMAT_SHAPED;
    roles_from_header(&state, sample->data);
    const char *second = scan_line_end(sample->data) + 1;
    struct csv_line line;
    uint64_t number;
    if (!state.where)
        return FORMAT_NO;
    if (second >= sample->data + sample->line_bytes)
        return FORMAT_SHAPED;
    return split(&state, second, &line) && number_of(line.field[state.where], &number)
               ? FORMAT_SHAPED
               : FORMAT_NO;
}

static bool has_role(const struct csv_state *state, enum csv_role role)
{
    return memchr(state->role, role, sizeof(state->role)) != NULL;
}

/* Without a map the names are there; with one, they are when no number says where. */
static bool has_header(const struct trace_reader *reader, const char *first_line)
{
    const struct csv_state *state = reader->state;
    struct csv_line line;
    uint64_t number;
    return !reader->columns || !split(state, first_line, &line) ||
           !number_of(line.field[state->where], &number);
}

static int csv_open(struct trace_reader *reader, struct trace_error *error)
{
    struct csv_state *state = reader->state;
    struct trace_input *input = &reader->input;
    const char *line;
    int rc = format_line_next(reader, &line, error);
    if (rc)
        return rc;
    if (reader->columns)
        rc = roles_from_map(reader, line, error);
    else
        roles_from_header(state, line);
    if (rc)
        return rc;
    if (!state->where)
        return format_fail(reader, error,
                           "no column says where: expected one of page, lbn, offset, id in the "
                           "header, or a column map");
    if (has_header(reader, line))
        input->begin = (size_t)(scan_line_end(line) - (const char *)input->buffer) + 1;
    else
        reader->line = 0; /* the first line is data and is taken again */
    uint32_t id;
    if (!has_role(state, ROLE_MEMCG))
        rc = format_name(reader, &reader->memcgs, (struct scan_field){"/", 1}, &id, error);
    if (!rc && !has_role(state, ROLE_OBJECT) && state->where != ROLE_ID)
        rc = format_name(reader, &reader->objects, (struct scan_field){"data", 4}, &id, error);
    return rc;
}

/* r, read, get, 28 (a SCSI READ in hexadecimal), ... */
static enum trace_op op_of(struct scan_field field)
{
    static const char *const reads[] = {"r", "read", "get", "gets", "l", "load"};
    static const char *const writes[] = {"w", "write", "set", "put", "s", "store", "update"};
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(reads); i++)
        if (strlen(reads[i]) == field.bytes && strncasecmp(reads[i], field.text, field.bytes) == 0)
            return TRACE_READ;
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(writes); i++)
        if (strlen(writes[i]) == field.bytes &&
            strncasecmp(writes[i], field.text, field.bytes) == 0)
            return TRACE_WRITE;
    const char *p = field.text;
    uint64_t command;
    bool is_command = scan_hex(&p, &command) && p == field.text + field.bytes;
    return is_command ? request_scsi_op(command) : (enum trace_op)0;
}

/* Time of the line; TRACE_NO_TIME without a column. False: no number. */
static bool time_of(const struct csv_line *line, uint64_t *out_ns)
{
    static const struct {
        enum csv_role role;
        uint64_t unit_ns;
    } units[] = {{ROLE_TIME_MS, 1000000}, {ROLE_TIME_US, 1000}, {ROLE_TIME_NS, 1}};
    *out_ns = TRACE_NO_TIME;
    struct scan_field seconds = line->field[ROLE_TIME];
    if (seconds.text) {
        const char *p = seconds.text;
        return scan_seconds(&p, out_ns) && p == seconds.text + seconds.bytes;
    }
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(units); i++) {
        struct scan_field field = line->field[units[i].role];
        uint64_t number;
        if (!field.text)
            continue;
        if (!number_of(field, &number))
            return false;
        *out_ns = request_time_units(number, units[i].unit_ns);
    }
    return true;
}

/* Names of memcg ("/" put in front where it is missing) and object. */
static int take_names(struct trace_reader *reader, const struct csv_line *line,
                      struct request *request, struct trace_error *error)
{
    struct scan_field memcg = line->field[ROLE_MEMCG];
    struct scan_field object = line->field[ROLE_OBJECT];
    char path[CSV_NAME_BYTES];
    int rc = 0;
    if (memcg.text) {
        if (memcg.bytes == 0 || memcg.bytes + 1 > sizeof(path))
            return format_fail_field(reader, error, "the name of a memcg", memcg);
        size_t slash = memcg.text[0] != '/';
        path[0] = '/';
        memcpy(path + slash, memcg.text, memcg.bytes);
        rc = format_name(reader, &reader->memcgs, (struct scan_field){path, memcg.bytes + slash},
                         &request->memcg, error);
    }
    if (rc || !object.text)
        return rc;
    if (object.bytes == 0)
        return format_fail_field(reader, error, "the name of an object", object);
    return format_name(reader, &reader->objects, object, &request->object, error);
}

/* Start and length from the columns, in the unit of the where. */
static int take_place(struct trace_reader *reader, const struct csv_line *line,
                      struct request *request, struct trace_error *error)
{
    const struct csv_state *state = reader->state;
    struct scan_field where = line->field[state->where];
    struct scan_field count = line->field[ROLE_COUNT];
    struct scan_field size = line->field[ROLE_SIZE];
    uint64_t pages = 1;
    if (!number_of(where, &request->start))
        return format_fail_field(reader, error, "a number that says where", where);
    if (count.text && (!number_of(count, &pages) || pages == 0 || pages > UINT32_MAX))
        return format_fail_field(reader, error, "a count of pages from 1 to 2^32 - 1", count);
    request->bytes = pages << reader->page_shift;
    if (size.text && !number_of(size, &request->bytes))
        return format_fail_field(reader, error, "a size in bytes", size);
    request->unit_shift = state->where == ROLE_PAGE  ? reader->page_shift
                          : state->where == ROLE_LBN ? REQUEST_SECTOR_SHIFT
                                                     : 0;
    return 0;
}

static int csv_line(struct trace_reader *reader, const char *text, struct format_batch *batch,
                    struct trace_error *error)
{
    const struct csv_state *state = reader->state;
    struct request request = {.op = TRACE_READ};
    struct csv_line line;
    if (*scan_blanks(text) == '\n')
        return 0;
    if (!split(state, text, &line))
        return format_fail(reader, error, "fewer than %u columns", state->columns);
    if (line.field[ROLE_OP].text) {
        request.op = op_of(line.field[ROLE_OP]);
        if (!request.op)
            return format_fail_field(reader, error, "an operation such as r or w",
                                     line.field[ROLE_OP]);
    }
    if (!time_of(&line, &request.time_ns))
        return format_fail(reader, error, "expected a time");
    request.time_ns = request_time(reader, request.time_ns);
    int rc = take_place(reader, &line, &request, error);
    if (!rc)
        rc = take_names(reader, &line, &request, error);
    if (rc)
        return rc;
    return state->where == ROLE_ID ? request_emit_object(reader, &request, batch, error)
                                   : request_emit(reader, &request, batch, error);
}

const struct trace_format format_csv = {
    .name = "csv",
    .about = "comma-separated values, columns named in the header or by --columns",
    .state_bytes = sizeof(struct csv_state),
    .probe = csv_probe,
    .open = csv_open,
    .line = csv_line,
};
