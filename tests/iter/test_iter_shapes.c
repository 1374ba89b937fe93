/* Progressive resizing: a sweep's batches are those of an iterator whose data_shape is that
 * sweep's.
 */
#include "tests/support/imageset.h"
#include "tests/support/suite.h"

enum { RECORDS = 22, SWEEPS = 5 };

static const char schedule[] = "data_shape_schedule=0:3,9,9;2:3,14,11;3:3,12,12";
static const struct imrec_shape shapes[SWEEPS] = {
    {3, 9, 9}, {3, 9, 9}, {3, 14, 11}, {3, 12, 12}, {3, 12, 12}};
static const char augmented[] =
    "random_resized_crop=1 min_random_area=0.3 rand_mirror=1 random_erasing=0.5 dtype=uint8";

static const char *const ways[] = {
    "",
    "shuffle=1 last_batch=partial",
    "last_batch=drop rand_augment=2",
    "shuffle=1 last_batch=repeat", /* what fills a batch has the batch's shape */
    "num_views=5 batch_size=20",
    "cutmix=1 num_classes=99 shuffle=1",
    "mixup=1 num_classes=99 dtype=float32",
    "num_parts=3 part_index=1 equal_batches=1",
    "num_parts=50 part_index=49 equal_batches=1", /* a partition without records */
};
enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

static struct image_set make(void)
{
    return image_set_make(
        &(struct image_set_options){.records = RECORDS, .shards = 2, .labels = 1});
}

static uint64_t hash_of(const struct imrec_batch *b, const char *words)
{
    const struct imrec_shape *s = &b->views[0].shape;
    const size_t value = strstr(words, "float32") != NULL ? 4 : 1;
    uint64_t h =
        seen_hash(1, b->data, (size_t)b->slots * s->channels * s->height * s->width * value);
    h = seen_hash(h, b->labels, (size_t)b->slots * b->label_width * sizeof(float));
    return seen_hash(h, b->ids, b->slots * sizeof(*b->ids));
}

static bool is_shape(const struct imrec_batch *b, uint64_t sweep)
{
    const struct imrec_shape *s = &b->views[0].shape, *want = &shapes[sweep];
    return s->channels == 3 && s->height == want->height && s->width == want->width;
}

/* Goes through sweep `sweep` of both, batch by batch. */
static void sweeps_must_agree(struct imrec_iter *it, struct imrec_iter *plain, uint64_t sweep,
                              const char *words)
{
    for (;;) {
        struct imrec_batch a, b;
        const enum imrec_status st = imrec_iter_next(it, &a, NULL);
        ck_assert_int_eq(st, imrec_iter_next(plain, &b, NULL));
        if (st == IMREC_END)
            return;
        ck_assert_int_eq(st, IMREC_OK);
        ck_assert_uint_eq(a.sweep, sweep);
        ck_assert_uint_eq(a.slots, b.slots);
        ck_assert_uint_eq(a.count, b.count);
        ck_assert_msg(is_shape(&a, sweep), "%s: sweep %d: %u x %u px", words, (int)sweep,
                      a.views[0].shape.height, a.views[0].shape.width);
        ck_assert_msg(hash_of(&a, words) == hash_of(&b, words), "%s: sweep %d", words, (int)sweep);
    }
}

START_TEST(a_sweep_is_that_of_an_iterator_of_its_shape) /* _i: way x index */
{
    struct image_set s = make();
    char words[1024], plain[1024];
    snprintf(words, sizeof(words), "%s %s %s", augmented, ways[_i / 2], schedule);
    struct imrec_iter *it = set_open(&s, _i % 2 != 0, words);
    for (uint64_t sweep = 0; sweep < SWEEPS; sweep++) {
        snprintf(plain, sizeof(plain), "%s %s data_shape=3,%u,%u", augmented, ways[_i / 2],
                 shapes[sweep].height, shapes[sweep].width);
        struct imrec_iter *other = set_open(&s, _i % 2 != 0, plain);
        struct imrec_batch b;
        for (uint64_t before = 0; before < sweep; before++) /* each rewind is a sweep */
            ck_assert(imrec_iter_next(other, &b, NULL) == IMREC_OK &&
                      imrec_iter_rewind(other, NULL) == IMREC_OK);
        sweeps_must_agree(it, other, sweep, words);
        imrec_iter_close(other);
    }
    imrec_iter_close(it);
    image_set_free(&s);
}
END_TEST

START_TEST(a_batch_has_the_shape_of_its_first_sample) /* _i: wrap, epochs */
{
    static const char *const over[] = {"last_batch=wrap", "epoch_size=31 last_batch=repeat",
                                       "epoch_size=15 last_batch=wrap num_views=5 batch_size=20"};
    struct image_set s = make();
    char words[1024];
    uint32_t seen[SWEEPS] = {0};
    snprintf(words, sizeof(words), "%s %s %s", augmented, over[_i], schedule);
    struct imrec_iter *it = set_open(&s, false, words);
    for (struct imrec_batch b = {.sweep = 0}; b.sweep < SWEEPS - 1;) {
        const enum imrec_status st = imrec_iter_next(it, &b, NULL);
        ck_assert(st == IMREC_END || is_shape(&b, b.sweep));
        seen[b.sweep] += st == IMREC_OK;
    }
    for (int i = 0; i < SWEEPS; i++)
        ck_assert_uint_gt(seen[i], 0);
    imrec_iter_close(it);
    image_set_free(&s);
}
END_TEST

START_TEST(rewinding_goes_to_the_next_shape)
{
    struct image_set s = make();
    struct imrec_batch b;
    char words[1024];
    snprintf(words, sizeof(words), "%s %s", augmented, schedule);
    struct imrec_iter *it = set_open(&s, false, words);
    for (uint64_t sweep = 0; sweep < SWEEPS; sweep++) {
        ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
        ck_assert(b.sweep == sweep && is_shape(&b, sweep));
        ck_assert_int_eq(imrec_iter_rewind(it, NULL), IMREC_OK);
    }
    imrec_iter_close(it);
    image_set_free(&s);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("iter_shapes");
    TCase *tc = tcase_create("shapes");
    tcase_set_timeout(tc, 120);
    suite_add_tcase(s, tc);
    tcase_add_loop_test(tc, a_sweep_is_that_of_an_iterator_of_its_shape, 0, 2 * WAYS);
    tcase_add_loop_test(tc, a_batch_has_the_shape_of_its_first_sample, 0, 3);
    tcase_add_test(tc, rewinding_goes_to_the_next_shape);
    return suite_run(s);
}
