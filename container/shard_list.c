/* container/shard_list.c - files, folders, globs and manifests into a list of shards. */
#include "container/shard_list.h"

#include "base/alloc.h"
#include "base/error.h"
#include "container/folder/folder_sight.h"
#include "container/image_files.h"
#include "container/kinds.h"
#include "container/shards/manifest_beside.h"
#include "container/shards/shard_sets.h"
#include "formats/set/set_names.h"
#include "storage/sink.h"

#include <string.h>

/* ---- manifests that are given ------------------------------------------------------------ */

static bool names_manifest(const char *uri)
{
    static const char suffix[] = ".manifest.json";
    const size_t n = strlen(uri), k = sizeof(suffix) - 1;
    return n > k && strcmp(uri + n - k, suffix) == 0;
}

/* The shards of the manifest that are there. */
static enum imrec_status add_listed(struct shard_list *l, const char *path,
                                    const struct manifest *m, struct shard_gap *g,
                                    struct imrec_error *err)
{
    enum imrec_status st = IMREC_OK;
    g->promised = m->shard_count;
    for (size_t i = 0; st == IMREC_OK && i < m->shard_count; i++) {
        char *uri = set_beside(path, m->shards[i].rec.name);
        if (uri == NULL)
            return IMREC_NO_MEMORY(err, "no memory for a path");
        bool there;
        st = sink_exists(uri, &there, err);
        if (st == IMREC_OK && there)
            st = uri_list_add(&l->names, uri, strlen(uri), "", URI_LISTED, err);
        else if (st == IMREC_OK)
            st = shard_gap_add(g, uri, err);
        imrec_free(uri);
    }
    shard_gap_end(g);
    return st;
}

static enum imrec_status
add_manifest(struct shard_list *l, const char *path, enum shard_look look, struct imrec_error *err)
{
    struct manifest_beside m = {0};
    struct shard_gap gap = {0};
    enum imrec_status st = manifest_beside_load(&m, path, err);
    if (st == IMREC_OK && m.why.status != IMREC_OK) {
        st = m.why.status;
        if (err != NULL)
            *err = m.why;
    }
    if (st == IMREC_OK)
        st = add_listed(l, path, &m.manifest, &gap, err);
    const bool none = gap.missing == gap.promised;
    if (st == IMREC_OK && gap.missing != 0 &&
        (none || look == SHARDS_COMPLETE || look == SHARDS_ALLOW_MISSING))
        st = shard_gap_tell(&gap, path, "it names",
                            none || look == SHARDS_COMPLETE ? GAP_ERROR : GAP_ALLOWED, err);
    manifest_beside_free(&m);
    return st;
}

/* ---- forms ------------------------------------------------------------------------------- */

/* The files of a kind. *err: why there are none with its suffix. */
static enum imrec_status expand_kind(const char *spec, const struct container_kind *k,
                                     struct uri_list *found, struct imrec_error *err)
{
    const enum imrec_status st = uri_list_expand(spec, k->suffix, found, err);
    if (st == IMREC_ERR_ARGUMENT && k->other_suffix != NULL &&
        uri_list_expand(spec, k->other_suffix, found, NULL) == IMREC_OK)
        return IMREC_OK;
    return st;
}

static bool is_list(const char *uri)
{
    const size_t n = strlen(uri);
    return n > 4 && strcmp(uri + n - 4, ".lst") == 0;
}

/* Bytes of a folder's URI without the '/' at its end: two ways to write one name. */
static size_t folder_bytes(const char *uri, size_t n)
{
    while (n > 1 && uri[n - 1] == '/' && uri[n - 2] != '/' && uri[n - 2] != ':')
        n--;
    return n;
}

/* One element of a text, if it is a folder that may hold a set; else IMREC_END. */
static enum imrec_status
add_folder(const char *element, size_t n, struct uri_list *out, struct imrec_error *err)
{
    bool there = false;
    const size_t name = folder_bytes(element, n);
    char *uri = imrec_joined(element, name, "");
    if (uri == NULL)
        return IMREC_NO_MEMORY(err, "no memory for a path");
    enum imrec_status st = name != 0 ? folder_may_be_set(uri, &there, err) : IMREC_OK;
    if (st == IMREC_OK)
        st = there ? uri_list_add(out, uri, name, "", URI_NAMED, err) : IMREC_END;
    imrec_free(uri);
    return st;
}

/* All elements are folders of images, or IMREC_END. */
static enum imrec_status
expand_folders(const char *spec, struct uri_list *out, struct imrec_error *err)
{
    enum imrec_status st = IMREC_OK;
    bool there = false;
    *out = (struct uri_list){0};
    if (strchr(spec, ';') != NULL) /* as uri_list_expand(): the name of a folder may have one */
        st = folder_may_be_set(spec, &there, err);
    if (st == IMREC_OK && there)
        st = add_folder(spec, strlen(spec), out, err);
    for (const char *at = spec; st == IMREC_OK && !there; at++) {
        const size_t n = strcspn(at, ";");
        st = add_folder(at, n, out, err);
        at += n;
        if (*at == '\0')
            break;
    }
    if (st != IMREC_OK)
        uri_list_free(out);
    return st;
}

/* Nobody can know which of the two is meant. */
static enum imrec_status check_beside(const struct uri_list *found, struct imrec_error *err)
{
    char class[FOLDER_NAME_BYTES];
    const char *before = "";
    size_t before_bytes = 0;
    for (size_t i = 0; i < found->count; i++) {
        const char *uri = found->uri[i], *name = set_base_name(uri);
        const size_t n = (size_t)(name - uri);
        if (found->origin[i] != URI_IN_FOLDER || (n == before_bytes && memcmp(uri, before, n) == 0))
            continue;
        char *folder = imrec_joined(uri, folder_bytes(uri, n), "");
        if (folder == NULL)
            return IMREC_NO_MEMORY(err, "no memory for a path");
        const enum imrec_status st = folder_class_in(folder, class, err);
        imrec_free(folder);
        IMREC_TRY(st);
        if (class[0] != '\0')
            return IMREC_REFUSE(err,
                                "%.*s has shards (%.100s) and a folder of images (%.100s): which "
                                "of them is meant? Shards are named by a pattern, as %.*s*%s",
                                (int)(n < 200 ? n : 200), uri, name, class,
                                (int)(n < 200 ? n : 200), uri, strrchr(name, '.'));
        before = uri;
        before_bytes = n;
    }
    return IMREC_OK;
}

static enum imrec_status
form_of(const struct uri_list *found, enum shard_form *form, struct imrec_error *err)
{
    size_t lists = 0;
    for (size_t i = 0; i < found->count; i++)
        lists += is_list(found->uri[i]);
    *form = lists != 0 ? SHARDS_LISTS : SHARDS_RECORDS;
    for (size_t i = 0; lists != 0 && i < found->count; i++)
        if (!is_list(found->uri[i]))
            return IMREC_REFUSE(err,
                                "%.300s is no list (.lst), as others are: a set is of one kind",
                                found->uri[i]);
    return check_beside(found, err);
}

/* The kind is given: nothing else is looked for. */
static enum imrec_status expand_as(const char *spec, const struct container_kind *only,
                                   struct uri_list *found, enum shard_form *form,
                                   struct imrec_error *err)
{
    *form = only == &folder_kind ? SHARDS_FOLDERS
            : only == &list_kind ? SHARDS_LISTS
                                 : SHARDS_RECORDS;
    if (*form == SHARDS_LISTS)
        return uri_list_expand(spec, ".lst", found, err);
    if (*form == SHARDS_RECORDS)
        return expand_kind(spec, only, found, err);
    const enum imrec_status st = expand_folders(spec, found, err);
    return st != IMREC_END
               ? st
               : IMREC_REFUSE(err, "%.400s is no folder that holds images, or folders of them",
                              spec);
}

/* The first kind that finds anything; IMREC_END: none does, and *err is the first one's. */
static enum imrec_status
expand_kinds(const char *spec, struct uri_list *found, struct imrec_error *err)
{
    struct imrec_error why;
    enum imrec_status st = expand_kind(spec, container_kinds[0], found, err);
    if (st != IMREC_ERR_ARGUMENT)
        return st;
    for (size_t i = 1; container_kinds[i] != NULL; i++) {
        st = expand_kind(spec, container_kinds[i], found, &why);
        if (st == IMREC_ERR_ARGUMENT)
            continue;
        if (st != IMREC_OK && err != NULL)
            *err = why;
        return st;
    }
    return IMREC_END;
}

/* *err is that of the first kind: of a folder it says too little. */
static enum imrec_status refuse_nothing(const char *spec, struct imrec_error *err)
{
    bool folder;
    struct imrec_error why;
    if (folder_is_there(spec, &folder, &why) != IMREC_OK || !folder)
        return IMREC_ERR_ARGUMENT;
    return IMREC_REFUSE(err,
                        "%.300s: the folder holds no *%s, no shards of another kind, and neither "
                        "images nor folders of them",
                        spec, container_kinds[0]->suffix);
}

static enum imrec_status
expand_any(const char *spec, struct uri_list *found, enum shard_form *form, struct imrec_error *err)
{
    struct imrec_error why;
    enum imrec_status st = expand_kinds(spec, found, err);
    if (st == IMREC_OK)
        return form_of(found, form, err);
    if (st != IMREC_END)
        return st;
    *form = SHARDS_FOLDERS;
    st = expand_folders(spec, found, &why);
    if (st == IMREC_END)
        return refuse_nothing(spec, err);
    if (st != IMREC_OK && err != NULL)
        *err = why;
    return st;
}

static enum imrec_status expand(const char *spec, const struct container_kind *only,
                                struct uri_list *found, enum shard_form *form,
                                struct imrec_error *err)
{
    const enum imrec_status st =
        only != NULL ? expand_as(spec, only, found, form, err) : expand_any(spec, found, form, err);
    if (st != IMREC_OK)
        uri_list_free(found);
    return st;
}

/* ---- public ------------------------------------------------------------------------------ */

enum imrec_status shard_list_add(struct shard_list *l, const char *spec, enum shard_look look,
                                 struct imrec_error *err)
{
    struct uri_list found;
    enum shard_form form;
    IMREC_TRY(expand(spec, l->only, &found, &form, err));
    enum imrec_status st = IMREC_OK;
    if (l->names.count != 0 && l->form != form)
        st = IMREC_REFUSE(err, "%.200s and %.200s are of two kinds: a set is of one",
                          l->names.uri[0], found.uri[0]);
    l->form = form;
    for (size_t i = 0; st == IMREC_OK && i < found.count; i++) {
        const char *uri = found.uri[i];
        st = found.origin[i] == URI_NAMED && names_manifest(uri)
                 ? add_manifest(l, uri, look, err)
                 : uri_list_add(&l->names, uri, strlen(uri), "", found.origin[i], err);
    }
    uri_list_free(&found);
    return st;
}

enum imrec_status shard_list_open(struct shard_list *l, const char *spec,
                                  const struct container_kind *only, enum shard_look look,
                                  struct imrec_error *err)
{
    *l = (struct shard_list){.only = only};
    enum imrec_status st = shard_list_add(l, spec, look, err);
    if (st == IMREC_OK && l->form == SHARDS_RECORDS)
        st = shard_list_check(l, look, err);
    if (st != IMREC_OK)
        shard_list_free(l);
    return st;
}

void shard_list_free(struct shard_list *l)
{
    uri_list_free(&l->names);
    imrec_free(l->promise);
    *l = (struct shard_list){0};
}
