/* im2rec/watch.c */
#include "im2rec/watch.h"

#define EVERY_MS 200

/* With the lock held. */
static void ask(struct watch *w)
{
    if (!stop_asked(&w->stop) && !w->task->progress(w->task->user, &w->last))
        stop_ask(&w->stop);
}

static void *watch(void *arg)
{
    struct watch *w = arg;
    mutex_lock(&w->lock);
    while (!w->over) {
        w->told = false;
        cond_wait_for(&w->ended, &w->lock, EVERY_MS);
        if (!w->over && !w->told)
            ask(w);
    }
    mutex_unlock(&w->lock);
    return NULL;
}

void watch_begin(struct watch *w, const struct imrec_pack_task *task)
{
    *w = (struct watch){.task = task};
    mutex_init(&w->lock);
    cond_init(&w->ended);
    if (task->progress != NULL)
        (void)(thread_start(&w->thread, "imrec-watch", watch, w, NULL) == IMREC_OK);
}

bool watch_tell(struct watch *w, const struct imrec_progress *p)
{
    if (w->task->progress == NULL)
        return true;
    mutex_lock(&w->lock);
    w->last = *p;
    w->told = true;
    ask(w);
    mutex_unlock(&w->lock);
    return !stop_asked(&w->stop);
}

void watch_end(struct watch *w)
{
    cond_tell(&w->lock, &w->over, &w->ended, NULL);
    thread_join(&w->thread);
    cond_destroy(&w->ended);
    mutex_destroy(&w->lock);
}
