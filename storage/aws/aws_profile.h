/* storage/aws/aws_profile.h - a profile, out of the texts of credentials and config file. Pure;
 * private to this room. */
#ifndef IMREC_STORAGE_AWS_AWS_PROFILE_H
#define IMREC_STORAGE_AWS_AWS_PROFILE_H

#include "base/bytes.h"
#include "storage/aws/aws_values.h"

enum aws_addressing { AWS_ADDRESSING_AUTO, AWS_ADDRESSING_PATH, AWS_ADDRESSING_VIRTUAL };

struct aws_file {
    const char *name;  /* as messages show it */
    struct bytes text; /* n 0: there is none */
};
struct aws_files {
    struct aws_file credentials, config;
};

struct aws_profile {
    bool found;           /* in one of the files */
    struct aws_keys keys; /* access_key "": it has none */
    struct aws_role role; /* goes before `keys`; it has a token's file or a source */
    char region[AWS_REGION_BYTES], endpoint[AWS_URL_BYTES]; /* "": not said */
    enum aws_addressing addressing;
    /* A setting that says that keys come from elsewhere, by a way that is not supported, and goes
     * before `keys`; NULL: there is none. */
    const char *elsewhere;
    const char *elsewhere_file;
    uint64_t elsewhere_line;
};

/* `name`: "default" or another. IMREC_ERR_CORRUPT, IMREC_ERR_ARGUMENT and IMREC_ERR_LIMIT name file
 * and line, and no value. */
IMREC_NODISCARD enum imrec_status aws_profile_read(const struct aws_files *files, const char *name,
                                                   struct aws_profile *out,
                                                   struct imrec_error *err);
#endif
