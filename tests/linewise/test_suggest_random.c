/* SPDX-License-Identifier: MIT */
/*
 * The promises of suggest.h on random structs with random classes. The structs are compiled, looked
 * at, and every proposal is compiled again as a struct of its own:
 *
 *   - its size and the growth are what the compiler says (a static assert),
 *   - no two fields fight that did not fight before,
 *   - what is left of the conflict is what the proposal says.
 *
 * usage: test_suggest_random COMPILER [ARGUMENT...]; MGLRU_TEST_SEED chooses other structs
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include <mglru/error.h>

#include "base/check.h"
#include "fixture.h"
#include "layout/diff.h"
#include "layout/suggest.h"

#include "../unit/seeded.h"

#define STRUCTS 150
#define MEMBERS_MAX 24
#define TEXT_BYTES 96

/* One struct of the source: its members as text, in order. */
struct source_type {
    char members[MEMBERS_MAX][TEXT_BYTES];
    unsigned count;
};

static struct source_type outers[STRUCTS];
static struct source_type inners[STRUCTS]; /* embedded in the outer one where count > 0 */
static char folder[] = "/tmp/linewise-XXXXXX";
static const char *compiler;
static uint64_t seed;

static void add_member(struct source_type *type, struct seeded *s, unsigned number)
{
    static const char *const kinds[] = {
        "char f%u",
        "short f%u",
        "int f%u",
        "long f%u",
        "void *f%u",
        "double f%u",
        "char f%u[13]",
        "long f%u[9]",
        "int f%u : 5",
        "unsigned f%u : 17",
        "struct links f%u",
        "union { int i; char c[3]; } f%u",
        "_Alignas(16) int f%u",
        "_Alignas(64) long f%u",
        "short f%u[2][3]",
        "_Atomic long f%u",
    };
    unsigned long kind = seeded_below(s, MGLRU_ARRAY_LEN(kinds));
    /* Alignments to a line are rare, else nothing is left to find. */
    if (kind == 13 && seeded_below(s, 4) != 0)
        kind = 3;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(type->members[type->count++], TEXT_BYTES, kinds[kind], number);
#pragma GCC diagnostic pop
}

static void make_structs(void)
{
    struct seeded s = {.seed = seed, .state = seed};
    for (unsigned i = 0; i < STRUCTS; i++) {
        unsigned long count = 3 + seeded_below(&s, MEMBERS_MAX - 4);
        unsigned long inner = seeded_below(&s, 3) == 0 ? seeded_below(&s, count) : count;
        for (unsigned m = 0; m < count; m++) {
            if (m == inner)
                snprintf(outers[i].members[outers[i].count++], TEXT_BYTES, "@ f%u", m);
            add_member(&outers[i], &s, m + (m >= inner));
        }
        for (unsigned m = 0; inner < count && m < 3 + i % 8; m++)
            add_member(&inners[i], &s, m);
    }
}

/* Writes struct @name; "@" in a member stands for struct @inner. */
static void write_struct(FILE *out, const struct source_type *type, const char *name,
                         const char *inner)
{
    fprintf(out, "struct %s {\n", name);
    for (unsigned i = 0; i < type->count; i++) {
        const char *text = type->members[i];
        if (text[0] == '@')
            fprintf(out, "    struct %s%s;\n", inner, text + 1);
        else
            fprintf(out, "    %s;\n", text);
    }
    fprintf(out, "};\n");
}

static void write_pair(FILE *out, const struct source_type types[2], unsigned number,
                       const char *variant)
{
    char outer[64];
    char inner[64];
    snprintf(outer, sizeof(outer), "s%u_%s", number, variant);
    snprintf(inner, sizeof(inner), "i%u_%s", number, variant);
    if (types[1].count > 0)
        write_struct(out, &types[1], inner, "");
    write_struct(out, &types[0], outer, inner);
    fprintf(out, "struct %s *p%s;\n", outer, outer);
}

static void compile(const char *name)
{
    char command[4096];
    snprintf(command, sizeof(command), "%s -std=gnu17 -g -w -c %s/%s.c -o %s/%s.o", compiler,
             folder, name, folder, name);
    if (system(command) != 0)
        fail_msg("seed %" PRIu64 ": the compiler refuses %s/%s.c", seed, folder, name);
}

static FILE *begin_source(const char *name)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s.c", folder, name);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fprintf(out, "struct links { void *next, *prev; };\n");
    return out;
}

/* Random classes for the fields of struct @number in all its variants. */
static char *make_classes(unsigned number)
{
    static const char *const uses[] = {"read",    "read",  "atomic", "lock(a)",
                                       "lock(b)", "owner", "cold",   ""};
    struct seeded s = {.seed = seed + number, .state = seed * 1000 + number};
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    fprintf(out, "alloc s%u_0: 64\n", number);
    for (unsigned in = 0; in < 2; in++)
        for (unsigned i = 0; i < MEMBERS_MAX; i++) {
            const char *use = uses[seeded_below(&s, MGLRU_ARRAY_LEN(uses))];
            if (use[0] != '\0')
                fprintf(out, "%c%u_*.f%u: %s %lu\n", in ? 'i' : 's', number, i, use,
                        1 + seeded_below(&s, 3));
        }
    fclose(out);
    return text;
}

/* Puts @member of @order, @count long, in front of the member @before. */
static void reorder(unsigned *order, unsigned count, unsigned member, uint32_t before)
{
    unsigned at = 0;
    while (order[at] != member)
        at++;
    memmove(&order[at], &order[at + 1], (count - at - 1) * sizeof(*order));
    unsigned to = 0;
    while (to < count - 1 && order[to] != before)
        to++;
    memmove(&order[to + 1], &order[to], (count - 1 - to) * sizeof(*order));
    order[to] = member;
}

/* The source of @types as the proposal wants it. */
static void apply(const struct layout_suggestion *item, const struct source_type types[2],
                  struct source_type changed[2])
{
    unsigned order[2][MEMBERS_MAX];
    for (unsigned t = 0; t < 2; t++) {
        changed[t] = types[t];
        for (unsigned i = 0; i < types[t].count; i++)
            order[t][i] = i;
    }
    for (size_t i = 0; i < item->move_count; i++) {
        const struct layout_move *move = &item->moves[i];
        unsigned t = move->type->name[0] == 'i';
        for (uint32_t j = 0; j < move->member_count; j++)
            reorder(order[t], types[t].count, move->members[j], move->before);
    }
    for (size_t i = 0; i < item->aligned_count; i++) {
        unsigned t = item->aligned[i].type->name[0] == 'i';
        char *text = changed[t].members[item->aligned[i].member];
        char plain[TEXT_BYTES];
        snprintf(plain, sizeof(plain), "%s", text);
        snprintf(text, TEXT_BYTES, "_Alignas(%u) %.70s", item->aligned[i].align_bytes, plain);
    }
    struct source_type spelled[2] = {changed[0], changed[1]};
    for (unsigned t = 0; t < 2; t++)
        for (unsigned i = 0; i < types[t].count; i++)
            memcpy(changed[t].members[i], spelled[t].members[order[t][i]], TEXT_BYTES);
}

/* What was proposed, to be compared with what the compiler makes of it. */
struct proposal {
    unsigned number;
    unsigned item;
    uint64_t residual;
    uint64_t size_bytes;
};
static struct proposal *proposals;
static size_t proposal_count;

static void write_proposals(FILE *out, const char *object, unsigned number)
{
    struct fixture f;
    struct layout_suggestions suggestions;
    char name[64];
    char *classes = make_classes(number);
    snprintf(name, sizeof(name), "s%u_0", number);
    fixture_open(&f, object, name, classes);
    assert_int_equal(layout_suggest(&f.map, &f.options, &suggestions), MGLRU_OK);
    assert_false(suggestions.fixed);
    for (size_t i = 0; i < suggestions.count; i++) {
        const struct source_type types[2] = {outers[number], inners[number]};
        struct source_type changed[2];
        char variant[32];
        const struct layout_suggestion *item = &suggestions.items[i];
        apply(item, types, changed);
        snprintf(variant, sizeof(variant), "v%zu", i);
        write_pair(out, changed, number, variant);
        fprintf(out, "_Static_assert(sizeof(struct s%u_%s) == %" PRIu64 ", \"size\");\n", number,
                variant, item->size_bytes);
        assert_int_equal((int64_t)item->size_bytes - (int64_t)f.map.type->size_bytes,
                         item->growth_bytes);
        proposals = realloc(proposals, (proposal_count + 1) * sizeof(*proposals));
        assert_non_null(proposals);
        proposals[proposal_count++] = (struct proposal){.number = number,
                                                        .item = (unsigned)i,
                                                        .residual = item->residual,
                                                        .size_bytes = item->size_bytes};
    }
    layout_suggestions_free(&suggestions);
    fixture_close(&f);
    free(classes);
}

/* What the pairs cost on the lines they share. */
static uint64_t total_cost(const struct layout_map *map)
{
    uint64_t cost = 0;
    for (size_t i = 0; i < map->field_count; i++)
        for (size_t j = i + 1; j < map->field_count; j++) {
            struct layout_pair pair;
            uint64_t a[2];
            uint64_t b[2];
            if (!layout_pair_judge(&map->fields[i], &map->fields[j], &pair))
                continue;
            layout_field_lines(&map->fields[i], 64, 0, a);
            layout_field_lines(&map->fields[j], 64, 0, b);
            uint64_t first = a[0] > b[0] ? a[0] : b[0];
            uint64_t last = a[1] < b[1] ? a[1] : b[1];
            if (last >= first)
                cost += (last - first + 1) * layout_pair_cost(&pair);
        }
    return cost;
}

static void check_proposal(const struct proposal *proposal, const char *before, const char *after)
{
    struct fixture old;
    struct fixture new;
    struct layout_diff diff;
    char names[2][64];
    char *classes = make_classes(proposal->number);
    snprintf(names[0], sizeof(names[0]), "s%u_0", proposal->number);
    snprintf(names[1], sizeof(names[1]), "s%u_v%u", proposal->number, proposal->item);
    fixture_open(&old, before, names[0], classes);
    fixture_open(&new, after, names[1], classes);
    if (total_cost(&new.map) != proposal->residual)
        fail_msg("seed %" PRIu64 ": %s leaves %" PRIu64 ", proposed were %" PRIu64, seed, names[1],
                 total_cost(&new.map), proposal->residual);
    old.options.alloc_align = UINT64_MAX;
    assert_int_equal(layout_diff(&old.map, &new.map, &old.options, &diff), MGLRU_OK);
    for (size_t i = 0; i < diff.fresh.count; i++)
        if (layout_verdict_weight(diff.fresh.items[i].verdict) > 0 ||
            diff.fresh.items[i].verdict == LAYOUT_SPLIT)
            fail_msg("seed %" PRIu64 ": %s: %s", seed, names[1], diff.fresh.items[i].why);
    layout_diff_free(&diff);
    fixture_close(&old);
    fixture_close(&new);
    free(classes);
}

static void proposals_hold_on_random_structs(void **state)
{
    char before[256];
    char after[256];
    assert_non_null(mkdtemp(folder));
    snprintf(before, sizeof(before), "%s/before.o", folder);
    snprintf(after, sizeof(after), "%s/after.o", folder);
    make_structs();
    FILE *out = begin_source("before");
    for (unsigned i = 0; i < STRUCTS; i++) {
        const struct source_type types[2] = {outers[i], inners[i]};
        write_pair(out, types, i, "0");
    }
    fclose(out);
    compile("before");
    out = begin_source("after");
    for (unsigned i = 0; i < STRUCTS; i++)
        write_proposals(out, before, i);
    fclose(out);
    compile("after");
    for (size_t i = 0; i < proposal_count; i++)
        check_proposal(&proposals[i], before, after);
    print_message("%zu proposals for %u structs\n", proposal_count, STRUCTS);
    assert_true(proposal_count > STRUCTS / 2);
    free(proposals);
    char command[512];
    snprintf(command, sizeof(command), "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(proposals_hold_on_random_structs)};
    char words[2048] = "";
    MGLRU_CHECK(argc >= 2);
    for (int i = 1; i < argc; i++) {
        strncat(words, argv[i], sizeof(words) - strlen(words) - 2);
        strcat(words, " ");
    }
    compiler = words;
    const char *chosen = getenv("MGLRU_TEST_SEED");
    seed = chosen != NULL ? strtoull(chosen, NULL, 0) : 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
