/* container/cbf.c - CBF files as a partition of images. */
#include "container/cbf.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/math.h"
#include "container/cbf_places.h"
#include "container/partition.h"
#include "container/record_table.h"
#include "container/room_labels.h"
#include "container/walk/cbf_file.h"
#include "formats/cbf/value_bmp.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MOST_LABELS  ((uint32_t)1 << 20)
#define MOST_DECODED ((uint64_t)1 << 31) /* bytes of a decoded image */

struct opening {
    struct container *s;
    struct cbf_header *header;              /* [shards] */
    uint32_t (*stream)[CBF_ROLES];          /* [shards] */
    const struct stream_info *kind, *label; /* of the first file, which all have to be like */
    bool ids;
    bool fields; /* of a file at least */
    struct cbf_places places;
    struct imrec_error *err;
};

/* ---- which streams ----------------------------------------------------------------------- */

static uint32_t find(const struct cbf_header *h, const char *name)
{
    for (uint32_t i = 0; i < h->streams; i++)
        if (strcmp(h->stream[i].name, name) == 0)
            return i;
    return CBF_NO_STREAM;
}

static bool is_dense(const struct cbf_header *h, uint32_t i, uint32_t dim)
{
    return i != CBF_NO_STREAM && h->stream[i].storage == STREAM_DENSE &&
           (dim == 0 || (h->stream[i].dim == dim && h->stream[i].element == STREAM_FLOAT));
}

static enum imrec_status no_images(struct opening *o, uint32_t shard)
{
    char names[200] = "";
    const struct cbf_header *h = &o->header[shard];
    for (uint32_t i = 0; i < h->streams && strlen(names) + 40 < sizeof(names); i++) {
        const size_t at = strlen(names);
        snprintf(names + at, sizeof(names) - at, "%s%.30s", i == 0 ? "" : ", ", h->stream[i].name);
    }
    return IMREC_REFUSE(
        o->err,
        "%.150s is CNTK's binary format without images: imrec minibatches reads it; "
        "images are in streams image (dense, float, dim 1) and image_bytes "
        "(dim 2), or features (dense); here are %s",
        o->s->shards[shard].uri, names);
}

/* Who has which role in a file. */
static enum imrec_status find_roles(struct opening *o, uint32_t shard)
{
    const struct cbf_header *h = &o->header[shard];
    uint32_t *role = o->stream[shard];
    role[CBF_IMAGE] = find(h, "image");
    role[CBF_LENGTH] = find(h, "image_bytes");
    role[CBF_ID] = find(h, "id");
    role[CBF_FIELDS] = find(h, "fields");
    role[CBF_FIELDS_LENGTH] = find(h, "fields_bytes");
    if (!is_dense(h, role[CBF_FIELDS], 1) || !is_dense(h, role[CBF_FIELDS_LENGTH], 2))
        role[CBF_FIELDS] = role[CBF_FIELDS_LENGTH] = CBF_NO_STREAM;
    o->fields |= role[CBF_FIELDS] != CBF_NO_STREAM;
    if (!is_dense(h, role[CBF_IMAGE], 1) || !is_dense(h, role[CBF_LENGTH], 2)) {
        role[CBF_IMAGE] = find(h, "features");
        role[CBF_LENGTH] = CBF_NO_STREAM;
        if (!is_dense(h, role[CBF_IMAGE], 0))
            return no_images(o, shard);
    }
    if (!is_dense(h, role[CBF_ID], 4))
        role[CBF_ID] = CBF_NO_STREAM;
    role[CBF_LABEL] = find(h, role[CBF_LENGTH] == CBF_NO_STREAM ? "labels" : "label");
    if (role[CBF_LABEL] == CBF_NO_STREAM)
        role[CBF_LABEL] = find(h, role[CBF_LENGTH] == CBF_NO_STREAM ? "label" : "labels");
    return IMREC_OK;
}

static bool alike(const struct stream_info *a, const struct stream_info *b)
{
    return a == NULL || b == NULL
               ? a == b
               : a->storage == b->storage && a->element == b->element && a->dim == b->dim;
}

/* All files of a set hold the same kind of images and labels. */
static enum imrec_status check_kind(struct opening *o, uint32_t shard)
{
    const uint32_t *role = o->stream[shard];
    const struct stream_info *all = o->header[shard].stream;
    const struct stream_info *label =
        role[CBF_LABEL] != CBF_NO_STREAM ? &all[role[CBF_LABEL]] : NULL;
    const struct stream_info *kind = &all[role[CBF_IMAGE]];
    if (shard == 0) {
        o->kind = kind;
        o->label = label;
        o->ids = role[CBF_ID] != CBF_NO_STREAM;
    }
    const bool decoded = role[CBF_LENGTH] == CBF_NO_STREAM;
    if (decoded != (o->stream[0][CBF_LENGTH] == CBF_NO_STREAM) || !alike(kind, o->kind) ||
        !alike(label, o->label) || o->ids != (role[CBF_ID] != CBF_NO_STREAM))
        return IMREC_REFUSE(o->err,
                            "%.200s and %.200s cannot be one set: their streams of images, "
                            "labels or ids differ",
                            o->s->shards[0].uri, o->s->shards[shard].uri);
    return IMREC_OK;
}

/* How many labels are kept of each image. */
static enum imrec_status choose_labels(struct opening *o, uint32_t *count)
{
    const struct container_options *want = &o->s->options;
    *count = 0;
    if (want->no_labels || (o->label == NULL && want->label_width == 0))
        return IMREC_OK;
    const char *uri = o->s->shards[0].uri;
    if (o->label == NULL)
        return IMREC_REFUSE(o->err,
                            "%.200s: no stream 'label' or 'labels', and label_width is %" PRIu32
                            "; path_imglist can give labels",
                            uri, want->label_width);
    const uint32_t dim = o->label->dim, stored = o->label->storage == STREAM_SPARSE ? 1 : dim;
    *count = want->label_width != 0 ? want->label_width : stored;
    if (dim > MOST_LABELS && o->label->storage == STREAM_DENSE)
        return imrec_fail(o->err, IMREC_ERR_LIMIT,
                          "%.200s: stream '%.64s' has dim %" PRIu32
                          ", labels have at most %" PRIu32,
                          uri, o->label->alias, dim, MOST_LABELS);
    if (*count != stored && *count != 1)
        return IMREC_REFUSE(o->err,
                            "%.200s: stream '%.64s' has %" PRIu32 " labels an image, but "
                            "label_width is %" PRIu32,
                            uri, o->label->alias, stored, want->label_width);
    return IMREC_OK;
}

/* ---- headers ------------------------------------------------------------------------------- */

static uint64_t hash_chunks(uint64_t hash, const struct cbf_header *h)
{
    for (uint32_t i = 0; i < h->chunks; i++) { /* FNV-1a, a word at a time */
        hash = (hash ^ h->chunk[i].offset) * 0x100000001b3u;
        hash = (hash ^ h->chunk[i].sequences) * 0x100000001b3u;
    }
    return hash;
}

static enum imrec_status read_headers(struct opening *o)
{
    struct container *s = o->s;
    uint64_t hash = 0xcbf29ce484222325u;
    for (uint32_t i = 0; i < s->shard_count; i++) {
        IMREC_TRY(cbf_file_header(s->shards[i].source, s->shards[i].uri, &o->header[i], o->err));
        IMREC_TRY(find_roles(o, i));
        IMREC_TRY(check_kind(o, i));
        cbf_of(s)->first[i] = s->record_total;
        if (o->header[i].sequences > INT64_MAX / 2 - s->record_total)
            return imrec_fail(o->err, IMREC_ERR_LIMIT, "%.300s: with it there are too many images",
                              s->shards[i].uri);
        s->record_total += o->header[i].sequences;
        hash = hash_chunks(hash, &o->header[i]);
    }
    s->index_hash = hash;
    cbf_of(s)->pixels = o->stream[0][CBF_LENGTH] == CBF_NO_STREAM;
    if (cbf_of(s)->pixels &&
        o->kind->dim * (uint64_t)stream_element_bytes(o->kind->element) > MOST_DECODED)
        return imrec_fail(o->err, IMREC_ERR_LIMIT,
                          "%.200s: stream '%.64s' has dim %" PRIu32 ", a decoded image has at "
                          "most 2 GiB",
                          s->shards[0].uri, o->kind->alias, o->kind->dim);
    if (cbf_of(s)->pixels) {
        s->value_count = o->kind->dim;
        s->doubles = o->kind->element == STREAM_DOUBLE;
    }
    return choose_labels(o, &s->label_count);
}

/* ---- the partition ------------------------------------------------------------------------- */

/* Calls fn for every chunk with a sequence in [begin, end). */
typedef enum imrec_status
chunk_fn(struct opening *o, uint32_t shard, uint32_t which, uint64_t number);

static enum imrec_status each_chunk(struct opening *o, uint64_t begin, uint64_t end, chunk_fn *fn)
{
    for (uint32_t i = 0; i < o->s->shard_count; i++) {
        uint64_t number = cbf_of(o->s)->first[i];
        for (uint32_t k = 0; k < o->header[i].chunks; k++) {
            const uint64_t next = number + o->header[i].chunk[k].sequences;
            if (number < end && next > begin)
                IMREC_TRY(fn(o, i, k, number));
            number = next;
        }
    }
    return IMREC_OK;
}

/* The first one says where the tables begin, the last one where they end. */
static enum imrec_status
measure_chunk(struct opening *o, uint32_t shard, uint32_t which, uint64_t number)
{
    struct container *s = o->s;
    if (s->unit_count == 0)
        cbf_of(s)->begin = number;
    s->unit_count = number + o->header[shard].chunk[which].sequences - cbf_of(s)->begin;
    return IMREC_OK;
}

static enum imrec_status
read_chunk(struct opening *o, uint32_t shard, uint32_t which, uint64_t number)
{
    struct cbf_places *p = &o->places;
    p->container = o->s;
    p->shard = shard;
    p->h = &o->header[shard];
    memcpy(p->stream, o->stream[shard], sizeof(p->stream));
    if (o->s->label_count == 0)
        p->stream[CBF_LABEL] = CBF_NO_STREAM;
    p->which = which;
    p->number = number;
    return cbf_places_read(p, o->err);
}

static enum imrec_status no_memory(struct imrec_error *err, uint64_t n)
{
    return IMREC_NO_MEMORY(err, "no memory for the places of %" PRIu64 " images", n);
}

static enum imrec_status make_tables(struct opening *o)
{
    struct container *s = o->s;
    size_t labels;
    if (!mul_fits((size_t)s->unit_count, (size_t)s->label_count * 4, &labels) ||
        labels > s->total_bytes)
        return imrec_fail(o->err, IMREC_ERR_CORRUPT,
                          "%.200s: %" PRIu64 " images with %" PRIu32
                          " labels each would take more bytes than there are",
                          s->shards[0].uri, s->unit_count, s->label_count);
    void *records = imrec_realloc(s->records, (size_t)s->unit_count + 1, sizeof(*s->records));
    if (records == NULL)
        return no_memory(o->err, s->unit_count);
    s->records = records;
    struct cbf_images *c = cbf_of(s);
    c->labels = imrec_zalloc(labels + 1, 1);
    if (o->fields)
        c->rest = imrec_zalloc((size_t)s->unit_count + 1, sizeof(*c->rest));
    return c->labels != NULL && (c->rest != NULL || !o->fields) ? IMREC_OK
                                                                : no_memory(o->err, s->unit_count);
}

/* Units [begin, end) of those that were read stay. */
static void cut(struct container *s, uint64_t begin, uint64_t end)
{
    struct cbf_images *c = cbf_of(s);
    const uint64_t skip = begin < end ? begin - c->begin : 0;
    const size_t row = (size_t)s->label_count * 4;
    s->unit_count = end > begin ? end - begin : 0;
    if (skip != 0) {
        memmove(s->records, s->records + skip, (size_t)s->unit_count * sizeof(*s->records));
        memmove(c->labels, c->labels + skip * row, (size_t)s->unit_count * row);
        if (c->rest != NULL)
            memmove(c->rest, c->rest + skip, (size_t)s->unit_count * sizeof(*c->rest));
    }
    c->begin = begin;
    s->records[s->unit_count] = (struct indexed_record){.shard = UINT32_MAX};
}

static enum imrec_status fill(struct opening *o)
{
    struct container *s = o->s;
    IMREC_TRY(read_headers(o));
    const uint64_t begin = partition_begin(s, s->options.part_index);
    const uint64_t end = partition_begin(s, s->options.part_index + 1);
    s->unit_count = 0;
    IMREC_TRY(each_chunk(o, begin, end, measure_chunk));
    IMREC_TRY(make_tables(o));
    IMREC_TRY(each_chunk(o, begin, end, read_chunk));
    cut(s, begin, end);
    if (!o->ids)
        cbf_ids_of_list(s);
    return IMREC_OK;
}

static enum imrec_status
list(struct container *s, const struct shard_list *l, struct imrec_error *err)
{
    (void)l;
    struct imrec_error own;
    struct opening o = {.s = s, .err = err != NULL ? err : &own};
    const size_t n = s->shard_count;
    struct cbf_images *c = s->state = imrec_zalloc(1, sizeof(*c));
    s->records = imrec_zalloc(1, sizeof(*s->records)); /* it is indexed from here on */
    o.header = imrec_zalloc(n, sizeof(*o.header));
    o.stream = imrec_zalloc(n, sizeof(*o.stream));
    if (c != NULL)
        c->first = imrec_zalloc(n, sizeof(*c->first));
    const bool memory =
        c != NULL && c->first != NULL && s->records != NULL && o.header != NULL && o.stream != NULL;
    const enum imrec_status st = memory ? fill(&o) : no_memory(err, n);
    for (size_t i = 0; o.header != NULL && i < n; i++)
        cbf_header_free(&o.header[i]);
    IMREC_FREE(o.header, o.stream);
    cbf_places_free(&o.places);
    return st;
}

static void close_images(struct container *s)
{
    struct cbf_images *c = s->state;
    IMREC_FREE(c->labels, c->rest, c->first, c->losses, c);
}

/* A count, and the image, in elements of 4 bytes; of a lost one the count alone. */
static struct unit_range extent(const struct container *c, uint64_t unit)
{
    const struct indexed_record *r = &c->records[unit];
    return (struct unit_range){r->shard, r->offset,
                               r->offset + 4 + (r->bytes != CBF_LOST ? align_up(r->bytes, 4) : 0)};
}

static struct unit_range rest(const struct container *c, uint64_t unit)
{
    const struct cbf_rest *b = cbf_of(c)->rest;
    const struct indexed_record *r = &c->records[unit];
    if (b == NULL || b[unit].offset == 0 || r->bytes == CBF_LOST)
        return (struct unit_range){r->shard, 0, 0};
    const uint64_t begin = b[unit].offset;
    return (struct unit_range){r->shard, begin,
                               begin + 4 + 4 * (uint64_t)cbf_elements(b[unit].bytes, true)};
}

static uint64_t number(const struct container *c, const struct record_ref *r)
{
    return cbf_of(c)->begin + r->unit - cbf_of(c)->first[c->records[r->unit].shard];
}

static const struct imrec_error *lost(const struct container *s, uint64_t unit)
{
    const struct cbf_images *c = cbf_of(s);
    const uint64_t at = c->begin + unit;
    if (s->records[unit].bytes != CBF_LOST)
        return NULL;
    size_t i = 0; /* each lost one has a cause: the last stands for those that were too many */
    while (i + 1 < c->loss_count && !(at >= c->losses[i].first && at < c->losses[i].end))
        i++;
    return &c->losses[i].why;
}

/* Whether the count at p, a byte of the shard, is that of this number of bytes of an image, or of
 * fields. */
static enum imrec_status check_count(const uint8_t *p, uint64_t at, uint32_t wanted,
                                     const char *what, uint32_t bytes, struct imrec_error *err)
{
    if (load_le32(p) == wanted)
        return IMREC_OK;
    return imrec_error_at(err, IMREC_ERR_CORRUPT, at,
                          "number of samples %" PRIu32 ", it must be %" PRIu32 " for %s of %" PRIu32
                          " bytes",
                          load_le32(p), wanted, what, bytes);
}

static enum imrec_status open_record(const struct container *c, const struct record_place *at,
                                     uint8_t *p, size_t n, struct bytes *out, uint64_t *used,
                                     struct imrec_error *err)
{
    const uint64_t unit = at->number;
    const struct unit_range all = extent(c, unit);
    *used = all.end - all.begin;
    if (n < *used)
        return IMREC_END;
    const struct indexed_record *r = &c->records[unit];
    *out = (struct bytes){p + 4, r->bytes};
    return check_count(p, r->offset, cbf_of(c)->pixels ? 1 : cbf_elements(r->bytes, false),
                       "an image", r->bytes, err);
}

static enum imrec_status open_rest(const struct container *c, uint64_t unit, const uint8_t *p,
                                   struct bytes *out, struct imrec_error *err)
{
    const struct cbf_rest *b = &cbf_of(c)->rest[unit];
    *out = (struct bytes){p + 4, b->bytes};
    return check_count(p, b->offset, cbf_elements(b->bytes, true), "fields", b->bytes, err);
}

/* What follows the image in RecordIO, and nothing else. */
static enum imrec_status parse_fields(const struct record_ref *r, unsigned parts,
                                      struct parse_room *room, struct record *out,
                                      struct imrec_error *err)
{
    struct record_payload payload;
    IMREC_TRY(record_payload_split(r->rest, &payload, err));
    if (payload.image.n != 0)
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "stream 'fields': of its %zu bytes %zu belong neither to fields nor to a "
                          "mask",
                          r->rest.n, payload.image.n);
    out->mask = payload.mask;
    return (parts & RECORD_FIELDS) != 0 ? room_fields(&payload, room, out, err) : IMREC_OK;
}

static enum imrec_status parse(const struct container *c, const struct record_ref *r,
                               unsigned parts, struct parse_room *room, struct record *out,
                               struct imrec_error *err)
{
    const size_t row = (size_t)c->label_count * 4;
    const struct bytes labels = {cbf_of(c)->labels + r->unit * row, row};
    *out = (struct record){
        .id = r->key, .label_count = c->label_count, .labels = labels, .image = r->bytes};
    if (cbf_of(c)->pixels) {
        out->image = (struct bytes){NULL, 0};
        out->pixels = (struct planes){.p = r->bytes.p, .is_double = c->doubles};
    }
    return r->rest.n != 0 && (parts & (RECORD_MASK | RECORD_FIELDS)) != 0
               ? parse_fields(r, parts, room, out, err)
               : IMREC_OK;
}

static uint64_t describe(const struct container *c, const struct record_ref *r,
                         const struct imrec_error *why, char text[96])
{
    const uint64_t at = r->lost && why->offset != IMREC_NO_OFFSET ? why->offset : r->offset;
    (void)snprintf(text, 96, "sequence %" PRIu64 ", byte %" PRIu64, number(c, r), at);
    return at;
}

static const char *refuse_boxes(const struct container *c)
{
    return cbf_of(c)->pixels ? "are stored decoded" : c->label_count == 1 ? "have classes" : NULL;
}

/* Values that are pixels of a square image, as BMP. */
static enum imrec_status
as_file(const struct container *c, const struct record *r, struct buf *out, struct imrec_error *err)
{
    uint32_t channels;
    const uint32_t side = value_bmp_side(c->value_count, &channels);
    if (side == 0)
        return IMREC_OK;
    const size_t n = value_bmp_bytes(side, channels);
    IMREC_TRY(buf_reserve(out, n, err));
    if (value_bmp_write(r->pixels.p, c->doubles, side, channels, out->p))
        out->n = n;
    return IMREC_OK;
}

static uint64_t memory(const struct container *s)
{
    const struct cbf_images *c = cbf_of(s);
    const uint64_t rest = c->rest != NULL ? sizeof(*c->rest) : 0;
    return s->unit_count * (s->label_count * 4 + rest) + c->loss_room * sizeof(*c->losses);
}

const struct container_kind cbf_kind = {
    .name = "CBF file",
    .suffix = ".cbf",
    .align = 4,
    .own_index = true,
    .masks = true,
    .fields = true,
    .recognize = cbf_is_magic,
    .list = list,
    .extent = extent,
    .lost = lost,
    .rest = rest,
    .open_rest = open_rest,
    .open = open_record,
    .parse = parse,
    .number = number,
    .describe = describe,
    .refuse_boxes = refuse_boxes,
    .as_file = as_file,
    .memory = memory,
    .close = close_images,
};
