/* iter/sample/further_sampler.c - further images of a sample: decoded, and moved as the first one
 * was. Pixels take its steps, so that equal images become equal slots; a map's values are looked up
 * where its path begins. */
#include "iter/sample/further_sampler.h"

#include "augment/colour/ops.h"
#include "augment/geometry/orient.h"
#include "augment/map_slot.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "codec/mask_png.h"

#include <string.h>

#define KEPT_BYTES ((uint64_t)32 << 20) /* of buffers, between images */

/* ---- life --------------------------------------------------------------------------------- */

enum imrec_status
further_sampler_init(struct further_sampler *f, const struct further_images *images,
                     struct headroom *headroom, bool stream, struct imrec_error *err)
{
    *f = (struct further_sampler){.images = images};
    if (images->count == 0)
        return IMREC_OK;
    f->views = imrec_zalloc(view_kinds_count(&images->kinds), sizeof(*f->views));
    if (f->views == NULL)
        return IMREC_NO_MEMORY(err, "no memory for the views of further images");
    return sampler_init(&f->sampler, &images->kinds, headroom, NULL, stream, err);
}

static void free_images(struct further_sampler *f)
{
    image_free(&f->whole[0]);
    image_free(&f->whole[1]);
    image_free(&f->sized);
    mask_free(&f->map);
}

void further_sampler_free(struct further_sampler *f)
{
    if (f->views != NULL)
        sampler_free(&f->sampler);
    free_images(f);
    imrec_free(f->views);
    *f = (struct further_sampler){0};
}

static void trim(struct further_sampler *f, uint64_t claimed)
{
    if (claimed > KEPT_BYTES)
        free_images(f);
}

/* ---- draws -------------------------------------------------------------------------------- */

/* What moves pixels, and nothing else. */
static struct imrec_draw follow(const struct imrec_draw *d, bool nearest)
{
    struct imrec_draw out = *d;
    out.erase_width = out.erase_height = 0;
    out.op_count = 0;
    for (uint32_t i = 0; i < d->op_count; i++)
        if (op_moves((enum imrec_op)d->op[i])) {
            out.op[out.op_count] = d->op[i];
            out.op_magnitude[out.op_count++] = d->op_magnitude[i];
        }
    if (nearest)
        out.resize_method = out.warp_method = out.crop_method = RESIZE_NEAREST;
    return out;
}

static void
set_views(struct further_sampler *f, uint32_t image, const struct sampler_view *views, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        struct sampler_view *v = &f->views[i];
        *v = (struct sampler_view){.kind = further_kind(f->images, image, views[i].kind),
                                   .slot = v->slot,
                                   .sample = {.key = views[i].sample.key},
                                   .drawn = true,
                                   .draw = follow(&views[i].draw, f->images->image[image].nearest)};
    }
}

/* ---- pixels ------------------------------------------------------------------------------- */

static enum imrec_status
turn_and_size(struct further_sampler *f, const struct resize_job *job, struct imrec_error *err)
{
    struct sampler *p = &f->sampler;
    const struct imrec_image *whole = &f->whole[0].view;
    if (p->orientation != 1) {
        IMREC_TRY(orient_image(p->orientation, whole, &f->whole[1], err));
        whole = &f->whole[1].view;
    }
    return resize_window(job, whole, &f->sized, p->scratch, err);
}

/* f->sized becomes the image begun, upright, of the first one's size. */
static enum imrec_status resize_to_first(struct further_sampler *f,
                                         const struct imrec_image_info *info,
                                         const struct sampler *first, bool nearest,
                                         uint32_t channels, struct imrec_error *err)
{
    struct sampler *p = &f->sampler;
    const struct imrec_rect all = {0, 0, info->width, info->height};
    const struct resize_job job = {.from_width = p->width,
                                   .from_height = p->height,
                                   .to_width = first->width,
                                   .to_height = first->height,
                                   .window = {0, 0, first->width, first->height},
                                   .method = nearest ? RESIZE_NEAREST : RESIZE_BILINEAR};
    const uint64_t to = (uint64_t)first->width * first->height * channels;
    const uint64_t claimed = codec_claim(p->codec, 1) + to +
                             (uint64_t)info->width * info->height * channels * 2 +
                             resize_scratch_claim(p->width, first->width, channels);
    IMREC_TRY(headroom_take(p->headroom, claimed, err));
    enum imrec_status st = codec_decode_image(p->codec, all, channels, &f->whole[0], NULL, err);
    if (st == IMREC_OK)
        st = turn_and_size(f, &job, err);
    headroom_give(p->headroom, claimed);
    p->held = st == IMREC_OK ? to : 0;
    return st;
}

/* Grey of 16 bits is what depths are stored as: half of each would be lost without a word. */
static enum imrec_status
check_depth(const struct imrec_image_info *info, const char *name, struct imrec_error *err)
{
    if (info->bits <= 8 || info->channels > 2)
        return IMREC_OK;
    return imrec_fail(err, IMREC_ERR_DATA,
                      "it has one channel of %u bits, of which pixels would keep 8: "
                      "images=%.60s:uint16 (or :int32, :float32) delivers the values of a PNG as "
                      "they are",
                      info->bits, name);
}

static enum imrec_status make_pixels(struct further_sampler *f, uint32_t image, struct bytes file,
                                     const struct sampler *first, uint32_t n,
                                     struct imrec_error *err)
{
    const struct further_image *what = &f->images->image[image];
    struct sampler *p = &f->sampler;
    const uint64_t begin = clock_ns();
    struct imrec_image_info info;
    p->held = 0;
    IMREC_TRY(sampler_look(p, file, &info, err));
    IMREC_TRY(check_depth(&info, what->name, err));
    if (p->width != first->width || p->height != first->height) {
        IMREC_TRY(resize_to_first(f, &info, first, what->nearest, what->channels, err));
        IMREC_TRY(sampler_look_at_pixels(p, &f->sized.view, &info, err));
    }
    f->decode_ns += clock_ns() - begin;
    const enum imrec_status st = sampler_make_seen(p, &info, f->views, n, err);
    f->decode_ns += p->decode_ns;
    f->augment_ns += p->augment_ns;
    trim(f, p->held);
    p->held = 0;
    return st;
}

/* ---- maps --------------------------------------------------------------------------------- */

/* From the map, upright, into the slot of a view. */
static void find_path(const struct further_sampler *f, const struct sampler_view *v,
                      const struct sampler *first, struct path *path)
{
    const struct recipe *r = &f->images->kinds.kinds[v->kind].recipe;
    const bool swap = orient_swaps(first->orientation);
    struct path way;
    path_begin(path, swap ? f->map.height : f->map.width, swap ? f->map.width : f->map.height);
    if (path->width != first->width || path->height != first->height)
        path_add_resize(path, first->width, first->height);
    steps_path(&way, r, &v->draw, first->width, first->height);
    path_join(path, &way);
    for (uint32_t i = 0; i < v->draw.op_count; i++)
        op_path((enum imrec_op)v->draw.op[i], v->draw.op_magnitude[i], path);
    if (v->draw.mirror)
        path_add_mirror(path);
    if (v->draw.flip)
        path_add_flip(path);
}

static enum imrec_status write_map(const struct further_sampler *f,
                                   const struct further_image *what, const struct sampler_view *v,
                                   const struct sampler *first, struct imrec_error *err)
{
    struct path path;
    uint16_t large = 0;
    find_path(f, v, first, &path);
    const struct path_mask way = {
        .path = &path, .from = &f->map, .orientation = first->orientation, .nothing = what->fill};
    if (map_write(&way, what->type, v->slot, &large))
        return IMREC_OK;
    return imrec_fail(err, IMREC_ERR_DATA,
                      "it has the value %u, which does not fit uint8: images=%.60s:uint16 (or "
                      ":int32, :float32) delivers it",
                      large, what->name);
}

static enum imrec_status make_map(struct further_sampler *f, uint32_t image, struct bytes file,
                                  const struct sampler *first, uint32_t n, struct imrec_error *err)
{
    struct sampler *p = &f->sampler;
    struct mask size = {0};
    const uint64_t begin = clock_ns();
    IMREC_TRY(codec_mask_info(file, &size, err));
    const uint64_t claimed = 2 * sizeof(uint16_t) * (uint64_t)size.width * size.height;
    IMREC_TRY(headroom_take(p->headroom, claimed, err));
    enum imrec_status st = codec_decode_mask(p->codec, file, p->options->max_pixels, &f->map, err);
    const uint64_t decoded = clock_ns();
    for (uint32_t i = 0; i < n && st == IMREC_OK; i++)
        st = write_map(f, &f->images->image[image], &f->views[i], first, err);
    trim(f, claimed);
    headroom_give(p->headroom, claimed);
    f->decode_ns += decoded - begin;
    f->augment_ns += clock_ns() - decoded;
    return st;
}

/* ---- all ---------------------------------------------------------------------------------- */

enum imrec_status further_sampler_make(struct further_sampler *f, uint32_t image, struct bytes file,
                                       const struct sampler *first,
                                       const struct sampler_view *views, uint32_t n,
                                       struct imrec_error *err)
{
    const struct further_image *what = &f->images->image[image];
    struct imrec_error why = {0};
    set_views(f, image, views, n);
    const enum imrec_status st = what->type == IMREC_IMAGE_PIXELS
                                     ? make_pixels(f, image, file, first, n, &why)
                                     : make_map(f, image, file, first, n, &why);
    return st == IMREC_OK
               ? IMREC_OK
               : imrec_fail(err, st, "its image '%.60s': %.300s", what->name, why.message);
}
