/* storage/aws/aws_credentials.c - the sources of keys, one after the other. */
#include "storage/aws/aws_credentials.h"

#include "base/error.h"
#include "base/system.h"
#include "storage/aws/aws_sources.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define NOT_YET                                                                                    \
    " are not supported; put those that 'aws configure export-credentials --format env' prints "   \
    "into the environment"

static enum imrec_status refuse_elsewhere(const struct aws_profile *p, struct imrec_error *err)
{
    return imrec_fail(err, IMREC_ERR_UNSUPPORTED, "%.200s line %" PRIu64 ": keys by %s" NOT_YET,
                      p->elsewhere_file, p->elsewhere_line, p->elsewhere);
}

/* The keys of the profile that a role is taken on with: it must have some of its own. */
static enum imrec_status source_keys(const struct aws_settings *s, const char *name,
                                     struct aws_keys *out, struct imrec_error *err)
{
    struct aws_profile p;
    enum imrec_status st = aws_profile_now(s, name, &p, err);
    if (st == IMREC_OK && p.elsewhere != NULL)
        st = refuse_elsewhere(&p, err);
    else if (st == IMREC_OK && p.keys.access_key[0] == '\0')
        st = imrec_fail(err, IMREC_ERR_UNSUPPORTED,
                        "profile '%s', a source_profile, has no keys of its own; others" NOT_YET,
                        name);
    if (st == IMREC_OK)
        *out = p.keys;
    system_wipe(&p, sizeof(p));
    return st;
}

static enum imrec_status role_of_profile(const struct aws_settings *s, const struct aws_profile *p,
                                         struct aws_keys *out, struct imrec_error *err)
{
    const char *region = s->region[0] != '\0' ? s->region : p->region;
    struct aws_keys by;
    if (p->role.source[0] == '\0')
        return aws_role_keys(s, &p->role, region, NULL, out, err);
    enum imrec_status st = source_keys(s, p->role.source, &by, err);
    if (st == IMREC_OK)
        st = aws_role_keys(s, &p->role, region, &by, out, err);
    system_wipe(&by, sizeof(by));
    return st;
}

/* Of the profile and of a web identity, which goes between a profile's role and its keys. */
static enum imrec_status
profile_keys(const struct aws_settings *s, struct aws_keys *out, struct imrec_error *err)
{
    struct aws_profile p;
    enum imrec_status st = aws_profile_now(s, NULL, &p, err);
    if (st == IMREC_OK && p.role.arn[0] != '\0' && p.elsewhere == NULL)
        st = role_of_profile(s, &p, out, err);
    else if (st == IMREC_OK && p.role.arn[0] == '\0' && s->role.arn[0] != '\0')
        st =
            aws_role_keys(s, &s->role, s->region[0] != '\0' ? s->region : p.region, NULL, out, err);
    else if (st == IMREC_OK && p.elsewhere != NULL)
        st = refuse_elsewhere(&p, err);
    else if (st == IMREC_OK && p.keys.access_key[0] == '\0')
        st = IMREC_END;
    else if (st == IMREC_OK)
        *out = p.keys;
    system_wipe(&p, sizeof(p));
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
    imrec_error_errno(err, EACCES);
    return st;
}

enum imrec_status
aws_credentials_find(const struct aws_settings *s, struct aws_keys *out, struct imrec_error *err)
{
    if (s->keys.access_key[0] != '\0') {
        *out = s->keys;
        return IMREC_OK;
    }
    struct aws_why why = {""};
    enum imrec_status st = profile_keys(s, out, err);
    if (st == IMREC_END)
        st = aws_container_keys(s, out, err);
    if (st == IMREC_END)
        st = aws_instance_keys(s, out, &why, err);
    return st == IMREC_END ? no_keys(s, &why, err) : st;
}
