/* container/shards/extents.c - the index of a shard whose records are found by walking. */
#include "container/shards/extents.h"

#include "base/alloc.h"
#include "base/error.h"

#include <string.h>

#define SUFFIX ".idxb"

char *extents_name(const char *folder, const char *shard)
{
    const size_t end = source_name_bytes(shard); /* a query follows the suffix */
    const char *base = shard;
    for (size_t i = 0; folder != NULL && i < end; i++)
        if (shard[i] == '/')
            base = shard + i + 1;
    const size_t n = folder != NULL ? strlen(folder) : 0, bytes = (size_t)(shard + end - base);
    char *name = imrec_zalloc(n + 1 + bytes + sizeof(SUFFIX) + strlen(shard + end), 1);
    if (name == NULL)
        return NULL;
    if (folder != NULL) {
        memcpy(name, folder, n);
        if (n != 0 && folder[n - 1] != '/')
            name[n] = '/';
    }
    strncat(name, base, bytes);
    strcat(name, SUFFIX);
    return folder != NULL ? name : strcat(name, shard + end);
}

/* A web server may answer with a page for every name. */
static bool is_index(struct source *f)
{
    uint8_t head[INDEX_BLOCKS_HEAD_BYTES];
    struct index_blocks h;
    return f->size >= sizeof(head) && source_read(f, 0, head, sizeof(head), NULL) == IMREC_OK &&
           index_blocks_read_head("", (struct bytes){head, sizeof(head)}, f->size, &h, NULL) ==
               IMREC_OK;
}

enum imrec_status extents_are_there(const char *name, bool *there, struct imrec_error *err)
{
    return index_is_there(name, is_index, there, err);
}

struct giving {
    extents_take *take;
    void *user;
};

static enum imrec_status
give(void *user, const struct index_entry *e, size_t n, struct imrec_error *err)
{
    const struct giving *g = user;
    for (size_t i = 0; i < n; i++)
        IMREC_TRY(g->take(g->user, (struct extent){e[i].offset, e[i].key}, err));
    return IMREC_OK;
}

enum imrec_status extents_read(const char *name, const struct index_shard *s, extents_take *take,
                               void *user, struct imrec_error *err)
{
    struct giving g = {take, user};
    struct index_shard of = *s;
    struct index_blocks head;
    of.extents = true;
    return index_load(name, &of, give, &g, &head, err);
}

enum imrec_status extents_write(struct sink *to, const struct index_shard *s,
                                const struct index_entry *e, uint64_t n, struct imrec_error *err)
{
    struct index_blocks h;
    IMREC_TRY(index_of_shard(s, &h, err));
    h.hash_before = INDEX_BLOCKS_HASH_BEGIN;
    h.flags = INDEX_BLOCKS_EXTENTS;
    return index_write(to, &h, e, n, err);
}
