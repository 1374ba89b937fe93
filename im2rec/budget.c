/* im2rec/budget.c */
#include "im2rec/budget.h"

void budget_init(struct budget *b, uint64_t limit)
{
    *b = (struct budget){.limit = limit};
    mutex_init(&b->lock);
    cond_init(&b->moved);
}

void budget_destroy(struct budget *b)
{
    cond_destroy(&b->moved);
    mutex_destroy(&b->lock);
}

static bool may_take(const struct budget *b, uint64_t index, uint64_t more)
{
    if (b->used <= b->limit && more <= b->limit - b->used)
        return true;
    return index == b->oldest && b->working == 0;
}

bool budget_take(struct budget *b, struct budget_share *s, uint64_t index, uint64_t more)
{
    mutex_lock(&b->lock);
    if (s->working)
        b->working--; /* whoever waits does not work */
    cond_wake_all(&b->moved);
    while (!b->stopped && !may_take(b, index, more))
        cond_wait(&b->moved, &b->lock);
    const bool given = !b->stopped;
    b->used += given ? more : 0;
    b->peak = b->used > b->peak ? b->used : b->peak;
    s->bytes += given ? more : 0;
    s->working = given;
    b->working += given;
    mutex_unlock(&b->lock);
    return given;
}

static void keep(struct budget *b, struct budget_share *s, uint64_t bytes)
{
    b->used = b->used - s->bytes + bytes;
    s->bytes = bytes;
    b->working -= s->working;
    s->working = false;
    cond_wake_all(&b->moved);
}

void budget_finish(struct budget *b, struct budget_share *s, uint64_t bytes)
{
    mutex_lock(&b->lock);
    keep(b, s, bytes);
    mutex_unlock(&b->lock);
}

void budget_written(struct budget *b, struct budget_share *s)
{
    mutex_lock(&b->lock);
    keep(b, s, 0);
    b->oldest++;
    mutex_unlock(&b->lock);
}

void budget_stop(struct budget *b)
{
    mutex_lock(&b->lock);
    b->stopped = true;
    cond_wake_all(&b->moved);
    mutex_unlock(&b->lock);
}
