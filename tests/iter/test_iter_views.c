/* Several images of each sample: what they are, where they lie, and what they depend on. */
#include "tests/support/imageset.h"
#include "tests/support/suite.h"

enum { RECORDS = 22, VIEWS = 4 };

static const char augmented[] =
    "rand_mirror=1 record_draws=1 brightness=0.3 random_resized_crop=1 min_random_area=0.3 "
    "min_aspect_ratio=0.8 max_aspect_ratio=1.2 random_erasing=0.3 gaussian_blur=0.3";

static struct image_set make(enum bad (*bad)(uint32_t))
{
    return image_set_make(
        &(struct image_set_options){.records = RECORDS, .shards = 2, .labels = 2, .bad = bad});
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

static const uint8_t *image(const struct imrec_view *v, uint32_t slot, size_t value)
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
        const bool same = memcmp(image(a->views, i, value), image(b->views, k, value), n) == 0;
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
    struct image_set s = make(_i / ENDS % 2 ? some_are_bad : NULL);
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
    image_set_free(&s);
}
END_TEST

/* ---- tensors ------------------------------------------------------------------------------------
 */

/* Shapes and areas of the tensors of multi_crop, and how an iterator is asked for the same views.
 */
static const char crops[] = "multi_crop=2x12,3x8x10 multi_crop_area=0.3:1,0.05:0.5";
static const struct {
    const char *words;
    uint32_t first, count;
} same[] = {{"data_shape=3,12,12 min_random_area=0.3", 0, 2},
            {"data_shape=3,8,10 min_random_area=0.05 max_random_area=0.5", 2, 3}};

static const char *const formats[] = {"", "dtype=uint8 layout=NHWC last_batch=repeat",
                                      "dtype=float16 std_r=3 last_batch=partial shuffle=1",
                                      "dtype=int8 mean_g=90 layout=NHWC last_batch=wrap"};

static void tensors_must_agree(const struct imrec_batch *a, const struct imrec_batch *b,
                               uint32_t tensor, size_t value)
{
    const size_t n = slot_bytes(&a->views[tensor], value);
    ck_assert_uint_eq(n, slot_bytes(b->views, value));
    ck_assert_uint_eq(5 * a->slots, b->slots);
    for (uint32_t i = 0; i < a->slots; i++) {
        const uint32_t k = 5 * i + tensor;
        ck_assert_uint_eq(a->ids[i], b->ids[k]);
        ck_assert_msg(memcmp(image(&a->views[tensor], i, value), image(b->views, k, value), n) == 0,
                      "tensor %u, batch %d, slot %u", tensor, (int)a->number, i);
        if (a->valid[i])
            ck_assert_int_eq(
                memcmp(&a->views[tensor].draws[i], &b->draws[k], sizeof(struct imrec_draw)), 0);
    }
}

START_TEST(a_tensor_holds_the_view_of_its_number) /* _i: format x bad x slots of a sample */
{
    struct image_set s = make(_i / 2 % 2 ? some_are_bad : NULL);
    const uint32_t rows = 1 + _i % 2;
    char words[1024];
    snprintf(words, sizeof(words), "%s %s %s on_error=skip num_views=%u batch_size=%u", augmented,
             crops, formats[_i / 4], rows, 5 * rows);
    const size_t value = value_bytes(words);
    for (int k = 0; k < 2; k++) {
        char other[1024];
        snprintf(other, sizeof(other), "%s %s %s on_error=skip num_views=%u batch_size=%u",
                 augmented, formats[_i / 4], same[k].words, 5 * rows, 25 * rows);
        struct imrec_iter *a = set_open(&s, false, words), *b = set_open(&s, false, other);
        for (int batch = 0; batch < 14; batch++) {
            struct imrec_batch x, y;
            const enum imrec_status st = imrec_iter_next(a, &x, NULL);
            ck_assert_int_eq(st, imrec_iter_next(b, &y, NULL));
            for (uint32_t t = 0; st == IMREC_OK && t < same[k].count; t++)
                tensors_must_agree(&x, &y, same[k].first + t, value);
            if (st != IMREC_OK)
                continue;
            ck_assert_uint_eq(x.view_count, 5);
            ck_assert_ptr_eq(x.data, x.views[0].data);
            ck_assert_ptr_eq(x.draws, x.views[0].draws);
            for (uint32_t t = 1; t < 5; t++) /* crops of one size are one tensor, too */
                ck_assert(t == 2 || (const uint8_t *)x.views[t].data ==
                                        image(&x.views[t - 1], 5 * rows, value));
        }
        imrec_iter_close(a);
        imrec_iter_close(b);
    }
    image_set_free(&s);
}
END_TEST

/* ---- what views depend on -----------------------------------------------------------------------
 */

/* Everything of a batch, slot by slot: all tensors, labels, draws. */
static void put_slots(struct stream *out, const struct imrec_batch *b, size_t value)
{
    for (uint32_t i = 0; i < b->slots; i++) {
        struct seen x = {b->status[i], b->ids[i], 1, b->sweep, b->valid[i] == 1};
        for (uint32_t t = 0; t < b->view_count; t++) {
            const struct imrec_view *v = &b->views[t];
            x.hash = seen_hash(x.hash, image(v, i, value), slot_bytes(v, value));
            if (x.valid)
                x.hash = seen_hash(x.hash, &v->draws[i], sizeof(*v->draws));
        }
        x.hash = seen_hash(x.hash, b->labels + (size_t)i * b->label_width,
                           b->label_width * sizeof(float));
        if (x.valid || x.status != IMREC_OK)
            stream_put(out, x);
    }
}

static void read_slots(struct imrec_iter *it, struct stream *out, uint32_t batches, size_t value)
{
    struct imrec_batch b;
    for (uint32_t i = 0; i < batches; i++) {
        const enum imrec_status st = imrec_iter_next(it, &b, NULL);
        if (st == IMREC_OK || st == IMREC_ERR_DATA)
            put_slots(out, &b, value);
        else
            ck_assert_int_eq(st, IMREC_END);
    }
}

static const char *const many[] = {
    "num_views=3",
    "num_views=2 dtype=uint8 layout=NHWC shuffle=1",
    "multi_crop=2x12,3x8 dtype=float16",
    "num_views=3 multi_crop=1x12,2x9x7 dtype=int8 shuffle=1",
    "data_shape_schedule=0:3,12,12;1:3,20,9;2:3,16,16 dtype=uint8",
    "data_shape_schedule=1:3,6,6 num_views=2 shuffle=1",
};
enum { MANY = sizeof(many) / sizeof(many[0]) };

START_TEST(views_depend_on_no_thread_batch_or_depth) /* _i: many x index */
{
    static const char *const others[] = {"preprocess_threads=4 batch_size=18 prefetch_buffer=5",
                                         "preprocess_threads=3 batch_size=6",
                                         "batch_size=66 prefetch_buffer=1"};
    struct image_set s = make(some_are_bad);
    struct stream want = {0};
    char words[1024];
    snprintf(words, sizeof(words), "%s %s preprocess_threads=1 batch_size=6", augmented,
             many[_i / 2]);
    const size_t value = value_bytes(words);
    struct imrec_iter *it = set_open(&s, _i % 2 != 0, words);
    read_slots(it, &want, 40, value);
    imrec_iter_close(it);
    for (int i = 0; i < 3; i++) {
        struct stream got = {0};
        snprintf(words, sizeof(words), "%s %s %s", augmented, many[_i / 2], others[i]);
        it = set_open(&s, _i % 2 != 0, words);
        read_slots(it, &got, i == 0 ? 16 : i == 1 ? 40 : 9, value);
        imrec_iter_close(it);
        ck_assert_uint_gt(got.n, 2 * RECORDS);
        if (got.n > want.n)
            got.n = want.n;
        else
            want.n = got.n;
        streams_must_equal(&got, &want, words);
        stream_free(&got);
    }
    stream_free(&want);
    image_set_free(&s);
}
END_TEST

START_TEST(mixed_views_depend_on_no_thread) /* _i: mixup, cutmix */
{
    struct image_set s = make(NULL);
    struct stream got[2] = {{0}};
    char words[1024];
    for (int i = 0; i < 2; i++) {
        snprintf(words, sizeof(words), "%s num_views=3 batch_size=12 %s=1 preprocess_threads=%d",
                 augmented, _i ? "cutmix" : "mixup", 1 + 3 * i);
        struct imrec_iter *it = set_open(&s, false, words);
        struct imrec_batch b;
        ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
        for (uint32_t slot = 0; slot < b.slots; slot++) /* each has a partner */
            ck_assert_uint_eq(b.draws[b.draws[slot].mix_partner].mix_partner, slot);
        read_slots(it, &got[i], 20, 4);
        imrec_iter_close(it);
    }
    ck_assert_uint_gt(got[0].n, 3 * RECORDS);
    streams_must_equal(&got[0], &got[1], words);
    stream_free(&got[0]);
    stream_free(&got[1]);
    image_set_free(&s);
}
END_TEST

START_TEST(a_position_goes_on_with_the_same_views) /* _i: many */
{
    enum { STOPS = 17 };
    struct image_set s = make(NULL);
    struct stream all = {0};
    char words[1024], *json[STOPS];
    size_t at[STOPS];
    snprintf(words, sizeof(words), "%s %s batch_size=6 last_batch=%s", augmented, many[_i],
             _i % 2 ? "wrap" : "repeat");
    const size_t value = value_bytes(words);
    struct imrec_iter *it = set_open(&s, false, words);
    for (int i = 0; i < STOPS; i++) {
        const char *text;
        ck_assert_int_eq(imrec_iter_position(it, &text, NULL), IMREC_OK);
        json[i] = strdup(text);
        at[i] = all.n;
        read_slots(it, &all, 1, value);
    }
    for (int i = STOPS - 1; i >= 0; i--) {
        struct stream got = {0};
        struct stream rest = {all.seen + at[i], all.n - at[i], 0};
        struct imrec_iter *other = i % 2 ? set_open(&s, false, words) : it;
        ck_assert_int_eq(imrec_iter_seek(other, json[i], NULL), IMREC_OK);
        read_slots(other, &got, (uint32_t)(STOPS - i), value);
        streams_must_equal(&got, &rest, json[i]);
        stream_free(&got);
        free(json[i]);
        if (other != it)
            imrec_iter_close(other);
    }
    imrec_iter_close(it);
    stream_free(&all);
    image_set_free(&s);
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
        {"batch_size=4 num_views=2 verify_decode=1", 2},
        {"batch_size=8 num_views=8 rand_crop=1", 8},
        {"batch_size=8 num_views=4 random_resized_crop=1 min_random_area=0.1", 4},
        {"batch_size=3 multi_crop=2x12,6x8 rand_crop=1", 8},
        {"batch_size=4 num_views=2 multi_crop=1x12,1x5x6,1x7 hue=0.2", 6},
    };
    struct image_set s = make(NULL);
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
    image_set_free(&s);
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
    tcase_add_loop_test(views, a_tensor_holds_the_view_of_its_number, 0, 16);
    tcase_add_loop_test(views, views_depend_on_no_thread_batch_or_depth, 0, 2 * MANY);
    tcase_add_loop_test(views, mixed_views_depend_on_no_thread, 0, 2);
    tcase_add_loop_test(views, a_position_goes_on_with_the_same_views, 0, MANY);
    tcase_add_test(views, all_views_come_out_of_one_decode);
    return suite_run(s);
}
