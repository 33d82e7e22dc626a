/* SPDX-License-Identifier: MIT */
/* Types for the transcripts beside this file: one of every kind of member. */
#include <stddef.h>

struct only_declared;

struct link {
    struct link *next;
    struct link *previous;
};

typedef struct {
    long count;
} counter_like;

typedef struct {
    int x, y;
} point;

enum colour { RED };

typedef enum colour colour_alias;

struct packet {
    unsigned version : 4;
    unsigned length : 4;
    unsigned flags : 13;
    char kind;
    union {
        struct link queue;
        double weights[3];
        char bytes[20];
    };
};

struct stats {
    char name[5];
    long reads[2][4];
    counter_like misses[2][4];
};

struct server {
    const char *address;
    _Bool enabled;
    struct packet packets[2];
    struct stats stats;
    struct link clients[4][2][3];
    _Alignas(64) counter_like requests;
    struct only_declared *elsewhere;
    point corner;
    char rest[];
};

struct pair {
    short a;
    long b;
};

/* What keeps the types in the program. */
struct server *server_object;
struct pair *pair_object;
colour_alias colour_object;
long pair_of(int);

/* Another layout of a name that is there already, in a function. */
long pair_of(int n)
{
    struct pair {
        int a;
        int b;
        int c;
    } other = {n, n, n};
    return other.b + (long)sizeof(struct server);
}

int main(void)
{
    return pair_of(1) == 0;
}
