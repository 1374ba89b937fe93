/* What options mean, and what is refused before anything is opened. */
#include "iter/mean.h"
#include "iter/options/iter_options.h"
#include "iter/options/presets.h"
#include "tests/support/imageset.h"
#include "tests/support/suite.h"

TEST(defaults_are_as_the_table_says)
{
    struct imrec_iter_options o;
    imrec_iter_options_init(&o);
    ck_assert_int_eq(o.last_batch, IMREC_LAST_PAD);
    ck_assert_int_eq(o.dtype, IMREC_FLOAT32);
    ck_assert_int_eq(o.layout, IMREC_NCHW);
    ck_assert_int_eq(o.on_error, IMREC_ON_ERROR_STOP);
    ck_assert_int_eq(o.inter_method, 1);
    ck_assert_int_eq(o.prefetch_buffer, 2);
    ck_assert_int_eq(o.preprocess_threads, 0);
    ck_assert_int_eq(o.shuffle_window, 256 << 20);
    ck_assert_int_eq(o.shuffle_chunk, 256 << 10);
    ck_assert(!o.shuffle && o.auto_orient && o.std_r == 1 && o.scale == 1 && o.mean_g == 0);
    ck_assert_uint_eq(o.struct_size, sizeof(o));
}

static const struct {
    const char *words;
    enum imrec_status status;
    const char *says;
} refused[] = {
    {"shufle=1", IMREC_ERR_ARGUMENT, "did you mean shuffle?"},
    {"shuffle", IMREC_ERR_ARGUMENT, "key=value"},
    {"batch_size=0", IMREC_ERR_ARGUMENT, "batch_size must be a number from 1"},
    {"data_shape=2,12,12", IMREC_ERR_ARGUMENT, "1, 3 or 4 channels"},
    {"data_shape=3,12", IMREC_ERR_ARGUMENT, "C,H,W"},
    {"part_index=1", IMREC_ERR_ARGUMENT, "part_index must be below num_parts"},
    {"num_parts=3 part_index=3", IMREC_ERR_ARGUMENT, "3 is not below 3"},
    {"round_batch=1 last_batch=drop", IMREC_ERR_ARGUMENT, "round_batch"},
    {"round_batch=0 last_batch=repeat", IMREC_ERR_ARGUMENT, "round_batch"},
    {"dtype=uint8 mean_r=1", IMREC_ERR_ARGUMENT, "uint8"},
    {"dtype=uint8 std_b=2", IMREC_ERR_ARGUMENT, "uint8"},
    {"dtype=uint8 scale=0.5", IMREC_ERR_ARGUMENT, "uint8"},
    {"dtype=uint8 mean_img=/nowhere/mean.bin", IMREC_ERR_ARGUMENT, "uint8"},
    {"dtype=int8 scale=0.5", IMREC_ERR_ARGUMENT, "int8"},
    {"dtype=int8 std_a=2", IMREC_ERR_ARGUMENT, "int8"},
    {"inter_method=5", IMREC_ERR_ARGUMENT, "inter_method must be 0 (nearest)"},
    {"aug_seq=aug_other", IMREC_ERR_ARGUMENT, "aug_seq has no augmenter 'aug_other'"},
    {"aug_seq=blur,,hue", IMREC_ERR_ARGUMENT, "aug_seq has no augmenter ''"},
    {"aug_seq=blur,blur gaussian_blur=1", IMREC_ERR_ARGUMENT, "aug_seq has blur twice"},
    {"aug_seq=blur,hue gaussian_blur=1 brightness=1", IMREC_ERR_ARGUMENT, "light is asked for"},
    {"num_views=0", IMREC_ERR_ARGUMENT, "num_views must be a number from 1"},
    {"num_views=2", IMREC_ERR_ARGUMENT,
     "batch_size must be a multiple of num_views, but 5 is not a multiple of 2"},
    {"num_views=250 batch_size=250 multi_crop=9x12", IMREC_ERR_LIMIT, "2250 images of a sample"},
    {"multi_crop=2", IMREC_ERR_ARGUMENT, "multi_crop must be counts and sizes"},
    {"multi_crop=2x", IMREC_ERR_ARGUMENT, "multi_crop must be counts and sizes"},
    {"multi_crop=2x12,", IMREC_ERR_ARGUMENT, "multi_crop must be counts and sizes"},
    {"multi_crop=2x12x", IMREC_ERR_ARGUMENT, "multi_crop must be counts and sizes"},
    {"multi_crop=2x12;6x8", IMREC_ERR_ARGUMENT, "multi_crop must be counts and sizes"},
    {"multi_crop=0x12", IMREC_ERR_ARGUMENT, "multi_crop must be counts and sizes"},
    {"multi_crop=2x70000", IMREC_ERR_ARGUMENT, "multi_crop must be counts and sizes"},
    {"multi_crop=99999999999999999999x12", IMREC_ERR_ARGUMENT, "must be counts and sizes"},
    {"multi_crop=60x12,5x9", IMREC_ERR_LIMIT, "more than 64 crops"},
    {"multi_crop=2x11", IMREC_ERR_ARGUMENT, "begins with 11 x 11 px, but data_shape has 12 x 12"},
    {"multi_crop=2x12 mixup=0.2", IMREC_ERR_ARGUMENT, "multi_crop has several"},
    {"multi_crop=2x12 cutmix=1", IMREC_ERR_ARGUMENT, "multi_crop has several"},
    {"multi_crop=2x12 aug_seq=det_aug_default", IMREC_ERR_ARGUMENT, "one label with boxes"},
    {"multi_crop=2x12,1x9 mean_img=/nowhere/mean.bin", IMREC_ERR_ARGUMENT, "a mean image has"},
    {"multi_crop_area=0.1:1", IMREC_ERR_ARGUMENT, "multi_crop_area needs multi_crop"},
    {"multi_crop=2x12 multi_crop_area=0.1:1", IMREC_ERR_ARGUMENT, "needs random_resized_crop=1"},
    {"multi_crop=2x12,1x9,1x8 random_resized_crop=1 multi_crop_area=0.1:1,0.2:1",
     IMREC_ERR_ARGUMENT, "multi_crop_area has 2 ranges"},
    {"multi_crop=2x12 random_resized_crop=1 multi_crop_area=0.1", IMREC_ERR_ARGUMENT, "LOW:HIGH"},
    {"multi_crop=2x12 random_resized_crop=1 multi_crop_area=0.5:0.1", IMREC_ERR_ARGUMENT,
     "LOW:HIGH"},
    {"multi_crop=2x12 random_resized_crop=1 multi_crop_area=0:1", IMREC_ERR_ARGUMENT, "LOW:HIGH"},
    {"multi_crop=2x12 random_resized_crop=1 multi_crop_area=0.1:1.5", IMREC_ERR_ARGUMENT,
     "LOW:HIGH"},
    {"multi_crop=2x12,1x9 random_resized_crop=1 multi_crop_area=0.1:1,", IMREC_ERR_ARGUMENT,
     "LOW:HIGH"},
    {"multi_crop_augment=hue=0.1", IMREC_ERR_ARGUMENT, "multi_crop_augment needs multi_crop"},
    {"multi_crop=1x12,1x9 multi_crop_augment=hue=0.1", IMREC_ERR_ARGUMENT, "has 1 parts"},
    {"multi_crop=1x12,1x9 multi_crop_augment=hue=0.1;;", IMREC_ERR_ARGUMENT, "has 3 parts"},
    {"multi_crop=1x12,1x9 multi_crop_augment=hue=0.1;hew=0.1", IMREC_ERR_ARGUMENT, "mean hue?"},
    {"multi_crop=1x12 multi_crop_augment=hue=2", IMREC_ERR_ARGUMENT, "hue must be"},
    {"multi_crop=1x12 multi_crop_augment=hue", IMREC_ERR_ARGUMENT, "not of the form key=value"},
    {"multi_crop=1x12 multi_crop_augment=hue=0.1,", IMREC_ERR_ARGUMENT, "form key=value"},
    {"multi_crop=1x12 multi_crop_augment=mean_r=1", IMREC_ERR_ARGUMENT, "mean_r is one for all"},
    {"multi_crop=1x12 multi_crop_augment=shuffle=1", IMREC_ERR_ARGUMENT, "shuffle is one for all"},
    {"multi_crop=1x12 multi_crop_augment=aug_seq=blur", IMREC_ERR_ARGUMENT, "is one for all"},
    {"multi_crop=1x12 multi_crop_augment=random_resized_crop=1,rand_crop=1", IMREC_ERR_ARGUMENT,
     "contradict it"},
    {"data_shape_schedule=3,8,8", IMREC_ERR_ARGUMENT, "must be SWEEP:C,H,W"},
    {"data_shape_schedule=0:3,8", IMREC_ERR_ARGUMENT, "must be SWEEP:C,H,W"},
    {"data_shape_schedule=0:3,8,8;", IMREC_ERR_ARGUMENT, "must be SWEEP:C,H,W"},
    {"data_shape_schedule=x:3,8,8", IMREC_ERR_ARGUMENT, "must be SWEEP:C,H,W"},
    {"data_shape_schedule=-1:3,8,8", IMREC_ERR_ARGUMENT, "must be SWEEP:C,H,W"},
    {"data_shape_schedule=0:1,8,8", IMREC_ERR_ARGUMENT, "shape of 1 channels, data_shape has 3"},
    {"data_shape_schedule=0:3,8,8;0:3,9,9", IMREC_ERR_ARGUMENT, "0 comes after 0"},
    {"data_shape_schedule=5:3,8,8;4:3,9,9", IMREC_ERR_ARGUMENT, "4 comes after 5"},
    {"data_shape_schedule=5:3,8,8 multi_crop=2x12", IMREC_ERR_ARGUMENT, "contradict each other"},
    {"data_shape_schedule=5:3,8,8 mean_img=/nowhere/mean.bin", IMREC_ERR_ARGUMENT,
     "a mean image has"},
    {"data_shape=3,9000,9000 batch_size=900 data_shape_schedule=5:3,65000,65000", IMREC_ERR_LIMIT,
     "over 1 TiB"},
    {"rotate_list=10,x", IMREC_ERR_ARGUMENT, "rotate_list must be whole angles"},
    {"rotate_list=400", IMREC_ERR_ARGUMENT, "rotate_list must be whole angles"},
    {"max_aspect_ratio=1", IMREC_ERR_ARGUMENT, "max_aspect_ratio must be below 1"},
    {"min_aspect_ratio=0.5", IMREC_ERR_ARGUMENT, "the minimum is 0.5, the maximum 0"},
    {"min_random_scale=2", IMREC_ERR_ARGUMENT, "min_random_scale and max_random_scale"},
    {"min_img_size=50 max_img_size=40", IMREC_ERR_ARGUMENT, "min_img_size and max_img_size"},
    {"min_crop_size=50 max_crop_size=40", IMREC_ERR_ARGUMENT, "min_crop_size and max_crop_size"},
    {"min_random_area=0.5", IMREC_ERR_ARGUMENT, "need random_resized_crop=1"},
    {"random_resized_crop=1 rand_crop=1", IMREC_ERR_ARGUMENT, "contradict it"},
    {"random_resized_crop=1 max_crop_size=9", IMREC_ERR_ARGUMENT, "contradict it"},
    {"random_resized_crop=1 max_random_scale=2", IMREC_ERR_ARGUMENT, "contradict it"},
    {"data_shape=1,8,8 saturation=0.1", IMREC_ERR_ARGUMENT, "need colours"},
    {"data_shape=1,8,8 random_l=3", IMREC_ERR_ARGUMENT, "need colours"},
    {"data_shape=1,8,8 pca_noise=0.1", IMREC_ERR_ARGUMENT, "need colours"},
    {"dtype=uint8 max_random_contrast=0.1", IMREC_ERR_ARGUMENT, "float32, float16 or bfloat16"},
    {"dtype=int8 max_random_illumination=2", IMREC_ERR_ARGUMENT, "float32, float16 or bfloat16"},
    {"data_shape=1,8,8 hue=0.1", IMREC_ERR_ARGUMENT, "need colours"},
    {"data_shape=1,8,8 random_grayscale=1", IMREC_ERR_ARGUMENT, "need colours"},
    {"rand_augment=1 trivial_augment=1", IMREC_ERR_ARGUMENT, "give one"},
    {"auto_augment=svhn augmix=1", IMREC_ERR_ARGUMENT, "give one"},
    {"auto_augment=imagenet rand_augment=2", IMREC_ERR_ARGUMENT, "give one"},
    {"trivial_augment=1 augmix=1", IMREC_ERR_ARGUMENT, "give one"},
    {"auto_augment=coco", IMREC_ERR_ARGUMENT, "one of none|imagenet|cifar10|svhn"},
    {"augmix=1 masks=uint8", IMREC_ERR_ARGUMENT, "cannot be blended"},
    {"augmix=1 boxes=1 label_width=-1", IMREC_ERR_ARGUMENT, "cannot be blended"},
    {"augmix=1 keypoints=1 label_width=3", IMREC_ERR_ARGUMENT, "cannot be blended"},
    {"augmix=1 aug_seq=det_aug_default label_width=-1", IMREC_ERR_ARGUMENT,
     "does not go with auto_augment and augmix"},
    {"rand_affine_prob=1 max_affine_angle=5", IMREC_ERR_ARGUMENT,
     "rand_affine_prob needs aug_seq=det_aug_default"},
    {"aug_seq=det_aug_default label_width=-1 rand_affine_prob=1", IMREC_ERR_ARGUMENT,
     "both are needed"},
    {"aug_seq=det_aug_default label_width=-1 max_affine_tilt=0.1", IMREC_ERR_ARGUMENT,
     "both are needed"},
    {"aug_seq=det_aug_default label_width=-1 rand_affine_prob=1 min_affine_scale=2",
     IMREC_ERR_ARGUMENT, "the minimum is 2, the maximum 1"},
    {"rand_mosaic_prob=1", IMREC_ERR_ARGUMENT, "rand_mosaic_prob needs labels of boxes"},
    {"max_affine_tilt=0.5", IMREC_ERR_ARGUMENT, "max_affine_tilt must be"},
    {"rand_augment=1 rand_augment_style=timm rand_augment_magnitude=11", IMREC_ERR_ARGUMENT,
     "must be from 0 to 10"},
    {"rand_augment_magnitude_schedule=5", IMREC_ERR_ARGUMENT, "must be SWEEP:VALUE"},
    {"rand_augment_magnitude_schedule=0:5;", IMREC_ERR_ARGUMENT, "must be SWEEP:VALUE"},
    {"rand_augment_magnitude_schedule=0:31", IMREC_ERR_ARGUMENT, "values from 0 to 30"},
    {"rand_augment_magnitude_schedule=0:11 rand_augment_style=timm", IMREC_ERR_ARGUMENT,
     "values from 0 to 10"},
    {"rand_augment_magnitude_schedule=-1:5", IMREC_ERR_ARGUMENT, "must be SWEEP:VALUE"},
    {"rand_augment_magnitude_schedule=:5", IMREC_ERR_ARGUMENT, "must be SWEEP:VALUE"},
    {"rand_augment_magnitude_schedule=5:1;5:2", IMREC_ERR_ARGUMENT, "5 comes after 5"},
    {"erase_value=1,2", IMREC_ERR_ARGUMENT, "erase_value must be one number"},
    {"erase_value=300 dtype=uint8", IMREC_ERR_ARGUMENT, "from 0 to 255"},
    {"dtype=bfloat16 mixup=0.2 num_classes=9", IMREC_ERR_ARGUMENT, "needs dtype=float32"},
    {"min_blur_sigma=3", IMREC_ERR_ARGUMENT, "min_blur_sigma and max_blur_sigma"},
    {"min_erase_area=0.5", IMREC_ERR_ARGUMENT, "min_erase_area and max_erase_area"},
    {"mixup=0.2", IMREC_ERR_ARGUMENT, "set num_classes to the number of classes"},
    {"cutmix=1", IMREC_ERR_ARGUMENT, "set num_classes to the number of classes"},
    {"dtype=float16 mixup=1", IMREC_ERR_ARGUMENT, "mixup blends values"},
    {"num_classes=3 label_width=2", IMREC_ERR_ARGUMENT, "label_width must be 1"},
    {"preset=imagenet", IMREC_ERR_ARGUMENT, "not 'imagenet'; did you mean imagenet-train?"},
    {"preset=imagenet-eval-touch", IMREC_ERR_ARGUMENT, "did you mean imagenet-eval-torch?"},
    {"preset=none", IMREC_ERR_ARGUMENT, "or ImageDetRecordIter, not 'none'"},
    {"fill_value=256", IMREC_ERR_ARGUMENT, "fill_value must be"},
    {"shuffle_chunk_size=4097", IMREC_ERR_ARGUMENT, "shuffle_chunk_size must be"},
    {"std_r=0", IMREC_ERR_ARGUMENT, "std_r"},
    {"mean_r=nan", IMREC_ERR_ARGUMENT, "mean_r"},
    {"memory_limit=100000", IMREC_ERR_LIMIT, "memory_limit is 100000 bytes"},
    {"batch_size=1048576 data_shape=4,65500,65500", IMREC_ERR_LIMIT, "1 TiB"},
    {"data_shape=3,65501,10", IMREC_ERR_ARGUMENT, "a side of more than 65500 px"},
    {"path_imgidx=/nowhere/a.idx", IMREC_ERR_ARGUMENT, "/nowhere/a.idx"},
    {"path_imgrec=/nowhere/a.rec", IMREC_ERR_ARGUMENT, "/nowhere/a.rec"},
    {"path_imglist=/nowhere/a.lst", IMREC_ERR_IO, "/nowhere/a.lst"},
    {"label_width=0", IMREC_ERR_ARGUMENT, "label_width"},
};

static struct image_set small(uint32_t labels)
{
    return image_set_make(
        &(struct image_set_options){.records = 12, .shards = 1, .labels = labels});
}

LOOP_TEST(what_cannot_be_is_refused_in_one_sentence, 0, COUNT(refused))
{
    struct image_set s = small(1);
    struct imrec_iter *it = NULL;
    struct imrec_error err = {0};
    const enum imrec_status st = set_try_open(&s, false, refused[_i].words, &it, &err);
    ck_assert_msg(strstr(err.message, refused[_i].says) != NULL, "%s: %s", refused[_i].words,
                  err.message);
    ck_assert_msg(st == refused[_i].status, "%s: status %d", refused[_i].words, st);
    ck_assert_ptr_null(it);
    image_set_free(&s);
}

LOOP_TEST(shares_and_label_vectors_are_mixed, 0, 2) /* _i: vectors of three labels */
{
    struct image_set s = small(_i ? 3 : 1);
    struct imrec_error err = {0};
    struct imrec_iter *it = NULL;
    const char *words = _i ? "mixup=0.2 label_width=3" : "cutmix=1 num_classes=12";
    ck_assert_msg(set_try_open(&s, false, words, &it, &err) == IMREC_OK, "%s", err.message);
    imrec_iter_close(it);
    image_set_free(&s);
}

TEST(what_is_required_is_named)
{
    struct imrec_iter_options o;
    struct imrec_iter *it;
    struct imrec_error err = {0};
    imrec_iter_options_init(&o);
    ck_assert_int_eq(imrec_iter_open(&o, &it, &err), IMREC_ERR_ARGUMENT);
    ck_assert_msg(strstr(err.message, "path_imgrec is required") != NULL, "%s", err.message);
    o.path_imgrec = "x";
    ck_assert_int_eq(imrec_iter_open(&o, &it, &err), IMREC_ERR_ARGUMENT);
    ck_assert_msg(strstr(err.message, "data_shape is required") != NULL, "%s", err.message);
    o.data_shape = (struct imrec_shape){3, 8, 8};
    ck_assert_int_eq(imrec_iter_open(&o, &it, &err), IMREC_ERR_ARGUMENT);
    ck_assert_msg(strstr(err.message, "batch_size is required") != NULL, "%s", err.message);
    ck_assert_int_eq(imrec_iter_open(NULL, &it, &err), IMREC_ERR_ARGUMENT);
}

static size_t bytes_of(const struct param *p)
{
    return p->type == PARAM_TEXT    ? sizeof(const char *)
           : p->type == PARAM_INT   ? sizeof(int64_t)
           : p->type == PARAM_FLAG  ? sizeof(bool)
           : p->type == PARAM_SHAPE ? sizeof(struct imrec_shape)
                                    : sizeof(float);
}

static bool are_equal(const struct param *p, const void *a, const struct param *q, const void *b)
{
    return memcmp((const char *)a + p->offset, (const char *)b + q->offset, bytes_of(p)) == 0;
}

/* No field has its default. */
static void change_all(struct imrec_iter_options *o)
{
    imrec_iter_options_init(o);
    for (const struct param *p = iter_params; p->name != NULL; p++) {
        uint8_t *field = (uint8_t *)o + p->offset;
        if (p->type == PARAM_TEXT)
            memcpy(field, &(const char *){"changed"}, sizeof(const char *));
        else
            field[0] ^= 1;
    }
}

TEST(the_options_of_a_sample_are_rows_of_the_table)
{
    struct imrec_iter_options o;
    struct augment_options of_sample;
    change_all(&o);
    iter_options_of_sample(&o, &of_sample);
    for (const struct param *p = augment_params; p->name != NULL; p++) {
        const struct param *q = param_find(iter_params, p->name, strlen(p->name));
        ck_assert_msg(q->type == p->type && q->scope == p->scope && q->lo == p->lo &&
                          are_equal(p, &of_sample, q, &o),
                      "%s", p->name);
    }
}

/* A mean image is of whole images, as they are before anything is drawn for them. */
TEST(the_mean_image_keeps_the_size_and_the_data)
{
    static const char *const keeps[] = {"path_imgrec",
                                        "path_imgidx",
                                        "cache",
                                        "cache_size",
                                        "data_shape",
                                        "batch_size",
                                        "resize",
                                        "inter_method",
                                        "auto_orient",
                                        "preprocess_threads",
                                        "memory_limit",
                                        "prefetch_buffer",
                                        "drop_behind",
                                        "max_pixels",
                                        "fill_value",
                                        "seed_aug",
                                        "verify_decode",
                                        "preset",
                                        "rrc_style",
                                        "antialias",
                                        "resize_style",
                                        "resize_mode",
                                        "source",
                                        "boxes",
                                        "allow_missing",
                                        "label_pad_value",
                                        "ctx",
                                        "device_id",
                                        "sample_rate",
                                        "audio",
                                        "max_random_shift",
                                        "subtract_mean",
                                        "max_random_gain",
                                        "verify_checksums",
                                        "container",
                                        "image",
                                        "label",
                                        "path_root",
                                        "draw_key",
                                        "list_shards",
                                        "mask",
                                        "self_check",
                                        "scale_decode"};
    static const char *const sets[] = {"path_imglist", "label_width", "label_pad_width",
                                       "on_error",     "verbose",     "dtype",
                                       "last_batch",   "aug_seq",     "metrics"};
    struct imrec_iter_options o, plain, defaults;
    struct recipe r = {.boxes = true};
    size_t kept = 0;
    change_all(&o);
    imrec_iter_options_init(&defaults);
    iter_mean_options(&o, &r, 12, &plain);
    ck_assert(plain.label_width == -1 && plain.label_pad_width == 12 && plain.aug_seq != o.aug_seq);
    ck_assert(plain.path_imglist == o.path_imglist && !plain.verbose && plain.metrics[0] == '\0');
    for (const struct param *p = iter_params; p->name != NULL; p++) {
        bool sets_it = false, keeps_it = false;
        for (size_t i = 0; i < COUNT(sets); i++)
            sets_it = sets_it || strcmp(sets[i], p->name) == 0;
        for (size_t i = 0; i < COUNT(keeps); i++)
            keeps_it = keeps_it || strcmp(keeps[i], p->name) == 0;
        kept += keeps_it;
        if (!sets_it)
            ck_assert_msg(are_equal(p, &plain, p, keeps_it ? &o : &defaults), "%s", p->name);
    }
    ck_assert_uint_eq(kept, COUNT(keeps));
    r.boxes = false;
    iter_mean_options(&o, &r, 0, &plain);
    ck_assert_str_eq(plain.path_imglist, "");
    r.det.on = true;
    iter_mean_options(&o, &r, 0, &plain);
    ck_assert_ptr_eq(plain.aug_seq, o.aug_seq);
}

TEST(round_batch_is_another_word_for_last_batch)
{
    struct imrec_iter_options o, out;
    imrec_iter_options_init(&o);
    o.path_imgrec = "x";
    o.data_shape = (struct imrec_shape){3, 8, 8};
    o.batch_size = 4;
    o.round_batch = 1;
    ck_assert_int_eq(iter_options_copy(&out, &o, NULL), IMREC_OK);
    ck_assert_int_eq(out.last_batch, IMREC_LAST_REPEAT);
    o.round_batch = 0;
    ck_assert_int_eq(iter_options_copy(&out, &o, NULL), IMREC_OK);
    ck_assert_int_eq(out.last_batch, IMREC_LAST_PAD);
    o.round_batch = 1;
    o.last_batch = IMREC_LAST_REPEAT;
    ck_assert_int_eq(iter_options_copy(&out, &o, NULL), IMREC_OK);
}

TEST(a_caller_with_an_older_header_gets_defaults_for_the_rest)
{
    struct imrec_iter_options o, out;
    const size_t known = offsetof(struct imrec_iter_options, memory_limit);
    memset(&o, 0xee, sizeof(o));
    imrec_iter_options_init_sized(&o, known);
    o.path_imgrec = "x";
    o.data_shape = (struct imrec_shape){3, 8, 8};
    o.batch_size = 4;
    ck_assert_int_eq(iter_options_copy(&out, &o, NULL), IMREC_OK);
    ck_assert_int_eq(out.memory_limit, 0);
    ck_assert_int_eq(out.dtype, IMREC_FLOAT32);
    ck_assert_int_eq(((uint8_t *)&o)[known], 0xee); /* not a byte more was written */
    ck_assert_int_eq(imrec_iter_options_set(&o, "memory_limit=5", NULL), IMREC_ERR_UNSUPPORTED);
    struct {
        struct imrec_iter_options o;
        uint64_t later;
    } newer;
    memset(&newer, 0xee, sizeof(newer));
    imrec_iter_options_init_sized(&newer.o, sizeof(newer));
    newer.o.path_imgrec = "a.rec";
    newer.o.batch_size = 1;
    newer.o.data_shape = (struct imrec_shape){3, 8, 8};
    ck_assert_int_eq(iter_options_copy(&out, &newer.o, NULL), IMREC_OK); /* as if it had no more */
    newer.later = 1;
    ck_assert_int_eq(iter_options_copy(&out, &newer.o, NULL), IMREC_ERR_UNSUPPORTED);
    newer.o.struct_size = 0;
    ck_assert_int_eq(iter_options_copy(&out, &newer.o, NULL), IMREC_ERR_ARGUMENT);
    ck_assert_int_eq(iter_options_copy(&out, NULL, NULL), IMREC_ERR_ARGUMENT);
}

LOOP_TEST(the_sum_in_the_refusal_is_the_least_limit_that_opens, 0, 2) /* _i: index */
{
    struct image_set s = small(1);
    struct imrec_iter *it = NULL;
    struct imrec_error err = {0};
    struct imrec_iter_stats stats;
    char words[64];
    unsigned long long need = 0;
    ck_assert_int_eq(set_try_open(&s, _i, "memory_limit=100000", &it, &err), IMREC_ERR_LIMIT);
    ck_assert_int_eq(sscanf(strstr(err.message, "need "), "need %llu", &need), 1);
    snprintf(words, sizeof(words), "memory_limit=%llu", need - 1);
    ck_assert_int_eq(set_try_open(&s, _i, words, &it, &err), IMREC_ERR_LIMIT);
    snprintf(words, sizeof(words), "memory_limit=%llu", need);
    it = set_open(&s, _i, words);
    imrec_iter_get_stats(it, &stats);
    ck_assert_uint_eq(stats.memory_planned_bytes, need);
    imrec_iter_close(it);
    image_set_free(&s);
}

LOOP_TEST(more_memory_is_planned_for_more, 0, 6) /* _i into words */
{
    static const char *const words[] = {"batch_size=400",       "prefetch_buffer=50 batch_size=50",
                                        "preprocess_threads=9", "keep_in_memory=1",
                                        "multi_crop=2x12",      "data_shape_schedule=9:3,40,40"};
    struct image_set s = small(1);
    struct imrec_iter_stats less, more;
    struct imrec_iter *it = set_open(&s, false, "");
    imrec_iter_get_stats(it, &less);
    imrec_iter_close(it);
    it = set_open(&s, false, words[_i]);
    imrec_iter_get_stats(it, &more);
    imrec_iter_close(it);
    ck_assert_uint_gt(more.memory_planned_bytes, less.memory_planned_bytes);
    image_set_free(&s);
}

TEST(the_help_of_preset_names_every_recipe)
{
    const char *help = param_find(iter_params, "preset", strlen("preset"))->help;
    for (size_t i = 0; preset_name(i) != NULL; i++) {
        char name[64];
        snprintf(name, sizeof(name), "%s", preset_name(i));
        const char *ends[] = {"-uint8", "-bfloat16"}; /* which it describes */
        for (size_t k = 0; k < COUNT(ends); k++)
            if (strlen(name) > strlen(ends[k]) &&
                strcmp(name + strlen(name) - strlen(ends[k]), ends[k]) == 0)
                name[strlen(name) - strlen(ends[k])] = '\0';
        const char *at = strstr(help, name);
        while (at != NULL && at[strlen(name)] != ',' && at[strlen(name)] != ';' &&
               at[strlen(name)] != '\0')
            at = strstr(at + 1, name);
        ck_assert_msg(at != NULL, "%s", name);
    }
}
