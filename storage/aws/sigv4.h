/* storage/aws/sigv4.h - Signature Version 4 of a request. Pure: no clock, no environment.
 *
 * Google's XML API (storage.googleapis.com) takes the same signatures, with an HMAC key of Google's
 * as access key and secret, region "auto" and service "s3": gs:// needs no form of its own. */
#ifndef IMREC_STORAGE_AWS_SIGV4_H
#define IMREC_STORAGE_AWS_SIGV4_H

#include "storage/wire/wire.h"

#define SIGV4_KEY_BYTES 32

struct sigv4_keys {
    const char *access_key, *secret;
    const char *token; /* of a session; NULL or "": none */
};

/* Adds x-amz-date, x-amz-content-sha256, x-amz-security-token and Authorization to job->headers.
 * Signed are method, URL (path and query as they are in it, percent-encoded as
 * url_append_encoded() does), host, all of job->headers but Accept-Encoding, which servers and what
 * is between may change, and the SHA-256 of job->body. A job that has x-amz-content-sha256 already
 * ("UNSIGNED-PAYLOAD", or a sum that is known) keeps it, and its body is not read.
 * `at`: seconds since 1970. */
IMREC_NODISCARD enum imrec_status sigv4_sign(const struct sigv4_keys *k, const char *region,
                                             const char *service, int64_t at, struct wire_job *job,
                                             struct imrec_error *err);

/* The key that signs what is of this day ("20130524"), region and service. */
IMREC_NODISCARD enum imrec_status sigv4_key(const char *secret, const char *day, const char *region,
                                            const char *service, uint8_t out[SIGV4_KEY_BYTES],
                                            struct imrec_error *err);
#endif
