/* iter/load/advice.c - telling the source what will be read, where that helps. */
#include "iter/load/advice.h"

#include "base/math.h"

#define AHEAD_BYTES   ((uint64_t)32 << 20) /* announced to the source before they are read */
#define MEMORY_RATE   2u                   /* bytes a ns: no disk is as fast */
#define PATIENCE      64u
#define PATIENCE_MOST 4096u

static uint64_t run_bytes(const struct run *r)
{
    return r->end - r->begin;
}

static bool wanted(struct advice *v)
{
    if (!v->quiet && v->left == 0) /* the first time */
        v->left = v->patience = PATIENCE;
    if (!v->quiet && --v->left == 0)
        v->quiet = true;
    return !v->quiet;
}

void advice_choose(struct advice *v, struct arena *a, struct piece *p)
{
    p->advised = wanted(v);
    p->advise_from = p->advise_to = a->advised;
    if (a->advised > a->next_run)
        a->ahead_bytes -= a->next_byte == 0 ? run_bytes(&a->runs[a->next_run]) : 0;
    else /* itself first, or it would wait for those after it */
        p->advise_from = p->advise_to = a->advised = a->next_run + (p->advised ? 0 : 1);
    if (!p->advised)
        return;
    if (a->advised == a->next_run) {
        a->ahead_bytes = 0;
        a->advised++;
    }
    while (a->advised < a->run_count && a->ahead_bytes < AHEAD_BYTES)
        a->ahead_bytes += run_bytes(&a->runs[a->advised++]);
    p->advise_to = a->advised;
}

void advice_give(const struct container *s, const struct piece *p)
{
    for (uint64_t i = p->advise_from; i < p->advise_to; i++) {
        const struct run *r = &p->arena->runs[i];
        source_will_need(s->shards[r->shard].source, r->begin,
                         run_bytes(r) <= AHEAD_BYTES ? run_bytes(r) + r->room : AHEAD_BYTES);
        if (r->rest_end != 0)
            source_will_need(s->shards[r->shard].source, r->rest_begin,
                             min_u64(r->rest_end - r->rest_begin, AHEAD_BYTES));
    }
    const uint64_t told = p->offset + AHEAD_BYTES; /* of a long run, with the piece before */
    if (p->advised && told < p->run->end) {
        const uint64_t left = p->run->end - told;
        source_will_need(s->shards[p->run->shard].source, told,
                         left <= PIECE_BYTES ? left + p->run->room : PIECE_BYTES);
    }
}

void advice_learn(struct advice *v, const struct piece *p, uint64_t ns)
{
    if (p->advised || p->rest || p->bytes / MEMORY_RATE > ns)
        return;
    v->quiet = false;
    v->patience = (uint32_t)min_u64(v->patience * 2u, PATIENCE_MOST);
    v->left = v->patience;
}
