/* tests/storage/test_aws_files.c - credentials and config files: whose keys, which region and
 * endpoint a profile has, and what is wrong with it, by file and line and without a secret. */
#include "storage/aws/aws_profile.h"
#include "tests/support/aws_signed.h"

#include <errno.h>
#include <sys/stat.h>

static void home_file(const char *name, const char *text)
{
    mkdir(tmp_path(&dir, ".aws"), 0700);
    tmp_write(&dir, name, text, strlen(text));
}

static void credentials(const char *text)
{
    home_file(".aws/credentials", text);
}

static void config(const char *text)
{
    home_file(".aws/config", text);
}

#define KEYS(name) "aws_access_key_id = " name "\naws_secret_access_key = hidden/+=\n"

CASE(.timeout = 120, .setup = setup, .teardown = teardown)

/* ---- whose keys -------------------------------------------------------------------------- */

static const struct {
    const char *credentials, *config, *profile, *by, *token;
} found[] = {
    {"[default]\n" KEYS("AKA"), "", "", "AKA", ""},
    {"[other]\n" KEYS("AKB") "[default]\n" KEYS("AKA"), "", "", "AKA", ""},
    {"[default]\n" KEYS("AKA") "[work]\n" KEYS("AKB"), "", "work", "AKB", ""},
    {"", "[default]\n" KEYS("AKA"), "", "AKA", ""},
    {"", "[profile default]\n" KEYS("AKA"), "", "AKA", ""},
    {"", "[profile work]\n" KEYS("AKB"), "work", "AKB", ""},
    {"", "[profile \"my work\"]\n" KEYS("AKB"), "my work", "AKB", ""},
    /* The credentials file first, its token with it. */
    {"[default]\n" KEYS("AKA") "aws_session_token = t1\n",
     "[default]\n" KEYS("AKB") "aws_session_token=t2\n", "", "AKA", "t1"},
    {"[default]\n" KEYS("AKA"), "[default]\n" KEYS("AKB") "aws_session_token=t2\n", "", "AKA", ""},
    /* A section in two pieces, the last value of a name. */
    {"[default]\naws_access_key_id=AKZ\n[b]\nx=y\n[default]\n" KEYS("AKA"), "", "", "AKA", ""},
    /* Blanks, comments, capitals, line ends of others, a byte order mark. */
    {"# mine\n\n; too\n[ default ] # here\n  \nAWS_Access_Key_ID=AKA #no\t\r\n"
     "aws_secret_access_key\t=\thidden#hidden ; no\r\n",
     "", "", "AKA", ""},
    {"\xef\xbb\xbf[default]\r" KEYS("AKA"), "", "", "AKA", ""},
    {"[default]\naws_access_key_id = AK#A;b\naws_secret_access_key = s\n", "", "", "AK#A;b", ""},
    /* What is in s3 = is no key of the profile. */
    {"[default]\n" KEYS("AKA") "s3 =\n  aws_access_key_id = AKB\n  max_queue = 5\n", "", "", "AKA",
     ""},
    {"[default]\n" KEYS("AKA") "cli =\n  one\n  two\n", "", "", "AKA", ""},
    /* A source that goes after the credentials file. */
    {"[default]\n" KEYS("AKA"), "[default]\ncredential_process = /bin/false\n", "", "AKA", ""},
};

LOOP_TEST(the_keys_of_a_profile_sign, 0, COUNT(found))
{
    credentials(found[_i].credentials);
    config(found[_i].config);
    if (found[_i].profile[0] != '\0')
        aws_variable("AWS_PROFILE", found[_i].profile);
    check_signed_by(account(), found[_i].by, found[_i].token);
}

TEST(variables_go_before_files)
{
    credentials("[default]\n" KEYS("AKFILE") "aws_session_token = t\n");
    aws_variable("AWS_ACCESS_KEY_ID", "AKENV");
    aws_variable("AWS_SECRET_ACCESS_KEY", "hidden");
    check_signed_by(account(), "AKENV", "");
}

TEST(files_of_other_names_and_a_profile_of_the_older_variable)
{
    home_file("mine", "[one]\n" KEYS("AKONE"));
    home_file("conf", "[profile one]\nregion = eu-north-1\n");
    aws_variable("AWS_SHARED_CREDENTIALS_FILE", "~/mine");
    aws_variable("AWS_CONFIG_FILE", tmp_path(&dir, "conf"));
    aws_variable("AWS_DEFAULT_PROFILE", "one");
    check_signed_by(account(), "AKONE", "");
    ck_assert_str_eq(aws_account_region(account()), "eu-north-1");
    aws_variable("AWS_PROFILE", "two");
    check_refused(IMREC_ERR_ARGUMENT, "profile 'two' is neither in");
}

TEST(keys_that_were_replaced_are_read_again_once_the_old_ones_have_expired)
{
    credentials("[default]\n" KEYS("AKOLD"));
    struct aws_account *a = account();
    check_signed_by(a, "AKOLD", "");
    credentials("[default]\n" KEYS("AKNEW"));
    check_signed_by(a, "AKOLD", "");
    aws_account_saw_expiry(a);
    check_signed_by(a, "AKNEW", "");
}

/* ---- regions and endpoints --------------------------------------------------------------- */

static const struct {
    const char *config, *region, *endpoint;
    bool path_style;
} places[] = {
    {"[default]\nregion = eu-west-3\n", "eu-west-3", NULL, false},
    {"[default]\nendpoint_url = http://ceph:7480/\n", NULL, "http://ceph:7480", true},
    {"[default]\nendpoint_url = http://ceph\ns3 =\n  addressing_style = virtual\n", NULL,
     "http://ceph", false},
    {"[default]\nendpoint_url = http://ceph\ns3 =\n  addressing_style = auto\n", NULL,
     "http://ceph", true},
    {"[default]\ns3 =\n  addressing_style = path\n", NULL, NULL, true},
    {"[services mine]\ns3 =\n  endpoint_url = http://s3\n[default]\nendpoint_url = http://all\n"
     "services = mine\n",
     NULL, "http://s3", true},
    {"[default]\nendpoint_url = http://all\nservices = mine\n[services mine]\ndynamodb =\n"
     "  endpoint_url = http://other\n[services others]\ns3 =\n  endpoint_url = http://s3\n",
     NULL, "http://all", true},
    {"[default]\nservices = default\ns3 =\n  endpoint_url = http://none\n", NULL, NULL, false},
    {"[profile other]\nregion = us-west-2\nendpoint_url = http://all\n", NULL, NULL, false},
};

static void check_same(const char *text, const char *expected)
{
    ck_assert_msg((text == NULL) == (expected == NULL), "%s, not %s", text, expected);
    if (text != NULL)
        ck_assert_str_eq(text, expected);
}

LOOP_TEST(the_config_file_says_where, 0, COUNT(places))
{
    config(places[_i].config);
    struct aws_account *a = account();
    check_same(aws_account_region(a), places[_i].region);
    check_same(aws_account_endpoint(a), places[_i].endpoint);
    ck_assert_int_eq(aws_account_path_style(a), places[_i].path_style);
}

TEST(variables_say_where_before_files_do)
{
    config("[default]\nregion = eu-west-3\nendpoint_url = http://ceph:7480\n");
    aws_variable("AWS_DEFAULT_REGION", "us-west-1");
    aws_variable("AWS_ENDPOINT_URL", "http://minio:9000");
    ck_assert_str_eq(aws_account_region(account()), "us-west-1");
    ck_assert_str_eq(aws_account_endpoint(account()), "http://minio:9000");
    unsetenv("AWS_ENDPOINT_URL");
    aws_variable("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true");
    ck_assert_ptr_null(aws_account_endpoint(account()));
}

/* ---- what is wrong ----------------------------------------------------------------------- */

static const struct {
    const char *credentials, *config;
    enum imrec_status status;
    const char *words;
} wrong[] = {
    {"aws_secret_access_key = hidden\n", "", IMREC_ERR_CORRUPT,
     "credentials line 1: a [section] must come first"},
    {"[default]\n\nhidden\n", "", IMREC_ERR_CORRUPT,
     "credentials line 3: it must be [section] or name = value"},
    {"[hidden\n", "", IMREC_ERR_CORRUPT, "credentials line 1: a section's name must end with ']'"},
    {"[default] hidden = 1\n", "", IMREC_ERR_CORRUPT, "line 1: nothing but a comment"},
    {"[default]\n  hidden\n", "", IMREC_ERR_CORRUPT, "credentials line 2"},
    {"", "[default]\nhidden\n", IMREC_ERR_CORRUPT, "config line 2"},
    {"[default]\naws_access_key_id = AKhidden\n", "", IMREC_ERR_ARGUMENT,
     "has aws_access_key_id and no aws_secret_access_key"},
    {"[default]\naws_secret_access_key = hidden\n", "[default]\naws_access_key_id = AKhidden\n",
     IMREC_ERR_ARGUMENT, "config: the profile has aws_access_key_id"},
    {"[default]\naws_access_key_id = AK\naws_secret_access_key = hidden hidden\n", "",
     IMREC_ERR_ARGUMENT, "credentials line 3: byte 7 of aws_secret_access_key"},
    {"[default]\naws_access_key_id = AKhidden\xc3\xa9\n", "", IMREC_ERR_ARGUMENT,
     "credentials line 2: byte 9 of aws_access_key_id"},
    {"", "[default]\nregion = hidden.example.org/\n", IMREC_ERR_ARGUMENT,
     "config line 2: the region"},
    {"", "[default]\nendpoint_url = http://me:hidden@host\n", IMREC_ERR_ARGUMENT,
     "config line 2: the endpoint"},
    {"", "[default]\ns3 =\n  addressing_style = hidden\n", IMREC_ERR_ARGUMENT,
     "config line 3: addressing_style must be path, virtual or auto"},
    /* Sources that are not supported are not passed over. */
    {"[default]\n" KEYS("AKhidden"), "[default]\nrole_arn = arn:hidden\n", IMREC_ERR_UNSUPPORTED,
     "config line 2: keys by role_arn without source_profile are not supported; put those"},
    {"[a]\n" KEYS("AKhidden"),
     "[default]\nrole_arn = hidden\nsource_profile=a\nmfa_serial=hidden\n", IMREC_ERR_UNSUPPORTED,
     "config line 4: keys by mfa_serial are not supported"},
    {"", "[default]\nrole_arn = hidden\ncredential_source = Environment\n", IMREC_ERR_UNSUPPORTED,
     "config line 3: keys by credential_source are not supported"},
    {"", "[default]\nrole_arn = hidden\nsource_profile = x\n", IMREC_ERR_ARGUMENT,
     "source_profile: profile 'x' is neither in"},
    {"", "[default]\nrole_arn = hidden\nsource_profile = x\n[profile x]\n", IMREC_ERR_UNSUPPORTED,
     "profile 'x', a source_profile, has no keys of its own"},
    {"", "[default]\nrole_arn = hidden\nsource_profile = x\n[profile x]\nsso_session = hidden\n",
     IMREC_ERR_UNSUPPORTED, "config line 5: keys by sso_session"},
    {"[default]\n" KEYS("AKhidden"), "[default]\nsso_session = hidden\n", IMREC_ERR_UNSUPPORTED,
     "config line 2: keys by sso_session are not supported"},
    {"", "[default]\nsso_start_url = https://hidden\n", IMREC_ERR_UNSUPPORTED,
     "keys by sso_session"},
    {"", "[default]\ncredential_process = hidden\n" KEYS("AKhidden"), IMREC_ERR_UNSUPPORTED,
     "config line 2: keys by credential_process are not supported"},
    {"[default]\ncredential_process = hidden\n", "", IMREC_ERR_UNSUPPORTED, "credentials line 2"},
    {"[other]\n" KEYS("AKhidden"), "", IMREC_ERR_IO, "profile 'default' has none"},
};

LOOP_TEST(what_is_wrong_is_named_by_file_and_line, 0, COUNT(wrong))
{
    credentials(wrong[_i].credentials);
    config(wrong[_i].config);
    check_refused(wrong[_i].status, wrong[_i].words);
}

/* Not to be anonymous in silence, and no other profile's keys. */
TEST(a_profile_that_is_named_and_nowhere_is_refused)
{
    credentials("[default]\n" KEYS("AKhidden"));
    config("[work]\nregion = eu-west-1\n"); /* it must be [profile work] */
    aws_variable("AWS_PROFILE", "work");
    check_refused(IMREC_ERR_ARGUMENT, "AWS_PROFILE: profile 'work' is neither in");
    config("[profile work]\n");
    aws_variable("AWS_REGION", "another"); /* environment, so another account */
    check_refused(IMREC_ERR_IO, "profile 'work' has none");
}

TEST(a_key_of_a_file_that_is_too_long_is_refused)
{
    static char text[8000] = "[default]\naws_session_token = hidden";
    memset(text + strlen(text), 'n', 5000);
    credentials(text);
    check_refused(IMREC_ERR_LIMIT, "credentials line 2: aws_session_token has more than 4096");
}

TEST(a_file_without_end_is_refused)
{
    aws_variable("AWS_SHARED_CREDENTIALS_FILE", "/dev/zero");
    check_refused(IMREC_ERR_LIMIT, "/dev/zero: it is longer than 1048576 bytes");
}

TEST(files_that_are_not_there_have_no_keys)
{
    aws_variable("AWS_SHARED_CREDENTIALS_FILE", "/dev/null");
    aws_variable("AWS_CONFIG_FILE", dir.path); /* a folder */
    check_refused(IMREC_ERR_IO, "no AWS credentials");
    unsetenv("HOME");
    unsetenv("AWS_SHARED_CREDENTIALS_FILE");
    unsetenv("AWS_CONFIG_FILE");
    check_refused(IMREC_ERR_IO, "no AWS credentials");
}

TEST(nobody_needs_keys_for_what_is_public)
{
    config("[default]\nrole_arn = arn:hidden\nregion = eu-west-3\n");
    aws_variable("AWS_NO_SIGN_REQUEST", "YES");
    ck_assert_int_eq(sign(account()), IMREC_OK);
    ck_assert_str_eq(aws_account_region(account()), "eu-west-3");
}
