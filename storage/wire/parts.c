/* storage/wire/parts.c - parts dealt out, awaited, tried again, and hedged where they are slow. */
#include "storage/wire/parts.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"

#include <string.h>

#define LOOK_MS 100u /* how often a waiting thread sees whether reading is cancelled */

struct reading {
    const struct wire_reading *how;
    struct wire_group group;
    char *parts; /* of how->ops->size bytes each */
    uint32_t count;
    uint64_t next, end;
    uint8_t *to; /* of byte `next` */
};

static struct wire_part *part_at(const struct reading *r, uint32_t i)
{
    return (struct wire_part *)(void *)(r->parts + i * r->how->ops->size);
}

/* ---- a part ------------------------------------------------------------------------------- */

static enum imrec_status begin(struct reading *r, struct wire_part *p, struct imrec_error *err)
{
    p->due_ns = 0;
    p->begun_ns = clock_ns();
    p->calm_ns = 0;
    IMREC_TRY(r->how->ops->ask(r->how->user, p, &p->job, p->to, &r->group, err));
    p->out = true;
    return IMREC_OK;
}

/* The next part of the read into an unused place. */
static enum imrec_status deal(struct reading *r, struct wire_part *p, struct imrec_error *err)
{
    const size_t most = r->how->ops->part_bytes;
    const size_t n = r->end - r->next < most ? (size_t)(r->end - r->next) : most;
    p->begin = r->next;
    p->end = r->next + n;
    p->to = r->to;
    p->done = false;
    p->used = true;
    if (r->how->ops->make != NULL)
        r->how->ops->make(r->how->user, p);
    r->next += n;
    r->to += n;
    return begin(r, p, err);
}

/* ---- hedges ------------------------------------------------------------------------------- */

static void hedge_free(struct wire_part *p)
{
    if (p->hedge != NULL)
        IMREC_FREE(p->hedge->bytes, p->hedge);
    p->hedge = NULL;
}

static bool hedge_begun(struct reading *r, struct wire_part *p)
{
    struct wire_hedge *h = imrec_zalloc(1, sizeof(*h));
    if (h == NULL)
        return false;
    *h = (struct wire_hedge){
        .of = p, .begin = p->begin, .bytes = imrec_realloc(NULL, (size_t)(p->end - p->begin), 1)};
    p->hedge = h;
    h->out = h->bytes != NULL &&
             r->how->ops->ask(r->how->user, p, &h->job, h->bytes, &r->group, NULL) == IMREC_OK;
    if (!h->out)
        hedge_free(p);
    return p->hedge != NULL;
}

/* Begins a hedge. Where there were enough of them, or there is no memory, it is asked for again
 * after a while: not at once, since it is due until the part is there. */
static void hedge(struct reading *r, struct wire_part *p)
{
    if (wire_pace_hedge(r->how->pace) && hedge_begun(r, p))
        traffic_hedge(r->how->traffic);
    else
        p->calm_ns = clock_ns() + (uint64_t)LOOK_MS * 1000000u;
}

/* When the part is worth a hedge; UINT64_MAX: never, or it has one. */
static uint64_t hedge_due(const struct reading *r, const struct wire_part *p)
{
    if (r->how->pace == NULL || !p->out || p->done || p->hedge != NULL)
        return UINT64_MAX;
    const uint64_t slow = wire_pace_slow_ns(r->how->pace, (size_t)(p->end - p->begin));
    if (slow == UINT64_MAX)
        return slow;
    return p->begun_ns + slow > p->calm_ns ? p->begun_ns + slow : p->calm_ns;
}

/* The bytes of a hedge take the place of those that the first request has brought so far. */
static void take_hedge(struct wire_part *p)
{
    const struct wire_hedge *h = p->hedge;
    const uint64_t done = p->begin - h->begin; /* the first request came again in between */
    memcpy(p->to, h->bytes + done, (size_t)(p->end - p->begin));
    p->begin = p->end;
}

/* A part ends when none of its requests is under way. */
static void end_if_idle(struct wire_part *p)
{
    if (p->out || !p->done || (p->hedge != NULL && p->hedge->out))
        return;
    if (p->hedge != NULL && p->begin != p->end)
        take_hedge(p);
    hedge_free(p);
    p->used = false;
}

static void hedge_back(struct reading *r, struct wire_hedge *h)
{
    struct wire_part *p = h->of;
    h->out = false;
    if (!p->done && !r->how->ops->is_good(r->how->user, &h->job)) {
        hedge_free(p);
        return;
    }
    p->done = true;
    p->due_ns = 0;
    if (p->out)
        wire_cancel(&p->job);
    end_if_idle(p);
}

static enum imrec_status part_back(struct reading *r, struct wire_part *p, struct imrec_error *err)
{
    const size_t asked = (size_t)(p->end - p->begin);
    bool again = false;
    uint64_t wait_ms = 0;
    p->out = false;
    if (!p->done) { /* else a hedge has its bytes, and it was cancelled */
        IMREC_TRY(r->how->ops->finish(r->how->user, p, &again, &wait_ms, err));
        if (again) {
            p->due_ns = clock_ns() + wait_ms * 1000000u;
            return IMREC_OK;
        }
        if (r->how->pace != NULL)
            wire_pace_note(r->how->pace, asked, clock_ns() - p->begun_ns);
        p->begin = p->end;
        p->done = true;
        if (p->hedge != NULL)
            wire_cancel(&p->hedge->job);
    }
    end_if_idle(p);
    return IMREC_OK;
}

/* ---- all of them -------------------------------------------------------------------------- */

static void sooner(uint32_t *wait_ms, uint64_t due, uint64_t now)
{
    const uint64_t ms = due > now ? (due - now) / 1000000u + 1 : 0;
    if (due != UINT64_MAX && ms < *wait_ms)
        *wait_ms = (uint32_t)ms;
}

static enum imrec_status look_at(struct reading *r, struct wire_part *p, uint64_t now,
                                 uint32_t *wait_ms, struct imrec_error *err)
{
    if (!p->used && r->next < r->end)
        return deal(r, p, err);
    if (!p->used)
        return IMREC_OK;
    if (p->due_ns != 0 && p->due_ns <= now)
        return begin(r, p, err);
    if (p->due_ns == 0 && hedge_due(r, p) <= now)
        hedge(r, p);
    sooner(wait_ms, p->due_ns != 0 ? p->due_ns : hedge_due(r, p), now);
    return IMREC_OK;
}

/* Deals out what there is room for; *wait_ms: until something is due, *busy: whether any is left.
 */
static enum imrec_status
deal_all(struct reading *r, uint32_t *wait_ms, bool *busy, struct imrec_error *err)
{
    const uint64_t now = clock_ns();
    *wait_ms = LOOK_MS;
    *busy = false;
    for (uint32_t i = 0; i < r->count; i++) {
        IMREC_TRY(look_at(r, part_at(r, i), now, wait_ms, err));
        *busy |= part_at(r, i)->used;
    }
    return IMREC_OK;
}

/* The hedge that the job is; NULL: it is a part's. */
static struct wire_hedge *hedge_of(const struct reading *r, const struct wire_job *job)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (part_at(r, i)->hedge != NULL && &part_at(r, i)->hedge->job == job)
            return part_at(r, i)->hedge;
    return NULL;
}

static enum imrec_status back(struct reading *r, struct wire_job *job, struct imrec_error *err)
{
    struct wire_hedge *h = hedge_of(r, job);
    if (h != NULL) {
        hedge_back(r, h);
        return IMREC_OK;
    }
    return part_back(r, (struct wire_part *)job, err);
}

static enum imrec_status run(struct reading *r, struct imrec_error *err)
{
    for (;;) {
        uint32_t wait_ms;
        bool busy;
        if (atomic_load(r->how->cancelled))
            return imrec_fail(err, IMREC_ERR_CANCELLED, "%s: reading it was cancelled",
                              r->how->shown);
        IMREC_TRY(deal_all(r, &wait_ms, &busy, err));
        if (!busy)
            return IMREC_OK;
        struct wire_job *job = wire_wait(&r->group, wait_ms);
        if (job != NULL)
            IMREC_TRY(back(r, job, err));
        else if (r->group.pending == 0)
            clock_sleep_ms(wait_ms); /* all of them wait for their next try */
    }
}

static void end_all(struct reading *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        struct wire_part *p = part_at(r, i);
        if (p->out)
            wire_cancel(&p->job);
        if (p->hedge != NULL && p->hedge->out)
            wire_cancel(&p->hedge->job);
    }
    while (wire_wait(&r->group, WIRE_FOREVER) != NULL)
        ;
    for (uint32_t i = 0; i < r->count; i++) {
        hedge_free(part_at(r, i));
        if (r->how->ops->free != NULL)
            r->how->ops->free(part_at(r, i));
    }
    wire_group_destroy(&r->group);
}

enum imrec_status wire_read_parts(const struct wire_reading *how, uint64_t offset, uint8_t *to,
                                  size_t n, struct imrec_error *err)
{
    const size_t most = how->ops->part_bytes, parts = n / most + (n % most != 0);
    struct reading r = {.how = how, .next = offset, .end = offset + n, .to = to};
    r.count = parts < PARTS_MOST ? (uint32_t)parts : PARTS_MOST;
    r.parts = imrec_zalloc(r.count, how->ops->size);
    if (r.parts == NULL)
        return IMREC_NO_MEMORY(err, "%s: no memory for requests", how->shown);
    const uint64_t since_ns = clock_ns();
    wire_group_init(&r.group);
    const enum imrec_status st = run(&r, err);
    end_all(&r);
    imrec_free(r.parts);
    traffic_waited(how->traffic, since_ns);
    return st;
}
