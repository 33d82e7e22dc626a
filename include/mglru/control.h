/* SPDX-License-Identifier: MIT */
/*
 * The kernel's files, by name, as text: limits, statistics, the MGLRU switch and the lru_gen
 * commands. Grammar and refusals are those of the modelled kernel; mglru_error_errno() turns a
 * code into the errno that write(2) would have given. Threads as in <mglru/cache.h>.
 *
 * Of a memcg: memory.current, .peak, .min, .low, .high, .max, .reclaim, .events, .events.local,
 *   .oom.group, .stat, .numa_stat, memory.swap.current, .high, .max, .peak, .events; swappiness.
 * Of the cache: lru_gen, lru_gen_full, enabled, min_ttl_ms, swappiness, stat_refresh; of a
 * cache without frames also read_ahead_kb.
 *
 * A live cache, one with frames, can open a control socket, over which other processes read and
 * write the same files while it works: `mglru ctl`, `mglru top`, or any program (docs/control.md).
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

/* --- the control socket --------------------------------------------------------------------- */

struct mglru_control; /* a control socket of one cache, and the thread that serves it */

/*
 * Listens at @path in the file system for clients that control @cache: they read and write its
 * files, list, make and remove memcgs. Off unless called. The socket has mode 0600, and clients of
 * other users than the process's own and root are turned away. A socket that a dead process left
 * at @path is replaced. The caller owns *out and closes it before it destroys the cache.
 * What a client does takes effect between the program's own control calls, as one of them. A client
 * cannot remove a memcg that has open files or whose handle the program got from
 * mglru_memcg_create or mglru_memcg_find; a handle from mglru_memcg_next alone is safe until the
 * walk goes on, so a program that keeps handles finds them by their paths.
 * MGLRU_ENOTSUP: a cache without frames; MGLRU_EBUSY: another process listens there; MGLRU_EEXIST:
 * something else is there; MGLRU_EINVAL: the path is empty or too long for a socket (107 bytes);
 * MGLRU_ENOENT, MGLRU_EPERM, MGLRU_EIO, MGLRU_ENOMEM; MGLRU_EAGAIN: no thread could be started.
 */
MGLRU_API int mglru_control_open(struct mglru_cache *cache, const char *path,
                                 struct mglru_control **out);

/* Hangs up on all clients, waits for the command under way, and removes the socket. NULL is
 * allowed. */
MGLRU_API void mglru_control_close(struct mglru_control *control);

#ifdef __cplusplus
}
#endif
#endif
