/* tests/iter/test_iter_self_check.c - self_check=N: what our decoder makes is compared with what
 * libjpeg-turbo makes. Where our decoder is broken (here, on purpose), a sample fails. */
#include "codec/jpeg_try.h"
#include "tests/support/imageset.h"
#include "tests/support/suite.h"

enum { RECORDS = 60 };

/* ---- a decoder that makes a mistake -------------------------------------------------------- */

static uint32_t g_row = UINT32_MAX; /* in which a value is one too large */

enum imrec_status __real_jpeg_try_baseline(struct codec *c, const struct rows *rows, bool *done,
                                           struct imrec_error *err);
enum imrec_status __wrap_jpeg_try_baseline(struct codec *c, const struct rows *rows, bool *done,
                                           struct imrec_error *err);

static void spoil(void *context, uint32_t y, const uint8_t *row)
{
    const struct rows *to = context;
    uint8_t copy[4096];
    const size_t n = (size_t)to->region.width * to->channels;
    ck_assert_uint_le(n, sizeof(copy));
    memcpy(copy, row, n);
    copy[n - 1] = (uint8_t)(copy[n - 1] + (y + to->region.y == g_row));
    to->sink(to->context, y, copy);
}

enum imrec_status __wrap_jpeg_try_baseline(struct codec *c, const struct rows *rows, bool *done,
                                           struct imrec_error *err)
{
    struct rows spoilt = *rows;
    if (rows->sink == NULL || g_row == UINT32_MAX)
        return __real_jpeg_try_baseline(c, rows, done, err);
    spoilt.sink = spoil;
    spoilt.context = (void *)rows;
    spoilt.direct = NULL;
    return __real_jpeg_try_baseline(c, &spoilt, done, err);
}

/* ---- tests ---------------------------------------------------------------------------------- */

static struct image_set make(void)
{
    return image_set_make(&(struct image_set_options){
        .records = RECORDS, .shards = 2, .labels = 1, .side = 40, .jpeg = true});
}

/* Failed samples of a sweep; `message` of the last. */
static uint32_t sweep(struct imrec_iter *it, char message[512])
{
    struct imrec_batch b;
    struct imrec_error err = {0};
    enum imrec_status st;
    uint32_t failed = 0;
    while ((st = imrec_iter_next(it, &b, &err)) != IMREC_END) {
        ck_assert(st == IMREC_OK || st == IMREC_ERR_DATA);
        failed += b.failed;
        if (st == IMREC_ERR_DATA)
            snprintf(message, 512, "%s", err.message);
    }
    return failed;
}

static const char straight[] = "batch_size=4 data_shape=3,32,32 rand_crop=1";
static const char by_images[] = "batch_size=4 data_shape=3,32,32 random_resized_crop=1";

LOOP_TEST(who_agrees_does_not_fail_and_is_counted, 0, 2) /* _i: straight, by way of images */
{
    struct image_set s = make();
    struct imrec_iter_stats stats;
    char words[256], message[512];
    snprintf(words, sizeof(words), "%s self_check=1 max_samples=60",
             _i == 0 ? straight : by_images);
    struct imrec_iter *it = set_open(&s, true, words);
    ck_assert_uint_eq(sweep(it, message), 0);
    imrec_iter_get_stats(it, &stats);
    ck_assert_uint_eq(stats.self_checked, RECORDS);
    ck_assert_uint_eq(stats.decodes, RECORDS);
    imrec_iter_close(it);
    it = set_open(&s, true, straight);
    ck_assert_uint_eq(sweep(it, message), 0);
    imrec_iter_get_stats(it, &stats);
    ck_assert_uint_eq(stats.self_checked, 0);
    imrec_iter_close(it);
    image_set_free(&s);
}

TEST(one_of_n_is_compared_the_same_with_any_threads)
{
    struct image_set s = make();
    struct imrec_iter_stats stats;
    uint64_t compared[2];
    char message[512];
    for (int i = 0; i < 2; i++) {
        char words[256];
        snprintf(words, sizeof(words), "%s self_check=4 preprocess_threads=%d", straight,
                 1 + 2 * i);
        struct imrec_iter *it = set_open(&s, true, words);
        for (int k = 0; k < 20; k++)
            ck_assert_uint_eq(sweep(it, message), 0);
        imrec_iter_close(it);
        it = set_open(&s, true, words);
        for (int k = 0; k < 20; k++)
            (void)sweep(it, message);
        imrec_iter_get_stats(it, &stats);
        compared[i] = stats.self_checked;
        imrec_iter_close(it);
    }
    /* other sweeps draw others; a batch that was made ahead may count */
    ck_assert_uint_gt(compared[0], 20 * RECORDS / 4 * 8 / 10);
    ck_assert_uint_lt(compared[0], 20 * RECORDS / 4 * 12 / 10);
    ck_assert_uint_lt(
        compared[0] > compared[1] ? compared[0] - compared[1] : compared[1] - compared[0], 20);
    image_set_free(&s);
}

LOOP_TEST(who_differs_fails_and_is_told_where, 0, 2)
{
    struct image_set s = make();
    char words[256], message[512] = "";
    g_row = 20; /* every region has it */
    snprintf(words, sizeof(words), "%s self_check=1",
             _i == 0 ? straight
                     : "batch_size=4 "
                       "data_shape=3,32,32 resize=33");
    struct imrec_iter *it = set_open(&s, true, words);
    ck_assert_uint_eq(sweep(it, message), RECORDS);
    ck_assert_ptr_nonnull(
        strstr(message, "do not agree (self_check): their pixels differ in row 20"));
    imrec_iter_close(it);
    it = set_open(&s, true, straight); /* nobody looks */
    ck_assert_uint_eq(sweep(it, message), 0);
    imrec_iter_close(it);
    g_row = UINT32_MAX;
    image_set_free(&s);
}

TEST(no_memory_to_compare_is_an_error)
{
    uint8_t pixels[40 * 40 * 3] = {0};
    const struct imrec_image image = {pixels, 120, 40, 40, 3};
    struct codec *maker;
    struct bytes jpeg;
    ck_assert_int_eq(codec_new(&maker, NULL), IMREC_OK);
    ck_assert_int_eq(
        codec_encode_jpeg(maker, &image, (struct codec_jpeg_how){.quality = 90}, &jpeg, NULL),
        IMREC_OK);
    STARVING(memory)
    {
        struct codec *c = NULL;
        struct imrec_image_info info;
        struct image out = {0};
        const struct codec_limits limits = {.max_pixels = -1};
        memory.st = codec_new(&c, NULL);
        if (memory.st == IMREC_OK) {
            codec_self_check(c, true);
            memory.st = codec_begin(c, jpeg, &limits, &info, NULL);
        }
        if (memory.st == IMREC_OK)
            memory.st =
                codec_decode_image(c, (struct imrec_rect){0, 0, 40, 40}, 3, &out, NULL, NULL);
        image_free(&out);
        codec_free(c);
    }
    codec_free(maker);
}
