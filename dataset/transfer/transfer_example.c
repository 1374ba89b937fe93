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

static void end(void *out)
{
    struct examples *x = out;
    if (x == NULL)
        return;
    sink_abort(x->sink);
    example_parts_free(&x->parts);
    buf_free(&x->framed);
    imrec_free(x);
}

static enum imrec_status begin(void **out, struct imrec_error *err)
{
    struct examples *x = *out = imrec_zalloc(1, sizeof(*x));
    if (x == NULL)
        return IMREC_NO_MEMORY(err, "no memory to write Examples");
    x->framed = BUF_INIT(RECORD_MOST);
    return example_parts_init(&x->parts, err);
}

static enum imrec_status
make(void *out, const struct imrec_record *r, uint64_t *dropped, struct imrec_error *err)
{
    struct examples *x = out;
    struct bytes example;
    IMREC_TRY(example_of_record(&x->parts, r, &example, dropped, err));
    x->framed.n = 0;
    return tfrecord_frame(example, &x->framed, err);
}

static enum imrec_status copy(void *out, const struct imrec_record *r, struct imrec_error *err)
{
    struct examples *x = out;
    x->framed.n = 0;
    return tfrecord_frame((struct bytes){r->data, r->size}, &x->framed, err);
}

static enum imrec_status open_file(void *out, const char *uri, struct imrec_error *err)
{
    return sink_open(uri, &((struct examples *)out)->sink, err);
}

static uint64_t size(const void *out)
{
    const struct examples *x = out;
    return sink_size(x->sink) + x->framed.n;
}

static enum imrec_status write_made(void *out, struct imrec_error *err)
{
    struct examples *x = out;
    return transfer_append(x->sink, &x->framed, err);
}

static enum imrec_status finish(void *out, uint64_t *bytes, struct imrec_error *err)
{
    return transfer_finish(&((struct examples *)out)->sink, bytes, err);
}

static const char *const suffixes[] = {".tfrecord", ".tfrecords", NULL};
static const enum set_file alone[] = {SET_REC};

const struct transfer_kind transfer_example = {.suffixes = suffixes,
                                               .side_files = alone,
                                               .begin = begin,
                                               .make = make,
                                               .copy = copy,
                                               .open = open_file,
                                               .size = size,
                                               .write = write_made,
                                               .finish = finish,
                                               .end = end};
