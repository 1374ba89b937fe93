/* verify_checksums=1: what differs from the .crc beside its shard is damage, and nothing else
 * changes. */
#include "tests/support/heard.h"
#include "tests/support/imageset.h"
#include "tests/support/small_set.h"
#include "tests/support/suite.h"

enum { RECORDS = 40, SHARDS = 2, EACH = RECORDS / SHARDS, SAMPLE_BYTES = 3 * 12 * 12 * 4 };

static struct image_set set;
static uint8_t *whole; /* the first shard */
static size_t whole_bytes, begins[EACH + 1];

static void make(void)
{
    struct imrec_error err;
    struct recordio_span span;
    uint32_t n = 0;
    set = image_set_make(
        &(struct image_set_options){.records = RECORDS, .shards = SHARDS, .labels = 1});
    ck_assert_uint_eq(small_checksums(tmp_path(&set.dir, "00.rec")), EACH);
    ck_assert_uint_eq(small_checksums(tmp_path(&set.dir, "01.rec")), EACH);
    must(source_load(tmp_path(&set.dir, "00.rec"), SIZE_MAX / 2, &whole, &whole_bytes, &err), &err);
    for (size_t at = 0; at < whole_bytes; at += span.bytes) {
        must(recordio_measure(whole + at, whole_bytes - at, at, &span, &err), &err);
        begins[n++] = at;
    }
    ck_assert_uint_eq(n, EACH);
    begins[EACH] = whole_bytes;
}

static void teardown(void)
{
    heard_end();
    imrec_free(whole);
    image_set_free(&set);
}

static void write_shard(size_t n)
{
    tmp_write(&set.dir, "00.rec", whole, n);
}

/* One sweep. */
static struct stream sweep(bool index, const char *words)
{
    struct stream s = {0};
    char all[300];
    snprintf(all, sizeof(all), "%s on_error=skip last_batch=partial epoch_size=FULL_DATA_SWEEP",
             words);
    struct imrec_iter *it = set_open(&set, index, all);
    stream_read(&s, it, SAMPLE_BYTES, 1, SIZE_MAX);
    imrec_iter_close(it);
    return s;
}

static const char *const orders[] = {
    "",
    "shuffle=1 shuffle_window=32768 shuffle_chunk=4096",
    "shuffle=1 shuffle_window=8192 shuffle_chunk=4096 preprocess_threads=7 batch_size=3",
    "num_parts=3 part_index=1",
};
enum { ORDERS = sizeof(orders) / sizeof(*orders) };

CASE(.timeout = 120, .setup = make, .teardown = teardown)

LOOP_TEST(intact_shards_are_read_as_without, 0,
          2 * ORDERS) /* _i: orders, without an index and with it */
{
    char words[300];
    const bool index = _i % 2;
    snprintf(words, sizeof(words), "%s verify_checksums=1", orders[_i / 2]);
    struct stream without = sweep(index, orders[_i / 2]), with = sweep(index, words);
    ck_assert_uint_gt(with.n, 5);
    streams_must_equal(&with, &without, words);
    stream_free(&without);
    stream_free(&with);
}

/* Every record of the sweep but record `k` is delivered, once; with an index its slot failed. */
static void expect_all_but(uint32_t k, bool index, const char *words, const char *what)
{
    struct stream s = sweep(index, words);
    uint32_t good[RECORDS] = {0}, failed = 0;
    for (size_t i = 0; i < s.n; i++) {
        const struct seen *x = &s.seen[i];
        if (x->status == IMREC_END)
            continue;
        failed += x->status != IMREC_OK;
        for (uint32_t r = 0; r < RECORDS; r++)
            good[r] += x->status == IMREC_OK && x->id == set_id(r);
    }
    ck_assert_msg(failed == index, "%s: %u failed slots", what, failed);
    for (uint32_t r = 0; r < RECORDS; r++)
        ck_assert_msg(good[r] == (r != k), "%s: record %u was delivered %u times", what, r,
                      good[r]);
    stream_free(&s);
}

LOOP_TEST(a_flipped_bit_costs_its_record_and_no_other, 0, 8) /* _i: bits; the index in turns */
{
    for (uint32_t k = 0; k < EACH; k += 2) {
        const size_t n = begins[k + 1] - begins[k];
        const size_t places[] = {0, 4, 5, 6, 7, 8, 12, 20, 32, n / 2, n - 1};
        for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
            char what[80];
            uint8_t *byte = &whole[begins[k] + places[i]];
            snprintf(what, sizeof(what), "bit %d of byte %zu of record %u", _i, places[i], k);
            *byte ^= (uint8_t)(1 << _i);
            write_shard(whole_bytes);
            *byte ^= (uint8_t)(1 << _i);
            expect_all_but(k, (k + i) % 2, "verify_checksums=1 verbose=0", what);
        }
    }
}

LOOP_TEST(cells_of_any_size_lose_the_same, 0, 3) /* _i: the first orders */
{
    for (uint32_t k = 0; k < EACH; k += 3)
        for (size_t at = 4; at < 40; at += 9) {
            char words[200];
            snprintf(words, sizeof(words), "%s verify_checksums=1 verbose=0", orders[_i]);
            whole[begins[k] + at] ^= 16;
            write_shard(whole_bytes);
            whole[begins[k] + at] ^= 16;
            expect_all_but(k, false, words, words);
        }
}

LOOP_TEST(the_damage_is_told, 0, 2) /* _i: without an index and with it */
{
    whole[begins[7] + 100] ^= 1;
    write_shard(whole_bytes);
    heard_begin();
    struct stream s = sweep(_i, "verify_checksums=1");
    heard_end();
    stream_free(&s);
    ck_assert_uint_eq(heard.n, 2); /* and a count */
    ck_assert_uint_eq(heard_count("the record's checksum is 0x"), 1);
    ck_assert_uint_eq(heard_count(_i ? "samples that failed: 1" : "damaged ranges: 1"), 1);
}

LOOP_TEST(records_behind_the_shards_end_are_told, 0, 2) /* _i: without an index and with it */
{
    write_shard(begins[EACH - 3]);
    if (_i) { /* one that says nothing of them */
        char text[64 * EACH];
        size_t n = 0;
        for (uint32_t k = 0; k < EACH - 3; k++)
            n += (size_t)snprintf(text + n, sizeof(text) - n, "%u\t%zu\n", k, begins[k]);
        tmp_write(&set.dir, "00.idx", text, n);
    }
    heard_begin();
    struct stream s = sweep(_i, "verify_checksums=1");
    heard_end();
    ck_assert_uint_eq(s.n, RECORDS - 3 + 1);
    stream_free(&s);
    ck_assert_uint_eq(heard_count("the shard ends here; its checksums have another"), 1);
}

static void expect_refused(bool index, const char *words, const char *says)
{
    struct imrec_iter *it;
    struct imrec_error err;
    ck_assert_int_ne(set_try_open(&set, index, words, &it, &err), IMREC_OK);
    ck_assert_msg(strstr(err.message, says) != NULL, "%s", err.message);
}

TEST(shards_without_sound_checksums_are_refused_by_every_rank)
{
    ck_assert_int_eq(unlink(tmp_path(&set.dir, "01.crc")), 0);
    expect_refused(false, "verify_checksums=1", "01.rec has no checksums next to it (.crc)");
    expect_refused(true, "verify_checksums=1", "01.rec has no checksums next to it (.crc)");
    expect_refused(false, "verify_checksums=1 num_parts=4 part_index=0", "01.rec has no checksums");
    imrec_iter_close(set_open(&set, false, ""));
    tmp_write(&set.dir, "01.crc", "no checksums at all", 19);
    expect_refused(false, "verify_checksums=1", "01.crc");
}

TEST(a_position_of_cells_knows_whether_they_were_compared)
{
    struct imrec_error err;
    struct imrec_batch b;
    const char *position;
    for (int with = 0; with < 2; with++)
        for (int index = 0; index < 2; index++) {
            struct imrec_iter *from = set_open(&set, index, with ? "verify_checksums=1" : ""),
                              *to = set_open(&set, index, with ? "" : "verify_checksums=1");
            ck_assert_int_eq(imrec_iter_next(from, &b, &err), IMREC_OK);
            ck_assert_int_eq(imrec_iter_position(from, &position, &err), IMREC_OK);
            ck_assert_int_eq(imrec_iter_seek(to, position, &err),
                             index ? IMREC_OK : IMREC_ERR_ARGUMENT);
            if (!index && !with)
                ck_assert_ptr_nonnull(strstr(err.message, "verify_checksums=1"));
            imrec_iter_close(from);
            imrec_iter_close(to);
        }
}

LOOP_TEST(their_memory_is_planned, 0, 2) /* _i: without an index and with it */
{
    struct imrec_iter_stats stats[2];
    for (int with = 0; with < 2; with++) {
        struct imrec_iter *it = set_open(&set, _i, with ? "verify_checksums=1" : "");
        imrec_iter_get_stats(it, &stats[with]);
        imrec_iter_close(it);
    }
    ck_assert_uint_ge(stats[1].memory_planned_bytes, stats[0].memory_planned_bytes + 8 * RECORDS);
}

LOOP_TEST(opening_without_memory_leaves_nothing, 0, 2) /* _i: without an index and with it */
{
    opening_must_fail_cleanly(&set, _i, "verify_checksums=1");
}
