/* tests/unit/test_image_record.c - the label header, its limits, and bytes that lie. */
#include "base/alloc.h"
#include "formats/recordio/image_record.h"
#include "tests/support/guard.h"
#include "tests/support/suite.h"

#include <float.h>
#include <math.h>

static struct buf head_of(const float *labels, uint32_t count, bool force)
{
    struct buf out = BUF_INIT(1 << 20);
    ck_assert_int_eq(image_record_head(&out, labels, count, force, 7, 9, NULL), IMREC_OK);
    return out;
}

static struct image_record parsed(const struct buf *b)
{
    struct image_record r;
    ck_assert_int_eq(image_record_parse((struct bytes){b->p, b->n}, &r, NULL), IMREC_OK);
    ck_assert_uint_eq(r.id, 7);
    ck_assert_uint_eq(r.id2, 9);
    return r;
}

START_TEST(one_label_stands_in_the_header)
{
    struct buf b = head_of((float[]){2.5f}, 1, false);
    const struct image_record r = parsed(&b);
    ck_assert_uint_eq(b.n, 24);
    ck_assert_uint_eq(r.flag, 0);
    ck_assert_uint_eq(r.label_count, 1);
    ck_assert(r.label == 2.5f && image_record_label(&r, 0) == 2.5f);
    buf_free(&b);
}
END_TEST

START_TEST(one_label_stands_behind_the_header_when_forced)
{
    struct buf b = head_of((float[]){2.5f}, 1, true);
    const struct image_record r = parsed(&b);
    ck_assert_uint_eq(b.n, 28);
    ck_assert_uint_eq(r.flag, 1);
    ck_assert_uint_eq(r.label_count, 1);
    ck_assert(r.label == 0.0f && image_record_label(&r, 0) == 2.5f);
    buf_free(&b);
}
END_TEST

START_TEST(no_label_is_a_zero_in_the_header) /* forced or not */
{
    struct buf b = head_of(NULL, 0, _i == 1);
    const struct image_record r = parsed(&b);
    ck_assert_uint_eq(b.n, 24);
    ck_assert_uint_eq(r.flag, 0);
    ck_assert(image_record_label(&r, 0) == 0.0f);
    buf_free(&b);
}
END_TEST

START_TEST(labels_and_image_may_stand_at_any_address) /* loop: shifted by _i bytes */
{
    uint8_t raw[64] = {0};
    struct buf b = head_of((float[]){1.0f, -2.0f, 3.0f}, 3, false);
    memcpy(raw + _i, b.p, b.n);
    memcpy(raw + _i + b.n, "jpeg", 4);
    struct image_record r;
    ck_assert_int_eq(image_record_parse((struct bytes){raw + _i, b.n + 4}, &r, NULL), IMREC_OK);
    ck_assert_uint_eq(r.label_count, 3);
    ck_assert(image_record_label(&r, 1) == -2.0f && image_record_label(&r, 2) == 3.0f);
    ck_assert_uint_eq(r.image.n, 4);
    ck_assert_mem_eq(r.image.p, "jpeg", 4);
    buf_free(&b);
}
END_TEST

START_TEST(a_record_shorter_than_its_header_and_labels_is_refused) /* loop: _i of 32 bytes */
{
    struct buf b = head_of((float[]){1.0f, 2.0f}, 2, false);
    struct guarded g = guarded_copy(b.p, (size_t)_i);
    struct image_record r;
    struct imrec_error err = {0};
    ck_assert_int_eq(image_record_parse((struct bytes){g.p, (size_t)_i}, &r, &err),
                     _i == 32 ? IMREC_OK : IMREC_ERR_CORRUPT);
    ck_assert_int_eq(err.message[0] == '\0', _i == 32);
    guarded_free(g);
    buf_free(&b);
}
END_TEST

START_TEST(a_flag_that_overflows_sizes_is_refused) /* loop over flags */
{
    static const uint32_t flags[] = {1, 0x40000000u, 0x80000000u, 0xffffffffu};
    uint8_t raw[24] = {0};
    struct image_record r;
    store_le32(raw, flags[_i]);
    ck_assert_int_eq(image_record_parse((struct bytes){raw, sizeof(raw)}, &r, NULL),
                     IMREC_ERR_CORRUPT);
}
END_TEST

START_TEST(more_labels_than_a_record_holds_are_refused)
{
    struct buf out = BUF_INIT(1 << 20);
    const float one = 1.0f;
    ck_assert_int_eq(image_record_head(&out, &one, 1u << 27, false, 0, 0, NULL), IMREC_ERR_LIMIT);
    ck_assert_uint_eq(out.n, 0);
}
END_TEST

START_TEST(a_head_that_does_not_fit_leaves_nothing_behind)
{
    struct buf out = BUF_INIT(30);
    ck_assert_int_eq(image_record_head(&out, (float[]){1, 2}, 2, false, 0, 0, NULL),
                     IMREC_ERR_LIMIT);
    ck_assert_uint_eq(out.n, 0);
    buf_free(&out);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}
END_TEST

START_TEST(a_record_holds_the_numbers_that_float32_has)
{
    static const double held[] = {
        0,         -0.0,  1,       -16777216.0,    16777216.0, 16777218.0,      0x1p60,
        -0x1p127,  0.1,   1.0 / 3, 123456789.125,  1e-300,     (double)FLT_MAX, (double)3.4e38f,
        8388608.5, -7.25, 1e30,    (double)FLT_MIN};
    static const double refused[] = {
        16777217.0, -16777217.0, 33554435.0,       9007199254740993.0 - 2, 0x1p60 + 0x1p10,
        1e39,       -1e300,      (double)INFINITY, -(double)INFINITY,      (double)NAN};
    for (size_t i = 0; i < sizeof(held) / sizeof(held[0]); i++)
        ck_assert_msg(image_record_holds(held[i]), "%.17g", held[i]);
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        ck_assert_msg(!image_record_holds(refused[i]), "%.17g", refused[i]);
}
END_TEST

static const struct {
    float labels[3];
    uint32_t count;
    bool image, range;
    uint64_t first, end;
} ranges[] = {
    {{1, 5}, 2, false, true, 1, 5},
    {{0, 1}, 2, false, true, 0, 1},
    {{16777215, 16777216}, 2, false, true, 16777215, 16777216},
    {{33554432, 33554432}, 2, false, true, 33554432, 33554432}, /* rounded, maybe */
    {{1, 5}, 2, true, false, 0, 0},
    {{5}, 1, false, false, 0, 0},
    {{1, 5, 9}, 3, false, false, 0, 0},
    {{5, 5}, 2, false, false, 0, 0},
    {{5, 1}, 2, false, false, 0, 0},
    {{-1, 5}, 2, false, false, 0, 0},
    {{1.5f, 5}, 2, false, false, 0, 0},
    {{1, 5.5f}, 2, false, false, 0, 0},
    {{1, 1e30f}, 2, false, false, 0, 0},
    {{1, NAN}, 2, false, false, 0, 0},
    {{NAN, 5}, 2, false, false, 0, 0},
    {{1, INFINITY}, 2, false, false, 0, 0},
};

START_TEST(two_whole_labels_without_an_image_may_be_a_range) /* loop over ranges */
{
    struct buf out = BUF_INIT(1 << 10);
    struct image_record r;
    uint64_t first = 0, end = 0;
    ck_assert_int_eq(
        image_record_head(&out, ranges[_i].labels, ranges[_i].count, false, 7, 0, NULL), IMREC_OK);
    if (ranges[_i].image)
        ck_assert_int_eq(buf_append(&out, "x", 1, NULL), IMREC_OK);
    ck_assert_int_eq(image_record_parse((struct bytes){out.p, out.n}, &r, NULL), IMREC_OK);
    ck_assert_int_eq(image_record_range(&r, &first, &end), ranges[_i].range);
    if (ranges[_i].range)
        ck_assert(first == ranges[_i].first && end == ranges[_i].end);
    buf_free(&out);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("image record");
    TCase *tc = tcase_create("bytes");
    tcase_add_test(tc, a_record_holds_the_numbers_that_float32_has);
    tcase_add_test(tc, one_label_stands_in_the_header);
    tcase_add_test(tc, one_label_stands_behind_the_header_when_forced);
    tcase_add_loop_test(tc, no_label_is_a_zero_in_the_header, 0, 2);
    tcase_add_loop_test(tc, labels_and_image_may_stand_at_any_address, 0, 8);
    tcase_add_loop_test(tc, a_record_shorter_than_its_header_and_labels_is_refused, 0, 33);
    tcase_add_loop_test(tc, a_flag_that_overflows_sizes_is_refused, 0, 4);
    tcase_add_loop_test(tc, two_whole_labels_without_an_image_may_be_a_range, 0,
                        sizeof(ranges) / sizeof(ranges[0]));
    tcase_add_test(tc, more_labels_than_a_record_holds_are_refused);
    tcase_add_test(tc, a_head_that_does_not_fit_leaves_nothing_behind);
    suite_add_tcase(s, tc);
    return suite_run(s);
}
