/* im2rec/item/item_example.h - an image that is in a tf.train.Example of a TFRecord file: its
 * bytes, labels and fields, out of the record. */
#ifndef IMREC_IM2REC_ITEM_ITEM_EXAMPLE_H
#define IMREC_IM2REC_ITEM_ITEM_EXAMPLE_H

#include "container/example_record.h"
#include "im2rec/item/read_file.h"
#include "imrec/packer.h"

struct item_example {
    struct example_names names;
    unsigned wanted; /* RECORD_..., of a record, besides its labels */
    int64_t max_pixels;
    int64_t label_offset;   /* added to each label */
    struct parse_room room; /* made for the first record */
    struct file_bytes file; /* the record with its frame */
    struct record record;   /* views of it */
};

/* Names are those of options.image_ext and label_ext. Free *e after a failure, too. */
IMREC_NODISCARD enum imrec_status item_example_init(struct item_example *e,
                                                    const struct imrec_pack_options *o, bool fields,
                                                    struct imrec_error *err);
void item_example_free(struct item_example *e); /* zeroed memory is fine */
void item_example_trim(struct item_example *e, size_t most);

/* Takes the record in e->file apart: e->record is it, and *p has its labels. false: the reason says
 * why it is no image. */
bool item_example_parse(struct item_example *e, struct pack_item *p);
#endif
