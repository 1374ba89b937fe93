#include "augment/resize/resize_passes.h"
#include "base/alloc.h"
#include "base/rng.h"
#include "tests/support/guard.h"
#include "tests/support/resize_model.h"

#include "tests/support/scratch.h"
#include "tests/support/starving.h"
#include "tests/support/suite.h"
#include <stdlib.h>

enum { MAX_SIDE = 260 };

static uint64_t draw(uint64_t test, uint32_t number)
{
    return rng_block((struct rng_key){77, 0}, test, number, 0, RNG_AUGMENT).v[0];
}

static uint32_t draw_side(uint64_t test, uint32_t number, uint32_t most)
{
    return 1 + (uint32_t)rng_below(draw(test, number), most);
}

/* Noise, extremes and a slope, by the number of the test. */
static void paint(uint8_t *p, size_t n, uint64_t test)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t bits =
            rng_block((struct rng_key){1, test}, i / 32, 0, 0, RNG_AUGMENT).v[i / 8 % 4] >>
            i % 8 * 8;
        p[i] = (uint8_t)(test % 3 == 0 ? bits : test % 3 == 1 ? -(bits & 1) : i / 5);
    }
}

struct fixture {
    struct resize_job job;
    struct guarded source; /* the region that the window needs, up to an unmapped page */
    struct imrec_image from;
    uint8_t *whole;
};

/* An image of w x h px, and of it the region that `job` needs. */
static struct fixture fixture_of(struct resize_job job, uint32_t channels, uint64_t test)
{
    struct fixture f = {.job = job};
    const size_t bytes = (size_t)job.from_width * job.from_height * channels;
    f.whole = malloc(bytes);
    paint(f.whole, bytes, test);
    const struct imrec_rect r = resize_source_region(&job);
    ck_assert_uint_le(r.x + r.width, job.from_width);
    ck_assert_uint_le(r.y + r.height, job.from_height);
    const size_t row = (size_t)r.width * channels;
    uint8_t *region = malloc(row * r.height);
    for (uint32_t y = 0; y < r.height; y++)
        memcpy(region + y * row, f.whole + ((size_t)(r.y + y) * job.from_width + r.x) * channels,
               row);
    f.source = guarded_copy(region, row * r.height);
    free(region);
    f.from = (struct imrec_image){f.source.p, row, r.width, r.height, channels};
    return f;
}

static void fixture_free(struct fixture *f)
{
    guarded_free(f->source);
    free(f->whole);
}

/* The window by every variant; the scalar's is returned, the others must equal it. */
static uint8_t *run_levels(const struct fixture *f)
{
    const struct imrec_rect w = f->job.window;
    const size_t bytes = (size_t)w.width * w.height * f->from.channels;
    uint8_t *want = malloc(bytes);
    for (int l = 0; l < CPU_LEVELS; l++) {
        if (!cpu_has((enum cpu_level)l))
            continue;
        struct guarded got = guarded_copy(want, bytes); /* a write past the end crashes */
        const struct imrec_image to = {got.p, (size_t)w.width * f->from.channels, w.width, w.height,
                                       f->from.channels};
        ck_assert_int_eq(
            resize_window_into(&f->job, &f->from, &to, scratch, (enum cpu_level)l, NULL), IMREC_OK);
        if (l == 0)
            memcpy(want, got.p, bytes);
        ck_assert_msg(memcmp(want, got.p, bytes) == 0, "%s is not the scalar: %u x %u -> %u x %u",
                      cpu_level_name((enum cpu_level)l), f->job.from_width, f->job.from_height,
                      f->job.to_width, f->job.to_height);
        guarded_free(got);
    }
    return want;
}

static void compare_with_model(struct resize_job job, uint32_t channels, uint64_t test)
{
    struct fixture f = fixture_of(job, channels, test);
    const struct model m = {f.whole,        (int)job.from_width, (int)job.from_height,
                            (int)channels,  (int)job.to_width,   (int)job.to_height,
                            (int)job.method};
    uint8_t *got = run_levels(&f);
    const uint8_t *p = got;
    for (uint32_t y = 0; y < job.window.height; y++)
        for (uint32_t x = 0; x < job.window.width; x++)
            for (uint32_t c = 0; c < channels; c++, p++) {
                const uint8_t want =
                    model_value(&m, (int)(job.window.x + x), (int)(job.window.y + y), (int)c);
                ck_assert_msg(*p == want, "method %d, %d x %d -> %d x %d, (%u, %u, %u): %u, not %u",
                              m.method, m.w, m.h, m.W, m.H, x + job.window.x, y + job.window.y, c,
                              *p, want);
            }
    free(got);
    fixture_free(&f);
}

static const enum resize_method methods[] = {RESIZE_NEAREST, RESIZE_BILINEAR, RESIZE_AREA,
                                             RESIZE_CUBIC, RESIZE_LANCZOS};
enum { METHODS = sizeof(methods) / sizeof(methods[0]) };
static const uint32_t channel_counts[] = {3, 1, 4};

static struct resize_job whole_job(uint32_t w, uint32_t h, uint32_t W, uint32_t H)
{
    return (struct resize_job){w, h, W, H, {0, 0, W, H}, RESIZE_NEAREST};
}

static void all_methods(struct resize_job job, uint64_t test)
{
    for (int m = 0; m < METHODS; m++) {
        job.method = methods[m];
        compare_with_model(job, channel_counts[test % 3], test);
    }
}

/* Sizes that one process looks at: a leak check a size would take longer than the sizes. */
enum { BLOCK = 20 };

CASE(.begin = scratch_make, .end = scratch_free, .timeout = 60)

LOOP_TEST(random_sizes_equal_the_formulas, 0, 300 / BLOCK) /* _i: a block of sizes */
{
    for (uint64_t t = BLOCK * (uint64_t)_i; t < BLOCK * ((uint64_t)_i + 1); t++) {
        const uint32_t most = t % 4 == 0 ? 9 : 70; /* many sides of one pixel */
        all_methods(whole_job(draw_side(t, 0, most), draw_side(t, 1, most), draw_side(t, 2, most),
                              draw_side(t, 3, most)),
                    t);
    }
}

LOOP_TEST(whole_factors_equal_the_formulas, 0, 8) /* shrinking and enlarging, one or both ways */
{
    for (uint64_t t = 8 * (uint64_t)_i; t < 8 * ((uint64_t)_i + 1); t++) {
        const uint32_t k = 1 + t % 8, l = 1 + t / 8 % 8, a = draw_side(t, 5, 12),
                       b = draw_side(t, 6, 12);
        all_methods(whole_job(a * k, b * l, a, b), t);
        all_methods(whole_job(a, b, a * k, b * l), t);
        all_methods(whole_job(a * k, b, a, b * l), t);
    }
}

LOOP_TEST(large_factors_equal_the_formulas, 0, 8) /* 1 / (1 / 49) is not 49 */
{
    static const uint32_t factors[] = {49, 93, 98, 99, 103, 107, 161, 255};
    const uint32_t k = factors[_i];
    all_methods(whole_job(k, k, 1, 1), 0);
    all_methods(whole_job(2 * k, 3, 2, 3), 1);
    all_methods(whole_job(1, 2, k, 2 * k), 2);
}

LOOP_TEST(wide_images_equal_the_formulas, 0,
          10) /* whose values fill vectors, by windows that fit or not */
{
    static const uint32_t sizes[][2] = {{500, 341}, {320, 341}, {640, 200}, {512, 256}, {300, 75},
                                        {301, 75},  {310, 75},  {700, 60},  {90, 600},  {768, 256}};
    const uint32_t w = sizes[_i][0], to = sizes[_i][1];
    for (uint64_t t = 0; t < 3; t++) /* every number of channels */
        all_methods(whole_job(w, (12 * w + to - 1) / to, to, 12), t);
}

static void compare_window(uint64_t t)
{
    struct resize_job job = whole_job(draw_side(t, 0, MAX_SIDE), draw_side(t, 1, MAX_SIDE),
                                      draw_side(t, 2, MAX_SIDE), draw_side(t, 3, MAX_SIDE));
    struct imrec_rect *w = &job.window;
    w->width = draw_side(t, 4, job.to_width < 40 ? job.to_width : 40);
    w->height = draw_side(t, 5, job.to_height < 20 ? job.to_height : 20);
    w->x = (uint32_t)rng_below(draw(t, 6), job.to_width - w->width + 1);
    w->y = (uint32_t)rng_below(draw(t, 7), job.to_height - w->height + 1);
    all_methods(job, t);
}

LOOP_TEST(a_window_is_what_a_crop_of_the_whole_would_be, 0,
          200 / BLOCK) /* computed from its region only */
{
    for (uint64_t t = BLOCK * (uint64_t)_i; t < BLOCK * ((uint64_t)_i + 1); t++)
        compare_window(t + 1000);
}

TEST(the_shorter_side_is_set_and_the_other_truncated)
{
    uint32_t w, h;
    resize_shorter_side(500, 375, 256, &w, &h);
    ck_assert(w == 341 && h == 256);
    resize_shorter_side(375, 500, 256, &w, &h);
    ck_assert(w == 256 && h == 341);
    resize_shorter_side(64, 64, 150, &w, &h);
    ck_assert(w == 150 && h == 150);
    resize_shorter_side(7, 5, 0, &w, &h);
    ck_assert(w == 7 && h == 5);
    resize_shorter_side(7, 5, -1, &w, &h);
    ck_assert(w == 7 && h == 5);
    resize_shorter_side(1, 65500, 65500, &w, &h);
    ck_assert(w == 65500 && h == 4290250000u); /* 65500 * 65500, refused elsewhere */
}

TEST(an_image_too_small_is_enlarged_first_in_height_then_in_width)
{
    struct resize_size to[2];
    ck_assert_uint_eq(resize_to_cover(300, 300, 224, 224, to), 0);
    ck_assert_uint_eq(resize_to_cover(300, 200, 224, 224, to), 1);
    ck_assert(to[0].width == 336 && to[0].height == 224);
    ck_assert_uint_eq(resize_to_cover(100, 300, 224, 224, to), 1);
    ck_assert(to[0].width == 224 && to[0].height == 672);
    ck_assert_uint_eq(resize_to_cover(100, 150, 300, 160, to), 2);
    ck_assert(to[0].width == 106 && to[0].height == 160);
    ck_assert(to[1].width == 300 && to[1].height == 452); /* f32(300 / 106) * 160, truncated */
}

TEST(bad_jobs_are_refused)
{
    uint8_t px[16] = {0};
    const struct imrec_image from = {px, 4, 4, 4, 1};
    struct image to = {0};
    struct imrec_error err = {0};
    struct resize_job j = whole_job(4, 4, 2, 2);
    j.window.x = 1;
    ck_assert_int_eq(resize_window(&j, &from, &to, scratch, &err), IMREC_ERR_ARGUMENT);
    ck_assert_str_ne(err.message, "");
    j = whole_job(5, 4, 2, 2);
    j.method = RESIZE_AREA;
    ck_assert_int_eq(resize_window(&j, &from, &to, scratch, &err), IMREC_ERR_ARGUMENT);
    j = whole_job(4, 4, 2, 2);
    j.method = (enum resize_method)5;
    ck_assert_int_eq(resize_window(&j, &from, &to, scratch, &err), IMREC_ERR_ARGUMENT);
    image_free(&to);
}

LOOP_TEST(when_memory_ends_the_resize_says_so_and_nothing_leaks, 0, METHODS)
{
    struct resize_job j = whole_job(7, 5, 6, 4);
    j.method = methods[_i];
    struct fixture f = fixture_of(j, 3, 0);
    long n = 0;
    STARVING(memory)
    {
        struct resize_scratch *s = NULL;
        struct image to = {0};
        memory.st = resize_scratch_new(&s, NULL);
        if (memory.st == IMREC_OK)
            memory.st = resize_window(&j, &f.from, &to, s, NULL);
        image_free(&to);
        resize_scratch_free(s);
        ck_assert_int_lt(n++, 20);
    }
    fixture_free(&f);
}
