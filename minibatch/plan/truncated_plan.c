/* minibatch/plan/truncated_plan.c - sequences cut into pieces. */
#include "minibatch/plan/truncated_plan.h"

#include "base/alloc.h"
#include "base/error.h"

#include <inttypes.h>
#include <string.h>

void truncated_plan_free(struct truncated_plan *p)
{
    for (uint32_t i = 0; i < p->slots; i++)
        imrec_free(p->slot[i].item);
    IMREC_FREE(p->slot, p->piece);
    *p = (struct truncated_plan){0};
}

static enum imrec_status no_memory(struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "no memory for the slots of truncated sequences");
}

static enum imrec_status have_slots(struct truncated_plan *p, uint64_t n, struct imrec_error *err)
{
    if (n <= p->slots)
        return IMREC_OK;
    struct truncated_slot *grown = imrec_realloc(p->slot, n, sizeof(*grown));
    if (grown == NULL)
        return no_memory(err);
    memset(grown + p->slots, 0, (n - p->slots) * sizeof(*grown));
    p->slot = grown;
    p->slots = (uint32_t)n;
    return IMREC_OK;
}

static enum imrec_status hold(struct truncated_slot *s, const struct timeline_item *item,
                              uint32_t done, struct imrec_error *err)
{
    if (!IMREC_GROW(s->item, s->room, s->items + 1u))
        return no_memory(err);
    s->item[s->items++] = (struct held_item){*item, done};
    s->samples += item->length - done;
    return IMREC_OK;
}

/* ---- the timeline ------------------------------------------------------------------------ */

static bool is_ours(const struct truncated_plan *p, const struct timeline_item *item)
{
    return p->o.mode == IMREC_RANK_GLOBAL || minibatch_is_local(&p->o, item);
}

/* The first sweep of which something is still to come, held or on the timeline. */
static uint64_t sweep_to_come(const struct truncated_plan *p)
{
    uint64_t first = p->mark.sweep;
    for (uint32_t i = 0; i < p->live; i++)
        for (uint32_t k = 0; k < p->slot[i].items; k++)
            first = p->slot[i].item[k].item.sweep < first ? p->slot[i].item[k].item.sweep : first;
    return first;
}

static uint64_t samples_held(const struct truncated_plan *p)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < p->live; i++)
        n += p->slot[i].samples;
    return n;
}

/* ---- refilling --------------------------------------------------------------------------- */

/* A rank that has nothing of a sweep goes no further than to its end. */
static enum imrec_status
refill(struct truncated_plan *p, struct truncated_slot *s, bool *starved, struct imrec_error *err)
{
    while (s->samples <= p->o.truncation && !*starved) {
        struct timeline_item item;
        IMREC_TRY(timeline_peek(p->line, &item, err));
        if (minibatch_is_over(&p->o, &item))
            return IMREC_OK;
        if (is_ours(p, &item))
            IMREC_TRY(hold(s, &item, 0, err));
        minibatch_mark_step(&p->mark, p->line, &item);
        *starved = p->o.mode == IMREC_RANK_LOCAL && item.last && samples_held(p) == 0;
    }
    return IMREC_OK;
}

/* Slots of a minibatch that this plan fills. */
static enum imrec_status
slots_of(const struct truncated_plan *p, uint64_t size, uint64_t *slots, struct imrec_error *err)
{
    const uint64_t n = size / p->o.truncation, all = n > 0 ? n : 1;
    if (all < p->o.ranks)
        return IMREC_REFUSE(
            err,
            "a minibatch of %" PRIu64 " samples has %" PRIu64 " slots of truncationLength %" PRIu32
            ", too few for %" PRIu32 " ranks; ask for %" PRIu64 " samples or more",
            size, all, p->o.truncation, p->o.ranks, (uint64_t)p->o.ranks * p->o.truncation);
    *slots =
        p->o.mode == IMREC_RANK_GLOBAL ? all : all / p->o.ranks + (all % p->o.ranks > p->o.rank);
    return IMREC_OK;
}

/* ---- giving ------------------------------------------------------------------------------ */

static enum imrec_status
keep(struct truncated_plan *p, const struct truncated_piece *piece, struct imrec_error *err)
{
    if (!IMREC_GROW(p->piece, p->piece_room, p->pieces + 1))
        return no_memory(err);
    p->piece[p->pieces++] = *piece;
    return IMREC_OK;
}

/* Takes up to `truncation` samples of slot `number`; ours: they belong to this rank. A sequence
 * without samples is used up from the beginning: it never remains in a slot. */
static enum imrec_status
give(struct truncated_plan *p, uint32_t number, bool ours, struct imrec_error *err)
{
    struct truncated_slot *s = &p->slot[number];
    uint32_t column = 0, used = 0;
    while (used < s->items) {
        struct held_item *h = &s->item[used];
        if (column == p->o.truncation && h->done < h->item.length)
            break;
        const uint32_t left = h->item.length - h->done, room = p->o.truncation - column,
                       n = left < room ? left : room;
        const struct truncated_piece piece = {h->item, h->done, n, p->rows, column};
        if (ours && n > 0)
            IMREC_TRY(keep(p, &piece, err));
        p->first_sweep = h->item.sweep < p->first_sweep ? h->item.sweep : p->first_sweep;
        h->done += n;
        column += n;
        used += n == left;
    }
    if (used > 0)
        memmove(s->item, s->item + used, (s->items - used) * sizeof(*s->item));
    s->items -= used;
    s->samples -= column;
    p->samples += column;
    p->rows += ours;
    return IMREC_OK;
}

/* Nothing is held. Steps over what gives this rank no piece, to the end of the sweep at most, so
 * that the minibatch with its last piece is known to be that. */
static enum imrec_status see_end(struct truncated_plan *p, struct imrec_error *err)
{
    for (;;) {
        struct timeline_item item;
        IMREC_TRY(timeline_peek(p->line, &item, err));
        p->over = minibatch_is_over(&p->o, &item);
        if (p->over || p->mark.number == 0 || (is_ours(p, &item) && item.length > 0))
            return IMREC_OK;
        minibatch_mark_step(&p->mark, p->line, &item);
    }
}

/* Fills the first `slots`; the slots after them give what they have left. *live: all of these. */
static enum imrec_status
fill_slots(struct truncated_plan *p, uint32_t slots, struct imrec_error *err)
{
    bool starved = false;
    IMREC_TRY(have_slots(p, slots, err));
    for (uint32_t i = 0; i < slots; i++) {
        p->live = i + 1 > p->live ? i + 1 : p->live;
        IMREC_TRY(refill(p, &p->slot[i], &starved, err));
    }
    while (p->live > slots && p->slot[p->live - 1].samples == 0)
        p->live--;
    return IMREC_OK;
}

enum imrec_status
truncated_plan_next(struct truncated_plan *p, uint64_t size, struct imrec_error *err)
{
    const uint64_t sweep = sweep_to_come(p), position = p->mark.position;
    uint64_t slots = 0;
    IMREC_TRY(slots_of(p, size, &slots, err));
    IMREC_TRY(fill_slots(p, (uint32_t)slots, err));
    uint64_t left = samples_held(p);
    if (left == 0 && p->mark.position == position)
        return IMREC_END;
    p->epoch = truncated_plan_epoch(p);
    p->pieces = p->samples = p->rows = 0;
    p->first_sweep = left > 0 ? UINT64_MAX : sweep;
    for (uint32_t i = 0; i < p->live; i++) /* and no more rows: what was once, a position forgets */
        IMREC_TRY(give(p, i, p->o.mode == IMREC_RANK_LOCAL || i % p->o.ranks == p->o.rank, err));
    left -= p->samples;
    p->over = false;
    if (left == 0)
        IMREC_TRY(see_end(p, err));
    p->sweep_end = sweep_to_come(p) > sweep;
    p->given = p->mark.position - left;
    p->epoch_end = truncated_plan_epoch(p) != p->epoch;
    return IMREC_OK;
}

uint64_t truncated_plan_epoch(const struct truncated_plan *p)
{
    return p->given / p->o.epoch_size;
}

/* ---- going back -------------------------------------------------------------------------- */

enum imrec_status truncated_plan_held(const struct truncated_plan *p, struct truncated_held **out,
                                      uint64_t *room, uint64_t *count, struct imrec_error *err)
{
    *count = 0;
    for (uint32_t i = 0; i < p->live; i++)
        for (uint32_t k = 0; k < p->slot[i].items; k++) {
            const struct held_item *h = &p->slot[i].item[k];
            if (!IMREC_GROW(*out, *room, *count + 1))
                return no_memory(err);
            (*out)[(*count)++] = (struct truncated_held){i, h->done, h->item.sweep, h->item.number};
        }
    return IMREC_OK;
}

static enum imrec_status
find_item(struct truncated_plan *p, const struct truncated_held *h, struct imrec_error *err)
{
    struct timeline_item item;
    IMREC_TRY(timeline_seek_number(p->line, h->sweep, h->number, err));
    IMREC_TRY(timeline_peek(p->line, &item, err));
    if (h->done > item.length || item.number != h->number)
        return IMREC_REFUSE(err,
                            "position: sequence %" PRIu64 " of sweep %" PRIu64 " has %" PRIu32
                            " samples, %" PRIu32 " of them cannot be given",
                            h->number, h->sweep, item.length, h->done);
    return hold(&p->slot[h->slot], &item, h->done, err);
}

enum imrec_status truncated_plan_seek(struct truncated_plan *p, const struct minibatch_mark *mark,
                                      const struct truncated_held *held, uint64_t count,
                                      struct imrec_error *err)
{
    uint64_t slots = 0, left = 0;
    for (uint32_t i = 0; i < p->live; i++)
        p->slot[i].items = 0, p->slot[i].samples = 0;
    for (uint64_t i = 0; i < count; i++)
        slots = held[i].slot >= slots ? (uint64_t)held[i].slot + 1 : slots;
    IMREC_TRY(have_slots(p, slots, err));
    p->live = (uint32_t)slots;
    for (uint64_t i = 0; i < count; i++)
        IMREC_TRY(find_item(p, &held[i], err));
    for (uint64_t i = 0; i < slots; i++)
        left += p->slot[i].samples;
    IMREC_TRY(minibatch_mark_seek(mark, p->line, err));
    p->mark = (struct minibatch_mark){
        .sweep = mark->sweep, .number = mark->number, .position = mark->position};
    p->given = mark->position - (left < mark->position ? left : mark->position);
    return IMREC_OK;
}
