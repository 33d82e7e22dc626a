/* SPDX-License-Identifier: MIT */
/*
 * Lock annotations, checked by clang's -Wthread-safety and empty elsewhere. On functions they are
 * errors in CI. MGLRU_GUARDED_BY on a field is a mark for readers: in C, clang cannot name a
 * sibling member in it.
 */
#ifndef SYNC_ANNOTATE_H
#define SYNC_ANNOTATE_H

#if defined(__clang__)
#define MGLRU_TSA(x) __attribute__((x))
#else
#define MGLRU_TSA(x)
#endif

#define MGLRU_CAPABILITY(kind) MGLRU_TSA(capability(kind))
#define MGLRU_REQUIRES(...) MGLRU_TSA(requires_capability(__VA_ARGS__))
#define MGLRU_ACQUIRES(...) MGLRU_TSA(acquire_capability(__VA_ARGS__))
#define MGLRU_RELEASES(...) MGLRU_TSA(release_capability(__VA_ARGS__))
#define MGLRU_TRY_ACQUIRES(...) MGLRU_TSA(try_acquire_capability(__VA_ARGS__))
#define MGLRU_EXCLUDES(...) MGLRU_TSA(locks_excluded(__VA_ARGS__))
#define MGLRU_NO_LOCK_ANALYSIS MGLRU_TSA(no_thread_safety_analysis)
#define MGLRU_GUARDED_BY(lock)

#endif
