/* dataset/transfer/transfer_finish.c - the end of a file that is written. */
#include "dataset/transfer/transfer_out.h"
#include "storage/sink.h"

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
