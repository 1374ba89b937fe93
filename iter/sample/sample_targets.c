/* iter/sample/sample_targets.c - masks, boxes and keypoints of the images that a sampler makes. */
#include "iter/sample/sample_targets.h"

#include "base/error.h"
#include "codec/mask_png.h"

#include <string.h>

void sample_targets_begin(struct sampler *p, struct sampler_view *v, uint32_t width,
                          uint32_t height)
{
    const struct recipe *r = recipe_of(p, v);
    struct targets *t = &v->targets;
    const struct resize_size shown = draw_shown(r, &v->draw);
    t->recipe = r;
    memcpy(t->before, (const double[9]){1, 0, 0, 0, 1, 0, 0, 0, 1}, sizeof(t->before));
    t->moved = p->moved;
    t->mask = v->canvas_mask;
    t->orientation = 1;
    steps_path(&t->path, r, &v->draw, width, height);
    t->columns = shown.width;
    t->rows = shown.height;
    t->min_side = r->det.on && v->draw.warped ? r->o->min_box_side : 0;
}

enum imrec_status sample_targets_check_mask(const struct sampler *p,
                                            const struct imrec_image_info *info,
                                            struct imrec_error *err)
{
    struct mask m = {0};
    if (p->mask_png.p == NULL)
        return IMREC_OK;
    IMREC_TRY(codec_mask_info(p->mask_png, &m, err));
    if (m.width == info->width && m.height == info->height)
        return IMREC_OK;
    return imrec_fail(err, IMREC_ERR_CORRUPT, "the mask has %u x %u px, its image %u x %u", m.width,
                      m.height, info->width, info->height);
}

uint64_t sample_targets_claim(const struct sampler *p, const struct sampler_view *views, uint32_t n,
                              const struct imrec_image_info *info)
{
    const uint64_t twice = 2 * sizeof(uint16_t); /* an interlaced one is decoded at once */
    uint64_t most = 0;
    if (p->options->masks == IMREC_MASK_NONE)
        return 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t bytes = targets_bytes(recipe_of(p, &views[i]));
        most = bytes > most ? bytes : most;
    }
    return (p->mask_png.p != NULL ? twice * info->width * info->height : 0) + most;
}

enum imrec_status sample_targets_take_mask(struct sampler *p, struct sampler_view *views,
                                           uint32_t n, uint32_t orientation,
                                           struct imrec_error *err)
{
    if (p->mask_png.p == NULL)
        return IMREC_OK;
    for (uint32_t i = 0; i < n; i++) {
        views[i].targets.mask = &p->mask;
        views[i].targets.orientation = orientation;
    }
    return codec_decode_mask(p->codec, p->mask_png, p->options->max_pixels, &p->mask, err);
}

enum imrec_status
sample_targets_finish(const struct sampler *p, struct sampler_view *v, struct imrec_error *err)
{
    struct targets *t = v->sample.targets;
    if (t == NULL)
        return IMREC_OK;
    targets_finish(t, v->draw.mirror, v->draw.flip);
    if (v->place != NULL && v->mosaic == NULL)
        targets_place(t, p->width, p->height, v->place);
    else if (v->place != NULL) /* four images */
        *v->place = (struct imrec_place){0};
    IMREC_TRY(targets_bind_objects(t, err));
    if (t->label != NULL)
        v->draw.boxes = det_label_count(t->label);
    return t->mask != NULL ? targets_write_mask(t, v->mask_slot, err) : IMREC_OK;
}
