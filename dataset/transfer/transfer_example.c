/* dataset/transfer/transfer_example.c - records into a TFRecord file of tf.train.Examples. */
#include "base/alloc.h"
#include "base/error.h"
#include "dataset/transfer/record_example.h"
#include "dataset/transfer/transfer_out.h"
#include "formats/tfrecord/tfrecord_frame.h"
#include "storage/sink.h"

#define RECORD_MOST ((size_t)1 << 32)

struct examples {
    struct sink *sink;
    struct example_parts parts;
    struct buf framed;
};

static void abort_file(void *out)
{
    struct examples *x = out;
    if (x == NULL)
        return;
    sink_abort(x->sink);
    example_parts_free(&x->parts);
    buf_free(&x->framed);
    imrec_free(x);
}

static enum imrec_status open_file(const char *uri, void **out, struct imrec_error *err)
{
    struct examples *x = imrec_zalloc(1, sizeof(*x));
    *out = NULL;
    if (x == NULL)
        return IMREC_NO_MEMORY(err, "no memory to write %s", uri);
    x->framed = BUF_INIT(RECORD_MOST);
    enum imrec_status st = example_parts_init(&x->parts, err);
    if (st == IMREC_OK)
        st = sink_open(uri, &x->sink, err);
    if (st != IMREC_OK)
        abort_file(x);
    else
        *out = x;
    return st;
}

static enum imrec_status
put_framed(struct examples *x, struct bytes example, struct imrec_error *err)
{
    x->framed.n = 0;
    IMREC_TRY(tfrecord_frame(example, &x->framed, err));
    return sink_append(x->sink, x->framed.p, x->framed.n, err);
}

static enum imrec_status
put(void *out, const struct imrec_record *r, uint64_t *dropped, struct imrec_error *err)
{
    struct examples *x = out;
    struct bytes example;
    IMREC_TRY(example_of_record(&x->parts, r, &example, dropped, err));
    return put_framed(x, example, err);
}

static enum imrec_status copy(void *out, const struct imrec_record *r, struct imrec_error *err)
{
    return put_framed(out, (struct bytes){r->data, r->size}, err);
}

static uint64_t size(const void *out)
{
    return sink_size(((const struct examples *)out)->sink);
}

static enum imrec_status commit(void *out, struct imrec_error *err)
{
    struct examples *x = out;
    struct sink *sink = x->sink;
    x->sink = NULL;
    const enum imrec_status st = sink_commit(sink, err);
    abort_file(x);
    return st;
}

static const char *const suffixes[] = {".tfrecord", ".tfrecords", NULL};

const struct transfer_kind transfer_example = {suffixes, open_file, put,       copy,
                                               size,     commit,    abort_file};
