/* iter/sample/mosaic_sampler.h - four images and their labels on one canvas: what a worker owns for
 * it. */
#ifndef IMREC_ITER_SAMPLE_MOSAIC_SAMPLER_H
#define IMREC_ITER_SAMPLE_MOSAIC_SAMPLER_H

#include "iter/sample/sampler.h"

struct mosaic_sampler {
    const struct view_kinds *kinds; /* of tile_kinds_init(); borrowed; none: no mosaics */
    struct sampler sampler;         /* of one image at a time, which is a slot of bytes */
    uint32_t kind, keypoints;       /* of the mosaic in hand */
    struct mosaic_draw draw;
    uint8_t *tile;
    uint32_t tile_width, tile_height; /* px of it that are an image: its upper left */
    uint16_t *tile_mask;              /* NULL: no masks */
    struct image canvas;
    struct mask mask;
    float *row;                     /* room for the label of one image, as a slot has it */
    uint32_t *row_numbers;          /* likewise of its objects; NULL: no instance masks */
    struct object_room *objects;    /* of the worker, likewise */
    struct det_label label;         /* of the canvas */
    uint32_t label_room;            /* values of the label of one image */
    uint64_t decode_ns, augment_ns; /* since mosaic_begin() of the first one */
};

/* Bytes that one holds besides its sampler's scratch. `label_room`: values of a label. */
uint64_t mosaic_sampler_bytes(const struct view_kinds *tiles, uint32_t label_room);
/* Without kinds nothing is allocated. `tiles`, headroom and objects must outlive it. `head` floats
 * come before the label in `row`. Objects have numbers where there is room for some. */
IMREC_NODISCARD enum imrec_status
mosaic_sampler_init(struct mosaic_sampler *m, const struct view_kinds *tiles,
                    struct headroom *headroom, uint32_t head, uint32_t label_room,
                    struct object_room *objects, struct imrec_error *err);
void mosaic_sampler_free(struct mosaic_sampler *m); /* zeroed memory is fine */

/* An empty canvas of that kind of slot; `header` begins the label. */
void mosaic_begin(struct mosaic_sampler *m, const struct mosaic_draw *draw, uint32_t kind,
                  uint32_t keypoints, const struct det_label *header);
/* Makes an image, whose mask is sampler.mask_png: m->tile. `pixels` with p NULL: it is compressed.
 */
IMREC_NODISCARD enum imrec_status mosaic_make_tile(struct mosaic_sampler *m, struct bytes image,
                                                   const struct planes *pixels,
                                                   struct sample_key key, struct imrec_error *err);
/* Puts it with its label to its place; numbers become those of the canvas. Objects of another width
 * are IMREC_ERR_CORRUPT. */
IMREC_NODISCARD enum imrec_status mosaic_add_tile(struct mosaic_sampler *m, uint32_t number,
                                                  struct det_label *label, struct imrec_error *err);
#endif
