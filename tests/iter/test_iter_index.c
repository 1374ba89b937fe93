/* path_imgidx=auto, none and a name: which order is taken, and what is said where the index and
 * its shard do not agree. */
#include "imrec/dataset.h"
#include "tests/support/heard.h"
#include "tests/support/imageset.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <unistd.h>

enum { SAMPLE_BYTES = 12 * 12 * 3 * 4, RECORDS = 60, SHARDS = 3 };

static struct image_set set;

static void setup(void)
{
    set = image_set_make(
        &(struct image_set_options){.records = RECORDS, .shards = SHARDS, .labels = 1});
}

static void teardown(void)
{
    heard_end();
    image_set_free(&set);
}

static struct stream read_sweeps(bool index, const char *words)
{
    struct stream out = {0};
    struct imrec_iter *it = set_open(&set, index, words);
    stream_read(&out, it, SAMPLE_BYTES, 2, SIZE_MAX);
    imrec_iter_close(it);
    return out;
}

static void must_agree(bool index, const char *words, const char *other)
{
    struct stream a = read_sweeps(false, words), b = read_sweeps(index, other);
    streams_must_equal(&a, &b, words);
    stream_free(&a);
    stream_free(&b);
}

static void remove_index(uint32_t shard)
{
    char name[32];
    snprintf(name, sizeof(name), "%02u.idx", shard);
    ck_assert_int_eq(unlink(tmp_path(&set.dir, name)), 0);
}

/* Rewrites an index without the lines [first, end), from 0. */
static void drop_lines(uint32_t shard, uint32_t first, uint32_t end)
{
    char name[32], text[4096] = "", line[128];
    snprintf(name, sizeof(name), "%02u.idx", shard);
    FILE *f = fopen(tmp_path(&set.dir, name), "rb");
    for (uint32_t i = 0; fgets(line, sizeof(line), f) != NULL; i++)
        if (i < first || i >= end)
            strcat(text, line);
    fclose(f);
    tmp_write(&set.dir, name, text, strlen(text));
}

/* ---- which order ------------------------------------------------------------------------------
 */

static const char *const ways[] = {"shuffle=1 seed=3", "", "shuffle=1 num_parts=4 part_index=1",
                                   "num_parts=7 part_index=6 equal_batches=1"};

CASE(.timeout = 60, .setup = setup, .teardown = teardown)

LOOP_TEST(auto_reads_in_the_order_of_the_indexes_that_are_there, 0, COUNT(ways)) /* _i: way */
{
    char words[200];
    struct imrec_iter_stats stats;
    heard_begin();
    snprintf(words, sizeof(words), "%s path_imgidx=auto", ways[_i]);
    must_agree(true, words, ways[_i]);
    struct imrec_iter *it = set_open(&set, false, words);
    imrec_iter_get_stats(it, &stats);
    ck_assert(stats.indexed);
    ck_assert_str_eq(imrec_iter_index(it), tmp_path(&set.dir, "00.idx"));
    imrec_iter_close(it);
    ck_assert_uint_eq(heard.n, 0);
}

LOOP_TEST(auto_without_any_index_is_none_and_so_is_nothing, 0, COUNT(ways)) /* _i: way */
{
    char words[200];
    struct imrec_iter_stats stats;
    heard_begin();
    snprintf(words, sizeof(words), "%s path_imgidx=none", ways[_i]);
    must_agree(false, words, ways[_i]);
    for (uint32_t i = 0; i < SHARDS; i++)
        remove_index(i);
    snprintf(words, sizeof(words), "%s path_imgidx=auto", ways[_i]);
    must_agree(false, words, ways[_i]);
    struct imrec_iter *it = set_open(&set, false, words);
    imrec_iter_get_stats(it, &stats);
    ck_assert(!stats.indexed);
    ck_assert_ptr_null(imrec_iter_index(it));
    imrec_iter_close(it);
    ck_assert_uint_eq(heard.n, 0);
}

TEST(auto_with_some_indexes_names_the_first_that_is_missing_and_uses_none)
{
    remove_index(1);
    remove_index(2);
    heard_begin();
    must_agree(false, "shuffle=1 path_imgidx=auto", "shuffle=1");
    ck_assert_uint_eq(heard.n, 1);
    ck_assert_uint_eq(heard_count("01.idx is missing"), 1);
    heard_begin();
    must_agree(false, "shuffle=1 path_imgidx=auto verbose=0", "shuffle=1");
    ck_assert_uint_eq(heard.n, 0);
}

TEST(files_of_these_names_have_a_folder_before_them)
{
    struct image_set one =
        image_set_make(&(struct image_set_options){.records = 9, .shards = 1, .labels = 1});
    char here[1024], words[64];
    ck_assert_ptr_nonnull(getcwd(here, sizeof(here)));
    ck_assert_int_eq(chdir(one.dir.path), 0);
    ck_assert_int_eq(rename("00.idx", "auto"), 0);
    for (int i = 0; i < 2; i++) {
        snprintf(words, sizeof(words), "path_imgidx=%sauto", i == 0 ? "" : "./");
        struct imrec_iter *it = set_open(&one, false, words);
        ck_assert_int_eq(imrec_iter_index(it) != NULL, i == 1);
        imrec_iter_close(it);
    }
    ck_assert_int_eq(chdir(here), 0);
    image_set_free(&one);
}

TEST(shuffle_chunk_size_shuffles_also_where_an_index_is_found)
{
    must_agree(true, "shuffle_chunk_size=4 path_imgidx=auto", "shuffle=1");
    for (uint32_t i = 0; i < SHARDS; i++)
        remove_index(i);
    must_agree(false, "shuffle_chunk_size=4 path_imgidx=auto", "shuffle_chunk_size=4");
}

LOOP_TEST(opening_fails_cleanly_when_the_nth_allocation_fails, 0, 2) /* _i: 1 = some are missing */
{
    if (_i == 1)
        remove_index(1);
    opening_must_fail_cleanly(&set, false, "path_imgidx=auto");
}

/* ---- an index that leaves records out -----------------------------------------------------------
 */

enum { EACH = RECORDS / SHARDS };
static const struct {
    uint32_t first, end; /* lines that shard 1's index lacks */
    const char *says;
} stale[] = {
    {0, 1, "01.idx does not list the record at byte 0 of "},
    {0, EACH, "01.idx lists no record, but "},
    {EACH - 1, EACH, "after its last one"},
    {5, EACH, "after its last one"},
};

LOOP_TEST(auto_refuses_an_index_that_ends_early_or_begins_late, 0, COUNT(stale))
{
    struct imrec_iter *it;
    struct imrec_error err = {0};
    drop_lines(1, stale[_i].first, stale[_i].end);
    ck_assert_int_eq(set_try_open(&set, false, "path_imgidx=auto", &it, &err), IMREC_ERR_CORRUPT);
    ck_assert_msg(strstr(err.message, stale[_i].says) != NULL, "%s", err.message);
    ck_assert_msg(strstr(err.message, "path_imgidx=none") != NULL, "%s", err.message);
    must_agree(false, "path_imgidx=none", "");
}

LOOP_TEST(a_named_index_is_taken_at_its_word_with_a_warning, 0, COUNT(stale))
{
    heard_begin();
    drop_lines(1, stale[_i].first, stale[_i].end);
    struct stream all = read_sweeps(true, "");
    ck_assert_uint_eq(all.n, 2 * (RECORDS - (stale[_i].end - stale[_i].first) + 1));
    ck_assert_uint_ge(heard_count(stale[_i].says), 1);
    ck_assert_uint_eq(heard.n, 1);
    stream_free(&all);
}

/* Lines [3, 5) and 9 of shard 1: two ranges. */
static void drop_inside(void)
{
    drop_lines(1, 9, 10);
    drop_lines(1, 3, 5);
}

static uint32_t told_of(struct imrec_iter *it, uint32_t sweeps, const char *words)
{
    struct imrec_batch b;
    uint32_t told = 0;
    while (sweeps > 0) {
        struct imrec_error err = {0};
        const enum imrec_status st = imrec_iter_next(it, &b, &err);
        sweeps -= st == IMREC_END;
        if (st != IMREC_ERR_DATA)
            continue;
        ck_assert_msg(strstr(err.message, words) != NULL, "%s", err.message);
        told++;
    }
    return told;
}

LOOP_TEST(what_an_index_that_was_found_leaves_out_inside_is_told_as_damage, 0, 2) /* _i: way */
{
    struct imrec_iter_stats stats;
    char words[200];
    drop_inside();
    uint64_t ranges = 0, samples = 0;
    for (int part = 0; part < 4; part++) {
        snprintf(words, sizeof(words), "path_imgidx=auto shuffle=%d num_parts=4 part_index=%d", _i,
                 part);
        struct imrec_iter *it = set_open(&set, false, words);
        uint64_t n;
        const uint32_t told = told_of(it, 1, "01.rec: bytes ");
        ck_assert_int_eq(imrec_iter_samples(it, &n, NULL), IMREC_OK);
        imrec_iter_get_stats(it, &stats);
        imrec_iter_close(it);
        snprintf(
            words, sizeof(words),
            "path_imgidx=auto shuffle=%d num_parts=4 part_index=%d on_error=skip max_samples=%d",
            _i, part, (int)n);
        it = set_open(&set, false, words); /* one sweep and no more */
        ck_assert_uint_eq(told_of(it, 1, "nothing"), 0);
        imrec_iter_get_stats(it, &stats);
        ck_assert_int_eq(stats.damaged_ranges != 0, told != 0);
        imrec_iter_close(it);
        ranges += stats.damaged_ranges;
        samples += n;
    }
    ck_assert_uint_eq(ranges, 2);
    ck_assert_uint_eq(samples, RECORDS - 3);
}

static enum bad ends_are_damaged(uint32_t i)
{
    return i % EACH == 0 || i % EACH == EACH - 1 ? BAD_FRAMING : GOOD;
}

/* Shards whose first and last record are damaged, and indexes that omit these. */
static void damage_ends(void)
{
    image_set_free(&set);
    set = image_set_make(&(struct image_set_options){
        .records = RECORDS, .shards = SHARDS, .labels = 1, .bad = ends_are_damaged});
    for (uint32_t i = 0; i < SHARDS; i++) {
        drop_lines(i, EACH - 1, EACH);
        drop_lines(i, 0, 1);
    }
}

TEST(bytes_that_no_index_could_list_are_told_as_unreadable)
{
    damage_ends();
    heard_begin();
    struct imrec_iter *it = set_open(&set, false, "path_imgidx=auto verbose=1");
    ck_assert_uint_ge(told_of(it, 1, "hold no readable record: "), 1);
    imrec_iter_close(it);
    ck_assert_uint_eq(heard_count("hold no readable record: "), 2 * SHARDS);
    ck_assert_uint_eq(heard_count("make a new index"), 0);
}

LOOP_TEST(damage_that_an_index_leaves_out_is_told_once_over_all_partitions, 1, 6) /* _i: parts */
{
    struct imrec_batch b;
    uint64_t ranges = 0, samples = 0;
    damage_ends();
    for (int part = 0; part < _i; part++) {
        char words[200];
        struct imrec_iter_stats stats;
        snprintf(words, sizeof(words),
                 "path_imgidx=auto num_parts=%d part_index=%d epoch_size=FULL_DATA_SWEEP "
                 "on_error=skip verbose=0",
                 _i, part);
        struct imrec_iter *it = set_open(&set, false, words);
        while (imrec_iter_next(it, &b, NULL) == IMREC_OK)
            samples += b.count;
        imrec_iter_get_stats(it, &stats);
        ranges += stats.damaged_ranges;
        imrec_iter_close(it);
    }
    ck_assert_uint_eq(samples, RECORDS - 2 * SHARDS);
    ck_assert_uint_eq(ranges, 2 * SHARDS);
}

TEST(what_a_named_index_leaves_out_inside_is_one_warning)
{
    struct imrec_iter_stats stats;
    drop_inside();
    heard_begin();
    struct imrec_iter *it = set_open(&set, true, "shuffle=1");
    ck_assert_uint_eq(told_of(it, 3, "nothing"), 0);
    imrec_iter_get_stats(it, &stats);
    imrec_iter_close(it);
    ck_assert_uint_eq(stats.damaged_ranges, 0);
    ck_assert_uint_eq(heard.n, 1);
    ck_assert_uint_eq(heard_count("01.rec: bytes "), 1);
}

TEST(an_index_that_cannot_be_read_says_how_to_do_without)
{
    struct imrec_iter *it;
    struct imrec_error err = {0};
    tmp_write(&set.dir, "02.idx", "1 2 3\n", 6);
    ck_assert_int_eq(set_try_open(&set, false, "path_imgidx=auto", &it, &err), IMREC_ERR_CORRUPT);
    ck_assert_msg(strstr(err.message, "02.idx line 1") != NULL, "%s", err.message);
    ck_assert_msg(strstr(err.message, "path_imgidx=none") != NULL, "%s", err.message);
}

static const char *const indexes[] = {"02.idx", "02.idxb"};

/* A rank that took this for none would have another order, and other partitions than the others. */
LOOP_TEST(an_index_of_which_it_is_not_known_whether_it_is_there_is_an_error, 0, COUNT(indexes))
{
    struct imrec_iter *it;
    struct imrec_error err = {0};
    const char *path = tmp_path(&set.dir, indexes[_i]);
    (void)unlink(path);
    ck_assert_int_eq(symlink(indexes[_i], path), 0); /* to itself */
    ck_assert_int_eq(set_try_open(&set, false, "path_imgidx=auto", &it, &err), IMREC_ERR_IO);
    ck_assert_int_eq(err.sys_errno, ELOOP);
    ck_assert_msg(strstr(err.message, indexes[_i]) != NULL, "%s", err.message);
    ck_assert_msg(strstr(err.message, "path_imgidx=none") != NULL, "%s", err.message);
    it = set_open(&set, false, "path_imgidx=none");
    imrec_iter_close(it);
}

static void count_records(uint64_t right)
{
    struct imrec_reader *r;
    uint64_t n;
    ck_assert_int_eq(imrec_reader_open(strchr(set.rec, '=') + 1, 0, 1, &r, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_reader_count(r, &n, NULL), IMREC_OK);
    ck_assert_uint_eq(n, right);
    imrec_reader_close(r);
}

LOOP_TEST(records_are_not_counted_by_an_index_that_leaves_some_out, 0, COUNT(stale))
{
    count_records(RECORDS);
    drop_lines(1, stale[_i].first, stale[_i].end);
    count_records(RECORDS);
}

/* ---- positions ------------------------------------------------------------------------------- */

static void refuse(const char *taken, const char *words, const char *const *says)
{
    struct imrec_iter *it = set_open(&set, false, taken);
    struct imrec_batch b;
    struct imrec_error err = {0};
    const char *json;
    ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_iter_position(it, &json, NULL), IMREC_OK);
    char *kept = strdup(json);
    imrec_iter_close(it);
    if (strcmp(says[0], "02.idx is missing") == 0)
        remove_index(2);
    it = set_open(&set, false, words);
    ck_assert_int_eq(imrec_iter_seek(it, kept, &err), IMREC_ERR_ARGUMENT);
    for (int i = 0; says[i] != NULL; i++)
        ck_assert_msg(strstr(err.message, says[i]) != NULL, "%s", err.message);
    free(kept);
    imrec_iter_close(it);
}

TEST(a_position_of_the_other_order_says_what_is_in_the_way)
{
    refuse("path_imgidx=none", "path_imgidx=auto",
           (const char *const[]){"taken without an index", "00.idx", "path_imgidx=none", NULL});
    refuse("path_imgidx=auto", "path_imgidx=none",
           (const char *const[]){"in the order of an index", "path_imgidx=auto", NULL});
    refuse("path_imgidx=auto", "path_imgidx=auto verbose=0",
           (const char *const[]){"02.idx is missing", "path_imgidx=", NULL});
}

/* ---- the binary index ---------------------------------------------------------------------------
 */

static void write_indexes(bool binary)
{
    struct imrec_index_place place = {0};
    for (uint32_t i = 0; i < SHARDS; i++) {
        char name[32];
        struct imrec_error err;
        struct imrec_index_result r;
        snprintf(name, sizeof(name), "%02u.rec", i);
        const char *shard = tmp_path(&set.dir, name);
        ck_assert_msg(
            (binary ? imrec_dataset_index_binary(shard, NULL, IMREC_KEYS_ID, true, &place, &r, &err)
                    : imrec_dataset_index(shard, NULL, IMREC_KEYS_ID, true, &r, &err)) == IMREC_OK,
            "%s", err.message);
        ck_assert_uint_eq(r.records, EACH);
    }
}

/* Samples of two sweeps, and the position after 2 batches. */
static struct stream read_auto(const char *way, char position[4096])
{
    char words[200];
    const char *json;
    struct imrec_batch b;
    struct imrec_error err = {0};
    snprintf(words, sizeof(words), "%s path_imgidx=auto", way);
    struct imrec_iter *it = set_open(&set, false, words);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_OK);
    ck_assert_int_eq(imrec_iter_position(it, &json, &err), IMREC_OK);
    ck_assert_int_lt(snprintf(position, 4096, "%s", json), 4096);
    imrec_iter_close(it);
    return read_sweeps(false, words);
}

LOOP_TEST(a_binary_index_gives_the_order_and_positions_of_the_text, 0, COUNT(ways)) /* _i: way */
{
    static char text[4096], both[4096], alone[4096];
    write_indexes(false);
    struct stream a = read_auto(ways[_i], text);
    write_indexes(true);
    struct stream b = read_auto(ways[_i], both);
    struct imrec_iter *it = set_open(&set, false, "path_imgidx=auto");
    ck_assert_str_eq(imrec_iter_index(it), tmp_path(&set.dir, "00.idxb")); /* found before .idx */
    imrec_iter_close(it);
    for (uint32_t i = 0; i < SHARDS; i++)
        remove_index(i);
    struct stream c = read_auto(ways[_i], alone);
    streams_must_equal(&a, &b, ways[_i]);
    streams_must_equal(&a, &c, ways[_i]);
    ck_assert_str_eq(text, both);
    ck_assert_str_eq(text, alone);
    stream_free(&a);
    stream_free(&b);
    stream_free(&c);
}

TEST(a_binary_index_of_another_shard_is_refused_by_name)
{
    struct imrec_iter *it;
    struct imrec_error err = {0};
    char from[512];
    write_indexes(true);
    snprintf(from, sizeof(from), "%s", tmp_path(&set.dir, "00.idxb"));
    ck_assert_int_eq(rename(from, tmp_path(&set.dir, "01.idxb")), 0);
    ck_assert_int_eq(set_try_open(&set, false, "path_imgidx=auto", &it, &err), IMREC_ERR_CORRUPT);
    ck_assert_msg(strstr(err.message, "01.idxb is the index of a") != NULL, "%s", err.message);
    ck_assert_msg(strstr(err.message, "01.rec") != NULL, "%s", err.message);
    ck_assert_msg(strstr(err.message, "imrec index --binary") != NULL, "%s", err.message);
}

TEST(opening_with_a_binary_index_fails_cleanly_when_the_nth_allocation_fails)
{
    write_indexes(true);
    opening_must_fail_cleanly(&set, false, "path_imgidx=auto");
}

/* ---- shards that were replaced since ---- */

static uint64_t offset_of(uint32_t shard, uint32_t line)
{
    char name[32];
    unsigned long long key, offset = 0;
    snprintf(name, sizeof(name), "%02u.idx", shard);
    FILE *f = fopen(tmp_path(&set.dir, name), "rb");
    for (uint32_t i = 0; i <= line; i++)
        ck_assert_int_eq(fscanf(f, "%llu %llu", &key, &offset), 2);
    fclose(f);
    return offset;
}

/* The last two records of shard 1, which have other lengths, change places. */
static void swap_last(void)
{
    static uint8_t all[1 << 20], before[1 << 20];
    const char *path = tmp_path(&set.dir, "01.rec");
    FILE *f = fopen(path, "rb");
    const size_t n = fread(all, 1, sizeof(all), f);
    fclose(f);
    const uint64_t a = offset_of(1, EACH - 2), b = offset_of(1, EACH - 1);
    ck_assert_uint_gt(a, 4096);
    ck_assert_uint_ne(b - a, n - b);
    memcpy(before, all, n);
    memcpy(all + a, before + b, n - b);
    memcpy(all + a + (n - b), before + a, b - a);
    tmp_write(&set.dir, "01.rec", all, n);
}

LOOP_TEST(a_shard_replaced_by_one_of_the_same_size_and_begin_is_told_as_damage, 0, 4)
{
    char words[200];
    write_indexes(true);
    swap_last();
    snprintf(words, sizeof(words), "path_imgidx=auto shuffle=%d%s", _i & 1,
             _i < 2 ? "" : " num_parts=3 part_index=2"); /* which has neither of the two */
    struct imrec_iter *it = set_open(&set, false, words);
    const uint32_t told = told_of(it, 1, "01.idxb has a record of ");
    ck_assert_int_eq(told != 0, _i < 2);
    imrec_iter_close(it);
}

TEST(a_position_goes_from_one_index_to_the_other)
{
    static char text[4096], binary[4096];
    const char *words = "path_imgidx=auto shuffle=1 seed=3 num_parts=2 part_index=1";
    struct imrec_error err = {0};
    write_indexes(false);
    for (int i = 0; i < 2; i++) {
        struct stream s = read_auto("shuffle=1 seed=3 num_parts=2 part_index=1", i ? binary : text);
        stream_free(&s);
        if (i == 0)
            write_indexes(true);
        struct imrec_iter *it = set_open(&set, false, words);
        ck_assert_msg(imrec_iter_seek(it, text, &err) == IMREC_OK, "%s", err.message);
        imrec_iter_close(it);
    }
    ck_assert_str_eq(text, binary);
    for (uint32_t i = 0; i < SHARDS; i++) {
        char name[32];
        snprintf(name, sizeof(name), "%02u.idxb", i);
        ck_assert_int_eq(unlink(tmp_path(&set.dir, name)), 0);
    }
    struct imrec_iter *it = set_open(&set, false, words);
    ck_assert_msg(imrec_iter_seek(it, binary, &err) == IMREC_OK, "%s", err.message);
    imrec_iter_close(it);
}
