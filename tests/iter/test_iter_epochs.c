/* Epochs of any size: the same stream of samples, with its ENDs elsewhere. */
#include "tests/support/imageset.h"
#include "tests/support/suite.h"

enum { SAMPLE_BYTES = 12 * 12 * 3 * 4, RECORDS = 60 };

static const struct set_order orders[] = {
    {"", false},
    {"shuffle=1 seed=3 shuffle_window=24576 shuffle_chunk=4096", false},
    {"shuffle=1 seed=3", true},
};
enum { ORDERS = sizeof(orders) / sizeof(orders[0]) };

static struct image_set set;

static void setup(void)
{
    set = image_set_make(&(struct image_set_options){.records = RECORDS, .shards = 3, .labels = 1});
}

static void teardown(void)
{
    image_set_free(&set);
}

static struct imrec_iter *open_with(int order, const char *more)
{
    char words[512];
    snprintf(words, sizeof(words), "%s rand_crop=1 %s", orders[order].words, more);
    return set_open(&set, orders[order].index, words);
}

/* Samples in a row, without what fills batches. */
static struct stream read_with(int order, const char *more, uint32_t ends, size_t most)
{
    struct stream out = {0};
    struct imrec_iter *it = open_with(order, more);
    stream_read(&out, it, SAMPLE_BYTES, ends, most);
    imrec_iter_close(it);
    return out;
}

/* `all`: the stream without ENDs; in `got` one comes after every `size` samples. */
static void
must_be_cut(const struct stream *all, const struct stream *got, uint64_t size, const char *what)
{
    uint64_t k = 0, in_epoch = 0;
    for (size_t i = 0; i < got->n; i++) {
        const bool end = got->seen[i].status == IMREC_END;
        if (end != (in_epoch == size))
            ck_abort_msg("%s: slot %zu: END %d after %d samples", what, i, end, (int)in_epoch);
        in_epoch = end ? 0 : in_epoch + 1;
        if (!end && (got->seen[i].id != all->seen[k].id || got->seen[i].hash != all->seen[k].hash ||
                     got->seen[i].sweep > all->seen[k].sweep))
            ck_abort_msg("%s: sample %d", what, (int)k);
        k += !end;
    }
}

CASE(.timeout = 120, .setup = setup, .teardown = teardown)

LOOP_TEST(epochs_cut_the_stream_and_change_nothing_else, 0, ORDERS) /* _i: order */
{
    static const char *const ends[] = {"pad", "partial", "repeat"};
    static const int sizes[] = {1, 7, 20, 59, 60, 61, 130};
    struct stream all = read_with(_i, "last_batch=wrap", 1, 400);
    for (size_t e = 0; e < 3; e++)
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            char words[200];
            snprintf(words, sizeof(words),
                     "last_batch=%s batch_size=%d preprocess_threads=%d epoch_size=%d", ends[e],
                     4 + (int)i, 1 + (int)i % 5, sizes[i]);
            struct stream got = read_with(_i, words, 300, 300);
            must_be_cut(&all, &got, (uint64_t)sizes[i], words);
            stream_free(&got);
        }
    stream_free(&all);
}

LOOP_TEST(the_source_ends_after_its_samples_for_good, 0, ORDERS) /* _i: order */
{
    static const char *const epochs[] = {"", "epoch_size=11", "epoch_size=INFINITELY_REPEAT"};
    struct stream all = read_with(_i, "last_batch=wrap", 1, 400);
    for (int most = 1; most < 140; most += 23)
        for (size_t e = 0; e < 3; e++) {
            char words[200];
            uint64_t samples = 0;
            snprintf(words, sizeof(words), "max_samples=%d batch_size=8 last_batch=repeat %s", most,
                     epochs[e]);
            struct stream got = read_with(_i, words, 40, SIZE_MAX);
            for (size_t i = 0; i < got.n; i++)
                if (got.seen[i].status != IMREC_END)
                    ck_assert(got.seen[i].hash == all.seen[samples++].hash);
            ck_assert_uint_eq(samples, (uint64_t)most);
            for (size_t i = got.n - 20; i < got.n; i++)
                ck_assert_int_eq(got.seen[i].status, IMREC_END);
            stream_free(&got);
        }
    stream_free(&all);
}

TEST(a_full_data_sweep_is_one_and_no_more)
{
    struct stream sweep = read_with(1, "", 1, SIZE_MAX);
    struct stream got = read_with(1, "epoch_size=FULL_DATA_SWEEP", 9, SIZE_MAX);
    ck_assert_uint_eq(got.n, RECORDS + 9);
    got.n = sweep.n;
    streams_must_equal(&got, &sweep, "a sweep");
    stream_free(&sweep);
    stream_free(&got);
}

TEST(a_source_that_is_over_stands_still)
{
    struct imrec_batch b;
    const char *json;
    char first[1000];
    struct imrec_iter *it = open_with(2, "epoch_size=20 max_samples=50 batch_size=10");
    for (int i = 0; i < 8; i++) /* five batches, three ENDs */
        ck_assert_int_le(imrec_iter_next(it, &b, NULL), IMREC_END);
    ck_assert_int_eq(imrec_iter_position(it, &json, NULL), IMREC_OK);
    snprintf(first, sizeof(first), "%s", json);
    ck_assert_ptr_nonnull(strstr(first, "\"position\": 50, \"epoch\": 3, \"epoch_sample\": 0"));
    for (int i = 0; i < 9; i++)
        ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_END);
    ck_assert_int_eq(imrec_iter_position(it, &json, NULL), IMREC_OK);
    ck_assert_str_eq(json, first);
    ck_assert_int_eq(imrec_iter_rewind(it, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_END);
    imrec_iter_close(it);
}

TEST(batches_say_their_epoch_and_its_end)
{
    struct imrec_batch b;
    uint64_t samples = 0;
    struct imrec_iter *it = open_with(2, "epoch_size=45 batch_size=10 last_batch=partial");
    for (uint64_t epoch = 0; epoch < 5; epoch++) {
        for (uint32_t k = 0; k < 5; k++) {
            ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
            ck_assert_uint_eq(b.epoch, epoch);
            ck_assert_uint_eq(b.count, k == 4 ? 5 : 10);
            ck_assert_int_eq(b.epoch_end, k == 4);
            ck_assert_uint_eq(b.sweep, samples / RECORDS);
            ck_assert_int_eq(b.sweep_end, (samples + b.count) / RECORDS != samples / RECORDS);
            samples += b.count;
        }
        ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_END);
    }
    imrec_iter_close(it);
}

LOOP_TEST(rewind_begins_the_next_sweep_and_an_epoch, 0, 17) /* _i: batches before */
{
    struct imrec_batch b;
    struct stream got = {0}, sweeps = read_with(2, "", 3, SIZE_MAX);
    struct imrec_iter *it = open_with(2, "epoch_size=25 batch_size=5");
    for (int i = 0; i < _i; i++)
        (void)!imrec_iter_next(it, &b, NULL);
    ck_assert_int_eq(imrec_iter_rewind(it, NULL), IMREC_OK);
    const uint64_t epoch = (uint64_t)(_i + 5) / 6; /* five batches and an END each */
    ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
    ck_assert_uint_eq(b.epoch, epoch);
    stream_batch(&got, &b, SAMPLE_BYTES, false);
    stream_read(&got, it, SAMPLE_BYTES, 1, SIZE_MAX);
    ck_assert_uint_eq(got.n, 26);
    const size_t from = _i == 0 ? 0 : _i <= 14 ? RECORDS + 1 : 2 * (RECORDS + 1);
    for (size_t i = 0; i < 25; i++)
        ck_assert(got.seen[i].hash == sweeps.seen[from + i].hash);
    stream_free(&got);
    stream_free(&sweeps);
    imrec_iter_close(it);
}

static enum bad some_bad(uint32_t i)
{
    return i % 11 == 4 ? BAD_FRAMING : GOOD;
}

enum { LINES = 32 };
static struct {
    char line[LINES][300];
    uint32_t count[LINES], n;
} told;

static void listen(void *user, enum imrec_log_level level, const char *line)
{
    (void)user;
    (void)level;
    uint32_t i = 0;
    if (strstr(line, ": sweep ") != NULL)
        return; /* the count at its end */
    while (i < told.n && strcmp(told.line[i], line) != 0)
        i++;
    if (i == told.n && told.n++ < LINES)
        snprintf(told.line[i], sizeof(told.line[i]), "%s", line);
    told.count[i]++;
}

LOOP_TEST(damage_is_told_once_a_sweep_however_batches_are_filled, 0,
          2) /* _i: order without an index */
{
    static const char *const ways[] = {"last_batch=wrap", "epoch_size=9 last_batch=repeat",
                                       "epoch_size=20 last_batch=repeat batch_size=7",
                                       "epoch_size=INFINITELY_REPEAT"};
    enum { SWEEPS = 5 };
    struct image_set bad = image_set_make(
        &(struct image_set_options){.records = RECORDS, .shards = 2, .labels = 1, .bad = some_bad});
    imrec_set_log(listen, NULL, IMREC_LOG_WARNING);
    for (size_t w = 0; w < 4; w++) {
        char words[300];
        struct imrec_batch b;
        memset(&told, 0, sizeof(told));
        snprintf(words, sizeof(words), "%s batch_size=4 on_error=skip %s", orders[_i].words,
                 ways[w]);
        struct imrec_iter *it = set_open(&bad, false, words);
        for (uint64_t samples = 0; samples < SWEEPS * 54;) /* each has 54 */
            if (imrec_iter_next(it, &b, NULL) == IMREC_OK)
                samples += b.count;
        imrec_iter_close(it);
        ck_assert_uint_eq(told.n, 6);
        for (uint32_t i = 0; i < told.n; i++) /* a last batch may hold the next sweep's first */
            if (told.count[i] < SWEEPS || told.count[i] > SWEEPS + 1)
                ck_abort_msg("%s: %u times: %s", words, told.count[i], told.line[i]);
    }
    imrec_set_log(NULL, NULL, IMREC_LOG_WARNING);
    image_set_free(&bad);
}

TEST(sizes_have_names_and_limits)
{
    struct imrec_iter_options o;
    struct imrec_error err;
    imrec_iter_options_init(&o);
    ck_assert_int_eq(imrec_iter_options_set(&o, "epoch_size=INFINITELY_REPEAT", &err), IMREC_OK);
    ck_assert(o.epoch_size == IMREC_INFINITELY_REPEAT);
    ck_assert_int_eq(imrec_iter_options_set(&o, "epoch_size=FULL_DATA_SWEEP", &err), IMREC_OK);
    ck_assert(o.epoch_size == IMREC_FULL_DATA_SWEEP);
    ck_assert_int_eq(imrec_iter_options_set(&o, "epoch_size=-1", &err), IMREC_ERR_ARGUMENT);
    ck_assert_int_eq(imrec_iter_options_set(&o, "max_samples=FULL_DATA_SWEEP", &err),
                     IMREC_ERR_ARGUMENT);
}
