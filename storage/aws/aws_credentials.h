/* storage/aws/aws_credentials.h - the sources of keys, one after the other. Private to this room.
 */
#ifndef IMREC_STORAGE_AWS_AWS_CREDENTIALS_H
#define IMREC_STORAGE_AWS_AWS_CREDENTIALS_H

#include "storage/aws/aws_settings.h"

/* The keys of the first source that has some, in the order of AWS's tools. */
IMREC_NODISCARD enum imrec_status
aws_credentials_find(const struct aws_settings *s, struct aws_keys *out, struct imrec_error *err);
#endif
