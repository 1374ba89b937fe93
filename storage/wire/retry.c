/* storage/wire/retry.c - which answers are worth another try, and when. */
#include "storage/wire/retry.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/rng.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TRIES_MOST       8
#define TRIES_TO_CONNECT 3
#define WAIT_MOST_MS     60000u
#define WAIT_HOPELESS    1000u
#define WAIT_ONCE        20u /* most failures are of one request alone */
#define WAIT_FIRST       100u
#define WAIT_LONGEST     8000u
#define DOUBLINGS        8 /* are beyond the longest wait */

bool wire_may_pass(const struct wire_job *job)
{
    static const int passing[] = {408, 429, 500, 502, 503, 504};
    if (job->outcome != WIRE_ANSWERED)
        return job->outcome == WIRE_BROKEN;
    for (size_t i = 0; i < sizeof(passing) / sizeof(passing[0]); i++)
        if (job->status == passing[i])
            return true;
    return false;
}

/* From half of it to all: readers that failed together do not come back together. */
static uint64_t jittered(uint64_t ms)
{
    uint64_t x = clock_ns();
    x ^= x >> 29;
    return ms / 2 + (x * UINT64_C(0x9e3779b97f4a7c15) >> 33) % (ms / 2 + 1);
}

/* Before the next try: short once, where somebody answers, then doubling. */
static uint64_t wait_after(uint32_t tries, bool unreachable)
{
    if (tries == 1 && !unreachable)
        return WAIT_ONCE;
    const uint32_t doubled = tries - (unreachable ? 1 : 2);
    return (uint64_t)WAIT_FIRST << (doubled < DOUBLINGS ? doubled : DOUBLINGS);
}

static uint32_t tries_most(const struct wire_job *job)
{
    if (!job->unreachable)
        return TRIES_MOST;
    return job->known ? UINT32_MAX : TRIES_TO_CONNECT;
}

bool wire_retry(struct wire_retry *r, const struct wire_job *job, uint64_t *wait_ms)
{
    if (!wire_may_pass(job) || ++r->tries >= tries_most(job))
        return false;
    uint64_t ms = wait_after(r->tries, job->unreachable);
    ms = jittered(ms < WAIT_LONGEST ? ms : WAIT_LONGEST);
    if (ms < (uint64_t)job->retry_after * 1000)
        ms = (uint64_t)job->retry_after * 1000;
    if (job->outcome == WIRE_BROKEN) /* also of silence */
        r->waited_ms += (job->ended_ns - job->begun_ns) / 1000000u;
    if (r->waited_ms + ms > (r->hopeless ? WAIT_HOPELESS : WAIT_MOST_MS))
        return false;
    r->waited_ms += ms;
    *wait_ms = ms;
    traffic_retry(job->traffic);
    return true;
}

/* ---- words ------------------------------------------------------------------------------- */

static int errno_of(const struct wire_job *job)
{
    switch (job->status) {
    case 404:
    case 410:
        return ENOENT;
    case 401:
    case 403:
        return EACCES;
    case 412:
        return ESTALE;
    default:
        return EIO;
    }
}

static const char *name_of(int status)
{
    static const struct {
        int status;
        const char *name;
    } names[] = {
        {301, "moved"},         {302, "moved"},
        {307, "moved"},         {308, "moved"},
        {400, "bad request"},   {401, "not authorized"},
        {403, "forbidden"},     {404, "not found"},
        {408, "time-out"},      {409, "conflict"},
        {410, "gone"},          {412, "it is another version now"},
        {416, "no such range"}, {429, "too many requests"},
        {500, "server error"},  {502, "bad gateway"},
        {503, "not available"}, {504, "gateway time-out"},
        {507, "no space left"},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (names[i].status == status)
            return names[i].name;
    return "no answer that is expected";
}

/* What a body of text says, on one line: <Message> of S3's XML, else its first words. */
static void words_of(const struct wire_job *job, char *to, size_t room)
{
    const char *p = strstr(job->said, "<Message>"), *end = NULL;
    p = p != NULL ? p + strlen("<Message>") : job->said;
    if (p == job->said && *p == '<') /* a page */
        p = "";
    end = p + strcspn(p, "<\r\n");
    const size_t n = (size_t)(end - p) < room - 1 ? (size_t)(end - p) : room - 1;
    memcpy(to, p, n);
    to[n] = '\0';
}

/* What of the request the server may not like. HEAD has no words, and a region that is wrong is a
 * bad request. */
static const char *suspects_of(const struct wire_job *job, bool words)
{
    const bool refused = job->status == 401 || job->status == 403 || (job->status == 400 && !words);
    return refused ? job->suspects : NULL;
}

static void tried(const struct wire_retry *r, char *to, size_t room)
{
    to[0] = '\0';
    if (r != NULL && r->tries > 1)
        (void)snprintf(to, room, " after %" PRIu32 " tries in %.1f s", r->tries,
                       (double)r->waited_ms / 1000);
}

enum imrec_status wire_error(const struct wire_job *job, const char *shown, uint64_t offset,
                             const struct wire_retry *r, struct imrec_error *err)
{
    char words[160], after[64];
    enum imrec_status st = IMREC_ERR_IO;
    tried(r, after, sizeof(after));
    words_of(job, words, sizeof(words));
    const char *suspects = suspects_of(job, words[0] != '\0');
    if (job->outcome == WIRE_CANCELLED)
        st = imrec_error_at(err, IMREC_ERR_CANCELLED, offset, "%s: the request was cancelled",
                            shown);
    else if (job->outcome == WIRE_OVERFLOW)
        imrec_error_at(err, st, offset, "%s: the server sends more than was asked for", shown);
    else if (job->outcome != WIRE_ANSWERED)
        imrec_error_at(err, st, offset, "%s: no%s answer%s: %s", shown,
                       job->status != 0 ? " whole" : "", after, job->reason);
    else
        imrec_error_at(err, st, offset, "%s: the server answers %d (%s)%s%s%s%s%s", shown,
                       job->status, name_of(job->status), after, words[0] != '\0' ? ": " : "",
                       words, suspects != NULL ? "; check " : "", suspects != NULL ? suspects : "");
    imrec_error_errno(err, st == IMREC_ERR_IO ? errno_of(job) : 0);
    return st;
}

/* ---- one exchange ------------------------------------------------------------------------ */

enum imrec_status wire_try(struct wire_group *group, struct wire_job *job, uint32_t own,
                           wire_sign_fn *sign, void *user, struct imrec_error *err)
{
    struct wire_headers *h = &job->headers;
    if (h->count > own) {
        h->count = own;
        h->used =
            own == 0 ? 0 : (size_t)(h->line[own - 1] - h->text) + strlen(h->line[own - 1]) + 1;
    }
    if (sign != NULL)
        IMREC_TRY(sign(user, job, err));
    return wire_submit(group, job, err);
}

static enum imrec_status ask(struct wire_group *group, struct wire_job *job, const char *shown,
                             wire_sign_fn *sign, void *user, struct imrec_error *err)
{
    struct wire_retry retry = {0};
    const uint32_t own = job->headers.count;
    const size_t kept = job->grow != NULL ? job->grow->n : 0;
    for (uint64_t wait_ms = 0;;) {
        if (wait_ms != 0)
            clock_sleep_ms(wait_ms);
        if (job->grow != NULL)
            job->grow->n = kept; /* of a body that broke off */
        IMREC_TRY(wire_try(group, job, own, sign, user, err));
        (void)wire_wait(group, WIRE_FOREVER);
        if (!wire_retry(&retry, job, &wait_ms))
            break;
    }
    return job->outcome == WIRE_ANSWERED && !wire_may_pass(job)
               ? IMREC_OK
               : wire_error(job, shown, IMREC_NO_OFFSET, &retry, err);
}

enum imrec_status wire_ask(struct wire_job *job, const char *shown, wire_sign_fn *sign, void *user,
                           struct imrec_error *err)
{
    const uint64_t since_ns = clock_ns();
    struct wire_group group;
    wire_group_init(&group);
    const enum imrec_status st = ask(&group, job, shown, sign, user, err);
    traffic_waited(job->traffic, since_ns);
    wire_group_destroy(&group);
    return st;
}
