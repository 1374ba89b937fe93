/* dataset/transfer/sample_files.h - what a sample of a tar archive was made of: its key, and its
 * files in their order. Records keep it in two fields, so that they become the same archive again
 * (docs/formats/webdataset.md). */
#ifndef IMREC_DATASET_TRANSFER_SAMPLE_FILES_H
#define IMREC_DATASET_TRANSFER_SAMPLE_FILES_H

#include "base/buf.h"
#include "container/container.h"
#include "imrec/records.h"

#define SAMPLE_KEY   "__key__"   /* as webdataset calls it: the names up to their dot */
#define SAMPLE_FILES "__files__" /* "0 jpg/cls/json": the number of the image, or -; extensions */

/* Of the record of a tar: both as text. */
IMREC_NODISCARD enum imrec_status sample_files_read(const struct imrec_record *r, struct buf *key,
                                                    struct buf *files, struct imrec_error *err);

/* A field of that name, whose bytes are those of a text. */
struct imrec_field sample_text_field(const char *name, const struct buf *text);
/* The fields of a record with both after them. */
struct sample_names {
    struct buf key, files;
    struct imrec_field *fields;
    uint64_t room;
};
#define SAMPLE_NAMES_INIT ((struct sample_names){BUF_INIT(1 << 28), BUF_INIT(1 << 28), NULL, 0})
void sample_names_free(struct sample_names *n);
/* Of a tar's record they are added: r->fields are *n's then. */
IMREC_NODISCARD enum imrec_status sample_names_add(struct sample_names *n,
                                                   const struct container_kind *kind,
                                                   struct imrec_record *r, struct imrec_error *err);

/* "7 0" in the file FILE_IDS, which a tar has that was made of records: both ids. */
bool sample_ids_read(struct bytes text, uint64_t *id, uint64_t *id2);

/* The words of SAMPLE_FILES, one after the other. */
struct sample_files {
    struct bytes left;
    uint64_t image; /* number of the image; UINT64_MAX: there is none */
};

/* False: the text is none of these. */
bool sample_files_begin(struct sample_files *f, struct bytes text);
bool sample_files_next(struct sample_files *f, struct bytes *extension);
#endif
