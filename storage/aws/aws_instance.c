/* storage/aws/aws_instance.c - the keys of an instance's role, by version 2 of its metadata
 * service: a token first, then the role's name, then its keys. */
#include "base/system.h"
#include "storage/aws/aws_answer.h"
#include "storage/aws/aws_fetch.h"
#include "storage/aws/aws_sources.h"

#include "base/error.h"

#include <stdio.h>
#include <string.h>

#define TOKEN_MOST 1024
#define ROLE_MOST  128
#define ROLES      "/latest/meta-data/iam/security-credentials/"

struct asking {
    const struct aws_settings *s;
    char url[AWS_URL_BYTES + sizeof(ROLES) + ROLE_MOST];
    char token[TOKEN_MOST + 1];
    char role[ROLE_MOST + 1];
    struct buf body;
    struct aws_fetch f;
};

static enum imrec_status begin(struct asking *a, const char *method, const char *path,
                               const char *header, const char *value, struct imrec_error *err)
{
    (void)snprintf(a->url, sizeof(a->url), "%s%s%s", a->s->metadata_endpoint, path, a->role);
    a->f = (struct aws_fetch){.method = method,
                              .url = a->url,
                              .header = header,
                              .value = value,
                              .who = "the metadata service of this instance",
                              .seconds = a->s->metadata_seconds,
                              .body = &a->body};
    return aws_fetch(&a->f, err);
}

/* The first line of the answer, of printable ASCII without blanks; false: it is none. */
static bool line_of(const struct buf *body, char *to, size_t room)
{
    size_t n = 0;
    while (n < body->n && body->p[n] > ' ' && body->p[n] <= '~' && n < room - 1) {
        to[n] = (char)body->p[n];
        n++;
    }
    to[n] = '\0';
    return n != 0 && (n == body->n || body->p[n] == '\n' || body->p[n] == '\r');
}

static enum imrec_status
not_as_expected(const struct asking *a, const char *what, const char *path, struct imrec_error *err)
{
    return imrec_fail(err, IMREC_ERR_IO, "%s: it answers %d to %s, and no %s", a->f.who,
                      a->f.status, path, what);
}

/* IMREC_END: this is no instance, or it gives nothing to us. */
static enum imrec_status get_token(struct asking *a, struct aws_why *why, struct imrec_error *err)
{
    static const char path[] = "/latest/api/token";
    struct imrec_error failure = {0};
    enum imrec_status st =
        begin(a, "PUT", path, "X-aws-ec2-metadata-token-ttl-seconds", "21600", &failure);
    if (st == IMREC_OK && (a->f.status != 200 || !line_of(&a->body, a->token, sizeof(a->token))))
        st = not_as_expected(a, "token", path, &failure);
    if (st == IMREC_OK)
        return st;
    if (st == IMREC_ERR_NO_MEMORY)
        return IMREC_NO_MEMORY(err, "%s: no memory to ask for a token", a->f.who);
    (void)snprintf(why->s, sizeof(why->s), "%.*s", (int)sizeof(why->s) - 1, failure.message);
    return IMREC_END;
}

static enum imrec_status
get_keys(struct asking *a, struct aws_keys *out, struct aws_why *why, struct imrec_error *err)
{
    static const char header[] = "X-aws-ec2-metadata-token";
    IMREC_TRY(begin(a, "GET", ROLES, header, a->token, err));
    if (a->f.status == 404) {
        (void)snprintf(why->s, sizeof(why->s), "this instance has no role");
        return IMREC_END;
    }
    if (a->f.status != 200 || !line_of(&a->body, a->role, sizeof(a->role)) ||
        strpbrk(a->role, "/?#%") != NULL) {
        a->role[0] = '\0';
        return not_as_expected(a, "role", ROLES, err);
    }
    IMREC_TRY(begin(a, "GET", ROLES, header, a->token, err));
    if (a->f.status != 200)
        return not_as_expected(a, "keys", ROLES, err);
    return aws_answer_keys(a->f.who, (struct bytes){a->body.p, a->body.n}, out, err);
}

enum imrec_status aws_instance_keys(const struct aws_settings *s, struct aws_keys *out,
                                    struct aws_why *why, struct imrec_error *err)
{
    if (s->metadata_disabled) {
        (void)snprintf(why->s, sizeof(why->s), "AWS_EC2_METADATA_DISABLED is set");
        return IMREC_END;
    }
    struct asking a = {.s = s, .body = BUF_INIT(AWS_ANSWER_MOST)};
    enum imrec_status st = get_token(&a, why, err);
    if (st == IMREC_OK)
        st = get_keys(&a, out, why, err);
    aws_wipe(&a.body);
    system_wipe(a.token, sizeof(a.token));
    return st;
}
