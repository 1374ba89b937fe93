/* Where objects of buckets are, and who asks for those of Google. */
#include "storage/cloud/bearer.h"
#include "storage/cloud/place.h"
#include "tests/support/aws_signed.h"
#include "tests/support/canned.h"
#include "tests/support/starving.h"

static const char *const variables[] = {
    "STORAGE_EMULATOR_HOST",          "GS_ACCESS_KEY_ID",       "GS_SECRET_ACCESS_KEY",
    "GOOGLE_OAUTH_ACCESS_TOKEN",      "GCE_METADATA_HOST",      "AWS_ENDPOINT_URL",
    "AZURE_STORAGE_SERVICE_ENDPOINT", "AZURE_STORAGE_SAS_TOKEN"};

static void clean_setup(void)
{
    setup();
    for (int i = 0; i < COUNT(variables); i++)
        unsetenv(variables[i]);
}

static const struct {
    enum cloud cloud;
    const char *variable, *value, *name;
    const char *url; /* of the key with "?q"; or, after "!", a part of the error */
} rows[] = {
    {CLOUD_AZ, "HOME", "/", "me/box/a b", "https://me.blob.core.windows.net/box/a%20b?q"},
    {CLOUD_AZ, "AZURE_STORAGE_SAS_TOKEN", "?sig=1", "me/box/a",
     "https://me.blob.core.windows.net/box/a?q&sig=1"},
    {CLOUD_AZ, "AZURE_STORAGE_SERVICE_ENDPOINT", "localhost:1//", "me/box/a",
     "http://localhost:1/box/a?q"},
    {CLOUD_AZ, "HOME", "/", "me", "!names no account and container"},
    {CLOUD_AZ, "AZURE_STORAGE_SERVICE_ENDPOINT", "ftp://x", "me/box/a",
     "!AZURE_STORAGE_SERVICE_ENDPOINT is no endpoint"},
    {CLOUD_GS, "STORAGE_EMULATOR_HOST", "h:1", "b/k", "http://h:1/b/k?q"},
    {CLOUD_GS, "STORAGE_EMULATOR_HOST", "http://h?x", "b/k",
     "!STORAGE_EMULATOR_HOST is no endpoint"},
    {CLOUD_S3, "AWS_ENDPOINT_URL", "https://h/p/", "b/k", "https://h/p/b/k?q"},
    {CLOUD_S3, "AWS_ENDPOINT_URL", "http://h", "", "!names no bucket"},
    {CLOUD_S3, "AWS_ENDPOINT_URL", "h e", "b/k", "!AWS_ENDPOINT_URL: the endpoint must be"},
};

CASE(.timeout = 60, .setup = clean_setup, .teardown = teardown)

LOOP_TEST(a_name_is_at_this_url, 0, COUNT(rows))
{
    struct cloud_place p;
    aws_variable(rows[_i].variable, rows[_i].value);
    const enum imrec_status st = cloud_place_open(rows[_i].cloud, rows[_i].name, &p, &err);
    if (rows[_i].url[0] == '!') {
        ck_assert_int_eq(st, IMREC_ERR_ARGUMENT);
        ck_assert_msg(strstr(err.message, rows[_i].url + 1) != NULL, "%s", err.message);
        return;
    }
    ck_assert_msg(st == IMREC_OK, "%s", err.message);
    char *url = cloud_url(&p, p.key, "q");
    ck_assert_str_eq(url, rows[_i].url);
    imrec_free(url);
    cloud_place_close(&p);
}

TEST(a_key_has_1024_bytes_at_most)
{
    struct cloud_place p;
    char name[1100] = "b/";
    aws_variable("STORAGE_EMULATOR_HOST", "h:1");
    memset(name + 2, 'k', 1025);
    ck_assert_int_eq(cloud_place_open(CLOUD_GS, name, &p, &err), IMREC_ERR_ARGUMENT);
    ck_assert_msg(strstr(err.message, "1024 bytes, this one 1025") != NULL, "%s", err.message);
}

TEST(memory_that_runs_out_leaves_nothing)
{
    aws_variable("AZURE_STORAGE_SAS_TOKEN", "sig=1");
    STARVING(s)
    {
        struct cloud_place p;
        s.st = cloud_place_open(CLOUD_AZ, "me/box/a", &p, &err);
        char *url = s.st == IMREC_OK ? cloud_url(&p, p.key, "q") : NULL;
        if (s.st == IMREC_OK && url == NULL)
            s.st = IMREC_ERR_NO_MEMORY;
        imrec_free(url);
        cloud_place_close(&p);
    }
}

/* ---- who asks Google's ------------------------------------------------------------------- */

#define TOKEN "GET /computeMetadata/v1/instance/service-accounts/default/token"

static struct canned_row machine[] = {{TOKEN, "Metadata-Flavor: Google", 200, "", 0}};
static struct canned *server;

static void machine_setup(void)
{
    clean_setup();
    server = canned_start(machine, COUNT(machine));
    aws_variable("GCE_METADATA_HOST", server->url + strlen("http://"));
}

static void machine_teardown(void)
{
    canned_stop(server);
    teardown();
}

static enum imrec_status sign_by(wire_sign_fn *by)
{
    job = (struct wire_job){.method = "GET", .url = "http://127.0.0.1/b/k"};
    return by(NULL, &job, &err);
}

CASE(.timeout = 60, .setup = machine_setup, .teardown = machine_teardown)

TEST(the_token_of_a_machine_is_asked_for_once_until_it_ends)
{
    wire_sign_fn *by;
    canned_body(server, 0, 200, "{\"access_token\":\"one\",\"expires_in\":7200}");
    for (int i = 0; i < 3; i++) {
        ck_assert_msg(bearer_find(false, &by, &err) == IMREC_OK, "%s", err.message);
        ck_assert_ptr_nonnull(by);
        ck_assert_int_eq(sign_by(by), IMREC_OK);
        ck_assert_str_eq(header("Authorization: "), "Bearer one");
    }
    ck_assert_int_eq(canned_hits(server, 0), 1);
}

TEST(a_token_that_ends_soon_is_renewed_and_one_that_cannot_be_is_an_error)
{
    wire_sign_fn *by;
    canned_body(server, 0, 200, "{\"access_token\":\"one\",\"expires_in\":10}");
    ck_assert_int_eq(bearer_find(false, &by, &err), IMREC_OK);
    canned_body(server, 0, 200, "{\"access_token\":\"two\",\"expires_in\":10}");
    ck_assert_int_eq(sign_by(by), IMREC_OK);
    ck_assert_str_eq(header("Authorization: "), "Bearer two");
    canned_body(server, 0, 404, "");
    ck_assert_int_eq(sign_by(by), IMREC_ERR_IO);
    ck_assert_msg(strstr(err.message, "the metadata server") != NULL, "%s", err.message);
}

static const char *const answers[] = {"", "{}", "{\"access_token\":\"a b\",\"expires_in\":9}",
                                      "{\"access_token\":\"a\",\"expires_in\":0}"};

LOOP_TEST(an_answer_that_is_no_token_is_an_error, 0, COUNT(answers))
{
    wire_sign_fn *by;
    canned_body(server, 0, 200, answers[_i]);
    ck_assert_int_eq(bearer_find(false, &by, &err), IMREC_ERR_IO);
    ck_assert_msg(strstr(err.message, "no access_token") != NULL, "%s", err.message);
    ck_assert_ptr_null(by);
}

TEST(variables_go_before_the_machine)
{
    wire_sign_fn *by;
    aws_variable("GOOGLE_OAUTH_ACCESS_TOKEN", "mine");
    ck_assert_int_eq(bearer_find(false, &by, &err), IMREC_OK);
    ck_assert_int_eq(sign_by(by), IMREC_OK);
    ck_assert_str_eq(header("Authorization: "), "Bearer mine");
    unsetenv("GOOGLE_OAUTH_ACCESS_TOKEN");
    ck_assert_int_eq(sign_by(by), IMREC_ERR_ARGUMENT);
    aws_variable("GS_ACCESS_KEY_ID", "GOOG1");
    aws_variable("GS_SECRET_ACCESS_KEY", "hidden");
    ck_assert_int_eq(bearer_find(true, &by, &err), IMREC_OK);
    ck_assert_int_eq(sign_by(by), IMREC_OK);
    ck_assert_ptr_nonnull(strstr(header("Authorization: "), "Credential=GOOG1/"));
    unsetenv("GS_SECRET_ACCESS_KEY");
    ck_assert_int_eq(sign_by(by), IMREC_ERR_ARGUMENT);
    ck_assert_int_eq(canned_hits(server, 0), 0);
    ck_assert_int_eq(bearer_find(true, &by, &err), IMREC_OK); /* an emulator asks nobody */
    ck_assert_ptr_null(by);
}
