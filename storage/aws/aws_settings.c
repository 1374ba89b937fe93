/* storage/aws/aws_settings.c - the variables of AWS's tools: read once, checked, copied. */
#include "storage/aws/aws_settings.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *said(const char *name)
{
    const char *value = getenv(name);
    return value != NULL ? value : "";
}

/* The first of two that is said. */
static const char *either(const char *first, const char *second)
{
    return said(first)[0] != '\0' ? first : second;
}

static bool is_yes(const char *name)
{
    static const char *const yes[] = {"yes", "true", "1", "on"};
    for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
        if (strcasecmp(said(name), yes[i]) == 0)
            return true;
    return false;
}

/* ---- the environment --------------------------------------------------------------------- */

static enum imrec_status read_key(char *to, size_t room, const char *name, struct imrec_error *err)
{
    const char *value = said(name);
    return aws_key_copy(to, room, value, strlen(value), name, "it", err);
}

static enum imrec_status read_keys(struct aws_keys *k, struct imrec_error *err)
{
    static const char id[] = "AWS_ACCESS_KEY_ID", secret[] = "AWS_SECRET_ACCESS_KEY";
    const char *token = either("AWS_SESSION_TOKEN", "AWS_SECURITY_TOKEN");
    k->ends = AWS_FOR_EVER;
    IMREC_TRY(read_key(k->access_key, sizeof(k->access_key), id, err));
    IMREC_TRY(read_key(k->secret, sizeof(k->secret), secret, err));
    if ((k->access_key[0] != '\0') != (k->secret[0] != '\0'))
        return IMREC_REFUSE(err, "%s is set and %s is not; both are needed",
                            k->access_key[0] != '\0' ? id : secret,
                            k->access_key[0] != '\0' ? secret : id);
    return k->access_key[0] != '\0' ? read_key(k->token, sizeof(k->token), token, err) : IMREC_OK;
}

static enum imrec_status read_places(struct aws_settings *s, struct imrec_error *err)
{
    const char *endpoint = either("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"),
               *region = either("AWS_REGION", "AWS_DEFAULT_REGION");
    s->ignore_endpoints = is_yes("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS");
    if (said(endpoint)[0] != '\0' && !s->ignore_endpoints)
        IMREC_TRY(
            aws_endpoint_copy(s->endpoint, said(endpoint), strlen(said(endpoint)), endpoint, err));
    return aws_region_copy(s->region, said(region), strlen(said(region)), region, err);
}

enum imrec_status aws_settings_read(struct aws_settings *out, struct imrec_error *err)
{
    memset(out, 0, sizeof(*out)); /* padding too */
    out->anonymous = is_yes("AWS_NO_SIGN_REQUEST");
    IMREC_TRY(read_places(out, err));
    return out->anonymous ? IMREC_OK : read_keys(&out->keys, err);
}
