/* tests/support/http_proxy/framing.h - where the body of a message ends: by its length, in chunks.
 */
#ifndef IMREC_TESTS_HTTP_PROXY_FRAMING_H
#define IMREC_TESTS_HTTP_PROXY_FRAMING_H

#include "tests/support/http_proxy/head.h"

#include <stdint.h>

enum framed { FRAMED_LENGTH, FRAMED_CHUNKED, FRAMED_UNTIL_CLOSE };
struct framing {
    enum framed kind;
    uint64_t left; /* of the body, or of the chunk */
    bool in_chunk, in_trailer, done, bad;
};

/* What the head says. Without a word of it a request has no body, an answer lasts until the end
 * (until_close). */
struct framing framing_of(const struct head *h, bool until_close);

/* Bytes of the body at the front of `in`, once framing was dropped from there; 0: more must come,
 * or the body is done or bad. What is used of them is dropped by framing_took(). */
size_t framing_piece(struct framing *f, struct fifo *in);
void framing_took(struct framing *f, struct fifo *in, size_t n);
void framing_skip(struct framing *f, size_t n); /* n bytes of it never were in a fifo */
#endif
