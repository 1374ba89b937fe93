/* base/alloc.c - the only door to the heap. */
#include "base/alloc.h"

#if defined(__GLIBC__) || defined(__linux__)
#include <malloc.h>
#endif
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static atomic_long g_countdown = -1;
static atomic_long g_live = 0;
static atomic_size_t g_most = 0;

bool imrec_alloc_refused(void)
{
    return atomic_load(&g_countdown) >= 0 && atomic_fetch_sub(&g_countdown, 1) == 0;
}

void imrec_alloc_count(long change)
{
    atomic_fetch_add(&g_live, change);
}

void *imrec_realloc(void *p, size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total) || total == 0 || imrec_alloc_refused())
        return NULL;
    const size_t most = atomic_load(&g_most);
    if (most != 0 && total > most)
        return NULL;
    void *q = realloc(p, total);
    if (q != NULL && p == NULL)
        atomic_fetch_add(&g_live, 1);
    return q;
}

void *imrec_zalloc(size_t count, size_t size)
{
    void *p = imrec_realloc(NULL, count, size);
    return p != NULL ? memset(p, 0, count * size) : NULL;
}

bool imrec_grow(void *array, uint64_t *room, uint64_t need, size_t size)
{
    void *p;
    if (need <= *room)
        return true;
    const uint64_t twice = *room < 16              ? 16
                           : *room <= SIZE_MAX / 2 ? 2 * *room
                                                   : *room,
                   more = need > twice ? need : twice;
    memcpy(&p, array, sizeof(p)); /* whatever the type it points to */
    p = more <= SIZE_MAX ? imrec_realloc(p, (size_t)more, size) : NULL;
    if (p == NULL)
        return false;
    memcpy(array, &p, sizeof(p));
    *room = more;
    return true;
}

void imrec_free(void *p)
{
    if (p != NULL)
        atomic_fetch_sub(&g_live, 1);
    free(p);
}

char *imrec_joined(const char *head, size_t n, const char *tail)
{
    const size_t more = strlen(tail) + 1;
    char *text = imrec_realloc(NULL, n + more, 1);
    if (text != NULL) {
        memcpy(text, head, n);
        memcpy(text + n, tail, more);
    }
    return text;
}

void imrec_free_all(void *const *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        imrec_free(p[i]);
}

void imrec_alloc_trim(void)
{
#if defined(__GLIBC__)
    /* Where another allocator has taken malloc()'s place (a sanitizer's, jemalloc's), the first
     * call here is what sets glibc's heap up, and of two threads at once one would see it half
     * done. */
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    (void)malloc_trim(0);
    pthread_mutex_unlock(&lock);
#endif
}

void imrec_alloc_fail_after(long count)
{
    atomic_store(&g_countdown, count);
}

bool imrec_alloc_has_failed(void)
{
    return atomic_load(&g_countdown) < 0;
}

void imrec_alloc_fail_above(size_t most)
{
    atomic_store(&g_most, most);
}

long imrec_alloc_live(void)
{
    return atomic_load(&g_live);
}
