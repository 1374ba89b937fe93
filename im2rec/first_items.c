/* im2rec/first_items.c */
#include "im2rec/first_items.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/math.h"

#include <string.h>

/* ---- copies ------------------------------------------------------------------------------- */

static uint64_t text_bytes(const char *text)
{
    return text != NULL ? strlen(text) + 1 : 0;
}

/* Of all that it points to. */
static uint64_t bytes_of(const struct imrec_pack_item *i)
{
    const struct imrec_image *p = &i->pixels;
    uint64_t image = i->byte_count;
    if (i->bytes == NULL &&
        (p->pixels == NULL ||
         __builtin_mul_overflow((uint64_t)p->width * p->channels, p->height, &image)))
        image = p->pixels == NULL ? 0 : UINT64_MAX / 2;
    return image + i->label_count * sizeof(double) + text_bytes(i->name) + text_bytes(i->path) +
           text_bytes(i->refused);
}

static const void *put(uint8_t **to, const void *p, size_t n)
{
    const void *begin = *to;
    if (p == NULL)
        return NULL;
    memcpy(*to, p, n);
    *to += n;
    return begin;
}

static struct imrec_image put_pixels(uint8_t **to, const struct imrec_image *from)
{
    struct imrec_image out = *from;
    out.pixels = *to;
    out.stride = (size_t)from->width * from->channels;
    for (uint32_t y = 0; y < from->height; y++)
        (void)put(to, from->pixels + y * from->stride, out.stride);
    return out;
}

/* The item with all that it points to in `to`; labels first, which are aligned. */
static struct imrec_pack_item copy_of(const struct imrec_pack_item *from, uint8_t *to)
{
    struct imrec_pack_item out = *from;
    out.labels = put(&to, from->labels, from->label_count * sizeof(double));
    out.name = put(&to, from->name, text_bytes(from->name));
    out.path = put(&to, from->path, text_bytes(from->path));
    out.refused = put(&to, from->refused, text_bytes(from->refused));
    if (from->bytes != NULL)
        out.bytes = put(&to, from->bytes, from->byte_count);
    else if (from->pixels.pixels != NULL)
        out.pixels = put_pixels(&to, &from->pixels);
    return out;
}

/* *left: bytes that may be copied. An item of more is the last one: it stays where it is, as the
 * source is not called again meanwhile. */
static enum imrec_status keep(struct first_items *f, const struct imrec_pack_item *item,
                              uint64_t *left, struct imrec_error *err)
{
    const uint64_t bytes = bytes_of(item);
    if (!IMREC_GROW(f->item, f->room, f->count + 1))
        return IMREC_NO_MEMORY(err, "no memory for the first items");
    struct first_item *to = &f->item[f->count];
    *to = (struct first_item){.item = *item};
    if (bytes <= *left) {
        to->memory = imrec_zalloc((size_t)bytes + 1, 1);
        if (to->memory == NULL)
            return IMREC_NO_MEMORY(err, "no memory for the first items");
        to->item = copy_of(item, to->memory);
    }
    *left -= min_u64(bytes, *left);
    f->count++;
    return IMREC_OK;
}

/* ---- as a source -------------------------------------------------------------------------- */

static void drop(struct first_items *f, uint64_t i)
{
    imrec_free(f->item[i].memory);
    f->item[i].memory = NULL;
}

/* An item is needed until the next one is asked for. */
static enum imrec_status
next_item(void *user, struct imrec_pack_item *item, struct imrec_error *err)
{
    struct first_items *f = user;
    if (!f->alone && f->next > 0 && f->next <= f->count)
        drop(f, f->next - 1);
    if (f->next < f->count) {
        *item = f->item[f->next++].item;
        return IMREC_OK;
    }
    if (f->alone)
        return IMREC_END;
    if (f->end == IMREC_OK)
        return f->from.next(f->from.user, item, err);
    *err = f->why;
    return f->end;
}

enum imrec_status first_items_keep(struct first_items *f, struct imrec_pack_source *source,
                                   uint64_t most, uint64_t most_bytes, const struct stop *stop,
                                   struct imrec_error *err)
{
    uint64_t left = most_bytes;
    f->from = *source;
    while (f->count < most && left > 0 && f->end == IMREC_OK) {
        struct imrec_pack_item item = {0};
        IMREC_TRY(stop_check(stop, err));
        f->why = (struct imrec_error){.offset = IMREC_NO_OFFSET};
        f->end = f->from.next(f->from.user, &item, &f->why);
        if (f->end == IMREC_OK)
            IMREC_TRY(keep(f, &item, &left, err));
    }
    source->next = next_item;
    source->user = f;
    return IMREC_OK;
}

void first_items_rewind(struct first_items *f, bool alone)
{
    f->next = 0;
    f->alone = alone;
}

void first_items_free(struct first_items *f)
{
    for (uint64_t i = 0; i < f->count; i++)
        drop(f, i);
    imrec_free(f->item);
    f->item = NULL;
    f->count = 0;
}
