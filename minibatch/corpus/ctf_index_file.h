/* minibatch/corpus/ctf_index_file.h - the index of a text: from a pass over it, or from the cache
 * next to it. docs/formats/ctf_cache.md
 *
 * A cache of another text, of other options or incomplete is ignored (with `traces` the reason is
 * logged), and a thread of its own writes a new one while the index is in use; that it cannot be
 * written is not an error. */
#ifndef IMREC_MINIBATCH_CORPUS_CTF_INDEX_FILE_H
#define IMREC_MINIBATCH_CORPUS_CTF_INDEX_FILE_H

#include "formats/ctf/ctf_index.h"
#include "storage/source.h"

struct ctf_index_file;

/* `text` (opened from `uri`) and what *o points to stay the caller's, until close. o->size is
 * taken from the text. */
IMREC_NODISCARD enum imrec_status
ctf_index_file_open(const char *uri, struct source *text, const struct ctf_index_options *o,
                    bool use_cache, bool traces, struct ctf_index_file **out,
                    struct imrec_error *err);

/* Totals and chunks are there at once; the sequences of a chunk only when they were needed. */
const struct ctf_index *ctf_index_file_index(const struct ctf_index_file *f);
/* From here on index->sequence has the sequences of this chunk. Any thread, any number of times. */
IMREC_NODISCARD enum imrec_status
ctf_index_file_need(struct ctf_index_file *f, uint64_t chunk, struct imrec_error *err);

bool ctf_index_file_cached(const struct ctf_index_file *f); /* it came from a cache */
uint64_t ctf_index_file_memory(const struct ctf_index_file *f);
/* Waits until the cache is written, or has been given up. */
void ctf_index_file_wait(struct ctf_index_file *f);
void ctf_index_file_close(struct ctf_index_file *f); /* NULL is allowed */
#endif
