/* SPDX-License-Identifier: MIT */
/* Opens the fixtures and looks into what was found. Include after <cmocka.h>. */
#ifndef TESTS_LINEWISE_FIXTURE_H
#define TESTS_LINEWISE_FIXTURE_H

#include <stdbool.h>

#include "layout/classify.h"
#include "layout/conflicts.h"
#include "layout/set.h"

/* A type of a compiled fixture joined with its class file. */
struct fixture {
    struct layout_set *set;
    struct layout_classes classes;
    struct layout_map map;
    struct layout_conflict_options options; /* line 64, base 0, the class file's alignment */
};

/* @classes: path, or the text itself when it holds a line break. Fails the test on errors. */
void fixture_open(struct fixture *fixture, const char *file, const char *type, const char *classes);
void fixture_close(struct fixture *fixture);

/* The finding on @line with @verdict; NULL: none. */
const struct layout_finding *fixture_finding(const struct layout_findings *findings, uint64_t line,
                                             enum layout_verdict verdict);

/* Findings with @severity. */
size_t fixture_count(const struct layout_findings *findings, enum layout_severity severity);

/* True when a reader or writer of the finding ends in @name. */
bool fixture_names(const struct layout_finding *finding, const char *name, bool reader);

/* The field whose path ends in @name; fails the test when there is none. */
const struct layout_field *fixture_field(const struct layout_map *map, const char *name);

#endif
