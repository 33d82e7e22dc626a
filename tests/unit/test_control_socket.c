/* SPDX-License-Identifier: MIT */
/*
 * The control socket of a live cache: its name in the file system, the protocol, hostile clients,
 * and many clients beside a program that works. The walkers look at the cache in the end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <mglru/control.h>
#include <mglru/data.h>

#include "control/session.h"
#include "control_client.h"
#include "data/data.h"
#include "os/local.h"

enum { PAGE = 4096, FRAMES = 1024, ANSWER = 1 << 20 };

static char folder[] = "/tmp/mglru-control-XXXXXX";
static char path[64];
static struct mglru_cache *cache;
static struct mglru_control *control;
static char answer[ANSWER];

static struct mglru_cache *make_cache(void)
{
    struct mglru_data_options options = {
        .size = sizeof(options), .memory_bytes = (uint64_t)FRAMES * PAGE, .no_threads = true};
    struct mglru_cache *made;
    assert_int_equal(mglru_data_create(&options, &made), MGLRU_OK);
    return made;
}

static unsigned files_in_folder(void)
{
    unsigned count = 0;
    DIR *listing = opendir(folder);
    for (struct dirent *entry; (entry = readdir(listing));)
        count += entry->d_name[0] != '.';
    closedir(listing);
    return count;
}

static int begin(void **state)
{
    cache = make_cache();
    assert_int_equal(mglru_control_open(cache, path, &control), MGLRU_OK);
    return 0;
}

/* Closes all and looks whether anything is left. */
static int end(void **state)
{
    const char *broken = data_verify(cache);
    if (broken)
        print_error("%s\n", broken);
    assert_null(broken);
    mglru_control_close(control);
    mglru_cache_destroy(cache);
    assert_int_equal(files_in_folder(), 0);
    return 0;
}

/* The answer to one line, on a connection of its own. */
static const char *ask(const char *line)
{
    int client = client_connect(path);
    assert_true(client >= 0);
    assert_true(client_ask(client, line, answer, sizeof(answer)));
    close(client);
    return answer;
}

/* --- the name ------------------------------------------------------------------------------- */

static void test_socket_has_mode_0600(void **state)
{
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_true(S_ISSOCK(info.st_mode));
    assert_int_equal(info.st_mode & 0777, 0600);
}

static void test_second_server_is_refused(void **state)
{
    struct mglru_control *second;
    assert_int_equal(mglru_control_open(cache, path, &second), MGLRU_EBUSY);
    assert_null(second);
    assert_string_equal(ask("read min_ttl_ms"), "ok 2\n0\n");
}

static void test_names_that_cannot_be(void **state)
{
    struct mglru_cache *made = make_cache();
    struct mglru_control *second;
    char longer[200], other[80];
    memset(longer, 'x', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    snprintf(other, sizeof(other), "%s/file", folder);
    FILE *file = fopen(other, "w");
    fclose(file);
    assert_int_equal(mglru_control_open(made, other, &second), MGLRU_EEXIST);
    assert_int_equal(unlink(other), 0); /* it was left alone */
    assert_int_equal(mglru_control_open(made, longer, &second), MGLRU_EINVAL);
    assert_int_equal(mglru_control_open(made, "", &second), MGLRU_EINVAL);
    assert_int_equal(mglru_control_open(made, "/nowhere/socket", &second), MGLRU_ENOENT);
    mglru_cache_destroy(made);
    assert_int_equal(mglru_cache_create(NULL, &made), MGLRU_OK);
    assert_int_equal(mglru_control_open(made, other, &second), MGLRU_ENOTSUP);
    mglru_cache_destroy(made);
}

/* What the child of the next test runs: a server that says when it listens, until it is killed. */
static int serve(const char *at)
{
    struct mglru_cache *own = make_cache();
    struct mglru_control *ours;
    if (mglru_control_open(own, at, &ours) == MGLRU_OK && write(STDOUT_FILENO, "", 1) == 1)
        pause();
    return 1;
}

/* A server that dies by SIGKILL leaves its socket and nothing else; the next one replaces it. */
static void test_socket_of_a_killed_server_is_replaced(void **state)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ready[1], STDOUT_FILENO);
        execl("/proc/self/exe", "test_control_socket", path, NULL);
        _exit(1);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_int_equal(files_in_folder(), 1);
    assert_int_equal(client_connect(path), -1);
    begin(state);
    assert_string_equal(ask("read enabled"), "ok 7\n0x0007\n");
    end(state);
}

/* Who closes later does not take the name of who opened after the first was removed. */
static void test_close_leaves_a_name_that_is_no_longer_its_own(void **state)
{
    struct mglru_cache *made = make_cache();
    struct mglru_control *second;
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mglru_control_open(made, path, &second), MGLRU_OK);
    mglru_control_close(control);
    assert_int_equal(files_in_folder(), 1);
    control = second;
    mglru_cache_destroy(cache);
    cache = made;
}

/* A program opens its socket by a relative path and then goes elsewhere, as daemons do. */
static void test_name_is_removed_from_another_folder(void **state)
{
    struct mglru_cache *made = make_cache();
    struct mglru_control *second;
    char here[256];
    assert_non_null(getcwd(here, sizeof(here)));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(mglru_control_open(made, "relative", &second), MGLRU_OK);
    assert_int_equal(chdir(here), 0);
    assert_int_equal(files_in_folder(), 2);
    mglru_control_close(second);
    assert_int_equal(files_in_folder(), 1);
    mglru_cache_destroy(made);
}

static void test_other_users_are_turned_away(void **state)
{
    int status;
    if (geteuid() != 0)
        skip();
    assert_int_equal(chmod(folder, 0755) | chmod(path, 0666), 0);
    pid_t child = fork();
    if (child == 0) {
        char text[64];
        int client = setuid(65534) == 0 ? client_connect(path) : -1;
        if (client < 0)
            _exit(2);
        send(client, "read enabled\n", 13, MSG_NOSIGNAL);
        _exit(client_receive(client, text, 1));
    }
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_string_equal(ask("read min_ttl_ms"), "ok 2\n0\n");
}

/* --- the protocol --------------------------------------------------------------------------- */

static void test_verbs(void **state)
{
    assert_string_equal(ask("mkdir /a"), "ok 0\n");
    assert_string_equal(ask("mkdir /a"), "error EEXIST exists already, or aging did not advance\n");
    assert_string_equal(ask("mkdir /b/c"), "error ENOENT no such object\n");
    assert_string_equal(ask("mkdir b"), "error EINVAL invalid argument\n");
    assert_string_equal(ask("mkdir /"), "error EEXIST exists already, or aging did not advance\n");
    assert_string_equal(ask("mkdir /a/b"), "ok 0\n");
    assert_string_equal(ask("write /a/memory.max 1M"), "ok 0\n");
    assert_string_equal(ask("read /a/memory.max"), "ok 8\n1048576\n");
    assert_string_equal(ask("write /a/memory.max 12X"), "error EINVAL invalid argument\n");
    assert_string_equal(ask("read /memory.max"), "error ENOENT no such object\n");
    assert_string_equal(ask("read /no/memory.max"), "error ENOENT no such object\n");
    assert_string_equal(ask("write /a/memory.current 1"), "error EPERM not permitted\n");
    assert_string_equal(ask("write min_ttl_ms 1000"), "ok 0\n");
    assert_string_equal(ask("read min_ttl_ms"), "ok 5\n1000\n");
    assert_string_equal(ask("rmdir /a"), "error EBUSY object is in use\n");
    assert_string_equal(ask("rmdir /a/b"), "ok 0\n");
    assert_string_equal(ask("rmdir /a"), "ok 0\n");
    assert_string_equal(ask("rmdir /a"), "error ENOENT no such object\n");
    assert_string_equal(ask("rmdir /"), "error EINVAL invalid argument\n");
}

static void test_lines_that_are_no_request(void **state)
{
    static const char unknown[] = "error EINVAL expected read, write, mkdir, rmdir or list\n";
    assert_string_equal(ask(""), unknown);
    assert_string_equal(ask("reads lru_gen"), unknown);
    assert_string_equal(ask(" read lru_gen"), unknown);
    assert_string_equal(ask("read"), "error EINVAL a name is missing\n");
    assert_string_equal(ask("read  lru_gen"), "error EINVAL a name is missing\n");
    assert_string_equal(ask("write enabled"), "error EINVAL a text is missing\n");
    assert_string_equal(ask("write enabled "), "ok 0\n"); /* a write of nothing */
    assert_string_equal(ask("list /a"), "error EINVAL more words than the verb takes\n");
    assert_string_equal(ask("read enabled x"), "error EINVAL more words than the verb takes\n");
}

static void test_list_has_a_line_a_memcg(void **state)
{
    uint64_t current, hits;
    unsigned id;
    char max[32];
    struct mglru_memcg *memcg;
    struct mglru_mapping *mapping;
    struct mglru_file *file;
    char bytes[2 * PAGE] = {0};
    size_t done;
    assert_int_equal(mglru_memcg_create(cache, "/a/b", &memcg), MGLRU_OK);
    assert_int_equal(mglru_data_mapping_create(cache, "m", NULL, PAGE, &mapping), MGLRU_OK);
    assert_int_equal(mglru_file_open(mapping, memcg, &file), MGLRU_OK);
    assert_int_equal(mglru_write(file, 0, bytes, sizeof(bytes), &done), MGLRU_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(mglru_read(file, 0, bytes, sizeof(bytes), &done), MGLRU_OK);
    ask("list");
    const char *line = strstr(answer, "\n/a ");
    assert_non_null(strstr(answer, "\npath id memory.current "));
    assert_non_null(line);
    assert_int_equal(sscanf(line, "\n/a %u %lu 0 0 max %31s %lu", &id, &current, max, &hits), 4);
    assert_true(current >= sizeof(bytes)); /* and the prepaid pages of a CPU */
    assert_string_equal(max, "max");
    assert_int_equal(hits, 6); /* of what is below, too */
    assert_non_null(strstr(answer, "\n/a/b "));
}

/* What the program holds is the program's: it is used here while a client tries to take it. */
static void test_clients_cannot_remove_what_the_program_uses(void **state)
{
    struct mglru_memcg *memcg, *walk = NULL;
    assert_int_equal(mglru_memcg_create(cache, "/mine", &memcg), MGLRU_OK);
    assert_string_equal(ask("rmdir /mine"), "error EBUSY object is in use\n");
    assert_string_equal(ask("mkdir /theirs"), "ok 0\n");
    while ((walk = mglru_memcg_next(cache, walk)) && strcmp(mglru_memcg_path(walk), "/theirs"))
        continue;
    assert_string_equal(ask("rmdir /theirs"), "error EBUSY object is in use\n");
    assert_null(mglru_memcg_next(cache, walk));
    assert_string_equal(ask("rmdir /theirs"), "ok 0\n");
    assert_string_equal(ask("mkdir /found"), "ok 0\n");
    assert_int_equal(mglru_memcg_find(cache, "/found", &memcg), MGLRU_OK);
    assert_string_equal(ask("rmdir /found"), "error EBUSY object is in use\n");
    assert_int_equal(mglru_memcg_remove(memcg), MGLRU_OK);
}

static void test_requests_are_answered_in_order(void **state)
{
    static const char lines[] = "mkdir /a\nread /a/memory.min\nbogus\nread enabled\n";
    int client = client_connect(path);
    client_send(client, lines, sizeof(lines) - 1);
    shutdown(client, SHUT_WR); /* as a pipe into socat would */
    ssize_t got, used = 0;
    while ((got = recv(client, answer + used, sizeof(answer) - 1 - (size_t)used, 0)) > 0)
        used += got;
    answer[used] = '\0';
    assert_string_equal(answer, "ok 0\nok 2\n0\n"
                                "error EINVAL expected read, write, mkdir, rmdir or list\n"
                                "ok 7\n0x0007\n");
    close(client);
}

static void test_lru_gen_ages_and_answers_as_the_kernel(void **state)
{
    struct mglru_memcg *memcg;
    char line[64];
    assert_int_equal(mglru_memcg_create(cache, "/a", &memcg), MGLRU_OK);
    unsigned id = (unsigned)mglru_memcg_id(memcg);
    ask("read lru_gen");
    assert_non_null(strstr(answer, " /a\n node     0\n"));
    snprintf(line, sizeof(line), "write lru_gen + %u 0 3", id);
    assert_string_equal(ask(line), "ok 0\n");
    snprintf(line, sizeof(line), "write lru_gen + %u 7 4", id);
    assert_string_equal(ask(line), "error EINVAL invalid argument\n");
    snprintf(line, sizeof(line), "write lru_gen + %u 0 4;+ %u 0 5,bogus", id, id);
    assert_string_equal(ask(line), "error EINVAL invalid argument\n"); /* two were done */
    snprintf(line, sizeof(line), "write lru_gen - %u 0 3", id);
    assert_string_equal(ask(line), "ok 0\n");
    ask("read lru_gen");
    assert_non_null(strstr(strstr(answer, " /a\n"), "\n          6 "));
    ask("read lru_gen_full");
    assert_non_null(strstr(answer, "0R          0T"));
}

/* --- hostile clients ------------------------------------------------------------------------ */

static void test_line_without_end_is_refused(void **state)
{
    char big[2 * CONTROL_LINE_MAX];
    memset(big, 'r', sizeof(big));
    int client = client_connect(path);
    client_send(client, big, sizeof(big));
    assert_true(client_answer(client, answer, sizeof(answer)));
    assert_string_equal(answer, "error EINVAL the line is too long\n");
    assert_false(client_receive(client, answer, 1));
    close(client);
    client = client_connect(path);
    client_send(client, "read enabled\nread ena", 21);
    shutdown(client, SHUT_WR);
    assert_true(client_answer(client, answer, sizeof(answer)));
    assert_true(client_answer(client, answer, sizeof(answer)));
    assert_string_equal(answer, "error EINVAL the last line has no end\n");
    close(client);
}

static void test_bytes_of_any_kind(void **state)
{
    int client = client_connect(path);
    client_send(client, "read \0lru_gen\n", 14);
    assert_true(client_answer(client, answer, sizeof(answer)));
    assert_string_equal(answer, "error EINVAL the line has a NUL byte\n");
    assert_true(client_ask(client, "mkdir /\xff\x1b[2J", answer, sizeof(answer)));
    assert_true(client_ask(client, "read enabled", answer, sizeof(answer)));
    assert_string_equal(answer, "ok 7\n0x0007\n");
    close(client);
}

/* Many clients that ask and never read, or begin a line and stay: an honest one does not notice. */
static void test_clients_that_do_not_read_hold_up_nobody(void **state)
{
    int lazy[20];
    int honest = client_connect(path);
    static char flood[1 << 16];
    for (size_t i = 0; i + 13 <= sizeof(flood); i += 13)
        memcpy(flood + i, "read lru_gen\n", 13);
    for (unsigned i = 0; i < MGLRU_ARRAY_LEN(lazy); i++) {
        lazy[i] = client_connect(path);
        if (i % 2)
            client_send(lazy[i], "read lru_", 9);
        else
            while (send(lazy[i], flood, sizeof(flood) / 13 * 13, MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
                continue;
        assert_true(client_ask(honest, "read enabled", answer, sizeof(answer)));
        assert_string_equal(answer, "ok 7\n0x0007\n");
    }
    for (unsigned i = 0; i < MGLRU_ARRAY_LEN(lazy); i++)
        close(lazy[i]);
    close(honest);
}

/* Replies that nobody reads take 64 MiB at most: the oldest are given up, the newest arrive. */
static void test_unread_replies_are_bounded(void **state)
{
    enum { MEMCGS = 2500, LAZY = 16 };
    static char reply[16 << 20];
    int lazy[LAZY], given_up = 0;
    size_t bytes = 0;
    for (unsigned i = 0; i < MEMCGS; i++) {
        struct mglru_memcg *memcg;
        char name[16];
        snprintf(name, sizeof(name), "/m%u", i);
        assert_int_equal(mglru_memcg_create(cache, name, &memcg), MGLRU_OK);
    }
    assert_int_equal(mglru_cache_read(cache, "lru_gen_full", NULL, 0, &bytes), MGLRU_EOVERFLOW);
    assert_true(bytes * LAZY > CONTROL_REPLY_MAX && bytes < sizeof(reply));
    for (unsigned i = 0; i < LAZY; i++) {
        lazy[i] = client_connect(path);
        client_send(lazy[i], "read lru_gen_full\n", 18);
        ask("read enabled"); /* the one before was answered */
    }
    for (unsigned i = 0; i < LAZY; i++) {
        bool whole = client_answer(lazy[i], reply, sizeof(reply));
        assert_true(whole || i < LAZY / 2);
        given_up += !whole;
        close(lazy[i]);
    }
    assert_true(given_up > 0);
}

/* A flood of connections of one process drives out itself: the client of another one stays. */
static void test_flood_of_connections_spares_other_processes(void **state)
{
    int go[2], there[2], status;
    char byte;
    assert_int_equal(pipe(go) | pipe(there), 0);
    pid_t child = fork();
    if (child == 0) {
        char text[64];
        int client = client_connect(path);
        bool fine = client_ask(client, "read enabled", text, sizeof(text)) &&
                    write(there[1], "", 1) == 1 && read(go[0], &byte, 1) == 1 &&
                    client_ask(client, "read enabled", text, sizeof(text));
        _exit(!fine);
    }
    assert_int_equal(read(there[0], &byte, 1), 1);
    int flood[3 * OS_LOCAL_PEERS_MAX];
    for (unsigned i = 0; i < MGLRU_ARRAY_LEN(flood); i++) {
        flood[i] = client_connect(path);
        if (i % 8 == 0)
            ask("read enabled");
    }
    assert_int_equal(write(go[1], "", 1), 1);
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    for (unsigned i = 0; i < MGLRU_ARRAY_LEN(flood); i++)
        close(flood[i]);
    close(go[0]), close(go[1]), close(there[0]), close(there[1]);
}

/* --- replies that nobody reads, without a socket -------------------------------------------- */

static void test_session_answers_one_request_at_a_time(void **state)
{
    struct control_session *session = malloc(sizeof(*session));
    control_session_begin(session, cache);
    memcpy(session->input, "read enabled\nread enabled\n", 26);
    session->input_bytes = 26;
    assert_false(control_session_reads(session));
    control_session_step(session);
    assert_int_equal(session->reply_bytes, 12);
    control_session_step(session); /* the reply waits */
    assert_int_equal(session->input_bytes, 13);
    control_session_sent(session, 5);
    assert_false(control_session_has_request(session));
    control_session_sent(session, 7);
    assert_true(control_session_has_request(session));
    control_session_step(session);
    assert_non_null(session->reply);
    control_session_abandon(session);
    assert_true(control_session_over(session));
    free(session);
}

/* --- many at once --------------------------------------------------------------------------- */

enum { CLIENTS = 4, ROUNDS = 60 };

/* Makes, limits, lists and removes memcgs of its own. */
static void *work(void *argument)
{
    unsigned number = (unsigned)(uintptr_t)argument;
    char line[64], *text = malloc(ANSWER);
    int client = client_connect(path);
    static const char *const lines[] = {
        "mkdir /c%u",   "write /c%u/memory.max 2M", "read /c%u/memory.max",  "list",
        "read lru_gen", "write /c%u/memory.low 1M", "read /c%u/memory.stat", "write swappiness 50",
        "rmdir /c%u"};
    for (unsigned i = 0; i < ROUNDS; i++) {
        for (unsigned j = 0; j < MGLRU_ARRAY_LEN(lines); j++) {
            snprintf(line, sizeof(line), lines[j], number);
            do { /* busy: the program's walk stands there */
                MGLRU_CHECK(client_ask(client, line, text, ANSWER));
            } while (strncmp(line, "rmdir", 5) == 0 && strncmp(text, "error EBUSY", 11) == 0);
            MGLRU_CHECK(strncmp(text, "ok ", 3) == 0);
        }
    }
    close(client);
    free(text);
    return NULL;
}

/* The program meanwhile: tenants come, read more than fits, and go. */
static void work_beside(void)
{
    struct mglru_mapping *mapping;
    char bytes[PAGE];
    size_t done;
    assert_int_equal(mglru_data_mapping_create(cache, "m", NULL, 256 * PAGE, &mapping), MGLRU_OK);
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct mglru_memcg *memcg, *walk = NULL;
        struct mglru_file *file;
        assert_int_equal(mglru_memcg_create(cache, "/p/q", &memcg), MGLRU_OK);
        assert_int_equal(mglru_memcg_write(memcg, "memory.max", "512K", 4), MGLRU_OK);
        assert_int_equal(mglru_file_open(mapping, memcg, &file), MGLRU_OK);
        for (unsigned page = 0; page < 256; page++)
            assert_int_equal(mglru_read(file, (uint64_t)page * PAGE, bytes, PAGE, &done), 0);
        while ((walk = mglru_memcg_next(cache, walk)))
            assert_int_equal(mglru_memcg_path(walk)[0], '/');
        mglru_file_close(file);
        assert_int_equal(mglru_memcg_remove(memcg), MGLRU_OK);
    }
    mglru_data_mapping_destroy(mapping);
}

static void test_clients_and_the_program_at_once(void **state)
{
    pthread_t threads[CLIENTS];
    for (uintptr_t i = 0; i < CLIENTS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, (void *)i), 0);
    work_beside();
    for (unsigned i = 0; i < CLIENTS; i++)
        pthread_join(threads[i], NULL);
}

/* A client that is in the middle of anything does not keep the socket from being closed. */
static void test_close_with_clients_there(void **state)
{
    int clients[8];
    for (unsigned i = 0; i < MGLRU_ARRAY_LEN(clients); i++) {
        clients[i] = client_connect(path);
        client_send(clients[i], "read lru_gen\nread", i * 2);
    }
    mglru_control_close(control);
    assert_int_equal(files_in_folder(), 0);
    for (unsigned i = 0; i < MGLRU_ARRAY_LEN(clients); i++)
        close(clients[i]);
    assert_int_equal(mglru_control_open(cache, path, &control), MGLRU_OK);
}

#define SOCKET_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

/* mglru-facts 7.5: counts too small to make a flush due are shown after the periodic one. */
static void facts_7_5_counts_of_a_live_cache_are_shown_after_2_s(void **state)
{
    struct mglru_data_options options = {.size = sizeof(options),
                                         .memory_bytes = (uint64_t)FRAMES * PAGE};
    struct mglru_cache *made;
    struct mglru_memcg *memcg;
    char text[16384];
    assert_int_equal(mglru_data_create(&options, &made), MGLRU_OK);
    assert_int_equal(mglru_memcg_create(made, "/a", &memcg), MGLRU_OK);
    cpu_claim(made->claims);
    memcg_stat_add(memcg->memcg, cpu_current, 0, MEMCG_PGFAULT, 1);
    cpu_release(made->claims);
    assert_int_equal(mglru_memcg_read(memcg, "memory.stat", text, sizeof(text), NULL), MGLRU_OK);
    assert_non_null(strstr(text, "\npgfault 0\n"));
    uint64_t start = os_clock_now_ns();
    while (!strstr(text, "\npgfault 1\n")) {
        /* 2 s and a look of the thread; the rest for a busy machine. */
        assert_true(os_clock_now_ns() - start < UINT64_C(30000000000));
        os_clock_sleep_ns(50000000);
        assert_int_equal(mglru_memcg_read(memcg, "memory.stat", text, sizeof(text), NULL), 0);
    }
    mglru_cache_destroy(made);
}

int main(int argc, char **argv)
{
    if (argc == 2)
        return serve(argv[1]);
    const struct CMUnitTest tests[] = {
        SOCKET_TEST(test_socket_has_mode_0600),
        SOCKET_TEST(test_second_server_is_refused),
        SOCKET_TEST(test_close_leaves_a_name_that_is_no_longer_its_own),
        SOCKET_TEST(test_name_is_removed_from_another_folder),
        SOCKET_TEST(test_other_users_are_turned_away),
        SOCKET_TEST(test_verbs),
        SOCKET_TEST(test_lines_that_are_no_request),
        SOCKET_TEST(test_list_has_a_line_a_memcg),
        SOCKET_TEST(test_clients_cannot_remove_what_the_program_uses),
        SOCKET_TEST(test_requests_are_answered_in_order),
        SOCKET_TEST(test_lru_gen_ages_and_answers_as_the_kernel),
        SOCKET_TEST(test_line_without_end_is_refused),
        SOCKET_TEST(test_bytes_of_any_kind),
        SOCKET_TEST(test_clients_that_do_not_read_hold_up_nobody),
        SOCKET_TEST(test_unread_replies_are_bounded),
        SOCKET_TEST(test_flood_of_connections_spares_other_processes),
        SOCKET_TEST(test_session_answers_one_request_at_a_time),
        SOCKET_TEST(test_clients_and_the_program_at_once),
        SOCKET_TEST(test_close_with_clients_there),
        cmocka_unit_test(test_names_that_cannot_be),
        cmocka_unit_test(facts_7_5_counts_of_a_live_cache_are_shown_after_2_s),
        cmocka_unit_test(test_socket_of_a_killed_server_is_replaced),
    };
    if (!mkdtemp(folder))
        return 99;
    snprintf(path, sizeof(path), "%s/socket", folder);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
