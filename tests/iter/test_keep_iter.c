/* Batches that the consumer keeps: their memory stays theirs, whatever the iterator does after. */
#include "base/alloc.h"
#include "tests/support/imageset.h"
#include "tests/support/suite.h"

enum { RECORDS = 13, KEPT = 40, BATCH_BYTES = 4 * 12 * 12 * 3 * 4 };

static struct image_set make(void)
{
    return image_set_make(
        &(struct image_set_options){.records = RECORDS, .shards = 1, .labels = 1, .jpeg = true});
}

CASE(.timeout = 60)

TEST(kept_batches_hold_what_they_held_also_after_the_iterator_is_closed)
{
    struct image_set s = make();
    const long before = imrec_alloc_live();
    struct imrec_iter *it = set_open(&s, true, "batch_size=4 shuffle=1 rand_crop=1");
    struct imrec_iter *twin = set_open(&s, true, "batch_size=4 shuffle=1 rand_crop=1");
    struct imrec_kept *kept[KEPT];
    const void *data[KEPT];
    static uint8_t expected[KEPT][BATCH_BYTES];
    for (uint32_t i = 0; i < KEPT; i++) {
        memcpy(expected[i], following_batch(twin).data, BATCH_BYTES);
        data[i] = following_batch(it).data;
        ck_assert_int_eq(imrec_iter_keep(it, &kept[i], NULL), IMREC_OK);
    }
    struct imrec_kept *last, *none;
    static uint8_t after[BATCH_BYTES];
    memcpy(after, following_batch(twin).data, BATCH_BYTES);
    const void *at = following_batch(it).data;
    ck_assert_int_eq(imrec_iter_close_keeping(it, &last, NULL), IMREC_OK);
    ck_assert_int_eq(memcmp(after, at, BATCH_BYTES), 0);
    imrec_kept_release(last);
    ck_assert_int_eq(imrec_iter_rewind(twin, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_iter_close_keeping(twin, &none, NULL), IMREC_OK);
    ck_assert_ptr_null(none);
    for (uint32_t i = 0; i < KEPT; i++)
        ck_assert_int_eq(memcmp(expected[i], data[i], BATCH_BYTES), 0);
    for (uint32_t i = 0; i < KEPT; i++)
        imrec_kept_release(kept[i]);
    ck_assert_int_eq(imrec_alloc_live(), before);
    image_set_free(&s);
}

TEST(memory_that_was_released_is_used_again)
{
    struct image_set s = make();
    struct imrec_iter *it = set_open(&s, true, "batch_size=4 prefetch_buffer=2");
    struct imrec_kept *kept, *last = NULL;
    const void *places[5] = {NULL}; /* three of the iterator's own, two that are kept in turn */
    for (uint32_t i = 0; i < KEPT; i++) {
        const void *data = following_batch(it).data;
        uint32_t k = 0;
        while (k < 5 && places[k] != NULL && places[k] != data)
            k++;
        ck_assert_uint_lt(k, 5);
        places[k] = data;
        ck_assert_int_eq(imrec_iter_keep(it, &kept, NULL), IMREC_OK);
        imrec_kept_release(last);
        last = kept;
    }
    imrec_kept_release(last);
    imrec_iter_close(it);
    image_set_free(&s);
}

TEST(only_a_batch_that_is_there_can_be_kept_and_only_once)
{
    struct image_set s = make();
    struct imrec_iter *it = set_open(&s, true, "batch_size=4");
    struct imrec_kept *kept, *again;
    ck_assert_int_eq(imrec_iter_keep(it, &kept, NULL), IMREC_ERR_ARGUMENT);
    (void)following_batch(it);
    ck_assert_int_eq(imrec_iter_keep(it, &kept, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_iter_keep(it, &again, NULL), IMREC_ERR_ARGUMENT);
    ck_assert_ptr_null(again);
    ck_assert_int_eq(imrec_iter_rewind(it, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_iter_keep(it, &again, NULL), IMREC_ERR_ARGUMENT);
    imrec_kept_release(kept);
    imrec_kept_release(NULL);
    imrec_iter_close(it);
    image_set_free(&s);
}

TEST(memory_limit_holds_for_what_is_kept_and_a_release_makes_room)
{
    struct image_set s = make();
    struct imrec_iter_stats stats;
    struct imrec_error e = {0};
    struct imrec_kept *kept[2];
    char words[80];
    struct imrec_iter *it = set_open(&s, true, "batch_size=4");
    imrec_iter_get_stats(it, &stats);
    imrec_iter_close(it);
    snprintf(words, sizeof(words), "batch_size=4 memory_limit=%llu",
             (unsigned long long)stats.memory_planned_bytes + BATCH_BYTES);
    it = set_open(&s, true, words);
    (void)following_batch(it);
    ck_assert_int_eq(imrec_iter_keep(it, &kept[0], &e), IMREC_OK);
    const struct imrec_batch b = following_batch(it);
    ck_assert_int_eq(imrec_iter_keep(it, &kept[1], &e), IMREC_ERR_LIMIT);
    ck_assert_msg(strstr(e.message, "memory_limit is ") != NULL, "%s", e.message);
    ck_assert_uint_eq(b.number, 1);
    imrec_kept_release(kept[0]);
    ck_assert_int_eq(imrec_iter_keep(it, &kept[1], &e), IMREC_OK);
    imrec_kept_release(kept[1]);
    imrec_iter_close(it);
    image_set_free(&s);
}

TEST(waiting_tells_when_a_batch_is_ready)
{
    struct image_set s = make();
    struct imrec_iter *it = set_open(&s, true, "batch_size=13");
    while (!imrec_iter_wait(it, 1))
        continue;
    (void)following_batch(it);
    ck_assert(imrec_iter_wait(it, 0)); /* the END is due */
    imrec_iter_close(it);
    image_set_free(&s);
}

LOOP_TEST(samples_are_counted_with_and_without_an_index, 1, 5) /* _i = num_parts */
{
    struct image_set s = make();
    for (int index = 0; index < 2; index++) {
        uint64_t sum = 0;
        for (int part = 0; part < _i; part++) {
            char words[80];
            uint64_t samples, again, delivered = 0;
            struct imrec_batch b;
            snprintf(words, sizeof(words), "batch_size=3 num_parts=%d part_index=%d", _i, part);
            struct imrec_iter *it = set_open(&s, index, words);
            ck_assert_int_eq(imrec_iter_samples(it, &samples, NULL), IMREC_OK);
            ck_assert_int_eq(imrec_iter_samples(it, &again, NULL), IMREC_OK);
            while (imrec_iter_next(it, &b, NULL) == IMREC_OK)
                delivered += b.count;
            ck_assert_uint_eq(samples, delivered);
            ck_assert_uint_eq(samples, again);
            sum += samples;
            imrec_iter_close(it);
        }
        ck_assert_uint_eq(sum, RECORDS);
    }
    image_set_free(&s);
}
