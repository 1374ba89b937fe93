/* minibatch/plan/timeline.c - sequences on a line of samples that never ends. */
#include "minibatch/plan/timeline.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/rng.h"

/* One sweep's order of chunks, cut into groups. */
struct order {
    uint64_t sweep;
    bool made;
    uint32_t *chunk;        /* [chunks] */
    uint32_t *group;        /* [groups + 1]: where each begins in chunk[] */
    uint64_t *group_sample; /* [groups + 1]: samples of the sweep before it */
    uint32_t groups;
};

struct timeline {
    struct timeline_options o;
    uint64_t samples, sequences; /* of a sweep */
    struct order order[2];       /* of this sweep, and of another that was asked for */

    uint64_t sweep; /* the current place: */
    uint32_t group; /* in order[0] */
    uint64_t at;    /* sequences of the group before us */
    uint64_t number, position;

    struct place {
        uint32_t chunk_place, sequence;
    } * place; /* the group's order, while `placed` */
    uint64_t places, room;
    bool placed;

    bool peeked;
    struct timeline_item item;
};

static enum imrec_status no_memory(struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "no memory for the order of the sequences");
}

/* ---- the order of chunks ----------------------------------------------------------------- */

static struct rng_key key_of(const struct timeline *t, uint64_t sweep)
{
    return (struct rng_key){t->o.seed + sweep, 0}; /* seed 1 begins where seed 0 is a sweep later */
}

static void shuffle_chunks(const struct timeline *t, struct order *o)
{
    const struct rng_key key = key_of(t, o->sweep);
    for (uint32_t i = 0; i < t->o.chunks; i++)
        o->chunk[i] = i;
    if (!t->o.randomize)
        return;
    for (uint32_t i = t->o.chunks; i > 1; i--) {
        const uint64_t bits = rng_block(key, i, 0, 0, RNG_UNIT_ORDER).v[0];
        const uint32_t j = (uint32_t)rng_below(bits, i);
        const uint32_t other = o->chunk[j];
        o->chunk[j] = o->chunk[i - 1];
        o->chunk[i - 1] = other;
    }
}

/* What a group may hold: everything where that fits into the window, else half a window. */
static uint64_t share(uint64_t window, uint64_t all)
{
    if (window == 0 || window >= all)
        return UINT64_MAX;
    return window < 2 ? 1 : window / 2;
}

/* Two chunks of a group are mixed wherever the window has room for both. */
static bool is_full(const struct timeline *t, uint64_t chunks, uint64_t samples, uint64_t more)
{
    const uint64_t window = t->o.window_samples;
    uint64_t most = share(t->o.window_chunks, t->o.chunks);
    if (!t->o.randomize)
        return chunks == 1;
    if (most == 1 && t->o.window_chunks > 1)
        most = 2;
    if (chunks == most)
        return true;
    if (chunks == 1 && window > 0)
        return samples + more > window;
    return samples + more > share(window, t->samples);
}

/* A last chunk that is left alone goes to the group before it, where the window has room. */
static void join_last(const struct timeline *t, struct order *o)
{
    if (!t->o.randomize || o->groups < 2 || o->group[o->groups - 1] + 1 != t->o.chunks)
        return;
    const uint64_t chunks = t->o.chunks - o->group[o->groups - 2],
                   samples = t->samples - o->group_sample[o->groups - 2];
    if ((t->o.window_chunks == 0 || chunks <= t->o.window_chunks) &&
        (t->o.window_samples == 0 || samples <= t->o.window_samples))
        o->groups--;
}

static void cut_groups(const struct timeline *t, struct order *o)
{
    uint64_t chunks = 0, samples = 0, before = 0;
    o->groups = 0;
    for (uint32_t i = 0; i < t->o.chunks; i++) {
        const uint64_t more = t->o.chunk[o->chunk[i]].samples;
        if (i == 0 || is_full(t, chunks, samples, more)) {
            o->group[o->groups] = i;
            o->group_sample[o->groups++] = before;
            chunks = samples = 0;
        }
        chunks++;
        samples += more;
        before += more;
    }
    join_last(t, o);
    o->group[o->groups] = t->o.chunks;
    o->group_sample[o->groups] = before;
}

static void make_order(const struct timeline *t, struct order *o, uint64_t sweep)
{
    if (o->made && o->sweep == sweep)
        return;
    o->sweep = sweep;
    o->made = true;
    shuffle_chunks(t, o);
    cut_groups(t, o);
}

static void enter_sweep(struct timeline *t, uint64_t sweep)
{
    if (!t->order[0].made || t->order[0].sweep != sweep) {
        const struct order other = t->order[1];
        t->order[1] = t->order[0];
        t->order[0] = other;
    }
    make_order(t, &t->order[0], sweep);
    t->sweep = sweep;
    t->group = 0;
    t->at = t->number = 0;
    t->placed = t->peeked = false;
}

/* ---- the order of a group's sequences ---------------------------------------------------- */

static uint64_t group_sequences(const struct timeline *t, uint32_t group)
{
    const struct order *o = &t->order[0];
    uint64_t n = 0;
    for (uint32_t i = o->group[group]; i < o->group[group + 1]; i++)
        n += t->o.chunk[o->chunk[i]].sequences;
    return n;
}

static void shuffle_places(struct timeline *t)
{
    const struct rng_key key = key_of(t, t->sweep);
    struct rng_block bits = {{0}};
    for (uint64_t i = t->places, draw = 0; i > 1; i--, draw++) {
        if (draw % 4 == 0)
            bits = rng_block(key, t->group, draw / 4, 0, RNG_RECORD_ORDER);
        const uint64_t j = rng_below(bits.v[draw % 4], i);
        const struct place other = t->place[j];
        t->place[j] = t->place[i - 1];
        t->place[i - 1] = other;
    }
}

static enum imrec_status place_group(struct timeline *t, struct imrec_error *err)
{
    const struct order *o = &t->order[0];
    if (t->placed)
        return IMREC_OK;
    t->places = group_sequences(t, t->group);
    if (t->places > t->room) {
        struct place *p = imrec_realloc(t->place, t->places, sizeof(*p));
        if (p == NULL)
            return no_memory(err);
        t->place = p;
        t->room = t->places;
    }
    uint64_t n = 0;
    for (uint32_t i = o->group[t->group]; i < o->group[t->group + 1]; i++)
        for (uint32_t s = 0; s < t->o.chunk[o->chunk[i]].sequences; s++)
            t->place[n++] = (struct place){i, s};
    if (t->o.randomize)
        shuffle_places(t);
    t->placed = true;
    return IMREC_OK;
}

/* ---- moving ------------------------------------------------------------------------------ */

/* Moves past the groups, and the sweeps, that are over. */
static enum imrec_status settle(struct timeline *t, struct imrec_error *err)
{
    for (;;) {
        IMREC_TRY(place_group(t, err));
        if (t->at < t->places)
            return IMREC_OK;
        t->at = 0;
        t->placed = false;
        if (++t->group == t->order[0].groups)
            enter_sweep(t, t->sweep + 1);
    }
}

static void foretell(const struct timeline *t)
{
    enum { AHEAD = 12 };
    if (t->o.soon == NULL || t->places - t->at <= AHEAD)
        return;
    const struct place p = t->place[t->at + AHEAD];
    t->o.soon(t->o.context, t->order[0].chunk[p.chunk_place], p.sequence);
}

enum imrec_status
timeline_peek(struct timeline *t, struct timeline_item *out, struct imrec_error *err)
{
    if (!t->peeked) {
        IMREC_TRY(settle(t, err));
        const struct place p = t->place[t->at];
        const uint32_t chunk = t->order[0].chunk[p.chunk_place];
        uint32_t length = 0;
        foretell(t);
        IMREC_TRY(t->o.length(t->o.context, chunk, p.sequence, &length, err));
        t->item = (struct timeline_item){
            .chunk = chunk,
            .sequence = p.sequence,
            .length = length,
            .position = t->position,
            .sweep = t->sweep,
            .number = t->number,
            .chunk_place = p.chunk_place,
            .last = t->number + 1 == t->sequences,
        };
        t->peeked = true;
    }
    *out = t->item;
    return IMREC_OK;
}

void timeline_step(struct timeline *t)
{
    t->position += t->item.length;
    t->number++;
    t->at++;
    t->peeked = false;
}

enum imrec_status timeline_seek(struct timeline *t, uint64_t position, struct imrec_error *err)
{
    const uint64_t sweep = position / t->samples, within = position % t->samples;
    struct timeline_item item;
    enter_sweep(t, sweep);
    const struct order *o = &t->order[0];
    while (t->group + 1 < o->groups && o->group_sample[t->group + 1] <= within)
        t->number += group_sequences(t, t->group++);
    t->position = sweep * t->samples + o->group_sample[t->group];
    IMREC_TRY(timeline_peek(t, &item, err));
    while (item.position < position) {
        timeline_step(t);
        IMREC_TRY(timeline_peek(t, &item, err));
    }
    return IMREC_OK;
}

/* Goes to the first sequence of the group that holds a number; the order of a group that it is in
 * already is kept. */
static void enter_group_of(struct timeline *t, uint64_t sweep, uint64_t number)
{
    if (t->sweep != sweep || number < t->number - t->at)
        enter_sweep(t, sweep);
    t->number -= t->at;
    t->at = 0;
    t->peeked = false;
    while (t->group + 1 < t->order[0].groups &&
           t->number + group_sequences(t, t->group) <= number) {
        t->number += group_sequences(t, t->group++);
        t->placed = false;
    }
}

enum imrec_status
timeline_seek_number(struct timeline *t, uint64_t sweep, uint64_t number, struct imrec_error *err)
{
    struct timeline_item item;
    enter_group_of(t, sweep, number);
    t->position = sweep * t->samples + t->order[0].group_sample[t->group];
    for (uint64_t n = t->number; n < number; n++) {
        IMREC_TRY(timeline_peek(t, &item, err));
        timeline_step(t);
    }
    return IMREC_OK;
}

void timeline_jump(struct timeline *t, uint64_t sweep, uint64_t number, uint64_t position)
{
    enter_group_of(t, sweep, number);
    t->at = number - t->number;
    t->number = number;
    t->position = position;
}

enum imrec_status timeline_group(struct timeline *t, uint64_t ahead, struct timeline_group *out,
                                 struct imrec_error *err)
{
    IMREC_TRY(settle(t, err));
    uint64_t group = t->group + ahead;
    struct order *o = &t->order[0];
    if (group >= o->groups) { /* groups differ from sweep to sweep: one sweep ahead is enough */
        group -= o->groups;
        o = &t->order[1];
        make_order(t, o, t->sweep + 1);
        if (group >= o->groups)
            group = o->groups - 1;
    }
    *out = (struct timeline_group){.sweep = o->sweep,
                                   .number = (uint32_t)group,
                                   .chunk = o->chunk + o->group[group],
                                   .chunks = o->group[group + 1] - o->group[group],
                                   .place = o->group[group]};
    return IMREC_OK;
}

/* ---- life -------------------------------------------------------------------------------- */

static bool order_new(struct order *o, uint32_t chunks)
{
    o->chunk = imrec_zalloc(chunks, sizeof(*o->chunk));
    o->group = imrec_zalloc((size_t)chunks + 1, sizeof(*o->group));
    o->group_sample = imrec_zalloc((size_t)chunks + 1, sizeof(*o->group_sample));
    return o->chunk != NULL && o->group != NULL && o->group_sample != NULL;
}

enum imrec_status
timeline_new(const struct timeline_options *o, struct timeline **out, struct imrec_error *err)
{
    uint64_t samples = 0, sequences = 0;
    *out = NULL;
    for (uint32_t i = 0; i < o->chunks; i++) {
        samples += o->chunk[i].samples; /* sums of what fits a file cannot overflow */
        sequences += o->chunk[i].sequences;
    }
    if (samples == 0 || sequences == 0)
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "there is no sample in the data: %llu sequences in %u chunks",
                          (unsigned long long)sequences, o->chunks);
    struct timeline *t = imrec_zalloc(1, sizeof(*t));
    if (t == NULL)
        return no_memory(err);
    t->o = *o;
    t->samples = samples;
    t->sequences = sequences;
    if (!order_new(&t->order[0], o->chunks) || !order_new(&t->order[1], o->chunks)) {
        timeline_free(t);
        return no_memory(err);
    }
    enter_sweep(t, 0);
    *out = t;
    return IMREC_OK;
}

void timeline_free(struct timeline *t)
{
    if (t == NULL)
        return;
    for (int i = 0; i < 2; i++)
        IMREC_FREE(t->order[i].chunk, t->order[i].group, t->order[i].group_sample);
    IMREC_FREE(t->place, t);
}

uint64_t timeline_sweep_samples(const struct timeline *t)
{
    return t->samples;
}

uint64_t timeline_sweep_sequences(const struct timeline *t)
{
    return t->sequences;
}
