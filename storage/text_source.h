/* storage/text_source.h - a text in memory as a source. */
#ifndef IMREC_STORAGE_TEXT_SOURCE_H
#define IMREC_STORAGE_TEXT_SOURCE_H

#include "base/buf.h"
#include "storage/source.h"

/* Takes over the text's memory, also on failure: *text is empty afterwards. */
IMREC_NODISCARD enum imrec_status
text_source_open(struct buf *text, struct source **out, struct imrec_error *err);
#endif
