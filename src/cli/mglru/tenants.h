/* SPDX-License-Identifier: MIT */
/* The memcgs of a live cache, asked for over its control socket. */
#ifndef CLI_MGLRU_TENANTS_H
#define CLI_MGLRU_TENANTS_H

#include "cli/mglru/connection.h"
#include "report/tenants.h"

/* Owns what the view points to. */
struct tenants {
    struct report_tenants view;
    struct report_tenant *items;
    char *list;                       /* the answer, cut into words */
    struct report_tenant_stat *stats; /* of all memcgs; NULL without */
    char **texts;                     /* memory.stat of each memcg, cut into words */
};

/* Asks for `list`. 0; else an exit status, and @error says why; @tenants is empty then. */
int tenants_ask(struct connection *connection, struct tenants *tenants, struct args_error *error);

/* Asks for memory.stat of each; a memcg that is gone by then is left out. As above. */
int tenants_ask_stats(struct connection *connection, struct tenants *tenants,
                      struct args_error *error);

void tenants_free(struct tenants *tenants);

#endif
