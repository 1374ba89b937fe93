/* Sets of very many records with binary indexes: their places are looked up, in memory that does
 * not depend on how many there are; what is delivered is what a table in memory gives.
 *
 * IMREC_HUGE_RECORDS=N asks for another number; then the figures are printed. */
#include "base/clock.h"
#include "container/container.h"
#include "tests/support/huge_set.h"
#include "tests/support/imageset.h"
#include "tests/support/suite.h"

#include <unistd.h>

enum { SHARDS = 5, SAMPLE = 3 * 12 * 12 * 4, TABLED = 1200000 };
#define COMPLETE_SET (INDEX_BLOCKS_COMPLETE | INDEX_BLOCKS_PLAIN)

static struct imrec_error err;

static struct imrec_iter *open_huge(const char *words)
{
    return open_over(huge.uris,
                     "path_imgidx=auto data_shape=3,12,12 batch_size=64 preprocess_threads=2 "
                     "on_error=skip verbose=0",
                     words);
}

static void teardown(void)
{
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

/* ---- the same as a table --------------------------------------------------------------------- */

/* Slots from the beginning, and from a place in the middle of the sweep; with its failures. */
static struct stream read_some(const char *words, struct imrec_iter_stats *stats)
{
    struct stream s = {0};
    struct imrec_iter *it = open_huge(words);
    const char *json;
    stream_read(&s, it, SAMPLE, 1, 1500);
    ck_assert_int_eq(imrec_iter_position(it, &json, &err), IMREC_OK);
    char *position = strdup(json);
    imrec_iter_close(it);
    it = open_huge(words);
    ck_assert_msg(imrec_iter_seek(it, position, &err) == IMREC_OK, "%s", err.message);
    stream_read(&s, it, SAMPLE, 1, 2500);
    stream_put(&s, (struct seen){.id = strlen(position),
                                 .hash = seen_hash(0, position, strlen(position))});
    imrec_iter_get_stats(it, stats);
    imrec_iter_close(it);
    free(position);
    return s;
}

CASE(.timeout = 600, .teardown = teardown)

LOOP_TEST(records_that_are_looked_up_are_those_of_a_table, 0, 2)
{
    char words[64];
    struct imrec_iter_stats s;
    snprintf(words, sizeof(words), "shuffle=%d seed=3", _i);
    huge_begin(TABLED, SHARDS, COMPLETE_SET);
    struct stream looked_up = read_some(words, &s);
    ck_assert_uint_le(s.memory_bytes, s.memory_planned_bytes);
    const uint64_t bytes = s.memory_planned_bytes;
    huge_end();
    huge_begin(TABLED, SHARDS, INDEX_BLOCKS_COMPLETE); /* all of it is read, and kept */
    struct stream tabled = read_some(words, &s);
    ck_assert_uint_gt(s.memory_planned_bytes, bytes + 20 * (uint64_t)TABLED);
    huge_end();
    streams_must_equal(&tabled, &looked_up, words);
    uint32_t lost = 0;
    for (size_t i = 0; i + 1 < tabled.n; i++) {
        const bool damaged = tabled.seen[i].id % 1000 == 17;
        lost += damaged;
        ck_assert_int_eq(tabled.seen[i].status != IMREC_OK, damaged);
    }
    ck_assert_uint_gt(lost, 0);
    stream_free(&looked_up);
    stream_free(&tabled);
}

/* ---- size ------------------------------------------------------------------------------------ */

static uint64_t resident_bytes(void)
{
    unsigned long pages = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f == NULL || fscanf(f, "%lu %lu", &pages, &resident) != 2)
        resident = 0;
    if (f != NULL)
        fclose(f);
    return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* The statistics, once reading ahead has filled every window. */
static void stats_at_rest(struct imrec_iter *it, struct imrec_iter_stats *s)
{
    uint64_t before;
    do {
        imrec_iter_get_stats(it, s);
        before = s->memory_bytes;
        usleep(100000);
        imrec_iter_get_stats(it, s);
    } while (s->memory_bytes != before);
}

/* The first batch of a partition has records of its own; a position continues. */
static void read_first(uint64_t n, uint32_t part, uint32_t parts, bool shuffle, bool print)
{
    char words[128];
    const char *json;
    struct imrec_batch b;
    struct imrec_iter_stats s;
    const uint64_t step = n / parts + (n % parts != 0);
    snprintf(words, sizeof(words), "num_parts=%u part_index=%u shuffle=%d", parts, part, shuffle);
    const uint64_t begin = clock_ns();
    struct imrec_iter *it = open_huge(words);
    ck_assert_msg(imrec_iter_next(it, &b, &err) == IMREC_OK, "%s", err.message);
    const double seconds = 1e-9 * (double)(clock_ns() - begin);
    for (uint32_t i = 0; i < b.count; i++) {
        ck_assert_uint_eq(b.ids[i] / step, part);
        ck_assert(shuffle || b.ids[i] == part * step + i);
        ck_assert(b.labels[i] == (b.status[i] == IMREC_OK ? (float)(b.ids[i] % 1000) : 0));
    }
    ck_assert_int_eq(imrec_iter_position(it, &json, &err), IMREC_OK);
    char *position = strdup(json);
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_OK);
    const uint64_t id = b.ids[0];
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_OK);
    stats_at_rest(it, &s);
    ck_assert_uint_lt(s.memory_planned_bytes, (uint64_t)96 << 20);
    ck_assert_uint_le(s.memory_bytes, s.memory_planned_bytes); /* tables of windows, too */
    const double resident = 1e-6 * (double)resident_bytes();
    imrec_iter_close(it);
    const uint64_t again = clock_ns();
    it = open_huge(words);
    ck_assert_msg(imrec_iter_seek(it, position, &err) == IMREC_OK, "%s", err.message);
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_OK);
    ck_assert_uint_eq(b.ids[0], id);
    if (print)
        printf("| %llu | %u | %d | %.2f | %.2f | %.0f | %.1f |\n", (unsigned long long)n, parts,
               shuffle, seconds, 1e-9 * (double)(clock_ns() - again), resident,
               1e-6 * (double)s.memory_planned_bytes);
    imrec_iter_close(it);
    free(position);
}

static uint64_t table_bytes(uint64_t n, uint32_t parts)
{
    struct container c;
    huge_begin(n, SHARDS, COMPLETE_SET);
    const struct container_options o = {.path_imgrec = huge.uris,
                                        .path_imgidx = "auto",
                                        .num_parts = parts,
                                        .cell_bytes = 4096,
                                        .table_most = 1 << 20};
    ck_assert_msg(container_open(&o, &c, &err) == IMREC_OK, "%s", err.message);
    const uint64_t bytes = container_table_memory(&c);
    ck_assert_uint_eq(bytes, container_memory(&c));
    container_close(&c);
    huge_end();
    return bytes;
}

TEST(nothing_is_held_of_a_large_index)
{
    ck_assert_uint_le(table_bytes(2000000, 1), 1000 * SHARDS);
    ck_assert_uint_eq(table_bytes(20000000, 1), table_bytes(2000000, 1));
    ck_assert_uint_eq(table_bytes(20000000, 8), table_bytes(2000000, 1));
    ck_assert_uint_eq(table_bytes(2000000, 8), 24 * 250001); /* a small one is a table */
}

TEST(every_partition_begins_and_is_resumed_at_once)
{
    const char *wanted = getenv("IMREC_HUGE_RECORDS");
    const uint64_t n = wanted != NULL ? strtoull(wanted, NULL, 10) : 20000000;
    huge_begin(n, SHARDS, COMPLETE_SET);
    if (wanted != NULL)
        printf("| records | partitions | shuffle | first batch, s | resumed, s | RSS, MB | "
               "planned, MB |\n");
    for (int shuffle = 0; shuffle < 2; shuffle++) {
        read_first(n, 0, 1, shuffle, wanted != NULL);
        read_first(n, 7, 8, shuffle, wanted != NULL);
        read_first(n, 3, 8, shuffle, false);
    }
    huge_end();
}
