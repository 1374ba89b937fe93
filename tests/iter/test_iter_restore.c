/* Positions: what follows a seek is what would have followed anyhow. */
#include "tests/support/imageset.h"
#include "tests/support/suite.h"

enum { SAMPLE_BYTES = 12 * 12 * 3 * 4, RECORDS = 60, AHEAD = 90, MAX_STOPS = 80 };

static const struct set_order orders[] = {
    {"", false},
    {"shuffle=1 seed=3 shuffle_window=24576 shuffle_chunk=4096", false},
    {"shuffle=1 seed=3", false},
    {"shuffle=1 seed=3", true},
    {"", true},
};
static const char *const ends[] = {
    "last_batch=pad",
    "last_batch=partial",
    "last_batch=repeat",
    "last_batch=drop",
    "last_batch=wrap",
    "equal_batches=1 num_parts=7 part_index=6",
    "equal_batches=1 num_parts=7 part_index=2 last_batch=repeat",
    "equal_batches=1 num_parts=90 part_index=88 last_batch=wrap", /* nothing of its own */
    "epoch_size=17 last_batch=repeat",
    "epoch_size=83 last_batch=drop max_samples=200",
    "epoch_size=25 last_batch=wrap",
    "epoch_size=13 last_batch=repeat equal_batches=1 num_parts=7 part_index=2",
};
enum { ORDERS = sizeof(orders) / sizeof(orders[0]), ENDS = sizeof(ends) / sizeof(ends[0]) };

struct stop {
    char json[1024];
    size_t at; /* slots and ENDs seen before */
};

static void take_position(struct imrec_iter *it, struct stop *stop, size_t at)
{
    const char *json;
    ck_assert_int_eq(imrec_iter_position(it, &json, NULL), IMREC_OK);
    snprintf(stop->json, sizeof(stop->json), "%s", json);
    stop->at = at;
}

/* Everything counts here, pad too: a batch is written down slot by slot where the batch size
 * stays the same, else only samples are. */
static void read_batches(struct imrec_iter *it, struct stream *out, bool with_pad, size_t most,
                         struct stop *stops, size_t *count)
{
    struct imrec_batch b;
    if (stops != NULL)
        take_position(it, &stops[(*count)++], 0);
    for (uint32_t batches = 0; out->n < most && batches < 60; batches++) {
        const enum imrec_status st = imrec_iter_next(it, &b, NULL);
        if (st == IMREC_END)
            stream_put(out, (struct seen){.status = IMREC_END});
        else if (st == IMREC_OK)
            stream_batch(out, &b, SAMPLE_BYTES, with_pad);
        else
            ck_abort_msg("status %d", st);
        if (stops != NULL && *count < MAX_STOPS)
            take_position(it, &stops[(*count)++], out->n);
    }
}

static void compare_from(const struct stream *ours, const struct stream *right, size_t from,
                         const char *what, const char *json)
{
    const size_t n = ours->n < right->n - from ? ours->n : right->n - from;
    for (size_t i = 0; i < n; i++) {
        const struct seen *a = &ours->seen[i], *b = &right->seen[from + i];
        if (a->status != b->status || a->id != b->id || a->hash != b->hash || a->valid != b->valid)
            ck_abort_msg("%s: %zu behind %s: id %d instead of %d, status %d instead of %d", what, i,
                         json, (int)a->id, (int)b->id, a->status, b->status);
    }
}

struct run {
    struct stream stream;
    struct stop stops[MAX_STOPS];
    size_t count;
};

static struct run run;

static void resume_at_all(const struct image_set *s, const char *words, bool index,
                          const char *other, bool with_pad)
{
    char changed[512];
    snprintf(changed, sizeof(changed), "%s %s", words, other);
    struct imrec_iter *it = set_open(s, index, changed);
    for (size_t i = 0; i < run.count; i++) {
        struct imrec_error err;
        struct stream out = {0};
        const size_t at = (i * 37) % run.count; /* forth and back */
        if (imrec_iter_seek(it, run.stops[at].json, &err) != IMREC_OK)
            ck_abort_msg("%s: %s", changed, err.message);
        read_batches(it, &out, with_pad, 1 + i % 7, NULL, NULL);
        struct stop again; /* a position taken behind a position */
        take_position(it, &again, 0);
        if (imrec_iter_seek(it, again.json, &err) != IMREC_OK)
            ck_abort_msg("%s: %s after %s", err.message, again.json, run.stops[at].json);
        read_batches(it, &out, with_pad, AHEAD / 2, NULL, NULL);
        compare_from(&out, &run.stream, run.stops[at].at, changed, run.stops[at].json);
        stream_free(&out);
    }
    imrec_iter_close(it);
}

CASE(.timeout = 120)

LOOP_TEST(every_position_goes_on_where_it_was_taken, 0, ORDERS *ENDS) /* _i: order x end */
{
    const int order = _i / ENDS, end = _i % ENDS;
    struct image_set s =
        image_set_make(&(struct image_set_options){.records = RECORDS, .shards = 2, .labels = 1});
    char words[512];
    snprintf(words, sizeof(words), "rand_crop=1 rand_mirror=1 %s %s", orders[order].words,
             ends[end]);
    for (int with_pad = 0; with_pad < 2; with_pad++) {
        struct imrec_iter *it = set_open(&s, orders[order].index, words);
        run = (struct run){.count = 0};
        read_batches(it, &run.stream, with_pad, 2 * RECORDS + AHEAD, run.stops, &run.count);
        imrec_iter_close(it);
        resume_at_all(&s, words, orders[order].index, "preprocess_threads=3 prefetch_buffer=1",
                      with_pad);
        if (!with_pad && strstr(ends[end], "drop") == NULL) /* what is dropped hangs on its size */
            resume_at_all(&s, words, orders[order].index, "batch_size=7 keep_in_memory=1", false);
        stream_free(&run.stream);
    }
    image_set_free(&s);
}

LOOP_TEST(rewind_goes_to_the_next_sweep_from_anywhere, 0, 14) /* _i: batches read before */
{
    struct image_set s =
        image_set_make(&(struct image_set_options){.records = 23, .shards = 1, .labels = 1});
    struct imrec_iter *plain = set_open(&s, false, "shuffle=1 rand_crop=1");
    struct imrec_iter *it = set_open(&s, false, "shuffle=1 rand_crop=1");
    struct stream right = {0}, ours = {0}, passed = {0};
    struct imrec_batch b;
    stream_read(&right, plain, SAMPLE_BYTES, 4, SIZE_MAX);
    for (int i = 0; i < _i; i++)
        ck_assert_int_le(imrec_iter_next(it, &b, NULL), IMREC_END);
    /* five batches and an END are a sweep; at a sweep's start rewinding stays there */
    const size_t sweep = (size_t)(_i + 5) / 6;
    ck_assert_int_eq(imrec_iter_rewind(it, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_iter_rewind(it, NULL), IMREC_OK);
    stream_read(&ours, it, SAMPLE_BYTES, 2, SIZE_MAX);
    compare_from(&ours, &right, 24 * sweep, "rewind", "");
    ck_assert_uint_eq(ours.n, 48);
    ck_assert_uint_eq(ours.seen[0].sweep, sweep);
    stream_free(&right);
    stream_free(&ours);
    stream_free(&passed);
    imrec_iter_close(plain);
    imrec_iter_close(it);
    image_set_free(&s);
}

static const struct {
    const char *change, *says;
} mismatches[] = {
    {"seed=4", "seed"},
    {"shuffle=0", "shuffle"},
    {"shuffle_window=65536", "shuffle_window"},
    {"shuffle_chunk=8192", "shuffle_chunk"},
    {"num_parts=2", "num_parts"},
    {"num_parts=3 part_index=1", "part_index"},
    {"num_parts=3 equal_batches=1", "equal_batches"},
};

LOOP_TEST(a_position_of_another_order_is_refused_by_name, 0, COUNT(mismatches))
{
    struct image_set s =
        image_set_make(&(struct image_set_options){.records = RECORDS, .shards = 2, .labels = 1});
    const char *words = "num_parts=3 seed=3 shuffle=1 shuffle_window=32768 shuffle_chunk=4096";
    struct imrec_iter *it = set_open(&s, false, words), *other;
    struct imrec_error err = {0};
    struct imrec_batch b;
    const char *json;
    char changed[256];
    snprintf(changed, sizeof(changed), "%s %s", words, mismatches[_i].change);
    other = set_open(&s, false, changed);
    ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_iter_position(it, &json, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_iter_next(other, &b, NULL), IMREC_OK);
    const uint64_t second = b.number;
    ck_assert_int_eq(imrec_iter_seek(other, json, &err), IMREC_ERR_ARGUMENT);
    ck_assert_msg(strstr(err.message, mismatches[_i].says) != NULL, "%s", err.message);
    ck_assert_int_eq(imrec_iter_next(other, &b, NULL), IMREC_OK); /* it stayed where it was */
    ck_assert_uint_eq(b.number, second + 1);
    imrec_iter_close(it);
    imrec_iter_close(other);
    image_set_free(&s);
}

TEST(a_position_of_other_data_is_refused)
{
    struct image_set s =
        image_set_make(&(struct image_set_options){.records = RECORDS, .shards = 2, .labels = 1});
    struct image_set t = image_set_make(
        &(struct image_set_options){.records = RECORDS + 1, .shards = 2, .labels = 1});
    struct imrec_iter *it = set_open(&s, false, ""), *other = set_open(&t, false, "");
    struct imrec_iter *indexed = set_open(&s, true, "");
    struct imrec_error err = {0};
    const char *json;
    ck_assert_int_eq(imrec_iter_position(it, &json, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_iter_seek(other, json, &err), IMREC_ERR_ARGUMENT);
    ck_assert_msg(strstr(err.message, "data") != NULL, "%s", err.message);
    ck_assert_int_eq(imrec_iter_seek(indexed, json, &err), IMREC_ERR_ARGUMENT);
    imrec_iter_close(it);
    imrec_iter_close(other);
    imrec_iter_close(indexed);
    image_set_free(&s);
    image_set_free(&t);
}
