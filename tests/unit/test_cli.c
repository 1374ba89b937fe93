#include "cli/options.h"
#include "imrec/packer.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define PARAM_STRUCT struct imrec_pack_options
static const struct param table[] = {IMREC_PACK_PARAMS(PARAM_ROW){0}};

enum { MAX_ARGS = 16 };
struct run {
    struct imrec_pack_options o;
    char *argv[MAX_ARGS];
    char text[512], said[512];
    int argc;
};

/* Parses the words of `line`, split at blanks. */
static int parse(struct run *r, const char *line)
{
    FILE *errors = fmemopen(memset(r->said, 0, sizeof(r->said)), sizeof(r->said), "w");
    static char program[] = "/usr/bin/im2rec";
    snprintf(r->text, sizeof(r->text), "%s", line);
    r->argv[0] = program;
    r->argc = 1;
    for (char *word = strtok(r->text, " "); word != NULL; word = strtok(NULL, " "))
        r->argv[r->argc++] = word;
    param_defaults(table, &r->o);
    const int first = cli_parse(table, &r->o, r->argc, r->argv, errors);
    fclose(errors);
    return first;
}

START_TEST(flags_set_fields)
{
    struct run r;
    ck_assert_int_eq(parse(&r, "--part=2/8"), 2);
    ck_assert_int_eq(r.o.part.index, 2);
    ck_assert_int_eq(r.o.part.count, 8);
    ck_assert_int_eq(r.o.quality, 95);
    ck_assert_int_eq(parse(&r, "--color -1"), 3);
    ck_assert_int_eq(r.o.color, -1);
    ck_assert_int_eq(parse(&r, "--center-crop"), 2);
    ck_assert(r.o.center_crop);
    ck_assert_int_eq(parse(&r, "--no-shuffle --memory=32M"), 3);
    ck_assert(!r.o.shuffle);
    ck_assert_int_eq(r.o.memory, 32 << 20);
    ck_assert_int_eq(parse(&r, "--center-crop=0"), 2);
    ck_assert(!r.o.center_crop);
    ck_assert_str_eq(r.said, "");
}
END_TEST

static const struct {
    const char *line, *operands;
    int resize;
} mixed[] = {
    {"photos out.rec --resize 256", "photos out.rec ", 256},
    {"--resize 256 photos out.rec", "photos out.rec ", 256},
    {"photos --resize=256 out.rec", "photos out.rec ", 256},
    {"photos --resize 256 --json out.rec quality=90", "photos out.rec quality=90 ", 256},
    {"photos --resize 256 -- out.rec --json", "photos out.rec --json ", 256},
    {"-- --resize 256", "--resize 256 ", 0},
    {"--resize 256 -", "- ", 256},
    {"--resize 256 --", "", 256},
    {"", "", 0},
};

START_TEST(flags_may_stand_anywhere_and_operands_keep_their_order) /* loop test over mixed */
{
    struct run r;
    char operands[256] = "";
    const int first = parse(&r, mixed[_i].line);
    ck_assert_int_ge(first, 1);
    for (int i = first; i < r.argc; i++) {
        strcat(operands, r.argv[i]);
        strcat(operands, " ");
    }
    ck_assert_str_eq(operands, mixed[_i].operands);
    ck_assert_int_eq(r.o.resize, mixed[_i].resize);
}
END_TEST

static const struct {
    const char *line, *says;
} bad[] = {
    {"--part=8/8", "im2rec: part must be K/N with 0 <= K < N <= 1048576, not '8/8'; im2rec --help"},
    {"--quality=101", "quality must be a number from 1 to 100, not '101'"},
    {"--quality=", "quality must be a number from 1 to 100, not ''"},
    {"--quality", "--quality needs a value"},
    {"--quality --json", "--quality needs a value"},
    {"--qualty=9", "unknown option --qualty, did you mean --quality?"},
    {"--qualty 9", "unknown option --qualty, did you mean --quality?"},
    {"--centre-crop", "unknown option --centre-crop, did you mean --center-crop?"},
    {"--no-quality", "unknown option --no-quality"},
    {"--center-crop=yes", "center_crop must be 0 or 1, not 'yes'"},
    {"--completely-other-thing", "unknown option --completely-other-thing; im2rec --help"},
    {"--=", "unknown option --"},
    {"-q", "unknown option '-q'"},
    {"a b -x=1", "unknown option '-x=1'"},
};

START_TEST(a_bad_flag_says_in_one_line_what_would_be_right) /* loop test over bad */
{
    struct run r;
    ck_assert_int_eq(parse(&r, bad[_i].line), CLI_BAD);
    ck_assert_msg(strstr(r.said, bad[_i].says) != NULL, "%s", r.said);
    ck_assert_ptr_eq(strchr(r.said, '\n'), r.said + strlen(r.said) - 1);
}
END_TEST

START_TEST(help_and_version_are_told_apart_from_operands)
{
    struct run r;
    ck_assert_int_eq(parse(&r, "a --help"), CLI_HELP);
    ck_assert_int_eq(parse(&r, "-h"), CLI_HELP);
    ck_assert_int_eq(parse(&r, "--version"), CLI_VERSION);
    ck_assert_int_eq(parse(&r, "-- --help"), 2);
}
END_TEST

START_TEST(key_value_operands_are_known_by_their_form)
{
    static const char *const pairs[] = {"batch_size=1", "a=", "data-shape=3,4,5", "x1==", NULL};
    static const char *const others[] = {"a", "=1", "", "dir/a=b", "a b=1", "\xc3\xa4=1", NULL};
    for (size_t i = 0; pairs[i] != NULL; i++)
        ck_assert_msg(cli_is_pair(pairs[i]), "%s", pairs[i]);
    for (size_t i = 0; others[i] != NULL; i++)
        ck_assert_msg(!cli_is_pair(others[i]), "%s", others[i]);
}
END_TEST

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

int main(void)
{
    Suite *s = suite_create("cli");
    TCase *tc = tcase_create("cli");
    tcase_add_test(tc, flags_set_fields);
    tcase_add_loop_test(tc, flags_may_stand_anywhere_and_operands_keep_their_order, 0,
                        COUNT(mixed));
    tcase_add_loop_test(tc, a_bad_flag_says_in_one_line_what_would_be_right, 0, COUNT(bad));
    tcase_add_test(tc, help_and_version_are_told_apart_from_operands);
    tcase_add_test(tc, key_value_operands_are_known_by_their_form);
    suite_add_tcase(s, tc);
    SRunner *sr = srunner_create(s);
    srunner_run_all(sr, CK_ENV);
    const int failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
