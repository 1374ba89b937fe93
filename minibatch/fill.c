/*
 * minibatch/fill.c - packs a minibatch whose sequences were found. Any thread, each its own.
 *
 * Sequences are anywhere in memory. So they are looked up in three steps, each some sequences
 * ahead of the next, and each asking the cache for what the next one reads.
 */
#include "base/error.h"
#include "minibatch/gather.h"

#include <inttypes.h>

struct filling {
    const struct imrec_minibatch_source *s;
    struct minibatch_cell *c;
    uint64_t kept; /* sequences: their views, pieces and ids have moved to the front */
};

static struct gather_spot *spots_of(const struct filling *f, uint64_t i)
{
    return (struct gather_spot *)f->c->spots.p + i * f->s->joint.corpora;
}

/* ---- steps ------------------------------------------------------------------------------- */

static void find_in_blocks(const struct filling *f, uint64_t i)
{
    struct gather_spot *spot = spots_of(f, i);
    for (uint32_t k = 0; k < f->s->joint.corpora; k++, spot++) {
        const struct corpus *c = f->s->joint.corpus[k];
        spot->found = block_find(spot->block, c, spot->at.block, spot->at.sequence, &spot->place);
        for (uint32_t n = 0; n < c->streams && spot->found; n++)
            __builtin_prefetch(&spot->block->view.stream[n].offset[spot->place]);
    }
}

static void touch(const struct filling *f, uint64_t i)
{
    enum { LINE = 64, MOST = 8 * LINE }; /* beyond that the processor prefetches by itself */
    const struct gather_spot *spot = spots_of(f, i);
    for (uint32_t k = 0; k < f->s->joint.corpora; k++, spot++)
        for (uint32_t n = 0; n < f->s->joint.corpus[k]->streams && spot->found; n++) {
            const struct chunk_stream *c = &spot->block->view.stream[n];
            const uint64_t begin = c->offset[spot->place], all = c->offset[spot->place + 1] - begin;
            for (uint64_t at = 0; at < (all < MOST ? all : MOST); at += LINE)
                __builtin_prefetch(c->bytes + begin + at);
        }
}

static enum imrec_status check_equal(const struct imrec_minibatch_source *s, uint64_t key,
                                     const struct sequence_view *views, uint64_t room,
                                     struct imrec_error *err)
{
    for (uint32_t i = 1; i < s->joint.streams && minibatch_truncates(s); i++)
        if (views[i * room].samples != views[0].samples)
            return imrec_fail(err, IMREC_ERR_CORRUPT,
                              "sequence id %" PRIu64 " has %" PRIu32 " samples of '%.60s' and "
                              "%" PRIu32 " of '%.60s'; truncationLength needs equal lengths in "
                              "all streams",
                              key, views[0].samples, s->joint.stream[0].info->name,
                              views[i * room].samples, s->joint.stream[i].info->name);
    return IMREC_OK;
}

/* Fills view[stream * room] for all streams; *empty: no stream has a sample. */
static void view(const struct filling *f, uint64_t i, struct sequence_view *views, bool *empty)
{
    const struct gather_spot *spot = spots_of(f, i);
    *empty = true;
    for (uint32_t n = 0; n < f->s->joint.streams; n++) {
        const struct joint_stream *j = &f->s->joint.stream[n];
        const struct gather_spot *at = &spot[j->corpus];
        struct sequence_view *v = &views[n * f->c->planned];
        *v = at->found ? sequence_view(&at->block->view, j->stream, at->place, j->info)
                       : (struct sequence_view){0};
        *empty &= v->samples == 0;
    }
}

static enum imrec_status take(struct filling *f, uint64_t i, struct imrec_error *err)
{
    struct minibatch_cell *c = f->c;
    struct sequence_view *views = (struct sequence_view *)c->views.p + f->kept;
    struct pack_piece *to = (struct pack_piece *)c->pieces.p + f->kept;
    const struct pack_piece from = ((const struct pack_piece *)c->pieces.p)[i];
    uint64_t *id = c->ids.p;
    bool empty;
    view(f, i, views, &empty);
    IMREC_TRY(check_equal(f->s, id[i], views, c->planned, err));
    if (empty) {
        c->dropped += from.begin == 0;
        return IMREC_OK;
    }
    *to = from;
    if (!minibatch_truncates(f->s))
        to->row = (uint32_t)f->kept;
    id[f->kept++] = id[i];
    c->minibatch.samples += from.samples;
    return IMREC_OK;
}

/* ---- all --------------------------------------------------------------------------------- */

static enum imrec_status take_all(struct filling *f, struct imrec_error *err)
{
    enum { AHEAD = 8 }; /* of finding before touching, and of touching before taking */
    const uint64_t n = f->c->planned;
    for (uint64_t i = 0; i < n + 2 * AHEAD; i++) {
        if (i < n)
            find_in_blocks(f, i);
        if (f->s->touches && i >= AHEAD && i - AHEAD < n)
            touch(f, i - AHEAD);
        if (i >= 2 * AHEAD)
            IMREC_TRY(take(f, i - 2 * AHEAD, err));
    }
    return IMREC_OK;
}

static enum imrec_status pack_all(const struct filling *f, struct imrec_error *err)
{
    const struct imrec_minibatch_source *s = f->s;
    struct minibatch_cell *c = f->c;
    const uint64_t width = (uint64_t)s->options.o.truncation_length;
    for (uint32_t i = 0; i < s->joint.streams; i++)
        IMREC_TRY(pack_stream(&c->packed[i], s->joint.stream[i].info,
                              (struct sequence_view *)c->views.p + i * c->planned, c->pieces.p,
                              f->kept, c->rows, width, &c->stream[i], err));
    c->minibatch.sequences = f->kept;
    c->minibatch.ids = c->ids.p;
    return IMREC_OK;
}

void minibatch_fill(void *source, uint64_t number)
{
    struct imrec_minibatch_source *s = source;
    struct minibatch_cell *c = &s->cell[number % s->ring.depth];
    struct filling f = {s, c, 0};
    c->status = take_all(&f, &c->error);
    if (c->status == IMREC_OK)
        c->status = pack_all(&f, &c->error);
    ring_publish(&s->ring, number);
}
