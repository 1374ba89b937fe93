/* tests/support/http_proxy/fifo.h - bytes that are added at the end and leave at the front. */
#ifndef IMREC_TESTS_HTTP_PROXY_FIFO_H
#define IMREC_TESTS_HTTP_PROXY_FIFO_H

#include <stddef.h>

struct fifo {
    char *p;
    size_t begin, end, room;
};

void *must(void *p); /* p; where it is NULL, there is no memory and the program ends */
char *must_copy(const char *text);

char *fifo_room(struct fifo *f, size_t n); /* n bytes to write to, before fifo_added() */
void fifo_added(struct fifo *f, size_t n);
void fifo_add(struct fifo *f, const void *p, size_t n);
__attribute__((format(printf, 2, 3))) void fifo_print(struct fifo *f, const char *fmt, ...);
void fifo_drop(struct fifo *f, size_t n);
void fifo_slim(struct fifo *f); /* gives a large empty buffer back */
void fifo_free(struct fifo *f);

static inline size_t fifo_size(const struct fifo *f)
{
    return f->end - f->begin;
}

static inline char *fifo_front(const struct fifo *f)
{
    return f->p + f->begin;
}
#endif
