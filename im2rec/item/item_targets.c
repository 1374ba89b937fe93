/* im2rec/item/item_targets.c */
#include "im2rec/item/item_targets.h"

#include "augment/geometry/orient.h"
#include "base/alloc.h"
#include "base/error.h"
#include "codec/mask_png.h"
#include "imrec/detection.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- life --------------------------------------------------------------------------------- */

enum imrec_status item_targets_init(struct item_targets *m, const struct imrec_pack_options *o,
                                    const struct stop *stop, struct imrec_error *err)
{
    *m = (struct item_targets){.o = o, .mask_file = IMAGE_FILE_NONE};
    param_defaults(augment_params, &m->options);
    m->options.data_shape = (struct imrec_shape){3, 1, 1};
    m->options.boxes = true;                        /* the recipe's; a list may have other labels */
    m->options.crop_emit_mode = IMREC_EMIT_OVERLAP; /* more than emit_overlap_thresh stays */
    m->options.ignore_label = o->ignore_label;
    m->options.keypoints = o->keypoints;
    m->options.keypoint_pairs = o->keypoint_pairs;
    IMREC_TRY(recipe_init(&m->recipe, &m->options, err));
    m->targets.recipe = &m->recipe;
    m->targets.moved = m->moved;
    file_root_init(&m->root, o->masks, false, stop);
    if (o->masks[0] == '\0')
        return IMREC_OK;
    IMREC_TRY(codec_new(&m->codec, err));
    codec_stop_with(m->codec, stop);
    return IMREC_OK;
}

void item_targets_free(struct item_targets *m)
{
    if (m->o == NULL) /* zeroed: its fd is no file of ours */
        return;
    item_targets_drop(m);
    codec_free(m->codec);
    imrec_free(m->file.p);
    mask_free(&m->mask);
    mask_free(&m->result);
    *m = (struct item_targets){.mask_file = IMAGE_FILE_NONE};
}

void item_targets_trim(struct item_targets *m, size_t most)
{
    if (m->codec != NULL)
        codec_trim(m->codec, most);
    if (m->mask.capacity + m->result.capacity + m->file.capacity <= most)
        return;
    mask_free(&m->mask);
    mask_free(&m->result);
    imrec_free(m->file.p);
    m->file = (struct file_bytes){NULL, 0, 0};
}

bool item_targets_asks(const struct item_targets *m)
{
    return m->codec != NULL || m->o->drawn_on == IMREC_DRAWN_ON_STORED;
}

/* ---- the mask's file ---------------------------------------------------------------------- */

static void skip_mask(struct pack_item *p, const char *name, const char *why)
{
    char all[sizeof(p->why)];
    snprintf(all, sizeof(all), "%s", why); /* may be p->why itself */
    pack_item_skip(p, p->outcome.reason == REASON_NO_MEMORY ? REASON_NO_MEMORY : REASON_MASK,
                   "its mask %.200s: %.280s", name, all);
}

/* true: continues. */
static bool
fine(struct pack_item *p, const char *what, enum imrec_status st, const struct imrec_error *err)
{
    if (st == IMREC_OK)
        return true;
    if (pack_item_cancelled(p, st, err))
        return false;
    pack_item_skip(p, st == IMREC_ERR_NO_MEMORY ? REASON_NO_MEMORY : REASON_MASK, "%s%s", what,
                   err->message);
    return false;
}

/* The image's path with .png for its extension. */
static bool mask_name(struct pack_item *p, char name[IMAGE_PATH_MAX])
{
    if (file_is_absolute(p->path))
        pack_item_skip(p, REASON_MASK, "an absolute path has no place in the masks' folder");
    else if (!file_sibling(p->path, ".png", name))
        pack_item_skip(p, REASON_MASK, "the mask's path is longer than 4095 bytes");
    else
        return true;
    return false;
}

bool item_targets_find(struct item_targets *m, struct pack_item *p,
                       const struct imrec_image_info *info, uint64_t *bytes)
{
    char name[IMAGE_PATH_MAX];
    const struct bytes image = p->path;
    const uint64_t pixels = (uint64_t)info->width * info->height;
    *bytes = 0;
    m->png = (struct bytes){NULL, 0};
    if (m->codec == NULL)
        return true;
    if (!mask_name(p, name))
        return false;
    p->path = (struct bytes){(const uint8_t *)name, strlen(name)};
    const bool found = file_open(p, &m->root, &m->mask_file);
    p->path = image;
    if (!found) {
        if (p->outcome.reason != REASON_NONE)
            skip_mask(p, name, p->why);
        return false;
    }
    *bytes = m->mask_file.size;
    if (m->mask_file.size <= 4 * pixels + (1 << 20))
        return true;
    skip_mask(p, name, "has more bytes than its image needs");
    item_targets_drop(m);
    return false;
}

void item_targets_drop(struct item_targets *m)
{
    file_close(&m->mask_file);
}

/* ---- beginning ---------------------------------------------------------------------------- */

/* Both sizes fit an image that EXIF's orientation does not lay down, or a square: the option
 * decides. */
static bool mask_is_stored(const struct item_targets *m, const struct imrec_image_info *info)
{
    if (info->width != info->height && orient_swaps(info->orientation))
        return m->mask.width == info->width;
    return m->o->drawn_on == IMREC_DRAWN_ON_STORED;
}

static bool
read_mask(struct item_targets *m, struct pack_item *p, const struct imrec_image_info *info)
{
    struct imrec_error err;
    const bool swaps = orient_swaps(info->orientation);
    if (!file_read(p, &m->root, &m->mask_file, 0, &m->file))
        return false;
    m->png = (struct bytes){m->file.p, m->file.n};
    const enum imrec_status st =
        codec_decode_mask(m->codec, m->png, m->o->max_pixels, &m->mask, &err);
    if (!fine(p, "", st, &err))
        return false;
    const uint32_t w = m->mask.width, h = m->mask.height;
    if ((w == info->width && h == info->height) ||
        (swaps && w == info->height && h == info->width)) {
        m->targets.mask = &m->mask;
        m->targets.orientation = mask_is_stored(m, info) ? info->orientation : 1;
        return true;
    }
    pack_item_skip(p, REASON_MASK, "its mask has %u x %u px, the image %u x %u", w, h, info->width,
                   info->height);
    return false;
}

/* Labels that are places: boxes, or as many values as the keypoints need. */
static bool read_labels(struct item_targets *m, struct pack_item *p)
{
    struct imrec_error err;
    float *values = (float *)(void *)p->labels.p;
    struct targets *t = &m->targets;
    m->labels = false;
    t->label = NULL;
    t->values = NULL;
    if (!m->o->pack_label)
        return true;
    enum imrec_status st = IMREC_OK;
    if (imrec_labels_are_boxes(values, p->label_count)) {
        t->label = &m->label;
        st = det_label_read(&m->label, values, p->label_count, &err);
        if (st == IMREC_OK)
            st = targets_check_label(&m->recipe, &m->label, &err);
    } else if (m->recipe.keypoints != 0) {
        t->values = values;
        t->value_count = p->label_count;
        st = targets_check_points(&m->recipe, values, p->label_count, &err);
    }
    m->labels = t->label != NULL || t->values != NULL;
    if (st == IMREC_OK || st == IMREC_ERR_NO_MEMORY)
        return fine(p, "", st, &err);
    pack_item_skip(p, REASON_LINE, "%s", err.message);
    return false;
}

static void keep_count(struct item_targets *m, struct pack_item *p)
{
    if (m->targets.label != NULL) {
        p->label_count = m->label.n;
        p->labels.n = m->label.n * sizeof(float);
    }
}

bool item_targets_begin(struct item_targets *m, struct pack_item *p,
                        const struct imrec_image_info *info)
{
    struct targets *t = &m->targets;
    const bool swaps = orient_swaps(info->orientation);
    t->mask = NULL;
    t->orientation = 1;
    if ((m->codec != NULL && !read_mask(m, p, info)) || !read_labels(m, p))
        return false;
    t->columns = swaps ? info->height : info->width;
    t->rows = swaps ? info->width : info->height;
    if (m->labels && m->o->drawn_on == IMREC_DRAWN_ON_STORED && info->orientation > 1) {
        path_begin(&t->path, info->width, info->height);
        path_add_orientation(&t->path, info->orientation);
        targets_finish(t, false, false);
        keep_count(m, p);
    }
    path_begin(&t->path, t->columns, t->rows);
    return true;
}

/* ---- ending ------------------------------------------------------------------------------- */

static bool is_unmoved(const struct path *p)
{
    static const double none[6] = {1, 0, 0, 0, 1, 0};
    return p->edge_count == 0 && p->width == p->from_width && p->height == p->from_height &&
           memcmp(p->m, none, sizeof(none)) == 0;
}

/* Along the path, encoded again. */
static bool make_mask(struct item_targets *m, struct pack_item *p)
{
    struct imrec_error err;
    const struct targets *t = &m->targets;
    const struct path_mask way = {&t->path, t->mask, t->orientation, (uint16_t)m->o->ignore_label};
    struct mask *to = &m->result;
    if (!fine(p, "", mask_resize_buffer(to, t->path.width, t->path.height, &err), &err))
        return false;
    to->bits = m->mask.bits == 16 || (t->path.edge_count != 0 && way.nothing > UINT8_MAX) ? 16 : 8;
    for (uint32_t y = 0; y < to->height && !stop_asked(m->root.stop); y++)
        path_mask_row(&way, 0, y, to->width, to->values + (size_t)y * to->width);
    return fine(p, "", codec_encode_mask(m->codec, to, &m->png, &err), &err);
}

bool item_targets_finish(struct item_targets *m, struct pack_item *p, bool mirrored, bool flipped)
{
    struct targets *t = &m->targets;
    t->columns = t->path.width;
    t->rows = t->path.height;
    if (m->labels && (mirrored || flipped || !is_unmoved(&t->path))) {
        targets_finish(t, mirrored, flipped);
        keep_count(m, p);
    } else {
        if (mirrored)
            path_add_mirror(&t->path);
        if (flipped)
            path_add_flip(&t->path);
    }
    if (t->mask == NULL || (t->orientation == 1 && is_unmoved(&t->path)))
        return true;
    return make_mask(m, p);
}

bool item_targets_keep(struct item_targets *m, struct pack_item *p,
                       const struct imrec_image_info *info)
{
    struct targets *t = &m->targets;
    const uint32_t o = info->orientation;
    if (t->mask == NULL || o <= 1 || t->orientation != 1)
        return true; /* it lies as the image does */
    path_begin(&t->path, info->width, info->height);
    t->orientation = o == 6 ? 8 : o == 8 ? 6 : o;
    return make_mask(m, p);
}
