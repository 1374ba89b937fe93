/* im2rec/pack.h - imrec_pack() and imrec_pack_items() for what appends to a set. */
#ifndef IMREC_IM2REC_PACK_H
#define IMREC_IM2REC_PACK_H

#include "imrec/pack_items.h"

/* source: NULL: of the task's root. tables: the text of those that JPEGs share, with
 * options->shared_tables; NULL: they are made of a sample. */
IMREC_NODISCARD enum imrec_status
pack_with_tables(const struct imrec_pack_task *task, const struct imrec_pack_source *source,
                 const struct imrec_pack_options *options, const char *tables,
                 struct imrec_pack_result *out, struct imrec_error *err);
#endif
