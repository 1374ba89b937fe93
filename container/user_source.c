/* container/user_source.c - files of a user's own format. */
#include "container/user_source.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/plugin.h"
#include "container/record_table.h"
#include "formats/recordio/record_mask.h"
#include "formats/set/image_list.h"
#include "imrec/source.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define MOST_RECORD ((uint64_t)1 << 31)
#define KEPT_ROOM   ((size_t)32 << 20) /* between records */

struct user_source {
    struct plugin plugin;
    struct imrec_source format;
    void **state; /* [shards], what index left */
    uint32_t states;
};

static const struct container_kind user_source_kind;

static struct user_source *source_of(const struct container *c)
{
    return c->state;
}

static const char *const no_names[] = {NULL};
static const struct plugin_kind kind = {
    .option = "source",
    .noun = "source",
    .a = "a",
    .taken = no_names,
    .header = "imrec/source.h",
    .macro = "IMREC_SOURCE",
    .magic = IMREC_SOURCE_MAGIC,
    .abi = IMREC_SOURCE_ABI,
    .rest = ", suffix, index, parse, close",
    .bytes = sizeof(struct imrec_source),
};
static struct plugin_table table = {.kind = &kind, .lock = MUTEX_INIT};

/* ---- which source ------------------------------------------------------------------------ */

enum imrec_status imrec_source_register(const char *name, const struct imrec_source *source,
                                        void *user, struct imrec_error *err)
{
    if (name == NULL || source == NULL || source->index == NULL || source->parse == NULL)
        return IMREC_REFUSE(err, "a source has a name and functions index and parse, not NULL");
    return plugin_register(&table, name, source, user, err);
}

enum imrec_status user_source_find(const char *word, struct container *c, struct imrec_error *err)
{
    struct user_source *p = imrec_zalloc(1, sizeof(*p));
    if (p == NULL)
        return IMREC_NO_MEMORY(err, "no memory for a source");
    c->kind = &user_source_kind;
    c->state = p;
    IMREC_TRY(plugin_find(&table, word, strlen(word), &p->plugin, err));
    memcpy(&p->format, p->plugin.definition, sizeof(p->format));
    if (p->format.index == NULL || p->format.parse == NULL)
        return IMREC_REFUSE(err, "source: '%.200s' has no functions index and parse", word);
    return IMREC_OK;
}

const char *user_source_suffix(const struct container *c)
{
    return source_of(c)->format.suffix;
}

static void close_source(struct container *c)
{
    struct user_source *p = c->state;
    for (uint32_t i = 0; i < p->states && p->format.close != NULL; i++)
        if (p->state[i] != NULL)
            p->format.close(p->state[i], p->plugin.user);
    IMREC_FREE(p->state, p);
}

/* ---- listing ----------------------------------------------------------------------------- */

struct listing { /* of imrec_source_file.library */
    struct container *container;
    uint32_t shard;
    uint64_t end;             /* of the record added last */
    uint64_t capacity, hash;  /* of the table */
    enum imrec_status failed; /* the first error that the library gave: the callback may hide it */
    struct imrec_error why;
};

static enum imrec_status tell(struct listing *l, enum imrec_status st,
                              const struct imrec_error *why, struct imrec_error *err)
{
    if (st != IMREC_OK && l->failed == IMREC_OK) {
        l->failed = st;
        l->why = *why;
    }
    if (st != IMREC_OK && err != NULL)
        *err = *why;
    return st;
}

static enum imrec_status file_read(struct imrec_source_file *file, uint64_t offset, void *to,
                                   size_t n, struct imrec_error *err)
{
    struct listing *l = file->library;
    struct shard *h = &l->container->shards[l->shard];
    if (offset > h->size || n > h->size - offset)
        return imrec_error_at(err, IMREC_ERR_ARGUMENT, offset,
                              "bytes %" PRIu64 " to %" PRIu64 " are asked for, of %" PRIu64, offset,
                              offset + n, h->size);
    struct imrec_error why = {.offset = offset};
    const enum imrec_status st = source_read(h->source, offset, to, n, &why);
    return tell(l, st, &why, err);
}

static enum imrec_status
check_record(const struct listing *l, uint64_t offset, uint64_t bytes, struct imrec_error *err)
{
    const uint64_t size = l->container->shards[l->shard].size;
    if (bytes == 0 || bytes > MOST_RECORD)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, offset,
                              "the record at byte %" PRIu64 " has %" PRIu64
                              " bytes, it may have 1 to 2^31",
                              offset, bytes);
    if (offset > size || bytes > size - offset)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, offset,
                              "the record at byte %" PRIu64 " has %" PRIu64
                              " bytes, the file ends at %" PRIu64,
                              offset, bytes, size);
    if (offset < l->end)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, offset,
                              "the record at byte %" PRIu64 " begins before the one that was added "
                              "last ends, at %" PRIu64,
                              offset, l->end);
    return IMREC_OK;
}

static enum imrec_status file_add(struct imrec_source_file *file, uint64_t offset, uint64_t bytes,
                                  uint64_t id, struct imrec_error *err)
{
    struct listing *l = file->library;
    struct imrec_error why;
    enum imrec_status st = check_record(l, offset, bytes, &why);
    if (st == IMREC_OK)
        st = record_table_add(l->container, &l->capacity,
                              (struct indexed_record){offset, id, l->shard, (uint32_t)bytes}, &why);
    if (st == IMREC_OK) {
        l->end = offset + bytes;
        l->hash = (l->hash ^ bytes) * 0x100000001b3u;
    }
    return tell(l, st, &why, err);
}

static enum imrec_status list_file(struct listing *l, struct imrec_error *err)
{
    struct user_source *p = source_of(l->container);
    const struct shard *h = &l->container->shards[l->shard];
    struct imrec_error why = {.offset = IMREC_NO_OFFSET};
    struct imrec_source_file file = {.struct_size = sizeof(file),
                                     .uri = h->uri,
                                     .size = h->size,
                                     .params = p->plugin.params,
                                     .user = p->plugin.user,
                                     .read = file_read,
                                     .add = file_add,
                                     .library = l};
    l->end = 0;
    enum imrec_status st = p->format.index(&file, &why);
    p->state[l->shard] = file.state;
    p->states = l->shard + 1;
    if (l->failed != IMREC_OK) {
        st = l->failed;
        why = l->why;
    }
    if (st == IMREC_OK)
        return IMREC_OK;
    struct imrec_error told;
    st = plugin_blame(&kind, &p->plugin, st, &why, &told);
    imrec_error_at(err, st, told.offset, "%.200s: %.280s", h->uri, told.message);
    imrec_error_file(err, h->uri);
    return st;
}

static enum imrec_status
list(struct container *s, const struct shard_list *names, struct imrec_error *err)
{
    (void)names;
    if (index_wish(s->options.path_imgidx) == INDEX_NAMED)
        return IMREC_REFUSE(err, "path_imgidx: source=%s lists its records itself",
                            source_of(s)->plugin.name);
    struct listing l = {.container = s, .hash = 0xcbf29ce484222325u};
    struct user_source *p = source_of(s);
    p->state = imrec_zalloc((size_t)s->shard_count + 1, sizeof(*p->state));
    if (p->state == NULL)
        return IMREC_NO_MEMORY(err, "no memory for a source");
    for (; l.shard < s->shard_count; l.shard++)
        IMREC_TRY(list_file(&l, err));
    return record_table_end(s, l.hash, err);
}

/* ---- parsing ----------------------------------------------------------------------------- */

static void *call_room(const struct imrec_source_call *call, size_t bytes)
{
    struct parse_room *room = call->library;
    if (bytes > room->limit)
        return NULL;
    if (room->p == NULL || bytes > room->n) {
        uint8_t *grown = imrec_realloc(room->p, bytes + (bytes == 0), 1);
        if (grown == NULL)
            return NULL;
        room->p = grown;
        room->n = bytes;
    }
    return room->p;
}

static bool within(const uint8_t *p, uint64_t n, const uint8_t *begin, size_t size)
{
    const uintptr_t at = (uintptr_t)p, from = (uintptr_t)begin;
    return begin != NULL && at >= from && at - from <= size && n <= size - (at - from);
}

static enum imrec_status check_within(const struct imrec_source_call *c, const uint8_t *p,
                                      uint64_t n, const char *what, struct imrec_error *err)
{
    const struct parse_room *room = c->library;
    if (within(p, n, c->bytes, c->n) || within(p, n, room->p, room->n))
        return IMREC_OK;
    return imrec_fail(err, IMREC_ERR_CORRUPT,
                      "%s of %" PRIu64 " bytes is neither within the record's %zu bytes nor "
                      "in the room",
                      what, n, c->n);
}

static enum imrec_status check_pixels(const struct imrec_source_call *c,
                                      const struct imrec_image *p, struct imrec_error *err)
{
    const struct parse_room *room = c->library;
    if (p->pixels == NULL)
        return imrec_fail(err, IMREC_ERR_CORRUPT, "it gave neither a compressed image nor pixels");
    if (p->width == 0 || p->height == 0 ||
        (p->channels != 1 && p->channels != 3 && p->channels != 4))
        return imrec_fail(err, IMREC_ERR_CORRUPT, "no image has %u channels, height %u, width %u",
                          p->channels, p->height, p->width);
    if ((uint64_t)p->width * p->height > room->limit / 4)
        return imrec_fail(err, IMREC_ERR_LIMIT, "the image has %u x %u px, max_pixels is %zu",
                          p->width, p->height, room->limit / 4);
    const uint64_t row = (uint64_t)p->width * p->channels;
    if (p->stride < row || p->stride > SIZE_MAX / 2 / p->height)
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "the image's stride is %zu, its rows have %" PRIu64 " bytes", p->stride,
                          row);
    return check_within(c, p->pixels, (uint64_t)p->stride * (p->height - 1) + row, "an image", err);
}

/* The nearest float; what is beyond the largest is infinite. */
static float rounded(const struct parse_room *room, uint32_t i)
{
    const double v = room->type == IMREC_LABEL_INT64 ? (double)room->typed[i].i : room->typed[i].f;
    return v > (double)FLT_MAX ? INFINITY : v < -(double)FLT_MAX ? -INFINITY : (float)v;
}

/* Labels as a record has them. */
static struct bytes stored_labels(struct parse_room *room, uint32_t count, bool typed)
{
    const uint32_t n = count < room->label_room ? count : room->label_room;
    for (uint32_t i = 0; i < n; i++) {
        if (typed)
            room->labels[i] = rounded(room, i);
        store_le_float((uint8_t *)&room->labels[i], room->labels[i]);
    }
    return (struct bytes){(const uint8_t *)room->labels, n * sizeof(float)};
}

static enum imrec_status take(const struct imrec_source_call *c,
                              const struct imrec_source_sample *s, struct record *out,
                              struct imrec_error *err)
{
    out->id = s->id;
    out->label_count = s->label_count;
    const struct parse_room *room = c->library;
    const bool typed = s->typed && room->typed != NULL;
    out->labels = stored_labels(c->library, s->label_count, typed);
    out->typed = typed ? room->typed : NULL;
    const struct imrec_image *p = &s->image;
    if (s->encoded == NULL) {
        out->pixels = (struct planes){.p = p->pixels,
                                      .stride = p->stride,
                                      .channels = p->channels,
                                      .height = p->height,
                                      .width = p->width};
        return check_pixels(c, p, err);
    }
    out->image = (struct bytes){s->encoded, s->encoded_bytes};
    return check_within(c, s->encoded, s->encoded_bytes, "a compressed image", err);
}

static enum imrec_status parse(const struct container *s, const struct record_ref *ref,
                               unsigned parts, struct parse_room *room, struct record *out,
                               struct imrec_error *err)
{
    *out = (struct record){.id = ref->key};
    const struct user_source *p = source_of(s);
    struct imrec_error why = {.offset = IMREC_NO_OFFSET};
    if (room->n > KEPT_ROOM) {
        imrec_free(room->p);
        room->p = NULL;
        room->n = 0;
    }
    const struct imrec_source_call call = {.struct_size = sizeof(call),
                                           .uri = s->shards[ref->shard].uri,
                                           .offset = ref->offset,
                                           .id = ref->key,
                                           .bytes = ref->bytes.p,
                                           .n = ref->bytes.n,
                                           .labels = room->labels,
                                           .label_room = room->label_room,
                                           .params = p->plugin.params,
                                           .user = p->plugin.user,
                                           .state = p->state[ref->shard],
                                           .room = call_room,
                                           .library = room,
                                           .typed_labels = room->typed,
                                           .dtype_label = room->type};
    struct imrec_source_sample sample = {.struct_size = sizeof(sample), .id = ref->key};
    memset(room->labels, 0, room->label_room * sizeof(*room->labels));
    if (room->typed != NULL)
        memset(room->typed, 0, room->label_room * sizeof(*room->typed));
    enum imrec_status st = p->format.parse(&call, &sample, &why);
    why.offset = IMREC_NO_OFFSET;
    if (st == IMREC_OK)
        st = take(&call, &sample, out, &why);
    if (st != IMREC_OK) {
        out->id = ref->key;
        return plugin_blame(&kind, &p->plugin, st, &why, err);
    }
    return (parts & RECORD_MASK) != 0 ? record_mask_split(out->image, &out->image, &out->mask, err)
                                      : IMREC_OK;
}

/* Nobody knows before they are parsed. */
static enum imrec_status
widest_label(const struct container *c, bool may_read, uint32_t *out, struct imrec_error *err)
{
    *out = 0;
    if (!may_read)
        return IMREC_OK;
    return IMREC_REFUSE(
        err, "label_pad_width must be given: there is no way to know the widest label of source=%s",
        source_of(c)->plugin.name);
}

static const struct container_kind user_source_kind = {
    .name = "file of a source=",
    .record = "record",
    .align = 1,
    .own_index = true,
    .masks = true,
    .rooms = true,
    .calls_user = true,
    .list = list,
    .extent = record_table_extent,
    .open = record_table_open,
    .parse = parse,
    .widest_label = widest_label,
    .close = close_source,
};
