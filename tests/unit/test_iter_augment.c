/* Augmented batches: what they depend on, what the options of seeds and orders mean, what is
 * recorded, and what verifying finds. */
#include "base/alloc.h"
#include "iter/options/iter_options.h"
#include "tests/support/imageset.h"
#include "tests/support/suite.h"

#include <math.h>

enum { RECORDS = 40, VALUES = 3 * 12 * 12 };

static const char everything[] =
    "max_rotate_angle=20 max_shear_ratio=0.2 min_random_scale=0.8 max_aspect_ratio=0.3 rand_crop=1 "
    "pad=1 rand_mirror=1 brightness=0.3 contrast=0.3 saturation=0.3 random_h=20 random_s=30 "
    "random_l=40 pca_noise=0.1 max_random_contrast=0.2 max_random_illumination=9 inter_method=10 "
    "resize=16 record_draws=1 rand_augment=3 hue=0.1 random_grayscale=0.2 gaussian_blur=0.5 "
    "random_erasing=0.5";

static struct image_set make(void)
{
    return image_set_make(
        &(struct image_set_options){.records = RECORDS, .shards = 2, .labels = 1});
}

static char *read_file(const struct tmpdir *d, const char *name, size_t *n)
{
    FILE *f = fopen(tmp_path(d, name), "rb");
    ck_assert_ptr_nonnull(f);
    char *bytes = malloc(1 << 20);
    *n = fread(bytes, 1, 1 << 20, f);
    fclose(f);
    return bytes;
}

static struct stream read_all(const struct image_set *s, const char *more, uint32_t sweeps)
{
    char words[1024];
    struct stream out = {0};
    snprintf(words, sizeof(words), "%s %s", everything, more);
    struct imrec_iter *it = set_open(s, false, words);
    stream_read(&out, it, VALUES * sizeof(float), sweeps, SIZE_MAX);
    imrec_iter_close(it);
    return out;
}

static int different(const struct stream *a, const struct stream *b)
{
    int n = 0;
    for (size_t i = 0; i < a->n && i < b->n; i++)
        n += a->seen[i].hash != b->seen[i].hash;
    return n;
}

START_TEST(augmented_batches_depend_on_no_thread_batch_or_depth)
{
    struct image_set s = make();
    struct stream want = read_all(&s, "preprocess_threads=1 batch_size=1", 2);
    static const char *const others[] = {"preprocess_threads=4 batch_size=7",
                                         "preprocess_threads=3 batch_size=40 prefetch_buffer=5"};
    ck_assert_uint_eq(want.n, 2 * (RECORDS + 1));
    for (int i = 0; i < 2; i++) {
        struct stream got = read_all(&s, others[i], 2);
        streams_must_equal(&got, &want, others[i]);
        stream_free(&got);
    }
    stream_free(&want);
    image_set_free(&s);
}
END_TEST

START_TEST(sweeps_differ_and_so_do_seeds)
{
    struct image_set s = make();
    struct stream a = read_all(&s, "", 2), b = read_all(&s, "seed=1", 1);
    struct stream c = read_all(&s, "seed_aug=1", 1), d = read_all(&s, "seed=5 seed_aug=0", 1);
    struct stream second = {a.seen + RECORDS + 1, RECORDS, 0};
    ck_assert_int_ge(different(&a, &second), RECORDS - 1);
    ck_assert_int_ge(different(&a, &b), RECORDS - 1);
    ck_assert_int_eq(different(&b, &c), 0); /* of the draws only seed_aug counts */
    struct stream first = {a.seen, RECORDS, 0};
    ck_assert_int_eq(different(&first, &d), 0);
    stream_free(&a);
    stream_free(&b);
    stream_free(&c);
    stream_free(&d);
    image_set_free(&s);
}
END_TEST

/* One worker, until it has met the largest region that is drawn. */
START_TEST(in_the_steady_state_augmenting_allocates_nothing) /* _i: of several views */
{
    static const char common[] =
        "preprocess_threads=1 resize=44 inter_method=2 max_rotate_angle=20 pad=2 "
        "rand_crop=1 rand_augment=3 brightness=0.3 hue=0.1 gaussian_blur=1 "
        "max_blur_sigma=0.3 random_erasing=0.5 max_random_contrast=0.1 last_batch=wrap";
    static const char *const kinds[] = {"mixup=0.5 num_classes=30", "num_views=5",
                                        "multi_crop=2x12,2x30"};
    char words[1024];
    struct image_set s = image_set_make(&(struct image_set_options){
        .records = 30, .shards = 1, .labels = 1, .side = 40, .jpeg = true});
    struct imrec_batch b;
    struct imrec_error err = {0};
    snprintf(words, sizeof(words), "%s %s", common, kinds[_i]);
    struct imrec_iter *it = set_open(&s, true, words);
    for (int i = 0; i < 1200; i++)
        ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_OK);
    imrec_alloc_fail_after(0); /* whoever asks for memory from here on is refused */
    for (int i = 0; i < 30; i++)
        ck_assert_msg(imrec_iter_next(it, &b, &err) == IMREC_OK, "%s", err.message);
    imrec_alloc_fail_after(-1);
    imrec_iter_close(it);
    image_set_free(&s);
}
END_TEST

START_TEST(what_was_drawn_is_delivered)
{
    struct image_set s = make();
    struct imrec_iter *it = set_open(&s, false, everything);
    struct imrec_batch b;
    ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
    for (uint32_t i = 0; i < b.slots; i++) {
        const struct imrec_draw *d = &b.draws[i];
        ck_assert(d->warped && d->resize_method <= 4 && d->warp_method <= 4);
        ck_assert(abs(d->angle) <= 20 && fabsf(d->shear) <= 0.2f && d->scale >= 0.8f);
        ck_assert(d->brightness != 1 && d->light[0] != 0 && d->value_contrast != 1);
        ck_assert_uint_eq(d->light_order[0] + d->light_order[1] + d->light_order[2], 3);
        ck_assert(d->crop_width == 12 && d->x + 12 <= d->width && d->y + 12 <= d->height);
    }
    imrec_iter_close(it);
    it = set_open(&s, false, "record_draws=1");
    ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
    for (uint32_t i = 0; i < b.slots; i++) {
        const struct imrec_draw *d = &b.draws[i];
        ck_assert(!d->warped && d->scale == 1 && d->aspect == 1 && d->brightness == 1);
        ck_assert(d->contrast == 1 && d->saturation == 1 && d->shift_h == 0 && d->light[1] == 0);
        ck_assert(d->value_contrast == 1 && d->value_illumination == 0);
    }
    imrec_iter_close(it);
    image_set_free(&s);
}
END_TEST

/* With a mean image as with numbers: (x - mean) * C * gain + I * gain. */
START_TEST(contrast_and_illumination_of_values_are_as_drawn) /* loop: 0 numbers, 1 a mean image */
{
    struct image_set s = make();
    struct imrec_batch a, b;
    char words[700], mean[600] = "mean_r=100 mean_g=90 mean_b=80";
    if (_i == 1)
        snprintf(mean, sizeof(mean), "mean_img=%s", tmp_path(&s.dir, "mean.bin"));
    snprintf(words, sizeof(words), "batch_size=20 scale=0.5 std_g=3 %s", mean);
    struct imrec_iter *plain = set_open(&s, false, words);
    strcat(words, " max_random_contrast=0.4 max_random_illumination=30 record_draws=1");
    struct imrec_iter *toned = set_open(&s, false, words);
    ck_assert_int_eq(imrec_iter_next(plain, &a, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_iter_next(toned, &b, NULL), IMREC_OK);
    for (uint32_t i = 0; i < 20; i++)
        for (uint32_t k = 0; k < VALUES; k++) {
            const float gain = k / 144 == 1 ? 0.5f / 3 : 0.5f;
            const float was = ((const float *)a.data)[i * VALUES + k];
            const float want =
                was * b.draws[i].value_contrast + b.draws[i].value_illumination * gain;
            ck_assert_float_le(fabsf(((const float *)b.data)[i * VALUES + k] - want), 1e-4f);
        }
    imrec_iter_close(plain);
    imrec_iter_close(toned);
    image_set_free(&s);
}
END_TEST

START_TEST(the_mean_image_knows_nothing_of_augmentation)
{
    struct image_set s = make();
    char words[1024], *a, *b;
    size_t na, nb;
    for (int i = 0; i < 2; i++) {
        snprintf(words, sizeof(words), "%s batch_size=20 resize=16 mean_img=%s",
                 i == 0 ? "" : everything, tmp_path(&s.dir, i == 0 ? "a.bin" : "b.bin"));
        if (i == 1)
            strcat(words, " inter_method=1");
        imrec_iter_close(set_open(&s, false, words));
    }
    a = read_file(&s.dir, "a.bin", &na);
    b = read_file(&s.dir, "b.bin", &nb);
    ck_assert_uint_eq(na, nb);
    ck_assert_mem_eq(a, b, na);
    free(a);
    free(b);
    image_set_free(&s);
}
END_TEST

static struct imrec_iter_options resolved(const char *key_value, const char *another)
{
    struct imrec_iter_options o, out;
    struct imrec_error err;
    imrec_iter_options_init(&o);
    o.path_imgrec = "x";
    o.data_shape = (struct imrec_shape){3, 8, 8};
    o.batch_size = 4;
    ck_assert_int_eq(imrec_iter_options_set(&o, key_value, &err), IMREC_OK);
    ck_assert_int_eq(imrec_iter_options_set(&o, another, &err), IMREC_OK);
    ck_assert_int_eq(iter_options_copy(&out, &o, &err), IMREC_OK);
    return out;
}

START_TEST(the_originals_words_for_the_order_are_understood)
{
    struct imrec_iter_options o = resolved("shuffle_chunk_size=4", "shuffle_chunk_seed=7");
    ck_assert(o.shuffle && o.shuffle_chunk == 4 << 20 && o.seed == 7 && o.seed_aug == 0);
    o = resolved("shuffle_chunk_size=4096", "seed=3");
    ck_assert(o.shuffle_chunk == 1 << 30 && o.shuffle_window == (int64_t)2 << 30);
    ck_assert(o.seed == 3 && o.seed_aug == 3);
    o = resolved("shuffle_chunk_size=4", "path_imgidx=y"); /* ignored with an index, as there */
    ck_assert(!o.shuffle && o.shuffle_chunk == 256 << 10);
    o = resolved("ctx=cpu", "device_id=-1");
    ck_assert(o.ctx == IMREC_CTX_CPU && o.device_id == -1);
    o = resolved("seed_aug=None", "min_aspect_ratio=None");
    ck_assert(o.seed_aug == 0 && o.min_aspect_ratio == 0);
    o = resolved("dtype=None", "seed=None");
    ck_assert(o.dtype == IMREC_FLOAT32 && o.seed == 0);
    o = resolved("seed=3", "seed_aug=4");
    ck_assert(o.seed == 3 && o.seed_aug == 4);
}
END_TEST

/* ---- presets -------------------------------------------------------------------------------- */

START_TEST(a_preset_is_a_recipe_that_later_words_change)
{
    struct imrec_iter_options o = resolved("preset=imagenet-train-torch", "rand_mirror=0");
    ck_assert(o.rrc_style == IMREC_RRC_TORCH && o.antialias && o.random_resized_crop);
    ck_assert(!o.rand_mirror && o.shuffle && o.mean_r == 123.675f && o.std_b == 57.375f);
    ck_assert_uint_eq(o.data_shape.width, 224);
    o = resolved("rand_mirror=0", "preset=imagenet-train");
    ck_assert(o.rand_mirror && o.brightness == 0.4f && o.rrc_style == IMREC_RRC_MXNET);
    o = resolved("preset=imagenet-eval", "resize=300");
    ck_assert(o.resize == 300 && !o.rand_mirror && o.mean_g == 116.779f);
    o = resolved("preset=ImageRecordUInt8Iter_v1", "seed=0");
    ck_assert(o.dtype == IMREC_UINT8 && o.last_batch == IMREC_LAST_REPEAT);
}
END_TEST

START_TEST(a_preset_in_the_field_fills_what_is_at_its_default)
{
    struct imrec_iter_options o, out;
    imrec_iter_options_init(&o);
    o.path_imgrec = "x";
    o.batch_size = 4;
    o.preset = "imagenet-eval-torch";
    o.resize = 288;
    ck_assert_int_eq(iter_options_copy(&out, &o, NULL), IMREC_OK);
    ck_assert(out.resize == 288 && out.antialias && out.data_shape.height == 224);
    o.preset = "imagenet";
    ck_assert_int_eq(iter_options_copy(&out, &o, NULL), IMREC_ERR_ARGUMENT);
}
END_TEST

START_TEST(every_preset_opens)
{
    static const char *const names[] = {
        "imagenet-train",  "imagenet-eval",      "imagenet-train-torch", "imagenet-eval-torch",
        "ImageRecordIter", "ImageRecordIter_v1", "ImageRecordUInt8Iter", "ImageRecordInt8Iter"};
    struct image_set s = make();
    struct imrec_batch b;
    char words[100];
    snprintf(words, sizeof(words), "preset=%s data_shape=3,12,12", names[_i]);
    struct imrec_iter *it = set_open(&s, false, words);
    ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
    ck_assert_uint_eq(b.count, 5);
    imrec_iter_close(it);
    image_set_free(&s);
}
END_TEST

/* ---- verifying ------------------------------------------------------------------------------- */

START_TEST(what_lies_below_the_crop_is_verified_on_demand)
{
    struct image_set s = image_set_make(&(struct image_set_options){
        .records = 4, .shards = 1, .labels = 1, .side = 256, .jpeg = true});
    struct imrec_batch b;
    struct imrec_error err;
    size_t n;
    char *file = read_file(&s.dir, "00.rec", &n);
    memcpy(file + n - 900, "\xff\xd9", 2); /* the last image ends before its last rows */
    tmp_write(&s.dir, "00.rec", file, n);
    struct imrec_iter *it = set_open(&s, false, "batch_size=4 data_shape=3,32,32");
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_OK);
    imrec_iter_close(it);
    it = set_open(&s, false, "batch_size=4 data_shape=3,32,32 verify_decode=1");
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_ERR_DATA);
    ck_assert_uint_eq(b.failed, 1);
    ck_assert_int_ne(b.status[3], IMREC_OK);
    imrec_iter_close(it);
    free(file);
    image_set_free(&s);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("iter_augment");
    TCase *t = tcase_create("all");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, augmented_batches_depend_on_no_thread_batch_or_depth);
    tcase_add_test(t, sweeps_differ_and_so_do_seeds);
    tcase_add_loop_test(t, in_the_steady_state_augmenting_allocates_nothing, 0, 3);
    tcase_add_test(t, what_was_drawn_is_delivered);
    tcase_add_loop_test(t, contrast_and_illumination_of_values_are_as_drawn, 0, 2);
    tcase_add_test(t, the_mean_image_knows_nothing_of_augmentation);
    tcase_add_test(t, the_originals_words_for_the_order_are_understood);
    tcase_add_test(t, a_preset_is_a_recipe_that_later_words_change);
    tcase_add_test(t, a_preset_in_the_field_fills_what_is_at_its_default);
    tcase_add_loop_test(t, every_preset_opens, 0, 8);
    tcase_add_test(t, what_lies_below_the_crop_is_verified_on_demand);
    suite_add_tcase(s, t);
    return suite_run(s);
}
