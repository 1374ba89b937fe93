/* im2rec/skip_report.h - what was skipped or mended, and why: one JSON object a line. */
#ifndef IMREC_IM2REC_SKIP_REPORT_H
#define IMREC_IM2REC_SKIP_REPORT_H

#include "base/buf.h"
#include "im2rec/reason.h"
#include "imrec/error.h"

struct report_line {
    struct bytes path; /* any bytes: those that are not UTF-8 become \udc80..\udcff, as Python's
                        * surrogateescape has them, so that no name is lost */
    const char *why;
    enum reason reason; /* REASON_NONE: packed, but mended */
    uint64_t line;      /* of the list; 0: left out */
    uint32_t warnings;
};

/* Appends the object, without the line's end. */
IMREC_NODISCARD enum imrec_status
report_write(struct buf *out, const struct report_line *l, struct imrec_error *err);
#endif
