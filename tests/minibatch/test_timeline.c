/* tests/minibatch/test_timeline.c - sequences on a line of samples that never ends. */
#include "base/alloc.h"
#include "minibatch/plan/timeline.h"
#include "tests/support/starving.h"
#include "tests/support/suite.h"

#include <string.h>

enum { CHUNKS = 7, MOST = 9 };

/* Chunk c has 3 + c % 4 sequences; sequence s of it is 1 + (c * s) % 5 samples long, with
 * `gaps` every eleventh none. */
struct corpus {
    struct timeline_chunk chunk[CHUNKS];
    uint32_t length[CHUNKS][MOST];
    uint64_t samples, sequences;
};

static void make_corpus(struct corpus *c, bool gaps)
{
    memset(c, 0, sizeof(*c));
    for (uint32_t i = 0; i < CHUNKS; i++) {
        c->chunk[i].sequences = 3 + i % 4;
        for (uint32_t s = 0; s < c->chunk[i].sequences; s++) {
            c->length[i][s] = gaps && c->sequences % 11 == 10 ? 0 : 1 + i * s % 5;
            c->chunk[i].samples += c->length[i][s];
            c->sequences++;
        }
        c->samples += c->chunk[i].samples;
    }
}

static enum imrec_status
length(void *context, uint32_t chunk, uint32_t sequence, uint32_t *out, struct imrec_error *err)
{
    (void)err;
    *out = ((struct corpus *)context)->length[chunk][sequence];
    return IMREC_OK;
}

static struct timeline *open_line(struct corpus *c, bool randomize, uint64_t seed,
                                  uint64_t window_chunks, uint64_t window_samples)
{
    const struct timeline_options o = {
        randomize, seed, window_chunks, window_samples, c->chunk, CHUNKS, length, NULL, c};
    struct timeline *t;
    ck_assert_int_eq(timeline_new(&o, &t, NULL), IMREC_OK);
    ck_assert_uint_eq(timeline_sweep_samples(t), c->samples);
    ck_assert_uint_eq(timeline_sweep_sequences(t), c->sequences);
    return t;
}

static struct timeline_item take(struct timeline *t)
{
    struct timeline_item item;
    ck_assert_int_eq(timeline_peek(t, &item, NULL), IMREC_OK);
    timeline_step(t);
    return item;
}

static void must_be_item(struct timeline_item i, const struct timeline_item *want)
{
    ck_assert_uint_eq(i.position, want->position);
    ck_assert_uint_eq(i.chunk, want->chunk);
    ck_assert_uint_eq(i.sequence, want->sequence);
    ck_assert_uint_eq(i.number, want->number);
}

static const struct {
    bool randomize;
    uint64_t seed, chunks, samples;
} lines[] = {
    {false, 0, 0, 0}, {true, 0, 0, 0}, {true, 5, 1, 0},  {true, 0, 2, 0},  {true, 1, 3, 0},
    {true, 2, 4, 0},  {true, 0, 7, 0}, {true, 0, 99, 0}, {true, 9, 0, 20}, {true, 9, 0, 1},
};

static struct timeline *open_row(struct corpus *c, bool gaps, int i)
{
    make_corpus(c, gaps);
    return open_line(c, lines[i].randomize, lines[i].seed, lines[i].chunks, lines[i].samples);
}

LOOP_TEST(every_sweep_has_every_sequence_once_and_positions_add_up, 0, COUNT(lines))
{
    struct corpus c;
    struct timeline *t = open_row(&c, true, _i);
    uint64_t position = 0;
    for (uint64_t sweep = 0; sweep < 4; sweep++) {
        bool seen[CHUNKS][MOST] = {{0}};
        for (uint64_t n = 0; n < c.sequences; n++) {
            const struct timeline_item i = take(t);
            ck_assert_uint_eq(i.sweep, sweep);
            ck_assert_uint_eq(i.number, n);
            ck_assert_uint_eq(i.position, position);
            ck_assert_uint_eq(i.length, c.length[i.chunk][i.sequence]);
            ck_assert_int_eq(i.last, n + 1 == c.sequences);
            ck_assert(!seen[i.chunk][i.sequence]);
            seen[i.chunk][i.sequence] = true;
            position += i.length;
            if (!lines[_i].randomize && n > 0 && i.sequence == 0)
                ck_assert_uint_eq(i.chunk_place, i.chunk);
        }
    }
    timeline_free(t);
}

LOOP_TEST(any_position_is_found_again_forwards_and_backwards, 0, COUNT(lines))
{
    struct corpus c;
    struct timeline *t = open_row(&c, false, _i);
    struct timeline_item all[4 * CHUNKS * MOST];
    const size_t n = 3 * (size_t)c.sequences;
    for (size_t i = 0; i < n; i++)
        all[i] = take(t);
    for (uint64_t p = 0; p < 3 * c.samples - MOST; p++) {
        const uint64_t at = p * 37 % (3 * c.samples - MOST); /* to and fro */
        size_t k = 0;
        while (all[k].position < at)
            k++;
        ck_assert_int_eq(timeline_seek(t, at, NULL), IMREC_OK);
        must_be_item(take(t), &all[k]);
    }
    timeline_free(t);
}

LOOP_TEST(any_number_of_a_sweep_is_found_again, 0, COUNT(lines))
{
    struct corpus c;
    struct timeline *t = open_row(&c, true, _i);
    struct timeline_item all[3 * CHUNKS * MOST];
    for (size_t i = 0; i < 3 * c.sequences; i++)
        all[i] = take(t);
    for (uint64_t k = 0; k < 3 * c.sequences; k++) {
        const struct timeline_item *want = &all[k * 29 % (3 * c.sequences)];
        ck_assert_int_eq(timeline_seek_number(t, want->sweep, want->number, NULL), IMREC_OK);
        must_be_item(take(t), want);
    }
    ck_assert_int_eq(timeline_seek_number(t, 1, c.sequences, NULL), IMREC_OK);
    ck_assert_uint_eq(take(t).sweep, 2);
    timeline_free(t);
}

static void check_same(const struct timeline_item *got, const struct timeline_item *want)
{
    ck_assert_uint_eq(got->chunk, want->chunk);
    ck_assert_uint_eq(got->sequence, want->sequence);
    ck_assert_uint_eq(got->position, want->position);
    ck_assert_uint_eq(got->sweep, want->sweep);
    ck_assert_uint_eq(got->number, want->number);
    ck_assert(got->last == want->last);
}

LOOP_TEST(a_place_that_was_met_is_jumped_to, 0, COUNT(lines)) /* _i: a line */
{
    struct corpus c;
    make_corpus(&c, true);
    struct timeline *t = open_line(&c, lines[_i].randomize, 5, lines[_i].chunks, lines[_i].samples);
    struct timeline_item met[3 * CHUNKS * 6];
    const uint64_t n = 3 * c.sequences;
    for (uint64_t i = 0; i < n; i++)
        met[i] = take(t);
    for (uint64_t k = 0; k < 4 * n; k++) { /* everywhere, from everywhere */
        const struct timeline_item *want = &met[(k * 7919 + k / n) % n];
        timeline_jump(t, want->sweep, want->number, want->position);
        struct timeline_item got = take(t);
        check_same(&got, want);
        got = take(t);
        if (want + 1 < met + n)
            check_same(&got, want + 1);
    }
    timeline_free(t);
}

LOOP_TEST(no_more_chunks_than_the_window_are_open_at_once, 1, 12) /* _i: the window */
{
    struct corpus c;
    make_corpus(&c, true);
    struct timeline *t = open_line(&c, true, 3, (uint64_t)_i, 0);
    for (int sweep = 0; sweep < 5; sweep++) {
        uint32_t left[CHUNKS], open = 0, most = 0;
        bool begun[CHUNKS] = {0};
        for (uint32_t i = 0; i < CHUNKS; i++)
            left[i] = c.chunk[i].sequences;
        for (uint64_t n = 0; n < c.sequences; n++) {
            const struct timeline_item i = take(t);
            open += !begun[i.chunk];
            begun[i.chunk] = true;
            most = open > most ? open : most;
            open -= --left[i.chunk] == 0;
        }
        ck_assert_uint_le(most, (uint32_t)_i);
        if (_i >= CHUNKS)
            ck_assert_uint_gt(most, 2);
    }
    timeline_free(t);
}

TEST(a_seed_begins_where_the_one_before_is_a_sweep_later)
{
    struct corpus c;
    make_corpus(&c, true);
    struct timeline *a = open_line(&c, true, 4, 4, 0), *b = open_line(&c, true, 5, 4, 0);
    size_t moved = 0;
    for (uint64_t n = 0; n < c.sequences; n++)
        take(a);
    ck_assert_int_eq(timeline_seek(a, c.samples, NULL), IMREC_OK);
    for (uint64_t n = 0; n < c.sequences; n++) {
        const struct timeline_item x = take(a), y = take(b);
        ck_assert_uint_eq(x.chunk, y.chunk);
        ck_assert_uint_eq(x.sequence, y.sequence);
        moved += x.chunk != n / 4;
    }
    ck_assert_uint_gt(moved, 4);
    timeline_free(a);
    timeline_free(b);
}

LOOP_TEST(groups_tell_what_comes, 1, 9) /* _i: the window */
{
    struct corpus c;
    make_corpus(&c, true);
    struct timeline *t = open_line(&c, true, 8, (uint64_t)_i, 0);
    for (uint64_t n = 0; n < 3 * c.sequences; n++) {
        struct timeline_group group;
        struct timeline_item i;
        ck_assert_int_eq(timeline_group(t, 1, &group, NULL), IMREC_OK);
        ck_assert_uint_ge(group.chunks, 1);
        ck_assert_int_eq(timeline_group(t, 0, &group, NULL), IMREC_OK);
        ck_assert_int_eq(timeline_peek(t, &i, NULL), IMREC_OK);
        ck_assert_uint_eq(group.sweep, i.sweep);
        uint32_t k = 0;
        while (k < group.chunks && group.chunk[k] != i.chunk)
            k++;
        ck_assert_uint_lt(k, group.chunks);
        ck_assert_uint_eq(group.place + k, i.chunk_place);
        timeline_step(t);
    }
    timeline_free(t);
}

TEST(what_has_no_sample_is_refused_and_no_memory_is_an_error)
{
    struct corpus c;
    make_corpus(&c, true);
    struct timeline_options o = {true, 0, 0, 0, c.chunk, 0, length, NULL, &c};
    struct timeline *t;
    struct timeline_item item;
    ck_assert_int_eq(timeline_new(&o, &t, NULL), IMREC_ERR_CORRUPT);
    o.chunks = CHUNKS;
    STARVING(memory)
    {
        memory.st = timeline_new(&o, &t, NULL);
        if (memory.st == IMREC_OK)
            memory.st = timeline_peek(t, &item, NULL);
        timeline_free(t);
    }
}
