/* iter/seek.c - moving the stream: positions, rewind, seek. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/rng.h"
#include "container/record_table.h"
#include "iter/position.h"
#include "iter/state.h"

static struct position_order order_of(const struct imrec_iter *it)
{
    const struct imrec_iter_options *o = &it->options;
    const bool job = o->order == IMREC_ORDER_GLOBAL,
               chunks = job && o->locality == IMREC_LOCALITY_CHUNK;
    const bool windows = o->shuffle && (chunks || !it->indexed); /* they shape the order */
    return (struct position_order){
        .data = container_fingerprint(&it->container),
        .seed = o->seed,
        .shuffle = o->shuffle,
        .indexed = it->indexed,
        .shuffle_window = windows ? o->shuffle_window : 0,
        .shuffle_chunk = windows ? o->shuffle_chunk : 0,
        .job = job,
        .chunks = chunks,
        .global_batch_size = (int64_t)it->global.share.batch,
        .records = it->global.share.records,
        .choice = it->global.sampling.print,
        .num_parts = o->num_parts,
        .part_index = o->part_index,
        .equal_batches = o->equal_batches,
        .verified = o->verify_checksums && !it->indexed,
    };
}

/* The workers are paused, and resume. */
static void stand_at(struct imrec_iter *it, const struct place *place)
{
    report_leave(it);
    iter_begin_at(it, place);
    ordered_resume(it->ordered);
    it->at = *place;
    it->holding = it->end_due = false;
    iter_metrics_show(it);
}

static void go_to(struct imrec_iter *it, const struct place *place)
{
    ordered_pause(it->ordered);
    stand_at(it, place);
}

enum imrec_status imrec_iter_rewind(struct imrec_iter *it, struct imrec_error *err)
{
    if (it->fatal.status != IMREC_OK)
        return iter_sticky(it, err);
    if (it->end_due)
        iter_pass_end(it);
    const struct schedule_run *at = &it->at.run;
    if (at->sample == 0 && at->in_epoch == 0)
        return IMREC_OK; /* it is there */
    const struct place next = {.run = {.sweep = at->sweep + (at->sample != 0),
                                       .position = at->position,
                                       .epoch = at->epoch + (at->in_epoch != 0)}};
    go_to(it, &next);
    return IMREC_OK;
}

static enum imrec_status write_position(struct imrec_iter *it, const struct place *place,
                                        const char **json, struct imrec_error *err)
{
    const struct position_order order = order_of(it);
    char *text;
    IMREC_TRY(position_write(&order, place, &text, err));
    imrec_free(it->position);
    *json = it->position = text;
    return IMREC_OK;
}

enum imrec_status
imrec_iter_position(struct imrec_iter *it, const char **json, struct imrec_error *err)
{
    return write_position(it, &it->at, json, err);
}

enum imrec_status imrec_iter_position_at(struct imrec_iter *it, uint64_t sweep, uint64_t sample,
                                         const char **json, struct imrec_error *err)
{
    const struct imrec_iter_options *o = &it->options;
    const uint64_t records = it->global.share.records, size = it->schedule.epoch_size;
    if (o->order != IMREC_ORDER_GLOBAL)
        return IMREC_REFUSE(err, "a position of numbers needs order=global: with order=local a "
                                 "place depends on what the partition has read");
    if (sample > records)
        return IMREC_REFUSE(err, "sample must be at most %llu, those of a sweep, not %llu",
                            (unsigned long long)records, (unsigned long long)sample);
    if (records != 0 && sweep > (uint64_t)INT64_MAX / records - 1)
        return IMREC_REFUSE(err, "sweep %llu of %llu samples is out of range",
                            (unsigned long long)sweep, (unsigned long long)records);
    struct place at = {.run = {.sweep = sweep, .sample = sample, .given = sample != 0}};
    at.run.position = sweep * records + sample;
    at.run.epoch = size != 0 ? at.run.position / size : sweep;
    at.run.in_epoch = size != 0 ? at.run.position % size : sample;
    return write_position(it, &at, json, err);
}

uint64_t imrec_iter_fingerprint(const struct imrec_iter *it)
{
    const struct imrec_iter_options *o = &it->options;
    const struct position_order order = order_of(it);
    const struct rng_key key = {position_hash(&order), (uint64_t)o->num_parts};
    const uint64_t ends = (uint64_t)o->last_batch << 32 | (uint64_t)o->batch_size;
    const struct rng_block a =
        rng_block(key, (uint64_t)o->epoch_size, (uint64_t)o->max_samples, ends, RNG_UNIT_ORDER);
    return rng_block(key, a.v[0], (uint64_t)o->seed_aug, (uint64_t)o->mix_group, RNG_UNIT_ORDER)
        .v[0];
}

/* A position that was taken with an index and one that was not are of different orders; which of
 * them this iterator has may depend on the files next to the shards. */
static enum imrec_status blame_order(const struct imrec_iter *it, const char *json,
                                     enum imrec_status st, struct imrec_error *err)
{
    const struct container *s = &it->container;
    bool was;
    char *missing = NULL;
    uint32_t there;
    if (it->options.order == IMREC_ORDER_GLOBAL || (s->kind->own_index && s->kind->walk == NULL) ||
        !position_indexed(json, &was) || was == it->indexed)
        return st;
    if (s->kind->walk != NULL)
        return imrec_fail(err, st,
                          "position: it was taken %s, this iterator %s: open it with "
                          "list_shards=%s",
                          was ? "where all records are listed" : "in an order of whole shards",
                          was ? "reads in an order of whole shards" : "has all records listed",
                          was ? "always" : "never");
    if (!was)
        return imrec_fail(err, st,
                          "position: it was taken without an index, this iterator reads in the "
                          "order of %.250s: open it with path_imgidx=none",
                          s->index != NULL ? s->index : "one");
    IMREC_TRY(record_table_missing(s, &missing, &there, err));
    if (missing == NULL)
        imrec_fail(err, st,
                   "position: it was taken in the order of an index, this iterator reads "
                   "without one: open it with path_imgidx=auto, which finds those next to the "
                   "shards, or with the index's name");
    else
        imrec_fail(err, st,
                   "position: it was taken in the order of an index, this iterator reads "
                   "without one, and %.250s is missing: bring it back and open with "
                   "path_imgidx=auto, or write path_imgidx= and the name it has now",
                   missing);
    imrec_free(missing);
    return st;
}

/* ---- equal partitions --------------------------------------------------------------------- */

/* Sets window and lap of the place of this partition after p->run.sample samples of the sweep. The
 * workers are paused. */
static enum imrec_status find_place(struct imrec_iter *it, struct place *p, struct imrec_error *err)
{
    const uint64_t sweep = p->run.sweep, sample = p->run.sample;
    struct record_stream_spot spot;
    uint64_t before = 0; /* samples of whole laps */
    p->run.repeating = p->run.given = false;
    p->window = p->before = 0;
    if (sample == 0)
        return IMREC_OK;
    IMREC_TRY(record_stream_find(&it->stream, sweep, sample, &spot, err));
    if (!spot.found && spot.records == 0)
        return IMREC_OK; /* blank slots are all that it has */
    if (!spot.found) {
        before = (sample - 1) / spot.records * spot.records;
        IMREC_TRY(record_stream_find(&it->stream, sweep, sample - before, &spot, err));
    }
    p->run.repeating = before != 0;
    p->run.given = true;
    p->window = spot.window;
    p->before = before + spot.before;
    return IMREC_OK;
}

static enum imrec_status
go_to_equal(struct imrec_iter *it, struct place *place, struct imrec_error *err)
{
    const uint64_t sample = place->run.sample;
    uint64_t most;
    IMREC_TRY(equal_count_get(&it->equal, &most, err));
    if (sample > most)
        return IMREC_REFUSE(err, "position: \"sample\" is %llu, but a sweep has %llu",
                            (unsigned long long)sample, (unsigned long long)most);
    ordered_pause(it->ordered);
    const enum imrec_status st = find_place(it, place, err);
    if (st != IMREC_OK)
        *place = it->at; /* it stays where it was */
    stand_at(it, place);
    return st;
}

enum imrec_status imrec_iter_seek(struct imrec_iter *it, const char *json, struct imrec_error *err)
{
    const struct position_order order = order_of(it);
    struct place place;
    bool own;
    if (it->fatal.status != IMREC_OK)
        return iter_sticky(it, err);
    const enum imrec_status st =
        position_read(json, &order, it->stream.plan.windows.count, &place, &own, err);
    if (st != IMREC_OK)
        return blame_order(it, json, st, err);
    if (!own)
        return go_to_equal(it, &place, err);
    go_to(it, &place);
    return IMREC_OK;
}

const char *imrec_iter_index(const struct imrec_iter *it)
{
    return it->container.index;
}
