/* im2rec/list/archive_folder.c */
#include "im2rec/list/archive_folder.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "container/folder/folder_sight.h"
#include "container/shards/shard_sets.h"
#include "im2rec/list/archive_names.h"
#include "storage/folder.h"
#include "storage/source.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define SPEC_MOST ((size_t)1 << 30)

/* Of a folder or a class of it, as words say that belong to folders of images alone. */
static bool may_be_archives(const struct imrec_pack_task *t, const struct imrec_pack_options *o)
{
    return t->list == NULL && !archives_are(t->root) && o->annotations[0] == '\0' &&
           o->masks[0] == '\0' && o->exts[0] == '\0' && o->class_from == IMREC_CLASS_TOP &&
           !o->new_classes && !o->list;
}

/* ---- what is in it ------------------------------------------------------------------------- */

static enum imrec_status
add(struct uri_list *l, const char *root, const char *name, struct imrec_error *err)
{
    const size_t n = strlen(root);
    char *below = imrec_joined(root, n, n != 0 && root[n - 1] == '/' ? "" : "/");
    if (below == NULL)
        return IMREC_NO_MEMORY(err, "no memory for the archives in %.200s", root);
    const enum imrec_status st = uri_list_add(l, below, strlen(below), name, URI_IN_FOLDER, err);
    imrec_free(below);
    return st;
}

/* *l: the archives. A folder that cannot be listed has none: reading it says why. */
static enum imrec_status
find_archives(const char *root, struct uri_list *l, struct imrec_error *err)
{
    struct folder *f;
    struct folder_entry e;
    enum imrec_status st = (source_is_remote(root) ? folder_open : folder_open_path)(root, &f, err);
    if (st != IMREC_OK)
        return st == IMREC_ERR_NO_MEMORY ? st : IMREC_OK;
    while (st == IMREC_OK && (st = folder_next(f, &e, err)) == IMREC_OK)
        if (e.name[0] != '.' && archives_are_called(e.name) &&
            folder_look(f, &e, NULL) == FOLDER_FILE)
            st = add(l, root, e.name, err);
    folder_close(f);
    return st == IMREC_END ? IMREC_OK : st;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* ---- whether they are what is meant -------------------------------------------------------- */

static enum imrec_status
check_kind(const char *root, const struct uri_list *l, struct imrec_error *err)
{
    char class[FOLDER_NAME_BYTES];
    const bool examples = archive_is_examples(l->uri[0]);
    for (size_t i = 0; i < l->count; i++) {
        const char *name = set_base_name(l->uri[i]);
        if (archive_is_examples(l->uri[i]) != examples)
            return IMREC_REFUSE(err,
                                "%.200s holds tar archives and TFRecord files (%.100s, %.100s): "
                                "which of them are meant? A pattern names them",
                                root, set_base_name(l->uri[0]), name);
        if (strchr(name, ';') != NULL)
            return IMREC_REFUSE(err,
                                "%.200s: an archive is named without ';', which is between "
                                "the names of several",
                                l->uri[i]);
    }
    IMREC_TRY(folder_class_in(root, class, err));
    return class[0] == '\0'
               ? IMREC_OK
               : IMREC_REFUSE(err,
                              "%.200s holds archives (%.100s) and a folder of images (%.100s): "
                              "which of them is meant? Archives are named by a pattern",
                              root, set_base_name(l->uri[0]), class);
}

static enum imrec_status
check_set(const struct shard_sets *s, size_t begin, size_t end, struct imrec_error *err)
{
    const struct shard_member *m = &s->member[begin];
    struct shard_gap gap;
    if (begin != 0 && shard_sets_rival(&m[-1], m))
        return IMREC_REFUSE(err,
                            "%.200s and %.200s are of two sets of one name; a pattern names those "
                            "that are meant",
                            m[-1].uri, m->uri);
    IMREC_TRY(shard_sets_gap(s, begin, end, false, &gap, err));
    if (gap.missing == 0)
        return IMREC_OK;
    imrec_fail(err, IMREC_ERR_IO,
               "%.180s: its name says %" PRIu64 " shards, and %" PRIu64
               " %s missing: %s; a pattern or a list packs the others",
               m->uri, gap.promised, gap.missing, gap.missing == 1 ? "is" : "are", gap.names);
    imrec_error_errno(err, ENOENT);
    return IMREC_ERR_IO;
}

static enum imrec_status check_sets(const struct uri_list *l, struct imrec_error *err)
{
    struct shard_sets sets;
    IMREC_TRY(shard_sets_init(&sets, l, err));
    enum imrec_status st = IMREC_OK;
    for (size_t begin = 0, end; st == IMREC_OK && begin < sets.count; begin = end) {
        end = shard_sets_end(&sets, begin);
        st = check_set(&sets, begin, end, err);
    }
    shard_sets_free(&sets);
    return st;
}

/* ---- all of them ---------------------------------------------------------------------------- */

static enum imrec_status join(const struct uri_list *l, char **spec, struct imrec_error *err)
{
    struct buf all = BUF_INIT(SPEC_MOST);
    enum imrec_status st = IMREC_OK;
    for (size_t i = 0; st == IMREC_OK && i < l->count; i++) {
        st = buf_append(&all, l->uri[i], strlen(l->uri[i]), err);
        if (st == IMREC_OK)
            st = buf_append(&all, i + 1 < l->count ? ";" : "", 1, err);
    }
    if (st != IMREC_OK)
        buf_free(&all);
    *spec = (char *)all.p;
    return st;
}

enum imrec_status archives_in_folder(const struct imrec_pack_task *task,
                                     const struct imrec_pack_options *o, char **spec,
                                     struct imrec_error *err)
{
    struct uri_list l = {0};
    *spec = NULL;
    if (!may_be_archives(task, o))
        return IMREC_OK;
    enum imrec_status st = find_archives(task->root, &l, err);
    if (st == IMREC_OK && l.count != 0) {
        qsort(l.uri, l.count, sizeof(*l.uri), by_bytes);
        st = check_kind(task->root, &l, err);
        if (st == IMREC_OK)
            st = check_sets(&l, err);
        if (st == IMREC_OK)
            st = join(&l, spec, err);
    }
    uri_list_free(&l);
    return st;
}
