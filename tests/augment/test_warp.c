/* Warps, affine and tilted, against the formulas, whole and by windows, in every variant; and
 * borders. */
#include "augment/geometry/pad.h"
#include "augment/geometry/warp.h"
#include "base/rng.h"
#include "tests/support/guard.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"
#include "tests/support/warp_model.h"

#include <stdlib.h>

static uint64_t draw(uint64_t test, uint32_t number)
{
    return rng_block((struct rng_key){78, 0}, test, number, 0, RNG_AUGMENT).v[0];
}

static uint32_t below(uint64_t test, uint32_t number, uint32_t n)
{
    return (uint32_t)rng_below(draw(test, number), n);
}

static float between(uint64_t test, uint32_t number, float low, float high)
{
    return low + (high - low) * (float)(draw(test, number) >> 40) / (float)(1 << 24);
}

static uint8_t *noise(size_t n, uint64_t test)
{
    uint8_t *p = malloc(n);
    for (size_t i = 0; i < n; i++)
        p[i] = (uint8_t)(draw(test, 100) * (i + 1) * 2654435761u >> 24 ^ i);
    return p;
}

/* Turned, scaled, sheared, moved: about the middle, but not quite. */
static void random_matrix(uint64_t t, const struct warp_job *j, float *m)
{
    const float angle = between(t, 10, -3.2f, 3.2f), scale = between(t, 11, 0.5f, 2);
    const float shear = between(t, 12, -0.4f, 0.4f), a = cosf(angle), b = sinf(angle);
    m[0] = scale * a - shear * b;
    m[1] = scale * b + shear * a;
    m[3] = -b;
    m[4] = a;
    m[2] = between(t, 13, -5, 5) +
           ((float)j->to_width - (m[0] * (float)j->from_width + m[1] * (float)j->from_height)) / 2;
    m[5] = between(t, 14, -5, 5) +
           ((float)j->to_height - (m[3] * (float)j->from_width + m[4] * (float)j->from_height)) / 2;
}

static struct warp_job random_job(uint64_t t, uint32_t most)
{
    struct warp_job j = {.from_width = 1 + below(t, 0, most),
                         .from_height = 1 + below(t, 1, most),
                         .to_width = 1 + below(t, 2, most),
                         .to_height = 1 + below(t, 3, most),
                         .fill = {10, 200, 255, 0}};
    j.window.width = t % 2 ? j.to_width : 1 + below(t, 4, j.to_width);
    j.window.height = t % 2 ? j.to_height : 1 + below(t, 5, j.to_height);
    j.window.x = below(t, 6, j.to_width - j.window.width + 1);
    j.window.y = below(t, 7, j.to_height - j.window.height + 1);
    random_matrix(t, &j, j.matrix);
    return j;
}

static void
compare(const struct warp_job *j, const struct warp_model *m, const uint8_t *got, const char *level)
{
    for (uint32_t y = 0; y < j->window.height; y++)
        for (uint32_t x = 0; x < j->window.width; x++)
            for (int c = 0; c < m->c; c++, got++) {
                if (warp_model_is_close(m, (int)(j->window.x + x), (int)(j->window.y + y)))
                    continue;
                const uint8_t want =
                    warp_model_value(m, (int)(j->window.x + x), (int)(j->window.y + y), c);
                ck_assert_msg(*got == want,
                              "%s, method %d, %d x %d x %d -> (%u, %u, %d): %u, not %u", level,
                              m->method, m->w, m->h, m->c, x, y, c, *got, want);
            }
}

/* The region's bytes end where nothing may be read any more. */
static void check_job(struct warp_job j, uint32_t channels, enum resize_method method, uint64_t t)
{
    const size_t bytes = (size_t)j.from_width * j.from_height * channels;
    uint8_t *whole = noise(bytes, t);
    j.method = method;
    struct warp_model m = {
        whole, (int)j.from_width, (int)j.from_height, (int)channels, (int)method, {0}, {0}, {0}};
    memcpy(m.m, j.matrix, sizeof(m.m));
    memcpy(m.tilt, j.tilt, sizeof(m.tilt));
    memcpy(m.fill, j.fill, sizeof(m.fill));
    const struct imrec_rect r = warp_source_region(&j);
    const size_t row = (size_t)r.width * channels;
    uint8_t *region = malloc(row * r.height);
    for (uint32_t y = 0; y < r.height; y++)
        memcpy(region + y * row, whole + ((size_t)(r.y + y) * j.from_width + r.x) * channels, row);
    struct guarded source = guarded_copy(region, row * r.height);
    const struct imrec_image from = {source.p, row, r.width, r.height, channels};
    const size_t out_bytes = (size_t)j.window.width * j.window.height * channels;
    uint8_t *room = calloc(out_bytes, 1);
    for (int l = 0; l < CPU_LEVELS; l++) {
        if (!cpu_has((enum cpu_level)l))
            continue;
        struct guarded got = guarded_copy(room, out_bytes);
        const struct imrec_image to = {got.p, (size_t)j.window.width * channels, j.window.width,
                                       j.window.height, channels};
        ck_assert_int_eq(warp_window_into(&j, &from, &to, scratch, (enum cpu_level)l, NULL),
                         IMREC_OK);
        compare(&j, &m, got.p, cpu_level_name((enum cpu_level)l));
        guarded_free(got);
    }
    free(room);
    free(region);
    guarded_free(source);
    free(whole);
}

static const uint32_t channel_counts[] = {3, 1, 4};

CASE(.begin = scratch_make, .end = scratch_free, .timeout = 60)

/* Enough for every size with every number of channels; emulated processors take seconds for each.
 */
#if defined(__x86_64__)
enum { JOBS = 120 };
#else
enum { JOBS = 15 };
#endif

LOOP_TEST(warps_equal_the_formulas, 0, JOBS) /* _i: one image, all methods */
{
    const uint64_t t = (uint64_t)_i;
    const struct warp_job j = random_job(t, t % 5 == 0 ? 6 : t % 5 == 1 ? 24 : 60);
    for (int method = 0; method < RESIZE_METHODS; method++)
        check_job(j, channel_counts[t % 3], (enum resize_method)method, t);
}

/* The horizon may lie in the window: beyond it is fill. */
LOOP_TEST(tilted_warps_equal_the_formulas, 0, JOBS)
{
    const uint64_t t = (uint64_t)_i;
    struct warp_job j = random_job(t, t % 5 == 0 ? 6 : t % 5 == 1 ? 24 : 60);
    j.tilt[0] = between(t, 20, -0.4f, 0.9f) / (float)j.from_width;
    j.tilt[1] = between(t, 21, -0.4f, 0.9f) / (float)j.from_height;
    for (int method = 0; method < RESIZE_METHODS; method++)
        check_job(j, channel_counts[t % 3], (enum resize_method)method, t);
}

LOOP_TEST(a_warp_far_outside_is_all_fill, 0, 3)
{
    struct warp_job j = random_job(1, 30);
    j.matrix[2] = _i == 0 ? 1e9f : _i == 1 ? -4000 : 400;
    for (int method = 0; method < RESIZE_METHODS; method++)
        check_job(j, 3, (enum resize_method)method, 1);
}

TEST(a_matrix_that_cannot_be_inverted_asks_for_the_first_pixel)
{
    struct warp_job j = random_job(3, 30);
    memset(j.matrix, 0, sizeof(j.matrix));
    check_job(j, 3, RESIZE_BILINEAR, 3);
}

TEST(a_half_turn_leaves_the_first_row_and_column_empty) /* the centre is w / 2 */
{
    uint8_t px[16], out[16];
    const struct imrec_image from = {px + 5, 4, 3, 3, 1}, to = {out, 4, 4, 4, 1};
    const struct warp_job j = {4,   4,  4, 4, {0, 0, 4, 4}, {-1, 0, 4, 0, -1, 4}, RESIZE_BILINEAR,
                               {9}, {0}};
    for (int i = 0; i < 16; i++)
        px[i] = (uint8_t)(20 + i);
    ck_assert_uint_eq(warp_source_region(&j).x, 1); /* nor is that of the source looked at */
    ck_assert_int_eq(warp_window_into(&j, &from, &to, scratch, CPU_SCALAR, NULL), IMREC_OK);
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 4; x++)
            ck_assert_int_eq(out[4 * y + x], x == 0 || y == 0 ? 9 : px[4 * (4 - y) + 4 - x]);
}

TEST(bad_warps_are_refused)
{
    uint8_t px[16] = {0};
    const struct imrec_image from = {px, 4, 4, 4, 1}, to = {px, 4, 4, 4, 1};
    struct warp_job j = {4, 4, 4, 4, {1, 0, 4, 4}, {1, 0, 0, 0, 1, 0}, RESIZE_BILINEAR, {0}, {0}};
    ck_assert_int_eq(warp_window_into(&j, &from, &to, scratch, CPU_SCALAR, NULL),
                     IMREC_ERR_ARGUMENT);
    j.window.x = 0;
    j.method = (enum resize_method)7;
    ck_assert_int_eq(warp_window_into(&j, &from, &to, scratch, CPU_SCALAR, NULL),
                     IMREC_ERR_ARGUMENT);
    j.method = RESIZE_BILINEAR;
    j.from_width = 3;
    ck_assert_int_eq(warp_window_into(&j, &from, &to, scratch, CPU_SCALAR, NULL),
                     IMREC_ERR_ARGUMENT);
}

TEST(a_border_is_fill_around_the_image) /* windows of it too, also where it is all border */
{
    for (uint64_t t = 0; t < 300; t++) {
        const uint32_t c = channel_counts[t % 3], w = 1 + below(t, 0, 9), h = 1 + below(t, 1, 9);
        struct pad_job j = {w, h, below(t, 2, 6), below(t, 2, 6), {0, 0, 1, 1}, {7, 8, 9, 0}};
        j.window.width = 1 + below(t, 3, w + 2 * j.left);
        j.window.height = 1 + below(t, 4, h + 2 * j.top);
        j.window.x = below(t, 5, w + 2 * j.left - j.window.width + 1);
        j.window.y = below(t, 6, h + 2 * j.top - j.window.height + 1);
        uint8_t *px = noise((size_t)w * h * c, t);
        const struct imrec_rect r = pad_source_region(&j);
        const struct imrec_image from = {px + ((size_t)r.y * w + r.x) * c, (size_t)w * c, r.width,
                                         r.height, c};
        struct image to = {0};
        ck_assert_int_eq(pad_window(&j, &from, &to, NULL), IMREC_OK);
        for (uint32_t y = 0; y < j.window.height; y++)
            for (uint32_t x = 0; x < j.window.width; x++)
                for (uint32_t k = 0; k < c; k++) {
                    const int64_t sx = (int64_t)j.window.x + x - j.left;
                    const int64_t sy = (int64_t)j.window.y + y - j.top;
                    const bool in = sx >= 0 && sy >= 0 && sx < w && sy < h;
                    ck_assert_int_eq(to.view.pixels[y * to.view.stride + x * c + k],
                                     in ? px[((size_t)sy * w + (size_t)sx) * c + k] : j.fill[k]);
                }
        image_free(&to);
        free(px);
    }
}
