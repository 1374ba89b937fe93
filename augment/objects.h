/* augment/objects.h - the pixels of objects in an instance mask, and what follows from them.
 *
 * A value of such a mask is the number of an object, which the label holds next to the object; 0 is
 * the background, and every other value is nobody's. */
#ifndef IMREC_AUGMENT_OBJECTS_H
#define IMREC_AUGMENT_OBJECTS_H

#include "augment/draw/det_label.h"
#include "augment/draw/recipe.h"
#include "base/mask.h"

struct object_pixels {
    uint32_t left, top, right, bottom; /* bounds, px; right and bottom are not within */
    uint64_t count;
    uint64_t hidden; /* of them, by what is pasted over them; 0 at first */
};

/* What a worker owns for it. */
struct object_room {
    uint32_t most;               /* highest number */
    struct object_pixels *found; /* by number */
    uint16_t *becomes;           /* likewise */
};

/* `most`: 0 needs nothing. */
IMREC_NODISCARD enum imrec_status
object_room_init(struct object_room *r, uint32_t most, struct imrec_error *err);
void object_room_free(struct object_room *r); /* zeroed memory is fine */
uint64_t object_room_bytes(uint32_t most);

/* ignore_label can be no object's number. `whose` is what has the label: "the label", ... */
IMREC_NODISCARD enum imrec_status objects_check(const struct augment_options *o,
                                                const struct det_label *l, const char *whose,
                                                struct imrec_error *err);

/* r->found: the pixels of each object within the first columns x rows px. */
void objects_find(struct object_room *r, const struct mask *m, uint32_t columns, uint32_t rows,
                  const struct det_label *l);
/* Boxes become the bounds of those pixels, shares of columns x rows px. Objects without pixels, or
 * with a side below min_side px, are dropped. */
void objects_bound(const struct object_room *r, struct det_label *l, uint32_t columns,
                   uint32_t rows, float min_side);
/* The label's objects get the numbers first, first + 1, ..., in values[0..n), too; what is nobody's
 * there becomes `ignore`. */
void objects_renumber(struct object_room *r, struct det_label *l, uint32_t first, uint16_t ignore,
                      uint16_t *values, size_t n);
#endif
