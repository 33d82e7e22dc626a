/* SPDX-License-Identifier: MIT */
/*
 * Reference models of the baseline policies, written from the papers for clarity alone: plain
 * arrays in order of age, linear searches, no state shared with src/policy but the sketch of
 * W-TinyLFU. For caches of up to a few hundred pages.
 */
#ifndef MODEL_NAIVE_POLICY_H
#define MODEL_NAIVE_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What happens to one page: an access, or that it is freed. */
struct naive_event {
    uint32_t page;
    bool is_forget;
};

struct naive;

/* A model of the policy with the command-line name @name; aborts when there is none. */
struct naive *naive_create(const char *name, uint64_t capacity_pages);
void naive_destroy(struct naive *naive);

/*
 * Event @at of @events. True: it is an access and the page was resident. The events behind it are
 * looked at by Belady's model only.
 */
bool naive_step(struct naive *naive, const struct naive_event *events, size_t count, size_t at);

uint64_t naive_resident(const struct naive *naive);

/*
 * The event that next concerns the page of event @at: its index if it is an access, UINT64_MAX if
 * there is none or the page is freed first.
 */
uint64_t naive_next_use(const struct naive_event *events, size_t count, size_t at);

#endif
