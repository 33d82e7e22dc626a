/* SPDX-License-Identifier: MIT */
/* Types of variables; see layout_variable() in set.h. */
#include <mglru/error.h>

#include "layout/set_private.h"

int layout_variable(struct layout_set *set, const char *name, const struct layout_type **type,
                    struct layout_error *error)
{
    struct layout_reader *reader = set->reader;
    struct model *model = reader->model;
    uint64_t id = 0;
    *type = NULL;
    set->error = error;
    model->error = error;
    model->work_bytes = 0;
    int code = reader->variable != NULL ? reader->variable(reader, name, &id) : MGLRU_OK;
    for (unsigned step = 0; code == MGLRU_OK && id != 0 && step < MODEL_CHAIN_MAX; step++) {
        struct node node;
        code = model->ops->node(model, id, &node);
        if (code != MGLRU_OK)
            return code;
        bool is_struct =
            node.kind == NODE_STRUCT || node.kind == NODE_UNION || node.kind == NODE_CLASS;
        if (is_struct && node.declared_only)
            id = model->ops->define(model, id);
        if (is_struct && id != 0)
            return model_type(model, id, type);
        if (is_struct || node.kind < NODE_TYPEDEF || node.kind > NODE_ARRAY)
            break;
        id = node.ref;
    }
    if (code != MGLRU_OK)
        return code;
    return layout_fail(error, MGLRU_ENOENT, "%s: no variable of a struct type is named %s",
                       set->path, name);
}
