/* Image, mask, boxes and keypoints move together: what is painted into the image is found again
 * where the three others say it is, whatever augmenter has moved it. */
#include "tests/support/built.h"
#include "tests/support/masklook.h"
#include "tests/support/suite.h"

enum { RECORDS = 24 };

static void must_move_together(const struct mask_set *s, const char *words, uint32_t least)
{
    char all[1024];
    snprintf(all, sizeof(all), "label_width=-1 keypoints=1 %s%s", words,
             strstr(words, "det_aug_default") != NULL ? "" : " boxes=1");
    const struct mask_seen seen = masks_must_agree(mask_open(s, all), words);
    ck_assert_msg(seen.pixels > 2000 && seen.dots >= least, "%s: %u px and %u dots seen", words,
                  seen.pixels, seen.dots);
}

/* ---- augmenters ---------------------------------------------------------------------------- */

static const struct {
    const char *words;
    uint32_t dots; /* found, at least */
} recipes[] = {
    {"", 10},
    {"resize=112", 30},
    {"resize=112 inter_method=2", 30},
    {"resize=112 inter_method=3", 30},
    {"resize=112 inter_method=4", 30},
    {"resize=112 inter_method=0", 30},
    {"resize=112 antialias=1", 30},
    {"resize=200 rand_crop=1", 5},
    {"resize=90", 10}, /* enlarged again */
    {"mirror=1 resize=112", 30},
    {"rand_crop=1 rand_mirror=1", 10},
    {"random_resized_crop=1 min_random_area=0.3 max_aspect_ratio=0.3 rand_mirror=1", 10},
    {"random_resized_crop=1 rrc_style=torch min_random_area=0.2 antialias=1", 10},
    {"min_crop_size=60 max_crop_size=110 rand_crop=1", 5},
    {"resize=112 rotate=30", 20},
    {"resize=112 max_rotate_angle=180 rand_mirror=1", 20},
    {"resize=112 rotate_list=90,180,270", 30},
    {"resize=112 max_shear_ratio=0.3", 20},
    {"resize=112 min_random_scale=0.6 max_random_scale=1.5 rand_crop=1", 15},
    {"resize=112 max_aspect_ratio=0.3", 20},
    {"resize=112 pad=20 rand_crop=1", 20},
    {"resize=90 pad=30 max_rotate_angle=45 max_shear_ratio=0.2 rand_crop=1 rand_mirror=1", 20},
    {"resize=112 rand_augment=2 rand_augment_magnitude=20", 4},
    {"resize=112 trivial_augment=1 rand_mirror=1", 4},
    {"resize=112 rand_flip=1", 30},
    {"resize=112 rand_flip=0.5 rand_mirror_prob=0.3 max_rotate_angle=30 pad=8 rand_crop=1", 20},
    {"resize=112 auto_augment=svhn", 4},
    {"resize=112 rand_augment=2 rand_augment_style=timm_inc rand_augment_mstd=0.5", 4},
    {"resize=112 resize_style=pillow inter_method=2", 30},
    {"random_resized_crop=1 rrc_style=torch min_random_area=0.2 resize_style=pillow", 10},
    {"num_views=3 batch_size=6 resize=112 pad=20 rand_crop=1 max_rotate_angle=45", 60},
    {"num_views=4 batch_size=8 random_resized_crop=1 min_random_area=0.3 rand_mirror=1", 30},
    {"num_views=2 batch_size=6 aug_seq=det_aug_default fill_value=255 rand_mirror_prob=0.5 "
     "rand_pad_prob=0.5 max_pad_scale=2",
     30},
    {"aug_seq=det_aug_default fill_value=255", 30},
    {"aug_seq=det_aug_default fill_value=255 rand_mirror_prob=0.5 resize_mode=fit", 30},
    {"aug_seq=det_aug_default fill_value=255 rand_mirror_prob=1 resize_mode=shrink resize=90", 30},
    {"aug_seq=det_aug_default fill_value=255 rand_flip=0.5 rand_mirror_prob=0.5 resize_mode=fit",
     30},
    {"aug_seq=det_aug_default fill_value=255 rand_flip=1 resize_mode=shrink resize=90", 30},
    {"aug_seq=det_aug_default fill_value=255 rand_pad_prob=1 max_pad_scale=2", 30},
    {"aug_seq=det_aug_default fill_value=255 rand_crop_prob=1 min_crop_scales=0.5 "
     "crop_emit_mode=overlap emit_overlap_thresh=0.1 rand_mirror_prob=0.5 rand_pad_prob=0.5 "
     "max_pad_scale=1.5 resize_mode=fit",
     8},
    {"aug_seq=det_aug_default fill_value=255 rand_affine_prob=1 max_affine_angle=40 "
     "max_affine_shear=10 max_affine_shift=0.1 min_affine_scale=0.8 max_affine_scale=1.2 "
     "resize_mode=fit rand_mirror_prob=0.5",
     15},
    {"aug_seq=det_aug_default fill_value=255 rand_affine_prob=1 max_affine_tilt=0.3 "
     "resize_mode=shrink rand_flip=0.5",
     15},
    {"num_views=2 batch_size=6 aug_seq=det_aug_default fill_value=255 rand_affine_prob=0.5 "
     "max_affine_tilt=0.3 max_affine_angle=180 rand_pad_prob=0.5 max_pad_scale=1.5",
     15},
};

static struct mask_set set;

static void make(void)
{
    set = mask_set_make(RECORDS);
}

static void drop(void)
{
    tmpdir_remove(&set.dir);
}

CASE(.begin = built_with_png, .timeout = 60, .all_setup = make, .all_teardown = drop)

LOOP_TEST(image_mask_boxes_and_keypoints_move_together, 0, COUNT(recipes))
{
    must_move_together(&set, recipes[_i].words, recipes[_i].dots);
}

/* Each crop has masks of its own: those of the view of its number. */
LOOP_TEST(tensors_have_their_masks, 0, 2) /* _i into sizes */
{
    static const char common[] = "random_resized_crop=1 min_random_area=0.2 "
                                 "rand_mirror=1 on_error=skip";
    static const uint32_t sizes[] = {112, 50};
    char words[1024], plain[1024], list[64 * RECORDS];
    size_t n_list = 0;
    for (int i = 0; i < RECORDS; i++) /* one label in the place of the boxes */
        n_list += (size_t)sprintf(list + n_list, "%d\t%d\tx\n", i, i % 3);
    const char *path = tmp_write(&set.dir, "one.lst", list, n_list);
    struct imrec_batch a, b;
    snprintf(words, sizeof(words), "%s batch_size=4 multi_crop=2x112,2x50 path_imglist=%s", common,
             path);
    snprintf(plain, sizeof(plain),
             "%s batch_size=16 num_views=4 data_shape=3,%u,%u path_imglist=%s", common, sizes[_i],
             sizes[_i], path);
    struct imrec_iter *crops = mask_open(&set, words), *views = mask_open(&set, plain);
    for (int batch = 0; batch < 4; batch++) {
        ck_assert_int_eq(imrec_iter_next(crops, &a, NULL), IMREC_OK);
        ck_assert_int_eq(imrec_iter_next(views, &b, NULL), IMREC_OK);
        const size_t n = (size_t)sizes[_i] * sizes[_i];
        for (uint32_t i = 0; i < 2 * a.slots; i++) {
            const uint32_t slot = i / 2, tensor = 2 * (uint32_t)_i + i % 2;
            const uint8_t *told = a.views[tensor].masks, *want = b.masks;
            ck_assert_int_eq(memcmp(told + slot * n, want + (4 * slot + tensor) * n, n), 0);
        }
        ck_assert_ptr_eq(a.masks, a.views[0].masks);
    }
    imrec_iter_close(crops);
    imrec_iter_close(views);
}
