/* im2rec/item/quality_target.c */
#include "im2rec/item/quality_target.h"

#include "augment/colour/colour.h"
#include "base/error.h"
#include "base/param.h"
#include "formats/text.h"

#include <inttypes.h>
#include <string.h>

enum { LOWEST = 1, HIGHEST = 100, DIGITS = 6, MILLION = 1000000 };

/* ---- what is asked for ---------------------------------------------------------------------- */

/* "0.98" in millionths; 0: it is no such number. */
static uint64_t read_share(const char *text)
{
    const struct bytes b = {(const uint8_t *)text, strlen(text)};
    uint64_t part;
    if (b.n < 3 || b.n > 2 + DIGITS || b.p[0] != '0' || b.p[1] != '.' ||
        !text_to_u64((struct bytes){b.p + 2, b.n - 2}, &part))
        return 0;
    for (size_t i = b.n - 2; i < DIGITS; i++)
        part *= 10;
    return part;
}

/* What follows `word`, or NULL. */
static const char *after(const char *text, const char *word)
{
    const size_t n = strlen(word);
    return strncmp(text, word, n) == 0 ? text + n : NULL;
}

enum imrec_status
quality_goal_parse(const char *text, struct quality_goal *out, struct imrec_error *err)
{
    const char *share = after(text, "ssim="), *bytes = after(text, "bytes=");
    int64_t most;
    *out = (struct quality_goal){0};
    if (text[0] == '\0')
        return IMREC_OK;
    if (share != NULL)
        out->ssim = (double)read_share(share) / MILLION;
    else if (bytes != NULL && param_read_bytes(bytes, &most) && most > 0)
        out->bytes = (uint64_t)most;
    if (out->ssim > 0 || out->bytes > 0)
        return IMREC_OK;
    return IMREC_REFUSE(err,
                        "quality_target must be ssim=X with X between 0 and 1, as ssim=0.98, of at "
                        "most six digits, or bytes=N, as bytes=40K, not %s",
                        text_quote((struct bytes){(const uint8_t *)text, strlen(text)}).s);
}

/* ---- life ----------------------------------------------------------------------------------- */

enum imrec_status quality_target_init(struct quality_target *t, const char *text,
                                      const struct stop *stop, struct imrec_error *err)
{
    *t = (struct quality_target){0};
    IMREC_TRY(quality_goal_parse(text, &t->goal, err));
    if (t->goal.ssim == 0)
        return IMREC_OK;
    IMREC_TRY(codec_new(&t->judge, err));
    codec_stop_with(t->judge, stop);
    return IMREC_OK;
}

void quality_target_free(struct quality_target *t)
{
    codec_free(t->judge);
    ssim_free(&t->ssim);
    image_free(&t->luma);
    *t = (struct quality_target){0};
}

void quality_target_trim(struct quality_target *t, size_t most)
{
    if (t->judge != NULL)
        codec_trim(t->judge, most);
    if (t->ssim.room * sizeof(float) + t->luma.capacity <= most)
        return;
    ssim_free(&t->ssim);
    image_free(&t->luma);
}

bool quality_target_is_set(const struct quality_target *t)
{
    return t->goal.ssim > 0 || t->goal.bytes > 0;
}

/* The judge's decoder holds the JPEG once more, rows of samples and tables. */
uint64_t quality_target_claim(const struct quality_goal *goal, uint32_t width, uint32_t height,
                              struct codec_jpeg_how how)
{
    enum { TABLES = 2 << 20, ROWS = 256 };
    if (goal->ssim == 0)
        return 0;
    return ssim_values(width, height) * sizeof(float) + 2 * (uint64_t)width * height +
           codec_encode_jpeg_most(width, height, how) + (uint64_t)ROWS * width + TABLES;
}

/* ---- the search ----------------------------------------------------------------------------- */

/* One image. */
struct search {
    struct quality_target *t;
    struct codec *c;
    const struct imrec_image *image;
    struct codec_jpeg_how how;
    struct bytes jpeg; /* at how.quality */
    double ssim;       /* of it */
};

/* JFIF's luma, as the encoder has it; Pillow's grey is the same. */
static enum imrec_status keep_luma(struct search *s, struct imrec_error *err)
{
    const struct imrec_image *from = s->image;
    struct image *luma = &s->t->luma;
    if (from->channels == 1)
        return ssim_begin(&s->t->ssim, from, err);
    IMREC_TRY(image_resize_buffer(luma, from->width, from->height, 1, err));
    for (uint32_t y = 0; y < from->height; y++) {
        const uint8_t *p = from->pixels + y * from->stride;
        uint8_t *to = luma->view.pixels + y * luma->view.stride;
        for (uint32_t x = 0; x < from->width; x++, p += 3)
            to[x] = (uint8_t)grey_of(&grey_of_pillow, p);
    }
    return ssim_begin(&s->t->ssim, &luma->view, err);
}

static enum imrec_status judge(struct search *s, struct imrec_error *err)
{
    struct quality_target *t = s->t;
    struct imrec_image_info info;
    const struct codec_limits limits = {.max_pixels = -1, .max_scans = 1};
    const struct imrec_rect all = {0, 0, s->image->width, s->image->height};
    IMREC_TRY(codec_begin(t->judge, s->jpeg, &limits, &info, err));
    IMREC_TRY(codec_decode_image(t->judge, all, 1, &t->luma, NULL, err));
    s->ssim = ssim_of(&t->ssim, &t->luma.view);
    return IMREC_OK;
}

static enum imrec_status encode_at(struct search *s, int quality, struct imrec_error *err)
{
    s->how.quality = quality;
    s->t->tries++;
    return codec_encode_jpeg(s->c, s->image, s->how, &s->jpeg, err);
}

/* The search ended at the quality that comes nearest. */
static void say_missed(const struct search *s, struct imrec_error *err)
{
    const struct quality_goal *g = &s->t->goal;
    if (g->bytes > 0)
        (void)imrec_fail(err, IMREC_ERR_LIMIT,
                         "has %zu bytes at quality %d, and quality_target allows %" PRIu64,
                         s->jpeg.n, LOWEST, g->bytes);
    else
        (void)imrec_fail(err, IMREC_ERR_LIMIT,
                         "has an SSIM of %.6f at quality %d, and quality_target asks for %.6f",
                         s->ssim, HIGHEST, g->ssim);
}

enum imrec_status quality_target_encode(struct quality_target *t, struct codec *c,
                                        const struct imrec_image *image, struct codec_jpeg_how how,
                                        bool *reached, struct bytes *out, struct imrec_error *err)
{
    struct search s = {.t = t, .c = c, .image = image, .how = how};
    int low = LOWEST - 1, high = HIGHEST + 1; /* one of them is the result */
    t->tries = 0;
    if (t->goal.ssim > 0)
        IMREC_TRY(keep_luma(&s, err));
    while (high - low > 1) {
        const int quality = (low + high) / 2;
        IMREC_TRY(encode_at(&s, quality, err));
        if (t->goal.ssim > 0)
            IMREC_TRY(judge(&s, err));
        const bool enough = t->goal.ssim > 0 ? s.ssim >= t->goal.ssim : s.jpeg.n > t->goal.bytes;
        if (enough)
            high = quality;
        else
            low = quality;
    }
    const int found = t->goal.ssim > 0 ? high : low;
    *reached = found >= LOWEST && found <= HIGHEST;
    if (!*reached)
        say_missed(&s, err);
    else if (s.how.quality != found) /* it was tried, and then a worse one */
        IMREC_TRY(encode_at(&s, found, err));
    *out = s.jpeg;
    return IMREC_OK;
}
