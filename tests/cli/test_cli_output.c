#include "cli/human.h"
#include "cli/json.h"
#include "cli/page.h"
#include "cli/progress.h"
#include "imrec/packer.h"

#include "tests/support/suite.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PARAM_STRUCT struct imrec_pack_options
static const struct param table[] = {IMREC_PACK_PARAMS(PARAM_ROW){0}};

static char g_text[1 << 16];

static FILE *begin(void)
{
    memset(g_text, 0, sizeof(g_text));
    return fmemopen(g_text, sizeof(g_text), "w");
}

TEST(json_nests_escapes_and_separates)
{
    struct json j;
    FILE *out = begin();
    json_open(&j, out);
    json_object(&j, NULL);
    json_text(&j, "a\"", "tab\t quote\" back\\ \x01\x7f \xc3\xa4 \xff\xc3 \xed\xa0\x80.");
    json_array(&j, "list");
    json_uint(&j, NULL, UINT64_MAX);
    json_int(&j, NULL, INT64_MIN);
    json_end(&j);
    json_object(&j, "empty");
    json_end(&j);
    json_bool(&j, "yes", true);
    json_close(&j);
    fclose(out);
    ck_assert_str_eq(g_text,
                     "{\n"
                     "  \"a\\\"\": \"tab\\t quote\\\" back\\\\ \\u0001\\u007f \xc3\xa4 "
                     "\xef\xbf\xbd\xef\xbf\xbd \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd.\",\n"
                     "  \"list\": [\n    18446744073709551615,\n    -9223372036854775808\n  ],\n"
                     "  \"empty\": {},\n"
                     "  \"yes\": true\n"
                     "}\n");
}

static const struct {
    double v;
    const char *text;
} reals[] = {{0, "0"},
             {1, "1"},
             {0.1, "0.1"},
             {1e300, "1e+300"},
             {NAN, "\"NaN\""},
             {INFINITY, "\"Infinity\""},
             {-INFINITY, "\"-Infinity\""},
             {1.0 / 3, "0.3333333333333333"},
             {-2.5, "-2.5"},
             {123456789, "123456789"}};

LOOP_TEST(a_real_is_written_as_short_as_it_reads_back, 0, COUNT(reals))
{
    struct json j;
    FILE *out = begin();
    json_open(&j, out);
    json_real(&j, NULL, reals[_i].v);
    fclose(out);
    ck_assert_str_eq(g_text, reals[_i].text);
}

TEST(a_compact_object_is_one_line)
{
    struct json j;
    FILE *out = begin();
    json_open(&j, out);
    j.compact = true;
    json_object(&j, NULL);
    json_uint(&j, "a", 1);
    json_rounded(&j, "b", 1017.123456789);
    json_float(&j, "c", 0.1f);
    json_close(&j);
    fclose(out);
    ck_assert_str_eq(g_text, "{\"a\": 1, \"b\": 1017.12, \"c\": 0.1}\n");
}

TEST(numbers_for_people)
{
    char t[HUMAN_THINGS];
    ck_assert_str_eq(human_count(0, t), "0");
    ck_assert_str_eq(human_count(999, t), "999");
    ck_assert_str_eq(human_count(1281167, t), "1,281,167");
    ck_assert_str_eq(human_count(UINT64_MAX, t), "18,446,744,073,709,551,615");
    ck_assert_str_eq(human_things(0, "image", t), "0 images");
    ck_assert_str_eq(human_things(1, "damaged range", t), "1 damaged range");
    ck_assert_str_eq(human_things(1281167, "record", t), "1,281,167 records");
    ck_assert_str_eq(human_things(1, "index entry", t), "1 index entry");
    ck_assert_str_eq(human_things(2, "index entry", t), "2 index entries");
    ck_assert_str_eq(human_things(2, "repeated key", t), "2 repeated keys");
    ck_assert_str_eq(human_things(2, "batch", t), "2 batches");
    ck_assert_str_eq(human_things(2, "box", t), "2 boxes");
    ck_assert_str_eq(human_size(1023, t), "1023 B");
    ck_assert_str_eq(human_size(1536, t), "1.5 KiB");
    ck_assert_str_eq(human_size(1024 * 1024 - 1, t), "1.0 MiB");
    ck_assert_str_eq(human_size(UINT64_MAX, t), "16 EiB");
    ck_assert_str_eq(human_seconds(0.84, t), "0.8 s");
    ck_assert_str_eq(human_seconds(59.6, t), "1:00");
    ck_assert_str_eq(human_seconds(185, t), "3:05");
    ck_assert_str_eq(human_seconds(100000, t), "27:46:40");
    ck_assert_str_eq(human_seconds(NAN, t), "0.0 s");
}

static int marks_in_a_minute(bool terminal, char mark)
{
    struct progress p;
    int n = 0;
    FILE *out = begin();
    progress_start(&p, out, terminal, "images", 0, 0);
    for (int64_t ms = 1; ms < 60000; ms++)
        progress_update(&p, &(struct progress_counts){.done = (uint64_t)ms, .total = 60000}, ms);
    fclose(out);
    for (const char *c = g_text; *c != '\0'; c++)
        n += *c == mark;
    return n;
}

TEST(progress_repaints_ten_times_a_second_or_prints_every_ten_seconds)
{
    ck_assert_int_eq(marks_in_a_minute(true, '\r'), 599);
    ck_assert_int_eq(marks_in_a_minute(false, '\n'), 5);
}

TEST(progress_tells_rates_what_was_skipped_and_what_is_left)
{
    struct progress p;
    struct progress_counts c = {.done = 3000, .total = 13000, .skipped = 2, .bytes = 50000000};
    FILE *out = begin();
    progress_start(&p, out, false, "images", 1000, 0); /* 1,000 were done before */
    progress_update(&p, &c, 10000);
    c.done = 13000;
    progress_end(&p, &c, 20000);
    fclose(out);
    ck_assert_str_eq(g_text, "3,000 of 13,000 images, 200/s, 5.0 MB/s, 2 skipped, 50 s left\n"
                             "13,000 of 13,000 images, 600/s, 2.5 MB/s, 2 skipped\n");
    progress_start(&p, NULL, false, "images", 0, 0); /* quiet */
    progress_end(&p, &c, 1);
}

TEST(progress_of_a_part_ends_with_its_own_counts_or_in_silence)
{
    struct progress p;
    FILE *out = begin();
    progress_start(&p, out, false, "images found", 0, 0);
    progress_update(&p, &(struct progress_counts){.done = 10}, 100);
    progress_part(&p, 200); /* too short for a line */
    progress_start(&p, out, false, "images found", 0, 0);
    progress_update(&p, &(struct progress_counts){.done = 10}, 10000);
    progress_update(&p, &(struct progress_counts){.done = 24}, 11000);
    progress_part(&p, 12000);
    fclose(out);
    ck_assert_str_eq(g_text, "10 images found, 1/s\n"
                             "24 images found, 2/s\n");
}

TEST(every_default_is_in_range_and_every_flag_in_help_and_manual)
{
    static const struct cli_page *const pages[] = {&cli_page_im2rec, NULL};
    static char manual[1 << 16];
    struct imrec_pack_options o;
    param_defaults(table, &o);
    ck_assert_int_eq(param_check(table, &o, NULL), IMREC_OK);
    FILE *out = fmemopen(manual, sizeof(manual), "w");
    cli_page_man(pages, "1.2.3", out);
    fclose(out);
    out = begin();
    cli_page_help(&cli_page_im2rec, out);
    fclose(out);
    for (const struct param *p = table; p->name != NULL; p++) {
        char flag[64], escaped[128];
        snprintf(flag, sizeof(flag), "\n  --%s", p->name);
        for (char *c = flag; *c != '\0'; c++)
            *c = *c == '_' ? '-' : *c;
        ck_assert_msg(strstr(g_text, flag) != NULL, "%s in help", p->name);
        size_t n = 0;
        for (const char *c = flag + 3; *c != '\0'; c++) {
            if (*c == '-')
                escaped[n++] = '\\';
            escaped[n++] = *c;
        }
        escaped[n] = '\0';
        ck_assert_msg(strstr(manual, escaped) != NULL, "%s in manual", p->name);
    }
    ck_assert_ptr_nonnull(strstr(g_text, "--quality=Q"));
    ck_assert_ptr_nonnull(strstr(g_text, "[95]"));
    ck_assert_ptr_nonnull(strstr(g_text, "[on; --no-shuffle]"));
    ck_assert_ptr_nonnull(strstr(manual, ".TH IM2REC 1 \"\" \"imrec 1.2.3\""));
}

TEST(no_line_of_help_is_wider_than_a_hundred_columns)
{
    FILE *out = begin();
    cli_page_help(&cli_page_im2rec, out);
    fclose(out);
    for (const char *line = g_text; *line != '\0'; line += strcspn(line, "\n") + 1)
        ck_assert_msg(strcspn(line, "\n") <= 100, "%.120s", line);
}

#undef PARAM_STRUCT
#define PARAM_STRUCT struct required_row
struct required_row {
    const char *out;
};
#define REQUIRED_ROW(X) X(const char *, out, NULL, 1, 99, "FOLDER", "files", "where it goes")
static const struct param required_table[] = {REQUIRED_ROW(PARAM_ROW){0}};

TEST(a_key_is_never_required_because_the_command_gives_it)
{
    static const struct cli_keys keys[] = {{"Keys", required_table}, {0}};
    static const struct cli_page with_flag = {
        .name = "a", .summary = "b", .text = "c", .exits = "d", .table = required_table};
    static const struct cli_page with_key = {
        .name = "a", .summary = "b", .text = "c", .exits = "d", .table = table, .keys = keys};
    static const struct cli_page *const flag[] = {&with_flag, NULL};
    static const struct cli_page *const key[] = {&with_key, NULL};
    for (int manual = 0; manual < 2; manual++) {
        FILE *out = begin();
        manual ? cli_page_man(flag, "1", out) : cli_page_help(&with_flag, out);
        fclose(out);
        ck_assert_ptr_nonnull(strstr(g_text, "where it goes (required)"));
        out = begin();
        manual ? cli_page_man(key, "1", out) : cli_page_help(&with_key, out);
        fclose(out);
        ck_assert_ptr_nonnull(strstr(g_text, "where it goes"));
        ck_assert_ptr_null(strstr(g_text, "(required)"));
    }
}
