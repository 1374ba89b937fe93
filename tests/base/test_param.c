#include "base/param.h"

#include "tests/support/suite.h"
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum word { WORD_ONE, WORD_TWO, WORD_THREE };

/* clang-format off */
#define TEST_PARAMS(X) \
    X(const char *, path,       NULL, 1, 8,          "PATH",  "a", "where it is") \
    X(struct imrec_shape, data_shape, NULL, 1, 65535, "C,H,W", "a", "channels, height and width") \
    X(int64_t,  batch_size,     NULL, 1, 1 << 20,    "",      "a", "samples in a batch") \
    X(int64_t,  window_bytes,   "64K", 4096, INT64_MAX, "bytes", "b", "memory") \
    X(int64_t,  colour,         "-1", -1, 1,         "-1|0|1", "b", "colour") \
    X(float,    mean_r,         "0.5", -1e6, 1e6,    "",      "b", "mean") \
    X(float,    tenth,          "0.1", 0.1, 0.3,     "",      "b", "no float is 0.1 or 0.3") \
    X(float,    wide,           "0",  -3e38, 3e38,   "",      "b", "any float") \
    X(bool,     flag,           "1",  0, 1,          "",      "b", "yes or no") \
    X(enum word, word,          "two", 0, 2,         "one|two|three", "b", "a word") \
    X(struct imrec_share, part, "0/1", 1, 1 << 20,   "K/N",   "b", "a share")
/* clang-format on */

struct values {
    size_t struct_size;
    TEST_PARAMS(IMREC_FIELD)
};
#define PARAM_STRUCT struct values
static const struct param table[] = {TEST_PARAMS(PARAM_ROW){0}};

static enum imrec_status
set(struct values *v, const char *name, const char *text, struct imrec_error *err)
{
    return param_set(table, v, name, strlen(name), text, err);
}

static const struct {
    const char *text;
    int64_t bytes; /* 0: refused */
} sizes[] = {
    {"4096", 4096},
    {"4K", 4096},
    {"4KiB", 4096},
    {"3M", 3 << 20},
    {"3MiB", 3 << 20},
    {"2G", (int64_t)2 << 30},
    {"2GiB", (int64_t)2 << 30},
    {"9223372036854775807", INT64_MAX},
    {"8589934591G", INT64_C(8589934591) << 30},
    {"8589934592G", 0}, /* 2^63 */
    {"9223372036854775808", 0},
    {"-8589934592G", 0},
    {"4k", 0},
    {"4KB", 0},
    {"4Ki", 0},
    {"4KiBs", 0},
    {"4 K", 0},
    {"K", 0},
    {"", 0},
    {" 4096", 0},
    {"+4096", 0},
    {"0x4000", 0},
    {"4095", 0},
    {"3K", 0},
};

LOOP_TEST(a_size_in_bytes_takes_suffixes_and_never_overflows, 0, COUNT(sizes))
{
    struct values v = {0};
    struct imrec_error err;
    const bool good = sizes[_i].bytes != 0;
    v.window_bytes = -7;
    ck_assert_int_eq(set(&v, "window_bytes", sizes[_i].text, &err),
                     good ? IMREC_OK : IMREC_ERR_ARGUMENT);
    ck_assert_int_eq(v.window_bytes, good ? sizes[_i].bytes : -7);
}

TEST(a_count_takes_no_suffix)
{
    struct values v = {0};
    ck_assert_int_eq(set(&v, "batch_size", "4K", NULL), IMREC_ERR_ARGUMENT);
    ck_assert_int_eq(set(&v, "batch_size", "4", NULL), IMREC_OK);
    ck_assert_int_eq(v.batch_size, 4);
}

/* No double is it. */
TEST(the_end_of_a_range_of_integers_is_exact)
{
    const int64_t most = (INT64_C(1) << 59) - 1;
    const struct param odd[] = {
        {.name = "odd", .type = PARAM_INT, .least = -most, .most = most, .unit = "", .preset = "0"},
        {0}};
    int64_t v = 1;
    struct imrec_error err;
    ck_assert_int_eq(param_set(odd, &v, "odd", 3, "576460752303423487", NULL), IMREC_OK);
    ck_assert_int_eq(v, most);
    ck_assert_int_ne(param_set(odd, &v, "odd", 3, "576460752303423488", &err), IMREC_OK);
    ck_assert_msg(strstr(err.message, "from -576460752303423487 to 576460752303423487") != NULL,
                  "%s", err.message);
    ck_assert_int_ne(param_set(odd, &v, "odd", 3, "-576460752303423488", NULL), IMREC_OK);
    ck_assert_int_eq(v, most);
}

TEST(the_limits_of_a_row_are_those_of_its_type)
{
    char text[60];
    param_limits(param_find(table, "window_bytes", strlen("window_bytes")), text, sizeof(text));
    ck_assert_str_eq(text, "4096 to 9223372036854775807");
    param_limits(param_find(table, "wide", strlen("wide")), text, sizeof(text));
    ck_assert_str_eq(text, "-3e+38 to 3e+38");
}

static const struct {
    const char *text;
    bool good;
    double value;
} reals[] = {
    {"123.68", true, 123.68f}, {"-1", true, -1},     {"+2.5", true, 2.5},
    {".5", true, .5},          {"5.", true, 5},      {"1e3", true, 1000},
    {"1E-3", true, 1e-3f},     {"1e+3", true, 1000}, {"16777217", true, 16777216},
    {"inf", false, 0},         {"nan", false, 0},    {"-inf", false, 0},
    {"1e39", false, 0},        {"1e400", false, 0},  {"0x10", false, 0},
    {" 1", false, 0},          {"1 ", false, 0},     {"", false, 0},
    {".", false, 0},           {"1e", false, 0},     {"1e+", false, 0},
    {"1,5", false, 0},         {"--1", false, 0},    {"1.2.3", false, 0},
};

LOOP_TEST(a_real_is_decimal_and_finite, 0, COUNT(reals))
{
    struct values v = {0};
    v.wide = 42;
    ck_assert_int_eq(set(&v, "wide", reals[_i].text, NULL),
                     reals[_i].good ? IMREC_OK : IMREC_ERR_ARGUMENT);
    ck_assert(v.wide == (reals[_i].good ? (float)reals[_i].value : 42.0f));
}

TEST(the_ends_of_a_range_of_reals_belong_to_it)
{
    struct values v = {0};
    ck_assert_int_eq(set(&v, "tenth", "0.1", NULL), IMREC_OK);
    ck_assert_int_eq(set(&v, "tenth", "0.3", NULL), IMREC_OK);
    ck_assert_int_eq(set(&v, "tenth", "0.09999", NULL), IMREC_ERR_ARGUMENT);
    ck_assert_int_eq(set(&v, "tenth", "0.30001", NULL), IMREC_ERR_ARGUMENT);
}

TEST(a_real_reads_the_same_where_the_locale_has_a_decimal_comma)
{
    static const char *const commas[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
    struct values v = {0};
    for (size_t i = 0; i < sizeof(commas) / sizeof(commas[0]); i++)
        if (setlocale(LC_NUMERIC, commas[i]) != NULL)
            break;
    ck_assert_int_eq(set(&v, "mean_r", "0.25", NULL), IMREC_OK);
    ck_assert(v.mean_r == 0.25f);
    ck_assert_int_eq(set(&v, "mean_r", "0,25", NULL), IMREC_ERR_ARGUMENT);
    setlocale(LC_NUMERIC, "C");
}

static const struct {
    const char *text;
    bool good;
} shapes[] = {
    {"3,224,223", true},
    {"(3,224,223)", true},
    {"(3, 224, 223)", true},
    {"3,224", false},
    {"3,224,223,1", false},
    {"(3,224,223", false},
    {"3,224,223)", false},
    {"", false},
    {"()", false},
    {"3,0,223", false},
    {"3,-4,223", false},
    {"3,65536,223", false},
    {"3,4294967520,223", false},
    {"3;224;223", false},
    {"3, ,223", false},
};

LOOP_TEST(a_shape_has_three_sides_with_or_without_parentheses, 0, COUNT(shapes))
{
    struct values v = {0};
    ck_assert_int_eq(set(&v, "data_shape", shapes[_i].text, NULL),
                     shapes[_i].good ? IMREC_OK : IMREC_ERR_ARGUMENT);
    ck_assert_uint_eq(v.data_shape.channels, shapes[_i].good ? 3 : 0);
    ck_assert_uint_eq(v.data_shape.height, shapes[_i].good ? 224 : 0);
    ck_assert_uint_eq(v.data_shape.width, shapes[_i].good ? 223 : 0);
}

static const struct {
    const char *name, *text, *says;
} refused[] = {
    {"batch_sise", "4", "unknown parameter 'batch_sise'; did you mean batch_size?"},
    {"batchsize", "4", "did you mean batch_size?"},
    {"Batch-Size", "4", "did you mean batch_size?"},
    {"something_else_entirely", "4", "unknown parameter 'something_else_entirely'"},
    {"batch_size", "0", "batch_size must be a number from 1 to 1048576, not '0'"},
    {"window_bytes", "1", "window_bytes must be bytes (K, M or G may follow) from 4096 to "},
    {"word", "four", "word must be one of one|two|three, not 'four'"},
    {"word", "tw", "word must be one of one|two|three, not 'tw'"},
    {"word", "", "word must be one of one|two|three, not ''"},
    {"flag", "yes", "flag must be 0 or 1, not 'yes'"},
    {"path", "", "path must be text of 1 to 8 bytes, not ''"},
    {"path", "123456789", "path must be text of 1 to 8 bytes"},
    {"part", "3/3", "part must be K/N with 0 <= K < N <= 1048576, not '3/3'"},
    {"part", "-1/3", "part must be K/N"},
    {"mean_r", "2e6", "mean_r must be a number from -1e+06 to 1e+06, not '2e6'"},
};

LOOP_TEST(a_refused_value_says_what_would_be_right, 0, COUNT(refused))
{
    struct values v = {0};
    struct imrec_error err = {0};
    ck_assert_int_eq(set(&v, refused[_i].name, refused[_i].text, &err), IMREC_ERR_ARGUMENT);
    ck_assert_msg(strstr(err.message, refused[_i].says) != NULL, "%s", err.message);
}

TEST(what_is_required_and_missing_is_named)
{
    struct values v;
    struct imrec_error err = {0};
    memset(&v, 0x55, sizeof(v));
    param_defaults(table, &v);
    ck_assert(v.path == NULL && v.batch_size == 0 && v.data_shape.height == 0);
    ck_assert_int_eq(v.window_bytes, 65536);
    ck_assert_int_eq((int)v.word, WORD_TWO);
    ck_assert(v.flag && v.mean_r == 0.5f && v.part.count == 1);
    ck_assert_int_eq(param_check(table, &v, &err), IMREC_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(err.message, "path is required: where it is"));
    v.path = "a";
    ck_assert_int_eq(param_check(table, &v, &err), IMREC_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(err.message, "data_shape is required: "));
    ck_assert_int_eq(set(&v, "data-shape", "1,2,3", &err), IMREC_OK); /* '-' is '_' */
    v.batch_size = 1;
    ck_assert_int_eq(param_check(table, &v, &err), IMREC_OK);
    v.wide = NAN;
    ck_assert_int_eq(param_check(table, &v, &err), IMREC_ERR_ARGUMENT);
}

TEST(an_endless_name_is_refused_without_harm)
{
    static char name[4096];
    struct values v = {0};
    struct imrec_error err;
    memset(name, 'b', sizeof(name) - 1);
    ck_assert_int_eq(set(&v, name, "1", &err), IMREC_ERR_ARGUMENT);
    ck_assert_uint_lt(strlen(err.message), 200);
}
