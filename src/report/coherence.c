/* SPDX-License-Identifier: MIT */
/* Writes predictions; see coherence.h. */
#include "report/coherence.h"

#include <inttypes.h>
#include <string.h>

#include "report/number.h"

/* Pairs that the text shows; JSON has all. */
#define PAIRS_SHOWN 12
#define SHARE_SHOWN 0.001

static const char *verdict_text(enum coherence_verdict verdict)
{
    static const char *const texts[] = {
        [COHERENCE_PAIR_FALSE] = "false sharing",
        [COHERENCE_PAIR_ARRAY] = "false sharing between elements",
        [COHERENCE_PAIR_TRUE] = "true sharing",
        [COHERENCE_PAIR_LOCKED] = "moves with its lock",
    };
    return texts[verdict];
}

static double per_op(uint64_t count, const struct coherence_prediction *prediction)
{
    return prediction->operations == 0 ? 0 : (double)count / (double)prediction->operations;
}

static void print_pair(struct report_out *out, const struct coherence_prediction *prediction,
                       const struct coherence_pair *pair)
{
    if (pair->subject[0] == '\0')
        report_printf(out, "%10.4f  address 0x%" PRIx64 ": %s\n", per_op(pair->count, prediction),
                      pair->line, verdict_text(pair->verdict));
    else
        report_printf(out, "%10.4f  %s, line %" PRIu64 ": %s\n", per_op(pair->count, prediction),
                      pair->subject, pair->line, verdict_text(pair->verdict));
    report_printf(out, "            %-7s  %s\n            written  %s\n",
                  pair->both_write ? "written" : "read", pair->reader, pair->writer);
}

static void print_pairs(struct report_out *out, const struct coherence_prediction *prediction)
{
    size_t shown = 0;
    const struct coherence_blame *blame = &prediction->blame;
    while (shown < blame->count && shown < PAIRS_SHOWN &&
           per_op(blame->pairs[shown].count, prediction) >= prediction->misses_per_op * SHARE_SHOWN)
        print_pair(out, prediction, &blame->pairs[shown++]);
    if (shown == 0)
        report_printf(out, "    none\n");
    else if (shown < blame->count)
        report_printf(out, "    and %zu more; --json has all\n", blame->count - shown);
}

void report_forecast(struct report_out *out, const struct report_forecast *forecast)
{
    char accesses[REPORT_NUMBER_BYTES], lost[REPORT_NUMBER_BYTES];
    const char *operation = forecast->counted_operations ? "operation" : "access";
    bool cut = false;
    report_number_count(forecast->accesses, accesses, sizeof(accesses));
    report_number_count(forecast->lost, lost, sizeof(lost));
    report_printf(out, "%s: %s accesses to lines by %" PRIu32 " threads, %s lost\n", forecast->log,
                  accesses, forecast->threads, forecast->lost == 0 ? "none" : lost);
    report_printf(out,
                  "predicted, not measured: the most over three orders of the accesses; a transfer"
                  " takes %" PRIu32 "..%" PRIu32 " ns\n\n",
                  forecast->latency_ns[0], forecast->latency_ns[1]);
    report_printf(out, "  CPUs  misses per %-9s  first touches  slowdown\n", operation);
    for (size_t i = 0; i < forecast->prediction_count; i++) {
        const struct coherence_prediction *one = &forecast->predictions[i];
        report_printf(out, "%6" PRIu32 "  %20.4f  %13.4f  %.2f to %.2f times%s\n", one->cpus,
                      one->misses_per_op, one->cold_per_op, one->slowdown[0], one->slowdown[1],
                      one->cut ? " *" : "");
        cut |= one->cut;
    }
    if (cut)
        report_printf(out, "* the log's beginning; all of it would take long\n");
    if (forecast->prediction_count > 0) {
        const struct coherence_prediction *last =
            &forecast->predictions[forecast->prediction_count - 1];
        report_printf(out, "\npairs of fields at %" PRIu32 " CPUs, misses per %s\n", last->cpus,
                      operation);
        print_pairs(out, last);
    }
}

/* @key: what the pair's number is called. */
static void pair_json(struct report_json_stream *json, const struct coherence_pair *pair,
                      const char *key, double value)
{
    report_json_object(json, NULL);
    report_json_text(json, "type", pair->subject[0] != '\0' ? pair->subject : NULL);
    report_json_count(json, "line", pair->line);
    report_json_text(json, "reader", pair->reader);
    report_json_text(json, "writer", pair->writer);
    report_json_text(json, "kind", coherence_verdict_name(pair->verdict));
    report_json_bool(json, "both_write", pair->both_write);
    report_json_number(json, key, value);
    report_json_end(json);
}

static void prediction_json(struct report_json_stream *json, const struct coherence_prediction *one)
{
    report_json_object(json, NULL);
    report_json_count(json, "n", one->cpus);
    report_json_number(json, "misses_per_op", one->misses_per_op);
    report_json_number(json, "cold_per_op", one->cold_per_op);
    report_json_array(json, "pairs");
    for (size_t i = 0; i < one->blame.count; i++)
        pair_json(json, &one->blame.pairs[i], "per_op", per_op(one->blame.pairs[i].count, one));
    report_json_end(json);
    report_json_object(json, "slowdown");
    report_json_number(json, "low", one->slowdown[0]);
    report_json_number(json, "high", one->slowdown[1]);
    report_json_end(json);
    report_json_bool(json, "cut", one->cut);
    report_json_end(json);
}

void report_forecast_json(struct report_out *out, const struct report_forecast *forecast)
{
    struct report_json_stream json;
    report_json_begin(&json, out);
    report_json_object(&json, NULL);
    report_json_array(&json, "cpus");
    for (size_t i = 0; i < forecast->prediction_count; i++)
        prediction_json(&json, &forecast->predictions[i]);
    report_json_end(&json);
    report_json_count(&json, "lost", forecast->lost);
    report_json_count(&json, "accesses", forecast->accesses);
    report_json_count(&json, "threads", forecast->threads);
    report_json_text(&json, "operation", forecast->counted_operations ? "told" : "access");
    report_json_array(&json, "latency_ns");
    report_json_count(&json, NULL, forecast->latency_ns[0]);
    report_json_count(&json, NULL, forecast->latency_ns[1]);
    report_json_end(&json);
    report_json_end(&json);
}

void report_samples(struct report_out *out, const struct report_samples *samples)
{
    char text[3][REPORT_NUMBER_BYTES];
    struct coherence_prediction shares = {
        .misses_per_op = 1, .operations = samples->hitm, .blame = *samples->blame};
    report_number_count(samples->accesses, text[0], sizeof(text[0]));
    report_number_count(samples->hitm, text[1], sizeof(text[1]));
    report_number_count(samples->unknown, text[2], sizeof(text[2]));
    report_printf(out,
                  "%s: %s samples on %" PRIu32 " lines; %s loads met a line that another CPU had"
                  " modified\n",
                  samples->file, text[0], samples->lines, text[1]);
    report_printf(out, "measured, not predicted; whose store a load met is told by the stores"
                       " sampled on its line\n");
    if (samples->unknown > 0)
        report_printf(out, "%s of these loads are on lines without a sampled store: not below\n",
                      text[2]);
    report_printf(out, "\npairs of fields, share of these loads\n");
    print_pairs(out, &shares);
}

void report_samples_json(struct report_out *out, const struct report_samples *samples)
{
    struct report_json_stream json;
    const struct coherence_blame *blame = samples->blame;
    report_json_begin(&json, out);
    report_json_object(&json, NULL);
    report_json_count(&json, "samples", samples->accesses);
    report_json_count(&json, "left_out", samples->left_out);
    report_json_count(&json, "hitm", samples->hitm);
    report_json_count(&json, "unknown_writer", samples->unknown);
    report_json_array(&json, "pairs");
    for (size_t i = 0; i < blame->count; i++)
        pair_json(&json, &blame->pairs[i], "share",
                  (double)blame->pairs[i].count / (double)samples->hitm);
    report_json_end(&json);
    report_json_end(&json);
}

/* The path as class files write it: an array as a whole has no brackets. */
static void print_path(struct report_out *out, const struct coherence_use *use)
{
    report_printf(out, "%s.", use->subject);
    for (const char *c = use->field->name; *c != '\0'; c++)
        if (*c != '[' && *c != ']')
            report_write(out, c, 1);
    if (use->each)
        report_printf(out, "[]");
}

static void print_class(struct report_out *out, const struct coherence_use *use)
{
    switch (use->used) {
    case COHERENCE_USED_COLD:
        report_printf(out, "cold");
        return;
    case COHERENCE_USED_READ:
        report_printf(out, "read");
        break;
    case COHERENCE_USED_LOCK:
        report_printf(out, "lock(%s)", use->lock);
        break;
    case COHERENCE_USED_OWNER:
        report_printf(out, "owner");
        break;
    default:
        report_printf(out, "atomic");
    }
    if (use->heat > 1)
        report_printf(out, " %u", use->heat);
}

/* Index behind the uses that belong to the type of number @first; *used: one was used. */
static size_t end_of_type(const struct coherence_uses *uses, size_t first, bool *used)
{
    size_t end = first;
    *used = false;
    while (end < uses->count && strcmp(uses->items[end].subject, uses->items[first].subject) == 0) {
        *used |= uses->items[end].reads + uses->items[end].writes > 0;
        end++;
    }
    return end;
}

static void print_use(struct report_out *out, const struct coherence_use *use)
{
    print_path(out, use);
    report_printf(out, ": ");
    print_class(out, use);
    report_printf(out, "  # %" PRIu64 " reads, %" PRIu64 " writes, %" PRIu64 " of them atomic\n",
                  use->reads, use->writes, use->atomics);
}

void report_uses(struct report_out *out, const char *log, const struct coherence_uses *uses)
{
    report_printf(out,
                  "# Who read and wrote what, from %s.\n"
                  "# A recording shows one run: what it did not do is cold here.\n",
                  log);
    for (size_t first = 0, end; first < uses->count; first = end) {
        bool used;
        end = end_of_type(uses, first, &used);
        if (!used)
            continue;
        report_printf(out, "\ncheck %s\n", uses->items[first].subject);
        for (size_t i = first; i < end; i++)
            print_use(out, &uses->items[i]);
    }
}
