/* iter/load/loader.c - the threads that read windows ahead, and who takes them.
 *
 * A window is cut into pieces that the threads deal among themselves in file order, oldest
 * window first, so that one slow disk sees one stream and many fast ones see many. The thread that
 * reads the last piece of a run finds its records; the one that finishes the last run completes the
 * window. A thread with nothing to read opens the next window. */
#include "iter/load/loader_state.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"

#define NOT_IN_LINE UINT64_MAX
#define ROOM_LEAST  ((uint64_t)64 << 10)
#define ROOM_MOST   ((uint64_t)512 << 10)

/* ---- states of an arena; the lock is held ------------------------------------------------- */

static void set_free(struct loader *l, struct arena *a)
{
    a->state = ARENA_FREE;
    a->stale = a->failed = false;
    a->sequence = NOT_IN_LINE;
    cond_wake_all(&l->work);
}

/* A thread has left it; the last one clears up after a failure or a seek. */
static void leave(struct loader *l, struct arena *a)
{
    if (--a->busy != 0)
        return;
    if (a->stale)
        set_free(l, a);
    else if (a->failed) {
        a->state = ARENA_FAILED;
        cond_wake_all(&l->ready);
    }
}

static void fail(struct loader *l, struct arena *a, const struct imrec_error *err)
{
    if (!a->failed)
        a->error = *err;
    a->failed = true;
    cond_wake_all(&l->walked_on);
}

/* ---- dealing out work; the lock is held --------------------------------------------------- */

static struct arena *oldest_with_work(struct loader *l)
{
    struct arena *best = NULL;
    for (uint32_t i = 0; i < l->o.arenas; i++) {
        struct arena *a = &l->arenas[i];
        if (a->state == ARENA_FILLING && !a->stale && !a->failed && a->next_run < a->run_count &&
            (best == NULL || a->sequence < best->sequence))
            best = a;
    }
    return best;
}

/* The next piece of a run, or of the rest of its records. */
static void cut_piece(struct loader *l, struct arena *a, struct piece *p)
{
    struct run *r = &a->runs[a->next_run];
    const bool rest = a->next_rest;
    const uint64_t begin = (rest ? r->rest_begin : r->begin) + a->next_byte;
    const uint64_t left = (rest ? r->rest_end : r->end) - begin;
    *p = (struct piece){.arena = a, .run = r, .offset = begin, .rest = rest};
    p->bytes = left > PIECE_BYTES ? PIECE_BYTES : rest ? left : left + r->room;
    if (!rest)
        advice_choose(&l->advice, a, p);
    a->next_byte += PIECE_BYTES;
    if (left > PIECE_BYTES)
        return;
    a->next_byte = 0;
    a->next_rest = !rest && r->rest_end != 0;
    a->next_run += a->next_rest ? 0 : 1;
}

static bool take_piece(struct loader *l, struct piece *p)
{
    struct arena *a = oldest_with_work(l);
    if (a == NULL)
        return false;
    cut_piece(l, a, p);
    a->busy++;
    return true;
}

static struct arena *take_free(struct loader *l)
{
    for (uint32_t i = 0; !l->opening && i < l->o.arenas; i++)
        if (l->arenas[i].state == ARENA_FREE)
            return &l->arenas[i];
    return NULL;
}

/* ---- the work; the lock is held on entry and exit, not in between ------------------------- */

static void complete(struct loader *l, struct arena *a)
{
    struct imrec_error err;
    mutex_unlock(&l->lock);
    const enum imrec_status st = arena_finish(a, &l->o, &l->memory, &err);
    mutex_lock(&l->lock);
    if (st != IMREC_OK)
        fail(l, a, &err);
    else if (!a->stale && !a->failed) {
        a->state = ARENA_READY;
        cond_wake_all(&l->ready);
    }
}

static void open_next(struct loader *l, struct arena *a)
{
    struct imrec_error err;
    const uint64_t sweep = l->next_sweep, number = l->next_number;
    const uint64_t seen = l->largest_record;
    const uint64_t room = seen < ROOM_LEAST ? ROOM_LEAST : seen < ROOM_MOST ? seen : ROOM_MOST;
    a->state = ARENA_OPENING;
    a->sequence = l->opened++;
    a->window.shift = l->shift;
    a->busy = 1;
    l->opening = true;
    l->next_number = number + 1 < l->o.windows ? number + 1 : 0;
    l->next_sweep = l->next_number == 0 ? sweep + 1 : sweep;
    mutex_unlock(&l->lock);
    const enum imrec_status st = arena_open(a, &l->o, sweep, number, room, &l->memory, &err);
    mutex_lock(&l->lock);
    l->opening = false;
    a->state = ARENA_FILLING;
    if (st != IMREC_OK)
        fail(l, a, &err);
    else if (a->run_count == 0 && !a->stale) /* a sweep of nothing */
        complete(l, a);
    leave(l, a);
    cond_wake_all(&l->work);
}

static void do_piece(struct reading *t, const struct piece *p)
{
    struct loader *l = t->loader;
    struct imrec_error err;
    const bool fetched = container_is_fetched(l->o.container);
    bool last = fetched;
    enum imrec_status st;
    mutex_unlock(&l->lock);
    if (fetched)
        st = run_fetch(t, p->arena, p->run, &err);
    else if ((st = piece_read(l, p, &last, &err)) == IMREC_OK && last)
        st = run_parse(t, p->arena, p->run, &err);
    mutex_lock(&l->lock);
    if (st != IMREC_OK && (fetched || st != IMREC_ERR_CANCELLED))
        fail(l, p->arena, &err);
    if (st == IMREC_OK && last && --p->arena->runs_left == 0 && !p->arena->stale &&
        !p->arena->failed)
        complete(l, p->arena);
    leave(l, p->arena);
}

static void *reading_main(void *arg)
{
    struct reading *t = arg;
    struct loader *l = t->loader;
    mutex_lock(&l->lock);
    while (!atomic_load(&l->cancelled)) {
        struct piece piece;
        struct arena *a;
        if (take_piece(l, &piece))
            do_piece(t, &piece);
        else if ((a = take_free(l)) != NULL)
            open_next(l, a);
        else
            cond_wait(&l->work, &l->lock);
    }
    mutex_unlock(&l->lock);
    return NULL;
}

/* ---- starting and stopping ---------------------------------------------------------------- */

static enum imrec_status no_memory(struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "no memory for the loader");
}

static enum imrec_status start_threads(struct loader *l, struct imrec_error *err)
{
    for (uint32_t i = 0; i < l->o.threads; i++) {
        struct reading *t = &l->threads[i];
        t->loader = l;
        IMREC_TRY(thread_start(&t->thread, "imrec-read", reading_main, t, err));
    }
    return IMREC_OK;
}

enum imrec_status loader_start(const struct loader_options *o, uint64_t sweep, uint64_t number,
                               struct loader **out, struct imrec_error *err)
{
    *out = NULL;
    struct loader *l = imrec_zalloc(1, sizeof(*l));
    if (l == NULL)
        return no_memory(err);
    l->o = *o;
    l->o.threads = o->threads != 0 ? o->threads : 1;
    l->o.arenas = o->arenas > 2 ? o->arenas : 2;
    l->o.windows = o->windows != 0 ? o->windows : 1;
    l->next_sweep = sweep;
    l->next_number = number;
    mutex_init(&l->lock);
    cond_init(&l->work);
    cond_init(&l->ready);
    cond_init(&l->walked_on);
    l->arenas = imrec_zalloc(l->o.arenas, sizeof(*l->arenas));
    l->threads = imrec_zalloc(l->o.threads, sizeof(*l->threads));
    const bool walks = !container_is_listed(o->container) && o->container->kind->walk != NULL;
    if (walks)
        l->walked = imrec_zalloc(o->container->shard_count, sizeof(*l->walked));
    enum imrec_status st = IMREC_OK;
    if (l->arenas == NULL || l->threads == NULL || (walks && l->walked == NULL))
        st = no_memory(err);
    else
        st = start_threads(l, err);
    if (st == IMREC_OK)
        *out = l;
    else
        loader_stop(l);
    return st;
}

void loader_stop(struct loader *l)
{
    if (l == NULL)
        return;
    loader_cancel(l);
    for (uint32_t i = 0; l->threads != NULL && i < l->o.threads; i++) {
        thread_join(&l->threads[i].thread);
        IMREC_FREE(l->threads[i].found, l->threads[i].scratch);
    }
    for (uint32_t i = 0; l->arenas != NULL && i < l->o.arenas; i++)
        arena_free(&l->arenas[i]);
    cond_destroy(&l->ready);
    cond_destroy(&l->walked_on);
    cond_destroy(&l->work);
    mutex_destroy(&l->lock);
    IMREC_FREE(l->threads, l->arenas, l->walked, l);
}

/* ---- taking and giving back --------------------------------------------------------------- */

/* The window whose turn it is, if it is complete or failed. */
static struct arena *next_in_line(struct loader *l)
{
    for (uint32_t i = 0; i < l->o.arenas; i++) {
        struct arena *a = &l->arenas[i];
        if (a->sequence == l->taken && (a->state == ARENA_READY || a->state == ARENA_FAILED))
            return a;
    }
    return NULL;
}

enum imrec_status
loader_take(struct loader *l, struct window **out, uint64_t *waited_ns, struct imrec_error *err)
{
    struct arena *a = NULL;
    enum imrec_status st = IMREC_OK;
    mutex_lock(&l->lock);
    if (!atomic_load(&l->cancelled) && (a = next_in_line(l)) == NULL) {
        const uint64_t since = clock_ns();
        while (!atomic_load(&l->cancelled) && (a = next_in_line(l)) == NULL)
            cond_wait(&l->ready, &l->lock);
        *waited_ns += clock_ns() - since;
    }
    if (atomic_load(&l->cancelled)) {
        st = imrec_fail(err, IMREC_ERR_CANCELLED, "the reading was cancelled");
    } else if (a->state == ARENA_FAILED) { /* stays, and with it the error, until a seek */
        st = a->error.status;
        if (err != NULL)
            *err = a->error;
    } else {
        a->state = ARENA_HELD;
        a->sequence = NOT_IN_LINE;
        a->holds = 1;
        l->taken++;
        *out = &a->window;
    }
    mutex_unlock(&l->lock);
    return st;
}

void loader_hold(struct loader *l, struct window *w)
{
    mutex_lock(&l->lock);
    ((struct arena *)w)->holds++;
    mutex_unlock(&l->lock);
}

void loader_release(struct loader *l, struct window *w)
{
    struct arena *a = (struct arena *)w;
    mutex_lock(&l->lock);
    if (--a->holds == 0)
        set_free(l, a);
    mutex_unlock(&l->lock);
}

void loader_seek(struct loader *l, uint64_t sweep, uint64_t number)
{
    mutex_lock(&l->lock);
    for (uint32_t i = 0; i < l->o.arenas; i++) {
        struct arena *a = &l->arenas[i];
        if (a->state == ARENA_FREE || a->state == ARENA_HELD)
            continue;
        a->sequence = NOT_IN_LINE;
        a->stale = true;
        if (a->busy == 0)
            set_free(l, a);
    }
    l->next_sweep = sweep;
    l->next_number = number;
    l->opened = l->taken;
    cond_wake_all(&l->work);
    cond_wake_all(&l->walked_on);
    mutex_unlock(&l->lock);
}

void loader_shift(struct loader *l, uint64_t shift)
{
    mutex_lock(&l->lock);
    l->shift = shift;
    mutex_unlock(&l->lock);
}

void loader_cancel(struct loader *l)
{
    mutex_lock(&l->lock);
    atomic_store(&l->cancelled, true);
    cond_wake_all(&l->work);
    cond_wake_all(&l->ready);
    cond_wake_all(&l->walked_on);
    mutex_unlock(&l->lock);
}

/* ---- facts -------------------------------------------------------------------------------- */

const struct imrec_error *loader_lost_reason(const struct window *w, const struct record_ref *r)
{
    const struct arena *a = (const struct arena *)w;
    for (uint64_t i = 0; i < a->lost_count; i++)
        if (a->damages[i].shard == r->shard && a->damages[i].begin == r->offset)
            return &a->damages[i].why;
    return NULL;
}

uint64_t loader_bytes_read(const struct loader *l)
{
    return atomic_load(&l->bytes_read);
}

uint64_t loader_table_bytes(uint64_t units, bool apart)
{
    const struct arena *a = NULL; /* for the sizes of what it has */
    const uint64_t listed = sizeof(*a->order) + sizeof(*a->ends) + sizeof(*a->window.records);
    return (listed + (apart ? sizeof(*a->runs) : 0)) * (units + units / 2 + 16); /* arena_grow() */
}

uint64_t loader_memory(const struct loader *l)
{
    return atomic_load(&l->memory);
}
