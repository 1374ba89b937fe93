/* dataset/dataset_files.c - the shards of a data set and the files next to them. */
#include "dataset/dataset_files.h"

#include "base/alloc.h"
#include "base/error.h"
#include "storage/sink.h"
#include "storage/source.h"

#include <string.h>

#define SIDE_FILE_MAX_BYTES ((size_t)1 << 36)

enum imrec_status
dataset_files_of(const struct container *s, struct dataset_files *out, struct imrec_error *err)
{
    *out = (struct dataset_files){0};
    out->begin = imrec_zalloc((size_t)s->shard_count + 1, sizeof(*out->begin));
    if (out->begin == NULL)
        return IMREC_NO_MEMORY(err, "no memory for the sizes of %u shards", s->shard_count);
    for (uint32_t i = 0; i < s->shard_count; i++) {
        const struct shard *h = &s->shards[i];
        IMREC_TRY(uri_list_add(&out->shards, h->uri, strlen(h->uri), "", URI_NAMED, err));
        out->begin[i + 1] = h->begin + h->size;
    }
    return IMREC_OK;
}

void dataset_files_close(struct dataset_files *f)
{
    uri_list_free(&f->shards);
    imrec_free(f->begin);
    *f = (struct dataset_files){0};
}

enum imrec_status
dataset_has(const char *shard, enum set_file what, bool *there, struct imrec_error *err)
{
    char *path = set_path(shard, what);
    *there = false;
    if (path == NULL)
        return IMREC_NO_MEMORY(err, "no memory for a path");
    const enum imrec_status st = sink_exists(path, there, err);
    imrec_free(path);
    return st;
}

enum imrec_status dataset_load(const char *shard, enum set_file what, char **path, uint8_t **text,
                               size_t *n, struct imrec_error *err)
{
    *text = NULL;
    *n = 0;
    *path = set_path(shard, what);
    if (*path == NULL)
        return IMREC_NO_MEMORY(err, "no memory for a path");
    return source_load_if_there(*path, SIDE_FILE_MAX_BYTES, text, n, err);
}
