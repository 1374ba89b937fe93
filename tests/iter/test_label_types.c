/* dtype_label: labels of lists and sources that float32 cannot hold come as they are, or not at
 * all. */
#include "imrec/source.h"
#include "storage/source.h"
#include "tests/support/imageset.h"
#include "tests/support/suite.h"

#include <float.h>
#include <math.h>

enum { RECORDS = 3 };
#define BIG 9007199254740993 /* 2^53 + 1 */

static struct image_set s;
static struct imrec_error err;

static void setup(void)
{
    s = image_set_make(&(struct image_set_options){.records = RECORDS, .shards = 1, .labels = 1});
    err = (struct imrec_error){0};
}

static void teardown(void)
{
    image_set_free(&s);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

/* A list of the set's three ids with these labels, as a word of the options. */
static const char *list_of(const char *a, const char *b, const char *c, const char *more)
{
    static char words[700];
    char text[600];
    snprintf(text, sizeof(text), "%d\t%s\tx.jpg\n%d\t%s\ty.jpg\n%d\t%s\tz.jpg\n", (int)set_id(0), a,
             (int)set_id(1), b, (int)set_id(2), c);
    snprintf(words, sizeof(words), "batch_size=4 path_imglist=%s %s",
             tmp_write(&s.dir, "l.lst", text, strlen(text)), more);
    return words;
}

static void expect_refused(const char *words, enum imrec_status status, const char *says)
{
    struct imrec_iter *it = NULL;
    const enum imrec_status st = set_try_open(&s, false, words, &it, &err);
    ck_assert_msg(st == status && strstr(err.message, says) != NULL, "%s: %d %s", words, st,
                  err.message);
    ck_assert_ptr_null(it);
}

CASE(.setup = setup, .teardown = teardown)

TEST(whole_labels_of_64_bits_are_delivered_exactly)
{
    struct imrec_batch b;
    struct imrec_iter *it = set_open(
        &s, false, list_of("9007199254740993", "-16777217", "5.000000", "dtype_label=int64"));
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_OK);
    const int64_t *typed = b.typed_labels;
    ck_assert_int_eq(typed[0], BIG);
    ck_assert_int_eq(typed[1], -16777217);
    ck_assert_int_eq(typed[2], 5);
    ck_assert_int_eq(typed[3], 0); /* padding */
    ck_assert(b.labels[0] == (float)BIG && b.labels[1] == -16777216.0f && b.labels[2] == 5);
    imrec_iter_close(it);
}

TEST(doubles_are_delivered_exactly)
{
    struct imrec_batch b;
    struct imrec_iter *it =
        set_open(&s, false, list_of("0.1", "1e300", "16777217", "dtype_label=float64"));
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_OK);
    const double *typed = b.typed_labels;
    ck_assert(typed[0] == 0.1 && typed[1] == 1e300 && typed[2] == 16777217);
    ck_assert(b.labels[0] == 0.1f && isinf(b.labels[1]) && b.labels[2] == 16777216.0f);
    imrec_iter_close(it);
}

TEST(labels_that_the_type_does_not_have_are_refused_with_their_line)
{
    expect_refused(list_of("1", "16777217", "3", ""), IMREC_ERR_CORRUPT,
                   "l.lst line 2: '16777217' is a whole label that float32 cannot hold");
    expect_refused(list_of("1", "2", "9007199254740993", "dtype_label=float64"), IMREC_ERR_CORRUPT,
                   "line 3: '9007199254740993' is a whole label that float64 cannot hold");
    expect_refused(list_of("1.5", "2", "3", "dtype_label=int64"), IMREC_ERR_CORRUPT,
                   "line 1: '1.5' is not a whole label of 64 bits");
    expect_refused(list_of("1", "9223372036854775808", "3", "dtype_label=int64"), IMREC_ERR_CORRUPT,
                   "line 2: '9223372036854775808' is not a whole label");
    expect_refused(list_of("1", "1e309", "3", "dtype_label=float64"), IMREC_ERR_CORRUPT,
                   "too large for a label of 64 bits");
}

TEST(labels_that_are_not_taken_may_be_anything)
{
    struct imrec_iter *it = set_open(&s, false, list_of("1\t16777217", "2\t7", "3\t0.5", ""));
    struct imrec_batch b;
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_OK);
    ck_assert(b.labels[0] == 1 && b.typed_labels == NULL);
    imrec_iter_close(it);
}

LOOP_TEST(labels_of_records_are_converted, 0, 2) /* _i: float64, int64 */
{
    struct imrec_batch b;
    struct imrec_iter *it = set_open(
        &s, false, _i ? "batch_size=3 dtype_label=int64" : "batch_size=3 dtype_label=float64");
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_OK);
    for (uint32_t i = 0; i < RECORDS; i++)
        ck_assert(_i ? ((const int64_t *)b.typed_labels)[i] == (int64_t)b.labels[i]
                     : ((const double *)b.typed_labels)[i] == (double)b.labels[i]);
    imrec_iter_close(it);
}

TEST(a_fraction_in_a_record_fails_its_sample_for_int64)
{
    struct image_set halves =
        image_set_make(&(struct image_set_options){.records = 2, .shards = 1, .labels = 3});
    struct imrec_batch b;
    struct imrec_iter *it = set_open(&halves, false, "batch_size=2 dtype_label=int64");
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_ERR_DATA);
    ck_assert_msg(strstr(err.message, "dtype_label=int64 asks for whole numbers") != NULL, "%s",
                  err.message);
    ck_assert_uint_eq(b.failed, 2);
    for (uint32_t i = 0; i < 6; i++)
        ck_assert(((const int64_t *)b.typed_labels)[i] == 0 && b.labels[i] == 0);
    imrec_iter_close(it);
    image_set_free(&halves);
}

/* A record of two labels has a fraction as its second one; the list's are whole. */
TEST(a_mean_image_is_that_of_all_images_whatever_the_records_labels_are)
{
    uint8_t *mean[2];
    size_t n[2];
    image_set_free(&s);
    s = image_set_make(&(struct image_set_options){.records = RECORDS, .shards = 1, .labels = 2});
    for (int typed = 0; typed < 2; typed++) {
        char words[1024], path[600];
        snprintf(path, sizeof(path), "%s/%d.bin", s.dir.path, typed);
        snprintf(words, sizeof(words), "mean_img=%s %s", path,
                 typed ? list_of("1\t2", "3\t4", "5\t6", "dtype_label=int64") : "");
        imrec_iter_close(set_open(&s, false, words));
        ck_assert_int_eq(source_load(path, 1 << 20, &mean[typed], &n[typed], &err), IMREC_OK);
    }
    ck_assert(n[0] == n[1] && memcmp(mean[0], mean[1], n[0]) == 0);
    imrec_free(mean[0]);
    imrec_free(mean[1]);
}

TEST(what_computes_with_labels_wants_float32)
{
    static const char *const words[] = {"num_classes=9", "num_classes=9 mixup=1",
                                        "boxes=1 label_width=-1 label_pad_width=9",
                                        "keypoints=1 label_width=3"};
    static const char *const names[] = {"num_classes", "num_classes", "boxes", "keypoints"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        char all[200];
        snprintf(all, sizeof(all), "dtype_label=int64 %s", words[i]);
        expect_refused(all, IMREC_ERR_ARGUMENT, "dtype_label must be float32 with");
        ck_assert_msg(strstr(err.message, names[i]) != NULL, "%s", err.message);
    }
}

/* ---- sources ---------------------------------------------------------------------------- */

enum { SIDE = 12, BYTES = SIDE * SIDE * 3 };

static enum imrec_status list(struct imrec_source_file *f, struct imrec_error *why)
{
    for (uint64_t i = 0; i < RECORDS; i++) {
        const enum imrec_status st = f->add(f, i * BYTES, BYTES, i, why);
        if (st != IMREC_OK)
            return st;
    }
    return IMREC_OK;
}

/* The labels of the source "typed" for int64, by its first parameter. */
static int64_t whole_label(char kind, uint64_t id)
{
    return kind == 'n'   ? INT64_MIN + (int64_t)id
           : kind == 'x' ? INT64_MAX - (int64_t)id
                         : BIG + (int64_t)id;
}

/* params: "typed" writes what it is asked for, "float" the labels alone; "n", "x": least, most. */
static enum imrec_status
parse(const struct imrec_source_call *c, struct imrec_source_sample *out, struct imrec_error *why)
{
    (void)why;
    out->image = (struct imrec_image){(uint8_t *)(uintptr_t)c->bytes, SIDE * 3, SIDE, SIDE, 3};
    out->label_count = 1;
    c->labels[0] = (float)c->id + (c->params[0] == 'h' ? 0.5f : 0.0f);
    if (strchr("tnx", c->params[0]) == NULL || c->typed_labels == NULL)
        return IMREC_OK;
    out->typed = true;
    if (c->dtype_label == IMREC_LABEL_INT64)
        *(int64_t *)c->typed_labels = whole_label(c->params[0], c->id);
    else
        *(double *)c->typed_labels = c->id == 2 ? 1e300 : 0.1 + (double)c->id;
    return IMREC_OK;
}

static struct imrec_iter *open_source(const char *words)
{
    static const struct imrec_source source = {.index = list, .parse = parse};
    static bool registered;
    static uint8_t pixels[RECORDS * BYTES];
    char all[700];
    if (!registered)
        ck_assert_int_eq(imrec_source_register("typed", &source, NULL, &err), IMREC_OK);
    registered = true;
    snprintf(all, sizeof(all), "path_imgrec=%s batch_size=3 %s",
             tmp_write(&s.dir, "a.raw", pixels, sizeof(pixels)), words);
    return set_open(&s, false, all);
}

TEST(a_source_writes_labels_of_the_type)
{
    struct imrec_batch b;
    struct imrec_iter *it = open_source("source=typed(t) dtype_label=int64");
    ck_assert_msg(imrec_iter_next(it, &b, &err) == IMREC_OK, "%s", err.message);
    for (int64_t i = 0; i < RECORDS; i++) {
        ck_assert_int_eq(((const int64_t *)b.typed_labels)[i], BIG + i);
        ck_assert(b.labels[i] == (float)(BIG + i));
    }
    imrec_iter_close(it);
    it = open_source("source=typed(t) dtype_label=float64");
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_OK);
    const double *typed = b.typed_labels;
    ck_assert(typed[0] == 0.1 && typed[1] == 0.1 + 1 && typed[2] == 1e300);
    ck_assert(b.labels[0] == 0.1f && b.labels[2] > FLT_MAX);
    imrec_iter_close(it);
}

TEST(labels_of_a_source_that_writes_float32_are_converted)
{
    struct imrec_batch b;
    struct imrec_iter *it = open_source("source=typed(f) dtype_label=int64");
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_OK);
    for (int64_t i = 0; i < RECORDS; i++)
        ck_assert_int_eq(((const int64_t *)b.typed_labels)[i], i);
    imrec_iter_close(it);
    it = open_source("source=typed(h) dtype_label=int64 on_error=skip");
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_OK);
    ck_assert_uint_eq(b.failed, RECORDS);
    imrec_iter_close(it);
    it = open_source("source=typed(t)"); /* asked for nothing, it writes floats */
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_OK);
    ck_assert(b.labels[2] == 2 && b.typed_labels == NULL);
    imrec_iter_close(it);
}

/* ---- label_offset --------------------------------------------------------------------------- */

LOOP_TEST(label_offset_is_added_in_the_type, 0, 3) /* _i: an enum imrec_label_dtype */
{
    static const char *const types[] = {"dtype_label=float32", "dtype_label=float64",
                                        "dtype_label=int64"};
    float plain[RECORDS];
    struct imrec_batch b;
    struct imrec_iter *it = set_open(&s, false, "batch_size=3");
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_OK);
    memcpy(plain, b.labels, sizeof(plain));
    imrec_iter_close(it);
    char words[100];
    snprintf(words, sizeof(words), "batch_size=3 label_offset=-3 %s", types[_i]);
    it = set_open(&s, false, words);
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_OK);
    for (int i = 0; i < RECORDS; i++) {
        ck_assert(b.labels[i] == plain[i] - 3);
        ck_assert(_i != 1 || ((const double *)b.typed_labels)[i] == (double)plain[i] - 3);
        ck_assert(_i != 2 || ((const int64_t *)b.typed_labels)[i] == (int64_t)plain[i] - 3);
    }
    imrec_iter_close(it);
}

TEST(label_offset_is_added_to_what_a_source_writes_exactly)
{
    struct imrec_batch b;
    struct imrec_iter *it = open_source("source=typed(t) dtype_label=int64 label_offset=-1");
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_OK);
    ck_assert_int_eq(((const int64_t *)b.typed_labels)[0], BIG - 1);
    imrec_iter_close(it);
}

/* Record 0 has no room for it, the next one just enough. */
LOOP_TEST(label_offset_fails_the_sample_that_has_no_room_for_it, 0, 2) /* _i: least, most */
{
    struct imrec_batch b;
    struct imrec_iter *it =
        open_source(_i == 0 ? "source=typed(n) dtype_label=int64 label_offset=-1 on_error=skip"
                            : "source=typed(x) dtype_label=int64 label_offset=1 on_error=skip");
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_OK);
    const int64_t *typed = b.typed_labels;
    ck_assert_uint_eq(b.failed, 1);
    ck_assert_int_eq(typed[0], 0);
    ck_assert_int_eq(typed[1], _i == 0 ? INT64_MIN : INT64_MAX);
    ck_assert_int_eq(typed[2], _i == 0 ? INT64_MIN + 1 : INT64_MAX - 1);
    imrec_iter_close(it);
}

TEST(what_label_offset_image_and_label_do_not_go_with_is_refused)
{
    expect_refused("batch_size=3 label_offset=1 label_width=2", IMREC_ERR_ARGUMENT,
                   "label_offset is added to a label that is a class");
    expect_refused(list_of("1", "2", "3", "label_offset=1"), IMREC_ERR_ARGUMENT,
                   "path_imglist replaces the labels that label_offset adds to");
    expect_refused("batch_size=3 image=jpg", IMREC_ERR_ARGUMENT,
                   "image= says which part of a sample is its image");
    expect_refused("batch_size=3 label=cls", IMREC_ERR_ARGUMENT,
                   "label= says which part of a sample is its label");
    expect_refused("batch_size=3 container=tar", IMREC_ERR_ARGUMENT,
                   "must be a tar archive, but begins as");
}

TEST(opening_fails_cleanly)
{
    opening_must_fail_cleanly(&s, false, list_of("1", "2", "3", "dtype_label=int64"));
    imrec_iter_close(open_source("source=typed(t)")); /* registers it */
    opening_must_fail_cleanly(&s, false, "dtype_label=float64");
}
