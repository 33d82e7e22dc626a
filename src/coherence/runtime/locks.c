/* SPDX-License-Identifier: MIT */
/*
 * Locks: the calls of pthread that take and let go, in front of libc's own, and the annotations of
 * locks that the program made itself.
 *
 * Idea: libc is not instrumented, so the access to the lock word is told here. A lock is held from
 * the moment when libc's call has returned until just before it lets go. Reader's locks count like
 * writer's: both exclude the other side.
 */
#include "coherence/runtime/accesses.h"
#include "coherence/runtime/runtime.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

/* Flags of the annotations (sanitizer/tsan_interface.h). */
#define TSAN_TRY_FAILED (1u << 4)

/* libc's function of that name; the pointer is looked up at the first call. */
static void *next_of(void **place, const char *name)
{
    void *found = __atomic_load_n(place, __ATOMIC_RELAXED);
    if (found != NULL)
        return found;
    found = dlsym(RTLD_NEXT, name);
    __atomic_store_n(place, found, __ATOMIC_RELAXED);
    return found;
}

/* Condition variables have two ABIs on old ports; the plain look-up may give the older. */
static void *next_cond(void **place, const char *name)
{
    void *found = __atomic_load_n(place, __ATOMIC_RELAXED);
    if (found != NULL)
        return found;
    found = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
    if (found == NULL)
        found = dlsym(RTLD_NEXT, name);
    __atomic_store_n(place, found, __ATOMIC_RELAXED);
    return found;
}

/* ISO C has no conversion from data to function pointers; POSIX promises that it works. */
#define CALL(type, place, name) ((type)(uintptr_t)next_of(&(place), name))
#define CALL_COND(type, place, name) ((type)(uintptr_t)next_cond(&(place), name))

typedef int lock_call(void *lock);
typedef int timed_call(void *lock, const struct timespec *until);
typedef int clock_call(void *lock, clockid_t clock, const struct timespec *until);

/* The lock word is taken, whether the lock then is or not. */
static void touch(const void *lock)
{
    rt_access(lock, sizeof(int), LOG_ATOMIC);
}

static int taken(const void *lock, int result)
{
    if (result == 0 || result == EOWNERDEAD)
        rt_acquired(lock);
    return result;
}

static void let_go(const void *lock)
{
    touch(lock);
    rt_releasing(lock);
}

#pragma GCC visibility push(default)

int pthread_mutex_lock(pthread_mutex_t *lock)
{
    static void *next;
    touch(lock);
    return taken(lock, CALL(lock_call *, next, "pthread_mutex_lock")(lock));
}

int pthread_mutex_trylock(pthread_mutex_t *lock)
{
    static void *next;
    touch(lock);
    return taken(lock, CALL(lock_call *, next, "pthread_mutex_trylock")(lock));
}

int pthread_mutex_timedlock(pthread_mutex_t *lock, const struct timespec *until)
{
    static void *next;
    touch(lock);
    return taken(lock, CALL(timed_call *, next, "pthread_mutex_timedlock")(lock, until));
}

int pthread_mutex_clocklock(pthread_mutex_t *lock, clockid_t clock, const struct timespec *until)
{
    static void *next;
    touch(lock);
    return taken(lock, CALL(clock_call *, next, "pthread_mutex_clocklock")(lock, clock, until));
}

int pthread_mutex_unlock(pthread_mutex_t *lock)
{
    static void *next;
    let_go(lock);
    return CALL(lock_call *, next, "pthread_mutex_unlock")(lock);
}

int pthread_spin_lock(pthread_spinlock_t *lock)
{
    static void *next;
    touch((const void *)(uintptr_t)lock);
    lock_call *call = CALL(lock_call *, next, "pthread_spin_lock");
    return taken((const void *)(uintptr_t)lock, call((void *)(uintptr_t)lock));
}

int pthread_spin_trylock(pthread_spinlock_t *lock)
{
    static void *next;
    touch((const void *)(uintptr_t)lock);
    lock_call *call = CALL(lock_call *, next, "pthread_spin_trylock");
    return taken((const void *)(uintptr_t)lock, call((void *)(uintptr_t)lock));
}

int pthread_spin_unlock(pthread_spinlock_t *lock)
{
    static void *next;
    let_go((const void *)(uintptr_t)lock);
    return CALL(lock_call *, next, "pthread_spin_unlock")((void *)(uintptr_t)lock);
}

int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
    static void *next;
    touch(lock);
    return taken(lock, CALL(lock_call *, next, "pthread_rwlock_rdlock")(lock));
}

int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock)
{
    static void *next;
    touch(lock);
    return taken(lock, CALL(lock_call *, next, "pthread_rwlock_tryrdlock")(lock));
}

int pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const struct timespec *until)
{
    static void *next;
    touch(lock);
    return taken(lock, CALL(timed_call *, next, "pthread_rwlock_timedrdlock")(lock, until));
}

int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
    static void *next;
    touch(lock);
    return taken(lock, CALL(lock_call *, next, "pthread_rwlock_wrlock")(lock));
}

int pthread_rwlock_trywrlock(pthread_rwlock_t *lock)
{
    static void *next;
    touch(lock);
    return taken(lock, CALL(lock_call *, next, "pthread_rwlock_trywrlock")(lock));
}

int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *until)
{
    static void *next;
    touch(lock);
    return taken(lock, CALL(timed_call *, next, "pthread_rwlock_timedwrlock")(lock, until));
}

int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
    static void *next;
    let_go(lock);
    return CALL(lock_call *, next, "pthread_rwlock_unlock")(lock);
}

/* A wait lets go of the mutex and has it again at its end, whatever it returns. */
int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock)
{
    static void *next;
    typedef int wait_call(pthread_cond_t *, pthread_mutex_t *);
    touch(cond);
    let_go(lock);
    int result = CALL_COND(wait_call *, next, "pthread_cond_wait")(cond, lock);
    touch(lock);
    rt_acquired(lock);
    return result;
}

int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *lock,
                           const struct timespec *until)
{
    static void *next;
    typedef int wait_call(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
    touch(cond);
    let_go(lock);
    int result = CALL_COND(wait_call *, next, "pthread_cond_timedwait")(cond, lock, until);
    touch(lock);
    rt_acquired(lock);
    return result;
}

int pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *lock, clockid_t clock,
                           const struct timespec *until)
{
    static void *next;
    typedef int wait_call(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *);
    touch(cond);
    let_go(lock);
    int result = CALL(wait_call *, next, "pthread_cond_clockwait")(cond, lock, clock, until);
    touch(lock);
    rt_acquired(lock);
    return result;
}

int pthread_cond_signal(pthread_cond_t *cond)
{
    static void *next;
    typedef int signal_call(pthread_cond_t *);
    touch(cond);
    return CALL_COND(signal_call *, next, "pthread_cond_signal")(cond);
}

int pthread_cond_broadcast(pthread_cond_t *cond)
{
    static void *next;
    typedef int signal_call(pthread_cond_t *);
    touch(cond);
    return CALL_COND(signal_call *, next, "pthread_cond_broadcast")(cond);
}

/* Annotations. The program's own accesses to the lock word are instrumented, so only being held is
 * new. */
void __tsan_mutex_create(void *lock, unsigned flags)
{
}

void __tsan_mutex_destroy(void *lock, unsigned flags)
{
}

void __tsan_mutex_pre_lock(void *lock, unsigned flags)
{
}

void __tsan_mutex_post_lock(void *lock, unsigned flags, int recursion)
{
    if ((flags & TSAN_TRY_FAILED) == 0)
        rt_acquired(lock);
}

int __tsan_mutex_pre_unlock(void *lock, unsigned flags)
{
    rt_releasing(lock);
    return 0;
}

void __tsan_mutex_post_unlock(void *lock, unsigned flags)
{
}

void __tsan_mutex_pre_signal(void *lock, unsigned flags)
{
}

void __tsan_mutex_post_signal(void *lock, unsigned flags)
{
}

void __tsan_mutex_pre_divert(void *lock, unsigned flags)
{
}

void __tsan_mutex_post_divert(void *lock, unsigned flags)
{
}

#pragma GCC visibility pop
