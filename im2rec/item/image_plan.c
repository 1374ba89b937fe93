/* im2rec/item/image_plan.c */
#include "im2rec/item/image_plan.h"

#include "augment/geometry/orient.h"
#include "base/error.h"
#include "base/math.h"
#include "formats/recordio/recordio.h"
#include "im2rec/item/pack_options.h"
#include "im2rec/item/resizing.h"

#include <string.h>

#define FRAME_BYTES ((uint64_t)64) /* of a record that is in one part, and of a mask */
/* The encoder keeps so much of what was on its way to the result. */
#define SMALL_BYTES ((uint64_t)8 << 20)

static uint32_t shorter(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* ---- sizes ------------------------------------------------------------------------------ */

/* How far the JPEG decoder may shrink: the shorter side stays at least twice the target. Where
 * one of OpenCV's methods is asked for, all is left to it. */
static uint32_t denominator(const struct imrec_pack_options *o, const struct imrec_image_info *info)
{
    const uint64_t side = shorter(info->width, info->height), least = 2 * (uint64_t)o->resize;
    for (uint32_t d = 8; d > 1; d /= 2)
        if (o->resize > 0 && o->inter_method < 0 && strcmp(info->format, "jpeg") == 0 &&
            side >= d * least)
            return d;
    return 1;
}

static uint32_t channels_of(const struct imrec_pack_options *o, const struct imrec_image_info *info)
{
    if (o->color == 0)
        return 1;
    if (o->color > 0 || info->cmyk)
        return 3;
    if (info->channels == 4 && o->encoding == IMREC_ENCODE_PNG)
        return 4;
    return info->channels <= 2 ? 1 : 3;
}

/* Size after centre crop and resize, of an image that is upright. */
static enum imrec_status final_size(const struct imrec_pack_options *o, uint32_t width,
                                    uint32_t height, struct image_plan *p, struct imrec_error *err)
{
    if (o->center_crop)
        width = height = shorter(width, height);
    resize_shorter_side(width, height, o->resize, &p->width, &p->height);
    p->width += p->width == 0; /* MXNet's division rounds 1 x 5000 down to 0 */
    p->height += p->height == 0;
    if (o->resize == 0 || image_is_within(p->width, p->height, o->max_pixels))
        return IMREC_OK;
    return imrec_fail(err, IMREC_ERR_LIMIT,
                      "resized it would have %u x %u px; a side is limited to %d px, an image "
                      "to max_pixels=%lld",
                      p->width, p->height, IMAGE_MOST_SIDE, (long long)o->max_pixels);
}

/* ---- bytes ------------------------------------------------------------------------------ */

static uint64_t pixels_of(uint32_t width, uint32_t height)
{
    return (uint64_t)width * height;
}

/* Decoded, turned, resized, augmented: a buffer each, and their tables. */
static uint64_t pixels_need(const struct image_to_plan *i, const struct image_plan *p)
{
    const struct imrec_image_info *info = i->info;
    const uint64_t d = p->denominator, c = p->channels;
    const uint64_t decoded = (info->width / d + 1) * (info->height / d + 1) * c;
    const uint32_t from_width = info->width / p->denominator + 1;
    const uint32_t from_height = info->height / p->denominator + 1;
    const bool swaps = orient_swaps(info->orientation);
    uint64_t bytes = codec_claim(i->codec, p->denominator) + decoded;
    if (info->orientation > 1)
        bytes += decoded;
    if (i->o->resize > 0)
        bytes += pixels_of(p->width, p->height) * c +
                 resizing_claim(i->o, swaps ? from_height : from_width,
                                swaps ? from_width : from_height, p->width, p->height, p->channels);
    return bytes + p->augmented.bytes;
}

/* The result encoded, then copied after its head and once more into its frame; or floats, in a
 * buffer that doubles. */
static struct budget_need result_need(const struct image_to_plan *i, const struct image_plan *p)
{
    const struct imrec_pack_options *o = i->o;
    const uint64_t values = pixels_of(p->to_width, p->to_height) * p->channels;
    const uint64_t head = 2 * i->head_bytes + FRAME_BYTES;
    const uint32_t w = p->to_width, h = p->to_height;
    if (o->pixels)
        return (struct budget_need){2 * values * sizeof(float) + head,
                                    values * sizeof(float) + head};
    if (o->encoding == IMREC_ENCODE_PNG) {
        const uint64_t png = codec_encode_png_claim(w, h, p->channels);
        return (struct budget_need){3 * png + head, png + head};
    }
    const uint64_t all = codec_encode_jpeg_claim(w, h, p->channels, pack_options_jpeg(o));
    const uint64_t jpeg = codec_encode_jpeg_most(w, h, pack_options_jpeg(o));
    const uint64_t judged = quality_target_claim(i->goal, w, h, pack_options_jpeg(o));
    return (struct budget_need){all + judged + min_u64(2 * jpeg, SMALL_BYTES) + head, jpeg + head};
}

enum imrec_status
image_plan_make(const struct image_to_plan *i, struct image_plan *out, struct imrec_error *err)
{
    const bool swaps = orient_swaps(i->info->orientation);
    *out = (struct image_plan){.denominator = denominator(i->o, i->info),
                               .channels = channels_of(i->o, i->info)};
    IMREC_TRY(final_size(i->o, swaps ? i->info->height : i->info->width,
                         swaps ? i->info->width : i->info->height, out, err));
    out->to_width = out->width;
    out->to_height = out->height;
    if (i->augmenting != NULL) {
        const struct imrec_shape shape = {out->channels, out->height, out->width};
        IMREC_TRY(augmenting_draw(i->augmenting, i->o, i->id / (uint64_t)i->o->copies, i->copy,
                                  shape, &out->augmented, err));
        out->to_width = out->augmented.width;
        out->to_height = out->augmented.height;
    }
    const struct budget_need result = result_need(i, out);
    out->need.work = i->file.n + pixels_need(i, out) + result.work;
    out->need.record = result.record;
    return IMREC_OK;
}

void image_plan_pass(const struct image_to_plan *i, bool checked, struct image_plan *out)
{
    const uint64_t head = i->head_bytes + FRAME_BYTES;
    const uint64_t framed = recordio_framed_bytes(i->file) + head;
    *out = (struct image_plan){.denominator = 1};
    out->need.work = i->file.n + i->head_bytes + framed + (checked ? codec_claim(i->codec, 1) : 0);
    out->need.record = framed;
    if (i->info == NULL)
        return;
    if (pack_options_rewrites(i->o)) { /* then copied after its head and once more into its frame */
        const uint64_t jpeg = codec_tile_jpeg_most(i->codec);
        out->need.work += codec_tile_jpeg_claim(i->codec) + 2 * jpeg + head;
        out->need.record = max_u64(framed, jpeg + head);
    }
    out->to_width = i->info->width;
    out->to_height = i->info->height;
}

void image_plan_add_mask(const struct image_to_plan *i, uint64_t mask_bytes, struct image_plan *p)
{
    enum { VALUE = sizeof(uint16_t) };
    const uint64_t from = pixels_of(i->info->width, i->info->height);
    const uint64_t to = pixels_of(p->to_width, p->to_height);
    const uint64_t made = to > from ? to : from; /* turned only, it is as large as it was */
    const uint64_t png = 2 * codec_encode_png_claim(1, 1, 1) + made * VALUE + made * VALUE / 8;
    /* decoded, of an interlaced one twice; moved; encoded; in the record, and in its frame */
    p->need.work += mask_bytes + 2 * from * VALUE + made * VALUE + 3 * png;
    p->need.work += i->o->pass_through ? i->file.n : 0; /* after its head, with the mask */
    p->need.record += png > mask_bytes ? png : mask_bytes;
}

void image_plan_add_fields(const struct image_to_plan *i, uint64_t bytes, struct image_plan *p)
{
    if (bytes == 0)
        return;
    /* read, gathered, in the record, and in its frame */
    p->need.work += 4 * bytes + (i->o->pass_through ? i->file.n : 0);
    p->need.record += bytes;
}
