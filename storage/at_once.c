/* storage/at_once.c - the same for many things, by threads that mostly wait for other machines. */
#include "storage/at_once.h"

#include "base/threads.h"
#include "storage/store/listed.h"
#include "storage/store/scope.h"

enum { THREADS_MOST = 64 };

struct work {
    struct mutex lock;
    at_once_fn *each;
    void *context;
    struct store_scope *scope; /* of the thread that calls */
    struct listed *listed;     /* likewise */
    uint32_t next, count;      /* the next thing; after a failure count is that thing */
    enum imrec_status st;
    struct imrec_error err;
};

/* Things are begun in order: all before one that failed were begun, and end. */
static void *work_main(void *arg)
{
    struct work *w = arg;
    struct store_scope *before = store_scope_enter(w->scope);
    struct listed *listed_before = listed_enter(w->listed);
    mutex_lock(&w->lock);
    while (w->next < w->count) {
        struct imrec_error err = {.offset = IMREC_NO_OFFSET};
        const uint32_t i = w->next++;
        mutex_unlock(&w->lock);
        const enum imrec_status st = w->each(w->context, i, &err);
        mutex_lock(&w->lock);
        if (st != IMREC_OK && i < w->count) {
            w->count = i;
            w->st = st;
            w->err = err;
        }
    }
    mutex_unlock(&w->lock);
    listed_enter(listed_before);
    store_scope_enter(before);
    return NULL;
}

enum imrec_status
at_once(uint32_t count, bool far, at_once_fn *each, void *context, struct imrec_error *err)
{
    struct thread threads[THREADS_MOST] = {{.running = false}};
    struct work w = {.lock = MUTEX_INIT,
                     .each = each,
                     .context = context,
                     .scope = store_scope(),
                     .listed = listed_now(),
                     .count = count};
    for (uint32_t i = 0; far && i + 1 < count && i < THREADS_MOST; i++)
        if (thread_start(&threads[i], "imrec-open", work_main, &w, NULL) != IMREC_OK)
            break; /* this one does the rest */
    (void)work_main(&w);
    for (uint32_t i = 0; i < THREADS_MOST; i++)
        thread_join(&threads[i]);
    mutex_destroy(&w.lock);
    if (w.st != IMREC_OK && err != NULL)
        *err = w.err;
    return w.st;
}
