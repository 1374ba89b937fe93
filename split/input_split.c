/* split/input_split.c - imrec_input_split_*: the chunks of a part, read ahead by a prefetcher and
 * taken apart here. */
#include "imrec/input_split.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/sized.h"
#include "imrec/prefetch.h"
#include "split/split_chunk.h"
#include "split/split_position.h"

#include <inttypes.h>
#include <string.h>

#define MAX_BYTES ((uint64_t)1 << 40)
enum { MAX_PREFETCH = 1024, MAX_THREADS = 64, MAX_CHUNK_RECORDS = 1 << 20 };

struct imrec_input_split {
    struct split_set set;
    char *uri, *index;               /* what was opened */
    struct imrec_prefetch *prefetch; /* started by the first who needs a chunk */
    struct split_place at;           /* of the next chunk; of what of it was not delivered */
    uint64_t first;                  /* number of the prefetcher's first chunk */
    struct split_chunk *chunk;       /* the one that at.chunk is; NULL: it is to be taken */
    bool begun;                      /* something of this pass was delivered */
    uint64_t lost;
};

/* ---- options ------------------------------------------------------------------------------ */

void imrec_input_split_options_init_sized(struct imrec_input_split_options *o, size_t size)
{
    const struct imrec_input_split_options preset = {.num_parts = 1,
                                                     .chunk_bytes = (uint64_t)8 << 20,
                                                     .max_record_bytes = (uint64_t)64 << 20,
                                                     .prefetch = 3,
                                                     .threads = 2};
    sized_init(o, size, &preset, sizeof(preset));
}

static enum imrec_status
in_range(const char *name, uint64_t v, uint64_t least, uint64_t most, struct imrec_error *err)
{
    if (v >= least && v <= most)
        return IMREC_OK;
    return IMREC_REFUSE(err, "%s is %" PRIu64 "; it is %" PRIu64 " to %" PRIu64, name, v, least,
                        most);
}

static enum imrec_status check(const struct imrec_input_split_options *o, struct imrec_error *err)
{
    const bool indexed = o->type == IMREC_SPLIT_INDEXED_RECORDIO;
    if ((unsigned)o->type > IMREC_SPLIT_INDEXED_RECORDIO)
        return IMREC_REFUSE(err, "type is %d; it is 0 (text), 1 (recordio) or 2 (indexed_recordio)",
                            (int)o->type);
    if (o->on_error != IMREC_ON_ERROR_STOP && o->on_error != IMREC_ON_ERROR_SKIP)
        return IMREC_REFUSE(err, "on_error is %d; it is IMREC_ON_ERROR_STOP or IMREC_ON_ERROR_SKIP",
                            (int)o->on_error);
    if (!indexed && o->index_uri != NULL && o->index_uri[0] != '\0')
        return IMREC_REFUSE(err, "index_uri is for type indexed_recordio alone, not for %s",
                            o->type == IMREC_SPLIT_TEXT ? "text" : "recordio");
    IMREC_TRY(in_range("num_parts", o->num_parts, 1, UINT64_MAX, err));
    IMREC_TRY(in_range("part_index", o->part_index, 0, o->num_parts - 1, err));
    IMREC_TRY(in_range("chunk_bytes", o->chunk_bytes, 4, MAX_BYTES, err));
    if (o->chunk_bytes % 4 != 0)
        return IMREC_REFUSE(err, "chunk_bytes is %" PRIu64 "; it is a multiple of 4",
                            o->chunk_bytes);
    IMREC_TRY(in_range("chunk_records", o->chunk_records, 0, MAX_CHUNK_RECORDS, err));
    IMREC_TRY(in_range("max_record_bytes", o->max_record_bytes, indexed ? 8 : o->chunk_bytes,
                       MAX_BYTES, err));
    IMREC_TRY(in_range("prefetch", o->prefetch, 1, MAX_PREFETCH, err));
    return in_range("threads", o->threads, 1, MAX_THREADS, err);
}

/* ---- opening ------------------------------------------------------------------------------ */

static enum imrec_status keep_text(const char *text, char **out, struct imrec_error *err)
{
    if (text == NULL)
        return IMREC_OK;
    *out = imrec_joined(text, strlen(text), "");
    return *out != NULL ? IMREC_OK : IMREC_NO_MEMORY(err, "no memory for the names of files");
}

static enum imrec_status open_all(struct imrec_input_split *s, const char *uri,
                                  const struct imrec_input_split_options *options,
                                  struct imrec_error *err)
{
    struct imrec_input_split_options o = *options;
    IMREC_TRY(keep_text(uri, &s->uri, err));
    IMREC_TRY(keep_text(o.index_uri, &s->index, err));
    o.index_uri = s->index;
    return split_set_open(s->uri, &o, &s->set, err);
}

enum imrec_status imrec_input_split_open(const char *uri,
                                         const struct imrec_input_split_options *options,
                                         struct imrec_input_split **out, struct imrec_error *err)
{
    struct imrec_input_split_options o;
    *out = NULL;
    imrec_input_split_options_init(&o);
    if (options != NULL)
        IMREC_TRY(sized_copy(&o, sizeof(o), options, "imrec_input_split_options_init", err));
    IMREC_TRY(check(&o, err));
    if (uri == NULL || uri[0] == '\0')
        return IMREC_REFUSE(err, "uri is empty; it names a file, a folder, a glob or a list");
    struct imrec_input_split *s = imrec_zalloc(1, sizeof(*s));
    if (s == NULL)
        return IMREC_NO_MEMORY(err, "no memory for an input split");
    const enum imrec_status st = open_all(s, uri, &o, err);
    if (st != IMREC_OK)
        imrec_input_split_close(s);
    else
        *out = s;
    return st;
}

/* ---- chunks, read ahead ------------------------------------------------------------------- */

static void *make_chunk(void *context)
{
    (void)context;
    return imrec_zalloc(1, sizeof(struct split_chunk));
}

static void free_chunk(void *context, void *cell)
{
    (void)context;
    split_chunk_free(cell);
    imrec_free(cell);
}

/* Any thread: what the split has for it does not change while there is a prefetcher. */
static enum imrec_status
produce(void *context, void *cell, uint64_t number, struct imrec_error *err)
{
    const struct imrec_input_split *s = context;
    const uint64_t i = s->first + number;
    return i < s->set.chunks ? split_chunk_load(cell, &s->set, s->at.pass, i, err) : IMREC_END;
}

static enum imrec_status start(struct imrec_input_split *s, struct imrec_error *err)
{
    struct imrec_prefetch_options o;
    imrec_prefetch_options_init(&o);
    o.produce = produce;
    o.context = s;
    o.make_cell = make_chunk;
    o.free_cell = free_chunk;
    o.depth = s->set.o.prefetch;
    o.threads = s->set.o.threads;
    s->first = s->at.chunk;
    return imrec_prefetch_open(&o, &s->prefetch, err);
}

/* Goes to a place; what was read ahead is dropped. */
static void go(struct imrec_input_split *s, struct split_place to, bool begun)
{
    imrec_prefetch_close(s->prefetch);
    s->prefetch = NULL;
    s->chunk = NULL;
    s->at = to;
    s->begun = begun;
}

static void leave_chunk(struct imrec_input_split *s)
{
    s->chunk = NULL;
    s->at.chunk++;
    s->at.place = 0;
}

static enum imrec_status take(struct imrec_input_split *s, struct imrec_error *err)
{
    void *cell = NULL;
    if (s->at.chunk >= s->set.chunks)
        return IMREC_END;
    if (s->prefetch == NULL)
        IMREC_TRY(start(s, err));
    enum imrec_status st = imrec_prefetch_next(s->prefetch, &cell, NULL, err);
    s->chunk = cell;
    if (st == IMREC_OK && s->at.place != 0)
        st = split_chunk_seek(s->chunk, &s->set, s->at.place, err);
    if (st != IMREC_OK)
        leave_chunk(s);
    return st;
}

/* ---- delivering --------------------------------------------------------------------------- */

typedef enum imrec_status take_fn(struct split_chunk *c, const struct split_set *s,
                                  struct imrec_split_bytes *out, struct imrec_error *err);

static enum imrec_status deliver(struct imrec_input_split *s, take_fn *from,
                                 struct imrec_split_bytes *out, struct imrec_error *err)
{
    for (;;) {
        if (s->chunk == NULL)
            IMREC_TRY(take(s, err));
        const enum imrec_status st = from(s->chunk, &s->set, out, err);
        if (st == IMREC_END) {
            leave_chunk(s);
            continue;
        }
        s->at.place = split_chunk_place(s->chunk);
        s->begun = true;
        s->lost += st == IMREC_ERR_DATA;
        if (st != IMREC_ERR_DATA || s->set.o.on_error != IMREC_ON_ERROR_SKIP)
            return st;
    }
}

enum imrec_status imrec_input_split_next(struct imrec_input_split *s, struct imrec_split_bytes *out,
                                         struct imrec_error *err)
{
    return deliver(s, split_chunk_next, out, err);
}

enum imrec_status imrec_input_split_next_chunk(struct imrec_input_split *s,
                                               struct imrec_split_bytes *out,
                                               struct imrec_error *err)
{
    return deliver(s, split_chunk_rest, out, err);
}

/* ---- places ------------------------------------------------------------------------------- */

void imrec_input_split_rewind(struct imrec_input_split *s)
{
    const bool over = s->begun || s->at.chunk != 0;
    go(s, (struct split_place){.pass = s->at.pass + over}, false);
}

enum imrec_status imrec_input_split_reset_partition(struct imrec_input_split *s,
                                                    uint64_t part_index, uint64_t num_parts,
                                                    struct imrec_error *err)
{
    struct imrec_input_split_options o = s->set.o;
    struct split_set set;
    o.part_index = part_index;
    o.num_parts = num_parts;
    IMREC_TRY(check(&o, err));
    IMREC_TRY(split_set_open(s->uri, &o, &set, err));
    go(s, (struct split_place){0}, false);
    split_set_close(&s->set);
    s->set = set;
    return IMREC_OK;
}

enum imrec_status
imrec_input_split_position(const struct imrec_input_split *s, char **text, struct imrec_error *err)
{
    *text = NULL;
    return split_position_write(&s->set, &s->at, text, err);
}

void imrec_input_split_position_free(char *text)
{
    imrec_free(text);
}

enum imrec_status
imrec_input_split_restore(struct imrec_input_split *s, const char *text, struct imrec_error *err)
{
    struct split_place at;
    IMREC_TRY(split_position_read(text, &s->set, &at, err));
    go(s, at, at.place != 0);
    return IMREC_OK;
}

uint64_t imrec_input_split_lost(const struct imrec_input_split *s)
{
    return s->lost;
}

uint64_t imrec_input_split_total_bytes(const struct imrec_input_split *s)
{
    return s->set.files.total_bytes;
}

void imrec_input_split_close(struct imrec_input_split *s)
{
    if (s == NULL)
        return;
    imrec_prefetch_close(s->prefetch);
    split_set_close(&s->set);
    IMREC_FREE(s->uri, s->index);
    imrec_free(s);
}
