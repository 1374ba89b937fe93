/* im2rec/item/item_fields.h - what an image's record carries as fields: files next to the image,
 * and columns of its line of the list. */
#ifndef IMREC_IM2REC_ITEM_ITEM_FIELDS_H
#define IMREC_IM2REC_ITEM_ITEM_FIELDS_H

#include "base/buf.h"
#include "formats/field_names.h"
#include "formats/record_field.h"
#include "im2rec/item/read_file.h"
#include "imrec/packer.h"

struct item_fields {
    const struct file_root *root;         /* of the images */
    struct field_names names;             /* without the dot that they may begin with */
    struct field_names columns;           /* of a line, in their order */
    struct file_bytes file;               /* reused */
    struct buf values;                    /* of the image in hand, one after another */
    struct bytes value[FIELD_NAMES_MOST]; /* those of `columns` last; p NULL: there is none */
    struct record_field taken[FIELD_NAMES_MOST]; /* instead of all of these */
    uint32_t taken_count;
};

IMREC_NODISCARD enum imrec_status
item_fields_init(struct item_fields *f, const struct imrec_pack_options *o,
                 const struct file_root *root, struct imrec_error *err);
/* The same, without a root, to look at the names. Free *f after a failure, too. */
IMREC_NODISCARD enum imrec_status item_fields_names(struct item_fields *f,
                                                    const struct imrec_pack_options *o,
                                                    struct imrec_error *err);
/* IMREC_ERR_ARGUMENT: a name is none of a file's extension: features alone are called so. */
IMREC_NODISCARD enum imrec_status
item_fields_check_files(const struct item_fields *f, struct imrec_error *err);
void item_fields_free(struct item_fields *f); /* zeroed memory is fine */
void item_fields_trim(struct item_fields *f, size_t most);
/* Reads those of the image: its path with each name for its extension, and the columns, which stay
 * where *p has them. Of an image in an archive the columns say, for each name, where its file is
 * there, as sample_field_places() wrote it. false: reason or p->failed say why. */
bool item_fields_read(struct item_fields *f, struct pack_item *p);
/* Takes those with these names of a record's fields instead, in their order; the fields stay where
 * they are. */
bool item_fields_take(struct item_fields *f, struct pack_item *p, const struct record_field *from,
                      uint32_t count);
/* Bytes that were read. */
uint64_t item_fields_bytes(const struct item_fields *f);
/* The mask, if there is one, and what was read, as the record has them. Returns how many; 0 where
 * there is nothing but perhaps a mask. */
uint32_t item_fields_list(const struct item_fields *f, struct bytes mask,
                          struct record_field out[FIELD_NAMES_MOST + 1]);
#endif
