/* tests/base/test_shown.c - what text out of files becomes before anybody sees it. */
#include "base/error.h"
#include "base/log.h"
#include "base/shown.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *text, *shown;
} cases[] = {
    {"", ""},
    {"plain, with \\ and \" and '", "plain, with \\ and \" and '"},
    {"caf\xc3\xa9 \xe7\x8a\xac \xf0\x9f\x90\x95", "caf\xc3\xa9 \xe7\x8a\xac \xf0\x9f\x90\x95"},
    {"\x1b[31m", "\\x1b[31m"},
    {"a\nb\tc\rd\x7f", "a\\x0ab\\x09c\\x0dd\\x7f"},
    {"\xc2\x9b"
     "2J",
     "\\u009b2J"},
    {"\xc2\x80\xc2\x9f\xc2\xa0", "\\u0080\\u009f\xc2\xa0"},
    {"\x9b"
     "2J\xff",
     "\\x9b2J\\xff"},
    {"\xd8\x9c\xe2\x80\x8e\xe2\x80\x8f", "\\u061c\\u200e\\u200f"},
    {"\xef\xbb\xbfx", "\\ufeffx"},
    {"\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa\xe2\x80\xae", "\\u2028\\u2029\\u202a\\u202e"},
    {"\xe2\x81\xa6\xe2\x81\xa9\xe2\x81\xa5\xe2\x81\xaa", "\\u2066\\u2069\xe2\x81\xa5\xe2\x81\xaa"},
    {"\xe2\x80\xa7\xe2\x80\xaf\xe2\x80\x8d", "\xe2\x80\xa7\xe2\x80\xaf\xe2\x80\x8d"},
    {"\xe2\x80", "\\xe2\\x80"},
    {"\xed\xa0\x80", "\\xed\\xa0\\x80"},
};

LOOP_TEST(what_is_hidden_becomes_visible_and_nothing_else_changes, 0, COUNT(cases))
{
    char shown[64], again[64];
    shown_copy(shown, sizeof(shown), cases[_i].text);
    ck_assert_str_eq(shown, cases[_i].shown);
    ck_assert(shown_as_is(cases[_i].text) == (strcmp(cases[_i].text, cases[_i].shown) == 0));
    shown_copy(again, sizeof(again), shown);
    ck_assert_str_eq(again, shown);
    ck_assert(shown_as_is(shown));
}

TEST(what_does_not_fit_is_cut_between_two_characters)
{
    static const char text[] = "a\x1b\xc3\xa9\xe2\x80\xae";
    static const char whole[] = "a\\x1b\xc3\xa9\\u202e";
    for (size_t room = 1; room <= sizeof(whole) + 2; room++) {
        char shown[32];
        memset(shown, 'z', sizeof(shown));
        shown_copy(shown, room, text);
        const size_t n = strlen(shown);
        ck_assert(n < room && shown[room] == 'z');
        ck_assert(n == 0 || n == 1 || n == 5 || n == 7 || n == 13);
        ck_assert_int_eq(strncmp(shown, whole, n), 0);
        ck_assert(room < sizeof(whole) || n == 13);
    }
}

static char logged[512];

static void keep(void *user, enum imrec_log_level level, const char *line)
{
    (void)user, (void)level;
    snprintf(logged, sizeof(logged), "%s", line);
}

TEST(errors_and_warnings_show_what_they_quote)
{
    struct imrec_error err;
    ck_assert_int_eq(imrec_error_at(&err, IMREC_ERR_DATA, 7, "%s: odd", "\x1b]0;x\x07\xc2\x9b"),
                     IMREC_ERR_DATA);
    ck_assert_str_eq(err.message, "\\x1b]0;x\\x07\\u009b: odd");
    ck_assert(err.offset == 7 && err.status == IMREC_ERR_DATA && err.sys_errno == 0);
    (void)imrec_error_at(&err, IMREC_ERR_DATA, 7, "again: %s", err.message); /* its own words */
    ck_assert_str_eq(err.message, "again: \\x1b]0;x\\x07\\u009b: odd");
    imrec_set_log(keep, NULL, IMREC_LOG_WARNING);
    imrec_log(IMREC_LOG_WARNING, "%s", "\xe2\x80\xae");
    imrec_set_log(NULL, NULL, IMREC_LOG_WARNING);
    ck_assert_str_eq(logged, "\\u202e");
}

static const struct {
    const char *said, *shown;
} secrets[] = {
    {"https://h/a.rec?sig=x: has 3 bytes", "https://h/a.rec: has 3 bytes"},
    {"https://me:word@h/a.rec#x", "https://h/a.rec"},
    {"'http://h/a?b' and \"http://c@h/\"", "'http://h/a' and \"http://h/\""},
    {"http://h/a@b: fine", "http://h/a@b: fine"},
    {"a path?b://c?d", "a path?b://c?d"},
    {"https://", "https://"},
    {"https://h?a", "https://h"},
    {"HTTPS://me:word@h/a?b", "HTTPS://h/a"},
    {"https://me:it's\"mine@h/a?sig='x'y: no", "https://h/a: no"},
    {"https://me:wo/rd@h/a: no", "https://: no"},
    {"https://me:wor", "https://"},
    {"http://h:80/a, http://[::1]:80/b, 'http://h:80'",
     "http://h:80/a, http://[::1]:80/b, 'http://h:80'"},
    {"ftp://me:word@h/a?b hdfs://me@h/a?b", "ftp://h/a?b hdfs://me@h/a?b"},
    {"s3://bucket/a?b@c", "s3://bucket/a?b@c"},
};

TEST(a_long_secret_is_taken_out_before_a_message_is_cut)
{
    char password[1000];
    struct imrec_error err;
    memset(password, 'p', sizeof(password) - 1);
    password[sizeof(password) - 1] = '\0';
    (void)imrec_error_at(&err, IMREC_ERR_IO, 0, "https://me:%s@h/a?sig=%s: no", password, password);
    ck_assert_str_eq(err.message, "https://h/a: no");
}

LOOP_TEST(secrets_of_urls_are_taken_out, 0, COUNT(secrets))
{
    char text[128];
    snprintf(text, sizeof(text), "%s", secrets[_i].said);
    shown_hide_secrets(text);
    ck_assert_str_eq(text, secrets[_i].shown);
}
