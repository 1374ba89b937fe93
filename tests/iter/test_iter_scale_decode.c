/* tests/iter/test_iter_scale_decode.c - scale_decode=auto: where crops shrink, JPEGs are decoded
 * smaller; what comes out is nearly what comes out without, on any thread. */
#include "codec/jpeg/encode/jpeg_encoder.h"
#include "iter/options/iter_options.h"
#include "tests/support/images.h"
#include "tests/support/imageset.h"
#include "tests/support/suite.h"

#include <math.h>

enum { RECORDS = 12, SIDE = 32, VALUES = 3 * SIDE * SIDE };

struct photos {
    struct tmpdir dir;
    char rec[2048];
};

/* Waves of a hundred pixels: alike at any scale, and unlike anything beside them. */
static struct bytes make_jpeg(struct jpeg_encoder *e, uint32_t width, uint32_t height,
                              uint32_t channels, bool full_chroma)
{
    struct imrec_image image = {NULL, (size_t)width * channels, width, height, channels};
    const struct jpeg_encoding how = {.quality = 95, .full_chroma = full_chroma};
    struct buf out = BUF_INIT(1 << 24);
    image.pixels = malloc(image.stride * height);
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            for (uint32_t c = 0; c < channels; c++)
                image.pixels[y * image.stride + x * channels + c] =
                    (uint8_t)(128 + 100 * sin(x / 17.0 + c) * cos(y / 23.0 - 2 * c));
    ck_assert_int_eq(jpeg_encode(e, &image, &how, NULL, &out, NULL), IMREC_OK);
    free(image.pixels);
    return (struct bytes){out.p, out.n};
}

/* JPEGs of any size and orientation: grey, 4:4:4, 4:2:0. */
static struct photos make_photos(uint32_t smallest)
{
    struct photos p = {.rec = ""};
    struct buf file = BUF_INIT(1 << 26);
    struct imrec_error err;
    struct jpeg_encoder *e;
    uint64_t state = 9;
    p.dir = tmpdir_make();
    ck_assert_int_eq(jpeg_encoder_new(&e, NULL), IMREC_OK);
    for (uint32_t i = 0; i < RECORDS; i++) {
        const uint32_t width = smallest + pick(&state, 300), height = smallest + pick(&state, 300);
        struct bytes jpeg = make_jpeg(e, width, height, i % 5 == 4 ? 1 : 3, i % 2 == 0);
        if (i % 3 == 0)
            jpeg = jpeg_with_orientation(jpeg, (uint8_t)(1 + i % 8), false);
        struct buf record = BUF_INIT(1 << 22);
        const float label = (float)i;
        ck_assert_int_eq(image_record_head(&record, &label, 1, false, i, 0, &err), IMREC_OK);
        ck_assert_int_eq(buf_append(&record, jpeg.p, jpeg.n, &err), IMREC_OK);
        ck_assert_int_eq(recordio_frame((struct bytes){record.p, record.n}, &file, &err), IMREC_OK);
        buf_free(&record);
        bytes_free(jpeg);
    }
    tmp_write(&p.dir, "photos.rec", file.p, file.n);
    jpeg_encoder_free(e);
    snprintf(p.rec, sizeof(p.rec), "%s", tmp_path(&p.dir, "photos.rec"));
    buf_free(&file);
    return p;
}

/* A sweep's pixels, all batches one after another. */
static uint8_t *read_all(const struct photos *p, const char *more, struct imrec_iter_stats *stats)
{
    char common[1024];
    snprintf(common, sizeof(common),
             "data_shape=3,%d,%d dtype=uint8 shuffle=0 max_samples=%d antialias=1", SIDE, SIDE,
             RECORDS);
    struct imrec_iter *it = open_over(p->rec, common, more);
    uint8_t *all = calloc(RECORDS, 2 * VALUES);
    struct imrec_batch b;
    struct imrec_error err;
    size_t n = 0;
    enum imrec_status st;
    while ((st = imrec_iter_next(it, &b, &err)) == IMREC_OK)
        for (uint32_t t = 0; t < b.view_count; t++) {
            memcpy(all + n, b.views[t].data, (size_t)b.count * VALUES);
            n += (size_t)b.count * VALUES;
        }
    ck_assert_msg(st == IMREC_END, "%s", err.message);
    imrec_iter_get_stats(it, stats);
    imrec_iter_close(it);
    return all;
}

static double mean_difference(const uint8_t *a, const uint8_t *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];
    return sum / (double)n;
}

static const char *const recipes[] = {
    "batch_size=3 resize=40 rand_crop=1 rand_mirror=1",
    "batch_size=3 random_resized_crop=1 rrc_style=torch min_random_area=0.3 seed_aug=4",
    "batch_size=3 random_resized_crop=1 rrc_style=torch resize_style=pillow inter_method=2",
    "batch_size=4 random_resized_crop=1 rrc_style=torch min_random_area=0.5 num_views=2",
    "batch_size=3 resize=33 inter_method=1 resize_style=pillow",
    "batch_size=3 resize=40 inter_method=4 resize_style=pillow rand_crop=1",
};

CASE(.timeout = 60)

LOOP_TEST(smaller_decodes_are_nearly_the_same, 0, COUNT(recipes)) /* _i: recipes */
{
    struct photos p = make_photos(300);
    struct imrec_iter_stats stats;
    char words[512];
    uint8_t *off = read_all(&p, recipes[_i], &stats);
    snprintf(words, sizeof(words), "%s scale_decode=auto self_check=1", recipes[_i]);
    uint8_t *one = read_all(&p, words, &stats);
    ck_assert_uint_eq(stats.failed, 0);
    ck_assert_uint_gt(stats.self_checked, 4); /* libjpeg-turbo scales to the same pixels */
    const double difference = mean_difference(off, one, (size_t)RECORDS * VALUES);
    ck_assert_msg(difference > 0 && difference < 1.2, "mean difference %f", difference);
    snprintf(words, sizeof(words), "%s scale_decode=auto preprocess_threads=3 batch_size=2",
             recipes[_i]);
    uint8_t *three = read_all(&p, words, &stats);
    if (strstr(recipes[_i], "num_views") == NULL) /* whose order of memory is that of batches */
        ck_assert_mem_eq(one, three, (size_t)RECORDS * VALUES);
    free(off);
    free(one);
    free(three);
    tmpdir_remove(&p.dir);
}

TEST(what_is_not_shrunk_enough_is_the_same)
{
    struct photos p = make_photos(40);
    struct imrec_iter_stats stats;
    uint8_t *off = read_all(&p, "batch_size=4 rand_crop=1", &stats);
    uint8_t *on = read_all(&p, "batch_size=4 rand_crop=1 scale_decode=auto", &stats);
    ck_assert_mem_eq(off, on, (size_t)RECORDS * VALUES); /* cropped only */
    free(on);
    on = read_all(&p, "batch_size=4 resize=600 scale_decode=auto", &stats);
    free(off);
    off = read_all(&p, "batch_size=4 resize=600", &stats);
    ck_assert_mem_eq(off, on, (size_t)RECORDS * VALUES); /* enlarged */
    free(on);
    on =
        read_all(&p, "batch_size=4 resize=32 antialias=0 inter_method=3 scale_decode=auto", &stats);
    free(off);
    off = read_all(&p, "batch_size=4 resize=32 antialias=0 inter_method=3", &stats);
    ck_assert_mem_eq(off, on, (size_t)RECORDS * VALUES); /* not antialiased */
    free(off);
    free(on);
    tmpdir_remove(&p.dir);
}

TEST(what_would_not_move_with_the_image_is_refused)
{
    static const char *const words[] = {"record_places=1", "masks=uint8", "boxes=1 label_width=-1",
                                        "keypoints=2 label_width=6"};
    struct photos p = make_photos(40);
    struct imrec_iter *it;
    struct imrec_error err;
    for (int i = 0; i < COUNT(words); i++) {
        ck_assert_int_eq(try_open_over(p.rec, "data_shape=3,32,32 batch_size=2 scale_decode=auto",
                                       words[i], &it, &err),
                         IMREC_ERR_ARGUMENT);
        ck_assert_msg(strstr(err.message, "scale_decode=auto makes images smaller") != NULL, "%s",
                      err.message);
    }
    tmpdir_remove(&p.dir);
}
