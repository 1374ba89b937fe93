/* iter/work.c - the parallel step: a record into its slot, or slots. */
#include "base/clock.h"
#include "base/error.h"
#include "iter/state.h"

static const struct imrec_error *lost_reason(const struct imrec_iter *it, const struct ticket *t)
{
    const struct container *c = &it->container;
    const struct imrec_error *why =
        c->kind->lost != NULL && container_is_listed(c) ? c->kind->lost(c, t->record->unit) : NULL;
    return why != NULL ? why : loader_lost_reason(t->window, t->record);
}

/* ---- the images of a sample --------------------------------------------------------------- */

#define SWEEP_BITS 40 /* of the key: laps are above them */

/* Of draw_key=id: the set of a mixture, in place of the shard. */
static uint32_t set_of(const struct mix_sets *m, uint32_t shard)
{
    uint32_t i = m->count != 0 ? (uint32_t)m->count - 1 : 0;
    while (i > 0 && m->set[i].first_shard > shard)
        i--;
    return i;
}

static struct sample_key key_of(const struct imrec_iter *it, const struct ticket *t, uint32_t slot,
                                uint32_t tensor, uint64_t id)
{
    const uint32_t rows = it->views.rows, row = slot - t->slot * rows, shard = t->record->shard;
    const uint64_t sweep = t->sweep + (t->lap << SWEEP_BITS);
    const bool by_id = it->options.draw_key == IMREC_DRAW_KEY_ID;
    return (struct sample_key){
        (uint64_t)it->options.seed_aug, sweep, by_id ? set_of(&it->mix, shard) : shard,
        by_id ? id : container_number(&it->container, t->record), row * it->views.tensors + tensor};
}

/* An image of a slot: where it goes, and what it is made with. */
static void set_view(struct imrec_iter *it, const struct ticket *t, uint32_t slot, uint32_t tensor,
                     uint64_t id, struct sampler_view *v)
{
    struct slots *s = &it->slots;
    const bool boxes = it->recipe.boxes, labelled = tensor == 0 && !boxes;
    float *labels = s->labels + slots_row(s, t->cell, slot) * s->label_width;
    v->kind = view_kinds_kind(&it->views, s->cells[t->cell].sweep, tensor);
    v->slot = slots_data(s, t->cell, tensor, slot);
    v->mosaic = NULL;
    v->canvas_mask = NULL;
    v->drawn = false;
    v->sample = (struct paint_sample){.key = key_of(it, t, slot, tensor, id)};
    if (labelled) {
        v->sample.labels = labels;
        v->sample.label_count = s->label_width;
    }
    v->mask_slot = slots_mask(s, t->cell, tensor, slot);
    v->place = slots_place(s, t->cell, tensor, slot);
    if (!recipe_moves_targets(&it->recipe) && v->place == NULL)
        return;
    v->sample.targets = &v->targets;
    v->targets.label = boxes && tensor == 0 ? &v->label : NULL;
    v->targets.values = labelled && it->recipe.keypoints != 0 ? labels : NULL;
    v->targets.value_count = s->label_width;
}

/* Labels of one slot, and its views. */
static enum imrec_status begin_slot(struct imrec_iter *it, const struct ticket *t, uint32_t slot,
                                    const struct record *p, struct sampler_view *views,
                                    struct imrec_error *err)
{
    struct slots *s = &it->slots;
    const size_t row = slots_row(s, t->cell, slot);
    float *labels = s->labels + row * s->label_width;
    if (it->recipe.boxes)
        IMREC_TRY(iter_take_boxes(it, p, labels, views[0].numbers, &views[0].label, err));
    else
        IMREC_TRY(iter_take_labels(it, p, t->record->shard, row, err));
    if (it->recipe.keypoints != 0 && !it->recipe.boxes)
        IMREC_TRY(targets_check_points(&it->recipe, labels, s->label_width, err));
    IMREC_TRY(batch_fields_take(&it->fields, t->cell, slot, p, err));
    for (uint32_t tensor = 0; tensor < it->views.tensors; tensor++)
        set_view(it, t, slot, tensor, p->id, &views[tensor]);
    if (s->mixes != NULL)
        s->mixes[row] = mix_draw(&it->recipe, views[0].sample.key);
    return IMREC_OK;
}

static void end_slot(struct imrec_iter *it, const struct ticket *t, uint32_t slot, uint64_t id,
                     const struct sampler_view *views)
{
    struct slots *s = &it->slots;
    const size_t row = slots_row(s, t->cell, slot);
    if (it->recipe.boxes)
        iter_finish_boxes(it, &views[0].draw, &views[0].label, s->labels + row * s->label_width);
    s->ids[row] = id;
    s->status[row] = IMREC_OK;
    s->valid[row] = t->kind == SCHEDULE_SAMPLE;
    for (uint32_t tensor = 0; s->draws != NULL && tensor < it->views.tensors; tensor++)
        *slots_draw(s, t->cell, tensor, slot) = views[tensor].draw;
}

static enum imrec_status make(struct imrec_iter *it, const struct ticket *t, struct worker *w,
                              const struct record *p, struct imrec_error *err)
{
    const uint32_t n = view_kinds_count(&it->views);
    if (it->further.none)
        return IMREC_OK;
    if (it->options.audio)
        return iter_make_sound(it, w, p->image, n, err);
    if (it->tiles.kind_count != 0 || it->moves.kind_count != 0)
        return iter_make_scenes(it, t, w, p, n, err);
    return sampler_make_either(&w->sampler, p->image, &p->pixels, w->views, n, err);
}

static void count_decodes(const struct imrec_iter *it, struct worker *w)
{
    if (it->options.audio || it->further.none)
        return;
    w->decodes = codec_decode_count(w->sampler.codec) +
                 (it->further.count != 0 ? codec_decode_count(w->further.sampler.codec) : 0) +
                 (it->tiles.kind_count != 0 ? codec_decode_count(w->mosaic.sampler.codec) : 0) +
                 (it->moves.kind_count != 0 ? codec_decode_count(w->paste.sampler.codec) : 0);
    w->self_checked =
        codec_self_check_count(w->sampler.codec) +
        (it->tiles.kind_count != 0 ? codec_self_check_count(w->mosaic.sampler.codec) : 0) +
        (it->moves.kind_count != 0 ? codec_self_check_count(w->paste.sampler.codec) : 0);
}

static void count(struct imrec_iter *it, struct worker *w)
{
    w->images++;
    w->made += it->further.none ? 0 : view_kinds_count(&it->views) * (1 + it->further.count);
    w->decode_ns += w->sampler.decode_ns + w->further.decode_ns;
    w->augment_ns += w->sampler.augment_ns + w->further.augment_ns;
}

static enum imrec_status fill(struct imrec_iter *it, const struct ticket *t, struct worker *w,
                              uint64_t *id, struct imrec_error *err)
{
    const struct record_ref *ref = t->record;
    const uint32_t rows = it->views.rows, tensors = it->views.tensors, first = t->slot * rows;
    struct record p;
    if (ref->lost) {
        *id = ref->key;
        *err = *lost_reason(it, t);
        return err->status;
    }
    const enum imrec_status parsed = iter_parse(it, ref, w, &p, err);
    *id = p.id;
    IMREC_TRY(parsed);
    for (uint32_t row = 0; row < rows; row++)
        IMREC_TRY(begin_slot(it, t, first + row, &p, w->views + row * tensors, err));
    enum imrec_status st = make(it, t, w, &p, err);
    if (st == IMREC_OK)
        st = iter_make_further(it, t, w, &p, err);
    count_decodes(it, w);
    IMREC_TRY(st);
    for (uint32_t row = 0; row < rows; row++)
        end_slot(it, t, first + row, p.id, w->views + row * tensors);
    count(it, w);
    return IMREC_OK;
}

static void describe(const struct imrec_iter *it, const struct record_ref *ref, uint64_t id,
                     enum imrec_status st, const struct imrec_error *why, struct imrec_error *told)
{
    const struct container *c = &it->container;
    char place[96];
    const uint64_t at = container_describe(c, ref, why, place);
    imrec_error_at(told, st, at, "%.160s: %s, id %llu: %.250s", c->shards[ref->shard].uri, place,
                   (unsigned long long)id, why->message);
    imrec_error_record(told, c->shards[ref->shard].uri, id);
}

/* ---- samples that fail -------------------------------------------------------------------- */

/* What failed once fails in this window again, and is not tried again: a window of bad records
 * costs each of them once. Memory may be there later, and another sweep's shape may do. */
static void remember(const struct imrec_iter *it, const struct ticket *t, enum imrec_status st)
{
    struct window *w = t->window;
    const bool same = it->views.kind_count == 1 || it->views.tensors > 1;
    if (same && st != IMREC_ERR_NO_MEMORY)
        atomic_store(&w->records[t->record - w->records].failed, true);
}

/* on_error=replace: lets the next sample of the window that does not fail be that of the ticket's
 * slots. Windows depend on data, seed and options alone: so does this. */
static bool replace(struct imrec_iter *it, const struct ticket *t, struct worker *w)
{
    const struct window *all = t->window;
    const uint64_t own = (uint64_t)(t->record - all->records);
    struct ticket other = *t;
    uint64_t id;
    for (uint64_t i = 1; i < all->count && i <= IMREC_REPLACE_TRIES; i++) {
        struct imrec_error why;
        other.record = &all->records[(own + i) % all->count];
        if (atomic_load(&other.record->failed))
            continue;
        const enum imrec_status st = fill(it, &other, w, &id, &why);
        if (st == IMREC_OK)
            return true;
        remember(it, &other, st);
    }
    return false;
}

/* A repeated sample is reported in its own place. */
static void count_failure(struct imrec_iter *it, const struct ticket *t, struct worker *w,
                          bool replaced, const struct imrec_error *why)
{
    struct cell_state *c = &it->slots.cells[t->cell];
    const uint32_t rows = it->views.rows;
    if (t->kind != SCHEDULE_SAMPLE)
        return;
    if (replaced)
        w->replaced += rows;
    else
        w->failed += rows;
    mutex_lock(&c->lock);
    c->replaced += replaced ? rows : 0;
    c->failed += replaced ? 0 : rows;
    if (!replaced && t->slot < c->first_failed) {
        c->first_failed = t->slot;
        c->failure = *why;
    }
    report_sample(&c->report, t->slot, t->sweep - c->sweep, replaced, why->message);
    mutex_unlock(&c->lock);
}

static void clear_sample(struct imrec_iter *it, const struct ticket *t, uint64_t id,
                         const struct imrec_error *why)
{
    const uint32_t rows = it->views.rows;
    slots_fail(&it->slots, t->cell, t->slot, id, why);
    for (uint32_t row = 0; row < rows; row++)
        batch_fields_clear(&it->fields, t->cell, t->slot * rows + row);
}

static void fail(struct imrec_iter *it, const struct ticket *t, struct worker *w, uint64_t id,
                 enum imrec_status st, const struct imrec_error *why)
{
    struct imrec_error told;
    describe(it, t->record, id, st, why, &told);
    remember(it, t, st);
    const bool replaced = it->options.on_error == IMREC_ON_ERROR_REPLACE && replace(it, t, w);
    if (!replaced)
        clear_sample(it, t, id, &told);
    count_failure(it, t, w, replaced, &told);
}

/* The record into its slots; what fails is noted there. */
static void do_ticket(struct imrec_iter *it, struct worker *w, const struct ticket *t)
{
    struct imrec_error why = {0};
    uint64_t id = 0;
    if (t->kind == SCHEDULE_BLANK) {
        for (uint32_t row = 0; row < it->views.rows; row++)
            slots_clear(&it->slots, t->cell, t->slot * it->views.rows + row);
        return;
    }
    const enum imrec_status st = fill(it, t, w, &id, &why);
    if (st != IMREC_OK)
        fail(it, t, w, id, st, &why);
    loader_release(it->stream.loader, t->window);
}

void iter_work(void *context, const struct ordered_task *task, uint32_t worker)
{
    struct imrec_iter *it = context;
    struct worker *w = &it->workers[worker];
    (void)task; /* the ticket says it, too */
    do_ticket(it, w, &w->ticket);
}

/* ---- side by side ------------------------------------------------------------------------- */

/* A worker takes several samples, for their images to be decoded at the same time. What becomes of
 * a sample is as if it were taken alone: a look at it beforehand, which changes nothing, tells the
 * codec which region will be asked for. */

enum { FEWEST = 24 }; /* samples under way, for each worker: below it lanes are idle for too long */

struct round {
    struct imrec_iter *it;
    struct worker *w;
    uint32_t worker;
    struct ordered *ordered;
    const struct ordered_task *first; /* not yet begun; NULL: it has been */
};

/* What boxes, masks and other images have a say in is not foreseen, nor what a user's functions
 * would have to be called for twice. */
static bool is_simple(const struct imrec_iter *it)
{
    return !it->options.audio && !it->further.none && it->tiles.kind_count == 0 &&
           it->moves.kind_count == 0 && !it->recipe.boxes && !it->recipe.det.on &&
           !recipe_moves_targets(&it->recipe) && !it->options.record_places &&
           !it->container.kind->calls_user;
}

bool iter_suits_together(const struct imrec_iter *it)
{
    const uint64_t samples =
        (uint64_t)it->options.batch_size / it->views.rows * (uint64_t)it->options.prefetch_buffer;
    return codec_suits_together() && is_simple(it) && it->stream.plan.global == NULL &&
           samples / it->worker_count >= FEWEST;
}

/* All that a worker has are of one window: so they are never what others wait for, while it waits.
 */
bool iter_is_fed(void *context, uint32_t worker)
{
    const struct imrec_iter *it = context;
    const struct worker *w = &it->workers[worker];
    const struct window *window = it->stream.window;
    return window != NULL && w->held_count < CODEC_TOGETHER_MOST &&
           (w->held_count == 0 || w->window == window) && it->stream.i < window->count &&
           schedule_stays(&it->schedule);
}

static void
foresee(struct imrec_iter *it, const struct ticket *t, struct worker *w, struct codec_wish *out)
{
    const uint32_t rows = it->views.rows, tensors = it->views.tensors;
    struct imrec_error err;
    struct record r;
    if (t->kind == SCHEDULE_BLANK || t->record->lost || atomic_load(&t->record->failed) ||
        iter_parse(it, t->record, w, &r, &err) != IMREC_OK || r.pixels.p != NULL)
        return;
    for (uint32_t i = 0; i < rows * tensors; i++)
        set_view(it, t, t->slot * rows + i / tensors, i % tensors, r.id, &w->views[i]);
    sampler_foresee(&w->sampler, r.image, w->views, rows * tensors, out);
}

/* The worker's ticket becomes one of those that it has. */
static uint64_t hold(struct worker *w, const struct ordered_task *task)
{
    uint64_t i = 0;
    while (w->held[i].used)
        i++;
    w->held[i] = (struct held_ticket){true, w->ticket, *task};
    w->window = w->ticket.window;
    w->held_count++;
    return i;
}

static bool next_image(void *context, bool look, struct codec_wish *out)
{
    struct round *r = context;
    struct ordered_task task;
    if (r->first != NULL)
        task = *r->first;
    else if (!ordered_more(r->ordered, &task, r->worker))
        return false;
    r->first = NULL;
    out->id = hold(r->w, &task);
    if (look)
        foresee(r->it, &r->w->held[out->id].ticket, r->w, out);
    return true;
}

static void image_is_due(void *context, uint64_t id)
{
    const struct round *r = context;
    struct held_ticket *held = &r->w->held[id];
    do_ticket(r->it, r->w, &held->ticket);
    held->used = false;
    r->w->held_count--;
    ordered_done(r->ordered, &held->task);
}

void iter_work_together(void *context, const struct ordered_task *first, uint32_t worker,
                        struct ordered *ordered)
{
    struct imrec_iter *it = context;
    struct worker *w = &it->workers[worker];
    struct round r = {it, w, worker, ordered, first};
    const struct codec_together source = {next_image, image_is_due, &r};
    const uint64_t begin = clock_ns(), counted = w->decode_ns + w->augment_ns;
    codec_decode_together(w->sampler.codec, &source);
    w->decode_ns += clock_ns() - begin - (w->decode_ns + w->augment_ns - counted);
}
