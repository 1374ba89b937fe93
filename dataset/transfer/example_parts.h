/* dataset/transfer/example_parts.h - the features of a tf.train.Example that is made of a record,
 * and the memory that they need. */
#ifndef IMREC_DATASET_TRANSFER_EXAMPLE_PARTS_H
#define IMREC_DATASET_TRANSFER_EXAMPLE_PARTS_H

#include "base/buf.h"
#include "formats/tfrecord/example_write.h"
#include "imrec/records.h"

struct codec;

struct example_parts {
    struct codec *codec; /* for formats of images */
    struct buf example;
    struct example_item *items;
    size_t count;
    int64_t *numbers; /* of all items, with what is taken of them; floats, too */
    size_t taken;
    struct bytes *values; /* of lists of bytes */
    bool *used;           /* fields that are in the Example */
    struct buf names, extension;
    uint64_t item_room, number_room, value_room, used_room;
};

IMREC_NODISCARD enum imrec_status
example_parts_init(struct example_parts *x, struct imrec_error *err);
void example_parts_free(struct example_parts *x); /* zeroed memory is fine */

/* Room for `items` features, and for `numbers` more than are taken. */
IMREC_NODISCARD enum imrec_status example_parts_room(struct example_parts *x, uint64_t items,
                                                     uint64_t numbers, struct imrec_error *err);
struct bytes example_text(const char *s);
struct example_item example_file_item(const char *name, const void *p, size_t n);
/* int64s where each is a whole number and `whole`, as TensorFlow's classes; else floats. */
struct example_item example_label_item(struct example_parts *x, const struct imrec_record *r,
                                       struct bytes name, bool whole);
struct example_item example_field_item(struct example_parts *x, const struct imrec_field *f);
/* Adds a field unless another feature has its name. False: one has, its number is in *same. */
bool example_add_field(struct example_parts *x, const struct imrec_field *f, size_t *same);
#endif
