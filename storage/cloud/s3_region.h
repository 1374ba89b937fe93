/* storage/cloud/s3_region.h - the region of a bucket at AWS. */
#ifndef IMREC_STORAGE_CLOUD_S3_REGION_H
#define IMREC_STORAGE_CLOUD_S3_REGION_H

#include "imrec/error.h"

#include <stddef.h>

/* Asked once a process and bucket: AWS tells anyone (x-amz-bucket-region of HEAD BUCKET). Where it
 * does not say, `known` (may be NULL), else us-east-1 with a warning. */
IMREC_NODISCARD enum imrec_status s3_region_of(const char *bucket, const char *known, char *out,
                                               size_t room, struct imrec_error *err);
#endif
