/* iter/labels.c - labels of a sample: out of its record or of path_imglist, as they are, as shares
 * of classes, or in the type of dtype_label. */
#include "base/error.h"
#include "iter/state.h"

#include <math.h>
#include <string.h>

enum imrec_status iter_find_labels(const struct imrec_iter *it, const struct record *r,
                                   struct found_labels *out, struct imrec_error *err)
{
    const struct label_table *t = &it->labels;
    *out = (struct found_labels){.n = r->label_count};
    if (t->entries == NULL)
        return IMREC_OK;
    const struct label_entry *e = label_table_find(t, r->id);
    if (e == NULL)
        return imrec_fail(err, IMREC_ERR_CORRUPT, "path_imglist has no line for this id");
    *out = (struct found_labels){.listed = t->labels + e->first,
                                 .typed = t->exact != NULL ? t->exact + e->first : NULL,
                                 .n = e->count};
    return IMREC_OK;
}

/* A class as shares of all classes. */
static enum imrec_status
spread_class(const struct imrec_iter *it, float label, float *to, struct imrec_error *err)
{
    const int64_t classes = it->options.num_classes;
    if (!(label >= 0 && label < (float)classes) || label != floorf(label))
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "its label is %g, but num_classes=%lld asks for a whole number from 0 "
                          "to %lld",
                          (double)label, (long long)classes, (long long)classes - 1);
    memset(to, 0, (size_t)classes * sizeof(*to));
    to[(size_t)label] = 1;
    return IMREC_OK;
}

static float label_offset(const struct imrec_iter *it, uint32_t shard)
{
    const struct mix_sets *m = &it->mix;
    uint64_t i = m->count;
    while (i > 0 && m->set[i - 1].first_shard > shard)
        i--;
    return (i != 0 ? m->set[i - 1].label_offset : 0) + (float)it->options.label_offset;
}

static enum imrec_status copy_labels(const struct imrec_iter *it, const struct record *r,
                                     uint32_t shard, struct found_labels *found, float *to,
                                     struct imrec_error *err)
{
    const float offset = label_offset(it, shard);
    const uint32_t width = (uint32_t)it->options.label_width;
    IMREC_TRY(iter_find_labels(it, r, found, err));
    if (found->n != width)
        return imrec_fail(err, IMREC_ERR_CORRUPT, "the record has %u labels, but label_width is %u",
                          found->n, width);
    if (found->listed != NULL)
        memcpy(to, found->listed, width * sizeof(*to));
    for (uint32_t i = 0; found->listed == NULL && i < width; i++)
        to[i] = record_label(r, i) + offset;
    return IMREC_OK;
}

/* What a float32 is in the other types: the same number. */
static enum imrec_status
convert(enum imrec_label_dtype type, float label, union list_label *to, struct imrec_error *err)
{
    if (type == IMREC_LABEL_FLOAT64) {
        to->f = (double)label;
        return IMREC_OK;
    }
    if (!(fabsf(label) < 0x1p63f) || label != floorf(label))
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "its label is %g, but dtype_label=int64 asks for whole numbers",
                          (double)label);
    to->i = (int64_t)label;
    return IMREC_OK;
}

/* mix_label_offset and label_offset, to labels of a record that are not float32. */
static enum imrec_status add_offset(enum imrec_label_dtype type, float offset,
                                    union list_label *label, struct imrec_error *err)
{
    if (type == IMREC_LABEL_FLOAT64) {
        label->f += (double)offset;
        return IMREC_OK;
    }
    union list_label whole = {.i = 0};
    IMREC_TRY(convert(type, offset, &whole, err));
    const int64_t room = whole.i > 0 ? INT64_MAX - whole.i : INT64_MIN - whole.i;
    if (whole.i > 0 ? label->i > room : label->i < room)
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "its label %lld leaves no room for the offset %lld", (long long)label->i,
                          (long long)whole.i);
    label->i += whole.i;
    return IMREC_OK;
}

/* The labels of the row `to` in their type. */
static enum imrec_status take_typed(const struct imrec_iter *it, const struct record *r,
                                    const struct found_labels *found, float offset, const float *to,
                                    union list_label *typed, struct imrec_error *err)
{
    const enum imrec_label_dtype type = it->options.dtype_label;
    const union list_label *from = found->listed != NULL ? found->typed : r->typed;
    for (uint32_t i = 0; i < found->n; i++) {
        if (from == NULL)
            IMREC_TRY(convert(type, to[i], &typed[i], err));
        else
            typed[i] = from[i];
        if (from != NULL && found->listed == NULL && offset != 0)
            IMREC_TRY(add_offset(type, offset, &typed[i], err));
    }
    return IMREC_OK;
}

enum imrec_status iter_take_labels(struct imrec_iter *it, const struct record *r, uint32_t shard,
                                   size_t row, struct imrec_error *err)
{
    struct slots *s = &it->slots;
    struct found_labels found;
    float label, *to = s->labels + row * s->label_width;
    if (it->options.num_classes != 0) {
        IMREC_TRY(copy_labels(it, r, shard, &found, &label, err));
        return spread_class(it, label, to, err);
    }
    IMREC_TRY(copy_labels(it, r, shard, &found, to, err));
    if (s->typed == NULL)
        return IMREC_OK;
    return take_typed(it, r, &found, label_offset(it, shard), to, s->typed + row * s->label_width,
                      err);
}
