/* What is logged of a sweep: at most ten lines of what is wrong, in the order of the stream, and a
 * count at its end. */
#include "storage/fault.h"
#include "tests/support/heard.h"
#include "tests/support/imageset.h"
#include "tests/support/suite.h"

enum { RECORDS = 90, LISTED = 10 };

static struct image_set set;

static enum bad many(uint32_t i)
{
    return i % 5 == 3 ? BAD_PIXELS : i % 15 == 7 ? BAD_FRAMING : GOOD;
}

static enum bad few(uint32_t i)
{
    return i == 20 || i == 71 ? BAD_PIXELS : i == 40 ? BAD_FRAMING : GOOD;
}

static void make(enum bad (*bad)(uint32_t))
{
    set = image_set_make(
        &(struct image_set_options){.records = RECORDS, .shards = 2, .labels = 1, .bad = bad});
}

static void teardown(void)
{
    heard_end();
    image_set_free(&set);
}

/* Reads `calls` times; what is heard stays in `heard`. */
static void hear(bool index, const char *words, int calls)
{
    struct imrec_iter *it = set_open(&set, index, words);
    struct imrec_batch b;
    heard_begin();
    for (int i = 0; i < calls; i++)
        ck_assert_int_ne(imrec_iter_next(it, &b, NULL), IMREC_ERR_NO_MEMORY);
    heard_end();
    imrec_iter_close(it);
}

/* With an index each fault has a slot: batches of one sample give the reasons in their order. */
static uint32_t faults_in_order(const char *order, char reasons[][512])
{
    struct imrec_batch b;
    struct imrec_error err;
    enum imrec_status st;
    uint32_t n = 0;
    char words[200];
    snprintf(words, sizeof(words), "%s batch_size=1 verbose=0", order);
    struct imrec_iter *it = set_open(&set, true, words);
    while ((st = imrec_iter_next(it, &b, &err)) != IMREC_END)
        if (st == IMREC_ERR_DATA)
            snprintf(reasons[n++], 512, "%s", err.message);
    imrec_iter_close(it);
    return n;
}

CASE(.timeout = 60, .teardown = teardown)

LOOP_TEST(the_first_ten_are_listed_in_the_order_of_the_stream, 0, 2) /* _i: 1 = shuffled */
{
    static const char *const ways[] = {"preprocess_threads=1 batch_size=7",
                                       "preprocess_threads=2 batch_size=90",
                                       "preprocess_threads=7 batch_size=3 prefetch_buffer=4",
                                       "preprocess_threads=7 batch_size=16 on_error=skip",
                                       "preprocess_threads=3 batch_size=5 num_views=5"};
    static char reasons[RECORDS][512];
    const char *order = _i ? "shuffle=1" : "";
    make(many);
    ck_assert_uint_eq(faults_in_order(order, reasons), 24);
    for (size_t w = 0; w < sizeof(ways) / sizeof(*ways); w++) {
        char words[300];
        snprintf(words, sizeof(words), "%s %s last_batch=partial epoch_size=FULL_DATA_SWEEP", order,
                 ways[w]);
        hear(true, words, 100);
        ck_assert_msg(heard.n == LISTED + 1, "%s: %u lines", words, heard.n);
        for (uint32_t i = 0; i < LISTED; i++)
            ck_assert_str_eq(heard.line[i], reasons[i]);
    }
}

LOOP_TEST(the_same_lines_come_with_any_number_of_threads, 0, COUNT(set_orders)) /* _i: order */
{
    static char right[LISTED + 1][512];
    make(many);
    for (int threads = 1; threads <= 7; threads += 3)
        for (int batch = 1; batch <= 90; batch = batch * 4 + 1) {
            char words[300];
            snprintf(words, sizeof(words),
                     "%s preprocess_threads=%d batch_size=%d last_batch=partial "
                     "epoch_size=FULL_DATA_SWEEP",
                     set_orders[_i].words, threads, batch);
            hear(set_orders[_i].index, words, 100);
            ck_assert_uint_eq(heard.n, LISTED + 1);
            for (uint32_t i = 0; i <= LISTED; i++) {
                if (threads == 1 && batch == 1)
                    snprintf(right[i], sizeof(right[i]), "%s", heard.line[i]);
                ck_assert_str_eq(heard.line[i], right[i]);
            }
        }
}

static const struct {
    const char *words, *says[3];
    bool index;
    uint32_t lines; /* in all, in these calls */
    int calls;
} cases[] = {
    /* many: 18 bad images, of the others 6 heads that are gone; three of those are neighbours */
    {"on_error=skip batch_size=30",
     {"00.rec and 1 more: sweep 0: samples that failed: 24 "
      "(replaced: 0, zeroed: 24); not listed above: 14"},
     true,
     11,
     4},
    {"on_error=replace batch_size=30",
     {"sweep 0: samples that failed: 24 (replaced: 24, zeroed: 0); not listed above: 14",
      "sweep 1: samples that failed: 24 (replaced: 24, zeroed: 0); not listed above: 14"},
     true,
     22,
     7},
    {"on_error=skip batch_size=28",
     {"sweep 0: samples that failed: 18 (replaced: 0, zeroed: 18); damaged ranges: 6; not listed "
      "above: 14"},
     false,
     11,
     4},
    {"verbose=0 batch_size=30", {""}, true, 0, 8},
};

LOOP_TEST(a_count_ends_each_sweep, 0, COUNT(cases))
{
    make(many);
    hear(cases[_i].index, cases[_i].words, cases[_i].calls);
    ck_assert_uint_eq(heard.n, cases[_i].lines);
    for (int k = 0; k < 3 && cases[_i].says[k] != NULL && cases[_i].lines != 0; k++)
        ck_assert_msg(heard_count(cases[_i].says[k]) == 1, "%s, not %s", cases[_i].says[k],
                      heard.line[heard.n - 1]);
}

TEST(a_sweep_without_a_fault_says_nothing)
{
    make(NULL);
    hear(false, "batch_size=30", 20);
    ck_assert_uint_eq(heard.n, 0);
}

TEST(few_faults_are_all_listed)
{
    make(few);
    hear(false, "batch_size=7 on_error=skip epoch_size=FULL_DATA_SWEEP", 40);
    ck_assert_uint_eq(heard.n, 4);
    ck_assert_uint_eq(heard_count("sweep 0: samples that failed: 2 (replaced: 0, zeroed: 2); "
                                  "damaged ranges: 1; not listed above: 0"),
                      1);
}

/* However batches run over the ends of sweeps, a sweep's faults are its own. */
static const char *const running[] = {
    "last_batch=wrap batch_size=7",
    "last_batch=wrap batch_size=90",
    "last_batch=wrap batch_size=200", /* more than a sweep */
    "epoch_size=17 last_batch=partial batch_size=5",
    "epoch_size=INFINITELY_REPEAT batch_size=40",
    "epoch_size=25 last_batch=repeat batch_size=8", /* what is repeated is not told twice */
    "last_batch=repeat batch_size=8",
    "last_batch=pad batch_size=91",
};

LOOP_TEST(samples_count_in_their_own_sweep, 0, 2 * COUNT(running)) /* _i into running, index */
{
    enum { WAYS = sizeof(running) / sizeof(*running) };
    char words[300];
    struct imrec_batch b;
    make(few);
    snprintf(words, sizeof(words), "%s on_error=skip", running[_i / 2]);
    struct imrec_iter *it = set_open(&set, _i % 2 != 0, words);
    heard_begin();
    b.sweep = 0;
    for (int i = 0; b.sweep < 5; i++)
        (void)!imrec_iter_next(it, &b, NULL);
    heard_end();
    for (int sweep = 0; sweep < 5; sweep++) {
        char line[200];
        snprintf(line, sizeof(line),
                 _i % 2 ? "sweep %d: samples that failed: 3 (replaced: 0, zeroed: 3); not listed"
                        : "sweep %d: samples that failed: 2 (replaced: 0, zeroed: 2); damaged "
                          "ranges: 1; not listed",
                 sweep);
        ck_assert_msg(heard_count(line) == 1, "%s: %u lines '%s'; last: %s", words,
                      heard_count(line), line, heard.line[heard.n - 1]);
    }
    imrec_iter_close(it);
}

/* A batch keeps ten lines for all its sweeps: who comes behind them is counted, and not listed
 * later as if it came first. */
TEST(batches_of_several_sweeps_list_no_fault_out_of_turn)
{
    make(many);
    hear(true, "last_batch=wrap batch_size=200 on_error=skip", 2);
    ck_assert_uint_eq(heard.n, LISTED + 4);
    for (uint32_t i = LISTED; i < heard.n; i++) {
        char line[100];
        snprintf(line, sizeof(line), "sweep %u: samples that failed: 24 (", i - LISTED);
        ck_assert_msg(strstr(heard.line[i], line) != NULL, "%s", heard.line[i]);
    }
    ck_assert_uint_eq(heard_count("not listed above: 24"), 3);
}

/* Bytes that cannot be read are told by the cells that hold them, which have no sample: where the
 * last window of a sweep is one, its damage is still that sweep's. */
TEST(damage_behind_the_last_sample_is_of_its_own_sweep)
{
    make(NULL);
    char rest[2048];
    struct imrec_batch b = {.sweep = 0};
    snprintf(rest, sizeof(rest), "path_imgrec=fault://script=eio:%s",
             strchr(strchr(set.rec, '='), ';') + 1);
    memcpy(set.rec, rest, sizeof(rest));
    ck_assert_int_eq(
        fault_set("eio", &(struct fault_script){.bad_begin = 8192, .bad_end = 8192 + 16384}, NULL),
        IMREC_OK);
    struct imrec_iter *it = set_open(&set, false,
                                     "shuffle=1 shuffle_window=8192 shuffle_chunk=4096 "
                                     "last_batch=wrap on_error=skip batch_size=3");
    heard_begin();
    while (b.sweep < 12)
        ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
    heard_end();
    imrec_iter_close(it);
    fault_forget("eio");
    ck_assert_uint_eq(heard_count(": sweep "), 12);
    ck_assert_uint_eq(heard_count(": damaged ranges: 5; not listed above: 0"), 12);
}

TEST(equal_partitions_tell_their_own_samples_once)
{
    uint32_t samples = 0;
    make(few);
    for (int part = 0; part < 7; part++) {
        char words[200];
        snprintf(words, sizeof(words),
                 "num_parts=7 part_index=%d equal_batches=1 batch_size=4 on_error=skip "
                 "epoch_size=FULL_DATA_SWEEP",
                 part);
        hear(true, words, 20);
        samples += heard.n > 0 ? heard.n - 1 : 0;
    }
    ck_assert_uint_eq(samples, 3);
}

TEST(a_mean_image_says_how_many_it_lacks)
{
    char words[700];
    make(few);
    snprintf(words, sizeof(words), "mean_img=%s on_error=skip", tmp_path(&set.dir, "mean.bin"));
    heard_begin();
    imrec_iter_close(set_open(&set, true, words));
    imrec_iter_close(set_open(&set, true, words)); /* now it is there */
    ck_assert_uint_eq(heard.n, 1);
    ck_assert_uint_eq(heard_count("mean.bin: samples that failed and are not in it: 3"), 1);
}

TEST(what_is_dropped_is_not_told)
{
    make(few); /* the last batch, of 23 samples, is not delivered: 71 is in it */
    hear(true, "last_batch=drop batch_size=67 on_error=skip epoch_size=FULL_DATA_SWEEP", 10);
    ck_assert_uint_eq(heard.n, 3);
    ck_assert_uint_eq(heard_count("samples that failed: 2 (replaced: 0, zeroed: 2)"), 1);
}

LOOP_TEST(leaving_a_sweep_says_what_came_so_far, 0, 3) /* _i: rewind, seek, close */
{
    struct imrec_batch b;
    const char *json;
    make(few);
    struct imrec_iter *it = set_open(&set, true, "batch_size=30 on_error=skip");
    ck_assert_int_eq(imrec_iter_position(it, &json, NULL), IMREC_OK);
    char *begin = strdup(json);
    heard_begin();
    ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
    ck_assert_uint_eq(heard.n, 1);
    if (_i == 0)
        ck_assert_int_eq(imrec_iter_rewind(it, NULL), IMREC_OK);
    if (_i == 1)
        ck_assert_int_eq(imrec_iter_seek(it, begin, NULL), IMREC_OK);
    if (_i == 2)
        imrec_iter_close(it);
    ck_assert_uint_eq(heard.n, 2);
    ck_assert_uint_eq(heard_count("sweep 0 so far: samples that failed: 1 (replaced: 0"), 1);
    if (_i != 2) { /* and a sweep begins anew */
        for (int i = 0; i < 4; i++)
            (void)!imrec_iter_next(it, &b, NULL);
        ck_assert_uint_eq(heard.n, 2 + 4);
        ck_assert_uint_eq(heard_count("samples that failed: 3"), 1);
        imrec_iter_close(it);
    }
    heard_end();
    free(begin);
}

/* ---- sweeps without a batch ------------------------------------------------------------------ */

static const struct {
    const char *words, *says; /* NULL: nothing */
    bool index;
} nothings[] = {
    {"num_parts=500 part_index=499",
     "part_index=499 of num_parts=500 has none of the 90 records: a", true},
    {"num_parts=5000 part_index=4999", "part_index=4999 of num_parts=5000 has no record: a sweep",
     false},
    {"last_batch=drop batch_size=91",
     "part_index=0 of num_parts=1 has 90 samples, fewer than batch_size=91, and last_batch=drop: a",
     true},
    {"num_parts=2 part_index=1 last_batch=drop batch_size=46",
     "part_index=1 of num_parts=2 has 45 samples, fewer than batch_size=46", true},
    {"last_batch=drop batch_size=90", NULL, true},
    {"last_batch=drop batch_size=60", NULL, false},
    {"num_parts=500 part_index=499 equal_batches=1", NULL, true},
};

/* Once, however many sweeps there are. */
LOOP_TEST(a_sweep_without_a_batch_is_explained, 0, COUNT(nothings))
{
    make(NULL);
    hear(nothings[_i].index, nothings[_i].words, 7);
    ck_assert_uint_eq(heard.n, nothings[_i].says != NULL);
    ck_assert_msg(heard.n == 0 || (strstr(heard.line[0], nothings[_i].says) != NULL &&
                                   strstr(heard.line[0], " and 1 more: ") != NULL),
                  "'%s' is not in: %s", nothings[_i].says, heard.line[0]);
}

/* What is left of a sweep after a position may have no batch. */
LOOP_TEST(the_rest_of_a_sweep_is_not, 0, 2)
{
    const char *words = _i ? "last_batch=drop batch_size=60" : "batch_size=90";
    const char *position;
    struct imrec_batch b;
    make(NULL);
    struct imrec_iter *it = set_open(&set, true, words), *rest = set_open(&set, true, words);
    ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_iter_position(it, &position, NULL), IMREC_OK);
    heard_begin();
    ck_assert_int_eq(imrec_iter_seek(rest, position, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_iter_next(rest, &b, NULL), IMREC_END);
    ck_assert_uint_eq(heard.n, 0);
    imrec_iter_close(it);
    imrec_iter_close(rest);
}
