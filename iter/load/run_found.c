/* iter/load/run_found.c - what is found in a run: records, handed in to their window, and damage.
 */
#include "iter/load/loader_state.h"

#include "base/error.h"
#include "base/math.h"

#define MOST_NOTES 64u /* of a cell; what comes then makes the last one longer */

uint8_t *run_extra(struct loader *l, struct arena *a, uint64_t bytes)
{
    mutex_lock(&l->lock);
    uint8_t *p = arena_extra(a, (size_t)bytes, &l->memory);
    mutex_unlock(&l->lock);
    return p;
}

enum imrec_status run_read_more(struct loader *l, struct run *r, uint64_t offset, uint8_t *to,
                                uint64_t n, struct imrec_error *err)
{
    atomic_fetch_add(&l->bytes_read, n);
    return unreadable_read(l->o.container->shards[r->shard].source, offset, to, (size_t)n,
                           &r->holes, err);
}

enum imrec_status
run_damaged(struct run *r, const struct walk_item *item, uint32_t *notes, struct imrec_error *err)
{
    if (++*notes <= MOST_NOTES)
        return run_note(r, DAMAGE_BYTES, item->begin, item->end, &item->why, err);
    struct damage_note *last = r->notes;
    while (last->next != NULL)
        last = last->next;
    last->damage.end = item->end;
    return IMREC_OK;
}

/* Returns the bytes of the largest record. */
static uint64_t join_all(struct reading *t)
{
    uint64_t largest = 0;
    for (uint64_t i = 0; i < t->found_count; i++) {
        struct finding *f = &t->found[i];
        if (f->p != NULL)
            f->bytes = recordio_join(f->p, &f->span);
        largest = max_u64(largest, f->bytes.n);
    }
    return largest;
}

/* Says at every place of the run where in the pool its records are. */
static void
fill_slots(const struct reading *t, struct arena *a, const struct run *r, uint64_t first)
{
    for (uint64_t u = 0; u < r->count; u++)
        a->slots[a->order[r->first + u].place] = (struct unit_records){first, 0};
    for (uint64_t i = 0; i < t->found_count; i++) {
        const struct finding *f = &t->found[i];
        struct unit_records *s = &a->slots[a->order[r->first + f->unit].place];
        if (s->count++ == 0)
            s->first = first + i;
        a->pool[first + i] = (struct record_ref){.bytes = f->bytes,
                                                 .offset = f->offset,
                                                 .key = f->id,
                                                 .unit = f->id,
                                                 .shard = r->shard,
                                                 .lost = f->lost};
    }
}

enum imrec_status
run_hand_in(struct reading *t, struct arena *a, const struct run *r, struct imrec_error *err)
{
    struct loader *l = t->loader;
    const uint64_t largest = join_all(t);
    mutex_lock(&l->lock);
    const uint64_t first = a->pool_count;
    const bool room = ARENA_GROW(a->pool, a->pool_capacity, first + t->found_count, &l->memory);
    if (room) {
        a->pool_count += t->found_count;
        fill_slots(t, a, r, first);
    }
    l->largest_record = largest > l->largest_record ? largest : l->largest_record;
    mutex_unlock(&l->lock);
    return room ? IMREC_OK : IMREC_NO_MEMORY(err, "no memory for the records of a window");
}
