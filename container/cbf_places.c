/* container/cbf_places.c - where the images of a chunk are, and their fields.
 *
 * The files that im2rec makes need not be walked: all streams but the fields' and the images' have
 * sequences of one size. Lengths of fields are before these, so it is known where each stream
 * begins, and the lengths of the images say where they are. Their sum has to fill the chunk. Where
 * it does not, or another stream is not as even as it seemed, the chunk is walked from count to
 * count, which says what is wrong or that nothing is. The count in front of each image, and of its
 * fields, is checked when they are read. */
#include "container/cbf_places.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/math.h"

#include <inttypes.h>
#include <string.h>

#define READ_SMALL    ((uint64_t)256 << 10) /* of streams that are read from end to end */
#define READ_HEAD     ((uint64_t)4 << 10)   /* of one that is jumped through */
#define MOST_BYTES    ((uint32_t)1 << 29)   /* of a compressed image, and of its fields */
#define MOST_LOSSES   1024u                 /* that are reported one by one */
#define ELEMENT_BYTES 4u                    /* of a compressed image */

#define BAD(p, pos, ...) imrec_error_at((p)->err, IMREC_ERR_CORRUPT, (pos), __VA_ARGS__)

static uint32_t sequences(const struct cbf_places *p)
{
    return p->h->chunk[p->which].sequences;
}

/* ---- records and losses ------------------------------------------------------------------ */

static uint64_t unit_of(const struct cbf_places *p, uint32_t k)
{
    return p->number + k - cbf_of(p->container)->begin;
}

static struct indexed_record *record_of(const struct cbf_places *p, uint32_t k)
{
    return &p->container->records[unit_of(p, k)];
}

/* NULL: no file has fields. */
static struct cbf_rest *rest_of(const struct cbf_places *p, uint32_t k)
{
    struct cbf_rest *all = cbf_of(p->container)->rest;
    return all != NULL ? &all[unit_of(p, k)] : NULL;
}

static enum imrec_status note_loss(struct cbf_places *p, uint64_t first, uint64_t end)
{
    struct cbf_images *c = cbf_of(p->container);
    if (c->loss_count == MOST_LOSSES) { /* the last one stands for all that come */
        struct cbf_loss *rest = &c->losses[MOST_LOSSES - 1];
        *rest = (struct cbf_loss){0, UINT64_MAX, {0}};
        imrec_fail(&rest->why, IMREC_ERR_CORRUPT,
                   "it is damaged, as over %u other sequences or chunks are", MOST_LOSSES);
        return IMREC_OK;
    }
    if (!IMREC_GROW(c->losses, c->loss_room, c->loss_count + 1))
        return IMREC_NO_MEMORY(p->err, "no memory to note the damage");
    c->losses[c->loss_count++] = (struct cbf_loss){first, end, *p->err};
    return IMREC_OK;
}

/* Sequence k of the chunk cannot be used: p->err says why. The first cause counts. */
static enum imrec_status lose(struct cbf_places *p, uint32_t k)
{
    struct indexed_record *r = record_of(p, k);
    if (r->bytes == CBF_LOST)
        return IMREC_OK;
    r->bytes = CBF_LOST;
    return note_loss(p, p->number + k, p->number + k + 1);
}

/* Nor can any other of it: one cause for all. */
static enum imrec_status lose_chunk(struct cbf_places *p, size_t losses)
{
    cbf_of(p->container)->loss_count = losses;
    for (uint32_t k = 0; k < sequences(p); k++) {
        record_of(p, k)->offset = p->begin;
        record_of(p, k)->bytes = CBF_LOST;
    }
    return note_loss(p, p->number, p->number + sequences(p));
}

/* ---- bytes ------------------------------------------------------------------------------- */

/* Lets *out point at n bytes of the file at `pos`, which are in the chunk; up to `ahead` are read
 * at once, if they are before p->until. */
static enum imrec_status
see(struct cbf_places *p, uint64_t pos, uint64_t n, uint64_t ahead, const uint8_t **out)
{
    if (pos < p->seen || pos + n > p->seen_end) {
        const uint64_t more = pos < p->until ? min_u64(ahead, p->until - pos) : 0;
        const uint64_t want = n > more ? n : more;
        if (want > p->room) {
            uint8_t *grown = imrec_realloc(NULL, (size_t)want, 1);
            if (grown == NULL)
                return imrec_error_at(p->err, IMREC_ERR_NO_MEMORY, pos,
                                      "no memory to read %" PRIu64 " bytes of a chunk", want);
            imrec_free(p->buffer);
            p->buffer = grown;
            p->room = (size_t)want;
        }
        p->seen = p->seen_end = pos;
        struct source *in = p->container->shards[p->shard].source;
        IMREC_TRY(source_read_again(in, pos, p->buffer, (size_t)want, p->err));
        p->seen_end = pos + want;
    }
    *out = p->buffer + (pos - p->seen);
    return IMREC_OK;
}

/* ---- values ------------------------------------------------------------------------------ */

/* Words of 16 bits, the highest first. */
static bool words(const uint8_t *values, uint32_t n, uint64_t *out)
{
    *out = 0;
    for (uint32_t i = 0; i < n; i++) {
        const double v = stream_value(values, STREAM_FLOAT, i);
        if (!(v >= 0 && v <= 65535 && v == (double)(uint32_t)v))
            return false;
        *out = *out << 16 | (uint32_t)v;
    }
    return true;
}

static void store_label(struct cbf_places *p, uint64_t unit, uint32_t i, double value)
{
    const struct container *c = p->container;
    store_le_float(cbf_of(c)->labels + (unit * c->label_count + i) * 4, (float)value);
}

static enum imrec_status one_hot(struct cbf_places *p, const struct stream_info *s, uint64_t pos,
                                 const uint8_t *values, uint64_t unit)
{
    uint32_t ones = 0, zeros = 0, class = 0;
    for (uint32_t i = 0; i < s->dim; i++) {
        const double v = stream_value(values, s->element, i);
        ones += v == 1;
        zeros += v == 0;
        class = v == 1 ? i : class;
    }
    if (ones != 1 || zeros + 1 != s->dim)
        return BAD(p, pos,
                   "stream '%.64s': there is no class in these %" PRIu32
                   " values, one must be 1 and all others 0",
                   s->alias, s->dim);
    store_label(p, unit, 0, class);
    return IMREC_OK;
}

static enum imrec_status dense_label(struct cbf_places *p, const struct stream_info *s,
                                     uint64_t pos, const uint8_t *at, uint64_t unit)
{
    const uint32_t width = p->container->label_count;
    if (width != s->dim)
        return one_hot(p, s, pos, at + 4, unit);
    for (uint32_t i = 0; i < width; i++)
        store_label(p, unit, i, stream_value(at + 4, s->element, i));
    return IMREC_OK;
}

static enum imrec_status sparse_label(struct cbf_places *p, const struct stream_info *s,
                                      uint64_t pos, const uint8_t *at, uint64_t unit)
{
    const uint8_t *index = at + 8 + stream_element_bytes(s->element);
    if (load_le32(at + 4) != 1 || load_le32(index + 4) != 1)
        return BAD(p, pos + 4, "stream '%.64s': NNZ %" PRId32 ", the label of an image has 1",
                   s->alias, (int32_t)load_le32(at + 4));
    if (load_le32(index) >= s->dim)
        return BAD(p, pos + (uint64_t)(index - at),
                   "stream '%.64s': index %" PRId32 ", it must be in [0, %" PRIu32 ")", s->alias,
                   (int32_t)load_le32(index), s->dim);
    store_label(p, unit, 0, load_le32(index));
    return IMREC_OK;
}

/* ---- sequences --------------------------------------------------------------------------- */

struct sequence { /* of a stream that has a role */
    const struct stream_info *info;
    uint64_t pos;
    uint64_t bytes;
    uint32_t samples;
    uint64_t unit;
    struct indexed_record *record;
    struct cbf_rest *rest;
};

static enum imrec_status
does_not_fit(struct cbf_places *p, const struct sequence *q, bool fields, uint32_t elements)
{
    return BAD(p, q->pos,
               "stream '%.64s' and %s_bytes disagree: %" PRIu32 " elements of %u bytes for %s of "
               "%" PRIu32 " bytes",
               p->h->stream[p->stream[fields ? CBF_FIELDS : CBF_IMAGE]].alias,
               fields ? "fields" : "image", elements, ELEMENT_BYTES, fields ? "fields" : "a image",
               fields ? q->rest->bytes : q->record->bytes);
}

/* Where images come before their lengths, record->bytes is the number of elements till then; of
 * fields likewise. */
static enum imrec_status
take_bytes(struct cbf_places *p, enum cbf_role role, const struct sequence *q)
{
    const bool fields = role == CBF_FIELDS;
    uint32_t *const bytes = fields ? &q->rest->bytes : &q->record->bytes;
    *(fields ? &q->rest->offset : &q->record->offset) = q->pos;
    if (!fields && cbf_of(p->container)->pixels) {
        if (q->samples != 1)
            return BAD(p, q->pos, "stream '%.64s': %" PRIu32 " samples, an image is one",
                       q->info->alias, q->samples);
        *bytes = (uint32_t)(q->bytes - 4); /* bounded when the file was opened */
        return IMREC_OK;
    }
    if (!p->have[fields ? CBF_FIELDS_LENGTH : CBF_LENGTH])
        *bytes = q->samples < CBF_LOST ? q->samples : CBF_LOST - 1;
    else if (cbf_elements(*bytes, fields) != q->samples)
        return does_not_fit(p, q, fields, q->samples);
    return IMREC_OK;
}

static enum imrec_status
take_length(struct cbf_places *p, enum cbf_role role, const struct sequence *q, const uint8_t *at)
{
    const bool fields = role == CBF_FIELDS_LENGTH;
    uint32_t *const to = fields ? &q->rest->bytes : &q->record->bytes;
    const uint32_t elements = *to;
    uint64_t bytes;
    if (!words(at + 4, 2, &bytes) || bytes >= MOST_BYTES)
        return BAD(p, q->pos,
                   "stream '%.64s': %g and %g, no length of %s: two whole numbers from 0 to "
                   "65535 are needed, below %u x 65536",
                   q->info->alias, stream_value(at + 4, STREAM_FLOAT, 0),
                   stream_value(at + 4, STREAM_FLOAT, 1), fields ? "fields" : "an image",
                   MOST_BYTES >> 16);
    *to = (uint32_t)bytes;
    if (p->have[fields ? CBF_FIELDS : CBF_IMAGE] && cbf_elements(*to, fields) != elements)
        return does_not_fit(p, q, fields, elements);
    return IMREC_OK;
}

static enum imrec_status take_id(struct cbf_places *p, const struct sequence *q, const uint8_t *at)
{
    if (!words(at + 4, 4, &q->record->key))
        return BAD(p, q->pos,
                   "stream '%.64s': four whole numbers from 0 to 65535 make an id, not these",
                   q->info->alias);
    return IMREC_OK;
}

/* What a sequence of a role says of its image. */
static enum imrec_status take(struct cbf_places *p, enum cbf_role role, const struct sequence *q)
{
    const uint8_t *at;
    if (role == CBF_IMAGE || role == CBF_FIELDS)
        return take_bytes(p, role, q);
    if (q->samples != 1)
        return BAD(p, q->pos, "stream '%.64s': %" PRIu32 " samples, an image has one",
                   q->info->alias, q->samples);
    if (q->info->storage == STREAM_SPARSE) {
        const uint64_t head = 8 + stream_element_bytes(q->info->element) + 8;
        IMREC_TRY(see(p, q->pos, min_u64(q->bytes, head), READ_SMALL, &at));
        if (q->bytes != head)
            return BAD(p, q->pos + 4,
                       "stream '%.64s': NNZ %" PRId32 ", the label of an image has 1",
                       q->info->alias, (int32_t)load_le32(at + 4));
        return sparse_label(p, q->info, q->pos, at, q->unit);
    }
    IMREC_TRY(see(p, q->pos, q->bytes, READ_SMALL, &at));
    return role == CBF_LABEL ? dense_label(p, q->info, q->pos, at, q->unit)
           : role == CBF_ID  ? take_id(p, q, at)
                             : take_length(p, role, q, at);
}

/* Bytes of the sequence at `pos`, checked against the chunk's end. */
static enum imrec_status measure(struct cbf_places *p, const struct stream_info *s, uint32_t k,
                                 uint64_t ahead, struct sequence *q)
{
    const uint8_t *at;
    const uint64_t head = s->storage == STREAM_SPARSE ? 8 : 4, left = p->end - q->pos - head;
    if (p->end - q->pos < head)
        return BAD(p, q->pos, "stream '%.64s', sequence %" PRIu64 ": chunk %" PRIu32 " ends here",
                   s->alias, p->first + k, p->which);
    IMREC_TRY(see(p, q->pos, head, ahead, &at));
    const uint64_t value = stream_element_bytes(s->element);
    const uint32_t n = load_le32(at);
    const uint64_t sample = head == 4 ? s->dim * value : 4; /* sparse: its count */
    if (n > left / sample)
        return BAD(p, q->pos,
                   "stream '%.64s', sequence %" PRIu64 ": number of samples %" PRIu32
                   ", it must be in [0, %" PRIu64 "] to fit chunk %" PRIu32,
                   s->alias, p->first + k, n, left / sample, p->which);
    q->samples = n;
    q->bytes = head + n * sample;
    if (head == 4)
        return IMREC_OK;
    const uint32_t nnz = load_le32(at + 4);
    if (nnz > INT32_MAX || nnz > (left - n * sample) / (value + 4))
        return BAD(p, q->pos + 4,
                   "stream '%.64s', sequence %" PRIu64 ": NNZ %" PRId32
                   ", it must be in [0, %" PRIu64 "] to fit chunk %" PRIu32,
                   s->alias, p->first + k, (int32_t)nnz, (left - n * sample) / (value + 4),
                   p->which);
    q->bytes += nnz * (value + 4);
    return IMREC_OK;
}

static enum cbf_role role_of(const struct cbf_places *p, uint32_t stream)
{
    enum cbf_role role = CBF_IMAGE;
    while (role < CBF_ROLES && p->stream[role] != stream)
        role++;
    return role;
}

/* From one count to the next: *pos is after the stream at the end. */
static enum imrec_status walk_stream(struct cbf_places *p, uint32_t stream, uint64_t *pos)
{
    struct sequence q = {.info = &p->h->stream[stream], .pos = *pos};
    const enum cbf_role role = role_of(p, stream);
    const uint64_t ahead = role == CBF_IMAGE || role == CBF_FIELDS ? READ_HEAD : READ_SMALL;
    for (uint32_t k = 0; k < sequences(p); k++, q.pos += q.bytes) {
        IMREC_TRY(measure(p, q.info, k, ahead, &q));
        q.unit = unit_of(p, k);
        q.record = record_of(p, k);
        q.rest = rest_of(p, k);
        if (role == CBF_ROLES || q.record->bytes == CBF_LOST)
            continue;
        const enum imrec_status st = take(p, role, &q);
        if (st == IMREC_ERR_CORRUPT)
            IMREC_TRY(lose(p, k));
        else
            IMREC_TRY(st);
    }
    if (role < CBF_ROLES)
        p->have[role] = true;
    *pos = q.pos;
    return IMREC_OK;
}

/* ---- a chunk ------------------------------------------------------------------------------ */

static void forget(struct cbf_places *p, size_t losses)
{
    cbf_of(p->container)->loss_count = losses;
    memset(p->have, 0, sizeof(p->have));
    for (uint32_t k = 0; k < sequences(p); k++) {
        *record_of(p, k) = (struct indexed_record){p->begin, p->number + k, p->shard, 0};
        if (rest_of(p, k) != NULL)
            *rest_of(p, k) = (struct cbf_rest){0, 0};
    }
}

static enum imrec_status walk_chunk(struct cbf_places *p)
{
    uint64_t pos = p->begin + 4 * (uint64_t)sequences(p); /* after the lengths on the timeline */
    for (uint32_t i = 0; i < p->h->streams; i++)
        IMREC_TRY(walk_stream(p, i, &pos));
    if (pos != p->end)
        return BAD(p, pos,
                   "the %" PRIu32 " sequences of chunk %" PRIu32 " end here, %" PRIu64
                   " bytes before the chunk does",
                   sequences(p), p->which, p->end - pos);
    return IMREC_OK;
}

/* Where each stream is, if the sequences of all but fields and compressed images are alike: one
 * sample, and one value where it is sparse. */
struct layout {
    uint64_t begin[CBF_ROLES], end[CBF_ROLES];
};

/* False: more than the chunk has. */
static bool even_bytes(const struct cbf_places *p, const struct stream_info *s, uint64_t *bytes)
{
    const uint64_t value = stream_element_bytes(s->element);
    const uint64_t one = s->storage == STREAM_SPARSE ? 8 + value + 8 : 4 + s->dim * value;
    return !__builtin_mul_overflow(one, (uint64_t)sequences(p), bytes) &&
           *bytes <= p->end - p->begin;
}

/* Whether the bytes of all even streams are there; *left: what is for the others. */
static bool fit_even(const struct cbf_places *p, uint32_t odd, uint64_t *left)
{
    uint64_t bytes;
    for (uint32_t i = 0; i < p->h->streams; i++) {
        if (i == odd || i == p->stream[CBF_FIELDS])
            continue;
        if (!even_bytes(p, &p->h->stream[i], &bytes) || bytes > *left)
            return false;
        *left -= bytes;
    }
    return true;
}

/* Their lengths have to be before them. */
static enum imrec_status
place_fields(struct cbf_places *p, const struct layout *l, uint64_t begin, uint64_t *bytes)
{
    uint64_t pos = l->begin[CBF_FIELDS_LENGTH];
    if (pos == 0)
        return IMREC_ERR_CORRUPT;
    p->until = l->end[CBF_FIELDS_LENGTH]; /* what comes then is large, and for others to read */
    const enum imrec_status st = walk_stream(p, p->stream[CBF_FIELDS_LENGTH], &pos);
    p->until = p->end;
    if (st != IMREC_OK)
        return st;
    if (pos != l->end[CBF_FIELDS_LENGTH])
        return IMREC_ERR_CORRUPT;
    pos = begin;
    for (uint32_t k = 0; k < sequences(p); k++) {
        struct cbf_rest *b = rest_of(p, k);
        if (record_of(p, k)->bytes == CBF_LOST)
            return IMREC_ERR_CORRUPT; /* how long they are nobody knows */
        b->offset = pos;
        pos += 4 + ELEMENT_BYTES * (uint64_t)cbf_elements(b->bytes, true);
    }
    *bytes = pos - begin;
    return IMREC_OK;
}

/* IMREC_ERR_CORRUPT: it is to be walked. */
static enum imrec_status lay_out(struct cbf_places *p, struct layout *l)
{
    const uint32_t odd = cbf_of(p->container)->pixels ? CBF_NO_STREAM : p->stream[CBF_IMAGE];
    uint64_t pos = p->begin + 4 * (uint64_t)sequences(p), left = p->end - pos, bytes;
    *l = (struct layout){.begin = {0}};
    if (!fit_even(p, odd, &left))
        return IMREC_ERR_CORRUPT;
    for (uint32_t i = 0; i < p->h->streams; i++) {
        const enum cbf_role role = role_of(p, i);
        const uint64_t begin = pos;
        if (role == CBF_FIELDS)
            IMREC_TRY(place_fields(p, l, begin, &bytes));
        else if (i == odd)
            bytes = left;
        else if (!even_bytes(p, &p->h->stream[i], &bytes))
            return IMREC_ERR_CORRUPT;
        if (role == CBF_FIELDS || i == odd) {
            if (bytes > left)
                return IMREC_ERR_CORRUPT;
            left -= bytes;
        }
        pos += bytes;
        if (role < CBF_ROLES) {
            l->begin[role] = begin;
            l->end[role] = pos;
        }
    }
    return pos == p->end ? IMREC_OK : IMREC_ERR_CORRUPT;
}

static bool place_images(struct cbf_places *p, const struct layout *l)
{
    const struct cbf_images *c = cbf_of(p->container);
    const uint64_t decoded = p->container->value_count * (uint64_t)(p->container->doubles ? 8 : 4);
    uint64_t pos = l->begin[CBF_IMAGE];
    for (uint32_t k = 0; k < sequences(p); k++) {
        struct indexed_record *r = record_of(p, k);
        if (r->bytes == CBF_LOST)
            return false; /* how long it is nobody knows */
        r->offset = pos;
        if (c->pixels)
            r->bytes = (uint32_t)decoded;
        pos += 4 + (c->pixels ? decoded : ELEMENT_BYTES * (uint64_t)cbf_elements(r->bytes, false));
    }
    return pos == l->end[CBF_IMAGE];
}

/* IMREC_ERR_CORRUPT: it is to be walked. */
static enum imrec_status read_even(struct cbf_places *p)
{
    struct layout l;
    IMREC_TRY(lay_out(p, &l));
    for (enum cbf_role role = CBF_LENGTH; role < CBF_ROLES; role++) {
        if (role == CBF_LABEL && !place_images(p, &l))
            return IMREC_ERR_CORRUPT;
        if (p->stream[role] == CBF_NO_STREAM)
            continue;
        uint64_t pos = l.begin[role];
        IMREC_TRY(walk_stream(p, p->stream[role], &pos));
        if (pos != l.end[role])
            return IMREC_ERR_CORRUPT;
    }
    return IMREC_OK;
}

enum imrec_status cbf_places_read(struct cbf_places *p, struct imrec_error *err)
{
    struct imrec_error own;
    const struct cbf_chunk_entry *e = &p->h->chunk[p->which];
    const size_t losses = cbf_of(p->container)->loss_count;
    p->err = &own;
    p->begin = e->offset;
    p->end = p->until = e->offset + e->bytes;
    p->first = p->number - cbf_of(p->container)->first[p->shard];
    p->seen = p->seen_end = 0;
    forget(p, losses);
    enum imrec_status st = read_even(p);
    if (st == IMREC_ERR_CORRUPT) {
        forget(p, losses);
        st = walk_chunk(p);
    }
    if (st != IMREC_OK && st != IMREC_ERR_NO_MEMORY)
        st = lose_chunk(p, losses);
    if (st != IMREC_OK && err != NULL)
        *err = own;
    return st;
}

void cbf_places_free(struct cbf_places *p)
{
    imrec_free(p->buffer);
    p->buffer = NULL;
    p->room = 0;
}
