/* SPDX-License-Identifier: MIT */
/*
 * A plan for people (text, a page of HTML, a picture), for programs (JSON) and for what sets limits
 * (a Kubernetes resources block, systemd unit lines).
 *
 * Everything printed is a function of the plan alone. Write errors stay in the output. Nothing here
 * keeps a pointer to its arguments; one thread per output.
 */
#ifndef REPORT_PLAN_H
#define REPORT_PLAN_H

#include <stddef.h>

#include "replay/plan.h"
#include "report/out.h"

/* Most reasons of one recommendation, and the longest. */
#define REPORT_REASONS_MAX 12
#define REPORT_REASON_BYTES 400

struct report_reasons {
    char text[REPORT_REASONS_MAX][REPORT_REASON_BYTES]; /* whole sentences */
    size_t count;
};

/* Why curve @curve of @memcg advises what it does. */
void report_plan_reasons(const struct plan *plan, const struct plan_memcg *memcg, size_t curve,
                         struct report_reasons *out);

/* For each memcg and model the curve as a table, the recommendation and its reasons. */
void report_plan_text(struct report_out *out, const struct plan *plan);

/* The object of ARCHITECTURE.md's `plan --json`. With several models the first one fills it, the
 * others follow as objects of the same keys in "upgrades". */
void report_plan_json(struct report_out *out, const struct plan *plan);

/* One page that refers to no other file. */
void report_plan_html(struct report_out *out, const struct plan *plan);

/* The limits of the first model, ready to be pasted; a section each memcg. */
void report_plan_k8s(struct report_out *out, const struct plan *plan);
void report_plan_systemd(struct report_out *out, const struct plan *plan);

/* The curves through gnuplot; codes and @error as report_plot(). */
int report_plan_plot(const char *path, const struct plan *plan, struct report_error *error);

/*
 * The curves of @memcg (NULL: of all) as a result that report_plot() and report_curves_find() know.
 * It borrows the strings of the plan: free result->runs alone. MGLRU_ENOMEM.
 */
int report_plan_result(const struct plan *plan, const struct plan_memcg *memcg,
                       struct replay_result *result);

/* The curves of @memcg with its recommended limits as an svg element for a page of HTML. */
void report_plan_svg(struct report_out *out, const struct plan *plan,
                     const struct plan_memcg *memcg);

/* "1.53 s", "820 us": @ns as people read it, into REPORT_NUMBER_BYTES at @text. */
void report_plan_time(uint64_t ns, char *text);

#endif
