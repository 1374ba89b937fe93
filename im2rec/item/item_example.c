/* im2rec/item/item_example.c */
#include "im2rec/item/item_example.h"

#include "base/alloc.h"
#include "base/error.h"
#include "formats/recordio/image_record.h"
#include "formats/tfrecord/tfrecord_frame.h"

#include <string.h>

#define LABELS_MOST 65536u

enum imrec_status item_example_init(struct item_example *e, const struct imrec_pack_options *o,
                                    bool fields, struct imrec_error *err)
{
    *e = (struct item_example){.wanted = RECORD_IMAGE | (fields ? RECORD_FIELDS : 0u),
                               .max_pixels = o->max_pixels,
                               .label_offset = o->label_offset};
    const struct container_options names = {.image = o->image_ext, .label = o->label_ext};
    IMREC_TRY(example_names_copy(&e->names, &names, err));
    e->names.image_option = "image_ext";
    e->names.label_option = "label_ext";
    return IMREC_OK;
}

void item_example_free(struct item_example *e)
{
    example_names_free(&e->names);
    parse_room_free(&e->room);
    imrec_free(e->file.p);
    *e = (struct item_example){.wanted = 0};
}

void item_example_trim(struct item_example *e, size_t most)
{
    if (e->file.capacity <= most)
        return;
    imrec_free(e->file.p);
    e->file = (struct file_bytes){NULL, 0, 0};
    parse_room_free(&e->room);
}

/* The content of the record, whose sums are right. */
static bool check_frame(const struct item_example *e, struct pack_item *p, struct bytes *out)
{
    const uint8_t *const f = e->file.p;
    const size_t frame = TFRECORD_HEAD_BYTES + TFRECORD_TAIL_BYTES;
    uint64_t length;
    if (e->file.n < frame || !tfrecord_head(f, &length) || length != e->file.n - frame) {
        pack_item_skip(p, REASON_DAMAGED, "the record's head has changed since it was listed");
        return false;
    }
    *out = (struct bytes){f + TFRECORD_HEAD_BYTES, (size_t)length};
    if (tfrecord_is_intact(*out, out->p + out->n))
        return true;
    pack_item_skip(p, REASON_DAMAGED, "the checksum of the record's %zu bytes is wrong", out->n);
    return false;
}

/* Parts of the record into e->record; a fault is for the `reason`. */
static bool read_parts(struct item_example *e, struct pack_item *p, struct bytes content,
                       unsigned wanted, enum reason reason)
{
    struct imrec_error err;
    enum imrec_status st = IMREC_OK;
    if (e->room.labels == NULL)
        st = parse_room_init(&e->room, LABELS_MOST, IMREC_LABEL_FLOAT32, e->max_pixels, &err);
    if (st == IMREC_OK)
        st = example_record(&e->names, content, wanted, &e->room, &e->record, &err);
    if (st != IMREC_OK)
        pack_item_skip(p, st == IMREC_ERR_NO_MEMORY ? REASON_NO_MEMORY : reason, "%s", err.message);
    return st == IMREC_OK;
}

static bool shift_labels(const struct item_example *e, struct pack_item *p)
{
    struct imrec_error err;
    if (image_record_shift((float *)(void *)p->labels.p, p->label_count, e->label_offset, &err) ==
        IMREC_OK)
        return true;
    pack_item_skip(p, REASON_LABEL, "%s", err.message);
    return false;
}

static bool take_labels(const struct item_example *e, struct pack_item *p)
{
    const struct record *r = &e->record;
    if (r->label_count == 0)
        pack_item_skip(p, REASON_LABEL,
                       "the Example has no label '%.80s': label_ext=NAME names another feature, "
                       "label_ext=none packs without labels",
                       e->names.label);
    else if (r->label_count > LABELS_MOST)
        pack_item_skip(p, REASON_LABEL, "it has %u labels, at most %u are packed", r->label_count,
                       LABELS_MOST);
    else if (buf_append(&p->labels, r->labels.p, r->labels.n, NULL) != IMREC_OK)
        pack_item_skip(p, REASON_NO_MEMORY, "no memory for its %u labels", r->label_count);
    p->label_count = r->label_count;
    return p->outcome.reason == REASON_NONE && shift_labels(e, p) && pack_item_check_class(p);
}

bool item_example_parse(struct item_example *e, struct pack_item *p)
{
    struct bytes content;
    p->labels.n = 0; /* those of an earlier try */
    p->label_count = 0;
    e->record = (struct record){.id = 0};
    return check_frame(e, p, &content) &&
           read_parts(e, p, content, e->wanted, REASON_UNSUPPORTED) &&
           read_parts(e, p, content, RECORD_LABELS, REASON_LABEL) && take_labels(e, p);
}
