/* tests/formats/test_field_file.c - fields as files: names that stay in their folder, numbers as
 * text. */
#include "formats/field_file.h"
#include "tests/support/suite.h"

#include <math.h>
#include <string.h>

static struct bytes text(const char *s)
{
    return (struct bytes){(const uint8_t *)s, strlen(s)};
}

static const struct {
    const char *name;
    bool is_taken;
    uint64_t repeat;
    const char *extension;
} names[] = {
    {"txt", false, 0, "txt"},
    {"left.jpg", false, 0, "left.jpg"},
    {"../../x", false, 0, "..%2F..%2Fx"},
    {"/etc/x", false, 0, "%2Fetc%2Fx"},
    {"a b\t%", false, 0, "a%20b%09%25"},
    {"jpg", true, 0, "%6Apg"},
    {"/", true, 0, "%2F"},
    {"txt", false, 2, "txt%.2"},
    {"", true, 0, ""},
};

LOOP_TEST(an_extension_has_no_slash_and_no_other_has_it, 0, COUNT(names))
{
    struct buf out = BUF_INIT(1 << 10);
    ck_assert_int_eq(
        field_extension(&out, text(names[_i].name), names[_i].is_taken, names[_i].repeat, NULL),
        IMREC_OK);
    ck_assert_uint_eq(out.n, strlen(names[_i].extension));
    ck_assert(out.n == 0 || memcmp(out.p, names[_i].extension, out.n) == 0);
    buf_free(&out);
}

TEST(numbers_are_text_and_bytes_are_as_they_are)
{
    struct buf to = BUF_INIT(1 << 10);
    struct bytes out;
    uint8_t ints[16], reals[12];
    store_le64(ints, (uint64_t)INT64_MIN);
    store_le64(ints + 8, 7);
    store_le_float(reals, 0.1f);
    store_le_float(reals + 4, -NAN);
    store_le_float(reals + 8, -INFINITY);
    ck_assert_int_eq(field_content(&to, FIELD_INT64, (struct bytes){ints, 16}, &out, NULL),
                     IMREC_OK);
    ck_assert(out.n == 22 && memcmp(out.p, "-9223372036854775808 7", 22) == 0);
    ck_assert_int_eq(field_content(&to, FIELD_FLOAT32, (struct bytes){reals, 12}, &out, NULL),
                     IMREC_OK);
    ck_assert(out.n == 20 && memcmp(out.p, "0.100000001 nan -inf", 20) == 0);
    ck_assert_int_eq(field_content(&to, FIELD_BYTES, text("abc"), &out, NULL), IMREC_OK);
    ck_assert(out.n == 3 && memcmp(out.p, "abc", 3) == 0);
    buf_free(&to);
}

TEST(text_that_is_too_long_is_an_error)
{
    struct buf to = BUF_INIT(8);
    struct imrec_error err;
    struct bytes out;
    uint8_t ints[16] = {0};
    store_le64(ints, 1234567);
    store_le64(ints + 8, 7);
    ck_assert_int_eq(field_content(&to, FIELD_INT64, (struct bytes){ints, 16}, &out, &err),
                     IMREC_ERR_LIMIT);
    buf_free(&to);
}
