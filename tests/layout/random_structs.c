/* SPDX-License-Identifier: MIT */
/*
 * Writes a C program with random structs. Compiled and run, it prints for each of their leaves what
 * the compiler itself says with offsetof and sizeof; layout-leaves prints the same out of the
 * program's debug information. See random_structs.sh.
 *
 * usage: random-structs SEED FIRST COUNT     writes structs FIRST..FIRST+COUNT-1 to stdout
 *
 * Every struct has a tree of members; its leaves are kept as expressions: the first copy
 * ("a[0].b"), the last one ("a[2].b") and the path that linewise shows ("a[].b").
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAVES_MAX 48
#define EXPRESSION 160
#define STRUCTS_MAX 20000
#define DEEP_MAX 3

struct leaf {
    char first[EXPRESSION];
    char last[EXPRESSION];
    char path[EXPRESSION];
    unsigned bits;  /* of a bit-field; 0: none */
    bool is_bool;   /* bit-field of _Bool */
    bool atomic;    /* declared so */
    bool no_extent; /* a dimension is 0 */
};

struct one {
    struct leaf leaves[LEAVES_MAX];
    unsigned leaf_count;
    bool flexible; /* ends in an array without a size: nothing can follow it */
    bool packed;   /* somewhere: the debug information does not say so, its alignment is a guess */
};

/* Where members are being written. */
struct place {
    const char *first;
    const char *last;
    const char *path;
    unsigned deep;
    bool packed;
    bool is_union;
};

static uint64_t state;
static unsigned names;
static struct one *structs[STRUCTS_MAX];
static unsigned first_struct, struct_count;

static unsigned draw(unsigned below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(state >> 33) % below;
}

static bool chance(unsigned percent)
{
    return draw(100) < percent;
}

static void indent(unsigned deep)
{
    printf("%*s", (int)(4 * (deep + 1)), "");
}

/* A leaf below @place with the expressions given; NULL: the struct has enough. */
static struct leaf *add_leaf(struct one *one, const struct place *place, const char *first,
                             const char *last, const char *path)
{
    if (one->leaf_count == LEAVES_MAX)
        return NULL;
    struct leaf *leaf = &one->leaves[one->leaf_count++];
    *leaf = (struct leaf){0};
    snprintf(leaf->first, EXPRESSION, "%s%s", place->first, first);
    snprintf(leaf->last, EXPRESSION, "%s%s", place->last, last);
    snprintf(leaf->path, EXPRESSION, "%s%s", place->path, path);
    return leaf;
}

static void write_bits(struct one *one, const struct place *place)
{
    static const struct {
        const char *type;
        unsigned bits;
    } types[] = {{"unsigned char", 8}, {"unsigned short", 16}, {"unsigned", 32},
                 {"int", 32},          {"unsigned long", 64},  {"_Bool", 1}};
    /* clang calls a bit-field as wide as its type a plain member: none is. */
    unsigned kind = draw(6), width = 1 + draw(kind == 5 ? 1 : types[kind].bits - 1);
    char name[16];
    indent(place->deep);
    if (chance(15) && kind != 5) {
        printf("%s : %u;\n", types[kind].type, chance(40) ? 0 : width);
        return;
    }
    snprintf(name, sizeof(name), "m%u", names++);
    printf("%s %s : %u;\n", types[kind].type, name, width);
    struct leaf *leaf = add_leaf(one, place, name, name, name);
    leaf->bits = width;
    leaf->is_bool = kind == 5;
}

/* "[2][3]" of a random array, with its first and last element. */
struct dims {
    char text[64];
    char first[64];
    char last[64];
    char path[16];
    bool zero;
};

static struct dims draw_dims(unsigned most, bool zero)
{
    struct dims dims = {.zero = zero};
    unsigned count = zero ? 1 : 1 + draw(most);
    for (unsigned i = 0; i < count; i++) {
        unsigned size = zero ? 0 : 1 + draw(4);
        snprintf(dims.text + strlen(dims.text), 16, "[%u]", size);
        snprintf(dims.first + strlen(dims.first), 16, "[0]");
        snprintf(dims.last + strlen(dims.last), 16, "[%u]", zero ? 0 : size - 1);
        strcat(dims.path, "[]");
    }
    return dims;
}

static void write_scalar(struct one *one, const struct place *place)
{
    static const char *const types[] = {
        "char",        "short",  "int",   "long",   "long long", "float",        "double",
        "long double", "void *", "_Bool", "enum e", "triple",    "const char *", "int volatile"};
    unsigned kind = draw(sizeof(types) / sizeof(types[0]));
    bool atomic = chance(12) && kind < 7 && !place->packed;
    char name[16], expressions[3][96];
    struct dims dims = {.text = ""};
    snprintf(name, sizeof(name), "m%u", names++);
    if (chance(30))
        dims = draw_dims(3, chance(8));
    indent(place->deep);
    printf("%s%s %s%s", atomic ? "_Atomic " : "", types[kind], name, dims.text);
    if (chance(10))
        printf(" __attribute__((aligned(%u)))", 1u << draw(8));
    puts(";");
    /* "triple" is a typedef of an array of three. */
    bool triple = kind == 11;
    snprintf(expressions[0], 96, "%s%s%s", name, dims.first, triple ? "[0]" : "");
    snprintf(expressions[1], 96, "%s%s%s", name, dims.last, triple ? "[2]" : "");
    snprintf(expressions[2], 96, "%s%s%s", name, dims.path, triple ? "[]" : "");
    struct leaf *leaf = add_leaf(one, place, expressions[0], expressions[1], expressions[2]);
    leaf->atomic = atomic;
    leaf->no_extent = dims.zero;
}

static void write_function(struct one *one, const struct place *place)
{
    char name[16];
    snprintf(name, sizeof(name), "m%u", names++);
    indent(place->deep);
    printf("int (*%s)(void *, int);\n", name);
    add_leaf(one, place, name, name, name);
}

/* A struct that was written before, or an array of it. */
static void write_known(struct one *one, const struct place *place)
{
    char name[16], expressions[3][EXPRESSION];
    unsigned number = first_struct + draw(struct_count);
    const struct one *known = structs[number];
    struct dims dims = {.text = ""};
    if (known->flexible || one->leaf_count + known->leaf_count > LEAVES_MAX / 2)
        return;
    for (unsigned i = 0; i < known->leaf_count; i++)
        if (strlen(known->leaves[i].path) + strlen(place->last) > EXPRESSION / 2)
            return;
    snprintf(name, sizeof(name), "m%u", names++);
    if (chance(40))
        dims = draw_dims(2, false);
    one->packed = one->packed || known->packed;
    indent(place->deep);
    printf("struct r_%u %s%s;\n", number, name, dims.text);
    for (unsigned i = 0; i < known->leaf_count; i++) {
        const struct leaf *inner = &known->leaves[i];
        snprintf(expressions[0], EXPRESSION, "%s%s.%s", name, dims.first, inner->first);
        snprintf(expressions[1], EXPRESSION, "%s%s.%s", name, dims.last, inner->last);
        snprintf(expressions[2], EXPRESSION, "%s%s.%s", name, dims.path, inner->path);
        struct leaf *leaf = add_leaf(one, place, expressions[0], expressions[1], expressions[2]);
        leaf->bits = inner->bits;
        leaf->is_bool = inner->is_bool;
        leaf->atomic = inner->atomic;
        leaf->no_extent = inner->no_extent;
    }
}

static void write_members(struct one *one, const struct place *place);

/* A struct or union in place: with a name and maybe dimensions, or anonymous. */
static void write_nested(struct one *one, const struct place *place)
{
    char name[16] = "", expressions[3][EXPRESSION];
    struct dims dims = {.text = ""};
    struct place inner = *place;
    bool is_union = chance(50);
    if (place->deep >= DEEP_MAX || one->leaf_count > LEAVES_MAX / 2)
        return;
    if (chance(50)) {
        snprintf(name, sizeof(name), "m%u", names++);
        if (chance(30))
            dims = draw_dims(2, false);
        snprintf(expressions[0], EXPRESSION, "%s%s%s.", place->first, name, dims.first);
        snprintf(expressions[1], EXPRESSION, "%s%s%s.", place->last, name, dims.last);
        snprintf(expressions[2], EXPRESSION, "%s%s%s.", place->path, name, dims.path);
        inner.first = expressions[0];
        inner.last = expressions[1];
        inner.path = expressions[2];
    }
    inner.deep++;
    inner.is_union = is_union;
    indent(place->deep);
    printf("%s {\n", is_union ? "union" : "struct");
    write_members(one, &inner);
    indent(place->deep);
    inner.packed = chance(10);
    one->packed = one->packed || inner.packed;
    printf("}%s %s%s;\n", inner.packed ? " __attribute__((packed))" : "", name, dims.text);
}

static void write_members(struct one *one, const struct place *place)
{
    unsigned count = 1 + draw(place->deep == 0 ? 9 : 4);
    char name[16];
    snprintf(name, sizeof(name), "m%u", names++);
    /* A first plain member, so that none is empty. */
    indent(place->deep);
    printf("char %s;\n", name);
    add_leaf(one, place, name, name, name);
    for (unsigned i = 0; i < count && one->leaf_count < LEAVES_MAX - 4; i++) {
        unsigned kind = draw(100);
        if (kind < 25)
            write_bits(one, place);
        else if (kind < 70)
            write_scalar(one, place);
        else if (kind < 75)
            write_function(one, place);
        else if (kind < 85 && struct_count > 0)
            write_known(one, place);
        else
            write_nested(one, place);
    }
}

static void write_struct(unsigned number)
{
    struct one *one = calloc(1, sizeof(*one));
    struct place place = {.first = "", .last = "", .path = ""};
    if (one == NULL)
        exit(2);
    names = 0;
    place.packed = chance(10);
    one->packed = place.packed;
    printf("struct r_%u {\n", number);
    write_members(one, &place);
    if (chance(8)) {
        printf("    short rest[];\n");
        struct leaf *leaf = add_leaf(one, &place, "rest[0]", "rest[0]", "rest[]");
        leaf->no_extent = true;
        one->flexible = true;
    }
    printf("}%s", place.packed ? " __attribute__((packed))" : "");
    if (chance(10))
        printf(" __attribute__((aligned(%u)))", 1u << draw(8));
    printf(";\nstruct r_%u *use_%u;\n", number, number);
    structs[number] = one;
    struct_count++;
}

static void write_leaf(unsigned number, const struct leaf *leaf)
{
    if (leaf->bits != 0) {
        printf("    {\n        static struct r_%u o;\n        o.%s = %s;\n", number, leaf->first,
               leaf->is_bool ? "1" : "-1");
        printf("        bits(%u, \"%s\", &o, sizeof(o));\n    }\n", number, leaf->path);
        return;
    }
    printf("    leaf(%u, \"%s\", offsetof(struct r_%u, %s), ", number, leaf->path, number,
           leaf->first);
    printf("sizeof(((struct r_%u *)0)->%s), ", number, leaf->first);
    if (leaf->no_extent)
        printf("0, ");
    else
        printf("offsetof(struct r_%u, %s) + sizeof(((struct r_%u *)0)->%s) - offsetof(struct r_%u,"
               " %s), ",
               number, leaf->last, number, leaf->last, number, leaf->first);
    printf("%d);\n", leaf->atomic);
}

static const char head[] =
    "#include <stdbool.h>\n#include <stddef.h>\n#include <stdio.h>\n#include <string.h>\n"
    "enum e { E0, E1 };\n"
    "typedef int triple[3];\n"
    "static void leaf(unsigned n, const char *path, size_t at, size_t size, size_t extent, int a)\n"
    "{\n"
    "    printf(\"r_%u %s %zu %zu %zu%s\\n\", n, path, at * 8, size * 8, extent * 8,\n"
    "           a && DWARF >= 5 ? \" atomic\" : \"\");\n"
    "}\n"
    "static void bits(unsigned n, const char *path, const void *object, size_t size)\n"
    "{\n"
    "    const unsigned char *bytes = object;\n"
    "    size_t first = size * 8, count = 0;\n"
    "    for (size_t i = size * 8; i-- > 0;)\n"
    "        if (bytes[i / 8] >> i % 8 & 1) {\n"
    "            first = i;\n"
    "            count++;\n"
    "        }\n"
    "    printf(\"r_%u %s %zu %zu bits\\n\", n, path, first, count);\n"
    "}\n";

int main(int argc, char **argv)
{
    if (argc != 4) {
        fputs("usage: random-structs SEED FIRST COUNT\n", stderr);
        return 2;
    }
    state = strtoull(argv[1], NULL, 10) * UINT64_C(0x9E3779B97F4A7C15);
    first_struct = (unsigned)strtoul(argv[2], NULL, 10);
    unsigned count = (unsigned)strtoul(argv[3], NULL, 10);
    if (first_struct + count > STRUCTS_MAX)
        return 2;
    state += first_struct;
    fputs(head, stdout);
    for (unsigned i = 0; i < count; i++)
        write_struct(first_struct + i);
    puts("int main(void)\n{");
    for (unsigned i = first_struct; i < first_struct + count; i++) {
        printf("    printf(\"r_%u %%zu\", sizeof(struct r_%u));\n", i, i);
        printf("    printf(DWARF >= 5 && %d ? \" %%zu\\n\" : \"\\n\", _Alignof(struct r_%u));\n",
               !structs[i]->packed, i);
        for (unsigned j = 0; j < structs[i]->leaf_count; j++)
            write_leaf(i, &structs[i]->leaves[j]);
        free(structs[i]);
    }
    puts("    return 0;\n}");
    return 0;
}
