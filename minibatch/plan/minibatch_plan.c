/* minibatch/plan/minibatch_plan.c - which sequences a minibatch is made of. */
#include "minibatch/plan/minibatch_plan.h"

#include "base/alloc.h"
#include "base/error.h"

#include <inttypes.h>

void minibatch_plan_free(struct minibatch_plan *p)
{
    imrec_free(p->item);
    *p = (struct minibatch_plan){0};
}

/* ---- ends -------------------------------------------------------------------------------- */

bool minibatch_is_over(const struct minibatch_plan_options *o, const struct timeline_item *item)
{
    return (o->max_sweeps > 0 && item->sweep >= o->max_sweeps) ||
           (o->max_samples > 0 && item->position >= o->max_samples);
}

static bool epoch_is_over(const struct minibatch_plan *p)
{
    return p->mark.labels - p->mark.epoch_labels >= p->o.epoch_size;
}

/* The next epoch begins where it would have begun had no sequence crossed an end; one that is
 * over before it begins is passed. */
static void enter_epoch(struct minibatch_plan *p)
{
    const uint64_t over = (p->mark.labels - p->mark.epoch_labels) / p->o.epoch_size;
    p->mark.epoch += over;
    p->mark.epoch_labels += over * p->o.epoch_size;
}

uint64_t minibatch_plan_epoch(const struct minibatch_plan *p)
{
    const uint64_t behind = p->mark.labels - p->mark.epoch_labels;
    return p->mark.epoch + behind / p->o.epoch_size;
}

/* ---- shares ------------------------------------------------------------------------------ */

bool minibatch_is_local(const struct minibatch_plan_options *o, const struct timeline_item *item)
{
    return (o->randomized ? item->chunk_place : item->number) % o->ranks == o->rank;
}

static bool is_ours(const struct minibatch_plan *p, const struct timeline_item *item)
{
    return p->o.mode == IMREC_RANK_GLOBAL ? p->taken % p->o.ranks == p->o.rank
                                          : minibatch_is_local(&p->o, item);
}

/* How many samples fit, of those that are counted. */
static uint64_t our_size(const struct minibatch_plan *p, uint64_t size)
{
    if (p->o.mode == IMREC_RANK_GLOBAL)
        return size;
    const uint64_t share = size / p->o.ranks + (size % p->o.ranks > p->o.rank);
    return share > 0 ? share : 1;
}

static enum imrec_status
keep(struct minibatch_plan *p, const struct timeline_item *item, struct imrec_error *err)
{
    if (!IMREC_GROW(p->item, p->room, p->items + 1))
        return IMREC_NO_MEMORY(err, "no memory for a minibatch of %llu sequences",
                               (unsigned long long)(p->items + 1));
    p->item[p->items++] = *item;
    return IMREC_OK;
}

/* ---- the walk ---------------------------------------------------------------------------- */

void minibatch_mark_step(struct minibatch_mark *m, struct timeline *line,
                         const struct timeline_item *item)
{
    timeline_step(line);
    m->position = item->position + item->length;
    m->sweep = item->sweep + item->last;
    m->number = item->last ? 0 : item->number + 1;
}

static enum imrec_status
pass(struct minibatch_plan *p, const struct timeline_item *item, struct imrec_error *err)
{
    uint64_t labels = item->length;
    if (p->o.labels != NULL)
        IMREC_TRY(p->o.labels(p->o.context, item, &labels, err));
    minibatch_mark_step(&p->mark, p->line, item);
    p->mark.labels += labels;
    p->sweep_end |= item->last;
    return IMREC_OK;
}

/* Whether the minibatch ends before this sequence. */
static bool
is_full(const struct minibatch_plan *p, const struct timeline_item *item, bool ours, uint64_t size)
{
    if (minibatch_is_over(&p->o, item) || epoch_is_over(p))
        return true;
    if (p->o.mode == IMREC_RANK_GLOBAL)
        return p->taken > 0 && p->samples + item->length > size;
    if (p->sweep_end && p->items == 0) /* there may be nothing for this rank at all */
        return true;
    return ours && p->items > 0 && p->samples + item->length > size;
}

static enum imrec_status fill(struct minibatch_plan *p, uint64_t size, struct imrec_error *err)
{
    const bool global = p->o.mode == IMREC_RANK_GLOBAL;
    for (;;) {
        struct timeline_item item;
        IMREC_TRY(timeline_peek(p->line, &item, err));
        const bool ours = is_ours(p, &item);
        if (is_full(p, &item, ours, size))
            return IMREC_OK;
        if (ours)
            IMREC_TRY(keep(p, &item, err));
        p->taken += global || ours;
        p->samples += global || ours ? item.length : 0;
        IMREC_TRY(pass(p, &item, err));
    }
}

enum imrec_status
minibatch_plan_next(struct minibatch_plan *p, uint64_t size, struct imrec_error *err)
{
    struct timeline_item first;
    IMREC_TRY(timeline_peek(p->line, &first, err));
    if (minibatch_is_over(&p->o, &first))
        return IMREC_END;
    enter_epoch(p);
    p->items = p->taken = p->samples = 0;
    p->sweep_end = false;
    p->epoch = p->mark.epoch;
    p->sweep = first.sweep;
    IMREC_TRY(fill(p, our_size(p, size), err));
    p->epoch_end = epoch_is_over(p);
    return IMREC_OK;
}

enum imrec_status
minibatch_mark_seek(const struct minibatch_mark *m, struct timeline *line, struct imrec_error *err)
{
    struct timeline_item item;
    IMREC_TRY(timeline_seek_number(line, m->sweep, m->number, err));
    IMREC_TRY(timeline_peek(line, &item, err));
    if (item.position == m->position)
        return IMREC_OK;
    return IMREC_REFUSE(err,
                        "position: sequence %" PRIu64 " of sweep %" PRIu64
                        " begins at sample %" PRIu64 ", not %" PRIu64,
                        m->number, m->sweep, item.position, m->position);
}

enum imrec_status minibatch_plan_seek(struct minibatch_plan *p, const struct minibatch_mark *mark,
                                      struct imrec_error *err)
{
    IMREC_TRY(minibatch_mark_seek(mark, p->line, err));
    p->mark = *mark;
    return IMREC_OK;
}
