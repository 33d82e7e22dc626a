/* SPDX-License-Identifier: MIT */
/* Opens what analyses need; see session.h. */
#include "cli/linewise/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mglru/error.h>

#include "base/check.h"
#include "cli/linewise/command.h"

static const char *command_of(const struct linewise_session *session)
{
    return session->options->syntax->command;
}

static int fail_code(const struct linewise_session *session, int code,
                     const struct layout_error *error)
{
    return linewise_fail(command_of(session), cli_status_of(code), "%s",
                         error->text[0] != '\0' ? error->text : mglru_error_text(code));
}

/* Takes @name unless it is there. */
static void take_type(struct linewise_session *session, const char *name)
{
    for (size_t i = 0; i < session->type_count; i++)
        if (strcmp(session->types[i], name) == 0)
            return;
    session->types[session->type_count++] = name;
}

/* Without TYPE the class file says what to look at: its check statements, else the types that its
 * statements begin with. */
static int choose_types(struct linewise_session *session)
{
    const struct linewise_options *options = session->options;
    const struct layout_classes *classes = &session->classes;
    session->types = calloc(options->type_count + classes->check_count + classes->rule_count + 1,
                            sizeof(*session->types));
    if (session->types == NULL)
        return linewise_fail(command_of(session), LINEWISE_ENVIRONMENT, "out of memory");
    for (size_t i = 0; i < options->type_count; i++)
        take_type(session, options->types[i]);
    for (size_t i = 0; options->type_count == 0 && i < classes->check_count; i++)
        take_type(session, classes->checks[i]);
    if (session->type_count > 0)
        return LINEWISE_CLEAN;
    for (size_t i = 0; i < classes->rule_count; i++)
        if (strchr(classes->rules[i].pattern.type, '*') == NULL)
            take_type(session, classes->rules[i].pattern.type);
    return LINEWISE_CLEAN;
}

int linewise_session_open(struct linewise_session *session, const struct linewise_options *options)
{
    struct layout_error error = {.text = ""};
    *session = (struct linewise_session){.options = options};
    if (options->classes != NULL) {
        int code = layout_classes_read(options->classes, &session->classes, &error);
        if (code != MGLRU_OK)
            return fail_code(session, code, &error);
    }
    struct layout_open_options how = {
        .size_bytes = sizeof(how), .base = options->btf_base, .prefer_btf = options->btf};
    for (unsigned i = 0; i < options->syntax->files; i++) {
        int code = layout_open(options->files[i], &how, &session->sets[i], &error);
        if (code != MGLRU_OK)
            return fail_code(session, code, &error);
    }
    return choose_types(session);
}

void linewise_session_close(struct linewise_session *session)
{
    for (unsigned i = 0; i < MGLRU_ARRAY_LEN(session->sets); i++)
        layout_close(session->sets[i]);
    layout_classes_free(&session->classes);
    free(session->types);
    *session = (struct linewise_session){0};
}

int linewise_session_type(struct linewise_session *session, unsigned file, const char *name,
                          const struct layout_type **type)
{
    struct layout_error error = {.text = ""};
    int code = layout_find(session->sets[file], name, type, NULL, &error);
    return code == MGLRU_OK ? LINEWISE_CLEAN : fail_code(session, code, &error);
}

const char *linewise_type_name(const struct layout_type *type, const char *asked, char *text,
                               size_t bytes)
{
    static const char *const keywords[] = {"struct ", "union ", "class "};
    if (type->name != NULL)
        return type->name;
    for (size_t i = 0; i < MGLRU_ARRAY_LEN(keywords); i++)
        if (strncmp(asked, keywords[i], strlen(keywords[i])) == 0)
            asked += strlen(keywords[i]);
    snprintf(text, bytes, "%.*s", (int)strcspn(asked, "@"), asked);
    return text;
}

int linewise_session_map(struct linewise_session *session, unsigned file, const char *name,
                         struct layout_map *map)
{
    struct layout_error error = {.text = ""};
    const struct layout_type *type;
    char text[LAYOUT_PATH_BYTES];
    *map = (struct layout_map){0};
    int status = linewise_session_type(session, file, name, &type);
    if (status != LINEWISE_CLEAN)
        return status;
    int code = layout_map_build(type, linewise_type_name(type, name, text, sizeof(text)),
                                &session->classes, map, &error);
    if (code != MGLRU_OK)
        return fail_code(session, code, &error);
    for (size_t i = 0; i < session->classes.rule_count; i++) {
        const struct layout_class_rule *rule = &session->classes.rules[i];
        if (layout_map_misses(map, rule, i))
            fprintf(stderr, "linewise %s: %s:%u: %s has no field that fits '%s'\n",
                    command_of(session), session->classes.name, rule->line, type->display,
                    rule->pattern.text);
    }
    return LINEWISE_CLEAN;
}

struct layout_conflict_options linewise_session_conflicts(const struct linewise_session *session,
                                                          const struct layout_type *type)
{
    const struct linewise_options *options = session->options;
    return (struct layout_conflict_options){
        .line_bytes = options->line_bytes,
        .base_bytes = options->base_bytes,
        .any_base = options->any_base,
        .alloc_align = layout_classes_alloc(&session->classes, type->name != NULL ? type->name : "",
                                            LAYOUT_MALLOC_ALIGN),
    };
}

int linewise_output_open(const struct linewise_options *options, struct report_out *out,
                         const char *path)
{
    struct report_error error;
    int code = report_out_open(out, path, &error);
    if (code == MGLRU_OK)
        return LINEWISE_CLEAN;
    /* A name that cannot be written is the user's, a full disk is not. */
    int status =
        code == MGLRU_ENOENT || code == MGLRU_EINVAL ? LINEWISE_USAGE : cli_status_of(code);
    return linewise_fail(options->syntax->command, status, "%s", error.text);
}

int linewise_output_close(const struct linewise_options *options, struct report_out *out)
{
    struct report_error error;
    int code = report_out_close(out, &error);
    return code == MGLRU_OK
               ? LINEWISE_CLEAN
               : linewise_fail(options->syntax->command, cli_status_of(code), "%s", error.text);
}

int linewise_session_run(int argc, char **argv, const struct linewise_syntax *syntax,
                         int (*work)(struct linewise_session *session))
{
    struct linewise_options options;
    struct linewise_session session;
    int status = linewise_options_parse(argc, argv, syntax, &options);
    if (status != LINEWISE_CLEAN || options.help)
        return status;
    status = linewise_session_open(&session, &options);
    if (status == LINEWISE_CLEAN)
        status = work(&session);
    linewise_session_close(&session);
    return status;
}
