/* Labels with boxes: what is read, refused, cut off, dropped and moved. */
#include "augment/draw/det_label.h"
#include "imrec/detection.h"
#include "tests/support/suite.h"

#include <math.h>
#include <string.h>

static void must_hold(const struct det_label *l, const float *want, uint32_t n, const char *what)
{
    ck_assert_msg(l->n == n, "%s: %u values instead of %u", what, l->n, n);
    for (uint32_t i = 0; i < n; i++)
        ck_assert_msg(fabsf(l->values[i] - want[i]) < 1e-6f, "%s: value %u is %g instead of %g",
                      what, i, (double)l->values[i], (double)want[i]);
}

TEST(boxes_are_cut_off_and_those_without_area_dropped)
{
    float v[] = {
        4,  6,     800,   600,                         /* a header with a size */
        1,  0.1f,  0.2f,  0.3f, 0.4f, 7,               /* stays */
        2,  -0.1f, -0.5f, 0.5f, 1.5f, 8,               /* is cut off */
        3,  0.5f,  0.5f,  0.5f, 0.9f, 9,               /* has no width */
        4,  0.5f,  0.9f,  0.7f, 0.5f, 10,              /* is upside down */
        5,  1.1f,  0.1f,  1.5f, 0.2f, 11,              /* lies outside */
        -1, 0.25f, 0,     1,    1,    (float)0x1p-80}; /* extra values are kept as they are */
    const float want[] = {4, 6, 800,  600, 1, 0.1f, 0.2f,  0.3f, 0.4f, 7, 2,
                          0, 0, 0.5f, 1,   8, -1,   0.25f, 0,    1,    1, (float)0x1p-80};
    struct det_label l;
    struct imrec_error err;
    ck_assert_msg(det_label_read(&l, v, sizeof(v) / sizeof(*v), &err) == IMREC_OK, "%s",
                  err.message);
    must_hold(&l, want, sizeof(want) / sizeof(*want), "read");
    ck_assert_uint_eq(det_label_count(&l), 3);
}

TEST(an_image_without_boxes_has_a_label_too)
{
    float three[] = {3, 5, 9}, two[] = {2, 0};
    struct det_label l;
    ck_assert_int_eq(det_label_read(&l, three, 3, NULL), IMREC_OK);
    ck_assert_uint_eq(det_label_count(&l), 0);
    ck_assert_int_eq(det_label_read(&l, two, 2, NULL), IMREC_OK);
    ck_assert_uint_eq(det_label_count(&l), 0);
}

static const struct {
    uint32_t n;
    float v[12];
    const char *told;
} bad[] = {
    {1, {3}, "the label has 1 value"},
    {7, {1, 5, 0, 0, 0, 1, 1}, "label value 0 (header width) is 1; a whole number from 2 to 7"},
    {7, {2.5f, 5, 0, 0, 0, 1, 1}, "label value 0 (header width) is 2.5"},
    {7, {8, 5, 0, 0, 0, 1, 1}, "label value 0 (header width) is 8"},
    {7, {-2, 5, 0, 0, 0, 1, 1}, "label value 0 (header width) is -2"},
    {7, {NAN, 5, 0, 0, 0, 1, 1}, "label value 0 (header width) is nan"},
    {7, {2, 4, 0, 0, 0, 1, 1}, "label value 1 (object width) is 4; a whole number from 5 to 7"},
    {7, {2, 1e30f, 0, 0, 0, 1, 1}, "label value 1 (object width) is 1e+30"},
    {8, {2, 5, 0, 0, 0, 1, 1, 1}, "8 values, which are not a header of 2 and whole objects of 5"},
    {7, {2, 5, INFINITY, 0, 0, 1, 1}, "class of object 0 is inf"},
    {7, {2, 5, 0, 0, NAN, 1, 1}, "ymin of object 0 is nan"},
    {12, {2, 5, 0, 0, 0, 1, 1, 0, 10, 0, 1, 1}, "xmin of object 1 is 10; coordinates are shares"},
    {7, {2, 5, 0, 0, 0, 1, 480}, "ymax of object 0 is 480"},
    {7, {2, 5, 0, -1.01f, 0, 1, 1}, "xmin of object 0 is -1.01"},
    {7, {2, 5, 0, 0, 0, 2.01f, 1}, "xmax of object 0 is 2.01"},
    {2, {2, 4}, "object width"},
};

LOOP_TEST(what_is_no_label_is_refused_by_field_and_value, 0, COUNT(bad))
{
    float v[12];
    struct det_label l;
    struct imrec_error err = {0};
    memcpy(v, bad[_i].v, sizeof(v));
    ck_assert_int_eq(det_label_read(&l, v, bad[_i].n, &err), IMREC_ERR_CORRUPT);
    ck_assert_msg(strstr(err.message, bad[_i].told) != NULL, "%s", err.message);
}

TEST(a_region_becomes_the_image)
{
    float v[] = {2, 5, 1, 0.1f, 0.1f, 0.3f, 0.5f, 2, 0.6f, 0.6f, 0.9f, 0.9f, 3, 0, 0, 1, 1};
    struct det_label l;
    const bool keep[] = {true, true, false};
    ck_assert_int_eq(det_label_read(&l, v, 17, NULL), IMREC_OK);
    det_label_project(&l, (struct det_box){0.2, 0.3, 0.6, 0.8}, keep);
    const float cropped[] = {2, 5, 1, 0, 0, 0.25f, 0.4f}; /* the second is outside */
    must_hold(&l, cropped, 7, "cropped");
    det_label_project(&l, (struct det_box){-1, -0.5, 3, 1.5}, NULL); /* a canvas around it */
    const float padded[] = {2, 5, 1, 0.25f, 0.25f, 0.3125f, 0.45f};
    must_hold(&l, padded, 7, "padded");
    det_label_mirror(&l);
    const float mirrored[] = {2, 5, 1, 0.6875f, 0.25f, 0.75f, 0.45f};
    must_hold(&l, mirrored, 7, "mirrored");
}

TEST(areas_and_centres)
{
    const struct det_box a = {0, 0, 0.5, 0.5}, b = {0.25, 0.25, 1, 0.75}, c = {0.5, 0, 1, 1};
    ck_assert_double_eq_tol(det_box_area(b), 0.375, 1e-12);
    ck_assert_double_eq_tol(det_box_shared_area(a, b), 0.0625, 1e-12);
    ck_assert_double_eq(det_box_shared_area(a, c), 0);
    ck_assert(!det_box_contains_centre(a, b) && det_box_contains_centre(c, b));
    const struct det_box middle = {0.4, 0.4, 0.6, 0.6}; /* its centre is an edge of both */
    ck_assert(!det_box_contains_centre(a, middle) && det_box_contains_centre(c, middle));
}

TEST(labels_are_boxes_only_where_nothing_speaks_against_it)
{
    static const float boxes[][14] = {
        {2, 5, 0, 0.1f, 0.2f, 0.5f, 0.6f},
        {3, 5, 9, 7, -0.1f, 0, 1.2f, 1},
        {2, 6, 1, 0, 0, 1, 1, 0, 2, 0.5f, 0.5f, 0.6f, 0.6f, 1},
    };
    static const uint32_t lengths[] = {7, 8, 14};
    static const float others[][7] = {
        {1, 5, 0, 0.1f, 0.2f, 0.5f, 0.6f},   {2.5f, 5, 0, 0.1f, 0.2f, 0.5f, 0.6f},
        {2, 4, 0, 0.1f, 0.2f, 0.5f, 0.6f},   {2, 6, 0, 0.1f, 0.2f, 0.5f, 0.6f},
        {2, 5, -1, 0.1f, 0.2f, 0.5f, 0.6f},  {2, 5, 0, 0.6f, 0.2f, 0.5f, 0.6f},
        {2, 5, 0, 10, 20, 30, 40},           {7, 5, 0, 0.1f, 0.2f, 0.5f, 0.6f},
        {NAN, 5, 0, 0.1f, 0.2f, 0.5f, 0.6f}, {2, INFINITY, 0, 0.1f, 0.2f, 0.5f, 0.6f},
        {2, 5, 0, 0.1f, 0.2f, 0.5f, NAN},
    };
    for (size_t i = 0; i < 3; i++) {
        ck_assert(imrec_labels_are_boxes(boxes[i], lengths[i]));
        ck_assert(!imrec_labels_are_boxes(boxes[i], lengths[i] - 1));
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        ck_assert_msg(!imrec_labels_are_boxes(others[i], 7), "row %zu", i);
    ck_assert(!imrec_labels_are_boxes(NULL, 0));
}
