/* container/beside.c - files that the packer wrote next to a shard. */
#include "container/beside.h"

#include "base/alloc.h"
#include "base/error.h"

#include <string.h>

enum imrec_status beside_name(struct beside *b, const char *shard, enum set_file what,
                              const char **name, struct imrec_error *err)
{
    const size_t need = SET_NAME_ROOM(strlen(shard));
    if (need > b->room) {
        char *grown = imrec_realloc(b->name, need, 1);
        if (grown == NULL)
            return IMREC_NO_MEMORY(err, "no memory for the name of a file next to a shard");
        b->name = grown;
        b->room = need;
    }
    set_name(shard, what, b->name);
    *name = b->name;
    return IMREC_OK;
}

/* Shards mostly are in the manifest's order. */
static const struct manifest_shard *find(struct beside *b, const struct shard *h)
{
    const struct manifest *set = &b->set.manifest;
    const size_t n = set->shard_count;
    for (size_t i = 0; i < n; i++) {
        const size_t at = (b->next + i) % n;
        const struct manifest_shard *m = &set->shards[at];
        if (strcmp(m->rec.name, set_base_name(h->uri)) != 0 || m->rec.bytes != h->size)
            continue;
        b->next = at + 1;
        return m;
    }
    return NULL;
}

enum imrec_status beside_manifest(struct beside *b, const struct shard *h,
                                  const struct manifest_shard **entry, struct imrec_error *err)
{
    IMREC_TRY(manifest_beside_find(&b->set, h->uri, err));
    *entry = find(b, h);
    return IMREC_OK;
}

void beside_free(struct beside *b)
{
    manifest_beside_free(&b->set);
    imrec_free(b->name);
    *b = (struct beside){0};
}
