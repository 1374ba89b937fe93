/* container/shard_check.c - a list of shards compared with what manifests and names promise. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "container/shard_list.h"
#include "container/shards/manifest_beside.h"
#include "container/shards/shard_sets.h"

#include <string.h>

struct checking {
    struct shard_list *list;
    enum shard_look look;
    struct shard_sets sets;
    struct manifest_beside beside;
    struct imrec_error *err;
};

/* ---- one manifest ------------------------------------------------------------------------ */

/* Keeps what the manifest promises of its shards in the list; *gap: those that are not in it. */
static enum imrec_status take_promises(struct checking *c, struct shard_gap *gap)
{
    const struct manifest *m = &c->beside.manifest;
    *gap = (struct shard_gap){.promised = m->shard_count};
    for (size_t i = 0; i < m->shard_count; i++) {
        char *path = set_beside(c->beside.path, m->shards[i].rec.name); /* where it would be */
        if (path == NULL)
            return IMREC_NO_MEMORY(c->err, "no memory for a path");
        size_t k = shard_sets_find(&c->sets, path);
        const enum imrec_status st =
            k == c->sets.count ? shard_gap_add(gap, path, c->err) : IMREC_OK;
        for (; k < c->sets.count && strcmp(c->sets.member[k].uri, path) == 0; k++)
            c->list->promise[c->sets.member[k].at] =
                (struct shard_promise){m->shards[i].rec.bytes, m->shards[i].records};
        imrec_free(path);
        IMREC_TRY(st);
    }
    shard_gap_end(gap);
    return IMREC_OK;
}

static void tell_broken(struct checking *c)
{
    if (c->beside.why.status != IMREC_OK)
        imrec_log(IMREC_LOG_WARNING, "%.400s; nothing is compared with it", c->beside.why.message);
    c->beside.why.status = IMREC_OK; /* once */
}

/* ---- one set ----------------------------------------------------------------------------- */

static bool was_found(const struct shard_member *m)
{
    return m->origin == URI_IN_FOLDER || m->origin == URI_MATCHED;
}

/* The same name with two numbers of shards: one is the rest of an earlier run, and all images would
 * be read twice. */
static enum imrec_status check_rival(struct checking *c, size_t begin)
{
    const struct shard_member *m = &c->sets.member[begin];
    if (begin == 0 || !shard_sets_rival(&m[-1], m) || !was_found(&m[-1]) || !was_found(m))
        return IMREC_OK;
    return IMREC_REFUSE(c->err,
                        "%.200s and %.200s are of two sets of one name; give the manifest, or a "
                        "pattern or list of the one that is meant",
                        m[-1].uri, m->uri);
}

static enum imrec_status check_set(struct checking *c, size_t begin, size_t end)
{
    const struct shard_member *m = &c->sets.member[begin];
    struct shard_gap gap;
    const char *says = "its manifest names";
    IMREC_TRY(check_rival(c, begin));
    IMREC_TRY(manifest_beside_find(&c->beside, m->uri, c->err));
    tell_broken(c);
    IMREC_TRY(take_promises(c, &gap));
    if (c->list->promise[m->at].bytes == UINT64_MAX) { /* of another set, or none */
        says = "its name says";
        IMREC_TRY(shard_sets_gap(&c->sets, begin, end, false, &gap, c->err));
    }
    if (gap.missing == 0 || m->origin == URI_LISTED || c->look == SHARDS_LEAVE_MISSING)
        return IMREC_OK;
    return shard_gap_tell(&gap, m->uri, says,
                          !was_found(m)                     ? GAP_LISTED
                          : c->look == SHARDS_ALLOW_MISSING ? GAP_ALLOWED
                                                            : GAP_ERROR,
                          c->err);
}

/* ---- sets that are missing as a whole ------------------------------------------------------ */

static bool of_kind(const struct manifest *m, const char *uri)
{
    const char *a = strrchr(m->shards[0].rec.name, '.'), *b = strrchr(uri, '.');
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

/* `uri` is a shard that was found in the manifest's folder. */
static enum imrec_status check_manifest(struct checking *c, const char *manifest, const char *uri)
{
    struct shard_gap gap;
    IMREC_TRY(manifest_beside_load(&c->beside, manifest, c->err));
    if (c->beside.manifest.shard_count == 0 || !of_kind(&c->beside.manifest, uri))
        return IMREC_OK;
    IMREC_TRY(take_promises(c, &gap));
    if (gap.missing < gap.promised || c->look == SHARDS_LEAVE_MISSING)
        return IMREC_OK; /* those that are there were asked */
    return shard_gap_tell(&gap, manifest, "it names",
                          c->look == SHARDS_ALLOW_MISSING ? GAP_ALLOWED : GAP_ERROR, c->err);
}

static enum imrec_status check_folder(struct checking *c, const char *uri)
{
    struct uri_list manifests;
    char *folder = set_beside(uri, "");
    enum imrec_status st = folder != NULL
                               ? uri_list_expand(folder, ".manifest.json", &manifests, c->err)
                               : IMREC_NO_MEMORY(c->err, "no memory for a path");
    imrec_free(folder);
    if (st == IMREC_ERR_NO_MEMORY)
        return st;
    if (st != IMREC_OK) /* there is none */
        return IMREC_OK;
    for (size_t i = 0; st == IMREC_OK && i < manifests.count; i++)
        if (manifests.origin[i] == URI_IN_FOLDER)
            st = check_manifest(c, manifests.uri[i], uri);
    uri_list_free(&manifests);
    return st;
}

static bool same_folder(const char *a, const char *b)
{
    const size_t n = (size_t)(set_base_name(a) - a);
    return n == (size_t)(set_base_name(b) - b) && memcmp(a, b, n) == 0;
}

static enum imrec_status check_folders(struct checking *c)
{
    const struct uri_list *l = &c->list->names;
    const char *last = NULL;
    for (size_t i = 0; i < l->count; i++) {
        if (l->origin[i] != URI_IN_FOLDER || (last != NULL && same_folder(last, l->uri[i])))
            continue;
        last = l->uri[i];
        IMREC_TRY(check_folder(c, last));
    }
    return IMREC_OK;
}

/* ---- public ------------------------------------------------------------------------------ */

static enum imrec_status check_all(struct checking *c)
{
    const size_t n = c->list->names.count;
    IMREC_TRY(shard_sets_init(&c->sets, &c->list->names, c->err));
    c->list->promise = imrec_realloc(NULL, n + 1, sizeof(*c->list->promise));
    if (c->list->promise == NULL)
        return IMREC_NO_MEMORY(c->err, "no memory for a list of %zu shards", n);
    for (size_t i = 0; i < n; i++)
        c->list->promise[i] = (struct shard_promise){UINT64_MAX, UINT64_MAX};
    for (size_t begin = 0, end; begin < n; begin = end) {
        end = shard_sets_end(&c->sets, begin);
        IMREC_TRY(check_set(c, begin, end));
    }
    return check_folders(c);
}

enum imrec_status
shard_list_check(struct shard_list *l, enum shard_look look, struct imrec_error *err)
{
    struct checking c = {.list = l, .look = look, .err = err};
    const enum imrec_status st = look == SHARDS_UNSEEN ? IMREC_OK : check_all(&c);
    shard_sets_free(&c.sets);
    manifest_beside_free(&c.beside);
    return st;
}
