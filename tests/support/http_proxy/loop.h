/* tests/support/http_proxy/loop.h - one thread that waits for descriptors and for points in time.
 */
#ifndef IMREC_TESTS_HTTP_PROXY_LOOP_H
#define IMREC_TESTS_HTTP_PROXY_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>

/* A member of what it serves: its callback finds the rest with OWNER(). fd < 0: closed. */
struct watch {
    int fd;
    uint32_t events; /* EPOLLIN, EPOLLOUT that are waited for */
    bool added;
    void (*ready)(struct watch *, uint32_t events);
};
struct timer {
    int64_t at_ns;
    size_t place; /* in the heap; 0: not set */
    void (*due)(struct timer *);
};
struct loop {
    int epoll;
    struct timer **heap; /* the earliest at 1 */
    size_t count, room;
    void **buried; /* freed at the end of the round */
    size_t buried_count, buried_room;
    bool ended;
};

#define OWNER(member_p, type, member) ((type *)(void *)((char *)(member_p)-offsetof(type, member)))

int64_t clock_ns(void); /* monotonic */

void loop_init(struct loop *l);
bool loop_watch(struct loop *l, struct watch *w, uint32_t events); /* adds it or changes it */
void loop_pause(struct loop *l, struct watch *w);             /* no events until loop_watch() */
void loop_close(struct loop *l, struct watch *w);             /* closes fd, too */
void loop_at(struct loop *l, struct timer *t, int64_t in_ns); /* sets it or moves it */
void loop_clear(struct loop *l, struct timer *t);
void loop_bury(struct loop *l, void *p); /* free(p) once no event of this round can mean it */
void loop_run(struct loop *l);           /* until l->ended */
void loop_free(struct loop *l);
#endif
