/* SPDX-License-Identifier: MIT */
/*
 * The table of lines of `perf c2c report --stdio`. Its columns differ from release to release and
 * with options; they are named above a line of dots, one group of dots a column:
 *
 *   #   Num  RmtHitm  LclHitm   L1 Hit  L1 Miss      N/A      Offset  ...  records       cnt
 *   # .....  .......  .......  .......  .......  .......  ..........  ...  .......  ........
 *
 * A row of a line has its number, counts and address, each of the rows below it shares of these
 * counts in percent, an offset, how many samples and from how many CPUs. Up to the symbol every
 * column is one word, so words are counted.
 *
 * Which CPU or thread a row is of is not told (but with -c tid): the accesses at one offset come
 * from as many threads as the row with most CPUs there has, and those at different offsets from
 * different ones.
 */
#include "coherence/perf.h"

#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#define COLUMNS_MAX 48
#define NAME_BYTES 24
/* Rows of one line: code addresses that touch it. */
#define ROWS_MAX 4096u

/* Columns that are used. */
enum column {
    NUMBER,
    HITM_REMOTE,
    HITM_LOCAL,
    PEER,
    STORE_HIT,
    STORE_MISS,
    STORE_OTHER,
    OFFSET,
    TID,
    RECORDS,
    CPUS,
    SYMBOL,
    USED_COLUMNS
};

static const char *const column_names[USED_COLUMNS][2] = {
    [NUMBER] = {"Num"},
    [HITM_REMOTE] = {"RmtHitm"},
    [HITM_LOCAL] = {"LclHitm"},
    [PEER] = {"Peer"},
    [STORE_HIT] = {"L1 Hit"},
    [STORE_MISS] = {"L1 Miss"},
    [STORE_OTHER] = {"N/A", "Any Lvl"},
    [OFFSET] = {"Offset"},
    [TID] = {"Tid"},
    [RECORDS] = {"records"},
    [CPUS] = {"cnt"},
    [SYMBOL] = {"Symbol"},
};

struct row {
    uint64_t address;
    uint64_t hitm;
    uint64_t stores;
    uint64_t loads;
    uint64_t left; /* accesses that are still to be added */
    uint32_t cpus;
    uint32_t first_thread;
    uint32_t threads;
};

struct c2c {
    struct perf_text *text;
    int at[USED_COLUMNS]; /* word of a line's row; -1: no such column */
    uint64_t line_address;
    uint64_t counts[USED_COLUMNS]; /* of the line */
    struct row *rows;
    size_t row_count, row_capacity;
    uint32_t next_thread;
};

/* --- columns -------------------------------------------------------------------------------- */

/* What stands in @names above the dots @first .. @end - 1, without blanks around it. */
static void name_of(const char *names, size_t first, size_t end, char name[NAME_BYTES])
{
    size_t length = strlen(names);
    end = end < length ? end : length;
    while (first < end && names[first] == ' ')
        first++;
    while (first < end && names[end - 1] == ' ')
        end--;
    size_t bytes = first < end ? end - first : 0;
    bytes = bytes < NAME_BYTES ? bytes : NAME_BYTES - 1;
    memcpy(name, names + (bytes > 0 ? first : 0), bytes);
    name[bytes] = '\0';
}

static void take_column(struct c2c *c2c, const char *name, int word)
{
    for (unsigned i = 0; i < USED_COLUMNS; i++)
        for (unsigned j = 0; j < 2; j++)
            if (column_names[i][j] != NULL && strcmp(column_names[i][j], name) == 0 &&
                c2c->at[i] < 0)
                c2c->at[i] = word;
}

/* @dots: the line of dots; @names: the one above. */
static int read_columns(struct c2c *c2c, const char *names, const char *dots)
{
    int word = 0;
    for (unsigned i = 0; i < USED_COLUMNS; i++)
        c2c->at[i] = -1;
    for (size_t at = strcspn(dots, "."); dots[at] != '\0'; word++) {
        char name[NAME_BYTES];
        size_t end = at + strspn(dots + at, ".");
        name_of(names, at, end, name);
        take_column(c2c, name, word);
        at = end + strcspn(dots + end, ".");
    }
    for (unsigned i = 0; i < USED_COLUMNS; i++)
        if (c2c->at[i] < 0 && i != PEER && i != TID && i != STORE_OTHER)
            return perf_fail_line(c2c->text, "a column is missing: expected Num, RmtHitm, LclHitm, "
                                             "L1 Hit, L1 Miss, Offset, records, cnt and Symbol");
    if (c2c->at[SYMBOL] > COLUMNS_MAX)
        return perf_fail_line(c2c->text, "more columns than any release has");
    return MGLRU_OK;
}

/* --- rows ----------------------------------------------------------------------------------- */

static size_t cut_words(char *line, char *words[COLUMNS_MAX])
{
    size_t count = 0;
    for (char *word; count < COLUMNS_MAX && (word = perf_next_word(&line)) != NULL;)
        words[count++] = word;
    return count;
}

static int read_line_row(struct c2c *c2c, char *const *words, size_t count)
{
    for (unsigned i = 0; i < OFFSET; i++) {
        c2c->counts[i] = 0;
        if (c2c->at[i] >= 0 &&
            ((size_t)c2c->at[i] >= count || !perf_count(words[c2c->at[i]], &c2c->counts[i])))
            return perf_fail_line(c2c->text, "expected number, counts and address of a line");
    }
    if ((size_t)c2c->at[OFFSET] >= count || !perf_hex(words[c2c->at[OFFSET]], &c2c->line_address) ||
        c2c->line_address % c2c->text->samples->log.trace.line_bytes != 0)
        return perf_fail_line(c2c->text, "expected the address of a line");
    return MGLRU_OK;
}

/* "12.30%" of a count; false: it is no percentage. */
static bool share_of(const char *word, uint64_t count, uint64_t *part)
{
    char *end;
    double percent = strtod(word, &end);
    if (end == word || strcmp(end, "%") != 0 || !(percent >= 0 && percent <= 100))
        return false;
    *part += (uint64_t)((double)count * percent / 100 + 0.5);
    return true;
}

/* Adds the shares of a range of columns. A row has no number, so its words are one less. */
static bool read_shares(const struct c2c *c2c, char *const *words, const enum column range[2],
                        uint64_t *sum)
{
    for (unsigned i = range[0]; i <= (unsigned)range[1]; i++)
        if (c2c->at[i] >= 0 && !share_of(words[c2c->at[i] - 1], c2c->counts[i], sum))
            return false;
    return true;
}

static struct row *new_row(struct c2c *c2c)
{
    if (c2c->row_count == c2c->row_capacity) {
        size_t capacity = c2c->row_capacity * 2 + 64;
        struct row *larger = realloc(c2c->rows, capacity * sizeof(*larger));
        if (larger == NULL)
            return NULL;
        c2c->rows = larger;
        c2c->row_capacity = capacity;
    }
    struct row *row = &c2c->rows[c2c->row_count++];
    *row = (struct row){0};
    return row;
}

static int read_row(struct c2c *c2c, char *const *words, size_t count)
{
    static const enum column hitm[] = {HITM_REMOTE, PEER}, stores[] = {STORE_HIT, STORE_OTHER};
    uint64_t offset, records, cpus, tid;
    if (c2c->row_count == ROWS_MAX)
        return perf_fail_line(c2c->text, "more than 4096 rows of one line");
    struct row *row = new_row(c2c);
    if (row == NULL)
        return perf_fail_add(c2c->text, MGLRU_ENOMEM);
    if (count + 1 < (size_t)c2c->at[SYMBOL] || !read_shares(c2c, words, hitm, &row->hitm) ||
        !read_shares(c2c, words, stores, &row->stores))
        return perf_fail_line(c2c->text, "expected shares in percent of the line's counts");
    if (!perf_hex(words[c2c->at[OFFSET] - 1], &offset) ||
        offset >= c2c->text->samples->log.trace.line_bytes)
        return perf_fail_line(c2c->text, "expected an offset inside of the line");
    if (!perf_count(words[c2c->at[RECORDS] - 1], &records) ||
        !perf_count(words[c2c->at[CPUS] - 1], &cpus) || records > COHERENCE_SAMPLES_MAX)
        return perf_fail_line(c2c->text, "expected numbers of records and of CPUs");
    if (c2c->at[TID] >= 0 && perf_count(words[c2c->at[TID] - 1], &tid))
        cpus = 1; /* each row is one thread's */
    row->address = c2c->line_address + offset;
    row->loads = records > row->stores ? records - row->stores : row->hitm;
    row->left = row->loads + row->stores;
    row->cpus = cpus == 0 ? 1 : cpus > 64 ? 64 : (uint32_t)cpus;
    return MGLRU_OK;
}

/* --- accesses ------------------------------------------------------------------------------- */

/* Rows of one offset have the same threads, as many as the one with most CPUs. */
static void give_threads(struct c2c *c2c)
{
    for (size_t i = 0; i < c2c->row_count; i++) {
        struct row *row = &c2c->rows[i];
        if (row->threads > 0)
            continue;
        uint32_t most = 0;
        for (size_t j = i; j < c2c->row_count; j++)
            if (c2c->rows[j].address == row->address && c2c->rows[j].cpus > most)
                most = c2c->rows[j].cpus;
        for (size_t j = i; j < c2c->row_count; j++)
            if (c2c->rows[j].address == row->address) {
                c2c->rows[j].first_thread = c2c->next_thread;
                c2c->rows[j].threads = most;
            }
        c2c->next_thread = (c2c->next_thread + most) % COHERENCE_THREADS_MAX;
    }
}

/* One of the row's accesses: loads and stores in turn as long as there are both. */
static int add_access(struct c2c *c2c, struct row *row)
{
    uint64_t done = row->loads + row->stores - row->left--;
    uint64_t fewer = row->loads < row->stores ? row->loads : row->stores;
    bool store = done < 2 * fewer ? done % 2 == 1 : row->stores > row->loads;
    uint32_t thread =
        (row->first_thread + (uint32_t)(done / 2 % row->threads)) % COHERENCE_THREADS_MAX;
    return coherence_samples_access(c2c->text->samples, row->address, thread,
                                    store ? COHERENCE_WRITE : COHERENCE_READ);
}

/* The line's rows are complete: their samples become accesses, those of all rows in turn. */
static int end_line(struct c2c *c2c)
{
    struct coherence_samples *samples = c2c->text->samples;
    int code = MGLRU_OK;
    give_threads(c2c);
    for (size_t i = 0; i < c2c->row_count && code == MGLRU_OK; i++) {
        struct row *row = &c2c->rows[i];
        struct coherence_cell cell = {
            .thread = COHERENCE_SAMPLE_THREADLESS, .stores = row->stores, .hitm = row->hitm};
        code = row->left > 0 ? add_access(c2c, row) : MGLRU_OK;
        if (code == MGLRU_OK && row->loads + row->stores > 0)
            code = coherence_samples_count(samples, row->address, cell);
    }
    for (bool more = true; more && code == MGLRU_OK;) {
        more = false;
        for (size_t i = 0; i < c2c->row_count && code == MGLRU_OK; i++)
            if (c2c->rows[i].left > 0) {
                code = add_access(c2c, &c2c->rows[i]);
                more = true;
            }
    }
    c2c->row_count = 0;
    return code == MGLRU_OK ? code : perf_fail_add(c2c->text, code);
}

/* --- lines of the text ---------------------------------------------------------------------- */

static int read_table_line(struct c2c *c2c, char *line)
{
    char *words[COLUMNS_MAX];
    size_t count = cut_words(line, words);
    if (count == 0 || words[0][0] == '-' || words[0][0] == '|')
        return MGLRU_OK; /* between rows, or a call chain */
    if (strchr(words[0], '%') != NULL)
        return c2c->line_address == 0
                   ? perf_fail_line(c2c->text, "shares before the line they are of")
                   : read_row(c2c, words, count);
    int code = end_line(c2c);
    return code == MGLRU_OK ? read_line_row(c2c, words, count) : code;
}

/* Reads up to the dots below the names of the columns. */
static int read_head(struct c2c *c2c)
{
    const char *names = NULL;
    char *line;
    while ((line = perf_next_line(c2c->text)) != NULL && strstr(line, PERF_PARETO) == NULL)
        continue;
    while ((line = perf_next_line(c2c->text)) != NULL) {
        if (strncmp(line + strspn(line, "# "), "...", 3) == 0)
            return names != NULL ? read_columns(c2c, names, line)
                                 : perf_fail_line(c2c->text, "dots without names above them");
        names = line;
    }
    return perf_fail_line(c2c->text, "the table of lines ends before its columns are named");
}

int perf_read_c2c(struct perf_text *text)
{
    struct c2c *c2c = calloc(1, sizeof(*c2c));
    if (c2c == NULL)
        return perf_fail_add(text, MGLRU_ENOMEM);
    c2c->text = text;
    int code = read_head(c2c);
    for (char *line; code == MGLRU_OK && (line = perf_next_line(text)) != NULL;)
        if (line[strspn(line, " ")] != '#')
            code = read_table_line(c2c, line);
    if (code == MGLRU_OK)
        code = end_line(c2c);
    free(c2c->rows);
    free(c2c);
    return code;
}
