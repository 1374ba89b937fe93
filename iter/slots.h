/* iter/slots.h - the memory of batches: a cell of the ring is one batch, used again and again. */
#ifndef IMREC_ITER_SLOTS_H
#define IMREC_ITER_SLOTS_H

#include "augment/mix.h"
#include "base/threads.h"
#include "formats/set/image_list.h"
#include "imrec/iterator.h"
#include "iter/batch_memory.h"
#include "iter/batch_report.h"
#include "iter/options/further_images.h"
#include "iter/order/schedule.h"

/* The place of the stream, as a position holds it. */
struct place {
    struct schedule_run run;
    uint64_t window, before; /* window of the sweep; run.sample at its first record */
};

struct cell_state { /* of one batch; written by the feed, first failures by workers */
    struct mutex lock;
    struct schedule_close closed;
    struct place next, after;   /* before and after the END that it may bring */
    uint64_t sweep, epoch;      /* of the first slot */
    uint32_t first_failed;      /* sample of the batch; UINT32_MAX: none */
    uint32_t failed, replaced;  /* slots */
    struct imrec_error failure; /* of that sample */
    uint64_t damages;           /* ranges reported with this batch */
    struct imrec_error damage;  /* the first of them ... */
    uint32_t damage_slot;       /* ... and the sample before which it was met */
    struct cell_report report;
    enum imrec_status fatal;
    struct imrec_error fatal_error;
};

struct mix_candidate { /* a slot of the batch that is mixed */
    uint64_t order;
    uint32_t slot;
};

struct slots {
    uint32_t depth, batch_size, label_width;
    const struct view_kinds *views; /* borrowed */
    struct imrec_memory memory;     /* where blocks come from */
    void **data;       /* depth blocks: a batch's tensors one after another, each dense */
    size_t data_bytes; /* of one block */
    size_t *tensors;   /* where each begins in it */
    size_t *further;   /* likewise images=, image after image: those of each tensor */
    uint8_t *present;  /* [depth][image][batch_size] */
    struct imrec_batch_image *shown_further; /* of each cell */
    void **masks;                            /* likewise their masks; not asked for: all is 0 */
    size_t masks_bytes;                      /* of one block */
    size_t *mask_tensors;                    /* where those of each tensor begin in it */
    size_t mask_value;                       /* bytes of a value */
    uint16_t mask_nothing;                   /* the value of slots that are empty */
    struct imrec_view *shown; /* of each cell: its tensors, as the consumer sees them */
    float *labels;            /* the rest: rows of depth * batch_size */
    union list_label *typed;  /* likewise with dtype_label; NULL: float32 */
    uint64_t *ids;
    uint8_t *valid;
    enum imrec_status *status;
    struct imrec_draw *draws;   /* of each tensor after the other; NULL: not asked for */
    struct imrec_place *places; /* likewise */
    struct mix_draw *mixes;     /* of mixup and cutmix; NULL: not asked for */
    struct mix_candidate *candidates;
    struct cell_state *cells;
    struct report_count *counts; /* for the cells' reports */
    struct report_note *notes;
};

/* Bytes that slots_init() will take, or UINT64_MAX where they cannot be counted. */
uint64_t slots_memory(const struct imrec_iter_options *o, const struct view_kinds *views,
                      uint32_t label_width);
IMREC_NODISCARD enum imrec_status
slots_init(struct slots *s, const struct imrec_iter_options *o, const struct view_kinds *views,
           uint32_t label_width, const struct imrec_memory *memory, struct imrec_error *err);
struct batch_sizes slots_sizes(const struct slots *s); /* of the blocks of a batch */
void slots_free(struct slots *s);                      /* zeroed memory is fine */

/* The shape that a tensor of the batch has. */
const struct view_kind *slots_kind(const struct slots *s, uint32_t cell, uint32_t tensor);
void *slots_data(const struct slots *s, uint32_t cell, uint32_t tensor, uint32_t slot);
void *slots_mask(const struct slots *s, uint32_t cell, uint32_t tensor,
                 uint32_t slot); /* NULL: no masks */
static inline size_t slots_row(const struct slots *s, uint32_t cell, uint32_t slot)
{
    return (size_t)cell * s->batch_size + slot;
}
/* Further images (images=): the shape, the slot, and whether there is an image in it. */
const struct view_kind *
slots_further_kind(const struct slots *s, uint32_t cell, uint32_t image, uint32_t tensor);
void *
slots_further(const struct slots *s, uint32_t cell, uint32_t image, uint32_t tensor, uint32_t slot);
uint8_t *slots_present(const struct slots *s, uint32_t cell, uint32_t image, uint32_t slot);
/* Zeros, or what is around a map, and not present. */
void slots_clear_further(struct slots *s, uint32_t cell, uint32_t image, uint32_t slot);
/* Where an image's draws go; NULL: nobody wants them. */
struct imrec_draw *slots_draw(const struct slots *s, uint32_t cell, uint32_t tensor, uint32_t slot);
struct imrec_place *
slots_place(const struct slots *s, uint32_t cell, uint32_t tensor, uint32_t slot); /* likewise */
/* The batch's tensors, for the consumer. */
const struct imrec_view *slots_show(struct slots *s, uint32_t cell);
/* NULL: there are none. */
const struct imrec_batch_image *slots_show_further(struct slots *s, uint32_t cell);
void slots_clear(struct slots *s, uint32_t cell, uint32_t slot); /* zero, not valid, OK */
void slots_begin_cell(struct slots *s, uint32_t cell);
/* Zeroes the slots of a sample, of which there are views->rows, and flags them. */
void slots_fail(struct slots *s, uint32_t cell, uint32_t sample, uint64_t id,
                const struct imrec_error *why);
#endif
