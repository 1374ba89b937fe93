/* storage/sink.c - buffering in front of a store's object, and the way to its final name.
 *
 * A full buffer is written by a thread while the other one fills: what the system takes to copy
 * pages is then not added to what it takes to make the bytes. */
#include "storage/sink.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/stop.h"
#include "storage/schemes.h"
#include "storage/store/listed.h"
#include "storage/write_behind.h"

#include <string.h>

#define BUFFER_BYTES ((size_t)4 << 20) /* small appends are collected, larger ones pass by */
/* How much a sync may leave to wait for: more is pushed to the disk in pieces before, this many
 * bytes ahead of the piece that is waited for. */
#define PUSH_BYTES ((uint64_t)4 << 20)
#define PUSH_AHEAD ((uint64_t)32 << 20)

struct sink {
    struct out *out;
    const struct store *store;
    char *uri;
    const char *name; /* in the store; inside uri */
    uint64_t size;    /* appended, resumed bytes included */
    uint64_t synced;  /* of them, durable */
    const struct stop *stop;
    size_t used; /* of buffer */
    bool failed; /* once: what is written is not what was appended */
    struct write_behind behind;
    uint8_t *buffer, *other; /* being filled; being written, NULL until a buffer was full */
    uint8_t first[BUFFER_BYTES];
};

typedef enum imrec_status
open_fn(const char *name, uint64_t size, struct out **out, struct imrec_error *err);

static enum imrec_status
start(const char *uri, uint64_t size, bool log, struct sink *s, struct imrec_error *err)
{
    const size_t n = strlen(uri) + 1;
    s->uri = imrec_realloc(NULL, n, 1);
    if (s->uri == NULL)
        return IMREC_NO_MEMORY(err, "%s: no memory to open it", uri);
    memcpy(s->uri, uri, n);
    IMREC_TRY(store_of(s->uri, &s->store, &s->name, err));
    s->synced = s->size = size == STORE_NEW ? 0 : size;
    s->buffer = s->first;
    open_fn *open = log && s->store->open_log != NULL ? s->store->open_log : s->store->open_out;
    if (open == NULL)
        return store_cannot(uri, s->store, "be written to", err);
    IMREC_TRY(open(s->name, size, &s->out, err));
    write_behind_init(&s->behind, s->out);
    return IMREC_OK;
}

static void end(struct sink *s, bool remove)
{
    if (s->out != NULL) {
        write_behind_destroy(&s->behind);
        s->out->ops->close(s->out, remove);
    }
    IMREC_FREE(s->buffer == s->first ? s->other : s->buffer, s->uri, s);
}

static enum imrec_status
open_at(const char *uri, uint64_t size, bool log, struct sink **out, struct imrec_error *err)
{
    *out = NULL;
    struct sink *s = imrec_realloc(NULL, 1, sizeof(*s));
    if (s == NULL)
        return IMREC_NO_MEMORY(err, "%s: no memory to open it", uri);
    memset(s, 0, offsetof(struct sink, first));
    const enum imrec_status st = start(uri, size, log, s, err);
    if (st != IMREC_OK)
        end(s, false);
    else
        *out = s;
    return st;
}

enum imrec_status sink_open(const char *uri, struct sink **out, struct imrec_error *err)
{
    return open_at(uri, STORE_NEW, false, out, err);
}

enum imrec_status
sink_resume(const char *uri, uint64_t size, struct sink **out, struct imrec_error *err)
{
    return open_at(uri, size, false, out, err);
}

enum imrec_status sink_open_log(const char *uri, struct sink **out, struct imrec_error *err)
{
    return open_at(uri, STORE_NEW, true, out, err);
}

enum imrec_status
sink_resume_log(const char *uri, uint64_t size, struct sink **out, struct imrec_error *err)
{
    return open_at(uri, size, true, out, err);
}

static enum imrec_status ended(struct sink *s, enum imrec_status st)
{
    s->failed = st != IMREC_OK;
    return st;
}

static enum imrec_status check(const struct sink *s, struct imrec_error *err)
{
    if (!s->failed)
        return IMREC_OK;
    return imrec_fail(err, IMREC_ERR_IO, /* a hole may be in the middle: */
                      "%s: an earlier write to it has failed", s->uri); /* not to be mended */
}

static enum imrec_status put(struct sink *s, const void *p, size_t n, struct imrec_error *err)
{
    const uint8_t *at = p;
    enum imrec_status st = write_behind_wait(&s->behind, err);
    while (st == IMREC_OK &&
           n != 0) { /* in pieces: the disk may be slow, and full of dirty pages */
        const size_t piece = n < BUFFER_BYTES ? n : BUFFER_BYTES;
        st =
            stop_is_overdue(s->stop) ? stop_error(err) : s->out->ops->write(s->out, at, piece, err);
        at += piece;
        n -= piece;
    }
    return ended(s, st);
}

/* All that was appended, to the store. */
static enum imrec_status flush(struct sink *s, struct imrec_error *err)
{
    IMREC_TRY(check(s, err));
    const size_t n = s->used;
    s->used = 0;
    return put(s, s->buffer, n, err);
}

/* Makes room: the full buffer is on its way, the other one is empty. */
static enum imrec_status turn(struct sink *s, struct imrec_error *err)
{
    if (s->other == NULL)
        s->other = imrec_realloc(NULL, BUFFER_BYTES, 1);
    if (s->other == NULL) /* one buffer must do */
        return flush(s, err);
    IMREC_TRY(ended(s, write_behind_put(&s->behind, s->buffer, s->used, err)));
    uint8_t *full = s->buffer;
    s->buffer = s->other;
    s->other = full;
    s->used = 0;
    return IMREC_OK;
}

enum imrec_status sink_append(struct sink *s, const void *p, size_t n, struct imrec_error *err)
{
    IMREC_TRY(check(s, err));
    if (n >= BUFFER_BYTES) {
        IMREC_TRY(flush(s, err));
        IMREC_TRY(put(s, p, n, err));
    } else {
        if (n > BUFFER_BYTES - s->used)
            IMREC_TRY(turn(s, err));
        if (n != 0)
            memcpy(s->buffer + s->used, p, n);
        s->used += n;
    }
    s->size += n;
    return IMREC_OK;
}

void sink_stop_with(struct sink *s, const struct stop *stop)
{
    s->stop = stop;
}

static enum imrec_status push(struct sink *s, uint64_t from, bool wait, struct imrec_error *err)
{
    const uint64_t left = s->size - from;
    return s->out->ops->push(s->out, from, left < PUSH_BYTES ? left : PUSH_BYTES, wait, err);
}

/* Little is left to the sync itself. */
static enum imrec_status push_all(struct sink *s, struct imrec_error *err)
{
    if (s->stop == NULL || s->out->ops->push == NULL || s->size - s->synced <= PUSH_AHEAD)
        return IMREC_OK;
    for (uint64_t at = s->synced; at < s->size + PUSH_AHEAD; at += PUSH_BYTES) {
        if (stop_is_overdue(s->stop))
            return stop_error(err);
        if (at < s->size)
            IMREC_TRY(push(s, at, false, err));
        if (at - s->synced >= PUSH_AHEAD)
            IMREC_TRY(push(s, at - PUSH_AHEAD, true, err));
    }
    return IMREC_OK;
}

enum imrec_status sink_sync(struct sink *s, struct imrec_error *err)
{
    IMREC_TRY(flush(s, err));
    enum imrec_status st = push_all(s, err);
    if (st == IMREC_OK)
        st = s->out->ops->sync(s->out, err);
    s->failed = st != IMREC_OK; /* after a failed sync the system may have dropped pages */
    s->synced = st == IMREC_OK ? s->size : s->synced;
    return st;
}

uint64_t sink_size(const struct sink *s)
{
    return s->size;
}

enum imrec_status sink_finish(struct sink *s, struct imrec_error *err)
{
    const enum imrec_status st = sink_sync(s, err);
    end(s, false);
    return st;
}

enum imrec_status sink_commit(struct sink *s, struct imrec_error *err)
{
    enum imrec_status st = sink_sync(s, err);
    if (st == IMREC_OK)
        st = s->store->publish(s->name, s->name, err);
    end(s, false);
    return st;
}

void sink_leave(struct sink *s)
{
    if (s == NULL)
        return;
    (void)flush(s, NULL); /* what does not arrive is found missing by the resume */
    end(s, false);
}

void sink_abort(struct sink *s)
{
    if (s != NULL)
        end(s, true);
}

static enum imrec_status
publish(const char *uri, const char *final_uri, bool new, struct imrec_error *err)
{
    const struct store *store, *final_store;
    const char *name, *as;
    IMREC_TRY(store_of(uri, &store, &name, err));
    IMREC_TRY(store_of(final_uri, &final_store, &as, err));
    if (store != final_store)
        return IMREC_REFUSE(err, "%s: cannot become %s, that is another store", uri, final_uri);
    if (new && store->publish_new != NULL)
        return store->publish_new(name, as, err);
    return store->publish != NULL ? store->publish(name, as, err)
                                  : store_cannot(uri, store, "be written to", err);
}

enum imrec_status sink_publish_as(const char *uri, const char *final_uri, struct imrec_error *err)
{
    return publish(uri, final_uri, false, err);
}

enum imrec_status sink_publish_new(const char *uri, const char *final_uri, struct imrec_error *err)
{
    return publish(uri, final_uri, true, err);
}

enum imrec_status sink_publish(const char *uri, struct imrec_error *err)
{
    return sink_publish_as(uri, uri, err);
}

enum imrec_status sink_exists(const char *uri, bool *there, struct imrec_error *err)
{
    const struct store *store;
    const char *name;
    const struct folder_entry *file;
    *there = false;
    if (listed_look(uri, &file)) {
        *there = file != NULL;
        return IMREC_OK;
    }
    IMREC_TRY(store_of(uri, &store, &name, err));
    return store->exists(name, there, err);
}

enum imrec_status sink_remove(const char *uri, struct imrec_error *err)
{
    const struct store *store;
    const char *name;
    IMREC_TRY(store_of(uri, &store, &name, err));
    return store->remove != NULL ? store->remove(name, err)
                                 : store_cannot(uri, store, "be written to", err);
}

enum imrec_status sink_sync_names(const char *uri, struct imrec_error *err)
{
    const struct store *store;
    const char *name;
    IMREC_TRY(store_of(uri, &store, &name, err));
    return store->sync_names != NULL ? store->sync_names(name, err) : IMREC_OK;
}

enum imrec_status sink_remove_first(const char *uri, struct imrec_error *err)
{
    IMREC_TRY(sink_remove(uri, err));
    return sink_sync_names(uri, err);
}
