/* im2rec/tasks/part_reader.c */
#include "im2rec/tasks/part_reader.h"

#include "base/alloc.h"
#include "base/error.h"
#include "formats/crc32c.h"

#include <inttypes.h>
#include <string.h>

#define PIECE_BYTES ((size_t)4 << 20)

enum imrec_status part_reader_open(struct part_reader *r, const struct plan *p, uint64_t k,
                                   const char *mark, uint64_t bytes, struct imrec_error *err)
{
    r->from = r->n = 0;
    r->at = 0;
    plan_task_name(p, k, "records", mark, r->name);
    IMREC_TRY(source_open(r->name, &r->source, err));
    if (r->source->size == bytes)
        return IMREC_OK;
    return imrec_fail(err, IMREC_ERR_CORRUPT,
                      "%s has %" PRIu64 " bytes, its report says %" PRIu64
                      ": remove task-%07" PRIu64 ".done, and work on the task again",
                      r->name, r->source->size, bytes, k);
}

/* Reads on until `want` bytes are held. */
static enum imrec_status fill(struct part_reader *r, size_t want, struct imrec_error *err)
{
    const size_t have = r->n - r->from;
    if (have >= want)
        return IMREC_OK;
    const size_t room = want > PIECE_BYTES ? want : PIECE_BYTES;
    if (r->held != NULL)
        memmove(r->held, r->held + r->from, have);
    r->from = 0;
    r->n = have;
    if (room > r->room) {
        uint8_t *grown = imrec_realloc(r->held, room, 1);
        if (grown == NULL)
            return IMREC_NO_MEMORY(err, "no memory for a record of %zu bytes", want);
        r->held = grown;
        r->room = room;
    }
    const uint64_t left = r->source->size - r->at;
    const size_t n = left < r->room - have ? (size_t)left : r->room - have;
    IMREC_TRY(source_read(r->source, r->at, r->held + have, n, err));
    if (left > n)
        source_will_need(r->source, r->at + n, left - n < PIECE_BYTES ? left - n : PIECE_BYTES);
    r->at += n;
    r->n += n;
    return IMREC_OK;
}

enum imrec_status part_reader_next(struct part_reader *r, uint64_t bytes, uint32_t crc,
                                   struct buf *out, struct imrec_error *err)
{
    const uint64_t begin = r->at - (r->n - r->from);
    out->n = 0;
    if (bytes > r->source->size - begin)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, begin,
                              "%s: a record of %" PRIu64 " bytes reaches beyond its end", r->name,
                              bytes);
    IMREC_TRY(fill(r, (size_t)bytes, err));
    const uint8_t *p = r->held + r->from;
    if (crc32c(0, p, (size_t)bytes) != crc)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, begin,
                              "%s: a record has changed since it was packed: remove the report of "
                              "its task (.done), and work on the task again",
                              r->name);
    r->from += (size_t)bytes;
    return buf_append(out, p, (size_t)bytes, err);
}

void part_reader_skip(struct part_reader *r, uint64_t bytes)
{
    const size_t have = r->n - r->from;
    if (bytes <= have) {
        r->from += (size_t)bytes;
        return;
    }
    const uint64_t left = r->source->size - r->at, more = bytes - have;
    r->from = r->n = 0;
    r->at += more < left ? more : left;
}

void part_reader_close(struct part_reader *r)
{
    source_close(r->source);
    r->source = NULL;
}

void part_reader_free(struct part_reader *r)
{
    part_reader_close(r);
    imrec_free(r->held);
    r->held = NULL;
    r->room = 0;
}
