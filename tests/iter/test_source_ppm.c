/* tests/iter/test_source_ppm.c - the example of a source: PPMs in one file give what PNGs in
 * records give, and no file makes it read what is not there. */
#include "tests/support/imageset.h"
#include "tests/support/iter_pair.h"
#include "tests/support/suite.h"

enum { IMAGES = 23, MOST = 20 * 20 * 3 };

static struct tmpdir dir;
static struct buf ppm = BUF_INIT((size_t)1 << 24), rec = BUF_INIT((size_t)1 << 24);
static const char *ppm_path, *rec_path;

static void add_image(struct codec *c, uint32_t i)
{
    static uint8_t pixels[MOST];
    struct imrec_image image = {pixels, 0, 13 + i % 8, 13 + i / 3 % 8, 3};
    struct buf record = BUF_INIT((size_t)1 << 20);
    struct bytes png;
    char head[100];
    const float label = (float)i / 2;
    image.stride = 3 * (size_t)image.width;
    set_pixels(i, pixels, image.stride * image.height);
    const int n =
        snprintf(head, sizeof(head),
                 i % 2 ? "P6\n# label %g\n%u %u\n255\n" : "P6 #a\n# label %g\n %u\t%u #b\n255 ",
                 (double)label, image.width, image.height);
    ck_assert_int_eq(buf_append(&ppm, head, (size_t)n, NULL), IMREC_OK);
    ck_assert_int_eq(buf_append(&ppm, pixels, image.stride * image.height, NULL), IMREC_OK);
    ck_assert_int_eq(codec_encode_png(c, &image, 1, &png, NULL), IMREC_OK);
    ck_assert_int_eq(image_record_head(&record, &label, 1, false, i, 0, NULL), IMREC_OK);
    ck_assert_int_eq(buf_append(&record, png.p, png.n, NULL), IMREC_OK);
    ck_assert_int_eq(recordio_frame((struct bytes){record.p, record.n}, &rec, NULL), IMREC_OK);
    buf_free(&record);
}

static void setup(void)
{
    struct codec *c;
    dir = tmpdir_make();
    ck_assert_int_eq(codec_new(&c, NULL), IMREC_OK);
    for (uint32_t i = 0; built_with("png") && i < IMAGES; i++)
        add_image(c, i);
    codec_free(c);
    ppm_path = tmp_write(&dir, "all.ppm", ppm.p, ppm.n);
    rec_path = tmp_write(&dir, "all.rec", rec.p, rec.n);
}

static void teardown(void)
{
    buf_free(&ppm);
    buf_free(&rec);
    tmpdir_remove(&dir);
}

static const struct {
    const char *words;
    size_t sample_bytes;
} ways[] = {
    {"", 12 * 12 * 3 * 4},
    {"data_shape=3,13,13 layout=NHWC dtype=uint8", 13 * 13 * 3},
    {"data_shape=1,12,12 mean_r=100 scale=0.1", 12 * 12 * 4},
    {"data_shape=4,12,12 std_a=2", 12 * 12 * 4 * 4},
    {"resize=31 inter_method=2 data_shape=3,20,30", 20 * 30 * 3 * 4},
    {"mirror=1 pad=3 rotate=30 dtype=float16 aug_seq=hue,light", 12 * 12 * 3 * 2},
};
enum { WAYS = sizeof(ways) / sizeof(*ways) };

CASE(.setup = setup, .teardown = teardown)

LOOP_TEST(pixels_of_a_source_are_those_of_a_png, 0, WAYS) /* _i: way */
{
    char words[700];
    if (!built_with("png"))
        return;
    snprintf(words, sizeof(words), "source=%s:ppm %s", PPM, ways[_i].words);
    iterators_must_agree(pair_open(ppm_path, words), pair_open(rec_path, ways[_i].words),
                         ways[_i].sample_bytes, 14, ways[_i].words);
}

static uint8_t shade(uint32_t x, uint32_t y, uint32_t c)
{
    return (uint8_t)((x * 31 + y * 17 + c * 5) ^ (x >> 8) ^ (y >> 6));
}

static void add_shades(struct buf *b, uint32_t width, uint32_t height)
{
    char head[64];
    const int n = snprintf(head, sizeof(head), "P6 %u %u 255\n", width, height);
    ck_assert_int_eq(buf_append(b, head, (size_t)n, NULL), IMREC_OK);
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++) {
            const uint8_t px[] = {shade(x, y, 0), shade(x, y, 1), shade(x, y, 2)};
            ck_assert_int_eq(buf_append(b, px, sizeof(px), NULL), IMREC_OK);
        }
}

/* The loader reads 16 MiB of a record at first. */
LOOP_TEST(a_record_larger_than_a_read_is_whole, 0, 2) /* _i: shuffled? */
{
    static const uint32_t sides[] = {12, 2500, 13, 2400};
    struct buf b = BUF_INIT((size_t)1 << 26);
    struct imrec_batch batch;
    char words[700];
    for (int i = 0; i < 4; i++)
        add_shades(&b, sides[i], sides[i] + 2);
    snprintf(words, sizeof(words),
             "source=%s:ppm batch_size=4 dtype=uint8 layout=NHWC data_shape=3,2402,12 shuffle=%d",
             PPM, _i);
    struct imrec_iter *it = pair_open(tmp_write(&dir, "large.ppm", b.p, b.n), words);
    ck_assert_int_eq(imrec_iter_next(it, &batch, NULL), IMREC_OK);
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t side = sides[batch.ids[i]], x = (side - 12) / 2, y = (side - 2400) / 2;
        if (side < 100)
            continue; /* made larger: never mind */
        const uint8_t *v = (const uint8_t *)batch.data + (size_t)i * 2402 * 12 * 3;
        for (uint32_t k = 0; k < 2402 * 12; k++)
            for (uint32_t c = 0; c < 3; c++)
                ck_assert_int_eq(v[3 * k + c], shade(x + k % 12, y + k / 12, c));
    }
    imrec_iter_close(it);
    buf_free(&b);
}

static uint32_t samples_of(struct imrec_iter *it)
{
    struct imrec_batch b;
    struct imrec_error err;
    uint32_t n = 0;
    enum imrec_status st;
    while ((st = imrec_iter_next(it, &b, &err)) == IMREC_OK || st == IMREC_ERR_DATA)
        n += b.count;
    ck_assert_int_eq(st, IMREC_END);
    imrec_iter_close(it);
    return n;
}

TEST(a_file_that_is_cut_anywhere_is_refused_or_shorter)
{
    char words[700];
    uint32_t shorter = 0;
    snprintf(words, sizeof(words), "source=%s:ppm", PPM);
    for (size_t n = 0; built_with("png") && n < 3000; n += 1 + n / 10) {
        struct imrec_iter *it;
        struct imrec_error err = {0};
        const char *path = tmp_write(&dir, "cut.ppm", ppm.p, n);
        const enum imrec_status st = pair_try_open(path, words, &it, &err);
        if (st == IMREC_OK)
            shorter += samples_of(it) < IMAGES;
        else
            ck_assert_msg(strstr(err.message, "cut.ppm: source ppm: the") != NULL, "%s",
                          err.message);
    }
    ck_assert(shorter > 0 || !built_with("png")); /* none at all are no image */
}

LOOP_TEST(a_head_that_is_none_is_refused_with_its_byte, 0, 24) /* _i: byte that is changed */
{
    char words[700];
    if (!built_with("png"))
        return;
    snprintf(words, sizeof(words), "source=%s:ppm", PPM);
    for (int value = 0; value < 256; value += 41) {
        struct imrec_iter *it;
        struct imrec_error err = {0};
        const uint8_t was = ppm.p[_i];
        ppm.p[_i] = (uint8_t)value;
        const char *path = tmp_write(&dir, "bad.ppm", ppm.p, ppm.n);
        ppm.p[_i] = was;
        if (pair_try_open(path, words, &it, &err) == IMREC_OK)
            samples_of(it);
        else
            ck_assert_msg(strstr(err.message, "at byte ") != NULL, "%s", err.message);
    }
}
