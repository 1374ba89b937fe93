/* dataset/transfer/file_name.h - names of fields as extensions of files and as words of a text:
 * what these cannot have is %XX. */
#ifndef IMREC_DATASET_TRANSFER_FILE_NAME_H
#define IMREC_DATASET_TRANSFER_FILE_NAME_H

#include "base/buf.h"

/* The extensions of what is no field. */
#define FILE_LABELS "cls"
#define FILE_IDS    "imrec_id"

/* Appends the name as a word: blanks, control characters and % as %XX. */
IMREC_NODISCARD enum imrec_status
word_write(struct buf *to, struct bytes name, struct imrec_error *err);
/* Appends the name that a word stands for. False: it is none. */
IMREC_NODISCARD enum imrec_status
word_read(struct buf *to, struct bytes word, bool *is_one, struct imrec_error *err);
/* Sets *to to the extension of value `repeat` of a name, from 0: a word with %2F in place of /,
 * "%63ls" for "cls", which is another file, and with "%.1" after the second value, so that no two
 * files of a sample have one name. */
IMREC_NODISCARD enum imrec_status
extension_write(struct buf *to, struct bytes name, uint64_t repeat, struct imrec_error *err);
#endif
