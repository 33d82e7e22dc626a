/* SPDX-License-Identifier: MIT */
/* The formats of other programs: how they are found, what becomes of a line, what is refused. */
#include "test_trace_helper.h"

struct expected {
    enum trace_op op;
    uint64_t page;
    uint32_t count;
    uint64_t time_ns;
};

static void expect_records(const struct helper_trace *t, const struct expected *want, size_t count)
{
    helper_expect_count(t, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(t->records[i].op, want[i].op);
        assert_true(t->records[i].page == want[i].page);
        assert_int_equal(t->records[i].count, want[i].count);
        assert_true(t->records[i].time_ns == want[i].time_ns);
    }
}

static const char *object_of(const struct helper_trace *t, size_t i)
{
    return trace_reader_object_name(t->reader, t->records[i].object);
}

/* Appends @bytes bytes of @number, least first. */
static size_t put_le(unsigned char *at, uint64_t number, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = (unsigned char)(number >> (8 * i));
    return bytes;
}

static size_t put_oracle(unsigned char *at, uint32_t time, uint64_t id, uint32_t bytes)
{
    put_le(at, time, 4);
    put_le(at + 4, id, 8);
    put_le(at + 12, bytes, 4);
    put_le(at + 16, UINT64_MAX, 8);
    return 24;
}

static void oracle_blocks_are_expanded_to_the_pages_they_overlap(void **state)
{
    unsigned char data[72];
    size_t n = put_oracle(data, 100, 7, 512);
    n += put_oracle(data + n, 101, 7, 1024); /* blocks 7 and 8: the end of page 0, page 1 */
    n += put_oracle(data + n, 103, 16, 8192);
    struct helper_trace *t = helper_read_bytes(data, n, NULL);
    static const struct expected want[] = {{TRACE_READ, 0, 1, 0},
                                           {TRACE_READ, 0, 2, UINT64_C(1000000000)},
                                           {TRACE_READ, 2, 2, UINT64_C(3000000000)}};
    expect_records(t, want, 3);
    assert_string_equal(trace_reader_format(t->reader), "oracleGeneral");
    assert_string_equal(object_of(t, 0), "disk");
    helper_close(t);
    struct trace_open_options whole = {.whole_requests = true};
    t = helper_read_bytes(data, n, &whole);
    static const struct expected requests[] = {{TRACE_READ, 7, 1, 0},
                                               {TRACE_READ, 7, 1, UINT64_C(1000000000)},
                                               {TRACE_READ, 16, 1, UINT64_C(3000000000)}};
    expect_records(t, requests, 3);
    helper_close(t);
}

static void oracle_objects_are_keys_or_files_by_size(void **state)
{
    unsigned char data[72];
    size_t n = put_oracle(data, 1, 7, 100);
    n += put_oracle(data + n, 1, UINT64_MAX, 4096);
    n += put_oracle(data + n, 1, 9, 4097);
    struct helper_trace *t = helper_read_bytes(data, n, NULL);
    static const struct expected want[] = {
        {TRACE_READ, 7, 1, 0}, {TRACE_READ, TRACE_PAGE_MAX, 1, 0}, {TRACE_READ, 0, 2, 0}};
    expect_records(t, want, 3);
    assert_string_equal(object_of(t, 0), "keys");
    assert_string_equal(object_of(t, 1), "keys.fff");
    assert_string_equal(object_of(t, 2), "9");
    helper_close(t);
    struct trace_open_options blocks = {.format = "oracleGeneral-blocks"};
    t = helper_read_bytes(data, 24, &blocks);
    static const struct expected as_block[] = {{TRACE_READ, 0, 1, 0}};
    expect_records(t, as_block, 1);
    helper_close(t);
    t = helper_read_bytes(data, n, &blocks); /* block 2^64 - 1 does not exist */
    assert_int_equal(t->rc, MGLRU_EINVAL);
    assert_non_null(strstr(t->error.text, "record 2: a request at 18446744073709551615"));
    helper_close(t);
}

static void a_cut_binary_record_is_an_error(void **state)
{
    unsigned char data[48];
    size_t n = put_oracle(data, 1, 7, 512);
    n += put_oracle(data + n, 1, 8, 512);
    struct helper_trace *t = helper_read_bytes(data, n - 1, NULL);
    assert_int_equal(t->rc, MGLRU_EINVAL);
    assert_int_equal(t->count, 1);
    assert_string_equal(t->error.text, "memory: record 2: cut short at offset 24, 23 of 24 bytes");
    helper_close(t);
}

static size_t put_vscsi(unsigned char *at, unsigned version, uint16_t command, uint32_t bytes,
                        uint64_t block)
{
    size_t n = 0;
    if (version == 2) {
        n += put_le(at, command, 2);
        n += put_le(at + n, 0x0200, 2);
    }
    n += put_le(at + n, 77, 4);
    n += put_le(at + n, bytes, 4);
    n += put_le(at + n, 1, 4);
    if (version == 1) {
        n += put_le(at + n, command, 2);
        n += put_le(at + n, 0x0100, 2);
    }
    n += put_le(at + n, block, 8);
    n += put_le(at + n, 5000000 + block, 8);
    return version == 2 ? n + put_le(at + n, 3, 8) : n;
}

static void vscsi_versions_are_told_apart(void **state)
{
    for (unsigned version = 1; version <= 2; version++) {
        unsigned char data[160];
        size_t n = put_vscsi(data, version, 0x28, 4096, 0);
        n += put_vscsi(data + n, version, 0x35, 0, 0); /* a flush touches nothing */
        n += put_vscsi(data + n, version, 0x8a, 512, 15);
        n += put_vscsi(data + n, version, 0x2a, 1024, 15);
        struct helper_trace *t = helper_read_bytes(data, n, NULL);
        static const struct expected want[] = {
            {TRACE_READ, 0, 1, 0}, {TRACE_WRITE, 1, 1, 15000}, {TRACE_WRITE, 1, 2, 15000}};
        expect_records(t, want, 3);
        assert_string_equal(trace_reader_format(t->reader), version == 1 ? "vscsi1" : "vscsi2");
        helper_close(t);
        struct trace_open_options other = {.format = version == 1 ? "vscsi2" : "vscsi1"};
        t = helper_read_bytes(data, n, &other);
        assert_int_equal(t->rc, MGLRU_EINVAL);
        assert_non_null(strstr(t->error.text, "record 1: version 0x"));
        helper_close(t);
    }
}

static void raw_keys_are_read_in_the_order_that_was_asked_for(void **state)
{
    static const unsigned char data[] = {0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff};
    static const struct {
        const char *format;
        size_t count;
        uint64_t first;
        const char *object;
    } want[] = {{"be32", 2, 1, "keys"},
                {"le32", 2, 0x01000000, "keys"},
                {"be64", 1, 0x1ffffffff, "keys"},
                {"le64", 1, 0xfffff01000000, "keys.fff"}};
    for (size_t i = 0; i < 4; i++) {
        struct trace_open_options options = {.format = want[i].format};
        struct helper_trace *t = helper_read_bytes(data, sizeof(data), &options);
        helper_expect_count(t, want[i].count);
        assert_true(t->records[0].page == want[i].first);
        assert_string_equal(object_of(t, 0), want[i].object);
        helper_close(t);
    }
    struct helper_trace *t = helper_read_bytes(data, sizeof(data), NULL);
    assert_int_equal(t->rc, MGLRU_EINVAL);
    assert_non_null(strstr(t->error.text, "be32, le32, be64, le64"));
    helper_close(t);
}

/* Keys 1, 3, 5, ... with @bytes bytes each. */
static struct helper_trace *read_dense_keys(size_t bytes, bool big)
{
    static unsigned char data[4096];
    for (size_t i = 0; i < sizeof(data) / bytes; i++)
        for (size_t k = 0; k < bytes; k++)
            data[i * bytes + (big ? bytes - 1 - k : k)] =
                (unsigned char)(k < 8 ? (2 * i + 1) >> (8 * k) : 0);
    return helper_read_bytes(data, sizeof(data), NULL);
}

static void densely_numbered_raw_keys_are_found_by_content(void **state)
{
    static const char *const names[] = {"le32", "be32", "le64", "be64"};
    for (size_t i = 0; i < 4; i++) {
        struct helper_trace *t = read_dense_keys(i < 2 ? 4 : 8, i & 1);
        helper_expect_count(t, i < 2 ? 1024 : 512);
        assert_string_equal(trace_reader_format(t->reader), names[i]);
        assert_int_equal(t->records[300].page, 601);
        helper_close(t);
    }
    static const unsigned char zeros[4096];
    struct helper_trace *t = helper_read_bytes(zeros, sizeof(zeros), NULL);
    assert_int_equal(t->rc, MGLRU_EINVAL); /* either order fits: not guessed */
    helper_close(t);
}

static void spec_references_are_pages_of_memory(void **state)
{
    struct helper_trace *t = helper_read("l 0x1fffff50 1\ns 0x0 0\nl 0x00001000 12\n", NULL);
    static const struct expected want[] = {{TRACE_MAP_READ, 0x1ffff, 1, TRACE_NO_TIME},
                                           {TRACE_MAP_WRITE, 0, 1, TRACE_NO_TIME},
                                           {TRACE_MAP_READ, 1, 1, TRACE_NO_TIME}};
    expect_records(t, want, 3);
    assert_string_equal(trace_reader_format(t->reader), "spec");
    assert_string_equal(object_of(t, 0), "memory");
    helper_close(t);
    helper_expect_error("l 0x10 1\nl 16 1\n", "spec", "line 2: expected 'l|s 0xADDRESS NUMBER'");
    helper_expect_error("x 0x10 1\n", "spec", "found 'x'");
    helper_expect_error("l 0x10 1 1\n", "spec", "found '1'");
}

static void lackey_references_may_cross_a_page(void **state)
{
    struct helper_trace *t = helper_read("==7== Lackey\n==7== \nI  04000c20,3\n L 1ffe,4\n"
                                         " S 1ffe,2\n M 00003000,8\n==7== done\n",
                                         NULL);
    static const struct expected want[] = {{TRACE_MAP_EXEC, 0x4000, 1, TRACE_NO_TIME},
                                           {TRACE_MAP_READ, 1, 2, TRACE_NO_TIME},
                                           {TRACE_MAP_WRITE, 1, 1, TRACE_NO_TIME},
                                           {TRACE_MAP_WRITE, 3, 1, TRACE_NO_TIME}};
    expect_records(t, want, 4);
    assert_string_equal(trace_reader_format(t->reader), "lackey");
    helper_close(t);
    helper_expect_error(" L 1000,4\nhello\n", NULL, "not a known trace");
    helper_expect_error(" L 1000,4\nhello\n", "lackey", "line 2: expected 'I|L|S|M ADDRESS,BYTES'");
    helper_expect_error(" L 1000,0\n", "lackey", "line 1");
    helper_expect_error(" L ffffffffffffffff,2\n", "lackey", "ends above page");
}

static void webcachesim_objects_are_expanded_by_size(void **state)
{
    struct helper_trace *t = helper_read("5 1 10\n6 2 4096\n8 3 10000\n", NULL);
    static const struct expected want[] = {{TRACE_READ, 1, 1, 0},
                                           {TRACE_READ, 2, 1, UINT64_C(1000000000)},
                                           {TRACE_READ, 0, 3, UINT64_C(3000000000)}};
    expect_records(t, want, 3);
    assert_string_equal(trace_reader_format(t->reader), "webcachesim");
    assert_string_equal(object_of(t, 1), "keys");
    assert_string_equal(object_of(t, 2), "3");
    helper_close(t);
    helper_expect_error("1 2\n", "webcachesim", "expected 'time id bytes'");
    helper_expect_error("1 2 x\n", "webcachesim", "found 'x'");
    helper_expect_error("1 2 18446744073709551615\n", "webcachesim", "2^32 pages");
}

static const char blkparse_text[] =
    "  8,0    3        1     0.000000000   697  A   R 8 + 8 <- (8,1) 0\n"
    "  8,0    3        2     0.000000829   697  Q   R 8 + 8 [kjournald]\n"
    "  8,0    3        3     0.000003000   697  G   R 8 + 8 [kjournald]\n"
    "  8,0    3        0     0.000003500     0  m   N cfq697 insert_request\n"
    "  8,0    3        4     0.000004000   697  P   N [kjournald]\n"
    "  8,16   1        5     0.000005829   697  Q  WS 15 + 2 [a b]\n"
    "  8,16   1        6     0.000006829   697  Q FWS [flush]\n"
    "  8,16   1        7     0.000007829   697  Q  DS 1 + 31 [trim]\n"
    "  8,0    3        8     0.000009000   697  C   R 8 + 8 [0]\n"
    "CPU0 (8,0):\n Reads Queued:  0,  0KiB\n\nTotal (8,0):\n anything\n";

static void blkparse_takes_queued_requests(void **state)
{
    struct helper_trace *t = helper_read(blkparse_text, NULL);
    static const struct expected want[] = {
        {TRACE_READ, 1, 1, 0}, {TRACE_WRITE, 1, 2, 5000}, {TRACE_FREE, 1, 3, 7000}};
    expect_records(t, want, 3);
    assert_string_equal(trace_reader_format(t->reader), "blkparse");
    assert_string_equal(object_of(t, 0), "8,0");
    assert_string_equal(object_of(t, 1), "8,16");
    helper_close(t);
}

static void blkparse_without_queued_requests_takes_issued_ones(void **state)
{
    struct helper_trace *t =
        helper_read("8,0 1 1 1.5 9 I W 0 + 8 [x]\n8,0 1 2 1.6 9 D W 0 + 8 [x]\n"
                    "8,0 1 3 1.7 9 C W 0 + 8 [0]\n",
                    NULL);
    static const struct expected want[] = {{TRACE_WRITE, 0, 1, 0}};
    expect_records(t, want, 1);
    assert_int_equal(t->records[0].line, 2);
    helper_close(t);
    helper_expect_error("8,0 1 1 1.5 9 Q W 0 + 8 [x]\nnonsense\n", NULL,
                        "line 2: expected 'MAJ,MIN");
    helper_expect_error("8,0 1 1 1.5 9 Q W 0 + 99999999999999999 [x]\n", NULL, "too many sectors");
    helper_expect_error("8,0 1 1 1.5 9 Q W 99999999999999999999 + 8 [x]\n8,0 1 x\n", NULL,
                        "line 2: expected 'MAJ,MIN");
}

static void fio_logs_of_both_versions_are_read(void **state)
{
    struct helper_trace *t = helper_read("fio version 2 iolog\n/d/f add\n/d/f open\n"
                                         "/d/f read 0 8192\n/d/f wait 100 0\n/d/f write 4095 2\n"
                                         "/d/f trim 4096 10000\n/d/f close\n",
                                         NULL);
    static const struct expected want[] = {{TRACE_OPEN, 0, 0, TRACE_NO_TIME},
                                           {TRACE_READ, 0, 2, TRACE_NO_TIME},
                                           {TRACE_WRITE, 0, 2, TRACE_NO_TIME},
                                           {TRACE_FREE, 1, 2, TRACE_NO_TIME}};
    expect_records(t, want, 4);
    assert_string_equal(trace_reader_format(t->reader), "fio2");
    assert_string_equal(object_of(t, 0), "/d/f");
    helper_close(t);
    t = helper_read("fio version 3 iolog\n2 f add\n3 f open\n10 f read 4096 1\n12 f datasync 0 0\n",
                    NULL);
    static const struct expected timed[] = {{TRACE_OPEN, 0, 0, 3000}, {TRACE_READ, 1, 1, 10000}};
    expect_records(t, timed, 2);
    helper_close(t);
    helper_expect_error("fio version 2 iolog\nf jump 0 1\n", NULL, "line 2: expected an action");
    helper_expect_error("fio version 2 iolog\nf read 0\n", NULL, "expected a length in bytes");
    helper_expect_error("fio version 3 iolog\nf read 0 1\n", NULL, "a time in microseconds");
    helper_expect_error("fio version 2 iolog\nf read 0 1 2\n", NULL, "the end of the line");
    helper_expect_error("f read 0 1\n", "fio2", "line 1: expected the header");
}

static const char filemap_text[] =
    "# comment\n"
    "            less-901     [005] .....    72.5: mm_filemap_add_to_page_cache: dev 253:3 ino 13f "
    "pfn=0x113bad ofs=0 order=0\n"
    "            less-901     [005] .....    72.6: mm_filemap_get_pages: dev=253:3 ino=13f "
    "ofs=0-32767\n"
    "            less-901     [005] .....    72.61: mm_filemap_add_to_page_cache: dev 253:3 ino "
    "13f "
    "pfn=0x113bae ofs=4096 order=1\n"
    "            less-901     [005] .....    72.62: mm_filemap_get_pages: dev=253:3 ino=13f "
    "ofs=4096-32767\n"
    "            less-901     [005] .....    72.63: sched_switch: prev_comm=less\n"
    "            less-901     [005] .....    72.7: mm_filemap_get_pages: dev=253:3 ino=13f "
    "ofs=8192-32767\n"
    "            less-901     [005] .....    72.8: mm_filemap_get_pages: dev=253:3 ino=13f "
    "ofs=0-4095\n"
    "my prog  77 [001] 73.000000: filemap:mm_filemap_fault: dev=8:1 ino=aa ofs=8192\n"
    "\tffffffff9aca933a __filemap_add_folio+0x2aa ([kernel.kallsyms])\n"
    "my prog  77 [001] 73.100000: filemap:mm_filemap_fault: dev=8:1 ino=aa ofs=8192\n"
    "my prog  77 [001] 73.200000: filemap:mm_filemap_map_pages: dev=8:1 ino=aa ofs=0-16383\n"
    "my prog  77 [001] 73.300000: writeback:writeback_dirty_folio: bdi 8:1: ino=170 index=3\n"
    "my prog  77 [001] 73.400000: filemap:mm_filemap_delete_from_page_cache: dev 8:1 ino aa "
    "pfn=0x1 ofs=0 order=0\n";

static void filemap_reads_are_joined_and_end_with_the_file(void **state)
{
    struct helper_trace *t = helper_read(filemap_text, NULL);
    /* A read of pages 0..7 of a file of three, in three batches; then faults and a write. */
    static const struct expected want[] = {{TRACE_READ, 0, 1, 0},
                                           {TRACE_READ, 1, 2, 20000000},
                                           {TRACE_READ, 0, 1, 200000000},
                                           {TRACE_MAP_READ, 2, 1, 400000000},
                                           {TRACE_MAP_READ, 0, 4, 600000000},
                                           {TRACE_WRITE, 3, 1, 700000000}};
    expect_records(t, want, 6);
    assert_string_equal(trace_reader_format(t->reader), "filemap");
    assert_string_equal(object_of(t, 0), "253:3/13f");
    assert_string_equal(object_of(t, 3), "8:1/aa");
    assert_int_equal(t->records[5].object, t->records[3].object);
    helper_close(t);
}

static void filemap_reads_of_files_never_added_are_taken_whole(void **state)
{
    struct helper_trace *t =
        helper_read("a 1 [0] 1.0: mm_filemap_get_pages: dev=8:1 ino=1 ofs=0-16383\n"
                    "a 1 [0] 1.1: mm_filemap_get_pages: dev=8:1 ino=1 ofs=8192-16383\n"
                    "b 2 [0] 1.2: mm_filemap_get_pages: dev=8:1 ino=1 ofs=0-16383\n"
                    "a 1 [0] 1.3: mm_filemap_get_pages: dev=8:1 ino=1 ofs=12288-16383\n"
                    "a 1 [0] 1.4: mm_filemap_get_pages: dev=8:1 ino=1 ofs=12288-16383\n",
                    NULL);
    static const struct expected want[] = {
        {TRACE_READ, 0, 4, 0}, {TRACE_READ, 0, 4, 200000000}, {TRACE_READ, 3, 1, 400000000}};
    expect_records(t, want, 3);
    helper_close(t);
}

static void filemap_additions_alone_are_reads(void **state)
{
    struct helper_trace *t = helper_read(
        "x-1 [000] 5.5: mm_filemap_add_to_page_cache: dev 8:1 ino 1 page=0 pfn=9 ofs=4096\n", NULL);
    static const struct expected want[] = {{TRACE_READ, 1, 1, 0}};
    expect_records(t, want, 1);
    helper_close(t);
    helper_expect_error("x-1 [0] 5: mm_filemap_fault: dev=8:1 ino=1 ofs=x\n", "filemap",
                        "line 1: expected 'dev MAJ:MIN ino INODE ofs=BYTES'");
    helper_expect_error("x-1 [0] 5: mm_filemap_get_pages: dev=8:1 ino=1 ofs=8192-1\n", "filemap",
                        "line 1: expected");
    helper_expect_error("nothing\n", "filemap", "no filemap event in 1 lines");
}

static void damon_regions_with_accesses_are_touched(void **state)
{
    struct helper_trace *t = helper_read(
        "kdamond.0  4452 [000] 82820.5: damon:damon_aggregated: target_id=7 nr_regions=2 "
        "4096-12288: 0\n"
        "kdamond.0  4452 [000] 82820.6: damon:damon_aggregated: target_id=7 nr_regions=2 "
        "12288-20480: 3 5\n",
        NULL);
    static const struct expected want[] = {{TRACE_MAP_READ, 3, 2, 0}};
    expect_records(t, want, 1);
    assert_string_equal(trace_reader_format(t->reader), "damon");
    assert_string_equal(object_of(t, 0), "target-7");
    helper_close(t);
    helper_expect_error("k 1 [0] 1: damon_aggregated: target_id=7 nr_regions=2 5-5: 1\n", "damon",
                        "line 1: expected 'target_id=N");
}

static void csv_columns_are_found_by_name(void **state)
{
    struct helper_trace *t = helper_read("version,Time,op,size,lbn\n1,10,2a,512,7\n"
                                         "1,10.5,28,1024,7\n",
                                         NULL);
    static const struct expected want[] = {{TRACE_WRITE, 0, 1, 0}, {TRACE_READ, 0, 2, 500000000}};
    expect_records(t, want, 2);
    assert_string_equal(trace_reader_format(t->reader), "csv");
    helper_close(t);
    t = helper_read("time_us,\"file\",offset,bytes,rw,memcg\r\n5,\"a.db\", 4096 ,4097,W,web\r\n"
                    "9,b,0,1,read,/db\n",
                    NULL);
    static const struct expected named[] = {{TRACE_WRITE, 1, 2, 0}, {TRACE_READ, 0, 1, 4000}};
    expect_records(t, named, 2);
    assert_string_equal(object_of(t, 0), "a.db");
    assert_string_equal(trace_reader_memcg_name(t->reader, t->records[0].memcg), "/web");
    assert_string_equal(trace_reader_memcg_name(t->reader, t->records[1].memcg), "/db");
    helper_close(t);
    t = helper_read("id,size\n5,10\n6,8193\n", NULL);
    static const struct expected objects[] = {{TRACE_READ, 5, 1, TRACE_NO_TIME},
                                              {TRACE_READ, 0, 3, TRACE_NO_TIME}};
    expect_records(t, objects, 2);
    helper_close(t);
}

static struct helper_trace *read_csv(const char *text, const char *columns)
{
    struct trace_open_options options = {.columns = columns};
    return helper_read_bytes(text, strlen(text), &options);
}

static void csv_columns_are_mapped_by_number_or_name(void **state)
{
    struct helper_trace *t = read_csv("3,x,70\n4,y,71\n", "page=2,time=0");
    static const struct expected want[] = {{TRACE_READ, 70, 1, 0},
                                           {TRACE_READ, 71, 1, UINT64_C(1000000000)}};
    expect_records(t, want, 2);
    assert_int_equal(t->records[0].line, 1);
    helper_close(t);
    t = read_csv("when,what,n\n3,70,2\n", "page=what,count=2");
    static const struct expected named[] = {{TRACE_READ, 70, 2, TRACE_NO_TIME}};
    expect_records(t, named, 1);
    helper_close(t);
}

static void bad_column_maps_are_refused(void **state)
{
    static const char *const cases[][2] = {
        {"page", "expected ROLE=COLUMN, found 'page'"},
        {"page=", "expected ROLE=COLUMN"},
        {"place=0", "unknown role in 'place=0'"},
        {"page=nowhere", "no column for 'page=nowhere'"},
        {"page=0,page=1", "'page=1' gives a second column to a role"},
        {"page=0,lbn=1", "a second place"},
        {"page=64", "a column above 63"},
        {"count=0", "no column says where"},
        {"page=2", "fewer than 3 columns"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct helper_trace *t = read_csv("1,2\n3,4\n", cases[i][0]);
        if (!t->rc || !strstr(t->error.text, cases[i][1]))
            print_error("%s: %s\n", cases[i][0], t->error.text);
        assert_int_equal(t->rc, MGLRU_EINVAL);
        assert_non_null(strstr(t->error.text, cases[i][1]));
        helper_close(t);
    }
}

static void bad_csv_lines_are_refused(void **state)
{
    helper_expect_error("page,op\n1,r\n2\n", NULL, "line 3: fewer than 2 columns");
    helper_expect_error("page,op\n1,q\n", NULL, "expected an operation such as r or w, found 'q'");
    helper_expect_error("page,op\n1,r\nx,r\n", NULL, "line 3: expected a number that says where");
    helper_expect_error("page,count\n1,0\n", NULL, "a count of pages");
    helper_expect_error("page,time\n1,noon\n", NULL, "expected a time");
    helper_expect_error("page,object\n1,\n", NULL, "expected the name of an object");
    helper_expect_error("page,size\n4503599627370495,4097\n", NULL, "ends above page 2^52 - 1");
    helper_expect_error("colour,shape\n1,2\n", "csv", "no column says where");
}

/* Reads @text with a byte-order mark before it: @count records, in the format @name, which is given
 * (@forced) or found. */
static void expect_behind_mark(const char *text, const char *name, size_t count, bool forced)
{
    char marked[400];
    int bytes = snprintf(marked, sizeof(marked), "\xEF\xBB\xBF%s", text);
    assert_true(bytes > 3 && (size_t)bytes < sizeof(marked));
    struct trace_open_options options = {.format = forced ? name : NULL};
    struct helper_trace *t = helper_read_bytes(marked, (size_t)bytes, &options);
    helper_expect_count(t, count);
    assert_string_equal(trace_reader_format(t->reader), name);
    helper_close(t);
}

static void text_may_begin_with_a_byte_order_mark(void **state)
{
    static const struct {
        const char *name, *text;
        size_t count;
    } texts[] = {
        {"native", "#mglru-trace 1 page_size=4096\nr /a d 1\nr /a d 2\n", 2},
        {"keys", "17\n4\n99\n", 3},
        {"lirs", "17\n*\n99\n", 2},
        {"lis", "5 2 0 0\n9 1 0 1\n", 2},
        {"csv", "time,page\n1,2\n3,4\n", 2},
        {"spec", "l 0x1f3a4b5c 4\ns 0x1f3a5b5c 4\n", 2},
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        expect_behind_mark(texts[i].text, texts[i].name, texts[i].count, true);
        expect_behind_mark(texts[i].text, texts[i].name, texts[i].count, false);
    }
}

static void a_mark_is_neither_skipped_twice_nor_later_nor_in_numbers(void **state)
{
    helper_expect_error("\xEF\xBB\xBF\xEF\xBB\xBF"
                        "17\n",
                        "keys", "line 1: expected");
    helper_expect_error("17\n\xEF\xBB\xBF"
                        "18\n",
                        "keys", "line 2: expected");
    helper_expect_error("\xEF\xBB\xBF"
                        "17\nx\n",
                        "keys", "line 2: expected");
    helper_expect_error("\xEF\xBB\xBF", NULL, "not a known trace");
    struct trace_open_options options = {.format = "be32"};
    struct helper_trace *t = helper_read_bytes("\xEF\xBB\xBF\x01"
                                               "\0\0\0\x02",
                                               8, &options);
    helper_expect_count(t, 2);
    assert_true(t->records[0].page == 0xEFBBBF01);
    helper_close(t);
}

static void every_format_has_a_name_and_a_line_about_it(void **state)
{
    size_t i = 0;
    for (; trace_format_name(i); i++) {
        assert_non_null(trace_format_about(i));
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(trace_format_name(i), trace_format_name(k));
    }
    assert_int_equal(i, 22);
    assert_null(trace_format_about(i));
}

struct shared_trace {
    const char *name;
    const char *format; /* NULL: found by content */
    bool whole_requests;
    uint64_t requests;
    uint64_t pages;
};

static void read_shared(const struct shared_trace *trace, const char *path)
{
    static struct trace_record records[1000];
    struct trace_open_options options = {.format = trace->format,
                                         .whole_requests = trace->whole_requests};
    struct trace_reader *reader;
    struct trace_error error;
    int rc = trace_reader_open(path, &options, &reader, &error);
    if (rc == MGLRU_ENOTSUP)
        return;
    if (rc)
        print_error("%s\n", error.text);
    assert_int_equal(rc, 0);
    uint64_t requests = 0, pages = 0;
    size_t count = 1;
    while (count) {
        assert_int_equal(trace_reader_next(reader, records, 1000, &count, &error), 0);
        requests += count;
        for (size_t k = 0; k < count; k++)
            pages += records[k].count;
    }
    trace_reader_close(reader);
    if (requests != trace->requests || pages != trace->pages)
        print_error("%s: %" PRIu64 " requests, %" PRIu64 " pages\n", trace->name, requests, pages);
    assert_true(requests == trace->requests);
    assert_true(pages == trace->pages);
}

static void shared_traces_have_their_documented_counts(void **state)
{
    static const struct shared_trace traces[] = {
        {.name = "orm-busy.trace.xz", .format = "be32", .requests = 5000000, .pages = 5000000},
        {.name = "web07.trace.xz", .requests = 76118, .pages = 76118},
        {.name = "trace_vaultservice.gz", .format = "be64", .requests = 135702, .pages = 135702},
        {.name = "sq-mdb.u32.xz", .format = "le32", .requests = 1491600, .pages = 1491600},
        {.name = "formats/cloudPhysicsIO.csv.zst", .requests = 113872, .pages = 1141869},
        {.name = "formats/cloudPhysicsIO.vscsi.zst", .requests = 113872, .pages = 1141869},
        /* Its sizes differ from the other two in 13,671 requests, hence the other total. */
        {.name = "formats/cloudPhysicsIO.oracleGeneral.bin", .requests = 113872, .pages = 1182153},
        {.name = "formats/cloudPhysicsIO.oracleGeneral.bin",
         .whole_requests = true,
         .requests = 113872,
         .pages = 113872},
        {.name = "formats/gcc.trace.gz", .requests = 515683, .pages = 515683},
        {.name = "formats/mcf.trace.gz", .requests = 727230, .pages = 727230},
        {.name = "formats/csapp-long.lackey.trace.zst", .requests = 267988, .pages = 267988},
        {.name = "formats/damon-perf.data.script.zst", .requests = 5282, .pages = 15534444},
        {.name = "formats/evelii-blkparse-sample.txt.zst", .requests = 1695, .pages = 48379},
        {.name = "formats/webcachesim-test.tr", .requests = 10492, .pages = 10492},
    };
    for (size_t i = 0; i < sizeof(traces) / sizeof(traces[0]); i++) {
        char name[64], path[512];
        snprintf(name, sizeof(name), "traces/%s", traces[i].name);
        if (!helper_shared(name, path))
            skip();
        read_shared(&traces[i], path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(oracle_blocks_are_expanded_to_the_pages_they_overlap),
        cmocka_unit_test(oracle_objects_are_keys_or_files_by_size),
        cmocka_unit_test(a_cut_binary_record_is_an_error),
        cmocka_unit_test(vscsi_versions_are_told_apart),
        cmocka_unit_test(raw_keys_are_read_in_the_order_that_was_asked_for),
        cmocka_unit_test(densely_numbered_raw_keys_are_found_by_content),
        cmocka_unit_test(spec_references_are_pages_of_memory),
        cmocka_unit_test(lackey_references_may_cross_a_page),
        cmocka_unit_test(webcachesim_objects_are_expanded_by_size),
        cmocka_unit_test(blkparse_takes_queued_requests),
        cmocka_unit_test(blkparse_without_queued_requests_takes_issued_ones),
        cmocka_unit_test(fio_logs_of_both_versions_are_read),
        cmocka_unit_test(filemap_reads_are_joined_and_end_with_the_file),
        cmocka_unit_test(filemap_reads_of_files_never_added_are_taken_whole),
        cmocka_unit_test(filemap_additions_alone_are_reads),
        cmocka_unit_test(damon_regions_with_accesses_are_touched),
        cmocka_unit_test(csv_columns_are_found_by_name),
        cmocka_unit_test(csv_columns_are_mapped_by_number_or_name),
        cmocka_unit_test(bad_column_maps_are_refused),
        cmocka_unit_test(bad_csv_lines_are_refused),
        cmocka_unit_test(text_may_begin_with_a_byte_order_mark),
        cmocka_unit_test(a_mark_is_neither_skipped_twice_nor_later_nor_in_numbers),
        cmocka_unit_test(every_format_has_a_name_and_a_line_about_it),
        cmocka_unit_test(shared_traces_have_their_documented_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
