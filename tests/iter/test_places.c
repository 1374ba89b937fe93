/* record_places: keypoints of a slot go back to where they are in the image of their record. */
#include "tests/support/built.h"
#include "tests/support/maskset.h"
#include "tests/support/suite.h"

#include <math.h>

enum { RECORDS = 24 };

static void go_back(const struct imrec_place *p, double u, double v, double *x, double *y)
{
    const float *m = p->matrix;
    const double z = (double)m[6] * u + (double)m[7] * v + (double)m[8];
    *x = ((double)m[0] * u + (double)m[1] * v + (double)m[2]) / z;
    *y = ((double)m[3] * u + (double)m[4] * v + (double)m[5]) / z;
}

static uint32_t must_go_back(const struct imrec_batch *b, uint32_t slot, const char *words)
{
    const struct imrec_detections d =
        imrec_detections_of(b->labels + (size_t)slot * b->label_width);
    const struct mask_image from = mask_image((uint32_t)b->ids[slot]);
    const struct imrec_place *p = &b->places[slot];
    MUST(p->width == from.w && p->height == from.h);
    for (uint32_t i = 0; i < d.count; i++) {
        const float *o = d.objects + (size_t)i * d.object_width;
        const uint32_t k = (uint32_t)o[0] - 1;
        double x, y;
        go_back(p, (double)o[5] * d.columns, (double)o[6] * d.rows, &x, &y);
        const double want_x = (from.x0[k] + from.x1[k]) / 2 + 0.5;
        const double want_y = (from.y0[k] + from.y1[k]) / 2 + 0.5;
        if (fabs(x - want_x) > 0.02 || fabs(y - want_y) > 0.02)
            ck_abort_msg("%s: id %d: %g, %g, not %g, %g", words, (int)b->ids[slot], x, y, want_x,
                         want_y);
    }
    return d.count;
}

static const char *const recipes[] = {
    "boxes=1",
    "boxes=1 resize=112 max_rotate_angle=180 rand_mirror=1 max_shear_ratio=0.2",
    "boxes=1 random_resized_crop=1 min_random_area=0.3 max_aspect_ratio=0.3 rand_mirror=1",
    "boxes=1 resize=90 pad=30 rand_crop=1 rand_flip=0.5 num_views=2 batch_size=6",
    "boxes=1 resize=112 trivial_augment=1",
    "aug_seq=det_aug_default resize_mode=fit rand_mirror_prob=0.5 rand_pad_prob=1 max_pad_scale=2",
    "aug_seq=det_aug_default resize_mode=shrink rand_flip=0.5 rand_crop_prob=1 "
    "min_crop_scales=0.5 resize=90",
    "aug_seq=det_aug_default rand_affine_prob=1 max_affine_angle=180 max_affine_tilt=0.3 "
    "max_affine_shear=20 max_affine_shift=0.2 rand_mirror_prob=0.5",
};

CASE(.begin = built_with_png, .timeout = 60)

LOOP_TEST(keypoints_go_back_to_their_image, 0, COUNT(recipes))
{
    struct mask_set s = mask_set_make(RECORDS);
    char words[1024];
    struct imrec_batch b;
    uint32_t seen = 0;
    snprintf(words, sizeof(words), "label_width=-1 keypoints=1 record_places=1 %s", recipes[_i]);
    struct imrec_iter *it = mask_open(&s, words);
    while (imrec_iter_next(it, &b, NULL) == IMREC_OK) {
        ck_assert_ptr_eq(b.places, b.views[0].places);
        for (uint32_t i = 0; i < b.slots; i++)
            seen += must_go_back(&b, i, words);
    }
    ck_assert_uint_gt(seen, RECORDS);
    imrec_iter_close(it);
    tmpdir_remove(&s.dir);
}

static bool is_zero(const struct imrec_place *p)
{
    const struct imrec_place zero = {{0}, 0, 0};
    return memcmp(p, &zero, sizeof(zero)) == 0;
}

TEST(crops_have_places_of_their_own)
{
    struct mask_set s = mask_set_make(RECORDS);
    struct imrec_batch b;
    struct imrec_iter *it = mask_open(
        &s, "label_width=26 masks=none record_places=1 random_resized_crop=1 min_random_area=0.2 "
            "multi_crop=2x112,1x50");
    ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
    ck_assert_uint_eq(b.view_count, 3);
    for (uint32_t i = 0; i < b.slots; i++) {
        const struct imrec_place *a = &b.views[0].places[i], *c = &b.views[1].places[i];
        MUST(!is_zero(a) && a->width == c->width && memcmp(a, c, sizeof(*a)) != 0);
        double x, y;
        go_back(&b.views[2].places[i], 50, 50, &x, &y); /* the slot's far corner */
        MUST(x > 0 && y > 0 && x <= a->width + 0.01 && y <= a->height + 0.01);
    }
    imrec_iter_close(it);
    tmpdir_remove(&s.dir);
}

TEST(mosaics_and_padding_have_no_place)
{
    struct mask_set s = mask_set_make(7);
    struct imrec_batch b;
    uint32_t mosaics = 0, single = 0, padding = 0;
    struct imrec_iter *it = mask_open(&s, "label_width=-1 record_places=1 aug_seq=det_aug_default "
                                          "rand_mosaic_prob=0.5 last_batch=pad");
    while (imrec_iter_next(it, &b, NULL) == IMREC_OK)
        for (uint32_t i = 0; i < b.slots; i++) {
            const bool none = !b.valid[i] || b.draws[i].mosaic;
            MUST(is_zero(&b.places[i]) == none);
            mosaics += b.draws[i].mosaic;
            padding += !b.valid[i];
            single += !none;
        }
    ck_assert(mosaics > 0 && single > 0 && padding == 3);
    imrec_iter_close(it);
    it = mask_open(&s, "label_width=26");
    ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
    ck_assert_ptr_null(b.places);
    imrec_iter_close(it);
    tmpdir_remove(&s.dir);
}

static const char *const refused[] = {"images=none record_places=1 masks=none record_draws=0",
                                      "audio=1 record_places=1 masks=none"};

LOOP_TEST(what_has_no_image_has_no_place, 0, COUNT(refused))
{
    struct mask_set s = mask_set_make(2);
    struct imrec_iter *it = NULL;
    struct imrec_error err = {0};
    ck_assert_int_eq(mask_try_open(&s, refused[_i], &it, &err), IMREC_ERR_ARGUMENT);
    ck_assert_msg(strstr(err.message, "record_places") != NULL, "%s", err.message);
    tmpdir_remove(&s.dir);
}
