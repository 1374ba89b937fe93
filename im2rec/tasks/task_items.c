/* im2rec/tasks/task_items.c */
#include "im2rec/tasks/task_items.h"

#include "base/error.h"
#include "base/sized.h"
#include "formats/crc32c.h"

#include <inttypes.h>
#include <string.h>

/* ---- the check ---------------------------------------------------------------------------- */

static uint32_t text_check(uint32_t crc, const char *text)
{
    return text != NULL ? crc32c(crc, text, strlen(text) + 1) : crc32c(crc, "", 0);
}

static uint32_t pixels_check(uint32_t crc, const struct imrec_image *i)
{
    for (uint32_t y = 0; y < i->height; y++)
        crc = crc32c(crc, i->pixels + y * i->stride, (size_t)i->width * i->channels);
    return crc;
}

/* Continues `crc` over all that becomes of an item. What can be of any length has its length
 * first, so that no two rows of items are the same bytes. */
static uint32_t item_check(uint32_t crc, const struct imrec_pack_item *i)
{
    const bool bytes = i->bytes != NULL, pixels = !bytes && i->pixels.pixels != NULL;
    const struct imrec_image *image = &i->pixels;
    const uint64_t numbers[] = {bytes ? i->byte_count : UINT64_MAX,
                                pixels ? image->width : 0,
                                pixels ? image->height : 0,
                                pixels ? image->channels : 0,
                                i->label_count,
                                i->id,
                                i->path != NULL,
                                i->name != NULL,
                                i->refused != NULL};
    crc = crc32c(crc, numbers, sizeof(numbers));
    if (bytes)
        crc = crc32c(crc, i->bytes, i->byte_count);
    else if (pixels)
        crc = pixels_check(crc, image);
    if (i->labels != NULL)
        crc = crc32c(crc, i->labels, i->label_count * sizeof(*i->labels));
    return text_check(text_check(text_check(crc, i->path), i->name), i->refused);
}

/* ---- the source --------------------------------------------------------------------------- */

static enum imrec_status
wrong_number(const struct task_items *t, const char *least, struct imrec_error *err)
{
    return imrec_fail(err, IMREC_ERR_CORRUPT,
                      "task %" PRIu64 " of %s has %s%" PRIu64 " items, and had %" PRIu64
                      " when the plan was made: they must be the same each time",
                      t->row->number, t->plan->uri, least, t->count, t->row->images);
}

static enum imrec_status ended(const struct task_items *t, struct imrec_error *err)
{
    if (t->plan == NULL)
        return IMREC_END;
    if (t->count != t->row->images)
        return wrong_number(t, "", err);
    if (t->check == t->row->crc)
        return IMREC_END;
    return imrec_fail(err, IMREC_ERR_CORRUPT,
                      "the %" PRIu64 " items of task %" PRIu64 " of %s, or their order, are not "
                      "those that it had when the plan was made (check %08" PRIx32
                      ", planned %08" PRIx64 "): they must be the same each time",
                      t->count, t->row->number, t->plan->uri, t->check, t->row->crc);
}

static enum imrec_status next(void *user, struct imrec_pack_item *item, struct imrec_error *err)
{
    struct task_items *t = user;
    const enum imrec_status st = t->given.next(t->given.user, item, err);
    if (st != IMREC_OK)
        return st == IMREC_END ? ended(t, err) : st;
    t->check = item_check(t->check, item);
    t->count++;
    if (t->plan == NULL)
        return IMREC_OK;
    if (t->count > t->row->images)
        return wrong_number(t, "at least ", err);
    if (t->plan->numbered)
        item->id = t->row->first + t->count - 1;
    return IMREC_OK;
}

/* ---- public ------------------------------------------------------------------------------- */

static enum imrec_status take_source(struct task_items *t, const struct imrec_pack_source *source,
                                     struct imrec_pack_source *counted, struct imrec_error *err)
{
    imrec_pack_source_init(&t->given);
    IMREC_TRY(sized_copy(&t->given, sizeof(t->given), source, "imrec_pack_source_init", err));
    if (t->given.next == NULL)
        return IMREC_REFUSE(err, "a source needs next()");
    imrec_pack_source_init(counted); /* classes are those of the job */
    counted->next = next;
    counted->user = t;
    return IMREC_OK;
}

enum imrec_status task_items_open_any(const struct job *job, const struct imrec_pack_options *o,
                                      const struct imrec_pack_source *source, struct task_items *t,
                                      struct imrec_error *err)
{
    struct imrec_pack_source counted;
    *t = (struct task_items){.plan = NULL};
    IMREC_TRY(take_source(t, source, &counted, err));
    return items_open_part(&counted, o, job, 0, &(struct item_labels){0}, &t->items, err);
}

enum imrec_status task_items_open(const struct plan *p, const struct plan_row *row,
                                  const struct job *job, const struct imrec_pack_source *source,
                                  struct task_items *t, struct imrec_error *err)
{
    const struct item_labels labels = {(uint32_t)p->labels, true, p->boxes};
    struct imrec_pack_source counted;
    *t = (struct task_items){.plan = p, .row = row};
    IMREC_TRY(take_source(t, source, &counted, err));
    counted.encoding = (enum imrec_encoding)p->pixel_encoding;
    counted.quality = (int64_t)p->pixel_quality;
    counted.color = p->pixel_channels == 0 ? -1 : p->pixel_channels == 3;
    return items_open_part(&counted, &p->o, job, row->first, &labels, &t->items, err);
}
