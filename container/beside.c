/* container/beside.c - a shard's entry in the manifest of its set. */
#include "container/beside.h"

#include "base/error.h"

#include <string.h>

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
    *b = (struct beside){0};
}
