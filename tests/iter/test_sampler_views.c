/* Several images out of one decode are those that as many decodes give, each drawn by its own
 * number. */
#include "iter/sample/sampler.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VIEWS = 6, SLOT = 3 * 40 * 40 * 4, MOST = 16 };

/* ---- images -----------------------------------------------------------------------------------
 */

/* The APP1 segment that says how an image was held (EXIF 2.3, 4.5.4 and 4.6.4). */
static size_t put_exif(uint8_t *to, uint8_t orientation)
{
    static const uint8_t head[] = {0xff, 0xe1, 0, 34, 'E', 'x', 'i', 'f', 0, 0,  'M', 'M',
                                   0,    42,   0, 0,  0,   8,   0,   1,   1, 18, 0,   3,
                                   0,    0,    0, 1,  0,   0,   0,   0,   0, 0,  0,   0};
    memcpy(to, head, sizeof(head));
    to[29] = orientation;
    return sizeof(head);
}

struct compressed {
    uint8_t bytes[1 << 16];
    size_t n;
};

/* 90 x 70 px; orientation 0: a PNG. */
static void compress(struct compressed *c, struct codec *codec, uint8_t orientation)
{
    static uint8_t pixels[90 * 70 * 3];
    const struct imrec_image image = {pixels, 90 * 3, 90, 70, 3};
    struct bytes out;
    for (uint32_t i = 0; i < sizeof(pixels); i++)
        pixels[i] = (uint8_t)(i / 3 % 90 * 2 + i / 270 * (1 + i % 3) + (i * 2654435761u >> 28));
    ck_assert_int_eq(
        orientation == 0
            ? codec_encode_png(codec, &image, 1, &out, NULL)
            : codec_encode_jpeg(codec, &image, (struct codec_jpeg_how){.quality = 90}, &out, NULL),
        IMREC_OK);
    ck_assert_uint_le(out.n + 64, sizeof(c->bytes));
    memcpy(c->bytes, out.p, 2);
    c->n = 2;
    if (orientation > 1)
        c->n += put_exif(c->bytes + 2, orientation);
    memcpy(c->bytes + c->n, out.p + 2, out.n - 2);
    c->n += out.n - 2;
    const struct codec_limits limits = {.max_pixels = -1};
    struct imrec_image_info info;
    ck_assert_int_eq(codec_begin(codec, (struct bytes){c->bytes, c->n}, &limits, &info, NULL),
                     IMREC_OK);
    ck_assert_uint_eq(info.orientation, orientation != 0 ? orientation : 1);
}

/* ---- samplers -----------------------------------------------------------------------------------
 */

struct made {
    struct imrec_iter_options o;
    char text[1024];
    struct view_kinds views;
    struct headroom headroom;
    struct sampler sampler;
};

static float mean_image[3 * 40 * 40];

static void begin(struct made *m, const char *words)
{
    struct imrec_error err;
    imrec_iter_options_init(&m->o);
    m->o.data_shape = (struct imrec_shape){3, 24, 20};
    snprintf(m->text, sizeof(m->text), "%s", words);
    for (char *w = strtok(m->text, " "); w != NULL; w = strtok(NULL, " "))
        ck_assert_msg(imrec_iter_options_set(&m->o, w, &err) == IMREC_OK, "%s", err.message);
    m->o.batch_size = 64 / m->o.num_views * m->o.num_views;
    if (m->o.seed_aug < 0)
        m->o.seed_aug = 0;
    ck_assert_msg(view_kinds_init(&m->views, &m->o, &err) == IMREC_OK, "%s: %s", words,
                  err.message);
    headroom_init(&m->headroom);
    const bool tones = strstr(words, "max_random_illumination") != NULL;
    ck_assert_int_eq(
        sampler_init(&m->sampler, &m->views, &m->headroom, tones ? mean_image : NULL, false, NULL),
        IMREC_OK);
}

static void end(struct made *m)
{
    sampler_free(&m->sampler);
    view_kinds_free(&m->views);
    headroom_destroy(&m->headroom);
}

static struct sampler_view
view_of(const struct made *m, uint32_t number, float *label, uint8_t *slot)
{
    struct sampler_view v = {.kind = view_kinds_kind(&m->views, 0, number % m->views.tensors),
                             .slot = slot,
                             .sample.key = {7, 3, 1, 4711, number}};
    if (m->views.kinds[0].recipe.det.on) { /* two boxes */
        static const float boxes[] = {2, 5, 0, 0.1f, 0.2f, 0.5f, 0.6f, 1, 0.4f, 0.3f, 0.9f, 0.8f};
        memcpy(label, boxes, sizeof(boxes));
        ck_assert_int_eq(det_label_read(&v.label, label, 12, NULL), IMREC_OK);
    }
    return v;
}

static const char *const ways[] = {
    "num_views=6", /* all the same: nothing is random */
    "num_views=6 rand_crop=1 rand_mirror=1",
    "num_views=6 rand_crop=1 layout=NHWC dtype=uint8 random_erasing=1",
    "num_views=6 rand_crop=1 brightness=0.4 dtype=float16",
    "num_views=6 rand_crop=1 max_random_contrast=0.3 max_random_illumination=20 rand_mirror=1",
    "num_views=6 resize=60 rand_crop=1 inter_method=10 dtype=int8 mean_r=100",
    "num_views=6 random_resized_crop=1 min_random_area=0.05 min_aspect_ratio=0.5 "
    "max_aspect_ratio=2 inter_method=10 hue=0.2 gaussian_blur=0.5 rand_mirror=1",
    "num_views=6 random_resized_crop=1 min_random_area=0.2 rrc_style=torch antialias=1 "
    "rand_augment=2",
    "num_views=6 max_rotate_angle=30 max_shear_ratio=0.2 pad=3 rand_crop=1 fill_value=9 "
    "trivial_augment=1",
    "num_views=6 data_shape=3,95,80 inter_method=2 rand_mirror=1 dtype=uint8",
    "num_views=6 max_crop_size=50 min_crop_size=10 rand_crop=1 inter_method=9",
    "multi_crop=2x24x20,4x12 rand_crop=1",
    "multi_crop=1x24x20,3x9x13,2x24 random_resized_crop=1 multi_crop_area=0.4:1,0.05:0.4,0.1:0.2 "
    "random_grayscale=0.4 rand_mirror=1 dtype=uint8 layout=NHWC",
    "multi_crop=1x24x20,1x24x20,4x15 random_resized_crop=1 multi_crop_area=0.4:1 "
    "multi_crop_augment=gaussian_blur=1,inter_method=3;;brightness=0.4,rand_mirror=1,rand_augment="
    "1",
    "num_views=2 multi_crop=1x24x20,2x30 random_resized_crop=1 multi_crop_area=0.1:1",
    "num_views=6 aug_seq=det_aug_default label_width=-1 rand_crop_prob=0.7 min_crop_scales=0.3 "
    "rand_mirror_prob=0.5 rand_pad_prob=0.5 max_pad_scale=2 max_random_hue=30 random_hue_prob=0.5 "
    "max_random_contrast=0.3 random_contrast_prob=0.5",
};
enum { WAYS = sizeof(ways) / sizeof(ways[0]), ORIENTATIONS = 9 };

CASE(.timeout = 60)

LOOP_TEST(views_of_one_decode_are_those_of_many, 0, WAYS *ORIENTATIONS) /* _i: way x orientation */
{
    static uint8_t together[MOST][SLOT * 4], alone[SLOT * 4];
    static struct compressed jpeg;
    struct made m;
    float labels[MOST][16], label[16];
    struct sampler_view views[MOST];
    struct imrec_error err = {0};
    begin(&m, ways[_i / ORIENTATIONS]);
    compress(&jpeg, m.sampler.codec, _i % ORIENTATIONS);
    for (uint32_t i = 0; i < 3 * 40 * 40; i++)
        mean_image[i] = (float)(i % 50);
    const struct bytes bytes = {jpeg.bytes, jpeg.n};
    for (uint32_t i = 0; i < VIEWS; i++)
        views[i] = view_of(&m, i, labels[i], together[i]);
    const uint64_t before = codec_decode_count(m.sampler.codec);
    ck_assert_msg(sampler_make(&m.sampler, bytes, views, VIEWS, &err) == IMREC_OK, "%s: %s",
                  ways[_i / ORIENTATIONS], err.message);
    ck_assert_uint_eq(codec_decode_count(m.sampler.codec), before + 1);
    for (uint32_t i = 0; i < VIEWS; i++) {
        struct sampler_view v = view_of(&m, i, label, alone);
        const size_t n = m.views.kinds[v.kind].bytes;
        ck_assert_uint_le(n, sizeof(alone));
        ck_assert_int_eq(sampler_make(&m.sampler, bytes, &v, 1, &err), IMREC_OK);
        ck_assert_msg(memcmp(alone, together[i], n) == 0, "%s: orientation %d, view %u",
                      ways[_i / ORIENTATIONS], _i % ORIENTATIONS, i);
        ck_assert_int_eq(memcmp(&v.draw, &views[i].draw, sizeof(v.draw)), 0);
        if (m.views.kinds[0].recipe.det.on)
            ck_assert(v.label.n == views[i].label.n &&
                      memcmp(label, labels[i], v.label.n * sizeof(float)) == 0);
    }
    end(&m);
}

/* ---- what is made -------------------------------------------------------------------------------
 */

TEST(kinds_and_sweeps_are_as_the_options_say)
{
    static const struct {
        const char *words;
        uint64_t sweep;
        uint32_t tensor, height, width;
        float low, high;
    } want[] = {
        {"", 0, 0, 24, 20, 1, 1},
        {"", UINT64_MAX, 0, 24, 20, 1, 1},
        {"multi_crop=2x24x20,6x9", 5, 0, 24, 20, 1, 1},
        {"multi_crop=2x24x20,6x9", 5, 1, 24, 20, 1, 1},
        {"multi_crop=2x24x20,6x9", 5, 2, 9, 9, 1, 1},
        {"multi_crop=2x24x20,6x9", 5, 7, 9, 9, 1, 1},
        {"multi_crop=1x24x20,1x9 random_resized_crop=1 multi_crop_area=0.25:0.5", 0, 1, 9, 9, 0.25f,
         0.5f},
        {"multi_crop=1x24x20,1x9 random_resized_crop=1 multi_crop_area=0.25:1,0.125:0.5", 0, 0, 24,
         20, 0.25f, 1},
        {"multi_crop=1x24x20,1x9 random_resized_crop=1 multi_crop_area=0.25:1,0.125:0.5", 0, 1, 9,
         9, 0.125f, 0.5f},
        {"data_shape_schedule=0:3,8,9;3:3,10,11", 2, 0, 8, 9, 1, 1},
        {"data_shape_schedule=0:3,8,9;3:3,10,11", 3, 0, 10, 11, 1, 1},
        {"data_shape_schedule=2:3,8,9;3:(3,10,11);90:3,5,5", 1, 0, 24, 20, 1, 1},
        {"data_shape_schedule=2:3,8,9;3:(3,10,11);90:3,5,5", 2, 0, 8, 9, 1, 1},
        {"data_shape_schedule=2:3,8,9;3:(3,10,11);90:3,5,5", 89, 0, 10, 11, 1, 1},
        {"data_shape_schedule=2:3,8,9;3:(3,10,11);90:3,5,5", 1000, 0, 5, 5, 1, 1},
    };
    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        struct made m;
        begin(&m, want[i].words);
        const struct view_kind *k =
            &m.views.kinds[view_kinds_kind(&m.views, want[i].sweep, want[i].tensor)];
        ck_assert_msg(
            k->o.data_shape.height == want[i].height && k->o.data_shape.width == want[i].width &&
                k->o.min_random_area == want[i].low && k->o.max_random_area == want[i].high,
            "%s: sweep %d, tensor %u: %u x %u", want[i].words, (int)want[i].sweep, want[i].tensor,
            k->o.data_shape.height, k->o.data_shape.width);
        ck_assert_uint_eq(k->bytes, (size_t)want[i].height * want[i].width * 3 * 4);
        end(&m);
    }
}

TEST(a_size_may_be_augmented_otherwise)
{
    struct made m;
    begin(&m, "multi_crop=1x24x20,1x24x20,6x9 hue=0.2 gaussian_blur=0.5 "
              "multi_crop_augment=gaussian_blur=1,hue=0;;gaussian_blur=0,trivial_augment=1");
    const struct view_kind *k = m.views.kinds;
    ck_assert_uint_eq(m.views.kind_count, 3);
    ck_assert(k[0].o.gaussian_blur == 1 && k[0].o.hue == 0 && !k[0].o.trivial_augment);
    ck_assert(k[0].recipe.blurs && !k[0].recipe.hue && !k[0].recipe.ops);
    ck_assert(k[1].o.gaussian_blur == 0.5f && k[1].recipe.hue && !k[1].recipe.ops);
    ck_assert(!k[2].recipe.blurs && k[2].recipe.hue && k[2].recipe.ops);
    end(&m);
}

static uint64_t memory_of(const struct sampler *p)
{
    uint64_t sum = codec_memory(p->codec) + resize_scratch_memory(p->scratch);
    for (int i = 0; i < 2; i++)
        sum += p->source[i].capacity + p->images[i].capacity + p->moved[i].capacity;
    return sum + p->mask.capacity;
}

TEST(memory_for_views_is_asked_of_the_limit)
{
    static struct compressed jpeg;
    static uint8_t slots[2][SLOT * 4];
    struct made m;
    struct imrec_error err;
    begin(&m, "num_views=2 random_resized_crop=1 min_random_area=0.5");
    compress(&jpeg, m.sampler.codec, 1);
    struct sampler_view views[2];
    for (uint32_t i = 0; i < 2; i++)
        views[i] = view_of(&m, i, NULL, slots[i]);
    ck_assert_int_eq(sampler_make(&m.sampler, (struct bytes){jpeg.bytes, jpeg.n}, views, 2, &err),
                     IMREC_OK);
    ck_assert_uint_gt(memory_of(&m.sampler), 90 * 70);
    end(&m);
}
