/* storage/aws/aws_values.h - keys, regions, endpoints: what they may be made of, and copies of
 * them. Private to this room.
 *
 * `where` is what messages begin with: a variable, a line of a file. None has the value. */
#ifndef IMREC_STORAGE_AWS_AWS_VALUES_H
#define IMREC_STORAGE_AWS_AWS_VALUES_H

#include "imrec/error.h"

#define AWS_FOR_EVER     INT64_MAX
#define AWS_REGION_BYTES 32
#define AWS_URL_BYTES    512
#define AWS_PATH_BYTES   512
#define AWS_NAME_BYTES   128
#define AWS_TOKEN_BYTES  2048

struct aws_keys {
    char access_key[129], secret[257], token[4097]; /* ""; a token only of a session */
    int64_t ends;                                   /* seconds since 1970, or AWS_FOR_EVER */
};

struct aws_role { /* that is taken on, by a token of a file or with the keys of another profile */
    char arn[1024], session[65], external_id[1225]; /* arn "": there is none */
    char token_file[AWS_PATH_BYTES], source[AWS_NAME_BYTES];
};

/* Copies text[0..n), a part of keys or a name: printable ASCII without blanks, as `what` of the
 * place. IMREC_ERR_LIMIT: it has no room; IMREC_ERR_ARGUMENT: it has another byte. */
IMREC_NODISCARD enum imrec_status aws_key_copy(char *to, size_t room, const char *text, size_t n,
                                               const char *where, const char *what,
                                               struct imrec_error *err);
/* "http://HOST:PORT/PATH" without a '/' at its end; IMREC_ERR_ARGUMENT for all else. */
IMREC_NODISCARD enum imrec_status aws_endpoint_copy(char to[AWS_URL_BYTES], const char *text,
                                                    size_t n, const char *where,
                                                    struct imrec_error *err);
/* Letters, digits, '-' and '_'; IMREC_ERR_ARGUMENT for all else. */
IMREC_NODISCARD enum imrec_status aws_region_copy(char to[AWS_REGION_BYTES], const char *text,
                                                  size_t n, const char *where,
                                                  struct imrec_error *err);
#endif
