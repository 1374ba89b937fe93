/* container/shards/manifest_beside.c - the manifest of the set that a shard belongs to. */
#include "container/shards/manifest_beside.h"

#include "base/alloc.h"
#include "base/error.h"
#include "formats/set/set_names.h"
#include "storage/sink.h"
#include "storage/source.h"

#include <string.h>

static enum imrec_status no_memory(struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "no memory to look for a manifest");
}

static enum imrec_status read_it(struct manifest_beside *m)
{
    uint8_t *text;
    size_t n;
    IMREC_TRY(source_load_if_there(m->path, MANIFEST_MAX_BYTES, &text, &n, &m->why));
    if (text == NULL)
        return IMREC_OK;
    const enum imrec_status st =
        manifest_read(m->path, (struct bytes){text, n}, &m->manifest, &m->why);
    imrec_free(text);
    return st;
}

/* `path` is of imrec_realloc(), and the struct's from here on. */
static enum imrec_status go_to(struct manifest_beside *m, char *path, struct imrec_error *err)
{
    if (path == NULL)
        return no_memory(err);
    if (m->path != NULL && strcmp(m->path, path) == 0) {
        imrec_free(path);
        return IMREC_OK;
    }
    manifest_beside_free(m);
    m->path = path;
    if (read_it(m) == IMREC_ERR_NO_MEMORY) {
        manifest_beside_free(m); /* the next call tries again */
        return no_memory(err);
    }
    return IMREC_OK;
}

enum imrec_status
manifest_beside_load(struct manifest_beside *m, const char *path, struct imrec_error *err)
{
    return go_to(m, imrec_joined(path, 0, path), err);
}

enum imrec_status
manifest_beside_find(struct manifest_beside *m, const char *shard, struct imrec_error *err)
{
    return go_to(m, set_path(shard, SET_MANIFEST), err);
}

const struct manifest_shard *manifest_entry(const struct manifest *m, const char *shard)
{
    const char *name = set_base_name(shard);
    for (size_t i = 0; i < m->shard_count; i++)
        if (strcmp(m->shards[i].rec.name, name) == 0)
            return &m->shards[i];
    return NULL;
}

/* Shards mostly are in the manifest's order. */
enum imrec_status manifest_beside_shard(struct manifest_beside *m, const char *shard,
                                        uint64_t bytes, const struct manifest_shard **entry,
                                        struct imrec_error *err)
{
    *entry = NULL;
    IMREC_TRY(manifest_beside_find(m, shard, err));
    for (size_t i = 0, n = m->manifest.shard_count; i < n && *entry == NULL; i++) {
        const size_t at = (m->next + i) % n;
        const struct manifest_shard *s = &m->manifest.shards[at];
        if (strcmp(s->rec.name, set_base_name(shard)) != 0 || s->rec.bytes != bytes)
            continue;
        m->next = at + 1;
        *entry = s;
    }
    return IMREC_OK;
}

void manifest_beside_free(struct manifest_beside *m)
{
    manifest_free(&m->manifest);
    imrec_free(m->path);
    *m = (struct manifest_beside){0};
}
