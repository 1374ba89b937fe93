/* JSON: what the reader refuses and how it says so, what the values are, and every byte of what the
 * writer writes. */
#include "base/alloc.h"
#include "formats/json_read.h"
#include "formats/json_write.h"
#include "tests/support/suite.h"

#include <jansson.h>
#include <string.h>

static struct imrec_error err;

static struct bytes bytes_of(const char *text)
{
    return (struct bytes){(const uint8_t *)text, strlen(text)};
}

static struct json_input file(const char *text)
{
    return (struct json_input){.name = "a.json", .text = bytes_of(text), .max_bytes = 1 << 20};
}

static struct json_value *read_good(const char *text)
{
    const struct json_input in = file(text);
    struct json_value *v;
    ck_assert_msg(json_read(&in, &v, &err) == IMREC_OK, "%s", err.message);
    return v;
}

/* ---- what is refused ------------------------------------------------------------------------ */

static const struct {
    const char *text, *says; /* behind "a.json " */
    uint64_t offset;
} bad[] = {
    {"", "line 1, column 0: not JSON: '[' or '{' expected near end of file", 0},
    {"3", "line 1, column 1: not JSON: '[' or '{' expected near '3'", 1},
    {"{\"a\": 1,\n \"b\": 2,\n \"a\": 3}",
     "line 3, column 4: not JSON: duplicate object key near '\"a\"'", 22},
    {"[{\"a\": {\"b\": 1, \"b\": 1}}]",
     "line 1, column 19: not JSON: duplicate object key near '\"b\"'", 19},
    {"[1,]", "line 1, column 4: not JSON: unexpected token near ']'", 4},
    {"{'a': 1}", "line 1, column 2: not JSON: string or '}' expected near '''", 2},
    {"[1] x", "line 1, column 5: not JSON: end of file expected near 'x'", 5},
    {"[01]", "line 1, column 2: not JSON: invalid token near '0'", 2},
    {"[NaN]", "line 1, column 4: not JSON: invalid token near 'NaN'", 4},
    {"[9223372036854775808]",
     "line 1, column 20: not JSON: too big integer near '9223372036854775808'", 20},
    {"[1e999]", "line 1, column 6: not JSON: real number overflow near '1e999'", 6},
    {"[\"\xff\"]", "line 1, column 2: not JSON: unable to decode byte 0xff near '\"'", 2},
    {"[\"\xc0\x80\"]", "line 1, column 2: not JSON: unable to decode byte 0xc0 near '\"'", 2},
    {"[\"\\udc80\"]", "line 1, column 9: not JSON: invalid Unicode '\\uDC80' near '\"\\udc80\"'",
     9},
    {"[\"\\u0000\"]",
     "line 1, column 9: not JSON: \\u0000 is not allowed without JSON_ALLOW_NUL near '\"\\u0000\"'",
     9},
    {"[\"\x1b[2J\"]", "line 1, column 2: not JSON: control character 0x1b near '\"'", 2},
};

LOOP_TEST(what_is_no_json_is_refused_with_its_place, 0, COUNT(bad))
{
    struct json_input in = file(bad[_i].text);
    struct json_value *v;
    ck_assert_int_eq(json_read(&in, &v, &err), IMREC_ERR_CORRUPT);
    ck_assert_ptr_null(v);
    ck_assert_int_eq(strncmp(err.message, "a.json ", 7), 0);
    ck_assert_str_eq(err.message + 7, bad[_i].says);
    ck_assert_uint_eq(err.offset, bad[_i].offset);
    in.given = true;
    ck_assert_int_eq(json_read(&in, &v, &err), IMREC_ERR_ARGUMENT);
    ck_assert_str_eq(err.message + 7, bad[_i].says);
    ck_assert_uint_eq(err.offset, IMREC_NO_OFFSET);
    ck_assert_int_eq(json_read(&in, &v, NULL), IMREC_ERR_ARGUMENT);
}

TEST(a_text_has_at_most_the_bytes_that_are_granted)
{
    struct json_input in = file("[1, 2]");
    struct json_value *v;
    in.max_bytes = 6;
    ck_assert_int_eq(json_read(&in, &v, &err), IMREC_OK);
    json_read_free(v);
    in.max_bytes = 5;
    ck_assert_int_eq(json_read(&in, &v, &err), IMREC_ERR_LIMIT);
    ck_assert_str_eq(err.message, "a.json: the text is longer than 5 bytes");
    in.given = true;
    ck_assert_int_eq(json_read(&in, &v, &err), IMREC_ERR_ARGUMENT);
}

TEST(levels_end_before_the_stack_does)
{
    enum { MOST = 2048 };
    char text[2 * MOST + 4];
    for (size_t levels = MOST; levels <= MOST + 1; levels++) {
        struct json_input in = {.name = "deep", .text = {(uint8_t *)text, 2 * levels}};
        struct json_value *v;
        in.max_bytes = in.text.n;
        memset(text, '[', levels);
        memset(text + levels, ']', levels);
        ck_assert_int_eq(json_read(&in, &v, &err), levels == MOST ? IMREC_OK : IMREC_ERR_CORRUPT);
        json_read_free(v);
    }
    ck_assert_str_eq(err.message,
                     "deep line 1, column 2049: not JSON: maximum parsing depth reached near '['");
}

/* ---- values --------------------------------------------------------------------------------- */

static const struct {
    const char *text; /* the element of an array */
    enum json_kind kind;
    bool is_i64, is_number, is_bool;
    int64_t i64;
    double number;
    const char *string;
} values[] = {
    {"{}", JSON_KIND_OBJECT, .i64 = 0},
    {"[]", JSON_KIND_ARRAY, .i64 = 0},
    {"null", JSON_KIND_NULL, .i64 = 0},
    {"true", JSON_KIND_BOOL, .is_bool = true, .i64 = 1},
    {"false", JSON_KIND_BOOL, .is_bool = true, .i64 = 0},
    {"0", JSON_KIND_NUMBER, .is_i64 = true, .is_number = true},
    {"-0", JSON_KIND_NUMBER, .is_i64 = true, .is_number = true},
    {"9223372036854775807", JSON_KIND_NUMBER, .is_i64 = true, .is_number = true, .i64 = INT64_MAX,
     .number = 0x1p63},
    {"-9223372036854775808", JSON_KIND_NUMBER, .is_i64 = true, .is_number = true, .i64 = INT64_MIN,
     .number = -0x1p63},
    {"1.0", JSON_KIND_NUMBER, .is_number = true, .number = 1},
    {"-2.5e-3", JSON_KIND_NUMBER, .is_number = true, .number = -2.5e-3},
    {"\"\"", JSON_KIND_TEXT, .string = ""},
    {"\"\\u00e9\\ud83d\\udc1d\\n\\/\"", JSON_KIND_TEXT, .string = "\xc3\xa9\xf0\x9f\x90\x9d\n/"},
};

LOOP_TEST(a_value_is_of_one_kind_and_nothing_else, 0, COUNT(values))
{
    char text[128];
    int64_t i64 = 77;
    double number = 77;
    bool truth = false;
    snprintf(text, sizeof(text), "[%s]", values[_i].text);
    struct json_value *tree = read_good(text);
    const struct json_value *v = json_read_element(tree, 0);
    ck_assert_int_eq(json_read_kind(v), values[_i].kind);
    ck_assert_int_eq(json_read_i64(v, &i64), values[_i].is_i64);
    ck_assert_int_eq(i64, values[_i].is_i64 ? values[_i].i64 : 77);
    ck_assert_int_eq(json_read_number(v, &number), values[_i].is_number);
    ck_assert(number == (values[_i].is_number ? values[_i].number : 77));
    ck_assert_int_eq(json_read_bool(v, &truth), values[_i].is_bool);
    ck_assert_int_eq(truth, values[_i].is_bool && values[_i].i64 != 0);
    ck_assert_int_eq(json_read_text(v) != NULL, values[_i].string != NULL);
    if (values[_i].string != NULL)
        ck_assert_str_eq(json_read_text(v), values[_i].string);
    ck_assert_uint_eq(json_read_count(v), 0);
    ck_assert_ptr_null(json_read_element(tree, 1));
    json_read_free(tree);
}

TEST(nothing_is_found_in_nothing)
{
    int64_t i64;
    double number;
    bool truth;
    void *at = NULL;
    ck_assert_int_eq(json_read_kind(NULL), JSON_KIND_NONE);
    ck_assert_uint_eq(json_read_count(NULL), 0);
    ck_assert_ptr_null(json_read_member(NULL, "a"));
    ck_assert_ptr_null(json_read_element(NULL, 0));
    ck_assert_ptr_null(json_read_next_member(NULL, &at));
    ck_assert_ptr_null(json_read_text(NULL));
    ck_assert(!json_read_i64(NULL, &i64) && !json_read_number(NULL, &number) &&
              !json_read_bool(NULL, &truth));
    json_read_free(NULL);
}

TEST(members_are_found_by_name_and_gone_through_once_each)
{
    struct json_value *tree = read_good("{\"b\": 1, \"a\": {\"c\": 2}, \"\": [3, 4]}");
    static const enum json_kind kinds[] = {JSON_KIND_NUMBER, JSON_KIND_OBJECT, JSON_KIND_ARRAY};
    void *at = NULL;
    for (size_t i = 0; i < 3; i++)
        ck_assert_int_eq(json_read_kind(json_read_next_member(tree, &at)), kinds[i]);
    ck_assert_ptr_null(json_read_next_member(tree, &at));
    ck_assert_uint_eq(json_read_count(tree), 3);
    ck_assert_uint_eq(json_read_count(json_read_member(tree, "")), 2);
    ck_assert_ptr_null(json_read_member(tree, "c"));
    ck_assert_ptr_null(json_read_member(json_read_member(tree, ""), "b"));
    ck_assert_ptr_null(json_read_element(tree, 0));
    json_read_free(tree);
}

/* ---- one value after the other ----------------------------------------------------------------
 */

TEST(values_are_taken_one_by_one_out_of_a_text)
{
    struct json_input in = file("{\"a\": [1]},\"b\" 12, null;");
    static const enum json_kind kinds[] = {JSON_KIND_OBJECT, JSON_KIND_TEXT, JSON_KIND_NUMBER,
                                           JSON_KIND_NULL};
    static const size_t begins[] = {0, 11, 14, 18}, ends[] = {10, 14, 17, 23};
    struct json_value *v;
    size_t at;
    in.max_bytes = 10;
    for (size_t i = 0; i < 4; i++) {
        at = begins[i];
        ck_assert_msg(json_read_next(&in, &at, &v, &err) == IMREC_OK, "%s", err.message);
        ck_assert_int_eq(json_read_kind(v), kinds[i]);
        ck_assert_uint_eq(at, ends[i]);
        json_read_free(v);
    }
    ck_assert_int_eq(json_read_next(&in, &at, &v, &err), IMREC_ERR_CORRUPT);
    ck_assert_str_eq(err.message,
                     "a.json byte 23: no JSON value begins here: invalid token near ';'");
    ck_assert_uint_eq(at, 23);
    ck_assert_uint_eq(err.offset, 23);
    at = 0;
    in.max_bytes = 9;
    ck_assert_int_eq(json_read_next(&in, &at, &v, &err), IMREC_ERR_LIMIT);
    ck_assert_str_eq(err.message, "a.json byte 0: the value is longer than 9 bytes");
}

TEST(a_value_that_begins_at_the_end_is_none)
{
    const struct json_input in = file("[1");
    struct json_value *v;
    for (size_t at = 0; at <= 2; at += 2) {
        size_t moved = at;
        ck_assert_int_eq(json_read_next(&in, &moved, &v, &err), IMREC_ERR_CORRUPT);
        ck_assert_ptr_nonnull(strstr(err.message, "near end of file"));
        ck_assert_uint_eq(moved, at);
    }
}

/* ---- memory ----------------------------------------------------------------------------------
 */

static long allocations_left = -1;

static void *scarce(size_t n)
{
    if (allocations_left == 0)
        return NULL;
    allocations_left -= allocations_left > 0;
    return malloc(n);
}

TEST(a_tree_that_finds_no_memory_is_an_error_and_leaks_nothing)
{
    const struct json_input in =
        file("{\"a\": [1, 2.5, \"x\", {\"b\": null}], \"c\": \"01234567890123456789\"}");
    enum imrec_status st = IMREC_ERR_NO_MEMORY;
    size_t at, lacking = 0;
    struct json_value *v;
    json_set_alloc_funcs(scarce, free);
    for (long n = 0; st != IMREC_OK; n++) {
        err.message[0] = '\0';
        allocations_left = n / 2;
        at = 0;
        st = n % 2 == 0 ? json_read(&in, &v, &err) : json_read_next(&in, &at, &v, &err);
        allocations_left = -1;
        ck_assert(st == IMREC_OK || err.message[0] != '\0');
        lacking += st == IMREC_ERR_NO_MEMORY;
        json_read_free(v);
        ck_assert_int_lt(n, 200);
    }
    json_set_alloc_funcs(malloc, free);
    ck_assert_uint_gt(lacking, 10);
}

/* ---- writing -------------------------------------------------------------------------------- */

static struct buf out;

static void setup(void)
{
    out = BUF_INIT(1 << 16);
}

static void teardown(void)
{
    buf_free(&out);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

CASE(.setup = setup, .teardown = teardown)

static void write_all(struct json_writer *w, enum json_layout layout)
{
    json_write_object(w, NULL, layout);
    json_write_u64(w, "u", UINT64_MAX);
    json_write_i64(w, "i", INT64_MIN);
    json_write_object(w, "none", layout);
    json_write_end(w);
    json_write_array(w, "list", layout);
    json_write_bool(w, NULL, true);
    json_write_bool(w, NULL, false);
    json_write_array(w, NULL, JSON_SPACED);
    json_write_null(w, NULL);
    json_write_text(w, NULL, "\"");
    json_write_end(w);
    json_write_end(w);
    json_write_bytes(w, "k\n", (struct bytes){(const uint8_t *)"a\0b", 3});
    json_write_end(w);
}

static const char *const layouts[] = {
    [JSON_TIGHT] = "{\"u\":18446744073709551615,\"i\":-9223372036854775808,\"none\":{},"
                   "\"list\":[true,false,[null, \"\\\"\"]],\"k\\u000a\":\"a\\u0000b\"}",
    [JSON_SPACED] = "{\"u\": 18446744073709551615, \"i\": -9223372036854775808, \"none\": {}, "
                    "\"list\": [true, false, [null, \"\\\"\"]], \"k\\u000a\": \"a\\u0000b\"}",
    [JSON_LINES] = "{\n"
                   "  \"u\": 18446744073709551615,\n"
                   "  \"i\": -9223372036854775808,\n"
                   "  \"none\": {},\n"
                   "  \"list\": [\n"
                   "    true,\n"
                   "    false,\n"
                   "    [null, \"\\\"\"]\n"
                   "  ],\n"
                   "  \"k\\u000a\": \"a\\u0000b\"\n"
                   "}",
};

LOOP_TEST(each_layout_has_these_bytes, 0, COUNT(layouts))
{
    struct json_writer w = {.out = &out, .err = &err};
    write_all(&w, (enum json_layout)_i);
    ck_assert_int_eq(w.status, IMREC_OK);
    ck_assert_int_eq(buf_append(&out, "", 1, NULL), IMREC_OK);
    ck_assert_str_eq((const char *)out.p, layouts[_i]);
}

static const struct {
    const char *text, *plain, *shown; /* shown NULL: as plain */
} escapes[] = {
    {"", "", NULL},
    {"a/b 'c' ~", "a/b 'c' ~", NULL},
    {"\"\\", "\\\"\\\\", NULL},
    {"\t\r\n\x01\x1f", "\\u0009\\u000d\\u000a\\u0001\\u001f", NULL},
    {"\x7f", "\x7f", "\\u007f"},
    {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\x9d", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\x9d", NULL},
    {"\xc2\x9b", "\xc2\x9b", "\\u009b"},
    {"\xe2\x80\xae\xef\xbb\xbf", "\xe2\x80\xae\xef\xbb\xbf", "\\u202e\\ufeff"},
    {"\xff\x80", "\\udcff\\udc80", NULL},
    {"a\xc3", "a\\udcc3", NULL},                                           /* cut */
    {"\xc0\x80\xed\xa0\x80", "\\udcc0\\udc80\\udced\\udca0\\udc80", NULL}, /* overlong, surrogate */
    {"\xf4\x90\x80\x80", "\\udcf4\\udc90\\udc80\\udc80", NULL},            /* above U+10FFFF */
    {"\xe2\x82\"", "\\udce2\\udc82\\\"", NULL},
};

LOOP_TEST(a_text_is_escaped_like_this, 0, COUNT(escapes))
{
    const char *const want[] = {escapes[_i].plain,
                                escapes[_i].shown != NULL ? escapes[_i].shown : escapes[_i].plain};
    for (int shown = 0; shown < 2; shown++) {
        out.n = 0;
        ck_assert_int_eq(json_write_escaped(&out, bytes_of(escapes[_i].text), shown, &err),
                         IMREC_OK);
        ck_assert_int_eq(buf_append(&out, "", 1, NULL), IMREC_OK);
        ck_assert_str_eq((const char *)out.p, want[shown]);
    }
}

TEST(any_utf8_is_read_back_as_it_was_written)
{
    for (uint32_t code = 1; code < 0x110000; code += code < 0x3000 ? 1 : 97) {
        char text[5] = {0};
        if (code >= 0xd800 && code < 0xe000)
            continue;
        if (code < 0x80) {
            text[0] = (char)code;
        } else if (code < 0x800) {
            text[0] = (char)(0xc0 | code >> 6);
            text[1] = (char)(0x80 | (code & 63));
        } else if (code < 0x10000) {
            text[0] = (char)(0xe0 | code >> 12);
            text[1] = (char)(0x80 | (code >> 6 & 63));
            text[2] = (char)(0x80 | (code & 63));
        } else {
            text[0] = (char)(0xf0 | code >> 18);
            text[1] = (char)(0x80 | (code >> 12 & 63));
            text[2] = (char)(0x80 | (code >> 6 & 63));
            text[3] = (char)(0x80 | (code & 63));
        }
        struct json_writer w = {.out = &out, .err = &err, .shown = code % 2 != 0};
        struct json_value *v;
        out.n = 0;
        json_write_array(&w, NULL, JSON_TIGHT);
        json_write_text(&w, NULL, text);
        json_write_end(&w);
        ck_assert_int_eq(w.status, IMREC_OK);
        const struct json_input in = {.name = "back", .text = {out.p, out.n}, .max_bytes = out.max};
        ck_assert_msg(json_read(&in, &v, &err) == IMREC_OK, "U+%x: %s", code, err.message);
        ck_assert_str_eq(json_read_text(json_read_element(v, 0)), text);
        json_read_free(v);
    }
}

TEST(the_first_failure_is_kept_and_nothing_follows_it)
{
    struct json_writer w = {.out = &out, .err = &err};
    out.max = 20;
    write_all(&w, JSON_TIGHT);
    ck_assert_int_eq(w.status, IMREC_ERR_LIMIT);
    ck_assert_mem_eq(out.p, "{\"u\":", out.n);
    buf_free(&out);
    out = BUF_INIT(1 << 16);
    w = (struct json_writer){.out = &out, .err = &err};
    imrec_alloc_fail_after(0);
    write_all(&w, JSON_TIGHT);
    imrec_alloc_fail_after(-1);
    ck_assert_int_eq(w.status, IMREC_ERR_NO_MEMORY);
    ck_assert_uint_eq(out.n, 0);
}
