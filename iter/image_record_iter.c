/* iter/image_record_iter.c - the life of an open iterator: next, wait, close. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/pages.h"
#include "iter/state.h"
#include "storage/cache/cache.h"

/* ---- close -------------------------------------------------------------------------------- */

static void free_worker(struct worker *w)
{
    sampler_free(&w->sampler);
    further_sampler_free(&w->further);
    mosaic_sampler_free(&w->mosaic);
    paste_sampler_free(&w->paste);
    parse_room_free(&w->room);
    object_room_free(&w->objects);
    IMREC_FREE(w->held, w->views, w->numbers);
}

/* Accepts NULL and every half-built state. */
void imrec_iter_close(struct imrec_iter *it)
{
    if (it == NULL)
        return;
    iter_metrics_stop(it); /* first: it looks at all the others */
    report_leave(it);
    record_stream_cancel(&it->stream); /* before the rest: the feed may wait for it */
    ordered_stop(it->ordered);
    record_stream_stop(&it->stream);
    equal_count_end(&it->equal);
    for (uint32_t i = 0; it->workers != NULL && i < it->worker_count; i++)
        free_worker(&it->workers[i]);
    imrec_free(it->workers);
    headroom_destroy(&it->headroom);
    slots_free(&it->slots);
    batch_fields_free(&it->fields);
    view_kinds_free(&it->views);
    view_kinds_free(&it->tiles);
    view_kinds_free(&it->moves);
    further_images_free(&it->further);
    batch_lease_leave(it->lease);
    label_table_free(&it->labels);
    mix_sets_free(&it->mix);
    pages_free(it->mean_image, it->mean_image_bytes);
    global_order_free(&it->global);
    shard_order_free(&it->shard_order);
    container_close(&it->container);
    cache_close(it->cache);
    IMREC_FREE(it->position, it);
}

enum imrec_status
imrec_iter_close_keeping(struct imrec_iter *it, struct imrec_kept **out, struct imrec_error *err)
{
    IMREC_TRY(batch_lease_last(it, out, err));
    imrec_iter_close(it);
    return IMREC_OK;
}

/* ---- next --------------------------------------------------------------------------------- */

static void describe(struct imrec_iter *it, uint32_t cell, struct imrec_batch *out)
{
    const struct slots *s = &it->slots;
    const struct cell_state *c = &s->cells[cell];
    const size_t row = slots_row(s, cell, 0);
    const uint32_t rows = it->views.rows;
    const struct imrec_view *views = slots_show(&it->slots, cell);
    *out = (struct imrec_batch){
        .data = views[0].data,
        .labels = s->labels + row * s->label_width,
        .ids = s->ids + row,
        .valid = s->valid + row,
        .status = s->status + row,
        .draws = views[0].draws,
        .number = it->batches - c->closed.deliver,
        .sweep = c->sweep,
        .epoch = c->epoch,
        .epoch_end = c->closed.epoch_end,
        .slots = c->closed.slots * rows,
        .count = c->closed.count * rows,
        .pad = (c->closed.slots - c->closed.count) * rows,
        .failed = c->failed,
        .replaced = c->replaced,
        .label_width = s->label_width,
        .sweep_end = c->closed.sweep_end,
        .views = views,
        .view_count = it->views.tensors,
        .repeats = rows,
        .masks = views[0].masks,
        .typed_labels = s->typed != NULL ? s->typed + row * s->label_width : NULL,
        .fields = batch_fields_show(&it->fields, cell),
        .field_count = it->fields.names.count,
        .images = slots_show_further(&it->slots, cell),
        .image_count = it->further.count * it->views.tensors,
        .places = views[0].places,
    };
}

enum imrec_status iter_sticky(const struct imrec_iter *it, struct imrec_error *err)
{
    if (err != NULL)
        *err = it->fatal;
    return it->fatal.status;
}

void iter_pass_end(struct imrec_iter *it)
{
    it->end_due = false;
    it->at = it->after;
    iter_metrics_show(it);
}

static enum imrec_status take_batch(struct imrec_iter *it, uint32_t *cell)
{
    const uint64_t begin = clock_ns();
    if (it->holding)
        ordered_recycle(it->ordered);
    it->holding = false;
    const enum imrec_status st = ordered_take(it->ordered, cell);
    it->next_wait_ns += clock_ns() - begin;
    if (st != IMREC_OK)
        return imrec_fail(&it->fatal, st, "the workers have stopped");
    const struct cell_state *c = &it->slots.cells[*cell];
    if (c->fatal != IMREC_OK)
        it->fatal = c->fatal_error;
    it->holding = true;
    it->held = *cell;
    it->held_kept = false;
    return c->fatal;
}

/* The first thing that is wrong with a batch, in the order of its slots. Of a batch that is dropped
 * only the damage counts. */
static enum imrec_status
verdict(const struct imrec_iter *it, const struct cell_state *c, struct imrec_error *err)
{
    const bool failed = c->closed.deliver && c->failed != 0;
    if (it->options.on_error != IMREC_ON_ERROR_STOP || (c->damages == 0 && !failed))
        return IMREC_OK;
    if (err != NULL) {
        *err = c->damages != 0 && (!failed || c->damage_slot <= c->first_failed) ? c->damage
                                                                                 : c->failure;
        err->status = IMREC_ERR_DATA;
    }
    return IMREC_ERR_DATA;
}

enum imrec_status
imrec_iter_next(struct imrec_iter *it, struct imrec_batch *out, struct imrec_error *err)
{
    uint32_t cell;
    if (it->fatal.status != IMREC_OK)
        return iter_sticky(it, err);
    for (;;) {
        if (it->end_due) {
            iter_pass_end(it);
            return IMREC_END;
        }
        if (take_batch(it, &cell) != IMREC_OK)
            return iter_sticky(it, err);
        const struct cell_state *c = &it->slots.cells[cell];
        const enum imrec_status st = verdict(it, c, err);
        if (it->options.equal_batches) /* now that nobody waits for bytes any more */
            equal_count_begin(&it->equal);
        report_batch(it, c);
        report_nothing(it, c);
        it->at = c->next;
        it->after = c->after;
        it->end_due = c->closed.end;
        it->batches += c->closed.deliver;
        iter_metrics_show(it);
        if (c->closed.deliver || (c->closed.end && st != IMREC_OK)) {
            describe(it, cell, out);
            if (!c->closed.deliver)
                out->slots = out->count = out->pad = out->failed = out->replaced = 0; /* damage */
            return st;
        }
    }
}

bool imrec_iter_wait(struct imrec_iter *it, uint32_t milliseconds)
{
    return it->fatal.status != IMREC_OK || it->end_due || ordered_wait(it->ordered, milliseconds);
}
