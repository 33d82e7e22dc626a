/* SPDX-License-Identifier: MIT */
/*
 * Types spelled as in C: "const struct page *", "int (*)(void *)".
 *
 * A C declaration grows from its name outwards: pointers to the left, arrays and parameters to the
 * right, so the text is kept in one buffer that grows at both ends while the chain is followed.
 * Text that does not fit ends in "...": a bound on time as well as on length.
 */
#include "layout/model/model.h"

#include <stdio.h>
#include <stdlib.h>

#include <mglru/error.h>

/* Chosen: function pointers among the parameters of function pointers, this deep. */
#define PARAMETERS_DEEP 3
#define PARAMETERS_SHOWN 16

struct text {
    char at[MODEL_NAME_MAX];
    size_t length;
    bool full;
};

static void append(struct text *text, const char *more)
{
    size_t length = strlen(more);
    if (length >= sizeof(text->at) - text->length) {
        text->full = true;
        return;
    }
    memcpy(text->at + text->length, more, length);
    text->length += length;
}

static void prepend(struct text *text, const char *more)
{
    size_t length = strlen(more);
    if (length >= sizeof(text->at) - text->length) {
        text->full = true;
        return;
    }
    memmove(text->at + length, text->at, text->length);
    memcpy(text->at, more, length);
    text->length += length;
}

/* Puts a word before the text with a blank between, unless the text begins with none. */
static void prepend_word(struct text *text, const char *word)
{
    if (text->length > 0)
        prepend(text, " ");
    prepend(text, word);
}

static int spell(struct model *model, uint64_t id, struct text *text, unsigned deep);

static int add_parameters(struct model *model, uint64_t id, struct text *text, unsigned deep)
{
    struct raw_members parameters = {0};
    int code = model->ops->members(model, id, &parameters);
    append(text, "(");
    for (size_t i = 0; code == MGLRU_OK && i < parameters.count && !text->full; i++) {
        struct text one;
        one.length = 0;
        one.full = false;
        if (i > 0)
            append(text, ", ");
        if (i == PARAMETERS_SHOWN || deep >= PARAMETERS_DEEP) {
            append(text, "...");
            break;
        }
        if (parameters.items[i].type == 0) {
            append(text, "...");
            continue;
        }
        code = spell(model, parameters.items[i].type, &one, deep + 1);
        one.at[one.length] = '\0';
        append(text, one.at);
    }
    if (parameters.count == 0)
        append(text, "void");
    append(text, ")");
    free(parameters.items);
    return code;
}

static void add_dims(const struct node *node, struct text *text)
{
    char dim[32];
    for (uint32_t i = 0; i < node->dim_count; i++) {
        snprintf(dim, sizeof(dim), node->dims[i] != 0 ? "[%llu]" : "[]",
                 (unsigned long long)node->dims[i]);
        append(text, dim);
    }
}

static const char *keyword(const struct node *node)
{
    switch (node->kind) {
    case NODE_STRUCT:
        return "struct";
    case NODE_UNION:
        return "union";
    case NODE_CLASS:
        return "class";
    case NODE_ENUM:
        return "enum";
    default:
        return NULL;
    }
}

/* Names of templates can be longer than everything that fits. */
static void prepend_name(struct text *text, const char *name)
{
    char cut[MODEL_NAME_MAX / 2];
    if (strlen(name) >= sizeof(cut)) {
        snprintf(cut, sizeof(cut), "%.*s...", (int)sizeof(cut) - 4, name);
        name = cut;
    }
    prepend_word(text, name);
}

/* The word that ends the chain: "struct page", "unsigned int", "void". */
static void end_chain(const struct node *node, struct text *text)
{
    const char *name = node->name != NULL && node->name[0] != '\0' ? node->name : NULL;
    const char *word = keyword(node);
    if (name != NULL) {
        prepend_name(text, name);
        if (word != NULL)
            prepend_word(text, word);
    } else if (word != NULL) {
        prepend_word(text, "{...}");
        prepend_word(text, word);
    } else {
        prepend_word(text, node->kind == NODE_VOID ? "void" : "?");
    }
}

static void add_pointer(const char *sign, bool needs_parentheses, struct text *text)
{
    prepend(text, sign);
    if (needs_parentheses) {
        prepend(text, "(");
        append(text, ")");
    }
}

/* What spelling a chain keeps between its nodes. */
struct speller {
    struct text *text;
    char qualifiers[64]; /* seen since the last pointer, outermost first */
};

static void hold_qualifier(struct speller *speller, const char *word)
{
    size_t used = strlen(speller->qualifiers);
    snprintf(speller->qualifiers + used, sizeof(speller->qualifiers) - used, "%s%s",
             used > 0 ? " " : "", word);
}

static void release_qualifiers(struct speller *speller)
{
    if (speller->qualifiers[0] != '\0')
        prepend_word(speller->text, speller->qualifiers);
    speller->qualifiers[0] = '\0';
}

static void add_tag(const struct node *node, struct text *text)
{
    char word[64];
    snprintf(word, sizeof(word), "__%s", node->name != NULL ? node->name : "?");
    prepend_word(text, word);
}

static void add_node(struct speller *speller, const struct node *node, bool parentheses)
{
    static const char *const signs[] = {[NODE_POINTER] = "*",
                                        [NODE_REFERENCE] = "&",
                                        [NODE_RVALUE] = "&&",
                                        [NODE_MEMBER_POINTER] = "::*"};
    static const char *const words[] = {[NODE_CONST] = "const",
                                        [NODE_VOLATILE] = "volatile",
                                        [NODE_RESTRICT] = "restrict",
                                        [NODE_ATOMIC] = "_Atomic"};
    switch (node->kind) {
    case NODE_POINTER:
    case NODE_REFERENCE:
    case NODE_RVALUE:
    case NODE_MEMBER_POINTER:
        release_qualifiers(speller);
        add_pointer(signs[node->kind], parentheses, speller->text);
        break;
    case NODE_CONST:
    case NODE_VOLATILE:
    case NODE_RESTRICT:
    case NODE_ATOMIC:
        hold_qualifier(speller, words[node->kind]);
        break;
    case NODE_TAG:
        add_tag(node, speller->text);
        break;
    case NODE_ARRAY:
        add_dims(node, speller->text);
        break;
    default:
        end_chain(node, speller->text);
        release_qualifiers(speller);
        break;
    }
}

static bool ends_chain(const struct node *node)
{
    return node->kind == NODE_VOID || node->kind == NODE_BASE || node->kind == NODE_ENUM ||
           node->kind == NODE_TYPEDEF || node->kind >= NODE_STRUCT;
}

/* Follows the chain from @id and writes what each node adds. @deep: parameters in parameters. */
static int spell(struct model *model, uint64_t id, struct text *text, unsigned deep)
{
    struct speller speller = {.text = text};
    struct node node, next;
    int code = model->ops->node(model, id, &node);
    for (unsigned step = 0; code == MGLRU_OK && step < MODEL_CHAIN_MAX; step++) {
        if (ends_chain(&node)) {
            add_node(&speller, &node, false);
            return MGLRU_OK;
        }
        code = model->ops->node(model, node.ref, &next);
        if (code != MGLRU_OK || text->full)
            break;
        if (node.kind == NODE_FUNCTION)
            code = add_parameters(model, id, text, deep);
        else
            add_node(&speller, &node, next.kind == NODE_ARRAY || next.kind == NODE_FUNCTION);
        id = node.ref;
        node = next;
    }
    prepend_word(text, "...");
    return code;
}

int model_name(struct model *model, uint64_t id, const char **name)
{
    *name = table_get(&model->names, id);
    if (*name != NULL)
        return MGLRU_OK;
    struct text text;
    text.length = 0;
    text.full = false;
    int code = spell(model, id, &text, 0);
    if (code != MGLRU_OK)
        return code;
    *name = arena_string(&model->arena, text.at, text.length);
    if (*name == NULL || !table_put(&model->names, id, *name)) {
        *name = NULL;
        return model_no_memory(model);
    }
    return MGLRU_OK;
}
