/* storage/cloud/bearer.c - who asks Google's storage: key pairs, tokens, the metadata server. */
#include "storage/cloud/bearer.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/shown.h"
#include "base/threads.h"
#include "storage/aws/sigv4.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ANSWER_BYTES  ((size_t)64 << 10)
#define RENEW_SECONDS 300 /* before it expires */

static struct mutex g_lock = MUTEX_INIT;
static struct { /* of the metadata server, of this process */
    bool asked, none;
    int64_t expires;
    char token[BEARER_BYTES];
} g_machine;

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

static enum imrec_status sign_keys(void *user, struct wire_job *job, struct imrec_error *err)
{
    const struct sigv4_keys keys = {variable("GS_ACCESS_KEY_ID"), variable("GS_SECRET_ACCESS_KEY"),
                                    NULL};
    (void)user;
    if (keys.access_key == NULL || keys.secret == NULL)
        return IMREC_REFUSE(err, "GS_ACCESS_KEY_ID and GS_SECRET_ACCESS_KEY are no longer set");
    job->suspects = "GS_ACCESS_KEY_ID, GS_SECRET_ACCESS_KEY, and the rights of the key";
    return sigv4_sign(&keys, "auto", "s3", (int64_t)time(NULL), job, err);
}

static enum imrec_status put_token(struct wire_job *job, const char *token, struct imrec_error *err)
{
    job->suspects = "the token, and the rights of its account";
    return wire_headers_add(&job->headers, err, "Authorization: Bearer %s", token);
}

static enum imrec_status sign_token(void *user, struct wire_job *job, struct imrec_error *err)
{
    const char *token = variable("GOOGLE_OAUTH_ACCESS_TOKEN");
    (void)user;
    return token != NULL ? put_token(job, token, err)
                         : IMREC_REFUSE(err, "GOOGLE_OAUTH_ACCESS_TOKEN is no longer set");
}

/* ---- the metadata server -----------------------------------------------------------------------
 */

enum imrec_status
bearer_read(struct bytes text, char token[BEARER_BYTES], uint32_t *seconds, struct imrec_error *err)
{
    json_t *answer = json_loadb((const char *)text.p, text.n, 0, NULL);
    const char *said = json_string_value(json_object_get(answer, "access_token"));
    const json_int_t holds = json_integer_value(json_object_get(answer, "expires_in"));
    /* It goes into a header as it is. */
    const bool good = said != NULL && said[0] != '\0' && strlen(said) < BEARER_BYTES &&
                      shown_as_is(said) && strpbrk(said, " \\") == NULL && holds > 0;
    if (good) {
        (void)snprintf(token, BEARER_BYTES, "%s", said);
        *seconds = holds < UINT32_MAX ? (uint32_t)holds : UINT32_MAX;
    }
    json_decref(answer);
    return good ? IMREC_OK
                : imrec_fail(err, IMREC_ERR_IO,
                             "the metadata server's answer has no access_token and expires_in");
}

/* g_lock is held. */
static enum imrec_status take_token(struct bytes text, struct imrec_error *err)
{
    uint32_t seconds;
    IMREC_TRY(bearer_read(text, g_machine.token, &seconds, err));
    g_machine.expires = (int64_t)time(NULL) + seconds;
    return IMREC_OK;
}

/* g_lock is held. A machine that is not Google's has no such server. */
static enum imrec_status ask_machine(struct wire_job *job, struct buf *to, struct imrec_error *err)
{
    char url[512];
    const char *host = variable("GCE_METADATA_HOST");
    (void)snprintf(url, sizeof(url),
                   "http://%.200s/computeMetadata/v1/instance/service-accounts/default/token",
                   host != NULL ? host : "metadata.google.internal");
    *job = (struct wire_job){.method = "GET", .url = url, .grow = to};
    IMREC_TRY(wire_headers_add(&job->headers, err, "Metadata-Flavor: Google"));
    const enum imrec_status st = wire_ask(job, "the metadata server", NULL, NULL, err);
    if (st == IMREC_OK && job->status == 200)
        return take_token((struct bytes){to->p, to->n}, err);
    if (st == IMREC_ERR_NO_MEMORY || host != NULL)
        return st != IMREC_OK ? st
                              : wire_error(job, "the metadata server", IMREC_NO_OFFSET, NULL, err);
    g_machine.none = !g_machine.asked; /* one that was there once is not given up */
    return g_machine.none ? IMREC_OK : st;
}

static enum imrec_status renew(struct imrec_error *err)
{
    if (g_machine.none ||
        (g_machine.asked && (int64_t)time(NULL) + RENEW_SECONDS < g_machine.expires))
        return IMREC_OK;
    struct wire_job *job = imrec_zalloc(1, sizeof(*job));
    struct buf text = BUF_INIT(ANSWER_BYTES);
    const enum imrec_status st = job == NULL
                                     ? IMREC_NO_MEMORY(err, "no memory to ask the metadata server")
                                     : ask_machine(job, &text, err);
    g_machine.asked = g_machine.asked || (st == IMREC_OK && !g_machine.none);
    buf_free(&text);
    imrec_free(job);
    return st;
}

static enum imrec_status sign_machine(void *user, struct wire_job *job, struct imrec_error *err)
{
    (void)user;
    mutex_lock(&g_lock);
    enum imrec_status st = renew(err);
    if (st == IMREC_OK)
        st = put_token(job, g_machine.token, err);
    mutex_unlock(&g_lock);
    return st;
}

static enum imrec_status find_machine(wire_sign_fn **sign, struct imrec_error *err)
{
    mutex_lock(&g_lock);
    const enum imrec_status st = renew(err);
    *sign = st == IMREC_OK && !g_machine.none ? sign_machine : NULL;
    mutex_unlock(&g_lock);
    return st;
}

enum imrec_status bearer_find(bool emulator, wire_sign_fn **sign, struct imrec_error *err)
{
    *sign = NULL;
    if (variable("GS_ACCESS_KEY_ID") != NULL && variable("GS_SECRET_ACCESS_KEY") != NULL)
        *sign = sign_keys;
    else if (variable("GOOGLE_OAUTH_ACCESS_TOKEN") != NULL)
        *sign = sign_token;
    else if (!emulator)
        return find_machine(sign, err);
    return IMREC_OK;
}
