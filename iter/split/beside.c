#include "iter/split/beside.h"

#include "base/alloc.h"
#include "base/error.h"

#include <string.h>

enum imrec_status beside_name(struct beside *b, const char *shard, enum set_file what,
                              const char **name, struct imrec_error *err)
{
    const size_t need = SET_NAME_ROOM(strlen(shard));
    if (need > b->room) {
        char *grown = imrec_realloc(b->name, need, 1);
        b->name = grown != NULL ? grown : b->name;
        char *last = grown != NULL ? imrec_realloc(b->last, need, 1) : NULL;
        if (last == NULL)
            return imrec_error_at(err, IMREC_ERR_NO_MEMORY, IMREC_NO_OFFSET,
                                  "no memory to look beside a shard");
        if (b->last == NULL)
            last[0] = '\0';
        b->last = last;
        b->room = need;
    }
    set_name(shard, what, b->name);
    *name = b->name;
    return IMREC_OK;
}

static void read_manifest(struct beside *b)
{
    uint8_t *text;
    size_t n;
    if (strcmp(b->name, b->last) == 0)
        return;
    strcpy(b->last, b->name);
    manifest_free(&b->manifest);
    b->manifest = (struct manifest){0};
    b->next = 0;
    if (source_load(b->name, MANIFEST_MAX_BYTES, &text, &n, NULL) != IMREC_OK)
        return;
    if (manifest_read(b->name, (struct bytes){text, n}, &b->manifest, NULL) != IMREC_OK)
        b->manifest = (struct manifest){0};
    imrec_free(text);
}

/* Shards mostly stand in the manifest's order. */
static const struct manifest_shard *find(struct beside *b, const struct shard *h)
{
    const size_t n = b->manifest.shard_count;
    for (size_t i = 0; i < n; i++) {
        const size_t at = b->next + i < n ? b->next + i : b->next + i - n;
        const struct manifest_shard *m = &b->manifest.shards[at];
        if (strcmp(m->rec.name, set_base_name(h->uri)) != 0 || m->rec.bytes != h->size)
            continue;
        b->next = at + 1 < n ? at + 1 : 0;
        return m;
    }
    return NULL;
}

enum imrec_status beside_manifest(struct beside *b, const struct shard *h,
                                  const struct manifest_shard **entry, struct imrec_error *err)
{
    const char *name;
    IMREC_TRY(beside_name(b, h->uri, SET_MANIFEST, &name, err));
    read_manifest(b);
    *entry = find(b, h);
    return IMREC_OK;
}

void beside_free(struct beside *b)
{
    manifest_free(&b->manifest);
    imrec_free(b->name);
    imrec_free(b->last);
    *b = (struct beside){0};
}
