/* storage/cloud/place.c - where an object of a cloud store is, and who asks for it. */
#include "storage/cloud/place.h"

#include "base/alloc.h"
#include "base/error.h"
#include "storage/cloud/bearer.h"
#include "storage/cloud/s3_region.h"
#include "storage/wire/url.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define KEY_BYTES  1024 /* of all three stores: the longest name of an object */
#define BASE_BYTES 1024
#define AZ_VERSION "2021-12-02"

static const char *const schemes[] = {
    [CLOUD_S3] = "s3://", [CLOUD_GS] = "gs://", [CLOUD_AZ] = "az://"};

/* ---- the URI --------------------------------------------------------------------------------- */

/* A host's name may be made of it. */
static bool is_bucket(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_", p[i]) ==
            NULL)
            return false;
    return n != 0 && n <= 222 && p[0] != '.' && p[0] != '-';
}

static enum imrec_status no_memory(struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "no memory for the place of an object");
}

static enum imrec_status bad_name(enum cloud cloud, const char *name, struct imrec_error *err)
{
    return IMREC_REFUSE(err, "%s%.300s: names no %s; right would be %s", schemes[cloud], name,
                        cloud == CLOUD_AZ ? "account and container" : "bucket",
                        cloud == CLOUD_AZ   ? "az://ACCOUNT/CONTAINER/PATH"
                        : cloud == CLOUD_GS ? "gs://BUCKET/KEY"
                                            : "s3://BUCKET/KEY");
}

static enum imrec_status split(struct cloud_place *p, const char *name, struct imrec_error *err)
{
    size_t n = strcspn(name, "/");
    bool good = is_bucket(name, n);
    if (p->cloud == CLOUD_AZ && good && name[n] == '/') {
        const size_t m = strcspn(name + n + 1, "/");
        good = is_bucket(name + n + 1, m);
        n += 1 + m;
    } else if (p->cloud == CLOUD_AZ) {
        good = false;
    }
    if (!good)
        return bad_name(p->cloud, name, err);
    const char *key = name[n] == '/' ? name + n + 1 : "";
    if (strlen(key) > KEY_BYTES)
        return IMREC_REFUSE(err, "%s%.200s...: a name has at most %d bytes, this one %zu",
                            schemes[p->cloud], name, KEY_BYTES, strlen(key));
    p->bucket = imrec_joined(name, n, "");
    p->key = imrec_joined(key, strlen(key), "");
    p->shown = imrec_joined(schemes[p->cloud], strlen(schemes[p->cloud]), name);
    return p->bucket != NULL && p->key != NULL && p->shown != NULL ? IMREC_OK : no_memory(err);
}

/* ---- where it is ----------------------------------------------------------------------------- */

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

/* "https://host/path" of an endpoint, without '/' at its end; the scheme may be omitted. */
static enum imrec_status
check_endpoint(const char *from, const char *who, char out[BASE_BYTES], struct imrec_error *err)
{
    const bool scheme =
        strncasecmp(from, "http://", 7) == 0 || strncasecmp(from, "https://", 8) == 0;
    size_t n = strlen(from);
    while (n > 0 && from[n - 1] == '/')
        n--;
    if (n > BASE_BYTES - 300 || strpbrk(from, "?#@ \t\r\n") != NULL ||
        (!scheme && strstr(from, "://") != NULL))
        return IMREC_REFUSE(err, "%s is no endpoint: right would be https://HOST:PORT", who);
    (void)snprintf(out, BASE_BYTES, "%s%.*s", scheme ? "" : "http://", (int)n, from);
    return IMREC_OK;
}

/* "https://BUCKET.host..." or "https://host.../BUCKET" */
static enum imrec_status
bucket_at(struct cloud_place *p, const char *endpoint, bool path_style, struct imrec_error *err)
{
    char base[BASE_BYTES + 300];
    const char *host = strstr(endpoint, "://") + 3;
    if (path_style)
        (void)snprintf(base, sizeof(base), "%s/%s", endpoint, p->bucket);
    else
        (void)snprintf(base, sizeof(base), "%.*s%s.%s", (int)(host - endpoint), endpoint, p->bucket,
                       host);
    p->base = imrec_joined(base, strlen(base), "");
    return p->base != NULL ? IMREC_OK : no_memory(err);
}

static enum imrec_status at_aws(struct cloud_place *p, struct imrec_error *err)
{
    char host[BASE_BYTES];
    IMREC_TRY(s3_region_of(p->bucket, aws_account_region(p->aws.account), p->aws.region,
                           sizeof(p->aws.region), err));
    (void)snprintf(host, sizeof(host), "https://s3.%s.amazonaws.com%s", p->aws.region,
                   strncmp(p->aws.region, "cn-", 3) == 0 ? ".cn" : "");
    /* A certificate of *.s3... is not one of a.b.s3... */
    return bucket_at(p, host,
                     strchr(p->bucket, '.') != NULL || aws_account_path_style(p->aws.account), err);
}

static enum imrec_status at_s3(struct cloud_place *p, struct imrec_error *err)
{
    IMREC_TRY(aws_account_get(&p->aws.account, err));
    const char *endpoint = aws_account_endpoint(p->aws.account),
               *region = aws_account_region(p->aws.account);
    p->aws.service = "s3";
    p->sign = aws_account_anonymous(p->aws.account) ? NULL : aws_sign;
    if (endpoint == NULL)
        return at_aws(p, err);
    char base[BASE_BYTES];
    (void)snprintf(p->aws.region, sizeof(p->aws.region), "%.31s",
                   region != NULL ? region : "us-east-1");
    IMREC_TRY(check_endpoint(endpoint, "AWS_ENDPOINT_URL", base, err));
    return bucket_at(p, base, aws_account_path_style(p->aws.account), err);
}

static enum imrec_status at_gs(struct cloud_place *p, struct imrec_error *err)
{
    char base[BASE_BYTES];
    const char *emulator = variable("STORAGE_EMULATOR_HOST");
    IMREC_TRY(check_endpoint(emulator != NULL ? emulator : "https://storage.googleapis.com",
                             "STORAGE_EMULATOR_HOST", base, err));
    IMREC_TRY(bucket_at(p, base, true, err));
    return bearer_find(emulator != NULL, &p->sign, err);
}

static enum imrec_status az_sign(void *user, struct wire_job *job, struct imrec_error *err)
{
    (void)user; /* the signature is in the URL */
    job->suspects = "AZURE_STORAGE_SAS_TOKEN: when it ends, and its rights";
    return wire_headers_add(&job->headers, err, "x-ms-version: " AZ_VERSION);
}

static enum imrec_status at_az(struct cloud_place *p, struct imrec_error *err)
{
    char base[BASE_BYTES + 300], endpoint[BASE_BYTES];
    const char *given = variable("AZURE_STORAGE_SERVICE_ENDPOINT"),
               *container = strchr(p->bucket, '/') + 1;
    const int account = (int)(container - 1 - p->bucket);
    p->sign = az_sign;
    if (given != NULL) {
        IMREC_TRY(check_endpoint(given, "AZURE_STORAGE_SERVICE_ENDPOINT", endpoint, err));
        (void)snprintf(base, sizeof(base), "%s/%s", endpoint, container);
    } else {
        (void)snprintf(base, sizeof(base), "https://%.*s.blob.core.windows.net/%s", account,
                       p->bucket, container);
    }
    p->base = imrec_joined(base, strlen(base), "");
    return p->base != NULL ? IMREC_OK : no_memory(err);
}

enum imrec_status cloud_place_open(enum cloud cloud, const char *name, struct cloud_place *out,
                                   struct imrec_error *err)
{
    *out = (struct cloud_place){.cloud = cloud};
    enum imrec_status st = split(out, name, err);
    if (st == IMREC_OK)
        st = cloud == CLOUD_S3   ? at_s3(out, err)
             : cloud == CLOUD_GS ? at_gs(out, err)
                                 : at_az(out, err);
    if (st != IMREC_OK)
        cloud_place_close(out);
    return st;
}

void cloud_place_close(struct cloud_place *p)
{
    IMREC_FREE(p->bucket, p->key, p->base, p->shown);
    *p = (struct cloud_place){0};
}

/* ---- asking ---------------------------------------------------------------------------------- */

static enum imrec_status
write_url(const struct cloud_place *p, const char *key, const char *query, struct buf *url)
{
    const char *sas = p->cloud == CLOUD_AZ ? variable("AZURE_STORAGE_SAS_TOKEN") : NULL;
    IMREC_TRY(buf_append(url, p->base, strlen(p->base), NULL));
    if (key[0] != '\0' || p->cloud != CLOUD_AZ)
        IMREC_TRY(buf_append(url, "/", 1, NULL));
    IMREC_TRY(url_append_encoded(url, key, strlen(key), true, NULL));
    if (query[0] != '\0' || sas != NULL)
        IMREC_TRY(buf_append(url, "?", 1, NULL));
    IMREC_TRY(buf_append(url, query, strlen(query), NULL));
    if (query[0] != '\0' && sas != NULL)
        IMREC_TRY(buf_append(url, "&", 1, NULL));
    if (sas != NULL)
        IMREC_TRY(buf_append(url, sas + (sas[0] == '?'), strlen(sas) - (sas[0] == '?'), NULL));
    return buf_append(url, "", 1, NULL);
}

char *cloud_url(const struct cloud_place *p, const char *key, const char *query)
{
    struct buf url = BUF_INIT((size_t)64 << 10);
    if (write_url(p, key, query, &url) == IMREC_OK)
        return (char *)url.p;
    buf_free(&url);
    return NULL;
}

enum imrec_status cloud_ask(struct cloud_place *p, struct wire_job *job, const char *key,
                            const char *query, struct imrec_error *err)
{
    char *url = cloud_url(p, key, query);
    job->url = url;
    const enum imrec_status st =
        url == NULL ? no_memory(err) : wire_ask(job, p->shown, p->sign, &p->aws, err);
    imrec_free(url);
    job->url = NULL;
    return st;
}

enum imrec_status
cloud_error(const struct cloud_place *p, const struct wire_job *job, struct imrec_error *err)
{
    const bool az = p->cloud == CLOUD_AZ;
    const char *code = az ? "<Code>ContainerNotFound</Code>" : "<Code>NoSuchBucket</Code>";
    if (job->status == 404 && strstr(job->said, code) != NULL) {
        IMREC_REFUSE(err, "%s: the server has no %s '%s'", p->shown, az ? "container" : "bucket",
                     az ? strchr(p->bucket, '/') + 1 : p->bucket);
        imrec_error_file(err, p->shown);
        imrec_error_errno(err, ENOENT);
        return IMREC_ERR_ARGUMENT;
    }
    return wire_error(job, p->shown, IMREC_NO_OFFSET, NULL, err);
}

enum imrec_status cloud_do(struct cloud_place *p, struct wire_job *job, const char *key,
                           const char *query, struct imrec_error *err)
{
    IMREC_TRY(cloud_ask(p, job, key, query, err));
    return job->status >= 200 && job->status < 300 ? IMREC_OK : cloud_error(p, job, err);
}

/* AWS says 501 of a header that a kind of bucket does not have; others answer 400 and name it in
 * the text. */
static bool is_unknown(const struct wire_job *job)
{
    return job->status == 501 ||
           (job->status == 400 && strstr(job->said, "NotImplemented") != NULL);
}

enum imrec_status cloud_do_new(struct cloud_place *p, struct wire_job *job, const char *key,
                               const char *query, bool *taken, struct imrec_error *err)
{
    const struct wire_job asked = *job;
    *taken = false;
    IMREC_TRY(wire_headers_add(&job->headers, err, "If-None-Match: *"));
    IMREC_TRY(cloud_ask(p, job, key, query, err));
    if (is_unknown(job)) {
        *job = (struct wire_job){.method = asked.method,
                                 .body = asked.body,
                                 .body_bytes = asked.body_bytes,
                                 .grow = asked.grow};
        return cloud_do(p, job, key, query, err);
    }
    *taken = job->status == 412 || job->status == 409;
    return *taken || (job->status >= 200 && job->status < 300) ? IMREC_OK
                                                               : cloud_error(p, job, err);
}
