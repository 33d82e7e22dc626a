/* SPDX-License-Identifier: MIT */
/*
 * Page streams: the same bits as the recordings of real kernels were made with. Constants are the
 * hashes that those recordings report; where the recordings themselves lie beside the source tree,
 * every scenario of theirs is checked as well.
 */
#include "test_trace_helper.h"

#include <dirent.h>

#include "trace/gen.h"

static uint64_t stream_hash(const struct gen_options *options, size_t count)
{
    uint32_t *pages = malloc(count * sizeof(*pages));
    assert_non_null(pages);
    assert_int_equal(gen_stream(options, pages, count), 0);
    for (size_t i = 0; i < count; i++)
        assert_true(pages[i] < options->pages);
    uint64_t hash = gen_fnv(pages, count);
    free(pages);
    return hash;
}

static void streams_are_those_of_the_recordings(void **state)
{
    static const struct {
        struct gen_options options;
        size_t count;
        uint64_t hash;
    } streams[] = {
        {{.pattern = GEN_UNIFORM, .pages = 32768, .seed = 11}, 400000, 0x2e8602496e05ace6},
        {{.pattern = GEN_ZIPF, .pages = 32768, .seed = 13, .exponent_milli = 1000},
         400000,
         0xc1998cfa26a65636},
        {{.pattern = GEN_LOOP, .pages = 16384, .seed = 16, .loop = 16384},
         400000,
         0x3c7ba07c46f88425},
        {{.pattern = GEN_PHASE, .pages = 32768, .seed = 18, .hot = 4096, .lead = 60000},
         200000,
         0x56c303b2d4cf8120},
        {{.pattern = GEN_SHIFT,
          .pages = 32768,
          .seed = 19,
          .hot = 6000,
          .segment = 40000,
          .step = 3000},
         400000,
         0x68a7deaf018eed40},
        {{.pattern = GEN_HOTSCAN, .pages = 16384, .seed = 24, .hot = 4096, .hot_per_1024 = 512},
         300000,
         0x557e6b06d9bc4e46},
    };
    for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++)
        assert_true(stream_hash(&streams[i].options, streams[i].count) == streams[i].hash);
}

static void impossible_streams_are_refused(void **state)
{
    static const struct gen_options bad[] = {
        {.pattern = (enum gen_pattern)0, .pages = 10},
        {.pattern = (enum gen_pattern)99, .pages = 10},
        {.pattern = GEN_UNIFORM, .pages = 0},
        {.pattern = GEN_UNIFORM, .pages = (UINT64_C(1) << 32) + 1},
        {.pattern = GEN_LOOP, .pages = 10, .loop = 11},
        {.pattern = GEN_LOOP, .pages = 10, .loop = 0},
        {.pattern = GEN_HOTSCAN, .pages = 10, .hot = 10, .hot_per_1024 = 1},
        {.pattern = GEN_HOTSCAN, .pages = 10, .hot = 5, .hot_per_1024 = 1025},
        {.pattern = GEN_PHASE, .pages = 10, .hot = 0},
        {.pattern = GEN_SHIFT, .pages = 10, .hot = 5, .segment = 0},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        uint32_t page = 7;
        assert_int_equal(gen_stream(&bad[i], &page, 1), MGLRU_EINVAL);
    }
    assert_int_equal(gen_pattern_find("zipf"), GEN_ZIPF);
    assert_int_equal(gen_pattern_find("shift"), GEN_SHIFT);
    assert_int_equal(gen_pattern_find("zip"), 0);
}

/* Text of the string or number behind "KEY": in @json; NULL: not there. */
static const char *json_value(const char *json, const char *key)
{
    char quoted[32];
    snprintf(quoted, sizeof(quoted), "\"%s\"", key);
    const char *p = strstr(json, quoted);
    return p ? p + strlen(quoted) + strspn(p + strlen(quoted), ": \"\n") : NULL;
}

static uint64_t json_number(const char *json, const char *key, uint64_t otherwise)
{
    const char *p = json_value(json, key);
    return p ? strtoull(p, NULL, 10) : otherwise;
}

static char *read_whole(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 4u << 20);
    assert_non_null(text);
    size_t bytes = fread(text, 1, (4u << 20) - 1, file);
    assert_true(bytes > 0 && bytes < (4u << 20) - 1);
    fclose(file);
    return text;
}

/* True: the file holds a scenario with one stream, whose hash was right. */
static bool check_recording(const char *path)
{
    char *json = read_whole(path);
    char *params = strstr(json, "\"params\"");
    char *event = strstr(json, "\"fnv\"");
    bool checked = false;
    assert_non_null(params);
    char *end = strchr(params, '}');
    const char *scenario = json_value(params, "scn");
    bool single =
        scenario && (strncmp(scenario, "pread", 5) == 0 || strncmp(scenario, "mmap", 4) == 0 ||
                     strncmp(scenario, "anon", 4) == 0);
    if (single && event && end) {
        *end = '\0';
        const char *pattern = json_value(params, "pat");
        char name[16] = "";
        assert_non_null(pattern);
        sscanf(pattern, "%15[a-z]", name);
        struct gen_options options = {.pattern = gen_pattern_find(name)};
        options.pages = json_number(params, "pages", 32768);
        options.seed = json_number(params, "seed", 1);
        options.exponent_milli = json_number(params, "s", 1000);
        options.loop = json_number(params, "L", options.pages);
        options.hot = json_number(params, "H", 2048);
        options.hot_per_1024 = json_number(params, "hotp", 512);
        options.lead = json_number(params, "nh", 0);
        options.segment = json_number(params, "seg", 1);
        options.step = json_number(params, "step", 0);
        uint64_t hash = stream_hash(&options, json_number(params, "n", 200000));
        if (hash != strtoull(json_value(event, "fnv"), NULL, 16))
            print_error("%s: the stream differs\n", path);
        assert_true(hash == strtoull(json_value(event, "fnv"), NULL, 16));
        checked = true;
    }
    free(json);
    return checked;
}

static void every_recorded_stream_is_made_again(void **state)
{
    static const char *const kernels[] = {"oracle/6.12", "oracle/7.3"};
    for (size_t i = 0; i < 2; i++) {
        char folder[512], path[1024];
        if (!helper_shared(kernels[i], folder))
            skip();
        DIR *dir = opendir(folder);
        unsigned checked = 0;
        assert_non_null(dir);
        for (struct dirent *entry; (entry = readdir(dir));) {
            snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
            const char *suffix = strrchr(entry->d_name, '.');
            if (suffix && strcmp(suffix, ".json") == 0)
                checked += check_recording(path);
        }
        closedir(dir);
        print_message("%s: %u streams\n", kernels[i], checked);
        assert_true(checked >= 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_are_those_of_the_recordings),
        cmocka_unit_test(impossible_streams_are_refused),
        cmocka_unit_test(every_recorded_stream_is_made_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
