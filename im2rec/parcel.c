/* im2rec/parcel.c */
#include "im2rec/parcel.h"

#include "augment/orient.h"
#include "base/alloc.h"
#include "base/error.h"
#include "codec/codec.h"
#include "formats/crc32c.h"
#include "formats/image_record.h"
#include "formats/record_mask.h"
#include "formats/recordio.h"
#include "formats/wav.h"
#include "im2rec/augmenting.h"
#include "im2rec/cbf_shard.h"
#include "im2rec/moving.h"
#include "im2rec/pack_options.h"
#include "im2rec/read_file.h"
#include "im2rec/resizing.h"
#include "imrec/pack_items.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define RECORD_MAX    RECORDIO_PART_MAX_BYTES
#define FRAMED_MAX    ((size_t)3 << 29) /* every second word may be a magic: 8 bytes more each */
#define FILE_SLACK    ((uint64_t)64 << 20)
#define ENCODER_BYTES 20 /* a pixel of noise at quality 100: symbols, JPEG twice */

struct packer {
    const struct imrec_pack_options *o; /* those of the image in hand */
    const struct imrec_pack_options *all, *of_pixels;
    const struct file_root *root;
    struct budget *budget;
    struct codec *codec;
    struct resize_scratch *scratch;
    struct image decoded, upright, resized;
    struct file_bytes file;
    struct imrec_image pixels; /* in `file`, of an image that came as pixels */
    struct buf head, record;
    bool augments;
    struct augmenting augmenting;
    struct moving moving;
};

enum imrec_status
packer_new(const struct packer_options *given, struct packer **out, struct imrec_error *err)
{
    const struct imrec_pack_options *o = given->all;
    struct packer *k = *out = imrec_zalloc(1, sizeof(*k));
    if (k == NULL)
        return imrec_error_at(err, IMREC_ERR_NO_MEMORY, IMREC_NO_OFFSET, "no memory for a worker");
    k->o = k->all = o;
    k->of_pixels = given->of_pixels;
    k->root = given->root;
    k->budget = given->budget;
    k->head = BUF_INIT(RECORD_MAX);
    k->record = BUF_INIT(RECORD_MAX);
    k->moving.fd = -1;
    enum imrec_status st = codec_new(&k->codec, err);
    if (st == IMREC_OK)
        st = resize_scratch_new(&k->scratch, err);
    if (st == IMREC_OK) {
        codec_stop_with(k->codec, k->root->stop);
        resize_scratch_stop_with(k->scratch, k->root->stop);
    }
    k->augments = o->augment[0] != '\0';
    if (st == IMREC_OK && k->augments)
        st = augmenting_init(&k->augmenting, o->augment, pack_options_channels(o), err);
    if (st == IMREC_OK)
        st = moving_init(&k->moving, o, k->root->stop, err);
    if (st != IMREC_OK) {
        packer_free(k);
        *out = NULL;
    }
    return st;
}

void packer_free(struct packer *k)
{
    if (k == NULL)
        return;
    codec_free(k->codec);
    resize_scratch_free(k->scratch);
    image_free(&k->decoded);
    image_free(&k->upright);
    image_free(&k->resized);
    augmenting_free(&k->augmenting);
    moving_free(&k->moving);
    imrec_free(k->file.p);
    buf_free(&k->head);
    buf_free(&k->record);
    imrec_free(k);
}

/* ---- what went wrong -------------------------------------------------------------------- */

/* true: goes on. Anything else is the picture's reason, but for memory, which is ours, and for
 * being told to stop. */
static bool fine(struct parcel *p, enum imrec_status st, const struct imrec_error *err)
{
    enum reason reason = REASON_DAMAGED;
    if (st == IMREC_OK)
        return true;
    if (st == IMREC_ERR_NO_MEMORY || st == IMREC_ERR_CANCELLED) {
        p->failed = st;
        snprintf(p->why, sizeof(p->why), "%s", err->message);
        return false;
    }
    if (st == IMREC_ERR_UNSUPPORTED)
        reason = REASON_UNSUPPORTED;
    else if (st == IMREC_ERR_LIMIT)
        reason = REASON_TOO_LARGE;
    parcel_skip(p, reason, "%s", err->message);
    return false;
}

static bool take(struct packer *k, struct parcel *p, uint64_t bytes)
{
    if (budget_take(k->budget, &p->share, p->outcome.index, bytes))
        return true;
    p->failed = IMREC_ERR_CANCELLED;
    return false;
}

/* ---- sizes ------------------------------------------------------------------------------ */

static uint32_t shorter(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* How far the JPEG decoder may shrink: the shorter side stays at least twice the target. Where
 * one of OpenCV's methods is asked for, all is left to it. */
static uint32_t
denominator(const struct imrec_pack_options *o, const struct imrec_picture_info *info)
{
    const uint64_t side = shorter(info->width, info->height), least = 2 * (uint64_t)o->resize;
    for (uint32_t d = 8; d > 1; d /= 2)
        if (o->resize > 0 && o->inter_method < 0 && strcmp(info->format, "jpeg") == 0 &&
            side >= d * least)
            return d;
    return 1;
}

static uint32_t
channels_of(const struct imrec_pack_options *o, const struct imrec_picture_info *info)
{
    if (o->color == 0)
        return 1;
    if (o->color > 0 || info->cmyk)
        return 3;
    if (info->channels == 4 && o->encoding == IMREC_ENCODE_PNG)
        return 4;
    return info->channels <= 2 ? 1 : 3;
}

/* Size after centre crop and resize, of a picture that is upright. */
static void final_size(const struct imrec_pack_options *o, uint32_t width, uint32_t height,
                       uint32_t *to_width, uint32_t *to_height)
{
    if (o->center_crop)
        width = height = shorter(width, height);
    resize_shorter_side(width, height, o->resize, to_width, to_height);
    *to_width += *to_width == 0; /* the original's division rounds 1 x 5000 down to nothing */
    *to_height += *to_height == 0;
}

/* Bytes that the pixels of a picture will take: decoded, turned, resampled, and what decoder and
 * encoder hold beside them. */
static uint64_t claim(const struct packer *k, const struct imrec_picture_info *info, uint32_t d,
                      uint32_t channels, uint32_t width, uint32_t height)
{
    const uint64_t scaled = ((uint64_t)info->width / d + 1) * ((uint64_t)info->height / d + 1);
    const uint64_t decoded = scaled * channels * (info->orientation > 1 ? 2 : 1);
    const uint64_t result =
        k->o->pixels ? 9 * channels : 3 * channels + ENCODER_BYTES; /* 9: floats that grow */
    return codec_claim(k->codec, d) + decoded + (uint64_t)width * height * result;
}

/* And where it is augmented. */
static uint64_t augmented_claim(const struct augmenting_plan *plan, uint32_t channels)
{
    return plan->bytes +
           (uint64_t)plan->width * plan->height * (3 * (uint64_t)channels + ENCODER_BYTES);
}

/* ---- pixels ----------------------------------------------------------------------------- */

static struct imrec_image centre(const struct imrec_image *i)
{
    const uint32_t side = shorter(i->width, i->height);
    const size_t x = (i->width - side) / 2, y = (i->height - side) / 2;
    return (struct imrec_image){i->pixels + y * i->stride + x * i->channels, i->stride, side, side,
                                i->channels};
}

static bool
encode(struct packer *k, struct parcel *p, const struct imrec_image *image, struct bytes *out)
{
    struct imrec_error err;
    const int quality = (int)k->o->quality;
    p->outcome.width = image->width;
    p->outcome.height = image->height;
    if (k->o->pixels) { /* the record itself */
        *out = (struct bytes){NULL, 0};
        return fine(p, cbf_pixel_record(image, &p->record, &err), &err);
    }
    if (k->o->encoding == IMREC_ENCODE_PNG)
        return fine(p, codec_encode_png(k->codec, image, quality, out, &err), &err);
    return fine(p, codec_encode_jpeg(k->codec, image, quality, out, &err), &err);
}

static bool
recode(struct packer *k, struct parcel *p, const struct imrec_picture_info *info, struct bytes *out)
{
    struct imrec_error err;
    const uint32_t d = denominator(k->o, info), channels = channels_of(k->o, info);
    const bool swaps = orient_swaps(info->orientation);
    struct augmenting_plan plan = {0};
    uint32_t width, height;
    final_size(k->o, swaps ? info->height : info->width, swaps ? info->width : info->height, &width,
               &height);
    if (k->augments)
        augmenting_draw(&k->augmenting, k->o->seed, p->id / (uint64_t)k->o->copies, p->copy,
                        (struct imrec_shape){channels, height, width}, &plan);
    if (!take(k, p,
              claim(k, info, d, channels, width, height) + augmented_claim(&plan, channels)) ||
        !fine(p,
              codec_decode_scaled(k->codec, d, channels, &k->decoded, &p->outcome.warnings, &err),
              &err))
        return false;
    struct imrec_image view = k->decoded.view;
    if (info->orientation > 1) {
        if (!fine(p, orient_image(info->orientation, &view, &k->upright, &err), &err))
            return false;
        view = k->upright.view;
    }
    struct path *path = &k->moving.follow.path;
    if (k->o->center_crop) {
        const uint32_t side = shorter(path->width, path->height);
        path_add_shift(path, -(double)((path->width - side) / 2),
                       -(double)((path->height - side) / 2), side, side);
        view = centre(&view);
    }
    if (path->width != width || path->height != height)
        path_add_resize(path, width, height);
    if (view.width != width || view.height != height) {
        if (!fine(p, resizing_run(k->o, p->id, &view, width, height, &k->resized, k->scratch, &err),
                  &err))
            return false;
        view = k->resized.view;
    }
    if (k->augments &&
        !fine(p, augmenting_run(&k->augmenting, &plan, &view, path, k->scratch, &view, &err), &err))
        return false;
    return moving_finish(&k->moving, p, plan.draw.mirror) && encode(k, p, &view, out);
}

/* ---- one picture ------------------------------------------------------------------------ */

static void describe(struct parcel *p, const struct imrec_picture_info *info)
{
    snprintf(p->outcome.kind, sizeof(p->outcome.kind), "%s%s%s%s%s", info->format,
             info->kind[0] != '\0' ? " " : "", info->kind, info->cmyk ? " cmyk" : "",
             info->gzip ? " gzip" : "");
    p->outcome.width = info->width;
    p->outcome.height = info->height;
}

/* A sound is packed as it is. */
static bool sound_bytes(struct packer *k, struct parcel *p, struct bytes file)
{
    struct imrec_error err;
    struct wav wav;
    if (k->augments || k->o->pixels) {
        parcel_skip(p, REASON_UNSUPPORTED, "is a sound: %s is for pictures",
                    k->augments ? "augment" : "pixels");
        return false;
    }
    snprintf(p->outcome.kind, sizeof(p->outcome.kind), "wav");
    return fine(p, wav_parse(file, &wav, &err), &err);
}

/* The image bytes of the record: the file's own, or encoded again. */
static bool image_bytes(struct packer *k, struct parcel *p, struct bytes file, struct bytes *out)
{
    const struct codec_limits limits = {.max_pixels = k->o->max_pixels,
                                        .accept_truncated = k->o->accept_truncated,
                                        .alpha = CODEC_ALPHA_WHITE};
    const bool pass = k->o->pass_through;
    struct moving *m = &k->moving;
    uint64_t bytes;
    struct imrec_picture_info info;
    struct imrec_error err;
    *out = file;
    if (pass && k->o->check == IMREC_CHECK_NONE && !moving_asks(m))
        return true;
    if (p->from != PARCEL_PIXELS && wav_is(file))
        return sound_bytes(k, p, file);
    if (!fine(p,
              p->from == PARCEL_PIXELS
                  ? codec_begin_pixels(k->codec, &k->pixels, &limits, &info, &err)
                  : codec_begin(k->codec, file, &limits, &info, &err),
              &err))
        return false;
    describe(p, &info);
    if (!moving_find(m, p, &info, &bytes) || !take(k, p, bytes) || !moving_begin(m, p, &info))
        return false;
    if (!pass)
        return recode(k, p, &info, out);
    if (!moving_keep(m, p, &info))
        return false;
    if (k->o->check != IMREC_CHECK_DECODE)
        return true;
    return take(k, p, codec_claim(k->codec, 1)) &&
           fine(p, codec_check(k->codec, &p->outcome.warnings, &err), &err);
}

static bool head_bytes(struct packer *k, struct parcel *p)
{
    struct imrec_error err;
    const uint32_t count = k->o->pack_label ? p->label_count : 1;
    k->head.n = 0;
    return fine(p,
                image_record_head(&k->head, (const float *)(const void *)p->labels.p, count, false,
                                  p->id, 0, &err),
                &err);
}

/* The record of a CBF set; that of pixels is there already. */
static bool frame_cbf(struct packer *k, struct parcel *p, struct bytes image)
{
    struct imrec_error err;
    if (k->o->pixels)
        return true;
    if (image.n > RECORD_MAX) {
        parcel_skip(p, REASON_TOO_LARGE, "%zu bytes are more than a record holds (2^29 - 1)",
                    image.n);
        return false;
    }
    return fine(p, cbf_image_record(image, &p->record, &err), &err);
}

/* Head, image, and the mask with its trailer, in one piece. */
static bool append_all(struct packer *k, struct parcel *p, struct bytes image)
{
    struct imrec_error err;
    const struct bytes mask = k->moving.png;
    uint8_t trailer[RECORD_MASK_TRAILER_BYTES];
    k->record.n = 0;
    if (!fine(p, buf_append(&k->record, k->head.p, k->head.n, &err), &err) ||
        !fine(p, buf_append(&k->record, image.p, image.n, &err), &err))
        return false;
    if (mask.n == 0)
        return true;
    record_mask_trailer(mask, trailer);
    return fine(p, buf_append(&k->record, mask.p, mask.n, &err), &err) &&
           fine(p, buf_append(&k->record, trailer, sizeof(trailer), &err), &err);
}

/* The file stands behind room for the head: where it is the whole record, nothing is copied. */
static bool frame(struct packer *k, struct parcel *p, struct bytes image)
{
    struct imrec_error err;
    const size_t room = k->head.n;
    const struct bytes mask = k->moving.png;
    if (k->o->format == IMREC_PACK_CBF)
        return frame_cbf(k, p, image);
    if (k->moving.labels && !head_bytes(k, p)) /* as they are now */
        return false;
    struct bytes whole = {image.p - k->head.n, k->head.n + image.n};
    const uint64_t bytes = (uint64_t)whole.n + mask.n + (mask.n != 0) * RECORD_MASK_TRAILER_BYTES;
    if (bytes > RECORD_MAX) {
        parcel_skip(p, REASON_TOO_LARGE,
                    "%" PRIu64 " bytes are more than a record holds (2^29 - 1)", bytes);
        return false;
    }
    if (mask.n == 0 && k->head.n <= room && k->file.p != NULL && image.p == k->file.p + room) {
        memcpy(k->file.p + (room - k->head.n), k->head.p, k->head.n);
    } else {
        if (!append_all(k, p, image))
            return false;
        whole = (struct bytes){k->record.p, k->record.n};
    }
    if (!fine(p, recordio_frame(whole, &p->record, &err), &err))
        return false;
    p->crc = crc32c(0, p->record.p, p->record.n);
    return true;
}

/* Room in the budget for the bytes of a file or an item, if they can be those of an image. */
static bool may_take(struct packer *k, struct parcel *p, uint64_t size)
{
    const uint64_t limit = (uint64_t)k->o->max_pixels * 8 + FILE_SLACK;
    p->outcome.file_bytes = size;
    if (size == 0)
        parcel_skip(p, REASON_EMPTY, "is empty");
    else if (size > limit || size > SIZE_MAX / 2)
        parcel_skip(p, REASON_TOO_LARGE,
                    "%" PRIu64 " bytes are more than any picture of max_pixels=%" PRId64 " needs",
                    size, k->o->max_pixels);
    else
        return take(k, p, size);
    return false;
}

static bool read_file(struct packer *k, struct parcel *p)
{
    uint64_t size;
    int fd;
    if (p->from != PARCEL_FILE)
        return true;
    if (!file_open(p, k->root, &fd, &size))
        return false;
    if (may_take(k, p, size))
        return file_read(p, k->root, fd, size, k->head.n, &k->file); /* which closes it */
    close(fd);
    return false;
}

static bool copy_item(struct packer *k, struct parcel *p, const struct imrec_pack_item *item)
{
    const struct imrec_image *i = &item->pixels;
    size_t row = item->byte_count, bytes = row;
    if (p->from == PARCEL_PIXELS &&
        (!mul_fits(i->width, i->channels, &row) || !mul_fits(row, i->height, &bytes)))
        bytes = SIZE_MAX;
    const size_t rows = row != 0 ? bytes / row : 0;
    if (!head_bytes(k, p) || !may_take(k, p, bytes) ||
        !file_copy(p, p->from == PARCEL_PIXELS ? i->pixels : item->bytes, row, i->stride, rows,
                   k->head.n, &k->file))
        return false;
    k->pixels = *i;
    k->pixels.pixels = k->file.p + k->head.n;
    k->pixels.stride = row;
    return true;
}

void packer_give(struct packer *k, struct parcel *p, const struct imrec_pack_item *item)
{
    p->from = item->bytes != NULL           ? PARCEL_BYTES
              : item->pixels.pixels != NULL ? PARCEL_PIXELS
                                            : PARCEL_FILE;
    if (p->from == PARCEL_FILE && item->path == NULL)
        parcel_skip(p, REASON_EMPTY, "is empty: it has no bytes, no pixels and no path");
    else if (p->from != PARCEL_FILE && !copy_item(k, p, item))
        budget_finish(k->budget, &p->share, 0);
}

/* A record's boxes go where the picture goes, and some may leave it; those of a CBF file, which are
 * all as many, cannot. */
static bool boxes_agree(const struct packer *k, struct parcel *p)
{
    if (k->o->format != IMREC_PACK_CBF || !k->o->pack_label ||
        !(k->o->center_crop || k->augments) ||
        !imrec_labels_are_boxes((const float *)(const void *)p->labels.p, p->label_count))
        return true;
    p->failed = IMREC_ERR_ARGUMENT;
    snprintf(p->why, sizeof(p->why),
             "%.*s: its labels are boxes, and %s would move the picture away from those of a CBF "
             "file",
             (int)(p->path.n < 400 ? p->path.n : 400), (const char *)p->path.p,
             k->augments ? "augment" : "center_crop");
    return false;
}

void packer_run(struct packer *k, struct parcel *p)
{
    struct bytes image;
    k->o = p->from == PARCEL_PIXELS ? k->of_pixels : k->all;
    p->record.max = FRAMED_MAX;
    p->record.n = 0;
    k->moving.png = (struct bytes){NULL, 0};
    k->moving.labels = false;
    const bool packed =
        boxes_agree(k, p) && head_bytes(k, p) && read_file(k, p) &&
        image_bytes(k, p, (struct bytes){k->file.p + k->head.n, k->file.n}, &image) &&
        frame(k, p, image);
    moving_drop(&k->moving);
    if (!packed)
        p->record.n = 0;
    else if (p->outcome.warnings != 0)
        snprintf(p->why, sizeof(p->why), "the decoder mended it: %u warning%s", p->outcome.warnings,
                 p->outcome.warnings == 1 ? "" : "s");
    budget_finish(k->budget, &p->share, p->record.n);
}
