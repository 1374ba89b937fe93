/* storage/cloud/cloud_out.c - an object that is written to a bucket: parts go up while it is
 * written.
 *
 * A few parts are under way at once, each out of a buffer of its own. A sync waits for them and
 * keeps what is too little for a part next to the names of the parts (cloud_state.h). */
#include "storage/cloud/cloud_out.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "storage/cloud/cloud_state.h"

#include <inttypes.h>
#include <string.h>

#define FLYING_MOST  4
#define FLYING_BYTES ((size_t)64 << 20)

struct flying {          /* a part on its way */
    struct wire_job job; /* first */
    struct wire_retry retry;
    char *url;
    uint8_t *bytes;
    uint32_t number;
    bool used;
};

struct cloud_out {
    struct out base; /* first */
    struct cloud_place place;
    char *part_key;
    struct upload upload; /* id "": it is small until now */
    uint64_t sent;        /* bytes in parts, also those under way */
    uint32_t parts;       /* as many */
    uint8_t *buffer;      /* of the part that is being filled */
    size_t used, room;
    struct cloud_mark last; /* of the sync before; its tail is memory of its own */
    struct wire_group group;
    struct flying flying[FLYING_MOST];
};

/* 10,000 parts must do for the largest object that a store takes, 5 TiB: later ones are larger. */
static size_t part_bytes(uint32_t number)
{
    const uint32_t step = number / 1000;
    return CLOUD_PART_BYTES << (step < 5 ? step : 5);
}

static uint32_t places(const struct cloud_out *o)
{
    const size_t n = FLYING_BYTES / part_bytes(o->parts + 1);
    return n == 0 ? 1 : n < FLYING_MOST ? (uint32_t)n : FLYING_MOST;
}

static enum imrec_status no_memory(const struct cloud_out *o, struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "%s: no memory to write it", o->place.shown);
}

/* ---- parts under way ----------------------------------------------------------------------- */

static void land(struct flying *f)
{
    IMREC_FREE(f->url, f->bytes);
    *f = (struct flying){0};
}

/* One part's answer; it may be sent once more. */
static enum imrec_status take(struct cloud_out *o, struct flying *f, struct imrec_error *err)
{
    uint64_t wait_ms;
    if (wire_retry(&f->retry, &f->job, &wait_ms)) {
        clock_sleep_ms(wait_ms);
        const enum imrec_status again =
            wire_try(&o->group, &f->job, 0, o->place.sign, &o->place.aws, err);
        if (again != IMREC_OK)
            land(f);
        return again;
    }
    enum imrec_status st =
        f->job.outcome == WIRE_ANSWERED && f->job.status == 200
            ? upload_note(&o->upload, f->number, f->job.etag, f->job.body_bytes, err)
            : wire_error(&f->job, o->place.shown, IMREC_NO_OFFSET, &f->retry, err);
    land(f);
    return st;
}

static enum imrec_status wait_for_one(struct cloud_out *o, struct imrec_error *err)
{
    struct flying *f = (struct flying *)wire_wait(&o->group, WIRE_FOREVER);
    return f != NULL ? take(o, f, err) : IMREC_OK;
}

static enum imrec_status wait_for_all(struct cloud_out *o, struct imrec_error *err)
{
    while (o->group.pending != 0)
        IMREC_TRY(wait_for_one(o, err));
    return IMREC_OK;
}

static enum imrec_status
find_place(struct cloud_out *o, struct flying **out, struct imrec_error *err)
{
    for (;;) {
        for (uint32_t i = 0; i < places(o); i++)
            if (!o->flying[i].used) {
                *out = &o->flying[i];
                return IMREC_OK;
            }
        IMREC_TRY(wait_for_one(o, err));
    }
}

static enum imrec_status
save(struct cloud_out *o, const struct cloud_mark *now, struct imrec_error *err)
{
    return cloud_state_save(&o->place, o->part_key, o->upload.id, now, &o->last, err);
}

/* What is begun is named in the bucket before it holds anything: it can always be given up. */
static enum imrec_status begin_upload(struct cloud_out *o, struct imrec_error *err)
{
    IMREC_TRY(upload_begin(&o->upload, &o->place, o->place.key, err));
    if (strpbrk(o->upload.id, " \t\r\n") != NULL)
        return imrec_fail(err, IMREC_ERR_UNSUPPORTED,
                          "%s: the server names its upload with a blank in it", o->place.shown);
    return save(o, &o->last, err); /* what a sync had put there as it is, is a tail now */
}

/* Sends the buffer on its way, and takes a new one. */
static enum imrec_status send(struct cloud_out *o, struct imrec_error *err)
{
    struct flying *f;
    char query[UPLOAD_QUERY_BYTES];
    if (o->upload.id[0] == '\0')
        IMREC_TRY(begin_upload(o, err));
    IMREC_TRY(upload_query(&o->upload, o->parts + 1, query, err));
    IMREC_TRY(find_place(o, &f, err));
    *f = (struct flying){.url = cloud_url(&o->place, o->place.key, query),
                         .bytes = o->buffer,
                         .number = o->parts + 1,
                         .used = true};
    f->job =
        (struct wire_job){.method = "PUT", .url = f->url, .body = f->bytes, .body_bytes = o->used};
    o->parts++;
    o->sent += o->used;
    o->used = 0;
    o->room = part_bytes(o->parts + 1);
    o->buffer = imrec_realloc(NULL, o->room, 1);
    if (f->url == NULL || o->buffer == NULL) {
        land(f);
        return no_memory(o, err);
    }
    const enum imrec_status st = wire_try(&o->group, &f->job, 0, o->place.sign, &o->place.aws, err);
    if (st != IMREC_OK)
        land(f);
    return st;
}

/* ---- operations ---------------------------------------------------------------------------- */

static enum imrec_status
cloud_write(struct out *base, const void *p, size_t n, struct imrec_error *err)
{
    struct cloud_out *o = (struct cloud_out *)base;
    const uint8_t *from = p;
    while (n != 0) {
        if (o->used == o->room)
            IMREC_TRY(send(o, err));
        const size_t piece = n < o->room - o->used ? n : o->room - o->used;
        memcpy(o->buffer + o->used, from, piece);
        o->used += piece;
        from += piece;
        n -= piece;
    }
    return IMREC_OK;
}

static enum imrec_status
keep_mark(struct cloud_out *o, const struct cloud_mark *now, struct imrec_error *err)
{
    uint8_t *copy = imrec_realloc(NULL, now->tail.n + 1, 1);
    if (copy == NULL)
        return no_memory(o, err);
    if (now->tail.n != 0)
        memcpy(copy, now->tail.p, now->tail.n);
    imrec_free((void *)o->last.tail.p);
    o->last = *now;
    o->last.tail.p = copy;
    return IMREC_OK;
}

static enum imrec_status cloud_sync(struct out *base, struct imrec_error *err)
{
    struct cloud_out *o = (struct cloud_out *)base;
    if (o->upload.id[0] != '\0' && o->used >= UPLOAD_PART_LEAST)
        IMREC_TRY(send(o, err));
    IMREC_TRY(wait_for_all(o, err));
    const struct cloud_mark now = {o->parts, o->sent, {o->buffer, o->used}};
    if (o->upload.id[0] == '\0')
        IMREC_TRY(cloud_put(&o->place, o->part_key, now.tail, err));
    else
        IMREC_TRY(save(o, &now, err));
    return keep_mark(o, &now, err);
}

static void cloud_out_close(struct out *base, bool remove)
{
    struct cloud_out *o = (struct cloud_out *)base;
    for (int i = 0; i < FLYING_MOST; i++)
        if (o->flying[i].used)
            wire_cancel(&o->flying[i].job);
    while (wire_wait(&o->group, WIRE_FOREVER) != NULL)
        ;
    for (int i = 0; i < FLYING_MOST; i++)
        land(&o->flying[i]);
    if (remove) /* what cannot be removed now is when it is begun again */
        (void)cloud_remove_part(&o->place, o->part_key, NULL);
    wire_group_destroy(&o->group);
    upload_free(&o->upload);
    cloud_place_close(&o->place);
    imrec_free((void *)o->last.tail.p);
    IMREC_FREE(o->buffer, o->part_key, o);
}

static const struct out_ops out_ops = {
    .write = cloud_write, .sync = cloud_sync, .close = cloud_out_close};

/* ---- opening ------------------------------------------------------------------------------- */

static enum imrec_status go_on_at(struct cloud_out *o, const struct cloud_state *s,
                                  const struct cloud_mark *m, uint64_t size,
                                  struct imrec_error *err)
{
    const struct bytes tail = {m->tail.p, (size_t)(size - m->bytes)};
    if (s->id[0] != '\0')
        IMREC_TRY(upload_find(&o->upload, &o->place, o->place.key, s->id, m->parts, err));
    o->parts = m->parts;
    o->sent = m->bytes;
    o->room = part_bytes(o->parts + 1);
    IMREC_TRY(cloud_write(&o->base, tail.p, tail.n, err));
    const struct cloud_mark now = {o->parts, o->sent, tail};
    return keep_mark(o, &now, err);
}

static enum imrec_status
go_on(struct cloud_out *o, const struct cloud_state *s, uint64_t size, struct imrec_error *err)
{
    const struct cloud_mark small = {.tail = {s->text.p, s->text.n}};
    const struct cloud_mark *marks[] = {s->id[0] != '\0' ? &s->last : &small, &s->before};
    for (int i = 0; i < 2; i++)
        if (size >= marks[i]->bytes && size - marks[i]->bytes <= marks[i]->tail.n)
            return go_on_at(o, s, marks[i], size, err);
    return imrec_fail(err, IMREC_ERR_IO,
                      "%s.part: has %" PRIu64 " bytes; resuming needs the first %" PRIu64,
                      o->place.shown, cloud_state_size(s), size);
}

static enum imrec_status resume(struct cloud_out *o, uint64_t size, struct imrec_error *err)
{
    struct cloud_state s;
    bool found;
    IMREC_TRY(cloud_state_load(&s, &o->place, o->part_key, &found, err));
    const enum imrec_status st =
        found ? go_on(o, &s, size, err)
              : imrec_fail(err, IMREC_ERR_IO,
                           "%s.part: is not there; resuming needs the first %" PRIu64 " bytes",
                           o->place.shown, size);
    cloud_state_free(&s);
    return st;
}

static enum imrec_status open_at(struct cloud_out *o, uint64_t size, struct imrec_error *err)
{
    if (o->place.key[0] == '\0')
        return IMREC_REFUSE(err, "%s: is a bucket, not an object in it", o->place.shown);
    o->part_key = cloud_part_key(o->place.key);
    o->room = part_bytes(1);
    o->buffer = imrec_realloc(NULL, o->room, 1);
    if (o->part_key == NULL || o->buffer == NULL)
        return no_memory(o, err);
    return size == STORE_NEW ? cloud_remove_part(&o->place, o->part_key, err)
                             : resume(o, size, err);
}

enum imrec_status cloud_out_open(enum cloud cloud, const char *name, uint64_t size,
                                 struct out **out, struct imrec_error *err)
{
    struct cloud_out *o = imrec_zalloc(1, sizeof(*o));
    *out = NULL;
    if (o == NULL)
        return IMREC_NO_MEMORY(err, "no memory to write an object");
    o->base.ops = &out_ops;
    wire_group_init(&o->group);
    enum imrec_status st = cloud_place_open(cloud, name, &o->place, err);
    if (st == IMREC_OK)
        st = open_at(o, size, err);
    if (st == IMREC_OK)
        *out = &o->base;
    else
        cloud_out_close(&o->base, false);
    return st;
}
