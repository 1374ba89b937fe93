/*
 * formats/cbf/cbf_header.c - prefix, tail and header of a CBF file.
 *
 * A header is
 *     u64 magic | u32 chunks | u32 streams
 *     streams x { u8 storage | u32 name length | name | u8 element | u32 dim }
 *     chunks  x { i64 offset | u32 sequences | u32 samples }
 *     i64 where the header begins
 * and has to end exactly where the file ends. The length of a chunk is not stored: it ends where
 * the next one begins, the last one where the header does. So the table has to be in the order
 * of the bytes, without gaps.
 */
#include "formats/cbf/cbf_header.h"

#include "base/alloc.h"
#include "base/error.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_BYTES         16u /* magic and the two counts */
#define STREAM_FIXED_BYTES 10u /* of a stream's head without its name */

/* The bytes being read, and the position in them. */
struct reading {
    struct bytes in;
    uint64_t begin; /* of `in`, in the file */
    size_t pos;
    struct imrec_error *err;
};

#define BAD(r, at, ...) imrec_error_at((r)->err, IMREC_ERR_CORRUPT, (r)->begin + (at), __VA_ARGS__)

bool cbf_is_magic(struct bytes prefix)
{
    return prefix.n >= 8 && load_le64(prefix.p) == CBF_MAGIC;
}

enum imrec_status cbf_check_prefix(struct bytes prefix, struct imrec_error *err)
{
    if (prefix.n >= 8 && load_le64(prefix.p) != CBF_MAGIC)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, 0,
                              "not a CNTK binary file: it begins with 0x%016" PRIx64
                              ", the magic is 0x%016" PRIx64,
                              load_le64(prefix.p), (uint64_t)CBF_MAGIC);
    if (prefix.n < CBF_PREFIX_BYTES)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, prefix.n < 8 ? 0 : 8,
                              "the file ends after %zu bytes, magic and version alone are %u",
                              prefix.n, CBF_PREFIX_BYTES);
    if (load_le32(prefix.p + 8) != CBF_VERSION)
        return imrec_error_at(err, IMREC_ERR_UNSUPPORTED, 8,
                              "version %" PRIu32 " of the CNTK binary format, this reads version "
                              "%u",
                              load_le32(prefix.p + 8), CBF_VERSION);
    return IMREC_OK;
}

enum imrec_status cbf_header_offset(const uint8_t tail[CBF_TAIL_BYTES], uint64_t file_bytes,
                                    uint64_t *offset, struct imrec_error *err)
{
    const uint64_t least = CBF_PREFIX_BYTES + HEAD_BYTES + CBF_TAIL_BYTES;
    if (file_bytes < least)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, file_bytes,
                              "the file ends after %" PRIu64
                              " bytes, without any data it has %" PRIu64
                              " or more: it is cut short",
                              file_bytes, least);
    *offset = load_le64(tail);
    if (*offset < CBF_PREFIX_BYTES || *offset > file_bytes - HEAD_BYTES - CBF_TAIL_BYTES)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, file_bytes - CBF_TAIL_BYTES,
                              "header offset %" PRId64 ", it must be in [%u, %" PRIu64
                              "]: the file is cut short or damaged",
                              (int64_t)*offset, CBF_PREFIX_BYTES,
                              file_bytes - HEAD_BYTES - CBF_TAIL_BYTES);
    return IMREC_OK;
}

/* The counts, against the bytes that are there. */
static enum imrec_status read_counts(struct reading *r, struct cbf_header *h)
{
    const uint8_t *p = r->in.p;
    const uint64_t room = r->in.n - HEAD_BYTES - CBF_TAIL_BYTES;
    if (load_le64(p) != CBF_MAGIC)
        return BAD(r, 0, "the header begins with 0x%016" PRIx64 ", the magic is 0x%016" PRIx64,
                   load_le64(p), (uint64_t)CBF_MAGIC);
    h->chunks = load_le32(p + 8);
    h->streams = load_le32(p + 12);
    if (h->streams == 0 || h->streams > CBF_MAX_STREAMS)
        return BAD(r, 12, "%" PRIu32 " streams, there must be 1 to %u", h->streams,
                   CBF_MAX_STREAMS);
    const uint64_t least =
        (uint64_t)h->streams * STREAM_FIXED_BYTES + (uint64_t)h->chunks * CBF_CHUNK_ENTRY_SIZE;
    if (least > room)
        return BAD(r, 8,
                   "%" PRIu32 " chunks and %" PRIu32 " streams need %" PRIu64
                   " bytes of header or more, there are %" PRIu64,
                   h->chunks, h->streams, least, room);
    r->pos = HEAD_BYTES;
    return IMREC_OK;
}

/* Bytes left for the streams: the chunk table and the tail follow them. */
static uint64_t stream_room(const struct reading *r, const struct cbf_header *h)
{
    return r->in.n - CBF_TAIL_BYTES - (uint64_t)h->chunks * CBF_CHUNK_ENTRY_SIZE - r->pos;
}

static enum imrec_status
read_name(struct reading *r, const struct cbf_header *h, uint32_t i, uint32_t *length)
{
    *length = load_le32(r->in.p + r->pos + 1);
    if (*length == 0 || *length > CBF_MAX_NAME_BYTES)
        return BAD(r, r->pos + 1,
                   "the name of stream %" PRIu32 " has %" PRIu32 " bytes, it must have 1 to %u", i,
                   *length, CBF_MAX_NAME_BYTES);
    if (*length > stream_room(r, h) - STREAM_FIXED_BYTES)
        return BAD(r, r->pos + 1,
                   "the name of stream %" PRIu32 " has %" PRIu32 " bytes, the header has %" PRIu64
                   " left for it",
                   i, *length, stream_room(r, h) - STREAM_FIXED_BYTES);
    if (memchr(r->in.p + r->pos + 5, 0, *length) != NULL)
        return BAD(r, r->pos + 5, "the name of stream %" PRIu32 " holds a zero byte", i);
    return IMREC_OK;
}

static enum imrec_status
check_stream(struct reading *r, size_t after_name, uint32_t i, const struct stream_info *s)
{
    const uint32_t element = r->in.p[after_name];
    if (element > STREAM_DOUBLE)
        return BAD(r, after_name,
                   "element type %" PRIu32 " of stream %" PRIu32 ", it must be 0 (float) or 1 "
                   "(double)",
                   element, i);
    if (s->dim == 0 || s->dim > INT32_MAX)
        return BAD(r, after_name + 1,
                   "dim %" PRIu32 " of stream %" PRIu32 ", it must be in [1, 2147483647]", s->dim,
                   i);
    return IMREC_OK;
}

/* Reads stream i, its name to *names, which moves on. */
static enum imrec_status
read_stream(struct reading *r, struct cbf_header *h, uint32_t i, char **names)
{
    uint32_t length;
    const uint8_t *p = r->in.p + r->pos;
    if (p[0] > STREAM_SPARSE)
        return BAD(r, r->pos,
                   "storage type %u of stream %" PRIu32 ", it must be 0 (dense) or 1 (sparse)",
                   p[0], i);
    if (stream_room(r, h) < STREAM_FIXED_BYTES)
        return BAD(r, 8, "%" PRIu32 " chunks and %" PRIu32 " streams do not fit the header",
                   h->chunks, h->streams);
    IMREC_TRY(read_name(r, h, i, &length));
    const size_t after = r->pos + 5 + length;
    memcpy(*names, p + 5, length);
    (*names)[length] = '\0';
    h->stream[i] = (struct stream_info){.name = *names,
                                        .alias = *names,
                                        .storage = (enum stream_storage)p[0],
                                        .element = (enum stream_element)r->in.p[after],
                                        .dim = load_le32(r->in.p + after + 1)};
    *names += length + 1;
    IMREC_TRY(check_stream(r, after, i, &h->stream[i]));
    r->pos = after + 5;
    return IMREC_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names must differ. Sorted, for a hostile header may have many. */
static enum imrec_status check_names(struct reading *r, const struct cbf_header *h)
{
    const char **sorted = imrec_zalloc(h->streams, sizeof(*sorted)), *twice = NULL;
    if (sorted == NULL)
        return IMREC_NO_MEMORY(r->err, "no memory for the names of %" PRIu32 " streams",
                               h->streams);
    for (uint32_t i = 0; i < h->streams; i++)
        sorted[i] = h->stream[i].name;
    qsort(sorted, h->streams, sizeof(*sorted), by_name);
    for (uint32_t i = 1; i < h->streams && twice == NULL; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0)
            twice = sorted[i];
    imrec_free(sorted);
    if (twice != NULL)
        return BAD(r, HEAD_BYTES, "two streams are named '%.64s', names must differ", twice);
    return IMREC_OK;
}

static enum imrec_status read_streams(struct reading *r, struct cbf_header *h)
{
    char *names = h->names;
    for (uint32_t i = 0; i < h->streams; i++)
        IMREC_TRY(read_stream(r, h, i, &names));
    IMREC_TRY(check_names(r, h));
    if (stream_room(r, h) != 0)
        return BAD(r, 8,
                   "the header is %zu bytes, with %" PRIu32 " chunks and %" PRIu32
                   " streams it would be %" PRIu64,
                   r->in.n, h->chunks, h->streams, (uint64_t)r->in.n - stream_room(r, h));
    return IMREC_OK;
}

/* Where chunk i must begin is where the one before it ended: at `floor` at least. */
static enum imrec_status check_offset(struct reading *r, uint32_t i, int64_t offset, uint64_t floor)
{
    if (i == 0 && offset != CBF_PREFIX_BYTES)
        return BAD(r, r->pos, "chunk 0 begins at byte %" PRId64 ", it must at %u", offset,
                   CBF_PREFIX_BYTES);
    if (offset < (int64_t)floor || offset > (int64_t)r->begin)
        return BAD(r, r->pos,
                   "chunk %" PRIu32 " begins at byte %" PRId64 ", it must begin in [%" PRIu64
                   ", %" PRIu64 "], after the chunk before it and before the header",
                   i, offset, floor, r->begin);
    return IMREC_OK;
}

static enum imrec_status read_offsets(struct reading *r, struct cbf_header *h)
{
    uint64_t floor = CBF_PREFIX_BYTES;
    for (uint32_t i = 0; i < h->chunks; i++, r->pos += CBF_CHUNK_ENTRY_SIZE) {
        const uint8_t *p = r->in.p + r->pos;
        IMREC_TRY(check_offset(r, i, (int64_t)load_le64(p), floor));
        floor = load_le64(p);
        h->chunk[i] = (struct cbf_chunk_entry){
            .offset = floor, .sequences = load_le32(p + 8), .samples = load_le32(p + 12)};
        if (i > 0)
            h->chunk[i - 1].bytes = floor - h->chunk[i - 1].offset;
    }
    if (h->chunks > 0)
        h->chunk[h->chunks - 1].bytes = r->begin - floor;
    return IMREC_OK;
}

/* Counts of sequences against the bytes of their chunks: what they size is bounded by it. */
static enum imrec_status check_chunks(struct reading *r, struct cbf_header *h)
{
    uint64_t least = 4; /* bytes of a sequence, with its length */
    for (uint32_t i = 0; i < h->streams; i++)
        least += h->stream[i].storage == STREAM_SPARSE ? 8 : 4;
    for (uint32_t i = 0; i < h->chunks; i++) {
        const struct cbf_chunk_entry *c = &h->chunk[i];
        if (c->sequences > c->bytes / least)
            return BAD(r, h->table - r->begin + (uint64_t)i * CBF_CHUNK_ENTRY_SIZE + 8,
                       "chunk %" PRIu32 " has %" PRIu32 " sequences, its %" PRIu64
                       " bytes hold %" PRIu64 " at most",
                       i, c->sequences, c->bytes, c->bytes / least);
        h->sequences += c->sequences;
        h->samples += c->samples;
        h->largest_chunk = c->bytes > h->largest_chunk ? c->bytes : h->largest_chunk;
    }
    if (h->sequences == 0)
        return BAD(r, 8, "the %" PRIu32 " chunks hold no sequence at all", h->chunks);
    return IMREC_OK;
}

static enum imrec_status read_header(struct reading *r, struct cbf_header *h)
{
    IMREC_TRY(read_counts(r, h));
    h->stream = imrec_zalloc(h->streams, sizeof(*h->stream));
    /* A name and its NUL are shorter than its stream's head, so all of them than the header. */
    h->names = imrec_zalloc(r->in.n, 1);
    h->chunk = imrec_zalloc((size_t)h->chunks + 1, sizeof(*h->chunk));
    if (h->stream == NULL || h->names == NULL || h->chunk == NULL)
        return IMREC_NO_MEMORY(r->err, "no memory for a header of %zu bytes", r->in.n);
    IMREC_TRY(read_streams(r, h));
    h->table = r->begin + r->pos;
    IMREC_TRY(read_offsets(r, h));
    return check_chunks(r, h);
}

enum imrec_status cbf_header_parse(struct bytes header, uint64_t offset, struct cbf_header *out,
                                   struct imrec_error *err)
{
    struct reading r = {.in = header, .begin = offset, .err = err};
    *out = (struct cbf_header){0};
    if (header.n < HEAD_BYTES + CBF_TAIL_BYTES)
        return BAD(&r, 0, "the header has %zu bytes, it needs %u at least", header.n,
                   HEAD_BYTES + CBF_TAIL_BYTES);
    const enum imrec_status st = read_header(&r, out);
    if (st != IMREC_OK)
        cbf_header_free(out);
    return st;
}

void cbf_header_free(struct cbf_header *h)
{
    IMREC_FREE(h->stream, h->chunk, h->names);
    *h = (struct cbf_header){0};
}
