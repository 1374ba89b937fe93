/* The sequence of a job, and a rank's share of it, as numbers alone. */
#include "base/alloc.h"
#include "base/math.h"
#include "iter/load/record_stream.h"
#include "tests/support/listed_set.h"
#include "tests/support/suite.h"

#include <stdlib.h>

CASE(.timeout = 120)

/* ---- shares ------------------------------------------------------------------------------- */

LOOP_TEST(a_share_is_what_counting_slots_gives, 0, 2) /* _i: sweeps run on */
{
    for (uint64_t batch = 1; batch <= 12; batch++)
        for (uint64_t count = 1; count <= batch; count++)
            for (uint64_t slot = 0; batch % count == 0 && slot < batch; slot++) {
                const struct share s = {29, batch, batch - count, count, _i == 1};
                const uint64_t shift = share_shift(&s, 5, 17, slot);
                uint64_t at = (slot + 30 * batch - 17) % batch, own = 0; /* of sample 0 */
                const uint64_t phase = share_phase(&s, 5, shift);
                ck_assert_uint_eq(phase, at);
                for (uint64_t i = 0; i < 29; i++, at = (at + 1) % batch) {
                    ck_assert_uint_eq(share_before(&s, phase, i), own);
                    if (at >= s.begin) {
                        ck_assert_uint_eq(share_sample(&s, phase, own), i);
                        own++;
                    }
                }
                ck_assert_uint_eq(share_phase(&s, 6, shift), _i == 1 ? at : shift);
            }
}

/* ---- sequences ---------------------------------------------------------------------------- */

struct job {
    uint64_t records, record_bytes, batch, window, chunk;
};
static const struct job jobs[] = {
    {100000, 1 << 14, 96, 64 << 20, 1 << 18},
    {100001, 1 << 14, 240, 256 << 20, 1 << 18},
    {4099, 40000, 12, 8 << 20, 1 << 18},
    {50, 100, 12, 8192, 4096},
    {1, 100, 12, 8192, 4096},
};

/* The rows of the table in docs/guide/ranks.md. */
enum row { BY_RECORD, BY_CHUNK, IN_FILE_ORDER, ROWS };

static void order_of_row(const struct job *j, enum row row, const struct container *c,
                         uint64_t ranks, struct global_order *g)
{
    struct record_stream s = {0};
    const struct record_stream_options o = {.shuffle = row != IN_FILE_ORDER,
                                            .seed = 9,
                                            .shuffle_window = j->window,
                                            .chunk_bytes = row == BY_CHUNK ? j->chunk : 0};
    *g = (struct global_order){.share = {j->records, j->batch, 0, j->batch / ranks, false}};
    ck_assert_int_eq(record_stream_share(&s, &o, c, g, NULL), IMREC_OK);
}

static void
order_of(const struct job *j, const struct container *c, uint64_t ranks, struct global_order *g)
{
    order_of_row(j, BY_CHUNK, c, ranks, g);
}

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Whether record b, of another one or of none before it, begins a piece: shards are two halves. */
static bool apart(const struct global_order *g, uint64_t a, uint64_t b)
{
    return b != a + 1 || b == g->share.records / 2;
}

static uint64_t pieces(const struct global_order *g, uint64_t *records, uint64_t n)
{
    uint64_t found = n != 0;
    qsort(records, (size_t)n, sizeof(*records), by_value);
    for (uint64_t i = 1; i < n; i++)
        found += apart(g, records[i - 1], records[i]);
    return found;
}

/* Pieces that all ranks together read in sweep 3, whose first sample is in slot `phase` of a batch
 * of the job. They read each record once, and a rank holds its slots of a window. */
static uint64_t pieces_of_all(struct global_order *g, uint64_t phase)
{
    struct share *s = &g->share;
    uint8_t *times = imrec_zalloc((size_t)s->records, 1);
    uint64_t *records = imrec_zalloc((size_t)s->records, sizeof(*records)), found = 0;
    for (s->begin = 0; s->begin < s->batch; s->begin += s->count)
        for (uint64_t w = 0; w < g->windows.count; w++) {
            uint64_t first, count, n = 0;
            global_order_window(g, w, &first, &count);
            const uint64_t end = share_before(s, phase, first + count);
            for (uint64_t i = share_before(s, phase, first); i < end; i++) {
                records[n] = global_order_record(g, 3, share_sample(s, phase, i));
                times[records[n++]]++;
            }
            ck_assert_uint_le(n, count / s->batch * s->count + min_u64(count % s->batch, s->count));
            found += pieces(g, records, n);
        }
    for (uint64_t i = 0; i < s->records; i++)
        ck_assert_uint_eq(times[i], 1);
    IMREC_FREE(times, records);
    return found;
}

/* In file order: a piece ends where another rank's slots, another window or shard begins. */
static uint64_t pieces_in_file_order(const struct global_order *g, uint64_t phase)
{
    uint64_t found = 0, rank = UINT64_MAX, window = 0;
    for (uint64_t i = 0; i < g->share.records; i++) {
        const uint64_t own = (phase + i) % g->share.batch / g->share.count,
                       in = global_order_window_of(g, i);
        found += own != rank || in != window || (i != 0 && apart(g, i - 1, i));
        rank = own;
        window = in;
    }
    return found;
}

static uint64_t cells_of(const struct job *j, const struct container *c)
{
    uint64_t found = 0, shard = UINT64_MAX, cell = 0;
    for (uint64_t i = 0; i < j->records; i++) {
        const struct indexed_record *r = &c->records[i];
        found += r->shard != shard || r->offset / j->chunk != cell;
        shard = r->shard;
        cell = r->offset / j->chunk;
    }
    return found;
}

/* What docs/guide/ranks.md promises of each order. */
LOOP_TEST(ranks_read_each_record_once_in_few_pieces, 0, COUNT(jobs) * ROWS)
{
    enum { SHARDS = 2 };
    const struct job *j = &jobs[_i / ROWS];
    const enum row row = (enum row)(_i % ROWS);
    struct container c = listed_set(j->records, j->record_bytes);
    for (uint64_t ranks = 1; ranks <= 12; ranks += ranks == 1 ? 2 : 9)
        for (uint64_t phase = 0; phase < j->batch / 2; phase += j->batch / 2 - 1) {
            struct global_order g;
            order_of_row(j, row, &c, ranks, &g);
            const uint64_t read = pieces_of_all(&g, phase), windows = g.windows.count;
            ck_assert_uint_le(read, j->records);
            ck_assert(row != BY_CHUNK || g.chunks == (windows > 1));
            if (g.chunks) {
                ck_assert_uint_eq(g.cells, cells_of(j, &c));
                ck_assert_uint_eq(global_order_memory(&g), 16 * g.cells + 8);
                ck_assert_uint_le(read, g.cells + windows * (ranks + (phase != 0)));
            }
            if (row == IN_FILE_ORDER) {
                ck_assert_uint_eq(read, pieces_in_file_order(&g, phase));
                ck_assert_uint_le(read, j->records * ranks / j->batch + windows + SHARDS);
            }
            global_order_free(&g);
        }
    imrec_free(c.records);
}

/* At least a batch, up to half of shuffle_window, the first one up to 32 MiB. */
LOOP_TEST(a_window_of_chunks_is_whole_batches, 0, COUNT(jobs))
{
    const struct job *j = &jobs[_i];
    struct container c = listed_set(j->records, j->record_bytes);
    struct global_order g;
    const uint64_t batch_bytes = j->batch * j->record_bytes;
    uint64_t at = 0, first, count;
    order_of(j, &c, 3, &g);
    for (uint64_t w = 0; w < g.windows.count; w++, at += count) {
        const uint64_t most = w == 0 ? min_u64(j->window / 2, 32 << 20) : j->window / 2;
        global_order_window(&g, w, &first, &count);
        ck_assert_uint_eq(first, at);
        ck_assert(g.windows.count == 1 || first % j->batch == 0);
        ck_assert(count * j->record_bytes <= most || count <= j->batch);
        ck_assert(count >= j->batch || w + 1 == g.windows.count);
        ck_assert_uint_eq(global_order_window_of(&g, first + count - 1), w);
        /* Two that follow each other would not fit one. */
        ck_assert(w == 0 || g.windows.count < 4 ||
                  2 * count * j->record_bytes + 3 * batch_bytes > most);
    }
    ck_assert_uint_eq(at, j->records);
    global_order_free(&g);
    imrec_free(c.records);
}

LOOP_TEST(the_sequence_depends_on_seed_and_sweep_not_on_ranks, 0, COUNT(jobs))
{
    const struct job *j = &jobs[_i];
    struct container c = listed_set(j->records, j->record_bytes);
    struct global_order a, b, next; /* one of each sweep: cells are listed for one at a time */
    uint64_t other = 0;
    order_of(j, &c, 1, &a);
    order_of(j, &c, 6, &b);
    order_of(j, &c, 6, &next);
    for (uint64_t i = 0; i < j->records; i += 1 + j->records / 1000) {
        const uint64_t record = global_order_record(&a, 1, i);
        ck_assert_uint_eq(global_order_record(&b, 1, i), record);
        other += global_order_record(&next, 2, i) != record;
    }
    ck_assert(j->records == 1 || other > 40);
    global_order_free(&a);
    global_order_free(&b);
    global_order_free(&next);
    imrec_free(c.records);
}

/* 1,000 classes of 1,300 one after another; shuffle_window of 4 cells a slot. */
static const struct job sorted[] = {
    {1300000, 40000, 128, 128 << 20, 1 << 18},
    {1300000, 110000, 1024, 1u << 30, 1 << 18},
    {1300000, 5000, 960, 1u << 30, 1 << 18},
};

static uint32_t classes_of(struct global_order *g, uint64_t first, uint64_t n)
{
    uint8_t met[1000] = {0};
    uint32_t classes = 0;
    for (uint64_t i = first; i < first + n && i < g->share.records; i++) {
        const uint64_t class = global_order_record(g, 0, i) / 1300;
        classes += !met[class];
        met[class] = 1;
    }
    return classes;
}

LOOP_TEST(a_batch_of_a_sorted_set_sees_the_classes_of_a_permutation, 0, COUNT(sorted))
{
    const struct job *j = &sorted[_i];
    struct container c = listed_set(j->records, j->record_bytes);
    struct global_order chunks, plain;
    order_of(j, &c, 1, &chunks);
    plain = chunks;
    plain.chunks = false; /* permutes all records */
    ck_assert(chunks.chunks);
    for (uint64_t w = 1; w < 4; w++) { /* the first window may be small */
        uint64_t first, count;
        global_order_window(&chunks, w, &first, &count);
        const uint64_t seen = classes_of(&chunks, first, j->batch),
                       could = classes_of(&plain, first, j->batch);
        ck_assert_msg(seen * 100 >= could * 85, "%d of %d", (int)seen, (int)could);
    }
    global_order_free(&chunks);
    imrec_free(c.records);
}
