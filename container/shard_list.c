/* container/shard_list.c - files, folders, globs and manifests into a list of shards. */
#include "container/shard_list.h"

#include "base/alloc.h"
#include "base/error.h"
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

/* ---- public ------------------------------------------------------------------------------ */

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

static enum imrec_status expand(const char *spec, const struct container_kind *only,
                                struct uri_list *found, struct imrec_error *err)
{
    if (only != NULL)
        return expand_kind(spec, only, found, err);
    const enum imrec_status st = expand_kind(spec, container_kinds[0], found, err);
    for (size_t i = 1; st == IMREC_ERR_ARGUMENT && container_kinds[i] != NULL; i++)
        if (expand_kind(spec, container_kinds[i], found, NULL) == IMREC_OK)
            return IMREC_OK;
    return st;
}

enum imrec_status shard_list_add(struct shard_list *l, const char *spec, enum shard_look look,
                                 struct imrec_error *err)
{
    struct uri_list found;
    IMREC_TRY(expand(spec, l->only, &found, err));
    enum imrec_status st = IMREC_OK;
    for (size_t i = 0; st == IMREC_OK && i < found.count; i++) {
        const char *uri = found.uri[i];
        st = found.origin[i] == URI_NAMED && names_manifest(uri)
                 ? add_manifest(l, uri, look, err)
                 : uri_list_add(&l->names, uri, strlen(uri), "", found.origin[i], err);
    }
    uri_list_free(&found);
    return st;
}

enum imrec_status shard_list_open(struct shard_list *l, const char *spec, enum shard_look look,
                                  struct imrec_error *err)
{
    *l = (struct shard_list){0};
    enum imrec_status st = shard_list_add(l, spec, look, err);
    if (st == IMREC_OK)
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
