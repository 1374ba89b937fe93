/* storage/aws/aws_account.h - who this process is to S3: by variables, files, its container or its
 * instance.
 *
 *     struct aws_signer signer = {.service = "s3"};
 *     IMREC_TRY(aws_account_get(&signer.account, err));
 *     ... fill signer.region ...
 *     wire_ask(&job, shown, aws_sign, &signer, err);
 *
 * Any thread may call any of these, also after a fork. */
#ifndef IMREC_STORAGE_AWS_AWS_ACCOUNT_H
#define IMREC_STORAGE_AWS_AWS_ACCOUNT_H

#include "storage/wire/retry.h"

struct aws_account; /* shared by all objects; lives as long as the process */

/* Resolved once a process and environment: with other variables it is another account. Reads
 * files; asks nobody over the network. IMREC_ERR_LIMIT after 32 environments. */
IMREC_NODISCARD enum imrec_status
aws_account_get(struct aws_account **out, struct imrec_error *err);
/* "http://HOST:PORT/PATH", without a '/' at its end: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, the
 * endpoint_url of the profile's services or its own. NULL: AWS itself. */
const char *aws_account_endpoint(const struct aws_account *a);
/* AWS_REGION, AWS_DEFAULT_REGION, the profile's; letters, digits, '-' and '_'. NULL: not said. */
const char *aws_account_region(const struct aws_account *a);
/* "http://HOST/BUCKET/KEY", not "http://BUCKET.HOST/KEY": with an endpoint of the user's, as AWS's
 * own tools do, unless the profile's s3 settings have addressing_style = virtual; always with
 * addressing_style = path. */
bool aws_account_path_style(const struct aws_account *a);
/* AWS_NO_SIGN_REQUEST=YES (or true, on, 1): nothing is signed, as with --no-sign-request. */
bool aws_account_anonymous(const struct aws_account *a);

struct aws_signer {
    struct aws_account *account;
    char region[32];
    const char *service; /* "s3" */
};
/* A wire_sign_fn; the signer is not changed. The first call, and one a few minutes before the keys
 * end, may take the time of a request or two. Where the account is anonymous it adds nothing. */
IMREC_NODISCARD enum imrec_status
aws_sign(void *signer, struct wire_job *job, struct imrec_error *err);

/* The server's time, of an answer RequestTimeTooSkewed: signatures are made with it from now on. */
void aws_account_saw_clock(struct aws_account *a, int64_t server_seconds);
/* An answer said that the token has expired (ExpiredToken): the next signature asks again for keys.
 */
void aws_account_saw_expiry(struct aws_account *a);
#endif
