/* tools/view/browse_index.c - the heads of all records of a set in memory. */
#include "tools/view/browse_index.h"

#include "base/error.h"

#include <math.h>
#include <string.h>

static uint32_t capped(uint64_t bytes)
{
    return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

static void name_shard(struct browse_index *x, const struct imrec_record *r)
{
    if (r->shard < x->shard_count && x->shards[r->shard] != NULL)
        return;
    if (r->shard >= x->shard_count) {
        x->shards = cli_realloc(x->shards, (size_t)r->shard + 1, sizeof(x->shards[0]));
        memset(x->shards + x->shard_count, 0,
               (r->shard + 1 - x->shard_count) * sizeof(x->shards[0]));
        x->shard_count = r->shard + 1;
    }
    const char *shown = cli_uri(r->uri);
    x->shards[r->shard] = cli_realloc(NULL, strlen(shown) + 1, 1);
    memcpy(x->shards[r->shard], shown, strlen(shown) + 1);
}

/* Where the next record of the shard begins, this one ends; of the last one all of it is read. */
static void end_entry(struct browse_index *x, struct imrec_reader *reader, uint64_t number,
                      const struct browse_entry *next)
{
    struct browse_entry *e = &x->entries[number];
    struct imrec_record r;
    if (next != NULL && next->shard == e->shard && next->offset > e->offset)
        e->bytes = capped(next->offset - e->offset);
    else if (imrec_reader_get(reader, number, &r, NULL) == IMREC_OK)
        e->bytes = capped(r.size);
    else
        e->flags |= BROWSE_DAMAGED;
}

/* A head that cannot be read is an entry, too: it is what is looked for. */
static enum imrec_status read_head(struct browse_index *x, struct imrec_reader *reader,
                                   uint64_t number, struct imrec_error *err)
{
    struct browse_entry *e = &x->entries[number];
    struct imrec_record r;
    const enum imrec_status st = imrec_reader_head(reader, number, &r, err);
    *e = (struct browse_entry){.label = NAN};
    if (st != IMREC_OK) {
        e->flags = BROWSE_DAMAGED;
        e->offset = err->offset;
        e->shard = number > 0 ? e[-1].shard : 0;
        return st == IMREC_ERR_CORRUPT || st == IMREC_ERR_DATA ? IMREC_OK : st;
    }
    name_shard(x, &r);
    e->id = r.id;
    e->offset = r.offset;
    e->shard = r.shard;
    e->label = r.is_image && r.label_count > 0 ? r.labels[0] : (float)NAN;
    e->flags = r.is_image ? 0 : BROWSE_NO_IMAGE;
    return IMREC_OK;
}

enum imrec_status browse_index_make(struct imrec_reader *reader, uint64_t most,
                                    struct browse_index *out, struct imrec_error *err)
{
    struct command_progress progress;
    enum imrec_status st;
    *out = (struct browse_index){0};
    st = imrec_reader_count(reader, &out->count, err);
    if (st == IMREC_OK && out->count > most)
        return imrec_fail(err, IMREC_ERR_LIMIT,
                          "the set has %" PRIu64 " records, whose heads take %zu bytes each: at "
                          "most %" PRIu64 " are served; give fewer shards, or a larger "
                          "--max-records",
                          out->count, sizeof(out->entries[0]), most);
    if (st != IMREC_OK)
        return st;
    out->entries = cli_realloc(NULL, (size_t)out->count + 1, sizeof(out->entries[0]));
    command_progress_start(&progress, false);
    for (uint64_t i = 0; i < out->count && st == IMREC_OK; i++) {
        st = read_head(out, reader, i, err);
        if (i > 0 && st == IMREC_OK && (out->entries[i - 1].flags & BROWSE_DAMAGED) == 0)
            end_entry(out, reader, i - 1, &out->entries[i]);
        (void)command_progress_show(&progress, &(struct imrec_progress){.done = i + 1});
    }
    if (st == IMREC_OK && out->count > 0)
        end_entry(out, reader, out->count - 1, NULL);
    command_progress_end(&progress);
    return st;
}

void browse_index_free(struct browse_index *x)
{
    for (uint32_t i = 0; i < x->shard_count; i++)
        cli_free(x->shards[i]);
    cli_free(x->shards);
    cli_free(x->entries);
}

static bool matches(const struct browse_entry *e, const struct browse_query *q)
{
    return (!q->has_id || (e->id == q->id && (e->flags & BROWSE_NO_IMAGE) == 0)) &&
           (!q->has_label || e->label == q->label) && e->bytes >= q->min_bytes &&
           e->bytes <= q->max_bytes && (!q->damaged || e->flags != 0);
}

uint32_t browse_find(const struct browse_index *x, const struct browse_query *q,
                     uint64_t numbers[BROWSE_PAGE], uint64_t *total)
{
    uint32_t n = 0;
    *total = 0;
    for (uint64_t i = 0; i < x->count; i++) {
        if (!matches(&x->entries[i], q))
            continue;
        if (*total / BROWSE_PAGE == q->page)
            numbers[n++] = i;
        (*total)++;
    }
    return n;
}
