/* SPDX-License-Identifier: MIT */
/*
 * From options to runs: every policy with every model (the kernel's two only) and every size. All
 * that options cannot mean together is refused here, before any file is opened.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/mglru/replay_args.h"
#include "cli/mglru/values.h"

#define PAGE_BYTES_LEAST 4096u /* a trace may have larger pages; then the replay checks again */
#define RUNS_MAX 65536

static const char *const agings[] = {"per-folio", "batched", "splice"};

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static bool is_kernel(const char *policy)
{
    return strcmp(policy, "mglru") == 0 || strcmp(policy, "classic") == 0;
}

static bool has_policy(const struct replay_args *args, const char *name)
{
    for (size_t i = 0; i < args->policies.count; i++)
        if (strcmp(args->policies.items[i], name) == 0)
            return true;
    return false;
}

static bool check_policies(struct replay_args *args, struct args_error *error)
{
    for (size_t i = 0; i < args->policies.count; i++) {
        const char *name = args->policies.items[i];
        if (is_kernel(name))
            continue;
        if (policy_find(name) == NULL) {
            char known[256];
            size_t used = (size_t)snprintf(known, sizeof(known), "mglru, classic");
            for (size_t j = 0; policy_at(j) != NULL && used < sizeof(known); j++)
                used += (size_t)snprintf(known + used, sizeof(known) - used, ", %s",
                                         policy_at(j)->name);
            return args_fail(error, "--policy: '%s' is none of %s", name, known);
        }
        args->whole_baseline = true;
        if (args->size_count == 0 && args->asks_result)
            return args_fail(error,
                             "--policy %s needs --memory: only mglru and classic know the "
                             "limits that a trace sets",
                             name);
    }
    return true;
}

static bool check_aging(const struct replay_args *args, struct args_error *error)
{
    if (args->aging == NULL)
        return true;
    if (!is_one_of(args->aging, agings, sizeof(agings) / sizeof(agings[0])))
        return args_fail(error, "--aging: '%s' is none of per-folio, batched, splice", args->aging);
    if (!has_policy(args, "mglru"))
        return args_fail(error, "--aging concerns mglru only, which --policy does not name");
    for (size_t i = 0; i < args->models.count; i++)
        if (strcmp(args->aging, "splice") == 0 && strcmp(args->models.items[i], "ours") != 0)
            return args_fail(error,
                             "--aging splice belongs to model ours: model %s ages as its kernel "
                             "does, per-folio or batched",
                             args->models.items[i]);
    return true;
}

/* Options that only the kernel's algorithms know. */
static bool check_kernel_options(const struct replay_args *args, struct args_error *error)
{
    if (has_policy(args, "mglru") || has_policy(args, "classic"))
        return true;
    const char *option = args->has_swap          ? "--swap"
                         : args->swappiness >= 0 ? "--swappiness"
                         : args->has_readahead   ? "--readahead"
                         : args->has_stat_flush  ? "--stat-flush"
                         : args->explain         ? "--explain"
                                                 : NULL;
    return option == NULL || args_fail(error,
                                       "%s concerns mglru and classic only, which --policy does "
                                       "not name",
                                       option);
}

static bool check_sizes(const struct replay_args *args, struct args_error *error)
{
    if (args->size_count == 0)
        return true;
    const bool kernel = has_policy(args, "mglru") || has_policy(args, "classic");
    const uint64_t pages = kernel ? REPLAY_KERNEL_PAGES_MIN : REPLAY_BASELINE_PAGES_MIN;
    const uint64_t least = pages * PAGE_BYTES_LEAST;
    if (args->sizes[0] >= least)
        return true;
    return args_fail(error,
                     "--memory %" PRIu64 " is below the minimum of %s: %" PRIu64 " bytes, %" PRIu64
                     " page%s",
                     args->sizes[0], kernel ? "mglru and classic" : "a policy", least, pages,
                     pages == 1 ? "" : "s");
}

/* Every file for one purpose only. */
static bool check_outputs(const struct replay_args *args, struct args_error *error)
{
    const struct values_output outputs[] = {{args->json, "--json"},
                                            {args->csv, "--csv"},
                                            {args->miss_bits, "--miss-bits"},
                                            {args->write_native, "--write-native"},
                                            {args->plot, "--plot"}};
    return values_outputs_differ(outputs, sizeof(outputs) / sizeof(outputs[0]), error) &&
           values_check_plot(args->plot, error);
}

/* Whether what was asked for fits the number of runs. */
static bool check_counts(const struct replay_args *args, struct args_error *error)
{
    if (args->whole_count > RUNS_MAX)
        return args_fail(error, "%zu runs are more than %d", args->whole_count, RUNS_MAX);
    if (args->shards > args->whole_count)
        return args_fail(error, "--shard: %" PRIu64 " shards for %zu run%s", args->shards,
                         args->whole_count, args->whole_count == 1 ? "" : "s");
    if (args->miss_bits != NULL && args->spec_count > 1 && strchr(args->miss_bits, '%') == NULL)
        return args_fail(error,
                         "--miss-bits: %zu runs do not fit into one file: put %%p (policy), %%m "
                         "(model), %%b (bytes) or %%i (number of the run) into its name",
                         args->spec_count);
    if (args->plot != NULL && args->size_count < 2 && args->every == 0)
        return args_fail(error,
                         "--plot draws a curve over at least two sizes of --memory, or a series "
                         "with --every");
    return true;
}

/* How many runs one policy makes for each size. */
static size_t variants(const struct replay_args *args, const char *policy)
{
    return is_kernel(policy) ? args->models.count : 1;
}

static void describe_run(const struct replay_args *args, const char *policy, size_t variant,
                         struct replay_spec *spec)
{
    *spec = (struct replay_spec){.policy = policy};
    if (!is_kernel(policy)) {
        spec->baseline = policy_find(policy);
        return;
    }
    spec->classic = strcmp(policy, "classic") == 0;
    spec->model = args->models.items[variant];
    spec->aging = spec->classic ? NULL : args->aging;
}

static bool list_specs(struct replay_args *args, struct args_error *error)
{
    const size_t sizes = args->size_count == 0 ? 1 : args->size_count;
    /* A conversion is no run. */
    if (args->write_native != NULL && !args->asks_result)
        return true;
    for (size_t i = 0; i < args->policies.count; i++)
        args->whole_count += variants(args, args->policies.items[i]) * sizes;
    args->specs = calloc(args->whole_count, sizeof(*args->specs));
    if (args->specs == NULL)
        return args_fail(error, "out of memory");
    uint32_t index = 0;
    for (size_t i = 0; i < args->policies.count; i++)
        for (size_t j = 0; j < variants(args, args->policies.items[i]); j++)
            for (size_t k = 0; k < sizes; k++, index++) {
                if (args->shards > 0 && index % args->shards != args->shard)
                    continue;
                struct replay_spec *spec = &args->specs[args->spec_count++];
                describe_run(args, args->policies.items[i], j, spec);
                spec->memory_bytes = args->size_count == 0 ? 0 : args->sizes[k];
                spec->index = index;
            }
    return true;
}

bool replay_args_list_runs(struct replay_args *args, struct args_error *error)
{
    return check_policies(args, error) && values_check_models(&args->models, error) &&
           check_aging(args, error) && check_kernel_options(args, error) &&
           check_sizes(args, error) && check_outputs(args, error) && list_specs(args, error) &&
           check_counts(args, error);
}
