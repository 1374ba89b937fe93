/* tests/support/http_proxy/framing.c - Content-Length and chunks, read piece by piece. */
#include "tests/support/http_proxy/framing.h"

#include <stdlib.h>
#include <string.h>

enum { LINE_MAX_BYTES = 4096 }; /* of a chunk's head or a trailer */

struct framing framing_of(const struct head *h, bool until_close)
{
    struct framing f = {.kind = FRAMED_LENGTH};
    const char *length = head_get(h, "Content-Length");
    if (head_has_word(h, "Transfer-Encoding", "chunked")) {
        f.kind = FRAMED_CHUNKED;
    } else if (length != NULL) {
        char *end;
        f.left = strtoull(length, &end, 10);
        f.bad = end == length || *end != '\0' || *length == '-';
        f.done = f.left == 0;
    } else if (until_close) {
        f.kind = FRAMED_UNTIL_CLOSE;
    } else {
        f.done = true;
    }
    return f;
}

/* The line at the front, ended by a 0 in place of its '\n', and its bytes; NULL: not here yet. */
static const char *line_at_front(struct framing *f, const struct fifo *in, size_t *n)
{
    char *front = fifo_front(in);
    char *end = fifo_size(in) == 0 ? NULL : memchr(front, '\n', fifo_size(in));
    if (end == NULL) {
        f->bad = fifo_size(in) > LINE_MAX_BYTES;
        return NULL;
    }
    *n = (size_t)(end - front) + 1;
    *end = '\0';
    if (end != front && end[-1] == '\r')
        end[-1] = '\0';
    return front;
}

/* Reads heads of chunks and trailers until data is at the front. */
static void read_framing(struct framing *f, struct fifo *in)
{
    size_t n;
    for (const char *line; f->left == 0 && !f->done && (line = line_at_front(f, in, &n)) != NULL;) {
        if (f->in_trailer) {
            f->done = *line == '\0';
        } else if (f->in_chunk) { /* the end of the line after its data */
            f->bad = *line != '\0';
            f->in_chunk = false;
        } else {
            char *end;
            f->left = strtoull(line, &end, 16);
            f->bad = end == line;
            f->in_trailer = f->left == 0;
            f->in_chunk = !f->in_trailer;
        }
        fifo_drop(in, n);
        if (f->bad)
            return;
    }
}

size_t framing_piece(struct framing *f, struct fifo *in)
{
    if (f->done || f->bad)
        return 0;
    if (f->kind == FRAMED_UNTIL_CLOSE)
        return fifo_size(in);
    if (f->kind == FRAMED_CHUNKED && f->left == 0)
        read_framing(f, in);
    return f->bad ? 0 : f->left < fifo_size(in) ? (size_t)f->left : fifo_size(in);
}

void framing_skip(struct framing *f, size_t n)
{
    if (f->kind == FRAMED_UNTIL_CLOSE)
        return;
    f->left -= n;
    if (f->kind == FRAMED_LENGTH)
        f->done = f->left == 0;
}

void framing_took(struct framing *f, struct fifo *in, size_t n)
{
    fifo_drop(in, n);
    framing_skip(f, n);
}
