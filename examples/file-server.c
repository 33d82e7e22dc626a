/* SPDX-License-Identifier: MIT */
/*
 * Serves one file over HTTP through libmglru, to two tenants that share a page cache: requests for
 * /gold are charged to a memcg with memory that others cannot take (memory.low), requests for
 * /bronze to one with a limit. A bronze scan of the whole file leaves the pages of gold alone.
 *
 *   file-server FILE [PORT]     then: curl 'http://127.0.0.1:8080/gold?offset=4096&bytes=100'
 *                               and:  curl http://127.0.0.1:8080/counts
 *
 * Build: cc file-server.c -o file-server $(pkg-config --cflags --libs mglru) -pthread
 */
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <mglru/control.h>
#include <mglru/data.h>
#include <mglru/stores.h>

#define CACHE_BYTES ((uint64_t)16 << 20)
#define CHUNK ((size_t)64 << 10)

enum { GOLD, BRONZE, TENANTS };
static const char *const tenant_names[TENANTS] = {"/gold", "/bronze"};

static struct mglru_cache *cache;
static struct mglru_memcg *memcgs[TENANTS];
static struct mglru_file *files[TENANTS];
static uint64_t file_bytes;
static atomic_int busy; /* connections */

/* Ends the program: an example has nobody else to tell. */
static void must(int code, const char *what)
{
    if (code == MGLRU_OK)
        return;
    fprintf(stderr, "file-server: %s: %s\n", what, mglru_error_text(code));
    exit(1);
}

static void set(struct mglru_memcg *memcg, const char *name, const char *value)
{
    must(mglru_memcg_write(memcg, name, value, strlen(value)), name);
}

/* One cache, one file, two tenants. */
static struct mglru_store *open_cache(const char *path)
{
    struct mglru_data_options options = {.size = sizeof(options), .memory_bytes = CACHE_BYTES};
    struct mglru_store_file_options file = {.size = sizeof(file), .path = path, .read_only = true};
    struct mglru_store *store;
    struct mglru_mapping *mapping;
    must(mglru_store_file_open(&file, &store), path);
    must(mglru_store_size(store, &file_bytes), path);
    must(mglru_data_create(&options, &cache), "cache");
    must(mglru_data_mapping_create(cache, path, store, file_bytes, &mapping), "mapping");
    for (int i = 0; i < TENANTS; i++) {
        must(mglru_memcg_create(cache, tenant_names[i], &memcgs[i]), tenant_names[i]);
        must(mglru_file_open(mapping, memcgs[i], &files[i]), "open");
    }
    set(memcgs[GOLD], "memory.low", "8M");
    set(memcgs[BRONZE], "memory.max", "4M");
    return store;
}

static bool send_all(int to, const char *bytes, size_t left)
{
    while (left > 0) {
        ssize_t sent = send(to, bytes, left, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        bytes += sent;
        left -= (size_t)sent;
    }
    return true;
}

/* What the cache did for each tenant. */
static void send_counts(int to)
{
    char text[256] = "HTTP/1.0 200 OK\r\n\r\n";
    for (int i = 0; i < TENANTS; i++) {
        struct mglru_counts counts;
        size_t used = strlen(text);
        mglru_memcg_counts(memcgs[i], false, &counts);
        snprintf(text + used, sizeof(text) - used, "%s %" PRIu64 " hits %" PRIu64 " misses\n",
                 tenant_names[i], counts.hits, counts.misses);
    }
    send_all(to, text, strlen(text));
}

/* Sends @bytes of the file from @offset, read through the cache as @tenant. */
static void send_range(int to, int tenant, uint64_t offset, uint64_t bytes)
{
    static _Thread_local char buffer[CHUNK];
    if (offset > file_bytes)
        offset = file_bytes;
    if (bytes > file_bytes - offset)
        bytes = file_bytes - offset;
    int length = snprintf(buffer, sizeof(buffer),
                          "HTTP/1.0 200 OK\r\nContent-Length: %" PRIu64 "\r\n\r\n", bytes);
    bool sent = send_all(to, buffer, (size_t)length);
    while (sent && bytes > 0) {
        size_t part = bytes < CHUNK ? (size_t)bytes : CHUNK, done;
        if (mglru_read(files[tenant], offset, buffer, part, &done) != MGLRU_OK || done == 0)
            return; /* the client sees a short answer */
        sent = send_all(to, buffer, done);
        offset += done;
        bytes -= done;
    }
}

/* Reads up to the blank line that ends a request: closing a socket with unread bytes in it would
 * reset the connection under the answer. */
static void receive_request(int from, char *text, size_t size)
{
    size_t used = 0;
    ssize_t got = 1;
    text[0] = '\0';
    while (got > 0 && used + 1 < size && strstr(text, "\r\n\r\n") == NULL) {
        got = recv(from, text + used, size - 1 - used, 0);
        if (got > 0)
            used += (size_t)got;
        text[used] = '\0';
    }
}

/* One request: "GET /tenant[?offset=N&bytes=N] ...". */
static void *serve(void *argument)
{
    int client = (int)(intptr_t)argument;
    char request[1024];
    receive_request(client, request, sizeof(request));
    int tenant = -1;
    for (int i = 0; i < TENANTS; i++)
        if (strncmp(request, "GET ", 4) == 0 &&
            strncmp(request + 4, tenant_names[i], strlen(tenant_names[i])) == 0)
            tenant = i;
    if (strncmp(request, "GET /counts", 11) == 0) {
        send_counts(client);
    } else if (tenant < 0) {
        send_all(client, "HTTP/1.0 404 Not Found\r\n\r\n", 26);
    } else {
        const char *offset = strstr(request, "offset="), *bytes = strstr(request, "bytes=");
        send_range(client, tenant, offset ? strtoull(offset + 7, NULL, 10) : 0,
                   bytes ? strtoull(bytes + 6, NULL, 10) : file_bytes);
    }
    close(client);
    atomic_fetch_sub(&busy, 1);
    return NULL;
}

/* Listens on the loopback; *@port is 0 for any, and becomes the one in use. */
static int listen_on(uint16_t *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(*port)};
    socklen_t length = sizeof(address);
    int on = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (listener < 0 || setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
        bind(listener, (struct sockaddr *)&address, length) || listen(listener, 64) ||
        getsockname(listener, (struct sockaddr *)&address, &length)) {
        perror("file-server: cannot listen");
        exit(1);
    }
    *port = ntohs(address.sin_port);
    return listener;
}

/* A thread a connection, until the listener is shut down. */
static void *accept_all(void *argument)
{
    int client;
    while ((client = accept((int)(intptr_t)argument, NULL, NULL)) >= 0 || errno == EINTR) {
        pthread_t thread;
        if (client < 0)
            continue;
        atomic_fetch_add(&busy, 1);
        if (pthread_create(&thread, NULL, serve, (void *)(intptr_t)client) == 0) {
            pthread_detach(thread);
        } else {
            close(client);
            atomic_fetch_sub(&busy, 1);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: file-server FILE [PORT]\n");
        return 2;
    }
    struct mglru_store *store = open_cache(argv[1]);
    uint16_t port = argc == 3 ? (uint16_t)atoi(argv[2]) : 8080;
    int listener = listen_on(&port), signal_number;
    pthread_t accepter;
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    pthread_sigmask(SIG_BLOCK, &ends, NULL); /* for all threads: main waits for them */
    if (pthread_create(&accepter, NULL, accept_all, (void *)(intptr_t)listener) != 0)
        return 1;
    printf("http://127.0.0.1:%u/gold and /bronze, %" PRIu64 " bytes\n", port, file_bytes);
    fflush(stdout);
    sigwait(&ends, &signal_number);
    shutdown(listener, SHUT_RDWR);
    pthread_join(accepter, NULL);
    while (atomic_load(&busy) > 0) /* answers that are on their way */
        usleep(1000);
    mglru_cache_destroy(cache);
    mglru_store_close(store);
    return 0;
}
