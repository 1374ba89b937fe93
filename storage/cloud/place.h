/* storage/cloud/place.h - where an object of s3://, gs:// or az:// is, and who asks for it.
 *
 * s3://BUCKET/KEY is at AWS, in the bucket's region, or at the endpoint that AWS_ENDPOINT_URL says;
 * gs://BUCKET/KEY at storage.googleapis.com or STORAGE_EMULATOR_HOST; az://ACCOUNT/CONTAINER/PATH
 * at ACCOUNT.blob.core.windows.net or below AZURE_STORAGE_SERVICE_ENDPOINT. */
#ifndef IMREC_STORAGE_CLOUD_PLACE_H
#define IMREC_STORAGE_CLOUD_PLACE_H

#include "storage/aws/aws_account.h"
#include "storage/wire/object.h"

enum cloud { CLOUD_S3, CLOUD_GS, CLOUD_AZ };

struct cloud_place {
    enum cloud cloud;
    char *bucket;       /* of az: "ACCOUNT/CONTAINER" */
    char *key;          /* as it is in the store; "": the bucket itself */
    char *base;         /* the bucket's URL, without a '/' at its end */
    char *shown;        /* the URI, for messages */
    wire_sign_fn *sign; /* with `signer`, which is the place; NULL: nobody in particular asks */
    struct aws_signer aws;
};

/* `name` follows the scheme. The place must not move while a request of it is under way. */
IMREC_NODISCARD enum imrec_status cloud_place_open(enum cloud cloud, const char *name,
                                                   struct cloud_place *out,
                                                   struct imrec_error *err);
void cloud_place_close(struct cloud_place *p); /* zeroed memory is fine */

/* The URL of a key, and "?query" after it where it is not "", az's signature included. Of
 * imrec_realloc(); NULL: no memory. */
char *cloud_url(const struct cloud_place *p, const char *key, const char *query);

/* One exchange, signed and with its retries; job->url is filled here, of `key` and `query`. Also an
 * answer that is no 2xx is IMREC_OK. */
IMREC_NODISCARD enum imrec_status cloud_ask(struct cloud_place *p, struct wire_job *job,
                                            const char *key, const char *query,
                                            struct imrec_error *err);
/* The error of an answer that is no 2xx. A bucket that does not exist is named, and is
 * IMREC_ERR_ARGUMENT with ENOENT. */
enum imrec_status
cloud_error(const struct cloud_place *p, const struct wire_job *job, struct imrec_error *err);
/* ... for which anything but 200 to 299 is an error. */
IMREC_NODISCARD enum imrec_status cloud_do(struct cloud_place *p, struct wire_job *job,
                                           const char *key, const char *query,
                                           struct imrec_error *err);
/* Sends a PUT or POST that makes an object, on the condition that there is none (If-None-Match: *),
 * or without a condition where the store does not have it. *taken: there is one, or somebody is
 * making it. */
IMREC_NODISCARD enum imrec_status cloud_do_new(struct cloud_place *p, struct wire_job *job,
                                               const char *key, const char *query, bool *taken,
                                               struct imrec_error *err);
#endif
