/* Objects pasted from one image into another, compared with what a few lines per pixel say; and
 * which objects are chosen. */
#include "augment/draw/paste_draw.h"
#include "augment/paste.h"
#include "tests/support/suite.h"

#include <string.h>

enum { W = 9, H = 7, PIXELS = W * H, OBJECT = 8, MOST = 12 };

struct side { /* an image, with room for the objects of both */
    uint8_t pixels[PIXELS];
    uint16_t mask[PIXELS];
    float values[2 + MOST * OBJECT];
    uint32_t numbers[MOST];
    struct paste_image image;
};

/* A pixel is at + 10 * number; object k has the class at + k, and a keypoint in its first pixel. */
static void
make_side(struct side *s, uint32_t at, uint32_t columns, uint32_t rows, const char *mask)
{
    uint32_t n = 0;
    memset(s, 0, sizeof(*s));
    for (uint32_t i = 0; i < PIXELS; i++) {
        s->mask[i] = (uint16_t)(mask[i] == '#' ? 255 : mask[i] == '.' ? 0 : mask[i] - '0');
        s->pixels[i] = (uint8_t)(at + s->mask[i] % 255 * 10);
        n = s->mask[i] != 255 && s->mask[i] > n ? s->mask[i] : n;
    }
    s->values[0] = 2, s->values[1] = OBJECT;
    for (uint32_t k = 0; k < n; k++) {
        const size_t first = (size_t)(strchr(mask, (int)('1' + k)) - mask);
        const float object[OBJECT] = {(float)(at + k),
                                      0,
                                      0,
                                      1,
                                      1,
                                      ((float)(first % W) + 0.5f) / (float)columns,
                                      ((float)(first / W) + 0.5f) / (float)rows,
                                      2};
        memcpy(s->values + 2 + (size_t)k * OBJECT, object, sizeof(object));
        s->numbers[k] = k + 1;
    }
    s->image = (struct paste_image){
        .pixels = s->pixels,
        .mask = {.width = W, .height = H, .bits = 16, .values = s->mask},
        .columns = columns,
        .rows = rows,
        .label = {s->values, 2 + n * OBJECT, 2, OBJECT, s->numbers},
    };
}

static const char own_mask[] = "1111...22"
                               "1111...22"
                               "1111...22"
                               "1111....."
                               "........3"
                               "444######"
                               "444######";
static const char other_mask[] = "....1...."
                                 ".....2..."
                                 ".222222.."
                                 ".222222.."
                                 "........."
                                 "##3.....4"
                                 "########4";

static struct augment_options options(float least, bool boxes)
{
    return (struct augment_options){
        .data_shape = {1, H, W}, .ignore_label = 255, .min_box_area = least, .mask_boxes = boxes};
}

static struct object_room room;

static enum imrec_status run(const struct augment_options *o, uint32_t label_room, struct side *own,
                             struct side *other, uint32_t *pasted, struct imrec_error *err)
{
    const struct paste_job job = {o, &room, 1, label_room};
    ck_assert_int_eq(object_room_init(&room, MOST, NULL), IMREC_OK);
    const enum imrec_status st = paste_objects(&job, &other->image, &own->image, pasted, err);
    object_room_free(&room);
    return st;
}

static const float *object_of(const struct side *s, uint32_t class)
{
    const struct det_label *l = &s->image.label;
    for (uint32_t k = 0; k < det_label_count(l); k++)
        if (s->values[2 + (size_t)k * OBJECT] == (float)class)
            return s->values + 2 + (size_t)k * OBJECT;
    return NULL;
}

static void must_be_box(const float *o, uint32_t x0, uint32_t y0, uint32_t x1, uint32_t y1,
                        uint32_t columns, uint32_t rows)
{
    ck_assert_ptr_nonnull(o);
    ck_assert(o[1] == (float)((double)x0 / columns) && o[2] == (float)((double)y0 / rows));
    ck_assert(o[3] == (float)((double)x1 / columns) && o[4] == (float)((double)y1 / rows));
}

CASE(.timeout = 20)

TEST(pixels_are_those_of_objects_where_the_image_is_shown)
{
    struct side own, other, before;
    uint32_t pasted;
    const struct augment_options o = options(0.5f, true);
    make_side(&own, 0, 8, 6, own_mask);
    make_side(&before, 0, 8, 6, own_mask);
    make_side(&other, 100, W, 7, other_mask);
    ck_assert_int_eq(run(&o, MOST * OBJECT, &own, &other, &pasted, NULL), IMREC_OK);
    for (uint32_t i = 0; i < PIXELS; i++) {
        const bool object = other_mask[i] >= '1' && other_mask[i] <= '4';
        const bool shown = i % W < 8 && i / W < 6;
        const uint8_t want =
            object && shown ? (uint8_t)(100 + 10 * (other_mask[i] - '0')) : before.pixels[i];
        ck_assert_uint_eq(own.pixels[i], want);
    }
    ck_assert_uint_eq(pasted, 3); /* the fourth is where the image is not shown */
    ck_assert_ptr_null(object_of(&own, 103));
    ck_assert_ptr_null(object_of(&own, 2)); /* 3 of own is right of what is shown */
    must_be_box(object_of(&own, 0), 0, 0, 4, 4, 8, 6);
    must_be_box(object_of(&own, 1), 7, 0, 8, 3, 8, 6);
    must_be_box(object_of(&own, 3), 0, 5, 2, 6, 8, 6);
    must_be_box(object_of(&own, 100), 4, 0, 5, 1, 8, 6);
    must_be_box(object_of(&own, 101), 1, 1, 7, 4, 8, 6);
    must_be_box(object_of(&own, 102), 2, 5, 3, 6, 8, 6);
}

TEST(numbers_are_those_of_the_label)
{
    struct side own, other;
    uint32_t pasted;
    const struct augment_options o = options(0, true);
    make_side(&own, 0, W, H, own_mask);
    make_side(&other, 100, W, H, other_mask);
    ck_assert_int_eq(run(&o, MOST * OBJECT, &own, &other, &pasted, NULL), IMREC_OK);
    const uint32_t n = det_label_count(&own.image.label);
    ck_assert_uint_eq(n, 8);
    for (uint32_t i = 0; i < PIXELS; i++) {
        const bool object = own.mask[i] != 0 && own.mask[i] != 255;
        ck_assert(!object || own.mask[i] <= n);
        if (!object) {
            ck_assert_uint_eq(own.pixels[i], 0);
            continue;
        }
        const uint32_t class = (uint32_t)own.values[2 + (size_t)(own.mask[i] - 1) * OBJECT];
        ck_assert_uint_eq(own.pixels[i], class / 100 * 100 + 10 * (class % 100 + 1));
        ck_assert_uint_eq(own.numbers[own.mask[i] - 1], own.mask[i]);
    }
}

/* Of object 1, 16 px, six are hidden: 10 are left. */
LOOP_TEST(objects_of_which_too_little_is_left_are_gone, 0, 2)
{
    const float least[] = {0.625f, 0.626f};
    struct side own, other;
    uint32_t pasted;
    const struct augment_options o = options(least[_i], true);
    make_side(&own, 0, W, H, own_mask);
    make_side(&other, 100, W, H, other_mask);
    ck_assert_int_eq(run(&o, MOST * OBJECT, &own, &other, &pasted, NULL), IMREC_OK);
    ck_assert_uint_eq(pasted, 4);
    ck_assert_int_eq(object_of(&own, 0) == NULL, _i == 1);
    ck_assert_uint_eq(own.mask[0], _i == 0 ? 1 : 255);
}

/* Also where boxes are not bound to pixels, and no share of them is asked for. */
TEST(objects_that_are_hidden_altogether_are_gone)
{
    struct side own, other;
    uint32_t pasted;
    const struct augment_options o = options(0, false);
    make_side(&own, 0, W, H, own_mask);
    make_side(&other, 100, W, H,
              "........."
              "........."
              "........."
              "........."
              "........1"
              "........."
              ".........");
    ck_assert_int_eq(run(&o, MOST * OBJECT, &own, &other, &pasted, NULL), IMREC_OK);
    ck_assert(object_of(&own, 2) == NULL && object_of(&own, 1) != NULL);
    ck_assert_uint_eq(det_label_count(&own.image.label), 4);
}

/* Own ones that are pasted over are hidden; pasted ones that are not shown are outside. */
TEST(keypoints_say_what_is_seen_of_them)
{
    static const char hiding[] = "1........"
                                 "........."
                                 "........."
                                 "........."
                                 "........."
                                 "........."
                                 "........2";
    struct side own, other;
    uint32_t pasted;
    const struct augment_options o = options(0, false);
    make_side(&own, 0, 8, H, own_mask);
    make_side(&other, 100, W, H, hiding);
    ck_assert_int_eq(run(&o, MOST * OBJECT, &own, &other, &pasted, NULL), IMREC_OK);
    ck_assert(object_of(&own, 0)[7] == 1 && object_of(&own, 1)[7] == 2);
    ck_assert(object_of(&own, 100)[7] == 2 && object_of(&own, 101)[7] == -2);
    ck_assert(object_of(&own, 100)[5] == 0.5f / 8 && object_of(&own, 101)[5] == 8.5f / 8);
}

TEST(labels_without_room_fail)
{
    struct side own, other;
    struct imrec_error err = {0};
    uint32_t pasted;
    const struct augment_options o = options(0, true);
    make_side(&own, 0, W, H, own_mask);
    make_side(&other, 100, W, H, other_mask);
    ck_assert_int_eq(run(&o, 2 + 8 * OBJECT - 1, &own, &other, &pasted, &err), IMREC_ERR_DATA);
    ck_assert_str_eq(err.message, "with 4 pasted objects it has a label of 66 values, but "
                                  "label_pad_width is 65");
    make_side(&own, 0, W, H, own_mask);
    make_side(&other, 100, W, H, other_mask);
    ck_assert_int_eq(run(&o, 2 + 8 * OBJECT, &own, &other, &pasted, &err), IMREC_OK);
}

TEST(numbers_below_ignore_label_are_enough_for_all)
{
    struct side own, other;
    struct imrec_error err = {0};
    uint32_t pasted;
    struct augment_options o = options(0, true);
    o.ignore_label = 8;
    make_side(&own, 0, W, H, own_mask);
    make_side(&other, 100, W, H, other_mask);
    ck_assert_int_eq(run(&o, MOST * OBJECT, &own, &other, &pasted, &err), IMREC_ERR_DATA);
    ck_assert_ptr_nonnull(strstr(err.message, "with pasted objects it has an object with the "
                                              "number 8, but ignore_label=8"));
}

/* ---- which ones --------------------------------------------------------------------------------
 */

/* Every number of objects up to the bound, and every object, is as likely as the others. */
LOOP_TEST(objects_are_chosen_evenly, 0, 3)
{
    enum { N = 10, TRIES = 20000 };
    static const uint32_t bounds[] = {0, 3, 40};
    struct augment_options o = {.rand_copy_paste_prob = 1, .max_copy_paste_objects = bounds[_i]};
    const struct recipe r = {.o = &o, .det = {.on = true}};
    const uint32_t most = bounds[_i] == 3 ? 3 : N;
    uint32_t by_count[N + 1] = {0}, by_object[N] = {0}, all = 0;
    for (uint64_t i = 0; i < TRIES; i++) {
        const struct sample_key key = {1, 2, 3, i, 0};
        float values[2 + N * 5] = {2, 5};
        uint32_t numbers[N];
        struct det_label l = {values, 2 + N * 5, 2, 5, numbers};
        struct paste_draw d;
        for (uint32_t k = 0; k < N; k++)
            numbers[k] = k;
        ck_assert(paste_draw(&r, key, &d));
        paste_choose(&r, key, &d, &l);
        const uint32_t n = det_label_count(&l);
        ck_assert(n >= 1 && n <= most);
        by_count[n]++;
        all += n;
        for (uint32_t k = 0; k < n; k++) {
            ck_assert(k == 0 || numbers[k] > numbers[k - 1]);
            by_object[numbers[k]]++;
        }
    }
    for (uint32_t n = 1; n <= most; n++)
        ck_assert(by_count[n] > 0.85 * TRIES / most && by_count[n] < 1.15 * TRIES / most);
    for (uint32_t k = 0; k < N; k++)
        ck_assert(by_object[k] > 0.93 * all / N && by_object[k] < 1.07 * all / N);
}
