/* base/alloc.h - the only door to the heap; tests can make the n-th request fail. */
#ifndef IMREC_BASE_ALLOC_H
#define IMREC_BASE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

void *imrec_realloc(void *p, size_t count, size_t size); /* NULL on overflow or no memory */
void *imrec_zalloc(size_t count, size_t size);           /* the same, zeroed */
void imrec_free(void *p);

/* For base/pages.c: asks whether this request is to fail, and counts blocks. */
bool imrec_alloc_refused(void);
void imrec_alloc_count(long change);

/* Test hooks. A negative count switches failing off. */
void imrec_alloc_fail_after(long count);
long imrec_alloc_live(void); /* blocks not yet freed */

#endif
