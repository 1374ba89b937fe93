/* tests/support/imageset.h - shards of small images made in code, and iterators over them.
 *
 * Record i has the id 1000 + 7 i and the labels i, i + 0.5, i + 0.5, ...; even ones are PNG, odd
 * ones JPEG, between 14 and 19 px wide and high. What a failing one has instead: see BAD_*. */
#ifndef IMREC_TESTS_IMAGESET_H
#define IMREC_TESTS_IMAGESET_H

#include "base/alloc.h"
#include "base/buf.h"
#include "codec/codec.h"
#include "formats/recordio/image_record.h"
#include "formats/recordio/record_index.h"
#include "formats/recordio/recordio.h"
#include "imrec/imrec.h"
#include "tests/support/built.h"
#include "tests/support/opening.h"
#include "tests/support/starving.h"
#include "tests/support/tmpdir.h"

#include <check.h>

enum bad {
    GOOD,
    BAD_PIXELS,  /* the image's bytes are no image */
    BAD_RECORD,  /* fewer bytes than a header */
    BAD_LABELS,  /* one label more than the others have */
    BAD_FRAMING, /* the head in the shard is overwritten: no record */
};

struct image_set {
    struct tmpdir dir;
    char rec[2048], idx[2048]; /* path_imgrec= and path_imgidx= of all shards, with the key */
    uint32_t records, labels;
};

struct image_set_options {
    uint32_t records, shards, labels;
    enum bad (*bad)(uint32_t i); /* NULL: all good */
    uint32_t side;               /* px: of every image; 0: as above */
    bool id_keys;                /* of the index: the ids; else they are counted */
    uint32_t classes;            /* label i is that of i % classes; 0: i itself */
    bool jpeg;                   /* no PNG: its library asks for memory anew each time */
};

static inline uint64_t set_id(uint32_t i)
{
    return 1000 + 7 * (uint64_t)i;
}

static inline uint32_t set_record_of(uint64_t id)
{
    return (uint32_t)((id - 1000) / 7);
}

/* Some records bad in every way, neighbours too, of the first 90. */
static inline enum bad set_some_bad(uint32_t i)
{
    switch (i) {
    case 7:
    case 8:
    case 60:
        return BAD_PIXELS;
    case 13:
        return BAD_RECORD;
    case 31:
        return BAD_LABELS;
    case 42:
    case 43:
    case 77:
        return BAD_FRAMING;
    default:
        return GOOD;
    }
}

static inline void set_pixels(uint32_t i, uint8_t *to, size_t n)
{
    uint64_t z = i * 0x9e3779b97f4a7c15u + 1;
    for (size_t k = 0; k < n; k++) {
        z = z * 6364136223846793005u + 1442695040888963407u;
        to[k] = (uint8_t)(128 + (int)(z >> 60) * 4 - 32 + (int)(i % 64));
    }
}

static inline struct bytes
set_encode(struct codec *c, const struct image_set_options *o, uint32_t i)
{
    static uint8_t pixels[512 * 512 * 3];
    struct imrec_image image = {pixels, 0, 14 + i % 6, 14 + i / 6 % 6, 3};
    struct bytes out;
    if (o->side != 0)
        image.width = image.height = o->side;
    image.stride = 3 * (size_t)image.width;
    set_pixels(i, pixels, image.stride * image.height);
    ck_assert_int_eq(
        i % 2 || o->jpeg || !built_with("png")
            ? codec_encode_jpeg(c, &image, (struct codec_jpeg_how){.quality = 90}, &out, NULL)
            : codec_encode_png(c, &image, 1, &out, NULL),
        IMREC_OK);
    return out;
}

static inline void set_record(struct codec *c, const struct image_set_options *o, uint32_t i,
                              enum bad bad, struct buf *record)
{
    float labels[16];
    for (uint32_t k = 0; k < 16; k++)
        labels[k] = (float)(o->classes != 0 ? i % o->classes : i) + (k != 0 ? 0.5f : 0);
    record->n = 0;
    const uint32_t n = o->labels + (bad == BAD_LABELS);
    ck_assert_int_eq(image_record_head(record, labels, n, false, set_id(i), 0, NULL), IMREC_OK);
    const struct bytes image = set_encode(c, o, i);
    ck_assert_int_eq(buf_append(record, image.p, image.n, NULL), IMREC_OK);
    if (bad == BAD_PIXELS)
        memset(record->p + record->n - image.n, 'x', image.n);
    if (bad == BAD_RECORD)
        record->n = 11;
}

static inline void
set_shard(struct image_set *s, const struct image_set_options *o, struct codec *c, uint32_t shard)
{
    struct buf file = BUF_INIT((size_t)1 << 32), record = BUF_INIT((size_t)1 << 24);
    struct buf index = BUF_INIT((size_t)1 << 24);
    char name[32], line[64];
    for (uint32_t i = shard * o->records / o->shards; i < (shard + 1) * o->records / o->shards;
         i++) {
        const enum bad bad = o->bad != NULL ? o->bad(i) : GOOD;
        const size_t begin = file.n;
        const unsigned long long key = o->id_keys ? set_id(i) : i;
        const int n = snprintf(line, sizeof(line), "%llu\t%zu\n", key, begin);
        ck_assert_int_eq(buf_append(&index, line, (size_t)n, NULL), IMREC_OK);
        set_record(c, o, i, bad, &record);
        ck_assert_int_eq(recordio_frame((struct bytes){record.p, record.n}, &file, NULL), IMREC_OK);
        if (bad == BAD_FRAMING)
            memset(file.p + begin, 0x55, 8);
    }
    const char *separator = shard != 0 ? ";" : "";
    snprintf(name, sizeof(name), "%02u.rec", shard);
    strcat(strcat(s->rec, separator), tmp_write(&s->dir, name, file.p, file.n));
    snprintf(name, sizeof(name), "%02u.idx", shard);
    strcat(strcat(s->idx, separator), tmp_write(&s->dir, name, index.p, index.n));
    buf_free(&file);
    buf_free(&record);
    buf_free(&index);
}

static inline struct image_set image_set_make(const struct image_set_options *o)
{
    struct image_set s = {tmpdir_make(), "path_imgrec=", "path_imgidx=", o->records, o->labels};
    struct codec *c;
    ck_assert_int_eq(codec_new(&c, NULL), IMREC_OK);
    for (uint32_t shard = 0; shard < o->shards; shard++)
        set_shard(&s, o, c, shard);
    codec_free(c);
    return s;
}

static inline void image_set_free(struct image_set *s)
{
    tmpdir_remove(&s->dir);
}

/* ---- iterators ---------------------------------------------------------------------------- */

/* Opens over the set with "key=value" words separated by blanks in `words`; `index`: with it. */
static inline enum imrec_status set_try_open(const struct image_set *s, bool index,
                                             const char *words, struct imrec_iter **out,
                                             struct imrec_error *err)
{
    struct imrec_iter_options o;
    imrec_iter_options_init(&o);
    o.data_shape = (struct imrec_shape){3, 12, 12};
    o.label_width = s->labels;
    o.batch_size = 5;
    o.preprocess_threads = 2;
    if (imrec_iter_options_set(&o, s->rec, err) != IMREC_OK ||
        (index && imrec_iter_options_set(&o, s->idx, err) != IMREC_OK))
        return err->status;
    return open_words(&o, words, out, err);
}

static inline struct imrec_iter *set_open(const struct image_set *s, bool index, const char *words)
{
    struct imrec_iter *it;
    struct imrec_error err = {0};
    if (set_try_open(s, index, words, &it, &err) != IMREC_OK)
        ck_abort_msg("%s: %s", words, err.message);
    return it;
}

/* Opening with the n-th allocation failing is an error that leaves nothing, for each n; the last
 * one opens. */
static inline void
opening_must_fail_cleanly(const struct image_set *s, bool index, const char *words)
{
    long n = 0;
    STARVING_SOME(memory)
    {
        struct imrec_iter *it;
        struct imrec_error err = {0};
        memory.st = set_try_open(s, index, words, &it, &err);
        ck_assert(memory.st == IMREC_OK || (it == NULL && err.message[0] != '\0'));
        imrec_iter_close(it);
        n++;
    }
    ck_assert_int_gt(n, 10);
}

/* Words of an order, and whether it is that of an index. */
struct set_order {
    const char *words;
    bool index;
};

/* Without and with an index, and shuffled: over several windows, and over all. */
static const struct set_order set_orders[] = {
    {"", false},
    {"", true},
    {"shuffle=1 shuffle_window=32768 shuffle_chunk=4096", false},
    {"shuffle=1", true},
};

/* What was in a slot, or an END, or a report without a slot. */
struct seen {
    enum imrec_status status; /* of the slot; IMREC_END; IMREC_ERR_DATA: next() said so */
    uint64_t id, hash, sweep;
    bool valid;
};

struct stream {
    struct seen *seen;
    size_t n, room;
};

static inline void stream_put(struct stream *s, struct seen seen)
{
    if (s->n == s->room) {
        s->room = s->room != 0 ? 2 * s->room : 256;
        s->seen = realloc(s->seen, s->room * sizeof(seen));
    }
    s->seen[s->n++] = seen;
}

static inline void stream_free(struct stream *s)
{
    free(s->seen);
    *s = (struct stream){0};
}

static inline uint64_t seen_hash(uint64_t h, const void *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        h = (h ^ ((const uint8_t *)p)[i]) * 0x100000001b3u;
    return h;
}

/* Slots of a batch in a row: samples and failed ones; pad only `with_pad`. */
static inline void
stream_batch(struct stream *s, const struct imrec_batch *b, size_t sample_bytes, bool with_pad)
{
    for (uint32_t i = 0; i < b->slots; i++) {
        struct seen x = {b->status[i], b->ids[i], 0xcbf29ce484222325u, b->sweep, b->valid[i] == 1};
        if (!x.valid && x.status == IMREC_OK && !with_pad)
            continue;
        x.hash = seen_hash(x.hash, (const uint8_t *)b->data + i * sample_bytes, sample_bytes);
        x.hash = seen_hash(x.hash, b->labels + (size_t)i * b->label_width,
                           b->label_width * sizeof(float));
        stream_put(s, x);
    }
}

/* Reads on until `ends` ENDs have come or `most` slots were seen. */
static inline void stream_read(struct stream *s, struct imrec_iter *it, size_t sample_bytes,
                               uint32_t ends, size_t most)
{
    struct imrec_batch b;
    struct imrec_error err;
    while (ends > 0 && s->n < most) {
        const enum imrec_status st = imrec_iter_next(it, &b, &err);
        if (st == IMREC_END) {
            stream_put(s, (struct seen){.status = IMREC_END});
            ends--;
        } else if (st == IMREC_OK || st == IMREC_ERR_DATA)
            stream_batch(s, &b, sample_bytes, false);
        else
            ck_abort_msg("next(): %s", err.message);
    }
}

static inline void
streams_must_equal(const struct stream *a, const struct stream *b, const char *what)
{
    if (a->n != b->n)
        ck_abort_msg("%s: %zu slots instead of %zu", what, a->n, b->n);
    for (size_t i = 0; i < a->n; i++)
        if (a->seen[i].status != b->seen[i].status || a->seen[i].id != b->seen[i].id ||
            a->seen[i].hash != b->seen[i].hash)
            ck_abort_msg("%s: slot %zu: status %d instead of %d, id %d instead of %d, hash %s",
                         what, i, a->seen[i].status, b->seen[i].status, (int)a->seen[i].id,
                         (int)b->seen[i].id, a->seen[i].hash == b->seen[i].hash ? "same" : "not");
}
#endif
