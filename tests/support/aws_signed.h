/* tests/support/aws_signed.h - a folder that is the home, an environment of AWS's variables, and
 * whose keys sign a request then. */
#ifndef IMREC_TESTS_AWS_SIGNED_H
#define IMREC_TESTS_AWS_SIGNED_H

#include "base/alloc.h"
#include "storage/aws/aws_account.h"
#include "tests/support/aws_variables.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <string.h>

static struct tmpdir dir;
static struct imrec_error err;
static struct wire_job job;

static inline void setup(void)
{
    dir = tmpdir_make();
    aws_variables_forget(dir.path);
}

static inline void teardown(void)
{
    tmpdir_remove(&dir);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

static inline struct aws_account *account(void)
{
    struct aws_account *a;
    ck_assert_msg(aws_account_get(&a, &err) == IMREC_OK, "%s", err.message);
    return a;
}

static inline enum imrec_status sign(struct aws_account *a)
{
    struct aws_signer s = {.account = a, .region = "eu-north-1", .service = "s3"};
    job = (struct wire_job){.method = "GET", .url = "http://127.0.0.1/b/k"};
    return aws_sign(&s, &job, &err);
}

/* The value of a header that signing added, or "". */
static inline const char *header(const char *name)
{
    for (uint32_t i = 0; i < job.headers.count; i++)
        if (strncmp(job.headers.line[i], name, strlen(name)) == 0)
            return job.headers.line[i] + strlen(name);
    return "";
}

static inline void check_signed_by(struct aws_account *a, const char *access_key, const char *token)
{
    char begin[256];
    ck_assert_msg(sign(a) == IMREC_OK, "%s", err.message);
    snprintf(begin, sizeof(begin), "AWS4-HMAC-SHA256 Credential=%s/", access_key);
    ck_assert_msg(strncmp(header("Authorization: "), begin, strlen(begin)) == 0, "%s is not by %s",
                  header("Authorization: "), access_key);
    ck_assert_str_eq(header("x-amz-security-token: "), token);
}

/* Fails with these words, and with none of a secret (all of them have "hidden" in them). */
static inline void check_refused(enum imrec_status st, const char *words)
{
    struct aws_account *a = NULL;
    enum imrec_status got = aws_account_get(&a, &err);
    ck_assert(got == IMREC_OK || a == NULL);
    if (got == IMREC_OK)
        got = sign(a);
    ck_assert_msg(got == st, "%d: %s", (int)got, err.message);
    ck_assert_msg(strstr(err.message, words) != NULL, "%s", err.message);
    ck_assert_msg(strstr(err.message, "hidden") == NULL, "%s", err.message);
}
#endif
