/* container/folder/folder_scan.c */
#include "container/folder/folder_scan.h"

#include "base/alloc.h"
#include "base/error.h"
#include "formats/image_names.h"
#include "storage/at_once.h"
#include "storage/folder.h"
#include "storage/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GO_ON_EVERY 4096 /* files */

struct identity { /* of a folder, whatever its name */
    uint64_t device, number;
};
struct place { /* a folder we are in */
    const struct place *above;
    struct identity id;
};
struct subfolder {
    char *name;
    bool link;
};
struct walk {
    const struct scan_options *o;
    struct scan *s;
    struct imrec_error *err;
    struct identity *targets; /* folders reached through a link */
    size_t target_count;
    uint64_t target_room;
    bool remote;                /* the root is in another store */
    char path[SCAN_PATH_BYTES]; /* of the folder about to be entered: not on the stack of every
                                   level */
};

static enum imrec_status no_memory(struct walk *w)
{
    return IMREC_NO_MEMORY(w->err, "no memory for the list of %s after %zu images", w->o->root,
                           w->s->file_count);
}

/* ---- what a name says ------------------------------------------------------------------- */

static bool in_list(const char *list, const char *ext)
{
    const size_t n = strlen(ext);
    while (*list != '\0') {
        const size_t length = strcspn(list, ", ");
        const bool dotless = length != 0 && list[0] != '.';
        if (length + dotless == n && length != 0 &&
            image_extension_same(list, ext + dotless, length))
            return true;
        list += length;
        list += strspn(list, ", ");
    }
    return false;
}

static bool is_image_name(const struct scan_options *o, const char *name)
{
    const char *ext = image_extension(name);
    return o->exts[0] != '\0' ? *ext != '\0' && in_list(o->exts, ext)
                              : image_extension_is(ext, o->builtin);
}

/* ---- what is noted ---------------------------------------------------------------------- */

static enum imrec_status
note_skip(struct walk *w, const char *folder, const char *name, enum reason reason, const char *why)
{
    return scan_add_skip(w->s, folder, name, reason, why) ? IMREC_OK : no_memory(w);
}

static struct bytes bytes_of(const char *text)
{
    return (struct bytes){(const uint8_t *)text, strlen(text)};
}

static enum imrec_status add_class(struct walk *w, const char *name, int64_t *out)
{
    uint32_t number = w->s->classes.count;
    const struct class_list *given = w->o->given;
    const bool known = given != NULL && class_list_find(given, bytes_of(name), &number);
    if (given == NULL || (!known && w->o->new_classes)) {
        IMREC_TRY(class_list_add(&w->s->classes, bytes_of(name), w->err));
    } else if (!known) {
        return IMREC_REFUSE(w->err, "%s holds the class '%s', which the class list does not name",
                            w->o->root, name);
    }
    *out = number;
    return IMREC_OK;
}

static enum imrec_status add_folder(struct walk *w, const char *path, int64_t class_index)
{
    return scan_add_folder(w->s, path, class_index, 0) ? IMREC_OK : no_memory(w);
}

/* ---- one folder ------------------------------------------------------------------------- */

static const char *kind_name(enum folder_kind kind)
{
    return kind == FOLDER_FIFO     ? "is a FIFO"
           : kind == FOLDER_SOCKET ? "is a socket"
                                   : "is a device";
}

static enum imrec_status
take_file(struct walk *w, uint32_t folder, const struct folder_entry *e, enum folder_kind kind)
{
    struct scan *s = w->s;
    const char *name = e->name;
    const char *path = s->folders[folder].path;
    const enum reason reason = reason_of_name(bytes_of(name));
    if (reason != REASON_NONE)
        return note_skip(w, path, name, reason,
                         reason == REASON_UTF8 ? "the name is not UTF-8"
                                               : "the name holds a control character");
    if (kind != FOLDER_FILE)
        return note_skip(w, path, name, REASON_NOT_A_FILE, kind_name(kind));
    if (strlen(w->o->root) + strlen(path) + strlen(name) + 3 > SCAN_PATH_BYTES)
        return note_skip(w, path, name, REASON_UNREADABLE, "the path is longer than 4095 bytes");
    if (!(w->o->said ? scan_add_said(s, folder, e) : scan_add_file(s, folder, 0, name, NULL)))
        return no_memory(w); /* settle_files() numbers it */
    if (s->file_count % GO_ON_EVERY == 0 && w->o->go_on != NULL &&
        !w->o->go_on(w->o->user, s->file_count))
        return imrec_fail(w->err, IMREC_ERR_CANCELLED, "interrupted while looking through %s",
                          w->o->root);
    return IMREC_OK;
}

struct subfolders {
    struct subfolder *folders;
    size_t count;
    uint64_t room;
};

static enum imrec_status
take_folder(struct walk *w, uint32_t folder, struct subfolders *l, const char *name, bool link)
{
    const enum reason reason = reason_of_name(bytes_of(name));
    if (reason != REASON_NONE)
        return note_skip(w, w->s->folders[folder].path, name, reason,
                         reason == REASON_UTF8 ? "the folder's name is not UTF-8"
                                               : "the folder's name holds a control character");
    char *kept = string_arena_put(&w->s->texts, name, strlen(name) + 1);
    if (kept == NULL || !IMREC_GROW(l->folders, l->room, l->count + 1))
        return no_memory(w);
    l->folders[l->count++] = (struct subfolder){kept, link};
    return IMREC_OK;
}

static enum imrec_status take_entry(struct walk *w, uint32_t folder, struct folder *f,
                                    const struct folder_entry *e, struct subfolders *l)
{
    const bool image = is_image_name(w->o, e->name);
    int failed = 0;
    IMREC_TRY(stop_check(w->o->stop, w->err));
    if (e->kind == FOLDER_FILE && !image)
        return w->s->other_files++, IMREC_OK;
    const enum folder_kind kind = folder_look(f, e, &failed);
    if (kind == FOLDER_FOLDER && w->o->class_from == IMREC_CLASS_FLAT)
        return w->s->ignored_folders++, IMREC_OK;
    if (kind == FOLDER_FOLDER)
        return take_folder(w, folder, l, e->name, e->kind != FOLDER_FOLDER);
    if (!image)
        return w->s->other_files++, IMREC_OK;
    if (kind == FOLDER_LOST)
        return note_skip(w, w->s->folders[folder].path, e->name, REASON_LINK,
                         failed == ENOENT ? "the link leads to nothing" : strerror(failed));
    return take_file(w, folder, e, kind);
}

static int by_file_name(const void *a, const void *b)
{
    return strcmp((*(struct scan_file *const *)a)->name, (*(struct scan_file *const *)b)->name);
}

static int by_folder_name(const void *a, const void *b)
{
    return strcmp(((const struct subfolder *)a)->name, ((const struct subfolder *)b)->name);
}

static int by_skip_path(const void *a, const void *b)
{
    return strcmp(((const struct scan_skip *)a)->path, ((const struct scan_skip *)b)->path);
}

/* As they come, and sorted here: in one list with its other files a large folder took twice the
 * memory. The folder is closed then: no descriptor is held while we go deeper. */
static enum imrec_status
read_folder(struct walk *w, uint32_t folder, struct folder *f, struct subfolders *l)
{
    struct scan *s = w->s;
    const size_t first = s->file_count, first_skip = s->skip_count;
    struct imrec_error why;
    struct folder_entry e;
    enum imrec_status st = IMREC_OK, more = IMREC_OK;
    while (st == IMREC_OK && (more = folder_next(f, &e, &why)) == IMREC_OK)
        st = take_entry(w, folder, f, &e, l);
    folder_close(f);
    if (st == IMREC_OK && more != IMREC_END)
        st = imrec_fail(w->err, IMREC_ERR_IO, "reading the folder %s/%s: %s", w->o->root,
                        s->folders[folder].path, strerror(why.sys_errno));
    if (st != IMREC_OK)
        return st;
    if (s->file_count > first)
        qsort(s->files + first, s->file_count - first, sizeof(*s->files), by_file_name);
    if (s->skip_count > first_skip)
        qsort(s->skips + first_skip, s->skip_count - first_skip, sizeof(*s->skips), by_skip_path);
    if (l->count != 0)
        qsort(l->folders, l->count, sizeof(*l->folders), by_folder_name);
    return IMREC_OK;
}

/* Numbers the folder's images, or, outside a class, turns them into skips. */
static enum imrec_status settle_files(struct walk *w, uint32_t folder, size_t first)
{
    struct scan *s = w->s;
    struct scan_folder *f = &s->folders[folder];
    if (s->file_count == first)
        return IMREC_OK;
    if (f->class_index < 0 && w->o->class_from != IMREC_CLASS_TOP)
        IMREC_TRY(add_class(w, f->path[0] != '\0' ? f->path : ".", &f->class_index));
    if (f->class_index < 0) {
        for (size_t i = first; i < s->file_count; i++)
            IMREC_TRY(note_skip(w, f->path, s->files[i]->name, REASON_OUTSIDE,
                                "is not in a class folder"));
        s->file_count = first;
        return IMREC_OK;
    }
    if (s->file_count > UINT32_MAX)
        return imrec_fail(w->err, IMREC_ERR_LIMIT, "%s holds more than 2^32 - 1 images",
                          w->o->root);
    for (size_t i = first; i < s->file_count; i++)
        s->files[i]->id = (uint32_t)i;
    return IMREC_OK;
}

/* ---- the walk --------------------------------------------------------------------------- */

static bool is_same(struct identity a, struct identity b)
{
    return a.device == b.device && a.number == b.number;
}

static bool inside(const struct place *p, struct identity id)
{
    while (p != NULL && !is_same(p->id, id))
        p = p->above;
    return p != NULL;
}

/* Notes a folder reached through a link; *again if it was before. */
static enum imrec_status note_target(struct walk *w, struct identity id, bool *again)
{
    size_t i = 0;
    while (i < w->target_count && !is_same(w->targets[i], id))
        i++;
    *again = i < w->target_count;
    if (*again)
        return IMREC_OK;
    if (!IMREC_GROW(w->targets, w->target_room, w->target_count + 1))
        return no_memory(w);
    w->targets[w->target_count++] = id;
    return IMREC_OK;
}

static enum imrec_status walk_folder(struct walk *w, const char *path, int64_t class_index,
                                     const struct place *above, bool link);

static enum imrec_status
walk_below(struct walk *w, uint32_t folder, const struct subfolders *l, const struct place *here)
{
    for (size_t i = 0; i < l->count; i++) {
        const struct scan_folder f = w->s->folders[folder]; /* the array moves */
        const char *name = l->folders[i].name;
        int64_t class_index = w->o->class_from == IMREC_CLASS_TOP ? f.class_index : -1;
        const int n =
            snprintf(w->path, sizeof(w->path), "%s%s%s", f.path, f.path[0] ? "/" : "", name);
        if (strlen(w->o->root) + (size_t)n + 3 > SCAN_PATH_BYTES) {
            IMREC_TRY(note_skip(w, f.path, name, REASON_UNREADABLE,
                                "the folder's path is longer than 4095 bytes"));
            continue;
        }
        if (here->above == NULL && w->o->class_from == IMREC_CLASS_TOP && name[0] != '.')
            IMREC_TRY(add_class(w, name, &class_index));
        if (w->o->classes_only)
            continue;
        IMREC_TRY(walk_folder(w, w->path, class_index, here, l->folders[i].link));
    }
    return IMREC_OK;
}

/* The root must open; of a folder below it is noted why it does not. */
static enum imrec_status cannot_open(struct walk *w, const char *path, const struct place *above,
                                     const struct imrec_error *why)
{
    if (why->status == IMREC_ERR_NO_MEMORY)
        return no_memory(w);
    if (w->remote) { /* a store that does not answer has no folder that is only skipped */
        if (w->err != NULL)
            *w->err = *why;
        return why->status;
    }
    if (above != NULL)
        return note_skip(w, path, "", REASON_UNREADABLE, strerror(why->sys_errno));
    imrec_fail(w->err, IMREC_ERR_IO, "opening the folder %s: %s", w->o->root,
               strerror(why->sys_errno));
    if (w->err != NULL)
        w->err->sys_errno = why->sys_errno;
    return IMREC_ERR_IO;
}

/* Opens it, or notes why it is skipped (*out stays NULL). */
static enum imrec_status open_folder(struct walk *w, const char *path, const struct place *above,
                                     bool link, struct folder **out)
{
    char full[SCAN_PATH_BYTES + 2];
    struct imrec_error why;
    bool again = false;
    snprintf(full, sizeof(full), "%s%s%s", w->o->root, path[0] != '\0' ? "/" : "", path);
    if ((w->remote ? folder_open : folder_open_path)(full, out, &why) != IMREC_OK)
        return cannot_open(w, path, above, &why);
    const struct identity id = {(*out)->device, (*out)->number};
    enum imrec_status status = IMREC_OK;
    if (inside(above, id))
        status = note_skip(w, path, "", REASON_LINK, "the link leads back to a folder above it"),
        again = true;
    else if (link && (status = note_target(w, id, &again)) == IMREC_OK && again)
        status = note_skip(w, path, "", REASON_LINK, "another link led to the same folder");
    if (status != IMREC_OK || again) {
        folder_close(*out);
        *out = NULL;
    }
    return status;
}

static enum imrec_status walk_folder(struct walk *w, const char *path, int64_t class_index,
                                     const struct place *above, bool link)
{
    struct folder *f;
    IMREC_TRY(open_folder(w, path, above, link, &f));
    if (f == NULL)
        return IMREC_OK;
    const struct place here = {above, {f->device, f->number}};
    const uint32_t folder = (uint32_t)w->s->folder_count;
    const size_t first = w->s->file_count;
    enum imrec_status status = add_folder(w, path, class_index);
    struct subfolders l = {0};
    if (status == IMREC_OK)
        status = read_folder(w, folder, f, &l);
    else
        folder_close(f);
    if (status == IMREC_OK && (status = settle_files(w, folder, first)) == IMREC_OK)
        status = walk_below(w, folder, &l, &here);
    imrec_free(l.folders);
    return status;
}

/* Every class of a given list must have its folder. */
static enum imrec_status missing_class(struct walk *w)
{
    const struct class_list *given = w->o->given;
    struct scan *s = w->s;
    bool *seen = imrec_zalloc((size_t)given->count + 1, sizeof(*seen));
    if (seen == NULL)
        return no_memory(w);
    for (size_t i = 0; i < s->folder_count; i++)
        if (s->folders[i].class_index >= 0)
            seen[s->folders[i].class_index] = true;
    uint32_t i = 0;
    while (i < given->count && seen[i])
        i++;
    imrec_free(seen);
    if (i == given->count)
        return IMREC_OK;
    const struct bytes name = class_list_name(given, i);
    return IMREC_REFUSE(w->err, "%s has no folder for the class '%.*s' of the class list",
                        w->o->root, (int)name.n, (const char *)name.p);
}

/* ---- far folders, many at once ----------------------------------------------------------- */

#define AHEAD_FOLDERS 256u
#define AHEAD_MOST    (4u << 20) /* entries, some 120 bytes each: the walk lists the others */

struct ahead { /* the folders of a level */
    const struct walk *w;
    char **folder;
    size_t count, begun;
    uint64_t room;
};

static void ahead_free(struct ahead *a)
{
    for (size_t i = 0; i < a->count; i++)
        imrec_free(a->folder[i]);
    imrec_free(a->folder);
}

/* What it holds is kept for the walk, which also reports what fails here. */
static enum imrec_status list_ahead(void *context, uint32_t i, struct imrec_error *err)
{
    const struct ahead *a = context;
    struct folder_entries own;
    const struct folder_entries *all;
    (void)err;
    if (folder_list(a->folder[a->begun + i], &own, &all, NULL) == IMREC_OK)
        folder_entries_free(&own);
    return stop_check(a->w->o->stop, NULL);
}

/* The folders in a level's folders. */
static bool next_level(const struct ahead *level, struct ahead *next)
{
    for (size_t i = 0; i < level->count; i++) {
        const struct folder_entries *all = listed_folder(level->folder[i]);
        for (size_t k = 0; all != NULL && k < all->count; k++) {
            const struct folder_entry *e = &all->entry[k];
            const size_t n = strlen(level->folder[i]);
            char *head = e->kind == FOLDER_FOLDER && reason_of_name(bytes_of(e->name)) == 0
                             ? imrec_joined(level->folder[i], n, "/")
                             : NULL;
            char *full = head != NULL ? imrec_joined(head, n + 1, e->name) : NULL;
            imrec_free(head);
            if (full == NULL)
                continue;
            if (!IMREC_GROW(next->folder, next->room, next->count + 1)) {
                imrec_free(full);
                return false;
            }
            next->folder[next->count++] = full;
        }
    }
    return next->count != 0;
}

/* False: no more of them. */
static bool list_level(struct ahead *level, uint64_t *entries)
{
    for (size_t n; level->begun < level->count && *entries < AHEAD_MOST; level->begun += n) {
        n = level->count - level->begun < AHEAD_FOLDERS ? level->count - level->begun
                                                        : AHEAD_FOLDERS;
        if (at_once((uint32_t)n, true, list_ahead, level, NULL) != IMREC_OK)
            return false;
        for (size_t i = 0; i < n; i++) {
            const struct folder_entries *all = listed_folder(level->folder[level->begun + i]);
            *entries += all != NULL ? all->count : 0;
        }
    }
    return level->begun == level->count;
}

/* Lists the folders of a store level by level, where lists are kept: one after the other each would
 * wait for a round trip. */
static void walk_ahead(const struct walk *w)
{
    struct ahead level = {.w = w}, next;
    uint64_t entries = 0;
    char *root = imrec_joined(w->o->root, strlen(w->o->root), "");
    bool more = root != NULL && IMREC_GROW(level.folder, level.room, 1);
    if (more)
        level.folder[level.count++] = root;
    else
        imrec_free(root);
    while (more) {
        next = (struct ahead){.w = w};
        more = list_level(&level, &entries) && w->o->class_from != IMREC_CLASS_FLAT &&
               !w->o->classes_only && next_level(&level, &next);
        ahead_free(&level);
        level = next;
    }
    ahead_free(&level);
}

static enum imrec_status
scan_once(const struct scan_options *o, struct scan *out, struct imrec_error *err)
{
    struct walk w;
    memset(&w, 0, sizeof(w));
    w.o = o;
    w.s = out;
    w.err = err;
    w.remote = source_is_remote(o->root);
    *out = (struct scan){0};
    enum imrec_status st = o->given != NULL && o->new_classes
                               ? class_list_add_all(&out->classes, o->given, err)
                               : IMREC_OK;
    if (st == IMREC_OK && w.remote)
        walk_ahead(&w);
    if (st == IMREC_OK)
        st = walk_folder(&w, "", -1, NULL, false);
    if (st == IMREC_OK && o->given != NULL && !o->some_classes)
        st = missing_class(&w);
    imrec_free(w.targets);
    if (st != IMREC_OK)
        scan_free(out);
    return st;
}

static enum imrec_status
scan_twice(const struct scan_options *o, struct scan *out, struct imrec_error *err)
{
    static const char *const sounds[] = {".wav", NULL};
    struct scan_options again = *o;
    again.builtin = sounds;
    IMREC_TRY(scan_once(o, out, err));
    if (out->file_count + out->skip_count != 0 || o->exts[0] != '\0' || o->classes_only)
        return IMREC_OK;
    scan_free(out);
    return scan_once(&again, out, err);
}

enum imrec_status
scan_folder(const struct scan_options *o, struct scan *out, struct imrec_error *err)
{
    struct listed mine = {NULL};
    if (listed_now() != NULL)
        return scan_twice(o, out, err);
    listed_enter(&mine);
    const enum imrec_status st = scan_twice(o, out, err);
    listed_enter(NULL);
    listed_free(&mine);
    return st;
}
