/* iter/boxes.c - labels with boxes: how much room a batch gives them, and how they lie in it:
 * channels, rows, columns, number of values, the values, label_pad_value. */
#include "base/error.h"
#include "iter/state.h"

#include <string.h>

#define MAX_ROOM (1u << 24) /* values: what label_pad_width may be */

static enum imrec_status widest_of(struct imrec_iter *it, uint32_t *widest, struct imrec_error *err)
{
    const bool may_read = it->options.label_pad_width <= 0;
    const struct container *c = &it->container;
    *widest = it->labels.widest;
    if (it->labels.entries != NULL)
        return IMREC_OK;
    if (it->options.label_width > 0) {
        *widest = (uint32_t)it->options.label_width;
        return IMREC_OK;
    }
    *widest = c->label_count;
    return c->kind->widest_label != NULL ? c->kind->widest_label(c, may_read, widest, err)
                                         : IMREC_OK;
}

/* Records whose objects a slot may show. */
static uint32_t samples_of_slot(const struct imrec_iter *it)
{
    return (it->tiles.kind_count != 0 ? MOSAIC_TILES : 1) + (it->moves.kind_count != 0);
}

/* One header, of at least two values, and the objects of several labels. */
static uint32_t widest_of_many(uint32_t widest, uint32_t labels)
{
    const uint64_t n = widest < 2 ? widest : 2 + labels * ((uint64_t)widest - 2);
    return n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

enum imrec_status iter_fit_boxes(struct imrec_iter *it, struct imrec_error *err)
{
    const int64_t room = it->options.label_pad_width;
    uint32_t widest;
    const struct container *c = &it->container;
    const char *why = c->kind->refuse_boxes != NULL ? c->kind->refuse_boxes(c) : NULL;
    if (why != NULL)
        return imrec_fail(err, IMREC_ERR_UNSUPPORTED, "%.200s: its images have no boxes, they %s",
                          c->shards[0].uri, why);
    IMREC_TRY(widest_of(it, &widest, err));
    if (room > 0 && widest > room)
        return IMREC_REFUSE(err, "label_pad_width is %lld, but there is a label of %u values",
                            (long long)room, widest);
    if (room <= 0)
        widest = widest_of_many(widest, samples_of_slot(it));
    if (widest > MAX_ROOM)
        return imrec_fail(err, IMREC_ERR_LIMIT,
                          "a label has %u values; labels with boxes may have %u", widest, MAX_ROOM);
    it->label_width = DET_LABEL_HEAD + (room > 0 ? (uint32_t)room : widest);
    return IMREC_OK;
}

uint32_t iter_object_room(const struct imrec_iter *it)
{
    const bool numbered = it->options.mask_kind == IMREC_MASK_INSTANCE;
    return numbered ? samples_of_slot(it) * ((it->label_width - DET_LABEL_HEAD) / 5) + 1 : 0;
}

/* ---- a sample -------------------------------------------------------------------------------- */

/* Object i of the record is the pixels of i + 1. */
static void number(uint32_t *numbers, uint32_t values)
{
    for (uint32_t i = 0; numbers != NULL && i < values / 5; i++)
        numbers[i] = i + 1;
}

enum imrec_status iter_take_boxes(const struct imrec_iter *it, const struct record *r, float *row,
                                  uint32_t *numbers, struct det_label *label,
                                  struct imrec_error *err)
{
    const uint32_t room = it->slots.label_width - DET_LABEL_HEAD;
    float *to = row + DET_LABEL_HEAD;
    struct found_labels found;
    IMREC_TRY(iter_find_labels(it, r, &found, err));
    const uint32_t n = found.n;
    if (it->options.label_width > 0 && n != (uint64_t)it->options.label_width)
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "the label has %u values, but label_width is %lld", n,
                          (long long)it->options.label_width);
    if (n > room)
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "the label has %u values, but label_pad_width is %u", n, room);
    if (found.listed != NULL)
        memcpy(to, found.listed, n * sizeof(*to));
    for (uint32_t i = 0; found.listed == NULL && i < n; i++)
        to[i] = record_label(r, i);
    number(numbers, n);
    IMREC_TRY(det_label_read_numbered(label, to, n, numbers, err));
    if (numbers != NULL)
        IMREC_TRY(objects_check(&it->augment, label, "the label", err));
    return targets_check_label(&it->recipe, label, err);
}

void iter_finish_boxes(const struct imrec_iter *it, const struct imrec_draw *d,
                       const struct det_label *label, float *row)
{
    const struct resize_size shown = draw_shown(&it->recipe, d);
    row[0] = (float)it->options.data_shape.channels;
    row[1] = (float)shown.height;
    row[2] = (float)shown.width;
    row[3] = (float)label->n;
    for (uint32_t i = DET_LABEL_HEAD + label->n; i < it->slots.label_width; i++)
        row[i] = it->options.label_pad_value;
}
