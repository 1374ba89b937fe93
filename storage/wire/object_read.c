/*
 * storage/wire/object_read.c - a long read as parts that are under way at once.
 *
 * The reading thread deals the parts out, waits for any of them, and decides what is tried again:
 * a part that broke off continues after the bytes that came. After an error that lasts, the others
 * are cancelled and waited for: nobody writes to the caller's memory after its return.
 */
#include "storage/wire/object_read.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"

#define PART_BYTES ((size_t)2 << 20)
#define PARTS_MOST 8

struct part {
    struct wire_job job;
    struct wire_retry retry;
    uint64_t due_ns; /* when it is to be tried again; 0: it is under way, or unused */
    uint32_t own;    /* headers that are the same in every try */
    bool used;
};

struct reading {
    struct wire_object *o;
    struct wire_group group;
    struct part *parts;
    uint32_t count; /* of parts */
    uint64_t next, end;
    uint8_t *to; /* of byte `next` */
};

static enum imrec_status begin(struct reading *r, struct part *p, struct imrec_error *err)
{
    p->due_ns = 0;
    return wire_try(&r->group, &p->job, p->own, r->o->sign, r->o->signer, err);
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

/* The next part of the read into an unused place. */
static enum imrec_status deal(struct reading *r, struct part *p, struct imrec_error *err)
{
    const size_t n = r->end - r->next < PART_BYTES ? (size_t)(r->end - r->next) : PART_BYTES;
    p->job = (struct wire_job){.method = "GET",
                               .url = r->o->url,
                               .begin = r->next,
                               .end = r->next + n,
                               .to = r->to,
                               .room = n,
                               .redirects = r->o->redirects,
                               .traffic = r->o->traffic};
    p->retry = (struct wire_retry){.answered = !atomic_load(&r->o->gone)};
    IMREC_TRY(pin_version(r->o, &p->job, err));
    p->own = p->job.headers.count;
    IMREC_TRY(begin(r, p, err));
    p->used = true;
    r->next += n;
    r->to += n;
    return IMREC_OK;
}

/* Whether the headers of an answer that broke off were those of the bytes asked for. */
static bool can_continue(const struct wire_object *o, const struct wire_job *job)
{
    struct wire_job whole = *job;
    whole.outcome = WIRE_ANSWERED;
    whole.got = job->end - job->begin;
    return job->status == 206 && object_check(o, &whole, NULL, NULL) == IMREC_OK;
}

static enum imrec_status finish(struct reading *r, struct part *p, struct imrec_error *err)
{
    struct wire_job *job = &p->job;
    uint64_t wait_ms;
    if (job->outcome == WIRE_BROKEN && job->got != 0 && can_continue(r->o, job)) {
        job->begin += job->got;
        job->to += job->got;
        job->room -= (size_t)job->got;
    }
    if (wire_retry(&p->retry, job, &wait_ms)) {
        p->due_ns = clock_ns() + wait_ms * 1000000u;
        return IMREC_OK;
    }
    p->used = false;
    atomic_store(&r->o->gone, job->unreachable);
    return object_check(r->o, job, &p->retry, err);
}

/* Deals out what there is room for; *wait_ms: until a part is due, *busy: whether any is left. */
static enum imrec_status
deal_all(struct reading *r, uint32_t *wait_ms, bool *busy, struct imrec_error *err)
{
    const uint64_t now = clock_ns();
    *wait_ms = WIRE_FOREVER;
    *busy = false;
    for (uint32_t i = 0; i < r->count; i++) {
        struct part *p = &r->parts[i];
        if (!p->used && r->next < r->end) {
            IMREC_TRY(deal(r, p, err));
        } else if (p->used && p->due_ns != 0 && p->due_ns <= now) {
            IMREC_TRY(begin(r, p, err));
        } else if (p->used && p->due_ns != 0) {
            const uint64_t ms = (p->due_ns - now) / 1000000u + 1;
            *wait_ms = ms < *wait_ms ? (uint32_t)ms : *wait_ms;
        }
        *busy |= p->used;
    }
    return IMREC_OK;
}

static enum imrec_status run(struct reading *r, struct imrec_error *err)
{
    for (;;) {
        uint32_t wait_ms;
        bool busy;
        IMREC_TRY(deal_all(r, &wait_ms, &busy, err));
        if (!busy)
            return IMREC_OK;
        struct part *p = (struct part *)wire_wait(&r->group, wait_ms);
        if (p != NULL)
            IMREC_TRY(finish(r, p, err));
        else if (wait_ms != WIRE_FOREVER && r->group.pending == 0)
            clock_sleep_ms(wait_ms); /* all of them wait for their next try */
    }
}

static void cancel_all(struct reading *r)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (r->parts[i].used && r->parts[i].due_ns == 0)
            wire_cancel(&r->parts[i].job);
    while (wire_wait(&r->group, WIRE_FOREVER) != NULL)
        ;
}

enum imrec_status object_read_ranges(struct wire_object *o, uint64_t offset, uint8_t *to, size_t n,
                                     struct imrec_error *err)
{
    const size_t parts = n / PART_BYTES + (n % PART_BYTES != 0);
    const uint64_t since_ns = clock_ns();
    struct reading r = {.o = o, .next = offset, .end = offset + n, .to = to};
    r.count = parts < PARTS_MOST ? (uint32_t)parts : PARTS_MOST;
    r.parts = imrec_zalloc(r.count, sizeof(*r.parts));
    if (r.parts == NULL)
        return IMREC_NO_MEMORY(err, "%s: no memory for requests", o->shown);
    wire_group_init(&r.group);
    const enum imrec_status st = run(&r, err);
    cancel_all(&r);
    wire_group_destroy(&r.group);
    imrec_free(r.parts);
    traffic_waited(o->traffic, since_ns);
    return st;
}
