/* iter/load/fetch_read.c - a run of records that are fetched: a call of the container's kind.
 *
 * A record's bytes are what the call says of it, struct imrec_fetched; what that points at is the
 * caller's, and is let go when the arena is used again. */
#include "iter/load/loader_state.h"

#include "base/error.h"
#include "imrec/fetch.h"

#include <string.h>

struct call { /* memory of the window */
    uint64_t *numbers;
    struct imrec_fetched *out;
};

static enum imrec_status
have_room(struct loader *l, struct arena *a, uint64_t n, struct call *c, struct imrec_error *err)
{
    const size_t results = (size_t)n * sizeof(*c->out);
    mutex_lock(&l->lock);
    uint8_t *p = arena_extra(a, results + (size_t)n * sizeof(*c->numbers), &l->memory);
    mutex_unlock(&l->lock);
    if (p == NULL)
        return IMREC_NO_MEMORY(err, "no memory for the records of a window");
    memset(p, 0, results);
    *c = (struct call){(uint64_t *)(void *)(p + results), (struct imrec_fetched *)(void *)p};
    return IMREC_OK;
}

/* Whether the failure is not about the records. */
static bool ends_all(enum imrec_status st)
{
    return st == IMREC_ERR_NO_MEMORY || st == IMREC_ERR_CANCELLED;
}

static enum imrec_status
lose(struct run *r, struct record_ref *ref, const struct imrec_error *why, struct imrec_error *err)
{
    ref->lost = true;
    return run_note(r, DAMAGE_RECORD, ref->offset, ref->offset + 1, why, err);
}

/* Result i of the call, which went well. */
static enum imrec_status
take(struct run *r, struct record_ref *ref, const struct imrec_fetched *f, struct imrec_error *err)
{
    struct imrec_error why;
    if (f->status == IMREC_OK) {
        ref->bytes = (struct bytes){(const uint8_t *)f, sizeof(*f)};
        ref->key = f->id;
        r->held_bytes += f->image_bytes + f->mask_bytes;
        return IMREC_OK;
    }
    imrec_error_at(&why, f->status, ref->offset, "%.480s",
                   f->why != NULL ? f->why : "it could not be fetched");
    if (ends_all(f->status)) {
        *err = why;
        return f->status;
    }
    return lose(r, ref, &why, err);
}

static enum imrec_status take_all(struct loader *l, struct arena *a, struct run *r,
                                  const struct call *c, struct imrec_error *err)
{
    for (uint64_t i = 0; i < r->count; i++)
        IMREC_TRY(take(r, &a->window.records[a->order[r->first + i].place], &c->out[i], err));
    atomic_fetch_add(&l->memory, r->held_bytes);
    atomic_fetch_add(&l->bytes_read, r->held_bytes);
    return IMREC_OK;
}

enum imrec_status
run_fetch(struct reading *t, struct arena *a, struct run *r, struct imrec_error *err)
{
    struct loader *l = t->loader;
    const struct container *container = l->o.container;
    struct call c = {NULL, NULL};
    struct imrec_error why = {.offset = IMREC_NO_OFFSET};
    IMREC_TRY(have_room(l, a, r->count, &c, err));
    for (uint64_t i = 0; i < r->count; i++) {
        c.numbers[i] = arena_place(a, r->first + i).begin;
        c.out[i].id = c.numbers[i];
    }
    r->holder = container;
    const enum imrec_status st =
        container->kind->fetch(container, c.numbers, (uint32_t)r->count, c.out, &r->hold, &why);
    if (st == IMREC_OK)
        return take_all(l, a, r, &c, err);
    if (ends_all(st)) {
        *err = why;
        return st;
    }
    for (uint64_t i = 0; i < r->count; i++)
        IMREC_TRY(lose(r, &a->window.records[a->order[r->first + i].place], &why, err));
    return IMREC_OK;
}
