/* Steps by windows give what steps on whole images and a crop at their end would give. */
#include "augment/steps.h"
#include "base/alloc.h"
#include "base/rng.h"
#include "tests/support/recipes.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

static const char *const recipes[] = {
    "",
    "rand_crop=1",
    "resize=30 rand_crop=1 inter_method=10",
    "resize=50 inter_method=2",
    "resize=64 inter_method=4 rand_crop=1",
    "max_rotate_angle=180 rand_crop=1 fill_value=7",
    "max_rotate_angle=40 max_shear_ratio=0.4 min_random_scale=0.5 max_random_scale=2 "
    "max_aspect_ratio=0.5 inter_method=10 rand_crop=1 fill_value=90",
    "resize=33 rotate_list=-20,90 pad=5 inter_method=9",
    "pad=30 rand_crop=1 fill_value=1",
    "min_img_size=60 rand_crop=1 fill_value=3",
    "max_img_size=10.5 rotate=10",
    "random_resized_crop=1 min_random_area=0.08 min_aspect_ratio=0.75 max_aspect_ratio=1.3333 "
    "inter_method=10",
    "random_resized_crop=1 min_random_area=0.9 max_aspect_ratio=0.9 inter_method=3",
    "min_crop_size=5 max_crop_size=70 rand_crop=1 inter_method=9",
    "max_crop_size=11 max_rotate_angle=30 pad=3 inter_method=2",
    "resize=40 max_rotate_angle=20 pad=2 random_resized_crop=1 min_random_area=0.2 inter_method=4",
    "resize=30 antialias=1 rand_crop=1",
    "resize=50 antialias=1 inter_method=2 rand_crop=1 pad=3",
    "resize=90 antialias=1 inter_method=10 rotate=10",
    "random_resized_crop=1 rrc_style=torch antialias=1 min_random_area=0.08 min_aspect_ratio=0.75 "
    "max_aspect_ratio=1.3333",
    "resize=30 resize_style=pillow rand_crop=1",
    "resize=50 resize_style=pillow inter_method=10 rand_crop=1 pad=3",
    "random_resized_crop=1 rrc_style=torch resize_style=pillow inter_method=2 min_random_area=0.08",
    "data_shape=4,9,50 resize=44 resize_style=pillow inter_method=4 rand_crop=1",
    "data_shape=1,50,40 resize=20 resize_style=pillow inter_method=3 rotate=5",
    "data_shape=1,50,40 resize=20 pad=1 inter_method=9",
    "data_shape=4,9,50 pad=4 rotate=30 inter_method=2",
};
enum { RECIPES = sizeof(recipes) / sizeof(recipes[0]), IMAGES = 40 };

static uint32_t side(uint64_t test, uint32_t number)
{
    const uint64_t bits = rng_block((struct rng_key){80, 0}, test, number, 0, RNG_AUGMENT).v[0];
    return 1 + (uint32_t)rng_below(bits, test % 3 == 0 ? 12 : 90);
}

static struct imrec_image noise(uint64_t test, uint32_t channels)
{
    struct imrec_image p = {.width = side(test, 0), .height = side(test, 1), .channels = channels};
    p.stride = (size_t)p.width * channels;
    p.pixels = malloc(p.stride * p.height);
    for (size_t i = 0; i < p.stride * p.height; i++)
        p.pixels[i] = (uint8_t)((i * 2654435761u + test * 40503u) >> 11);
    return p;
}

static struct imrec_image part_of(const struct imrec_image *p, struct imrec_rect r)
{
    ck_assert_uint_le(r.x + r.width, p->width);
    ck_assert_uint_le(r.y + r.height, p->height);
    return (struct imrec_image){p->pixels + r.y * p->stride + (size_t)r.x * p->channels, p->stride,
                                r.width, r.height, p->channels};
}

/* A step's job with all of its result for a window. */
static struct step whole_step(const struct step *s)
{
    struct step w = *s;
    struct imrec_rect *window = &w.u.resize.window;
    if (s->kind == STEP_RESIZE)
        *window = (struct imrec_rect){0, 0, s->u.resize.to_width, s->u.resize.to_height};
    if (s->kind == STEP_RESAMPLE) {
        window = &w.u.resample.job.window;
        *window =
            (struct imrec_rect){0, 0, s->u.resample.job.to_width, s->u.resample.job.to_height};
    }
    if (s->kind == STEP_PILLOW) {
        window = &w.u.pillow.window;
        *window = (struct imrec_rect){0, 0, s->u.pillow.to_width, s->u.pillow.to_height};
    }
    if (s->kind == STEP_WARP) {
        window = &w.u.warp.window;
        *window = (struct imrec_rect){0, 0, s->u.warp.to_width, s->u.warp.to_height};
    }
    if (s->kind == STEP_PAD) {
        window = &w.u.pad.window;
        *window = (struct imrec_rect){0, 0, s->u.pad.from_width + 2 * s->u.pad.left,
                                      s->u.pad.from_height + 2 * s->u.pad.left};
    }
    w.window = *window;
    return w;
}

static struct imrec_rect region_of(const struct step *s)
{
    return s->kind == STEP_RESIZE ? resize_source_region(&s->u.resize)
           : s->kind == STEP_RESAMPLE
               ? (struct imrec_rect){0, 0, s->u.resample.from_width, s->u.resample.from_height}
           : s->kind == STEP_PILLOW ? pillow_source_region(&s->u.pillow)
           : s->kind == STEP_WARP   ? warp_source_region(&s->u.warp)
                                    : pad_source_region(&s->u.pad);
}

static void run(const struct step *s, const struct imrec_image *from, struct image *to)
{
    struct imrec_error err = {0};
    ck_assert_msg(step_run(s, from, to, scratch, &err) == IMREC_OK, "%s", err.message);
}

/* Everything on whole images: `at` walks from one of `made` to the other. */
static struct imrec_image by_wholes(const struct cooked *c, const struct imrec_draw *d,
                                    const struct steps *s, struct imrec_image at,
                                    struct image made[2])
{
    const struct imrec_shape *out = &c->o.data_shape;
    const struct imrec_rect crop = {d->x, d->y, d->crop_width, d->crop_height};
    const bool resized = crop.width != out->width || crop.height != out->height;
    for (uint32_t i = 0; i < s->n; i++) {
        if (resized && i + 1 == s->n) {
            ck_assert_uint_eq(at.width, d->width);
            at = part_of(&at, crop);
        }
        const struct step w = whole_step(&s->step[i]);
        const struct imrec_image from = part_of(&at, region_of(&w));
        run(&w, &from, &made[i % 2]);
        at = made[i % 2].view;
    }
    if (resized)
        return at;
    ck_assert_uint_eq(at.width, d->width);
    ck_assert_uint_eq(at.height, d->height);
    return part_of(&at, crop);
}

static void compare(const struct cooked *c, uint64_t test)
{
    struct image small[2] = {{{0}, 0}, {{0}, 0}}, large[2] = {{{0}, 0}, {{0}, 0}};
    struct steps s;
    const struct imrec_image p = noise(test, c->o.data_shape.channels);
    const struct sample_key key = {3, test, 0, 77, 0};
    const struct imrec_draw d = augment_draw(&c->r, key, p.width, p.height);
    steps_plan(&s, &c->r, &d, p.width, p.height);
    struct imrec_image at = part_of(&p, s.upright);
    for (uint32_t i = 0; i < s.n; i++) {
        run(&s.step[i], &at, &small[i % 2]);
        at = small[i % 2].view;
    }
    ck_assert_uint_eq(at.width, c->o.data_shape.width);
    ck_assert_uint_eq(at.height, c->o.data_shape.height);
    const struct imrec_image want = by_wholes(c, &d, &s, p, large);
    for (uint32_t y = 0; y < at.height; y++)
        ck_assert_msg(memcmp(at.pixels + y * at.stride, want.pixels + y * want.stride,
                             (size_t)at.width * at.channels) == 0,
                      "test %d, %u x %u px, row %u", (int)test, p.width, p.height, y);
    for (int i = 0; i < 2; i++) {
        image_free(&small[i]);
        image_free(&large[i]);
    }
    free(p.pixels);
}

CASE(.begin = scratch_make, .end = scratch_free, .timeout = 60)

LOOP_TEST(windows_give_what_whole_images_give, 0, RECIPES) /* _i: recipes */
{
    struct cooked c;
    cook(&c, recipes[_i]);
    for (uint64_t t = 0; t < IMAGES; t++)
        compare(&c, t);
}

/* What the steps leave in a scratch of their own. */
static void check_scratch(const struct cooked *c, uint32_t width, uint32_t height)
{
    enum { LINES = 25 * 192 }; /* of rooms and tables: begun on a cache line, with one to spare */
    const uint32_t channels = c->o.data_shape.channels;
    struct steps s;
    struct image made[2] = {{{0}, 0}, {{0}, 0}};
    struct resize_scratch *own;
    ck_assert_int_eq(resize_scratch_new(&own, NULL), IMREC_OK);
    const size_t empty = resize_scratch_memory(own);
    const struct imrec_draw d =
        augment_draw(&c->r, (struct sample_key){1, 2, 3, width, 0}, width, height);
    steps_plan(&s, &c->r, &d, width, height);
    struct image from = {{0}, 0};
    ck_assert_int_eq(image_resize_buffer(&from, s.upright.width, s.upright.height, channels, NULL),
                     IMREC_OK);
    memset(from.view.pixels, 7, from.view.stride * from.view.height);
    const struct imrec_image *at = &from.view;
    for (uint32_t i = 0; i < s.n; i++, at = &made[(i + 1) % 2].view)
        ck_assert_int_eq(step_run(&s.step[i], at, &made[i % 2], own, NULL), IMREC_OK);
    const uint64_t claimed = steps_scratch_claim(&s, channels);
    ck_assert_msg(resize_scratch_memory(own) - empty <= claimed + LINES,
                  "%u x %u px: %zu bytes of scratch, claimed %llu", width, height,
                  resize_scratch_memory(own) - empty, (unsigned long long)claimed);
    resize_scratch_trim(own, 1 << 30);
    resize_scratch_trim(own, 0);
    ck_assert_uint_eq(resize_scratch_memory(own), empty);
    resize_scratch_free(own);
    image_free(&from);
    image_free(&made[0]);
    image_free(&made[1]);
}

LOOP_TEST(steps_take_no_more_scratch_than_they_claim, 0, RECIPES) /* _i: recipes */
{
    static const uint32_t sizes[][2] = {{7, 9},     {640, 480},  {3000, 70}, {70, 3000},
                                        {2400, 60}, {1024, 768}, {33, 1},    {1, 33}};
    struct cooked c;
    cook(&c, recipes[_i]);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        check_scratch(&c, sizes[i][0], sizes[i][1]);
}

/* A line of 65,500 px with resize=256 would be 256 x 16,768,000 px. */
TEST(what_would_be_too_large_is_refused_by_arithmetic)
{
    static const struct {
        const char *words;
        uint32_t width, height;
        int64_t max_pixels;
        bool drawn; /* what is too large is so by what was drawn */
        const char *said;
    } cases[] = {
        {"resize=256", 65500, 1, 178956970, false, "resized it would have 16768000 x 256 px"},
        {"resize=256", 1, 65500, 178956970, false, "resized it would have 256 x 16768000 px"},
        {"resize=65500", 178956970, 1, -1, false, "resized it would have 4294967295 x 65500"},
        {"resize=300", 100, 200, 179999, false,
         "limited to 65500 px, an image to max_pixels=179999"},
        {"resize=300", 100, 200, 180000, false, NULL},
        {"resize=224", 29000, 100, 178956970, false, NULL},
        {"data_shape=3,256,256", 65500, 1, 178956970, true, "augmented it would have"},
        {"min_random_scale=1000 max_random_scale=1000", 1000, 1000, 178956970, true,
         "augmented it would have 65500 x 65500 px"},
        {"min_img_size=60000", 10, 10, 178956970, true, "augmented it would have 60000 x 60000 px"},
        {"pad=20000", 100, 100, 178956970, true, "augmented it would have 40100 x 40100 px"},
        {"pad=20", 65480, 10, 178956970, true, "augmented it would have 65520 x 50 px"},
        {"pad=20", 60000, 10, 178956970, true, NULL},
        {"data_shape=3,300,300", 10, 10, 100, true, NULL}, /* the user's own */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const uint32_t w = cases[i].width, h = cases[i].height;
        const int64_t most = cases[i].max_pixels;
        struct imrec_error err;
        struct cooked c;
        cook(&c, cases[i].words);
        enum imrec_status st = steps_check(&c.r, NULL, w, h, most, &err);
        ck_assert_msg((st != IMREC_OK) == (cases[i].said != NULL && !cases[i].drawn), "case %zu",
                      i);
        if (st == IMREC_OK) {
            const struct imrec_draw d =
                augment_draw(&c.r, (struct sample_key){1, 2, 3, 4, 0}, w, h);
            st = steps_check(&c.r, &d, w, h, most, &err);
        }
        ck_assert_int_eq(st, cases[i].said != NULL ? IMREC_ERR_LIMIT : IMREC_OK);
        if (cases[i].said != NULL)
            ck_assert_msg(strstr(err.message, cases[i].said) != NULL, "case %zu: %s", i,
                          err.message);
    }
}

TEST(only_a_crop_has_no_steps) /* it goes from the decoder to the slot */
{
    struct cooked c;
    struct steps s;
    cook(&c, "rand_crop=1 rand_mirror=1");
    const struct imrec_draw d = augment_draw(&c.r, (struct sample_key){1, 2, 3, 4, 0}, 50, 60);
    steps_plan(&s, &c.r, &d, 50, 60);
    ck_assert_uint_eq(s.n, 0);
    ck_assert(s.upright.x == d.x && s.upright.y == d.y && s.upright.width == 20);
    ck_assert(!recipe_paints(&c.r));
}

TEST(aug_seq_says_what_comes_first)
{
    struct cooked c;
    cook(&c, "aug_seq=grayscale,hue,light,rand_augment random_grayscale=1 brightness=1 hue=0.1");
    ck_assert_uint_eq(c.r.paint_count, 3); /* what is off does not come */
    ck_assert(c.r.paints[0] == PAINT_GREY && c.r.paints[1] == PAINT_HUE);
    ck_assert(c.r.paints[2] == PAINT_LIGHTS);
    cook(&c, "random_grayscale=1 brightness=1 hue=0.1 rand_augment=1 pca_noise=1 random_h=3 "
             "gaussian_blur=1 random_solarize=1");
    ck_assert_uint_eq(c.r.paint_count, PAINTS);
    for (int i = 0; i < PAINTS; i++)
        ck_assert_int_eq(c.r.paints[i], i);
}

TEST(colours_are_painted_in_the_order_drawn)
{
    struct cooked c;
    uint8_t a[24], b[24];
    struct image images[2][2] = {{{{a, 12, 4, 2, 3}, 24}, {{0}, 0}},
                                 {{{b, 12, 4, 2, 3}, 24}, {{0}, 0}}};
    cook(&c, "brightness=0.5 saturation=0.5");
    struct imrec_draw d = augment_draw(&c.r, (struct sample_key){1, 2, 3, 4, 0}, 50, 60);
    d.brightness = 1.9f, d.saturation = 1.7f, d.contrast = 1;
    int differ = 0;
    for (int order = 0; order < 2; order++) {
        d.light_order[0] = order == 0 ? 0 : 2;
        d.light_order[1] = 1;
        d.light_order[2] = order == 0 ? 2 : 0;
        for (int i = 0; i < 24; i++)
            (order == 0 ? a : b)[i] = (uint8_t)(i * 37);
        uint32_t at = 0;
        ck_assert_int_eq(steps_paint(&c.r, &d, NULL, images[order], &at, scratch, NULL), IMREC_OK);
    }
    for (int i = 0; i < 24; i++)
        differ += a[i] != b[i];
    ck_assert_int_gt(differ, 3);
}

/* Everything that takes memory, at once. */
TEST(when_memory_ends_the_steps_say_so_and_nothing_leaks)
{
    struct cooked c;
    cook(&c, "resize=40 inter_method=2 rotate=20 pad=2 rand_augment=3 gaussian_blur=1 antialias=0");
    const struct imrec_image p = noise(4, 3);
    struct imrec_draw d = augment_draw(&c.r, (struct sample_key){1, 2, 3, 4, 0}, p.width, p.height);
    d.op[0] = IMREC_OP_ROTATE, d.op[1] = IMREC_OP_SHARPNESS, d.op[2] = IMREC_OP_SHEAR_X;
    enum imrec_status st = IMREC_ERR_NO_MEMORY;
    for (long n = 0; st != IMREC_OK; n++) {
        const long before = imrec_alloc_live();
        struct image made[2] = {{{0}, 0}, {{0}, 0}};
        struct resize_scratch *own = NULL;
        struct steps s;
        uint32_t now = 1;
        steps_plan(&s, &c.r, &d, p.width, p.height);
        struct imrec_image at = part_of(&p, s.upright);
        imrec_alloc_fail_after(n);
        st = resize_scratch_new(&own, NULL);
        for (uint32_t i = 0; i < s.n && st == IMREC_OK; i++) {
            st = step_run(&s.step[i], &at, &made[now ^= 1], own, NULL);
            at = made[now].view;
        }
        if (st == IMREC_OK)
            st = steps_paint(&c.r, &d, NULL, made, &now, own, NULL);
        imrec_alloc_fail_after(-1);
        image_free(&made[0]);
        image_free(&made[1]);
        resize_scratch_free(own);
        ck_assert_int_eq(imrec_alloc_live(), before);
        ck_assert(st == IMREC_OK || st == IMREC_ERR_NO_MEMORY);
        ck_assert_int_lt(n, 60);
    }
    free(p.pixels);
}
