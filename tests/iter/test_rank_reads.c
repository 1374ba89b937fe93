/* What the ranks of a job read, as calls of the system count it: the table of docs/guide/ranks.md.
 */
#include "base/clock.h"
#include "formats/recordio/record_index.h"
#include "iter/load/record_stream.h"
#include "storage/fault.h"
#include "tests/support/shards.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

#include <stdio.h>

enum { SHARDS = 40, BATCH = 24, MOST_RECORD = 60000 }; /* more shards than batches */

static struct tmpdir dir;
static struct imrec_error err;
static char rec[8192], idx[8192];
static uint64_t records, bytes; /* of the set */

static void must(enum imrec_status st)
{
    ck_assert_msg(st == IMREC_OK, "%s", err.message);
}

static bool make(void)
{
    struct dice d = {11};
    const struct fault_script none = {0};
    dir = tmpdir_make();
    for (size_t i = 0; i < SHARDS; i++) {
        char name[16], uri[600];
        struct buf index = BUF_INIT(1 << 20);
        struct made_shard s = made_shard(&d, 8 + i % 7, MOST_RECORD);
        snprintf(name, sizeof(name), "%zu.rec", i);
        snprintf(uri, sizeof(uri), "%sfault://script=ranks:%s", i != 0 ? ";" : "",
                 tmp_write(&dir, name, s.file.p, s.file.n));
        strcat(rec, uri);
        for (size_t k = 0; k < s.count; k++)
            must(record_index_write(&index, records + k, s.records[k].begin, &err));
        snprintf(name, sizeof(name), "%zu.idx", i);
        strcat(strcat(idx, i != 0 ? ";" : ""), tmp_write(&dir, name, index.p, index.n));
        records += s.count;
        bytes += s.file.n;
        buf_free(&index);
        made_free(&s);
    }
    return fault_set("ranks", &none, NULL) == IMREC_OK;
}

static void drop(void)
{
    fault_forget("ranks");
    tmpdir_remove(&dir);
}

struct reads {
    uint64_t calls, bytes;
};

static struct reads counted(void)
{
    const struct fault_counts c = fault_counts("ranks");
    return (struct reads){c.reads, c.bytes_read};
}

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Adds what a rank reads for a window: its records, those that follow each other in one call. */
static void
add_window(struct global_order *g, const struct container *c, uint64_t n, struct reads *to)
{
    uint64_t first, count, units[512], end = 0, shard = UINT64_MAX;
    const uint64_t sweep = n / g->windows.count;
    global_order_window(g, n % g->windows.count, &first, &count);
    const uint64_t begin = share_before(&g->share, 0, first),
                   own = share_before(&g->share, 0, first + count) - begin;
    ck_assert_uint_le(own, COUNT(units));
    for (uint64_t i = 0; i < own; i++)
        units[i] = global_order_record(g, sweep, share_sample(&g->share, 0, begin + i));
    qsort(units, (size_t)own, sizeof(*units), by_value);
    for (uint64_t i = 0; i < own; i++) {
        struct record_place p = {.number = units[i]};
        must(container_locate(c, &p, 1, &err));
        to->calls += p.shard != shard || p.begin != end;
        to->bytes += p.end - p.begin;
        shard = p.shard;
        end = p.end;
    }
}

static void ignore(void *context, const struct window *w)
{
    (void)context;
    (void)w;
}

/* Reads a sweep, and waits until the loader has read ahead what it may. */
static void read_sweep(struct record_stream *s, struct reads want, struct reads before)
{
    uint64_t own = 0;
    bool more;
    s->on_window = ignore;
    for (;; own++) {
        must(record_stream_more(s, &more, &err));
        if (!more)
            break;
        ck_assert(!record_stream_take(s)->lost);
    }
    ck_assert_uint_eq(own, share_before(&s->plan.global->share, 0, records));
    for (int ms = 0; ms < 10000 && counted().calls - before.calls < want.calls; ms++)
        clock_sleep_ms(1);
    clock_sleep_ms(5); /* for more than is allowed to come */
    ck_assert_uint_eq(counted().calls - before.calls, want.calls);
    ck_assert_uint_eq(counted().bytes - before.bytes, want.bytes);
}

static const struct record_stream_options rows[] = {
    {.shuffle = true},
    {.shuffle = true, .shuffle_window = 4 << 20, .chunk_bytes = 1 << 16},
    {.shuffle = false},
};

/* What a rank reads of a sweep; the calls are those of add_window(), the windows after the sweep
 * included. */
static struct reads read_rank(const struct record_stream_options *o, uint64_t ranks, uint64_t rank,
                              uint64_t *cells, uint64_t *windows)
{
    const struct container_options co = {
        .path_imgrec = rec, .path_imgidx = idx, .num_parts = 1, .cell_bytes = 1 << 16};
    struct container c;
    struct record_stream s = {0};
    struct reads sweep = {0}, ahead;
    struct global_order g = {.share = {records, BATCH, rank * BATCH / ranks, BATCH / ranks, false}};
    must(container_open(&co, &c, &err));
    must(record_stream_share(&s, o, &c, &g, &err));
    *windows = g.windows.count;
    *cells = g.cells;
    for (uint64_t w = 0; w < *windows; w++)
        add_window(&g, &c, w, &sweep);
    ahead = sweep;
    for (uint64_t w = 1; w < s.plan.arenas; w++) /* all but the one that is in use */
        add_window(&g, &c, *windows + w - 1, &ahead);
    const struct reads before = counted();
    must(record_stream_start(&s, &c, &err));
    read_sweep(&s, ahead, before);
    record_stream_stop(&s);
    global_order_free(&g);
    container_close(&c);
    return sweep;
}

CASE(.begin = make, .end = drop, .timeout = 120)

LOOP_TEST(all_ranks_read_each_byte_once_in_few_calls, 0, COUNT(rows))
{
    const struct record_stream_options *o = &rows[_i];
    for (uint64_t ranks = 1; ranks <= 12; ranks += ranks == 1 ? 2 : 9) {
        struct reads all = {0};
        uint64_t cells = 0, windows = 0;
        for (uint64_t rank = 0; rank < ranks; rank++) {
            const struct reads own = read_rank(o, ranks, rank, &cells, &windows);
            all.calls += own.calls;
            all.bytes += own.bytes;
        }
        ck_assert_uint_eq(all.bytes, bytes);
        ck_assert(windows > 1 || (o->chunk_bytes == 0 && ranks > 3));
        if (o->chunk_bytes != 0)
            ck_assert_uint_le(all.calls, cells + windows * ranks);
        else if (o->shuffle)
            ck_assert_uint_le(all.calls, records);
        else
            ck_assert_uint_le(all.calls, records * ranks / BATCH + windows + SHARDS);
    }
}
