/* Masks that number the objects of a label: they are moved with the image, boxes become the bounds
 * of what is left of their pixels, and numbers are those of the objects that are left. */
#include "imrec/augmenter.h"
#include "tests/support/built.h"
#include "tests/support/composed.h"
#include "tests/support/instancelook.h"
#include "tests/support/suite.h"

enum { RECORDS = 24 };

static struct mask_set set;

static void make(void)
{
    set = mask_set_make(RECORDS);
}

static void drop(void)
{
    tmpdir_remove(&set.dir);
}

#define DET      "label_width=-1 keypoints=1 aug_seq=det_aug_default fill_value=255 "
#define BOXES    "label_width=-1 keypoints=1 boxes=1 "
#define INSTANCE "mask_kind=instance "

static const char *const scenes[] = {
    DET,
    DET "resize_mode=fit rand_mirror_prob=0.5 rand_flip=0.5",
    DET "rand_crop_prob=1 min_crop_scales=0.3 max_crop_scales=0.8 crop_emit_mode=overlap "
        "emit_overlap_thresh=0",
    DET "rand_crop_prob=1 min_crop_scales=0.3 max_crop_scales=0.6 rand_pad_prob=0.5 "
        "max_pad_scale=2",
    DET "rand_affine_prob=1 max_affine_angle=180 max_affine_tilt=0.2 max_affine_shift=0.5",
    DET "rand_mosaic_prob=1 min_mosaic_scale=0.6 max_mosaic_shift=0.4 rand_mirror_prob=0.5",
    DET "rand_mosaic_prob=0.5 resize_mode=fit shuffle=1 num_views=2 batch_size=6 masks=uint8",
    BOXES "resize=112 max_rotate_angle=180 rand_mirror=1 rand_flip=0.5",
    BOXES "random_resized_crop=1 min_random_area=0.2 crop_emit_mode=overlap emit_overlap_thresh=0",
    BOXES "resize=90 pad=30 max_shear_ratio=0.2 rand_crop=1 num_views=3 batch_size=6",
};

CASE(.begin = built_with_png, .timeout = 60, .all_setup = make, .all_teardown = drop)

LOOP_TEST(boxes_bound_the_pixels_that_are_left, 0, COUNT(scenes))
{
    char words[1024];
    snprintf(words, sizeof(words), INSTANCE "%s", scenes[_i]);
    const struct instances_seen seen = look_at_all(mask_open(&set, words), words);
    ck_assert_msg(seen.slots >= RECORDS && seen.pixels > 5000 && seen.objects > RECORDS &&
                      seen.dots > 10,
                  "%s: %u slots, %u px, %u objects, %u dots", words, seen.slots, seen.pixels,
                  seen.objects, seen.dots);
}

/* What is left out of a label leaves a gap in the numbers of the record, none in the slot's. */
TEST(numbers_close_up_where_a_crop_leaves_objects_out)
{
    static struct view v;
    const char *words = INSTANCE DET "rand_crop_prob=1 min_crop_scales=0.4 max_crop_scales=0.4";
    struct imrec_iter *it = mask_open(&set, words);
    struct imrec_batch b;
    uint32_t gaps = 0;
    while (imrec_iter_next(it, &b, NULL) == IMREC_OK)
        for (uint32_t slot = 0; slot < b.count; slot++) {
            const struct imrec_detections d =
                imrec_detections_of(b.labels + (size_t)slot * b.label_width);
            look(&b, slot, &v);
            gaps += d.count != 0 && class_of_number(&d, 1) != 1;
            MUST(d.count == 0 || bounds_of(&v, 1).n > 0);
        }
    imrec_iter_close(it);
    ck_assert_uint_gt(gaps, 3);
}

/* Bytes of the labels of a sweep. */
static uint32_t take_labels(const char *words, float *out)
{
    struct imrec_iter *it = mask_open(&set, words);
    struct imrec_batch b;
    uint32_t n = 0;
    for (; imrec_iter_next(it, &b, NULL) == IMREC_OK; n += b.count * b.label_width)
        memcpy(out + n, b.labels, sizeof(float) * b.count * b.label_width);
    imrec_iter_close(it);
    return n;
}

TEST(boxes_may_be_moved_as_if_there_were_no_masks)
{
    static float with[RECORDS * 64], without[RECORDS * 64], bound[RECORDS * 64];
    const char *const moved = DET "rand_affine_prob=1 max_affine_angle=90 ";
    char words[1024];
    const uint32_t n = take_labels(moved, without);
    snprintf(words, sizeof(words), INSTANCE "mask_boxes=0 %s", moved);
    ck_assert_uint_eq(take_labels(words, with), n);
    ck_assert_int_eq(memcmp(with, without, n * sizeof(float)), 0);
    snprintf(words, sizeof(words), INSTANCE "%s", moved);
    ck_assert_uint_eq(take_labels(words, bound), n);
    ck_assert_int_ne(memcmp(bound, without, n * sizeof(float)), 0);
}

TEST(every_type_of_mask_has_the_same_numbers)
{
    struct imrec_batch small, large;
    struct imrec_iter *a = mask_open(&set, INSTANCE DET);
    struct imrec_iter *b = mask_open(&set, INSTANCE DET "masks=int32 ignore_label=40000");
    ck_assert_int_eq(imrec_iter_next(a, &small, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_iter_next(b, &large, NULL), IMREC_OK);
    for (size_t i = 0; i < (size_t)small.count * SIDE * SIDE; i++) {
        const int32_t wide = ((const int32_t *)large.masks)[i];
        MUST(((const uint8_t *)small.masks)[i] == (wide == 40000 ? MASK_IGNORE : wide));
    }
    imrec_iter_close(a);
    imrec_iter_close(b);
}

/* ---- augmenters of the user's ---------------------------------------------------------------- */

static enum imrec_status
lose_second(const struct imrec_augmenter_call *call, struct imrec_error *err)
{
    (void)err;
    if (call->label_count > 2 + MASK_OBJECT)
        call->labels[2 + MASK_OBJECT + 3] = call->labels[2 + MASK_OBJECT + 1]; /* xmax = xmin */
    return IMREC_OK;
}

static enum imrec_status
widen_header(const struct imrec_augmenter_call *call, struct imrec_error *err)
{
    (void)err;
    call->labels[0] += MASK_OBJECT;
    return IMREC_OK;
}

static enum imrec_status
narrow_objects(const struct imrec_augmenter_call *call, struct imrec_error *err)
{
    (void)err;
    call->labels[1] = 6; /* 3 objects of 8 are 4 of 6 */
    return IMREC_OK;
}

TEST(augmenters_of_the_users_may_lose_objects)
{
    const char *words = INSTANCE BOXES "resize=112 aug_seq=aug_default,lose_second";
    ck_assert_int_eq(imrec_augmenter_register("lose_second", lose_second, NULL, NULL), IMREC_OK);
    const struct instances_seen seen = look_at_all(mask_open(&set, words), words);
    ck_assert_uint_ge(seen.objects, seen.slots);
    ck_assert_uint_le(seen.objects, 2 * seen.slots);
}

LOOP_TEST(augmenters_of_the_users_may_not_make_other_values_objects, 0, 2)
{
    static const struct {
        const char *name;
        imrec_augment_fn *run;
    } all[] = {{"widen_header", widen_header}, {"narrow_objects", narrow_objects}};
    char words[1024];
    struct imrec_batch b;
    struct imrec_error err = {0};
    ck_assert_int_eq(imrec_augmenter_register(all[_i].name, all[_i].run, NULL, NULL), IMREC_OK);
    snprintf(words, sizeof(words),
             INSTANCE "label_width=-1 boxes=1 resize=112 aug_seq=aug_default,%s", all[_i].name);
    struct imrec_iter *it = mask_open(&set, words);
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_ERR_DATA);
    ck_assert_msg(strstr(err.message, "has changed the widths") != NULL, "%s", err.message);
    imrec_iter_close(it);
}

/* ---- what cannot be ---------------------------------------------------------------------------
 */

TEST(no_object_has_the_number_of_what_is_ignored)
{
    static const struct {
        const char *words, *says;
    } all[] = {
        {DET "ignore_label=3", "the label has an object with the number 3, but ignore_label=3"},
        {DET "rand_mosaic_prob=1 ignore_label=7 min_mosaic_scale=0.5 max_mosaic_scale=0.5",
         "its mosaic has an object with the number "},
    };
    for (int i = 0; i < COUNT(all); i++) {
        struct imrec_batch b;
        struct imrec_error err = {0};
        char words[512];
        snprintf(words, sizeof(words), INSTANCE "%s", all[i].words);
        struct imrec_iter *it = mask_open(&set, words);
        ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_ERR_DATA);
        ck_assert_msg(strstr(err.message, all[i].says) != NULL, "%s", err.message);
        imrec_iter_close(it);
    }
}

/* Where ignore_label is 0, what is nobody's is background. */
TEST(the_background_may_be_what_is_ignored)
{
    struct imrec_batch b;
    uint32_t seen = 0;
    struct imrec_iter *it = mask_open(&set, INSTANCE DET "ignore_label=0");
    ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
    for (size_t i = 0; i < (size_t)b.count * SIDE * SIDE; i++) {
        MUST(((const uint8_t *)b.masks)[i] <= MASK_OBJECTS);
        seen += ((const uint8_t *)b.masks)[i] != 0;
    }
    ck_assert_uint_gt(seen, 1000);
    imrec_iter_close(it);
}

static const struct {
    const char *words, *says;
} refused[] = {
    {"mask_kind=instance", "labels of boxes"},
    {DET "mask_kind=instance masks=none", "it needs masks="},
    {"mask_kind=instance boxes=1 label_width=-1 multi_crop=2x112 random_resized_crop=1",
     "which has one label with boxes"},
    {DET "mask_kind=panoptic", "mask_kind must be one of semantic|instance"},
};

LOOP_TEST(what_does_not_go_with_instances_is_refused, 0, COUNT(refused))
{
    struct imrec_error err = {0};
    struct imrec_iter *it = NULL;
    ck_assert_int_ne(mask_try_open(&set, refused[_i].words, &it, &err), IMREC_OK);
    ck_assert_msg(strstr(err.message, refused[_i].says) != NULL, "%s", err.message);
}

TEST(no_memory_is_an_error_wherever_it_is_missing)
{
    missing_memory_must_be_told(
        set.rec, MASK_WORDS, INSTANCE DET "preprocess_threads=1 batch_size=8 rand_mosaic_prob=0.5");
}
