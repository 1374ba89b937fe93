/* tests/iter/test_source_threads.c - records that a source of the user's lists come out as
 * those of an index: the same pixels, labels and ids in the same places. */
#include "tests/support/imageset.h"
#include "tests/support/iter_pair.h"
#include "tests/support/replacing.h"
#include "tests/support/suite.h"

enum { RECORDS = 60, FLOATS = 12 * 12 * 3 * 4 };
#define AGAIN "source=" SOURCES ":again "

static struct image_set make(uint32_t shards, enum bad (*fault)(uint32_t))
{
    return image_set_make(&(struct image_set_options){
        .records = RECORDS, .shards = shards, .labels = 2, .bad = fault});
}

static struct stream read_all(const struct image_set *s, bool plugged, const char *words)
{
    char all[1024];
    struct stream out = {0};
    snprintf(all, sizeof(all), "%s%s", plugged ? AGAIN : "", words);
    struct imrec_iter *it = set_open(s, !plugged, all);
    stream_read(&out, it, FLOATS, 2, 3 * RECORDS);
    imrec_iter_close(it);
    return out;
}

static void must_agree(const struct image_set *s, const char *words)
{
    struct stream a = read_all(s, true, words), b = read_all(s, false, words);
    streams_must_equal(&a, &b, words);
    stream_free(&a);
    stream_free(&b);
}

static const char *const ways[] = {
    "",
    "shuffle=1 seed=7",
    "shuffle=1 seed=8 batch_size=7 last_batch=partial preprocess_threads=5",
    "shuffle=1 batch_size=9 round_batch=1 preprocess_threads=1 prefetch_buffer=1",
    "batch_size=7 last_batch=wrap",
    "num_parts=3 part_index=0 shuffle=1",
    "num_parts=3 part_index=1 batch_size=3",
    "num_parts=5 part_index=4 shuffle=1 seed=3 equal_batches=1",
    "num_parts=70 part_index=69",
    "rand_crop=1 rand_mirror=1 brightness=0.4 resize=14 shuffle=1 mean_r=120 scale=0.5",
    "keep_in_memory=1 shuffle=1 drop_behind=1 num_parts=2 part_index=1",
    "memory_limit=2G shuffle=1 num_parts=2 part_index=1",
    "epoch_size=17 shuffle=1 on_error=skip",
    "shuffle=1 path_imgidx=auto", /* which a source needs not */
};
enum { WAYS = sizeof(ways) / sizeof(*ways) };

START_TEST(a_source_gives_what_an_index_gives) /* _i: way, shards */
{
    struct image_set s = make(_i % 2 ? 3 : 1, NULL);
    must_agree(&s, ways[_i / 2]);
    image_set_free(&s);
}
END_TEST

START_TEST(partitions_cover_all_records_once)
{
    struct image_set s = make(3, NULL);
    char words[100];
    for (int parts = 1; parts < 9; parts++) {
        uint32_t seen[RECORDS] = {0};
        for (int part = 0; part < parts; part++) {
            snprintf(words, sizeof(words), "shuffle=%d num_parts=%d part_index=%d", parts % 2,
                     parts, part);
            struct imrec_iter *it = NULL;
            struct stream x = {0};
            char all[1024];
            snprintf(all, sizeof(all), AGAIN "%s", words);
            it = set_open(&s, false, all);
            stream_read(&x, it, FLOATS, 1, SIZE_MAX);
            for (size_t i = 0; i + 1 < x.n; i++)
                seen[set_record_of(x.seen[i].id)]++;
            imrec_iter_close(it);
            stream_free(&x);
        }
        for (int i = 0; i < RECORDS; i++)
            ck_assert_uint_eq(seen[i], 1);
    }
    image_set_free(&s);
}
END_TEST

static enum bad some(uint32_t i)
{
    return i % 10 == 3 ? BAD_PIXELS : i % 10 == 8 ? BAD_LABELS : GOOD;
}

START_TEST(records_that_fail_fail_in_the_same_places)
{
    struct image_set s = make(2, some);
    must_agree(&s, "shuffle=1 preprocess_threads=4");
    must_agree(&s, "preprocess_threads=1 on_error=skip");
    image_set_free(&s);
}
END_TEST

static struct image_set failing;

static struct imrec_iter *open_failing(const char *words)
{
    char all[1024];
    snprintf(all, sizeof(all), AGAIN "shuffle=1 rand_crop=1 verbose=0 dtype_label=float64 %s",
             words);
    return set_open(&failing, false, all);
}

START_TEST(records_that_fail_are_replaced)
{
    failing = make(2, some);
    ck_assert_uint_eq(replacing_must_hold(open_failing, 1, 2, "source"), 2 * 12);
    image_set_free(&failing);
}
END_TEST

START_TEST(a_position_goes_on_where_it_was_taken) /* _i: batches before it */
{
    struct image_set s = make(2, NULL);
    struct stream all = read_all(&s, true, "shuffle=1 rand_crop=1 seed=5"), rest = {0};
    struct imrec_iter *it = set_open(&s, false, AGAIN "shuffle=1 rand_crop=1 seed=5");
    struct imrec_batch b;
    const char *json;
    for (int i = 0; i < _i; i++)
        ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_iter_position(it, &json, NULL), IMREC_OK);
    char *kept = strdup(json);
    imrec_iter_close(it);
    it =
        set_open(&s, false, AGAIN "shuffle=1 rand_crop=1 seed=5 batch_size=3 preprocess_threads=3");
    ck_assert_int_eq(imrec_iter_seek(it, kept, NULL), IMREC_OK);
    stream_read(&rest, it, FLOATS, 2, SIZE_MAX);
    struct stream wanted = {all.seen + 5 * _i, all.n - 5 * (size_t)_i, 0};
    streams_must_equal(&rest, &wanted, "restored");
    imrec_iter_close(it);
    stream_free(&rest);
    stream_free(&all);
    free(kept);
    image_set_free(&s);
}
END_TEST

START_TEST(a_folder_means_its_files_of_the_suffix)
{
    struct image_set s = make(2, NULL);
    char words[600];
    snprintf(words, sizeof(words), AGAIN "label_width=2");
    struct imrec_iter *one = pair_open(s.dir.path, words); /* .idx files are no records */
    struct imrec_iter *other = pair_open(s.rec + strlen("path_imgrec="), words);
    iterators_must_agree(one, other, FLOATS, 14, "folder");
    image_set_free(&s);
}
END_TEST

START_TEST(a_position_of_one_of_equal_partitions_is_found_by_another) /* _i: batches before it */
{
    static const char *words = AGAIN "shuffle=1 rand_crop=1 num_parts=7 equal_batches=1";
    struct image_set s = make(2, NULL);
    struct imrec_batch b;
    struct stream right = {0}, ours = {0};
    struct imrec_error err;
    const char *json;
    char last[300];
    snprintf(last, sizeof(last), "%s part_index=6", words);
    struct imrec_iter *from = set_open(&s, false, words), *plain = set_open(&s, false, last);
    struct imrec_iter *it = set_open(&s, false, last);
    for (int i = 0; i < _i; i++) {
        ck_assert_int_le(imrec_iter_next(from, &b, NULL), IMREC_END);
        ck_assert_int_le(imrec_iter_next(plain, &b, NULL), IMREC_END);
    }
    ck_assert_int_eq(imrec_iter_position(from, &json, NULL), IMREC_OK);
    ck_assert_msg(imrec_iter_seek(it, json, &err) == IMREC_OK, "%s", err.message);
    stream_read(&right, plain, FLOATS, 3, SIZE_MAX);
    stream_read(&ours, it, FLOATS, 3, SIZE_MAX);
    streams_must_equal(&ours, &right, json);
    stream_free(&right);
    stream_free(&ours);
    imrec_iter_close(from);
    imrec_iter_close(plain);
    imrec_iter_close(it);
    image_set_free(&s);
}
END_TEST

START_TEST(opening_fails_cleanly_when_the_nth_allocation_fails)
{
    struct image_set s = make(2, NULL);
    opening_must_fail_cleanly(&s, false, AGAIN "shuffle=1");
    image_set_free(&s);
}
END_TEST

START_TEST(nothing_is_allocated_in_the_steady_state)
{
    struct image_set s = image_set_make(
        &(struct image_set_options){.records = RECORDS, .shards = 2, .labels = 2, .jpeg = true});
    struct imrec_iter *it = set_open(&s, false, AGAIN "shuffle=1 rand_crop=1 last_batch=wrap");
    struct imrec_batch b;
    for (int i = 0; i < 500; i++)
        ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
    imrec_alloc_fail_after(0);
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
    imrec_alloc_fail_after(-1);
    imrec_iter_close(it);
    image_set_free(&s);
}
END_TEST

START_TEST(a_position_of_other_records_is_refused)
{
    struct image_set s = make(2, NULL), other = image_set_make(&(struct image_set_options){
                                            .records = RECORDS - 1, .shards = 2, .labels = 2});
    struct imrec_iter *a = set_open(&s, false, AGAIN "shuffle=1");
    struct imrec_iter *b = set_open(&other, false, AGAIN "shuffle=1");
    struct imrec_iter *c = set_open(&s, true, "shuffle=1"); /* the same records, by an index */
    const char *json;
    ck_assert_int_eq(imrec_iter_position(a, &json, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_iter_seek(b, json, NULL), IMREC_ERR_ARGUMENT);
    ck_assert_int_eq(imrec_iter_seek(c, json, NULL), IMREC_ERR_ARGUMENT);
    imrec_iter_close(a);
    imrec_iter_close(b);
    imrec_iter_close(c);
    image_set_free(&s);
    image_set_free(&other);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("source");
    TCase *tc = tcase_create("source");
    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, a_source_gives_what_an_index_gives, 0, 2 * WAYS);
    tcase_add_test(tc, partitions_cover_all_records_once);
    tcase_add_test(tc, records_that_fail_fail_in_the_same_places);
    tcase_add_test(tc, records_that_fail_are_replaced);
    tcase_add_loop_test(tc, a_position_goes_on_where_it_was_taken, 0, 12);
    tcase_add_loop_test(tc, a_position_of_one_of_equal_partitions_is_found_by_another, 0, 7);
    tcase_add_test(tc, opening_fails_cleanly_when_the_nth_allocation_fails);
    tcase_add_test(tc, nothing_is_allocated_in_the_steady_state);
    tcase_add_test(tc, a_position_of_other_records_is_refused);
    tcase_add_test(tc, a_folder_means_its_files_of_the_suffix);
    suite_add_tcase(s, tc);
    return suite_run(s);
}
