/* SPDX-License-Identifier: MIT */
/*
 * What a live cache says about its memcgs (docs/control.md, `list`), for people, for programs and
 * for monitors. Write errors stay in the output; one thread per output.
 */
#ifndef REPORT_TENANTS_H
#define REPORT_TENANTS_H

#include <stddef.h>
#include <stdint.h>

#include "report/out.h"

/* Figures of a memcg that have a column in `list`. */
enum report_tenant_value {
    TENANT_ID,
    TENANT_CURRENT, /* bytes, to TENANT_MAX */
    TENANT_MIN,
    TENANT_LOW,
    TENANT_HIGH,
    TENANT_MAX,
    TENANT_HITS, /* pages since creation, to TENANT_PAGES_READ */
    TENANT_MISSES,
    TENANT_FIRST_TOUCHES,
    TENANT_PAGES_READ,
    TENANT_AGED,
    TENANT_FILE, /* bytes */
    TENANT_DIRTY,
    TENANT_WRITEBACK,
    TENANT_REFAULTS, /* pages since creation */
    TENANT_SCANNED,
    TENANT_RECLAIMED,
    TENANT_EVENTS_HIGH,
    TENANT_EVENTS_MAX,
    TENANT_EVENTS_OOM,
    TENANT_VALUES
};

/* A limit that says "max". */
#define REPORT_TENANT_NO_LIMIT UINT64_MAX

/* A line of memory.stat. */
struct report_tenant_stat {
    const char *name;
    uint64_t value;
};

struct report_tenant {
    const char *path;
    uint64_t values[TENANT_VALUES];
    const struct report_tenant_stat *stats; /* for metrics; all tenants have the same names */
    size_t stat_count;
};

struct report_tenants {
    const struct report_tenant *items; /* parents before children */
    size_t count;
};

/* Name of the column in `list`. */
const char *report_tenant_column(enum report_tenant_value value);

/*
 * A table: memory and limits, then what happened since @before, a second (@seconds > 0), or with
 * @before NULL since the memcgs were created. Memcgs are matched by id.
 */
void report_tenants_table(struct report_out *out, const struct report_tenants *tenants,
                          const struct report_tenants *before, double seconds);

/* {"tool","version","memcgs":[{...}]}, keys as in ARCHITECTURE.md. */
void report_tenants_json(struct report_out *out, const struct report_tenants *tenants);

/* OpenMetrics text 1.0: figures and lines of memory.stat, one family each, ended by # EOF. */
void report_tenants_metrics(struct report_out *out, const struct report_tenants *tenants);

#endif
