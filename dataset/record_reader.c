/* dataset/record_reader.c - imrec_reader_*: the records of a partition, one by one. */
#include "dataset/record_reader.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/param.h"
#include "base/sized.h"
#include "container/kinds.h"
#include "container/partition.h"
#include "formats/recordio/image_record.h"
#include "formats/recordio/record_fields.h"

#include <inttypes.h>

#define FRAMED_MAX ((size_t)1 << 31) /* a record of 2^29 bytes, cut at every word, is smaller */

static enum imrec_status no_memory(struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "no memory to read records");
}

/* ---- options ------------------------------------------------------------------------------ */

#define PARAM_STRUCT struct imrec_reader_options
static const struct param reader_table[] = {IMREC_READER_PARAMS(PARAM_ROW){0}};

void imrec_reader_options_init_sized(struct imrec_reader_options *o, size_t size)
{
    struct imrec_reader_options defaults;
    param_defaults(reader_table, &defaults);
    sized_init(o, size, &defaults, sizeof(defaults));
}

static void fill_texts(struct imrec_reader_options *o)
{
    for (const struct param *p = reader_table; p->name != NULL; p++) {
        const char **text = (const char **)((char *)o + p->offset);
        if (p->type == PARAM_TEXT && *text == NULL)
            *text = "";
    }
}

enum imrec_status reader_options_take(const struct imrec_reader_options *o,
                                      struct container_options *to, struct imrec_error *err)
{
    struct imrec_reader_options mine;
    imrec_reader_options_init(&mine);
    if (o != NULL)
        IMREC_TRY(sized_copy(&mine, sizeof(mine), o, "imrec_reader_options_init", err));
    fill_texts(&mine);
    IMREC_TRY(param_check(reader_table, &mine, err));
    to->image = mine.image;
    to->label = mine.label;
    to->mask = mine.mask;
    to->label_offset = mine.label_offset;
    to->path_root = mine.path_root;
    to->container = mine.container;
    return IMREC_OK;
}

enum imrec_status reader_shards(const char *uri, const struct imrec_reader_options *o,
                                enum shard_look look, struct shard_list *out,
                                struct imrec_error *err)
{
    struct container_options set = {.path_imgrec = uri};
    IMREC_TRY(reader_options_take(o, &set, err));
    return shard_list_open(out, uri, kinds_of(set.container), look, err);
}

/* ---- opening ------------------------------------------------------------------------------ */

enum imrec_status imrec_reader_open_as(const struct container_options *options,
                                       struct imrec_reader **out, struct imrec_error *err)
{
    struct container_options o = *options;
    o.cell_bytes = (uint64_t)1 << 40;
    *out = NULL;
    struct imrec_reader *r = imrec_zalloc(1, sizeof(*r));
    if (r == NULL)
        return no_memory(err);
    const enum imrec_status st = container_open(&o, &r->container, err);
    table_reader_init(&r->table, &r->container);
    r->parts = BUF_INIT(FRAMED_MAX);
    if (st != IMREC_OK)
        imrec_reader_close(r);
    else
        *out = r;
    return st;
}

enum imrec_status imrec_reader_open(const char *uri, uint64_t part_index, uint64_t num_parts,
                                    struct imrec_reader **out, struct imrec_error *err)
{
    return imrec_reader_open_with(uri, part_index, num_parts, NULL, out, err);
}

static enum imrec_status open_look(const char *uri, uint64_t part, uint64_t parts,
                                   enum container_look look, const struct imrec_reader_options *o,
                                   struct imrec_reader **out, struct imrec_error *err)
{
    struct container_options all = {
        .path_imgrec = uri, .num_parts = parts, .part_index = part, .look = look};
    *out = NULL;
    IMREC_TRY(reader_options_take(o, &all, err));
    return imrec_reader_open_as(&all, out, err);
}

enum imrec_status imrec_reader_open_with(const char *uri, uint64_t part_index, uint64_t num_parts,
                                         const struct imrec_reader_options *o,
                                         struct imrec_reader **out, struct imrec_error *err)
{
    return open_look(uri, part_index, num_parts, CONTAINER_LOOK_SET, o, out, err);
}

enum imrec_status imrec_reader_open_files(const char *uri, uint64_t part_index, uint64_t num_parts,
                                          struct imrec_reader **out, struct imrec_error *err)
{
    return imrec_reader_open_files_with(uri, part_index, num_parts, NULL, out, err);
}

enum imrec_status imrec_reader_open_files_with(const char *uri, uint64_t part_index,
                                               uint64_t num_parts,
                                               const struct imrec_reader_options *o,
                                               struct imrec_reader **out, struct imrec_error *err)
{
    return open_look(uri, part_index, num_parts, CONTAINER_LOOK_FILE, o, out, err);
}

/* ---- what a record says about itself ------------------------------------------------------ */

enum imrec_status
reader_room_for_labels(struct imrec_reader *r, uint32_t count, struct imrec_error *err)
{
    return IMREC_GROW(r->labels, r->label_room, count) ? IMREC_OK : no_memory(err);
}

static enum imrec_status
copy_labels(struct imrec_reader *r, const struct image_record *image, struct imrec_error *err)
{
    IMREC_TRY(reader_room_for_labels(r, image->label_count, err));
    for (uint32_t i = 0; i < image->label_count; i++)
        r->labels[i] = image_record_label(image, i);
    return IMREC_OK;
}

/* The record's bytes before its parts are joined, which moves all but those of a single one. */
static enum imrec_status
keep_framed(struct imrec_reader *r, const struct walk_item *item, struct imrec_error *err)
{
    const uint8_t *p = scan_bytes(&r->scan, item);
    r->framed = (struct bytes){p, item->span.bytes};
    if (!r->keep_framed || item->span.parts == 1)
        return IMREC_OK;
    r->parts.n = 0;
    IMREC_TRY(buf_append(&r->parts, p, item->span.bytes, err));
    r->framed.p = r->parts.p;
    return IMREC_OK;
}

/* Image, mask and fields; all of it is the image where the trailer is wrong. */
static enum imrec_status give_payload(struct imrec_reader *r, struct bytes payload,
                                      struct imrec_record *out, struct imrec_error *err)
{
    struct record_payload p;
    struct record_field f;
    const enum imrec_status st = record_payload_split(payload, &p, NULL);
    (void)st; /* what is wrong is the image's, too */
    out->image = p.image.p;
    out->image_size = p.image.n;
    out->mask = p.mask.n != 0 ? p.mask.p : NULL;
    out->mask_size = p.mask.n;
    while (record_fields_next(&p.fields, &f))
        IMREC_TRY(given_fields_put(&r->fields, out->field_count++, &f, err));
    out->fields = out->field_count != 0 ? r->fields.fields : NULL;
    return IMREC_OK;
}

static enum imrec_status give_record(struct imrec_reader *r, const struct walk_item *item,
                                     struct imrec_record *out, struct imrec_error *err)
{
    struct image_record head;
    IMREC_TRY(keep_framed(r, item, err));
    const struct bytes b = recordio_join(scan_bytes(&r->scan, item), &item->span);
    *out = (struct imrec_record){.data = b.p,
                                 .size = b.n,
                                 .uri = r->container.shards[r->shard].uri,
                                 .shard = r->shard,
                                 .offset = item->begin};
    if (image_record_parse(b, &head, NULL) != IMREC_OK)
        return IMREC_OK;
    IMREC_TRY(copy_labels(r, &head, err));
    out->is_image = true;
    out->id = head.id;
    out->id2 = head.id2;
    out->labels = r->labels;
    out->label_count = head.label_count;
    IMREC_TRY(give_payload(r, head.image, out, err));
    const struct metadata_record *m = metadata_at(&r->container, r->shard, item->begin);
    out->metadata = m == NULL ? IMREC_NO_METADATA : m->header ? IMREC_HEADER : IMREC_IDENTITY;
    return m != NULL ? IMREC_OK /* its labels are keys */
                     : image_record_shift(r->labels, out->label_count,
                                          r->container.options.label_offset, err);
}

static enum imrec_status
give_damage(struct imrec_reader *r, const struct walk_item *item, struct imrec_error *err)
{
    r->damage = (struct unit_range){r->shard, item->begin, item->end};
    imrec_error_at(err, IMREC_ERR_DATA, item->begin,
                   "%s: bytes %" PRIu64 " to %" PRIu64 " hold no readable record: %s",
                   r->container.shards[r->shard].uri, item->begin, item->end - 1,
                   item->why.message);
    imrec_error_file(err, r->container.shards[r->shard].uri);
    imrec_error_errno(err, item->why.sys_errno);
    return IMREC_ERR_DATA;
}

/* ---- walking ------------------------------------------------------------------------------ */

/* Enters the next shard with bytes of the partition; false at the end. */
static bool enter_shard(struct imrec_reader *r)
{
    for (; r->shard < r->container.shard_count; r->shard++) {
        const struct unit_range b =
            partition_clip(&r->container, r->shard, r->container.begin, r->container.end);
        if (b.begin < b.end) {
            scan_begin(&r->scan, r->container.shards[r->shard].source, b.begin, b.end,
                       b.begin == 0);
            r->begun = true;
            return true;
        }
    }
    return false;
}

enum imrec_status
imrec_reader_next(struct imrec_reader *r, struct imrec_record *out, struct imrec_error *err)
{
    if (r->container.kind->own_index)
        return table_reader_next(&r->table, out, err);
    for (;;) {
        struct walk_item item;
        enum walk_step step;
        if (!r->begun && !enter_shard(r))
            return IMREC_END;
        IMREC_TRY(scan_next(&r->scan, &step, &item, err));
        if (step == WALK_RECORD) {
            const enum imrec_status st = give_record(r, &item, out, &item.why);
            if (st == IMREC_ERR_CORRUPT)
                return give_damage(r, &item, err);
            if (st != IMREC_OK && err != NULL)
                *err = item.why;
            return st;
        }
        if (step == WALK_DAMAGE)
            return give_damage(r, &item, err);
        r->begun = false;
        r->shard++;
    }
}

void imrec_reader_damage(const struct imrec_reader *r, uint32_t *shard, uint64_t *begin,
                         uint64_t *end)
{
    const bool table = r->container.kind->own_index;
    const struct unit_range *d = table ? &r->table.damage : &r->damage;
    *shard = d->shard;
    *begin = d->begin;
    *end = d->end;
}

enum imrec_status
imrec_reader_seek(struct imrec_reader *r, uint32_t shard, uint64_t offset, struct imrec_error *err)
{
    if (shard >= r->container.shard_count)
        return IMREC_REFUSE(err, "there is no shard %" PRIu32 ", there are %" PRIu32, shard,
                            r->container.shard_count);
    if (r->container.kind->own_index) {
        table_reader_seek(&r->table, shard, offset);
        return IMREC_OK;
    }
    const struct unit_range b =
        partition_clip(&r->container, shard, r->container.begin, r->container.end);
    if (offset < b.begin || offset >= b.end || offset % RECORDIO_ALIGN != 0)
        return imrec_error_at(err, IMREC_ERR_ARGUMENT, offset,
                              "%s: byte %" PRIu64 " is not a place of a record of this partition, "
                              "these are multiples of 4 from %" PRIu64 " below %" PRIu64,
                              r->container.shards[shard].uri, offset, b.begin, b.end);
    scan_begin(&r->scan, r->container.shards[shard].source, offset, b.end, true);
    r->shard = shard;
    r->begun = true;
    return IMREC_OK;
}

void imrec_reader_close(struct imrec_reader *r)
{
    if (r == NULL)
        return;
    imrec_free(r->labels);
    scan_end(&r->scan);
    given_fields_free(&r->fields);
    table_reader_free(&r->table);
    container_close(&r->container);
    buf_free(&r->parts);
    imrec_free(r);
}
