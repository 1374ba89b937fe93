/* split/split_set.c - files opened, their partition, the order of chunks. */
#include "split/split_set.h"

#include "base/error.h"
#include "base/math.h"
#include "iter/order/permute.h"

#include <inttypes.h>

#define CHUNK_BYTES   ((uint64_t)8 << 20) /* of a chunk of an index, about */
#define CHUNK_RECORDS ((uint64_t)1 << 20) /* of one at most */

/* A line begins on any byte. */
static const struct container_kind text_kind = {.name = "text", .record = "line", .align = 1};

/* ---- opening ------------------------------------------------------------------------------ */

static enum imrec_status open_records(const struct container_options *o, bool indexed,
                                      struct container *c, struct imrec_error *err)
{
    IMREC_TRY(container_open(o, c, err));
    if (!c->kind->side_files)
        return IMREC_REFUSE(err, "%s is a %s: as records, only RecordIO can be split",
                            c->shards[0].uri, c->kind->name);
    if (!indexed || c->records != NULL)
        return IMREC_OK;
    if (c->index_missing != NULL)
        return IMREC_REFUSE(err, "type indexed_recordio needs an index of each file, %s is missing",
                            c->index_missing);
    return IMREC_REFUSE(err,
                        "type indexed_recordio needs an index of each file, none is next to %s",
                        c->shards[0].uri);
}

static enum imrec_status open_set(const char *uri, struct split_set *s, struct imrec_error *err)
{
    const struct imrec_input_split_options *o = &s->o;
    const bool indexed = o->type == IMREC_SPLIT_INDEXED_RECORDIO;
    const bool named = o->index_uri != NULL && o->index_uri[0] != '\0';
    const struct container_options c = {
        .path_imgrec = uri,
        .path_imgidx = !indexed ? NULL
                       : named  ? o->index_uri
                                : "auto",
        .num_parts = o->num_parts,
        .part_index = o->part_index,
        .cell_bytes = o->chunk_bytes,
        .container = o->type == IMREC_SPLIT_TEXT ? IMREC_CONTAINER_AUTO : IMREC_CONTAINER_REC,
    };
    if (o->type == IMREC_SPLIT_TEXT)
        return container_open_as(&c, &text_kind, &s->files, err);
    return open_records(&c, indexed, &s->files, err);
}

/* Records of a chunk that has about CHUNK_BYTES, by the size of an average one. */
static uint64_t chunk_records(const struct split_set *s)
{
    const struct container *c = &s->files;
    if (s->o.chunk_records != 0)
        return s->o.chunk_records;
    const uint64_t each = c->total_bytes / max_u64(c->record_total, 1);
    return min_u64(max_u64(CHUNK_BYTES / max_u64(each, 1), 1), CHUNK_RECORDS);
}

enum imrec_status split_set_open(const char *uri, const struct imrec_input_split_options *o,
                                 struct split_set *out, struct imrec_error *err)
{
    *out = (struct split_set){.o = *o};
    const enum imrec_status st = open_set(uri, out, err);
    if (st != IMREC_OK) {
        split_set_close(out);
        return st;
    }
    const bool indexed = split_set_indexed(out);
    out->chunk_records = indexed ? chunk_records(out) : 1;
    out->chunks = out->files.unit_count / out->chunk_records +
                  (out->files.unit_count % out->chunk_records != 0);
    out->data = container_fingerprint(&out->files);
    return IMREC_OK;
}

void split_set_close(struct split_set *s)
{
    container_close(&s->files);
    *s = (struct split_set){0};
}

uint64_t split_set_unit(const struct split_set *s, uint64_t pass, uint64_t i)
{
    const struct rng_key key = {s->o.seed, pass};
    return s->o.shuffle ? permute(key, s->files.unit_count, i) : i;
}

enum imrec_status split_set_damage(const struct split_set *s, uint32_t file, uint64_t begin,
                                   uint64_t end, const char *what, const struct imrec_error *why,
                                   struct imrec_error *err)
{
    const char *uri = s->files.shards[file].uri;
    imrec_error_at(err, IMREC_ERR_DATA, begin, "%.200s: bytes %" PRIu64 " to %" PRIu64 " %s: %s",
                   uri, begin, end > begin ? end - 1 : begin, what,
                   why != NULL ? why->message : "earlier damage of this chunk was described");
    imrec_error_file(err, uri);
    if (err != NULL && why != NULL)
        err->sys_errno = why->sys_errno;
    return IMREC_ERR_DATA;
}
