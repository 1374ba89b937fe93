/*
 * codec/jpeg/lanes_avx512.c - sixteen pieces at once, in two groups of eight lanes.
 *
 * A lane's state is a number of 64 bits in each of a group's vectors. Two groups take turns, so
 * that one waits for its loads while the other computes. A step looks one entry up for each lane,
 * and stores four coefficients: the entry's first value, and the last up to three places after it;
 * what else it stores are zeros where the next ones come to.
 */
#include "base/simd.h"
#include "codec/jpeg/frame.h"
#include "codec/jpeg/lanes.h"

#include <string.h>

#if defined(__x86_64__)

typedef __m512i vector;

enum { LANES = 8, GROUPS = 2, FEW = 4 }; /* with fewer pieces left, one by one is faster */
enum { PLACES = 16, IDLE = 15 };         /* of blocks; no block */
enum { PLACE_BITS = 8, TO_DC = LANE_DC * LANE_ENTRIES };
enum { BIT_BITS = 28 }; /* of a position: bit, then k, then blocks */
enum { K_ALL = 255, K_LAST = 63 };

struct group {
    vector at;     /* bits 0-27 the next bit; 28-35 k; 36-63 blocks */
    vector buffer; /* the next bits, from the top */
    vector table;  /* the first entry of the one to look up in */
    vector block;  /* bits 0-7 its place; above, the first entry of its AC table */
    vector out;    /* address of the block, less 6 bytes */
    vector bytes;  /* address of the piece's */
    vector last;   /* byte that may be read from */
    vector end;    /* `at` when all is done */
};

/* What is the same for all lanes. */
struct plan {
    const struct lane_tables *t;
    uint64_t first;  /* entry, as an address / 8 */
    vector after[2]; /* the block after each, by places */
};

struct lanes {
    struct plan plan;
    struct group group[GROUPS];
    const struct lane_source *source;
    struct lane_piece *piece[GROUPS][LANES]; /* NULL: idle */
    uint32_t busy;
    _Alignas(64) uint8_t zeros[64], nowhere[64]; /* of lanes that are idle: read, written */
};

/* A group's state in memory, for what is done lane by lane. */
struct spread {
    _Alignas(64) uint64_t at[LANES], table[LANES], block[LANES], out[LANES], bytes[LANES],
        last[LANES], end[LANES];
};

INLINE512 vector all(uint64_t v)
{
    return _mm512_set1_epi64((int64_t)v);
}

AVX512 static void spread(struct spread *s, const struct group *g)
{
    _mm512_store_si512(s->at, g->at);
    _mm512_store_si512(s->table, g->table);
    _mm512_store_si512(s->block, g->block);
    _mm512_store_si512(s->out, g->out);
    _mm512_store_si512(s->bytes, g->bytes);
    _mm512_store_si512(s->last, g->last);
    _mm512_store_si512(s->end, g->end);
}

AVX512 static void gather_up(struct group *g, const struct spread *s)
{
    g->at = _mm512_load_si512(s->at);
    g->table = _mm512_load_si512(s->table);
    g->block = _mm512_load_si512(s->block);
    g->out = _mm512_load_si512(s->out);
    g->bytes = _mm512_load_si512(s->bytes);
    g->last = _mm512_load_si512(s->last);
    g->end = _mm512_load_si512(s->end);
}

/* ---- a step ------------------------------------------------------------------------------- */

INLINE512 __m128i pair_of(const uint8_t *low, const uint8_t *high)
{
    const __m128 a = _mm_castsi128_ps(load64(low));
    return _mm_castps_si128(_mm_loadh_pi(a, (const __m64 *)(const void *)high));
}

/* Eight numbers from eight addresses. Loads one by one: some processors take longer for a gather,
 * and none is much faster. */
INLINE512 vector pick_up(vector address)
{
    _Alignas(64) const uint8_t *a[LANES];
    _mm512_store_si512(a, address);
    const __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(pair_of(a[0], a[1])),
                                                pair_of(a[2], a[3]), 1);
    const __m256i high = _mm256_inserti128_si256(_mm256_castsi128_si256(pair_of(a[4], a[5])),
                                                 pair_of(a[6], a[7]), 1);
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

/* The next 57 bits or more. A lane that has run past its piece's end reads the same zeros. */
INLINE512 vector next_bits(const struct group *g)
{
    const vector order =
        _mm512_broadcast_i32x4(_mm_set_epi64x(0x08090a0b0c0d0e0f, 0x0001020304050607));
    const vector bit = _mm512_and_si512(g->at, all((1u << BIT_BITS) - 1));
    const vector byte = _mm512_add_epi64(g->bytes, _mm512_srli_epi64(bit, 3));
    const vector eight = pick_up(_mm512_min_epu64(byte, g->last));
    return _mm512_sllv_epi64(_mm512_shuffle_epi8(eight, order), _mm512_and_si512(bit, all(7)));
}

/* Four coefficients from an entry's first on. */
INLINE512 vector values_of(vector e, vector turned)
{
    const vector bits = /* turned & e >> LANE_MASK & 0x7FF */
        _mm512_ternarylogic_epi64(turned, _mm512_srli_epi64(e, LANE_MASK), all(0x7FF), 0x80);
    const vector base = _mm512_srai_epi64(_mm512_slli_epi64(e, 64 - LANE_FIRST), 52);
    const vector last = _mm512_slli_epi64(_mm512_add_epi64(bits, base), 48);
    return _mm512_or_si512(_mm512_rorv_epi64(last, _mm512_srli_epi64(e, 6)),
                           _mm512_srli_epi64(e, LANE_FIRST));
}

/* Where they go: bytes after the block's begin less 6. */
INLINE512 vector place_of(vector e, vector at)
{
    const vector last = _mm512_and_si512(_mm512_srli_epi64(at, BIT_BITS - 1), all(2 * K_LAST));
    const vector less = _mm512_and_si512(_mm512_srli_epi64(e, LANE_APART - 1), all(14));
    return _mm512_add_epi64(last, less);
}

/* Eight numbers to eight addresses, through memory: a scatter, or addresses moved to other
 * registers one by one, take longer. */
INLINE512 void put_down(vector address, vector v)
{
    _Alignas(64) uint8_t *a[LANES];
    _Alignas(64) uint64_t e[LANES];
    _mm512_store_si512(a, address);
    _mm512_store_si512(e, v);
    __asm__("" : "+m"(a), "+m"(e)); /* or compilers move them one by one */
    UNROLL for (int i = 0; i < LANES; i++) memcpy(a[i], &e[i], sizeof(e[i]));
}

/* Looks one entry up for every lane. Not 0: the lanes for which it is none; then nothing has been
 * done for any. */
INLINE512 __mmask8 step(const struct plan *p, struct group *g)
{
    const vector index = _mm512_add_epi64(_mm512_srli_epi64(g->buffer, 64 - LANE_BITS), g->table);
    const vector e = pick_up(_mm512_slli_epi64(index, 3));
    const vector k_mask = all((uint64_t)K_ALL << BIT_BITS);
    const vector at =
        _mm512_add_epi64(g->at, _mm512_and_si512(e, all(63 | (uint64_t)K_ALL << BIT_BITS)));
    const __mmask8 odd = _mm512_test_epi64_mask(at, all((uint64_t)LANE_ODD << BIT_BITS));
    if (__builtin_expect(odd != 0, 0))
        return odd;
    const vector turned = _mm512_rolv_epi64(g->buffer, e);
    const __mmask8 done =
        _mm512_cmpge_epu64_mask(_mm512_and_si512(at, k_mask), all((uint64_t)K_LAST << BIT_BITS));
    put_down(_mm512_add_epi64(g->out, place_of(e, at)), values_of(e, turned));
    const vector block = _mm512_mask2_permutex2var_epi64(p->after[0], g->block, done, p->after[1]);
    const vector ac = _mm512_srli_epi64(block, PLACE_BITS);
    const vector table = _mm512_mask_add_epi64(ac, done, ac, all(TO_DC));
    g->table = _mm512_add_epi64(table, _mm512_and_si512(e, all(LANE_LONG)));
    g->block = block;
    g->at = _mm512_mask_or_epi64(at, done, at, k_mask);
    g->out = _mm512_mask_add_epi64(g->out, done, g->out, all(BLOCK * BLOCK * sizeof(int16_t)));
    g->buffer = turned;
    return 0;
}

/* ---- lanes one by one --------------------------------------------------------------------- */

static bool is_in_second(const struct plan *p, uint64_t table)
{
    return table - p->first >= LANE_AC_LONG * LANE_ENTRIES;
}

static struct lane_state state_of(const struct plan *p, const struct spread *s, uint32_t lane,
                                  const struct lane_piece *piece)
{
    struct lane_state state = lane_begin(piece);
    state.bit = s->at[lane] & ((1u << BIT_BITS) - 1);
    if (is_in_second(p, s->table[lane]))
        state.bit -= LANE_LONG_BITS;
    state.k = s->at[lane] >> BIT_BITS & K_ALL;
    state.block = (uint32_t)s->block[lane] % PLACES;
    memcpy(&state.out, &s->out[lane], sizeof(state.out));
    state.out += 3;
    return state;
}

static uint64_t table_of(const struct plan *p, uint32_t place)
{
    const uint64_t table = place < LANE_PLACES ? LANE_AC + lane_kind[place] : LANE_TABLES;
    return p->first + table * LANE_ENTRIES;
}

static uint64_t block_of(const struct plan *p, uint32_t place)
{
    return place | table_of(p, place) << PLACE_BITS;
}

static void
put_state(const struct plan *p, struct spread *s, uint32_t lane, const struct lane_state *state)
{
    const bool before_dc = state->k == LANE_BEFORE;
    uint64_t blocks = s->at[lane] >> (BIT_BITS + 8);
    if ((s->at[lane] >> BIT_BITS & K_ALL) == LANE_BEFORE) /* a step counts a block at its DC */
        blocks++;
    s->at[lane] = state->bit | (uint64_t)state->k << BIT_BITS | blocks << (BIT_BITS + 8);
    s->table[lane] = table_of(p, state->block) + (before_dc ? TO_DC : 0);
    s->block[lane] = block_of(p, state->block);
    s->out[lane] = (uint64_t)(uintptr_t)(state->out - 3);
}

/* One symbol of each of these lanes by its code. */
AVX512 static __attribute__((noinline)) void
by_code(struct lanes *l, uint32_t group, uint32_t which)
{
    struct group *g = &l->group[group];
    struct spread s;
    spread(&s, g);
    for (uint32_t i = 0; i < LANES; i++)
        if (which >> i & 1) {
            struct lane_piece *piece = l->piece[group][i];
            struct lane_state state = state_of(&l->plan, &s, i, piece);
            if (state.bit <= (uint64_t)piece->bytes * 8 && lane_symbol(l->plan.t, piece, &state)) {
                put_state(&l->plan, &s, i, &state);
            } else {
                piece->bad = true;
                s.at[i] = s.end[i]; /* for the next to come in */
            }
        }
    gather_up(g, &s);
    g->buffer = next_bits(g);
}

static void put_idle(struct lanes *l, struct spread *s, uint32_t i)
{
    s->at[i] = 0;
    s->table[i] = table_of(&l->plan, IDLE);
    s->block[i] = block_of(&l->plan, IDLE);
    s->out[i] = (uint64_t)(uintptr_t)l->nowhere;
    s->bytes[i] = s->last[i] = (uint64_t)(uintptr_t)l->zeros;
    s->end[i] = UINT64_MAX;
}

static void put_piece(struct lanes *l, struct spread *s, uint32_t i, const struct lane_piece *piece)
{
    s->at[i] = (uint64_t)LANE_BEFORE << BIT_BITS | piece->from;
    s->table[i] = table_of(&l->plan, piece->mcu) + TO_DC;
    s->block[i] = block_of(&l->plan, piece->mcu);
    s->out[i] = (uint64_t)(uintptr_t)(piece->out - 3);
    s->bytes[i] = (uint64_t)(uintptr_t)piece->bits;
    s->last[i] = s->bytes[i] + piece->bytes + 8;
    s->end[i] = (uint64_t)piece->blocks << (BIT_BITS + 8) | (uint64_t)LANE_BEFORE << BIT_BITS;
}

static struct lane_piece *next_of(const struct lanes *l, struct lane_piece *done, uint64_t at)
{
    if (done != NULL) {
        done->taken = at & ((1u << BIT_BITS) - 1);
        done->bad |= done->taken > (uint64_t)done->bytes * 8;
    }
    return l->source->next(l->source->context, done);
}

static uint32_t idle_of(const struct lanes *l, uint32_t group)
{
    uint32_t idle = 0;
    for (uint32_t i = 0; i < LANES; i++)
        idle |= (uint32_t)(l->piece[group][i] == NULL) << i;
    return idle;
}

/* These lanes have reached their pieces' ends: the next ones come in, and into idle ones, too. */
AVX512 static __attribute__((noinline)) void
exchange(struct lanes *l, uint32_t group, uint32_t which)
{
    struct group *g = &l->group[group];
    struct spread s;
    spread(&s, g);
    which |= idle_of(l, group);
    for (uint32_t i = 0; i < LANES; i++)
        if (which >> i & 1) {
            struct lane_piece *done = l->piece[group][i], *piece = next_of(l, done, s.at[i]);
            l->piece[group][i] = piece;
            l->busy += (piece != NULL) - (done != NULL);
            if (piece != NULL)
                put_piece(l, &s, i, piece);
            else
                put_idle(l, &s, i);
        }
    gather_up(g, &s);
    g->buffer = next_bits(g);
}

/* What is left when there is too little of it for vectors. */
AVX512 static void finish(struct lanes *l)
{
    for (uint32_t group = 0; group < GROUPS; group++) {
        struct spread s;
        spread(&s, &l->group[group]);
        for (uint32_t i = 0; i < LANES; i++) {
            struct lane_piece *piece = l->piece[group][i];
            if (piece != NULL)
                lane_finish(l->plan.t, l->source, piece, state_of(&l->plan, &s, i, piece));
        }
    }
}

/* ---- all ---------------------------------------------------------------------------------- */

AVX512 static void make_plan(struct plan *p, const struct lane_tables *t)
{
    _Alignas(64) uint64_t after[PLACES];
    p->t = t;
    p->first = (uint64_t)(uintptr_t)t->entry / sizeof(t->entry[0]);
    for (uint32_t i = 0; i < PLACES; i++)
        after[i] = block_of(p, i < LANE_PLACES ? lane_next[i] : IDLE);
    p->after[0] = _mm512_load_si512(after);
    p->after[1] = _mm512_load_si512(after + LANES);
}

/* Of a group that is a local variable of the caller, kept in registers. */
INLINE512 void step_of(struct lanes *l, const struct plan *p, uint32_t group, struct group *g)
{
    const __mmask8 odd = step(p, g);
    if (__builtin_expect(odd != 0, 0)) {
        l->group[group] = *g;
        by_code(l, group, odd);
        *g = l->group[group];
    }
    const __mmask8 ended = _mm512_cmpge_epu64_mask(g->at, g->end);
    if (__builtin_expect(ended != 0, 0)) {
        l->group[group] = *g;
        exchange(l, group, ended);
        *g = l->group[group];
    }
}

AVX512 static void run(struct lanes *l)
{
    const struct plan p = l->plan;
    struct group a = l->group[0], b = l->group[1];
    while (l->busy >= FEW) {
        a.buffer = next_bits(&a);
        b.buffer = next_bits(&b);
        step_of(l, &p, 0, &a);
        step_of(l, &p, 1, &b);
        step_of(l, &p, 0, &a);
        step_of(l, &p, 1, &b);
    }
    l->group[0] = a;
    l->group[1] = b;
}

AVX512 void lanes_avx512(const struct lane_tables *t, const struct lane_source *source)
{
    struct lanes l = {.source = source};
    make_plan(&l.plan, t);
    for (uint32_t group = 0; group < GROUPS; group++)
        exchange(&l, group, 0);
    run(&l);
    finish(&l);
}
#endif
