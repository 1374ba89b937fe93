/* minibatch/corpus/ctf_cache_write.h - a cache written in the background, if it can be. */
#ifndef IMREC_MINIBATCH_CORPUS_CTF_CACHE_WRITE_H
#define IMREC_MINIBATCH_CORPUS_CTF_CACHE_WRITE_H

#include "formats/ctf/ctf_cache.h"

struct ctf_cache_write;

/* traces: log what prevents it. Everything the pointers lead to must last until the end. NULL: it
 * could not be begun. */
struct ctf_cache_write *ctf_cache_write_start(const char *uri, const struct ctf_index *x,
                                              const struct ctf_cache_facts *facts, bool traces);
void ctf_cache_write_end(struct ctf_cache_write *w); /* waits; NULL is allowed */
#endif
