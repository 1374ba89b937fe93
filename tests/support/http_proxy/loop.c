/* tests/support/http_proxy/loop.c - epoll, and a binary heap of timers. */
#include "tests/support/http_proxy/loop.h"

#include "tests/support/http_proxy/fifo.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 256 }; /* of a round */

int64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void loop_init(struct loop *l)
{
    *l = (struct loop){.epoll = epoll_create1(EPOLL_CLOEXEC)};
}

bool loop_watch(struct loop *l, struct watch *w, uint32_t events)
{
    struct epoll_event e = {.events = events, .data.ptr = w};
    if (w->added && w->events == events)
        return true;
    if (epoll_ctl(l->epoll, w->added ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, w->fd, &e) != 0)
        return false;
    w->added = true;
    w->events = events;
    return true;
}

void loop_pause(struct loop *l, struct watch *w)
{
    if (w->added)
        epoll_ctl(l->epoll, EPOLL_CTL_DEL, w->fd, NULL);
    w->added = false;
}

void loop_close(struct loop *l, struct watch *w)
{
    (void)l;
    if (w->fd >= 0)
        close(w->fd); /* which takes it out of epoll: there is no copy of it */
    w->fd = -1;
    w->added = false;
}

/* ---- timers ---------------------------------------------------------------------------------- */

static void put(struct loop *l, size_t place, struct timer *t)
{
    l->heap[place] = t;
    t->place = place;
}

/* The place `at` is empty: t goes there, or to where it is in order. */
static void settle(struct loop *l, size_t at, struct timer *t)
{
    for (; at > 1 && l->heap[at / 2]->at_ns > t->at_ns; at /= 2)
        put(l, at, l->heap[at / 2]);
    for (size_t child; (child = 2 * at) <= l->count; at = child) {
        if (child < l->count && l->heap[child + 1]->at_ns < l->heap[child]->at_ns)
            child++;
        if (l->heap[child]->at_ns >= t->at_ns)
            break;
        put(l, at, l->heap[child]);
    }
    put(l, at, t);
}

void loop_at(struct loop *l, struct timer *t, int64_t in_ns)
{
    loop_clear(l, t);
    if (l->count + 2 > l->room) {
        l->room = 2 * l->room + 64;
        l->heap = must(realloc(l->heap, l->room * sizeof(*l->heap)));
    }
    t->at_ns = clock_ns() + in_ns;
    l->count++;
    settle(l, l->count, t);
}

void loop_clear(struct loop *l, struct timer *t)
{
    const size_t at = t->place;
    if (at == 0)
        return;
    t->place = 0;
    struct timer *last = l->heap[l->count--];
    if (last != t)
        settle(l, at, last);
}

static void fire(struct loop *l)
{
    const int64_t now = clock_ns();
    while (l->count != 0 && l->heap[1]->at_ns <= now) {
        struct timer *t = l->heap[1];
        loop_clear(l, t);
        t->due(t);
    }
}

static int until_next_ms(const struct loop *l)
{
    if (l->count == 0)
        return -1;
    const int64_t ns = l->heap[1]->at_ns - clock_ns();
    return ns <= 0 ? 0 : ns > 60000000000 ? 60000 : (int)((ns + 999999) / 1000000);
}

/* ---- rounds ---------------------------------------------------------------------------------- */

void loop_bury(struct loop *l, void *p)
{
    if (l->buried_count == l->buried_room) {
        l->buried_room = 2 * l->buried_room + 64;
        l->buried = must(realloc(l->buried, l->buried_room * sizeof(*l->buried)));
    }
    l->buried[l->buried_count++] = p;
}

static void dig(struct loop *l)
{
    for (size_t i = 0; i < l->buried_count; i++)
        free(l->buried[i]);
    l->buried_count = 0;
}

void loop_run(struct loop *l)
{
    struct epoll_event events[EVENTS];
    while (!l->ended) {
        const int n = epoll_wait(l->epoll, events, EVENTS, until_next_ms(l));
        if (n < 0 && errno != EINTR)
            return;
        for (int i = 0; i < n && !l->ended; i++) {
            struct watch *w = events[i].data.ptr;
            if (w->fd >= 0)
                w->ready(w, events[i].events);
        }
        fire(l);
        dig(l);
    }
}

void loop_free(struct loop *l)
{
    dig(l);
    free(l->heap);
    free(l->buried);
    close(l->epoll);
}
