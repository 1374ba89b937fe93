/* storage/aws/aws_credentials.c - the sources of keys, one after the other. */
#include "storage/aws/aws_credentials.h"

#include "base/error.h"
#include "storage/aws/aws_sources.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define NOT_YET                                                                                    \
    " are not supported; put those that 'aws configure export-credentials --format env' prints "   \
    "into the environment"

static enum imrec_status
profile_keys(const struct aws_settings *s, struct aws_keys *out, struct imrec_error *err)
{
    struct aws_profile p;
    enum imrec_status st = aws_profile_now(s, &p, err);
    if (st == IMREC_OK && p.elsewhere != NULL)
        st = imrec_fail(err, IMREC_ERR_UNSUPPORTED, "%.200s line %" PRIu64 ": keys by %s" NOT_YET,
                        p.elsewhere_file, p.elsewhere_line, p.elsewhere);
    else if (st == IMREC_OK && p.keys.access_key[0] == '\0')
        st = IMREC_END;
    if (st == IMREC_OK)
        *out = p.keys;
    explicit_bzero(&p, sizeof(p));
    return st;
}

static enum imrec_status
no_keys(const struct aws_settings *s, const struct aws_why *why, struct imrec_error *err)
{
    const enum imrec_status st = imrec_fail(
        err, IMREC_ERR_IO,
        "no AWS credentials: AWS_ACCESS_KEY_ID is not set, profile '%.60s' has none, there is no "
        "container's role and no instance's (%s); AWS_NO_SIGN_REQUEST=YES reads public buckets",
        s->profile, why->s);
    if (err != NULL)
        err->sys_errno = EACCES;
    return st;
}

enum imrec_status
aws_credentials_find(const struct aws_settings *s, struct aws_keys *out, struct imrec_error *err)
{
    if (s->keys.access_key[0] != '\0') {
        *out = s->keys;
        return IMREC_OK;
    }
    if (s->web_identity)
        return imrec_fail(err, IMREC_ERR_UNSUPPORTED,
                          "AWS_WEB_IDENTITY_TOKEN_FILE: keys by web identity" NOT_YET);
    struct aws_why why = {""};
    enum imrec_status st = profile_keys(s, out, err);
    if (st == IMREC_END)
        st = aws_container_keys(s, out, err);
    if (st == IMREC_END)
        st = aws_instance_keys(s, out, &why, err);
    return st == IMREC_END ? no_keys(s, &why, err) : st;
}
