/* container/fetched/fetched.c - the kind of records that are fetched. A record's bytes are the
 * struct imrec_fetched that the caller has filled. */
#include "container/fetched/fetched.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/math.h"
#include "formats/set/image_list.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define IMAGE_MOST   ((uint64_t)1 << 31)
#define FIELDS_MOST  65536u
#define MEAN_BYTES   ((uint64_t)64 << 10)
#define AT_ONCE      16u
#define AT_ONCE_MOST 65536u
#define THREADS      4u
#define THREADS_MOST 256u

static const struct imrec_fetch *fetch_of(const struct container *c)
{
    return c->state;
}

/* ---- opening ------------------------------------------------------------------------------ */

static enum imrec_status check_blocks(const struct imrec_fetch *f, struct imrec_error *err)
{
    if (f->blocks != 0 && (f->block_begin == NULL || f->block_begin[0] != 0))
        return IMREC_REFUSE(err, "%.200s: its first block must begin with record 0", f->name);
    for (uint64_t i = 1; i < f->blocks; i++)
        if (f->block_begin[i] < f->block_begin[i - 1] || f->block_begin[i] > f->count)
            return IMREC_REFUSE(err,
                                "%.200s: block %" PRIu64 " begins with record %" PRIu64
                                ": blocks must ascend, up to the %" PRIu64 " records",
                                f->name, i, f->block_begin[i], f->count);
    return IMREC_OK;
}

enum imrec_status
fetched_copy(struct imrec_fetch *to, const struct imrec_fetch *from, struct imrec_error *err)
{
    *to = (struct imrec_fetch){0};
    if (from == NULL || from->struct_size <= offsetof(struct imrec_fetch, fetch) ||
        from->struct_size > 1 << 16)
        return IMREC_REFUSE(err, "struct_size of struct imrec_fetch must be its size");
    memcpy(to, from, from->struct_size < sizeof(*to) ? from->struct_size : sizeof(*to));
    if (to->name == NULL || to->name[0] == '\0' || to->fetch == NULL)
        return IMREC_REFUSE(err, "what fetches records has a name and a function, not NULL");
    if (to->at_once > AT_ONCE_MOST || to->threads > THREADS_MOST)
        return IMREC_REFUSE(
            err,
            "%.200s: at_once must be at most %u and threads at most %u, not %" PRIu32
            " and %" PRIu32,
            to->name, AT_ONCE_MOST, THREADS_MOST, to->at_once, to->threads);
    to->at_once = to->at_once != 0 ? to->at_once : AT_ONCE;
    to->threads = to->threads != 0 ? to->threads : THREADS;
    to->record_bytes = to->record_bytes != 0 ? min_u64(to->record_bytes, IMAGE_MOST) : MEAN_BYTES;
    return check_blocks(to, err);
}

static const struct container_kind fetched_kind;

enum imrec_status fetched_open(const struct container_options *o, const struct imrec_fetch *f,
                               struct container *out, struct imrec_error *err)
{
    struct imrec_fetch *state = imrec_zalloc(1, sizeof(*state));
    if (state == NULL)
        return IMREC_NO_MEMORY(err, "no memory for a set of records");
    *state = *f;
    const struct numbered n = {
        .kind = &fetched_kind,
        .state = state,
        .name = f->name,
        .count = f->count,
        .record_bytes = f->record_bytes,
        .hash = f->fingerprint,
        .at_once = f->at_once,
        .threads = f->threads,
    };
    return container_open_numbered(o, &n, out, err);
}

static void close_fetched(struct container *c)
{
    imrec_free(c->state);
}

/* ---- fetching ----------------------------------------------------------------------------- */

static const char *wrong_field(const struct imrec_field *f)
{
    const size_t each = f->kind == IMREC_FIELD_INT64     ? sizeof(int64_t)
                        : f->kind == IMREC_FIELD_FLOAT32 ? sizeof(float)
                                                         : 1;
    if (f->kind == IMREC_FIELD_NONE || (unsigned)f->kind > IMREC_FIELD_FLOAT32)
        return "a field's kind is none of enum imrec_field_kind";
    if (f->name == NULL || f->name_bytes == 0)
        return "a field has no name";
    if (f->size > IMAGE_MOST || f->size % each != 0 || (f->bytes == NULL && f->size != 0))
        return "a field must have at most 2^31 bytes, whole numbers of them, and be there";
    return NULL;
}

static const char *wrong_fields(const struct imrec_fetched *f)
{
    if (f->field_count > FIELDS_MOST || (f->field_count != 0 && f->fields == NULL))
        return "it must have at most 65536 fields, and they must be there";
    for (uint32_t i = 0; i < f->field_count; i++) {
        const char *wrong = wrong_field(&f->fields[i]);
        if (wrong != NULL)
            return wrong;
    }
    return NULL;
}

static const char *what_is_wrong(const struct imrec_fetched *f)
{
    if (f->status == IMREC_END)
        return "its status is IMREC_END, which is no error";
    if (f->image == NULL || f->image_bytes == 0 || f->image_bytes > IMAGE_MOST)
        return "its image must have 1 to 2^31 bytes";
    if (f->mask_bytes > IMAGE_MOST || (f->mask == NULL && f->mask_bytes != 0))
        return "its mask must have at most 2^31 bytes";
    if (f->label_count != 0 && f->labels == NULL)
        return "it has a number of labels, and no labels";
    if ((unsigned)f->label_dtype > IMREC_LABEL_INT64)
        return "its label_dtype is none of enum imrec_label_dtype";
    return wrong_fields(f);
}

/* What the caller's function says must not be used before it is looked at. */
static void check(struct imrec_fetched *f)
{
    if (f->status != IMREC_OK && f->status != IMREC_END)
        return;
    const char *wrong = what_is_wrong(f);
    if (wrong == NULL)
        return;
    f->status = IMREC_ERR_CORRUPT;
    f->why = wrong;
}

static enum imrec_status fetch(const struct container *c, const uint64_t *numbers, uint32_t n,
                               struct imrec_fetched *out, void **hold, struct imrec_error *err)
{
    const struct imrec_fetch *f = fetch_of(c);
    const enum imrec_status st = f->fetch(f->user, numbers, n, out, hold, err);
    err->offset = IMREC_NO_OFFSET;
    if (st == IMREC_OK) {
        for (uint32_t i = 0; i < n; i++)
            check(&out[i]);
        return IMREC_OK;
    }
    err->message[sizeof(err->message) - 1] = '\0';
    if (err->message[0] == '\0')
        (void)snprintf(err->message, sizeof(err->message), "they could not be fetched");
    err->status = st != IMREC_END ? st : IMREC_ERR_CORRUPT;
    return err->status;
}

static void let_go(const struct container *c, void *hold)
{
    const struct imrec_fetch *f = fetch_of(c);
    if (hold != NULL && f->release != NULL)
        f->release(f->user, hold);
}

static void cancel(const struct container *c)
{
    const struct imrec_fetch *f = fetch_of(c);
    if (f->cancel != NULL)
        f->cancel(f->user);
}

static uint64_t block(const struct container *c, uint64_t number)
{
    const struct imrec_fetch *f = fetch_of(c);
    if (f->blocks == 0)
        return number / f->at_once;
    return first_at_least(f->block_begin, sizeof(*f->block_begin), 0, f->blocks, number + 1) - 1;
}

/* ---- parsing ------------------------------------------------------------------------------ */

/* The nearest float; what is beyond the largest is infinite. */
static float nearest(double v)
{
    return v > (double)FLT_MAX ? INFINITY : v < -(double)FLT_MAX ? -INFINITY : (float)v;
}

/* Label i as it is. */
static union list_label label_at(const struct imrec_fetched *f, uint32_t i)
{
    union list_label label = {.f = 0};
    float value;
    if (f->label_dtype == IMREC_LABEL_FLOAT32) {
        memcpy(&value, (const uint8_t *)f->labels + i * sizeof(value), sizeof(value));
        label.f = (double)value;
    } else {
        memcpy(&label, (const uint8_t *)f->labels + i * sizeof(label), sizeof(label));
    }
    return label;
}

/* Whether they are of the type that is asked for, which need not be float32. */
static bool take_labels(const struct imrec_fetched *f, struct parse_room *room)
{
    const uint32_t n = f->label_count < room->label_room ? f->label_count : room->label_room;
    const bool exact = room->typed != NULL && f->label_dtype == room->type;
    for (uint32_t i = 0; i < n; i++) {
        const union list_label label = label_at(f, i);
        const bool whole = f->label_dtype == IMREC_LABEL_INT64;
        store_le_float((uint8_t *)&room->labels[i], nearest(whole ? (double)label.i : label.f));
        if (exact)
            room->typed[i] = label;
    }
    return exact;
}

static enum imrec_status take_fields(const struct imrec_fetched *f, struct parse_room *room,
                                     struct record *out, struct imrec_error *err)
{
    if (!IMREC_GROW(room->fields, room->field_room, (uint64_t)f->field_count))
        return IMREC_NO_MEMORY(err, "no memory for the fields of a record");
    for (uint32_t i = 0; i < f->field_count; i++) {
        const struct imrec_field *from = &f->fields[i];
        room->fields[i] = (struct record_field){
            .name = {(const uint8_t *)from->name, from->name_bytes},
            .value = {from->bytes, from->size},
            .type = from->kind == IMREC_FIELD_INT64     ? FIELD_INT64
                    : from->kind == IMREC_FIELD_FLOAT32 ? FIELD_FLOAT32
                                                        : FIELD_BYTES,
        };
    }
    out->fields = room->fields;
    out->field_count = f->field_count;
    return IMREC_OK;
}

static enum imrec_status parse(const struct container *c, const struct record_ref *ref,
                               unsigned parts, struct parse_room *room, struct record *out,
                               struct imrec_error *err)
{
    const struct imrec_fetched *f = (const struct imrec_fetched *)(const void *)ref->bytes.p;
    (void)c;
    *out = (struct record){.id = f->id, .label_count = f->label_count};
    const uint32_t n = f->label_count < room->label_room ? f->label_count : room->label_room;
    out->typed = take_labels(f, room) ? room->typed : NULL;
    out->labels = (struct bytes){(const uint8_t *)room->labels, n * sizeof(float)};
    out->image = (struct bytes){f->image, f->image_bytes};
    if ((parts & RECORD_MASK) != 0)
        out->mask = (struct bytes){f->mask, f->mask_bytes};
    if ((parts & RECORD_FIELDS) != 0 && f->field_count != 0)
        return take_fields(f, room, out, err);
    return IMREC_OK;
}

static uint64_t describe(const struct container *c, const struct record_ref *r,
                         const struct imrec_error *why, char text[96])
{
    (void)c;
    (void)why;
    (void)snprintf(text, 96, "record %" PRIu64, r->offset);
    return IMREC_NO_OFFSET;
}

/* Nobody knows before they are fetched. */
static enum imrec_status
widest_label(const struct container *c, bool may_read, uint32_t *out, struct imrec_error *err)
{
    *out = 0;
    if (!may_read)
        return IMREC_OK;
    return IMREC_REFUSE(err,
                        "label_pad_width must be given: there is no way to know the widest label "
                        "of %.200s",
                        fetch_of(c)->name);
}

static const struct container_kind fetched_kind = {
    .name = "set of records that are fetched",
    .record = "record",
    .align = 1,
    .own_index = true,
    .masks = true,
    .fields = true,
    .rooms = true,
    .fetch = fetch,
    .let_go = let_go,
    .cancel = cancel,
    .block = block,
    .parse = parse,
    .describe = describe,
    .widest_label = widest_label,
    .close = close_fetched,
};
