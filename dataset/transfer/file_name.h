/* dataset/transfer/file_name.h - names of fields as extensions of a sample's files. */
#ifndef IMREC_DATASET_TRANSFER_FILE_NAME_H
#define IMREC_DATASET_TRANSFER_FILE_NAME_H

#include "formats/field_file.h"

/* The extensions of what is no field. */
#define FILE_LABELS "cls"
#define FILE_IDS    "imrec_id"

/* As field_extension(), with "%63ls" for "cls", which is another file. */
IMREC_NODISCARD enum imrec_status
extension_write(struct buf *to, struct bytes name, uint64_t repeat, struct imrec_error *err);
#endif
