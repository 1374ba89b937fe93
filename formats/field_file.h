/* formats/field_file.h - fields as files: their names as extensions of files and as words of a
 * text, where what these cannot have is %XX, and their numbers as text. */
#ifndef IMREC_FORMATS_FIELD_FILE_H
#define IMREC_FORMATS_FIELD_FILE_H

#include "base/buf.h"
#include "formats/record_field.h"
#include "imrec/records.h"

/* Appends the name as a word: blanks, control characters and % as %XX. */
IMREC_NODISCARD enum imrec_status
word_write(struct buf *to, struct bytes name, struct imrec_error *err);
/* Appends the name that a word stands for. False: it is none. */
IMREC_NODISCARD enum imrec_status
word_read(struct buf *to, struct bytes word, bool *is_one, struct imrec_error *err);
/* Of how many fields before fields[i] it has the name. */
uint64_t field_repeats(const struct imrec_field *fields, uint32_t i);
/* Sets *to to the extension of value `repeat` of a name, from 0: a word with %2F in place of /, so
 * that it never leaves a folder, and with "%.1" after the second value, so that no two files of a
 * sample have one name. `is_taken`: another file has the name, its first character is %XX. */
IMREC_NODISCARD enum imrec_status field_extension(struct buf *to, struct bytes name, bool is_taken,
                                                  uint64_t repeat, struct imrec_error *err);
/* The content of the file: bytes as they are, numbers as text, in *text. */
IMREC_NODISCARD enum imrec_status field_content(struct buf *text, enum field_type type,
                                                struct bytes value, struct bytes *out,
                                                struct imrec_error *err);
#endif
