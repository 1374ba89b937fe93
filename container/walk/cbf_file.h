/* container/walk/cbf_file.h - the header of a CBF file in storage. */
#ifndef IMREC_CONTAINER_WALK_CBF_FILE_H
#define IMREC_CONTAINER_WALK_CBF_FILE_H

#include "formats/cbf/cbf_header.h"
#include "storage/source.h"

/* `name` is put before messages, with the offset. Free with cbf_header_free(). */
IMREC_NODISCARD enum imrec_status cbf_file_header(struct source *in, const char *name,
                                                  struct cbf_header *out, struct imrec_error *err);
/* Puts "NAME: byte N: " before the sentence of a format's error. */
void cbf_file_blame(const char *name, enum imrec_status st, struct imrec_error *err);
/* Whether a file is of this format, whole or damaged: the magic is at its begin, or where its last
 * bytes say that the header is. */
IMREC_NODISCARD enum imrec_status
cbf_file_is(struct source *in, bool *out, struct imrec_error *err);
/* Whether a name promises this format, for a file whose damage left no magic. */
bool cbf_file_is_named(const char *uri);
#endif
