#include "iter/slots.h"

#include "augment/normalize.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/pages.h"

#include <string.h>

/* Data that one block of memory may hold: 1 TiB. More is a mistake in data_shape. */
#define MAX_BLOCK_BYTES ((size_t)1 << 40)

static bool block_size(const struct imrec_iter_options *o, size_t *sample, size_t *block)
{
    const struct imrec_shape *d = &o->data_shape;
    return mul_fits(d->width, d->height, sample) && mul_fits(*sample, d->channels, sample) &&
           mul_fits(*sample, dtype_size(o->dtype), sample) &&
           mul_fits(*sample, (size_t)o->batch_size, block) && *block <= MAX_BLOCK_BYTES;
}

static bool mixes(const struct imrec_iter_options *o)
{
    return o->mixup > 0 || o->cutmix > 0;
}

static size_t label_width(const struct imrec_iter_options *o)
{
    return (size_t)(o->num_classes > 0 ? o->num_classes : o->label_width);
}

static size_t row_bytes(const struct imrec_iter_options *o)
{
    const size_t mixing = mixes(o) ? sizeof(struct mix_draw) + sizeof(struct mix_candidate) : 0;
    return mixing + label_width(o) * sizeof(float) + sizeof(uint64_t) + 1 +
           sizeof(enum imrec_status) + (o->record_draws ? sizeof(struct imrec_draw) : 0);
}

uint64_t slots_memory(const struct imrec_iter_options *o)
{
    size_t sample, block;
    if (!block_size(o, &sample, &block))
        return UINT64_MAX;
    return ((uint64_t)o->prefetch_buffer + 1) * (block + (uint64_t)o->batch_size * row_bytes(o));
}

static enum imrec_status allocate(struct slots *s, const struct imrec_iter_options *o)
{
    const size_t rows = (size_t)s->depth * s->batch_size;
    s->cells = imrec_zalloc(s->depth, sizeof(*s->cells));
    if (s->cells == NULL)
        return IMREC_ERR_NO_MEMORY;
    for (uint32_t i = 0; i < s->depth; i++)
        mutex_init(&s->cells[i].lock);
    s->data = imrec_zalloc(s->depth, sizeof(*s->data));
    size_t labels;
    s->labels =
        mul_fits(rows, s->label_width, &labels) ? imrec_zalloc(labels, sizeof(float)) : NULL;
    s->ids = imrec_zalloc(rows, sizeof(*s->ids));
    s->valid = imrec_zalloc(rows, sizeof(*s->valid));
    s->status = imrec_zalloc(rows, sizeof(*s->status));
    s->draws = o->record_draws ? imrec_zalloc(rows, sizeof(*s->draws)) : NULL;
    s->mixes = mixes(o) ? imrec_zalloc(rows, sizeof(*s->mixes)) : NULL;
    s->candidates = mixes(o) ? imrec_zalloc(rows, sizeof(*s->candidates)) : NULL;
    if (!s->data || !s->labels || !s->ids || !s->valid || !s->status ||
        (o->record_draws && !s->draws) || (mixes(o) && (!s->mixes || !s->candidates)))
        return IMREC_ERR_NO_MEMORY;
    for (uint32_t i = 0; i < s->depth; i++)
        if ((s->data[i] = pages_alloc(s->data_bytes)) == NULL)
            return IMREC_ERR_NO_MEMORY;
    return IMREC_OK;
}

enum imrec_status
slots_init(struct slots *s, const struct imrec_iter_options *o, struct imrec_error *err)
{
    *s = (struct slots){
        .depth = (uint32_t)o->prefetch_buffer + 1, /* + the one the consumer holds */
        .batch_size = (uint32_t)o->batch_size,
        .label_width = (uint32_t)label_width(o),
    };
    if (!block_size(o, &s->sample_bytes, &s->data_bytes))
        return imrec_error_at(err, IMREC_ERR_LIMIT, IMREC_NO_OFFSET,
                              "data_shape and batch_size ask for a batch of over 1 TiB");
    s->sample_stride = s->sample_bytes;
    if (allocate(s, o) == IMREC_OK)
        return IMREC_OK;
    const size_t wanted = s->data_bytes;
    slots_free(s);
    return imrec_error_at(err, IMREC_ERR_NO_MEMORY, IMREC_NO_OFFSET,
                          "no memory for %lld batches of %zu bytes",
                          (long long)o->prefetch_buffer + 1, wanted);
}

void slots_free(struct slots *s)
{
    for (uint32_t i = 0; s->data != NULL && i < s->depth; i++)
        pages_free(s->data[i], s->data_bytes);
    for (uint32_t i = 0; s->cells != NULL && i < s->depth; i++)
        mutex_destroy(&s->cells[i].lock);
    imrec_free(s->data);
    imrec_free(s->labels);
    imrec_free(s->ids);
    imrec_free(s->valid);
    imrec_free(s->status);
    imrec_free(s->draws);
    imrec_free(s->mixes);
    imrec_free(s->candidates);
    imrec_free(s->cells);
    *s = (struct slots){0};
}

void *slots_data(const struct slots *s, uint32_t cell, uint32_t slot)
{
    return (uint8_t *)s->data[cell] + slot * s->sample_stride;
}

void slots_clear(struct slots *s, uint32_t cell, uint32_t slot)
{
    const size_t row = slots_row(s, cell, slot);
    memset(slots_data(s, cell, slot), 0, s->sample_bytes);
    memset(s->labels + row * s->label_width, 0, s->label_width * sizeof(float));
    s->ids[row] = 0;
    s->valid[row] = 0;
    s->status[row] = IMREC_OK;
    if (s->draws != NULL)
        s->draws[row] = (struct imrec_draw){0};
}

void slots_begin_cell(struct slots *s, uint32_t cell)
{
    struct cell_state *c = &s->cells[cell];
    c->sweep = 0;
    c->first_failed = UINT32_MAX;
    c->failed = 0;
    c->damages = 0;
    c->fatal = IMREC_OK;
}

void slots_fail(struct slots *s, uint32_t cell, uint32_t slot, uint64_t id, bool valid_sample,
                const struct imrec_error *why)
{
    struct cell_state *c = &s->cells[cell];
    slots_clear(s, cell, slot);
    s->ids[slots_row(s, cell, slot)] = id; /* which one it was */
    s->status[slots_row(s, cell, slot)] = why->status;
    mutex_lock(&c->lock);
    c->failed += valid_sample;
    if (slot < c->first_failed && valid_sample) {
        c->first_failed = slot;
        c->failure = *why;
    }
    mutex_unlock(&c->lock);
}
