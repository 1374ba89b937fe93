/* iter/slots.c - the memory of batches. */
#include "iter/slots.h"

#include "augment/normalize/normalize.h"
#include "augment/targets.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/math.h"

#include <string.h>

/* Data that one block of memory may hold: 1 TiB. More is a mistake in data_shape. */
#define MAX_BLOCK_BYTES ((size_t)1 << 40)

enum { TENSOR_ALIGN = 64 };

/* What the tensor of that kind takes in a batch, or its masks. */
static bool tensor_bytes(const struct imrec_iter_options *o, const struct view_kind *k, bool masks,
                         size_t *bytes)
{
    return mul_fits(masks ? k->mask_bytes : k->bytes, (size_t)o->batch_size, bytes) &&
           *bytes <= MAX_BLOCK_BYTES;
}

/* Tensors of one shape follow one another without a gap: they are one tensor as well. */
static size_t begin_of(const struct view_kinds *v, uint32_t tensor, size_t end)
{
    const bool same = tensor > 0 && v->of_tensor[tensor] == v->of_tensor[tensor - 1];
    return same ? end : align_up(end, TENSOR_ALIGN);
}

static uint32_t further_count(const struct view_kinds *v)
{
    return v->further != NULL ? v->further->count : 0;
}

/* Further images come after the others, each with room for its largest shape. */
static bool add_further(const struct imrec_iter_options *o, const struct view_kinds *v,
                        size_t *begins, size_t *block)
{
    const uint32_t images = further_count(v);
    for (uint32_t i = 0; i < images * v->tensors; i++) {
        const uint32_t image = i / v->tensors;
        size_t most = 0, bytes = 0;
        for (uint32_t k = 0; k < v->kind_count; k++)
            if (v->tensors == 1 || v->of_tensor[i % v->tensors] == k) {
                const uint32_t kind = further_kind(v->further, image, k);
                if (!tensor_bytes(o, &v->further->kinds.kinds[kind], false, &bytes))
                    return false;
                most = bytes > most ? bytes : most;
            }
        const size_t begin = align_up(*block, TENSOR_ALIGN);
        if (begins != NULL)
            begins[i] = begin;
        *block = begin + most;
        if (*block > MAX_BLOCK_BYTES)
            return false;
    }
    return true;
}

/* Where each tensor begins (unless NULL), and how long a block is that holds those of any sweep. */
static bool block_size(const struct imrec_iter_options *o, const struct view_kinds *v, bool masks,
                       size_t *begins, size_t *block)
{
    size_t bytes;
    *block = 0;
    for (uint32_t i = 0; v->tensors == 1 && i < v->kind_count; i++) {
        if (!tensor_bytes(o, &v->kinds[i], masks, &bytes))
            return false;
        *block = bytes > *block ? bytes : *block;
    }
    for (uint32_t t = 0; v->tensors > 1 && t < v->tensors; t++) {
        const size_t begin = begin_of(v, t, *block);
        if (!tensor_bytes(o, &v->kinds[v->of_tensor[t]], masks, &bytes))
            return false;
        if (begins != NULL)
            begins[t] = begin;
        *block = begin + bytes;
    }
    return *block <= MAX_BLOCK_BYTES;
}

static bool is_typed(const struct imrec_iter_options *o)
{
    return o->dtype_label != IMREC_LABEL_FLOAT32;
}

static size_t
row_bytes(const struct imrec_iter_options *o, const struct view_kinds *v, uint32_t label_width)
{
    const size_t mixing = recipe_mixes(&v->kinds[0].recipe)
                              ? sizeof(struct mix_draw) + sizeof(struct mix_candidate)
                              : 0;
    const size_t label = sizeof(float) + (is_typed(o) ? sizeof(union list_label) : 0);
    return mixing + label_width * label + sizeof(uint64_t) + 1 + sizeof(enum imrec_status) +
           (o->record_draws ? v->tensors * sizeof(struct imrec_draw) : 0) +
           (o->record_places ? v->tensors * sizeof(struct imrec_place) : 0) + further_count(v);
}

/* A batch may begin after a sweep's end and end at one: two more than it has samples. */
static uint32_t most_sweeps(const struct imrec_iter_options *o, const struct view_kinds *v)
{
    return (uint32_t)o->batch_size / v->rows + 2;
}

uint64_t slots_memory(const struct imrec_iter_options *o, const struct view_kinds *views,
                      uint32_t label_width)
{
    size_t block, masks;
    if (!block_size(o, views, false, NULL, &block) || !add_further(o, views, NULL, &block) ||
        !block_size(o, views, true, NULL, &masks))
        return UINT64_MAX;
    const uint64_t report = most_sweeps(o, views) * sizeof(struct report_count) +
                            LOG_LISTED * sizeof(struct report_note);
    return ((uint64_t)o->prefetch_buffer + 1) *
           (block + masks + report + (uint64_t)o->batch_size * row_bytes(o, views, label_width));
}

static enum imrec_status allocate_reports(struct slots *s, const struct imrec_iter_options *o)
{
    const uint32_t sweeps = most_sweeps(o, s->views);
    s->counts = imrec_zalloc((size_t)s->depth * sweeps, sizeof(*s->counts));
    s->notes = imrec_zalloc((size_t)s->depth * LOG_LISTED, sizeof(*s->notes));
    if (s->counts == NULL || s->notes == NULL)
        return IMREC_ERR_NO_MEMORY;
    for (uint32_t i = 0; i < s->depth; i++) {
        struct cell_report *r = &s->cells[i].report;
        r->counts = s->counts + (size_t)i * sweeps;
        r->notes = s->notes + (size_t)i * LOG_LISTED;
        r->room = sweeps;
    }
    return IMREC_OK;
}

static bool allocate_further(struct slots *s)
{
    const size_t images = further_count(s->views), cells = s->depth;
    if (images == 0)
        return true;
    s->present = imrec_zalloc(cells * images, s->batch_size);
    s->shown_further = imrec_zalloc(cells * images * s->views->tensors, sizeof(*s->shown_further));
    return s->present != NULL && s->shown_further != NULL;
}

static enum imrec_status allocate(struct slots *s, const struct imrec_iter_options *o)
{
    const size_t rows = (size_t)s->depth * s->batch_size;
    s->cells = imrec_zalloc(s->depth, sizeof(*s->cells));
    if (s->cells == NULL)
        return IMREC_ERR_NO_MEMORY;
    for (uint32_t i = 0; i < s->depth; i++)
        mutex_init(&s->cells[i].lock);
    if (allocate_reports(s, o) != IMREC_OK)
        return IMREC_ERR_NO_MEMORY;
    s->data = imrec_zalloc(s->depth, sizeof(*s->data));
    size_t labels;
    const bool fits = mul_fits(rows, s->label_width, &labels), typed = is_typed(o);
    const bool mixes = recipe_mixes(&s->views->kinds[0].recipe);
    s->labels = fits ? imrec_zalloc(labels, sizeof(*s->labels)) : NULL;
    s->typed = fits && typed ? imrec_zalloc(labels, sizeof(*s->typed)) : NULL;
    s->ids = imrec_zalloc(rows, sizeof(*s->ids));
    s->valid = imrec_zalloc(rows, sizeof(*s->valid));
    s->status = imrec_zalloc(rows, sizeof(*s->status));
    s->shown = imrec_zalloc((size_t)s->depth * s->views->tensors, sizeof(*s->shown));
    s->draws = o->record_draws ? imrec_zalloc(rows * s->views->tensors, sizeof(*s->draws)) : NULL;
    s->places =
        o->record_places ? imrec_zalloc(rows * s->views->tensors, sizeof(*s->places)) : NULL;
    s->mixes = mixes ? imrec_zalloc(rows, sizeof(*s->mixes)) : NULL;
    s->candidates = mixes ? imrec_zalloc(rows, sizeof(*s->candidates)) : NULL;
    s->masks = imrec_zalloc(s->depth, sizeof(*s->masks));
    if (!s->data || !s->masks || !s->labels || !s->ids || !s->valid || !s->status || !s->shown ||
        (typed && !s->typed) || (o->record_draws && !s->draws) ||
        (o->record_places && !s->places) || (mixes && (!s->mixes || !s->candidates)) ||
        !allocate_further(s))
        return IMREC_ERR_NO_MEMORY;
    return IMREC_OK;
}

struct batch_sizes slots_sizes(const struct slots *s)
{
    return (struct batch_sizes){.data = s->data_bytes, .masks = s->masks_bytes};
}

static enum imrec_status take_blocks(struct slots *s, struct imrec_error *err)
{
    for (uint32_t i = 0; i < s->depth; i++) {
        struct batch_blocks b;
        IMREC_TRY(batch_memory_take(&s->memory, slots_sizes(s), &b, err));
        s->data[i] = b.data;
        s->masks[i] = b.masks;
    }
    return IMREC_OK;
}

static enum imrec_status
no_memory(const struct imrec_iter_options *o, size_t bytes, struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "no memory for %lld batches of %zu bytes",
                           (long long)o->prefetch_buffer + 1, bytes);
}

enum imrec_status slots_init(struct slots *s, const struct imrec_iter_options *o,
                             const struct view_kinds *views, uint32_t label_width,
                             const struct imrec_memory *memory, struct imrec_error *err)
{
    *s = (struct slots){
        .depth = (uint32_t)o->prefetch_buffer + 1, /* + the one the consumer holds */
        .batch_size = (uint32_t)o->batch_size,
        .label_width = label_width,
        .views = views,
        .memory = *memory,
    };
    s->tensors = imrec_zalloc(views->tensors, sizeof(*s->tensors));
    s->mask_tensors = imrec_zalloc(views->tensors, sizeof(*s->mask_tensors));
    s->mask_value = mask_type_size(o->masks);
    s->mask_nothing = (uint16_t)o->ignore_label;
    s->further =
        imrec_zalloc((size_t)further_count(views) * views->tensors + 1, sizeof(*s->further));
    if (s->tensors == NULL || s->mask_tensors == NULL || s->further == NULL)
        return no_memory(o, 0, err);
    if (!block_size(o, views, false, s->tensors, &s->data_bytes) ||
        !add_further(o, views, s->further, &s->data_bytes) ||
        !block_size(o, views, true, s->mask_tensors, &s->masks_bytes))
        return imrec_fail(err, IMREC_ERR_LIMIT,
                          "data_shape and batch_size ask for a batch of over 1 TiB");
    s->data_bytes = s->data_bytes != 0 ? s->data_bytes : 1; /* images=none: a block is never 0 */
    const size_t wanted = s->data_bytes + s->masks_bytes;
    enum imrec_status st = allocate(s, o);
    if (st != IMREC_OK)
        st = no_memory(o, wanted, err);
    else
        st = take_blocks(s, err);
    if (st != IMREC_OK)
        slots_free(s);
    return st;
}

void slots_free(struct slots *s)
{
    for (uint32_t i = 0; s->data != NULL && s->masks != NULL && i < s->depth; i++)
        batch_memory_give(&s->memory, slots_sizes(s),
                          (struct batch_blocks){.data = s->data[i], .masks = s->masks[i]});
    for (uint32_t i = 0; s->cells != NULL && i < s->depth; i++)
        mutex_destroy(&s->cells[i].lock);
    IMREC_FREE(s->further, s->present, s->shown_further);
    IMREC_FREE(s->data, s->masks, s->mask_tensors, s->tensors, s->shown, s->labels, s->typed,
               s->ids, s->valid, s->status, s->draws, s->places, s->mixes, s->candidates, s->counts,
               s->notes, s->cells);
    *s = (struct slots){0};
}

const struct view_kind *slots_kind(const struct slots *s, uint32_t cell, uint32_t tensor)
{
    return &s->views->kinds[view_kinds_kind(s->views, s->cells[cell].sweep, tensor)];
}

void *slots_data(const struct slots *s, uint32_t cell, uint32_t tensor, uint32_t slot)
{
    return (uint8_t *)s->data[cell] + s->tensors[tensor] +
           slot * slots_kind(s, cell, tensor)->bytes;
}

void *slots_mask(const struct slots *s, uint32_t cell, uint32_t tensor, uint32_t slot)
{
    return s->masks_bytes == 0 ? NULL
                               : (uint8_t *)s->masks[cell] + s->mask_tensors[tensor] +
                                     slot * slots_kind(s, cell, tensor)->mask_bytes;
}

static void clear_mask(struct slots *s, uint32_t cell, uint32_t tensor, uint32_t slot)
{
    uint8_t *out = slots_mask(s, cell, tensor, slot), value[sizeof(uint32_t)];
    const size_t bytes = slots_kind(s, cell, tensor)->mask_bytes;
    store_le32(value, s->mask_nothing); /* its first bytes are a narrower value */
    for (size_t at = 0; at < bytes; at += s->mask_value)
        memcpy(out + at, value, s->mask_value);
}

/* ---- further images ----------------------------------------------------------------------- */

const struct view_kind *
slots_further_kind(const struct slots *s, uint32_t cell, uint32_t image, uint32_t tensor)
{
    const uint32_t kind = view_kinds_kind(s->views, s->cells[cell].sweep, tensor);
    const struct further_images *f = s->views->further;
    return &f->kinds.kinds[further_kind(f, image, kind)];
}

void *
slots_further(const struct slots *s, uint32_t cell, uint32_t image, uint32_t tensor, uint32_t slot)
{
    return (uint8_t *)s->data[cell] + s->further[image * s->views->tensors + tensor] +
           slot * slots_further_kind(s, cell, image, tensor)->bytes;
}

uint8_t *slots_present(const struct slots *s, uint32_t cell, uint32_t image, uint32_t slot)
{
    return s->present + ((size_t)cell * further_count(s->views) + image) * s->batch_size + slot;
}

static void clear_map(const struct further_image *f, uint8_t *out, size_t bytes)
{
    const int32_t whole = f->fill;
    const float real = f->fill;
    const void *value = f->type == IMREC_IMAGE_INT32     ? (const void *)&whole
                        : f->type == IMREC_IMAGE_FLOAT32 ? (const void *)&real
                                                         : (const void *)&f->fill;
    const size_t size = image_type_size(f->type);
    if (f->type == IMREC_IMAGE_UINT8)
        memset(out, f->fill, bytes);
    else
        for (size_t at = 0; at < bytes; at += size)
            memcpy(out + at, value, size);
}

void slots_clear_further(struct slots *s, uint32_t cell, uint32_t image, uint32_t slot)
{
    const struct further_image *f = &s->views->further->image[image];
    for (uint32_t t = 0; t < s->views->tensors; t++) {
        uint8_t *out = slots_further(s, cell, image, t, slot);
        const size_t bytes = slots_further_kind(s, cell, image, t)->bytes;
        if (f->type == IMREC_IMAGE_PIXELS || f->fill == 0)
            memset(out, 0, bytes);
        else
            clear_map(f, out, bytes);
    }
    *slots_present(s, cell, image, slot) = 0;
}

const struct imrec_batch_image *slots_show_further(struct slots *s, uint32_t cell)
{
    const uint32_t images = further_count(s->views), tensors = s->views->tensors;
    struct imrec_batch_image *shown = s->shown_further + (size_t)cell * images * tensors;
    if (images == 0)
        return NULL;
    for (uint32_t i = 0; i < images * tensors; i++) {
        const uint32_t image = i / tensors, tensor = i % tensors;
        shown[i] = (struct imrec_batch_image){
            .name = s->views->further->image[image].name,
            .data = slots_further(s, cell, image, tensor, 0),
            .present = slots_present(s, cell, image, 0),
            .shape = slots_further_kind(s, cell, image, tensor)->o.data_shape,
            .type = s->views->further->image[image].type};
    }
    return shown;
}

/* ---- a batch ------------------------------------------------------------------------------ */

static size_t row_of_tensor(const struct slots *s, uint32_t cell, uint32_t tensor, uint32_t slot)
{
    return ((size_t)cell * s->views->tensors + tensor) * s->batch_size + slot;
}

struct imrec_draw *slots_draw(const struct slots *s, uint32_t cell, uint32_t tensor, uint32_t slot)
{
    return s->draws != NULL ? s->draws + row_of_tensor(s, cell, tensor, slot) : NULL;
}

struct imrec_place *
slots_place(const struct slots *s, uint32_t cell, uint32_t tensor, uint32_t slot)
{
    return s->places != NULL ? s->places + row_of_tensor(s, cell, tensor, slot) : NULL;
}

const struct imrec_view *slots_show(struct slots *s, uint32_t cell)
{
    struct imrec_view *shown = s->shown + (size_t)cell * s->views->tensors;
    for (uint32_t t = 0; t < s->views->tensors; t++) {
        const struct view_kind *k = slots_kind(s, cell, t);
        shown[t] = (struct imrec_view){.data = k->bytes != 0 ? slots_data(s, cell, t, 0) : NULL,
                                       .draws = slots_draw(s, cell, t, 0),
                                       .masks = slots_mask(s, cell, t, 0),
                                       .places = slots_place(s, cell, t, 0)};
        if (k->bytes != 0)
            shown[t].shape = k->o.data_shape;
    }
    return shown;
}

void slots_clear(struct slots *s, uint32_t cell, uint32_t slot)
{
    const size_t row = slots_row(s, cell, slot);
    for (uint32_t t = 0; t < s->views->tensors; t++) {
        memset(slots_data(s, cell, t, slot), 0, slots_kind(s, cell, t)->bytes);
        clear_mask(s, cell, t, slot);
        if (s->draws != NULL)
            *slots_draw(s, cell, t, slot) = (struct imrec_draw){0};
        if (s->places != NULL)
            *slots_place(s, cell, t, slot) = (struct imrec_place){0};
    }
    for (uint32_t i = 0; i < further_count(s->views); i++)
        slots_clear_further(s, cell, i, slot);
    memset(s->labels + row * s->label_width, 0, s->label_width * sizeof(*s->labels));
    if (s->typed != NULL)
        memset(s->typed + row * s->label_width, 0, s->label_width * sizeof(*s->typed));
    s->ids[row] = 0;
    s->valid[row] = 0;
    s->status[row] = IMREC_OK;
}

void slots_begin_cell(struct slots *s, uint32_t cell)
{
    struct cell_state *c = &s->cells[cell];
    c->sweep = 0;
    c->first_failed = UINT32_MAX;
    c->failed = c->replaced = 0;
    c->damages = 0;
    c->fatal = IMREC_OK;
    report_begin(&c->report);
}

void slots_fail(struct slots *s, uint32_t cell, uint32_t sample, uint64_t id,
                const struct imrec_error *why)
{
    const uint32_t rows = s->views->rows;
    for (uint32_t slot = sample * rows; slot < (sample + 1) * rows; slot++) {
        slots_clear(s, cell, slot);
        s->ids[slots_row(s, cell, slot)] = id; /* which one it was */
        s->status[slots_row(s, cell, slot)] = why->status;
    }
}
