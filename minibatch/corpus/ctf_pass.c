/* minibatch/corpus/ctf_pass.c - a text in pieces of whole lines: what of a line a piece lacks goes
 * before the next. The buffer grows with the longest line. */
#include "minibatch/corpus/ctf_pass.h"

#include "base/alloc.h"
#include "base/error.h"

#include <string.h>

#define PIECE_BYTES ((size_t)1 << 20) /* read at once; stays in a core's cache */

struct piece {
    uint8_t *p;
    size_t n;
    uint64_t room;
};

/* Feeds the complete lines of the piece and keeps the rest. */
static enum imrec_status
feed(struct ctf_indexer *x, struct piece *b, size_t kept, bool last, struct imrec_error *err)
{
    size_t n = b->n;
    while (!last && n > kept && b->p[n - 1] != '\n') /* of the bytes kept none ends a line */
        n--;
    if (n == kept && !last)
        return IMREC_OK;
    const uint8_t behind = b->p[n];
    b->p[n] = '\n';
    IMREC_TRY(ctf_indexer_feed(x, (struct bytes){b->p, n}, last, err));
    b->p[n] = behind;
    b->n -= n;
    memmove(b->p, b->p + n, b->n);
    return IMREC_OK;
}

static enum imrec_status feed_all(struct source *text, const struct ctf_index_options *o,
                                  struct ctf_indexer *x, struct piece *b, struct imrec_error *err)
{
    uint64_t at = 0;
    do {
        const uint64_t left = text->size - at;
        const size_t kept = b->n, want = kept < PIECE_BYTES ? PIECE_BYTES : kept;
        const size_t more = left < want ? (size_t)left : want;
        if (kept > SIZE_MAX / 4 || !IMREC_GROW(b->p, b->room, kept + want + 1))
            return IMREC_NO_MEMORY(err, "%.200s: no memory for a line of %zu bytes", o->name,
                                   kept + want + 1);
        IMREC_TRY(source_read(text, at, b->p + kept, more, err));
        at += more;
        b->n += more;
        IMREC_TRY(feed(x, b, kept, at == text->size, err));
    } while (at < text->size);
    return IMREC_OK;
}

enum imrec_status ctf_pass(struct source *text, const struct ctf_index_options *o,
                           struct ctf_index *out, struct imrec_error *err)
{
    struct ctf_indexer *x = NULL;
    struct piece b = {0};
    enum imrec_status st = ctf_indexer_new(o, &x, err);
    if (st == IMREC_OK)
        st = feed_all(text, o, x, &b, err);
    if (st == IMREC_OK)
        st = ctf_indexer_end(x, out, err);
    ctf_indexer_free(x);
    imrec_free(b.p);
    return st;
}
