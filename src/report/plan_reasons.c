/* SPDX-License-Identifier: MIT */
/* The reasons of a recommendation as sentences; see plan.h. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "replay/plan_parts.h"
#include "report/number.h"
#include "report/plan.h"

/* Numbers as words of sentences. */
struct words {
    char text[REPORT_NUMBER_BYTES];
};

static struct words size_of(uint64_t bytes)
{
    struct words words;
    report_number_size(bytes, words.text, sizeof(words.text));
    return words;
}

static struct words count_of(uint64_t count)
{
    struct words words;
    report_number_count(count, words.text, sizeof(words.text));
    return words;
}

void report_plan_time(uint64_t ns, char *text)
{
    static const struct {
        uint64_t ns;
        const char *unit;
    } units[] = {{UINT64_C(3600000000000), "h"},
                 {UINT64_C(60000000000), "min"},
                 {1000000000, "s"},
                 {1000000, "ms"},
                 {1000, "us"},
                 {1, "ns"}};
    size_t i = 0;
    while (i + 1 < sizeof(units) / sizeof(units[0]) && ns < units[i].ns)
        i++;
    const double value = (double)ns / (double)units[i].ns;
    const int digits = value >= 100 || ns % units[i].ns == 0 ? 0 : value >= 10 ? 1 : 2;
    snprintf(text, REPORT_NUMBER_BYTES, "%.*f %s", digits, value, units[i].unit);
}

static void say(struct report_reasons *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(struct report_reasons *out, const char *format, ...)
{
    if (out->count == REPORT_REASONS_MAX)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(out->text[out->count++], REPORT_REASON_BYTES, format, arguments);
    va_end(arguments);
}

/* "miss ratio 41.20 %": a value of the target's kind. */
static struct words measure_of(enum plan_target_kind kind, double value)
{
    struct words words;
    if (kind == PLAN_MISSES_PER_SECOND)
        snprintf(words.text, sizeof(words.text), "%.4g misses/s", value);
    else
        snprintf(words.text, sizeof(words.text), "%s %.2f %%",
                 kind == PLAN_STALL ? "stall" : "miss ratio", 100 * value);
    return words;
}

/* Whether what was asked for can be had. */
static void say_target(const struct plan *plan, const struct plan_memcg *memcg,
                       const struct plan_curve *curve, struct report_reasons *out)
{
    const enum plan_target_kind kind = plan->target.kind;
    if (kind == PLAN_NO_TARGET)
        return;
    const struct words asked = measure_of(kind, plan->target.value);
    const struct plan_advice *advice = &curve->advice;
    if (advice->target_met) {
        const struct plan_point *point = &curve->points[advice->chosen];
        say(out,
            "memory.high %s is the least size tried from which on the target holds: %s there, "
            "asked for at most %s.",
            size_of(advice->memory_high).text,
            measure_of(kind, plan_measure(memcg, kind, point)).text,
            strchr(asked.text, ' ') != NULL && kind != PLAN_MISSES_PER_SECOND
                ? asked.text + (kind == PLAN_STALL ? 6 : 11)
                : asked.text);
        return;
    }
    const struct plan_point *last = &curve->points[curve->count - 1];
    say(out,
        "No limit meets the target of %s: with memory for the whole working set (%s) it is "
        "still %s; %s of those %s misses are first accesses of pages.",
        asked.text, size_of(last->memory_bytes).text,
        measure_of(kind, plan_measure(memcg, kind, last)).text, count_of(curve->cold_misses).text,
        count_of(last->misses).text);
}

static void say_basis(const struct plan_curve *curve, struct report_reasons *out)
{
    const struct plan_advice *advice = &curve->advice;
    const struct plan_point *least = &curve->points[advice->least];
    const struct plan_point *chosen = &curve->points[advice->chosen];
    const struct plan_point *last = &curve->points[curve->count - 1];
    const struct words high = size_of(advice->memory_high);
    if (advice->basis == PLAN_BY_KNEE)
        say(out,
            "memory.high %s is the knee of the curve, the point farthest below the straight "
            "line between its ends: %s more would save %s misses, the memory up to here saves "
            "%s.",
            high.text, size_of(last->memory_bytes - chosen->memory_bytes).text,
            count_of(chosen->misses > last->misses ? chosen->misses - last->misses : 0).text,
            count_of(least->misses - chosen->misses).text);
    else if (advice->basis == PLAN_BY_MOST)
        say(out,
            "The curve has no knee; memory.high %s is the least size that saves nine tenths "
            "of the %s misses that memory can save.",
            high.text,
            count_of(least->misses > curve->cold_misses ? least->misses - curve->cold_misses : 0)
                .text);
    else if (advice->basis == PLAN_BY_LEAST && least->misses == 0)
        say(out, "No access misses at %s, the least size tried that ends no process.", high.text);
    else if (advice->basis == PLAN_BY_LEAST)
        say(out,
            "The limit is not the problem: of %s misses at %s, memory for everything saves "
            "only %s.",
            count_of(least->misses).text, high.text,
            count_of(least->misses > curve->cold_misses ? least->misses - curve->cold_misses : 0)
                .text);
}

static void say_limits(const struct plan_memcg *memcg, const struct plan_curve *curve,
                       struct report_reasons *out)
{
    const struct plan_advice *advice = &curve->advice;
    const struct plan_point *least = &curve->points[advice->least];
    say(out,
        "memory.max %s leaves an eighth above memory.high, so that what is in use between two "
        "rounds of reclaim ends no process.",
        size_of(advice->memory_max).text);
    for (size_t i = 0; i < curve->count && advice->memory_low > 0; i++)
        if (curve->points[i].memory_bytes == advice->memory_low && i > advice->least)
            say(out,
                "memory.low %s keeps from neighbours what saves %s misses, half or more of "
                "what memory.high saves.",
                size_of(advice->memory_low).text,
                count_of(least->misses - curve->points[i].misses).text);
    if (advice->least > 0)
        say(out,
            memcg->anonymous
                ? "Below %s a process is killed: its anonymous memory fits neither there nor in "
                  "swap."
                : "Below %s a process is killed: reclaim does not find enough that it may take.",
            size_of(least->memory_bytes).text);
}

/* What no limit changes. */
static void say_diagnosis(const struct plan_curve *curve, struct report_reasons *out)
{
    const struct plan_advice *advice = &curve->advice;
    const struct plan_point *chosen = &curve->points[advice->chosen];
    const uint64_t cold = curve->cold_misses < chosen->misses ? curve->cold_misses : chosen->misses;
    if (cold > 0)
        say(out,
            "%s of the %s misses at memory.high %s first accesses of pages, which no memory "
            "saves%s.",
            cold == chosen->misses ? "All" : count_of(cold).text, count_of(chosen->misses).text,
            cold == 1 ? "is" : "are",
            2 * cold > chosen->misses
                ? "; a service that runs longer than the trace has fewer (--warmup leaves a start "
                  "out)"
                : "");
    if (advice->scans)
        say(out,
            "%s misses go only when the whole working set fits: pages come back when nearly all "
            "others went by, as in a scan or a loop that no smaller cache holds. Give it all of "
            "%s, or less for the rest, and let what scans read past the cache (O_DIRECT, "
            "POSIX_FADV_DONTNEED).",
            count_of(advice->scan_misses).text, size_of(advice->scan_bytes).text);
}

/* Why this kernel, and what the recording lacks. */
static void say_recording(const struct plan *plan, size_t index, struct report_reasons *out)
{
    const struct replay_recorded *recorded = &plan->recorded;
    if (index == 0 && (plan->model_recorded || plan->lru_recorded))
        say(out,
            "The trace was recorded%s%s%s; this plans for the %s of %s, --policy and --model for "
            "others.",
            plan->model_recorded ? " on Linux " : "", plan->model_recorded ? recorded->kernel : "",
            !recorded->known_lru ? ""
            : recorded->classic  ? " with the classic LRU"
                                 : " with MGLRU",
            plan->classic ? "classic LRU" : "MGLRU", plan->memcgs[0].curves[0].model);
    if (recorded->events_lost > 0)
        say(out, "The recording lost %s events, so accesses are missing from these counts.",
            count_of(recorded->events_lost).text);
}

/* What another model does with the limits of the first. */
static void say_upgrade(const struct plan_memcg *memcg, size_t index, struct report_reasons *out)
{
    const struct plan_curve *before = &memcg->curves[0];
    const struct plan_curve *after = &memcg->curves[index];
    if (index == 0)
        return;
    const uint64_t old = before->points[before->advice.chosen].misses;
    const uint64_t now = after->points[before->advice.chosen].misses;
    const double change = old > 0 ? 100 * ((double)now - (double)old) / (double)old : 0;
    say(out, "With the memory.high of %s, %s, %s misses %s times instead of %s (%+.1f %%).",
        before->model, size_of(before->advice.memory_high).text, after->model, count_of(now).text,
        count_of(old).text, change);
}

void report_plan_reasons(const struct plan *plan, const struct plan_memcg *memcg, size_t index,
                         struct report_reasons *out)
{
    const struct plan_curve *curve = &memcg->curves[index];
    out->count = 0;
    say_target(plan, memcg, curve, out);
    say_basis(curve, out);
    say_limits(memcg, curve, out);
    say_diagnosis(curve, out);
    say_upgrade(memcg, index, out);
    say_recording(plan, index, out);
    if (!memcg->anonymous)
        say(out, "The trace holds no anonymous memory: add what the service has of it (anon in "
                 "memory.stat) to all three.");
    if (memcg->rate < 1)
        say(out,
            "Counted on %.3g %% of the pages; miss ratios are expected to be right to %.3f on "
            "average, and readahead is not modelled.",
            100 * memcg->rate, memcg->error);
}
