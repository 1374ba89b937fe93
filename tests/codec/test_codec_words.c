/* What a decoder says of an image depends on that image alone: status, words, warnings and pixels
 * are those of a decoder that has seen nothing else. */
#include "codec/codec.h"
#include "tests/support/damaged.h"
#include "tests/support/suite.h"

enum task { WHOLE, GREY, REGION, QUARTER, CHECK, TASKS };

struct words {
    enum imrec_status begun, st;
    uint32_t warnings;
    uint64_t pixels; /* a sum of them */
    char message[sizeof(((struct imrec_error *)0)->message)];
};

static uint64_t sum_of(const struct image *i)
{
    uint64_t sum = 0xcbf29ce484222325u;
    const struct imrec_image *v = &i->view;
    for (size_t k = 0; v->pixels != NULL && k < v->stride * v->height; k++)
        sum = (sum ^ v->pixels[k]) * 0x100000001b3u;
    return sum;
}

static enum imrec_status run(struct codec *c, enum task task, const struct imrec_image_info *info,
                             struct image *out, struct words *w, struct imrec_error *err)
{
    const struct imrec_rect all = {0, 0, info->width, info->height};
    const struct imrec_rect part = {info->width / 3, info->height / 3, (info->width + 2) / 3,
                                    (info->height + 2) / 3};
    switch (task) {
    case WHOLE:
        return codec_decode_image(c, all, 3, out, &w->warnings, err);
    case GREY:
        return codec_decode_image(c, all, 1, out, &w->warnings, err);
    case REGION:
        return codec_decode_image(c, part, 3, out, &w->warnings, err);
    case QUARTER:
        return codec_decode_scaled(c, 4, 3, out, &w->warnings, err);
    default:
        return codec_check(c, &w->warnings, err);
    }
}

static struct words words_of(struct codec *c, uint32_t i, enum task task, bool accept)
{
    const struct codec_limits limits = {
        .max_pixels = 1 << 20, .max_scans = 20, .accept_truncated = accept};
    struct imrec_image_info info;
    struct imrec_error err = {0};
    struct image out = {0};
    struct words w = {0};
    w.begun = codec_begin(c, g_damaged->image[i], &limits, &info, &err);
    if (w.begun == IMREC_OK)
        w.st = run(c, task, &info, &out, &w, &err);
    if (w.begun == IMREC_OK && w.st == IMREC_OK)
        w.pixels = sum_of(&out);
    snprintf(w.message, sizeof(w.message), "%s", err.message);
    image_free(&out);
    return w;
}

static void compare(const struct words *a, const struct words *b, uint32_t i, const char *after)
{
    const char *name = g_damaged->name[i];
    ck_assert_msg(strcmp(a->message, b->message) == 0, "%s after %s: '%s', but alone '%s'", name,
                  after, b->message, a->message);
    ck_assert_msg(a->begun == b->begun && a->st == b->st, "%s after %s: another status", name,
                  after);
    ck_assert_msg(a->warnings == b->warnings, "%s after %s: %u warnings, but alone %u", name, after,
                  b->warnings, a->warnings);
    ck_assert_msg(a->pixels == b->pixels, "%s after %s: other pixels", name, after);
}

CASE(.begin = damaged_begin, .end = damaged_end, .timeout = 60)

LOOP_TEST(words_depend_on_no_earlier_image, 0, TASKS) /* _i: task */
{
    static struct words alone[MOST_DAMAGED];
    static uint32_t order[MOST_DAMAGED];
    struct codec *c;
    uint32_t failing = 0;
    for (int accept = 0; accept < 2; accept++) {
        for (uint32_t i = 0; i < g_damaged->n; i++) {
            ck_assert_int_eq(codec_new(&c, NULL), IMREC_OK);
            alone[i] = words_of(c, i, (enum task)_i, accept);
            failing += alone[i].begun != IMREC_OK || alone[i].st != IMREC_OK;
            codec_free(c);
        }
        ck_assert_int_eq(codec_new(&c, NULL), IMREC_OK);
        for (uint32_t seed = 0; seed < 6; seed++) {
            damaged_order(g_damaged, seed, order);
            for (uint32_t i = 0; i < g_damaged->n; i++) {
                const struct words w = words_of(c, order[i], (enum task)_i, accept);
                compare(&alone[order[i]], &w, order[i],
                        i != 0 ? g_damaged->name[order[i - 1]] : "nothing");
            }
        }
        codec_free(c);
    }
    ck_assert_uint_gt(failing, 100);
}
