/* container/archive/tfrecord_walk.c */
#include "container/archive/tfrecord_walk.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/math.h"
#include "formats/tfrecord/tfrecord_frame.h"
#include "storage/source.h"

#include <inttypes.h>
#include <stdio.h>

#define FRAME_BYTES (TFRECORD_HEAD_BYTES + TFRECORD_TAIL_BYTES)
/* Read at once for a head: those of small records after it may be in there, too. */
#define NEAR_BYTES  ((size_t)4 << 10)
#define FAR_BYTES   ((size_t)64 << 10)
#define PIECE_BYTES ((size_t)1 << 20) /* to search in */
#define PAGE_BYTES  ((size_t)4 << 10) /* searched by themselves where a piece cannot be read */

enum imrec_status tfrecord_walk_begin(struct tfrecord_walk *w, struct source *source, uint64_t size,
                                      bool far, struct imrec_error *err)
{
    *w = (struct tfrecord_walk){
        .source = source, .size = size, .near_room = far ? FAR_BYTES : NEAR_BYTES};
    w->near = imrec_realloc(NULL, w->near_room, 1);
    return w->near != NULL ? IMREC_OK : IMREC_NO_MEMORY(err, "no memory to list a TFRecord file");
}

void tfrecord_walk_end(struct tfrecord_walk *w)
{
    imrec_free(w->near);
    w->near = NULL;
}

/* The head at `at`, which is there. What follows it is read, too, where it may have the next ones.
 */
static enum imrec_status
near(struct tfrecord_walk *w, uint64_t at, const uint8_t **out, struct imrec_error *err)
{
    if (at < w->near_at || at - w->near_at > w->near_n ||
        w->near_n - (at - w->near_at) < TFRECORD_HEAD_BYTES) {
        const size_t wish = w->last < w->near_room / 2 ? w->near_room : TFRECORD_HEAD_BYTES;
        const size_t n = (size_t)min_u64(w->size - at, wish);
        w->near_n = 0;
        IMREC_TRY(source_read(w->source, at, w->near, n, err));
        w->near_at = at;
        w->near_n = n;
    }
    *out = w->near + (at - w->near_at);
    return IMREC_OK;
}

/* *n bytes at `at`, or fewer where some of them cannot be read. */
static enum imrec_status read_piece(const struct tfrecord_walk *w, uint64_t at, uint8_t *to,
                                    size_t *n, struct imrec_error *err)
{
    enum imrec_status st = source_read(w->source, at, to, *n, err);
    if (st == IMREC_OK || *n <= PAGE_BYTES || w->near_room == FAR_BYTES)
        return st;
    *n = PAGE_BYTES - at % PAGE_BYTES;
    if (*n < TFRECORD_HEAD_BYTES)
        *n += PAGE_BYTES;
    return source_read(w->source, at, to, *n, err);
}

static enum imrec_status search(const struct tfrecord_walk *w, uint64_t at, uint8_t *piece,
                                uint64_t *out, struct imrec_error *err)
{
    while (at < w->size && w->size - at >= FRAME_BYTES) {
        size_t n = (size_t)min_u64(w->size - at, PIECE_BYTES);
        const enum imrec_status st = read_piece(w, at, piece, &n, err);
        if (st == IMREC_ERR_CANCELLED || st == IMREC_ERR_NO_MEMORY)
            return st;
        const size_t found =
            st == IMREC_OK ? tfrecord_find((struct bytes){piece, n}, w->size - at) : n;
        *out = at + found;
        if (found < n)
            return IMREC_OK;
        at += st != IMREC_OK || n < TFRECORD_HEAD_BYTES ? n : n - (TFRECORD_HEAD_BYTES - 1);
    }
    *out = w->size;
    return IMREC_OK;
}

/* Where the next head after `from` is, or the file's end. */
static enum imrec_status
find_head(const struct tfrecord_walk *w, uint64_t from, uint64_t *out, struct imrec_error *err)
{
    uint8_t *piece = imrec_realloc(NULL, PIECE_BYTES, 1);
    if (piece == NULL)
        return IMREC_NO_MEMORY(err, "no memory to search a TFRecord file");
    const enum imrec_status st = search(w, from + 1, piece, out, err);
    imrec_free(piece);
    return st;
}

/* Passes the damage at `at` over; `what` says what it is. */
static enum imrec_status
pass_over(struct tfrecord_walk *w, uint64_t at, const char *what, struct imrec_error *err)
{
    IMREC_TRY(find_head(w, at, &w->at, err));
    if (w->at == w->size)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, at,
                              "%s; no record begins in the %" PRIu64 " bytes up to the file's end",
                              what, w->size - at);
    return imrec_error_at(err, IMREC_ERR_CORRUPT, at, "%s; the next record begins at byte %" PRIu64,
                          what, w->at);
}

enum imrec_status tfrecord_walk_next(struct tfrecord_walk *w, uint64_t *begin, uint64_t *bytes,
                                     struct imrec_error *err)
{
    const uint64_t at = *begin = w->at, left = w->size - at;
    const uint8_t *head;
    uint64_t length;
    char what[300];
    struct imrec_error why = {.offset = IMREC_NO_OFFSET};
    if (left == 0)
        return IMREC_END;
    if (left < FRAME_BYTES) {
        w->at = w->size;
        return imrec_error_at(
            err, IMREC_ERR_CORRUPT, at,
            "the file is cut off here: %" PRIu64 " bytes are left, a record has 16 at least", left);
    }
    enum imrec_status st = near(w, at, &head, &why);
    if (st == IMREC_ERR_CANCELLED) {
        *err = why;
        return st;
    }
    if (st != IMREC_OK) {
        (void)snprintf(what, sizeof(what), "the record cannot be read: %.200s", why.message);
        return pass_over(w, at, what, err);
    }
    if (!tfrecord_head(head, &length))
        return pass_over(w, at, "the checksum of the record's length is wrong", err);
    if (length > left - FRAME_BYTES) {
        (void)snprintf(what, sizeof(what),
                       "the record has %" PRIu64 " bytes, %" PRIu64 " are left of the file", length,
                       left - FRAME_BYTES);
        return pass_over(w, at, what, err);
    }
    w->last = *bytes = length + FRAME_BYTES;
    w->at = at + *bytes;
    return IMREC_OK;
}
