/*
 * tests/storage/test_sigv4.c - Signature Version 4 equals AWS's published values.
 *
 * They are figures of "Authenticating Requests: Using the Authorization Header", section "Examples:
 * Signature Calculations" (Amazon S3 API Reference), and of "Deriving the signing key" (IAM User
 * Guide): keys, time, requests and the signatures that follow.
 */
#include "base/alloc.h"
#include "storage/aws/sigv4.h"
#include "storage/aws/sigv4_request.h"
#include "storage/wire/url.h"
#include "tests/support/starving.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <string.h>

#define HOST    "https://examplebucket.s3.amazonaws.com"
#define SECRET  "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
#define MAY_24  INT64_C(1369353600) /* 2013-05-24 00:00:00 */
#define NOTHING "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static const struct sigv4_keys keys = {.access_key = "AKIAIOSFODNN7EXAMPLE", .secret = SECRET};
static struct wire_job job;
static struct imrec_error err;

static void ask(const char *method, const char *url)
{
    job = (struct wire_job){.method = method, .url = url};
}

static void with(const char *header)
{
    ck_assert_int_eq(wire_headers_add(&job.headers, &err, "%s", header), IMREC_OK);
}

static const char *sign_as(const struct sigv4_keys *k)
{
    ck_assert_msg(sigv4_sign(k, "us-east-1", "s3", MAY_24, &job, &err) == IMREC_OK, "%s",
                  err.message);
    return job.headers.line[job.headers.count - 1];
}

/* The last header proves this request: its list of headers and the signature. */
static void check_signed(const char *headers, const char *signature)
{
    char expected[512];
    snprintf(expected, sizeof(expected),
             "Authorization: AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/"
             "s3/aws4_request, SignedHeaders=%s, Signature=%s",
             headers, signature);
    ck_assert_str_eq(sign_as(&keys), expected);
}

/* What a request's signature is, with the headers as they are now. */
static void signature_of(char out[65])
{
    const char *line = sign_as(&keys), *at = strstr(line, "Signature=");
    snprintf(out, 65, "%s", at + strlen("Signature="));
    job.headers = (struct wire_headers){0};
}

static void teardown(void)
{
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

CASE(.teardown = teardown)

TEST(a_range_of_an_object)
{
    ask("GET", HOST "/test.txt");
    with("Range: bytes=0-9");
    check_signed("host;range;x-amz-content-sha256;x-amz-date",
                 "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
    ck_assert_str_eq(job.headers.line[1], "x-amz-date: 20130524T000000Z");
    ck_assert_str_eq(job.headers.line[2], "x-amz-content-sha256: " NOTHING);
}

TEST(an_object_that_is_put)
{
    static const char body[] = "Welcome to Amazon S3.";
    ask("PUT", HOST "/test%24file.text");
    job.body = body;
    job.body_bytes = sizeof(body) - 1;
    with("Date: Fri, 24 May 2013 00:00:00 GMT");
    with("x-amz-storage-class: REDUCED_REDUNDANCY");
    check_signed("date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
                 "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
}

TEST(a_parameter_without_a_value)
{
    ask("GET", HOST "/?lifecycle");
    check_signed("host;x-amz-content-sha256;x-amz-date",
                 "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
}

/* One request, written in several ways. */
static const char *const listings[] = {
    HOST "/?max-keys=2&prefix=J",
    HOST "/?prefix=J&max-keys=2",
    HOST "?prefix=J&max-keys=2",
    HOST ":443/?prefix=J&max-keys=2",
    HOST "/?&prefix=J&&max-keys=2#top",
    "https://me:mine@examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J",
};

LOOP_TEST(a_listing_whatever_the_order_of_its_parameters, 0, COUNT(listings))
{
    ask("GET", listings[_i]);
    check_signed("host;x-amz-content-sha256;x-amz-date",
                 "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

TEST(the_key_of_a_day)
{
    static const uint8_t expected[] = {0xc4, 0xaf, 0xb1, 0xcc, 0x57, 0x71, 0xd8, 0x71,
                                       0x76, 0x3a, 0x39, 0x3e, 0x44, 0xb7, 0x03, 0x57,
                                       0x1b, 0x55, 0xcc, 0x28, 0x42, 0x4d, 0x1a, 0x5e,
                                       0x86, 0xda, 0x6e, 0xd3, 0xc1, 0x54, 0xa4, 0xb9};
    uint8_t key[SIGV4_KEY_BYTES];
    ck_assert_int_eq(sigv4_key("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "20150830", "us-east-1",
                               "iam", key, &err),
                     IMREC_OK);
    ck_assert_int_eq(memcmp(key, expected, sizeof(key)), 0);
}

TEST(a_port_of_its_own_is_signed)
{
    char with_port[65], with_header[65], without[65];
    ask("GET", "http://127.0.0.1:9000/b/k");
    signature_of(with_port);
    ask("GET", "http://127.0.0.1:80/b/k");
    signature_of(without);
    ask("GET", "http://127.0.0.1/b/k");
    with("Host: 127.0.0.1:9000");
    signature_of(with_header);
    ck_assert_str_eq(with_port, with_header);
    ck_assert_str_ne(with_port, without);
}

TEST(a_request_is_this_text)
{
    static const char expected[] = "PUT\n/b/k%20a\na=10&a=2&a-b=&prefix=%2F\n"
                                   "host:h:9000\nif-match:\"e\"\nx-amz-meta-m:one,two 2\n\n"
                                   "host;if-match;x-amz-meta-m\nSUM";
    struct buf out = BUF_INIT(4096), names = BUF_INIT(4096);
    ask("PUT", "http://h:9000/b/k%20a?prefix=%2F&a-b&a=2&a=10");
    with("X-Amz-Meta-M: one");
    with("If-Match: \"e\"");
    with("x-amz-meta-m:two   2");
    ck_assert_int_eq(
        sigv4_request(&job, (struct bytes){(const uint8_t *)"SUM", 3}, &out, &names, &err),
        IMREC_OK);
    ck_assert_uint_eq(out.n, sizeof(expected) - 1);
    ck_assert_int_eq(memcmp(out.p, expected, out.n), 0);
    buf_free(&out);
    buf_free(&names);
}

/* "a" before "a-b", whatever the values: '-' sorts before '='. */
TEST(parameters_are_in_the_order_of_their_names)
{
    char a[65], b[65];
    ask("GET", HOST "/?a-b=1&a=2&a=10");
    signature_of(a);
    ask("GET", HOST "/?a=10&a=2&a-b=1");
    signature_of(b);
    ck_assert_str_eq(a, b);
}

TEST(blanks_and_capitals_of_headers_are_one_form)
{
    char a[65], b[65], c[65];
    ask("GET", HOST "/k");
    with("X-Amz-Meta-A:  one   two\t ");
    signature_of(a);
    with("x-amz-meta-a: one two");
    signature_of(b);
    with("x-amz-meta-a: one  too");
    signature_of(c);
    ck_assert_str_eq(a, b);
    ck_assert_str_ne(a, c);
}

TEST(what_is_between_may_change_the_accepted_encoding)
{
    char a[65], b[65];
    ask("GET", HOST "/k");
    signature_of(a);
    with("Accept-Encoding: identity");
    signature_of(b);
    ck_assert_str_eq(a, b);
}

TEST(a_sum_that_the_job_has_is_signed_as_it_is)
{
    ask("PUT", HOST "/k");
    job.body = NULL; /* it would be read */
    job.body_bytes = 1000;
    with("X-Amz-Content-SHA256: UNSIGNED-PAYLOAD");
    ck_assert_ptr_nonnull(strstr(sign_as(&keys), "host;x-amz-content-sha256;x-amz-date"));
    ck_assert_uint_eq(job.headers.count, 3);
}

TEST(a_token_of_a_session_goes_along_and_is_signed)
{
    const struct sigv4_keys session = {keys.access_key, keys.secret, "some/token+=="};
    ask("GET", HOST "/k");
    ck_assert_ptr_nonnull(
        strstr(sign_as(&session),
               "SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,"));
    ck_assert_str_eq(job.headers.line[2], "x-amz-security-token: some/token+==");
}

TEST(a_token_that_is_too_long_or_has_a_line_end_is_refused)
{
    static char token[WIRE_HEADER_BYTES + 1];
    const struct sigv4_keys session = {keys.access_key, keys.secret, token};
    memset(token, 't', WIRE_HEADER_BYTES);
    ask("GET", HOST "/k");
    ck_assert_int_eq(sigv4_sign(&session, "r", "s3", MAY_24, &job, &err), IMREC_ERR_LIMIT);
    ck_assert_ptr_null(strstr(err.message, "ttt"));
    ask("GET", HOST "/k");
    snprintf(token, sizeof(token), "ttt\r\nx-evil: 1");
    ck_assert_int_eq(sigv4_sign(&session, "r", "s3", MAY_24, &job, &err), IMREC_ERR_ARGUMENT);
    ck_assert_ptr_null(strstr(err.message, "ttt"));
}

TEST(what_no_request_has_is_refused)
{
    static char many[33 * 2 + sizeof(HOST "/?")];
    static char secret[300];
    const struct sigv4_keys long_one = {keys.access_key, secret, NULL};
    uint8_t key[SIGV4_KEY_BYTES];
    ask("GET", HOST "/k");
    ck_assert_int_eq(sigv4_sign(&keys, "r", "s3", -1, &job, &err), IMREC_ERR_ARGUMENT);
    ck_assert_int_eq(sigv4_sign(&keys, "r", "s3", INT64_MAX, &job, &err), IMREC_ERR_ARGUMENT);
    strcpy(many, HOST "/?");
    for (int i = 0; i < 33; i++)
        strcat(many, "a&");
    ask("GET", many);
    ck_assert_int_eq(sigv4_sign(&keys, "r", "s3", MAY_24, &job, &err), IMREC_ERR_LIMIT);
    memset(secret, 's', sizeof(secret) - 1);
    ask("GET", HOST "/k");
    ck_assert_int_eq(sigv4_sign(&long_one, "r", "s3", MAY_24, &job, &err), IMREC_ERR_LIMIT);
    ck_assert_ptr_null(strstr(err.message, "sss"));
    ck_assert_int_eq(sigv4_key(secret, "20150830", "r", "s3", key, &err), IMREC_ERR_LIMIT);
}

TEST(no_memory_is_an_error)
{
    STARVING(s)
    {
        ask("GET", HOST "/k?a=b");
        s.st = sigv4_sign(&keys, "us-east-1", "s3", MAY_24, &job, &err);
    }
}
