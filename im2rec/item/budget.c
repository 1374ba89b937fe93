/* im2rec/item/budget.c */
#include "im2rec/item/budget.h"

#define LEAST_WORK ((uint64_t)64 << 20)

uint64_t budget_most(uint64_t limit)
{
    const uint64_t most = limit - limit / 8;
    return most > LEAST_WORK ? most : LEAST_WORK;
}

void budget_init(struct budget *b, uint64_t limit)
{
    *b = (struct budget){.work_limit = budget_most(limit), .record_limit = limit / 8};
    mutex_init(&b->lock);
    cond_init(&b->moved);
}

void budget_destroy(struct budget *b)
{
    cond_destroy(&b->moved);
    mutex_destroy(&b->lock);
}

static bool fits(uint64_t used, uint64_t has, uint64_t need, uint64_t limit)
{
    const uint64_t others = used - has;
    return others <= limit && need <= limit - others;
}

static bool may_have(const struct budget *b, const struct budget_share *s, uint64_t index,
                     struct budget_need need)
{
    const bool work = fits(b->work, s->has.work, need.work, b->work_limit);
    if (index == b->oldest)
        return work;
    return work && !b->oldest_waits && !b->alone &&
           fits(b->records, s->has.record, need.record, b->record_limit);
}

static void set(struct budget *b, struct budget_share *s, struct budget_need has)
{
    b->work = b->work - s->has.work + has.work;
    b->records = b->records - s->has.record + has.record;
    s->has = has;
    b->peak = b->work + b->records > b->peak ? b->work + b->records : b->peak;
}

static void give(struct budget *b, struct budget_share *s, uint64_t index, struct budget_need need)
{
    s->as_oldest = s->as_oldest || index == b->oldest;
    if (s->as_oldest)
        need.record = 0; /* it is written next */
    set(b, s, need);
}

bool budget_try(struct budget *b, struct budget_share *s, uint64_t index, struct budget_need need)
{
    mutex_lock(&b->lock);
    const bool given = !b->stopped && may_have(b, s, index, need);
    if (given)
        give(b, s, index, need);
    mutex_unlock(&b->lock);
    return given;
}

/* Each time it wakes, a waiting image checks whether it has become the oldest. */
static void wait(struct budget *b, uint64_t index)
{
    if (index == b->oldest)
        b->oldest_waits = true;
    cond_wait(&b->moved, &b->lock);
}

static void end_waiting(struct budget *b, uint64_t index)
{
    if (index == b->oldest && b->oldest_waits) {
        b->oldest_waits = false;
        cond_wake_all(&b->moved);
    }
}

bool budget_take(struct budget *b, struct budget_share *s, uint64_t index, struct budget_need need)
{
    mutex_lock(&b->lock);
    while (!b->stopped && !may_have(b, s, index, need))
        wait(b, index);
    end_waiting(b, index);
    const bool given = !b->stopped;
    if (given)
        give(b, s, index, need);
    mutex_unlock(&b->lock);
    return given;
}

bool budget_alone(struct budget *b, struct budget_share *s, uint64_t index)
{
    mutex_lock(&b->lock);
    while (!b->stopped && (index != b->oldest || b->work != 0))
        wait(b, index);
    end_waiting(b, index);
    const bool given = !b->stopped;
    b->alone = s->as_oldest = given;
    mutex_unlock(&b->lock);
    return given;
}

void budget_drop(struct budget *b, struct budget_share *s)
{
    mutex_lock(&b->lock);
    set(b, s, (struct budget_need){0, 0});
    s->as_oldest = false;
    cond_wake_all(&b->moved);
    mutex_unlock(&b->lock);
}

void budget_finish(struct budget *b, struct budget_share *s, uint64_t index, uint64_t bytes)
{
    mutex_lock(&b->lock);
    const bool waits = !s->as_oldest; /* among the records */
    set(b, s, (struct budget_need){waits ? 0 : bytes, waits ? bytes : 0});
    if (index == b->oldest)
        b->alone = false;
    cond_wake_all(&b->moved);
    mutex_unlock(&b->lock);
}

void budget_written(struct budget *b, struct budget_share *s)
{
    mutex_lock(&b->lock);
    set(b, s, (struct budget_need){0, 0});
    s->as_oldest = false;
    b->oldest++;
    b->oldest_waits = false; /* the next one says for itself */
    cond_wake_all(&b->moved);
    mutex_unlock(&b->lock);
}

void budget_stop(struct budget *b)
{
    cond_tell(&b->lock, &b->stopped, &b->moved, NULL);
}
