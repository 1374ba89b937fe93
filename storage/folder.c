/* storage/folder.c - which store a folder is of, and its entries in order. */
#include "storage/folder.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/fnv.h"
#include "storage/schemes.h"

#include <stdlib.h>
#include <string.h>

/* ---- what was listed before ---------------------------------------------------------------- */

struct listed_view {
    struct folder base; /* first */
    const struct folder_entries *all;
    size_t next;
};

static enum imrec_status
view_next(struct folder *base, struct folder_entry *out, struct imrec_error *err)
{
    struct listed_view *v = (struct listed_view *)base;
    (void)err;
    if (v->next == v->all->count)
        return IMREC_END;
    *out = v->all->entry[v->next++];
    return IMREC_OK;
}

static void view_close(struct folder *base)
{
    imrec_free(base);
}

static enum imrec_status view_open(const char *uri, const struct folder_entries *all,
                                   struct folder **out, struct imrec_error *err)
{
    static const struct folder_ops ops = {view_next, NULL, view_close};
    struct listed_view *v = imrec_zalloc(1, sizeof(*v));
    if (v == NULL)
        return IMREC_NO_MEMORY(err, "%s: no memory to list it", uri);
    *v = (struct listed_view){{.ops = &ops, .number = fnv1a(FNV_START, uri, strlen(uri))}, all, 0};
    *out = &v->base;
    return IMREC_OK;
}

enum imrec_status folder_open(const char *uri, struct folder **out, struct imrec_error *err)
{
    const struct store *store;
    const char *name;
    const struct folder_entries *all = listed_folder(uri);
    *out = NULL;
    if (all != NULL)
        return view_open(uri, all, out, err);
    IMREC_TRY(store_of(uri, &store, &name, err));
    return store->open_folder != NULL ? store->open_folder(name, out, err)
                                      : store_cannot(uri, store, "list what it holds", err);
}

enum imrec_status folder_open_path(const char *path, struct folder **out, struct imrec_error *err)
{
    *out = NULL;
    return file_store.open_folder(path, out, err);
}

enum imrec_status folder_next(struct folder *f, struct folder_entry *out, struct imrec_error *err)
{
    *out = (struct folder_entry){0}; /* most lists say name and kind alone */
    return f->ops->next(f, out, err);
}

enum folder_kind folder_look(struct folder *f, const struct folder_entry *e, int *code)
{
    int ignored;
    return e->kind != FOLDER_UNKNOWN ? e->kind
                                     : f->ops->look(f, e->name, code != NULL ? code : &ignored);
}

void folder_close(struct folder *f)
{
    if (f != NULL)
        f->ops->close(f);
}

/* ---- in order ------------------------------------------------------------------------------- */

static enum imrec_status
keep(struct folder_entries *l, const struct folder_entry *e, struct imrec_error *err)
{
    struct folder_entry mine = *e;
    mine.name = string_arena_put(&l->names, e->name, strlen(e->name) + 1);
    if (e->identity != NULL)
        mine.identity = string_arena_put(&l->names, e->identity, strlen(e->identity) + 1);
    if (mine.name == NULL || (e->identity != NULL && mine.identity == NULL) ||
        !IMREC_GROW(l->entry, l->room, l->count + 1))
        return IMREC_NO_MEMORY(err, "no memory for the names of a folder after %zu of them",
                               l->count);
    l->entry[l->count++] = mine;
    return IMREC_OK;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(((const struct folder_entry *)a)->name, ((const struct folder_entry *)b)->name);
}

enum imrec_status folder_all(struct folder *f, struct folder_entries *out, struct imrec_error *err)
{
    struct folder_entry e;
    enum imrec_status st;
    *out = (struct folder_entries){0};
    while ((st = folder_next(f, &e, err)) == IMREC_OK && (st = keep(out, &e, err)) == IMREC_OK)
        ;
    if (st != IMREC_END) {
        folder_entries_free(out);
        return st;
    }
    if (out->count > 1)
        qsort(out->entry, out->count, sizeof(*out->entry), by_bytes);
    return IMREC_OK;
}

enum imrec_status folder_list(const char *uri, struct folder_entries *own,
                              const struct folder_entries **out, struct imrec_error *err)
{
    const struct store *store;
    const char *name;
    struct folder *f;
    *own = (struct folder_entries){0};
    *out = listed_folder(uri);
    if (*out != NULL)
        return IMREC_OK;
    IMREC_TRY(store_of(uri, &store, &name, err));
    IMREC_TRY(folder_open(uri, &f, err));
    const enum imrec_status st = folder_all(f, own, err);
    folder_close(f);
    IMREC_TRY(st);
    if (store->listed_at_once != 0)
        *out = listed_keep(uri, own);
    if (*out == NULL)
        *out = own;
    return IMREC_OK;
}
