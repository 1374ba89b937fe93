/* storage/cloud/cloud_out.h - objects that are written to buckets. */
#ifndef IMREC_STORAGE_CLOUD_CLOUD_OUT_H
#define IMREC_STORAGE_CLOUD_CLOUD_OUT_H

#include "storage/cloud/place.h"
#include "storage/store/store.h"

/* store.open_out: parts are uploaded while it is written. */
IMREC_NODISCARD enum imrec_status cloud_out_open(enum cloud cloud, const char *name, uint64_t size,
                                                 struct out **out, struct imrec_error *err);
/* store.open_log: each sync puts a piece there, "NAME.part", "NAME.part.00000001", ...; all
 * together are read as NAME.part. */
IMREC_NODISCARD enum imrec_status cloud_log_open(enum cloud cloud, const char *name, uint64_t size,
                                                 struct out **out, struct imrec_error *err);
/* The pieces of "NAME.part" as one source. IMREC_END: it has only the first, or is none of a log.
 */
IMREC_NODISCARD enum imrec_status
cloud_log_source(enum cloud cloud, const char *name, struct source **out, struct imrec_error *err);
#endif
