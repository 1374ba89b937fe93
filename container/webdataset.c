/* container/webdataset.c - the kind of WebDataset's tar archives.
 *
 * A record is a sample (archive/tar_samples.h). The image is the first file whose extension ends in
 * that of an image format, the label what .cls has in decimal digits. Records are listed from the
 * headers alone; their ids count them, over all archives. */
#include "container/kinds.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/math.h"
#include "container/archive/tar_samples.h"
#include "container/partition.h"
#include "container/record_table.h"
#include "formats/recordio/image_record.h"
#include "formats/set/image_list.h"
#include "formats/tar/tar_header.h"
#include "formats/text.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#define RECORD_MOST ((uint64_t)UINT32_MAX - TAR_BLOCK)

static const char *const image_extensions[] = {"jpg", "jpeg", "png", "webp",
                                               "gif", "bmp",  "tif", "tiff"};

struct loss {
    uint64_t number; /* of the record, over all shards */
    struct imrec_error why;
};

struct archive { /* container.state */
    struct loss *losses;
    uint64_t count, room;
    uint64_t begin; /* number of unit 0 */
};

/* ---- listing ------------------------------------------------------------------------------ */

static bool is_image(const char *extension)
{
    const char *dot = strrchr(extension, '.'), *last = dot != NULL ? dot + 1 : extension;
    for (size_t i = 0; i < sizeof(image_extensions) / sizeof(*image_extensions); i++)
        if (strcasecmp(last, image_extensions[i]) == 0)
            return true;
    return false;
}

struct listing {
    struct container *c;
    uint32_t shard;
    uint64_t capacity, hash;
    struct tar_samples samples;
};

static enum imrec_status
add_record(struct listing *l, uint64_t offset, uint32_t bytes, struct imrec_error *err)
{
    l->hash = (l->hash ^ bytes) * 0x100000001b3u;
    return record_table_add(l->c, &l->capacity,
                            (struct indexed_record){offset, l->c->record_total, l->shard, bytes},
                            err);
}

static enum imrec_status
add_loss(struct listing *l, uint64_t offset, const struct imrec_error *why, struct imrec_error *err)
{
    struct archive *a = l->c->state;
    if (!IMREC_GROW(a->losses, a->room, a->count + 1))
        return IMREC_NO_MEMORY(err, "no memory for the error of an archive");
    a->losses[a->count] = (struct loss){l->c->record_total, *why};
    a->losses[a->count++].why.offset = offset;
    return add_record(l, offset, RECORD_LOST, err);
}

static enum imrec_status take_sample(struct listing *l, struct imrec_error *err)
{
    struct imrec_error why;
    const uint64_t begin = l->samples.begin, n = l->samples.end - begin;
    if (n == 0)
        return IMREC_OK;
    if (n <= RECORD_MOST)
        return add_record(l, begin, (uint32_t)n, err);
    (void)imrec_error_at(&why, IMREC_ERR_LIMIT, begin,
                         "the sample has %" PRIu64 " bytes, at most 4 GiB can be read", n);
    return add_loss(l, begin, &why, err);
}

static enum imrec_status take_all(struct listing *l, struct imrec_error *err)
{
    for (;;) {
        struct imrec_error why;
        const enum imrec_status st = tar_samples_next(&l->samples, &why);
        if (st == IMREC_END)
            return IMREC_OK;
        if (st == IMREC_ERR_NO_MEMORY) {
            *err = why;
            return st;
        }
        IMREC_TRY(st == IMREC_OK ? take_sample(l, err) : add_loss(l, why.offset, &why, err));
    }
}

static enum imrec_status list_shard(struct listing *l, struct imrec_error *err)
{
    const struct shard *s = &l->c->shards[l->shard];
    IMREC_TRY(tar_samples_begin(&l->samples, s->source, s->size, source_is_far(s->uri), err));
    const enum imrec_status st = take_all(l, err);
    tar_samples_end(&l->samples);
    return st;
}

static enum imrec_status list_all(struct listing *l, struct imrec_error *err)
{
    struct container *c = l->c;
    c->label_count = 1;
    for (; l->shard < c->shard_count; l->shard++)
        IMREC_TRY(list_shard(l, err));
    IMREC_TRY(record_table_end(c, l->hash, err));
    ((struct archive *)c->state)->begin = partition_begin(c, c->options.part_index);
    return IMREC_OK;
}

static enum imrec_status
list(struct container *c, const struct shard_list *names, struct imrec_error *err)
{
    (void)names;
    struct listing *l = imrec_zalloc(1, sizeof(*l));
    c->state = imrec_zalloc(1, sizeof(struct archive));
    enum imrec_status st = IMREC_NO_MEMORY(err, "no memory to list an archive");
    if (l != NULL && c->state != NULL) {
        *l = (struct listing){.c = c, .hash = 0xcbf29ce484222325u};
        st = list_all(l, err);
    }
    imrec_free(l);
    return st;
}

static void close_archive(struct container *c)
{
    struct archive *a = c->state;
    IMREC_FREE(a->losses, a);
}

/* ---- records ------------------------------------------------------------------------------ */

static const struct imrec_error *lost(const struct container *c, uint64_t unit)
{
    const struct archive *a = c->state;
    if (c->records[unit].bytes != RECORD_LOST)
        return NULL;
    return &a->losses[first_at_least(a->losses, sizeof(*a->losses), offsetof(struct loss, number),
                                     a->count, a->begin + unit)]
                .why;
}

struct member {
    struct tar_header h;
    struct bytes content;
};

/* The next file of a record; false: there is none. Headers were checked when they were listed, and
 * are again: the file may have changed. */
static bool next_member(struct bytes *left, struct member *m)
{
    struct bytes content[2];
    enum tar_type kind[2];
    uint32_t count = 0;
    while (left->n >= TAR_BLOCK) {
        if (tar_header_parse(left->p, &m->h, NULL) != IMREC_OK)
            return false;
        for (uint32_t i = 0; i < count && m->h.type == TAR_FILE; i++)
            if (tar_header_extend(&m->h, kind[i], content[i], NULL) != IMREC_OK)
                return false;
        if (m->h.size > left->n - TAR_BLOCK)
            return false;
        m->content = (struct bytes){left->p + TAR_BLOCK, (size_t)m->h.size};
        const uint64_t step = TAR_BLOCK + tar_padded(m->h.size);
        left->p += step < left->n ? step : left->n;
        left->n -= step < left->n ? (size_t)step : left->n;
        if (m->h.type == TAR_FILE)
            return true;
        if (m->h.type != TAR_LONG_NAME && m->h.type != TAR_PAX) {
            count = 0;
        } else if (count < 2) {
            content[count] = m->content;
            kind[count++] = m->h.type;
        }
    }
    return false;
}

/* The class in *room's first label. */
static enum imrec_status
read_class(struct bytes text, struct parse_room *room, struct record *out, struct imrec_error *err)
{
    uint64_t v;
    text = text_trim(text);
    while (text.n != 0 && (text.p[text.n - 1] == '\n' || text.p[text.n - 1] == '\r'))
        text.n--;
    const bool exact = room->typed != NULL;
    if (!text_to_u64(text, &v) || (exact ? v > INT64_MAX : !image_record_holds((double)v)))
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "its .cls is %s: a class is a whole number from 0%s", text_quote(text).s,
                          exact ? "" : ", one that a float32 has exactly (dtype_label=int64)");
    out->label_count = 1;
    if (room->label_room == 0)
        return IMREC_OK;
    store_le_float((uint8_t *)&room->labels[0], (float)v);
    out->labels = (struct bytes){(const uint8_t *)room->labels, sizeof(float)};
    if (!exact)
        return IMREC_OK;
    if (room->type == IMREC_LABEL_INT64)
        room->typed[0].i = (int64_t)v;
    else
        room->typed[0].f = (double)v;
    out->typed = room->typed;
    return IMREC_OK;
}

static enum imrec_status parse(const struct container *c, const struct record_ref *r,
                               unsigned parts, struct parse_room *room, struct record *out,
                               struct imrec_error *err)
{
    (void)c;
    struct bytes left = r->bytes, class = {NULL, 0};
    struct member m;
    const char *extension;
    *out = (struct record){.id = r->key};
    while (next_member(&left, &m)) {
        (void)tar_key_bytes(m.h.name, &extension);
        if (extension == NULL)
            continue;
        if (out->image.p == NULL && is_image(extension))
            out->image = m.content;
        if (strcmp(extension, "cls") == 0)
            class = m.content;
    }
    if (out->image.p == NULL)
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "the sample has no image: none of its files ends in .jpg, .png or "
                          "another suffix of an image");
    if (class.p == NULL || (parts & RECORD_LABELS) == 0)
        return IMREC_OK;
    return read_class(class, room, out, err);
}

static const char *refuse_boxes(const struct container *c)
{
    (void)c;
    return "have classes";
}

static uint64_t memory(const struct container *c)
{
    const struct archive *a = c->state;
    return a->room * sizeof(*a->losses);
}

const struct container_kind webdataset_kind = {
    .name = "tar archive",
    .record = "sample",
    .suffix = ".tar",
    .align = TAR_BLOCK,
    .own_index = true,
    .rooms = true,
    .recognize = tar_is_magic,
    .list = list,
    .extent = record_table_extent,
    .lost = lost,
    .open = record_table_open,
    .parse = parse,
    .refuse_boxes = refuse_boxes,
    .memory = memory,
    .close = close_archive,
};
