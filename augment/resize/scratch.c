/* augment/resize/scratch.c - memory that grows and is used again, and the tables that it keeps. */
#include "augment/resize/scratch.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/math.h"

enum { LINE = 64 };

enum imrec_status resize_scratch_new(struct resize_scratch **out, struct imrec_error *err)
{
    *out = imrec_zalloc(1, sizeof(**out));
    return *out != NULL ? IMREC_OK : scratch_no_memory(err);
}

static void free_all(struct resize_scratch *s)
{
    for (int i = 0; i < SCRATCH_ROOMS; i++)
        imrec_free(s->rooms[i].memory);
    for (int i = 0; i < SCRATCH_TABLES; i++)
        imrec_free(s->tables[i].memory);
}

void resize_scratch_free(struct resize_scratch *s)
{
    if (s != NULL)
        free_all(s);
    imrec_free(s);
}

void resize_scratch_stop_with(struct resize_scratch *s, const struct stop *stop)
{
    s->stop = stop;
}

void resize_scratch_trim(struct resize_scratch *s, size_t most)
{
    if (resize_scratch_memory(s) <= most)
        return;
    free_all(s);
    *s = (struct resize_scratch){.uses = s->uses, .stop = s->stop};
}

size_t resize_scratch_memory(const struct resize_scratch *s)
{
    size_t sum = sizeof(*s);
    for (int i = 0; i < SCRATCH_ROOMS; i++)
        sum += s->rooms[i].capacity;
    for (int i = 0; i < SCRATCH_TABLES; i++)
        sum += s->tables[i].capacity;
    return sum;
}

static void *aligned(void *memory)
{
    return (void *)(uintptr_t)align_up((uintptr_t)memory, LINE);
}

/* Room for that many bytes, aligned and with a line to spare; the contents need not survive. */
static bool grow(void **memory, size_t *capacity, size_t bytes)
{
    if (!sum_fits(bytes, 2 * LINE, &bytes))
        return false;
    if (bytes <= *capacity)
        return true;
    imrec_free(*memory);
    *capacity = 0;
    *memory = imrec_realloc(NULL, bytes, 1);
    if (*memory != NULL)
        *capacity = bytes;
    return *memory != NULL;
}

void *scratch_room(struct resize_scratch *s, enum scratch_room room, size_t count, size_t size)
{
    size_t bytes;
    if (!mul_fits(count, size, &bytes) ||
        !grow(&s->rooms[room].memory, &s->rooms[room].capacity, bytes))
        return NULL;
    return aligned(s->rooms[room].memory);
}

static bool same_key(const struct scratch_key *a, const struct scratch_key *b)
{
    return a->from == b->from && a->to == b->to && a->kind == b->kind && a->begin == b->begin &&
           a->count == b->count && a->part.begin == b->part.begin && a->part.size == b->part.size;
}

void *scratch_table(struct resize_scratch *s, struct scratch_key key, size_t bytes, bool *fresh)
{
    struct scratch_table *oldest = &s->tables[0];
    for (int i = 0; i < SCRATCH_TABLES; i++) {
        struct scratch_table *t = &s->tables[i];
        *fresh = !same_key(&t->key, &key);
        if (!*fresh) {
            t->used = ++s->uses;
            return aligned(t->memory);
        }
        if (t->used < oldest->used)
            oldest = t;
    }
    oldest->key = (struct scratch_key){0}; /* until there is memory */
    oldest->used = 0;
    if (!grow(&oldest->memory, &oldest->capacity, bytes))
        return NULL;
    oldest->key = key;
    oldest->used = ++s->uses;
    return aligned(oldest->memory);
}

enum imrec_status scratch_no_memory(struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "no memory for the tables and rows of a resize");
}
