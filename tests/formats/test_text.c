/* tests/formats/test_text.c - lines in pieces, the text boundary rule, words, quotes, UTF-8. */
#include "formats/text.h"
#include "tests/support/guard.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <string.h>

static struct bytes text_of(const char *s)
{
    return (struct bytes){(const uint8_t *)s, strlen(s)};
}

/* What the lines of a text look like: each as "number@offset:text|". */
static void describe(struct text_lines *t, char *out, size_t room)
{
    struct bytes line;
    while (text_lines_next(t, &line)) {
        const size_t n = strlen(out);
        snprintf(out + n, room - n, "%d@%d:%.*s|", (int)t->number, (int)t->offset, (int)line.n,
                 (const char *)line.p);
    }
}

static const struct {
    const char *text, *lines;
} texts[] = {
    {"", ""},
    {"a", "1@0:a|"},
    {"a\n", "1@0:a|"},
    {"\n", "1@0:|"},
    {"a\nbc\n\nd", "1@0:a|2@2:bc|3@5:|4@6:d|"},
    {"a\r\nbc\r\n\r\nd\r\n", "1@0:a|2@3:bc|3@7:|4@9:d|"},
    {"a\rbc\r\rd\r", "1@0:a|2@2:bc|3@5:|4@6:d|"},
    {"a\n\rb\r\r\nc", "1@0:a|2@2:|3@3:b|4@5:|5@7:c|"},
    {"\357\273\277a\nb", "1@3:a|2@5:b|"},
    {"\xef\xbb\xbf", ""},
    {"a\xef\xbb\xbf\n", "1@0:a\xef\xbb\xbf|"},
    {"\xef\xbb", "1@0:\xef\xbb|"},
};

START_TEST(lines_have_numbers_and_offsets) /* loop over texts */
{
    const size_t n = strlen(texts[_i].text);
    struct guarded g = guarded_copy(texts[_i].text, n);
    struct text_lines t;
    char got[256] = "";
    text_lines_begin(&t, (struct bytes){g.p, n}, 0, 0);
    describe(&t, got, sizeof(got));
    ck_assert_str_eq(got, texts[_i].lines);
    guarded_free(g);
}
END_TEST

START_TEST(pieces_cut_behind_any_line_end_make_the_same_lines) /* loop over texts */
{
    const char *text = texts[_i].text;
    const size_t n = strlen(text);
    for (size_t cut = 4; cut < n; cut++) { /* behind a byte order mark */
        if (text[cut - 1] != '\n' && text[cut - 1] != '\r')
            continue;
        struct text_lines t;
        char got[256] = "";
        text_lines_begin(&t, (struct bytes){(const uint8_t *)text, cut}, 0, 0);
        describe(&t, got, sizeof(got));
        text_lines_feed(&t, (struct bytes){(const uint8_t *)text + cut, 0}); /* an empty one */
        text_lines_feed(&t, (struct bytes){(const uint8_t *)text + cut, n - cut});
        describe(&t, got, sizeof(got));
        ck_assert_str_eq(got, texts[_i].lines);
    }
}
END_TEST

START_TEST(a_part_of_a_file_counts_on_from_where_it_begins)
{
    struct text_lines t;
    char got[64] = "";
    text_lines_begin(&t, text_of("\357\273\277b\nc"), 100, 7); /* no mark in mid-file */
    describe(&t, got, sizeof(got));
    ck_assert_str_eq(got, "8@100:\xef\xbb\xbf"
                          "b|9@105:c|");
}
END_TEST

START_TEST(whole_lines_end_behind_the_last_line_end)
{
    ck_assert_uint_eq(text_whole_lines((const uint8_t *)"ab\ncd", 5), 3);
    ck_assert_uint_eq(text_whole_lines((const uint8_t *)"ab\r\n", 4), 4);
    ck_assert_uint_eq(text_whole_lines((const uint8_t *)"a\rcd", 4), 2);
    ck_assert_uint_eq(text_whole_lines((const uint8_t *)"abcd", 4), 0);
    ck_assert_uint_eq(text_whole_lines((const uint8_t *)"", 0), 0);
}
END_TEST

static const struct {
    const char *from_the_cut;
    size_t shift;
    enum text_sync_state state;
} cuts[] = {
    {"b\ncd", 2, TEXT_SYNC_DONE},      {"b\r\n\r\n\ncd", 6, TEXT_SYNC_DONE},
    {"\ncd", 1, TEXT_SYNC_DONE},       {"cd\n", 3, TEXT_SYNC_ENDS},
    {"cd", 2, TEXT_SYNC_LINE},         {"", 0, TEXT_SYNC_LINE},
    {"line\nnext", 5, TEXT_SYNC_DONE}, /* cut exactly at a line: it belongs to the part before */
};

START_TEST(a_boundary_moves_behind_the_line_it_cuts) /* loop over cuts; in one piece and bytewise */
{
    const uint8_t *p = (const uint8_t *)cuts[_i].from_the_cut;
    const size_t n = strlen(cuts[_i].from_the_cut);
    enum text_sync_state state = TEXT_SYNC_LINE;
    ck_assert_uint_eq(text_sync(p, n, &state), cuts[_i].shift);
    ck_assert_int_eq(state, cuts[_i].state);
    size_t shift = 0;
    state = TEXT_SYNC_LINE;
    for (size_t i = 0; i < n && state != TEXT_SYNC_DONE; i++)
        shift += text_sync(p + i, 1, &state);
    ck_assert_uint_eq(shift, cuts[_i].shift);
    ck_assert_int_eq(state, cuts[_i].state);
}
END_TEST

START_TEST(words_stand_between_blanks_and_tabs)
{
    struct bytes rest = text_of(" \ta bc\t\td ");
    static const char *const words[] = {"a", "bc", "d", ""};
    for (int i = 0; i < 4; i++) {
        const struct bytes w = text_word(&rest);
        ck_assert_uint_eq(w.n, strlen(words[i]));
        ck_assert_mem_eq(w.p, words[i], w.n);
    }
    const struct bytes trimmed = text_trim(text_of("\t a b \t"));
    ck_assert_uint_eq(trimmed.n, 3);
    ck_assert_mem_eq(trimmed.p, "a b", 3);
    ck_assert_uint_eq(text_trim(text_of(" \t ")).n, 0);
}
END_TEST

START_TEST(utf8_is_what_unicode_says)
{
    static const char *const good[] = {"",
                                       "a",
                                       "\xc2\x80",
                                       "\xe0\xa0\x80",
                                       "\xed\x9f\xbf",
                                       "\xee\x80\x80",
                                       "\xf0\x90\x80\x80",
                                       "\xf4\x8f\xbf\xbf"};
    static const char *const bad[] = {"\x80",
                                      "\xc0\x80",
                                      "\xc1\xbf",
                                      "\xc2",
                                      "\xc2\xc2",
                                      "\xe0\x9f\xbf",
                                      "\xed\xa0\x80",
                                      "\xe2\x82",
                                      "\xf0\x8f\xbf\xbf",
                                      "\xf4\x90\x80\x80",
                                      "\xf5\x80\x80\x80",
                                      "\xff",
                                      "a\xbf"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct guarded g = guarded_copy(good[i], strlen(good[i]));
        ck_assert_msg(text_is_utf8((struct bytes){g.p, strlen(good[i])}), "good %zu", i);
        guarded_free(g);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct guarded g = guarded_copy(bad[i], strlen(bad[i]));
        ck_assert_msg(!text_is_utf8((struct bytes){g.p, strlen(bad[i])}), "bad %zu", i);
        guarded_free(g);
    }
}
END_TEST

START_TEST(a_quote_is_one_line_of_utf8)
{
    char many[200];
    memset(many, 'x', sizeof(many));
    memcpy(many + 64, "\xc3\xa9", 2); /* must not be cut in two */
    ck_assert_str_eq(text_quote(text_of("a\xc3\xa9")).s, "'a\xc3\xa9'");
    ck_assert_str_eq(text_quote(text_of("a\n\r\t\x7f\xff\xc3")).s,
                     "'a\\x0a\\x0d\\x09\\x7f\\xff\\xc3'");
    ck_assert_str_eq(text_quote(text_of("\xe2\x80\xaey\xc2\x9bx")).s, "'\\u202ey\\u009bx'");
    ck_assert_str_eq(text_quote((struct bytes){NULL, 0}).s, "''");
    for (size_t n = 0; n < sizeof(many); n++) {
        const struct text_quote q = text_quote((struct bytes){(const uint8_t *)many, n});
        ck_assert_uint_lt(strlen(q.s), sizeof(q.s));
        ck_assert_int_eq(q.s[strlen(q.s) - 1], '\'');
        ck_assert(text_is_utf8(text_of(q.s)));
        ck_assert_int_eq(strstr(q.s, "...'") != NULL, n > 64); /* 65: half a character */
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("text");
    TCase *tc = tcase_create("text");
    tcase_add_loop_test(tc, lines_have_numbers_and_offsets, 0, sizeof(texts) / sizeof(texts[0]));
    tcase_add_loop_test(tc, pieces_cut_behind_any_line_end_make_the_same_lines, 0,
                        sizeof(texts) / sizeof(texts[0]));
    tcase_add_test(tc, a_part_of_a_file_counts_on_from_where_it_begins);
    tcase_add_test(tc, whole_lines_end_behind_the_last_line_end);
    tcase_add_loop_test(tc, a_boundary_moves_behind_the_line_it_cuts, 0,
                        sizeof(cuts) / sizeof(cuts[0]));
    tcase_add_test(tc, words_stand_between_blanks_and_tabs);
    tcase_add_test(tc, utf8_is_what_unicode_says);
    tcase_add_test(tc, a_quote_is_one_line_of_utf8);
    suite_add_tcase(s, tc);
    return suite_run(s);
}
