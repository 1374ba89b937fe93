/* tests/support/http_proxy/answer.h - an answer: its head, where its body comes from, where it
 * breaks. */
#ifndef IMREC_TESTS_HTTP_PROXY_ANSWER_H
#define IMREC_TESTS_HTTP_PROXY_ANSWER_H

#include "tests/support/http_proxy/head.h"
#include "tests/support/http_proxy/rules.h"

enum source { SOURCE_MEMORY, SOURCE_FILE, SOURCE_STREAM };
enum stop { STOP_NONE, STOP_STALL, STOP_SHORT, STOP_RESET };

struct answer {
    struct head head;
    enum source source;
    struct fifo memory;
    int fd;          /* of a file; -1 */
    uint64_t offset; /* in the file, of the body's first byte */
    uint64_t length; /* of the body; UINT64_MAX: known when it ends */
    bool bare;       /* HEAD, 204, 304: a head that may name a length, and no body */
    bool raw;        /* memory is all that is sent, without a head */
    bool chunked, changed;
    uint64_t corrupt; /* the byte that is flipped; UINT64_MAX */
    enum stop stop;
    uint64_t stop_at; /* after that number of body bytes */
    uint64_t at;      /* body bytes that were taken from the source */
    struct fifo out;  /* what is ready to be sent */
    int64_t began_ns; /* for slow= */
};

void answer_init(struct answer *a);
void answer_free(struct answer *a);

void answer_start(struct answer *a, int status); /* the status line, Date and Server */
void answer_text(struct answer *a, int status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4))); /* a short body of text */
void answer_json(struct answer *a, const struct fifo *json);
void answer_file(struct answer *a, int fd, uint64_t offset, uint64_t length); /* owns fd */

/* Bytes flipped as `changed` and `corrupt` ask: p is the body from byte `at`. */
void answer_spoil(const struct answer *a, char *p, size_t n);
bool answer_is_spoilt(const struct answer *a);

/* A chunk's head before n bytes in `out`, its end, the last chunk; nothing where it is not chunked.
 */
void answer_chunk_head(struct answer *a, size_t n);
void answer_chunk_end(struct answer *a);
void answer_last_chunk(struct answer *a);
#endif
