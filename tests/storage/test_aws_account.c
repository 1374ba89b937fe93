/* tests/storage/test_aws_account.c - who this process is, by the variables of AWS's tools: whose
 * keys sign a request, where it goes, and no secret in any message. */
#include "tests/support/aws_signed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

CASE(.timeout = 120, .setup = setup, .teardown = teardown)

TEST(the_keys_of_the_variables_sign)
{
    aws_variable("AWS_ACCESS_KEY_ID", "AKIDENV");
    aws_variable("AWS_SECRET_ACCESS_KEY", "hidden");
    check_signed_by(account(), "AKIDENV", "");
    ck_assert_ptr_nonnull(strstr(header("Authorization: "), "/eu-north-1/s3/aws4_request"));
    aws_variable("AWS_SESSION_TOKEN", "token");
    check_signed_by(account(), "AKIDENV", "token");
}

TEST(one_environment_is_one_account)
{
    struct aws_account *a = account();
    ck_assert_ptr_eq(account(), a);
    aws_variable("AWS_REGION", "eu-west-1");
    struct aws_account *b = account();
    ck_assert_ptr_ne(a, b);
    ck_assert_ptr_null(aws_account_region(a));
    ck_assert_str_eq(aws_account_region(b), "eu-west-1");
    unsetenv("AWS_REGION");
    ck_assert_ptr_eq(account(), a);
}

TEST(more_environments_than_anybody_has_are_refused)
{
    struct aws_account *a;
    char region[16];
    for (int i = 0; i < 32; i++) {
        snprintf(region, sizeof(region), "r%d", i);
        aws_variable("AWS_REGION", region);
        ck_assert_str_eq(aws_account_region(account()), region);
    }
    aws_variable("AWS_REGION", "one-more");
    ck_assert_int_eq(aws_account_get(&a, &err), IMREC_ERR_LIMIT);
    aws_variable("AWS_REGION", "r0");
    ck_assert_str_eq(aws_account_region(account()), "r0");
}

TEST(regions_and_endpoints_of_variables_have_their_order)
{
    aws_variable("AWS_DEFAULT_REGION", "eu-west-2");
    ck_assert_str_eq(aws_account_region(account()), "eu-west-2");
    aws_variable("AWS_REGION", "eu-west-1");
    ck_assert_str_eq(aws_account_region(account()), "eu-west-1");
    ck_assert_ptr_null(aws_account_endpoint(account()));
    ck_assert(!aws_account_path_style(account()));
    aws_variable("AWS_ENDPOINT_URL", "http://minio:9000/");
    ck_assert_str_eq(aws_account_endpoint(account()), "http://minio:9000");
    ck_assert(aws_account_path_style(account()));
    aws_variable("AWS_ENDPOINT_URL_S3", "https://s3.example.org/base//");
    ck_assert_str_eq(aws_account_endpoint(account()), "https://s3.example.org/base");
    aws_variable("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true");
    ck_assert_ptr_null(aws_account_endpoint(account()));
}

TEST(nothing_is_signed_where_the_user_says_it)
{
    ck_assert(!aws_account_anonymous(account()));
    aws_variable("AWS_ACCESS_KEY_ID", "AKIDENV");
    aws_variable("AWS_SECRET_ACCESS_KEY", "hidden");
    aws_variable("AWS_NO_SIGN_REQUEST", "YES");
    struct aws_account *a = account();
    ck_assert(aws_account_anonymous(a));
    ck_assert_int_eq(sign(a), IMREC_OK);
    ck_assert_uint_eq(job.headers.count, 0);
    aws_variable("AWS_NO_SIGN_REQUEST", "no");
    ck_assert(!aws_account_anonymous(account()));
}

static const struct {
    const char *name, *value, *words;
    enum imrec_status status;
} bad_variables[] = {
    {"AWS_ACCESS_KEY_ID", "AKhidden", "AWS_SECRET_ACCESS_KEY is not", IMREC_ERR_ARGUMENT},
    {"AWS_SECRET_ACCESS_KEY", "hidden", "AWS_ACCESS_KEY_ID is not", IMREC_ERR_ARGUMENT},
    {"AWS_SECRET_ACCESS_KEY", "hid den\nhidden", "AWS_SECRET_ACCESS_KEY: byte 4",
     IMREC_ERR_ARGUMENT},
    {"AWS_REGION", "evil.example.org/hidden", "AWS_REGION", IMREC_ERR_ARGUMENT},
    {"AWS_DEFAULT_REGION", "hidden hidden", "AWS_DEFAULT_REGION", IMREC_ERR_ARGUMENT},
    {"AWS_ENDPOINT_URL", "ftp://hidden", "AWS_ENDPOINT_URL", IMREC_ERR_ARGUMENT},
    {"AWS_ENDPOINT_URL", "http://", "AWS_ENDPOINT_URL", IMREC_ERR_ARGUMENT},
    {"AWS_ENDPOINT_URL_S3", "http://me:hidden@host", "AWS_ENDPOINT_URL_S3", IMREC_ERR_ARGUMENT},
    {"AWS_ENDPOINT_URL_S3", "http://host/?hidden", "AWS_ENDPOINT_URL_S3", IMREC_ERR_ARGUMENT},
    {"AWS_ENDPOINT_URL_S3", "http://host\r\nhidden", "AWS_ENDPOINT_URL_S3", IMREC_ERR_ARGUMENT},
};

LOOP_TEST(a_variable_that_is_wrong_is_named_without_its_value, 0, COUNT(bad_variables))
{
    aws_variable(bad_variables[_i].name, bad_variables[_i].value);
    check_refused(bad_variables[_i].status, bad_variables[_i].words);
}

TEST(a_key_that_is_too_long_is_refused)
{
    static char text[5000];
    memset(text, 'h', sizeof(text) - 1);
    memcpy(text, "hidden", 6);
    aws_variable("AWS_ACCESS_KEY_ID", "AKIDENV");
    aws_variable("AWS_SECRET_ACCESS_KEY", "hidden");
    aws_variable("AWS_SESSION_TOKEN", text);
    check_refused(IMREC_ERR_LIMIT, "AWS_SESSION_TOKEN: it has more than 4096 bytes");
}

/* The date of a signature is the server's once it has said that ours is wrong. */
TEST(the_clock_of_the_server_counts)
{
    char day[9];
    const time_t at = time(NULL) + 20 * 86400;
    struct tm t;
    aws_variable("AWS_ACCESS_KEY_ID", "AKIDENV");
    aws_variable("AWS_SECRET_ACCESS_KEY", "hidden");
    struct aws_account *a = account();
    aws_account_saw_clock(a, at);
    aws_account_saw_clock(a, INT64_MAX); /* nonsense is not believed */
    aws_account_saw_clock(a, INT64_MIN);
    ck_assert_int_eq(sign(a), IMREC_OK);
    strftime(day, sizeof(day), "%Y%m%d", gmtime_r(&at, &t));
    ck_assert_int_eq(strncmp(header("x-amz-date: "), day, 6), 0); /* year and month */
}

TEST(a_forked_process_signs)
{
    int status;
    aws_variable("AWS_ACCESS_KEY_ID", "AKIDENV");
    aws_variable("AWS_SECRET_ACCESS_KEY", "hidden");
    struct aws_account *a = account();
    check_signed_by(a, "AKIDENV", "");
    const pid_t child = fork();
    if (child == 0)
        _exit(sign(a) == IMREC_OK && aws_account_get(&a, &err) == IMREC_OK ? 0 : 1);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}

TEST(without_keys_the_error_says_how_to_give_some)
{
    check_refused(IMREC_ERR_IO, "AWS_ACCESS_KEY_ID");
    ck_assert_int_eq(err.sys_errno, EACCES);
}

TEST(a_timeout_that_is_no_number_of_seconds_is_refused)
{
    static const char *const bad[] = {"0", "-1", "1.5", "soon", "3601", "99999999999999999999"};
    for (int i = 0; i < COUNT(bad); i++) {
        aws_variable("AWS_METADATA_SERVICE_TIMEOUT", bad[i]);
        check_refused(IMREC_ERR_ARGUMENT, "AWS_METADATA_SERVICE_TIMEOUT");
    }
}
