/* Long work on one image ends soon after it is asked to: by the processor's time that it still
 * takes, whatever else the machine does. */
#include "augment/colour/blur.h"
#include "augment/geometry/warp.h"
#include "augment/resize/resample.h"
#include "base/alloc.h"
#include "base/stop.h"
#include "base/threads.h"
#include "codec/codec.h"
#include "codec/mask_png.h"
#include "tests/support/built.h"
#include "tests/support/images.h"
#include "tests/support/suite.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { WIDTH = 3000, HEIGHT = 2500, ATTEMPTS = 10 };

static struct codec *codec;
static struct resize_scratch *scratch;
static struct image out;
static struct imrec_image pixels;
static struct bytes plain, progressive, png, mask_png;
static struct mask mask, read;
static struct stop stop;

static void setup(void)
{
    pixels =
        (struct imrec_image){image_pixels(WIDTH, HEIGHT, 3), (size_t)WIDTH * 3, WIDTH, HEIGHT, 3};
    ck_assert_int_eq(codec_new(&codec, NULL), IMREC_OK);
    ck_assert_int_eq(resize_scratch_new(&scratch, NULL), IMREC_OK);
    codec_stop_with(codec, &stop);
    resize_scratch_stop_with(scratch, &stop);
    ck_assert_int_eq(mask_resize_buffer(&mask, WIDTH, HEIGHT, NULL), IMREC_OK);
    mask.bits = 16;
    for (size_t i = 0; i < (size_t)WIDTH * HEIGHT; i++)
        mask.values[i] = (uint16_t)(i * 2654435761u >> 16);
}

static void teardown(void)
{
    bytes_free(plain);
    bytes_free(progressive);
    bytes_free(png);
    bytes_free(mask_png);
    free(pixels.pixels);
    codec_free(codec);
    resize_scratch_free(scratch);
    image_free(&out);
    mask_free(&mask);
    mask_free(&read);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

/* ---- what takes long ------------------------------------------------------------------------ */

static enum imrec_status begin(struct bytes b, struct imrec_error *err)
{
    const struct codec_limits limits = {.max_pixels = -1, .accept_truncated = true};
    struct imrec_image_info info;
    return codec_begin(codec, b, &limits, &info, err);
}

static enum imrec_status decode(struct bytes b, struct imrec_error *err)
{
    const enum imrec_status st = begin(b, err);
    return st == IMREC_OK ? codec_decode_scaled(codec, 1, 3, &out, NULL, err) : st;
}

static struct bytes made(struct bytes *jpeg, bool many_scans)
{
    const struct jpeg_layout layout = {
        .colours = COLOURS_YCC, .h = 2, .v = 2, .progressive = many_scans};
    if (jpeg->n == 0)
        *jpeg = jpeg_make(WIDTH, HEIGHT, &layout);
    return *jpeg;
}

static enum imrec_status decode_plain(struct imrec_error *err)
{
    return decode(made(&plain, false), err);
}

static enum imrec_status decode_by_libjpeg(struct imrec_error *err)
{
    codec_use_jpeg(codec, CODEC_JPEG_LIBJPEG);
    return decode(made(&plain, false), err);
}

static enum imrec_status decode_progressive(struct imrec_error *err)
{
    return decode(made(&progressive, true), err);
}

static enum imrec_status check_plain(struct imrec_error *err)
{
    const enum imrec_status st = begin(made(&plain, false), err);
    return st == IMREC_OK ? codec_check(codec, NULL, err) : st;
}

static enum imrec_status encode_jpeg(struct imrec_error *err)
{
    struct bytes b;
    return codec_encode_jpeg(codec, &pixels, (struct codec_jpeg_how){.quality = 90}, &b, err);
}

static enum imrec_status encode_png(struct imrec_error *err)
{
    struct bytes b;
    return codec_encode_png(codec, &pixels, 1, &b, err);
}

/* A copy, as the codec's memory is used again. */
static void keep(struct bytes b, struct bytes *to)
{
    uint8_t *copy = malloc(b.n);
    memcpy(copy, b.p, b.n);
    *to = (struct bytes){copy, b.n};
}

static enum imrec_status decode_png(struct imrec_error *err)
{
    struct bytes b;
    if (png.n == 0 && codec_encode_png(codec, &pixels, 1, &b, err) == IMREC_OK)
        keep(b, &png);
    return decode(png, err);
}

static enum imrec_status encode_mask(struct imrec_error *err)
{
    struct bytes b;
    return codec_encode_mask(codec, &mask, &b, err);
}

static enum imrec_status decode_mask(struct imrec_error *err)
{
    struct bytes b;
    if (mask_png.n == 0 && codec_encode_mask(codec, &mask, &b, err) == IMREC_OK)
        keep(b, &mask_png);
    return codec_decode_mask(codec, mask_png, -1, &read, err);
}

static enum imrec_status enlarge(struct imrec_error *err)
{
    return resample(&pixels, WIDTH + 1000, HEIGHT + 1000, &out, scratch, err);
}

static enum imrec_status
resize_by(enum resize_method method, uint32_t width, uint32_t height, struct imrec_error *err)
{
    const struct resize_job job = {WIDTH, HEIGHT, width, height, {0, 0, width, height}, method};
    return resize_window(&job, &pixels, &out, scratch, err);
}

static enum imrec_status nearest(struct imrec_error *err)
{
    return resize_by(RESIZE_NEAREST, WIDTH + 1000, HEIGHT + 1000, err);
}

static enum imrec_status bilinear(struct imrec_error *err)
{
    return resize_by(RESIZE_BILINEAR, WIDTH + 1000, HEIGHT + 1000, err);
}

static enum imrec_status cubic(struct imrec_error *err)
{
    return resize_by(RESIZE_CUBIC, WIDTH + 1000, HEIGHT + 1000, err);
}

static enum imrec_status lanczos(struct imrec_error *err)
{
    return resize_by(RESIZE_LANCZOS, WIDTH + 1000, HEIGHT + 1000, err);
}

static enum imrec_status area(struct imrec_error *err)
{
    return resize_by(RESIZE_AREA, WIDTH - 700, HEIGHT - 700, err);
}

static enum imrec_status warp_all(struct imrec_error *err)
{
    const struct warp_job job = {.from_width = WIDTH,
                                 .from_height = HEIGHT,
                                 .to_width = WIDTH,
                                 .to_height = HEIGHT,
                                 .window = {0, 0, WIDTH, HEIGHT},
                                 .matrix = {1, 0, 0, 0, 1, 0},
                                 .method = RESIZE_CUBIC};
    return warp_window(&job, &pixels, &out, scratch, err);
}

static enum imrec_status blur_all(struct imrec_error *err)
{
    return blur(&pixels, 4, scratch, cpu_level(), err);
}

static enum imrec_status sharpen_all(struct imrec_error *err)
{
    return sharpen(&pixels, 2, scratch, CPU_SCALAR, err);
}

static const struct {
    const char *name;
    enum imrec_status (*run)(struct imrec_error *err);
    bool png;
} works[] = {
    {"decode plain", decode_plain, false},
    {"decode by libjpeg", decode_by_libjpeg, false},
    {"decode progressive", decode_progressive, false},
    {"check", check_plain, false},
    {"encode JPEG", encode_jpeg, false},
    {"encode PNG", encode_png, true},
    {"decode PNG", decode_png, true},
    {"encode mask", encode_mask, true},
    {"decode mask", decode_mask, true},
    {"resample", enlarge, false},
    {"nearest", nearest, false},
    {"bilinear", bilinear, false},
    {"cubic", cubic, false},
    {"Lanczos", lanczos, false},
    {"area", area, false},
    {"warp", warp_all, false},
    {"blur", blur_all, false},
    {"sharpen", sharpen_all, false},
};

/* ---- and how soon it ends -------------------------------------------------------------------- */

static double seconds(clockid_t clock)
{
    struct timespec t;
    ck_assert_int_eq(clock_gettime(clock, &t), 0);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

struct asker {
    clockid_t of; /* the worker's own clock */
    double at;
    atomic_bool over;
};

static void *ask(void *arg)
{
    struct asker *a = arg;
    const struct timespec a_little = {0, 200000};
    while (!atomic_load(&a->over) && seconds(a->of) < a->at)
        nanosleep(&a_little, NULL);
    stop_ask(&stop);
    return NULL;
}

/* The processor's time of the work, asked to end after a tenth of `whole`. */
static double ended(int i, double whole)
{
    struct imrec_error err;
    struct thread thread = {0};
    struct asker a = {.at = seconds(CLOCK_THREAD_CPUTIME_ID) + whole / 10};
    stop = (struct stop){0};
    ck_assert_int_eq(pthread_getcpuclockid(pthread_self(), &a.of), 0);
    ck_assert_int_eq(thread_start(&thread, "asker", ask, &a, NULL), IMREC_OK);
    const double begun = seconds(CLOCK_THREAD_CPUTIME_ID);
    const enum imrec_status st = works[i].run(&err);
    const double took = seconds(CLOCK_THREAD_CPUTIME_ID) - begun;
    atomic_store(&a.over, true);
    thread_join(&thread);
    ck_assert_msg(st == IMREC_OK || st == IMREC_ERR_CANCELLED, "%s: %s", works[i].name,
                  err.message);
    return st == IMREC_ERR_CANCELLED ? took : whole;
}

CASE(.timeout = 300, .setup = setup, .teardown = teardown)

LOOP_TEST(work_ends_soon_after_it_is_asked_to, 0, COUNT(works))
{
    struct imrec_error err;
    double least, whole = 0;
    if (works[_i].png && !built_with("png"))
        return;
    stop = (struct stop){0};
    for (int n = 0; n < 2; n++) { /* the second time all memory is there */
        const double begun = seconds(CLOCK_THREAD_CPUTIME_ID);
        ck_assert_msg(works[_i].run(&err) == IMREC_OK, "%s: %s", works[_i].name, err.message);
        whole = seconds(CLOCK_THREAD_CPUTIME_ID) - begun;
    }
    least = whole;
    for (int n = 0; n < ATTEMPTS && least > whole / 2; n++) { /* who asks may be late */
        const double took = ended(_i, whole);
        least = took < least ? took : least;
    }
    ck_assert_msg(least <= whole / 2, "%s: %.3f s of %.3f s", works[_i].name, least, whole);
    stop = (struct stop){0}; /* and what is used again works */
    ck_assert_msg(works[_i].run(&err) == IMREC_OK, "%s: %s", works[_i].name, err.message);
}

LOOP_TEST(whoever_asked_before_gets_nothing, 0, COUNT(works))
{
    struct imrec_error err;
    if (works[_i].png && !built_with("png"))
        return;
    stop = (struct stop){0};
    ck_assert_int_eq(works[_i].run(&err), IMREC_OK);
    stop_ask(&stop);
    ck_assert_int_eq(works[_i].run(&err), IMREC_ERR_CANCELLED);
    ck_assert_str_eq(err.message, "interrupted");
}
