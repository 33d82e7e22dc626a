/* SPDX-License-Identifier: MIT */
/*
 * Goal: the engine does what its facts say, access by access.
 * Method: random sequences of accesses under random small limits go to the engine and to a second,
 * naive implementation of the same facts (../model/ref_kernel.h); both must say the same of every
 * access. The reference itself is held against recordings of kernels in ../fidelity.
 *
 * A failure names the seed, the options and the first access that differs; MGLRU_TEST_SEED=N
 * repeats it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "model/ref_pair.h"
#include "seeded.h"

/* How pages of one object are chosen, for a while. */
enum pattern { UNIFORM, SKEWED, LOOP, ECHO, SCAN, SHIFT, AGAIN, PATTERNS };

struct stream {
    enum pattern pattern;
    int pages;        /* of the object */
    int first, width; /* of the window that the pattern works in */
    int at;
    int left;   /* accesses until the pattern changes */
    bool close; /* loops that all but fit */
};

static void change_pattern(struct seeded *s, struct stream *stream, long limit)
{
    stream->pattern = (enum pattern)seeded_below(s, PATTERNS);
    unsigned long widest = (unsigned long)(stream->pages < 3 * limit ? stream->pages : 3 * limit);
    stream->width = 1 + (int)seeded_below(s, widest);
    /* Often about as much as fits: pages come back soon after they went. */
    unsigned long about = (unsigned long)limit / 2 + seeded_below(s, (unsigned long)limit);
    if (seeded_below(s, 3) == 0 && about < widest)
        stream->width = (int)about;
    stream->first = (int)seeded_below(s, (unsigned long)(stream->pages - stream->width + 1));
    if (stream->close) {
        stream->pattern = seeded_below(s, 4) ? ECHO : SKEWED;
        stream->width = (int)((unsigned long)limit / 3 + seeded_below(s, (unsigned long)limit / 2));
        stream->first = 0;
    }
    stream->left = 1 + (int)seeded_below(s, (unsigned long)(4 * limit));
    if (stream->pattern == SCAN)
        stream->at = (int)seeded_below(s, (unsigned long)stream->pages);
}

static int next_page(struct seeded *s, struct stream *stream, long limit)
{
    if (stream->left-- <= 0)
        change_pattern(s, stream, limit);
    int random = (int)seeded_below(s, (unsigned long)stream->width);
    double part = (double)random / stream->width;
    switch (stream->pattern) {
    case SKEWED:
        return stream->first + (int)(part * part * part * part * stream->width);
    case LOOP:
        stream->at = (stream->at + 1) % stream->width;
        return stream->first + stream->at;
    case ECHO: /* a loop that accesses each page twice, a little later */
        stream->at++;
        return stream->first +
               (stream->at / 2 + stream->at % 2 * stream->left % 16) % stream->width;
    case SCAN:
        stream->at = (stream->at + 1) % stream->pages;
        return stream->at;
    case SHIFT:
        stream->at++;
        return (stream->first + stream->at / 4 + random / 4) % stream->pages;
    case AGAIN: /* the same few pages, often in a row */
        stream->at = random % 8 == 0 ? random : stream->at % stream->width;
        return stream->first + stream->at;
    case UNIFORM:
    case PATTERNS:
        break;
    }
    return stream->first + random;
}

/* What a family of cases does with its memcgs. */
struct family {
    bool reads, maps, touches;
    bool classic;
    bool close; /* two loops that all but fit together: refaults decide between the types */
};

static void choose_options(struct seeded *s, const struct family *family,
                           struct ref_options *options)
{
    static const int swappiness[] = {0, 1, 60, 60, 100, 200};
    static const long flush[] = {0, 50, 1000, 20000};
    long limit = 32 << seeded_below(s, 6);
    limit += (long)seeded_below(s, (unsigned long)limit);
    *options = (struct ref_options){
        .model = (enum ref_model)(s->seed % 4),
        .classic = family->classic,
        .limit = limit,
        .swappiness = swappiness[seeded_below(s, 6)],
        .start_batch = (int)seeded_below(s, 31),
        .flush_accesses = flush[seeded_below(s, 4)],
        .no_walk = family->maps && !family->classic && seeded_below(s, 3) == 0,
    };
    if (family->close) {
        options->limit = limit = 800 + (long)seeded_below(s, 1200);
        options->swappiness = 20 + (int)seeded_below(s, 160);
    }
    unsigned long more = (unsigned long)limit;
    if (family->reads || family->maps)
        options->file_size = (int)(limit + (long)seeded_below(s, 3 * more));
    if (family->touches) {
        options->anon_size = (int)(limit + (long)seeded_below(s, 2 * more));
        options->swap_size = options->anon_size + 100;
    }
    options->kernel_charge = limit >= 64 && seeded_below(s, 2);
    options->start_tables = family->maps ? 0 : (int)seeded_below(s, 2);
}

static enum ref_access choose_kind(struct seeded *s, const struct family *family, bool exec)
{
    enum ref_access kinds[3];
    unsigned count = 0;
    if (family->reads)
        kinds[count++] = REF_READ;
    if (family->maps)
        kinds[count++] = exec ? REF_MAP_EXEC : REF_MAP;
    if (family->touches)
        kinds[count++] = REF_TOUCH;
    return kinds[seeded_below(s, count)];
}

/* The ends of both objects come first: a mapping is taken to end where it was last touched. */
static bool touch_ends(struct ref_pair *pair, const struct family *family,
                       const struct ref_options *options, bool exec)
{
    bool same = true;
    if (family->maps)
        same = ref_pair_access(pair, exec ? REF_MAP_EXEC : REF_MAP, options->file_size - 1);
    if (family->touches)
        same = same && ref_pair_access(pair, REF_TOUCH, options->anon_size - 1);
    return same;
}

static void report(const struct seeded *s, const struct ref_options *o, const char *difference)
{
    print_error("access %lu differs; repeat with MGLRU_TEST_SEED=%llu: %s\n"
                "  model %d classic %d no_walk %d limit %ld file %d anon %d swap %ld swappiness %d "
                "kernel_charge %d batch %d tables %d flush %ld\n",
                s->step, (unsigned long long)s->seed, difference, o->model, o->classic, o->no_walk,
                o->limit, o->file_size, o->anon_size, o->swap_size, o->swappiness, o->kernel_charge,
                o->start_batch, o->start_tables, o->flush_accesses);
}

/* Now and then somebody writes to a control file, or pages are freed. */
static bool command(struct seeded *s, struct ref_pair *pair, const struct ref_options *options,
                    int page, bool anon)
{
    static const int swappiness[] = {0, 1, 60, 200};
    int value = swappiness[seeded_below(s, 4)];
    long limit = options->limit - (long)seeded_below(s, (unsigned long)options->limit / 4);
    switch (seeded_below(s, 4)) {
    case 0:
        return options->classic || ref_pair_age(pair, value, seeded_below(s, 2));
    case 1:
        return ref_pair_set_swappiness(pair, value);
    case 2:
        return ref_pair_set_limit(pair, limit);
    default:
        return options->kernel_charge || ref_pair_drop(pair, anon, page);
    }
}

static void run_family(struct seeded *s, const struct family *family)
{
    struct ref_options options;
    struct ref_pair pair;
    choose_options(s, family, &options);
    bool exec = family->maps && seeded_below(s, 4) == 0;
    struct stream file = {.pages = options.file_size, .close = family->close};
    struct stream region = {.pages = options.anon_size, .close = family->close};
    unsigned long commands = seeded_below(s, 2) ? 4 + seeded_below(s, 1000) : 0; /* one in .. */
    unsigned long accesses = 3000 + 12 * (unsigned long)options.limit;

    ref_pair_init(&pair, &options);
    bool same = touch_ends(&pair, family, &options, exec);
    for (s->step = 0; same && s->step < accesses; s->step++) {
        enum ref_access kind = choose_kind(s, family, exec);
        struct stream *stream = kind == REF_TOUCH ? &region : &file;
        int page = next_page(s, stream, options.limit);
        same = ref_pair_access(&pair, kind, page);
        if (same && commands && seeded_below(s, commands) == 0)
            same = command(s, &pair, &options, page, kind == REF_TOUCH);
    }
    if (!pair.difference[0])
        ref_pair_compare_stat(&pair);
    bool differs = pair.difference[0] != 0;
    if (differs)
        report(s, &options, pair.difference);
    ref_pair_fini(&pair);
    if (differs)
        fail();
}

static void generations_read(struct seeded *s)
{
    run_family(s, &(struct family){.reads = true});
}

static void generations_mapped(struct seeded *s)
{
    run_family(s, &(struct family){.maps = true, .reads = s->seed % 3 == 0});
}

static void generations_anon(struct seeded *s)
{
    run_family(s, &(struct family){.touches = true});
}

static void generations_mixed(struct seeded *s)
{
    run_family(s, &(struct family){.touches = true, .reads = true, .maps = s->seed % 2 == 0});
}

static void generations_close(struct seeded *s)
{
    run_family(s, &(struct family){.touches = true, .reads = true, .close = true});
}

static void classic_read(struct seeded *s)
{
    run_family(s, &(struct family){.reads = true, .classic = true});
}

static void classic_mixed(struct seeded *s)
{
    run_family(s, &(struct family){.classic = true,
                                   .touches = s->seed % 3 != 0,
                                   .reads = s->seed % 2 == 0,
                                   .maps = s->seed % 3 != 1});
}

#define CASES 200

static void test_reads_of_generations(void **state)
{
    seeded_cases(CASES, generations_read);
}

static void test_mapped_pages_of_generations(void **state)
{
    seeded_cases(CASES, generations_mapped);
}

static void test_anonymous_pages_of_generations(void **state)
{
    seeded_cases(CASES, generations_anon);
}

static void test_types_compete_in_generations(void **state)
{
    seeded_cases(CASES, generations_mixed);
}

static void test_refaults_decide_between_types(void **state)
{
    seeded_cases(CASES / 4, generations_close);
}

static void test_reads_of_classic(void **state)
{
    seeded_cases(CASES, classic_read);
}

static void test_types_compete_in_classic(void **state)
{
    seeded_cases(CASES, classic_mixed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_of_generations),
        cmocka_unit_test(test_mapped_pages_of_generations),
        cmocka_unit_test(test_anonymous_pages_of_generations),
        cmocka_unit_test(test_types_compete_in_generations),
        cmocka_unit_test(test_refaults_decide_between_types),
        cmocka_unit_test(test_reads_of_classic),
        cmocka_unit_test(test_types_compete_in_classic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
