/* tests/support/http_proxy/fifo.c - a growing buffer, and memory that is there or ends the program.
 */
#include "tests/support/http_proxy/fifo.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT = 16 << 10 }; /* a larger buffer is given back when it is empty */

void *must(void *p)
{
    if (p == NULL) {
        fprintf(stderr, "http_proxy: out of memory\n");
        exit(EXIT_FAILURE);
    }
    return p;
}

char *must_copy(const char *text)
{
    return must(strdup(text));
}

char *fifo_room(struct fifo *f, size_t n)
{
    if (f->room - f->end < n && f->begin != 0) {
        memmove(f->p, f->p + f->begin, fifo_size(f));
        f->end -= f->begin;
        f->begin = 0;
    }
    if (f->room - f->end < n) {
        const size_t doubled = 2 * f->room;
        f->room = f->end + n > doubled ? f->end + n : doubled;
        f->p = must(realloc(f->p, f->room));
    }
    return f->p + f->end;
}

void fifo_added(struct fifo *f, size_t n)
{
    f->end += n;
}

void fifo_add(struct fifo *f, const void *p, size_t n)
{
    if (n != 0)
        memcpy(fifo_room(f, n), p, n);
    f->end += n;
}

void fifo_print(struct fifo *f, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    const int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    va_start(args, fmt);
    vsnprintf(fifo_room(f, (size_t)n + 1), (size_t)n + 1, fmt, args);
    va_end(args);
    f->end += (size_t)n;
}

void fifo_drop(struct fifo *f, size_t n)
{
    f->begin += n;
    if (f->begin == f->end)
        f->begin = f->end = 0;
}

void fifo_slim(struct fifo *f)
{
    if (f->room > KEPT && fifo_size(f) == 0)
        fifo_free(f);
}

void fifo_free(struct fifo *f)
{
    free(f->p);
    *f = (struct fifo){0};
}
