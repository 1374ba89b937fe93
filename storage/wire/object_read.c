/*
 * storage/wire/object_read.c - ranges of an object, as parts of a read.
 *
 * A part that broke off continues after the bytes that came.
 */
#include "storage/wire/object_read.h"

#include "base/error.h"
#include "storage/wire/parts.h"

struct object_part {
    struct wire_part part; /* first */
    struct wire_retry retry;
};

static void make(void *user, struct wire_part *p)
{
    const struct wire_object *o = user;
    const bool gone = atomic_load(&o->gone);
    ((struct object_part *)p)->retry = (struct wire_retry){.hopeless = gone};
}

static enum imrec_status
pin_version(const struct wire_object *o, struct wire_job *job, struct imrec_error *err)
{
    IMREC_TRY(wire_headers_add(&job->headers, err, "Accept-Encoding: identity"));
    /* A date is compared with the answer's instead: it may be a second's, of a change that was half
     * a second later, and then the server refuses its own date. */
    return o->etag[0] == '"' ? wire_headers_add(&job->headers, err, "If-Match: %s", o->etag)
                             : IMREC_OK;
}

static enum imrec_status ask(void *user, struct wire_part *p, struct wire_job *job, uint8_t *to,
                             struct wire_group *group, struct imrec_error *err)
{
    const struct wire_object *o = user;
    *job = (struct wire_job){.method = "GET",
                             .url = o->url,
                             .begin = p->begin,
                             .end = p->end,
                             .to = to,
                             .room = (size_t)(p->end - p->begin),
                             .redirects = o->redirects,
                             .traffic = o->traffic};
    IMREC_TRY(pin_version(o, job, err));
    return wire_try(group, job, job->headers.count, o->sign, o->signer, err);
}

/* Whether the headers of an answer that broke off were those of the bytes asked for. */
static bool can_continue(const struct wire_object *o, const struct wire_job *job)
{
    struct wire_job whole = *job;
    whole.outcome = WIRE_ANSWERED;
    whole.got = job->end - job->begin;
    return job->status == 206 && object_check(o, &whole, NULL, NULL) == IMREC_OK;
}

static enum imrec_status
finish(void *user, struct wire_part *p, bool *again, uint64_t *wait_ms, struct imrec_error *err)
{
    struct wire_object *o = user;
    struct wire_retry *retry = &((struct object_part *)p)->retry;
    const struct wire_job *job = &p->job;
    *again = wire_retry(retry, job, wait_ms);
    if (*again && job->outcome == WIRE_BROKEN && job->got != 0 && can_continue(o, job)) {
        p->begin += job->got;
        p->to += job->got;
    }
    if (*again)
        return IMREC_OK;
    atomic_store(&o->gone, wire_may_pass(job));
    return object_check(o, job, retry, err);
}

static bool is_good(const void *user, const struct wire_job *job)
{
    return object_check(user, job, NULL, NULL) == IMREC_OK;
}

enum imrec_status object_read_ranges(struct wire_object *o, uint64_t offset, uint8_t *to, size_t n,
                                     struct imrec_error *err)
{
    static const struct wire_parts_ops ops = {
        sizeof(struct object_part), OBJECT_PART_BYTES, make, ask, finish, is_good, NULL};
    const struct wire_reading how = {&ops, o, o->shown, &o->cancelled, o->pace, o->traffic};
    return wire_read_parts(&how, offset, to, n, err);
}
