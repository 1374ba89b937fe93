/* minibatch/corpus/corpus_slices.h - chunks of a binary file that need not be read as a whole.
 *
 * Where a chunk lies in its file is known, where a sequence lies in the chunk is not, but by
 * walking all before it. Most chunks are regular: every sequence has one sample in each stream,
 * and of a sparse one one value (a class). Such a chunk is cut into slices of about 512 KiB, which
 * stay in a core's cache between reading and packing. That a chunk is regular is a guess from its
 * lengths and its size; a slice that turns out otherwise is loaded with the whole chunk. */
#ifndef IMREC_MINIBATCH_CORPUS_CORPUS_SLICES_H
#define IMREC_MINIBATCH_CORPUS_CORPUS_SLICES_H

#include "minibatch/corpus/corpus.h"

/* Bytes of a sequence of a regular chunk in a stream. */
uint64_t corpus_regular_bytes(const struct stream_info *in_file);
/* Sequences of each slice of a chunk; 0: it is not regular, or too small to be cut. */
IMREC_NODISCARD enum imrec_status corpus_slice(const struct corpus *c, const struct corpus_file *f,
                                               uint32_t chunk, uint32_t *sequences,
                                               struct imrec_error *err);
/* Reads the lengths of all sequences, in the stream that defines them, where a binary file has
 * one: a pass over everything. */
IMREC_NODISCARD enum imrec_status corpus_measure(struct corpus *c, struct imrec_error *err);
#endif
