/* im2rec/item/fetch.c - images of stores, read before a worker asks for them. */
#include "im2rec/item/fetch.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/threads.h"
#include "storage/source.h"

#include <string.h>

enum state { WAITING, UNDER_WAY, DONE };

/* An open object. The images of an archive, which follow one another, share it. */
struct opened {
    struct source *source;
    char *uri;
    uint32_t users; /* with the lock held */
};

struct fetch {
    struct fetcher *of;
    struct fetch *next; /* while it waits */
    char *uri;
    enum state state;
    struct opened *opened;  /* until all is read */
    uint8_t *p;             /* the wanted bytes; NULL: it is only open */
    uint64_t size;          /* of the object */
    uint64_t begin, bytes;  /* wanted */
    struct imrec_error err; /* its status is OK: it is open */
};

struct fetcher {
    struct mutex lock;
    struct cond wanted, done; /* for threads; for those that wait for a fetch */
    struct fetch *first, **last;
    struct opened *archive;          /* the last one that was read of; or NULL */
    uint64_t held, limit;            /* bytes of images */
    uint32_t waiting, idle, started; /* fetches, threads */
    bool ending;
    struct thread threads[FETCHES_MOST];
};

/* Whether this many bytes more may be held, which they then are. */
static bool take_room(struct fetcher *f, uint64_t bytes)
{
    mutex_lock(&f->lock);
    const bool room = bytes <= f->limit - f->held;
    f->held += room ? bytes : 0;
    mutex_unlock(&f->lock);
    return room;
}

static void give_room(struct fetcher *f, uint64_t bytes)
{
    mutex_lock(&f->lock);
    f->held -= bytes;
    mutex_unlock(&f->lock);
}

static void leave(struct fetcher *f, struct opened *o)
{
    mutex_lock(&f->lock);
    const bool last = o != NULL && --o->users == 0;
    mutex_unlock(&f->lock);
    if (!last)
        return;
    source_close(o->source);
    IMREC_FREE(o->uri, o);
}

/* The archive that is open, if it is this one. */
static struct opened *share(struct fetcher *f, const char *uri)
{
    mutex_lock(&f->lock);
    struct opened *o = f->archive;
    o = o != NULL && strcmp(o->uri, uri) == 0 ? o : NULL;
    if (o != NULL)
        o->users++;
    mutex_unlock(&f->lock);
    return o;
}

/* Of those that open it at the same time, one is shared from then on. */
static void offer(struct fetcher *f, struct opened *o)
{
    mutex_lock(&f->lock);
    struct opened *before = f->archive;
    f->archive = o;
    o->users++;
    mutex_unlock(&f->lock);
    leave(f, before);
}

static enum imrec_status open_object(struct fetch *x)
{
    const bool is_piece = x->bytes != FETCH_ALL;
    x->opened = is_piece ? share(x->of, x->uri) : NULL;
    if (x->opened != NULL)
        return IMREC_OK;
    struct opened *o = imrec_zalloc(1, sizeof(*o));
    char *uri = imrec_joined(x->uri, strlen(x->uri), "");
    const enum imrec_status st = o != NULL && uri != NULL
                                     ? source_open(x->uri, &o->source, &x->err)
                                     : IMREC_NO_MEMORY(&x->err, "%s: no memory for it", x->uri);
    if (st != IMREC_OK) {
        IMREC_FREE(uri, o);
        return st;
    }
    o->uri = uri;
    o->users = 1;
    x->opened = o;
    if (is_piece)
        offer(x->of, o);
    return IMREC_OK;
}

static enum imrec_status load(struct fetch *x)
{
    IMREC_TRY(open_object(x));
    struct source *from = x->opened->source;
    x->size = from->size;
    if (x->bytes == FETCH_ALL)
        x->bytes = x->size;
    const bool there = x->begin <= x->size && x->bytes <= x->size - x->begin;
    if (!there || x->bytes == 0 || !take_room(x->of, x->bytes))
        return IMREC_OK;
    x->p = imrec_realloc(NULL, (size_t)x->bytes, 1);
    const enum imrec_status st = x->p != NULL
                                     ? source_read(from, x->begin, x->p, (size_t)x->bytes, &x->err)
                                     : IMREC_NO_MEMORY(&x->err, "%s: no memory for it", x->uri);
    if (st != IMREC_OK) {
        imrec_free(x->p);
        x->p = NULL;
        give_room(x->of, x->bytes);
    }
    leave(x->of, x->opened);
    x->opened = NULL;
    return st;
}

/* With the lock held: it is not among those that wait any more. */
static void leave_queue(struct fetcher *f, const struct fetch *x)
{
    struct fetch **at = &f->first;
    while (*at != x)
        at = &(*at)->next;
    *at = x->next;
    f->waiting--;
    if (*at == NULL)
        f->last = at;
}

/* With the lock held, which is given back while it reads. */
static void fetch_one(struct fetcher *f, struct fetch *x)
{
    x->state = UNDER_WAY;
    mutex_unlock(&f->lock);
    const enum imrec_status st = load(x);
    mutex_lock(&f->lock);
    x->err.status = st;
    x->state = DONE;
    cond_wake_all(&f->done);
}

static void *run(void *arg)
{
    struct fetcher *f = arg;
    mutex_lock(&f->lock);
    for (;;) {
        f->idle++;
        while (f->first == NULL && !f->ending)
            cond_wait(&f->wanted, &f->lock);
        f->idle--;
        struct fetch *x = f->first;
        if (x == NULL)
            break;
        leave_queue(f, x);
        fetch_one(f, x);
    }
    mutex_unlock(&f->lock);
    return NULL;
}

enum imrec_status fetcher_new(uint64_t limit, struct fetcher **out, struct imrec_error *err)
{
    struct fetcher *f = *out = imrec_zalloc(1, sizeof(*f));
    if (f == NULL)
        return IMREC_NO_MEMORY(err, "no memory to read images ahead");
    f->last = &f->first;
    f->limit = limit;
    mutex_init(&f->lock);
    cond_init(&f->wanted);
    cond_init(&f->done);
    return IMREC_OK;
}

void fetcher_free(struct fetcher *f)
{
    if (f == NULL)
        return;
    cond_tell(&f->lock, &f->ending, &f->wanted, NULL);
    for (uint32_t i = 0; i < f->started; i++)
        thread_join(&f->threads[i]);
    leave(f, f->archive);
    cond_destroy(&f->wanted);
    cond_destroy(&f->done);
    mutex_destroy(&f->lock);
    imrec_free(f);
}

struct fetch *fetch_begin(struct fetcher *f, const char *uri, uint64_t begin, uint64_t bytes)
{
    struct fetch *x = imrec_zalloc(1, sizeof(*x));
    char *name = imrec_joined(uri, strlen(uri), "");
    if (x == NULL || name == NULL) {
        IMREC_FREE(name, x);
        return NULL;
    }
    x->of = f;
    x->uri = name;
    x->begin = begin;
    x->bytes = bytes;
    mutex_lock(&f->lock);
    *f->last = x;
    f->last = &x->next;
    f->waiting++;
    /* Without a thread the worker that wants it does it. */
    if (f->waiting > f->idle && f->started < FETCHES_MOST &&
        thread_start(&f->threads[f->started], "imrec-fetch", run, f, NULL) == IMREC_OK)
        f->started++;
    cond_wake_one(&f->wanted);
    mutex_unlock(&f->lock);
    return x;
}

bool fetch_is_of(const struct fetch *x, const char *uri)
{
    return x != NULL && strcmp(x->uri, uri) == 0;
}

enum imrec_status fetch_wait(struct fetch *x, uint64_t *size, struct imrec_error *err)
{
    struct fetcher *f = x->of;
    mutex_lock(&f->lock);
    if (x->state == WAITING) {
        leave_queue(f, x);
        fetch_one(f, x);
    }
    while (x->state != DONE)
        cond_wait(&f->done, &f->lock);
    mutex_unlock(&f->lock);
    *size = x->size;
    if (x->err.status != IMREC_OK && err != NULL)
        *err = x->err;
    return x->err.status;
}

enum imrec_status fetch_read(struct fetch *x, void *to, struct imrec_error *err)
{
    if (x->p == NULL)
        return source_read(x->opened->source, x->begin, to, (size_t)x->bytes, err);
    memcpy(to, x->p, (size_t)x->bytes);
    return IMREC_OK;
}

void fetch_drop(struct fetch *x)
{
    if (x == NULL)
        return;
    struct fetcher *f = x->of;
    mutex_lock(&f->lock);
    if (x->state == WAITING)
        leave_queue(f, x);
    while (x->state == UNDER_WAY)
        cond_wait(&f->done, &f->lock);
    f->held -= x->p != NULL ? x->bytes : 0;
    mutex_unlock(&f->lock);
    leave(f, x->opened);
    IMREC_FREE(x->p, x->uri, x);
}
