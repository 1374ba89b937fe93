/* im2rec/set/cbf_shard.h - images into a CBF file: the streams, a record for each image, and a
 * shard that can be resumed after an interruption. docs/formats/cbf.md lists the streams. */
#ifndef IMREC_IM2REC_SET_CBF_SHARD_H
#define IMREC_IM2REC_SET_CBF_SHARD_H

#include "base/image.h"
#include "im2rec/item/pack_item.h"
#include "im2rec/set/journal.h"

/* What the streams of a set are. */
struct cbf_shape {
    bool pixels;
    uint32_t features;  /* values of an image, with pixels */
    uint32_t classes;   /* values of a one-hot label; 0: dense */
    uint32_t label_dim; /* dense; 0: not known before the first image */
    uint64_t chunk_bytes;
};

struct cbf_shard;
/* `name` is the working name of the shard; from->records are there already, in whole chunks. */
IMREC_NODISCARD enum imrec_status cbf_shard_open(const char *name, const struct cbf_shape *shape,
                                                 const struct journal_shard *from,
                                                 struct cbf_shard **out, struct imrec_error *err);
/* sink_stop_with(). */
void cbf_shard_stop_with(struct cbf_shard *s, const struct stop *stop);
/* Makes a record of the item for cbf_shard_put(), and closes the chunk where it does not fit. */
IMREC_NODISCARD enum imrec_status
cbf_shard_room(struct cbf_shard *s, const struct pack_item *p, struct imrec_error *err);
IMREC_NODISCARD enum imrec_status cbf_shard_put(struct cbf_shard *s, struct imrec_error *err);
/* Everything put is in closed chunks: a sync makes all of it durable. */
bool cbf_shard_is_even(const struct cbf_shard *s);
uint64_t cbf_shard_size(const struct cbf_shard *s); /* bytes, were it finished now */
IMREC_NODISCARD enum imrec_status cbf_shard_sync(struct cbf_shard *s, struct imrec_error *err);
void cbf_shard_sums(const struct cbf_shard *s, struct journal_shard *out);
/* Durable under the temporary name; the shard is gone, also on failure. */
IMREC_NODISCARD enum imrec_status
cbf_shard_finish(struct cbf_shard *s, struct journal_shard *out, struct imrec_error *err);
void cbf_shard_leave(struct cbf_shard *s); /* NULL is allowed */
#endif
