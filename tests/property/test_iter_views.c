/* Several pictures of each sample: what they are, where they lie, and what they depend on. */
#include "tests/support/pictureset.h"
#include "tests/support/suite.h"

enum { RECORDS = 22, VIEWS = 4 };

static const char augmented[] =
    "rand_mirror=1 record_draws=1 brightness=0.3 random_resized_crop=1 min_random_area=0.3 "
    "min_aspect_ratio=0.8 max_aspect_ratio=1.2 random_erasing=0.3 gaussian_blur=0.3";

static struct picture_set make(enum bad (*bad)(uint32_t))
{
    return picture_set_make(
        &(struct picture_set_options){.records = RECORDS, .shards = 2, .labels = 2, .bad = bad});
}

static enum bad some_are_bad(uint32_t i)
{
    return i % 7 == 3 ? BAD_PIXELS : i % 9 == 5 ? BAD_LABELS : GOOD;
}

static size_t value_bytes(const char *words)
{
    return strstr(words, "dtype=float16") != NULL ? 2 : strstr(words, "int8") != NULL ? 1 : 4;
}

static size_t slot_bytes(const struct imrec_view *v, size_t value)
{
    return (size_t)v->shape.channels * v->shape.height * v->shape.width * value;
}

static const uint8_t *picture(const struct imrec_view *v, uint32_t slot, size_t value)
{
    return (const uint8_t *)v->data + slot * slot_bytes(v, value);
}

/* ---- the plain iterator beside it ---------------------------------------------------------------
 */

static void
heads_must_agree(const struct imrec_batch *a, const struct imrec_batch *b, const char *words)
{
    ck_assert_msg(a->slots == VIEWS * b->slots && a->count == VIEWS * b->count &&
                      a->pad == VIEWS * b->pad && a->failed == VIEWS * b->failed &&
                      a->repeats == VIEWS && b->repeats == 1 && a->view_count == 1 &&
                      a->sweep == b->sweep && a->epoch == b->epoch &&
                      a->sweep_end == b->sweep_end && a->epoch_end == b->epoch_end,
                  "%s: batch %d: %u slots, %u samples, %u pad, %u failed beside %u, %u, %u, %u",
                  words, (int)a->number, a->slots, a->count, a->pad, a->failed, b->slots, b->count,
                  b->pad, b->failed);
}

/* Slots of a, VIEWS for each of b: the first of them is b's. Returns how many others are too. */
static uint32_t
slots_must_agree(const struct imrec_batch *a, const struct imrec_batch *b, const char *words)
{
    const size_t value = value_bytes(words), n = slot_bytes(a->views, value);
    uint32_t equal = 0;
    for (uint32_t i = 0; i < a->slots; i++) {
        const uint32_t k = i / VIEWS;
        ck_assert_uint_eq(a->ids[i], b->ids[k]);
        ck_assert_int_eq(a->valid[i], b->valid[k]);
        ck_assert_int_eq(a->status[i], b->status[k]);
        ck_assert_int_eq(memcmp(a->labels + (size_t)i * a->label_width,
                                b->labels + (size_t)k * b->label_width,
                                a->label_width * sizeof(float)),
                         0);
        const bool same = memcmp(picture(a->views, i, value), picture(b->views, k, value), n) == 0;
        const bool blank = b->status[k] != IMREC_OK || (b->pad != 0 && b->ids[k] == 0);
        ck_assert_msg(same || (i % VIEWS != 0 && !blank), "%s: batch %d, slot %u", words,
                      (int)a->number, i);
        equal += same && i % VIEWS != 0 && !blank;
    }
    return equal;
}

static const char *const ends[] = {
    "last_batch=pad",
    "last_batch=partial",
    "last_batch=repeat shuffle=1",
    "last_batch=drop shuffle=1 seed=4",
    "last_batch=wrap",
    "equal_batches=1 num_parts=5 part_index=4 last_batch=repeat",
    "equal_batches=1 num_parts=40 part_index=39",
    "epoch_size=17 last_batch=repeat max_samples=60",
    "epoch_size=13 last_batch=wrap dtype=uint8 layout=NHWC",
    "dtype=float16 layout=NHWC mean_r=100 std_g=30",
    "dtype=int8 mean_r=128 last_batch=partial",
    "on_error=skip dtype=uint8",
    "prefetch_buffer=1 preprocess_threads=1",
};

START_TEST(
    a_sample_fills_its_slots_wherever_the_plain_iterator_fills_one) /* _i: end x bad x index */
{
    enum { ENDS = sizeof(ends) / sizeof(ends[0]) };
    struct picture_set s = make(_i / ENDS % 2 ? some_are_bad : NULL);
    const bool index = _i / ENDS / 2 != 0;
    char words[1024], plain[1024];
    snprintf(words, sizeof(words), "%s %s batch_size=12 num_views=4", augmented, ends[_i % ENDS]);
    snprintf(plain, sizeof(plain), "%s %s batch_size=3", augmented, ends[_i % ENDS]);
    struct imrec_iter *a = set_open(&s, index, words), *b = set_open(&s, index, plain);
    uint32_t equal = 0, slots = 0;
    for (int batch = 0; batch < 30; batch++) {
        struct imrec_batch x, y;
        struct imrec_error e = {0}, f = {0};
        const enum imrec_status st = imrec_iter_next(a, &x, &e);
        ck_assert_int_eq(st, imrec_iter_next(b, &y, &f));
        ck_assert_str_eq(e.message, f.message);
        if (st == IMREC_END)
            continue;
        heads_must_agree(&x, &y, words);
        equal += slots_must_agree(&x, &y, words);
        slots += x.slots;
    }
    ck_assert_uint_le(equal, slots / 20); /* draws that happen to agree */
    imrec_iter_close(a);
    imrec_iter_close(b);
    picture_set_free(&s);
}
END_TEST

/* ---- one decode
 * ----------------------------------------------------------------------------------- */

START_TEST(all_views_come_out_of_one_decode)
{
    static const struct {
        const char *words;
        uint32_t views;
    } ways[] = {
        {"batch_size=4", 1},
        {"batch_size=8 num_views=8 rand_crop=1", 8},
        {"batch_size=8 num_views=4 random_resized_crop=1 min_random_area=0.1", 4},
        {"batch_size=3 multi_crop=2x12,6x8 rand_crop=1", 8},
        {"batch_size=4 num_views=2 multi_crop=1x12,1x5x6,1x7 hue=0.2", 6},
    };
    struct picture_set s = make(NULL);
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        char words[512];
        struct imrec_iter_stats stats;
        struct imrec_batch b;
        snprintf(words, sizeof(words), "%s epoch_size=FULL_DATA_SWEEP", ways[i].words);
        struct imrec_iter *it = set_open(&s, false, words);
        while (imrec_iter_next(it, &b, NULL) != IMREC_END)
            ck_assert_uint_eq(b.repeats * b.view_count, ways[i].views);
        imrec_iter_get_stats(it, &stats);
        imrec_iter_close(it);
        ck_assert_uint_eq(stats.images, RECORDS);
        ck_assert_uint_eq(stats.decodes, RECORDS);
        ck_assert_uint_eq(stats.views, RECORDS * ways[i].views);
    }
    picture_set_free(&s);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("iter_views");
    TCase *views = tcase_create("views");
    tcase_set_timeout(views, 120);
    suite_add_tcase(s, views);
    tcase_add_loop_test(views, a_sample_fills_its_slots_wherever_the_plain_iterator_fills_one, 0,
                        4 * (int)(sizeof(ends) / sizeof(ends[0])));
    tcase_add_test(views, all_views_come_out_of_one_decode);
    return suite_run(s);
}
