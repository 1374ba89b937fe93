/* storage/aws/aws_settings.c - the variables of AWS's tools: read once, checked, copied. */
#include "storage/aws/aws_settings.h"

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define METADATA_SECONDS 5

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

static enum imrec_status
read_endpoint(char to[AWS_URL_BYTES], const char *name, struct imrec_error *err)
{
    const size_t n = strlen(said(name));
    return n != 0 ? aws_endpoint_copy(to, said(name), n, name, err) : IMREC_OK;
}

static enum imrec_status read_places(struct aws_settings *s, struct imrec_error *err)
{
    const char *endpoint = either("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"),
               *region = either("AWS_REGION", "AWS_DEFAULT_REGION");
    s->ignore_endpoints = is_yes("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS");
    if (!s->ignore_endpoints) {
        IMREC_TRY(read_endpoint(s->endpoint, endpoint, err));
        IMREC_TRY(read_endpoint(s->sts_endpoint, either("AWS_ENDPOINT_URL_STS", "AWS_ENDPOINT_URL"),
                                err));
    }
    return aws_region_copy(s->region, said(region), strlen(said(region)), region, err);
}

/* What messages may show: it is no secret. */
static enum imrec_status read_text(char *to, size_t room, const char *name, struct imrec_error *err)
{
    const char *value = said(name);
    const size_t n = strlen(value);
    if (n >= room)
        return imrec_fail(err, IMREC_ERR_LIMIT, "%s has more than %zu bytes", name, room - 1);
    memcpy(to, value, n + 1);
    return IMREC_OK;
}

static enum imrec_status
read_path(char to[AWS_PATH_BYTES], const char *name, const char *at_home, struct imrec_error *err)
{
    const char *path = said(name)[0] != '\0' ? said(name) : at_home, *home = said("HOME");
    const bool below = strncmp(path, "~/", 2) == 0;
    int n = 0;
    if (!below)
        n = snprintf(to, AWS_PATH_BYTES, "%s", path);
    else if (home[0] != '\0')
        n = snprintf(to, AWS_PATH_BYTES, "%s%s", home, path + 1);
    return n < AWS_PATH_BYTES ? IMREC_OK
                              : imrec_fail(err, IMREC_ERR_LIMIT, "%s has more than %d bytes",
                                           path != at_home ? name : "HOME", AWS_PATH_BYTES - 1);
}

static enum imrec_status read_files(struct aws_settings *s, struct imrec_error *err)
{
    const char *profile = either("AWS_PROFILE", "AWS_DEFAULT_PROFILE");
    IMREC_TRY(read_text(s->profile, sizeof(s->profile), profile, err));
    s->profile_named = s->profile[0] != '\0';
    if (!s->profile_named)
        strcpy(s->profile, "default");
    IMREC_TRY(
        read_path(s->credentials_file, "AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials", err));
    return read_path(s->config_file, "AWS_CONFIG_FILE", "~/.aws/config", err);
}

static enum imrec_status read_role(struct aws_role *r, struct imrec_error *err)
{
    static const char arn[] = "AWS_ROLE_ARN", session[] = "AWS_ROLE_SESSION_NAME",
                      file[] = "AWS_WEB_IDENTITY_TOKEN_FILE";
    if (said(file)[0] == '\0')
        return IMREC_OK;
    IMREC_TRY(read_path(r->token_file, file, "", err));
    IMREC_TRY(read_key(r->arn, sizeof(r->arn), arn, err));
    if (r->arn[0] == '\0')
        return IMREC_REFUSE(err, "%s is set and %s is not; both are needed", file, arn);
    return read_key(r->session, sizeof(r->session), session, err);
}

static enum imrec_status read_container(struct aws_settings *s, struct imrec_error *err)
{
    static const char relative[] = "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
                      full[] = "AWS_CONTAINER_CREDENTIALS_FULL_URI",
                      token[] = "AWS_CONTAINER_AUTHORIZATION_TOKEN";
    IMREC_TRY(read_key(s->container_relative, sizeof(s->container_relative), relative, err));
    if (s->container_relative[0] != '\0' && s->container_relative[0] != '/')
        return IMREC_REFUSE(err, "%s must begin with '/'", relative);
    IMREC_TRY(read_key(s->container_full, sizeof(s->container_full), full, err));
    IMREC_TRY(read_text(s->container_token, sizeof(s->container_token), token, err));
    return read_path(s->container_token_file, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "", err);
}

static enum imrec_status read_instance(struct aws_settings *s, struct imrec_error *err)
{
    static const char seconds[] = "AWS_METADATA_SERVICE_TIMEOUT",
                      endpoint[] = "AWS_EC2_METADATA_SERVICE_ENDPOINT";
    const bool ipv6 = strcasecmp(said("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE"), "IPv6") == 0;
    const char *value = said(endpoint)[0] != '\0' ? said(endpoint)
                        : ipv6                    ? "http://[fd00:ec2::254]"
                                                  : "http://169.254.169.254";
    char *end;
    s->metadata_disabled = is_yes("AWS_EC2_METADATA_DISABLED");
    s->metadata_seconds = METADATA_SECONDS;
    if (said(seconds)[0] != '\0') {
        const long n = strtol(said(seconds), &end, 10);
        if (*end != '\0' || n < 1 || n > 3600)
            return IMREC_REFUSE(err, "%s must be a number of seconds, 1 to 3600", seconds);
        s->metadata_seconds = (uint32_t)n;
    }
    return aws_endpoint_copy(s->metadata_endpoint, value, strlen(value), endpoint, err);
}

static enum imrec_status read_identity(struct aws_settings *s, struct imrec_error *err)
{
    IMREC_TRY(read_keys(&s->keys, err));
    IMREC_TRY(read_role(&s->role, err));
    IMREC_TRY(read_container(s, err));
    return read_instance(s, err);
}

enum imrec_status aws_settings_read(struct aws_settings *out, struct imrec_error *err)
{
    memset(out, 0, sizeof(*out)); /* padding too */
    out->anonymous = is_yes("AWS_NO_SIGN_REQUEST");
    IMREC_TRY(read_places(out, err));
    IMREC_TRY(read_files(out, err));
    return out->anonymous ? IMREC_OK : read_identity(out, err);
}
