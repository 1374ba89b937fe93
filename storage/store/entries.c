/* storage/store/entries.c - entries of a folder in one run of bytes, as stores find them. */
#include "storage/store/entries.h"

#include "base/alloc.h"

#include <string.h>

static enum imrec_status add(struct entries *e, enum folder_kind kind, const char *name, size_t n,
                             const char *identity, uint64_t size)
{
    const size_t before = e->bytes.n;
    const char head = (char)kind;
    enum imrec_status st = buf_append(&e->bytes, &head, 1, NULL);
    if (st == IMREC_OK)
        st = buf_append(&e->bytes, name, n, NULL);
    if (st == IMREC_OK)
        st = buf_append(&e->bytes, "", 1, NULL);
    if (st == IMREC_OK)
        st = buf_append(&e->bytes, identity, strlen(identity) + 1, NULL);
    if (st == IMREC_OK)
        st = buf_append(&e->bytes, &size, sizeof(size), NULL);
    if (st != IMREC_OK)
        e->bytes.n = before;
    return st;
}

enum imrec_status entries_add(struct entries *e, enum folder_kind kind, const char *name, size_t n)
{
    return add(e, kind, name, n, "", 0);
}

enum imrec_status
entries_add_file(struct entries *e, const char *name, size_t n, const char *identity, uint64_t size)
{
    return add(e, FOLDER_FILE, name, n, identity != NULL ? identity : "", size);
}

/* The entry at `at`, and where the next one begins. */
static size_t read_at(const struct entries *e, size_t at, struct folder_entry *out)
{
    const char *name = (const char *)e->bytes.p + at + 1, *identity = name + strlen(name) + 1;
    const char *size = identity + strlen(identity) + 1;
    *out = (struct folder_entry){.name = name,
                                 .kind = (enum folder_kind)e->bytes.p[at],
                                 .identity = identity[0] != '\0' ? identity : NULL};
    memcpy(&out->size, size, sizeof(out->size));
    return (size_t)(size - (const char *)e->bytes.p) + sizeof(out->size);
}

bool entries_has(const struct entries *e, enum folder_kind kind, const char *name, size_t n)
{
    struct folder_entry is;
    for (size_t at = 0; at < e->bytes.n;) {
        at = read_at(e, at, &is);
        if (is.kind == kind && strlen(is.name) == n && memcmp(is.name, name, n) == 0)
            return true;
    }
    return false;
}

enum imrec_status entries_next(struct entries *e, struct folder_entry *out)
{
    if (e->given == e->bytes.n)
        return IMREC_END;
    e->given = read_at(e, e->given, out);
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
