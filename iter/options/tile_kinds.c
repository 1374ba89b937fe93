/* iter/options/tile_kinds.c - the options of the images that a slot is composed of, out of those of
 * the slot. */
#include "iter/options/tile_kinds.h"

#include "augment/draw/mosaic_draw.h"
#include "augment/draw/paste_draw.h"
#include "base/alloc.h"
#include "base/error.h"

static enum imrec_status check(const char *name, const struct imrec_iter_options *o,
                               const struct further_images *further, struct imrec_error *err)
{
    if (o->order == IMREC_ORDER_GLOBAL)
        return IMREC_REFUSE(err,
                            "%s takes other samples of those in memory, which with order=global "
                            "depend on num_parts: use order=local",
                            name);
    if (further->count != 0)
        return IMREC_REFUSE(err,
                            "%s makes an image of several samples: further images of one of them "
                            "(images=) do not go with it",
                            name);
    return IMREC_OK;
}

typedef enum imrec_status
set_kind_fn(struct view_kind *k, const struct view_kind *of, struct imrec_error *err);

static enum imrec_status make_kinds(struct view_kinds *k, const struct view_kinds *of,
                                    set_kind_fn *set, struct imrec_error *err)
{
    *k = (struct view_kinds){.rows = 1, .tensors = 1, .kind_count = of->kind_count};
    k->kinds = imrec_zalloc(k->kind_count, sizeof(*k->kinds));
    if (k->kinds == NULL)
        return IMREC_NO_MEMORY(err, "no memory for the recipes of composed images");
    for (uint32_t i = 0; i < k->kind_count; i++)
        IMREC_TRY(set(&k->kinds[i], &of->kinds[i], err));
    return IMREC_OK;
}

/* ---- mosaics ------------------------------------------------------------------------------ */

static enum imrec_status
set_tile(struct view_kind *tile, const struct view_kind *of, struct imrec_error *err)
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
    IMREC_TRY(check("rand_mosaic_prob", o, further, err));
    return make_kinds(tiles, views, set_tile, err);
}

/* ---- copy-paste --------------------------------------------------------------------------- */

/* What is done to values, and not to places, comes later. */
static void forget_values(struct augment_options *o)
{
    o->mean_r = o->mean_g = o->mean_b = o->mean_a = 0;
    o->std_r = o->std_g = o->std_b = o->std_a = 1;
    o->scale = 1;
    o->mean_img = "";
    o->dtype = IMREC_UINT8;
    o->layout = IMREC_NHWC;
    o->masks = IMREC_MASK_UINT16;
    o->random_erasing = 0;
    o->erase_value = "0";
}

/* Colours are drawn, as those of the slot, but nothing is painted with them. */
static enum imrec_status
set_move(struct view_kind *k, const struct view_kind *of, struct imrec_error *err)
{
    *k = *of;
    forget_values(&k->o);
    IMREC_TRY(recipe_init(&k->recipe, &k->o, err));
    k->recipe.paint_count = 0;
    return IMREC_OK;
}

enum imrec_status move_kinds_init(struct view_kinds *moves, const struct view_kinds *views,
                                  const struct imrec_iter_options *o,
                                  const struct further_images *further, struct imrec_error *err)
{
    *moves = (struct view_kinds){0};
    if (!recipe_has_pastes(&views->kinds[0].recipe))
        return IMREC_OK;
    IMREC_TRY(check("rand_copy_paste_prob", o, further, err));
    return make_kinds(moves, views, set_move, err);
}
