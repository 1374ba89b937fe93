/* Keypoints of a label: what is refused before anything moves, and in which words. */
#include "augment/targets.h"
#include "tests/support/suite.h"

#include <math.h>
#include <string.h>

static struct recipe with(uint32_t keypoints)
{
    struct recipe r;
    memset(&r, 0, sizeof(r));
    r.keypoints = keypoints;
    return r;
}

static const struct {
    float values[6];
    const char *says; /* NULL: nothing */
} points[] = {
    {{0, 0, 0, 1, 1, 2}, NULL},
    {{-9, 10, 1, 10, -10, 2}, NULL}, /* far outside, but a share */
    {{0, 0, 2, NAN, 0, 2}, "x of keypoint 1 is nan; a finite number is right"},
    {{0, INFINITY, 2, 0, 0, 2}, "y of keypoint 0 is inf; a finite number is right"},
    {{0, 0, 2, 0, 0, -INFINITY}, "visibility of keypoint 1 is -inf; a finite number is right"},
    {{320, 0, 2, 0, 0, 2},
     "x of keypoint 0 is 320; coordinates are shares of the image's sides, from 0 to 1, not px"},
    {{0, 0, 2, 0, -10.5f, 2},
     "y of keypoint 1 is -10.5; coordinates are shares of the image's sides, from 0 to 1, not px"},
    {{0, 0, 255, 0, 0, 2},
     "visibility of keypoint 0 is 255; it is 0 (not labelled), 1 (hidden) or 2 (visible)"},
};

LOOP_TEST(what_no_keypoint_can_be_is_refused_by_name, 0, COUNT(points))
{
    const struct recipe r = with(2);
    struct imrec_error err = {.message = ""};
    float label[9] = {7, 8, 9}; /* what comes before is none of them */
    memcpy(label + 3, points[_i].values, sizeof(points[_i].values));
    ck_assert_int_eq(targets_check_points(&r, label, 9, &err),
                     points[_i].says == NULL ? IMREC_OK : IMREC_ERR_CORRUPT);
    ck_assert_str_eq(err.message, points[_i].says == NULL ? "" : points[_i].says);
}

TEST(labels_have_room_for_their_keypoints)
{
    const struct recipe r = with(2);
    const float label[6] = {0};
    struct imrec_error err;
    ck_assert_int_eq(targets_check_points(&r, label, 6, &err), IMREC_OK);
    ck_assert_int_eq(targets_check_points(&r, label, 5, &err), IMREC_ERR_CORRUPT);
    ck_assert_str_eq(err.message, "the label has 5 values, which is too few for 2 keypoints of x, "
                                  "y, visibility");
}
