/* iter/options/tile_kinds.c - the options of a mosaic's images, out of those of their slot. */
#include "iter/options/tile_kinds.h"

#include "augment/draw/mosaic_draw.h"
#include "base/alloc.h"
#include "base/error.h"

static enum imrec_status check(const struct imrec_iter_options *o,
                               const struct further_images *further, struct imrec_error *err)
{
    if (o->order == IMREC_ORDER_GLOBAL)
        return IMREC_REFUSE(err,
                            "rand_mosaic_prob takes three samples of those in memory, which with "
                            "order=global depend on num_parts: use order=local");
    if (further->count != 0)
        return IMREC_REFUSE(err, "rand_mosaic_prob makes an image of four samples: further images "
                                 "of one of them (images=) do not go with it");
    return IMREC_OK;
}

static enum imrec_status
set_kind(struct view_kind *tile, const struct view_kind *of, struct imrec_error *err)
{
    *tile = *of;
    param_reset(augment_params, &tile->o);
    tile->o.aug_seq = "det_aug_default";
    tile->o.dtype = IMREC_UINT8;
    tile->o.layout = IMREC_NHWC;
    tile->o.ignore_label = of->o.ignore_label;
    if (of->o.masks != IMREC_MASK_NONE)
        tile->o.masks = IMREC_MASK_UINT16;
    return recipe_init(&tile->recipe, &tile->o, err);
}

enum imrec_status tile_kinds_init(struct view_kinds *tiles, const struct view_kinds *views,
                                  const struct imrec_iter_options *o,
                                  const struct further_images *further, struct imrec_error *err)
{
    *tiles = (struct view_kinds){0};
    if (!recipe_has_mosaics(&views->kinds[0].recipe))
        return IMREC_OK;
    IMREC_TRY(check(o, further, err));
    *tiles = (struct view_kinds){.rows = 1, .tensors = 1, .kind_count = views->kind_count};
    tiles->kinds = imrec_zalloc(tiles->kind_count, sizeof(*tiles->kinds));
    if (tiles->kinds == NULL)
        return IMREC_NO_MEMORY(err, "no memory for the recipes of mosaics");
    for (uint32_t i = 0; i < tiles->kind_count; i++)
        IMREC_TRY(set_kind(&tiles->kinds[i], &views->kinds[i], err));
    return IMREC_OK;
}
