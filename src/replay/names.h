/* SPDX-License-Identifier: MIT */
/*
 * Names of memcgs and objects over all traces of one replay, with dense ids. Every reader numbers
 * its own names from 0; here the same name has the same id whichever trace named it.
 *
 * Threads: one thread interns; any thread may look names up at the same time. A returned string
 * lives until replay_names_destroy.
 */
#ifndef REPLAY_NAMES_H
#define REPLAY_NAMES_H

#include <stdint.h>

struct replay_names;

enum replay_name_kind { REPLAY_MEMCG, REPLAY_OBJECT };

/* NULL: out of memory. */
struct replay_names *replay_names_create(void);
void replay_names_destroy(struct replay_names *names);

/* Gives the id of @name, a new one when it was never seen. MGLRU_ENOMEM. */
int replay_names_intern(struct replay_names *names, enum replay_name_kind kind, const char *name,
                        uint32_t *id);

/* @id must be below replay_names_count. */
const char *replay_names_at(const struct replay_names *names, enum replay_name_kind kind,
                            uint32_t id);
uint32_t replay_names_count(const struct replay_names *names, enum replay_name_kind kind);

#endif
