/* storage/store/entries.c - entries of a folder in one run of bytes, as stores find them. */
#include "storage/store/entries.h"

#include "base/alloc.h"

#include <string.h>

enum imrec_status entries_add(struct entries *e, enum folder_kind kind, const char *name, size_t n)
{
    const size_t before = e->bytes.n;
    const char head = (char)kind;
    enum imrec_status st = buf_append(&e->bytes, &head, 1, NULL);
    if (st == IMREC_OK)
        st = buf_append(&e->bytes, name, n, NULL);
    if (st == IMREC_OK)
        st = buf_append(&e->bytes, "", 1, NULL);
    if (st != IMREC_OK)
        e->bytes.n = before;
    return st;
}

static const char *name_at(const struct entries *e, size_t at)
{
    return (const char *)e->bytes.p + at + 1;
}

bool entries_has(const struct entries *e, enum folder_kind kind, const char *name, size_t n)
{
    for (size_t at = 0; at < e->bytes.n; at += strlen(name_at(e, at)) + 2)
        if (e->bytes.p[at] == (uint8_t)kind && strlen(name_at(e, at)) == n &&
            memcmp(name_at(e, at), name, n) == 0)
            return true;
    return false;
}

enum imrec_status entries_next(struct entries *e, struct folder_entry *out)
{
    if (e->given == e->bytes.n)
        return IMREC_END;
    *out = (struct folder_entry){name_at(e, e->given), (enum folder_kind)e->bytes.p[e->given]};
    e->given += strlen(out->name) + 2;
    return IMREC_OK;
}

static enum imrec_status
next_of_folder(struct folder *base, struct folder_entry *out, struct imrec_error *err)
{
    (void)err; /* all were found when it was opened */
    return entries_next(&((struct entries_folder *)base)->entries, out);
}

static void close_folder(struct folder *base)
{
    buf_free(&((struct entries_folder *)base)->entries.bytes);
    imrec_free(base);
}

struct entries_folder *entries_folder_new(void)
{
    static const struct folder_ops ops = {next_of_folder, NULL, close_folder};
    struct entries_folder *f = imrec_zalloc(1, sizeof(*f));
    if (f != NULL)
        *f = (struct entries_folder){{.ops = &ops}, ENTRIES_INIT};
    return f;
}
