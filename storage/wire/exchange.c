/* storage/wire/exchange.c - a job as libcurl sees it: options in, answer out. */
#include "storage/wire/exchange.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "storage/wire/answer_head.h"
#include "storage/wire/authorities.h"
#include "storage/wire/hosts.h"
#include "storage/wire/repeats.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define CONNECT_MS     10000L
#define SILENT_SECONDS 20L          /* without a byte: the connection is given up */
#define RECEIVE_BYTES  (128L << 10) /* of each request; store.h counts them */

/* ---- the answer ---------------------------------------------------------------------------- */

static size_t take_header(char *line, size_t one, size_t n, void *user)
{
    struct wire_exchange *x = user;
    if (wire_take_header(x->job, line, one * n)) /* what a redirect's answer said is forgotten */
        x->said = 0;
    return one * n;
}

static size_t refuse_more(struct wire_job *job)
{
    job->outcome = WIRE_OVERFLOW;
    return CURL_WRITEFUNC_ERROR;
}

static size_t take_body(char *p, size_t one, size_t n, void *user)
{
    struct wire_exchange *x = user;
    struct wire_job *job = x->job;
    const size_t bytes = one * n;
    if (job->first_ns == 0)
        job->first_ns = clock_ns();
    if (job->status < 200 || job->status > 299) {
        const size_t left = sizeof(job->said) - 1 - x->said, take = bytes < left ? bytes : left;
        memcpy(job->said + x->said, p, take);
        x->said += take;
        job->said[x->said] = '\0';
        return bytes;
    }
    if (job->grow != NULL) {
        if (buf_append(job->grow, p, bytes, NULL) != IMREC_OK)
            return refuse_more(job);
    } else {
        if (bytes > job->room - job->got)
            return refuse_more(job);
        memcpy(job->to + job->got, p, bytes);
    }
    job->got += bytes;
    return bytes;
}

static size_t give_body(char *p, size_t one, size_t n, void *user)
{
    struct wire_exchange *x = user;
    const uint64_t left = x->job->body_bytes - x->sent;
    const size_t bytes = one * n < left ? one * n : (size_t)left;
    if (bytes != 0)
        memcpy(p, (const char *)x->job->body + x->sent, bytes);
    x->sent += bytes;
    return bytes;
}

static int rewind_body(void *user, curl_off_t offset, int origin)
{
    struct wire_exchange *x = user;
    if (origin != SEEK_SET || offset < 0 || (uint64_t)offset > x->job->body_bytes)
        return CURL_SEEKFUNC_FAIL;
    x->sent = (uint64_t)offset;
    return CURL_SEEKFUNC_OK;
}

/* ---- setting up -------------------------------------------------------------------------- */

static bool add(struct wire_exchange *x, const char *header)
{
    struct curl_slist *longer = curl_slist_append(x->headers, header);
    if (longer != NULL)
        x->headers = longer;
    return longer != NULL;
}

static bool set_headers(struct wire_exchange *x)
{
    bool ok = add(x, "Expect:"); /* no round trip before a body */
    for (uint32_t i = 0; ok && i < x->job->headers.count; i++)
        ok = add(x, x->job->headers.line[i]);
    return ok && curl_easy_setopt(x->easy, CURLOPT_HTTPHEADER, x->headers) == CURLE_OK;
}

static void set_method(struct wire_exchange *x)
{
    const struct wire_job *job = x->job;
    if (strcmp(job->method, "HEAD") == 0) {
        curl_easy_setopt(x->easy, CURLOPT_NOBODY, 1L);
    } else if (strcmp(job->method, "PUT") == 0 || job->body_bytes != 0) {
        curl_easy_setopt(x->easy, CURLOPT_UPLOAD, 1L);
        curl_easy_setopt(x->easy, CURLOPT_CUSTOMREQUEST, job->method);
        curl_easy_setopt(x->easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)job->body_bytes);
        curl_easy_setopt(x->easy, CURLOPT_READFUNCTION, give_body);
        curl_easy_setopt(x->easy, CURLOPT_READDATA, x);
        curl_easy_setopt(x->easy, CURLOPT_SEEKFUNCTION, rewind_body);
        curl_easy_setopt(x->easy, CURLOPT_SEEKDATA, x);
        curl_easy_setopt(x->easy, CURLOPT_UPLOAD_BUFFERSIZE, RECEIVE_BYTES);
    } else if (strcmp(job->method, "GET") != 0) {
        curl_easy_setopt(x->easy, CURLOPT_CUSTOMREQUEST, job->method);
        if (strcmp(job->method, "POST") == 0) {
            curl_easy_setopt(x->easy, CURLOPT_POST, 1L);
            curl_easy_setopt(x->easy, CURLOPT_POSTFIELDSIZE, 0L);
        }
    }
    if (job->end != 0) {
        (void)snprintf(x->range, sizeof(x->range), "%" PRIu64 "-%" PRIu64, job->begin,
                       job->end - 1);
        curl_easy_setopt(x->easy, CURLOPT_RANGE, x->range);
    }
}

/* From https no redirect leads to http. libcurl gives another host neither the name and password of
 * the URL nor an Authorization header; a request with other secrets in its headers follows none. */
static void set_redirects(struct wire_exchange *x)
{
    const bool secure = strncasecmp(x->job->url, "https:", 6) == 0;
    curl_easy_setopt(x->easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(x->easy, CURLOPT_REDIR_PROTOCOLS_STR, secure ? "https" : "http,https");
    curl_easy_setopt(x->easy, CURLOPT_FOLLOWLOCATION, x->job->redirects != 0 ? 1L : 0L);
    curl_easy_setopt(x->easy, CURLOPT_MAXREDIRS, (long)x->job->redirects);
}

const char *wire_curl_version(void)
{
    return curl_version_info(CURLVERSION_NOW)->version;
}

bool wire_can_negotiate(void)
{
    return (curl_version_info(CURLVERSION_NOW)->features & CURL_VERSION_SPNEGO) != 0;
}

/* The name and password that libcurl wants are those of the ticket. */
static void set_who(struct wire_exchange *x)
{
    if (!x->job->negotiate)
        return;
    curl_easy_setopt(x->easy, CURLOPT_HTTPAUTH, CURLAUTH_NEGOTIATE);
    curl_easy_setopt(x->easy, CURLOPT_USERPWD, ":");
}

/* The variables of the curl command and of OpenSSL; libcurl itself reads none of them. */
static void set_trust(struct wire_exchange *x)
{
    const char *bundle = getenv("CURL_CA_BUNDLE"), *folder = getenv("SSL_CERT_DIR");
    if (bundle == NULL || bundle[0] == '\0')
        bundle = getenv("SSL_CERT_FILE");
    if ((bundle == NULL || bundle[0] == '\0') && (folder == NULL || folder[0] == '\0'))
        bundle = authorities();
    if (bundle != NULL && bundle[0] != '\0')
        curl_easy_setopt(x->easy, CURLOPT_CAINFO, bundle);
    if (folder != NULL && folder[0] != '\0')
        curl_easy_setopt(x->easy, CURLOPT_CAPATH, folder);
}

static void set_times(struct wire_exchange *x)
{
    const struct wire_job *job = x->job;
    curl_easy_setopt(x->easy, CURLOPT_CONNECTTIMEOUT_MS,
                     job->connect_ms != 0 ? (long)job->connect_ms : CONNECT_MS);
    curl_easy_setopt(x->easy, CURLOPT_TIMEOUT_MS, (long)job->all_ms);
    curl_easy_setopt(x->easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(x->easy, CURLOPT_LOW_SPEED_TIME, SILENT_SECONDS);
}

static void set_up(struct wire_exchange *x)
{
    CURL *e = x->easy;
    curl_easy_reset(e);
    curl_easy_setopt(e, CURLOPT_PRIVATE, x);
    curl_easy_setopt(e, CURLOPT_URL, x->job->url);
    curl_easy_setopt(e, CURLOPT_PATH_AS_IS, 1L); /* "..": an object's name is data */
    curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(e, CURLOPT_ERRORBUFFER, x->why);
    curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(e, CURLOPT_HEADERDATA, x);
    curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(e, CURLOPT_WRITEDATA, x);
    curl_easy_setopt(e, CURLOPT_BUFFERSIZE, RECEIVE_BYTES);
    if (x->job->direct)
        curl_easy_setopt(e, CURLOPT_PROXY, "");
    curl_easy_setopt(e, CURLOPT_USERAGENT, "imrec");
    curl_easy_setopt(e, CURLOPT_TCP_KEEPALIVE, 1L);
    set_method(x);
    set_redirects(x);
    set_who(x);
    set_trust(x);
    set_times(x);
}

static void give_back(struct wire_exchange *x)
{
    curl_slist_free_all(x->headers);
    imrec_free(x);
}

struct wire_exchange *exchange_begin(struct wire_job *job, CURL *easy)
{
    struct wire_exchange *x = imrec_zalloc(1, sizeof(*x));
    if (x == NULL)
        return NULL;
    x->job = job;
    x->easy = easy;
    set_up(x);
    if (!set_headers(x)) {
        give_back(x);
        return NULL;
    }
    job->exchange = x;
    return x;
}

/* ---- the end ----------------------------------------------------------------------------- */

/* What a second try would end like, too. */
static bool is_lasting(CURLcode code)
{
    static const CURLcode lasting[] = {
        CURLE_URL_MALFORMAT,         CURLE_TOO_MANY_REDIRECTS,  CURLE_PEER_FAILED_VERIFICATION,
        CURLE_SSL_CACERT_BADFILE,    CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_CIPHER,
        CURLE_BAD_FUNCTION_ARGUMENT, CURLE_UNKNOWN_OPTION,
    };
    for (size_t i = 0; i < sizeof(lasting) / sizeof(lasting[0]); i++)
        if (code == lasting[i])
            return true;
    return false;
}

static enum wire_outcome outcome_of(const struct wire_job *job, CURLcode code)
{
    if (code == CURLE_OK)
        return WIRE_ANSWERED;
    if (job->outcome == WIRE_OVERFLOW || job->cancelled)
        return job->cancelled ? WIRE_CANCELLED : WIRE_OVERFLOW;
    const bool redirect = job->status >= 300 && job->status < 400; /* to what is not allowed */
    return is_lasting(code) || (redirect && code == CURLE_UNSUPPORTED_PROTOCOL) ? WIRE_REFUSED
                                                                                : WIRE_BROKEN;
}

void exchange_end(struct wire_exchange *x, CURLcode code)
{
    struct wire_job *job = x->job;
    curl_off_t wait = 0;
    if (curl_easy_getinfo(x->easy, CURLINFO_RETRY_AFTER, &wait) == CURLE_OK && wait > 0)
        job->retry_after = wait < 3600 ? (uint32_t)wait : 3600;
    job->outcome = outcome_of(job, code);
    job->unreachable = code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST ||
                       code == CURLE_COULDNT_RESOLVE_PROXY;
    job->known = wire_host_has_answered(job->url);
    if (job->outcome == WIRE_ANSWERED)
        wire_host_answered(job->url);
    if (code != CURLE_OK)
        (void)snprintf(job->reason, sizeof(job->reason), "%.191s",
                       x->why[0] != '\0' ? x->why : curl_easy_strerror(code));
    if (wire_repeats_secret(job, job->said)) /* it quotes what it was asked */
        job->said[0] = '\0';
    job->ended_ns = clock_ns();
    job->exchange = NULL;
    give_back(x);
}
