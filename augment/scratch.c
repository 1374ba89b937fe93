#include "augment/scratch.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"

enum { LINE = 64 };

enum imrec_status resize_scratch_new(struct resize_scratch **out, struct imrec_error *err)
{
    *out = imrec_zalloc(1, sizeof(**out));
    return *out != NULL ? IMREC_OK : scratch_no_memory(err);
}

void resize_scratch_free(struct resize_scratch *s)
{
    if (s == NULL)
        return;
    for (int i = 0; i < SCRATCH_ROOMS; i++)
        imrec_free(s->rooms[i].memory);
    imrec_free(s);
}

size_t resize_scratch_memory(const struct resize_scratch *s)
{
    size_t sum = sizeof(*s);
    for (int i = 0; i < SCRATCH_ROOMS; i++)
        sum += s->rooms[i].capacity;
    return sum;
}

void *scratch_room(struct resize_scratch *s, enum scratch_room room, size_t count, size_t size)
{
    size_t bytes;
    if (!mul_fits(count, size, &bytes) || !sum_fits(bytes, 2 * LINE, &bytes))
        return NULL;
    if (bytes > s->rooms[room].capacity) {
        imrec_free(s->rooms[room].memory); /* contents need not survive: no copy */
        s->rooms[room].capacity = 0;
        s->rooms[room].memory = imrec_realloc(NULL, bytes, 1);
        if (s->rooms[room].memory == NULL)
            return NULL;
        s->rooms[room].capacity = bytes;
    }
    const uintptr_t p = (uintptr_t)s->rooms[room].memory;
    return (void *)((p + LINE - 1) / LINE * LINE);
}

enum imrec_status scratch_no_memory(struct imrec_error *err)
{
    return imrec_error_at(err, IMREC_ERR_NO_MEMORY, IMREC_NO_OFFSET,
                          "no memory for the tables and rows of a resize");
}
