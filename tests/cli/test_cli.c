#include "cli/options.h"
#include "cli/page.h"
#include "cli/program_flags.h"
#include "cli/spoken.h"

#include "tests/support/suite.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_ARGS = 16 };
struct run {
    struct im2rec_flags flags;
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
    param_defaults(cli_page_im2rec.table, &r->flags);
    const int first = cli_parse(cli_page_im2rec.table, &r->flags, r->argc, r->argv, errors);
    fclose(errors);
    return first;
}

TEST(flags_set_fields)
{
    struct run r;
    ck_assert_int_eq(parse(&r, "--part=2/8"), 2);
    ck_assert_int_eq(r.flags.pack.part.index, 2);
    ck_assert_int_eq(r.flags.pack.part.count, 8);
    ck_assert_int_eq(r.flags.pack.quality, 95);
    ck_assert_int_eq(parse(&r, "--color -1"), 3);
    ck_assert_int_eq(r.flags.pack.color, -1);
    ck_assert_int_eq(parse(&r, "--center-crop"), 2);
    ck_assert(r.flags.pack.center_crop);
    ck_assert_int_eq(parse(&r, "--no-shuffle --memory=32M"), 3);
    ck_assert(!r.flags.pack.shuffle);
    ck_assert_int_eq(r.flags.pack.memory, 32 << 20);
    ck_assert_int_eq(parse(&r, "--center-crop=0"), 2);
    ck_assert(!r.flags.pack.center_crop);
    ck_assert_str_eq(r.said, "");
}

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

LOOP_TEST(flags_may_stand_anywhere_and_operands_keep_their_order, 0, COUNT(mixed))
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
    ck_assert_int_eq(r.flags.pack.resize, mixed[_i].resize);
}

static const struct {
    const char *line, *says;
} bad[] = {
    {"--part=8/8",
     "im2rec: --part must be K/N with 0 <= K < N <= 1048576, not '8/8'; im2rec --help"},
    {"--quality=101", "--quality must be a number from 1 to 100, not '101'"},
    {"--quality=", "quality must be a number from 1 to 100, not ''"},
    {"--quality", "--quality needs a value"},
    {"--quality --json", "--quality needs a value"},
    {"--qualty=9", "unknown option --qualty, did you mean --quality?"},
    {"--qualty 9", "unknown option --qualty, did you mean --quality?"},
    {"--centre-crop", "unknown option --centre-crop, did you mean --center-crop?"},
    {"--no-quality", "unknown option --no-quality"},
    {"--center-crop=yes", "--center-crop must be 0 or 1, not 'yes'"},
    {"--completely-other-thing", "unknown option --completely-other-thing; im2rec --help"},
    {"--=", "unknown option --"},
    {"-q", "unknown option '-q'"},
    {"a b -x=1", "unknown option '-x=1'"},
};

LOOP_TEST(a_bad_flag_says_in_one_line_what_would_be_right, 0, COUNT(bad))
{
    struct run r;
    ck_assert_int_eq(parse(&r, bad[_i].line), CLI_BAD);
    ck_assert_msg(strstr(r.said, bad[_i].says) != NULL, "%s", r.said);
    ck_assert_ptr_eq(strchr(r.said, '\n'), r.said + strlen(r.said) - 1);
}

static const struct {
    const char *library, *program;
} spoken[] = {
    {"a.rec is there already; force replaces it", "a.rec is there already; --force replaces it"},
    {"'a.jpg': torn; on_error=skip packs the others",
     "'a.jpg': torn; --on-error=skip packs the others"},
    {"max_skipped=3 allows 3", "--max-skipped=3 allows 3"},
    {"format=cbf with resume or force", "--format=cbf with --resume or --force"},
    {"passThrough=true, center_crop=1", "--pass-through, --center-crop"},
    {"pass_through=10", "--pass-through=10"},
    {"quality must be a number from 1 to 100, not '0'",
     "--quality must be a number from 1 to 100, not '0'"},
    {"seed is required: a number", "--seed is required: a number"},
    {"quality mustard, seed must be", "quality mustard, seed must be"},
    {"their quality must be right", "their quality must be right"},
    {"a list of shards, seed and quality of each", "a list of shards, seed and quality of each"},
    {"task/force/a.rec and 'force' and force.rec", "task/force/a.rec and 'force' and force.rec"},
    {"--on-error skip, --force, batch_size=3", "--on-error skip, --force, batch_size=3"},
    {"", ""},
};

LOOP_TEST(parameters_are_flags_in_a_program_s_sentences, 0, COUNT(spoken))
{
    char out[256];
    struct run r;
    ck_assert_int_eq(parse(&r, "a"), 1); /* which says whose flags */
    ck_assert_str_eq(cli_spoken(spoken[_i].library, out, sizeof(out)), spoken[_i].program);
    ck_assert_str_eq(cli_spoken(spoken[_i].library, out, 5) == out ? "" : "other", "");
    ck_assert_uint_eq(strlen(out), strlen(spoken[_i].program) < 4 ? strlen(spoken[_i].program) : 4);
}

TEST(help_and_version_are_told_apart_from_operands)
{
    struct run r;
    ck_assert_int_eq(parse(&r, "a --help"), CLI_HELP);
    ck_assert_int_eq(parse(&r, "-h"), CLI_HELP);
    ck_assert_int_eq(parse(&r, "--version"), CLI_VERSION);
    ck_assert_int_eq(parse(&r, "-- --help"), 2);
}

TEST(key_value_operands_are_known_by_their_form)
{
    static const char *const pairs[] = {"batch_size=1", "a=", "data-shape=3,4,5", "x1==", NULL};
    static const char *const others[] = {"a", "=1", "", "dir/a=b", "a b=1", "\xc3\xa4=1", NULL};
    for (size_t i = 0; pairs[i] != NULL; i++)
        ck_assert_msg(cli_is_pair(pairs[i]), "%s", pairs[i]);
    for (size_t i = 0; others[i] != NULL; i++)
        ck_assert_msg(!cli_is_pair(others[i]), "%s", others[i]);
}
