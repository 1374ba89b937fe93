/* container/archive/tar_walk.c */
#include "container/archive/tar_walk.h"

#include "base/alloc.h"
#include "base/error.h"
#include "storage/source.h"

#include <inttypes.h>
#include <string.h>

#define EXTENSION_MOST ((uint64_t)1 << 20) /* bytes of a long name or an extended header */
#define PIECE_BYTES    ((size_t)1 << 20)
/* Read at once for a header: the small files after it may be in there, too. */
#define NEAR_BYTES ((size_t)4 << 10)
#define FAR_BYTES  ((size_t)64 << 10)

enum imrec_status tar_walk_begin(struct tar_walk *w, struct source *source, uint64_t size, bool far,
                                 struct imrec_error *err)
{
    *w = (struct tar_walk){
        .source = source, .size = size, .near_room = far ? FAR_BYTES : NEAR_BYTES};
    w->piece = imrec_realloc(NULL, PIECE_BYTES, 1);
    w->near = imrec_realloc(NULL, w->near_room, 1);
    if (w->piece != NULL && w->near != NULL)
        return IMREC_OK;
    tar_walk_end(w);
    return IMREC_NO_MEMORY(err, "no memory to list an archive");
}

void tar_walk_end(struct tar_walk *w)
{
    IMREC_FREE(w->piece, w->near);
    w->piece = w->near = NULL;
}

/* The archive's size is known, or this many bytes of it are there. */
static void reach(struct tar_walk *w, uint64_t bytes)
{
    if (w->reach != NULL && w->size < bytes)
        w->size = w->reach(w->source, bytes);
}

/* n <= near_room bytes of the archive at `at`, which are there. */
static enum imrec_status
near(struct tar_walk *w, uint64_t at, size_t n, const uint8_t **out, struct imrec_error *err)
{
    if (at < w->near_at || at - w->near_at > w->near_n || w->near_n - (at - w->near_at) < n) {
        const uint64_t left = w->size - at;
        size_t all = left < w->near_room ? (size_t)left : w->near_room;
        w->near_n = 0;
        enum imrec_status st = source_read(w->source, at, w->near, all, err);
        if (st != IMREC_OK && all > n) /* what is wrong may lie after it */
            st = source_read(w->source, at, w->near, all = n, err);
        IMREC_TRY(st);
        w->near_at = at;
        w->near_n = all;
    }
    *out = w->near + (at - w->near_at);
    return IMREC_OK;
}

enum imrec_status
tar_walk_read(struct tar_walk *w, uint64_t at, void *to, size_t n, struct imrec_error *err)
{
    const uint8_t *p;
    if (n > w->near_room)
        return source_read(w->source, at, to, n, err);
    IMREC_TRY(near(w, at, n, &p, err));
    memcpy(to, p, n);
    return IMREC_OK;
}

/* The header of a file at `at`, with those before it that extend it. IMREC_END: the archive ends
 * there. */
static enum imrec_status
read_header(struct tar_walk *w, uint64_t at, struct tar_file *out, struct imrec_error *err)
{
    struct bytes content[2] = {{0}};
    enum tar_type kind[2];
    uint32_t count = 0;
    const uint8_t *block;
    for (uint64_t used = 0;; at = out->end) {
        reach(w, at + TAR_BLOCK);
        if (w->size - at < TAR_BLOCK)
            return count == 0 && w->size == at
                       ? IMREC_END
                       : imrec_error_at(err, IMREC_ERR_CORRUPT, at, "the archive is cut off here");
        IMREC_TRY(near(w, at, TAR_BLOCK, &block, err));
        IMREC_TRY(tar_header_parse(block, &w->h, err));
        out->content = at + TAR_BLOCK;
        out->end = out->content + tar_padded(w->h.size);
        const bool extends = w->h.type == TAR_LONG_NAME || w->h.type == TAR_PAX;
        if (!extends && w->h.type != TAR_LONG_LINK)
            break;
        reach(w, out->end);
        if (count == 2 || w->h.size > EXTENSION_MOST / 2 || out->end > w->size)
            return imrec_error_at(err, IMREC_ERR_CORRUPT, at,
                                  "an extended header of %" PRIu64 " bytes, of which a file has at "
                                  "most two, of %" PRIu64,
                                  w->h.size, EXTENSION_MOST / 2);
        if (!extends)
            continue;
        content[count] = (struct bytes){w->piece + used, (size_t)w->h.size};
        kind[count++] = w->h.type;
        IMREC_TRY(source_read(w->source, out->content, w->piece + used, (size_t)w->h.size, err));
        used += w->h.size;
    }
    if (count != 0 && w->h.type == TAR_END)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, at,
                              "the archive ends after the extended header of a file");
    for (uint32_t i = 0; i < count; i++)
        IMREC_TRY(tar_header_extend(&w->h, kind[i], content[i], err));
    out->end = out->content + tar_padded(w->h.size);
    reach(w, out->end);
    if (w->h.size > w->size - out->content)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, at,
                              "%.100s has %" PRIu64 " bytes, the archive ends after %" PRIu64,
                              w->h.name, w->h.size, w->size - out->content);
    out->end = out->end < w->size ? out->end : w->size;
    return IMREC_OK;
}

/* The place of the next header after `at`, or the archive's end. */
static uint64_t find_header(struct tar_walk *w, uint64_t at)
{
    struct tar_header h;
    for (at += TAR_BLOCK;;) {
        reach(w, at + PIECE_BYTES);
        if (w->size <= at || w->size - at < TAR_BLOCK)
            return w->size;
        const uint64_t left = (w->size - at) / TAR_BLOCK * TAR_BLOCK;
        const size_t n = left < PIECE_BYTES ? (size_t)left : PIECE_BYTES;
        if (source_read(w->source, at, w->piece, n, NULL) == IMREC_OK)
            for (size_t i = 0; i < n; i += TAR_BLOCK)
                if (tar_header_parse(w->piece + i, &h, NULL) == IMREC_OK && h.type != TAR_END)
                    return at + i;
        at += n;
    }
}

enum imrec_status tar_walk_next(struct tar_walk *w, struct tar_file *out, struct imrec_error *err)
{
    for (;;) {
        reach(w, w->at + 1);
        if (w->at >= w->size)
            return IMREC_END;
        struct imrec_error why = {.offset = IMREC_NO_OFFSET};
        const uint64_t at = out->begin = w->at;
        const enum imrec_status st = read_header(w, at, out, &why);
        if (st == IMREC_END)
            return IMREC_END;
        w->ended = st == IMREC_OK && w->h.type == TAR_END;
        if (st != IMREC_OK) {
            if (err != NULL)
                *err = why;
            if (err != NULL && st != IMREC_ERR_NO_MEMORY)
                err->offset = at;
            w->at = find_header(w, at);
            return st;
        }
        w->at = out->end;
        if (w->h.type != TAR_END && w->h.type != TAR_GLOBAL)
            return IMREC_OK;
    }
}
