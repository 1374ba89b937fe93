/* storage/aws/aws_credentials.c - the sources of keys, one after the other. */
#include "storage/aws/aws_credentials.h"

#include "base/error.h"

#include <errno.h>

enum imrec_status
aws_credentials_find(const struct aws_settings *s, struct aws_keys *out, struct imrec_error *err)
{
    if (s->keys.access_key[0] != '\0') {
        *out = s->keys;
        return IMREC_OK;
    }
    const enum imrec_status st =
        imrec_fail(err, IMREC_ERR_IO,
                   "no AWS credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or "
                   "AWS_NO_SIGN_REQUEST=YES for public buckets");
    if (err != NULL)
        err->sys_errno = EACCES;
    return st;
}
