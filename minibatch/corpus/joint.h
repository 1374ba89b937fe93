/* minibatch/corpus/joint.h - the corpora of a source as one: what the timeline runs over.
 *
 * The first corpus leads: its chunks are the timeline's. A sequence of it is joined with those of
 * the same id in the others. For one consumer thread, after joint_open(). */
#ifndef IMREC_MINIBATCH_CORPUS_JOINT_H
#define IMREC_MINIBATCH_CORPUS_JOINT_H

#include "minibatch/corpus/corpus.h"
#include "minibatch/plan/timeline.h"

struct joint_stream {
    uint32_t corpus, stream; /* of the corpus */
    const struct stream_info *info;
};

struct joint {
    struct corpus **corpus;
    uint32_t corpora;
    struct joint_stream *stream;
    uint32_t streams;
    struct timeline_chunk *chunk;
    uint32_t chunks;
    uint64_t dropped; /* sequences of the first that another lacks */
    /* Of several corpora only; by sequence of the first, those that are not dropped: */
    uint64_t *first;     /* [chunks]: where a chunk's begin */
    uint32_t *kept;      /* number in its chunk */
    uint32_t *length;    /* on the timeline */
    uint64_t *elsewhere; /* [corpora - 1] each: sequence of the other corpus */
    uint64_t rows, room;
};

IMREC_NODISCARD enum imrec_status
joint_open(const struct imrec_minibatch_options *o, struct joint *out, struct imrec_error *err);
void joint_close(struct joint *j); /* zeroed memory is allowed */

/* For struct timeline_options: context is the joint. */
IMREC_NODISCARD enum imrec_status joint_length(void *joint, uint32_t chunk, uint32_t sequence,
                                               uint32_t *out, struct imrec_error *err);

void joint_length_soon(void *joint, uint32_t chunk, uint32_t sequence);

struct joint_place { /* of a sequence in a corpus */
    uint32_t block, sequence;
};
struct joint_place
joint_find(const struct joint *j, uint32_t chunk, uint32_t sequence, uint32_t corpus);
uint64_t joint_memory(const struct joint *j);
#endif
