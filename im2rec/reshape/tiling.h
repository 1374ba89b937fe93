/* im2rec/reshape/tiling.h - JPEGs of records coded again in tiles, on many threads, in order. */
#ifndef IMREC_IM2REC_RESHAPE_TILING_H
#define IMREC_IM2REC_RESHAPE_TILING_H

#include "im2rec/reshape/set_out.h"

struct jpeg_tables;

/* A record on its way, complete, and where its image is. */
struct tiling_record {
    struct set_out_record to; /* `framed` is not looked at */
    size_t image_at, image_size;
    size_t shard;
};

struct tiling {
    void *context;
    /* Serial: the next record, which is copied. IMREC_END: there is none. */
    enum imrec_status (*next)(void *context, struct tiling_record *out, struct imrec_error *err);
    /* Serial, in the order of next(), at the same time as it. */
    enum imrec_status (*put)(void *context, const struct tiling_record *r, bool tiled,
                             struct imrec_error *err);
    int64_t threads; /* 0: every CPU */
    uint64_t memory; /* bytes of images in work, and of those that wait to be put; an image that
                        needs more than budget_most() of it stays as it is */
    const struct jpeg_tables *tables; /* that the JPEGs share; NULL: each has optimal ones */
    const struct stop *stop;
};

IMREC_NODISCARD enum imrec_status tiling_run(const struct tiling *t, struct imrec_error *err);
#endif
