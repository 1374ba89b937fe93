/*
 * tests/support/http_proxy/throttle.c - a token bucket with a queue.
 *
 * Once tokens are short, everybody waits in one queue and gets a quantum at a time: connections of
 * equal appetite get equal shares. A quantum is a millisecond of the rate, up to 256 KiB; the
 * bucket holds 20 ms of it, so that a late wake-up loses nothing.
 */
#include "tests/support/http_proxy/throttle.h"

static int64_t clamp(int64_t x, int64_t lo, int64_t hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

static void fill(struct throttle *t)
{
    const int64_t now = clock_ns();
    const double most = (double)clamp(t->rate / 50, 2 * t->quantum, INT64_MAX);
    t->tokens += (double)(now - t->filled_ns) * 1e-9 * (double)t->rate;
    t->tokens = t->tokens > most ? most : t->tokens;
    t->filled_ns = now;
}

static void set_tick(struct throttle *t)
{
    const double missing = (double)t->quantum - t->tokens;
    const int64_t ns = (int64_t)(missing / (double)t->rate * 1e9);
    loop_at(t->loop, &t->tick, ns > 1000000 ? ns : 1000000);
}

static void serve(struct timer *tick)
{
    struct throttle *t = OWNER(tick, struct throttle, tick);
    fill(t);
    while (t->first != NULL && t->tokens >= (double)t->quantum) {
        struct turn *turn = t->first;
        t->first = turn->next;
        turn->waiting = false;
        t->served = turn;
        t->granted = t->quantum;
        turn->go(turn);
        t->served = NULL;
    }
    if (t->first != NULL)
        set_tick(t);
}

void throttle_init(struct throttle *t, struct loop *l, int64_t rate)
{
    *t = (struct throttle){.loop = l, .rate = rate, .filled_ns = clock_ns(), .tick.due = serve};
    t->quantum = clamp(rate / 1000, 64, 256 << 10);
    t->tokens = (double)t->quantum;
}

static void wait_for(struct throttle *t, struct turn *turn)
{
    if (turn->waiting)
        return;
    turn->waiting = true;
    turn->next = NULL;
    if (t->first == NULL)
        t->first = turn;
    else
        t->last->next = turn;
    t->last = turn;
    if (t->tick.place == 0 && t->served == NULL)
        set_tick(t);
}

size_t throttle_take(struct throttle *t, struct turn *turn, size_t want)
{
    if (t->rate == 0)
        return want;
    int64_t may = t->granted;
    if (t->served != turn) {
        fill(t);
        may = t->first == NULL && t->tokens >= (double)t->quantum ? t->quantum : 0;
    }
    may = clamp((int64_t)want, 0, may);
    if (may == 0) {
        wait_for(t, turn);
        return 0;
    }
    t->tokens -= (double)may;
    if (t->served == turn)
        t->granted -= may;
    return (size_t)may;
}

void throttle_return(struct throttle *t, size_t unused)
{
    if (t->rate != 0)
        t->tokens += (double)unused;
}

void throttle_leave(struct throttle *t, struct turn *turn)
{
    struct turn *before = NULL;
    if (!turn->waiting)
        return;
    for (struct turn *at = t->first; at != turn; at = at->next)
        before = at;
    if (before == NULL)
        t->first = turn->next;
    else
        before->next = turn->next;
    if (t->last == turn)
        t->last = before;
    turn->waiting = false;
}
