/*
 * minibatch/assemble.c - the thread that has minibatches made ahead of the consumer.
 *
 * Plan which sequences come, have their blocks loaded, have them packed into a cell. The first
 * failure, or the end, is published like a minibatch and ends the run.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "minibatch/gather.h"

#include <string.h>

/* ---- planning ---------------------------------------------------------------------------- */

static uint64_t size_of_next(const struct imrec_minibatch_source *s)
{
    if (s->asked > 0)
        return s->asked;
    return minibatch_size(&s->options.sizes, minibatch_truncates(s)
                                                 ? truncated_plan_epoch(&s->truncated)
                                                 : minibatch_plan_epoch(&s->plan));
}

static enum imrec_status
plan_whole(struct imrec_minibatch_source *s, struct imrec_minibatch *m, struct imrec_error *err)
{
    IMREC_TRY(gather_want(s, NULL, 0, 0, err)); /* the plan itself may look into blocks */
    IMREC_TRY(minibatch_plan_next(&s->plan, size_of_next(s), err));
    m->sweep = s->plan.sweep;
    m->epoch = s->plan.epoch;
    m->sweep_end = s->plan.sweep_end;
    m->epoch_end = s->plan.epoch_end || (s->options.full_sweep && s->plan.sweep_end);
    m->position = s->plan.mark.position;
    return gather_want(s, s->plan.item, sizeof(*s->plan.item), s->plan.items, err);
}

static enum imrec_status
plan_pieces(struct imrec_minibatch_source *s, struct imrec_minibatch *m, struct imrec_error *err)
{
    IMREC_TRY(truncated_plan_next(&s->truncated, size_of_next(s), err));
    m->sweep = s->truncated.first_sweep;
    m->epoch = s->truncated.epoch;
    m->sweep_end = s->truncated.sweep_end;
    m->epoch_end = s->truncated.epoch_end || (s->options.full_sweep && s->truncated.over);
    m->position = s->truncated.given;
    const uint64_t n = s->truncated.pieces;
    return gather_want(s, n > 0 ? &s->truncated.piece->item : NULL, sizeof(*s->truncated.piece), n,
                       err);
}

/* Entry i of the plan, and how it goes into a minibatch. */
static const struct timeline_item *planned(const struct imrec_minibatch_source *s, uint64_t i)
{
    return minibatch_truncates(s) ? &s->truncated.piece[i].item : &s->plan.item[i];
}

static struct pack_piece piece_of(const struct imrec_minibatch_source *s, uint64_t i)
{
    if (!minibatch_truncates(s))
        return (struct pack_piece){
            .count = PACK_WHOLE, .samples = s->plan.item[i].length, .begins = true};
    const struct truncated_piece *p = &s->truncated.piece[i];
    return (struct pack_piece){p->begin, p->count, p->row, p->column, p->count, p->begin == 0};
}

/* ---- finding ----------------------------------------------------------------------------- */

static enum imrec_status
reserve(struct imrec_minibatch_source *s, struct minibatch_cell *c, struct imrec_error *err)
{
    const uint64_t n = c->planned;
    if (n >= UINT32_MAX)
        return imrec_fail(err, IMREC_ERR_LIMIT,
                          "a minibatch of more than %lu sequences; ask for fewer samples",
                          (unsigned long)UINT32_MAX - 1);
    IMREC_TRY(reuse_buffer_reserve(&c->views, n, s->joint.streams * sizeof(struct sequence_view),
                                   "a minibatch", err));
    IMREC_TRY(reuse_buffer_reserve(&c->spots, n, s->joint.corpora * sizeof(struct gather_spot),
                                   "a minibatch", err));
    IMREC_TRY(reuse_buffer_reserve(&c->pieces, n, sizeof(struct pack_piece), "a minibatch", err));
    return reuse_buffer_reserve(&c->ids, n, sizeof(uint64_t), "a minibatch", err);
}

/* Notes in the cell where everything is that was planned. */
static enum imrec_status
find(struct imrec_minibatch_source *s, struct minibatch_cell *c, struct imrec_error *err)
{
    c->planned = minibatch_truncates(s) ? s->truncated.pieces : s->plan.items;
    c->rows = s->truncated.rows;
    IMREC_TRY(reserve(s, c, err));
    gather_begin(s);
    for (uint64_t i = 0; i < c->planned; i++) {
        struct gather_spot *spot = (struct gather_spot *)c->spots.p + i * s->joint.corpora;
        IMREC_TRY(gather_locate(s, planned(s, i), spot, (uint64_t *)c->ids.p + i, err));
        ((struct pack_piece *)c->pieces.p)[i] = piece_of(s, i);
    }
    return IMREC_OK;
}

static enum imrec_status
take_place(struct imrec_minibatch_source *s, struct minibatch_place *p, struct imrec_error *err)
{
    p->mark = minibatch_truncates(s) ? s->truncated.mark : s->plan.mark;
    if (!minibatch_truncates(s))
        return IMREC_OK;
    return truncated_plan_held(&s->truncated, &p->held, &p->held_room, &p->helds, err);
}

static enum imrec_status prepare(struct imrec_minibatch_source *s, struct minibatch_cell *c)
{
    c->minibatch = (struct imrec_minibatch){.streams = s->joint.streams};
    c->dropped = 0;
    enum imrec_status st = minibatch_truncates(s) ? plan_pieces(s, &c->minibatch, &c->error)
                                                  : plan_whole(s, &c->minibatch, &c->error);
    if (st == IMREC_OK)
        st = find(s, c, &c->error);
    if (st == IMREC_OK)
        st = take_place(s, &c->behind, &c->error);
    c->tally = s->tally;
    return c->status = st;
}

/* ---- the thread -------------------------------------------------------------------------- */

/* A cell to fill; until there is one this thread does what the others do. */
static bool take_cell(struct imrec_minibatch_source *s, uint64_t *n)
{
    while (ring_would_wait(&s->ring) && blocks_help(s->blocks))
        continue;
    return ring_reserve(&s->ring, n) == IMREC_OK;
}

static void run(struct imrec_minibatch_source *s)
{
    enum imrec_status st = IMREC_OK;
    uint64_t n;
    while (st == IMREC_OK && take_cell(s, &n)) {
        st = prepare(s, &s->cell[n % s->ring.depth]);
        if (st == IMREC_OK)
            blocks_post(s->blocks, n);
        else
            ring_publish(&s->ring, n);
        blocks_trim(s->blocks);
    }
    blocks_settle(s->blocks);
}

void *minibatch_main(void *source)
{
    struct imrec_minibatch_source *s = source;
    mutex_lock(&s->lock);
    while (!s->stop) {
        if (!s->run) {
            s->idle = true;
            cond_wake_all(&s->change);
            cond_wait(&s->change, &s->lock);
            continue;
        }
        s->idle = false;
        mutex_unlock(&s->lock);
        run(s);
        mutex_lock(&s->lock);
        s->run = false;
    }
    s->idle = true;
    mutex_unlock(&s->lock);
    return NULL;
}

/* ---- places ------------------------------------------------------------------------------ */

enum imrec_status minibatch_place_copy(struct minibatch_place *to,
                                       const struct minibatch_place *from, struct imrec_error *err)
{
    if (!IMREC_GROW(to->held, to->held_room, from->helds))
        return IMREC_NO_MEMORY(err, "no memory for a position");
    if (from->helds > 0)
        memcpy(to->held, from->held, from->helds * sizeof(*to->held));
    to->helds = from->helds;
    to->mark = from->mark;
    return IMREC_OK;
}

/* What was made ahead and not delivered will be made again, or never: its errors do not count. */
static void take_back(struct imrec_minibatch_source *s)
{
    const struct minibatch_tally *to = &s->delivered;
    for (uint64_t i = to->charges; i < s->tally.charges; i++) {
        const struct charge *c = &s->charge[i];
        s->counted[c->block] -= c->problems;
        s->errors[c->corpus] -= c->problems;
    }
    for (uint64_t i = to->messages; i < s->tally.messages; i++)
        imrec_free(s->message[i]);
    s->tally = *to;
}

enum imrec_status minibatch_go(struct imrec_minibatch_source *s,
                               const struct minibatch_place *place, bool known,
                               struct imrec_error *err)
{
    s->wants = false;
    take_back(s);
    if (minibatch_truncates(s))
        return truncated_plan_seek(&s->truncated, &place->mark, place->held, place->helds, err);
    if (!known)
        return minibatch_plan_seek(&s->plan, &place->mark, err);
    timeline_jump(s->line, place->mark.sweep, place->mark.number, place->mark.position);
    s->plan.mark = place->mark;
    return IMREC_OK;
}
