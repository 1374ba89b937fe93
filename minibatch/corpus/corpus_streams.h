/* minibatch/corpus/corpus_streams.h - the streams of a deserializer: what is described, against
 * what its files hold. */
#ifndef IMREC_MINIBATCH_CORPUS_CORPUS_STREAMS_H
#define IMREC_MINIBATCH_CORPUS_CORPUS_STREAMS_H

#include "minibatch/corpus/corpus.h"

enum { CORPUS_BY_BYTES, CORPUS_TEXT, CORPUS_BINARY };

/* Which of them the name of a reader means; -1: none. */
int corpus_type(const char *name);
/* Makes c->stream and c->defining: text, of the descriptions; binary, of the first file's header,
 * renamed by the descriptions. */
IMREC_NODISCARD enum imrec_status corpus_take_streams(struct corpus *c, struct imrec_error *err);
/* Whether another binary file has the streams of the first. */
IMREC_NODISCARD enum imrec_status
corpus_same_streams(const struct corpus *c, const struct corpus_file *f, struct imrec_error *err);
/* Whether a text can be read with the streams that are described. */
IMREC_NODISCARD enum imrec_status
corpus_check_text(const struct imrec_deserializer *d, struct imrec_error *err);
/* A stream as a text has it; `others`: of those that say no precision. */
struct stream_info
corpus_described_stream(const struct imrec_stream *s, enum imrec_precision others);
/* A stream as the public headers list it. */
struct imrec_stream corpus_listed_stream(const struct stream_info *s);
#endif
