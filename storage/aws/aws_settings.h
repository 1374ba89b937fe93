/* storage/aws/aws_settings.h - what the variables of AWS's tools say, copied. Private to this room.
 *
 * Texts that are not said are "". Two with equal bytes are the same settings. */
#ifndef IMREC_STORAGE_AWS_AWS_SETTINGS_H
#define IMREC_STORAGE_AWS_AWS_SETTINGS_H

#include "storage/aws/aws_values.h"

struct aws_settings {
    struct aws_keys keys;          /* AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN */
    char endpoint[AWS_URL_BYTES];  /* AWS_ENDPOINT_URL_S3, else AWS_ENDPOINT_URL */
    char region[AWS_REGION_BYTES]; /* AWS_REGION, else AWS_DEFAULT_REGION */
    bool ignore_endpoints;         /* AWS_IGNORE_CONFIGURED_ENDPOINT_URLS */

    /* AWS_PROFILE, else AWS_DEFAULT_PROFILE, else "default", which need not be in a file. */
    char profile[AWS_NAME_BYTES];
    bool profile_named;
    /* AWS_SHARED_CREDENTIALS_FILE, AWS_CONFIG_FILE, else those in ~/.aws; "": no home. */
    char credentials_file[AWS_PATH_BYTES], config_file[AWS_PATH_BYTES];

    /* AWS_WEB_IDENTITY_TOKEN_FILE, AWS_ROLE_ARN, AWS_ROLE_SESSION_NAME; arn "": not said. */
    struct aws_role role;
    char sts_endpoint[AWS_URL_BYTES]; /* AWS_ENDPOINT_URL_STS, else AWS_ENDPOINT_URL */

    /* AWS_CONTAINER_CREDENTIALS_RELATIVE_URI, _FULL_URI; AWS_CONTAINER_AUTHORIZATION_TOKEN, _FILE.
     */
    char container_relative[AWS_URL_BYTES], container_full[AWS_URL_BYTES];
    char container_token[AWS_TOKEN_BYTES], container_token_file[AWS_PATH_BYTES];
    /* AWS_EC2_METADATA_DISABLED, _SERVICE_ENDPOINT, _SERVICE_ENDPOINT_MODE;
     * AWS_METADATA_SERVICE_TIMEOUT. */
    bool metadata_disabled;
    char metadata_endpoint[AWS_URL_BYTES];
    uint32_t metadata_seconds;

    bool anonymous; /* AWS_NO_SIGN_REQUEST */
};

/* IMREC_ERR_ARGUMENT or IMREC_ERR_LIMIT, which name the variable and not its value. */
IMREC_NODISCARD enum imrec_status
aws_settings_read(struct aws_settings *out, struct imrec_error *err);
#endif
