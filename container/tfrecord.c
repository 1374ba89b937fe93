/* container/tfrecord.c - the kind of TensorFlow's TFRecord files, of tf.train.Examples.
 *
 * Records are listed from their heads alone (archive/tfrecord_walk.h); the sum of a content is
 * compared when the record is opened. Features image=, label=, mask= are what they say; ids count
 * the records, over all files. */
#include "container/kinds.h"

#include "base/alloc.h"
#include "base/error.h"
#include "container/archive/tfrecord_walk.h"
#include "container/example_record.h"
#include "container/listed_shards.h"
#include "container/partition.h"
#include "container/record_table.h"
#include "formats/tfrecord/tfrecord_frame.h"

#include <inttypes.h>
#include <string.h>

struct tfrecords { /* container.state */
    struct listed_losses losses;
    uint64_t begin; /* number of unit 0 */
    struct example_names names;
};

/* ---- listing ------------------------------------------------------------------------------ */

/* Whether a record is to be listed: whose image only its content tells. One that is no Example is:
 * reading it says why. */
static enum imrec_status is_listed(const struct container *c, struct source *source, uint64_t begin,
                                   uint64_t bytes, bool *listed, struct imrec_error *err)
{
    const uint64_t frame = TFRECORD_HEAD_BYTES + TFRECORD_TAIL_BYTES;
    *listed = true;
    if (!c->options.only_images || bytes > UINT32_MAX)
        return IMREC_OK;
    const size_t n = (size_t)(bytes - frame);
    uint8_t *content = imrec_realloc(NULL, n + 1, 1);
    if (content == NULL)
        return IMREC_NO_MEMORY(err, "no memory for a record of %zu bytes", n);
    const enum imrec_status st = source_read(source, begin + TFRECORD_HEAD_BYTES, content, n, err);
    const struct tfrecords *t = c->state;
    if (st == IMREC_OK &&
        example_has_image(&t->names, (struct bytes){content, n}, listed, NULL) != IMREC_OK)
        *listed = true;
    imrec_free(content);
    return st;
}

static enum imrec_status walk_all(const struct container *c, struct tfrecord_walk *w, uint64_t end,
                                  struct shard_found *f, struct imrec_error *err)
{
    while (w->at < end) {
        struct imrec_error why = {.offset = IMREC_NO_OFFSET};
        uint64_t begin, bytes;
        bool listed;
        IMREC_TRY(stop_check(&c->stop, err));
        const enum imrec_status st = tfrecord_walk_next(w, &begin, &bytes, &why);
        if (st == IMREC_END)
            return IMREC_OK;
        if (st == IMREC_OK) {
            IMREC_TRY(is_listed(c, w->source, begin, bytes, &listed, err));
            if (listed)
                IMREC_TRY(shard_found_add(f, begin, bytes, "record", err));
        } else if (st == IMREC_ERR_CORRUPT) {
            why.offset = begin;
            IMREC_TRY(shard_found_lost(f, &why, err));
        } else {
            if (err != NULL)
                *err = why;
            return st;
        }
    }
    return IMREC_OK;
}

static enum imrec_status walk(const struct container *c, struct record_walk *w,
                              struct shard_found *out, struct imrec_error *err)
{
    struct tfrecord_walk heads;
    IMREC_TRY(tfrecord_walk_begin(&heads, w->source, w->size, w->far, err));
    heads.at = w->at;
    const enum imrec_status st = walk_all(c, &heads, w->end, out, err);
    w->at = heads.at;
    tfrecord_walk_end(&heads);
    return st;
}

static enum imrec_status
list(struct container *c, const struct shard_list *names, struct imrec_error *err)
{
    (void)names;
    struct tfrecords *t = c->state = imrec_zalloc(1, sizeof(*t));
    if (t == NULL)
        return IMREC_NO_MEMORY(err, "no memory to list a TFRecord file");
    IMREC_TRY(example_names_copy(&t->names, &c->options, err));
    IMREC_TRY(listed_shards(c, &t->losses, err));
    t->begin = partition_begin(c, c->options.part_index);
    return IMREC_OK;
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
    const uint64_t bytes = at->end - at->begin;
    (void)c;
    if (bytes < TFRECORD_HEAD_BYTES + TFRECORD_TAIL_BYTES)
        return imrec_fail(err, IMREC_ERR_CORRUPT, "no record has %" PRIu64 " bytes", bytes);
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
    .extents = true,
    .least = TFRECORD_HEAD_BYTES + TFRECORD_TAIL_BYTES,
    .masks = true,
    .fields = true,
    .rooms = true,
    .named = true,
    .examples = true,
    .own_sums = true,
    .recognize = tfrecord_is_head,
    .find = tfrecord_find,
    .list = list,
    .walk = walk,
    .count = listed_shards_count,
    .extent = record_table_extent,
    .lost = lost,
    .open = open_record,
    .parse = parse,
    .widest_label = widest_label,
    .memory = memory,
    .close = close_files,
};
