/* SPDX-License-Identifier: MIT */
/*
 * The kernel's files, by name, as text: limits, statistics, the MGLRU switch and the lru_gen
 * commands. Grammar and refusals are those of the modelled kernel; mglru_error_errno() turns a
 * code into the errno that write(2) would have given. Threads as in <mglru/cache.h>.
 *
 * Of a memcg: memory.current, .peak, .min, .low, .high, .max, .reclaim, .events, .events.local,
 *   .oom.group, .stat, .numa_stat, memory.swap.current, .high, .max, .peak, .events; swappiness.
 * Of the cache: lru_gen, lru_gen_full, enabled, min_ttl_ms, swappiness, stat_refresh.
 */
#ifndef MGLRU_CONTROL_H
#define MGLRU_CONTROL_H

#include <mglru/cache.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Writes @length bytes of @text to the memcg's file @name. Needs no final newline.
 * MGLRU_ENOENT: no such file; MGLRU_EINVAL: the kernel refuses the text; MGLRU_EPERM: read-only;
 * MGLRU_EAGAIN: memory.reclaim fell short; MGLRU_EINTR: it was stopped (mglru_cache_stop);
 * MGLRU_EBUSY; MGLRU_ENOMEM.
 */
MGLRU_API int mglru_memcg_write(struct mglru_memcg *memcg, const char *name, const char *text,
                                size_t length);

/*
 * Reads the memcg's file @name into @buffer, always terminated with NUL when @capacity > 0.
 * @length receives the full length without the NUL; it may exceed what fitted: then the text is
 * cut and the call returns MGLRU_EOVERFLOW. MGLRU_ENOENT: no such file.
 */
MGLRU_API int mglru_memcg_read(struct mglru_memcg *memcg, const char *name, char *buffer,
                               size_t capacity, size_t *length);

/* As mglru_memcg_write, for the files of the whole cache. Commands before a refused one stay done.
 * Also MGLRU_ERANGE, MGLRU_EEXIST from lru_gen commands; MGLRU_ENOTSUP: "enabled" without MGLRU for
 * a cache with frames. */
MGLRU_API int mglru_cache_write(struct mglru_cache *cache, const char *name, const char *text,
                                size_t length);

/* As mglru_memcg_read, for the files of the whole cache. */
MGLRU_API int mglru_cache_read(struct mglru_cache *cache, const char *name, char *buffer,
                               size_t capacity, size_t *length);

/* Number that lru_gen commands know the memcg by. */
MGLRU_API uint64_t mglru_memcg_id(const struct mglru_memcg *memcg);

/*
 * One statistic of the memcg and its subtree by its memory.stat name ("workingset_refault_file",
 * "pgscan", ...; amounts in bytes where memory.stat has bytes), exact, without the lag of a flush.
 * MGLRU_ENOENT: no such name.
 */
MGLRU_API int mglru_memcg_stat(struct mglru_memcg *memcg, const char *name, uint64_t *value);

/* The @i-th name that mglru_memcg_stat knows, in the order of memory.stat; NULL past the last. */
MGLRU_API const char *mglru_stat_name(size_t i);

#ifdef __cplusplus
}
#endif
#endif
