/* SPDX-License-Identifier: MIT */
/*
 * Class files: whatever the bytes are, reading ends with statements that keep their promises or
 * with one line of text that names the place.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <mglru/error.h>

#include "base/check.h"
#include "layout/classes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Larger inputs find nothing new. */
#define INPUT_MAX ((size_t)64 << 10)

static void check_rule(const struct layout_class_rule *rule)
{
    char text[64];
    MGLRU_CHECK(rule->line >= 1);
    MGLRU_CHECK(rule->pattern.part_count >= 1 && rule->pattern.type[0] != '\0');
    MGLRU_CHECK(rule->use.class > LAYOUT_CLASS_NONE && rule->use.class < LAYOUT_CLASSES);
    MGLRU_CHECK(rule->use.weight >= 1 && rule->use.weight <= LAYOUT_WEIGHT_MAX);
    MGLRU_CHECK((rule->use.class == LAYOUT_CLASS_LOCK) <= (rule->use.name_count > 0));
    layout_use_text(&rule->use, text, sizeof(text));
    MGLRU_CHECK(strlen(text) > 0);
    for (size_t i = 0; i < rule->pattern.part_count; i++) {
        const struct layout_pattern_part *part = &rule->pattern.parts[i];
        MGLRU_CHECK(part->name[0] != '\0' && part->index_count <= LAYOUT_INDEXES_MAX);
        for (unsigned j = 0; j < part->index_count; j++)
            MGLRU_CHECK(part->indexes[j].first <= part->indexes[j].last);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct layout_classes classes;
    struct layout_error error;
    if (size > INPUT_MAX)
        return 0;
    int code = layout_classes_parse("input", (const char *)data, size, &classes, &error);
    MGLRU_CHECK((code == MGLRU_OK) == (error.text[0] == '\0'));
    MGLRU_CHECK(code == MGLRU_OK || strncmp(error.text, "input:", 6) == 0);
    for (const char *c = error.text; *c != '\0'; c++)
        MGLRU_CHECK((unsigned char)*c >= ' ' && *c != 0x7f);
    for (size_t i = 0; i < classes.rule_count; i++)
        check_rule(&classes.rules[i]);
    for (size_t i = 0; i < classes.group_count; i++)
        MGLRU_CHECK(classes.groups[i].field_count >= 1);
    layout_classes_free(&classes);
    return 0;
}
