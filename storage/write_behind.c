/* storage/write_behind.c - a thread that writes one full buffer while the next one fills. */
#include "storage/write_behind.h"

void write_behind_init(struct write_behind *b, struct out *out)
{
    *b = (struct write_behind){.out = out};
    mutex_init(&b->lock);
    cond_init(&b->moved);
}

static void write_one(struct write_behind *b)
{
    struct imrec_error why;
    mutex_unlock(&b->lock);
    const enum imrec_status st = b->out->ops->write(b->out, b->p, b->n, &why);
    mutex_lock(&b->lock);
    if (st != IMREC_OK) {
        b->st = st;
        b->why = why;
    }
    b->p = NULL;
    cond_wake_all(&b->moved);
}

static void *run(void *arg)
{
    struct write_behind *b = arg;
    mutex_lock(&b->lock);
    for (;;) {
        while (b->p == NULL && !b->stopping)
            cond_wait(&b->moved, &b->lock);
        if (b->p == NULL)
            break;
        write_one(b);
    }
    mutex_unlock(&b->lock);
    return NULL;
}

/* With the lock held. */
static enum imrec_status wait_idle(struct write_behind *b, struct imrec_error *err)
{
    while (b->p != NULL)
        cond_wait(&b->moved, &b->lock);
    if (b->st != IMREC_OK && err != NULL)
        *err = b->why;
    return b->st;
}

enum imrec_status
write_behind_put(struct write_behind *b, const uint8_t *p, size_t n, struct imrec_error *err)
{
    mutex_lock(&b->lock);
    enum imrec_status st = wait_idle(b, err);
    if (st == IMREC_OK) {
        b->p = p;
        b->n = n;
        if (b->thread.running ||
            thread_start(&b->thread, "imrec-write", run, b, NULL) == IMREC_OK) {
            cond_wake_all(&b->moved);
        } else {
            write_one(b);
            st = wait_idle(b, err);
        }
    }
    mutex_unlock(&b->lock);
    return st;
}

enum imrec_status write_behind_wait(struct write_behind *b, struct imrec_error *err)
{
    mutex_lock(&b->lock);
    const enum imrec_status st = wait_idle(b, err);
    mutex_unlock(&b->lock);
    return st;
}

void write_behind_destroy(struct write_behind *b)
{
    cond_tell(&b->lock, &b->stopping, &b->moved, NULL);
    thread_join(&b->thread);
    cond_destroy(&b->moved);
    mutex_destroy(&b->lock);
}
