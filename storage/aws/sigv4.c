/* storage/aws/sigv4.c - the sums and headers of Signature Version 4. */
#include "storage/aws/sigv4.h"

#include "base/error.h"
#include "base/system.h"
#include "storage/aws/sigv4_request.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define REQUEST_MOST ((size_t)64 << 10)
#define NAMES_MOST   ((size_t)WIRE_HEADER_BYTES)
#define SECRET_MOST  256
#define LATEST       INT64_C(253402300799) /* of the year 9999 */

struct hex {
    char s[2 * SIGV4_KEY_BYTES + 1];
};

struct signing {
    char date[17]; /* "20130524T000000Z" */
    char scope[160];
    struct hex sum;            /* of the body; unused where the job says it */
    struct buf request, names; /* canonical request, signed headers */
};

static struct hex hex_of(const uint8_t sum[SIGV4_KEY_BYTES])
{
    struct hex out;
    for (int i = 0; i < SIGV4_KEY_BYTES; i++)
        (void)snprintf(out.s + 2 * i, 3, "%02x", sum[i]);
    return out;
}

static enum imrec_status no_sum(struct imrec_error *err)
{
    return imrec_fail(err, IMREC_ERR_UNSUPPORTED,
                      "libcrypto cannot compute SHA-256, which signatures of requests need");
}

static enum imrec_status hash(const void *p, size_t n, struct hex *out, struct imrec_error *err)
{
    uint8_t sum[SHA256_DIGEST_LENGTH];
    if (SHA256(n != 0 ? p : "", n, sum) == NULL)
        return no_sum(err);
    *out = hex_of(sum);
    return IMREC_OK;
}

static bool mac(const uint8_t *key, size_t n, const char *words, uint8_t out[SIGV4_KEY_BYTES])
{
    unsigned bytes = SIGV4_KEY_BYTES;
    return HMAC(EVP_sha256(), key, (int)n, (const uint8_t *)words, strlen(words), out, &bytes) !=
           NULL;
}

enum imrec_status sigv4_key(const char *secret, const char *day, const char *region,
                            const char *service, uint8_t out[SIGV4_KEY_BYTES],
                            struct imrec_error *err)
{
    uint8_t first[4 + SECRET_MOST + 1], a[SIGV4_KEY_BYTES], b[SIGV4_KEY_BYTES];
    if (strlen(secret) > SECRET_MOST)
        return imrec_fail(err, IMREC_ERR_LIMIT, "the secret access key has more than %d bytes",
                          SECRET_MOST);
    (void)snprintf((char *)first, sizeof(first), "AWS4%s", secret);
    const bool ok = mac(first, strlen((char *)first), day, a) && mac(a, sizeof(a), region, b) &&
                    mac(b, sizeof(b), service, a) && mac(a, sizeof(a), "aws4_request", out);
    system_wipe(first, sizeof(first));
    system_wipe(a, sizeof(a));
    system_wipe(b, sizeof(b));
    return ok ? IMREC_OK : no_sum(err);
}

static enum imrec_status date_of(int64_t at, char date[17], struct imrec_error *err)
{
    const time_t seconds = (time_t)at;
    struct tm t;
    if (at < 0 || at > LATEST || gmtime_r(&seconds, &t) == NULL)
        return IMREC_REFUSE(err, "the clock says %lld seconds since 1970, of which no date is made",
                            (long long)at);
    (void)snprintf(date, 17, "%04u%02u%02uT%02u%02u%02uZ", (unsigned)(t.tm_year + 1900) % 10000u,
                   (unsigned)(t.tm_mon + 1) % 100u, (unsigned)t.tm_mday % 100u,
                   (unsigned)t.tm_hour % 100u, (unsigned)t.tm_min % 100u,
                   (unsigned)t.tm_sec % 100u);
    return IMREC_OK;
}

/* What a job says of its body stays, else it is read. */
static enum imrec_status
add_sum(struct signing *s, struct wire_job *job, struct bytes *sum, struct imrec_error *err)
{
    *sum = sigv4_header(job, "x-amz-content-sha256");
    if (sum->p != NULL)
        return IMREC_OK;
    if (job->body_bytes > SIZE_MAX)
        return imrec_fail(err, IMREC_ERR_LIMIT, "a body is larger than the memory");
    IMREC_TRY(hash(job->body, (size_t)job->body_bytes, &s->sum, err));
    *sum = (struct bytes){(const uint8_t *)s->sum.s, strlen(s->sum.s)};
    return wire_headers_add(&job->headers, err, "x-amz-content-sha256: %s", s->sum.s);
}

static enum imrec_status
signature(const struct signing *s, const uint8_t *key, struct hex *out, struct imrec_error *err)
{
    uint8_t sum[SIGV4_KEY_BYTES];
    char words[sizeof(s->date) + sizeof(s->scope) + 96];
    struct hex request;
    IMREC_TRY(hash(s->request.p, s->request.n, &request, err));
    (void)snprintf(words, sizeof(words), "AWS4-HMAC-SHA256\n%s\n%s\n%s", s->date, s->scope,
                   request.s);
    if (!mac(key, SIGV4_KEY_BYTES, words, sum))
        return no_sum(err);
    *out = hex_of(sum);
    return IMREC_OK;
}

static enum imrec_status add_headers(struct signing *s, const struct sigv4_keys *k,
                                     const char *region, const char *service, struct wire_job *job,
                                     struct imrec_error *err)
{
    uint8_t key[SIGV4_KEY_BYTES];
    struct bytes sum;
    struct hex seal;
    char day[9];
    memcpy(day, s->date, 8);
    day[8] = '\0';
    if (snprintf(s->scope, sizeof(s->scope), "%s/%s/%s/aws4_request", day, region, service) >=
        (int)sizeof(s->scope))
        return imrec_fail(err, IMREC_ERR_LIMIT, "the name of a region is too long");
    IMREC_TRY(wire_headers_add(&job->headers, err, "x-amz-date: %s", s->date));
    IMREC_TRY(add_sum(s, job, &sum, err));
    if (k->token != NULL && k->token[0] != '\0')
        IMREC_TRY(wire_headers_add(&job->headers, err, "x-amz-security-token: %s", k->token));
    IMREC_TRY(sigv4_request(job, sum, &s->request, &s->names, err));
    IMREC_TRY(sigv4_key(k->secret, day, region, service, key, err));
    const enum imrec_status st = signature(s, key, &seal, err);
    system_wipe(key, sizeof(key));
    IMREC_TRY(st);
    return wire_headers_add(&job->headers, err,
                            "Authorization: AWS4-HMAC-SHA256 Credential=%s/%s, "
                            "SignedHeaders=%.*s, Signature=%s",
                            k->access_key, s->scope, (int)s->names.n, (const char *)s->names.p,
                            seal.s);
}

enum imrec_status sigv4_sign(const struct sigv4_keys *k, const char *region, const char *service,
                             int64_t at, struct wire_job *job, struct imrec_error *err)
{
    struct signing s = {.request = BUF_INIT(REQUEST_MOST), .names = BUF_INIT(NAMES_MOST)};
    IMREC_TRY(date_of(at, s.date, err));
    /* At once: what grows leaves copies of a token. */
    enum imrec_status st =
        buf_reserve(&s.request, strlen(job->url) + WIRE_HEADER_BYTES + 1024, err);
    if (st == IMREC_OK)
        st = add_headers(&s, k, region, service, job, err);
    if (s.request.p != NULL) /* it has the session's token */
        system_wipe(s.request.p, s.request.cap);
    buf_free(&s.request);
    buf_free(&s.names);
    return st;
}
