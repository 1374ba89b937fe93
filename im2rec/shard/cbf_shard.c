/*
 * im2rec/shard/cbf_shard.c - a CBF file being written: the streams, a record for each image, and a
 * shard that can be resumed after an interruption. docs/formats/cbf.md describes the streams.
 *
 * A worker prepares u32 bytes of the image, then its sequence of `image` or `features`; in a set
 * with fields or masks then u32 bytes of these, and their sequence of `fields`. Complete chunks are
 * durable. NAME.idx.part has their places, 24 bytes a chunk, from which a resumed run makes the
 * header. When the set becomes real the side file is removed: the header has the same.
 */
#include "im2rec/shard/shard_writer.h"

#include "base/alloc.h"
#include "base/error.h"
#include "formats/cbf/cbf_writer.h"
#include "formats/crc32c.h"
#include "imrec/detection.h"
#include "storage/sink.h"
#include "storage/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ENTRY_BYTES 24u
#define TABLE_MAX   ((size_t)1 << 34)
#define STREAMS_MAX 6u
#define SMALL_MAX   4u   /* of them, whose sequences are made here */
#define ROW         256u /* values converted at once */
#define SCRATCH     ".idx"

enum { SHARD, TABLE }; /* of the sinks */

struct cbf_shard {
    bool pixels, rest;  /* rest: there are streams of fields and masks */
    uint32_t features;  /* values of an image, with pixels */
    uint32_t classes;   /* values of a one-hot label; 0: dense */
    uint32_t label_dim; /* dense */
    struct cbf_writer *writer;

    struct buf small; /* of the record that comes: all streams but images and fields */
    uint64_t offset[STREAMS_MAX][2];
    struct chunk_stream stream[STREAMS_MAX];
    struct sequence_chunk one;
    uint32_t length;
};

/* ---- streams ---------------------------------------------------------------------------- */

static uint32_t streams_of(const struct cbf_shard *s, struct stream_info out[STREAMS_MAX])
{
    const enum stream_storage labels = s->classes != 0 ? STREAM_SPARSE : STREAM_DENSE;
    const uint32_t label_dim = s->classes != 0 ? s->classes : s->label_dim;
    uint32_t n = 0;
    if (s->rest) { /* their lengths come before all that is not of one size: a reader counts on */
        out[n++] = (struct stream_info){.name = "fields_bytes", .dim = 2};
        out[n++] = (struct stream_info){.name = "fields", .dim = 1};
    }
    if (s->pixels) {
        out[n++] = (struct stream_info){.name = "features", .dim = s->features};
        out[n++] = (struct stream_info){.name = "labels", .storage = labels, .dim = label_dim};
        return n;
    }
    out[n++] = (struct stream_info){.name = "image", .dim = 1};
    out[n++] = (struct stream_info){.name = "image_bytes", .dim = 2};
    out[n++] = (struct stream_info){.name = "label", .storage = labels, .dim = label_dim};
    out[n++] = (struct stream_info){.name = "id", .dim = 4};
    return n;
}

static enum imrec_status put_u32(struct buf *b, uint32_t v, struct imrec_error *err)
{
    uint8_t le[4];
    store_le32(le, v);
    return buf_append(b, le, sizeof(le), err);
}

static enum imrec_status put_float(struct buf *b, float v, struct imrec_error *err)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof(bits));
    return put_u32(b, bits, err);
}

/* ---- what a worker prepares ------------------------------------------------------------- */

/* The bytes are four to an element and never taken for numbers: moved, not computed with. */
static enum imrec_status
frame(struct bytes image, struct buf *out, uint32_t *crc, struct imrec_error *err)
{
    static const uint8_t zeros[4];
    const uint32_t n = (uint32_t)image.n;               /* below 2^29, as fields are, too */
    const uint32_t elements = n != 0 ? (n + 3) / 4 : 1; /* no sequence is empty: fields can be */
    (void)crc;
    IMREC_TRY(put_u32(out, n, err));
    IMREC_TRY(put_u32(out, elements, err));
    IMREC_TRY(buf_append(out, image.p, image.n, err));
    return buf_append(out, zeros, elements * 4 - n, err);
}

/* A row of a channel, as floats. */
static enum imrec_status append_row(const struct imrec_image *image, const uint8_t *row,
                                    struct buf *out, struct imrec_error *err)
{
    float values[ROW];
    for (uint32_t x = 0; x < image->width; x += ROW) {
        const uint32_t n = image->width - x < ROW ? image->width - x : ROW;
        for (uint32_t i = 0; i < n; i++)
            values[i] = row[(size_t)(x + i) * image->channels];
        IMREC_TRY(buf_append(out, values, n * sizeof(*values), err));
    }
    return IMREC_OK;
}

static enum imrec_status
frame_pixels(const struct imrec_image *image, struct buf *out, struct imrec_error *err)
{
    IMREC_TRY(put_u32(out, image->width * image->height * image->channels, err));
    IMREC_TRY(put_u32(out, 1, err));
    for (uint32_t c = 0; c < image->channels; c++)
        for (uint32_t y = 0; y < image->height; y++)
            IMREC_TRY(append_row(image, image->pixels + y * (size_t)image->stride + c, out, err));
    return IMREC_OK;
}

/* ---- the other streams ------------------------------------------------------------------ */

/* One sample: 16 bits a value, the highest first, which every float holds exactly. */
static enum imrec_status
put_words(struct buf *b, uint64_t v, unsigned words, struct imrec_error *err)
{
    IMREC_TRY(put_u32(b, 1, err));
    while (words-- > 0)
        IMREC_TRY(put_float(b, (float)(v >> 16 * words & 0xffff), err));
    return IMREC_OK;
}

static enum imrec_status
put_one_hot(struct cbf_shard *s, const struct shard_record *r, float label, struct imrec_error *err)
{
    if (!(label >= 0 && label < (float)s->classes))
        return imrec_fail(err, IMREC_ERR_DATA, "%.*s: label %g is none of the %" PRIu32 " classes",
                          (int)r->path.n, (const char *)r->path.p, (double)label, s->classes);
    IMREC_TRY(put_u32(&s->small, 1, err)); /* a sample */
    IMREC_TRY(put_u32(&s->small, 1, err)); /* of one value: */
    IMREC_TRY(put_float(&s->small, 1, err));
    IMREC_TRY(put_u32(&s->small, (uint32_t)label, err));
    return put_u32(&s->small, 1, err);
}

/* How many objects without area make the label as long as the others; 0: none do. Readers of boxes
 * drop them. */
static uint32_t missing_objects(const struct cbf_shard *s, const float *labels, uint32_t n)
{
    const uint32_t missing = s->label_dim - n;
    const bool header = n >= 2 && labels[0] == (float)n && labels[1] >= 5 && labels[1] < 1e6f;
    if (!header && !imrec_labels_are_boxes(labels, n))
        return 0;
    return missing % (uint32_t)labels[1] == 0 ? missing / (uint32_t)labels[1] : 0;
}

static enum imrec_status
put_labels(struct cbf_shard *s, const struct shard_record *r, struct imrec_error *err)
{
    const float *labels = r->labels;
    const uint32_t dim = s->label_dim;
    if (s->classes != 0)
        return put_one_hot(s, r, labels[0], err);
    if (r->label_count > dim)
        return imrec_fail(err, IMREC_ERR_DATA,
                          "%.*s has %" PRIu32 " labels, and the first image %" PRIu32
                          ", which is the width of all in a CNTK file: pack one with the most "
                          "boxes first",
                          (int)r->path.n, (const char *)r->path.p, r->label_count, dim);
    if (r->label_count < dim && missing_objects(s, labels, r->label_count) == 0)
        return imrec_fail(err, IMREC_ERR_DATA,
                          "%.*s has %" PRIu32 " labels, others have %" PRIu32
                          ": a CNTK file needs the same number of each",
                          (int)r->path.n, (const char *)r->path.p, r->label_count, dim);
    IMREC_TRY(put_u32(&s->small, 1, err));
    for (uint32_t i = 0; i < dim; i++)
        IMREC_TRY(put_float(&s->small, i < r->label_count ? labels[i] : -1, err));
    return IMREC_OK;
}

/* ---- a record --------------------------------------------------------------------------- */

/* Takes the sequence off the record that a worker has prepared. */
static enum imrec_status take_framed(const struct shard_record *r, struct bytes *left,
                                     uint64_t values, uint32_t *bytes, struct bytes *sequence,
                                     struct imrec_error *err)
{
    const uint64_t most = left->n >= 8 ? (left->n - 8) / 4 : 0;
    if (left->n >= 8 && values == 0)
        values = load_le32(left->p + 4);
    if (left->n < 8 || values > most)
        return imrec_fail(err, IMREC_ERR_DATA,
                          "%.*s: a record of %zu bytes is too short for the streams of this set",
                          (int)r->path.n, (const char *)r->path.p, r->bytes.n);
    *bytes = load_le32(left->p);
    *sequence = (struct bytes){left->p + 4, 4 + 4 * (size_t)values};
    left->p += 4 + sequence->n;
    left->n -= 4 + sequence->n;
    return IMREC_OK;
}

/* Sequence i of s->small ends at end[i]. */
static enum imrec_status make_small(struct cbf_shard *s, const struct shard_record *r,
                                    uint32_t image_bytes, uint32_t rest_bytes,
                                    size_t end[SMALL_MAX], struct imrec_error *err)
{
    uint32_t n = 0;
    s->small.n = 0;
    if (s->rest) {
        IMREC_TRY(put_words(&s->small, rest_bytes, 2, err));
        end[n++] = s->small.n;
    }
    if (!s->pixels) {
        IMREC_TRY(put_words(&s->small, image_bytes, 2, err));
        end[n++] = s->small.n;
    }
    IMREC_TRY(put_labels(s, r, err));
    end[n++] = s->small.n;
    return s->pixels ? IMREC_OK : put_words(&s->small, r->id, 4, err);
}

static void set_stream(struct cbf_shard *s, uint32_t i, const uint8_t *p, size_t n)
{
    s->offset[i][1] = n;
    s->stream[i] = (struct chunk_stream){p, s->offset[i]};
}

static enum imrec_status
make_record(struct cbf_shard *s, const struct shard_record *r, struct imrec_error *err)
{
    struct bytes left = r->bytes, image, rest = {NULL, 0};
    uint32_t image_bytes, rest_bytes = 0;
    size_t end[SMALL_MAX], from = 0;
    IMREC_TRY(take_framed(r, &left, s->pixels ? s->features : 0, &image_bytes, &image, err));
    if (s->rest)
        IMREC_TRY(take_framed(r, &left, 0, &rest_bytes, &rest, err));
    if (left.n != 0)
        return imrec_fail(err, IMREC_ERR_DATA,
                          "%.*s: a record of %zu bytes, %zu too many for the streams of this set",
                          (int)r->path.n, (const char *)r->path.p, r->bytes.n, left.n);
    IMREC_TRY(make_small(s, r, image_bytes, rest_bytes, end, err));
    const uint32_t image_at = s->rest ? 2 : 0;
    for (uint32_t i = 0, k = 0; i < s->one.streams; i++) {
        if (i == image_at || (s->rest && i == 1))
            continue;
        const size_t to = i + 1 < s->one.streams ? end[k] : s->small.n;
        set_stream(s, i, s->small.p + from, to - from);
        from = to;
        k++;
    }
    if (s->rest)
        set_stream(s, 1, rest.p, rest.n);
    set_stream(s, image_at, image.p, image.n);
    return IMREC_OK;
}

/* Closes the chunk that is being filled, and notes where it is. */
static enum imrec_status close_chunk(struct shard_writer *w, struct imrec_error *err)
{
    const struct cbf_shard *s = w->state;
    uint8_t entry[ENTRY_BYTES];
    const struct cbf_written before = cbf_writer_written(s->writer);
    const uint64_t begin = before.bytes > 0 ? before.bytes : CBF_PREFIX_BYTES;
    IMREC_TRY(cbf_writer_cut(s->writer, err));
    const struct cbf_written after = cbf_writer_written(s->writer);
    if (after.chunks == before.chunks)
        return IMREC_OK;
    store_le64(entry, begin);
    store_le64(entry + 8, after.bytes - begin);
    store_le32(entry + 16, (uint32_t)(after.sequences - before.sequences));
    store_le32(entry + 20, (uint32_t)(after.samples - before.samples));
    w->crc[TABLE] = crc32c(w->crc[TABLE], entry, sizeof(entry));
    return sink_append(w->sinks[TABLE], entry, sizeof(entry), err);
}

static enum imrec_status
room(struct shard_writer *w, const struct shard_record *r, struct imrec_error *err)
{
    struct cbf_shard *s = w->state;
    IMREC_TRY(make_record(s, r, err));
    return cbf_writer_fits(s->writer, &s->one) ? IMREC_OK : close_chunk(w, err);
}

static enum imrec_status
put(struct shard_writer *w, const struct shard_record *r, struct imrec_error *err)
{
    struct cbf_shard *s = w->state;
    (void)r; /* room() has made it */
    return cbf_writer_add(s->writer, &s->one, err);
}

/* Everything put is in closed chunks. */
static bool is_even(const struct shard_writer *w)
{
    const struct cbf_shard *s = w->state;
    return cbf_writer_written(s->writer).sequences == w->records;
}

static uint64_t size(const struct shard_writer *w)
{
    const struct cbf_shard *s = w->state;
    return cbf_writer_size(s->writer);
}

/* ---- opening and closing ---------------------------------------------------------------- */

static enum imrec_status emit(void *user, const void *p, size_t n, struct imrec_error *err)
{
    struct shard_writer *w = user;
    w->crc[SHARD] = crc32c(w->crc[SHARD], p, n);
    return sink_append(w->sinks[SHARD], p, n, err);
}

static enum imrec_status
read_table(struct cbf_shard *s, const uint8_t *p, uint64_t bytes, struct imrec_error *err)
{
    for (uint64_t at = 0; at + ENTRY_BYTES <= bytes; at += ENTRY_BYTES) {
        const struct cbf_chunk_entry e = {load_le64(p + at), load_le64(p + at + 8),
                                          load_le32(p + at + 16), load_le32(p + at + 20)};
        IMREC_TRY(cbf_writer_resume(s->writer, &e, 1, err));
    }
    return IMREC_OK;
}

/* The chunks of an interrupted run, out of its side file. */
static enum imrec_status load_table(struct cbf_shard *s, const char *name,
                                    const struct written_shard *from, struct imrec_error *err)
{
    char part[NAME_BYTES + 16];
    uint8_t *p = NULL;
    size_t n = 0;
    snprintf(part, sizeof(part), "%s%s.part", name, SCRATCH);
    IMREC_TRY(source_load(part, TABLE_MAX, &p, &n, err));
    enum imrec_status st = IMREC_OK;
    if (n < from->idx_bytes || crc32c(0, p, (size_t)from->idx_bytes) != from->idx_crc)
        st = imrec_fail(err, IMREC_ERR_CORRUPT,
                        "%s is not what the interrupted run left; force begins again", part);
    if (st == IMREC_OK)
        st = read_table(s, p, from->idx_bytes, err);
    imrec_free(p);
    return st;
}

static enum imrec_status open_shard(struct shard_writer *w, const char *name,
                                    const struct shard_shape *shape,
                                    const struct written_shard *from, struct imrec_error *err)
{
    const struct imrec_pack_options *o = shape->options;
    const uint32_t side = (uint32_t)o->resize;
    struct stream_info info[STREAMS_MAX];
    struct cbf_shard *s = w->state;
    *s = (struct cbf_shard){.pixels = o->pixels,
                            .rest = shard_has_rest(o),
                            .features = side * side * (o->color == 0 ? 1 : 3),
                            .classes = shape->classes,
                            .label_dim = shape->label_count,
                            .small = BUF_INIT((size_t)1 << 30),
                            .length = 1};
    s->one = (struct sequence_chunk){.sequences = 1,
                                     .streams = streams_of(s, info),
                                     .length = &s->length,
                                     .samples = 1,
                                     .stream = s->stream};
    IMREC_TRY(
        cbf_writer_new(info, s->one.streams, (uint64_t)o->cbf_chunk, emit, w, &s->writer, err));
    if (from->records != 0)
        IMREC_TRY(load_table(s, name, from, err));
    return shard_open_sinks(w, name, from, err);
}

static enum imrec_status finish(struct shard_writer *w, struct imrec_error *err)
{
    const struct cbf_shard *s = w->state;
    if (w->records == 0)
        return IMREC_REFUSE(err, "a shard would have no image, and a CNTK file needs one: ask for "
                                 "fewer shards");
    return cbf_writer_finish(s->writer, err);
}

static void close_shard(struct shard_writer *w)
{
    struct cbf_shard *s = w->state;
    cbf_writer_free(s->writer);
    buf_free(&s->small);
}

static const char *const files[] = {".cbf", NULL};
static const char *const options[] = {"format", "pixels", "cbf_chunk", NULL};

const struct shard_kind cbf_shard_kind = {
    .format = "cbf",
    .name = "CNTK's binary format",
    .file = "CBF file",
    .files = files,
    .scratch = SCRATCH,
    .options = options,
    .bare = true,
    .equal_labels = true,
    .ids_from_list = true,
    .state_bytes = sizeof(struct cbf_shard),
    .frame = frame,
    .pixels = frame_pixels,
    .open = open_shard,
    .room = room,
    .put = put,
    .is_even = is_even,
    .size = size,
    .finish = finish,
    .close = close_shard,
};
