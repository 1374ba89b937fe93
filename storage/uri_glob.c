/* storage/uri_glob.c - the objects of a store that a pattern names, a folder listed a wildcard. */
#include "storage/uri_glob.h"

#include "base/error.h"
#include "storage/folder.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#define URI_BYTES 4096

struct walk {
    uri_glob_fn *found;
    void *user;
    struct imrec_error *err;
    char uri[URI_BYTES]; /* as far as it is known */
};

static bool has_wildcard(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strchr("*?[", text[i]) != NULL)
            return true;
    return false;
}

static enum imrec_status put(struct walk *w, size_t at, const char *text, size_t n)
{
    if (n >= sizeof(w->uri) - at)
        return IMREC_REFUSE(w->err, "%.200s...: a name is longer than %d bytes", w->uri,
                            URI_BYTES - 1);
    memcpy(w->uri + at, text, n);
    w->uri[at + n] = '\0';
    return IMREC_OK;
}

/* w->uri has `at` bytes, the folder's, '/' included or none; `rest` is what follows. */
static enum imrec_status walk(struct walk *w, size_t at, const char *rest);

/* One entry of the folder, against the component [part, part + n). */
static enum imrec_status
match(struct walk *w, size_t at, const struct folder_entry *e, const char *part, size_t n)
{
    char pattern[URI_BYTES];
    const bool last = part[n] == '\0';
    if (n >= sizeof(pattern))
        return IMREC_REFUSE(w->err, "a component of a pattern is longer than %d bytes",
                            URI_BYTES - 1);
    memcpy(pattern, part, n);
    pattern[n] = '\0';
    if (fnmatch(pattern, e->name, FNM_PERIOD | FNM_PATHNAME) != 0 ||
        (e->kind == FOLDER_FOLDER) == last)
        return IMREC_OK;
    const size_t bytes = strlen(e->name);
    IMREC_TRY(put(w, at, e->name, bytes));
    if (last)
        return w->found(w->user, w->uri, w->err);
    IMREC_TRY(put(w, at + bytes, "/", 1));
    return walk(w, at + bytes + 1, part + n + 1);
}

static enum imrec_status walk_folder(struct walk *w, size_t at, const char *part, size_t n)
{
    struct folder_entries own;
    const struct folder_entries *all;
    struct imrec_error why;
    enum imrec_status st = folder_list(w->uri, &own, &all, &why);
    if (st == IMREC_ERR_IO && why.sys_errno == ENOENT)
        return IMREC_OK; /* nothing matches in it */
    if (st != IMREC_OK) {
        if (w->err != NULL)
            *w->err = why;
        return st;
    }
    for (size_t i = 0; i < all->count && st == IMREC_OK; i++)
        st = match(w, at, &all->entry[i], part, n);
    folder_entries_free(&own);
    return st;
}

static enum imrec_status walk(struct walk *w, size_t at, const char *rest)
{
    size_t n = strcspn(rest, "/");
    while (!has_wildcard(rest, n) && rest[n] == '/') { /* it is looked into, if it exists or not */
        IMREC_TRY(put(w, at, rest, n + 1));
        at += n + 1;
        rest += n + 1;
        n = strcspn(rest, "/");
    }
    w->uri[at] = '\0';
    return walk_folder(w, at, rest, n);
}

enum imrec_status
uri_glob(const char *pattern, size_t head, uri_glob_fn *found, void *user, struct imrec_error *err)
{
    struct walk w = {.found = found, .user = user, .err = err};
    IMREC_TRY(put(&w, 0, pattern, head));
    return walk(&w, head, pattern + head);
}
