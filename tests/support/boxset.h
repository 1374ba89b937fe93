/* tests/support/boxset.h - shards of images with boxes painted into them, each in the colour of
 * its class: where a colour is, there is its box.
 *
 * Image i has the id 500 + i, 70 to 130 px a side, 1 to 3 boxes, none touching another, a header
 * of 4 (widths, width and height in px) and objects of 6: the last value is 100 i + class. */
#ifndef IMREC_TESTS_BOXSET_H
#define IMREC_TESTS_BOXSET_H

#include "tests/support/shards.h"
#include "tests/support/tmpdir.h"

#include "codec/codec.h"
#include "imrec/imrec.h"
#include "tests/support/built.h"
#include "tests/support/opening.h"

enum { BOX_CLASSES = 3, BOX_HEADER = 4, BOX_WIDTH = 6, BOX_BACKGROUND = 60 };

struct box_set {
    struct tmpdir dir;
    char rec[2048]; /* path */
    uint64_t offset[256];
};

struct box_image {
    uint32_t w, h, boxes;
    uint32_t x0[BOX_CLASSES], y0[BOX_CLASSES], x1[BOX_CLASSES], y1[BOX_CLASSES];
};

static inline struct box_image box_image(uint32_t i)
{
    struct dice d = {i + 1};
    struct box_image p = {.w = 70 + (uint32_t)dice_below(&d, 60),
                          .h = 70 + (uint32_t)dice_below(&d, 60),
                          .boxes = 1 + (uint32_t)dice_below(&d, BOX_CLASSES)};
    for (uint32_t k = 0; k < p.boxes; k++) { /* each in a column of its own */
        const uint32_t room = p.w / BOX_CLASSES - 2, left = k * (p.w / BOX_CLASSES) + 1;
        const uint32_t w = 8 + (uint32_t)dice_below(&d, room - 8);
        const uint32_t h = 8 + (uint32_t)dice_below(&d, p.h - 10);
        p.x0[k] = left + (uint32_t)dice_below(&d, room - w + 1);
        p.y0[k] = (uint32_t)dice_below(&d, p.h - h + 1);
        p.x1[k] = p.x0[k] + w;
        p.y1[k] = p.y0[k] + h;
    }
    return p;
}

/* Into p->w * p->h * 3 bytes. */
static inline void box_paint_pixels(const struct box_image *p, uint8_t *pixels)
{
    memset(pixels, BOX_BACKGROUND, (size_t)p->w * p->h * 3);
    for (uint32_t k = 0; k < p->boxes; k++)
        for (uint32_t y = p->y0[k]; y < p->y1[k]; y++)
            for (uint32_t x = p->x0[k]; x < p->x1[k]; x++)
                for (uint32_t j = 0; j < 3; j++)
                    pixels[((size_t)y * p->w + x) * 3 + j] = j == k ? 230 : 20;
}

static inline struct bytes box_paint(struct codec *c, const struct box_image *p)
{
    static uint8_t pixels[130 * 130 * 3];
    const struct imrec_image image = {pixels, (size_t)p->w * 3, p->w, p->h, 3};
    struct bytes out;
    box_paint_pixels(p, pixels);
    ck_assert_int_eq(
        built_with("png")
            ? codec_encode_png(c, &image, 1, &out, NULL)
            : codec_encode_jpeg(c, &image, (struct codec_jpeg_how){.quality = 100}, &out, NULL),
        IMREC_OK);
    return out;
}

/* The label of image i; returns how many values it has. */
static inline uint32_t box_label(uint32_t i, const struct box_image *p, float *v)
{
    uint32_t n = BOX_HEADER;
    v[0] = BOX_HEADER, v[1] = BOX_WIDTH, v[2] = (float)p->w, v[3] = (float)p->h;
    for (uint32_t k = 0; k < p->boxes; k++, n += BOX_WIDTH) {
        v[n] = (float)k;
        v[n + 1] = (float)p->x0[k] / (float)p->w;
        v[n + 2] = (float)p->y0[k] / (float)p->h;
        v[n + 3] = (float)p->x1[k] / (float)p->w;
        v[n + 4] = (float)p->y1[k] / (float)p->h;
        v[n + 5] = (float)(100 * i + k);
    }
    return n;
}

/* `spoil` may change the label of image i (and its length), or be NULL. */
static inline struct box_set
box_set_make(uint32_t records, uint32_t (*spoil)(uint32_t i, float *label, uint32_t n))
{
    struct box_set s = {tmpdir_make(), "", {0}};
    struct imrec_writer *w;
    struct codec *c;
    uint64_t at = 0;
    snprintf(s.rec, sizeof(s.rec), "%s", tmp_path(&s.dir, "boxes.rec"));
    ck_assert_int_eq(codec_new(&c, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_writer_open(s.rec, NULL, true, &w, NULL), IMREC_OK);
    for (uint32_t i = 0; i < records; i++) {
        const struct box_image p = box_image(i);
        float label[64];
        uint32_t n = box_label(i, &p, label);
        if (spoil != NULL)
            n = spoil(i, label, n);
        const struct bytes image = box_paint(c, &p);
        ck_assert_int_eq(imrec_writer_append_image(w, i, label, n, 500 + i, image.p, image.n, NULL),
                         IMREC_OK);
        s.offset[i] = at;
        at += (8 + 24 + 4 * (n > 1 ? n : 0) + image.n + 3) / 4 * 4;
    }
    ck_assert_int_eq(imrec_writer_commit(w, NULL), IMREC_OK);
    codec_free(c);
    return s;
}

#define BOX_WORDS                                                                                  \
    "preset=ImageDetRecordIter data_shape=3,72,96 batch_size=7 last_batch=partial "                \
    "preprocess_threads=2 verbose=0 record_draws=1"

static inline enum imrec_status box_try_open(const struct box_set *s, const char *words,
                                             struct imrec_iter **out, struct imrec_error *err)
{
    return try_open_over(s->rec, BOX_WORDS, words, out, err);
}

static inline struct imrec_iter *box_open(const struct box_set *s, const char *words)
{
    return open_over(s->rec, BOX_WORDS, words);
}
#endif
