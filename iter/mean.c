/* iter/mean.c - the mean image.
 *
 * It is summed up by an iterator of its own that delivers bytes: sums of integers are exact, so
 * the result does not depend on threads or on the order. Two processes that make it at once
 * write the same bytes; who comes second reads what the first has made. */
#include "iter/mean.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "base/pages.h"
#include "formats/set/mean_image.h"
#include "iter/options/iter_options.h"
#include "storage/sink.h"
#include "storage/source.h"

#define MAX_FILE_BYTES ((size_t)1 << 36)

static size_t values_of(const struct imrec_shape *s)
{
    return (size_t)s->channels * s->height * s->width;
}

static enum imrec_status no_memory(struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "no memory for the mean image");
}

/* ---- reading ------------------------------------------------------------------------------ */

static enum imrec_status
take(const struct imrec_iter_options *o, struct bytes file, float *out, struct imrec_error *err)
{
    const struct imrec_shape *want = &o->data_shape;
    struct mean_image m;
    IMREC_TRY(mean_image_read(o->mean_img, file, &m, err));
    if (m.channels != want->channels || m.height != want->height || m.width != want->width)
        return IMREC_REFUSE(err,
                            "%.200s: the mean image is (%u, %u, %u), but data_shape is (%u, %u, "
                            "%u); remove it to have it made again",
                            o->mean_img, m.channels, m.height, m.width, want->channels,
                            want->height, want->width);
    mean_image_values(&m, out);
    return IMREC_OK;
}

static enum imrec_status
load(const struct imrec_iter_options *o, float *out, struct imrec_error *err)
{
    uint8_t *file;
    size_t n;
    IMREC_TRY(source_load(o->mean_img, MAX_FILE_BYTES, &file, &n, err));
    const enum imrec_status st = take(o, (struct bytes){file, n}, out, err);
    imrec_free(file);
    return st;
}

/* ---- making ------------------------------------------------------------------------------- */

void iter_mean_options(const struct imrec_iter_options *o, const struct recipe *r, uint32_t room,
                       struct imrec_iter_options *out)
{
    struct imrec_iter_options p = *o;
    param_reset(iter_params, &p);
    p.on_error = IMREC_ON_ERROR_SKIP; /* bad samples are reported when they are read */
    p.verbose = false;
    p.metrics = ""; /* they are the caller's own */
    p.dtype = IMREC_UINT8;
    p.last_batch = IMREC_LAST_PARTIAL;
    if (r->det.on)
        p.aug_seq = o->aug_seq;
    if (r->boxes) {
        p.label_width = -1;
        p.label_pad_width = room;
    } else
        p.path_imglist = ""; /* labels do not matter here */
    *out = p;
}

struct mean_sum {
    uint64_t *values, count;
    uint64_t failed; /* samples that are not in it */
};

static void add_batch(const struct imrec_batch *b, size_t values, struct mean_sum *sum)
{
    sum->failed += b->failed;
    for (uint32_t slot = 0; slot < b->slots; slot++) {
        const uint8_t *x = (const uint8_t *)b->data + slot * values;
        if (!b->valid[slot])
            continue;
        for (size_t i = 0; i < values; i++)
            sum->values[i] += x[i];
        sum->count++;
    }
}

static enum imrec_status sum_up(const struct imrec_iter_options *o, struct imrec_iter *it,
                                struct mean_sum *sum, struct imrec_error *err)
{
    struct imrec_batch batch;
    enum imrec_status st;
    while ((st = imrec_iter_next(it, &batch, err)) == IMREC_OK)
        add_batch(&batch, values_of(&o->data_shape), sum);
    if (st == IMREC_END && sum->failed != 0 && o->verbose)
        imrec_log(IMREC_LOG_WARNING, "%s: samples that failed and are not in it: %llu", o->mean_img,
                  (unsigned long long)sum->failed);
    return st == IMREC_END ? IMREC_OK : st;
}

static enum imrec_status
store(const struct imrec_iter_options *o, const float *mean, struct imrec_error *err)
{
    const struct imrec_shape *s = &o->data_shape;
    struct buf file = BUF_INIT(MAX_FILE_BYTES);
    struct sink *sink = NULL;
    enum imrec_status st = mean_image_write(&file, mean, s->channels, s->height, s->width, err);
    if (st == IMREC_OK)
        st = sink_open(o->mean_img, &sink, err);
    if (st == IMREC_OK && (st = sink_append(sink, file.p, file.n, err)) != IMREC_OK)
        sink_abort(sink);
    else if (st == IMREC_OK)
        st = sink_commit(sink, err);
    buf_free(&file);
    bool there = false; /* another was faster */
    return st != IMREC_OK && sink_exists(o->mean_img, &there, NULL) == IMREC_OK && there ? IMREC_OK
                                                                                         : st;
}

static enum imrec_status
divide(const struct imrec_iter_options *o, const struct mean_sum *sum, struct imrec_error *err)
{
    const size_t values = values_of(&o->data_shape);
    if (sum->count == 0)
        return imrec_fail(err, IMREC_ERR_DATA, "%.200s: there is no image to make a mean image of",
                          o->path_imgrec);
    float *mean = imrec_zalloc(values, sizeof(*mean));
    if (mean == NULL)
        return no_memory(err);
    for (size_t i = 0; i < values; i++)
        mean[i] = (float)((double)sum->values[i] / (double)sum->count);
    const enum imrec_status st = store(o, mean, err);
    imrec_free(mean);
    return st;
}

enum imrec_status
iter_mean_make(const struct imrec_iter_options *o, struct imrec_iter *it, struct imrec_error *err)
{
    struct mean_sum sum = {.values = imrec_zalloc(values_of(&o->data_shape), sizeof(*sum.values))};
    if (sum.values == NULL)
        return no_memory(err);
    enum imrec_status st = sum_up(o, it, &sum, err);
    if (st == IMREC_OK)
        st = divide(o, &sum, err);
    imrec_free(sum.values);
    return st;
}

enum imrec_status iter_mean_load(const struct imrec_iter_options *o, float **out, size_t *bytes,
                                 struct imrec_error *err)
{
    *bytes = values_of(&o->data_shape) * sizeof(float); /* fits: a batch of them does */
    *out = pages_alloc(*bytes);
    if (*out == NULL)
        return no_memory(err);
    const enum imrec_status st = load(o, *out, err);
    if (st != IMREC_OK) {
        pages_free(*out, *bytes);
        *out = NULL;
    }
    return st;
}
