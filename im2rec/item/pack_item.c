/* im2rec/item/pack_item.c - the first part of an item, a place of the window: emptied, given up,
 * freed. */
#include "im2rec/item/pack_item.h"

#include "base/shown.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TEXT_MAX   ((size_t)64 << 20)  /* labels, or name and columns, of an image */
#define KEEP_BYTES ((size_t)256 << 10) /* larger ones give their memory back */

void pack_item_begin(struct pack_item *p)
{
    p->line = p->id = p->copy = 0;
    p->label_count = p->class_count = 0;
    p->from = PARCEL_FILE;
    p->labels.n = p->text.n = 0;
    p->labels.max = p->text.max = TEXT_MAX;
    p->path = p->columns = (struct bytes){(const uint8_t *)"", 0};
    p->place = (struct image_place){0};
    p->outcome = (struct outcome){.class_index = -1};
    p->why[0] = '\0';
    p->failed = IMREC_OK;
}

void pack_item_written(struct pack_item *p)
{
    struct buf *const bufs[] = {&p->record, &p->labels, &p->text};
    for (size_t i = 0; i < sizeof(bufs) / sizeof(bufs[0]); i++)
        if (bufs[i]->cap > KEEP_BYTES)
            buf_free(bufs[i]);
}

void pack_item_unfetch(struct pack_item *p)
{
    fetch_drop(p->fetch);
    p->fetch = NULL;
}

void pack_item_free(struct pack_item *p)
{
    pack_item_unfetch(p);
    buf_free(&p->text);
    buf_free(&p->labels);
    buf_free(&p->record);
}

void pack_item_skip(struct pack_item *p, enum reason reason, const char *fmt, ...)
{
    char said[sizeof(p->why)];
    va_list ap;
    va_start(ap, fmt);
    p->outcome.reason = reason;
    vsnprintf(said, sizeof(said), fmt, ap);
    va_end(ap);
    shown_copy(p->why, sizeof(p->why), said);
}

bool pack_item_cancelled(struct pack_item *p, enum imrec_status st, const struct imrec_error *err)
{
    if (st != IMREC_ERR_CANCELLED)
        return false;
    p->failed = st;
    snprintf(p->why, sizeof(p->why), "%s", err->message);
    return true;
}

bool pack_item_check_class(struct pack_item *p)
{
    float label;
    if (p->class_count == 0 || p->label_count != 1)
        return true;
    memcpy(&label, p->labels.p, sizeof(label));
    if (label >= 0 && label < (float)p->class_count && label == (float)(int64_t)label) {
        p->outcome.class_index = (int64_t)label;
        return true;
    }
    pack_item_skip(p, REASON_OUTSIDE, "label %g is none of the %u classes of the class list",
                   (double)label, p->class_count);
    return false;
}

void pack_item_check_name(struct pack_item *p)
{
    const enum reason reason = reason_of_name(p->path);
    if (reason != REASON_NONE)
        pack_item_skip(p, reason,
                       reason == REASON_UTF8 ? "the name is not UTF-8"
                                             : "the name holds a control character");
}
