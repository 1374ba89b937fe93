/* im2rec/item/skip_report.h - what was skipped or mended, and why: one JSON object a line. The
 * journal has the same lines, so that a run that is resumed knows what was skipped before. */
#ifndef IMREC_IM2REC_ITEM_SKIP_REPORT_H
#define IMREC_IM2REC_ITEM_SKIP_REPORT_H

#include "base/buf.h"
#include "container/folder/reason.h"
#include "imrec/packer.h"

struct report_line {
    struct bytes path; /* any bytes: formats/json_write.h escapes those that are not UTF-8 */
    const char *why;
    enum reason reason; /* REASON_NONE: packed, but corrected */
    uint64_t line;      /* of the list; 0: unknown */
    uint32_t warnings;
};

/* Of what a scan has passed over. */
struct report_line report_line_of(const char *path, const char *why, enum reason reason);

/* Appends the object, without the line's end. */
IMREC_NODISCARD enum imrec_status
report_write(struct buf *out, const struct report_line *l, struct imrec_error *err);
/* The reverse, of an image that was skipped. False: of none, or no such line. */
bool report_read(struct bytes line, struct imrec_pack_skip *out);
/* Text as it is between the quotes of such a line, safe for a terminal.
 */
IMREC_NODISCARD enum imrec_status
report_text(struct buf *out, struct bytes text, struct imrec_error *err);
#endif
