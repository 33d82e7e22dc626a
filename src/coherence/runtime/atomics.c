/* SPDX-License-Identifier: MIT */
/*
 * Atomic operations, which -fsanitize=thread turns into calls: this does them and tells of them.
 * Fences move no line.
 */
#include "coherence/runtime/accesses.h"
#include "coherence/runtime/runtime.h"

#pragma GCC visibility push(default)

#define WIDTH 8
#define VALUE int8_t
#include "coherence/runtime/atomic_width.h"
#undef WIDTH
#undef VALUE

#define WIDTH 16
#define VALUE int16_t
#include "coherence/runtime/atomic_width.h"
#undef WIDTH
#undef VALUE

#define WIDTH 32
#define VALUE int32_t
#include "coherence/runtime/atomic_width.h"
#undef WIDTH
#undef VALUE

#define WIDTH 64
#define VALUE int64_t
#include "coherence/runtime/atomic_width.h"
#undef WIDTH
#undef VALUE

#ifdef __SIZEOF_INT128__
__extension__ typedef __int128 wide;
#define WIDTH 128
#define VALUE wide
#include "coherence/runtime/atomic_width.h"
#undef WIDTH
#undef VALUE
#endif

void __tsan_atomic_thread_fence(int order)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void __tsan_atomic_signal_fence(int order)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

#pragma GCC visibility pop
