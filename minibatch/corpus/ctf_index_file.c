/*
 * minibatch/corpus/ctf_index_file.c - the index of a text, with a cache next to it.
 *
 * From a cache the head and the table of chunks are read at once, the sequences of a chunk when it
 * is needed, into address space that was reserved for all: unused pages need no memory. The
 * cache is read, not mapped by the system: a file that shrinks under a map would end the process.
 * Where a chunk proves bad the whole text is indexed after all.
 */
#include "minibatch/corpus/ctf_index_file.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "base/math.h"
#include "base/pages.h"
#include "base/threads.h"
#include "formats/crc32c.h"
#include "formats/ctf/ctf_cache.h"
#include "minibatch/corpus/ctf_pass.h"
#include "storage/sink.h"

#include <string.h>

#define AT_ONCE ((uint64_t)4096) /* sequences that are written */

struct ctf_index_file {
    struct ctf_index_options o;
    struct source *text;
    char *uri; /* of the cache */
    struct ctf_cache_facts facts;
    struct ctf_index index;
    struct source *cache; /* NULL: the index is from a pass, and whole */
    struct ctf_cache place;
    uint32_t *crc;     /* of each chunk's sequences */
    bool *loaded;      /* each chunk */
    struct mutex lock; /* of loaded[] and what it tells */
    bool traces;
    struct thread writing; /* the cache; what hinders it costs nothing but the cache */
};

/* ---- the text's content ------------------------------------------------------------------ */

static enum imrec_status
sample(struct source *text, const char *name, uint32_t *crc, struct imrec_error *err)
{
    size_t n;
    (void)ctf_cache_sample(UINT64_MAX, 0, &n);
    uint8_t *bytes = imrec_realloc(NULL, n, 1);
    enum imrec_status st = IMREC_OK;
    *crc = 0;
    if (bytes == NULL)
        return IMREC_NO_MEMORY(err, "%.200s: no memory to compare it", name);
    for (uint32_t k = 0; k < CTF_CACHE_SAMPLES && st == IMREC_OK; k++) {
        const uint64_t at = ctf_cache_sample(text->size, k, &n);
        st = source_read(text, at, bytes, n, err);
        if (st == IMREC_OK)
            *crc = crc32c(*crc, bytes, n);
    }
    imrec_free(bytes);
    return st;
}

/* ---- from a cache ------------------------------------------------------------------------ */

static void forget_cache(struct ctf_index_file *f)
{
    pages_free(f->index.sequence, (size_t)f->index.sequences * sizeof(*f->index.sequence));
    IMREC_FREE(f->index.chunk, f->crc, f->loaded);
    source_close(f->cache);
    f->index = (struct ctf_index){0};
    f->crc = NULL;
    f->loaded = NULL;
    f->cache = NULL;
}

/* Sets memory aside for what the head tells; the file is as large, so it is bounded. */
static bool set_aside(struct ctf_index_file *f)
{
    const struct ctf_cache *c = &f->place;
    f->index =
        (struct ctf_index){.sequences = c->sequences, .chunks = c->chunks, .samples = c->samples};
    f->index.sequence = pages_alloc((size_t)c->sequences * sizeof(*f->index.sequence));
    f->index.chunk = imrec_realloc(NULL, (size_t)c->chunks, sizeof(*f->index.chunk));
    f->crc = imrec_realloc(NULL, (size_t)c->chunks, sizeof(*f->crc));
    f->loaded = imrec_zalloc((size_t)c->chunks, sizeof(*f->loaded));
    return f->index.sequence != NULL && f->index.chunk != NULL && f->crc != NULL &&
           f->loaded != NULL;
}

/* bytes[0..n) of the cache at `at`; *why tells why it is NULL. The caller's. */
static uint8_t *read_part(const struct ctf_index_file *f, uint64_t at, uint64_t n, const char **why)
{
    uint8_t *bytes = imrec_realloc(NULL, (size_t)n, 1);
    *why = bytes == NULL ? "no memory for it" : "it cannot be read";
    if (bytes != NULL && source_read(f->cache, at, bytes, (size_t)n, NULL) == IMREC_OK)
        return bytes;
    imrec_free(bytes);
    return NULL;
}

static const char *read_table(struct ctf_index_file *f)
{
    const struct ctf_cache *c = &f->place;
    const char *why = "no memory for it";
    uint8_t *table = set_aside(f) ? read_part(f, c->table_at, c->table_bytes, &why) : NULL;
    if (table != NULL)
        why = ctf_cache_read_table(c, table, f->o.size, f->index.chunk, f->crc);
    imrec_free(table);
    return why;
}

static const char *read_head(struct ctf_index_file *f)
{
    const size_t n = ctf_cache_head_bytes(&f->o);
    const char *why = "it is too short";
    uint8_t *head = f->cache->size < n ? NULL : read_part(f, 0, n, &why);
    if (head != NULL)
        why = ctf_cache_read_head(head, &f->facts, f->cache->size, &f->place);
    imrec_free(head);
    return why;
}

static bool take_cache(struct ctf_index_file *f)
{
    struct imrec_error why_not;
    if (source_open(f->uri, &f->cache, &why_not) != IMREC_OK) {
        if (f->traces)
            imrec_log(IMREC_LOG_TRACE, "%s", why_not.message);
        return false;
    }
    const char *why = read_head(f);
    if (why == NULL)
        why = read_table(f);
    if (why == NULL && f->traces)
        imrec_log(IMREC_LOG_TRACE, "%s: the index of %s is taken from it", f->uri, f->o.name);
    if (why == NULL)
        return true;
    if (f->traces)
        imrec_log(IMREC_LOG_TRACE, "%s is not used: %s", f->uri, why);
    forget_cache(f);
    return false;
}

/* ---- to a cache -------------------------------------------------------------------------- */

static enum imrec_status
append_head(const struct ctf_index_file *f, struct sink *out, struct imrec_error *err)
{
    const size_t head = ctf_cache_head_bytes(&f->o);
    size_t table, bytes;
    uint8_t *p = NULL;
    if (!mul_fits((size_t)f->index.chunks, CTF_CACHE_CHUNK_BYTES, &table) ||
        !sum_fits(head, table, &bytes) || (p = imrec_realloc(NULL, bytes, 1)) == NULL)
        return IMREC_NO_MEMORY(err, "no memory");
    ctf_cache_write_table(&f->index, p + head);
    ctf_cache_write_head(&f->index, &f->facts, crc32c(0, p + head, table), p);
    const enum imrec_status st = sink_append(out, p, bytes, err);
    imrec_free(p);
    return st;
}

static enum imrec_status
append_sequences(const struct ctf_index_file *f, struct sink *out, struct imrec_error *err)
{
    uint8_t *p = imrec_realloc(NULL, AT_ONCE, CTF_CACHE_SEQUENCE_BYTES);
    enum imrec_status st = p == NULL ? IMREC_NO_MEMORY(err, "no memory") : IMREC_OK;
    for (uint64_t at = 0; st == IMREC_OK && at < f->index.sequences; at += AT_ONCE) {
        const size_t n = (size_t)min_u64(f->index.sequences - at, AT_ONCE);
        ctf_cache_write_sequences(f->index.sequence + at, n, p);
        st = sink_append(out, p, n * CTF_CACHE_SEQUENCE_BYTES, err);
    }
    imrec_free(p);
    return st;
}

static enum imrec_status write_all(const struct ctf_index_file *f, struct imrec_error *err)
{
    struct sink *out;
    IMREC_TRY(sink_open(f->uri, &out, err));
    enum imrec_status st = append_head(f, out, err);
    if (st == IMREC_OK)
        st = append_sequences(f, out, err);
    if (st == IMREC_OK)
        st = sink_sync(out, err);
    if (st == IMREC_OK)
        return sink_commit(out, err);
    sink_abort(out); /* a commit that fails would leave it to be resumed */
    return st;
}

static void trace_no_cache(const struct ctf_index_file *f, const struct imrec_error *why)
{
    if (f->traces)
        imrec_log(IMREC_LOG_TRACE, "no index is kept next to the text: %s", why->message);
}

static void *write_cache(void *file)
{
    struct imrec_error err;
    if (write_all(file, &err) != IMREC_OK)
        trace_no_cache(file, &err);
    return NULL;
}

/* By a thread of its own, while the index is in use. */
static void begin_writing(struct ctf_index_file *f)
{
    struct imrec_error err;
    if (thread_start(&f->writing, "imrec-index", write_cache, f, &err) != IMREC_OK)
        trace_no_cache(f, &err);
}

/* ---- a chunk's sequences ----------------------------------------------------------------- */

static const char *load(struct ctf_index_file *f, const struct ctf_chunk *c, uint32_t crc)
{
    struct ctf_sequence *to = f->index.sequence + c->first;
    const uint64_t at = f->place.sequences_at + c->first * CTF_CACHE_SEQUENCE_BYTES;
    const size_t n = (size_t)c->sequences * CTF_CACHE_SEQUENCE_BYTES;
    _Static_assert(sizeof(*to) == CTF_CACHE_SEQUENCE_BYTES, "it is read in place");
    if (source_read(f->cache, at, to, n, NULL) != IMREC_OK)
        return "it cannot be read";
    return ctf_cache_read_chunk(c, crc, (const uint8_t *)to, to);
}

static bool same_chunks(const struct ctf_index *a, const struct ctf_index *b)
{
    bool same = a->chunks == b->chunks && a->sequences == b->sequences;
    for (uint64_t i = 0; same && i < a->chunks; i++) {
        const struct ctf_chunk *p = &a->chunk[i], *q = &b->chunk[i];
        same = p->first == q->first && p->sequences == q->sequences && p->offset == q->offset &&
               p->bytes == q->bytes && p->samples == q->samples && p->line == q->line;
    }
    return same;
}

/* Fills in what is not loaded from a pass over the text. */
static enum imrec_status pass_after_all(struct ctf_index_file *f, struct imrec_error *err)
{
    struct ctf_index x;
    IMREC_TRY(ctf_pass(f->text, &f->o, &x, err));
    enum imrec_status st = IMREC_OK;
    if (!same_chunks(&x, &f->index))
        st = imrec_fail(err, IMREC_ERR_CORRUPT,
                        "%.200s: is not of the text as it is now; remove it", f->uri);
    for (uint64_t i = 0; st == IMREC_OK && i < x.chunks; i++) {
        const struct ctf_chunk *c = &x.chunk[i];
        if (!f->loaded[i])
            memcpy(f->index.sequence + c->first, x.sequence + c->first,
                   c->sequences * sizeof(*x.sequence));
        f->loaded[i] = true;
    }
    ctf_index_free(&x);
    if (st == IMREC_OK && !f->writing.running)
        begin_writing(f);
    return st;
}

enum imrec_status
ctf_index_file_need(struct ctf_index_file *f, uint64_t chunk, struct imrec_error *err)
{
    enum imrec_status st = IMREC_OK;
    if (f->cache == NULL)
        return IMREC_OK;
    mutex_lock(&f->lock);
    if (!f->loaded[chunk]) {
        const char *why = load(f, &f->index.chunk[chunk], f->crc[chunk]);
        f->loaded[chunk] = why == NULL;
        if (why != NULL) {
            imrec_log(IMREC_LOG_WARNING, "%s: %s; the text is read again", f->uri, why);
            st = pass_after_all(f, err);
        }
    }
    mutex_unlock(&f->lock);
    return st;
}

/* ---- life -------------------------------------------------------------------------------- */

static enum imrec_status fill(struct ctf_index_file *f, bool use_cache, struct imrec_error *err)
{
    if (f->uri == NULL)
        return IMREC_NO_MEMORY(err, "%.200s: no memory for its index", f->o.name);
    f->facts = (struct ctf_cache_facts){&f->o, f->text->modified, 0};
    if (use_cache)
        IMREC_TRY(sample(f->text, f->o.name, &f->facts.sample, err));
    if (use_cache && take_cache(f))
        return IMREC_OK;
    IMREC_TRY(ctf_pass(f->text, &f->o, &f->index, err));
    if (use_cache)
        begin_writing(f);
    return IMREC_OK;
}

enum imrec_status ctf_index_file_open(const char *uri, struct source *text,
                                      const struct ctf_index_options *o, bool use_cache,
                                      bool traces, struct ctf_index_file **out,
                                      struct imrec_error *err)
{
    struct ctf_index_file *f = imrec_zalloc(1, sizeof(*f));
    *out = NULL;
    if (f == NULL)
        return IMREC_NO_MEMORY(err, "%.200s: no memory for its index", o->name);
    mutex_init(&f->lock);
    f->o = *o;
    f->o.size = text->size;
    f->text = text;
    f->traces = traces;
    f->uri = imrec_joined(uri, strlen(uri), CTF_CACHE_SUFFIX);
    const enum imrec_status st = fill(f, use_cache, err);
    if (st != IMREC_OK)
        ctf_index_file_close(f);
    else
        *out = f;
    return st;
}

const struct ctf_index *ctf_index_file_index(const struct ctf_index_file *f)
{
    return &f->index;
}

bool ctf_index_file_cached(const struct ctf_index_file *f)
{
    return f->cache != NULL;
}

uint64_t ctf_index_file_memory(const struct ctf_index_file *f)
{
    const uint64_t room = f->cache != NULL ? f->index.sequences : f->index.sequence_room;
    const uint64_t chunks = f->cache != NULL ? f->index.chunks : f->index.chunk_room;
    return room * sizeof(struct ctf_sequence) +
           chunks * (sizeof(struct ctf_chunk) + (f->cache != NULL ? 5 : 0));
}

void ctf_index_file_wait(struct ctf_index_file *f)
{
    thread_join(&f->writing);
}

void ctf_index_file_close(struct ctf_index_file *f)
{
    if (f == NULL)
        return;
    ctf_index_file_wait(f);
    if (f->cache != NULL)
        forget_cache(f);
    else
        ctf_index_free(&f->index);
    mutex_destroy(&f->lock);
    IMREC_FREE(f->uri, f);
}
