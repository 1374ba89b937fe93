/* container/shards/extents.c - the index of a shard whose records are found by walking. */
#include "container/shards/extents.h"

#include "base/alloc.h"
#include "base/error.h"
#include "storage/store/listed.h"

#include <string.h>

#define SUFFIX ".idxb"

char *extents_name(const char *folder, const char *shard)
{
    const char *slash = strrchr(shard, '/');
    const char *base = folder != NULL && slash != NULL ? slash + 1 : shard;
    const size_t n = folder != NULL ? strlen(folder) : 0;
    const size_t bytes = n + 1 + strlen(base) + sizeof(SUFFIX);
    char *name = imrec_zalloc(bytes, 1);
    if (name == NULL)
        return NULL;
    if (folder != NULL) {
        memcpy(name, folder, n);
        if (n != 0 && folder[n - 1] != '/')
            name[n] = '/';
    }
    strcat(name, base);
    return strcat(name, SUFFIX);
}

bool extents_are_there(const char *name)
{
    const struct folder_entry *file;
    struct source *source = NULL;
    if (listed_look(name, &file))
        return file != NULL;
    const bool there = source_open(name, &source, NULL) == IMREC_OK;
    source_close(source);
    return there;
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
