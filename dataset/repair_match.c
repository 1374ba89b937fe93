/* dataset/repair_match.c - finds the intact records of a shard by its checksums. */
#include "dataset/repair_match.h"

#include "base/alloc.h"
#include "base/error.h"

#include <inttypes.h>
#include <stdlib.h>

#define NOBODY UINT64_MAX

struct match_key {
    uint64_t key;    /* length << 32 | checksum; from match_end() on the length alone */
    uint64_t number; /* of the checksum */
    uint64_t passed; /* at the first of equal keys: how many of them are used for sure */
};

struct match_misfit {
    uint64_t offset, key;
    uint64_t before; /* 1 + the last checksum found before it at its own place; 0: none */
    uint64_t after;  /* 1 + the one found right after it; 0: none before the next misfit */
    uint64_t number; /* of its own checksum, or NOBODY */
    uint64_t meant;  /* the checksum of the record it was, or NOBODY */
};

static enum imrec_status no_memory(uint64_t n, struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "no memory to match %" PRIu64 " records with their checksums", n);
}

static uint64_t key_of(uint32_t framed_bytes, uint32_t crc)
{
    return (uint64_t)framed_bytes << 32 | crc;
}

static int by_key(const void *a, const void *b)
{
    const struct match_key *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* The first key that is not below (key, number). */
static uint64_t find(const struct repair_match *m, uint64_t key, uint64_t number)
{
    const struct match_key wanted = {.key = key, .number = number};
    uint64_t lo = 0, hi = m->keys_count;
    while (lo < hi) {
        const uint64_t mid = lo + (hi - lo) / 2;
        if (by_key(&m->keys[mid], &wanted) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* ---- looking ------------------------------------------------------------------------------ */

enum imrec_status match_begin(const struct checksums *sums, bool unsure, struct repair_match *out,
                              struct imrec_error *err)
{
    *out = (struct repair_match){.unsure = unsure};
    enum imrec_status st = checksum_table_make(sums, &out->table, err);
    const uint64_t n = sums->records;
    if (st == IMREC_OK) {
        out->used = imrec_zalloc((size_t)n + 1, 1);
        if (out->used == NULL)
            st = no_memory(n, err);
    }
    if (st != IMREC_OK)
        match_free(out);
    return st;
}

static enum imrec_status
add_misfit(struct repair_match *m, uint64_t offset, uint64_t key, struct imrec_error *err)
{
    if (!IMREC_GROW(m->misfits, m->misfit_room, m->misfit_count + 1))
        return no_memory(m->misfit_count + 1, err);
    m->misfits[m->misfit_count++] = (struct match_misfit){
        .offset = offset, .key = key, .before = m->last, .number = NOBODY, .meant = NOBODY};
    return IMREC_OK;
}

static bool
is_in_place(const struct repair_match *m, uint64_t offset, uint64_t key, struct checksum *sum)
{
    return checksum_table_at(&m->table, offset, sum) && sum->offset == offset &&
           key_of(sum->framed_bytes, sum->crc) == key;
}

enum imrec_status match_look(struct repair_match *m, uint64_t offset, uint32_t framed_bytes,
                             uint32_t crc, struct imrec_error *err)
{
    struct checksum sum;
    const uint64_t key = key_of(framed_bytes, crc);
    if (!is_in_place(m, offset, key, &sum))
        return add_misfit(m, offset, key, err);
    m->used[sum.record] = 1;
    m->last = sum.record + 1;
    if (m->misfit_count != 0 && m->misfits[m->misfit_count - 1].after == 0)
        m->misfits[m->misfit_count - 1].after = m->last;
    return IMREC_OK;
}

/* ---- matching ----------------------------------------------------------------------------- */

static enum imrec_status sort_keys(struct repair_match *m, struct imrec_error *err)
{
    struct checksum sum;
    struct checksums c = m->table.file;
    m->keys = imrec_realloc(NULL, (size_t)c.records + 1, sizeof(*m->keys));
    if (m->keys == NULL)
        return no_memory(c.records, err);
    while (checksums_next(&c, &sum))
        m->keys[m->keys_count++] =
            (struct match_key){.key = key_of(sum.framed_bytes, sum.crc), .number = sum.record};
    qsort(m->keys, (size_t)m->keys_count, sizeof(*m->keys), by_key);
    return IMREC_OK;
}

/* The first checksum of the key that no record has yet, or NOBODY. */
static uint64_t take_key(struct repair_match *m, uint64_t key)
{
    const uint64_t first = find(m, key, 0);
    uint64_t i = first < m->keys_count ? first + m->keys[first].passed : first;
    for (; i < m->keys_count && m->keys[i].key == key; i++, m->keys[first].passed++)
        if (!m->used[m->keys[i].number]) {
            m->used[m->keys[i].number] = 1;
            return m->keys[i].number;
        }
    return NOBODY;
}

/* The checksum of the key whose place is as far from `offset` as that of the record before it, if
 * no record has it: of equal records the one that moved along. */
static uint64_t take_moved(struct repair_match *m, uint64_t offset, uint64_t moved, uint64_t key)
{
    struct checksum sum;
    if (!is_in_place(m, offset - moved, key, &sum) || m->used[sum.record])
        return NOBODY;
    m->used[sum.record] = 1;
    return sum.record;
}

static void take_all(struct repair_match *m)
{
    uint64_t moved = 0, met = 0; /* moved: how far, also backwards: modulo 2^64 */
    for (uint64_t i = 0; i < m->misfit_count; i++) {
        struct match_misfit *f = &m->misfits[i];
        moved = f->before != met ? 0 : moved;
        met = f->before;
        f->number = take_moved(m, f->offset, moved, f->key);
        if (f->number == NOBODY)
            f->number = take_key(m, f->key);
        if (f->number != NOBODY)
            moved = f->offset - checksum_table_entry(&m->table, f->number).offset;
    }
}

/* Of the checksums that no record has: ascending by length, then by number. */
static void keep_left(struct repair_match *m)
{
    uint64_t left = 0;
    for (uint64_t i = 0; i < m->keys_count; i++)
        if (!m->used[m->keys[i].number])
            m->keys[left++] =
                (struct match_key){.key = m->keys[i].key >> 32, .number = m->keys[i].number};
    m->keys_count = left;
    m->missing = m->unsure ? 0 : left; /* what passes for a checksum need not be one */
    if (left != 0)
        qsort(m->keys, (size_t)left, sizeof(*m->keys), by_key);
}

/* The first checksum of records of this length that is left with a number in [from, below), or
 * NOBODY. */
static uint64_t
find_left(const struct repair_match *m, uint64_t framed_bytes, uint64_t from, uint64_t below)
{
    const uint64_t i = find(m, framed_bytes, from);
    if (i == m->keys_count || m->keys[i].key != framed_bytes || m->keys[i].number >= below)
        return NOBODY;
    return m->keys[i].number;
}

/* The matches around misfits without a checksum of their own decide which ones may be meant for
 * them; where the order is broken, all may. */
static void judge_all(struct repair_match *m)
{
    uint64_t before = 0, met = 0, after = m->table.file.records + 1;
    for (uint64_t i = 0; i < m->misfit_count; i++) { /* `before` as the nearest of any kind */
        struct match_misfit *f = &m->misfits[i];
        before = f->before != met ? f->before : before;
        met = f->before;
        f->before = before;
        before = f->number != NOBODY ? f->number + 1 : before;
    }
    for (uint64_t i = m->misfit_count; i-- > 0;) {
        struct match_misfit *f = &m->misfits[i];
        after = f->after != 0 ? f->after : after;
        const bool ordered = f->before < after;
        if (f->number == NOBODY && !m->unsure)
            f->meant = find_left(m, f->key >> 32, ordered ? f->before : 0,
                                 ordered ? after - 1 : UINT64_MAX);
        after = f->number != NOBODY ? f->number + 1 : after;
    }
}

enum imrec_status match_end(struct repair_match *m, struct imrec_error *err)
{
    IMREC_TRY(sort_keys(m, err));
    take_all(m);
    keep_left(m);
    judge_all(m);
    return IMREC_OK;
}

/* ---- answers -------------------------------------------------------------------------------- */

enum match match_of(struct repair_match *m, uint64_t offset, uint32_t framed_bytes, uint32_t crc)
{
    struct checksum sum;
    const uint64_t key = key_of(framed_bytes, crc);
    while (m->at < m->misfit_count && m->misfits[m->at].offset < offset)
        m->at++;
    if (m->at == m->misfit_count || m->misfits[m->at].offset != offset)
        return is_in_place(m, offset, key, &sum) ? MATCH_SAME : MATCH_CHANGED;
    const struct match_misfit *f = &m->misfits[m->at];
    if (f->key != key)
        return MATCH_CHANGED;
    return f->number != NOBODY ? MATCH_SAME : f->meant != NOBODY ? MATCH_DIFFERS : MATCH_NONE;
}

bool match_meant(struct repair_match *m, struct checksum *out)
{
    if (m->at == m->misfit_count || m->misfits[m->at].meant == NOBODY)
        return false;
    *out = checksum_table_entry(&m->table, m->misfits[m->at].meant);
    m->used[out->record] = 1;
    return true;
}

bool match_gone(struct repair_match *m, uint64_t begin, uint64_t end, struct checksum *out)
{
    bool more = !m->unsure && checksum_table_at(&m->table, begin, out);
    while (more && out->offset < end && m->used[out->record])
        more = checksum_table_at(&m->table, out->offset + 1, out);
    if (!more || out->offset >= end)
        return false;
    m->used[out->record] = 1;
    return true;
}

void match_free(struct repair_match *m)
{
    checksum_table_free(&m->table);
    IMREC_FREE(m->used, m->keys, m->misfits);
    *m = (struct repair_match){0};
}
