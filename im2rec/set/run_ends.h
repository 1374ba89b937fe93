/* im2rec/set/run_ends.h - the sentences with which a run ends before its list does. */
#ifndef IMREC_IM2REC_SET_RUN_ENDS_H
#define IMREC_IM2REC_SET_RUN_ENDS_H

#include "im2rec/item/skip_report.h"
#include "im2rec/item/tally.h"

/* on_error=stop. */
enum imrec_status end_stopped_at(const struct report_line *l, struct imrec_error *err);
enum imrec_status end_none_packed(const struct tally *t, struct imrec_error *err);
/* max_skipped, `most` images. hint: what can be done, from ';' or ':' on. last: the one that was
 * too many; NULL: that is not known any more. */
enum imrec_status end_too_many(const struct tally *t, const char *max_skipped, uint64_t most,
                               const char *hint, const struct report_line *last,
                               struct imrec_error *err);
#endif
