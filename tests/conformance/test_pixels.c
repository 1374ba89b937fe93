/* Pixels and labels of the original's first batches, case by case: vectors/mxnet/pixels.json. */
#include "imrec/iterator.h"
#include "tests/support/built.h"
#include "tests/support/npy.h"
#include "tests/support/shared.h"

#include <jansson.h>
#include <math.h>

/* Parameters of the original that this iterator has; a case with another one is left out. */
static const char *const known[] = {"batch_size",  "preprocess_threads",
                                    "verbose",     "path_imgrec",
                                    "data_shape",  "mean_r",
                                    "mean_g",      "mean_b",
                                    "mean_a",      "std_r",
                                    "std_g",       "std_b",
                                    "std_a",       "scale",
                                    "mirror",      "dtype",
                                    "resize",      "inter_method",
                                    "mean_img",    "path_imglist",
                                    "label_width", "rand_crop",
                                    "rand_mirror"};
enum { KNOWN = sizeof(known) / sizeof(known[0]), MAX_ARGS = 24 };

static json_t *cases;
static char texts[MAX_ARGS][4400];

static bool is_known(const char *key)
{
    for (size_t i = 0; i < KNOWN; i++)
        if (strcmp(key, known[i]) == 0)
            return true;
    return false;
}

static bool applies(const json_t *args)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)args, key, value)
    {
        if (!is_known(key))
            return false;
        if (strcmp(key, "inter_method") == 0) {
            const json_int_t m = json_integer_value(value);
            if (m != 0 && m != 1 && m != 3)
                return false;
        }
    }
    return true;
}

static void value_text(const char *key, const json_t *v, char *out, size_t n)
{
    if (json_is_string(v) && strncmp(key, "path_", 5) == 0)
        snprintf(out, n, "%s=%s/vectors/mxnet/%s", key, shared_root(), json_string_value(v));
    else if (json_is_string(v))
        snprintf(out, n, "%s=%s", key, json_string_value(v));
    else if (json_is_array(v))
        snprintf(out, n, "%s=(%d,%d,%d)", key, (int)json_integer_value(json_array_get(v, 0)),
                 (int)json_integer_value(json_array_get(v, 1)),
                 (int)json_integer_value(json_array_get(v, 2)));
    else if (json_is_boolean(v))
        snprintf(out, n, "%s=%d", key, json_is_true(v));
    else
        snprintf(out, n, "%s=%.9g", key, json_number_value(v));
}

/* The mean image is written where this test may write. */
static const char mean_file[] = "pixels-mean-image.bin";

static void set_options(struct imrec_iter_options *o, const json_t *args)
{
    const char *key;
    json_t *value;
    struct imrec_error err;
    size_t i = 0;
    imrec_iter_options_init(o);
    json_object_foreach((json_t *)args, key, value)
    {
        value_text(key, value, texts[i], sizeof(texts[i]));
        if (strcmp(key, "mean_img") == 0)
            snprintf(texts[i], sizeof(texts[i]), "mean_img=%s", mean_file);
        ck_assert_msg(imrec_iter_options_set(o, texts[i], &err) == IMREC_OK, "%s", err.message);
        i++;
    }
}

static double value_of(const struct imrec_batch *b, enum imrec_dtype dtype, size_t i)
{
    if (dtype == IMREC_UINT8)
        return ((const uint8_t *)b->data)[i];
    return dtype == IMREC_INT8 ? ((const int8_t *)b->data)[i] : ((const float *)b->data)[i];
}

static void compare(const char *name, const json_t *c, const struct imrec_iter_options *o,
                    const struct imrec_batch *b)
{
    const double tolerance = json_number_value(json_object_get(c, "tolerance"));
    char path[512];
    snprintf(path, sizeof(path), "vectors/mxnet/pixels/%s.npy", name);
    struct npy want = npy_load(shared_path(path));
    const size_t n = want.bytes / (size_t)want.size;
    ck_assert_uint_eq(n, (size_t)b->slots * o->data_shape.channels * o->data_shape.height *
                             o->data_shape.width);
    double worst = 0;
    for (size_t i = 0; i < n; i++)
        worst = fmax(worst, fabs(value_of(b, o->dtype, i) - npy_at(&want, i)));
    ck_assert_msg(worst <= tolerance, "%s: differs by %g, allowed %g", name, worst, tolerance);
    free(want.file);
    const json_t *labels = json_object_get(c, "labels");
    for (size_t i = 0; i < json_array_size(labels); i++) {
        const json_t *l = json_array_get(labels, i);
        for (size_t k = 0; k < b->label_width; k++)
            ck_assert_float_eq(
                b->labels[i * b->label_width + k],
                (float)json_number_value(json_is_array(l) ? json_array_get(l, k) : l));
    }
}

/* False: of a format that this build was made without. */
static bool run_case(const char *name, const json_t *c)
{
    struct imrec_iter_options o;
    struct imrec_iter *it;
    struct imrec_batch b;
    struct imrec_error err;
    set_options(&o, json_object_get(c, "args"));
    ck_assert_msg(imrec_iter_open(&o, &it, &err) == IMREC_OK, "%s: %s", name, err.message);
    const enum imrec_status st = imrec_iter_next(it, &b, &err);
    const bool can = !built_without(st, &err);
    ck_assert_msg(st == IMREC_OK || !can, "%s: %s", name, err.message);
    if (can)
        compare(name, c, &o, &b);
    imrec_iter_close(it);
    return can;
}

START_TEST(pixels_and_labels_equal_the_originals)
{
    const char *name;
    json_t *c;
    int done = 0;
    (void)remove(mean_file);
    json_object_foreach(cases, name, c)
    {
        if (!applies(json_object_get(c, "args")))
            continue;
        if (run_case(name, c))
            done++;
    }
    (void)remove(mean_file);
    printf("%d cases compared\n", done);
    ck_assert_int_ge(done, built_with("png") ? 70 : 40);
}
END_TEST

int main(void)
{
    shared_or_skip();
    json_error_t why;
    json_t *root = json_load_file(shared_path("vectors/mxnet/pixels.json"), 0, &why);
    cases = json_object_get(root, "cases") ? json_object_get(root, "cases") : root;
    Suite *s = suite_create("pixels");
    TCase *t = tcase_create("pixels");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, pixels_and_labels_equal_the_originals);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    const int failed = srunner_ntests_failed(r);
    srunner_free(r);
    json_decref(root);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
