/* iter/work.c - the parallel step: a record into its slot. */
#include "base/error.h"
#include "base/log.h"
#include "formats/image_record.h"
#include "iter/split/cbf_pictures.h"
#include "iter/state.h"

#include <math.h>
#include <string.h>

enum imrec_status iter_find_labels(const struct imrec_iter *it, const struct image_record *r,
                                   const float **listed, uint32_t *n, struct imrec_error *err)
{
    *listed = NULL;
    *n = r->label_count;
    if (it->labels.entries != NULL && (*listed = label_table_find(&it->labels, r->id, n)) == NULL)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, IMREC_NO_OFFSET,
                              "path_imglist has no line for this id");
    return IMREC_OK;
}

/* A class as shares of all classes. */
static enum imrec_status
spread_class(const struct imrec_iter *it, float label, float *to, struct imrec_error *err)
{
    const int64_t classes = it->options.num_classes;
    if (!(label >= 0 && label < (float)classes) || label != floorf(label))
        return imrec_error_at(
            err, IMREC_ERR_CORRUPT, IMREC_NO_OFFSET,
            "its label is %g, but num_classes=%lld asks for a whole number from 0 "
            "to %lld",
            (double)label, (long long)classes, (long long)classes - 1);
    memset(to, 0, (size_t)classes * sizeof(*to));
    to[(size_t)label] = 1;
    return IMREC_OK;
}

static enum imrec_status copy_labels(const struct imrec_iter *it, const struct image_record *r,
                                     float *to, struct imrec_error *err)
{
    const uint32_t width = (uint32_t)it->options.label_width;
    const float *listed;
    uint32_t n;
    IMREC_TRY(iter_find_labels(it, r, &listed, &n, err));
    if (n != width)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, IMREC_NO_OFFSET,
                              "the record has %u labels, but label_width is %u", n, width);
    if (listed != NULL)
        memcpy(to, listed, width * sizeof(*to));
    for (uint32_t i = 0; listed == NULL && i < width; i++)
        to[i] = image_record_label(r, i);
    return IMREC_OK;
}

static enum imrec_status take_labels(const struct imrec_iter *it, const struct image_record *r,
                                     float *to, struct imrec_error *err)
{
    float label;
    if (it->options.num_classes == 0)
        return copy_labels(it, r, to, err);
    IMREC_TRY(copy_labels(it, r, &label, err));
    return spread_class(it, label, to, err);
}

/* Where the sample stands: with the shard its identity. */
static uint64_t place_of(const struct imrec_iter *it, const struct record_ref *ref)
{
    return it->split.cbf != NULL ? cbf_sequence_number(&it->split, ref->unit) : ref->offset;
}

static const struct imrec_error *lost_reason(const struct imrec_iter *it, const struct ticket *t)
{
    const struct imrec_error *why =
        it->split.cbf != NULL ? cbf_loss(&it->split, t->record->unit) : NULL;
    return why != NULL ? why : loader_lost_reason(t->window, t->record);
}

/* *picture: its pixels, where it is decoded; else its p is NULL. */
static enum imrec_status parse_plugged(const struct imrec_iter *it, const struct record_ref *ref,
                                       struct worker *w, struct image_record *out,
                                       struct planes *picture, struct imrec_error *err)
{
    struct plugged_sample sample;
    IMREC_TRY(plugged_parse(&it->split, ref, &w->room, &sample, err));
    const struct imrec_image *p = &sample.pixels;
    *out = sample.record;
    *picture = (struct planes){.p = p->pixels,
                               .stride = p->stride,
                               .channels = p->channels,
                               .height = p->height,
                               .width = p->width};
    return IMREC_OK;
}

static enum imrec_status parse(const struct imrec_iter *it, const struct record_ref *ref,
                               struct worker *w, struct image_record *out, struct planes *picture,
                               struct imrec_error *err)
{
    *picture = it->planes;
    if (it->split.plugged != NULL)
        return parse_plugged(it, ref, w, out, picture, err);
    if (it->split.cbf == NULL)
        return image_record_parse(ref->bytes, out, err);
    picture->p = it->planes.channels != 0 ? ref->bytes.p : NULL;
    const struct bytes labels = cbf_labels(&it->split, ref->unit);
    *out = (struct image_record){.id = ref->key,
                                 .label_count = (uint32_t)(labels.n / sizeof(float)),
                                 .labels = labels,
                                 .image = ref->bytes};
    return IMREC_OK;
}

static enum imrec_status make(struct imrec_iter *it, const struct ticket *t, struct worker *w,
                              const struct image_record *r, const struct planes *picture,
                              struct imrec_draw *draw, struct imrec_error *err)
{
    const struct record_ref *ref = t->record;
    const struct sample_key key = {(uint64_t)it->options.seed_aug, t->sweep, ref->shard,
                                   place_of(it, ref)};
    void *slot = slots_data(&it->slots, t->cell, t->slot);
    if (it->slots.mixes != NULL)
        it->slots.mixes[slots_row(&it->slots, t->cell, t->slot)] = mix_draw(&it->recipe, key);
    if (picture->p == NULL)
        return sampler_make(&w->sampler, r->image, key, slot, draw, err);
    return sampler_make_decoded(&w->sampler, picture, key, slot, draw, err);
}

static enum imrec_status fill(struct imrec_iter *it, const struct ticket *t, struct worker *w,
                              uint64_t *id, struct imrec_error *err)
{
    const struct record_ref *ref = t->record;
    struct slots *s = &it->slots;
    const size_t row = slots_row(s, t->cell, t->slot);
    float *labels = s->labels + row * s->label_width;
    const bool boxes = it->recipe.det.on;
    struct image_record record;
    struct planes picture;
    struct imrec_draw draw;
    struct det_label label;
    if (ref->lost || it->split.plugged != NULL)
        *id = ref->key;
    if (ref->lost) {
        *err = *lost_reason(it, t);
        return err->status;
    }
    IMREC_TRY(parse(it, ref, w, &record, &picture, err));
    *id = record.id;
    if (boxes)
        IMREC_TRY(iter_take_boxes(it, &record, labels, &label, err));
    else
        IMREC_TRY(take_labels(it, &record, labels, err));
    w->sampler.label = boxes ? &label : NULL;
    w->sampler.sample.labels = boxes ? NULL : labels;
    w->sampler.sample.label_count = boxes ? 0 : s->label_width;
    IMREC_TRY(make(it, t, w, &record, &picture, &draw, err));
    if (boxes)
        iter_finish_boxes(it, &draw, &label, labels);
    s->ids[row] = record.id;
    s->status[row] = IMREC_OK;
    s->valid[row] = t->kind == SCHEDULE_SAMPLE;
    if (s->draws != NULL)
        s->draws[row] = draw;
    w->images++;
    w->decode_ns += w->sampler.decode_ns;
    w->augment_ns += w->sampler.augment_ns;
    return IMREC_OK;
}

static void describe(const struct imrec_iter *it, const struct record_ref *ref, uint64_t id,
                     enum imrec_status st, const struct imrec_error *why, struct imrec_error *told)
{
    const char *uri = it->split.shards[ref->shard].uri;
    if (it->split.cbf == NULL) {
        imrec_error_at(told, st, ref->offset, "%.200s: record at byte %llu, id %llu: %.200s", uri,
                       (unsigned long long)ref->offset, (unsigned long long)id, why->message);
        return;
    }
    const uint64_t at = ref->lost && why->offset != IMREC_NO_OFFSET ? why->offset : ref->offset;
    imrec_error_at(told, st, at, "%.160s: sequence %llu, byte %llu, id %llu: %.250s", uri,
                   (unsigned long long)cbf_sequence_number(&it->split, ref->unit),
                   (unsigned long long)at, (unsigned long long)id, why->message);
}

static void fail(struct imrec_iter *it, const struct ticket *t, struct worker *w, uint64_t id,
                 enum imrec_status st, const struct imrec_error *why)
{
    const struct record_ref *ref = t->record;
    struct imrec_error told;
    describe(it, ref, id, st, why, &told);
    if (it->options.verbose)
        imrec_log(IMREC_LOG_WARNING, "%s", told.message);
    slots_fail(&it->slots, t->cell, t->slot, id, t->kind == SCHEDULE_SAMPLE, &told);
    w->failed += t->kind == SCHEDULE_SAMPLE; /* a repeated one fails in its own place too */
}

void iter_work(void *context, const struct ticket *t, uint32_t worker)
{
    struct imrec_iter *it = context;
    struct worker *w = &it->workers[worker];
    struct imrec_error why = {0};
    uint64_t id = 0;
    if (t->kind == SCHEDULE_BLANK) {
        slots_clear(&it->slots, t->cell, t->slot);
        return;
    }
    const enum imrec_status st = fill(it, t, w, &id, &why);
    if (st != IMREC_OK)
        fail(it, t, w, id, st, &why);
    loader_release(it->supply.loader, t->window);
}
