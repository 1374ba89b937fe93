/* tests/iter/test_user_augmenter.c - augmenters of the user: order, keys, labels, libraries,
 * refusals. */
#include "iter/options/iter_options.h"
#include "tests/support/imageset.h"
#include "tests/support/suite.h"

#include "imrec/augmenter.h"

#include <stdio.h>
#include <string.h>

enum { RECORDS = 40, VALUES = 3 * 12 * 12 };

static enum imrec_status noise(const struct imrec_augmenter_call *c, struct imrec_error *err)
{
    (void)err;
    for (uint32_t y = 0; y < c->image.height; y++)
        for (uint32_t x = 0; x < c->image.width * c->image.channels; x++)
            c->image.pixels[y * c->image.stride + x] ^=
                (uint8_t)imrec_augmenter_bits(&c->key, y * 1000 + x);
    return IMREC_OK;
}

static enum imrec_status flip(const struct imrec_augmenter_call *c, struct imrec_error *err)
{
    (void)err;
    for (uint32_t y = 0; y < c->image.height; y++)
        for (uint32_t x = 0; x < c->image.width * c->image.channels; x++)
            c->image.pixels[y * c->image.stride + x] ^= 255;
    return IMREC_OK;
}

static enum imrec_status relabel(const struct imrec_augmenter_call *c, struct imrec_error *err)
{
    (void)err;
    c->labels[0] = strcmp(c->params, "a,b=1") == 0 && c->label_count == 1 ? 77 : 78;
    return IMREC_OK;
}

static enum imrec_status refuse(const struct imrec_augmenter_call *c, struct imrec_error *err)
{
    snprintf(err->message, sizeof(err->message), "no %s today", (const char *)c->user);
    return IMREC_ERR_CORRUPT;
}

static enum imrec_status stop(const struct imrec_augmenter_call *c, struct imrec_error *err)
{
    (void)c, (void)err;
    return IMREC_END;
}

/* Counts in the label how often it is given. */
static enum imrec_status tally(const struct imrec_augmenter_call *c, struct imrec_error *err)
{
    (void)err;
    if (c->labels != NULL)
        c->labels[0] += 100000;
    return IMREC_OK;
}

static void register_all(void)
{
    ck_assert_int_eq(imrec_augmenter_register("tally", tally, NULL, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_augmenter_register("stop", stop, NULL, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_augmenter_register("noise", noise, NULL, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_augmenter_register("flip", flip, NULL, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_augmenter_register("relabel", relabel, NULL, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_augmenter_register("refuse", refuse, (void *)"luck", NULL), IMREC_OK);
}

static struct image_set make(void)
{
    return image_set_make(
        &(struct image_set_options){.records = RECORDS, .shards = 2, .labels = 1});
}

static struct stream read_all(const struct image_set *s, const char *words)
{
    struct stream out = {0};
    struct imrec_iter *it = set_open(s, false, words);
    stream_read(&out, it, VALUES * sizeof(float), 2, SIZE_MAX);
    imrec_iter_close(it);
    return out;
}

static int different(const struct stream *a, const struct stream *b)
{
    int n = 0;
    ck_assert_uint_eq(a->n, b->n);
    for (size_t i = 0; i < a->n; i++)
        n += a->seen[i].hash != b->seen[i].hash;
    return n;
}

/* The batches of two aug_seqs differ in so many samples. */
static int differ(const struct image_set *s, const char *one, const char *other)
{
    struct stream a = read_all(s, one), b = read_all(s, other);
    const int n = different(&a, &b);
    stream_free(&a);
    stream_free(&b);
    return n;
}

TEST(a_users_augmenter_changes_pixels_by_the_key_alone)
{
    struct image_set s = make();
    register_all();
    ck_assert_int_eq(differ(&s, "aug_seq=aug_default,noise preprocess_threads=1 batch_size=1",
                            "aug_seq=noise preprocess_threads=4 batch_size=7"),
                     0);
    ck_assert_int_eq(differ(&s, "aug_seq=noise", "aug_seq=aug_default"), 2 * RECORDS);
    ck_assert_int_eq(differ(&s, "aug_seq=noise seed=1", "aug_seq=noise seed=1 seed_aug=2"),
                     2 * RECORDS);
    ck_assert_int_eq(differ(&s, "aug_seq=flip,flip", "aug_seq=aug_default"), 0);
    ck_assert_int_gt(
        differ(&s, "aug_seq=light,flip brightness=0.5", "aug_seq=flip,light brightness=0.5"),
        RECORDS);
    image_set_free(&s);
}

TEST(a_library_gives_the_same_as_a_registered_function)
{
    struct image_set s = make();
    register_all();
    ck_assert_int_eq(differ(&s, "aug_seq=aug_default," AUGMENTERS ":inverted", "aug_seq=flip"), 0);
    image_set_free(&s);
}

static const struct {
    const char *seq, *why;
} refused[] = {
    {AUGMENTERS ":older", "was built for version 3 of imrec/augmenter.h, this is version 2"},
    {AUGMENTERS ":emptied", "has no function"},
    {AUGMENTERS ":words", "is not an augmenter: IMREC_AUGMENTER(words, function)"},
    {AUGMENTERS ":missing", "has no symbol 'missing'"},
    {"./nowhere.so:mine", "cannot load library ./nowhere.so for 'mine'"},
    {":mine", "is not a path of a library"},
    {"x.so:", "is not a name of an augmenter"},
    {"strange", "aug_seq has no augmenter 'strange'"},
    {"strange(1)", "'strange' is not registered"},
    {"flip(1", "has no ) at its end"},
    {"flip(1)x", "has no ) at its end"},
    {"flip,flip,flip,flip,flip,flip,flip,flip,flip", "more than 8 augmenters of your own"},
};

LOOP_TEST(what_cannot_be_called_is_refused_with_library_and_symbol, 0, COUNT(refused))
{
    struct image_set s = make();
    struct imrec_iter_options o;
    struct imrec_iter *it;
    struct imrec_error err;
    char text[1024];
    register_all();
    imrec_iter_options_init(&o);
    snprintf(text, sizeof(text), "aug_seq=%s", refused[_i].seq);
    ck_assert_int_eq(imrec_iter_options_set(&o, "path_imgrec=mem://none", NULL), IMREC_OK);
    ck_assert_int_eq(imrec_iter_options_set(&o, "data_shape=3,12,12", NULL), IMREC_OK);
    ck_assert_int_eq(imrec_iter_options_set(&o, "batch_size=4", NULL), IMREC_OK);
    ck_assert_int_eq(imrec_iter_options_set(&o, text, NULL), IMREC_OK);
    ck_assert_int_ne(imrec_iter_open(&o, &it, &err), IMREC_OK);
    ck_assert_msg(strstr(err.message, refused[_i].why) != NULL, "%s", err.message);
    image_set_free(&s);
}

TEST(names_that_are_taken_or_none_are_refused)
{
    const char *const bad[] = {"", "blur", "aug_default", "a b", "a:b", "a,b", "noise"};
    register_all();
    for (int i = 0; i < 7; i++)
        ck_assert_int_eq(imrec_augmenter_register(bad[i], noise, NULL, NULL), IMREC_ERR_ARGUMENT);
    ck_assert_int_eq(imrec_augmenter_register("null", NULL, NULL, NULL), IMREC_ERR_ARGUMENT);
}

static enum imrec_status
first(const struct image_set *s, const char *words, float *label, struct imrec_error *err)
{
    struct imrec_batch b;
    struct imrec_iter *it = set_open(s, false, words);
    const enum imrec_status st = imrec_iter_next(it, &b, err);
    *label = b.labels[0];
    imrec_iter_close(it);
    return st;
}

TEST(labels_parameters_and_errors_reach_the_batch)
{
    struct image_set s = make();
    struct imrec_error err;
    float label;
    register_all();
    ck_assert_int_eq(first(&s, "aug_seq=relabel(a,b=1)", &label, NULL), IMREC_OK);
    ck_assert(label == 77);
    ck_assert_int_eq(first(&s, "aug_seq=relabel", &label, NULL), IMREC_OK);
    ck_assert(label == 78);
    ck_assert_int_eq(first(&s, "aug_seq=refuse", &label, &err), IMREC_ERR_DATA);
    ck_assert_ptr_nonnull(strstr(err.message, "augmenter refuse: no luck today"));
    ck_assert_int_eq(first(&s, "aug_seq=stop", &label, &err), IMREC_ERR_DATA);
    ck_assert_ptr_nonnull(strstr(err.message, "augmenter stop: failed and does not say why"));
    image_set_free(&s);
}

LOOP_TEST(a_label_is_given_once_for_each_slot, 0, 4) /* _i: views */
{
    static const char *const views[] = {"batch_size=4", "num_views=3 batch_size=6",
                                        "multi_crop=2x12,3x7 batch_size=4",
                                        "num_views=2 multi_crop=1x12,3x7 batch_size=4"};
    struct image_set s = make();
    struct imrec_batch b;
    char words[256];
    register_all();
    snprintf(words, sizeof(words), "aug_seq=tally %s", views[_i]);
    struct imrec_iter *it = set_open(&s, false, words);
    ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
    for (uint32_t i = 0; i < b.count; i++)
        ck_assert_float_eq(b.labels[i], 100000 + (float)set_record_of(b.ids[i]));
    imrec_iter_close(it);
    image_set_free(&s);
}

TEST(bits_follow_every_part_of_the_key_and_do_not_repeat)
{
    const struct imrec_augmenter_key keys[] = {{1, 2, 3, 4, 0}, {9, 2, 3, 4, 0}, {1, 9, 3, 4, 0},
                                               {1, 2, 9, 4, 0}, {1, 2, 3, 9, 0}, {1, 2, 3, 4, 1}};
    uint64_t seen[6 * 200];
    for (int i = 0; i < 1200; i++)
        seen[i] = imrec_augmenter_bits(&keys[i / 200], (uint32_t)i % 200);
    int equal = 0;
    for (int i = 0; i < 1200; i++)
        for (int j = 0; j < i; j++)
            equal += seen[i] == seen[j];
    ck_assert_int_eq(equal, 0);
    ck_assert_uint_eq(imrec_augmenter_bits(&keys[0], 7), seen[7]);
}
