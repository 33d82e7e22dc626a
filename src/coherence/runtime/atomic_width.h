/* SPDX-License-Identifier: MIT */
/*
 * The atomic calls of one width. atomics.c includes this once a width with WIDTH (bits) and VALUE
 * (the type) defined, so there is no guard. Orders are ignored: every operation is sequentially
 * consistent, which is stronger than any that was asked for.
 */
#define NAME_JOINED(width, operation) __tsan_atomic##width##_##operation
#define NAME_OF(width, operation) NAME_JOINED(width, operation)
#define NAME(operation) NAME_OF(WIDTH, operation)

VALUE NAME(load)(const VALUE *object, int order);
void NAME(store)(VALUE *object, VALUE value, int order);
VALUE NAME(exchange)(VALUE *object, VALUE value, int order);
VALUE NAME(fetch_add)(VALUE *object, VALUE value, int order);
VALUE NAME(fetch_sub)(VALUE *object, VALUE value, int order);
VALUE NAME(fetch_and)(VALUE *object, VALUE value, int order);
VALUE NAME(fetch_or)(VALUE *object, VALUE value, int order);
VALUE NAME(fetch_xor)(VALUE *object, VALUE value, int order);
VALUE NAME(fetch_nand)(VALUE *object, VALUE value, int order);
int NAME(compare_exchange_strong)(VALUE *object, VALUE *expected, VALUE value, int order,
                                  int failure);
int NAME(compare_exchange_weak)(VALUE *object, VALUE *expected, VALUE value, int order,
                                int failure);
VALUE NAME(compare_exchange_val)(VALUE *object, VALUE expected, VALUE value, int order,
                                 int failure);

#if WIDTH <= 64
VALUE NAME(load)(const VALUE *object, int order)
{
    rt_access(object, sizeof(VALUE), LOG_READ);
    return __atomic_load_n(object, __ATOMIC_SEQ_CST);
}

void NAME(store)(VALUE *object, VALUE value, int order)
{
    rt_access(object, sizeof(VALUE), LOG_WRITE);
    __atomic_store_n(object, value, __ATOMIC_SEQ_CST);
}

VALUE NAME(exchange)(VALUE *object, VALUE value, int order)
{
    rt_access(object, sizeof(VALUE), LOG_ATOMIC);
    return __atomic_exchange_n(object, value, __ATOMIC_SEQ_CST);
}
#else
/* No instruction loads or stores 16 bytes at once everywhere, but one compares and swaps them. */
static VALUE put_wide(VALUE *object, VALUE value)
{
    VALUE found = __sync_val_compare_and_swap(object, 0, 0), expected;
    do {
        expected = found;
        found = __sync_val_compare_and_swap(object, expected, value);
    } while (found != expected);
    return found;
}

VALUE NAME(load)(const VALUE *object, int order)
{
    rt_access(object, sizeof(VALUE), LOG_READ);
    return __sync_val_compare_and_swap((VALUE *)(uintptr_t)object, 0, 0);
}

void NAME(store)(VALUE *object, VALUE value, int order)
{
    rt_access(object, sizeof(VALUE), LOG_WRITE);
    put_wide(object, value);
}

VALUE NAME(exchange)(VALUE *object, VALUE value, int order)
{
    rt_access(object, sizeof(VALUE), LOG_ATOMIC);
    return put_wide(object, value);
}
#endif

VALUE NAME(fetch_add)(VALUE *object, VALUE value, int order)
{
    rt_access(object, sizeof(VALUE), LOG_ATOMIC);
    return __sync_fetch_and_add(object, value);
}

VALUE NAME(fetch_sub)(VALUE *object, VALUE value, int order)
{
    rt_access(object, sizeof(VALUE), LOG_ATOMIC);
    return __sync_fetch_and_sub(object, value);
}

VALUE NAME(fetch_and)(VALUE *object, VALUE value, int order)
{
    rt_access(object, sizeof(VALUE), LOG_ATOMIC);
    return __sync_fetch_and_and(object, value);
}

VALUE NAME(fetch_or)(VALUE *object, VALUE value, int order)
{
    rt_access(object, sizeof(VALUE), LOG_ATOMIC);
    return __sync_fetch_and_or(object, value);
}

VALUE NAME(fetch_xor)(VALUE *object, VALUE value, int order)
{
    rt_access(object, sizeof(VALUE), LOG_ATOMIC);
    return __sync_fetch_and_xor(object, value);
}

VALUE NAME(fetch_nand)(VALUE *object, VALUE value, int order)
{
    VALUE expected, found = 0;
    rt_access(object, sizeof(VALUE), LOG_ATOMIC);
    do {
        expected = found;
        found = __sync_val_compare_and_swap(object, expected, (VALUE) ~(expected & value));
    } while (found != expected);
    return found;
}

VALUE NAME(compare_exchange_val)(VALUE *object, VALUE expected, VALUE value, int order, int failure)
{
    /* One that fails takes the line as well. */
    rt_access(object, sizeof(VALUE), LOG_ATOMIC);
    return __sync_val_compare_and_swap(object, expected, value);
}

int NAME(compare_exchange_strong)(VALUE *object, VALUE *expected, VALUE value, int order,
                                  int failure)
{
    VALUE found = NAME(compare_exchange_val)(object, *expected, value, order, failure);
    if (found == *expected)
        return 1;
    *expected = found;
    return 0;
}

int NAME(compare_exchange_weak)(VALUE *object, VALUE *expected, VALUE value, int order, int failure)
{
    return NAME(compare_exchange_strong)(object, expected, value, order, failure);
}

#undef NAME
#undef NAME_OF
#undef NAME_JOINED
