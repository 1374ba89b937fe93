/* iter/load/arena.c - laying out a window, and ordering the records found in it.
 *
 * Units are sorted by their number, which is their order in the shards, and adjacent ones make
 * one run. All runs follow one another in one block of huge pages that is used again for the next
 * window. The rest of a run's last record goes where there is room: after the run, or in
 * spare blocks, also kept. */
#include "iter/load/arena.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/math.h"
#include "base/pages.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

#define PLACE_ALIGN ((uint64_t)64)
/* Runs of this size or more have room after them, as all of another machine. */
#define ROOMY_BYTES ((uint64_t)4 << 20)
#define READ_MOST   ((uint64_t)16 << 20) /* of an indexed record, before its head is known */
#define BLOCK_BYTES ((size_t)4 << 20)
#define LOCATED     512u               /* records at once: their places are on the stack */
#define KEEP_BYTES  ((size_t)64 << 20) /* larger spare blocks are given back */

static enum imrec_status no_memory(const char *what, uint64_t bytes, struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "no memory for %s of %" PRIu64 " bytes", what, bytes);
}

bool arena_grow(void *at, uint64_t *capacity, uint64_t need, size_t size, _Atomic uint64_t *memory)
{
    void *p;
    memcpy(&p, at, sizeof(p)); /* whatever the type it points to */
    if (need <= *capacity && p != NULL)
        return true;
    const uint64_t more = *capacity + *capacity / 2, cap = (need > more ? need : more) + 16;
    p = imrec_realloc(p, (size_t)cap, size);
    if (p == NULL)
        return false;
    memcpy(at, &p, sizeof(p));
    atomic_fetch_add(memory, (cap - *capacity) * size);
    *capacity = cap;
    return true;
}

/* ---- sorting: a heap, in place, whatever the size ----------------------------------------- */

static void sift(struct ordered *a, uint64_t i, uint64_t n)
{
    const struct ordered v = a[i];
    for (uint64_t child; (child = 2 * i + 1) < n; i = child) {
        child += child + 1 < n && a[child].unit < a[child + 1].unit;
        if (a[child].unit <= v.unit)
            break;
        a[i] = a[child];
    }
    a[i] = v;
}

static void sort_units(struct ordered *a, uint64_t n)
{
    bool ascending = true;
    for (uint64_t i = 1; i < n; i++)
        ascending = ascending && a[i - 1].unit <= a[i].unit;
    if (ascending)
        return;
    for (uint64_t i = n / 2; i-- > 0;)
        sift(a, i, n);
    for (uint64_t last = n - 1; last > 0; last--) {
        const struct ordered top = a[0];
        a[0] = a[last];
        a[last] = top;
        sift(a, 0, last);
    }
}

/* ---- opening ------------------------------------------------------------------------------ */

/* Frees what the window before has noted, lets go of what it has fetched, and gives large spare
 * blocks back. */
static void reset(struct arena *a, _Atomic uint64_t *memory)
{
    for (uint64_t i = 0; i < a->run_count; i++) {
        unreadable_free(&a->runs[i].holes);
        if (a->runs[i].holder != NULL)
            a->runs[i].holder->kind->let_go(a->runs[i].holder, a->runs[i].hold);
        atomic_fetch_sub(memory, a->runs[i].held_bytes);
        for (struct damage_note *n = a->runs[i].notes, *next; n != NULL; n = next) {
            next = n->next;
            imrec_free(n);
        }
    }
    a->run_count = 0;
    uint64_t kept = 0;
    for (uint64_t i = 0; i < a->block_count; i++) {
        struct block b = a->blocks[i];
        b.used = 0;
        if (b.bytes <= KEEP_BYTES) {
            a->blocks[kept++] = b;
            continue;
        }
        pages_free(b.p, b.bytes);
        atomic_fetch_sub(memory, b.bytes);
    }
    a->block_count = kept;
    a->pool_count = a->lost_count = 0;
    a->next_run = a->next_byte = a->advised = a->ahead_bytes = 0;
    a->next_rest = false;
}

/* The window's records begin with their places. */
static enum imrec_status locate_units(struct arena *a, const struct container *c,
                                      _Atomic uint64_t *memory, struct imrec_error *err)
{
    struct record_place p[LOCATED];
    if (!ARENA_GROW(a->ends, a->end_capacity, a->units, memory))
        return no_memory("a window's places", a->units * sizeof(*a->ends), err);
    for (uint64_t first = 0, n; first < a->units; first += n) {
        n = min_u64(a->units - first, LOCATED);
        for (uint64_t i = 0; i < n; i++)
            p[i].number = a->order[first + i].unit;
        IMREC_TRY(container_locate(c, p, (size_t)n, err));
        for (uint64_t i = 0; i < n; i++) {
            a->ends[first + i] = p[i].end;
            a->window.records[a->order[first + i].place] = (struct record_ref){
                .offset = p[i].begin, .key = p[i].key, .unit = p[i].number, .shard = p[i].shard};
        }
    }
    return IMREC_OK;
}

static enum imrec_status list_units(struct arena *a, const struct loader_options *o,
                                    _Atomic uint64_t *memory, struct imrec_error *err)
{
    uint64_t first;
    const bool cells = !container_is_listed(o->container);
    o->extent(o->context, &a->window, &first, &a->units);
    if (!ARENA_GROW(a->order, a->order_capacity, a->units, memory))
        return no_memory("a window's units", a->units * sizeof(*a->order), err);
    if (!(cells ? ARENA_GROW(a->slots, a->slot_capacity, a->units, memory)
                : ARENA_GROW(a->window.records, a->record_capacity, a->units, memory)))
        return no_memory("a window's records", a->units * sizeof(*a->window.records), err);
    for (uint64_t i = 0; i < a->units; i++)
        a->order[i] = (struct ordered){o->unit_at(o->context, &a->window, first + i), i};
    sort_units(a->order, a->units);
    return cells ? IMREC_OK : locate_units(a, o->container, memory, err);
}

/* Appends a record that is fetched to the last call, or begins another one with it. A run of these
 * is a call, of one byte: it is one piece, and has no place in memory. */
static enum imrec_status place_call(struct arena *a, const struct container *s, uint64_t i,
                                    _Atomic uint64_t *memory, struct imrec_error *err)
{
    struct run *last = a->run_count != 0 ? &a->runs[a->run_count - 1] : NULL;
    if (last != NULL && last->count < s->at_once) {
        last->count++;
        return IMREC_OK;
    }
    if (!ARENA_GROW(a->runs, a->run_capacity, a->run_count + 1, memory))
        return no_memory("a window's table", (a->run_count + 1) * sizeof(*a->runs), err);
    a->runs[a->run_count++] = (struct run){.end = 1, .first = i, .count = 1};
    return IMREC_OK;
}

/* Where there is more of a record, and it is wanted; none: begin and end are 0. */
static struct unit_range rest_of(const struct container *s, bool cells, uint64_t unit)
{
    const bool none = cells || !s->options.rest || s->kind->rest == NULL;
    return none ? (struct unit_range){0, 0, 0} : s->kind->rest(s, unit);
}

/* Appends a unit to the last run or begins another one with it. */
static enum imrec_status place_unit(struct arena *a, const struct container *s, uint64_t i,
                                    bool *open, _Atomic uint64_t *memory, struct imrec_error *err)
{
    const bool cells = !container_is_listed(s);
    struct unit_range u;
    if (container_is_fetched(s))
        return place_call(a, s, i, memory, err);
    if (cells) {
        u = container_unit(s, a->order[i].unit);
    } else {
        const struct record_place at = arena_place(a, i);
        u = (struct unit_range){at.shard, at.begin, at.end};
    }
    const struct unit_range b = rest_of(s, cells, a->order[i].unit);
    const bool whole = cells || u.end - u.begin <= READ_MOST;
    if (!whole) /* the index knows no more records for long: read a first part */
        u.end = u.begin + READ_MOST;
    struct run *last = a->run_count != 0 ? &a->runs[a->run_count - 1] : NULL;
    if (*open && !s->kind->apart && last->shard == u.shard && last->end == u.begin &&
        last->rest_end == b.begin) {
        last->end = u.end;
        last->rest_end = b.end;
        last->count++;
        *open = whole;
        return IMREC_OK;
    }
    if (!ARENA_GROW(a->runs, a->run_capacity, a->run_count + 1, memory))
        return no_memory("a window's table", (a->run_count + 1) * sizeof(*a->runs), err);
    a->runs[a->run_count++] = (struct run){.shard = u.shard,
                                           .begin = u.begin,
                                           .end = u.end,
                                           .rest_begin = b.begin,
                                           .rest_end = b.end,
                                           .first = i,
                                           .count = 1};
    *open = whole;
    return IMREC_OK;
}

static uint64_t place_runs(struct arena *a, const struct container *s, uint64_t room)
{
    uint64_t place = 0;
    for (uint64_t i = 0; i < a->run_count; i++) {
        struct run *r = &a->runs[i];
        const uint64_t bytes = r->end - r->begin, rest = r->rest_end - r->rest_begin;
        r->notes_end = &r->notes; /* the table does not move any more */
        if (container_is_fetched(s))
            continue;
        /* A request costs more than bytes. */
        const bool far = s->shards[r->shard].source->at_once != 0;
        if (!container_is_listed(s) && (bytes >= ROOMY_BYTES || far))
            r->room = min_u64(room, s->shards[r->shard].size - r->end);
        r->place = (size_t)place;
        r->pieces_left = (uint32_t)(ceil_div(bytes, PIECE_BYTES) + ceil_div(rest, PIECE_BYTES));
        place += align_up(bytes + r->room, PLACE_ALIGN);
        r->rest_place = (size_t)place;
        place += align_up(rest, PLACE_ALIGN);
    }
    return place;
}

static enum imrec_status have_memory(struct arena *a, uint64_t need, uint64_t nominal,
                                     _Atomic uint64_t *memory, struct imrec_error *err)
{
    if (need <= a->bytes)
        return IMREC_OK;
    const uint64_t usual = nominal + nominal / 32; /* places are rounded up, large runs have room */
    const uint64_t bytes = need > usual ? need : usual;
    atomic_fetch_sub(memory, a->bytes);
    pages_free(a->memory, a->bytes);
    a->memory = pages_alloc((size_t)bytes);
    a->bytes = a->memory != NULL ? (size_t)bytes : 0;
    atomic_fetch_add(memory, a->bytes);
    return a->memory != NULL ? IMREC_OK : no_memory("a window", bytes, err);
}

enum imrec_status arena_open(struct arena *a, const struct loader_options *o, uint64_t sweep,
                             uint64_t number, uint64_t room, _Atomic uint64_t *memory,
                             struct imrec_error *err)
{
    bool open = false;
    reset(a, memory);
    a->window.sweep = sweep;
    a->window.number = number;
    a->window.count = a->window.damage_count = 0;
    IMREC_TRY(list_units(a, o, memory, err));
    for (uint64_t i = 0; i < a->units; i++)
        IMREC_TRY(place_unit(a, o->container, i, &open, memory, err));
    const uint64_t need = place_runs(a, o->container, room);
    if (!container_is_fetched(o->container)) /* others have the bytes of these */
        IMREC_TRY(have_memory(a, need, o->arena_bytes, memory, err));
    a->runs_left = a->run_count;
    return IMREC_OK;
}

/* ---- filling ------------------------------------------------------------------------------ */

uint8_t *arena_extra(struct arena *a, size_t bytes, _Atomic uint64_t *memory)
{
    const size_t want = align_up(bytes, PLACE_ALIGN);
    for (uint64_t i = a->block_count; i-- > 0;) { /* mostly the last one has room */
        struct block *b = &a->blocks[i];
        if (b->bytes - b->used >= want) {
            b->used += want;
            return b->p + (b->used - want);
        }
    }
    if (!ARENA_GROW(a->blocks, a->block_capacity, a->block_count + 1, memory))
        return NULL;
    struct block b = {.bytes = want > BLOCK_BYTES ? want : BLOCK_BYTES, .used = want};
    b.p = pages_alloc(b.bytes);
    if (b.p == NULL)
        return NULL;
    atomic_fetch_add(memory, b.bytes);
    a->blocks[a->block_count++] = b;
    return b.p;
}

enum imrec_status run_note(struct run *r, enum damage_kind kind, uint64_t begin, uint64_t end,
                           const struct imrec_error *why, struct imrec_error *err)
{
    struct damage_note *n = imrec_zalloc(1, sizeof(*n));
    if (n == NULL)
        return no_memory("a note of damage", sizeof(*n), err);
    n->damage = (struct damage){.kind = kind, .shard = r->shard, .begin = begin, .end = end};
    if (why != NULL)
        n->damage.why = *why;
    *r->notes_end = n;
    r->notes_end = &n->next;
    return IMREC_OK;
}

/* ---- finishing ---------------------------------------------------------------------------- */

/* Appends the notes of lost records, or the others. Runs are in file order, and so are the notes of
 * each. */
static enum imrec_status take_notes(struct arena *a, bool lost, uint64_t *n,
                                    _Atomic uint64_t *memory, struct imrec_error *err)
{
    for (uint64_t i = 0; i < a->run_count; i++)
        for (const struct damage_note *at = a->runs[i].notes; at != NULL; at = at->next) {
            if ((at->damage.kind == DAMAGE_RECORD) != lost)
                continue;
            if (!ARENA_GROW(a->damages, a->damage_capacity, *n + 1, memory))
                return no_memory("a list of damage", (*n + 1) * sizeof(*a->damages), err);
            a->damages[(*n)++] = at->damage;
        }
    return IMREC_OK;
}

static enum imrec_status
gather_notes(struct arena *a, _Atomic uint64_t *memory, struct imrec_error *err)
{
    uint64_t n = 0;
    IMREC_TRY(take_notes(a, true, &n, memory, err));
    a->lost_count = n;
    IMREC_TRY(take_notes(a, false, &n, memory, err));
    a->window.damages = n != 0 ? a->damages + a->lost_count : NULL;
    a->window.damage_count = n - a->lost_count;
    return IMREC_OK;
}

/* Copies the pool, place by place. */
static enum imrec_status
gather_records(struct arena *a, _Atomic uint64_t *memory, struct imrec_error *err)
{
    if (!ARENA_GROW(a->window.records, a->record_capacity, a->pool_count, memory))
        return no_memory("a window's records", a->pool_count * sizeof(*a->window.records), err);
    struct record_ref *records = a->window.records;
    uint64_t n = 0;
    for (uint64_t i = 0; i < a->units; i++) {
        const struct unit_records at = a->slots[i];
        if (at.count != 0)
            memcpy(records + n, a->pool + at.first, (size_t)at.count * sizeof(*records));
        n += at.count;
    }
    a->window.count = n;
    return IMREC_OK;
}

enum imrec_status arena_finish(struct arena *a, const struct loader_options *o,
                               _Atomic uint64_t *memory, struct imrec_error *err)
{
    const bool cells = !container_is_listed(o->container);
    IMREC_TRY(gather_notes(a, memory, err));
    if (cells)
        IMREC_TRY(gather_records(a, memory, err));
    else
        a->window.count = a->units;
    if (o->order != NULL)
        o->order(o->context, &a->window);
    return IMREC_OK;
}

void arena_free(struct arena *a)
{
    _Atomic uint64_t ignored = 0;
    reset(a, &ignored);
    for (uint64_t i = 0; i < a->block_count; i++)
        pages_free(a->blocks[i].p, a->blocks[i].bytes);
    pages_free(a->memory, a->bytes);
    IMREC_FREE(a->blocks, a->pool, a->slots, a->damages, a->window.records, a->runs, a->order,
               a->ends);
}
