/* tests/support/maskset.h - shards of images with masks, boxes and keypoints that all say the
 * same: rectangles in the colours of their classes 1 to 3, each with a dot in its middle, of class
 * 4 to 6.
 *
 * Image i has the id i, 120 to 180 px a side, and objects of class, box, and the dot as a
 * keypoint. Every third one is a JPEG that is stored turned by one of EXIF's orientations. */
#ifndef IMREC_TESTS_MASKSET_H
#define IMREC_TESTS_MASKSET_H

#include "tests/support/images.h"
#include "tests/support/opening.h"
#include "tests/support/shards.h"
#include "tests/support/tmpdir.h"

#include "augment/geometry/orient.h"
#include "codec/codec.h"
#include "codec/mask_png.h"
#include "imrec/imrec.h"

enum { MASK_OBJECTS = 3, MASK_DOT = 9, MASK_OBJECT = 8, MASK_SIDE = 180, MASK_IGNORE = 255 };

struct mask_set {
    struct tmpdir dir;
    char rec[2048]; /* path */
};

struct mask_image {
    uint32_t w, h, x0[MASK_OBJECTS], y0[MASK_OBJECTS], x1[MASK_OBJECTS], y1[MASK_OBJECTS];
    uint32_t orientation;
};

static inline struct mask_image mask_image(uint32_t i)
{
    struct dice d = {i + 77};
    struct mask_image p = {.w = 120 + (uint32_t)dice_below(&d, MASK_SIDE - 119),
                           .h = 120 + (uint32_t)dice_below(&d, MASK_SIDE - 119),
                           .orientation = i % 3 == 0 ? 1 + i / 3 % 8 : 1};
    for (uint32_t k = 0; k < MASK_OBJECTS; k++) { /* each in a column of its own */
        const uint32_t room = p.w / MASK_OBJECTS - 6, left = k * (p.w / MASK_OBJECTS) + 3;
        const uint32_t w = 25 + (uint32_t)dice_below(&d, room - 25);
        const uint32_t h = 25 + (uint32_t)dice_below(&d, p.h - 30);
        p.x0[k] = left + (uint32_t)dice_below(&d, room - w + 1);
        p.y0[k] = (uint32_t)dice_below(&d, p.h - h + 1);
        p.x1[k] = p.x0[k] + w;
        p.y1[k] = p.y0[k] + h;
    }
    return p;
}

static inline void mask_fill(struct imrec_image v, uint32_t x0, uint32_t y0, uint32_t x1,
                             uint32_t y1, const uint8_t *c)
{
    for (uint32_t y = y0; y < y1; y++)
        for (uint32_t x = x0; x < x1; x++)
            memcpy(v.pixels + y * v.stride + (size_t)x * v.channels, c, v.channels);
}

/* 60 is the background; a class has a bright channel, its dot has two. */
static inline void mask_colour(uint32_t class, uint8_t c[3])
{
    for (uint32_t j = 0; j < 3; j++)
        c[j] = class == 0 ? 60 : (class <= 3) == (j == (class - 1) % 3) ? 230 : 10;
}

/* Upright, as pixels (channels 3) or as classes (channels 1). */
static inline void mask_paint(const struct mask_image *p, struct imrec_image v)
{
    for (uint32_t class = 0; class <= 2 * MASK_OBJECTS; class ++) {
        const uint32_t k = (class + 2) % 3, cx = (p->x0[k] + p->x1[k]) / 2,
                       cy = (p->y0[k] + p->y1[k]) / 2, r = MASK_DOT / 2;
        uint8_t c[3] = {(uint8_t) class};
        if (v.channels == 3)
            mask_colour(class, c);
        if (class == 0)
            mask_fill(v, 0, 0, p->w, p->h, c);
        else if (class <= MASK_OBJECTS)
            mask_fill(v, p->x0[k], p->y0[k], p->x1[k], p->y1[k], c);
        else
            mask_fill(v, cx - r, cy - r, cx + r + 1, cy + r + 1, c);
    }
}

/* As it is stored: turned the other way round. */
static inline void mask_stored(const struct mask_image *p, uint32_t channels, struct image *out)
{
    static uint8_t pixels[MASK_SIDE * MASK_SIDE * 3];
    const struct imrec_image v = {pixels, (size_t)p->w * channels, p->w, p->h, channels};
    const uint32_t o = p->orientation;
    mask_paint(p, v);
    ck_assert_int_eq(orient_image(o == 6 ? 8 : o == 8 ? 6 : o, &v, out, NULL), IMREC_OK);
}

/* malloc'ed */
static inline struct bytes mask_encode(struct codec *c, const struct mask_image *p)
{
    struct image pixels = {{0}, 0};
    struct bytes out;
    mask_stored(p, 3, &pixels);
    ck_assert_int_eq(p->orientation == 1
                         ? codec_encode_png(c, &pixels.view, 1, &out, NULL)
                         : codec_encode_jpeg(c, &pixels.view,
                                             (struct codec_jpeg_how){.quality = 100}, &out, NULL),
                     IMREC_OK);
    image_free(&pixels);
    uint8_t *kept = malloc(out.n);
    memcpy(kept, out.p, out.n);
    out.p = kept;
    return p->orientation == 1 ? out : jpeg_with_orientation(out, (uint8_t)p->orientation, false);
}

/* Without dots these pixels are their objects'. */
static inline struct bytes
mask_encode_values(struct codec *c, const struct mask_image *p, uint32_t bits, bool dots)
{
    struct image pixels = {{0}, 0};
    struct mask m = {0};
    struct bytes out;
    mask_stored(p, 1, &pixels);
    const struct imrec_image *v = &pixels.view;
    ck_assert_int_eq(mask_resize_buffer(&m, v->width, v->height, NULL), IMREC_OK);
    m.bits = bits;
    for (size_t i = 0; i < (size_t)v->width * v->height; i++)
        m.values[i] = v->pixels[i] - (!dots && v->pixels[i] > MASK_OBJECTS ? MASK_OBJECTS : 0);
    ck_assert_int_eq(codec_encode_mask(c, &m, &out, NULL), IMREC_OK);
    mask_free(&m);
    image_free(&pixels);
    return out;
}

static inline struct bytes
mask_encode_mask(struct codec *c, const struct mask_image *p, uint32_t bits)
{
    return mask_encode_values(c, p, bits, true);
}

/* Header of 2, objects of class, box, keypoint. Returns how many values there are. */
static inline uint32_t mask_label(const struct mask_image *p, float *v)
{
    v[0] = 2, v[1] = MASK_OBJECT;
    for (uint32_t k = 0; k < MASK_OBJECTS; k++) {
        const float w = (float)p->w, h = (float)p->h;
        const float object[MASK_OBJECT] = {(float)(k + 1),
                                           (float)p->x0[k] / w,
                                           (float)p->y0[k] / h,
                                           (float)p->x1[k] / w,
                                           (float)p->y1[k] / h,
                                           ((float)((p->x0[k] + p->x1[k]) / 2) + 0.5f) / w,
                                           ((float)((p->y0[k] + p->y1[k]) / 2) + 0.5f) / h,
                                           2};
        memcpy(v + 2 + k * MASK_OBJECT, object, sizeof(object));
    }
    return 2 + MASK_OBJECTS * MASK_OBJECT;
}

static inline struct mask_set mask_set_of(uint32_t records, bool dots)
{
    struct mask_set s = {tmpdir_make(), ""};
    struct imrec_writer *w;
    struct codec *c;
    snprintf(s.rec, sizeof(s.rec), "%s", tmp_path(&s.dir, "masks.rec"));
    ck_assert_int_eq(codec_new(&c, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_writer_open(s.rec, NULL, true, &w, NULL), IMREC_OK);
    for (uint32_t i = 0; i < records; i++) {
        const struct mask_image p = mask_image(i);
        float label[64];
        const uint32_t n = mask_label(&p, label);
        const struct bytes image = mask_encode(c, &p);
        const struct bytes mask = mask_encode_values(c, &p, i % 2 == 0 ? 8 : 16, dots);
        ck_assert_int_eq(
            imrec_writer_append_masked(w, i, label, n, i, image.p, image.n, mask.p, mask.n, NULL),
            IMREC_OK);
        bytes_free(image);
    }
    ck_assert_int_eq(imrec_writer_commit(w, NULL), IMREC_OK);
    codec_free(c);
    return s;
}

static inline struct mask_set mask_set_make(uint32_t records)
{
    return mask_set_of(records, true);
}

#define MASK_WORDS                                                                                 \
    "data_shape=3,112,112 batch_size=5 last_batch=partial masks=uint8 layout=NHWC dtype=uint8 "    \
    "preprocess_threads=2 verbose=0 record_draws=1"

static inline enum imrec_status mask_try_open(const struct mask_set *s, const char *words,
                                              struct imrec_iter **out, struct imrec_error *err)
{
    return try_open_over(s->rec, MASK_WORDS, words, out, err);
}

static inline struct imrec_iter *mask_open(const struct mask_set *s, const char *words)
{
    return open_over(s->rec, MASK_WORDS, words);
}
#endif
