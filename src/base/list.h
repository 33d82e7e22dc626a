/* SPDX-License-Identifier: MIT */
/*
 * Intrusive doubly linked list with a sentinel head. The caller owns the nodes, so insert and
 * remove cannot fail. A node is on one list at a time. Head end = newest, tail end = oldest.
 * Not thread-safe: the owner's lock protects head and nodes together.
 */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list_node {
    struct list_node *next;
    struct list_node *prev;
};

#define container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

static inline void list_init(struct list_node *head)
{
    head->next = head;
    head->prev = head;
}

static inline bool list_empty(const struct list_node *head)
{
    return head->next == head;
}

static inline void list_insert_between(struct list_node *node, struct list_node *prev,
                                       struct list_node *next)
{
    node->prev = prev;
    node->next = next;
    prev->next = node;
    next->prev = node;
}

static inline void list_add_head(struct list_node *head, struct list_node *node)
{
    list_insert_between(node, head, head->next);
}

static inline void list_add_tail(struct list_node *head, struct list_node *node)
{
    list_insert_between(node, head->prev, head);
}

/* Unlinks @node; its own pointers stay dangling until the next insert. */
static inline void list_del(struct list_node *node)
{
    node->prev->next = node->next;
    node->next->prev = node->prev;
}

static inline void list_del_init(struct list_node *node)
{
    list_del(node);
    list_init(node);
}

static inline void list_move_head(struct list_node *head, struct list_node *node)
{
    list_del(node);
    list_add_head(head, node);
}

static inline void list_move_tail(struct list_node *head, struct list_node *node)
{
    list_del(node);
    list_add_tail(head, node);
}

/* Moves all of @from, in order, behind the last node of @to. @from is empty afterwards. O(1). */
static inline void list_splice_tail(struct list_node *to, struct list_node *from)
{
    if (list_empty(from))
        return;
    struct list_node *first = from->next;
    struct list_node *last = from->prev;
    first->prev = to->prev;
    to->prev->next = first;
    last->next = to;
    to->prev = last;
    list_init(from);
}

/* Moves all of @from, in order, before the first node of @to. @from is empty afterwards. O(1). */
static inline void list_splice_head(struct list_node *to, struct list_node *from)
{
    if (list_empty(from))
        return;
    struct list_node *first = from->next;
    struct list_node *last = from->prev;
    last->next = to->next;
    to->next->prev = last;
    to->next = first;
    first->prev = to;
    list_init(from);
}

/*
 * Cuts the run that begins at the first node of @from and ends with @last, and appends it, in
 * order, behind the last node of @to. O(1).
 */
static inline void list_cut_to_tail(struct list_node *to, struct list_node *from,
                                    struct list_node *last)
{
    struct list_node *first = from->next;
    struct list_node *rest = last->next;
    from->next = rest;
    rest->prev = from;
    first->prev = to->prev;
    to->prev->next = first;
    last->next = to;
    to->prev = last;
}

#define list_for_each(pos, head) for (pos = (head)->next; pos != (head); pos = pos->next)
#define list_for_each_safe(pos, tmp, head)                                                         \
    for (pos = (head)->next, tmp = pos->next; pos != (head); pos = tmp, tmp = pos->next)
#define list_for_each_reverse(pos, head) for (pos = (head)->prev; pos != (head); pos = pos->prev)
#define list_for_each_reverse_safe(pos, tmp, head)                                                 \
    for (pos = (head)->prev, tmp = pos->prev; pos != (head); pos = tmp, tmp = pos->prev)

#endif
