/* tests/support/twin.h - the same bytes to two decoders, of which one may use our own for plain
 * JPEG: nobody can tell them apart. */
#ifndef IMREC_TESTS_TWIN_H
#define IMREC_TESTS_TWIN_H

#include "codec/codec.h"
#include "codec/jpeg/jpeg_header.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct twin {
    struct codec *own, *libjpeg;
    struct image made, truth;
};

struct twin_result {
    enum imrec_status st;
    uint32_t warnings;
    struct imrec_error err;
    struct imrec_image_info info;
};

enum twin_task { TWIN_REGION, TWIN_ROWS, TWIN_CHECK };

static inline void twin_must(bool yes, const char *what)
{
    if (yes)
        return;
    printf("the two decoders differ: %s\n", what);
    fflush(stdout);
    abort();
}

/* Memory that was claimed, besides what a decoder or an encoder makes once and keeps. */
static inline void twin_must_hold(size_t held, uint64_t claimed)
{
    twin_must(held <= claimed + (128 << 10), "memory: it holds more than it said");
}

static inline void twin_begin(struct twin *t)
{
    *t = (struct twin){0};
    twin_must(codec_new(&t->own, NULL) == IMREC_OK, "in memory");
    twin_must(codec_new(&t->libjpeg, NULL) == IMREC_OK, "in memory");
    codec_use_jpeg(t->libjpeg, CODEC_JPEG_LIBJPEG);
}

static inline void twin_end(struct twin *t)
{
    codec_free(t->own);
    codec_free(t->libjpeg);
    image_free(&t->made);
    image_free(&t->truth);
}

static inline void twin_take_row(void *context, uint32_t y, const uint8_t *row)
{
    const struct imrec_image *to = context;
    memcpy(to->pixels + y * to->stride, row, to->stride);
}

/* As the iterator decodes: row by row, into no memory of the decoder's choosing. */
static inline enum imrec_status twin_rows(struct codec *c, struct imrec_rect r, uint32_t channels,
                                          struct image *out, struct twin_result *a)
{
    const enum imrec_status st = image_resize_buffer(out, r.width, r.height, channels, &a->err);
    if (st != IMREC_OK)
        return st;
    return codec_decode_rows(c, r, channels, twin_take_row, &out->view, &a->warnings, &a->err);
}

static inline struct twin_result twin_run(struct codec *c, struct bytes jpeg,
                                          const struct codec_limits *limits, enum twin_task task,
                                          struct imrec_rect r, uint32_t channels, struct image *out)
{
    struct twin_result a = {0};
    a.st = codec_begin(c, jpeg, limits, &a.info, &a.err);
    if (a.st != IMREC_OK)
        return a;
    if (task == TWIN_CHECK)
        a.st = codec_check(c, &a.warnings, &a.err);
    else if (task == TWIN_ROWS)
        a.st = twin_rows(c, r, channels, out, &a);
    else
        a.st = codec_decode_image(c, r, channels, out, &a.warnings, &a.err);
    return a;
}

enum twin_passes { TWIN_PASSES_NOTHING, TWIN_PASSES_INTERVALS, TWIN_PASSES_BELOW };

/* What ours does not look at: restart intervals that a region does not come from, and of each of
 * several scans what is below it. */
static inline enum twin_passes twin_passes(struct bytes jpeg, const struct codec_limits *limits,
                                           const struct twin_result *a, enum twin_task task,
                                           struct imrec_rect r)
{
    struct jpeg_head head;
    const uint32_t scans = limits->max_scans == 0 ? 100 : limits->max_scans;
    if (task == TWIN_CHECK || (r.width == a->info.width && r.height == a->info.height) ||
        jpeg_head_read(jpeg, scans, &head, NULL) != IMREC_OK)
        return TWIN_PASSES_NOTHING;
    if (head.restarts)
        return TWIN_PASSES_INTERVALS;
    return head.many_scans && r.y + r.height < a->info.height ? TWIN_PASSES_BELOW
                                                              : TWIN_PASSES_NOTHING;
}

static inline void twin_must_be_equal(const struct twin *t, struct imrec_rect r, uint32_t channels)
{
    twin_must(memcmp(t->made.view.pixels, t->truth.view.pixels,
                     (size_t)r.width * r.height * channels) == 0,
              "pixels");
}

/* Status, message, warnings and pixels of both are the same, but for damage that ours has passed.
 * True: ours has decoded it. */
static inline bool twin_compare(struct twin *t, struct bytes jpeg,
                                const struct codec_limits *limits, enum twin_task task,
                                struct imrec_rect r, uint32_t channels)
{
    const uint64_t before = codec_baseline_count(t->own);
    const struct twin_result a = twin_run(t->own, jpeg, limits, task, r, channels, &t->made);
    const struct twin_result b = twin_run(t->libjpeg, jpeg, limits, task, r, channels, &t->truth);
    const bool own = codec_baseline_count(t->own) != before;
    const enum twin_passes passes = twin_passes(jpeg, limits, &a, task, r);
    if (own && (b.st != IMREC_OK || b.warnings != 0) && passes != TWIN_PASSES_NOTHING) {
        twin_must(a.st == IMREC_OK && a.warnings == 0, "damage that was passed is not told");
        if (b.st == IMREC_OK && passes == TWIN_PASSES_BELOW)
            twin_must_be_equal(t, r, channels);
        return true;
    }
    twin_must(a.st == b.st, "status");
    twin_must(a.warnings == b.warnings, "warnings");
    twin_must(strcmp(a.err.message, b.err.message) == 0, "message");
    twin_must(codec_baseline_count(t->libjpeg) == 0, "libjpeg alone was asked for");
    if (a.st == IMREC_OK && task != TWIN_CHECK)
        twin_must_be_equal(t, r, channels);
    return own;
}

/* A region of an image that nothing ails, scaled by 1/2, 1/4 or 1/8: both have the same pixels.
 * True: ours has decoded it. */
static inline bool twin_compare_scaled(struct twin *t, struct bytes jpeg,
                                       const struct codec_limits *limits, uint32_t denominator,
                                       uint32_t channels, struct imrec_rect r)
{
    const uint64_t before = codec_baseline_count(t->own);
    struct imrec_image_info info;
    twin_must(codec_begin(t->own, jpeg, limits, &info, NULL) == IMREC_OK &&
                  codec_begin(t->libjpeg, jpeg, limits, &info, NULL) == IMREC_OK,
              "a scaled image's head");
    twin_must(codec_decode_scaled_region(t->own, denominator, r, channels, &t->made, NULL, NULL) ==
                      IMREC_OK &&
                  codec_decode_scaled_region(t->libjpeg, denominator, r, channels, &t->truth, NULL,
                                             NULL) == IMREC_OK,
              "a scaled image");
    twin_must(memcmp(t->made.view.pixels, t->truth.view.pixels,
                     (size_t)r.width * r.height * channels) == 0,
              "pixels of a scaled image");
    return codec_baseline_count(t->own) != before;
}
#endif
