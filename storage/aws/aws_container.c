/* storage/aws/aws_container.c - the keys of a container's role: ECS, EKS and what does as they do.
 */
#include "storage/aws/aws_answer.h"
#include "storage/aws/aws_fetch.h"
#include "storage/aws/aws_sources.h"

#include "base/error.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define TOKEN_MOST     ((size_t)6 << 10)
#define SECONDS        5
#define RELATIVE_BEGIN "http://169.254.170.2"

/* Whether "http://" may carry keys there: to this machine, and to the addresses of ECS and EKS. */
static bool is_near(const char *url)
{
    static const char *const near[] = {"localhost", "[::1]", "169.254.170.2", "169.254.170.23",
                                       "[fd00:ec2::23]"};
    const char *host = url + strlen("http://"), *end = host;
    if (*host == '[')
        end += strcspn(host, "]") + 1;
    else
        end += strcspn(host, ":/?#");
    const size_t n = (size_t)(end - host);
    for (size_t i = 0; i < sizeof(near) / sizeof(near[0]); i++)
        if (n == strlen(near[i]) && strncasecmp(host, near[i], n) == 0)
            return true;
    return n > 4 && strncmp(host, "127.", 4) == 0 && strspn(host, "0123456789.") == n;
}

static enum imrec_status
url_of(const struct aws_settings *s, char *to, size_t room, struct imrec_error *err)
{
    if (s->container_relative[0] != '\0') {
        (void)snprintf(to, room, "%s%s", RELATIVE_BEGIN, s->container_relative);
        return IMREC_OK;
    }
    (void)snprintf(to, room, "%s", s->container_full);
    if (strncasecmp(to, "https://", 8) == 0 || (strncasecmp(to, "http://", 7) == 0 && is_near(to)))
        return IMREC_OK;
    return IMREC_REFUSE(err, "AWS_CONTAINER_CREDENTIALS_FULL_URI must be https://, or http:// of "
                             "this machine (127.0.0.1, localhost, 169.254.170.2, 169.254.170.23)");
}

/* What proves that it is this container that asks; *token is empty where nothing does. */
static enum imrec_status
token_of(const struct aws_settings *s, struct buf *token, struct imrec_error *err)
{
    if (s->container_token_file[0] == '\0')
        return buf_append(token, s->container_token, strlen(s->container_token) + 1, err);
    const enum imrec_status st = aws_file_read(s->container_token_file, true, token, err);
    if (st == IMREC_END)
        return IMREC_REFUSE(err, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE names a file that cannot "
                                 "be read");
    IMREC_TRY(st);
    return buf_append(token, "", 1, err);
}

static enum imrec_status ask(const char *url, const char *token, struct buf *body,
                             struct aws_keys *out, struct imrec_error *err)
{
    struct aws_fetch f = {.method = "GET",
                          .url = url,
                          .header = token[0] != '\0' ? "Authorization" : NULL,
                          .value = token,
                          .who = "the AWS credentials of this container",
                          .seconds = SECONDS,
                          .body = body};
    IMREC_TRY(aws_fetch(&f, err));
    if (f.status != 200)
        return imrec_fail(err, IMREC_ERR_IO, "%s: the server answers %d, not 200", f.who, f.status);
    return aws_answer_keys(f.who, (struct bytes){body->p, body->n}, out, err);
}

enum imrec_status
aws_container_keys(const struct aws_settings *s, struct aws_keys *out, struct imrec_error *err)
{
    char url[sizeof(RELATIVE_BEGIN) + AWS_URL_BYTES];
    if (s->container_relative[0] == '\0' && s->container_full[0] == '\0')
        return IMREC_END;
    IMREC_TRY(url_of(s, url, sizeof(url), err));
    struct buf token = BUF_INIT(TOKEN_MOST), body = BUF_INIT(AWS_ANSWER_MOST);
    enum imrec_status st = token_of(s, &token, err);
    if (st == IMREC_OK)
        st = ask(url, (const char *)token.p, &body, out, err);
    aws_wipe(&token);
    aws_wipe(&body);
    return st;
}
