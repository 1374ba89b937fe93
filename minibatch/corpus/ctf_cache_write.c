/* minibatch/corpus/ctf_cache_write.c - a cache of an index, written by a thread of its own. What
 * hinders it costs nothing but the cache. */
#include "minibatch/corpus/ctf_cache_write.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "base/threads.h"
#include "formats/crc32c.h"
#include "storage/sink.h"

#define AT_ONCE ((uint64_t)4096) /* sequences */

struct ctf_cache_write {
    const char *uri;
    const struct ctf_index *index;
    struct ctf_cache_facts facts;
    bool traces;
    struct thread thread;
};

static enum imrec_status
append_head(const struct ctf_cache_write *w, struct sink *out, struct imrec_error *err)
{
    const size_t head = ctf_cache_head_bytes(w->facts.options);
    size_t table, bytes;
    uint8_t *p = NULL;
    if (!mul_fits((size_t)w->index->chunks, CTF_CACHE_CHUNK_BYTES, &table) ||
        !sum_fits(head, table, &bytes) || (p = imrec_realloc(NULL, bytes, 1)) == NULL)
        return IMREC_NO_MEMORY(err, "no memory");
    ctf_cache_write_table(w->index, p + head);
    ctf_cache_write_head(w->index, &w->facts, crc32c(0, p + head, table), p);
    const enum imrec_status st = sink_append(out, p, bytes, err);
    imrec_free(p);
    return st;
}

static enum imrec_status
append_sequences(const struct ctf_cache_write *w, struct sink *out, struct imrec_error *err)
{
    uint8_t *p = imrec_realloc(NULL, AT_ONCE, CTF_CACHE_SEQUENCE_BYTES);
    enum imrec_status st = p == NULL ? IMREC_NO_MEMORY(err, "no memory") : IMREC_OK;
    for (uint64_t at = 0; st == IMREC_OK && at < w->index->sequences; at += AT_ONCE) {
        const uint64_t left = w->index->sequences - at;
        const size_t n = (size_t)(left < AT_ONCE ? left : AT_ONCE);
        ctf_cache_write_sequences(w->index->sequence + at, n, p);
        st = sink_append(out, p, n * CTF_CACHE_SEQUENCE_BYTES, err);
    }
    imrec_free(p);
    return st;
}

static enum imrec_status write_all(const struct ctf_cache_write *w, struct imrec_error *err)
{
    struct sink *out;
    IMREC_TRY(sink_open(w->uri, &out, err));
    enum imrec_status st = append_head(w, out, err);
    if (st == IMREC_OK)
        st = append_sequences(w, out, err);
    if (st == IMREC_OK)
        st = sink_sync(out, err);
    if (st == IMREC_OK)
        return sink_commit(out, err);
    sink_abort(out); /* a commit that fails would leave it to be resumed */
    return st;
}

static void *run(void *arg)
{
    const struct ctf_cache_write *w = arg;
    struct imrec_error err;
    if (write_all(w, &err) != IMREC_OK && w->traces)
        imrec_log(IMREC_LOG_TRACE, "no index is kept next to the text: %s", err.message);
    return NULL;
}

struct ctf_cache_write *ctf_cache_write_start(const char *uri, const struct ctf_index *x,
                                              const struct ctf_cache_facts *facts, bool traces)
{
    struct ctf_cache_write *w = imrec_zalloc(1, sizeof(*w));
    struct imrec_error err;
    if (w == NULL)
        return NULL;
    w->uri = uri;
    w->index = x;
    w->facts = *facts;
    w->traces = traces;
    if (thread_start(&w->thread, "imrec-index", run, w, &err) != IMREC_OK) {
        if (traces)
            imrec_log(IMREC_LOG_TRACE, "no index is kept next to the text: %s", err.message);
        imrec_free(w);
        return NULL;
    }
    return w;
}

void ctf_cache_write_end(struct ctf_cache_write *w)
{
    if (w == NULL)
        return;
    thread_join(&w->thread);
    imrec_free(w);
}
