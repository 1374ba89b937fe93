/* Tars and TFRecords whose records are not listed when they are opened: whole shards are permuted,
 * records are found while they are read; and what follows is still a function of data, seed and
 * order alone. */
#include "storage/mem.h"
#include "tests/support/imageset.h"
#include "tests/support/suite.h"
#include "tests/support/tars.h"
#include "tests/support/tfrecords.h"

#include <fcntl.h>

enum { SAMPLE_BYTES = 12 * 12 * 3 * 4, RECORDS = 160, SHARDS = 19, KINDS = 2 };

static struct image_set s; /* its path_imgrec is the shards of a kind */
static const char *const suffixes[KINDS] = {"tar", "tfrecord"};

/* Some images are larger than a cell. */
static struct bytes image_of(struct codec *c, uint32_t i)
{
    const struct image_set_options o = {.side = i % 9 == 0 ? 90 : 0};
    return set_encode(c, &o, i);
}

static void put_sample(int kind, struct buf *to, struct codec *c, uint32_t i)
{
    char name[32], text[16];
    const struct bytes image = image_of(c, i);
    snprintf(text, sizeof(text), "%u", i);
    if (kind == 1) {
        const int64_t label = i;
        struct example_item items[] = {
            ints_item("image/class/label", &label, 1),
            {.name = text_bytes("image/encoded"), .type = EXAMPLE_BYTES, .bytes = image}};
        tfrecord_put(to, items, 2);
        return;
    }
    snprintf(name, sizeof(name), "%04u.jpg", i);
    tar_put(to, name, '0', image.p, image.n);
    snprintf(name, sizeof(name), "%04u.cls", i);
    tar_text(to, name, text);
}

/* Shards of different sizes, one of no record. `spoil` changes the bytes of a shard. */
static void make(int kind, void (*spoil)(int kind, uint32_t shard, struct buf *b))
{
    struct codec *c;
    char name[32];
    uint32_t i = 0;
    s = (struct image_set){tmpdir_make(), "", "path_imgidx=", RECORDS, 1};
    snprintf(s.rec, sizeof(s.rec), "path_imgrec=%s", s.dir.path);
    ck_assert_int_eq(codec_new(&c, NULL), IMREC_OK);
    for (uint32_t shard = 0; shard < SHARDS; shard++) {
        struct buf file = BUF_INIT((size_t)1 << 24);
        const uint32_t n = shard == 7 ? 0 : shard == SHARDS - 1 ? RECORDS - i : 1 + shard * 5 % 16;
        for (uint32_t k = 0; k < n; k++)
            put_sample(kind, &file, c, i++);
        if (kind == 0)
            tar_end(&file);
        if (spoil != NULL)
            spoil(kind, shard, &file);
        snprintf(name, sizeof(name), "s-%02u.%s", shard, suffixes[kind]);
        (void)tmp_write(&s.dir, name, file.p, file.n);
        buf_free(&file);
    }
    ck_assert_uint_eq(i, RECORDS);
    codec_free(c);
}

static void forget(void)
{
    image_set_free(&s);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

#define NEVER "list_shards=never verbose=0 "

static const char *const orders[] = {
    "", "shuffle=1 seed=3 shuffle_window=32768 shuffle_chunk=4096", /* several windows */
    "shuffle=1 seed=3 shuffle_window=16384 shuffle_chunk=4096",     /* cells below a record */
    "shuffle=1 seed=3",                                             /* one window */
};

static struct stream read_words(const char *order, const char *more, uint32_t sweeps)
{
    char words[512];
    struct stream out = {0};
    snprintf(words, sizeof(words), NEVER "seed=3 %s rand_crop=1 rand_mirror=1 %s", order, more);
    struct imrec_iter *it = set_open(&s, false, words);
    stream_read(&out, it, SAMPLE_BYTES, sweeps, SIZE_MAX);
    imrec_iter_close(it);
    return out;
}

/* What is seen of record i, by its pixels and label, where all are listed and in file order. */
static void see_all(uint64_t hash[RECORDS])
{
    struct stream all = {0};
    struct imrec_iter *it =
        set_open(&s, false, "list_shards=always seed=3 rand_crop=1 rand_mirror=1 verbose=0");
    stream_read(&all, it, SAMPLE_BYTES, 1, SIZE_MAX);
    ck_assert_uint_eq(all.n, RECORDS + 1);
    for (uint32_t i = 0; i < RECORDS; i++)
        hash[i] = all.seen[i].hash;
    imrec_iter_close(it);
    stream_free(&all);
}

static uint32_t record_of(const uint64_t hash[RECORDS], uint64_t h)
{
    for (uint32_t i = 0; i < RECORDS; i++)
        if (hash[i] == h)
            return i;
    ck_abort_msg("a sample that no record is");
    return 0;
}

CASE(.timeout = 240, .teardown = forget)

LOOP_TEST(every_partition_of_shards_has_its_records_once, 0, KINDS *COUNT(orders))
{
    uint64_t hash[RECORDS];
    make(_i % KINDS, NULL);
    see_all(hash);
    for (int parts = 1; parts <= SHARDS; parts += 6) {
        uint32_t seen[RECORDS] = {0};
        for (int part = 0; part < parts; part++) {
            char words[128];
            snprintf(words, sizeof(words), "num_parts=%d part_index=%d batch_size=%d", parts, part,
                     1 + parts);
            struct stream out = read_words(orders[_i / KINDS], words, 1);
            for (size_t i = 0; i < out.n; i++)
                if (out.seen[i].status == IMREC_OK)
                    seen[record_of(hash, out.seen[i].hash)]++;
            stream_free(&out);
        }
        for (uint32_t i = 0; i < RECORDS; i++)
            ck_assert_msg(seen[i] == 1, "%d parts: record %u %u times", parts, i, seen[i]);
    }
}

LOOP_TEST(batch_size_threads_and_prefetch_change_nothing, 0, KINDS *COUNT(orders))
{
    static const char *const ways[] = {
        "batch_size=1 preprocess_threads=7 prefetch_buffer=1",
        "batch_size=50 preprocess_threads=7 prefetch_buffer=5",
        "batch_size=64 preprocess_threads=2 keep_in_memory=1 drop_behind=1",
    };
    make(_i % KINDS, NULL);
    struct stream right = read_words(orders[_i / KINDS], "batch_size=5 preprocess_threads=1", 3);
    ck_assert_uint_eq(right.n, 3 * (RECORDS + 1));
    for (int w = 0; w < COUNT(ways); w++) {
        struct stream other = read_words(orders[_i / KINDS], ways[w], 3);
        streams_must_equal(&other, &right, ways[w]);
        stream_free(&other);
    }
    stream_free(&right);
}

LOOP_TEST(without_shuffle_it_is_the_order_of_the_files, 0, KINDS)
{
    uint64_t hash[RECORDS];
    make(_i, NULL);
    see_all(hash);
    struct stream out = read_words("", "", 1);
    for (uint32_t i = 0; i < RECORDS; i++)
        ck_assert_uint_eq(record_of(hash, out.seen[i].hash), i);
    ck_assert_uint_eq(out.seen[0].id, 0);
    ck_assert_uint_eq(out.seen[RECORDS - 1].id >> 32, SHARDS - 1);
    for (uint32_t i = 1; i < RECORDS; i++) /* counted in each shard */
        ck_assert(out.seen[i].id == out.seen[i - 1].id + 1 ||
                  ((out.seen[i].id & UINT32_MAX) == 0 && out.seen[i].id > out.seen[i - 1].id));
    stream_free(&out);
}

LOOP_TEST(sweeps_and_seeds_have_orders_of_their_own, 0, KINDS *(COUNT(orders) - 1))
{
    make(_i % KINDS, NULL);
    struct stream a = read_words(orders[1 + _i / KINDS], "", 2),
                  b = read_words(orders[1 + _i / KINDS], "seed=4", 1);
    uint32_t sweeps = 0, seeds = 0;
    for (uint32_t i = 0; i < RECORDS; i++) {
        sweeps += a.seen[i].id == a.seen[RECORDS + 1 + i].id;
        seeds += a.seen[i].id == b.seen[i].id;
    }
    ck_assert_uint_lt(sweeps, RECORDS / 6);
    ck_assert_uint_lt(seeds, RECORDS / 6);
    stream_free(&a);
    stream_free(&b);
}

/* Positions are taken after every few batches, and continued by an iterator that has read nothing,
 * and by one that goes forth and back. */
LOOP_TEST(every_position_continues, 0, KINDS *COUNT(orders))
{
    enum { STOPS = 16 };
    char words[512], json[STOPS][1024];
    size_t at[STOPS], n = 0;
    make(_i % KINDS, NULL);
    snprintf(words, sizeof(words), NEVER "%s rand_crop=1 rand_mirror=1", orders[_i / KINDS]);
    struct stream right = {0};
    struct imrec_iter *it = set_open(&s, false, words), *wanderer = set_open(&s, false, words);
    while (n < STOPS) {
        const char *text;
        ck_assert_int_eq(imrec_iter_position(it, &text, NULL), IMREC_OK);
        snprintf(json[n], sizeof(json[n]), "%s", text);
        at[n++] = right.n;
        stream_read(&right, it, SAMPLE_BYTES, 1, right.n + 9);
    }
    stream_read(&right, it, SAMPLE_BYTES, 1, SIZE_MAX);
    imrec_iter_close(it);
    for (size_t k = 0; k < n; k++) {
        const size_t i = k * 17 % n;
        struct imrec_iter *fresh = set_open(&s, false, words);
        struct imrec_iter *both[] = {fresh, wanderer};
        for (int w = 0; w < 2; w++) {
            struct imrec_error err;
            struct stream out = {0};
            ck_assert_msg(imrec_iter_seek(both[w], json[i], &err) == IMREC_OK, "%s", err.message);
            stream_read(&out, both[w], SAMPLE_BYTES, 1, 40);
            for (size_t x = 0; x < out.n && at[i] + x < right.n; x++)
                ck_assert_msg(out.seen[x].id == right.seen[at[i] + x].id &&
                                  out.seen[x].hash == right.seen[at[i] + x].hash,
                              "%s: %zu after it", json[i], x);
            stream_free(&out);
        }
        imrec_iter_close(fresh);
    }
    imrec_iter_close(wanderer);
    stream_free(&right);
}

LOOP_TEST(samples_are_counted_by_walking, 0, KINDS)
{
    uint64_t sum = 0;
    make(_i, NULL);
    for (int part = 0; part < 4; part++) {
        char words[128];
        uint64_t n;
        struct stream out = {0};
        snprintf(words, sizeof(words), NEVER "shuffle=1 num_parts=4 part_index=%d", part);
        struct imrec_iter *it = set_open(&s, false, words);
        ck_assert_int_eq(imrec_iter_samples(it, &n, NULL), IMREC_OK);
        stream_read(&out, it, SAMPLE_BYTES, 1, SIZE_MAX);
        ck_assert_uint_eq(out.n, n + 1);
        sum += n;
        stream_free(&out);
        imrec_iter_close(it);
    }
    ck_assert_uint_eq(sum, RECORDS);
}

/* ---- ranks that deliver as many batches ----------------------------------------------------- */

#define EQUAL                                                                                      \
    NEVER "equal_batches=1 last_batch=partial seed=3 rand_crop=1 rand_mirror=1 num_parts=4 "

/* With what partitions repeat. */
static void read_slots(struct stream *to, struct imrec_iter *it, uint32_t ends, size_t most)
{
    struct imrec_batch b;
    struct imrec_error err;
    while (ends > 0 && to->n < most) {
        const enum imrec_status st = imrec_iter_next(it, &b, &err);
        ck_assert_msg(st == IMREC_OK || st == IMREC_END, "%s", err.message);
        if (st == IMREC_OK)
            stream_batch(to, &b, SAMPLE_BYTES, true);
        else
            stream_put(to, (struct seen){.status = IMREC_END});
        ends -= st == IMREC_END;
    }
}

/* Of partition `part`; counted: the number was asked for before the first batch. */
static struct imrec_iter *open_equal(const char *order, const char *more, int part, bool counted)
{
    char words[512];
    uint64_t n;
    snprintf(words, sizeof(words), EQUAL "%s %s part_index=%d", order, more, part);
    struct imrec_iter *it = set_open(&s, false, words);
    if (counted)
        ck_assert_int_eq(imrec_iter_samples(it, &n, NULL), IMREC_OK);
    return it;
}

static struct stream read_equal(const char *order, const char *more, int part, bool counted)
{
    struct stream out = {0};
    struct imrec_iter *it = open_equal(order, more, part, counted);
    read_slots(&out, it, 2, SIZE_MAX);
    imrec_iter_close(it);
    return out;
}

/* Its own records, and then from their begin as many as the largest partition has. */
static void must_repeat(const struct stream *out, const char *order, int part, size_t most)
{
    char words[64];
    snprintf(words, sizeof(words), "num_parts=4 part_index=%d", part);
    struct stream own = read_words(order, words, 1);
    ck_assert_uint_eq(out->n, 2 * (most + 1));
    for (size_t i = 0; i < most; i++)
        ck_assert_msg(out->seen[i].id == own.seen[i % (own.n - 1)].id, "%d: sample %zu", part, i);
    ck_assert_int_eq(out->seen[most].status, IMREC_END);
    stream_free(&own);
}

LOOP_TEST(partitions_are_equal_whenever_their_records_are_counted, 0, KINDS *COUNT(orders))
{
    static const char *const ways[] = {"batch_size=5", "batch_size=1 preprocess_threads=5",
                                       "batch_size=64 prefetch_buffer=1"};
    const char *order = orders[_i / KINDS];
    size_t most = 0;
    make(_i % KINDS, NULL);
    for (int part = 0; part < 4; part++) {
        char words[64];
        snprintf(words, sizeof(words), "num_parts=4 part_index=%d", part);
        struct stream own = read_words(order, words, 1);
        most = own.n - 1 > most ? own.n - 1 : most;
        stream_free(&own);
    }
    for (int part = 0; part < 4; part++) {
        struct stream right = read_equal(order, ways[0], part, true);
        must_repeat(&right, order, part, most);
        for (int w = 0; w < COUNT(ways); w++) {
            struct stream out = read_equal(order, ways[w], part, false);
            streams_must_equal(&out, &right, ways[w]);
            stream_free(&out);
        }
        stream_free(&right);
    }
}

/* Wherever partition 0 was: what comes there is what comes without an interruption. */
LOOP_TEST(a_position_of_any_partition_moves_all, 0, KINDS *COUNT(orders))
{
    const char *order = orders[_i / KINDS], *json;
    make(_i % KINDS, NULL);
    for (int part = 0; part < 4; part += 3) {
        struct stream right = read_equal(order, "", part, true);
        struct imrec_iter *first = open_equal(order, "", 0, false);
        struct stream passed = {0};
        for (size_t at = 0; at < right.n / 2; at += 35) {
            struct stream out = {0};
            struct imrec_error err;
            ck_assert_int_eq(imrec_iter_position(first, &json, NULL), IMREC_OK);
            struct imrec_iter *it = open_equal(order, "", part, false);
            ck_assert_msg(imrec_iter_seek(it, json, &err) == IMREC_OK, "%s", err.message);
            read_slots(&out, it, 1, SIZE_MAX);
            for (size_t x = 0; x < out.n; x++)
                ck_assert_msg(out.seen[x].id == right.seen[at + x].id &&
                                  out.seen[x].hash == right.seen[at + x].hash,
                              "partition %d: %zu after %zu", part, x, at);
            imrec_iter_close(it);
            stream_free(&out);
            read_slots(&passed, first, 1, passed.n + 35);
        }
        imrec_iter_close(first);
        stream_free(&passed);
        stream_free(&right);
    }
}

/* All that is delivered is in memory by then; what is counted is what the files have now. */
TEST(shards_that_lose_records_before_they_are_counted_are_an_error)
{
    char path[400];
    struct imrec_batch b;
    struct imrec_error err = {0};
    enum imrec_status st;
    make(1, NULL);
    struct imrec_iter *it = set_open(
        &s, false, NEVER "equal_batches=1 shuffle=1 seed=3 batch_size=1 prefetch_buffer=1");
    while (!imrec_iter_wait(it, 1000))
        ;
    for (uint32_t i = 0; i < SHARDS; i += 2) {
        snprintf(path, sizeof(path), "%s/s-%02u.tfrecord", s.dir.path, i);
        const int fd = open(path, O_RDWR);
        ck_assert_int_eq(pwrite(fd, "x", 1, 0), 1);
        close(fd);
    }
    uint32_t n = 0;
    while ((st = imrec_iter_next(it, &b, &err)) == IMREC_OK)
        n += b.count;
    ck_assert_int_eq(st, IMREC_ERR_CORRUPT);
    ck_assert_uint_eq(n, RECORDS - 1); /* does the last one's batch end a sweep? nobody knows */
    ck_assert_msg(strstr(err.message, "160 records were read, but only 15") != NULL, "%s",
                  err.message);
    imrec_iter_close(it);
}

/* A count without memory is tried again by who needs it. */
TEST(counting_without_memory_fails_cleanly)
{
    uint64_t n;
    make(0, NULL);
    for (long fails = 0; fails < 40; fails++) {
        struct imrec_iter *it = set_open(&s, false, EQUAL "shuffle=1");
        struct imrec_error err = {0};
        while (!imrec_iter_wait(it, 1000))
            ;
        usleep(1000);
        imrec_alloc_fail_after(fails);
        const enum imrec_status st = imrec_iter_samples(it, &n, &err);
        imrec_alloc_fail_after(-1);
        ck_assert(st == IMREC_OK || (st == IMREC_ERR_NO_MEMORY && err.message[0] != '\0'));
        ck_assert_int_eq(imrec_iter_samples(it, &n, NULL), IMREC_OK);
        ck_assert_uint_gt(n, RECORDS / 4);
        imrec_iter_close(it);
    }
}

/* ---- damage ---------------------------------------------------------------------------------- */

/* Of shard 3: the head of its second record; of shard 5: a byte of its first image. */
static void spoil(int kind, uint32_t shard, struct buf *b)
{
    if (shard != 3 && shard != 5)
        return;
    const size_t tar_image = 512 + ((strtoul((const char *)b->p + 124, NULL, 8) + 511) & ~511u);
    if (shard == 3 && kind == 0)
        memset(b->p + tar_image + 1024, 'x', 512); /* the header of 0.jpg's successor */
    if (shard == 3 && kind == 1)
        b->p[16 + *(const uint32_t *)b->p] ^= 1;
    if (shard == 5)
        b->p[kind == 0 ? 512 + 3 : 60] ^= 0xff;
}

LOOP_TEST(damage_costs_itself_and_is_reported_alike, 0, KINDS *COUNT(orders))
{
    make(_i % KINDS, spoil);
    struct stream right =
        read_words(orders[_i / KINDS], "batch_size=5 preprocess_threads=1 on_error=skip", 2);
    struct stream other =
        read_words(orders[_i / KINDS], "batch_size=33 preprocess_threads=6 on_error=skip", 2);
    streams_must_equal(&other, &right, "damaged");
    uint32_t good = 0, failed = 0;
    for (size_t i = 0; i < right.n; i++) {
        good += right.seen[i].status == IMREC_OK;
        failed += right.seen[i].status != IMREC_OK && right.seen[i].status != IMREC_END;
    }
    /* A record without a head has no slot, but what is left of a sample has, as one without an
     * image; and wrong bytes have. */
    ck_assert_uint_eq(failed, _i % KINDS == 0 ? 4 : 2);
    ck_assert_uint_eq(good, 2 * (RECORDS - 2));
    stream_free(&right);
    stream_free(&other);
}

TEST(a_damaged_head_is_named_once_in_a_sweep)
{
    struct imrec_batch b;
    struct imrec_error err;
    uint32_t named = 0;
    make(1, spoil);
    struct imrec_iter *it = set_open(&s, false, NEVER "shuffle=1");
    for (enum imrec_status st; (st = imrec_iter_next(it, &b, &err)) != IMREC_END;)
        if (st == IMREC_ERR_DATA && strstr(err.message, "s-03.tfrecord") != NULL) {
            ck_assert_msg(strstr(err.message, "the checksum of the record's length is wrong"), "%s",
                          err.message);
            named++;
        }
    ck_assert_uint_eq(named, 1);
    imrec_iter_close(it);
}

/* ---- what is refused, and what is chosen ------------------------------------------------------
 */

static void must_refuse(const char *words, const char *why)
{
    struct imrec_iter *it;
    struct imrec_error err = {0};
    ck_assert_int_ne(set_try_open(&s, false, words, &it, &err), IMREC_OK);
    ck_assert_msg(strstr(err.message, why) != NULL, "%s", err.message);
}

TEST(more_partitions_than_shards_are_refused)
{
    make(0, NULL);
    must_refuse(NEVER "num_parts=20", "has 19 for num_parts=20: use list_shards=always");
    must_refuse(NEVER "path_imgidx=/tmp", "lists records: leave one of both out");
    must_refuse(NEVER "order=global shuffle=1", "order=global needs records that are known singly");
}

TEST(other_kinds_refuse_the_option)
{
    s = image_set_make(&(struct image_set_options){.records = 9, .shards = 1, .labels = 1});
    must_refuse("list_shards=always", "is for tar archives and TFRecord files");
}

static bool is_listed(const char *words)
{
    struct imrec_iter *it = set_open(&s, false, words);
    const char *json;
    ck_assert_int_eq(imrec_iter_position(it, &json, NULL), IMREC_OK);
    const bool listed = strstr(json, "\"indexed\": 1") != NULL;
    ck_assert_msg(listed || strstr(json, "\"indexed\": 0") != NULL, "%s", json);
    imrec_iter_close(it);
    return listed;
}

TEST(large_sets_are_not_listed)
{
    char path[400];
    make(1, NULL);
    ck_assert(is_listed("verbose=0"));
    for (uint32_t i = 0; i < SHARDS; i++) { /* holes, which nobody reads */
        if (i == 7)
            continue;
        snprintf(path, sizeof(path), "%s/s-%02u.tfrecord", s.dir.path, i);
        ck_assert_int_eq(truncate(path, (off_t)((uint64_t)240 << 20)), 0);
    }
    ck_assert(!is_listed("verbose=0"));
    ck_assert(!is_listed("verbose=0 num_parts=19 part_index=18"));
    ck_assert(!is_listed("verbose=0 num_parts=2 part_index=1 equal_batches=1"));
    ck_assert(!is_listed("verbose=0 num_parts=19 part_index=18 equal_batches=1"));
}

/* 19 shards in 18 partitions: the first one has twice as much as the others. */
TEST(partitions_that_would_repeat_much_are_listed)
{
    char path[400];
    make(0, NULL);
    for (uint32_t i = 0; i < SHARDS; i++) {
        snprintf(path, sizeof(path), "%s/s-%02u.tar", s.dir.path, i);
        ck_assert_int_eq(truncate(path, (off_t)((uint64_t)240 << 20)), 0);
    }
    ck_assert(!is_listed("verbose=0 num_parts=18 part_index=17"));
    ck_assert(!is_listed("verbose=0 num_parts=6 equal_batches=1 list_shards=never"));
    ck_assert(!is_listed("verbose=0 num_parts=19 equal_batches=1"));
    ck_assert(is_listed("verbose=0 num_parts=18 equal_batches=1"));
}

TEST(a_position_of_the_other_order_says_what_to_open)
{
    const char *json;
    struct imrec_error err;
    make(0, NULL);
    struct imrec_iter *a = set_open(&s, false, "shuffle=1 verbose=0"),
                      *b = set_open(&s, false, NEVER "shuffle=1");
    ck_assert_int_eq(imrec_iter_position(a, &json, NULL), IMREC_OK);
    ck_assert_int_ne(imrec_iter_seek(b, json, &err), IMREC_OK);
    ck_assert_msg(strstr(err.message, "list_shards=always") != NULL, "%s", err.message);
    ck_assert_int_eq(imrec_iter_position(b, &json, NULL), IMREC_OK);
    ck_assert_int_ne(imrec_iter_seek(a, json, &err), IMREC_OK);
    ck_assert_msg(strstr(err.message, "list_shards=never") != NULL, "%s", err.message);
    imrec_iter_close(a);
    imrec_iter_close(b);
}

TEST(opening_without_memory_fails_cleanly)
{
    make(0, NULL);
    opening_must_fail_cleanly(&s, false, NEVER "equal_batches=1 num_parts=3");
    opening_must_fail_cleanly(&s, false, NEVER "shuffle=1");
}

/* From some allocation on there is no memory: next() says so, or the sweep is whole. */
LOOP_TEST(reading_without_memory_fails_cleanly, 0, KINDS)
{
    make(_i, NULL);
    for (long n = 0; n < 300; n += 11) {
        struct imrec_iter *it = set_open(&s, false,
                                         NEVER "shuffle=1 seed=3 shuffle_window=32768 "
                                               "shuffle_chunk=4096 on_error=skip");
        struct imrec_batch b;
        struct imrec_error err = {0};
        enum imrec_status st;
        imrec_alloc_fail_after(n);
        do
            st = imrec_iter_next(it, &b, &err);
        while (st == IMREC_OK);
        imrec_alloc_fail_after(-1);
        ck_assert_msg(st == IMREC_END || st == IMREC_ERR_NO_MEMORY, "%d: %s", (int)st, err.message);
        imrec_iter_close(it);
    }
}
