/* tests/im2rec/test_quality_target.c - the structural similarity of plain double loops, and
 * qualities that hold what was asked, next to which there is no better one. */
#include "base/error.h"
#include "im2rec/item/quality_target.h"
#include "tests/support/images.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the truth of it ------------------------------------------------------------------------ */

static void fill_weights(double *w, uint32_t n)
{
    double sum = 0;
    for (uint32_t k = 0; k < n; k++)
        sum += w[k] = exp(-pow(k - (n - 1) / 2.0, 2) / (2 * 1.5 * 1.5));
    for (uint32_t k = 0; k < n; k++)
        w[k] /= sum;
}

static double window(const struct imrec_image *a, const struct imrec_image *b, uint32_t x,
                     uint32_t y, uint32_t across, uint32_t down)
{
    const double c1 = pow(0.01 * 255, 2), c2 = pow(0.03 * 255, 2);
    double v[SSIM_WINDOW], h[SSIM_WINDOW], ma = 0, mb = 0, va = 0, vb = 0, vab = 0;
    fill_weights(h, across);
    fill_weights(v, down);
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t j = 0; j < down; j++)
            for (uint32_t i = 0; i < across; i++) {
                const double w = h[i] * v[j];
                const double p = a->pixels[(y + j) * a->stride + x + i];
                const double q = b->pixels[(y + j) * b->stride + x + i];
                if (pass == 0) {
                    ma += w * p;
                    mb += w * q;
                    continue;
                }
                va += w * (p - ma) * (p - ma);
                vb += w * (q - mb) * (q - mb);
                vab += w * (p - ma) * (q - mb);
            }
    return (2 * ma * mb + c1) / (ma * ma + mb * mb + c1) * (2 * vab + c2) / (va + vb + c2);
}

static double truth(const struct imrec_image *a, const struct imrec_image *b)
{
    const uint32_t across = a->width < SSIM_WINDOW ? a->width : SSIM_WINDOW;
    const uint32_t down = a->height < SSIM_WINDOW ? a->height : SSIM_WINDOW;
    double sum = 0;
    uint32_t n = 0;
    for (uint32_t y = 0; y + down <= a->height; y++)
        for (uint32_t x = 0; x + across <= a->width; x++, n++)
            sum += window(a, b, x, y, across, down);
    return sum / n;
}

/* ---- images --------------------------------------------------------------------------------- */

static struct imrec_image view(uint8_t *pixels, uint32_t width, uint32_t height, uint32_t channels)
{
    return (struct imrec_image){pixels, (size_t)width * channels, width, height, channels};
}

static uint32_t draw(uint32_t below)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

static uint8_t *noisy(const uint8_t *pixels, size_t n, uint32_t magnitude)
{
    uint8_t *p = malloc(n);
    ck_assert_ptr_nonnull(p);
    for (size_t i = 0; i < n; i++) {
        const int32_t v = pixels[i] + (int32_t)draw(2 * magnitude + 1) - (int32_t)magnitude;
        p[i] = (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
    }
    return p;
}

TEST(likeness_is_that_of_plain_loops)
{
    static const uint32_t sizes[][2] = {{1, 1},   {2, 7},   {10, 10}, {11, 11}, {3, 40},
                                        {40, 12}, {33, 27}, {64, 11}, {12, 12}, {50, 50}};
    struct ssim s = {0};
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (uint32_t noise = 0; noise < 200; noise = 3 * noise + 1) {
            const uint32_t w = sizes[i][0], h = sizes[i][1];
            uint8_t *pixels = image_pixels(w, h, 1), *other = noisy(pixels, w * h, noise);
            const struct imrec_image a = view(pixels, w, h, 1), b = view(other, w, h, 1);
            ck_assert_int_eq(ssim_begin(&s, &a, NULL), IMREC_OK);
            const double want = truth(&a, &b), got = ssim_of(&s, &b);
            ck_assert_msg(fabs(got - want) < 2e-5, "%u x %u, noise %u: %.7f, not %.7f", w, h, noise,
                          got, want);
            ck_assert(noise != 0 || fabs(got - 1) < 1e-6);
            free(pixels);
            free(other);
        }
    ssim_free(&s);
}

static void fill_values(float *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        v[i] = (float)draw(1 << 20) / 4096 - 128;
}

/* A level's kernels on the same n values as the scalar ones. */
static void compare_level(const struct ssim_kernels *k, size_t n)
{
    enum { ROWS = SSIM_WINDOW, OUT = 128 };
    const struct ssim_kernels *truth = &ssim_kernels[CPU_SCALAR];
    float *row[ROWS], out[2][2][OUT] = {0};
    double total[2][SSIM_LANES] = {{0.5}, {0.5}};
    float weight[ROWS];
    uint8_t px[OUT];
    fill_values(weight, ROWS);
    for (size_t i = 0; i < ROWS; i++) {
        row[i] = malloc(n * sizeof(float));
        ck_assert_ptr_nonnull(row[i]);
        fill_values(row[i], n);
    }
    for (size_t i = 0; i < n; i++)
        px[i] = (uint8_t)draw(256);
    const float *const rows[ROWS] = {row[0], row[1], row[2], row[3], row[4], row[5],
                                     row[6], row[7], row[8], row[9], row[10]};
    const struct ssim_row windows = {row[0], row[1], row[2], row[3], row[4]};
    for (int i = 0; i < 2; i++) {
        const struct ssim_kernels *use = i == 0 ? truth : k;
        use->take(px, n, out[i][0], out[i][1]);
        use->compare(&windows, n, total[i]);
    }
    ck_assert_mem_eq(out[0], out[1], sizeof(out[0]));
    ck_assert_mem_eq(total[0], total[1], sizeof(total[0]));
    for (int i = 0; i < 2; i++) {
        const struct ssim_kernels *use = i == 0 ? truth : k;
        use->multiply(rows[0], rows[1], n, out[i][0]);
        use->weigh(rows, weight, n, out[i][1]);
    }
    ck_assert_mem_eq(out[0], out[1], sizeof(out[0]));
    for (size_t i = 0; i < ROWS; i++)
        free(row[i]);
}

TEST(every_level_has_the_same_bits)
{
    for (int level = 0; level < CPU_LEVELS; level++)
        for (size_t n = 1; cpu_has((enum cpu_level)level) && n <= 70; n++)
            compare_level(&ssim_kernels[level], n);
}

/* ---- searching ------------------------------------------------------------------------------ */

static struct codec *new_codec(void)
{
    struct codec *c;
    ck_assert_int_eq(codec_new(&c, NULL), IMREC_OK);
    return c;
}

static size_t bytes_at(struct codec *c, const struct imrec_image *image, int quality)
{
    struct bytes jpeg;
    const struct codec_jpeg_how how = {.quality = quality};
    ck_assert_int_eq(codec_encode_jpeg(c, image, how, &jpeg, NULL), IMREC_OK);
    return jpeg.n;
}

/* Of luma, by the plain loops. */
static double likeness_at(struct codec *c, const struct imrec_image *image, int quality)
{
    struct codec *judge = new_codec();
    struct bytes jpeg;
    struct image luma = {0}, mine = {0};
    struct imrec_image_info info;
    const struct codec_limits limits = {.max_pixels = 1 << 20, .max_scans = 1};
    const struct codec_jpeg_how how = {.quality = quality};
    ck_assert_int_eq(codec_encode_jpeg(c, image, how, &jpeg, NULL), IMREC_OK);
    ck_assert_int_eq(codec_begin(judge, jpeg, &limits, &info, NULL), IMREC_OK);
    const struct imrec_rect all = {0, 0, info.width, info.height};
    ck_assert_int_eq(codec_decode_image(judge, all, 1, &luma, NULL, NULL), IMREC_OK);
    ck_assert_int_eq(image_resize_buffer(&mine, info.width, info.height, 1, NULL), IMREC_OK);
    for (size_t i = 0; i < (size_t)info.width * info.height; i++) {
        const uint8_t *p = image->pixels + i * image->channels;
        mine.view.pixels[i] =
            image->channels == 1 ? p[0]
                                 : (uint8_t)floor(0.299 * p[0] + 0.587 * p[1] + 0.114 * p[2] + 0.5);
    }
    const double likeness = truth(&mine.view, &luma.view);
    image_free(&luma);
    image_free(&mine);
    codec_free(judge);
    return likeness;
}

/* The quality of a JPEG that was found: that whose bytes it has. */
static int found(const char *target, const struct imrec_image *image, struct imrec_error *err)
{
    struct codec *c = new_codec(), *again = new_codec();
    struct quality_target t;
    struct bytes jpeg;
    bool reached;
    int quality = 0;
    ck_assert_int_eq(quality_target_init(&t, target, NULL, NULL), IMREC_OK);
    ck_assert(quality_target_is_set(&t));
    ck_assert_int_eq(quality_target_encode(&t, c, image, (struct codec_jpeg_how){.quality = 50},
                                           &reached, &jpeg, err),
                     IMREC_OK);
    ck_assert_uint_le(t.tries, 8);
    for (int q = 1; reached && quality == 0 && q <= 100; q++) {
        struct bytes same;
        const struct codec_jpeg_how how = {.quality = q};
        ck_assert_int_eq(codec_encode_jpeg(again, image, how, &same, NULL), IMREC_OK);
        quality = same.n == jpeg.n && memcmp(same.p, jpeg.p, jpeg.n) == 0 ? q : 0;
    }
    ck_assert_int_eq(quality != 0, reached);
    quality_target_free(&t);
    codec_free(c);
    codec_free(again);
    return quality;
}

TEST(as_many_bytes_as_allowed)
{
    struct codec *c = new_codec();
    uint8_t *pixels = image_pixels(96, 80, 3);
    const struct imrec_image image = view(pixels, 96, 80, 3);
    struct imrec_error err;
    for (int quality = 1; quality <= 100; quality += 3) {
        char target[32];
        const size_t bytes = bytes_at(c, &image, quality);
        snprintf(target, sizeof(target), "bytes=%zu", bytes);
        const int q = found(target, &image, &err);
        ck_assert_int_ge(q, quality);
        ck_assert_uint_le(bytes_at(c, &image, q), bytes);
        ck_assert(q == 100 || bytes_at(c, &image, q + 1) > bytes);
    }
    const size_t least = bytes_at(c, &image, 1);
    char target[32], want[96];
    snprintf(target, sizeof(target), "bytes=%zu", least - 1);
    snprintf(want, sizeof(want), "has %zu bytes at quality 1, and quality_target allows %zu", least,
             least - 1);
    ck_assert_int_eq(found(target, &image, &err), 0);
    ck_assert_str_eq(err.message, want);
    free(pixels);
    codec_free(c);
}

LOOP_TEST(as_alike_as_asked, 0, 2)
{
    static const double goals[] = {0.3, 0.9, 0.95, 0.98, 0.99};
    const uint32_t channels = _i == 0 ? 3 : 1;
    struct codec *c = new_codec();
    uint8_t *pixels = image_pixels(70, 45, channels);
    const struct imrec_image image = view(pixels, 70, 45, channels);
    struct imrec_error err;
    for (size_t i = 0; i < COUNT(goals); i++) {
        char target[32];
        snprintf(target, sizeof(target), "ssim=%.2f", goals[i]);
        const int q = found(target, &image, &err);
        ck_assert_int_gt(q, 0);
        ck_assert(likeness_at(c, &image, q) > goals[i] - 2e-5);
        ck_assert(q == 1 || likeness_at(c, &image, q - 1) < goals[i] + 2e-5);
    }
    ck_assert_int_eq(found("ssim=0.999999", &image, &err), 0);
    ck_assert_ptr_nonnull(
        strstr(err.message, "at quality 100, and quality_target asks for 0.999999"));
    free(pixels);
    codec_free(c);
}

TEST(other_texts_are_refused)
{
    static const char *const good[] = {"ssim=0.5", "ssim=0.999999", "bytes=1", "bytes=40KiB",
                                       "bytes=2M"};
    static const char *const bad[] = {"ssim",
                                      "ssim=",
                                      "ssim=1",
                                      "ssim=0",
                                      "ssim=0.0",
                                      "ssim=1.5",
                                      "ssim=.9",
                                      "ssim=-0.9",
                                      "ssim=0.9x",
                                      "ssim=0.1234567",
                                      "bytes=0",
                                      "bytes=40k",
                                      "bytes=K",
                                      "bytes=-1",
                                      "bytes=1.5K",
                                      "quality=90",
                                      "90",
                                      "bytes=",
                                      "bytes=99999999999999G"};
    struct quality_goal goal;
    struct imrec_error err;
    for (size_t i = 0; i < COUNT(good); i++)
        ck_assert_int_eq(quality_goal_parse(good[i], &goal, &err), IMREC_OK);
    ck_assert_uint_eq(goal.bytes, 2 << 20);
    ck_assert_int_eq(quality_goal_parse("", &goal, &err), IMREC_OK);
    ck_assert(goal.bytes == 0 && goal.ssim == 0);
    for (size_t i = 0; i < COUNT(bad); i++) {
        ck_assert_msg(quality_goal_parse(bad[i], &goal, &err) == IMREC_ERR_ARGUMENT, "%s", bad[i]);
        ck_assert_ptr_nonnull(strstr(err.message, bad[i]));
    }
}
