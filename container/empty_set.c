/* container/empty_set.c - sets without a record. */
#include "container/empty_set.h"

#include "base/error.h"
#include "container/shards/manifest_beside.h"

#include <inttypes.h>
#include <stdio.h>

bool empty_set_is_promised(const struct container *c, const struct shard_list *l, uint32_t shard)
{
    struct manifest_beside beside = {0};
    if (l->promise != NULL)
        return l->promise[shard].records == 0;
    const char *uri = c->shards[shard].uri;
    const bool found = manifest_beside_find(&beside, uri, NULL) == IMREC_OK;
    const struct manifest_shard *m = found ? manifest_entry(&beside.manifest, uri) : NULL;
    const bool empty = m != NULL && m->records == 0;
    manifest_beside_free(&beside);
    return empty;
}

enum imrec_status empty_set(const struct container *c, const struct shard_list *l, const char *why,
                            struct imrec_error *err)
{
    char others[64] = "";
    bool fine = c->options.look != CONTAINER_LOOK_SET;
    for (uint32_t i = 0; !fine && i < c->shard_count && empty_set_is_promised(c, l, i); i++)
        fine = i + 1 == c->shard_count;
    if (fine)
        return IMREC_OK;
    if (c->shard_count > 1)
        (void)snprintf(others, sizeof(others), ", and none of the %" PRIu32 " shards holds one",
                       c->shard_count);
    return imrec_fail(err, IMREC_ERR_CORRUPT, "%.300s holds no record: %s%s", c->shards[0].uri, why,
                      others);
}
