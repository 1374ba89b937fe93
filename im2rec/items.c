/* im2rec/items.c */
#include "im2rec/items.h"

#include "base/error.h"
#include "base/sized.h"
#include "base/stop.h"
#include "formats/recordio/image_record.h"
#include "formats/text.h"
#include "im2rec/item/pack_options.h"
#include "imrec/detection.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void imrec_pack_source_init_sized(struct imrec_pack_source *s, size_t size)
{
    const struct imrec_pack_source defaults = {
        .encoding = IMREC_ENCODE_PNG, .quality = 3, .color = -1};
    sized_init(s, size, &defaults, sizeof(defaults));
}

/* ---- opening ---------------------------------------------------------------------------- */

static enum imrec_status refuse(struct imrec_error *err, const char *why)
{
    return IMREC_REFUSE(err, "%s", why);
}

static enum imrec_status take_source(const struct imrec_pack_source *given,
                                     struct imrec_pack_source *out, struct imrec_error *err)
{
    imrec_pack_source_init(out);
    IMREC_TRY(sized_copy(out, sizeof(*out), given, "imrec_pack_source_init", err));
    if (out->next == NULL || (out->class_count != 0 && out->classes == NULL))
        return refuse(err, "a source needs next(), and the names of its classes if it has any");
    if (out->encoding != IMREC_ENCODE_JPEG && out->encoding != IMREC_ENCODE_PNG)
        return refuse(err, "encoding of a source's pixels must be jpg or png");
    if (out->quality < 1 || out->quality > 100 || out->color < -1 || out->color > 1)
        return refuse(err, "quality of a source's pixels must be in [1, 100], color in [-1, 1]");
    return IMREC_OK;
}

static enum imrec_status check_options(const struct imrec_pack_source *s,
                                       const struct imrec_pack_task *task,
                                       const struct imrec_pack_options *o, struct imrec_error *err)
{
    if (task->list != NULL)
        return refuse(err, "items are a list of their own: the task's list must be NULL");
    if (o->list)
        return refuse(err, "list writes lists of a folder; of items there are none");
    if (o->masks[0] != '\0' || o->annotations[0] != '\0')
        return refuse(err, "masks and annotations belong to files by their names: items have none");
    if (o->fields[0] != '\0')
        return refuse(err, "fields are files next to an image: items have none");
    if (o->columns[0] != '\0')
        return refuse(err, "columns are those of a list: items have none");
    if (o->part.count != 1)
        return refuse(err, "part packs a share of a list; choose the share where items are made");
    if (o->class_from != IMREC_CLASS_TOP || o->new_classes || o->exts[0] != '\0' ||
        o->label_width != 0 || o->image_ext[0] != '\0' || o->label_ext[0] != '\0' ||
        o->label_offset != 0)
        return refuse(err, "class_from, new_classes, exts, label_width, image_ext, label_ext and "
                           "label_offset are "
                           "for folders, lists and archives, not for items");
    if (o->resume)
        return refuse(err, "a run over items cannot be resumed: their source cannot begin in the "
                           "middle. Without resume it begins again");
    if (o->shards > 1 && s->total == 0)
        return refuse(err, "shards cuts a known number of items into equal runs: give the total, "
                           "or shard_size");
    return IMREC_OK;
}

/* The names must be those of the list, where one was given. */
static enum imrec_status
take_classes(const struct imrec_pack_source *s, struct job *j, struct imrec_error *err)
{
    if (s->class_count > CLASS_LIST_MAX)
        return imrec_fail(err, IMREC_ERR_LIMIT, "%zu classes; float32 can number %u",
                          s->class_count, CLASS_LIST_MAX);
    for (uint32_t i = 0; i < s->class_count; i++) {
        const struct bytes name = {(const uint8_t *)s->classes[i], strlen(s->classes[i])};
        uint32_t number;
        if (!j->has_given)
            IMREC_TRY(class_list_add(&j->given, name, err));
        else if (!class_list_find(&j->given, name, &number) || number != i)
            return IMREC_REFUSE(err,
                                "class %u of the items is %s, which the class list does not "
                                "have at that place",
                                i, text_quote(name).s);
    }
    if (j->has_given || s->class_count == 0)
        return IMREC_OK;
    j->has_given = true;
    return class_list_seal(&j->given, err);
}

static struct imrec_pack_options
pixel_options(const struct imrec_pack_source *s, const struct imrec_pack_options *o)
{
    struct imrec_pack_options p = *o;
    p.pass_through = false;
    if (o->pixels) /* all images of such a set are of one size and colour */
        return p;
    p.encoding = s->encoding;
    p.quality = s->encoding == IMREC_ENCODE_PNG && s->quality > 9 ? 3 : s->quality;
    p.color = s->color;
    return p;
}

enum imrec_status items_open_part(const struct imrec_pack_source *source,
                                  const struct imrec_pack_options *o, const struct job *job,
                                  uint64_t first, const struct item_labels *labels,
                                  struct items *out, struct imrec_error *err)
{
    *out = (struct items){.job = job, .given = first, .labels = *labels, .part = true};
    IMREC_TRY(take_source(source, &out->source, err));
    out->of_pixels = pixel_options(&out->source, o);
    return IMREC_OK;
}

enum imrec_status items_open(const struct imrec_pack_source *source,
                             const struct imrec_pack_task *task, const struct imrec_pack_options *o,
                             struct job *job, struct items *out, struct imrec_error *err)
{
    static const char mark[] = "items";
    const uint64_t copies = (uint64_t)o->copies;
    *out = (struct items){.job = job};
    *job = (struct job){.copies = copies,
                        .fingerprint =
                            fingerprint(pack_options_fingerprint(o, FINGERPRINT_START), mark, 5)};
    IMREC_TRY(take_source(source, &out->source, err));
    IMREC_TRY(check_options(&out->source, task, o, err));
    if (out->source.total > UINT64_MAX / copies)
        return imrec_fail(err, IMREC_ERR_LIMIT, "too many copies");
    job->total = out->source.total * copies;
    out->of_pixels = pixel_options(&out->source, o);
    enum imrec_status st = IMREC_OK;
    if (o->classes[0] != '\0')
        st = job_load_classes(o->classes, job, err);
    if (st == IMREC_OK)
        st = take_classes(&out->source, job, err);
    if (st != IMREC_OK)
        job_close(job);
    return st;
}

void items_close(struct items *s)
{
    first_items_free(&s->first);
}

/* ---- one item --------------------------------------------------------------------------- */

static struct bytes name_of(const struct imrec_pack_item *i)
{
    const bool file = i->bytes == NULL && i->pixels.pixels == NULL && i->path != NULL;
    const char *name = file || i->name == NULL ? i->path : i->name;
    const struct bytes b = {(const uint8_t *)name, name != NULL ? strlen(name) : 0};
    return text_trim(b).n != 0 ? b : (struct bytes){NULL, 0};
}

/* "item 3 ("a/b.jpg"): why" */
__attribute__((format(printf, 3, 4))) static enum imrec_status
refuse_item(const struct items *s, struct imrec_error *err, const char *fmt, ...)
{
    char why[300];
    const struct bytes name = name_of(&s->item);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(why, sizeof(why), fmt, ap);
    va_end(ap);
    return IMREC_REFUSE(err, "item %" PRIu64 "%s%s%s: %s", s->given - 1, name.n != 0 ? " (" : "",
                        name.n != 0 ? text_quote(name).s : "", name.n != 0 ? ")" : "", why);
}

static enum imrec_status ask(struct items *s, struct imrec_error *err)
{
    const uint64_t total = s->source.total;
    s->item = (struct imrec_pack_item){0};
    *err = (struct imrec_error){.offset = IMREC_NO_OFFSET};
    const enum imrec_status st = s->source.next(s->source.user, &s->item, err);
    s->given += st == IMREC_OK;
    if (st != IMREC_OK && st != IMREC_END) {
        err->status = st;
        if (st == IMREC_ERR_CANCELLED && err->message[0] == '\0')
            return stop_error(err); /* progress() has said no, and the source heard it first */
        return err->message[0] != '\0'
                   ? st
                   : imrec_fail(err, st, "the source ended the run at item %" PRIu64, s->given);
    }
    if (st == IMREC_END && s->given == 0 && !s->part)
        return refuse(err, "there is nothing to pack: the source has no item");
    if (total != 0 && (st == IMREC_END ? s->given < total : s->given > total))
        return IMREC_REFUSE(err, "the source's total is %" PRIu64 " items, but it has %s%" PRIu64,
                            total, st == IMREC_END ? "" : "at least ", s->given);
    return st;
}

/* Boxes, or the header of a list of none. */
static bool are_boxes(const float *values, uint32_t n)
{
    return imrec_labels_are_boxes(values, n) ||
           (n >= 2 && values[0] == (float)n && values[1] >= 5 && values[1] < 1e6f);
}

static enum imrec_status check_count(struct items *s, const float *labels, struct imrec_error *err)
{
    const uint32_t n = s->item.label_count;
    const bool boxes = are_boxes(labels, n);
    if (!s->labels.known)
        s->labels = (struct item_labels){.count = n, .known = true, .boxes = boxes};
    if (n == s->labels.count || (boxes && s->labels.boxes))
        return IMREC_OK;
    return refuse_item(s, err, "%" PRIu32 " labels, where the first item has %" PRIu32, n,
                       s->labels.count);
}

/* A single label is the number of a class, where there are classes. */
static enum imrec_status
check_class(const struct items *s, struct pack_item *p, struct imrec_error *err)
{
    const double label = s->item.label_count == 1 ? s->item.labels[0] : -1;
    if (!s->job->has_given || s->item.label_count != 1)
        return IMREC_OK;
    if (!(label >= 0 && label < s->job->given.count) || label != (double)(uint32_t)label)
        return refuse_item(s, err, "label %.17g is the number of none of the %" PRIu32 " classes",
                           label, s->job->given.count);
    p->outcome.class_index = (int64_t)label;
    return IMREC_OK;
}

static enum imrec_status take_labels(struct items *s, struct pack_item *p, struct imrec_error *err)
{
    const struct imrec_pack_item *i = &s->item;
    const float none = 0;
    if (i->label_count != 0 && i->labels == NULL)
        return refuse_item(s, err, "%" PRIu32 " labels at NULL", i->label_count);
    for (uint32_t k = 0; k < i->label_count; k++) {
        const double label = i->labels[k];
        const float value = image_record_holds(label) ? (float)label : 0;
        if (!image_record_holds(label))
            return refuse_item(s, err, "label %.17g %s", label,
                               label - label == 0 ? "changes in a float32, which a label is: "
                                                    "whole numbers are exact up to 2^24"
                                                  : "is not finite");
        IMREC_TRY(buf_append(&p->labels, &value, sizeof(value), err));
    }
    IMREC_TRY(check_count(s, (const float *)(const void *)p->labels.p, err));
    IMREC_TRY(check_class(s, p, err));
    p->label_count = i->label_count;
    if (i->label_count != 0)
        return IMREC_OK;
    p->outcome.unlabelled = true;
    p->label_count = 1;
    return buf_append(&p->labels, &none, sizeof(none), err);
}

static enum imrec_status
take_name(const struct items *s, struct pack_item *p, struct imrec_error *err)
{
    char number[32];
    struct bytes name = name_of(&s->item);
    if (name.n == 0) {
        const int n = snprintf(number, sizeof(number), "item %" PRIu64, s->given - 1);
        name = (struct bytes){(const uint8_t *)number, (size_t)n};
    }
    IMREC_TRY(buf_append(&p->text, name.p, name.n, err));
    p->path = (struct bytes){p->text.p, p->text.n};
    return IMREC_OK;
}

static void take_id(const struct items *s, struct pack_item *p)
{
    const uint64_t copies = s->job->copies;
    p->copy = s->copy;
    if (s->item.id > (UINT64_MAX - p->copy) / copies)
        pack_item_skip(p, REASON_LINE, "the id is too large for %" PRIu64 " copies", copies);
    p->id = s->item.id * copies + p->copy;
}

enum imrec_status items_next(struct items *s, struct packer *k, uint64_t index, struct pack_item *p,
                             struct imrec_error *err)
{
    if (s->copy == 0)
        IMREC_TRY(ask(s, err));
    pack_item_begin(p);
    p->outcome.index = index;
    IMREC_TRY(take_name(s, p, err));
    if (s->item.refused == NULL)
        IMREC_TRY(take_labels(s, p, err));
    else
        pack_item_skip(p, REASON_UNREADABLE, "%s", s->item.refused);
    take_id(s, p);
    s->copy = (s->copy + 1) % s->job->copies;
    pack_item_check_name(p);
    if (k != NULL && p->outcome.reason == REASON_NONE)
        packer_give(k, p, &s->item);
    return IMREC_OK;
}
