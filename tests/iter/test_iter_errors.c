/* What is wrong with the data: named, flagged, in the same place whatever the threads. */
#include "storage/fault.h"
#include "tests/support/imageset.h"
#include "tests/support/suite.h"

enum { SAMPLE_BYTES = 12 * 12 * 3 * 4, RECORDS = 90 };

static struct image_set make(void)
{
    return image_set_make(&(struct image_set_options){
        .records = RECORDS, .shards = 2, .labels = 1, .bad = set_some_bad});
}

struct report {
    uint64_t batch;
    uint32_t failed;
    enum imrec_status status;
    struct imrec_error err;
};
struct told {
    struct report report[100];
    struct stream stream;
    uint32_t n, failed;
};

static void read_sweep(struct told *t, struct imrec_iter *it)
{
    struct imrec_batch b;
    for (;;) {
        struct report *r = &t->report[t->n];
        memset(r, 0, sizeof(*r));
        r->status = imrec_iter_next(it, &b, &r->err);
        if (r->status == IMREC_END)
            return;
        ck_assert(r->status == IMREC_OK || r->status == IMREC_ERR_DATA);
        r->batch = b.number;
        r->failed = b.failed;
        t->failed += b.failed;
        t->n++;
        uint32_t flagged = 0;
        for (uint32_t i = 0; i < b.slots; i++) {
            flagged += b.status[i] != IMREC_OK;
            ck_assert(b.status[i] == IMREC_OK || !b.valid[i]);
        }
        ck_assert_uint_eq(flagged, b.failed);
        stream_batch(&t->stream, &b, SAMPLE_BYTES, true);
    }
}

static struct told tell(const struct image_set *s, bool index, const char *words)
{
    struct told t = {.n = 0};
    struct imrec_iter *it = set_open(s, index, words);
    read_sweep(&t, it);
    imrec_iter_close(it);
    return t;
}

CASE(.timeout = 60)

LOOP_TEST(the_same_error_comes_in_the_same_place, 0, COUNT(set_orders)) /* _i: order */
{
    static const char *const ways[] = {"preprocess_threads=7", "preprocess_threads=2",
                                       "preprocess_threads=7 prefetch_buffer=1"};
    struct image_set s = make();
    char words[256];
    snprintf(words, sizeof(words), "%s preprocess_threads=1", set_orders[_i].words);
    struct told right = tell(&s, set_orders[_i].index, words);
    ck_assert_uint_eq(right.failed, set_orders[_i].index ? 8 : 5);
    for (size_t w = 0; w < sizeof(ways) / sizeof(ways[0]); w++) {
        snprintf(words, sizeof(words), "%s %s", set_orders[_i].words, ways[w]);
        struct told t = tell(&s, set_orders[_i].index, words);
        ck_assert_uint_eq(t.n, right.n);
        for (uint32_t i = 0; i < t.n; i++) {
            ck_assert_int_eq(t.report[i].status, right.report[i].status);
            ck_assert_str_eq(t.report[i].err.message, right.report[i].err.message);
            ck_assert_uint_eq(t.report[i].err.offset, right.report[i].err.offset);
        }
        streams_must_equal(&t.stream, &right.stream, words);
        stream_free(&t.stream);
    }
    stream_free(&right.stream);
    image_set_free(&s);
}

LOOP_TEST(skip_delivers_the_same_and_says_ok, 0, COUNT(set_orders)) /* _i: order */
{
    struct image_set s = make();
    char words[256];
    struct told stop = tell(&s, set_orders[_i].index, set_orders[_i].words);
    snprintf(words, sizeof(words), "%s on_error=skip", set_orders[_i].words);
    struct told skip = tell(&s, set_orders[_i].index, words);
    streams_must_equal(&skip.stream, &stop.stream, words);
    for (uint32_t i = 0; i < skip.n; i++) {
        ck_assert_int_eq(skip.report[i].status, IMREC_OK);
        ck_assert_uint_eq(skip.report[i].failed, stop.report[i].failed);
    }
    stream_free(&skip.stream);
    stream_free(&stop.stream);
    image_set_free(&s);
}

static uint32_t slot_of(const struct told *t, uint32_t record)
{
    for (uint32_t i = 0; i < t->stream.n; i++)
        if (t->stream.seen[i].id == set_id(record))
            return i;
    return UINT32_MAX;
}

TEST(an_error_names_shard_byte_id_and_reason)
{
    struct image_set s = make();
    struct told t = tell(&s, true, "batch_size=1");
    static const struct {
        uint32_t record;
        const char *says[4];
    } cases[] = {
        {7, {"00.rec", "id 1049", "byte ", "image"}},
        {8, {"00.rec", "id 1056", "byte ", "image"}},
        {31, {"00.rec", "id 1217", "2 labels", "label_width is 1"}},
        {42, {"00.rec", "byte ", "", ""}},
        {60, {"01.rec", "id 1420", "byte ", ""}},
        {13, {"00.rec", "byte ", "", ""}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct report *r = &t.report[cases[i].record];
        ck_assert_int_eq(r->status, IMREC_ERR_DATA);
        ck_assert_int_eq(r->err.status, IMREC_ERR_DATA);
        ck_assert_uint_ne(r->err.offset, IMREC_NO_OFFSET);
        for (int k = 0; k < 4; k++)
            ck_assert_msg(strstr(r->err.message, cases[i].says[k]) != NULL, "record %u: %s",
                          cases[i].record, r->err.message);
    }
    for (uint32_t i = 0; i < RECORDS; i++)
        ck_assert_int_eq(t.report[i].status, set_some_bad(i) == GOOD ? IMREC_OK : IMREC_ERR_DATA);
    stream_free(&t.stream);
    image_set_free(&s);
}

TEST(failed_slots_are_zero_but_keep_their_id)
{
    struct image_set s = make();
    struct imrec_iter *it = set_open(&s, false, "batch_size=10 prefetch_buffer=1");
    struct imrec_batch b;
    static const uint8_t zero[SAMPLE_BYTES];
    for (int sweep = 0; sweep < 2; sweep++) { /* in memory that has been used */
        ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_ERR_DATA);
        for (uint32_t i = 0; i < 10; i++) {
            const uint8_t *data = (const uint8_t *)b.data + i * SAMPLE_BYTES;
            const bool failed = i == 7 || i == 8;
            ck_assert_uint_eq(b.ids[i], set_id(i));
            ck_assert_int_eq(b.status[i] != IMREC_OK, failed);
            ck_assert_int_eq(memcmp(data, zero, SAMPLE_BYTES) == 0, failed);
            ck_assert(b.labels[i] == (failed ? 0 : (float)i));
        }
        ck_assert_uint_eq(b.failed, 2);
        ck_assert_uint_eq(b.count, 10);
        ck_assert_int_eq(imrec_iter_rewind(it, NULL), IMREC_OK);
    }
    imrec_iter_close(it);
    image_set_free(&s);
}

TEST(damage_without_an_index_takes_no_slot_and_is_told_once_with_its_range)
{
    struct image_set s = make();
    struct told t = tell(&s, false, "batch_size=4");
    uint32_t told = 0;
    for (uint32_t i = 0; i < t.n; i++)
        told += strstr(t.report[i].err.message, "no readable record") != NULL;
    ck_assert_uint_ge(told, 1); /* two ranges; all in one window are told at once */
    ck_assert_uint_le(told, 2);
    ck_assert_uint_eq(slot_of(&t, 42), UINT32_MAX);
    ck_assert_uint_eq(slot_of(&t, 77), UINT32_MAX);
    ck_assert_uint_lt(slot_of(&t, 78), UINT32_MAX);
    stream_free(&t.stream);
    image_set_free(&s);
}

TEST(damage_is_not_told_again_behind_a_position_inside_its_window)
{
    struct image_set s = make();
    struct imrec_iter *it = set_open(&s, false, "batch_size=1");
    struct imrec_batch b;
    const char *json;
    ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_ERR_DATA); /* with its first sample */
    ck_assert_uint_eq(b.failed, 0);
    ck_assert_int_eq(imrec_iter_position(it, &json, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_iter_seek(it, json, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
    imrec_iter_close(it);
    image_set_free(&s);
}

TEST(the_first_fault_in_slot_order_is_the_one_named)
{
    struct image_set s = make();
    struct imrec_iter *it = set_open(&s, false, "batch_size=20"); /* damage comes before slot 0 */
    struct imrec_batch b;
    struct imrec_error err = {0};
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_ERR_DATA);
    ck_assert_uint_eq(b.failed, 3);
    ck_assert_msg(strstr(err.message, "no readable record") != NULL, "%s", err.message);
    ck_assert(!err.has_id && err.shard[0] != '\0' && strstr(err.message, err.shard) == err.message);
    imrec_iter_close(it);
    it = set_open(&s, true, "batch_size=20");
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_ERR_DATA);
    ck_assert_msg(strstr(err.message, "id 1049") != NULL, "%s", err.message);
    ck_assert(err.has_id && err.id == 1049 && strstr(err.message, err.shard) == err.message);
    imrec_iter_close(it);
    image_set_free(&s);
}

static enum bad all_framing(uint32_t i)
{
    (void)i;
    return BAD_FRAMING;
}

/* A head behind the first bytes, of a record that does not end: else the file would be no shard. */
static void put_head(const struct image_set *s)
{
    static const uint8_t head[] = {0x0a, 0x23, 0xd7, 0xce, 0xff, 0xff, 0xff, 0x1f};
    FILE *f = fopen(s->rec + strlen("path_imgrec="), "r+b");
    ck_assert(f != NULL && fseek(f, 8, SEEK_SET) == 0 && fwrite(head, 8, 1, f) == 1);
    ck_assert_int_eq(fclose(f), 0);
}

LOOP_TEST(nothing_but_damage_is_told_and_ends, 0, 5) /* _i: last_batch */
{
    static const char *const ends[] = {"pad", "partial", "repeat", "drop", "wrap"};
    struct image_set s = image_set_make(
        &(struct image_set_options){.records = 9, .shards = 1, .labels = 1, .bad = all_framing});
    char words[64];
    struct imrec_batch b;
    struct imrec_error err = {0};
    put_head(&s);
    snprintf(words, sizeof(words), "last_batch=%s", ends[_i]);
    struct imrec_iter *it = set_open(&s, false, words);
    for (int sweep = 0; sweep < 3; sweep++) {
        ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_ERR_DATA);
        ck_assert_uint_eq(b.slots, 0);
        ck_assert_uint_eq(b.count, 0);
        ck_assert_msg(strstr(err.message, "00.rec") != NULL, "%s", err.message);
        ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_END);
    }
    imrec_iter_close(it);
    it = set_open(&s, false, "on_error=skip");
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_END);
    imrec_iter_close(it);
    image_set_free(&s);
}

static enum bad tail_framing(uint32_t i)
{
    return i >= 7 ? BAD_FRAMING : GOOD;
}

LOOP_TEST(damage_behind_the_last_sample_is_told, 0, 5) /* _i: last_batch */
{
    static const char *const ends[] = {"pad", "partial", "repeat", "drop", "wrap"};
    struct image_set s = image_set_make(
        &(struct image_set_options){.records = 9, .shards = 1, .labels = 1, .bad = tail_framing});
    for (uint32_t batch = 1; batch <= 8; batch++) {
        char words[64];
        struct imrec_batch b;
        snprintf(words, sizeof(words), "last_batch=%s batch_size=%u", ends[_i], batch);
        struct imrec_iter *it = set_open(&s, false, words);
        uint32_t told = 0, sweeps = 0;
        for (uint32_t n = 0; sweeps < 3 && n < 100; n++) {
            const enum imrec_status st = imrec_iter_next(it, &b, NULL);
            told += st == IMREC_ERR_DATA;
            sweeps += st == IMREC_END || (_i == IMREC_LAST_WRAP && b.sweep_end);
        }
        ck_assert_msg(told == 3 || (_i == IMREC_LAST_WRAP && told >= 3), "batch %u: %u", batch,
                      told);
        imrec_iter_close(it);
    }
    image_set_free(&s);
}

LOOP_TEST(bytes_that_storage_refuses_are_damage_and_the_rest_is_delivered, 0, 2) /* _i: index */
{
    struct image_set s =
        image_set_make(&(struct image_set_options){.records = RECORDS, .shards = 1, .labels = 1});
    struct image_set bad = s;
    snprintf(bad.rec, sizeof(bad.rec), "path_imgrec=fault://script=eio:%s", strchr(s.rec, '=') + 1);
    ck_assert_int_eq(
        fault_set("eio", &(struct fault_script){.bad_begin = 20000, .bad_end = 24000}, NULL),
        IMREC_OK);
    struct told t = tell(&bad, _i, "on_error=stop");
    uint32_t good = 0, failed = 0;
    for (size_t i = 0; i < t.stream.n; i++) {
        good += t.stream.seen[i].valid;
        failed += t.stream.seen[i].status != IMREC_OK;
    }
    ck_assert_uint_gt(good, RECORDS - 20);
    ck_assert_uint_lt(good, RECORDS);
    ck_assert_uint_eq(failed, _i ? RECORDS - good : 0);
    stream_free(&t.stream);
    fault_forget("eio");
    image_set_free(&s);
}

/* Five images, of which the third is a line of 20,000 px. */
static void shard_with_a_line(const char *rec)
{
    static uint8_t pixels[20000 * 3];
    struct imrec_writer *w;
    struct codec *c;
    ck_assert_int_eq(imrec_writer_open(rec, NULL, true, &w, NULL), IMREC_OK);
    ck_assert_int_eq(codec_new(&c, NULL), IMREC_OK);
    for (uint32_t i = 0; i < 5; i++) {
        const uint32_t width = i == 2 ? 20000 : 30, height = i == 2 ? 1 : 40;
        const struct imrec_image image = {pixels, (size_t)width * 3, width, height, 3};
        const float label = (float)i;
        struct bytes jpeg;
        ck_assert_int_eq(
            codec_encode_jpeg(c, &image, (struct codec_jpeg_how){.quality = 90}, &jpeg, NULL),
            IMREC_OK);
        ck_assert_int_eq(imrec_writer_append_image(w, i, &label, 1, i, jpeg.p, jpeg.n, NULL),
                         IMREC_OK);
    }
    codec_free(c);
    ck_assert_int_eq(imrec_writer_commit(w, NULL), IMREC_OK);
}

LOOP_TEST(an_image_that_would_become_too_large_costs_its_slot, 0, 2) /* _i: threads */
{
    static const char *const ways[] = {"resize=64", "min_img_size=60000", "pad=30000",
                                       "resize=64 antialias=1 max_rotate_angle=10"};
    struct tmpdir d = tmpdir_make();
    char words[1024];
    shard_with_a_line(tmp_path(&d, "line.rec"));
    for (size_t i = 0; i < 4; i++) {
        const struct image_set s = {.dir = d};
        struct imrec_error err;
        struct imrec_batch b;
        snprintf(words, sizeof(words), "data_shape=3,24,24 batch_size=5 preprocess_threads=%d",
                 _i == 0 ? 1 : 4);
        struct imrec_iter *it = open_over(tmp_path(&s.dir, "line.rec"), words, ways[i]);
        ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_ERR_DATA);
        for (uint32_t k = 0; k < 5; k++)
            ck_assert_msg((b.status[k] != IMREC_OK) == (k == 2 || i == 1 || i == 2),
                          "%s: slot %u: %s", ways[i], k, err.message);
        ck_assert_int_eq(b.status[2], IMREC_ERR_LIMIT);
        ck_assert_msg(strstr(err.message, "a side is limited to 65500 px") != NULL, "%s",
                      err.message);
        imrec_iter_close(it);
    }
    tmpdir_remove(&d);
}
