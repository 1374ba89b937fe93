/* iter/options/tile_kinds.h - how images are made that a slot is composed of: each as a slot of
 * bytes. */
#ifndef IMREC_ITER_OPTIONS_TILE_KINDS_H
#define IMREC_ITER_OPTIONS_TILE_KINDS_H

#include "iter/options/further_images.h"
#include "iter/options/view_kinds.h"

/* A kind for each of `views`: fitted into its data_shape, and nothing else is done to it. Without
 * rand_mosaic_prob there are none. What mosaics do not go with is refused. */
IMREC_NODISCARD enum imrec_status
tile_kinds_init(struct view_kinds *tiles, const struct view_kinds *views,
                const struct imrec_iter_options *o, const struct further_images *further,
                struct imrec_error *err); /* view_kinds_free() */
/* The same for what objects are pasted into, and out of: moved as `views` are, and not yet painted.
 * Without rand_copy_paste_prob there are none. */
IMREC_NODISCARD enum imrec_status
move_kinds_init(struct view_kinds *moves, const struct view_kinds *views,
                const struct imrec_iter_options *o, const struct further_images *further,
                struct imrec_error *err); /* view_kinds_free() */
#endif
