/* on_error=replace: what stands in the slots of samples that fail is a function of the data and the
 * order alone, and nothing else of the stream changes. */
#include "tests/support/imageset.h"
#include "tests/support/replacing.h"
#include "tests/support/suite.h"

#include <stdatomic.h>

enum { RECORDS = 90 };

/* The first too, and the last, which goes on at its window's begin. */
static enum bad scattered(uint32_t i)
{
    return i == 0 || i == RECORDS - 1 ? BAD_PIXELS : set_some_bad(i);
}

static enum bad most_are_bad(uint32_t i)
{
    return i % 9 == 4 ? GOOD : i % 2 ? BAD_PIXELS : BAD_RECORD;
}

static enum bad all_are_bad(uint32_t i)
{
    return i % 3 ? BAD_PIXELS : BAD_RECORD;
}

static const struct image_set_options sets[] = {
    {.records = RECORDS, .shards = 2, .labels = 1, .bad = scattered},
    {.records = RECORDS, .shards = 2, .labels = 1, .bad = most_are_bad},
    {.records = RECORDS, .shards = 2, .labels = 1, .bad = all_are_bad},
    /* large enough for several windows in the orders that have large ones */
    {.records = RECORDS, .shards = 2, .labels = 1, .bad = scattered, .side = 256, .jpeg = true},
};
static const struct {
    const char *words;
    uint32_t rows;
} ways[] = {
    {"last_batch=partial", 1},
    {"last_batch=repeat num_parts=3 part_index=1", 1},
    {"num_parts=4 part_index=3 equal_batches=1", 1},
    {"num_views=4 record_draws=1", 4},
    {"rand_crop=0 random_resized_crop=1 multi_crop=2x12,1x8 multi_crop_area=0.3:1,0.05:0.5 "
     "num_views=2",
     2},
    {"num_classes=100 keep_in_memory=1", 1},
};
enum {
    SETS = sizeof(sets) / sizeof(*sets),
    ORDERS = sizeof(set_orders) / sizeof(*set_orders),
    WAYS = sizeof(ways) / sizeof(*ways),
};

static struct {
    struct image_set set;
    bool index;
    const char *order, *way;
} now;

static struct imrec_iter *open_now(const char *words)
{
    char all[1024];
    snprintf(all, sizeof(all), "rand_crop=1 rand_mirror=1 seed=5 verbose=0 %s %s %s", now.order,
             now.way, words);
    return set_open(&now.set, now.index, all);
}

CASE(.timeout = 120)

LOOP_TEST(a_failed_sample_is_replaced_by_the_next_good_one_of_its_window, 0,
          SETS *ORDERS) /* _i: set x order */
{
    now.set = image_set_make(&sets[_i / ORDERS]);
    now.index = set_orders[_i % ORDERS].index;
    now.order = set_orders[_i % ORDERS].words;
    for (int w = 0; w < WAYS; w++) {
        char what[300];
        now.way = ways[w].words;
        snprintf(what, sizeof(what), "set %d, %s %s", _i / ORDERS, now.order, now.way);
        const size_t n = replacing_must_hold(open_now, ways[w].rows, 2, what);
        ck_assert_msg((n != 0) == (sets[_i / ORDERS].bad != all_are_bad), "%s: %zu", what, n);
    }
    image_set_free(&now.set);
}

LOOP_TEST(a_position_inside_a_window_goes_on_with_the_same_replacements, 0, ORDERS) /* _i: order */
{
    now.set = image_set_make(&sets[_i % 2 ? 3 : 1]);
    now.index = set_orders[_i].index;
    now.order = set_orders[_i].words;
    now.way = "last_batch=partial";
    struct filled_list all = {0};
    struct imrec_iter *whole = open_now("on_error=replace batch_size=1");
    struct imrec_iter *it = open_now("on_error=replace batch_size=4 preprocess_threads=3");
    filled_read(&all, whole, 2, 1000);
    imrec_iter_close(whole);
    whole = open_now("on_error=replace batch_size=3");
    for (size_t at = 0; at + 3 <= all.n / 2; at += 3) {
        struct filled_list rest = {0};
        struct imrec_batch b;
        struct imrec_error err;
        const char *json;
        ck_assert_int_eq(imrec_iter_position(whole, &json, NULL), IMREC_OK);
        if (imrec_iter_seek(it, json, &err) != IMREC_OK)
            ck_abort_msg("%s", err.message);
        filled_read(&rest, it, 2, 9);
        filled_must_equal(&rest, all.of + at, 9, json);
        filled_free(&rest);
        ck_assert_int_eq(imrec_iter_next(whole, &b, NULL), IMREC_OK);
    }
    filled_free(&all);
    imrec_iter_close(whole);
    imrec_iter_close(it);
    image_set_free(&now.set);
}

LOOP_TEST(the_large_set_has_several_windows_in_every_order, 0, ORDERS) /* _i: order */
{
    now.set = image_set_make(&sets[3]);
    now.index = set_orders[_i].index;
    now.order = set_orders[_i].words;
    now.way = "last_batch=partial";
    struct filled_list all = {0};
    struct imrec_iter *it = open_now("on_error=skip batch_size=1");
    filled_read(&all, it, 1, 1000);
    ck_assert_uint_gt(all.of[all.n - 1].window, 0);
    filled_free(&all);
    imrec_iter_close(it);
    image_set_free(&now.set);
}

/* Slots of pad too, and of batches that are mixed. */
static void read_with_pad(const char *words, struct stream *out, size_t calls)
{
    struct imrec_iter *it = open_now(words);
    struct imrec_batch b;
    for (size_t i = 0; i < calls; i++)
        if (imrec_iter_next(it, &b, NULL) == IMREC_OK)
            stream_batch(out, &b, 12 * 12 * 3 * 4, true);
    imrec_iter_close(it);
}

static const char *const padded[] = {
    "mixup=0.5 cutmix=1 num_classes=100 batch_size=8",
    "last_batch=repeat batch_size=40",
    "num_parts=7 part_index=6 equal_batches=1 last_batch=repeat batch_size=11",
    "last_batch=wrap batch_size=200",
    "epoch_size=50 last_batch=repeat batch_size=16",
};

LOOP_TEST(mixed_and_repeated_slots_depend_on_no_thread, 0,
          2 * COUNT(padded)) /* _i: padded x index */
{
    const int kind = _i / 2;
    now.set = image_set_make(&sets[0]);
    now.index = _i % 2 != 0;
    now.order = "shuffle=1";
    now.way = padded[kind];
    struct stream one = {0}, many = {0};
    read_with_pad("on_error=replace preprocess_threads=1", &one, 25);
    read_with_pad("on_error=replace preprocess_threads=7", &many, 25);
    streams_must_equal(&many, &one, padded[kind]);
    for (size_t i = 0; i < one.n; i++)
        ck_assert_int_eq(one.seen[i].status, IMREC_OK);
    stream_free(&one);
    stream_free(&many);
    image_set_free(&now.set);
}

/* Record 0 is replaced by the last record that a search may try, or, one further, by none. */
static uint32_t first_good;
static enum bad bad_up_to(uint32_t i)
{
    return i < first_good ? BAD_RECORD : GOOD;
}

LOOP_TEST(the_search_ends_after_its_tries, 0, 2) /* _i: 0 = found, 1 = one too far */
{
    struct imrec_batch b;
    first_good = IMREC_REPLACE_TRIES + (uint32_t)_i;
    now.set = image_set_make(&(struct image_set_options){
        .records = first_good + 5, .shards = 1, .labels = 1, .bad = bad_up_to, .jpeg = true});
    now.index = false;
    now.order = "";
    now.way = "";
    struct imrec_iter *it = open_now("on_error=replace batch_size=2");
    ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
    ck_assert_int_eq(b.status[0] == IMREC_OK, _i == 0);
    ck_assert_int_eq(b.status[1], IMREC_OK); /* which is one nearer */
    ck_assert_uint_eq(b.failed, (uint32_t)_i);
    ck_assert_uint_eq(b.replaced, 2 - (uint32_t)_i);
    imrec_iter_close(it);
    image_set_free(&now.set);
}

static atomic_uint parsed;

static enum imrec_status list_some(struct imrec_source_file *f, struct imrec_error *err)
{
    enum imrec_status st = IMREC_OK;
    for (uint64_t i = 0; i < RECORDS && st == IMREC_OK; i++)
        st = f->add(f, 16 * i, 16, i, err);
    return st;
}

static enum imrec_status parse_none(const struct imrec_source_call *call,
                                    struct imrec_source_sample *out, struct imrec_error *err)
{
    (void)call, (void)out;
    snprintf(err->message, sizeof(err->message), "it is not to be read");
    atomic_fetch_add(&parsed, 1);
    return IMREC_ERR_CORRUPT;
}

TEST(a_window_of_bad_records_does_not_try_each_for_every_other)
{
    static const struct imrec_source none = {.index = list_some, .parse = parse_none};
    struct imrec_batch b;
    now.set =
        image_set_make(&(struct image_set_options){.records = RECORDS, .shards = 1, .labels = 1});
    now.index = false;
    now.order = "";
    now.way = "source=none_is_good batch_size=30 max_samples=90";
    ck_assert_int_eq(imrec_source_register("none_is_good", &none, NULL, NULL), IMREC_OK);
    struct imrec_iter *it = open_now("on_error=replace preprocess_threads=1");
    while (imrec_iter_next(it, &b, NULL) == IMREC_OK)
        ck_assert_uint_eq(b.failed, 30);
    imrec_iter_close(it);
    ck_assert_uint_eq(parsed, 2 * RECORDS - 1); /* for its own slot, and once for another */
    image_set_free(&now.set);
}

LOOP_TEST(batches_positions_and_the_samples_that_do_not_fail_are_those_of_skip, 0,
          ORDERS) /* _i: order */
{
    now.set = image_set_make(&sets[0]);
    now.index = set_orders[_i].index;
    now.order = set_orders[_i].words;
    now.way = "batch_size=7 epoch_size=40 last_batch=partial";
    struct imrec_iter *a = open_now("on_error=skip"), *b = open_now("on_error=replace");
    for (int i = 0; i < 30; i++) {
        struct imrec_batch x, y;
        const char *p, *q;
        const enum imrec_status st = imrec_iter_next(a, &x, NULL);
        ck_assert_int_eq(imrec_iter_next(b, &y, NULL), st);
        ck_assert_int_eq(imrec_iter_position(a, &p, NULL), IMREC_OK);
        ck_assert_int_eq(imrec_iter_position(b, &q, NULL), IMREC_OK);
        ck_assert_str_eq(p, q);
        if (st == IMREC_END)
            continue;
        ck_assert_uint_eq(x.count, y.count);
        ck_assert_uint_eq(x.slots, y.slots);
        ck_assert_uint_eq(x.failed, y.failed + y.replaced);
        for (uint32_t k = 0; k < x.slots; k++)
            ck_assert(x.status[k] != IMREC_OK || x.ids[k] == y.ids[k]);
    }
    imrec_iter_close(a);
    imrec_iter_close(b);
    image_set_free(&now.set);
}
