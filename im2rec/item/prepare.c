/* im2rec/item/prepare.c - an image before anything is made of it: its bytes, its header, what is to
 * become of it, and room in the budget for that. */
#include "im2rec/item/packer_state.h"

#include "base/bytes.h"
#include "base/error.h"
#include "codec/wav.h"
#include "formats/recordio/image_record.h"
#include "im2rec/item/pack_options.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define FILE_SLACK ((uint64_t)64 << 20)

bool packer_head(struct packer *k, struct pack_item *p)
{
    struct imrec_error err;
    const uint32_t count = k->o->pack_label ? p->label_count : 1;
    k->head.n = 0;
    return packer_fine(p,
                       image_record_head(&k->head, (const float *)(const void *)p->labels.p, count,
                                         false, p->id, 0, &err),
                       &err);
}

static void describe(struct pack_item *p, const struct imrec_image_info *info)
{
    snprintf(p->outcome.kind, sizeof(p->outcome.kind), "%s%s%s%s%s", info->format,
             info->kind[0] != '\0' ? " " : "", info->kind, info->cmyk ? " cmyk" : "",
             info->gzip ? " gzip" : "");
    p->outcome.width = info->width;
    p->outcome.height = info->height;
}

/* Room for the bytes of a file or an item, if they can be those of an image. */
static bool hold_bytes(struct packer *k, struct pack_item *p, uint64_t size)
{
    const uint64_t limit = (uint64_t)k->o->max_pixels * 8 + FILE_SLACK;
    p->outcome.file_bytes = size;
    if (size == 0)
        pack_item_skip(p, REASON_EMPTY, "is empty");
    else if (size > limit || size > SIZE_MAX / 2)
        pack_item_skip(p, REASON_TOO_LARGE,
                       "%" PRIu64 " bytes are more than any image of max_pixels=%" PRId64 " needs",
                       size, k->o->max_pixels);
    else
        return packer_hold(k, p, (struct budget_need){size + k->head.n, 0});
    return false;
}

static bool read_file(struct packer *k, struct pack_item *p)
{
    struct image_file file;
    if (!file_open(p, k->root, &file))
        return false;
    if (hold_bytes(k, p, file.size))
        return file_read(p, k->root, &file, k->head.n, &k->file); /* which closes it */
    file_close(&file);
    return false;
}

/* The record is held next to the image that is copied out of it, after the head for its labels. */
static bool read_example(struct packer *k, struct pack_item *p)
{
    struct image_file file;
    struct item_example *e = &k->example;
    if (!file_open(p, k->root, &file))
        return false;
    if (!hold_bytes(k, p, 2 * file.size)) {
        file_close(&file);
        return false;
    }
    if (!file_read(p, k->root, &file, 0, &e->file) || !item_example_parse(e, p) ||
        !packer_head(k, p))
        return false;
    const struct bytes image = e->record.image;
    p->outcome.file_bytes = image.n;
    if (image.n == 0)
        pack_item_skip(p, REASON_EMPTY, "is empty");
    return image.n != 0 && file_copy(p, image.p, image.n, image.n, 1, k->head.n, &k->file);
}

static bool copy_item(struct packer *k, struct pack_item *p)
{
    const struct imrec_pack_item *item = k->item;
    const struct imrec_image *i = &item->pixels;
    size_t row = item->byte_count, bytes = row;
    if (p->from == PARCEL_PIXELS &&
        (!mul_fits(i->width, i->channels, &row) || !mul_fits(row, i->height, &bytes)))
        bytes = SIZE_MAX;
    const size_t rows = row != 0 ? bytes / row : 0;
    if (!hold_bytes(k, p, bytes) ||
        !file_copy(p, p->from == PARCEL_PIXELS ? i->pixels : item->bytes, row, i->stride, rows,
                   k->head.n, &k->file))
        return false;
    k->pixels = *i;
    k->pixels.pixels = k->file.p + k->head.n;
    k->pixels.stride = row;
    return true;
}

/* Loads the image's bytes after room for the head; an item's may be loaded already. */
static bool load(struct packer *k, struct pack_item *p)
{
    return packer_head(k, p) && (p->place.example         ? read_example(k, p)
                                 : p->from == PARCEL_FILE ? read_file(k, p)
                                 : k->item != NULL        ? copy_item(k, p)
                                                          : true);
}

/* `asked`: an image that cannot be read is skipped; else it is passed through like any file. */
static bool begin(struct packer *k, struct pack_item *p, bool asked)
{
    const struct codec_limits limits = {.max_pixels = k->o->max_pixels,
                                        .accept_truncated = k->o->accept_truncated,
                                        .alpha = CODEC_ALPHA_WHITE};
    struct imrec_error err;
    const struct bytes file = packer_file(k);
    const bool pixels = p->from == PARCEL_PIXELS;
    const uint64_t claim = pixels ? 0 : codec_begin_claim(file);
    if (!packer_hold(k, p, (struct budget_need){k->head.n + file.n + claim, 0}))
        return false;
    const enum imrec_status st =
        pixels ? codec_begin_pixels(k->codec, &k->pixels, &limits, &k->info, &err)
               : codec_begin(k->codec, file, &limits, &k->info, &err);
    k->is_begun = st == IMREC_OK;
    if (!asked && (st == IMREC_ERR_CORRUPT || st == IMREC_ERR_UNSUPPORTED || st == IMREC_ERR_LIMIT))
        return true;
    if (!packer_fine(p, st, &err))
        return false;
    describe(p, &k->info);
    return true;
}

/* A sound is packed as it is. */
static bool is_packable_sound(const struct packer *k, struct pack_item *p)
{
    struct imrec_error err;
    struct wav wav;
    if (k->augments || k->o->pixels) {
        pack_item_skip(p, REASON_UNSUPPORTED, "is a sound: %s is for images",
                       k->augments ? "augment" : "pixels");
        return false;
    }
    snprintf(p->outcome.kind, sizeof(p->outcome.kind), "wav");
    return packer_fine(p, wav_parse(packer_file(k), &wav, &err), &err);
}

/* What is to become of the image, and room for all of it. */
static bool plan(struct packer *k, struct pack_item *p)
{
    struct imrec_error err;
    const bool pass = k->o->pass_through, checked = k->o->check == IMREC_CHECK_DECODE;
    const bool asked = !pass || k->o->check != IMREC_CHECK_NONE || item_targets_asks(&k->targets);
    const bool looks = asked || pack_options_rewrites(k->o);
    uint64_t mask = 0;
    k->is_begun = false;
    k->is_sound = looks && p->from != PARCEL_PIXELS && wav_is(packer_file(k));
    if (k->is_sound ? asked && !is_packable_sound(k, p) : looks && !begin(k, p, asked))
        return false;
    const struct image_to_plan i = {.o = k->o,
                                    .goal = &k->target.goal,
                                    .codec = k->codec,
                                    .info = k->is_begun ? &k->info : NULL,
                                    .augmenting = k->augments ? &k->augmenting : NULL,
                                    .id = p->id,
                                    .copy = p->copy,
                                    .file = packer_file(k),
                                    .head_bytes = k->head.n};
    if (pass || k->is_sound)
        image_plan_pass(&i, checked && k->is_begun, &k->plan);
    else if (!packer_fine(p, image_plan_make(&i, &k->plan, &err), &err))
        return false;
    if (k->is_begun && !item_targets_find(&k->targets, p, &k->info, &mask))
        return false;
    if (mask != 0)
        image_plan_add_mask(&i, mask, &k->plan);
    if (!(p->place.example ? item_fields_take(&k->fields, p, k->example.record.fields,
                                              k->example.record.field_count)
                           : item_fields_read(&k->fields, p)))
        return false;
    image_plan_add_fields(&i, item_fields_bytes(&k->fields), &k->plan);
    if (k->counts != NULL)
        k->plan.need.work += codec_count_claim(k->plan.to_width, k->plan.to_height);
    return packer_hold(k, p, k->plan.need);
}

bool packer_prepare(struct packer *k, struct pack_item *p)
{
    bool done;
    do {
        k->waits = false;
        done = load(k, p) && plan(k, p);
    } while (k->waits && packer_wait(k, p));
    return done;
}
