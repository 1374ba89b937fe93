/* base/pages.c - large blocks straight from the system. */
#include "base/pages.h"

#include "base/alloc.h"
#include "base/math.h"

#include <stdint.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)

static size_t rounded(size_t bytes)
{
    return align_up(bytes, HUGE_PAGE);
}

void *pages_alloc(size_t bytes)
{
    if (bytes == 0 || bytes > SIZE_MAX - 2 * HUGE_PAGE || imrec_alloc_refused())
        return NULL;
    /* A mapping begins anywhere; a huge page needs its alignment: map more, cut the ends off. */
    const size_t want = rounded(bytes), total = want + HUGE_PAGE;
    uint8_t *map = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED)
        return NULL;
    const size_t before = (HUGE_PAGE - (uintptr_t)map % HUGE_PAGE) % HUGE_PAGE;
    if (before != 0)
        (void)munmap(map, before);
    if (HUGE_PAGE - before != 0)
        (void)munmap(map + before + want, HUGE_PAGE - before);
#if defined(MADV_HUGEPAGE)
    if (bytes >= HUGE_PAGE)
        (void)madvise(map + before, want, MADV_HUGEPAGE); /* without them it is only slower */
#endif
    imrec_alloc_count(1);
    return map + before;
}

void pages_free(void *p, size_t bytes)
{
    if (p == NULL)
        return;
    (void)munmap(p, rounded(bytes));
    imrec_alloc_count(-1);
}
