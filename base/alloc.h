/* base/alloc.h - the only door to the heap; tests can make the n-th request fail. */
#ifndef IMREC_BASE_ALLOC_H
#define IMREC_BASE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void *imrec_realloc(void *p, size_t count, size_t size); /* NULL on overflow or no memory */
void *imrec_zalloc(size_t count, size_t size);           /* the same, zeroed */
/* The first n bytes of `head` and all of `tail` as one text; NULL: no memory. */
char *imrec_joined(const char *head, size_t n, const char *tail);
/* Room for `need` elements of `size` bytes in the memory that *array, a pointer, points to, of
 * which there is room for *room: twice as many as before, at least. false: no memory, nothing
 * changed. */
bool imrec_grow(void *array, uint64_t *room, uint64_t need, size_t size);
#define IMREC_GROW(array, room, need) /* mostly there is room: no call then */                     \
    ((need) <= (room) || imrec_grow(&(array), &(room), (need), sizeof(*(array))))
void imrec_free(void *p);
void imrec_free_all(void *const *p, size_t n);
/* Of several pointers; all are read before the first is freed. */
#define IMREC_FREE(...)                                                                            \
    imrec_free_all((void *const[]){__VA_ARGS__},                                                   \
                   sizeof((void *const[]){__VA_ARGS__}) / sizeof(void *))
/* Gives memory that is free back to the system, as far as the C library can: it keeps what it may
 * need again, of each thread. Takes about a millisecond. */
void imrec_alloc_trim(void);

/* For base/pages.c: asks whether this request is to fail, and counts blocks. */
bool imrec_alloc_refused(void);
void imrec_alloc_count(long change);

/* Test hooks. A negative count switches failing off. */
void imrec_alloc_fail_after(long count);
bool imrec_alloc_has_failed(void);        /* the request that was to */
void imrec_alloc_fail_above(size_t most); /* every larger request fails; 0: none */
long imrec_alloc_live(void);              /* blocks not yet freed */

#endif
