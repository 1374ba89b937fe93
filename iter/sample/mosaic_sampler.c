/* iter/sample/mosaic_sampler.c - images made one after another, and copied to their places on the
 * canvas of a mosaic; boxes and keypoints become fractions of the canvas. */
#include "iter/sample/mosaic_sampler.h"

#include "base/alloc.h"
#include "base/error.h"

#include <string.h>

/* ---- life --------------------------------------------------------------------------------- */

static bool has_masks(const struct view_kinds *tiles)
{
    return tiles->kinds[0].o.masks != IMREC_MASK_NONE;
}

uint64_t mosaic_sampler_bytes(const struct view_kinds *tiles, uint32_t label_room)
{
    enum { IMAGES = 1 + MOSAIC_TILES }; /* a tile, and the canvas */
    if (tiles->kind_count == 0)
        return 0;
    const uint64_t value =
        tiles->kinds[0].o.data_shape.channels + (has_masks(tiles) ? sizeof(uint16_t) : 0);
    const uint64_t numbers = has_masks(tiles) ? label_room / 5 * sizeof(uint32_t) : 0;
    return IMAGES *
           (view_kinds_most_pixels(tiles) * value + (uint64_t)label_room * sizeof(float) + numbers);
}

/* Everything of its largest size: nothing grows later. */
static enum imrec_status
make_rooms(struct mosaic_sampler *m, uint64_t pixels, uint32_t head, struct imrec_error *err)
{
    const uint32_t channels = m->kinds->kinds[0].o.data_shape.channels;
    const uint64_t values = (uint64_t)head + m->label_room;
    m->tile = imrec_realloc(NULL, pixels, channels);
    m->row = imrec_realloc(NULL, values, sizeof(*m->row));
    m->label.values =
        imrec_realloc(NULL, (uint64_t)MOSAIC_TILES * m->label_room + 1, sizeof(float));
    if (has_masks(m->kinds))
        m->tile_mask = imrec_realloc(NULL, pixels, sizeof(*m->tile_mask));
    if (m->tile == NULL || m->row == NULL || m->label.values == NULL ||
        (has_masks(m->kinds) && m->tile_mask == NULL))
        return IMREC_NO_MEMORY(err, "no memory for the images of a mosaic");
    for (uint32_t i = 0; i < m->kinds->kind_count; i++) {
        const struct imrec_shape *s = &m->kinds->kinds[i].o.data_shape;
        IMREC_TRY(image_resize_buffer(&m->canvas, 2 * s->width, 2 * s->height, channels, err));
        if (has_masks(m->kinds))
            IMREC_TRY(mask_resize_buffer(&m->mask, 2 * s->width, 2 * s->height, err));
    }
    return IMREC_OK;
}

static enum imrec_status make_numbers(struct mosaic_sampler *m, struct imrec_error *err)
{
    const uint64_t most = m->objects->most;
    if (most == 0)
        return IMREC_OK;
    m->row_numbers = imrec_realloc(NULL, most, sizeof(*m->row_numbers));
    m->label.numbers = imrec_realloc(NULL, most, sizeof(*m->label.numbers));
    return m->row_numbers != NULL && m->label.numbers != NULL
               ? IMREC_OK
               : IMREC_NO_MEMORY(err, "no memory for the numbers of a mosaic's objects");
}

enum imrec_status mosaic_sampler_init(struct mosaic_sampler *m, const struct view_kinds *tiles,
                                      struct headroom *headroom, uint32_t head, uint32_t label_room,
                                      struct object_room *objects, struct imrec_error *err)
{
    *m = (struct mosaic_sampler){.kinds = tiles, .label_room = label_room, .objects = objects};
    if (tiles->kind_count == 0)
        return IMREC_OK;
    IMREC_TRY(sampler_init(&m->sampler, tiles, headroom, NULL, false, err));
    IMREC_TRY(make_numbers(m, err));
    return make_rooms(m, view_kinds_most_pixels(tiles), head, err);
}

void mosaic_sampler_free(struct mosaic_sampler *m)
{
    if (m->kinds != NULL && m->kinds->kind_count != 0)
        sampler_free(&m->sampler);
    image_free(&m->canvas);
    mask_free(&m->mask);
    IMREC_FREE(m->tile, m->tile_mask, m->row, m->label.values);
    IMREC_FREE(m->row_numbers, m->label.numbers);
    *m = (struct mosaic_sampler){0};
}

/* ---- a canvas ----------------------------------------------------------------------------- */

static const struct augment_options *options_of(const struct mosaic_sampler *m)
{
    return &m->kinds->kinds[m->kind].o;
}

/* As a canvas of the steps is filled: alpha is 0. */
static void fill(struct mosaic_sampler *m)
{
    const struct imrec_image *c = &m->canvas.view;
    const size_t pixels = (size_t)c->width * c->height;
    const struct augment_options *o = options_of(m);
    memset(c->pixels, (int)o->fill_value, pixels * c->channels);
    for (size_t i = 0; c->channels == 4 && i < pixels; i++)
        c->pixels[4 * i + 3] = 0;
    for (size_t i = 0; m->tile_mask != NULL && i < pixels; i++)
        m->mask.values[i] = (uint16_t)o->ignore_label;
}

void mosaic_begin(struct mosaic_sampler *m, const struct mosaic_draw *draw, uint32_t kind,
                  uint32_t keypoints, const struct det_label *header)
{
    m->kind = kind;
    m->keypoints = keypoints;
    m->draw = *draw;
    m->canvas.view.width = draw->width; /* of memory that is large enough for every kind */
    m->canvas.view.height = draw->height;
    m->canvas.view.stride = (size_t)draw->width * m->canvas.view.channels;
    m->mask.width = draw->width;
    m->mask.height = draw->height;
    m->mask.bits = 8;
    fill(m);
    memcpy(m->label.values, header->values, header->header * sizeof(float));
    m->label.n = m->label.header = header->header;
    m->label.object = header->object;
}

/* ---- a tile ------------------------------------------------------------------------------- */

enum imrec_status mosaic_make_tile(struct mosaic_sampler *m, struct bytes image,
                                   const struct planes *pixels, struct sample_key key,
                                   struct imrec_error *err)
{
    struct sampler_view v = {
        .kind = m->kind, .slot = m->tile, .sample = {.key = key}, .mask_slot = m->tile_mask};
    float none[2] = {2, 0}; /* labels are moved by mosaic_add_tile() */
    IMREC_TRY(det_label_read(&v.label, none, 2, err));
    if (m->tile_mask != NULL)
        v.sample.targets = &v.targets;
    const enum imrec_status st = sampler_make_either(&m->sampler, image, pixels, &v, 1, err);
    m->decode_ns += m->sampler.decode_ns;
    m->augment_ns += m->sampler.augment_ns;
    m->tile_width = v.draw.fit_width;
    m->tile_height = v.draw.fit_height;
    return st;
}

/* What of a tile is on the canvas: its first px, the canvas's, and how many. */
struct run {
    uint32_t from, to, n;
};

static struct run run_of(int64_t at, uint32_t size, uint32_t canvas)
{
    const int64_t begin = at < 0 ? 0 : at, end = at + size < canvas ? at + size : canvas;
    if (begin >= end)
        return (struct run){0, 0, 0};
    return (struct run){(uint32_t)(begin - at), (uint32_t)begin, (uint32_t)(end - begin)};
}

static void copy_rows(const struct mosaic_place *at, const struct mosaic_draw *d,
                      uint32_t tile_width, size_t value, const uint8_t *from, uint8_t *to)
{
    const struct run x = run_of(at->x, at->width, d->width);
    const struct run y = run_of(at->y, at->height, d->height);
    for (uint32_t i = 0; i < y.n; i++)
        memcpy(to + ((size_t)(y.to + i) * d->width + x.to) * value,
               from + ((size_t)(y.from + i) * tile_width + x.from) * value, x.n * value);
}

static enum imrec_status add_objects(struct mosaic_sampler *m, const struct mosaic_place *at,
                                     const struct det_label *from, struct imrec_error *err)
{
    struct det_label *l = &m->label;
    float *object = l->values + l->n;
    IMREC_TRY(det_label_append(l, from, err));
    for (; object < l->values + l->n; object += l->object)
        mosaic_move_object(&m->draw, at, m->keypoints, object, l->object);
    return IMREC_OK;
}

/* Its objects come after those that the canvas has. */
static void number_tile(const struct mosaic_sampler *m, struct det_label *label)
{
    const struct augment_options *o = options_of(m);
    if (label->numbers == NULL)
        return;
    objects_renumber(m->objects, label, det_label_count(&m->label) + 1, (uint16_t)o->ignore_label,
                     m->tile_mask, (size_t)o->data_shape.width * o->data_shape.height);
}

enum imrec_status mosaic_add_tile(struct mosaic_sampler *m, uint32_t number,
                                  struct det_label *label, struct imrec_error *err)
{
    const uint32_t width = options_of(m)->data_shape.width;
    number_tile(m, label);
    const struct mosaic_place at = mosaic_place(&m->draw, number, m->tile_width, m->tile_height);
    copy_rows(&at, &m->draw, width, m->canvas.view.channels, m->tile, m->canvas.view.pixels);
    if (m->tile_mask != NULL)
        copy_rows(&at, &m->draw, width, sizeof(uint16_t), (const uint8_t *)m->tile_mask,
                  (uint8_t *)m->mask.values);
    return add_objects(m, &at, label, err);
}
