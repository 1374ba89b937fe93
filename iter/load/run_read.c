/* iter/load/run_read.c - reading a run, and finding its records.
 *
 * All cells of a run are walked before the first record is joined: joining moves bytes and puts
 * magics back, and a cell must see its bytes as they are in the shard. A record that overlaps
 * one before it (no writer makes such) is moved away for the same reason. */
#include "iter/load/loader_state.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/math.h"
#include "container/metadata.h"
#include "container/set_sums.h"

#include <inttypes.h>
#include <string.h>

static enum imrec_status no_memory(struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "no memory for the records of a window");
}

/* ---- reading ------------------------------------------------------------------------------ */

enum imrec_status
piece_read(struct loader *l, const struct piece *p, bool *last, struct imrec_error *err)
{
    struct run *r = p->run;
    struct hole *holes = NULL;
    uint8_t *to = p->arena->memory + (p->rest ? r->rest_place + (p->offset - r->rest_begin)
                                              : r->place + (p->offset - r->begin));
    advice_give(l->o.container, p);
    const uint64_t since = clock_ns();
    const enum imrec_status st = unreadable_read(l->o.container->shards[r->shard].source, p->offset,
                                                 to, (size_t)p->bytes, &holes, err);
    const uint64_t ns = clock_ns() - since;
    atomic_fetch_add(&l->bytes_read, p->bytes);
    mutex_lock(&l->lock);
    unreadable_join(&r->holes, holes);
    *last = --r->pieces_left == 0;
    advice_learn(&l->advice, p, ns);
    mutex_unlock(&l->lock);
    return st;
}

/* ---- what a walk sees --------------------------------------------------------------------- */

struct sight {
    struct view view;
    uint8_t *p;     /* of the view */
    bool own, lent; /* own: memory of this window for this walk; lent: the scratch, for now */
};

static bool unwanted(struct loader *l, struct arena *a)
{
    mutex_lock(&l->lock);
    const bool stale = a->stale || a->failed;
    mutex_unlock(&l->lock);
    return stale || atomic_load(&l->cancelled);
}

/* A record that ends after the view: the part in it is copied, the rest is read. */
static enum imrec_status see_record(struct loader *l, struct arena *a, struct run *r,
                                    const struct walk *w, struct sight *s, struct imrec_error *err)
{
    const struct view *v = &s->view;
    const bool there = w->keep >= v->begin && w->keep < v->end;
    const uint64_t have = there ? v->end - w->keep : 0, size = w->size - w->keep;
    uint64_t bytes = w->need - w->keep;
    if (have >= 8 && load_le32(s->p + (w->keep - v->begin) + 4) >> 29 != 0)
        bytes = min_u64(size, bytes * 2 + (64u << 10)); /* of many parts, only the next is known */
    uint8_t *p = run_extra(l, a, bytes);
    if (p == NULL)
        return no_memory(err);
    if (have != 0)
        memcpy(p, s->p + (w->keep - v->begin), (size_t)min_u64(have, bytes));
    if (bytes > have)
        IMREC_TRY(run_read_more(l, r, w->keep + have, p + have, bytes - have, err));
    *s = (struct sight){{p, w->keep, w->keep + bytes, r->holes}, p, true, false};
    return IMREC_OK;
}

/* A look at bytes somewhere else, for a head. */
static enum imrec_status see_around(struct reading *t, struct run *r, const struct walk *w,
                                    struct sight *s, struct imrec_error *err)
{
    const uint64_t end = min_u64(w->size, w->keep + SCRATCH_BYTES);
    if (t->scratch == NULL) {
        t->scratch = imrec_realloc(NULL, 1, SCRATCH_BYTES);
        if (t->scratch == NULL)
            return no_memory(err);
        atomic_fetch_add(&t->loader->memory, SCRATCH_BYTES);
    }
    IMREC_TRY(run_read_more(t->loader, r, w->keep, t->scratch, end - w->keep, err));
    *s = (struct sight){{t->scratch, w->keep, end, r->holes}, t->scratch, false, true};
    return IMREC_OK;
}

static enum imrec_status see_more(struct reading *t, struct arena *a, struct run *r,
                                  const struct walk *w, struct sight *s, struct imrec_error *err)
{
    if (unwanted(t->loader, a))
        return IMREC_ERR_CANCELLED;
    return w->state == WALK_MEASURE ? see_record(t->loader, a, r, w, s, err)
                                    : see_around(t, r, w, s, err);
}

/* ---- cells -------------------------------------------------------------------------------- */

static enum imrec_status found(struct reading *t, struct arena *a, uint64_t unit,
                               const struct walk_item *item, const struct sight *s, uint64_t *done,
                               struct imrec_error *err)
{
    struct loader *l = t->loader;
    uint8_t *p = s->p + (item->begin - s->view.begin);
    if (s->lent || (!s->own && item->begin < *done)) {
        uint8_t *copy = run_extra(l, a, item->end - item->begin);
        if (copy == NULL)
            return no_memory(err);
        p = memcpy(copy, p, (size_t)(item->end - item->begin));
    } else if (!s->own) {
        *done = item->end;
    }
    if (!ARENA_GROW(t->found, t->found_capacity, t->found_count + 1, &l->memory))
        return no_memory(err);
    t->found[t->found_count++] =
        (struct finding){.unit = unit, .offset = item->begin, .p = p, .span = item->span};
    return IMREC_OK;
}

/* Records that the checksums have after the shard's end, reported with its last bytes. */
static enum imrec_status
note_cut_off(const struct container *s, struct run *r, uint64_t end, struct imrec_error *err)
{
    struct imrec_error why;
    const uint64_t size = s->shards[r->shard].size, lost = set_sums_cut_off(s, r->shard);
    if (end != size || lost == 0)
        return IMREC_OK;
    (void)imrec_error_at(&why, IMREC_ERR_CORRUPT, size,
                         "the shard ends here; its checksums have another %" PRIu64 " bytes", lost);
    return run_note(r, DAMAGE_BYTES, size, size + lost, &why, err);
}

/* A record as stored in the shard: joins those of the unit, unless it differs from its checksum.
 * Then the walk continues where the next one begins: a damaged length may have swallowed some. */
static enum imrec_status take(struct reading *t, struct arena *a, struct run *r, uint64_t unit,
                              struct walk *w, struct walk_item *item, const struct sight *s,
                              uint64_t *done, uint32_t *notes, struct imrec_error *err)
{
    const struct bytes framed = {s->p + (item->begin - s->view.begin),
                                 (size_t)(item->end - item->begin)};
    const struct container *container = t->loader->o.container;
    uint64_t end;
    if (metadata_at(container, r->shard, item->begin) != NULL)
        return IMREC_OK;
    if (set_sums_compare(container, r->shard, item->begin, framed, &end, &item->why) == IMREC_OK)
        return found(t, a, unit, item, s, done, err);
    if (end < item->end && end < w->end)
        walk_begin(w, w->size, end, w->end, true);
    item->end = end;
    return run_damaged(r, item, notes, err);
}

static enum imrec_status walk_cell(struct reading *t, struct arena *a, struct run *r, uint64_t unit,
                                   uint64_t *done, struct imrec_error *err)
{
    const struct container *container = t->loader->o.container;
    const struct unit_range cell = container_unit(container, a->order[r->first + unit].unit);
    uint8_t *p = a->memory + r->place;
    struct sight s = {{p, r->begin, r->end + r->room, r->holes}, p, false, false};
    struct walk w;
    struct walk_item item;
    uint32_t notes = 0;
    walk_begin(&w, container->shards[r->shard].size, cell.begin, cell.end, cell.begin == 0);
    for (;;) {
        switch (walk_next(&w, &s.view, &item)) {
        case WALK_RECORD:
            IMREC_TRY(take(t, a, r, unit, &w, &item, &s, done, &notes, err));
            break;
        case WALK_DAMAGE:
            IMREC_TRY(run_damaged(r, &item, &notes, err));
            break;
        case WALK_MORE:
            IMREC_TRY(see_more(t, a, r, &w, &s, err));
            break;
        case WALK_END:
            return note_cut_off(container, r, cell.end, err);
        }
    }
}

static enum imrec_status
parse_cells(struct reading *t, struct arena *a, struct run *r, struct imrec_error *err)
{
    uint64_t done = r->begin;
    t->found_count = 0;
    if (t->loader->walked != NULL)
        IMREC_TRY(run_walk(t, a, r, err));
    for (uint64_t unit = 0; t->loader->walked == NULL && unit < r->count; unit++)
        IMREC_TRY(walk_cell(t, a, r, unit, &done, err));
    return run_hand_in(t, a, r, err);
}

/* ---- records of a table ------------------------------------------------------------------- */

/* Opens the record at *p; what is not in memory yet is read to another place. *used: its bytes, 0:
 * not known. */
static enum imrec_status open_record(struct reading *t, struct arena *a, struct run *r,
                                     const struct record_place *at, uint8_t *p, struct bytes *out,
                                     uint64_t *used, struct imrec_error *err)
{
    const struct container *c = t->loader->o.container;
    const uint64_t all = at->end - at->begin;
    uint64_t n = min_u64(at->end, r->end) - at->begin;
    for (;;) {
        const enum imrec_status st = c->kind->open(c, at, p, (size_t)n, out, used, err);
        if (st != IMREC_END)
            return st;
        const uint64_t more = min_u64(all, *used + n);
        uint8_t *copy = run_extra(t->loader, a, more);
        if (copy == NULL)
            return no_memory(err);
        memcpy(copy, p, (size_t)n);
        IMREC_TRY(run_read_more(t->loader, r, at->begin + n, copy + n, more - n, err));
        p = copy;
        n = more;
    }
}

/* Bytes that the index does not list. It is not the index that is wrong where a new one could not
 * list a record there either: the note then has the reason. */
static enum imrec_status note_range(struct reading *t, struct arena *a, struct run *r,
                                    uint64_t begin, uint64_t end, struct imrec_error *err)
{
    const struct container *c = t->loader->o.container;
    uint8_t *p = a->memory + r->place;
    struct sight s = {{p, r->begin, r->end + r->room, r->holes}, p, false, false};
    struct imrec_error why = {0};
    struct walk w;
    struct walk_item item;
    if (!c->kind->side_files) /* it has no walk */
        return run_note(r, DAMAGE_UNLISTED, begin, end, NULL, err);
    walk_begin(&w, c->shards[r->shard].size, begin, end, true);
    for (;;) {
        switch (walk_next(&w, &s.view, &item)) {
        case WALK_RECORD:
            return run_note(r, DAMAGE_UNLISTED, begin, end, NULL, err);
        case WALK_DAMAGE:
            why = why.status == IMREC_OK ? item.why : why;
            break;
        case WALK_MORE:
            IMREC_TRY(see_more(t, a, r, &w, &s, err));
            break;
        case WALK_END:
            return run_note(r, DAMAGE_UNLISTED, begin, end, &why, err);
        }
    }
}

/* What lies between the record, which ends at `end`, and the next one of the index, and before the
 * first one: no writer leaves anything there. */
static enum imrec_status note_unlisted(struct reading *t, struct arena *a, struct run *r,
                                       struct unit_range range, uint64_t end,
                                       struct imrec_error *err)
{
    const uint64_t first = t->loader->o.container->shards[range.shard].first;
    if (first != 0 && range.begin == first)
        IMREC_TRY(note_range(t, a, r, 0, first, err));
    return end < range.end ? note_range(t, a, r, end, range.end, err) : IMREC_OK;
}

/* The rest of a record that has been opened. *hole: why it cannot be read. */
static enum imrec_status open_rest(const struct container *c, const struct arena *a,
                                   const struct run *r, struct record_ref *ref,
                                   const struct hole **hole, struct imrec_error *err)
{
    if (r->rest_end == 0)
        return IMREC_OK;
    const struct unit_range all = c->kind->rest(c, ref->unit);
    *hole = unreadable_find(r->holes, all.begin, all.end);
    return *hole != NULL
               ? IMREC_OK
               : c->kind->open_rest(c, ref->unit,
                                    a->memory + r->rest_place + (all.begin - r->rest_begin),
                                    &ref->rest, err);
}

/* Record i of the window, by place in the set. */
static enum imrec_status
read_record(struct reading *t, struct arena *a, struct run *r, uint64_t i, struct imrec_error *err)
{
    const struct container *c = t->loader->o.container;
    const struct record_place at = arena_place(a, i);
    const struct unit_range range = {at.shard, at.begin, at.end};
    struct imrec_error why;
    uint64_t used = 0;
    struct record_ref *ref = &a->window.records[a->order[i].place];
    ref->lost = c->kind->lost != NULL && c->kind->lost(c, at.number) != NULL;
    if (ref->lost) /* the container knows why */
        return IMREC_OK;
    enum imrec_status st = open_record(
        t, a, r, &at, a->memory + r->place + (range.begin - r->begin), &ref->bytes, &used, &why);
    if (st == IMREC_ERR_NO_MEMORY) {
        *err = why;
        return st;
    }
    const uint64_t end = used != 0 ? range.begin + used : range.end;
    const struct hole *h = unreadable_find(r->holes, range.begin, end);
    if (st == IMREC_OK && h == NULL)
        st = open_rest(c, a, r, ref, &h, &why);
    ref->lost = st != IMREC_OK || h != NULL;
    if (ref->lost) {
        ref->bytes = ref->rest = (struct bytes){NULL, 0};
        IMREC_TRY(run_note(r, DAMAGE_RECORD, range.begin, end, h != NULL ? &h->why : &why, err));
    }
    IMREC_TRY(note_cut_off(c, r, range.end, err));
    return note_unlisted(t, a, r, range, end, err);
}

static enum imrec_status
read_records(struct reading *t, struct arena *a, struct run *r, struct imrec_error *err)
{
    for (uint64_t i = 0; i < r->count; i++)
        IMREC_TRY(read_record(t, a, r, r->first + i, err));
    return IMREC_OK;
}

static void drop_run(const struct container *c, const struct run *r)
{
    struct source *s = c->shards[r->shard].source;
    source_drop(s, r->begin, r->end + r->room - r->begin);
    if (r->rest_end != 0)
        source_drop(s, r->rest_begin, r->rest_end - r->rest_begin);
}

enum imrec_status
run_parse(struct reading *t, struct arena *a, struct run *r, struct imrec_error *err)
{
    const struct container *container = t->loader->o.container;
    IMREC_TRY(!container_is_listed(container) ? parse_cells(t, a, r, err)
                                              : read_records(t, a, r, err));
    if (container->options.drop_behind)
        drop_run(container, r);
    return IMREC_OK;
}
