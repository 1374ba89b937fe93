/* im2rec/tasks/escape.h - any bytes as a part of a line: what is no printable ASCII or UTF-8, and
 * '%', becomes %XX. */
#ifndef IMREC_IM2REC_TASKS_ESCAPE_H
#define IMREC_IM2REC_TASKS_ESCAPE_H

#include "base/buf.h"

IMREC_NODISCARD enum imrec_status
escape(struct buf *out, struct bytes text, struct imrec_error *err);
/* Appends what `text` stands for. IMREC_ERR_CORRUPT: it is not of escape(). */
IMREC_NODISCARD enum imrec_status
unescape(struct buf *out, struct bytes text, struct imrec_error *err);
/* Cuts the field before the first tab off: all of it where there is none. */
struct bytes next_field(struct bytes *rest);
#endif
