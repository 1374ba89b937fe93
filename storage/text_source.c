/* storage/text_source.c */
#include "storage/text_source.h"

#include "base/alloc.h"
#include "base/error.h"

#include <string.h>

struct text_source {
    struct source s; /* first: what others see */
    struct buf text;
};

static enum imrec_status
read_text(struct source *s, uint64_t offset, void *to, size_t n, struct imrec_error *err)
{
    const struct text_source *t = (const struct text_source *)s;
    if (offset > s->size || n > s->size - offset)
        return imrec_error_at(err, IMREC_ERR_IO, offset, "no such bytes of a text in memory");
    memcpy(to, t->text.p + offset, n);
    return IMREC_OK;
}

static void close_text(struct source *s)
{
    struct text_source *t = (struct text_source *)s;
    buf_free(&t->text);
    imrec_free(t);
}

enum imrec_status text_source_open(struct buf *text, struct source **out, struct imrec_error *err)
{
    static const struct source_ops ops = {.read_at = read_text, .close = close_text};
    struct text_source *t = imrec_zalloc(1, sizeof(*t));
    *out = NULL;
    if (t == NULL) {
        buf_free(text);
        return IMREC_NO_MEMORY(err, "no memory for a list");
    }
    t->text = *text;
    *text = (struct buf){0};
    t->s = (struct source){.size = t->text.n, .ops = &ops};
    *out = &t->s;
    return IMREC_OK;
}
