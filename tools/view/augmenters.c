/* tools/view/augmenters.c - every augmenter at its usual setting. */
#include "tools/view/augmenters.h"

#include "tools/commands/command.h"

#include <stdio.h>
#include <string.h>

#define BOXES "preset=ImageDetRecordIter "

/* The usual settings: those of the recipes that train classifiers, and SSD's. */
const struct augmenter augmenters[] = {
    {"crop", "rand_crop=1 rand_mirror=1", AUGMENTER_MEASURED},
    {"resize", "resize=240", AUGMENTER_MEASURED},
    {"resize-nearest", "resize=240 inter_method=0", AUGMENTER_SHOWN},
    {"resize-cubic", "resize=240 inter_method=2", AUGMENTER_MEASURED},
    {"resize-area", "resize=240 inter_method=3", AUGMENTER_MEASURED},
    {"resize-lanczos", "resize=240 inter_method=4", AUGMENTER_MEASURED},
    {"rotate", "max_rotate_angle=10", AUGMENTER_MEASURED},
    {"rotate-fixed", "rotate=30 fill_value=127", AUGMENTER_SHOWN},
    {"rotate-list", "rotate_list=-90,0,90,180", AUGMENTER_SHOWN},
    {"shear", "max_shear_ratio=0.1", AUGMENTER_MEASURED},
    {"scale", "min_random_scale=0.8 max_random_scale=1.25", AUGMENTER_MEASURED},
    {"scale-within", "min_random_scale=0.5 max_random_scale=2 min_img_size=170 max_img_size=260",
     AUGMENTER_SHOWN},
    {"aspect", "max_aspect_ratio=0.25", AUGMENTER_MEASURED},
    {"pad", "pad=4", AUGMENTER_MEASURED},
    {"random-resized-crop",
     "random_resized_crop=1 min_random_area=0.08 max_random_area=1 min_aspect_ratio=0.75 "
     "max_aspect_ratio=1.3333",
     AUGMENTER_MEASURED},
    {"crop-size", "min_crop_size=160 max_crop_size=240 rand_crop=1", AUGMENTER_MEASURED},
    {"brightness", "brightness=0.4", AUGMENTER_MEASURED},
    {"contrast", "contrast=0.4", AUGMENTER_MEASURED},
    {"saturation", "saturation=0.4", AUGMENTER_MEASURED},
    {"brightness-contrast-saturation", "brightness=0.4 contrast=0.4 saturation=0.4",
     AUGMENTER_MEASURED},
    {"hsl", "random_h=36 random_s=50 random_l=50", AUGMENTER_MEASURED},
    {"pca", "pca_noise=0.1", AUGMENTER_MEASURED},
    {"rand-augment", "rand_augment=2 rand_augment_magnitude=9", AUGMENTER_MEASURED},
    {"trivial-augment", "trivial_augment=1", AUGMENTER_MEASURED},
    {"rand-augment-timm",
     "rand_augment=2 rand_augment_magnitude=9 rand_augment_style=timm_inc rand_augment_mstd=0.5 "
     "rand_augment_prob=0.5",
     AUGMENTER_MEASURED},
    {"rand-augment-scheduled", "rand_augment=2 rand_augment_magnitude_schedule=0:5;30:9",
     AUGMENTER_SHOWN},
    {"auto-augment", "auto_augment=imagenet", AUGMENTER_MEASURED},
    {"augmix",
     "augmix=1 augmix_severity=3 augmix_width=3 augmix_depth=0 augmix_alpha=1 augmix_all_ops=1",
     AUGMENTER_MEASURED},
    {"hue", "hue=0.1", AUGMENTER_MEASURED},
    {"grayscale", "random_grayscale=0.2", AUGMENTER_MEASURED},
    {"gaussian-blur", "gaussian_blur=0.5 min_blur_sigma=0.1 max_blur_sigma=2", AUGMENTER_MEASURED},
    {"random-erasing", "random_erasing=0.25 min_erase_area=0.02 max_erase_area=0.33",
     AUGMENTER_MEASURED},
    {"random-erasing-noise", "random_erasing=1 erase_mode=pixel", AUGMENTER_MEASURED},
    {"random-erasing-value", "random_erasing=1 erase_mode=constant erase_value=124,117,104",
     AUGMENTER_SHOWN},
    {"solarize", "random_solarize=0.5 solarize_threshold=128", AUGMENTER_MEASURED},
    {"flip", "rand_flip=0.5", AUGMENTER_MEASURED},
    {"jitter", "jitter_prob=0.8 brightness=0.4 contrast=0.4 saturation=0.2 hue=0.1",
     AUGMENTER_SHOWN},
    {"resize-pillow", "resize=240 inter_method=2 resize_style=pillow", AUGMENTER_MEASURED},
    {"random-resized-crop-torch",
     "random_resized_crop=1 rrc_style=torch antialias=1 min_random_area=0.08 "
     "min_aspect_ratio=0.75 max_aspect_ratio=1.3333",
     AUGMENTER_MEASURED},
    {"mixup", "mixup=0.2", AUGMENTER_MEASURED},
    {"cutmix", "cutmix=1", AUGMENTER_MEASURED},
    {"tones", "max_random_contrast=0.2 max_random_illumination=20", AUGMENTER_MEASURED},
    {"mirror", "mirror=1", AUGMENTER_SHOWN},
    {"order", "aug_seq=blur,light gaussian_blur=1 brightness=0.4", AUGMENTER_SHOWN},
    {"other-seed", "seed_aug=7 rand_crop=1 brightness=0.4", AUGMENTER_SHOWN},
    {"normalize",
     "mean_r=123.68 mean_g=116.78 mean_b=103.94 std_r=58.4 std_g=57.12 std_b=57.38 scale=1",
     AUGMENTER_SHOWN},
    {"imagenet-train", "preset=imagenet-train", AUGMENTER_SHOWN},
    {"imagenet-train-torch", "preset=imagenet-train-torch", AUGMENTER_SHOWN},

    {"boxes-crop",
     BOXES "rand_crop_prob=1 num_crop_sampler=2 min_crop_scales=0.3,0.6 max_crop_scales=1 "
           "min_crop_aspect_ratios=0.5 max_crop_aspect_ratios=2 min_crop_object_coverages=0.5,0.8 "
           "max_crop_object_coverages=1 max_crop_trials=50 crop_emit_mode=center",
     AUGMENTER_BOXES},
    {"boxes-crop-overlap",
     BOXES "rand_crop_prob=1 min_crop_scales=0.3 min_crop_overlaps=0.1 max_crop_overlaps=0.9 "
           "crop_emit_mode=overlap emit_overlap_thresh=0.4",
     AUGMENTER_BOXES},
    {"boxes-crop-coverage",
     BOXES "rand_crop_prob=1 min_crop_scales=0.2 min_crop_sample_coverages=0.2 "
           "max_crop_sample_coverages=0.9",
     AUGMENTER_BOXES},
    {"boxes-canvas", BOXES "rand_pad_prob=0.7 max_pad_scale=3", AUGMENTER_BOXES},
    {"boxes-mirror", BOXES "rand_mirror_prob=0.5", AUGMENTER_BOXES},
    {"boxes-colour",
     BOXES "max_random_hue=18 random_hue_prob=0.5 max_random_saturation=32 "
           "random_saturation_prob=0.5 max_random_illumination=32 random_illumination_prob=0.5 "
           "max_random_contrast=0.5 random_contrast_prob=0.5",
     AUGMENTER_BOXES},
    {"boxes-affine",
     BOXES "rand_affine_prob=1 max_affine_angle=10 min_affine_scale=0.5 max_affine_scale=1.5 "
           "max_affine_shear=2 max_affine_shift=0.1 min_box_area=0.1 min_box_side=2 "
           "max_box_aspect=100",
     AUGMENTER_BOXES},
    {"boxes-perspective", BOXES "resize_mode=fit rand_affine_prob=1 max_affine_tilt=0.3",
     AUGMENTER_BOXES},
    {"boxes-mosaic",
     BOXES "resize_mode=fit rand_mosaic_prob=1 max_mosaic_shift=0.25 min_mosaic_scale=0.5 "
           "max_mosaic_scale=1",
     AUGMENTER_BOXES},
    {"boxes-fit", BOXES "resize_mode=fit", AUGMENTER_BOXES},
    {"boxes-shrink", BOXES "resize=120 resize_mode=shrink", AUGMENTER_BOXES},
    {NULL, NULL, AUGMENTER_SHOWN},
};

const struct augmenter_hidden augmenters_hidden[] = {
    {"auto_orient", "turns images upright by their EXIF header; others are unchanged"},
    {"scale_decode", "decodes large photographs smaller; these are not"},
    {"mean_a", "these images have no alpha"},
    {"std_a", "these images have no alpha"},
    {"mean_img", "as normalize above, with a mean for each pixel of a whole data set"},
    {"boxes", "drawn into every image above, where the record has some"},
    {"masks", "outlined in every image above, where the record has one"},
    {"ignore_label", "the mask value that is not outlined"},
    {"mask_kind", "what the values of masks mean: classes, or objects of the label"},
    {"mask_boxes", "of masks that number objects: whether boxes follow them"},
    {"rand_copy_paste_prob", "of records with such masks: pastes objects of another one"},
    {"max_copy_paste_objects", "of rand_copy_paste_prob"},
    {"keypoints", "drawn into every image above as crosses, where they are given"},
    {"keypoint_pairs", "the crosses that change places in a mirrored image"},
    {"mix_group", "of batches: where mixup and cutmix choose partners"},
    {"num_views", "imrec view --augmented num_views=4 shows the images of a sample"},
    {"multi_crop", "imrec view --augmented multi_crop=2x224,4x96 shows the crops of a sample"},
    {"multi_crop_area", "of these crops"},
    {"data_shape_schedule", "of sweeps, not of images"},
    {"audio", "of sounds, not of images"},
    {"sample_rate", "of sounds"},
    {"max_random_shift", "of sounds"},
    {"max_random_gain", "of sounds"},
    {"subtract_mean", "of sounds"},
    {"label_pad_width", "of labels, not of images"},
    {"label_pad_value", "of labels, not of images"},
    {NULL, NULL},
};

/* Blended labels are shares of this many classes: those of the set's class list. */
static int64_t count_classes(const struct imrec_iter_options *o)
{
    enum { WITHOUT_A_LIST = 1000 };
    const struct imrec_reader_options reader = READER_OF_O;
    struct imrec_classes *classes;
    if (imrec_classes_open_with(o->path_imgrec, &reader, &classes, NULL) != IMREC_OK)
        return WITHOUT_A_LIST;
    const int64_t n = (int64_t)imrec_classes_count(classes);
    imrec_classes_close(classes);
    return n != 0 ? n : WITHOUT_A_LIST;
}

enum imrec_status augmenter_apply(const struct augmenter *a, struct imrec_iter_options *o,
                                  char text[AUGMENTER_WORDS], struct imrec_error *err)
{
    enum imrec_status st = IMREC_OK;
    snprintf(text, AUGMENTER_WORDS, "%s", a->words);
    for (char *rest = text, *w; st == IMREC_OK && (w = strtok_r(rest, " ", &rest)) != NULL;)
        st = imrec_iter_options_set(o, w, err);
    if ((o->mixup > 0 || o->cutmix > 0) && o->num_classes == 0 && o->label_width == 1)
        o->num_classes = count_classes(o);
    return st;
}
