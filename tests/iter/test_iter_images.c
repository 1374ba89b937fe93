/* images=: further images of samples as tensors, which go where the first one goes; missing, broken
 * and deep ones; and none at all. Samples are in a tar: an image, the same file again, the same of
 * half its size, a map of 16 bits, a class. */
#include "codec/mask_png.h"
#include "iter/sample/headroom.h"
#include "tests/support/imageset.h"
#include "tests/support/suite.h"
#include "tests/support/tars.h"

#include <sys/stat.h>

/* Where a tensor begins is a multiple of it. */
enum { TENSOR_ROOM = 64 };
enum { SAMPLES = 23, SIDE = 24, OUT = 12, PIXELS = 3 * OUT * OUT, NOBODY = 1000 };

static struct image_set s; /* its path_imgrec is a tar */
static struct imrec_error err;

static void put(struct buf *tar, uint32_t i, const char *extension, struct bytes content)
{
    char name[40];
    snprintf(name, sizeof(name), "%u.%s", i, extension);
    tar_put(tar, name, '0', content.p, content.n);
}

/* What the map of sample i has there; columns and rows of the map that has half the size count
 * twice. */
static uint16_t depth(uint32_t i, uint32_t x, uint32_t y)
{
    return (uint16_t)(1000 + i * SIDE * SIDE + y * SIDE + x);
}

static void put_map(struct buf *tar, struct codec *c, uint32_t i, const char *name, uint32_t side)
{
    struct mask m = {0};
    struct bytes out;
    ck_assert_int_eq(mask_resize_buffer(&m, side, side, NULL), IMREC_OK);
    m.bits = 16;
    for (uint32_t k = 0; k < side * side; k++)
        m.values[k] = depth(i, k % side * SIDE / side, k / side * SIDE / side);
    ck_assert_int_eq(codec_encode_mask(c, &m, &out, NULL), IMREC_OK);
    put(tar, i, name, out);
    mask_free(&m);
}

/* Sample `odd` has no map and a broken copy; every third has no "some". */
static void put_sample(struct buf *tar, struct codec *c, uint32_t i, uint32_t odd)
{
    const struct image_set_options o = {.jpeg = true, .side = SIDE};
    const struct image_set_options half = {.jpeg = true, .side = SIDE / 2};
    const struct bytes x = {(const uint8_t *)"x", 1};
    char text[20];
    put(tar, i, "jpg", set_encode(c, &o, i));
    put(tar, i, "copy", i == odd ? x : set_encode(c, &o, i));
    put(tar, i, "half", set_encode(c, &half, i));
    if (i % 3 != 0)
        put(tar, i, "some", set_encode(c, &o, i));
    if (i != odd)
        put_map(tar, c, i, "depth", SIDE);
    put_map(tar, c, i, "small", SIDE / 2);
    snprintf(text, sizeof(text), "%u", i);
    put(tar, i, "cls", (struct bytes){(const uint8_t *)text, strlen(text)});
}

static void make_set(uint32_t odd)
{
    struct codec *c;
    struct buf tar = BUF_INIT((size_t)1 << 24);
    s = (struct image_set){.dir = tmpdir_make(), .labels = 1};
    ck_assert_int_eq(codec_new(&c, NULL), IMREC_OK);
    for (uint32_t i = 0; i < SAMPLES; i++)
        put_sample(&tar, c, i, odd);
    tar_end(&tar);
    (void)tmp_write(&s.dir, "a.tar", tar.p, tar.n);
    buf_free(&tar);
    codec_free(c);
    snprintf(s.rec, sizeof(s.rec), "path_imgrec=%s", s.dir.path);
}

static void forget(void)
{
    image_set_free(&s);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

static struct imrec_batch next(struct imrec_iter *it)
{
    struct imrec_batch b;
    const enum imrec_status st = imrec_iter_next(it, &b, &err);
    ck_assert_msg(st == IMREC_OK, "%s", err.message);
    return b;
}

static bool with_png(void)
{
    return built_with("png");
}

CASE(.begin = with_png, .teardown = forget, .timeout = 60)

/* What moves pixels moves them all; what changes them changes the first image only. */
static const struct {
    const char *words;
    bool equal;
} ways[] = {
    {"rand_crop=1 rand_mirror=1", true},
    {"resize=15 rand_crop=1", true},
    {"random_resized_crop=1 min_random_area=0.2 num_views=5 rand_flip=0.5", true},
    {"multi_crop=2x12,3x7 random_resized_crop=1 min_random_area=0.2", true},
    {"max_rotate_angle=40 max_shear_ratio=0.2 pad=3 rand_crop=1", true},
    {"data_shape_schedule=0:3,12,12;1:3,10,8 rand_crop=1 layout=NHWC dtype=uint8", true},
    {"mixup=0.5 num_classes=30", true},
    {"cutmix=0.5 num_classes=30 dtype=float16 layout=NHWC", true},
    {"mean_r=100 std_g=3 scale=0.1", false},
    {"random_erasing=1 brightness=0.5 gaussian_blur=1 random_grayscale=0.5", false},
};

static size_t value_size(const char *words)
{
    return strstr(words, "uint8") != NULL ? 1 : strstr(words, "float16") != NULL ? 2 : 4;
}

static size_t slot_bytes(const struct imrec_shape *shape, size_t value)
{
    return value * shape->channels * shape->height * shape->width;
}

/* The twin reads no further image: the first one is the same with and without them. */
LOOP_TEST(an_equal_file_becomes_an_equal_tensor, 0, 2 * COUNT(ways)) /* odd: one worker */
{
    char words[500];
    const char *way = ways[_i / 2].words;
    const size_t value = value_size(way);
    bool equal = true;
    make_set(NOBODY);
    snprintf(words, sizeof(words), "shuffle=1 seed=4 preprocess_threads=%d %s", _i % 2 != 0 ? 1 : 3,
             way);
    struct imrec_iter *twin = set_open(&s, false, words);
    struct imrec_iter *plain = set_open(&s, false, ways[_i / 2].equal ? words : "shuffle=1 seed=4");
    strcat(words, strstr(words, "mixup") != NULL ? " images=image,half,copy"
                                                 : " images=image,depth:uint16,copy");
    struct imrec_iter *it = set_open(&s, false, words);
    for (int sweep = 0; sweep < 2; sweep++) {
        enum imrec_status st;
        struct imrec_batch b, t, p;
        while ((st = imrec_iter_next(it, &b, &err)) == IMREC_OK) {
            t = next(twin);
            p = next(plain);
            ck_assert_uint_eq(b.image_count, 2 * b.view_count);
            for (uint32_t v = 0; v < b.view_count; v++) {
                const struct imrec_batch_image *copy = &b.images[b.view_count + v];
                const size_t bytes = b.slots * slot_bytes(&b.views[v].shape, value);
                ck_assert_str_eq(copy->name, "copy");
                ck_assert_mem_eq(&copy->shape, &b.views[v].shape, sizeof(copy->shape));
                ck_assert(memcmp(b.views[v].data, t.views[v].data, bytes) == 0);
                ck_assert(memcmp(p.views[v].data, copy->data, bytes) == 0);
                equal = equal && memcmp(b.views[v].data, copy->data, bytes) == 0;
            }
        }
        ck_assert_int_eq(st, IMREC_END);
        ck_assert_int_eq(imrec_iter_next(twin, &t, &err), IMREC_END);
        ck_assert_int_eq(imrec_iter_next(plain, &p, &err), IMREC_END);
    }
    ck_assert_int_eq(equal, ways[_i / 2].equal);
    imrec_iter_close(it);
    imrec_iter_close(twin);
    imrec_iter_close(plain);
}

/* ---- maps --------------------------------------------------------------------------------- */

static float value_at(const struct imrec_batch_image *m, size_t i)
{
    switch (m->type) {
    case IMREC_IMAGE_UINT16:
        return ((const uint16_t *)m->data)[i];
    case IMREC_IMAGE_INT32:
        return (float)((const int32_t *)m->data)[i];
    default:
        return ((const float *)m->data)[i];
    }
}

static void expect_map(const struct imrec_batch *b, const struct imrec_batch_image *m, uint32_t k,
                       uint32_t step)
{
    const struct imrec_draw *d = &b->draws[k];
    for (uint32_t i = 0; i < OUT * OUT; i++) {
        const uint32_t column = i % OUT;
        const uint32_t x = d->x + (d->mirror ? OUT - 1 - column : column), y = d->y + i / OUT;
        const float right = depth((uint32_t)b->ids[k], x / step * step, y / step * step);
        ck_assert_msg(value_at(m, k * OUT * OUT + i) == right, "slot %u, value %u", k, i);
    }
}

/* All 16 bits of each value, at its place; also of a map of half the image's size. */
LOOP_TEST(maps_keep_their_values, 0, 3)
{
    static const char *const words[] = {"images=image,depth:uint16,small:uint16",
                                        "images=image,depth:int32,small:int32",
                                        "images=image,depth:float32,small:float32"};
    char all[200];
    make_set(NOBODY);
    snprintf(all, sizeof(all), "rand_crop=1 rand_mirror=1 record_draws=1 batch_size=23 %s",
             words[_i]);
    struct imrec_iter *it = set_open(&s, false, all);
    const struct imrec_batch b = next(it);
    ck_assert_uint_eq(b.images[0].shape.channels, 1);
    for (uint32_t k = 0; k < SAMPLES; k++) {
        expect_map(&b, &b.images[0], k, 1);
        expect_map(&b, &b.images[1], k, 2);
    }
    imrec_iter_close(it);
}

/* Outside of the image there are no values: there a map has its fill. */
TEST(a_map_goes_with_a_warp_and_a_border)
{
    uint32_t filled = 0;
    make_set(NOBODY);
    struct imrec_iter *it = set_open(
        &s, false, "pad=6 rand_crop=1 batch_size=23 images=image,depth:uint16:fill=7 fill_value=0");
    const struct imrec_batch b = next(it);
    const float *pixels = b.data;
    for (uint32_t k = 0; k < SAMPLES; k++)
        for (uint32_t i = 0; i < OUT * OUT; i++) {
            const bool outside = value_at(&b.images[0], k * OUT * OUT + i) == 7;
            ck_assert_int_eq(outside, pixels[k * PIXELS + i] == 0); /* no pixel of the set is 0 */
            filled += outside;
        }
    ck_assert_uint_gt(filled, 100);
    imrec_iter_close(it);
}

/* A flat way to see it: the mean of an image stays what it is. */
TEST(an_image_of_another_size_is_resized_to_the_first_one)
{
    make_set(NOBODY);
    struct imrec_iter *it = set_open(
        &s, false, "random_resized_crop=1 images=image,half:1,half2?:nearest batch_size=4");
    const struct imrec_batch b = next(it);
    ck_assert_uint_eq(b.images[0].shape.channels, 1);
    for (uint32_t k = 0; k < 4; k++) {
        double one = 0, other = 0;
        for (uint32_t i = 0; i < PIXELS; i++)
            one += (double)((const float *)b.data)[k * PIXELS + i];
        for (uint32_t i = 0; i < OUT * OUT; i++)
            other += (double)((const float *)b.images[0].data)[k * OUT * OUT + i];
        ck_assert(other / (OUT * OUT) > 60 && one / PIXELS > 60);
        ck_assert(b.images[0].present[k] && !b.images[1].present[k]);
    }
    imrec_iter_close(it);
}

/* ---- what is not there -------------------------------------------------------------------- */

static bool all_are(const float *v, size_t n, float value)
{
    for (size_t i = 0; i < n; i++)
        if (v[i] != value)
            return false;
    return true;
}

TEST(an_image_that_is_missing_is_zeros)
{
    make_set(NOBODY);
    struct imrec_iter *it = set_open(&s, false, "images=image,some? batch_size=23 shuffle=1");
    for (int sweep = 0; sweep < 3; sweep++) {
        const struct imrec_batch b = next(it);
        for (uint32_t k = 0; k < SAMPLES; k++) {
            const float *some = (const float *)b.images[0].data + k * PIXELS;
            const bool there = b.ids[k] % 3 != 0;
            ck_assert_int_eq(b.images[0].present[k], there);
            ck_assert(there ? memcmp(some, (const float *)b.data + k * PIXELS, sizeof(*some)) == 0
                            : all_are(some, PIXELS, 0));
        }
        struct imrec_batch none;
        ck_assert_int_eq(imrec_iter_next(it, &none, &err), IMREC_END);
    }
    imrec_iter_close(it);
}

static const struct {
    const char *words, *says;
} failing[] = {
    {"images=image,copy,some?", "its image 'copy': no image of a known format"},
    {"images=image,some?,depth:float32:fill=9",
     "the sample has no field 'depth', it has copy, half, some, small, cls (images=image,depth? "
     "lets it be missing)"},
};

/* Slots of samples that fail and of padding are empty. */
LOOP_TEST(a_broken_image_fails_its_sample, 0, COUNT(failing))
{
    char words[200];
    struct imrec_batch b;
    make_set(22);
    snprintf(words, sizeof(words), "batch_size=24 %s", failing[_i].words);
    struct imrec_iter *it = set_open(&s, false, words);
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_ERR_DATA);
    ck_assert_msg(strstr(err.message, failing[_i].says) != NULL, "%s", err.message);
    ck_assert_uint_eq(b.failed, 1);
    for (uint32_t k = 22; k < 24; k++) {
        ck_assert(!b.images[0].present[k] && !b.images[1].present[k]);
        ck_assert(all_are((const float *)b.data + k * PIXELS, PIXELS, 0));
        ck_assert(all_are((const float *)b.images[0].data + k * PIXELS, PIXELS, 0));
        ck_assert(_i == 0 ||
                  all_are((const float *)b.images[1].data + k * OUT * OUT, OUT * OUT, 9));
    }
    imrec_iter_close(it);
}

static const struct {
    const char *words, *says;
} losing[] = {
    {"images=image,depth", "it has one channel of 16 bits, of which pixels would keep 8"},
    {"images=image,depth:uint8", "which does not fit uint8: images=depth:uint16"},
    {"images=image,copy:uint8", "its image 'copy': the mask is not a PNG"},
};

LOOP_TEST(nothing_of_a_value_is_lost_without_a_word, 0, COUNT(losing))
{
    struct imrec_batch b;
    make_set(NOBODY);
    struct imrec_iter *it = set_open(&s, false, losing[_i].words);
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_ERR_DATA);
    ck_assert_msg(strstr(err.message, losing[_i].says) != NULL, "%s", err.message);
    ck_assert_uint_eq(b.failed, b.slots);
    imrec_iter_close(it);
}

TEST(a_sample_that_replaces_another_brings_its_images)
{
    make_set(2);
    struct imrec_iter *it =
        set_open(&s, false, "images=image,copy on_error=replace batch_size=4 rand_mirror=1");
    const struct imrec_batch b = next(it);
    ck_assert_uint_eq(b.replaced, 1);
    ck_assert(memcmp(b.data, b.images[0].data, 4 * PIXELS * sizeof(float)) == 0);
    imrec_iter_close(it);
}

TEST(kept_batches_hold_their_images)
{
    static float data[5 * PIXELS];
    struct imrec_kept *kept;
    struct imrec_batch b, more;
    make_set(NOBODY);
    struct imrec_iter *it = set_open(&s, false, "images=image,copy shuffle=1");
    b = next(it);
    memcpy(data, b.images[0].data, sizeof(data));
    const void *at = b.images[0].data;
    ck_assert_int_eq(imrec_iter_keep(it, &kept, &err), IMREC_OK);
    while (imrec_iter_next(it, &more, &err) == IMREC_OK)
        ck_assert_ptr_ne(more.images[0].data, at);
    imrec_iter_close(it);
    ck_assert(memcmp(data, at, sizeof(data)) == 0);
    imrec_kept_release(kept);
}

/* ---- opening ------------------------------------------------------------------------------ */

static const struct {
    const char *words, *says;
} wrong[] = {
    {"images=depth", "images begins with image"},
    {"images=images,depth", "images begins with image"},
    {"images=image,", "called by the name of its field, not ''"},
    {"images=image,image", "called by the name of its field, not 'image'"},
    {"images=image,a,a:uint8", "images names 'a' twice"},
    {"images=image,a fields=b,a", "'a' is in images and in fields"},
    {"images=image,a:uint8:3", "'a' is a map of values"},
    {"images=image,a:uint16:normalize", "'a' is a map of values"},
    {"images=image,a:uint8:fill=256", "fill=256 of 'a' does not fit uint8"},
    {"images=image,a:fill=1", "fill= of 'a' is for maps"},
    {"images=image,a dtype=int8", "write a:normalize"},
    {"images=image,a:uint8 mixup=1 num_classes=30", "mixup blends images, and 'a' of images"},
    {"images=none masks=uint8", "images=none decodes nothing: masks are about images"},
    {"images=none multi_crop=1x12", "images=none decodes nothing: multi_crop is"},
    {"images=image,copy memory_limit=1000000", "memory_limit is 1000000 bytes, but these"},
};

LOOP_TEST(what_cannot_be_is_refused, 0, COUNT(wrong))
{
    struct imrec_iter *it;
    make_set(NOBODY);
    ck_assert_int_ne(set_try_open(&s, false, wrong[_i].words, &it, &err), IMREC_OK);
    ck_assert_msg(strstr(err.message, wrong[_i].says) != NULL, "%s", err.message);
}

static uint64_t planned(const char *words)
{
    struct imrec_iter_stats stats;
    struct imrec_iter *it = set_open(&s, false, words);
    imrec_iter_get_stats(it, &stats);
    imrec_iter_close(it);
    return stats.memory_planned_bytes;
}

TEST(further_images_count_in_the_plan_of_memory)
{
    make_set(NOBODY);
    const uint64_t without = planned("batch_size=64 prefetch_buffer=1");
    const uint64_t with = planned("batch_size=64 prefetch_buffer=1 images=image,copy,depth:uint16");
    const uint64_t tensors = 2 * 64 * (PIXELS * sizeof(float) + OUT * OUT * 2);
    const uint64_t workers = 2 * HEADROOM_FREE_BYTES;
    ck_assert_uint_ge(with - without, tensors + workers);
    ck_assert_uint_le(with - without, tensors + workers + 2 * (2 * 64 + 2 * TENSOR_ROOM));
}

TEST(folders_have_no_further_images)
{
    struct imrec_iter *it;
    char path[400];
    make_set(NOBODY);
    snprintf(path, sizeof(path), "%s/0", s.dir.path);
    ck_assert_int_eq(mkdir(path, 0777), 0);
    struct codec *c;
    ck_assert_int_eq(codec_new(&c, NULL), IMREC_OK);
    const struct bytes jpg = set_encode(c, &(struct image_set_options){.jpeg = true}, 1);
    (void)tmp_write(&s.dir, "0/a.jpg", jpg.p, jpg.n);
    codec_free(c);
    ck_assert_int_eq(set_try_open(&s, false, "images=image,depth container=folder", &it, &err),
                     IMREC_ERR_UNSUPPORTED);
    ck_assert_msg(strstr(err.message, "whose samples have one image") != NULL, "%s", err.message);
}

TEST(opening_with_images_fails_cleanly)
{
    make_set(NOBODY);
    opening_must_fail_cleanly(&s, false, "images=image,copy,depth:uint16 batch_size=4");
}

/* ---- none --------------------------------------------------------------------------------- */

TEST(without_images_nothing_is_decoded)
{
    uint32_t seen = 0;
    struct imrec_batch b;
    struct imrec_iter_stats stats;
    make_set(NOBODY);
    struct imrec_iter *it = set_open(&s, false, "images=none fields=some? image=nothing shuffle=1");
    while (imrec_iter_next(it, &b, &err) == IMREC_OK) { /* no sample has an image */
        ck_assert(b.data == NULL && b.views[0].data == NULL && b.image_count == 0);
        ck_assert_uint_eq(b.views[0].shape.channels + b.views[0].shape.width, 0);
        for (uint32_t k = 0; k < b.count; k++) {
            ck_assert(b.labels[k] == (float)b.ids[k] && b.valid[k]);
            ck_assert_int_eq(b.fields[0].kinds[k] != IMREC_FIELD_NONE, b.ids[k] % 3 != 0);
            seen++;
        }
    }
    imrec_iter_get_stats(it, &stats);
    ck_assert_uint_eq(seen, SAMPLES);
    ck_assert_uint_ge(stats.images, SAMPLES);
    ck_assert(stats.decodes == 0 && stats.views == 0);
    imrec_iter_close(it);
}

TEST(without_images_no_shape_is_needed_and_the_order_is_the_same)
{
    struct imrec_iter_options o;
    struct imrec_iter *it, *twin;
    make_set(NOBODY);
    imrec_iter_options_init(&o);
    o.path_imgrec = s.dir.path;
    ck_assert_int_eq(open_words(&o, "images=none shuffle=1 seed=9 batch_size=5", &it, &err),
                     IMREC_OK);
    twin = set_open(&s, false, "shuffle=1 seed=9");
    for (int i = 0; i < 4; i++) {
        const struct imrec_batch a = next(it), b = next(twin);
        ck_assert_mem_eq(a.ids, b.ids, 5 * sizeof(*a.ids));
        ck_assert_mem_eq(a.labels, b.labels, 5 * sizeof(*a.labels));
    }
    imrec_iter_close(it);
    imrec_iter_close(twin);
}
