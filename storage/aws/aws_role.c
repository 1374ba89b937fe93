/* storage/aws/aws_role.c - the keys of a role that is taken on: a question to STS, and its answer.
 */
#include "base/system.h"
#include "storage/aws/aws_answer.h"
#include "storage/aws/aws_fetch.h"
#include "storage/aws/aws_sources.h"

#include "base/error.h"
#include "formats/xml_text.h"
#include "storage/aws/sigv4.h"
#include "storage/wire/url.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define TOKEN_MOST ((size_t)32 << 10)
#define SECONDS    30
#define FORM       "application/x-www-form-urlencoded"
#define HOME       "us-east-1" /* of what has no region */

static const char who[] = "STS, which gives the keys of a role";

/* ---- the question ------------------------------------------------------------------------ */

struct signing {
    const struct aws_keys *keys;
    const char *region;
};

static enum imrec_status sign(void *user, struct wire_job *job, struct imrec_error *err)
{
    const struct signing *s = user;
    const struct sigv4_keys k = {s->keys->access_key, s->keys->secret, s->keys->token};
    return sigv4_sign(&k, s->region, "sts", (int64_t)time(NULL), job, err);
}

static enum imrec_status
add(struct buf *form, const char *name, const void *value, size_t n, struct imrec_error *err)
{
    if (n == 0)
        return IMREC_OK;
    IMREC_TRY(buf_append(form, name, strlen(name), err));
    return url_append_encoded(form, value, n, false, err);
}

static enum imrec_status add_token(struct buf *form, const char *path, struct imrec_error *err)
{
    struct buf token = BUF_INIT(TOKEN_MOST);
    enum imrec_status st = aws_file_read(path, true, &token, err);
    if (st == IMREC_END || (st == IMREC_OK && token.n == 0))
        st = IMREC_REFUSE(err, "%.200s: the token of a web identity cannot be read", path);
    if (st == IMREC_OK)
        st = add(form, "&WebIdentityToken=", token.p, token.n, err);
    aws_wipe(&token);
    return st;
}

static enum imrec_status
compose(const struct aws_role *r, bool by_token, struct buf *form, struct imrec_error *err)
{
    const char *session = r->session[0] != '\0' ? r->session : "imrec",
               *begin = by_token ? "Action=AssumeRoleWithWebIdentity&Version=2011-06-15"
                                 : "Action=AssumeRole&Version=2011-06-15";
    IMREC_TRY(buf_append(form, begin, strlen(begin), err));
    IMREC_TRY(add(form, "&RoleArn=", r->arn, strlen(r->arn), err));
    IMREC_TRY(add(form, "&RoleSessionName=", session, strlen(session), err));
    if (by_token)
        return add_token(form, r->token_file, err);
    return add(form, "&ExternalId=", r->external_id, strlen(r->external_id), err);
}

static void url_of(const struct aws_settings *s, const char *region, char *to, size_t room)
{
    if (s->sts_endpoint[0] != '\0')
        (void)snprintf(to, room, "%s/", s->sts_endpoint);
    else
        (void)snprintf(to, room, "https://sts.%s.amazonaws.com%s/", region,
                       strncmp(region, "cn-", 3) == 0 ? ".cn" : "");
}

/* ---- the answer -------------------------------------------------------------------------- */

static enum imrec_status take(const struct xml *x, struct aws_keys *out, struct imrec_error *err)
{
    static const char within[] = "/Credentials/";
    char ends[64];
    const struct {
        const char *name;
        char *to;
        size_t room;
    } parts[] = {{"AccessKeyId", out->access_key, sizeof(out->access_key)},
                 {"SecretAccessKey", out->secret, sizeof(out->secret)},
                 {"SessionToken", out->token, sizeof(out->token)},
                 {"Expiration", ends, sizeof(ends)}};
    const char *at = strstr(x->path, within);
    for (size_t i = 0; at != NULL && i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (strcmp(at + sizeof(within) - 1, parts[i].name) != 0)
            continue;
        IMREC_TRY(aws_key_copy(parts[i].to, parts[i].room, x->text, x->text_bytes, who,
                               parts[i].name, err));
        if (parts[i].to == ends && !aws_answer_time(ends, &out->ends))
            return imrec_fail(err, IMREC_ERR_CORRUPT, "%s: the Expiration is no time", who);
    }
    return IMREC_OK;
}

static enum imrec_status
read_answer(struct bytes text, struct aws_keys *out, struct imrec_error *err)
{
    struct xml x;
    enum xml_event event;
    enum imrec_status st, bad = IMREC_OK;
    *out = (struct aws_keys){.ends = AWS_FOR_EVER};
    xml_begin(&x, who, text);
    while (bad == IMREC_OK && (st = xml_next(&x, &event, NULL)) == IMREC_OK)
        if (event == XML_CLOSE)
            bad = take(&x, out, err);
    system_wipe(&x, sizeof(x));
    IMREC_TRY(bad);
    if (st == IMREC_END && out->access_key[0] != '\0' && out->secret[0] != '\0')
        return IMREC_OK;
    return imrec_fail(err, IMREC_ERR_CORRUPT, "%s: the answer is no XML with keys", who);
}

static enum imrec_status ask(struct aws_fetch *f, struct aws_keys *out, struct imrec_error *err)
{
    IMREC_TRY(aws_fetch(f, err));
    if (f->status == 200)
        return read_answer((struct bytes){f->body->p, f->body->n}, out, err);
    return imrec_fail(err, IMREC_ERR_IO, "%s: the server answers %d (%s)", who, f->status,
                      f->code[0] != '\0' ? f->code : "and no reason");
}

enum imrec_status aws_role_keys(const struct aws_settings *s, const struct aws_role *role,
                                const char *region, const struct aws_keys *by, struct aws_keys *out,
                                struct imrec_error *err)
{
    char url[AWS_URL_BYTES + 64];
    struct signing signer = {by, region[0] != '\0' ? region : HOME};
    struct buf form = BUF_INIT(4 * TOKEN_MOST), body = BUF_INIT(AWS_ANSWER_MOST);
    struct aws_fetch f = {.method = "POST",
                          .url = url,
                          .header = "Content-Type",
                          .value = FORM,
                          .who = who,
                          .seconds = SECONDS,
                          .body = &body,
                          .far = true,
                          .form = &form,
                          .sign = by != NULL ? sign : NULL,
                          .signer = &signer};
    url_of(s, signer.region, url, sizeof(url));
    enum imrec_status st = compose(role, by == NULL, &form, err);
    if (st == IMREC_OK)
        st = ask(&f, out, err);
    aws_wipe(&form);
    aws_wipe(&body);
    return st;
}
