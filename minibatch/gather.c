/* minibatch/gather.c - the blocks that a minibatch needs. */
#include "minibatch/gather.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"

#include <inttypes.h>

/* ---- what is needed ---------------------------------------------------------------------- */

static void add_block(struct imrec_minibatch_source *s, uint64_t number)
{
    if (s->stamp[number] == s->stamps)
        return;
    s->stamp[number] = s->stamps;
    s->list[s->lists++] = number;
}

static void add_chunk(struct imrec_minibatch_source *s, uint32_t chunk)
{
    const struct corpus_chunk *c = &s->joint.corpus[0]->chunk[chunk];
    for (uint32_t i = 0; i < c->blocks; i++)
        add_block(s, c->block + i);
    for (uint32_t k = 1; k < s->joint.corpora; k++)
        for (uint32_t n = 0; n < s->joint.chunk[chunk].sequences; n++)
            add_block(s, blocks_first(s->blocks, k) + joint_find(&s->joint, chunk, n, k).block);
}

/* The window's room besides the group in use; at least one chunk is read ahead. */
struct room_left {
    uint64_t chunks, samples;
};

static bool fits(const struct imrec_minibatch_source *s, uint32_t chunk, struct room_left *left)
{
    const uint64_t samples = s->joint.chunk[chunk].samples;
    if (left->chunks == 0 || samples > left->samples)
        return false;
    left->chunks--;
    left->samples -= samples;
    return true;
}

static struct room_left
room_beside(const struct imrec_minibatch_source *s, const struct timeline_group *g)
{
    struct room_left left = {UINT64_MAX, UINT64_MAX};
    if (!s->options.o.randomize)
        return left;
    left.chunks = s->window_chunks > 0 ? s->window_chunks : left.chunks;
    left.samples = s->window_samples > 0 ? s->window_samples : left.samples;
    for (uint32_t i = 0; i < g->chunks; i++)
        if (!fits(s, g->chunk[i], &left))
            return (struct room_left){0, 0};
    return left;
}

static enum imrec_status add_group(struct imrec_minibatch_source *s, uint64_t ahead,
                                   struct room_left *left, struct imrec_error *err)
{
    const struct imrec_minibatch_options *o = &s->options.o;
    const bool dealt = o->rank_mode == IMREC_RANK_LOCAL && o->randomize; /* chunks, to ranks */
    struct timeline_group g;
    IMREC_TRY(timeline_group(s->line, ahead, &g, err));
    if (o->max_sweeps > 0 && g.sweep >= (uint64_t)o->max_sweeps)
        return IMREC_OK;
    for (uint32_t i = 0; i < g.chunks && (ahead == 0 || fits(s, g.chunk[i], left) || i == 0); i++)
        if (!dealt || (g.place + i) % (uint64_t)o->num_ranks == (uint64_t)o->rank)
            add_chunk(s, g.chunk[i]);
    return IMREC_OK;
}

/* In order, groups are blocks: enough for every thread to be busy; a large one, a whole chunk of
 * a binary file, is work enough. */
static uint64_t groups_ahead(const struct imrec_minibatch_source *s)
{
    if (s->options.o.randomize || minibatch_has_large_blocks(s))
        return 1;
    return 2 * (uint64_t)s->threads;
}

enum imrec_status gather_want(struct imrec_minibatch_source *s, const struct timeline_item *item,
                              size_t stride, uint64_t n, struct imrec_error *err)
{
    struct timeline_group now;
    const uint64_t ahead = groups_ahead(s);
    uint32_t before = UINT32_MAX;
    IMREC_TRY(timeline_group(s->line, 0, &now, err));
    if (s->wants && now.sweep == s->want_sweep && now.number == s->want_group)
        return IMREC_OK;
    s->lists = 0;
    s->stamps++;
    for (uint64_t i = 0; i < n; i++, item = (const void *)((const char *)item + stride)) {
        if (item->chunk != before)
            add_chunk(s, item->chunk);
        before = item->chunk;
    }
    struct room_left left = room_beside(s, &now);
    for (uint64_t i = 0; i <= ahead; i++)
        IMREC_TRY(add_group(s, i, &left, err));
    blocks_want(s->blocks, s->list, s->lists);
    s->want_sweep = now.sweep;
    s->want_group = now.number;
    s->wants = true;
    return IMREC_OK;
}

/* ---- errors ------------------------------------------------------------------------------ */

static enum imrec_status
remember(struct imrec_minibatch_source *s, const char *message, bool loud, struct imrec_error *err)
{
    if (s->tally.messages == SOURCE_DROPPED_KEPT)
        return IMREC_OK;
    char *copy = imrec_joined("", 0, message);
    if (copy == NULL)
        return IMREC_NO_MEMORY(err, "no memory for a message");
    s->loud[s->tally.messages] = loud;
    s->message[s->tally.messages++] = copy;
    return IMREC_OK;
}

/* Every bad sample costs one error, once in the life of a source. */
static enum imrec_status charge(struct imrec_minibatch_source *s, uint32_t corpus, uint64_t number,
                                const struct block *b, struct imrec_error *err)
{
    const struct imrec_deserializer *o = &s->joint.corpus[corpus]->o;
    uint64_t *counted = &s->counted[number];
    if (*counted < b->problems) {
        if (!IMREC_GROW(s->charge, s->charge_room, s->tally.charges + 1))
            return IMREC_NO_MEMORY(err, "no memory for the errors of %" PRIu64 " chunks",
                                   s->tally.charges + 1);
        s->charge[s->tally.charges++] = (struct charge){number, 0, corpus};
    }
    while (*counted < b->problems) {
        const struct ctf_problem *p = &b->problem[*counted];
        if (s->errors[corpus] == (uint64_t)o->max_errors)
            return imrec_error_at(err, IMREC_ERR_CORRUPT, p->offset, "%s", p->message);
        IMREC_TRY(remember(s, p->message, o->trace_level >= 1, err));
        s->errors[corpus]++;
        s->tally.errors++;
        s->tally.loud += o->trace_level >= 1;
        s->charge[s->tally.charges - 1].problems++;
        ++*counted;
    }
    if (o->trace_level >= 2 && !s->met[number])
        imrec_log(IMREC_LOG_TRACE, "%.200s: chunk %" PRIu64 ": %" PRIu32 " sequences in use",
                  o->file, number - blocks_first(s->blocks, corpus), b->view.sequences);
    s->met[number] = 1;
    return IMREC_OK;
}

/* ---- sequences --------------------------------------------------------------------------- */

void gather_begin(struct imrec_minibatch_source *s)
{
    for (uint32_t k = 0; k < s->joint.corpora; k++)
        s->last[k].number = UINT64_MAX;
}

enum imrec_status gather_locate(struct imrec_minibatch_source *s, const struct timeline_item *item,
                                struct gather_spot *spot, uint64_t *id, struct imrec_error *err)
{
    for (uint32_t k = 0; k < s->joint.corpora; k++) {
        const struct joint_place p = joint_find(&s->joint, item->chunk, item->sequence, k);
        const uint64_t number = blocks_first(s->blocks, k) + p.block;
        if (number != s->last[k].number) { /* often it is that of the sequence before */
            IMREC_TRY(blocks_get(s->blocks, number, &s->last[k].block, err));
            IMREC_TRY(charge(s, k, number, s->last[k].block, err));
            s->last[k].number = number;
        }
        spot[k] = (struct gather_spot){.block = s->last[k].block, .at = p};
    }
    return corpus_key(s->joint.corpus[0], spot->at.block, spot->at.sequence, id, err);
}

enum imrec_status minibatch_labels(void *source, const struct timeline_item *item, uint64_t *out,
                                   struct imrec_error *err)
{
    struct imrec_minibatch_source *s = source;
    const struct joint_stream *j = &s->joint.stream[s->label_stream];
    const struct joint_place p = joint_find(&s->joint, item->chunk, item->sequence, j->corpus);
    const struct block *b;
    uint32_t place;
    IMREC_TRY(blocks_get(s->blocks, blocks_first(s->blocks, j->corpus) + p.block, &b, err));
    *out = block_find(b, s->joint.corpus[j->corpus], p.block, p.sequence, &place)
               ? sequence_view(&b->view, j->stream, place, j->info).samples
               : 0;
    return IMREC_OK;
}
