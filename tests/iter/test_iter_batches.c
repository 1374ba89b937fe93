/* Batches as a caller sees them: ends of sweeps, labels, draws, mean image, statistics. */
#include "base/alloc.h"
#include "base/threads.h"
#include "storage/fault.h"
#include "tests/support/imageset.h"
#include "tests/support/suite.h"

enum { SAMPLE_BYTES = 12 * 12 * 3 * 4, RECORDS = 13 };

static struct image_set make(uint32_t records, uint32_t labels)
{
    return image_set_make(
        &(struct image_set_options){.records = records, .shards = 1, .labels = labels});
}

/* "v" valid, "r" repeated, "0" zero, one a slot; "|" after a batch, "." for an END, "!" where a
 * sweep ends. */
static void draw_batches(struct imrec_iter *it, uint32_t calls, char *out)
{
    static const uint8_t zero[SAMPLE_BYTES];
    struct imrec_batch b;
    while (calls-- > 0) {
        const enum imrec_status st = imrec_iter_next(it, &b, NULL);
        if (st == IMREC_END) {
            *out++ = '.';
            continue;
        }
        ck_assert_int_eq(st, IMREC_OK);
        ck_assert_uint_eq(b.pad, b.slots - b.count);
        uint32_t valid = 0;
        for (uint32_t i = 0; i < b.slots; i++) {
            const uint8_t *data = (const uint8_t *)b.data + i * SAMPLE_BYTES;
            const bool blank = memcmp(data, zero, SAMPLE_BYTES) == 0;
            ck_assert(!blank || (b.ids[i] == 0 && b.labels[i] == 0 && !b.valid[i]));
            *out++ = b.valid[i] ? 'v' : blank ? '0' : 'r';
            valid += b.valid[i];
        }
        ck_assert_uint_eq(valid, b.count);
        if (b.sweep_end)
            *out++ = '!';
        *out++ = '|';
    }
    *out = '\0';
}

static const struct {
    const char *words;
    uint32_t calls;
    const char *drawn;
} ends[] = {
    {"last_batch=pad batch_size=6", 6, "vvvvvv|vvvvvv|v00000!|.vvvvvv|vvvvvv|"},
    {"last_batch=pad batch_size=13", 4, "vvvvvvvvvvvvv!|.vvvvvvvvvvvvv!|."},
    {"last_batch=partial batch_size=6", 5, "vvvvvv|vvvvvv|v!|.vvvvvv|"},
    {"last_batch=repeat batch_size=6", 5, "vvvvvv|vvvvvv|vrrrrr!|.vvvvvv|"},
    {"round_batch=1 batch_size=6", 5, "vvvvvv|vvvvvv|vrrrrr!|.vvvvvv|"},
    {"round_batch=0 batch_size=6", 5, "vvvvvv|vvvvvv|v00000!|.vvvvvv|"},
    {"last_batch=repeat batch_size=30", 3,
     "vvvvvvvvvvvvvrrrrrrrrrrrrrrrrr!|.vvvvvvvvvvvvvrrrrrrrrrrrrrrrrr!|"},
    {"last_batch=drop batch_size=6", 6, "vvvvvv|vvvvvv|.vvvvvv|vvvvvv|."},
    {"last_batch=drop batch_size=14", 3, "..."},
    {"last_batch=wrap batch_size=6", 5, "vvvvvv|vvvvvv|vvvvvv!|vvvvvv|vvvvvv!|"},
    {"last_batch=wrap batch_size=13", 2, "vvvvvvvvvvvvv!|vvvvvvvvvvvvv!|"},
    {"num_parts=4 part_index=3 equal_batches=1 path_imgidx=IDX batch_size=3", 4, "vrr|r00!|.vrr|"},
    {"num_parts=5 part_index=4 equal_batches=1 path_imgidx=IDX batch_size=2", 4, "vr|r0!|.vr|"},
    {"num_parts=9 part_index=8 equal_batches=1 path_imgidx=IDX batch_size=2", 4, "00!|.00!|."},
    {"num_parts=9 part_index=8 path_imgidx=IDX batch_size=2", 2, ".."},
};

CASE(.timeout = 60)

LOOP_TEST(sweeps_end_as_last_batch_says, 0, COUNT(ends))
{
    struct image_set s = make(RECORDS, 1);
    char words[256], drawn[256];
    snprintf(words, sizeof(words), "%s", ends[_i].words);
    char *idx = strstr(words, "path_imgidx=IDX ");
    if (idx != NULL)
        memset(idx, ' ', strlen("path_imgidx=IDX "));
    struct imrec_iter *it = set_open(&s, idx != NULL, words);
    draw_batches(it, ends[_i].calls, drawn);
    ck_assert_msg(strcmp(drawn, ends[_i].drawn) == 0, "%s: %s instead of %s", ends[_i].words, drawn,
                  ends[_i].drawn);
    imrec_iter_close(it);
    image_set_free(&s);
}

TEST(repeated_samples_are_the_next_sweeps_first_ones)
{
    struct image_set s = make(RECORDS, 1);
    struct imrec_iter *it = set_open(
        &s, true, "last_batch=repeat batch_size=10 shuffle=1 rand_crop=1 prefetch_buffer=5");
    struct imrec_batch b;
    static uint8_t tail[7 * SAMPLE_BYTES];
    uint64_t ids[7];
    for (int sweep = 0; sweep < 3; sweep++) {
        ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
        if (sweep > 0) {
            ck_assert_int_eq(memcmp(tail, b.data, sizeof(tail)), 0);
            ck_assert_int_eq(memcmp(ids, b.ids, sizeof(ids)), 0);
        }
        ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
        ck_assert_uint_eq(b.count, 3);
        memcpy(tail, (const uint8_t *)b.data + 3 * SAMPLE_BYTES, sizeof(tail));
        memcpy(ids, b.ids + 3, sizeof(ids));
        ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_END);
    }
    imrec_iter_close(it);
    image_set_free(&s);
}

LOOP_TEST(equal_partitions_deliver_equally_many_batches, 1, 16) /* _i = num_parts */
{
    struct image_set s = make(RECORDS, 1);
    for (int index = 0; index < 2; index++)
        for (int batch = 1; batch <= 3; batch += 2) {
            uint32_t first = 0;
            for (int part = 0; part < _i; part++) {
                char words[128];
                uint32_t batches = 0;
                struct imrec_batch b;
                snprintf(words, sizeof(words),
                         "equal_batches=1 num_parts=%d part_index=%d batch_size=%d", _i, part,
                         batch);
                struct imrec_iter *it = set_open(&s, index, words);
                while (imrec_iter_next(it, &b, NULL) == IMREC_OK)
                    batches++;
                first = part == 0 ? batches : first;
                ck_assert_uint_eq(batches, first);
                ck_assert_uint_gt(batches, 0);
                imrec_iter_close(it);
            }
        }
    image_set_free(&s);
}

TEST(all_labels_are_delivered_and_a_list_replaces_them)
{
    struct image_set s = make(RECORDS, 3);
    struct imrec_iter *it = set_open(&s, false, "batch_size=13");
    struct imrec_batch b;
    struct imrec_error err = {0};
    char list[2048] = "", words[700];
    ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
    ck_assert_uint_eq(b.label_width, 3);
    for (uint32_t i = 0; i < RECORDS; i++)
        ck_assert(b.labels[3 * i] == (float)i && b.labels[3 * i + 2] == (float)i + 0.5f);
    imrec_iter_close(it);
    for (uint32_t i = RECORDS; i-- > 1;) /* one is missing, order does not matter */
        snprintf(list + strlen(list), sizeof(list) - strlen(list), "%d\t%d\t%d\tx y.jpg\n",
                 (int)set_id(i), 100 + (int)i, 200 + (int)i);
    snprintf(words, sizeof(words), "label_width=2 batch_size=13 path_imglist=%s",
             tmp_write(&s.dir, "new.lst", list, strlen(list)));
    it = set_open(&s, false, words);
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_ERR_DATA);
    ck_assert_msg(strstr(err.message, "id 1000") != NULL && strstr(err.message, "list") != NULL,
                  "%s", err.message);
    ck_assert_uint_eq(b.failed, 1);
    for (uint32_t i = 1; i < RECORDS; i++)
        ck_assert(b.labels[2 * i] == 100 + (float)i && b.labels[2 * i + 1] == 200 + (float)i);
    imrec_iter_close(it);
    image_set_free(&s);
}

TEST(draws_say_what_became_of_each_sample)
{
    struct image_set s = make(60, 1);
    struct imrec_iter *it =
        set_open(&s, false, "batch_size=60 rand_crop=1 rand_mirror=1 record_draws=1 dtype=uint8");
    struct imrec_iter *whole =
        set_open(&s, false, "batch_size=60 data_shape=3,14,14 record_draws=1 dtype=uint8");
    struct imrec_batch b, w;
    uint32_t mirrored = 0, elsewhere = 0;
    ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_iter_next(whole, &w, NULL), IMREC_OK);
    for (uint32_t i = 0; i < 60; i++) {
        const struct imrec_draw d = b.draws[i], c = w.draws[i];
        ck_assert_uint_eq(d.width, 14 + i % 6);
        ck_assert_uint_eq(d.height, 14 + i / 6 % 6);
        ck_assert(d.x + 12 <= d.width && d.y + 12 <= d.height);
        ck_assert(c.x == (c.width - 14) / 2 && c.y == (c.height - 14) / 2 && !c.mirror);
        mirrored += d.mirror;
        elsewhere += d.x != (d.width - 12) / 2;
        if (c.x != 0 || c.y != 0)
            continue; /* `whole` shows the corner of the others' images only */
        for (uint32_t p = 0; p < 3 * 144; p++) {
            const uint32_t x = p % 12, y = p / 12 % 12, channel = p / 144;
            const uint32_t from = d.x + (d.mirror ? 11 - x : x);
            if (from < 14 && d.y + y < 14)
                ck_assert_uint_eq(
                    ((const uint8_t *)b.data)[i * 432 + p],
                    ((const uint8_t *)w.data)[i * 588 + channel * 196 + (d.y + y) * 14 + from]);
        }
    }
    ck_assert(mirrored > 15 && mirrored < 45 && elsewhere > 15);
    imrec_iter_close(it);
    imrec_iter_close(whole);
    image_set_free(&s);
}

TEST(the_mean_image_is_of_all_the_data_and_subtracted_before_mirroring)
{
    struct image_set s = make(RECORDS, 1);
    struct imrec_iter *plain = set_open(&s, false, "batch_size=13");
    struct imrec_batch b, m;
    char words[700];
    static double sum[432];
    snprintf(words, sizeof(words),
             "num_parts=3 part_index=1 batch_size=4 mirror=1 rand_crop=0 preprocess_threads=7 "
             "mean_img=%s",
             tmp_path(&s.dir, "mean.bin"));
    ck_assert_int_eq(imrec_iter_next(plain, &b, NULL), IMREC_OK);
    for (uint32_t i = 0; i < RECORDS * 432; i++)
        sum[i % 432] += ((const float *)b.data)[i];
    for (int run = 0; run < 2; run++) { /* computed, then read */
        struct imrec_iter *it = set_open(&s, false, words);
        ck_assert_int_eq(imrec_iter_next(it, &m, NULL), IMREC_OK);
        uint32_t first = 0;
        while (b.ids[first] != m.ids[0])
            first++;
        ck_assert_uint_gt(first, 0);
        for (uint32_t p = 0; p < 432; p++) {
            const uint32_t mirrored = p - p % 12 + 11 - p % 12;
            const float mean = (float)(sum[mirrored] / RECORDS); /* subtracted before mirroring */
            ck_assert(((const float *)m.data)[p] ==
                      ((const float *)b.data)[first * 432 + mirrored] - mean);
        }
        imrec_iter_close(it);
    }
    struct imrec_iter *it;
    struct imrec_error err = {0};
    strcat(words, " data_shape=3,10,12");
    ck_assert_int_eq(set_try_open(&s, false, words, &it, &err), IMREC_ERR_ARGUMENT);
    ck_assert_msg(strstr(err.message, "mean.bin") != NULL, "%s", err.message);
    imrec_iter_close(plain);
    image_set_free(&s);
}

TEST(statistics_count_what_was_done)
{
    struct image_set s = make(40, 1);
    struct imrec_iter *it = set_open(&s, false, "batch_size=10 preprocess_threads=3");
    struct imrec_iter_stats stats;
    struct imrec_batch b;
    for (int i = 0; i < 8; i++)
        ck_assert_int_le(imrec_iter_next(it, &b, NULL), IMREC_END);
    imrec_iter_get_stats(it, &stats);
    ck_assert_uint_ge(stats.images, 70);
    ck_assert_uint_eq(stats.workers, 3);
    ck_assert_uint_eq(stats.failed, 0);
    ck_assert_uint_gt(stats.decode_ns, 0);
    ck_assert_uint_gt(stats.bytes_read, 0);
    ck_assert_uint_gt(stats.memory_bytes, 0);
    ck_assert_str_ne(stats.advice, "");
    imrec_iter_close(it);
    image_set_free(&s);
}

TEST(opening_and_closing_leaves_nothing) /* also in the middle of everything */
{
    struct image_set s = make(40, 1);
    const long before = imrec_alloc_live();
    for (int i = 0; i < 30; i++) {
        struct imrec_iter *it = set_open(&s, i % 2, "shuffle=1 preprocess_threads=4");
        struct imrec_batch b;
        for (int k = 0; k < i % 5; k++)
            ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
        imrec_iter_close(it);
        ck_assert_int_eq(imrec_alloc_live(), before);
    }
    image_set_free(&s);
}

LOOP_TEST(the_steady_state_allocates_nothing, 0, 2) /* _i: index */
{
    struct image_set s = image_set_make(
        &(struct image_set_options){.records = 60, .shards = 1, .labels = 1, .jpeg = true});
    struct imrec_iter *it =
        set_open(&s, _i, "shuffle=1 rand_crop=1 resize=13 shuffle_window=32768 shuffle_chunk=4096");
    struct imrec_batch b;
    for (int i = 0; i < 1000; i++) /* until every arena has been in use */
        ck_assert_int_le(imrec_iter_next(it, &b, NULL), IMREC_END);
    must_ask_for_no_memory(it, 300);
    imrec_iter_close(it);
    image_set_free(&s);
}

TEST(opening_fails_cleanly_when_the_nth_allocation_fails)
{
    struct image_set s = make(20, 1);
    opening_must_fail_cleanly(&s, true, "shuffle=1 num_views=5 multi_crop=2x12,1x9 record_draws=1");
    image_set_free(&s);
}
