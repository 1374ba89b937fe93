/* tests/storage/test_aws_roles.c - the keys of a container's and of an instance's role: asked for
 * once, before they end, by one thread; who has no role is not held up. */
#include "base/clock.h"
#include "base/threads.h"
#include "storage/aws/aws_answer.h"
#include "tests/support/aws_signed.h"
#include "tests/support/canned.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The answer of both: keys that end so many seconds from now. */
static const char *keys_of(const char *access_key, int seconds)
{
    static char texts[4][512];
    static unsigned turn;
    char *text = texts[turn++ % 4], ends[32];
    const time_t at = time(NULL) + seconds;
    struct tm t;
    strftime(ends, sizeof(ends), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&at, &t));
    snprintf(text, sizeof(texts[0]),
             "{\"Code\":\"Success\",\"AccessKeyId\":\"%s\",\"SecretAccessKey\":\"hidden\","
             "\"Token\":\"t%s\",\"Expiration\":\"%s\"}",
             access_key, access_key, ends);
    return text;
}

enum { HOURS = 7200, SOON = 120 }; /* new keys are asked for in the last five minutes */

static struct canned *server;

/* ---- containers -------------------------------------------------------------------------- */

static struct canned_row container[] = {{"GET /v2/keys", "Authorization: may-I", 200, "", 0}};

static void full_uri(const char *path)
{
    char url[128];
    snprintf(url, sizeof(url), "%s%s", server->url, path);
    aws_variable("AWS_CONTAINER_CREDENTIALS_FULL_URI", url);
}

static void container_setup(void)
{
    setup();
    server = canned_start(container, COUNT(container));
    full_uri("/v2/keys");
    aws_variable("AWS_CONTAINER_AUTHORIZATION_TOKEN", "may-I");
    canned_body(server, 0, 200, keys_of("AKCONTAINER", HOURS));
}

static void servers_teardown(void)
{
    canned_stop(server);
    teardown();
}

CASE(.timeout = 120, .setup = container_setup, .teardown = servers_teardown)

TEST(the_keys_of_a_container_sign_and_are_asked_for_once)
{
    struct aws_account *a = account();
    ck_assert_int_eq(canned_hits(server, 0), 0); /* getting an account asks nobody */
    for (int i = 0; i < 3; i++)
        check_signed_by(a, "AKCONTAINER", "tAKCONTAINER");
    ck_assert_int_eq(canned_hits(server, 0), 1);
}

TEST(files_go_before_containers)
{
    static const char text[] = "[default]\naws_access_key_id=AKFILE\naws_secret_access_key=s\n";
    tmp_write(&dir, "credentials", text, strlen(text));
    aws_variable("AWS_SHARED_CREDENTIALS_FILE", tmp_path(&dir, "credentials"));
    check_signed_by(account(), "AKFILE", "");
    ck_assert_int_eq(canned_hits(server, 0), 0);
}

TEST(a_token_of_a_file_goes_before_one_of_a_variable)
{
    tmp_write(&dir, "token", "may-I\n", 6);
    aws_variable("AWS_CONTAINER_AUTHORIZATION_TOKEN", "hidden");
    check_refused(IMREC_ERR_IO, "answers 401");
    aws_variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", tmp_path(&dir, "token"));
    check_signed_by(account(), "AKCONTAINER", "tAKCONTAINER");
    aws_variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", tmp_path(&dir, "none"));
    check_refused(IMREC_ERR_ARGUMENT, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
    tmp_write(&dir, "two", "hidden\nmay-I", 12); /* no header of its own */
    aws_variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", tmp_path(&dir, "two"));
    check_refused(IMREC_ERR_ARGUMENT, "line end");
}

TEST(keys_that_end_soon_are_renewed)
{
    canned_body(server, 0, 200, keys_of("AKOLD", SOON));
    struct aws_account *a = account();
    check_signed_by(a, "AKOLD", "tAKOLD");
    canned_body(server, 0, 200, keys_of("AKNEW", HOURS));
    check_signed_by(a, "AKNEW", "tAKNEW");
    check_signed_by(a, "AKNEW", "tAKNEW");
    ck_assert_int_eq(canned_hits(server, 0), 2);
}

TEST(a_server_that_has_no_newer_keys_is_not_asked_for_each_signature)
{
    canned_body(server, 0, 200, keys_of("AKOLD", SOON));
    struct aws_account *a = account();
    for (int i = 0; i < 6; i++)
        check_signed_by(a, "AKOLD", "tAKOLD");
    ck_assert_int_eq(canned_hits(server, 0), 2);
}

TEST(keys_that_still_count_are_used_while_no_new_ones_are_to_be_had)
{
    canned_body(server, 0, 200, keys_of("AKOLD", SOON));
    struct aws_account *a = account();
    check_signed_by(a, "AKOLD", "tAKOLD");
    canned_body(server, 0, 404, "");
    for (int i = 0; i < 5; i++)
        check_signed_by(a, "AKOLD", "tAKOLD");
    ck_assert_int_eq(canned_hits(server, 0), 2); /* not for each signature */
    aws_account_saw_expiry(a);
    check_refused(IMREC_ERR_IO, "answers 404");
}

TEST(keys_that_ended_sign_nothing)
{
    canned_body(server, 0, 200, keys_of("AKOLD", -3));
    check_refused(IMREC_ERR_IO, "ended");
}

TEST(a_server_that_stumbles_is_asked_again)
{
    canned_body(server, 0, 500, "");
    check_refused(IMREC_ERR_IO, "answers 500");
    ck_assert_int_eq(canned_hits(server, 0), 3);
}

static const struct {
    const char *text;
    enum imrec_status status;
    const char *words;
} answers[] = {
    {"", IMREC_ERR_CORRUPT, "no JSON"},
    {"hidden", IMREC_ERR_CORRUPT, "no JSON"},
    {"{\"hidden\":\"hidden", IMREC_ERR_CORRUPT, "no JSON"},
    {"[\"hidden\"]", IMREC_ERR_CORRUPT, "no text AccessKeyId"},
    {"{\"Code\":\"hidden\",\"AccessKeyId\":\"a\",\"SecretAccessKey\":\"hidden\"}", IMREC_ERR_IO,
     "Code is not Success"},
    {"{\"AccessKeyId\":7,\"SecretAccessKey\":\"hidden\"}", IMREC_ERR_CORRUPT,
     "no text AccessKeyId"},
    {"{\"AccessKeyId\":\"a\",\"SecretAccessKey\":\"\"}", IMREC_ERR_CORRUPT,
     "no text SecretAccessKey"},
    {"{\"AccessKeyId\":\"a\",\"SecretAccessKey\":\"hidden\",\"Token\":\"hid\\u000d\\u000aden\"}",
     IMREC_ERR_ARGUMENT, "byte 4 of Token"},
    {"{\"AccessKeyId\":\"a\",\"SecretAccessKey\":\"hidden\",\"Expiration\":\"hidden\"}",
     IMREC_ERR_CORRUPT, "Expiration is no time"},
};

LOOP_TEST(an_answer_that_is_wrong_is_an_error_without_its_text, 0, COUNT(answers))
{
    canned_body(server, 0, 200, answers[_i].text);
    check_refused(answers[_i].status, answers[_i].words);
}

TEST(keys_without_token_and_end_are_keys)
{
    canned_body(server, 0, 200, "{\"AccessKeyId\":\"AKPLAIN\",\"SecretAccessKey\":\"hidden\"}");
    check_signed_by(account(), "AKPLAIN", "");
}

TEST(an_answer_without_end_is_refused)
{
    static char text[70000];
    memset(text, ' ', sizeof(text) - 1);
    canned_body(server, 0, 200, text);
    check_refused(IMREC_ERR_LIMIT, "longer than 65536 bytes");
}

static const char *const far[] = {
    "http://example.org/keys",
    "http://169.254.170.2.example.org/",
    "ftp://127.0.0.1/",
    "http://127.0.0.1.example.org/x",
    "http://127.0.0.1@example.org/",
    "http://169.254.169.254/",
    "127.0.0.1/keys",
};

LOOP_TEST(a_container_asks_nobody_far_away_in_the_open, 0, COUNT(far))
{
    aws_variable("AWS_CONTAINER_CREDENTIALS_FULL_URI", far[_i]);
    check_refused(IMREC_ERR_ARGUMENT, "AWS_CONTAINER_CREDENTIALS_FULL_URI must be");
}

static struct aws_account *shared;
static atomic_int signed_by_new;

static void *sign_once(void *unused)
{
    struct aws_signer s = {.account = shared, .region = "r", .service = "s3"};
    struct wire_job *mine = imrec_zalloc(1, sizeof(*mine));
    (void)unused;
    *mine = (struct wire_job){.method = "GET", .url = "http://127.0.0.1/b/k"};
    ck_assert_int_eq(aws_sign(&s, mine, NULL), IMREC_OK);
    imrec_free(mine);
    atomic_fetch_add(&signed_by_new, 1);
    return NULL;
}

/* All wait for the one that asks. */
TEST(of_many_threads_one_asks)
{
    struct thread t[8] = {{0}};
    shared = account();
    canned_hold(server);
    for (int i = 0; i < COUNT(t); i++)
        ck_assert_int_eq(thread_start(&t[i], "signs", sign_once, NULL, &err), IMREC_OK);
    canned_wait(server);
    ck_assert_int_eq(atomic_load(&signed_by_new), 0);
    canned_release(server);
    for (int i = 0; i < COUNT(t); i++)
        thread_join(&t[i]);
    ck_assert_int_eq(canned_hits(server, 0), 1);
}

/* Nobody waits for new keys while the old ones are good. */
TEST(while_one_asks_the_others_sign_with_what_there_is)
{
    struct thread t = {0};
    canned_body(server, 0, 200, keys_of("AKOLD", SOON));
    shared = account();
    check_signed_by(shared, "AKOLD", "tAKOLD");
    canned_hold(server);
    canned_body(server, 0, 200, keys_of("AKNEW", HOURS));
    ck_assert_int_eq(thread_start(&t, "signs", sign_once, NULL, &err), IMREC_OK);
    canned_wait(server);
    check_signed_by(shared, "AKOLD", "tAKOLD");
    canned_release(server);
    thread_join(&t);
    check_signed_by(shared, "AKNEW", "tAKNEW");
}

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) /* ends a child that starts a thread */
#define NO_THREADS_AFTER_FORK
#endif
#endif
#ifndef NO_THREADS_AFTER_FORK
/* The child has no thread that asks, and asks itself. */
TEST(a_process_that_is_forked_while_a_thread_asks_signs)
{
    struct thread t = {0};
    int status;
    shared = account();
    canned_hold(server);
    ck_assert_int_eq(thread_start(&t, "signs", sign_once, NULL, &err), IMREC_OK);
    canned_wait(server);
    const pid_t child = fork();
    if (child == 0)
        _exit(sign(shared) == IMREC_OK ? 0 : 1);
    canned_release(server);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    thread_join(&t);
    ck_assert_int_eq(canned_hits(server, 0), 2);
}
#endif

/* ---- roles by STS ------------------------------------------------------------------------ */

#define ARN "arn:aws:iam::123456789012:role/reader"

static const char *xml_of(const char *access_key, int seconds)
{
    static char texts[4][700];
    static unsigned turn;
    char *text = texts[turn++ % 4];
    const char *ends = strstr(keys_of(access_key, seconds), "Expiration\":\"") + 13;
    snprintf(text, sizeof(texts[0]),
             "<?xml version=\"1.0\"?><AssumeRoleResponse xmlns=\"https://x/\"><AssumeRoleResult>\n"
             "<AssumedRoleUser><Arn>a</Arn></AssumedRoleUser><Credentials>\n"
             "<AccessKeyId>%s</AccessKeyId><SecretAccessKey>hidden</SecretAccessKey>"
             "<SessionToken>t%s</SessionToken><Expiration>%.20s</Expiration></Credentials>"
             "</AssumeRoleResult></AssumeRoleResponse>",
             access_key, access_key, ends);
    return text;
}

static struct canned_row sts[] = {{"POST /", NULL, 200, "", 0}};

static void sts_setup(void)
{
    setup();
    server = canned_start(sts, COUNT(sts));
    aws_variable("AWS_ENDPOINT_URL_STS", server->url);
    canned_body(server, 0, 200, xml_of("AKROLE", HOURS));
}

static void home_file(const char *variable, const char *name, const char *text)
{
    aws_variable(variable, tmp_write(&dir, name, text, strlen(text)));
}

static void check_asked(const char *const *words, int n)
{
    for (int i = 0; i < n; i++)
        ck_assert_msg(canned_heard(server, words[i]), "%s is not in %s", words[i], server->last);
}

CASE(.timeout = 120, .setup = sts_setup, .teardown = servers_teardown)

TEST(the_role_of_a_web_identity_signs)
{
    static const char *const words[] = {
        "Action=AssumeRoleWithWebIdentity&Version=2011-06-15",
        "&RoleArn=arn%3Aaws%3Aiam%3A%3A123456789012%3Arole%2Freader", "&RoleSessionName=imrec",
        "&WebIdentityToken=j.w-t%2B%3D", "Content-Type: application/x-www-form-urlencoded"};
    home_file("AWS_WEB_IDENTITY_TOKEN_FILE", "token", "j.w-t+=\n");
    aws_variable("AWS_ROLE_ARN", ARN);
    struct aws_account *a = account();
    for (int i = 0; i < 3; i++)
        check_signed_by(a, "AKROLE", "tAKROLE");
    ck_assert_int_eq(canned_hits(server, 0), 1);
    check_asked(words, COUNT(words));
    ck_assert(!canned_heard(server, "Authorization"));
    ck_assert(!canned_heard(server, "%0A")); /* the end of the token's line */
    home_file("AWS_WEB_IDENTITY_TOKEN_FILE", "empty", "\n");
    check_refused(IMREC_ERR_ARGUMENT, "/empty: the token of a web identity cannot be read");
}

TEST(sts_is_where_the_variables_say_and_behind_a_proxy_too)
{
    static struct canned_row rows[] = {{"POST http://sts.invalid/", NULL, 200, "", 0}};
    struct canned *proxy = canned_start(rows, 1);
    canned_body(proxy, 0, 200, xml_of("AKFAR", HOURS));
    home_file("AWS_WEB_IDENTITY_TOKEN_FILE", "token", "jwt");
    aws_variable("AWS_ROLE_ARN", ARN);
    unsetenv("AWS_ENDPOINT_URL_STS");
    aws_variable("AWS_ENDPOINT_URL", server->url);
    check_signed_by(account(), "AKROLE", "tAKROLE");
    aws_variable("AWS_ENDPOINT_URL_STS", "http://sts.invalid");
    aws_variable("http_proxy", proxy->url);
    check_signed_by(account(), "AKFAR", "tAKFAR");
    canned_stop(proxy);
}

TEST(the_role_of_a_profile_is_asked_for_with_the_keys_of_its_source)
{
    static const char *const words[] = {
        "Action=AssumeRole&",
        "&RoleSessionName=me",
        "&ExternalId=e%2F1",
        "Authorization: AWS4-HMAC-SHA256 Credential=AKSOURCE/20",
        "/eu-west-1/sts/aws4_request",
        "SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date;x-amz-security-token,"};
    home_file("AWS_SHARED_CREDENTIALS_FILE", "credentials",
              "[default]\naws_access_key_id=AKNOT\naws_secret_access_key=hidden\n"
              "[base]\naws_access_key_id=AKSOURCE\naws_secret_access_key=hidden\n"
              "aws_session_token=hidden\n");
    home_file("AWS_CONFIG_FILE", "config",
              "[default]\nrole_arn=" ARN "\nsource_profile=base\nexternal_id=e/1\n"
              "role_session_name=me\nregion=eu-west-1\n");
    check_signed_by(account(), "AKROLE", "tAKROLE");
    check_asked(words, COUNT(words));
}

TEST(a_role_of_a_profile_goes_before_a_web_identity_and_this_before_keys)
{
    home_file("AWS_CONFIG_FILE", "config",
              "[default]\naws_access_key_id=AKFILE\naws_secret_access_key=hidden\n"
              "[profile role]\nrole_arn=arn:of-profile\nweb_identity_token_file=/none\n");
    home_file("AWS_WEB_IDENTITY_TOKEN_FILE", "token", "jwt");
    aws_variable("AWS_ROLE_ARN", ARN);
    check_signed_by(account(), "AKROLE", "tAKROLE");
    aws_variable("AWS_PROFILE", "role");
    check_refused(IMREC_ERR_ARGUMENT, "/none: the token of a web identity cannot be read");
    home_file("AWS_CONFIG_FILE", "other", "[profile role]\nrole_arn=arn:b\nmfa_serial=hidden\n");
    check_refused(IMREC_ERR_UNSUPPORTED, "mfa_serial");
    unsetenv("AWS_ROLE_ARN");
    check_refused(IMREC_ERR_ARGUMENT, "AWS_ROLE_ARN is not");
}

static const struct {
    int status;
    const char *body;
    enum imrec_status expected;
    const char *words;
} sts_answers[] = {
    {403, "<ErrorResponse><Error><Code>AccessDenied</Code><Message>hidden</Message>", IMREC_ERR_IO,
     "the server answers 403 (AccessDenied)"},
    {400, "<Code>hid den</Code>", IMREC_ERR_IO, "answers 400 (and no reason)"},
    {400, "<Code>LongerThanAnyCodeThatAnyServerWouldSendAndLongerThanItsRoomIs.Sixty4</Code>",
     IMREC_ERR_IO, "answers 400 (and no reason)"},
    {200, "", IMREC_ERR_CORRUPT, "no XML with keys"},
    {200, "{\"hidden\":1}", IMREC_ERR_CORRUPT, "no XML with keys"},
    {200, "<a><Credentials><AccessKeyId>hidden</AccessKeyId></Credentials></a>", IMREC_ERR_CORRUPT,
     "no XML with keys"},
    {200, "<a><AccessKeyId>hidden</AccessKeyId><SecretAccessKey>hidden</SecretAccessKey></a>",
     IMREC_ERR_CORRUPT, "no XML with keys"},
    {200,
     "<a><Credentials><AccessKeyId>hidden&#10;</AccessKeyId><SecretAccessKey>hid&#10;den"
     "</SecretAccessKey></Credentials></a>",
     IMREC_ERR_ARGUMENT, "of SecretAccessKey"},
    {200, "<a><Credentials><Expiration>hidden</Expiration></Credentials></a>", IMREC_ERR_CORRUPT,
     "Expiration is no time"},
};

LOOP_TEST(a_role_that_is_not_given_is_an_error_that_says_why, 0, COUNT(sts_answers))
{
    home_file("AWS_WEB_IDENTITY_TOKEN_FILE", "token", "hidden");
    aws_variable("AWS_ROLE_ARN", ARN);
    canned_body(server, 0, sts_answers[_i].status, sts_answers[_i].body);
    check_refused(sts_answers[_i].expected, sts_answers[_i].words);
}

TEST(the_token_of_a_web_identity_is_read_again)
{
    canned_body(server, 0, 200, xml_of("AKOLD", SOON));
    home_file("AWS_WEB_IDENTITY_TOKEN_FILE", "token", "first");
    aws_variable("AWS_ROLE_ARN", ARN);
    check_signed_by(account(), "AKOLD", "tAKOLD");
    tmp_write(&dir, "token", "second", 6);
    canned_body(server, 0, 200, xml_of("AKNEW", HOURS));
    check_signed_by(account(), "AKNEW", "tAKNEW");
    ck_assert(canned_heard(server, "&WebIdentityToken=second"));
}

/* ---- instances --------------------------------------------------------------------------- */

#define ROLES "/latest/meta-data/iam/security-credentials/"

static struct canned_row instance[] = {
    {"PUT /latest/api/token", "X-aws-ec2-metadata-token-ttl-seconds: 21600", 200, "tok==", 0},
    {"GET " ROLES, "X-aws-ec2-metadata-token: tok==", 200, "my-role+1\n", 0},
    {"GET " ROLES "my-role+1", "X-aws-ec2-metadata-token: tok==", 200, "", 0},
};

static void instance_setup(void)
{
    setup();
    server = canned_start(instance, COUNT(instance));
    unsetenv("AWS_EC2_METADATA_DISABLED");
    aws_variable("AWS_EC2_METADATA_SERVICE_ENDPOINT", server->url);
    aws_variable("AWS_METADATA_SERVICE_TIMEOUT", "60");
    canned_body(server, 2, 200, keys_of("AKINSTANCE", HOURS));
}

CASE(.timeout = 120, .setup = instance_setup, .teardown = servers_teardown)

TEST(the_keys_of_an_instance_sign)
{
    struct aws_account *a = account();
    for (int i = 0; i < 3; i++)
        check_signed_by(a, "AKINSTANCE", "tAKINSTANCE");
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(canned_hits(server, i), 1);
}

TEST(containers_go_before_instances)
{
    static struct canned_row rows[] = {{"GET /keys", NULL, 200, "", 0}};
    struct canned *other = canned_start(rows, 1);
    char url[128];
    canned_body(other, 0, 200, keys_of("AKCONTAINER", HOURS));
    snprintf(url, sizeof(url), "%s/keys", other->url);
    aws_variable("AWS_CONTAINER_CREDENTIALS_FULL_URI", url);
    check_signed_by(account(), "AKCONTAINER", "tAKCONTAINER");
    ck_assert_int_eq(canned_hits(server, 0), 0);
    canned_body(other, 0, 403, ""); /* said, and wrong: nothing else is tried */
    aws_account_saw_expiry(account());
    check_refused(IMREC_ERR_IO, "this container: the server answers 403");
    ck_assert_int_eq(canned_hits(server, 0), 0);
    canned_stop(other);
}

static const struct {
    int row, status;
    const char *body;
    enum imrec_status expected;
    const char *words;
} instances[] = {
    {0, 403, "", IMREC_ERR_IO, "answers 403 to /latest/api/token"},
    {0, 200, "", IMREC_ERR_IO, "no token"},
    {0, 200, "hidden hidden", IMREC_ERR_IO, "no token"},
    {1, 404, "", IMREC_ERR_IO, "this instance has no role"},
    {1, 200, "../hidden", IMREC_ERR_IO, "no role"},
    {1, 200, "", IMREC_ERR_IO, "no role"},
    {2, 404, "", IMREC_ERR_IO, "no keys"},
    {2, 200, "hidden", IMREC_ERR_CORRUPT, "no JSON"},
    {2, 200, "{\"Code\":\"AssumeRoleUnauthorizedAccess\"}", IMREC_ERR_IO, "Code is not Success"},
};

LOOP_TEST(an_instance_without_keys_is_an_error_that_says_why, 0, COUNT(instances))
{
    canned_body(server, instances[_i].row, instances[_i].status, instances[_i].body);
    check_refused(instances[_i].expected, instances[_i].words);
}

TEST(a_machine_that_is_no_instance_says_how_to_give_keys)
{
    aws_variable("AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://127.0.0.1:1");
    check_refused(IMREC_ERR_IO, "AWS_ACCESS_KEY_ID is not set");
    ck_assert_int_eq(err.sys_errno, EACCES);
    ck_assert_msg(strstr(err.message, "no answer") != NULL, "%s", err.message);
    aws_variable("AWS_EC2_METADATA_DISABLED", "true");
    check_refused(IMREC_ERR_IO, "AWS_EC2_METADATA_DISABLED is set");
    ck_assert_int_eq(canned_hits(server, 0), 0);
}

/* Keys go by no proxy. */
TEST(a_proxy_of_the_variables_is_not_asked)
{
    aws_variable("http_proxy", "http://127.0.0.1:1");
    aws_variable("all_proxy", "http://127.0.0.1:1");
    check_signed_by(account(), "AKINSTANCE", "tAKINSTANCE");
}

/* ---- times ------------------------------------------------------------------------------- */

CASE(.timeout = 60)

TEST(times_are_read_to_the_second)
{
    static const struct {
        const char *text;
        int64_t at; /* -1: it is none */
    } times[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"2013-05-24T00:00:00Z", 1369353600},
        {"2024-02-29T23:59:59.123456Z", 1709251199},
        {"2038-01-19T03:14:08+00:00", INT64_C(2147483648)},
        {"9999-12-31T23:59:59Z", INT64_C(253402300799)},
        {"", -1},
        {"2013-05-24", -1},
        {"2013-05-24T00:00:00", -1},
        {"2013-05-24T00:00:00+02:00", -1},
        {"2013-13-24T00:00:00Z", -1},
        {"2013-00-24T00:00:00Z", -1},
        {"2013-04-31T00:00:00Z", -1},
        {"2013-05-24T24:00:00Z", -1},
        {"2013-05-24T00:60:00Z", -1},
        {"2013-05-24T00:00:00Zulu", -1},
        {"-013-05-24T00:00:00Z", -1},
    };
    for (int i = 0; i < COUNT(times); i++) {
        int64_t at = -1;
        ck_assert_msg(aws_answer_time(times[i].text, &at) == (times[i].at != -1), "%s",
                      times[i].text);
        ck_assert_msg(at == times[i].at, "%s: %lld", times[i].text, (long long)at);
    }
}
