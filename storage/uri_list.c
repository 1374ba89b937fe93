/*
 * storage/uri_list.c - a list of objects out of one text.
 *
 * What exists under exactly this name is taken literally, whatever characters it has: first
 * the whole text (a name may hold ';'), then every element of the list (a name may hold '*').
 */
#include "storage/uri_list.h"

#include "base/alloc.h"
#include "base/error.h"
#include "storage/folder.h"
#include "storage/schemes.h"
#include "storage/store/io_error.h"
#include "storage/uri_glob.h"
#include "storage/uri_range.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct expansion {
    struct uri_list list;
    const char *suffix;
    enum uri_origin origin; /* of what is added now */
    struct imrec_error *err;
};

static enum imrec_status no_memory(struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "no memory for a list of files");
}

enum imrec_status uri_list_add(struct uri_list *l, const char *a, size_t n, const char *b,
                               enum uri_origin origin, struct imrec_error *err)
{
    const bool room = IMREC_GROW(l->uri, l->uri_room, l->count + 1) &&
                      IMREC_GROW(l->origin, l->origin_room, l->count + 1);
    char *text = room ? imrec_joined(a, n, b) : NULL;
    if (text == NULL)
        return no_memory(err);
    l->origin[l->count] = origin;
    l->uri[l->count++] = text;
    return IMREC_OK;
}

static enum imrec_status add(struct expansion *x, const char *a, size_t n, const char *b)
{
    return uri_list_add(&x->list, a, n, b, x->origin, x->err);
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort_from(struct expansion *x, size_t first)
{
    if (x->list.count > first + 1)
        qsort(x->list.uri + first, x->list.count - first, sizeof(char *), by_bytes);
}

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static bool exists(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0;
}

static enum imrec_status missing(struct imrec_error *err, const char *path, const char *what)
{
    IMREC_REFUSE(err, "%s: %s", path, what);
    imrec_error_file(err, path);
    imrec_error_errno(err, ENOENT);
    return IMREC_ERR_ARGUMENT;
}

/* `code`: why lstat() did not find it. */
static enum imrec_status not_found(struct imrec_error *err, int code, const char *path)
{
    if (code != ENOENT && code != ENOTDIR)
        return io_error(err, code, path, "cannot look at it", IMREC_NO_OFFSET);
    return missing(err, path, "there is no such file");
}

static bool ends_with(const char *name, const char *suffix)
{
    const size_t n = strlen(name), m = strlen(suffix);
    return n > m && strcmp(name + n - m, suffix) == 0;
}

/* `prefix` goes in front of every name that is found, e.g. "fault://seek_ms=8:". */
struct place {
    const struct store *store;
    const char *name; /* in the store */
    const char *prefix;
    size_t prefix_bytes;
    const char *path; /* after it */
};

static enum imrec_status
add_path(struct expansion *x, const struct place *at, const char *path, const char *name)
{
    char joined[PATH_MAX];
    const size_t n = strlen(path), m = strlen(name);
    const bool slash = m != 0 && n != 0 && path[n - 1] != '/';
    if (n + m + 2 > sizeof(joined))
        return io_error(x->err, ENAMETOOLONG, path, "cannot take this name", IMREC_NO_OFFSET);
    memcpy(joined, path, n);
    if (slash)
        joined[n] = '/';
    memcpy(joined + n + slash, name, m + 1);
    return add(x, at->prefix, at->prefix_bytes, joined);
}

/* ---- folders and globs ---------------------------------------------------------------------- */

/* f NULL: the list says the kind of each. */
static enum imrec_status add_entries(struct expansion *x, const struct place *at, struct folder *f,
                                     const struct folder_entries *all)
{
    const size_t first = x->list.count;
    x->origin = URI_IN_FOLDER;
    for (size_t i = 0; i < all->count; i++) {
        const struct folder_entry *e = &all->entry[i];
        if (e->name[0] != '.' && ends_with(e->name, x->suffix) &&
            (f != NULL ? folder_look(f, e, NULL) : e->kind) != FOLDER_FOLDER)
            IMREC_TRY(add_path(x, at, at->path, e->name));
    }
    return x->list.count > first
               ? IMREC_OK
               : IMREC_REFUSE(x->err, "%s: the folder holds no *%s", at->path, x->suffix);
}

static enum imrec_status add_folder(struct expansion *x, const struct place *at)
{
    struct folder *f;
    struct folder_entries all;
    IMREC_TRY(at->store->open_folder(at->name, &f, x->err));
    enum imrec_status st = folder_all(f, &all, x->err);
    if (st == IMREC_OK)
        st = add_entries(x, at, f, &all);
    folder_entries_free(&all);
    folder_close(f);
    return st;
}

static enum imrec_status
add_matches(struct expansion *x, const struct place *at, const glob_t *found)
{
    for (size_t i = 0; i < found->gl_pathc; i++)
        if (!is_folder(found->gl_pathv[i]))
            IMREC_TRY(add_path(x, at, found->gl_pathv[i], ""));
    return IMREC_OK;
}

static enum imrec_status add_glob(struct expansion *x, const struct place *at)
{
    const size_t first = x->list.count;
    glob_t found = {0};
    x->origin = URI_MATCHED;
    const int result = glob(at->path, GLOB_NOSORT, NULL, &found); /* it sorts by locale */
    enum imrec_status st = IMREC_OK;
    if (result == GLOB_NOSPACE)
        st = no_memory(x->err);
    else if (result == 0)
        st = add_matches(x, at, &found);
    globfree(&found);
    IMREC_TRY(st);
    if (x->list.count == first)
        return missing(x->err, at->path, "nothing matches this pattern");
    sort_from(x, first);
    return IMREC_OK;
}

static enum imrec_status add_element(struct expansion *x, const char *element);

static enum imrec_status add_name(void *user, const char *name, struct imrec_error *err)
{
    struct expansion *x = user;
    (void)err; /* x->err */
    return add_element(x, name);
}

static enum imrec_status add_place(struct expansion *x, const struct place *at, const char *element)
{
    if (is_folder(at->path))
        return add_folder(x, at);
    if (exists(at->path))
        return add_path(x, at, at->path, "");
    const int code = errno;
    if (uri_range_in(at->path) != NULL)
        return uri_range_names(element, add_name, x, x->err);
    if (strpbrk(at->path, "*?[") != NULL)
        return add_glob(x, at);
    return not_found(x->err, code, at->path);
}

static enum imrec_status add_match(void *user, const char *uri, struct imrec_error *err)
{
    struct expansion *x = user;
    return uri_list_add(&x->list, uri, strlen(uri), "", x->origin, err);
}

/* ---- elements ------------------------------------------------------------------------------- */

/* The objects that a pattern names, in a store of another kind than this machine's folders. */
static enum imrec_status
add_pattern(struct expansion *x, const struct place *at, const char *element)
{
    const size_t first = x->list.count;
    x->origin = URI_MATCHED;
    IMREC_TRY(uri_glob(element, (size_t)(at->name - element), add_match, x, x->err));
    if (x->list.count == first)
        return missing(x->err, element, "nothing matches this pattern");
    sort_from(x, first);
    return IMREC_OK;
}

/* Names of a range, of which a list of their folder says whether they are there. */
struct listed_names {
    struct expansion *x;
    const struct folder_entries *all;
    size_t folder_bytes;
};

static int by_name(const void *name, const void *entry)
{
    return strcmp(name, ((const struct folder_entry *)entry)->name);
}

static enum imrec_status add_listed(void *user, const char *name, struct imrec_error *err)
{
    const struct listed_names *l = user;
    const struct folder_entry *e = l->all->count != 0
                                       ? bsearch(name + l->folder_bytes, l->all->entry,
                                                 l->all->count, sizeof(*l->all->entry), by_name)
                                       : NULL;
    if (e == NULL || e->kind == FOLDER_FOLDER)
        return missing(err, name, "there is no such object");
    return add(l->x, name, strlen(name), "");
}

/* One request for all names instead of one each, where they are in one folder that can be listed.
 */
static enum imrec_status
add_ranges(struct expansion *x, const struct place *at, const char *element)
{
    struct folder_entries own = {0};
    struct listed_names l = {.x = x};
    const char *range = uri_range_in(element), *end = range;
    enum imrec_status st = IMREC_ERR_UNSUPPORTED;
    while (end > at->name && end[-1] != '/')
        end--;
    l.folder_bytes = (size_t)(end - element);
    char *folder = imrec_joined(element, l.folder_bytes, "");
    if (folder == NULL)
        return no_memory(x->err);
    if (at->store->open_folder != NULL && strchr(range, '/') == NULL &&
        strpbrk(at->name, "*?[") == NULL)
        st = folder_list(folder, &own, &l.all, NULL);
    imrec_free(folder);
    if (st == IMREC_ERR_NO_MEMORY)
        return no_memory(x->err);
    st = st == IMREC_OK ? uri_range_names(element, add_listed, &l, x->err)
                        : uri_range_names(element, add_name, x, x->err);
    folder_entries_free(&own);
    return st;
}

/* What has exactly this name is meant, wildcards and all. */
static enum imrec_status
add_object(struct expansion *x, const struct place *at, const char *element)
{
    struct folder_entries own;
    const struct folder_entries *all = listed_folder(element);
    bool there = false;
    const size_t n = strlen(at->name);
    const bool ranges = uri_range_in(at->name) != NULL;
    /* Where nothing can be listed, opening it tells whether it is there. */
    if (at->store->open_folder == NULL)
        return ranges ? add_ranges(x, at, element) : add(x, element, strlen(element), "");
    const bool named = n != 0 && at->name[n - 1] != '/';
    const bool pattern = strpbrk(at->name, "*?[") != NULL;
    if (named && all == NULL)
        IMREC_TRY(at->store->exists(at->name, &there, x->err));
    if (there)
        return add(x, element, strlen(element), "");
    if (ranges)
        return add_ranges(x, at, element);
    enum imrec_status st = folder_list(element, &own, &all, x->err);
    if (st == IMREC_OK) {
        st = add_entries(x, at, NULL, all);
        folder_entries_free(&own);
        return st;
    }
    const bool absent = st == IMREC_ERR_IO && (x->err == NULL || x->err->sys_errno == ENOENT);
    const bool no_folders = st == IMREC_ERR_UNSUPPORTED && named && !pattern;
    if (!absent && !no_folders)
        return st;
    return pattern ? add_pattern(x, at, element)
                   : missing(x->err, element, "there is no such object");
}

static enum imrec_status add_element(struct expansion *x, const char *element)
{
    const struct store *store;
    const char *name;
    x->origin = URI_NAMED;
    if (element[0] == '\0')
        return IMREC_REFUSE(x->err, "a list of files has an empty element");
    IMREC_TRY(store_of(element, &store, &name, x->err));
    if (store == &file_store) /* file:// is the same as nothing */
        return add_place(x, &(struct place){store, name, "", 0, name}, element);
    const char *path = store == &fault_store ? strchr(name, ':') : NULL;
    const char *rest = path != NULL ? path + 1 : name;
    const struct place at = {store, name, element, (size_t)(rest - element), rest};
    return path != NULL ? add_place(x, &at, element) : add_object(x, &at, element);
}

static enum imrec_status add_elements(struct expansion *x, char *spec)
{
    for (char *element = spec;;) {
        char *end = strchr(element, ';');
        if (end == NULL)
            return add_element(x, element);
        *end = '\0';
        IMREC_TRY(add_element(x, element));
        element = end + 1;
    }
}

enum imrec_status
uri_list_expand(const char *spec, const char *suffix, struct uri_list *out, struct imrec_error *err)
{
    struct expansion x = {.suffix = suffix, .err = err};
    const size_t n = strlen(spec);
    char *copy = imrec_joined(spec, n, "");
    enum imrec_status st = IMREC_OK;
    *out = (struct uri_list){0};
    if (copy == NULL)
        return no_memory(err);
    if (strchr(spec, ';') != NULL && exists(spec))
        st = add(&x, spec, n, "");
    else
        st = add_elements(&x, copy);
    imrec_free(copy);
    if (st == IMREC_OK)
        *out = x.list;
    else
        uri_list_free(&x.list);
    return st;
}

void uri_list_free(struct uri_list *l)
{
    for (size_t i = 0; i < l->count; i++)
        imrec_free(l->uri[i]);
    IMREC_FREE(l->uri, l->origin);
    *l = (struct uri_list){0};
}
