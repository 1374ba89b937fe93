/* iter/sampling_open.c - what mix, class_balanced, sample_weights, subset, repeats and
 * sweep_samples make of the records: members, and strata or weights of them. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/math.h"
#include "base/rng.h"
#include "container/record_head.h"
#include "iter/options/iter_options.h"
#include "iter/sample/id_weights.h"
#include "iter/state.h"
#include "storage/source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PLACES     1024u /* located at once */
#define LINE_UNITS 0x1p62

struct choosing {
    const struct imrec_iter *it;
    struct sampling *s;
    struct id_weights ids; /* of subset, then of sample_weights */
    uint64_t *chosen;
    uint64_t chosen_count, chosen_room;
    struct classed *classed;
    double weights; /* their sum */
};

typedef enum imrec_status each_member(struct choosing *c, uint64_t member,
                                      const struct record_place *at, struct imrec_error *err);

static uint64_t record_of(const struct sampling *s, uint64_t member)
{
    return s->members != NULL ? s->members[member] : member;
}

static enum imrec_status for_members(struct choosing *c, each_member *call, struct imrec_error *err)
{
    struct record_place p[PLACES];
    for (uint64_t first = 0; first < c->s->member_count; first += PLACES) {
        const size_t n = (size_t)min_u64(PLACES, c->s->member_count - first);
        for (size_t k = 0; k < n; k++)
            p[k].number = record_of(c->s, first + k);
        IMREC_TRY(container_locate(&c->it->container, p, n, err));
        for (size_t k = 0; k < n; k++)
            IMREC_TRY(call(c, first + k, &p[k], err));
    }
    return IMREC_OK;
}

static enum imrec_status no_memory(uint64_t n, struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "no memory for a choice of %llu records", (unsigned long long)n);
}

/* ---- ids ------------------------------------------------------------------------------------ */

#define CHECKED 64u /* records */

/* Ids are looked up by the keys of the index. Some of the records say whether these are the ids. */
static enum imrec_status check_keys(const struct imrec_iter *it, struct imrec_error *err)
{
    const struct container *c = &it->container;
    const uint64_t n = min_u64(c->unit_count, CHECKED);
    for (uint64_t i = 0; c->kind->side_files && i < n; i++) {
        struct record_place at = {.number = share_begin(c->unit_count, i, n)};
        struct record_head head;
        IMREC_TRY(container_locate(c, &at, 1, err));
        if (!record_head_read(&c->shards[at.shard], at.begin, at.end, &head) || !head.is_image)
            continue;
        const uint64_t id = load_le64(head.bytes + RECORDIO_PART_HEAD_BYTES + 8);
        if (id == at.key)
            continue;
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "%.200s: its index names the record at byte %llu %llu, but its id is "
                          "%llu: subset, sample_weights and class_balanced look ids up in the "
                          "index: make a new one (imrec index)",
                          c->shards[at.shard].uri, (unsigned long long)at.begin,
                          (unsigned long long)at.key, (unsigned long long)id);
    }
    return IMREC_OK;
}

static bool looks_ids_up(const struct imrec_iter *it)
{
    const struct imrec_iter_options *o = &it->options;
    return o->subset[0] != '\0' || o->sample_weights[0] != '\0' ||
           (o->class_balanced && it->labels.entries != NULL);
}

/* ---- subset --------------------------------------------------------------------------------- */

static enum imrec_status
choose(struct choosing *c, uint64_t member, const struct record_place *at, struct imrec_error *err)
{
    struct id_line *line = id_weights_find(&c->ids, at->key);
    if (line == NULL)
        return IMREC_OK;
    if (!IMREC_GROW(c->chosen, c->chosen_room, c->chosen_count + 1))
        return no_memory(c->chosen_count, err);
    c->chosen[c->chosen_count++] = member;
    line->met = true;
    return IMREC_OK;
}

static enum imrec_status take_subset(struct choosing *c, const char *uri, struct imrec_error *err)
{
    IMREC_TRY(id_weights_load(&c->ids, "subset", uri, false, err));
    IMREC_TRY(for_members(c, choose, err));
    const struct id_line *missing = NULL;
    for (uint64_t i = 0; i < c->ids.count; i++)
        if (!c->ids.lines[i].met && (missing == NULL || c->ids.lines[i].line < missing->line))
            missing = &c->ids.lines[i];
    if (missing != NULL)
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "subset: %.300s: line %llu: no record has the id %llu", uri,
                          (unsigned long long)missing->line, (unsigned long long)missing->id);
    c->s->members = c->chosen;
    c->s->member_count = c->chosen_count;
    c->chosen = NULL;
    id_weights_free(&c->ids);
    return IMREC_OK;
}

/* ---- strata --------------------------------------------------------------------------------- */

/* Room for n and their end; each is then given to add_stratum(). */
static enum imrec_status have_strata(struct sampling *s, uint64_t n, struct imrec_error *err)
{
    s->strata = imrec_zalloc((size_t)n + 1, sizeof(*s->strata));
    return s->strata != NULL ? IMREC_OK : no_memory(n, err);
}

static void add_stratum(struct sampling *s, uint64_t first, uint64_t members, uint64_t samples)
{
    struct stratum *t = &s->strata[s->stratum_count++];
    *t = (struct stratum){first, members, t->begin};
    t[1].begin = t->begin + samples;
    s->distinct = t[1].begin;
}

static uint64_t sweep_samples(const struct choosing *c)
{
    const int64_t wish = c->it->options.sweep_samples;
    return wish != 0 ? (uint64_t)wish : c->s->member_count;
}

static enum imrec_status take_all(struct choosing *c, struct imrec_error *err)
{
    IMREC_TRY(have_strata(c->s, 1, err));
    add_stratum(c->s, 0, c->s->member_count, sweep_samples(c));
    return IMREC_OK;
}

/* ---- mixtures ------------------------------------------------------------------------------- */

/* The first record of a shard, or of a later one. */
static enum imrec_status
first_of_shard(const struct container *c, uint32_t shard, uint64_t *out, struct imrec_error *err)
{
    uint64_t low = 0, high = c->unit_count;
    while (low < high) {
        struct record_place p = {.number = low + (high - low) / 2};
        IMREC_TRY(container_locate(c, &p, 1, err));
        if (p.shard < shard)
            low = p.number + 1;
        else
            high = p.number;
    }
    *out = low;
    return IMREC_OK;
}

/* Where the members of each set begin, and the last ones end. */
static enum imrec_status
find_sets(const struct choosing *c, uint64_t *begin, struct imrec_error *err)
{
    const struct mix_sets *m = &c->it->mix;
    const struct sampling *s = c->s;
    for (uint64_t i = 0; i <= m->count; i++) {
        const uint32_t shard = i < m->count ? m->set[i].first_shard : UINT32_MAX;
        IMREC_TRY(first_of_shard(&c->it->container, shard, &begin[i], err));
        if (s->members != NULL)
            begin[i] =
                first_at_least(s->members, sizeof(*s->members), 0, s->member_count, begin[i]);
    }
    for (uint64_t i = 0; i < m->count; i++)
        if (begin[i] == begin[i + 1])
            return imrec_fail(err, IMREC_ERR_CORRUPT, "mix: %.200s has no record%s", m->set[i].uri,
                              s->members != NULL ? " whose id is in subset" : "");
    return IMREC_OK;
}

#define ROUNDING 4e-15 /* a decimal weight times a whole number may be as much less than it is */

static uint64_t whole_share(const struct mix_set *set, uint64_t samples)
{
    return (uint64_t)floor((double)samples * set->share * (1 + ROUNDING));
}

/* As many as come before a set has no more. */
static uint64_t until_one_ends(const struct mix_sets *m, const uint64_t *begin)
{
    double least = INFINITY;
    for (uint64_t i = 0; i < m->count; i++)
        least = fmin(least, (double)(begin[i + 1] - begin[i]) / m->set[i].share);
    return (uint64_t)floor(least * (1 + ROUNDING));
}

/* What rounding down has left over goes to those that lost most by it. */
static void give_rest(const struct mix_sets *m, uint64_t samples, uint64_t *of)
{
    uint64_t rest = samples;
    for (uint64_t i = 0; i < m->count; i++)
        rest -= min_u64(of[i], rest);
    for (; rest > 0; rest--) {
        uint64_t best = 0;
        double most = -INFINITY;
        for (uint64_t i = 0; i < m->count; i++) {
            const double lost = (double)samples * m->set[i].share - (double)of[i];
            if (lost > most) {
                most = lost;
                best = i;
            }
        }
        of[best]++;
    }
}

static enum imrec_status
mix_strata(struct choosing *c, uint64_t *begin, uint64_t *of, struct imrec_error *err)
{
    const struct mix_sets *m = &c->it->mix;
    const uint64_t wish = (uint64_t)c->it->options.sweep_samples;
    IMREC_TRY(find_sets(c, begin, err));
    const uint64_t samples = wish != 0 ? wish : until_one_ends(m, begin);
    for (uint64_t i = 0; i < m->count; i++) {
        of[i] = whole_share(&m->set[i], samples);
        if (wish == 0) /* rounding must not begin it again */
            of[i] = min_u64(of[i], begin[i + 1] - begin[i]);
    }
    if (wish != 0)
        give_rest(m, samples, of);
    IMREC_TRY(have_strata(c->s, m->count, err));
    for (uint64_t i = 0; i < m->count; i++) {
        if (of[i] == 0)
            return IMREC_REFUSE(err,
                                "mix: %.200s would have no sample in a sweep of %llu: give it more "
                                "weight, or a larger sweep_samples",
                                m->set[i].uri, (unsigned long long)samples);
        add_stratum(c->s, begin[i], begin[i + 1] - begin[i], of[i]);
    }
    return IMREC_OK;
}

static enum imrec_status take_mix(struct choosing *c, struct imrec_error *err)
{
    const uint64_t n = c->it->mix.count;
    uint64_t *numbers = imrec_zalloc(2 * (size_t)n + 1, sizeof(*numbers));
    if (numbers == NULL)
        return no_memory(n, err);
    const enum imrec_status st = mix_strata(c, numbers, numbers + n + 1, err);
    imrec_free(numbers);
    return st;
}

/* ---- classes -------------------------------------------------------------------------------- */

struct classed {
    float label;
    uint64_t record;
};

static int by_class(const void *a, const void *b)
{
    const struct classed *x = a, *y = b;
    if (x->label != y->label)
        return x->label < y->label ? -1 : 1;
    return (x->record > y->record) - (x->record < y->record);
}

/* The first label of a record, out of its head. */
static bool label_in_head(const struct container *c, const struct record_place *at, float *label)
{
    const struct shard *shard = &c->shards[at->shard];
    struct record_head head;
    uint8_t first[4];
    if (c->kind->first_label != NULL)
        return c->kind->first_label(c, at->number, label);
    if (!c->kind->side_files || !record_head_read(shard, at->begin, at->end, &head) ||
        !head.is_image)
        return false;
    memcpy(first, head.bytes + RECORDIO_PART_HEAD_BYTES + 4, sizeof(first));
    if (head.flag != 0 && source_read(shard->source, at->begin + sizeof(head.bytes), first,
                                      sizeof(first), NULL) != IMREC_OK)
        return false;
    *label = load_le_float(first);
    return true;
}

static enum imrec_status label_of(const struct imrec_iter *it, const struct record_place *at,
                                  float *label, struct imrec_error *err)
{
    const struct container *c = &it->container;
    const char *uri = c->shards[at->shard].uri;
    if (it->labels.entries != NULL) {
        const struct label_entry *e = label_table_find(&it->labels, at->key);
        if (e == NULL)
            return imrec_fail(err, IMREC_ERR_CORRUPT,
                              "class_balanced: path_imglist has no line for id %llu of %.200s",
                              (unsigned long long)at->key, uri);
        *label = it->labels.labels[e->first];
    } else if (!label_in_head(c, at, label)) {
        return imrec_fail(err, IMREC_ERR_UNSUPPORTED,
                          "class_balanced: %.200s: the class of id %llu (byte %llu) is not in the "
                          "head of a whole record: give the classes in path_imglist",
                          uri, (unsigned long long)at->key, (unsigned long long)at->begin);
    }
    if (isfinite(*label))
        return IMREC_OK;
    return imrec_fail(err, IMREC_ERR_CORRUPT,
                      "class_balanced: %.200s: the label of id %llu is not a number", uri,
                      (unsigned long long)at->key);
}

static enum imrec_status note_class(struct choosing *c, uint64_t member,
                                    const struct record_place *at, struct imrec_error *err)
{
    c->classed[member].record = at->number;
    return label_of(c->it, at, &c->classed[member].label, err);
}

/* Members by class. */
static enum imrec_status
sort_classes(struct choosing *c, uint64_t *classes, struct imrec_error *err)
{
    struct sampling *s = c->s;
    const uint64_t n = s->member_count;
    c->classed = imrec_zalloc((size_t)n, sizeof(*c->classed));
    if (c->classed == NULL)
        return no_memory(n, err);
    IMREC_TRY(for_members(c, note_class, err));
    qsort(c->classed, (size_t)n, sizeof(*c->classed), by_class);
    if (s->members == NULL && (s->members = imrec_zalloc((size_t)n, sizeof(*s->members))) == NULL)
        return no_memory(n, err);
    *classes = 1;
    for (uint64_t i = 0; i < n; i++) {
        s->members[i] = c->classed[i].record;
        *classes += i != 0 && c->classed[i].label != c->classed[i - 1].label;
    }
    return IMREC_OK;
}

static enum imrec_status take_classes(struct choosing *c, struct imrec_error *err)
{
    struct sampling *s = c->s;
    const uint64_t samples = sweep_samples(c);
    uint64_t classes = 0, first = 0;
    IMREC_TRY(sort_classes(c, &classes, err));
    if (samples < classes || classes > UINT32_MAX)
        return IMREC_REFUSE(err,
                            "class_balanced: a sweep of %llu samples cannot have one of each of "
                            "the %llu classes: sweep_samples must be larger",
                            (unsigned long long)samples, (unsigned long long)classes);
    IMREC_TRY(have_strata(s, classes, err));
    for (uint64_t i = 1; i <= s->member_count; i++) {
        if (i < s->member_count && c->classed[i].label == c->classed[i - 1].label)
            continue;
        const uint64_t k = s->stratum_count;
        add_stratum(s, first, i - first,
                    share_begin(samples, k + 1, classes) - share_begin(samples, k, classes));
        first = i;
    }
    return IMREC_OK;
}

/* ---- weights -------------------------------------------------------------------------------- */

static enum imrec_status find_weight(const struct choosing *c, const struct record_place *at,
                                     double *weight, struct imrec_error *err)
{
    const struct id_line *line = id_weights_find(&c->ids, at->key);
    if (line == NULL)
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "sample_weights has no line for id %llu of %.200s: every record needs a "
                          "weight, 0 for those that are not wanted",
                          (unsigned long long)at->key, c->it->container.shards[at->shard].uri);
    *weight = line->weight;
    return IMREC_OK;
}

static enum imrec_status sum_weight(struct choosing *c, uint64_t member,
                                    const struct record_place *at, struct imrec_error *err)
{
    double weight = 0;
    (void)member;
    IMREC_TRY(find_weight(c, at, &weight, err));
    c->weights += weight;
    return IMREC_OK;
}

static enum imrec_status lay_weight(struct choosing *c, uint64_t member,
                                    const struct record_place *at, struct imrec_error *err)
{
    double weight = 0;
    IMREC_TRY(find_weight(c, at, &weight, err));
    const uint64_t before = member != 0 ? c->s->line[member - 1] : 0;
    c->s->line[member] = before + (uint64_t)(weight / c->weights * LINE_UNITS);
    return IMREC_OK;
}

static enum imrec_status take_weights(struct choosing *c, const char *uri, struct imrec_error *err)
{
    struct sampling *s = c->s;
    const uint64_t samples = sweep_samples(c);
    if (samples > UINT32_MAX || s->member_count > UINT32_MAX)
        return imrec_fail(err, IMREC_ERR_LIMIT,
                          "sample_weights: there must be less than 2^32 records and samples of a "
                          "sweep, not %llu and %llu",
                          (unsigned long long)s->member_count, (unsigned long long)samples);
    IMREC_TRY(id_weights_load(&c->ids, "sample_weights", uri, true, err));
    IMREC_TRY(for_members(c, sum_weight, err));
    if (!isfinite(c->weights) || c->weights <= 0)
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "sample_weights: %.300s: the weights of the records must have a finite "
                          "sum above 0",
                          uri);
    s->line = imrec_zalloc((size_t)s->member_count, sizeof(*s->line));
    if (s->line == NULL)
        return no_memory(s->member_count, err);
    IMREC_TRY(for_members(c, lay_weight, err));
    s->distinct = samples;
    return IMREC_OK;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static uint64_t mix_in(uint64_t print, uint64_t a, uint64_t b)
{
    return rng_block((struct rng_key){print, 0}, a, b, 3, RNG_RECORD_ORDER).v[0];
}

static uint64_t print_of(const struct sampling *s)
{
    uint64_t print = mix_in(s->member_count, s->distinct, s->repeats);
    for (uint64_t i = 0; s->members != NULL && i < s->member_count; i++)
        print = mix_in(print, i, s->members[i]);
    for (uint64_t i = 0; s->line != NULL && i < s->member_count; i++)
        print = mix_in(print, i, s->line[i]);
    for (uint64_t i = 0; i < s->stratum_count; i++)
        print = mix_in(print, s->strata[i].first, s->strata[i].begin);
    return print != 0 ? print : 1;
}

static enum imrec_status build(struct choosing *c, struct imrec_error *err)
{
    const struct imrec_iter_options *o = &c->it->options;
    struct sampling *s = c->s;
    if (s->member_count == 0)
        return IMREC_OK; /* of nothing nothing is chosen */
    if (looks_ids_up(c->it))
        IMREC_TRY(check_keys(c->it, err));
    if (o->subset[0] != '\0')
        IMREC_TRY(take_subset(c, o->subset, err));
    if (c->it->mix.count != 0)
        IMREC_TRY(take_mix(c, err));
    else if (o->class_balanced)
        IMREC_TRY(take_classes(c, err));
    else if (o->sample_weights[0] != '\0')
        IMREC_TRY(take_weights(c, o->sample_weights, err));
    else
        IMREC_TRY(take_all(c, err));
    s->print = print_of(s);
    return IMREC_OK;
}

enum imrec_status
iter_open_sampling(const struct imrec_iter *it, struct sampling *out, struct imrec_error *err)
{
    const struct imrec_iter_options *o = &it->options;
    struct choosing c = {.it = it, .s = out};
    *out = (struct sampling){.repeats = (uint64_t)o->repeats,
                             .batch = (uint64_t)o->global_batch_size / it->views.rows,
                             .shuffle = o->shuffle,
                             .member_count = it->container.unit_count};
    if (!iter_options_choose(o))
        return IMREC_OK;
    if (out->batch % out->repeats != 0)
        return IMREC_REFUSE(err,
                            "global_batch_size must be a multiple of repeats, but %llu samples "
                            "are none of %llu",
                            (unsigned long long)out->batch, (unsigned long long)out->repeats);
    const enum imrec_status st = build(&c, err);
    id_weights_free(&c.ids);
    IMREC_FREE(c.chosen, c.classed);
    return st;
}
