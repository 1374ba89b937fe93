/* tests/iter/test_iter_folder.c - a folder of images delivers what the sets packed from it do. */
#include "tests/support/heard.h"
#include "tests/support/iter_pair.h"
#include "tests/support/suite.h"

enum { SLOT_BYTES = 3 * 12 * 12 * sizeof(float) };

static struct packing p;
static char one[512], two[1024];

static void make(bool with_bad)
{
    packing_make(&p, with_bad);
    p.o.resize = 0;
    p.o.pass_through = true;
    p.o.shuffle = false;
    p.o.check = IMREC_CHECK_DECODE;
    snprintf(one, sizeof(one), "%s/one.rec", p.dir.path);
    ck_assert_msg(packing_run(&p, one) == IMREC_OK, "%s", p.err.message);
}

static void setup(void)
{
    make(false);
    p.o.shards = 2;
    snprintf(two, sizeof(two), "%s/two.rec", p.dir.path);
    ck_assert_msg(packing_run(&p, two) == IMREC_OK, "%s", p.err.message);
    snprintf(two, sizeof(two), "%s/two-*.rec", p.dir.path);
    heard_begin();
}

static void bad_setup(void)
{
    make(true);
    heard_begin();
}

static void teardown(void)
{
    heard_end();
    packing_remove(&p);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

static const char *with(const char *words, const char *more)
{
    static char text[4][1024];
    static unsigned turn;
    char *to = text[turn++ % 4];
    snprintf(to, sizeof(text[0]), "%s %s", words, more);
    return to;
}

/* As many calls as two sweeps take, and some. */
static void must_equal(const char *folder_words, const char *set, const char *set_words)
{
    iterators_must_agree(pair_open(p.source, folder_words),
                         pair_open(set, with(set_words, "path_imgidx=auto")), SLOT_BYTES, 14,
                         folder_words);
}

#define DRAWN "rand_crop=1 rand_mirror=1 brightness=0.3 random_erasing=0.5 draw_key=id"

static const char *const orders[] = {
    "",
    "shuffle=1 seed=7",
    "shuffle=1 last_batch=repeat",
    "num_parts=3 part_index=1",
    "shuffle=1 num_parts=2 part_index=1 equal_batches=1",
    "shuffle=1 order=global num_parts=2 part_index=1",
    "shuffle=1 order=global num_parts=1 class_balanced=1",
    "shuffle=1 preprocess_threads=7 keep_in_memory=1",
    "shuffle=1 num_views=5 batch_size=10",
    "shuffle=1 mixup=0.4 num_classes=3",
};

CASE(.setup = setup, .teardown = teardown)

LOOP_TEST(pixels_without_draws_are_those_of_the_packed_set, 0, COUNT(orders))
{
    if (strstr(orders[_i], "mixup") == NULL) /* which is a draw */
        must_equal(orders[_i], one, orders[_i]);
}

LOOP_TEST(draws_by_id_are_those_of_every_packed_set, 0, COUNT(orders))
{
    const char *words = with(orders[_i], DRAWN);
    must_equal(words, one, words);
    if (strstr(words, "num_parts=3") == NULL) /* its order is that of records, too */
        must_equal(words, two, words);
}

TEST(draws_by_place_are_others)
{
    struct imrec_batch a, b;
    struct imrec_error err;
    struct imrec_iter *x = pair_open(p.source, "rand_crop=1 rand_mirror=1"),
                      *y = pair_open(p.source, "rand_crop=1 rand_mirror=1 draw_key=id");
    ck_assert_int_eq(imrec_iter_next(x, &a, &err), IMREC_OK);
    ck_assert_int_eq(imrec_iter_next(y, &b, &err), IMREC_OK);
    ck_assert_int_ne(memcmp(a.data, b.data, 5 * SLOT_BYTES), 0);
    imrec_iter_close(x);
    imrec_iter_close(y);
}

TEST(a_list_of_the_folder_delivers_the_same)
{
    char list[512], words[700];
    snprintf(list, sizeof(list), "%s/one.lst", p.dir.path);
    snprintf(words, sizeof(words), "shuffle=1 path_root=%s " DRAWN, p.source);
    iterators_must_agree(pair_open(list, words), pair_open(p.source, "shuffle=1 " DRAWN),
                         SLOT_BYTES, 14, "list");
}

TEST(threads_and_sweeps_change_nothing)
{
    iterators_must_agree(pair_open(p.source, "shuffle=1 preprocess_threads=1"),
                         pair_open(p.source, "shuffle=1 preprocess_threads=8 prefetch_buffer=4"),
                         SLOT_BYTES, 30, "threads");
}

TEST(a_position_continues_in_the_middle)
{
    struct imrec_batch b;
    struct imrec_error err;
    const char *json;
    char text[4096];
    struct imrec_iter *a = pair_open(p.source, "shuffle=1"), *c = pair_open(p.source, "shuffle=1");
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(imrec_iter_next(a, &b, &err), IMREC_OK);
    ck_assert_int_eq(imrec_iter_position(a, &json, &err), IMREC_OK);
    snprintf(text, sizeof(text), "%s", json);
    ck_assert_msg(imrec_iter_seek(c, text, &err) == IMREC_OK, "%s", err.message);
    iterators_must_agree(a, c, SLOT_BYTES, 10, "position");
    char other[512];
    snprintf(other, sizeof(other), "%s/ant/99.jpg", p.source);
    char from[512];
    snprintf(from, sizeof(from), "%s/ant/00.jpg", p.source);
    ck_assert_int_eq(rename(from, other), 0); /* it is another set now */
    c = pair_open(p.source, "shuffle=1");
    ck_assert_int_ne(imrec_iter_seek(c, text, &err), IMREC_OK);
    imrec_iter_close(c);
}

CASE(.setup = bad_setup, .teardown = teardown)

TEST(a_file_that_is_no_image_fails_alone)
{
    struct imrec_batch b;
    struct imrec_error err;
    uint32_t failed = 0, good = 0, told = 0;
    enum imrec_status st;
    struct imrec_iter *it = pair_open(p.source, "last_batch=partial");
    while ((st = imrec_iter_next(it, &b, &err)) != IMREC_END) {
        ck_assert_msg(st == IMREC_OK || st == IMREC_ERR_DATA, "%s", err.message);
        told += st == IMREC_ERR_DATA && strstr(err.message, "bee/") != NULL;
        failed += b.failed;
        good += b.count - b.failed;
        for (uint32_t i = 0; i < b.count; i++)
            ck_assert(b.status[i] == IMREC_OK || (b.ids[i] >= 16 && b.ids[i] <= 18));
    }
    ck_assert_uint_eq(failed, MADE_BAD);
    ck_assert_uint_eq(good, MADE_GOOD);
    ck_assert_uint_ge(told, 1);
    imrec_iter_close(it);
}

TEST(files_that_go_after_the_listing_fail_alone)
{
    struct imrec_batch b;
    struct imrec_error err;
    char name[512];
    uint32_t failed = 0, count = 0;
    snprintf(name, sizeof(name), "%s/cow/03.jpg", p.source);
    struct imrec_iter *it = pair_open(p.source, "last_batch=partial on_error=skip");
    ck_assert_int_eq(unlink(name), 0);
    for (int sweep = 0; sweep < 9; sweep++) { /* some may have been read before */
        failed = count = 0;
        while (imrec_iter_next(it, &b, &err) == IMREC_OK) {
            failed += b.failed;
            count += b.count;
        }
    }
    ck_assert_uint_eq(failed, MADE_BAD + 1);
    ck_assert_uint_eq(count, MADE_GOOD + MADE_BAD);
    imrec_iter_close(it);
}
