/* container/tfrecord.c - the kind of TensorFlow's TFRecord files, of tf.train.Examples.
 *
 * Records are listed from their heads alone (archive/tfrecord_walk.h); the sum of a content is
 * compared when the record is opened. Features image=, label= are its image and labels; ids count
 * the records, over all files. */
#include "container/kinds.h"

#include "base/alloc.h"
#include "base/error.h"
#include "container/archive/listed_losses.h"
#include "container/archive/tfrecord_walk.h"
#include "container/example_record.h"
#include "container/partition.h"
#include "container/record_table.h"
#include "formats/tfrecord/tfrecord_frame.h"
#include "storage/at_once.h"

#include <inttypes.h>
#include <string.h>

#define SHARDS_AT_ONCE 64u
#define RECORD_MOST    ((uint64_t)UINT32_MAX - 1)
#define HASH_BEGIN     0xcbf29ce484222325u
#define HASH_PRIME     0x100000001b3u

struct tfrecords { /* container.state */
    struct listed_losses losses;
    uint64_t begin; /* number of unit 0 */
    struct example_names names;
};

/* ---- listing ------------------------------------------------------------------------------ */

/* Of a shard: its records, and the losses, which are numbered in it. */
struct found {
    struct indexed_record *records;
    uint64_t count, room;
    struct listed_losses losses;
};

struct listing {
    struct container *c;
    uint32_t first; /* shard of found[0] */
    struct found found[SHARDS_AT_ONCE];
    uint64_t capacity, hash; /* of the table */
};

static enum imrec_status
add_found(struct found *f, uint64_t begin, uint32_t bytes, struct imrec_error *err)
{
    if (!IMREC_GROW(f->records, f->room, f->count + 1))
        return IMREC_NO_MEMORY(err, "no memory to list a TFRecord file");
    f->records[f->count++] = (struct indexed_record){.offset = begin, .bytes = bytes};
    return IMREC_OK;
}

static enum imrec_status
add_lost(struct found *f, uint64_t begin, const struct imrec_error *why, struct imrec_error *err)
{
    IMREC_TRY(listed_losses_add(&f->losses, f->count, why, err));
    return add_found(f, begin, RECORD_LOST, err);
}

static enum imrec_status
take_record(struct found *f, uint64_t begin, uint64_t bytes, struct imrec_error *err)
{
    struct imrec_error why;
    if (bytes <= RECORD_MOST)
        return add_found(f, begin, (uint32_t)bytes, err);
    (void)imrec_error_at(&why, IMREC_ERR_LIMIT, begin,
                         "the record has %" PRIu64 " bytes, at most 4 GiB can be read", bytes);
    return add_lost(f, begin, &why, err);
}

static enum imrec_status walk_all(struct tfrecord_walk *w, struct found *f, struct imrec_error *err)
{
    for (;;) {
        struct imrec_error why = {.offset = IMREC_NO_OFFSET};
        uint64_t begin, bytes;
        const enum imrec_status st = tfrecord_walk_next(w, &begin, &bytes, &why);
        if (st == IMREC_END)
            return IMREC_OK;
        if (st == IMREC_OK) {
            IMREC_TRY(take_record(f, begin, bytes, err));
        } else if (st == IMREC_ERR_CORRUPT) {
            IMREC_TRY(add_lost(f, begin, &why, err));
        } else {
            if (err != NULL)
                *err = why;
            return st;
        }
    }
}

static enum imrec_status list_shard(void *context, uint32_t i, struct imrec_error *err)
{
    struct listing *l = context;
    const struct shard *s = &l->c->shards[l->first + i];
    struct tfrecord_walk w;
    IMREC_TRY(tfrecord_walk_begin(&w, s->source, s->size, source_is_far(s->uri), err));
    const enum imrec_status st = walk_all(&w, &l->found[i], err);
    tfrecord_walk_end(&w);
    return st;
}

/* Appends the records of a shard to the table. */
static enum imrec_status join(struct listing *l, uint32_t i, struct imrec_error *err)
{
    struct container *c = l->c;
    struct tfrecords *t = c->state;
    const struct found *f = &l->found[i];
    for (uint64_t k = 0; k < f->losses.count; k++)
        IMREC_TRY(listed_losses_add(&t->losses, c->record_total + f->losses.p[k].number,
                                    &f->losses.p[k].why, err));
    for (uint64_t k = 0; k < f->count; k++) {
        struct indexed_record r = f->records[k];
        r.key = c->record_total;
        r.shard = l->first + i;
        l->hash = (l->hash ^ r.bytes) * HASH_PRIME;
        IMREC_TRY(record_table_add(c, &l->capacity, r, err));
    }
    return IMREC_OK;
}

/* Up to SHARDS_AT_ONCE, from l->first on: read at once if they are far. */
static enum imrec_status list_some(struct listing *l, struct imrec_error *err)
{
    const uint32_t left = l->c->shard_count - l->first;
    const uint32_t n = left < SHARDS_AT_ONCE ? left : SHARDS_AT_ONCE;
    bool far = false;
    for (uint32_t i = 0; i < n; i++)
        far |= source_is_far(l->c->shards[l->first + i].uri);
    enum imrec_status st = at_once(n, far, list_shard, l, err);
    for (uint32_t i = 0; i < n; i++) {
        if (st == IMREC_OK)
            st = join(l, i, err);
        imrec_free(l->found[i].records);
        listed_losses_free(&l->found[i].losses);
        l->found[i] = (struct found){0};
    }
    l->first += n;
    return st;
}

static enum imrec_status list_all(struct listing *l, struct imrec_error *err)
{
    struct container *c = l->c;
    struct tfrecords *t = c->state;
    IMREC_TRY(example_names_copy(&t->names, c->options.image, c->options.label, err));
    while (l->first < c->shard_count)
        IMREC_TRY(list_some(l, err));
    IMREC_TRY(record_table_end(c, l->hash, err));
    t->begin = partition_begin(c, c->options.part_index);
    return IMREC_OK;
}

static enum imrec_status
list(struct container *c, const struct shard_list *names, struct imrec_error *err)
{
    (void)names;
    struct listing *l = imrec_zalloc(1, sizeof(*l));
    c->state = imrec_zalloc(1, sizeof(struct tfrecords));
    enum imrec_status st = IMREC_NO_MEMORY(err, "no memory to list a TFRecord file");
    if (l != NULL && c->state != NULL) {
        l->c = c;
        l->hash = HASH_BEGIN;
        st = list_all(l, err);
    }
    imrec_free(l);
    return st;
}

static void close_files(struct container *c)
{
    struct tfrecords *t = c->state;
    listed_losses_free(&t->losses);
    example_names_free(&t->names);
    imrec_free(t);
}

/* ---- records ------------------------------------------------------------------------------ */

static const struct imrec_error *lost(const struct container *c, uint64_t unit)
{
    const struct tfrecords *t = c->state;
    return c->records[unit].bytes == RECORD_LOST ? listed_losses_find(&t->losses, t->begin + unit)
                                                 : NULL;
}

/* The head was compared when the record was listed, and is again: the file may have changed. */
static enum imrec_status open_record(const struct container *c, const struct record_place *at,
                                     uint8_t *p, size_t n, struct bytes *out, uint64_t *used,
                                     struct imrec_error *err)
{
    const struct unit_range all = record_table_extent(c, at->number);
    const uint64_t bytes = all.end - all.begin;
    const size_t content = (size_t)bytes - TFRECORD_HEAD_BYTES - TFRECORD_TAIL_BYTES;
    uint64_t length;
    *used = bytes;
    *out = (struct bytes){p + TFRECORD_HEAD_BYTES, content};
    if (n < bytes)
        return IMREC_END;
    if (!tfrecord_head(p, &length) || length != content)
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "the record's head has changed since the file was opened");
    if (!tfrecord_is_intact(*out, out->p + content))
        return imrec_fail(err, IMREC_ERR_CORRUPT, "the checksum of the record's %zu bytes is wrong",
                          content);
    return IMREC_OK;
}

static enum imrec_status parse(const struct container *c, const struct record_ref *r,
                               unsigned parts, struct parse_room *room, struct record *out,
                               struct imrec_error *err)
{
    const struct tfrecords *t = c->state;
    *out = (struct record){.id = r->key};
    return example_record(&t->names, r->bytes, parts, room, out, err);
}

/* Labels are in the contents, which nobody has read. */
static enum imrec_status
widest_label(const struct container *c, bool may_read, uint32_t *out, struct imrec_error *err)
{
    *out = 0;
    if (!may_read)
        return IMREC_OK;
    return IMREC_REFUSE(err,
                        "label_pad_width must be given: %.200s is a TFRecord file, of which "
                        "nothing says how wide its widest label is",
                        c->shards[0].uri);
}

static uint64_t memory(const struct container *c)
{
    const struct tfrecords *t = c->state;
    return listed_losses_memory(&t->losses);
}

const struct container_kind tfrecord_kind = {
    .name = "TFRecord file",
    .record = "record",
    .suffix = ".tfrecord",
    .other_suffix = ".tfrecords",
    .align = 1,
    .own_index = true,
    .masks = true,
    .fields = true,
    .rooms = true,
    .named = true,
    .examples = true,
    .own_sums = true,
    .recognize = tfrecord_is_head,
    .find = tfrecord_find,
    .list = list,
    .extent = record_table_extent,
    .lost = lost,
    .open = open_record,
    .parse = parse,
    .widest_label = widest_label,
    .memory = memory,
    .close = close_files,
};
