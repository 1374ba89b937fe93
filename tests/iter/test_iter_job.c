/* Positions of a job: with equal_batches the position that any partition saved takes every
 * partition to its own place, as if it had not been interrupted. */
#include "tests/support/imageset.h"
#include "tests/support/suite.h"

#include <unistd.h>

enum { SAMPLE_BYTES = 12 * 12 * 3 * 4, RECORDS = 45, MAX_STOPS = 30, MAX_WORLD = 11 };

/* A run of damage makes some partitions small, and one without anything. */
static enum bad gap(uint32_t i)
{
    return i >= 16 && i < 31 ? BAD_FRAMING : i % 11 == 3 ? BAD_PIXELS : GOOD;
}

static const struct set_order orders[] = {
    {"", false},
    {"shuffle=1 seed=3 shuffle_window=16384 shuffle_chunk=4096", false},
    {"shuffle=1 seed=3", false},
    {"shuffle=1 seed=3", true},
    {"", true},
};
static const char *const ends[] = {
    "last_batch=partial on_error=skip",
    "last_batch=pad on_error=replace",
    "last_batch=repeat on_error=skip",
    "last_batch=wrap on_error=replace",
    "epoch_size=17 last_batch=partial on_error=skip",
    "epoch_size=13 last_batch=wrap max_samples=60 on_error=skip",
};
static const int worlds[] = {2, 3, 7, MAX_WORLD};
enum {
    ORDERS = sizeof(orders) / sizeof(*orders),
    ENDS = sizeof(ends) / sizeof(*ends),
    WORLDS = sizeof(worlds) / sizeof(*worlds),
};

struct rank {
    struct stream stream;
    char stops[MAX_STOPS][640];
    size_t at[MAX_STOPS]; /* slots and ENDs before each */
    size_t count;
};
static struct rank ranks[MAX_WORLD];

static const char *position_of(struct imrec_iter *it)
{
    const char *json;
    ck_assert_int_eq(imrec_iter_position(it, &json, NULL), IMREC_OK);
    return json;
}

/* Slot by slot, pad too. False: an END. */
static bool read_one(struct imrec_iter *it, struct stream *out)
{
    struct imrec_batch b;
    struct imrec_error err;
    const enum imrec_status st = imrec_iter_next(it, &b, &err);
    if (st != IMREC_OK && st != IMREC_END)
        ck_abort_msg("%s", err.message);
    if (st == IMREC_END)
        stream_put(out, (struct seen){.status = IMREC_END});
    else
        stream_batch(out, &b, SAMPLE_BYTES, true);
    return st == IMREC_OK;
}

static struct imrec_iter *open_rank(const struct image_set *s, int order, const char *end,
                                    int world, int rank, const char *more)
{
    char words[700];
    snprintf(words, sizeof(words),
             "equal_batches=1 num_parts=%d part_index=%d rand_crop=1 rand_mirror=1 verbose=0 "
             "batch_size=3 %s %s %s",
             world, rank, orders[order].words, end, more);
    return set_open(s, orders[order].index, words);
}

static void run_rank(struct rank *r, struct imrec_iter *it, size_t calls)
{
    memset(r, 0, sizeof(*r));
    for (size_t i = 0; i < calls; i++) {
        snprintf(r->stops[i], sizeof(r->stops[0]), "%s", position_of(it));
        r->at[i] = r->stream.n;
        (void)read_one(it, &r->stream);
    }
    r->count = calls;
}

static void
compare_from(const struct stream *ours, const struct stream *right, size_t from, const char *json)
{
    for (size_t i = 0; i < ours->n && from + i < right->n; i++) {
        const struct seen *a = &ours->seen[i], *b = &right->seen[from + i];
        if (a->status != b->status || a->id != b->id || a->hash != b->hash || a->valid != b->valid)
            ck_abort_msg("%zu behind %s: id %d instead of %d, status %d instead of %d", i, json,
                         (int)a->id, (int)b->id, a->status, b->status);
    }
}

/* Rank `to` goes to every stop of rank `from`. */
static void resume(struct imrec_iter *it, int from, int to, size_t step)
{
    const struct rank *r = &ranks[to];
    for (size_t i = (size_t)(from + to) % step; i < r->count; i += step) {
        const char *json = ranks[from].stops[i];
        struct imrec_error err;
        struct stream out = {0};
        if (imrec_iter_seek(it, json, &err) != IMREC_OK)
            ck_abort_msg("%s: %s", json, err.message);
        ck_assert_str_eq(position_of(it), r->stops[i]); /* its own one, word for word */
        for (int k = 0; k < 4; k++)
            (void)read_one(it, &out);
        compare_from(&out, &r->stream, r->at[i], json);
        stream_free(&out);
    }
}

static void try_world(const struct image_set *s, int order, const char *end, int world)
{
    for (int rank = 0; rank < world; rank++) {
        struct imrec_iter *it = open_rank(s, order, end, world, rank, "");
        run_rank(&ranks[rank], it, world > 3 ? 20 : MAX_STOPS);
        imrec_iter_close(it);
    }
    for (int to = 0; to < world; to++) {
        struct imrec_iter *it =
            open_rank(s, order, end, world, to, "preprocess_threads=3 prefetch_buffer=1");
        for (int from = 0; from < world; from++)
            resume(it, from, to, world > 3 ? 7 : 1);
        imrec_iter_close(it);
    }
    for (int rank = 0; rank < world; rank++)
        stream_free(&ranks[rank].stream);
}

CASE(.timeout = 240)

LOOP_TEST(the_position_of_any_partition_takes_every_one_to_its_own_place, 0,
          ORDERS *ENDS) /* _i: order x end */
{
    struct image_set s = image_set_make(
        &(struct image_set_options){.records = RECORDS, .shards = 2, .labels = 1, .bad = gap});
    for (int w = 0; w < WORLDS; w++)
        try_world(&s, _i / ENDS, ends[_i % ENDS], worlds[w]);
    image_set_free(&s);
}

LOOP_TEST(the_batch_size_may_be_another_one, 0, ORDERS) /* _i: order */
{
    const char *end = "last_batch=partial on_error=replace";
    struct image_set s = image_set_make(
        &(struct image_set_options){.records = RECORDS, .shards = 2, .labels = 1, .bad = gap});
    for (int rank = 0; rank < 3; rank++) {
        struct imrec_iter *it = open_rank(&s, _i, end, 3, rank, "");
        run_rank(&ranks[rank], it, 30);
        imrec_iter_close(it);
    }
    for (int to = 0; to < 3; to++) {
        struct imrec_iter *it = open_rank(&s, _i, end, 3, to, "batch_size=5 keep_in_memory=1");
        for (size_t i = 0; i < ranks[to].count; i++) {
            struct stream out = {0};
            const char *json = ranks[(to + 1) % 3].stops[i];
            ck_assert_int_eq(imrec_iter_seek(it, json, NULL), IMREC_OK);
            for (int k = 0; k < 5; k++)
                (void)read_one(it, &out);
            compare_from(&out, &ranks[to].stream, ranks[to].at[i], json);
            stream_free(&out);
        }
        imrec_iter_close(it);
    }
    for (int rank = 0; rank < 3; rank++)
        stream_free(&ranks[rank].stream);
    image_set_free(&s);
}

/* Nothing is decoded to find the place. */
LOOP_TEST(finding_the_place_decodes_nothing, 0, ORDERS) /* _i: order */
{
    struct imrec_iter_stats was, is;
    struct image_set s =
        image_set_make(&(struct image_set_options){.records = RECORDS, .shards = 2, .labels = 1});
    struct imrec_iter *from = open_rank(&s, _i, "epoch_size=1000", 2, 0, "batch_size=20");
    struct imrec_iter *to = open_rank(&s, _i, "epoch_size=1000", 2, 1, "batch_size=1");
    struct stream out = {0};
    (void)read_one(from, &out);
    imrec_iter_get_stats(to, &was);
    ck_assert_int_eq(imrec_iter_seek(to, position_of(from), NULL), IMREC_OK);
    (void)read_one(to, &out);
    imrec_iter_get_stats(to, &is);
    ck_assert_uint_le(is.images - was.images, 12); /* what it makes ahead, before and after */
    stream_free(&out);
    imrec_iter_close(from);
    imrec_iter_close(to);
    image_set_free(&s);
}

static const struct {
    const char *from, *to, *change[2], *says;
} refused[] = {
    {"equal_batches=0", "equal_batches=0 part_index=1", {"", ""}, "part_index"},
    {"equal_batches=1", "equal_batches=1 num_parts=2", {"", ""}, "num_parts"},
    {"equal_batches=0", "equal_batches=1 part_index=1", {"", ""}, "equal_batches"},
    {"equal_batches=1",
     "equal_batches=1 part_index=1",
     {"\"part_index\": 0", "\"part_index\": 3"},
     "part_index"},
    {"equal_batches=1",
     "equal_batches=1 part_index=1",
     {"\"sample\": 5", "\"sample\": 16"},
     "\"sample\" is 16, but a sweep has 15"},
};

LOOP_TEST(what_is_of_no_job_of_this_is_refused, 0, COUNT(refused))
{
    struct image_set s =
        image_set_make(&(struct image_set_options){.records = RECORDS, .shards = 1, .labels = 1});
    char words[200], changed[1024];
    struct imrec_error err = {0};
    struct stream out = {0};
    snprintf(words, sizeof(words), "num_parts=3 %s", refused[_i].from);
    struct imrec_iter *from = set_open(&s, true, words);
    snprintf(words, sizeof(words), "num_parts=3 %s", refused[_i].to);
    struct imrec_iter *to = set_open(&s, true, words);
    (void)read_one(from, &out);
    const char *json = position_of(from), *at = strstr(json, refused[_i].change[0]);
    ck_assert_ptr_nonnull(at);
    snprintf(changed, sizeof(changed), "%.*s%s%s", (int)(at - json), json, refused[_i].change[1],
             at + strlen(refused[_i].change[0]));
    ck_assert_int_eq(imrec_iter_seek(to, changed, &err), IMREC_ERR_ARGUMENT);
    ck_assert_msg(strstr(err.message, refused[_i].says) != NULL, "%s", err.message);
    stream_free(&out);
    imrec_iter_close(from);
    imrec_iter_close(to);
    image_set_free(&s);
}

/* To note damage takes memory. */
static enum bad damage_everywhere(uint32_t i)
{
    return i % 7 == 3 ? BAD_FRAMING : GOOD;
}

/* A failing allocation while windows are counted: an error, and it goes on where it was. */
TEST(where_the_place_cannot_be_found_it_stays_where_it_was)
{
    static const char *words = "shuffle=1 shuffle_window=16384 shuffle_chunk=4096 num_parts=2 "
                               "equal_batches=1 prefetch_buffer=1 on_error=skip verbose=0";
    struct image_set s = image_set_make(&(struct image_set_options){
        .records = 300, .shards = 2, .labels = 1, .jpeg = true, .bad = damage_everywhere});
    char all[300], kept[1024];
    snprintf(all, sizeof(all), "%s batch_size=100", words);
    struct imrec_iter *from = set_open(&s, false, all);
    snprintf(all, sizeof(all), "%s part_index=1", words);
    struct imrec_iter *plain = set_open(&s, false, all);
    struct stream right = {0}, unused = {0};
    (void)read_one(from, &unused);
    snprintf(kept, sizeof(kept), "%s", position_of(from));
    for (int i = 0; i < 29; i++)
        (void)read_one(plain, &right);
    imrec_iter_close(from);
    imrec_iter_close(plain);
    uint32_t failed = 0;
    for (long n = 0; n < 48; n++) {
        struct imrec_iter *it = set_open(&s, false, all);
        struct stream out = {0};
        struct imrec_error err = {0};
        for (int i = 0; i < 3 + n / 8 * 4; i++) /* in one window after the other */
            (void)read_one(it, &out);
        (void)imrec_iter_wait(it, 1000);
        usleep(2000); /* what is read and made ahead is there: it asks for no memory */
        imrec_alloc_fail_after(n % 8);
        const enum imrec_status st = imrec_iter_seek(it, kept, &err);
        imrec_alloc_fail_after(-1);
        if (st != IMREC_OK) {
            ck_assert_int_eq(st, IMREC_ERR_NO_MEMORY);
            ck_assert_str_ne(err.message, "");
            (void)read_one(it, &out);
            (void)read_one(it, &out);
            compare_from(&out, &right, 0, "a seek that failed");
            failed++;
        }
        stream_free(&out);
        imrec_iter_close(it);
    }
    ck_assert_uint_gt(failed, 3);
    stream_free(&right);
    stream_free(&unused);
    image_set_free(&s);
}
