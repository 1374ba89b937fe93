/* im2rec/item/packer_run.c - an image becomes a framed record: decoded, turned, cropped, resampled,
 * encoded. */
#include "im2rec/item/packer_state.h"

#include "augment/geometry/orient.h"
#include "base/error.h"
#include "base/math.h"
#include "codec/codec.h"
#include "formats/recordio/record_fields.h"
#include "formats/recordio/record_mask.h"
#include "im2rec/item/pack_options.h"
#include "im2rec/item/resizing.h"
#include "imrec/detection.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FRAMED_MAX ((size_t)3 << 29) /* every word may be a magic: 4 bytes more each */

/* ---- pixels ----------------------------------------------------------------------------- */

static uint32_t shorter(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static struct imrec_image centre(const struct imrec_image *i)
{
    const uint32_t side = shorter(i->width, i->height);
    const size_t x = (i->width - side) / 2, y = (i->height - side) / 2;
    return (struct imrec_image){i->pixels + y * i->stride + x * i->channels, i->stride, side, side,
                                i->channels};
}

static bool encode_to_target(struct packer *k, struct pack_item *p, const struct imrec_image *image,
                             struct codec_jpeg_how how, struct bytes *out)
{
    struct imrec_error err;
    bool reached;
    if (!packer_fine(
            p, quality_target_encode(&k->target, k->codec, image, how, &reached, out, &err), &err))
        return false;
    if (!reached)
        pack_item_skip(p, REASON_QUALITY, "%s", err.message);
    return reached;
}

static bool
encode(struct packer *k, struct pack_item *p, const struct imrec_image *image, struct bytes *out)
{
    struct imrec_error err;
    const int quality = (int)k->o->quality;
    p->outcome.width = image->width;
    p->outcome.height = image->height;
    if (k->o->pixels) { /* the record itself */
        *out = (struct bytes){NULL, 0};
        return packer_fine(p, k->kind->pixels(image, &p->record, &err), &err);
    }
    if (k->o->encoding == IMREC_ENCODE_PNG)
        return packer_fine(p, codec_encode_png(k->codec, image, quality, out, &err), &err);
    const struct codec_jpeg_how how = pack_options_jpeg(k->o);
    if (quality_target_is_set(&k->target))
        return encode_to_target(k, p, image, how, out);
    return packer_fine(p, codec_encode_jpeg(k->codec, image, how, out, &err), &err);
}

static bool recode(struct packer *k, struct pack_item *p, struct bytes *out)
{
    struct imrec_error err;
    const struct imrec_image_info *info = &k->info;
    const struct image_plan *plan = &k->plan;
    const uint32_t width = plan->width, height = plan->height;
    if (!packer_fine(p,
                     codec_decode_scaled(k->codec, plan->denominator, plan->channels, &k->decoded,
                                         &p->outcome.warnings, &err),
                     &err))
        return false;
    struct imrec_image view = k->decoded.view;
    if (info->orientation > 1) {
        if (!packer_fine(p, orient_image(info->orientation, &view, &k->upright, &err), &err))
            return false;
        view = k->upright.view;
    }
    struct path *path = &k->targets.targets.path;
    if (k->o->center_crop) {
        const uint32_t side = shorter(path->width, path->height);
        path_add_shift(path, -(double)((path->width - side) / 2),
                       -(double)((path->height - side) / 2), side, side);
        view = centre(&view);
    }
    if (path->width != width || path->height != height)
        path_add_resize(path, width, height);
    if (view.width != width || view.height != height) {
        if (!packer_fine(
                p, resizing_run(k->o, p->id, &view, width, height, &k->resized, k->scratch, &err),
                &err))
            return false;
        view = k->resized.view;
    }
    const struct augmenting_plan *augmented = &plan->augmented;
    if (k->augments &&
        !packer_fine(
            p, augmenting_run(&k->augmenting, augmented, &view, path, k->scratch, &view, &err),
            &err))
        return false;
    return item_targets_finish(&k->targets, p, augmented->draw.mirror, augmented->draw.flip) &&
           encode(k, p, &view, out);
}

/* ---- records ---------------------------------------------------------------------------- */

static bool fits_record(struct pack_item *p, uint64_t bytes)
{
    if (bytes > RECORD_MAX)
        pack_item_skip(p, REASON_TOO_LARGE,
                       "%" PRIu64 " bytes are more than a record holds (2^29 - 1)", bytes);
    return bytes <= RECORD_MAX;
}

/* What follows the image in its record. */
struct rest {
    struct bytes mask;
    struct record_field fields[FIELD_NAMES_MOST + 1];
    uint32_t field_count; /* 0: the mask is all there is */
    uint64_t bytes;       /* with the trailer; 0: nothing follows */
};

static void find_rest(const struct packer *k, struct rest *r)
{
    r->mask = k->targets.png;
    r->field_count = item_fields_list(&k->fields, r->mask, r->fields);
    r->bytes = r->field_count != 0 ? record_fields_bytes(r->fields, r->field_count)
               : r->mask.n != 0    ? (uint64_t)r->mask.n + RECORD_MASK_TRAILER_BYTES
                                   : 0;
}

static bool append_rest(struct packer *k, struct pack_item *p, const struct rest *r)
{
    struct imrec_error err;
    uint8_t trailer[RECORD_MASK_TRAILER_BYTES];
    if (r->field_count != 0)
        return packer_fine(p, record_fields_append(&k->record, r->fields, r->field_count, &err),
                           &err);
    if (r->mask.n == 0)
        return true;
    record_mask_trailer(r->mask, trailer);
    return packer_fine(p, buf_append(&k->record, r->mask.p, r->mask.n, &err), &err) &&
           packer_fine(p, buf_append(&k->record, trailer, sizeof(trailer), &err), &err);
}

/* Head, image, and the rest, in one piece. */
static bool
append_all(struct packer *k, struct pack_item *p, struct bytes image, const struct rest *r)
{
    struct imrec_error err;
    k->record.n = 0;
    return packer_fine(p, buf_append(&k->record, k->head.p, k->head.n, &err), &err) &&
           packer_fine(p, buf_append(&k->record, image.p, image.n, &err), &err) &&
           append_rest(k, p, r);
}

/* The file follows room for the head: where it is the rest of the record, nothing is copied. */
static bool join(struct packer *k, struct pack_item *p, struct bytes image, struct bytes *whole)
{
    const size_t room = k->head.n;
    struct rest rest;
    find_rest(k, &rest);
    if (k->targets.labels && !packer_head(k, p)) /* as they are now */
        return false;
    *whole = (struct bytes){image.p - k->head.n, k->head.n + image.n};
    if (!fits_record(p, whole->n + min_u64(rest.bytes, (uint64_t)RECORD_MAX + 1)))
        return false;
    if (rest.bytes == 0 && k->head.n <= room && k->file.p != NULL && image.p == k->file.p + room) {
        memcpy(k->file.p + (room - k->head.n), k->head.p, k->head.n);
        return true;
    }
    if (!append_all(k, p, image, &rest))
        return false;
    *whole = (struct bytes){k->record.p, k->record.n};
    return true;
}

static bool frame_bytes(struct packer *k, struct pack_item *p, struct bytes b)
{
    struct imrec_error err;
    return packer_fine(p, k->kind->frame(b, &p->record, &p->crc, &err), &err);
}

/* The image, and after it the rest, where the set has any. */
static bool frame_bare(struct packer *k, struct pack_item *p, struct bytes image)
{
    struct rest rest;
    const bool follows = shard_has_rest(k->all);
    find_rest(k, &rest);
    if (!fits_record(p, image.n + min_u64(rest.bytes, (uint64_t)RECORD_MAX + 1)))
        return false;
    if (!k->o->pixels && !frame_bytes(k, p, image)) /* else encode() has made the record */
        return false;
    k->record.n = 0;
    return !follows || (append_rest(k, p, &rest) &&
                        frame_bytes(k, p, (struct bytes){k->record.p, k->record.n}));
}

static bool frame(struct packer *k, struct pack_item *p, struct bytes image)
{
    struct bytes whole;
    if (k->kind->bare)
        return frame_bare(k, p, image);
    return join(k, p, image, &whole) && frame_bytes(k, p, whole);
}

/* ---- one image ------------------------------------------------------------------------ */

/* The JPEG with the same coefficients in one sequential scan; what cannot be that stays as it is.
 */
static bool rewrite(struct packer *k, struct pack_item *p, struct bytes *out)
{
    struct imrec_error err;
    struct bytes jpeg;
    enum imrec_status st;
    if (k->o->tile == IMREC_TILE_YES)
        st = codec_tile_jpeg(k->codec, &p->outcome.rewritten, &jpeg, &err);
    else
        st = codec_baseline_jpeg(k->codec, &p->outcome.rewritten, &jpeg, &err);
    if (st == IMREC_OK && p->outcome.rewritten)
        *out = jpeg;
    return packer_fine(p, st, &err);
}

/* What stays as it is counts for nothing. */
static bool count_symbols(struct packer *k, struct pack_item *p, struct bytes jpeg)
{
    struct imrec_error err;
    return (k->o->pass_through && !p->outcome.rewritten) ||
           packer_fine(p, codec_count_symbols(k->codec, jpeg, k->counts, &err), &err);
}

/* The image bytes of the record: the file's own, or encoded again. */
static bool image_bytes(struct packer *k, struct pack_item *p, struct bytes *out)
{
    struct imrec_error err;
    struct item_targets *m = &k->targets;
    *out = packer_file(k);
    if (!k->is_begun)
        return true;
    if (!item_targets_begin(m, p, &k->info))
        return false;
    if (!k->o->pass_through)
        return recode(k, p, out);
    return item_targets_keep(m, p, &k->info) &&
           (k->o->check != IMREC_CHECK_DECODE ||
            packer_fine(p, codec_check(k->codec, &p->outcome.warnings, &err), &err)) &&
           (!pack_options_rewrites(k->o) || rewrite(k, p, out));
}

/* A record's boxes go where the image goes, and some may leave it; where records have as many
 * labels, they cannot. */
static bool boxes_agree(const struct packer *k, struct pack_item *p)
{
    if (!k->kind->equal_labels || !k->o->pack_label || !(k->o->center_crop || k->augments) ||
        !imrec_labels_are_boxes((const float *)(const void *)p->labels.p, p->label_count))
        return true;
    p->failed = IMREC_ERR_ARGUMENT;
    snprintf(p->why, sizeof(p->why),
             "%.*s: its labels are boxes, and %s would move the image away from those of a %s",
             (int)(p->path.n < 400 ? p->path.n : 400), (const char *)p->path.p,
             k->augments ? "augment" : "center_crop", k->kind->file);
    return false;
}

static bool attempt(struct packer *k, struct pack_item *p)
{
    struct bytes image;
    p->record.n = 0;
    k->targets.png = (struct bytes){NULL, 0};
    k->targets.labels = false;
    const bool packed = boxes_agree(k, p) && (k->is_ready || packer_prepare(k, p)) &&
                        image_bytes(k, p, &image) &&
                        (k->counts != NULL ? count_symbols : frame)(k, p, image);
    k->is_ready = false;
    item_targets_drop(&k->targets);
    return packed;
}

/* An image that found no memory is tried once more when nobody else works: it may have been the
 * others'. */
static bool alone(struct packer *k, struct pack_item *p,
                  bool (*what)(struct packer *, struct pack_item *), const struct outcome *before)
{
    struct file_bytes item = {NULL, 0, 0};
    if (p->from != PARCEL_FILE && k->item == NULL) { /* there is no other copy of it */
        item = k->file;
        k->file = (struct file_bytes){NULL, 0, 0};
    }
    item_targets_drop(&k->targets);
    packer_trim(k, true);
    if (item.p != NULL)
        k->file = item;
    buf_free(&p->record);
    budget_drop(k->budget, &p->share);
    if (!budget_alone(k->budget, &p->share, p->outcome.index)) {
        p->failed = IMREC_ERR_CANCELLED;
        return false;
    }
    p->outcome = *before;
    p->why[0] = '\0';
    return what(k, p);
}

static bool lacked_memory(const struct pack_item *p)
{
    return p->outcome.reason == REASON_NO_MEMORY && p->failed == IMREC_OK;
}

void packer_give(struct packer *k, struct pack_item *p, const struct imrec_pack_item *item)
{
    const struct outcome before = p->outcome;
    p->from = item->bytes != NULL           ? PARCEL_BYTES
              : item->pixels.pixels != NULL ? PARCEL_PIXELS
                                            : PARCEL_FILE;
    k->is_ready = false;
    if (p->from == PARCEL_FILE && item->path == NULL)
        pack_item_skip(p, REASON_EMPTY, "is empty: it has no bytes, no pixels and no path");
    if (p->from == PARCEL_FILE)
        return;
    k->o = p->from == PARCEL_PIXELS ? k->of_pixels : k->all;
    k->item = item;
    k->is_ready = packer_prepare(k, p);
    if (!k->is_ready && lacked_memory(p))
        k->is_ready = alone(k, p, packer_prepare, &before);
    k->item = NULL;
    if (!k->is_ready)
        budget_finish(k->budget, &p->share, p->outcome.index, 0);
}

/* Labels move with the pixels: as they came, they are needed again. */
static bool keep_labels(struct packer *k, struct pack_item *p)
{
    struct imrec_error err;
    k->labels.n = 0;
    return !k->o->pack_label ||
           packer_fine(p, buf_append(&k->labels, p->labels.p, p->labels.n, &err), &err);
}

static void restore_labels(struct packer *k, struct pack_item *p, uint32_t count)
{
    if (k->labels.n == 0) /* there was no memory even for them: nothing has moved */
        return;
    memcpy(p->labels.p, k->labels.p, k->labels.n); /* they never become more */
    p->labels.n = k->labels.n;
    p->label_count = count;
}

void packer_run(struct packer *k, struct pack_item *p)
{
    const struct outcome before = p->outcome;
    const uint32_t label_count = p->label_count;
    k->o = p->from == PARCEL_PIXELS ? k->of_pixels : k->all;
    p->record.max = FRAMED_MAX;
    bool packed = keep_labels(k, p) && attempt(k, p);
    if (!packed && lacked_memory(p)) {
        restore_labels(k, p, label_count);
        packed = alone(k, p, attempt, &before);
    }
    if (!packed)
        p->record.n = 0;
    else if (p->outcome.warnings != 0)
        snprintf(p->why, sizeof(p->why), "the decoder mended it: %u warning%s", p->outcome.warnings,
                 p->outcome.warnings == 1 ? "" : "s");
    k->is_ready = false;
    packer_trim(k, false);
    budget_finish(k->budget, &p->share, p->outcome.index, p->record.n);
}
