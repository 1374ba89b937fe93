/* storage/aws/aws_answer.h - keys out of the JSON that containers and instances are given. Pure;
 * private to this room. */
#ifndef IMREC_STORAGE_AWS_AWS_ANSWER_H
#define IMREC_STORAGE_AWS_AWS_ANSWER_H

#include "base/bytes.h"
#include "storage/aws/aws_values.h"

#define AWS_ANSWER_MOST ((size_t)64 << 10)

/* {"AccessKeyId": ..., "SecretAccessKey": ..., "Token": ..., "Expiration": "2026-01-02T03:04:05Z"};
 * without a Token or an Expiration there is none. `who`: messages begin with it, and have no word
 * of the text. */
IMREC_NODISCARD enum imrec_status
aws_answer_keys(const char *who, struct bytes json, struct aws_keys *out, struct imrec_error *err);
/* Seconds since 1970 of "2026-01-02T03:04:05Z", also with a fraction, or "+00:00". */
bool aws_answer_time(const char *text, int64_t *out);
#endif
