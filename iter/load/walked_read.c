/* iter/load/walked_read.c - finding the records of a run of a kind that walks.
 *
 * Such a file has no mark of where records begin: the walk of a run begins where that of the run
 * before it in the shard has ended. Windows are read at the same time, so a thread may wait for the
 * one that has this run; pieces are dealt oldest window first, so that one is not waiting for work.
 * After a seek nobody has it: the shard is walked from the last known place, or its begin. */
#include "iter/load/loader_state.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/math.h"
#include "container/listed_shards.h"
#include "storage/store/store.h"

#include <string.h>

/* ---- the shard, with the run's bytes in memory ----------------------------------------------- */

struct run_source {
    struct source base;
    struct loader *loader;
    const struct run *run;
    const uint8_t *p; /* of the run's begin */
};

static enum imrec_status
read_run(struct source *s, uint64_t offset, void *to, size_t n, struct imrec_error *err)
{
    const struct run_source *v = (const struct run_source *)s;
    const struct run *r = v->run;
    const uint64_t end = r->end + r->room;
    const size_t here = offset >= r->begin && offset < end ? (size_t)min_u64(n, end - offset) : 0;
    const struct hole *h = unreadable_find(r->holes, offset, offset + here);
    if (here != 0 && h != NULL) {
        if (err != NULL)
            *err = h->why;
        return h->why.status;
    }
    if (here != 0)
        memcpy(to, v->p + (offset - r->begin), here);
    if (here == n)
        return IMREC_OK;
    atomic_fetch_add(&v->loader->bytes_read, n - here);
    return source_read(v->loader->o.container->shards[r->shard].source, offset + here,
                       (uint8_t *)to + here, n - here, err);
}

static const struct source_ops run_ops = {.read_at = read_run};

/* ---- where the walk begins ------------------------------------------------------------------- */

/* The run of the same sweep that ends where `r` begins, and is not yet walked. */
static bool is_under_way(const struct loader *l, const struct arena *a, const struct run *r)
{
    for (uint32_t i = 0; i < l->o.arenas; i++) {
        const struct arena *b = &l->arenas[i];
        if (b->state != ARENA_FILLING || b->stale || b->failed || b->sequence > a->sequence ||
            b->window.sweep != a->window.sweep)
            continue;
        for (uint64_t k = 0; k < b->run_count; k++)
            if (b->runs[k].shard == r->shard && b->runs[k].end == r->begin && !b->runs[k].walked)
                return true;
    }
    return false;
}

/* Waits for the run before this one. *out: the place that is known, at or before the run's begin.
 */
static enum imrec_status
wait_for_mark(struct loader *l, struct arena *a, const struct run *r, struct walked *out)
{
    mutex_lock(&l->lock);
    const struct walked *m = &l->walked[r->shard];
    while (m->boundary != r->begin && is_under_way(l, a, r) && !a->stale && !a->failed &&
           !atomic_load(&l->cancelled))
        cond_wait(&l->walked_on, &l->lock);
    *out = m->boundary <= r->begin ? *m : (struct walked){0, 0, 0};
    const bool unwanted = a->stale || a->failed || atomic_load(&l->cancelled);
    mutex_unlock(&l->lock);
    return unwanted ? IMREC_ERR_CANCELLED : IMREC_OK;
}

/* From a known place to the begin of the run. */
static enum imrec_status walk_up_to(const struct container *c, const struct run *r,
                                    struct walked *at, struct imrec_error *err)
{
    const struct shard *s = &c->shards[r->shard];
    struct shard_found passed = {0};
    struct record_walk w = {s->source, s->size, s->source->at_once != 0, at->head, r->begin};
    const enum imrec_status st = c->kind->walk(c, &w, &passed, err);
    *at = (struct walked){r->begin, w.at, at->records + passed.count - passed.losses.count};
    shard_found_free(&passed);
    return st;
}

static void set_mark(struct loader *l, struct run *r, struct walked mark)
{
    mutex_lock(&l->lock);
    l->walked[r->shard] = mark;
    r->walked = true;
    cond_wake_all(&l->walked_on);
    mutex_unlock(&l->lock);
}

/* ---- what was found -------------------------------------------------------------------------- */

/* The record's bytes, in the run or read into memory of the window. */
static enum imrec_status gather(struct loader *l, struct arena *a, struct run *r,
                                struct unit_range u, uint8_t **out, struct imrec_error *err)
{
    uint8_t *p = a->memory + r->place;
    const uint64_t there = r->end + r->room, n = u.end - u.begin;
    const uint64_t have = u.begin < there ? min_u64(there - u.begin, n) : 0;
    *out = p + (u.begin - r->begin);
    if (have == n)
        return IMREC_OK;
    *out = run_extra(l, a, n);
    if (*out == NULL)
        return IMREC_NO_MEMORY(err, "no memory for the records of a window");
    if (have != 0)
        memcpy(*out, p + (u.begin - r->begin), (size_t)have);
    return run_read_more(l, r, u.begin + have, *out + have, n - have, err);
}

/* Why the record is lost, or OK; IMREC_ERR_NO_MEMORY and IMREC_ERR_CANCELLED are returned. */
static enum imrec_status open_found(struct reading *t, struct arena *a, struct run *r,
                                    struct unit_range u, struct bytes *out, struct imrec_error *why,
                                    struct imrec_error *err)
{
    const struct container *c = t->loader->o.container;
    const struct record_place at = {.begin = u.begin, .end = u.end, .shard = u.shard};
    uint8_t *p;
    uint64_t used;
    *why = (struct imrec_error){.status = IMREC_OK};
    IMREC_TRY(gather(t->loader, a, r, u, &p, err));
    const struct hole *h = unreadable_find(r->holes, u.begin, u.end);
    if (h != NULL) {
        *why = h->why;
        return IMREC_OK;
    }
    const enum imrec_status st =
        c->kind->open(c, &at, p, (size_t)(u.end - u.begin), out, &used, why);
    why->status = st;
    if (st == IMREC_ERR_NO_MEMORY)
        *err = *why;
    return st == IMREC_ERR_NO_MEMORY ? st : IMREC_OK;
}

/* Appends a record; one that is lost has its slot, as its place is known. */
static enum imrec_status take_record(struct reading *t, struct arena *a, struct run *r,
                                     struct unit_range u, uint64_t number, struct imrec_error *err)
{
    struct loader *l = t->loader;
    const uint64_t grid = l->o.container->options.cell_bytes;
    const uint64_t unit = min_u64(u.begin / grid - r->begin / grid, r->count - 1);
    struct finding f = {.unit = unit, .offset = u.begin, .id = id_in_shard(r->shard, number)};
    struct imrec_error why;
    IMREC_TRY(open_found(t, a, r, u, &f.bytes, &why, err));
    if (why.status != IMREC_OK) {
        f.bytes = (struct bytes){NULL, 0};
        f.lost = true;
        IMREC_TRY(run_note(r, DAMAGE_RECORD, u.begin, u.end, &why, err));
    }
    if (!ARENA_GROW(t->found, t->found_capacity, t->found_count + 1, &l->memory))
        return IMREC_NO_MEMORY(err, "no memory for the records of a window");
    t->found[t->found_count++] = f;
    return IMREC_OK;
}

/* The next thing begins at `end`. */
static enum imrec_status note_loss(struct run *r, const struct listed_loss *loss, uint64_t end,
                                   uint32_t *notes, struct imrec_error *err)
{
    const struct walk_item item = {.begin = loss->why.offset, .end = end, .why = loss->why};
    return run_damaged(r, &item, notes, err);
}

static enum imrec_status take_all(struct reading *t, struct arena *a, struct run *r,
                                  const struct shard_found *f, struct walked from, uint64_t end,
                                  struct imrec_error *err)
{
    uint32_t notes = 0;
    uint64_t losses = 0;
    for (uint64_t i = 0; i < f->count; i++) {
        const struct indexed_record *e = &f->records[i];
        const uint64_t next = i + 1 < f->count ? f->records[i + 1].offset : end;
        const struct unit_range u = {r->shard, e->offset, e->offset + e->bytes};
        const bool lost = losses < f->losses.count && f->losses.p[losses].number == i;
        IMREC_TRY(lost ? note_loss(r, &f->losses.p[losses], next, &notes, err)
                       : take_record(t, a, r, u, from.records + i - losses, err));
        losses += lost;
    }
    return IMREC_OK;
}

static enum imrec_status walk_and_take(struct reading *t, struct arena *a, struct run *r,
                                       struct walked from, struct imrec_error *err)
{
    struct loader *l = t->loader;
    const struct container *c = l->o.container;
    const uint64_t size = c->shards[r->shard].size;
    struct run_source v = {{.size = size, .ops = &run_ops}, l, r, a->memory + r->place};
    struct record_walk w = {&v.base, size, false, from.head, r->end};
    struct shard_found found = {0};
    enum imrec_status st = c->kind->walk(c, &w, &found, err);
    if (st == IMREC_OK)
        set_mark(l, r,
                 (struct walked){r->end, w.at, from.records + found.count - found.losses.count});
    if (st == IMREC_OK)
        st = take_all(t, a, r, &found, from, w.at, err);
    shard_found_free(&found);
    return st;
}

enum imrec_status
run_walk(struct reading *t, struct arena *a, struct run *r, struct imrec_error *err)
{
    struct walked from;
    t->found_count = 0;
    IMREC_TRY(wait_for_mark(t->loader, a, r, &from));
    if (from.boundary != r->begin)
        IMREC_TRY(walk_up_to(t->loader->o.container, r, &from, err));
    return walk_and_take(t, a, r, from, err);
}
