/* SPDX-License-Identifier: MIT */
/*
 * The assert ladder (style.md 49). Four rungs, cheapest first:
 *   _Static_assert   layout and constants
 *   MGLRU_CHECK      always compiled in; guards memory safety against programmer errors
 *   MGLRU_ASSERT     debug builds: inputs and results of one function
 *   MGLRU_VERIFY     verify builds: walks of whole structures
 * None of them judges the caller's data: operating errors are returned, never asserted.
 * MGLRU_NEVER marks a branch believed impossible; release builds take it and return safely.
 */
#ifndef BASE_CHECK_H
#define BASE_CHECK_H

#include <stdio.h>
#include <stdlib.h>

static inline _Noreturn void check_failed(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, what);
    abort();
}

#define MGLRU_CHECK(cond) ((cond) ? (void)0 : check_failed(__FILE__, __LINE__, #cond))

#ifdef MGLRU_DEBUG
#define MGLRU_ASSERT(cond) MGLRU_CHECK(cond)
#define MGLRU_NEVER(cond) ((cond) ? (check_failed(__FILE__, __LINE__, #cond), 1) : 0)
#else
#define MGLRU_ASSERT(cond) ((void)sizeof(!(cond)))
#define MGLRU_NEVER(cond) (__builtin_expect(!!(cond), 0))
#endif

#define MGLRU_LIKELY(x) __builtin_expect(!!(x), 1)
#define MGLRU_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define MGLRU_ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#endif
