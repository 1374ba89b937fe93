/* iter/batch_memory.c - where blocks of batches come from: the system, or the caller. */
#include "iter/batch_memory.h"

#include "base/error.h"
#include "base/pages.h"

#include <stddef.h>
#include <string.h>

enum imrec_status
batch_memory_copy(struct imrec_memory *to, const struct imrec_memory *from, struct imrec_error *err)
{
    *to = (struct imrec_memory){0};
    if (from == NULL)
        return IMREC_OK;
    if (from->struct_size <= offsetof(struct imrec_memory, free) || from->struct_size > 1 << 16)
        return IMREC_REFUSE(err, "struct_size of struct imrec_memory must be its size");
    memcpy(to, from, from->struct_size < sizeof(*to) ? from->struct_size : sizeof(*to));
    if (to->alloc == NULL || to->free == NULL)
        return IMREC_REFUSE(err, "imrec_memory has no %s: it must have both functions",
                            to->alloc == NULL ? "alloc" : "free");
    return IMREC_OK;
}

static void
give_block(const struct imrec_memory *m, void *p, size_t bytes, enum imrec_memory_use use)
{
    if (p == NULL)
        return;
    if (m->alloc == NULL)
        pages_free(p, bytes);
    else
        m->free(m->user, p, bytes, use);
}

static enum imrec_status take_block(const struct imrec_memory *m, size_t bytes,
                                    enum imrec_memory_use use, void **out, struct imrec_error *err)
{
    static const char *const words[] = {"images", "masks"};
    *out = m->alloc == NULL ? pages_alloc(bytes) : m->alloc(m->user, bytes, use);
    if (*out == NULL)
        return IMREC_NO_MEMORY(err, "no memory for a batch: %s refused %zu bytes for its %s",
                               m->alloc == NULL ? "the system" : "the caller's allocator", bytes,
                               words[use]);
    if ((uintptr_t)*out % IMREC_MEMORY_ALIGN == 0)
        return IMREC_OK;
    const uintptr_t beyond = (uintptr_t)*out % IMREC_MEMORY_ALIGN;
    give_block(m, *out, bytes, use);
    *out = NULL;
    return IMREC_REFUSE(err,
                        "the caller's allocator gave a block for %s that begins %zu bytes beyond a "
                        "multiple of %d: it must begin at one",
                        words[use], (size_t)beyond, IMREC_MEMORY_ALIGN);
}

enum imrec_status batch_memory_take(const struct imrec_memory *m, struct batch_sizes sizes,
                                    struct batch_blocks *out, struct imrec_error *err)
{
    *out = (struct batch_blocks){0};
    enum imrec_status st = take_block(m, sizes.data, IMREC_MEMORY_DATA, &out->data, err);
    if (st == IMREC_OK && sizes.masks != 0)
        st = take_block(m, sizes.masks, IMREC_MEMORY_MASKS, &out->masks, err);
    if (st == IMREC_OK)
        return IMREC_OK;
    batch_memory_give(m, sizes, *out);
    *out = (struct batch_blocks){0};
    return st;
}

void batch_memory_give(const struct imrec_memory *m, struct batch_sizes sizes,
                       struct batch_blocks blocks)
{
    give_block(m, blocks.data, sizes.data, IMREC_MEMORY_DATA);
    give_block(m, blocks.masks, sizes.masks, IMREC_MEMORY_MASKS);
}
