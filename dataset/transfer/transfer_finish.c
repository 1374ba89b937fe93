/* dataset/transfer/transfer_finish.c - a file that is written, and its end. */
#include "base/buf.h"
#include "dataset/transfer/transfer_out.h"
#include "storage/sink.h"

enum imrec_status transfer_append(struct sink *sink, struct buf *made, struct imrec_error *err)
{
    const size_t n = made->n;
    made->n = 0;
    return sink_append(sink, made->p, n, err);
}

enum imrec_status transfer_finish(struct sink **sink, uint64_t *bytes, struct imrec_error *err)
{
    struct sink *s = *sink;
    const enum imrec_status st = sink_sync(s, err);
    *sink = NULL;
    *bytes += sink_size(s);
    if (st == IMREC_OK)
        return sink_finish(s, err);
    sink_abort(s);
    return st;
}
