/* CBF files that others made for CNTK: streams in any order, floats or doubles, labels of every
 * kind, values that are no pixels. And what cannot be read as images, refused in a sentence. */
#include "tests/support/cbf_support.h"
#include "tests/support/iter_pair.h"
#include "tests/support/suite.h"

enum { IMAGES = 7, C = 3, H = 4, W = 5, DIM = C * H * W, CLASSES = 4 };

enum labels { SPARSE, ONE_HOT, VALUES, NO_LABELS, FIVES };
struct form {
    bool doubles, labels_first, more, more_first; /* more: a stream that nobody asks for */
    enum labels labels;
    float first, step; /* of the values */
};

static struct tmpdir dir;

static void setup(void)
{
    dir = tmpdir_make();
}

static void teardown(void)
{
    tmpdir_remove(&dir);
}

static float value(const struct form *f, uint32_t image, uint32_t i)
{
    return f->first + f->step * (float)((image * 37 + i * 11) % 256);
}

static void put_u32(struct buf *b, uint32_t v)
{
    uint8_t le[4];
    store_le32(le, v);
    ck_assert_int_eq(buf_append(b, le, 4, NULL), IMREC_OK);
}

static void put(struct buf *b, bool is_double, float v)
{
    const double d = (double)v;
    ck_assert_int_eq(is_double ? buf_append(b, &d, 8, NULL) : buf_append(b, &v, 4, NULL), IMREC_OK);
}

static void put_features(struct buf *b, const struct form *f, uint32_t image)
{
    put_u32(b, 1);
    for (uint32_t i = 0; i < DIM; i++)
        put(b, f->doubles, value(f, image, i));
}

static void put_labels(struct buf *b, const struct form *f, uint32_t image)
{
    const uint32_t class = image % CLASSES;
    put_u32(b, 1);
    if (f->labels == SPARSE) {
        put_u32(b, 1);
        put(b, f->doubles, 1);
        put_u32(b, class);
        put_u32(b, 1);
        return;
    }
    for (uint32_t i = 0; i < CLASSES; i++)
        put(b, f->doubles,
            f->labels == ONE_HOT ? (float)(i == class)
            : f->labels == FIVES ? (float)(5 * (i == class))
                                 : (float)(image * 10 + i));
}

static void put_more(struct buf *b, uint32_t image)
{
    put_u32(b, image % 3); /* any number of samples: nobody looks */
    for (uint32_t i = 0; i < image % 3 * 2; i++)
        put(b, false, 5);
}

/* Writes the file in chunks of a few images; returns its path. */
static const char *make(const struct form *f)
{
    static char path[400];
    struct buf file = BUF_INIT(1 << 24), one[3];
    struct cbf_writer *w;
    const enum stream_element e = f->doubles ? STREAM_DOUBLE : STREAM_FLOAT;
    const struct stream_info features = {.name = "features", .element = e, .dim = DIM};
    const struct stream_info labels = {.name = "labels",
                                       .storage =
                                           f->labels == SPARSE ? STREAM_SPARSE : STREAM_DENSE,
                                       .element = e,
                                       .dim = CLASSES};
    const struct stream_info more = {.name = "more", .dim = 2};
    struct stream_info info[3] = {f->labels_first ? labels : features,
                                  f->labels_first ? features : labels, more};
    const uint32_t streams = f->labels == NO_LABELS ? 1 : f->more ? 3 : 2;
    if (f->more_first)
        memcpy(info, (struct stream_info[]){more, info[0], info[1]}, sizeof(info));
    ck_assert_int_eq(cbf_writer_new(info, streams, 1000, cbf_to_buf, &file, &w, NULL), IMREC_OK);
    for (uint32_t k = 0; k < IMAGES; k++) {
        uint64_t offset[3][2];
        const uint32_t length = 1;
        struct chunk_stream stream[3];
        for (uint32_t i = 0; i < 3; i++)
            one[i] = BUF_INIT(1 << 20);
        put_features(&one[f->labels_first], f, k);
        put_labels(&one[!f->labels_first], f, k);
        put_more(&one[2], k);
        if (f->more_first)
            memcpy(one, (struct buf[]){one[2], one[0], one[1]}, sizeof(one));
        for (uint32_t i = 0; i < streams; i++) {
            offset[i][0] = 0;
            offset[i][1] = one[i].n;
            stream[i] = (struct chunk_stream){one[i].p, offset[i]};
        }
        const struct sequence_chunk c = {
            .sequences = 1, .streams = streams, .length = &length, .samples = 1, .stream = stream};
        ck_assert_int_eq(cbf_writer_add(w, &c, NULL), IMREC_OK);
        for (uint32_t i = 0; i < 3; i++)
            buf_free(&one[i]);
    }
    ck_assert_int_eq(cbf_writer_finish(w, NULL), IMREC_OK);
    cbf_writer_free(w);
    snprintf(path, sizeof(path), "%s", tmp_write(&dir, "a.cbf", file.p, file.n));
    buf_free(&file);
    return path;
}

static const struct form forms[] = {
    {.step = 1},
    {.step = 1, .labels_first = true, .labels = ONE_HOT},
    {.step = 1, .doubles = true, .labels = ONE_HOT},
    {.step = 1, .doubles = true, .labels_first = true, .more = true},
    {.step = 1, .more = true, .more_first = true},
    {.step = 2},
    {.first = -0.5f, .step = 1 / 256.0f},
    {.first = -300, .step = 3.25f, .doubles = true, .labels = ONE_HOT, .more = true},
    {.first = 1e30f, .step = 1e28f, .labels_first = true},
};
enum { FORMS = sizeof(forms) / sizeof(forms[0]) };

CASE(.setup = setup, .teardown = teardown)

/* data_shape is the image's: every value is where it was, normalized. */
LOOP_TEST(values_are_delivered_normalized_as_pixels_are, 0, FORMS) /* _i: form */
{
    struct imrec_batch b;
    struct imrec_error err;
    const struct form *f = &forms[_i];
    struct imrec_iter *it = pair_open(
        make(f), "data_shape=3,4,5 batch_size=7 mean_r=2 mean_b=-1 std_g=4 scale=0.5 mirror=1");
    ck_assert_msg(imrec_iter_next(it, &b, &err) == IMREC_OK, "%s", err.message);
    const float mean[] = {2, 0, -1}, gain[] = {0.5f, 0.5f / 4, 0.5f};
    for (uint32_t k = 0; k < IMAGES; k++) {
        ck_assert_uint_eq(b.ids[k], k);
        ck_assert(b.labels[k] == (float)(k % CLASSES));
        for (uint32_t i = 0; i < DIM; i++) {
            const uint32_t c = i / (H * W), from = i / W * W + (W - 1 - i % W);
            const float want = (value(f, k, from) - mean[c]) * gain[c];
            ck_assert_msg(((const float *)b.data)[k * DIM + i] == want, "image %u, value %u", k, i);
        }
    }
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_END);
    imrec_iter_close(it);
}

TEST(several_labels_are_as_many_as_the_stream_has)
{
    struct imrec_batch b;
    struct imrec_iter *it =
        pair_open(make(&(struct form){.step = 1, .labels = VALUES, .more = true}),
                  "data_shape=3,4,5 label_width=4 shuffle=1 num_parts=2");
    while (imrec_iter_next(it, &b, NULL) == IMREC_OK)
        for (uint32_t k = 0; k < b.count; k++)
            for (uint32_t i = 0; i < 4; i++)
                ck_assert(b.labels[k * 4 + i] == (float)(b.ids[k] * 10 + i));
    imrec_iter_close(it);
}

TEST(what_values_cannot_become_is_said)
{
    static const char *const words[] = {"data_shape=3,4,5 resize=9", "data_shape=3,4,5 dtype=uint8",
                                        "data_shape=3,4,5 dtype=float16",
                                        "data_shape=3,4,5 dtype=int8"};
    const char *path = make(&(struct form){.first = 0.5f, .step = 1});
    for (size_t i = 0; i < 4; i++) {
        struct imrec_batch b;
        struct imrec_error err;
        struct imrec_iter *it = pair_open(path, words[i]);
        ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_ERR_DATA);
        ck_assert_uint_eq(b.failed, b.count);
        ck_assert_ptr_nonnull(strstr(err.message, "a.cbf: sequence 0, byte "));
        ck_assert_ptr_nonnull(strstr(err.message, "whole numbers from 0 to 255"));
        imrec_iter_close(it);
    }
}

static const struct {
    struct form form;
    const char *words, *says;
} wrong[] = {
    {{.step = 1}, "data_shape=3,4,6", "60 values"},
    {{.step = 1}, "data_shape=4,4,4", "60 values"},
    {{.step = 1}, "data_shape=3,4,5 label_width=2", "label_width is 2"},
    {{.step = 1, .labels = VALUES}, "data_shape=3,4,5 label_width=3", "label_width is 3"},
    {{.step = 1, .labels = NO_LABELS}, "data_shape=3,4,5", "no stream 'label'"},
    {{.step = 1}, "data_shape=3,4,5 path_imgidx=a.idx", "its own index"},
};

LOOP_TEST(what_does_not_fit_is_refused_by_name, 0, COUNT(wrong))
{
    struct imrec_iter *it;
    struct imrec_error err = {0};
    const char *path = make(&wrong[_i].form);
    ck_assert_int_eq(pair_try_open(path, wrong[_i].words, &it, &err), IMREC_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(err.message, "a.cbf"));
    ck_assert_msg(strstr(err.message, wrong[_i].says) != NULL, "%s", err.message);
}

LOOP_TEST(a_vector_that_is_no_class_fails_alone, 0, 2) /* _i: a 1 and others; no 1 */
{
    struct imrec_batch b;
    struct imrec_error err;
    struct imrec_iter *it =
        pair_open(make(&(struct form){.step = 1, .labels = _i ? FIVES : VALUES}),
                  "data_shape=3,4,5 batch_size=7");
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_ERR_DATA);
    ck_assert_uint_eq(b.failed, IMAGES);
    ck_assert_ptr_nonnull(strstr(err.message, "stream 'labels'"));
    imrec_iter_close(it);
}

TEST(streams_that_are_no_images_are_listed)
{
    struct imrec_iter *it;
    struct imrec_error err = {0};
    struct buf file = BUF_INIT(1 << 20), one = BUF_INIT(1 << 10);
    struct cbf_writer *w;
    const struct stream_info info = {.name = "words", .dim = 2};
    const uint64_t offset[] = {0, 12};
    const uint32_t length = 1;
    put_u32(&one, 1);
    put(&one, false, 1);
    put(&one, false, 2);
    const struct chunk_stream stream = {one.p, offset};
    const struct sequence_chunk c = {
        .sequences = 1, .streams = 1, .length = &length, .samples = 1, .stream = &stream};
    ck_assert_int_eq(cbf_writer_new(&info, 1, 0, cbf_to_buf, &file, &w, NULL), IMREC_OK);
    ck_assert_int_eq(cbf_writer_add(w, &c, NULL), IMREC_OK);
    ck_assert_int_eq(cbf_writer_finish(w, NULL), IMREC_OK);
    cbf_writer_free(w);
    const char *path = tmp_write(&dir, "b.cbf", file.p, file.n);
    ck_assert_int_eq(pair_try_open(path, "", &it, &err), IMREC_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(
        strstr(err.message, "b.cbf is CNTK's binary format without images: imrec minibatches "));
    ck_assert_ptr_nonnull(strstr(err.message, "words"));
    buf_free(&file);
    buf_free(&one);
}

TEST(files_of_two_kinds_are_no_set)
{
    struct imrec_iter *it;
    struct imrec_error err = {0};
    char both[900], left[400];
    const struct bytes one = read_whole(make(&(struct form){.step = 1}));
    snprintf(left, sizeof(left), "%s", tmp_write(&dir, "b.cbf", one.p, one.n));
    free((void *)(uintptr_t)one.p);
    snprintf(both, sizeof(both), "%s;%s", left, make(&(struct form){.step = 1, .doubles = true}));
    ck_assert_int_eq(pair_try_open(both, "data_shape=3,4,5", &it, &err), IMREC_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(err.message, "cannot be one set"));
}

/* ---- by hand -------------------------------------------------------------------------------- */

struct hand_stream {
    struct stream_info info;
    struct buf bytes;
};

/* A file of one chunk: streams as they are, `n` sequences of length 1. */
static const char *write_by_hand(struct hand_stream *s, uint32_t streams, uint32_t n)
{
    static char path[400];
    struct buf file = BUF_INIT(1 << 26);
    uint8_t le[16];
    store_le64(le, CBF_MAGIC);
    store_le32(le + 8, CBF_VERSION);
    ck_assert_int_eq(buf_append(&file, le, 12, NULL), IMREC_OK);
    for (uint32_t i = 0; i < n; i++)
        put_u32(&file, 1);
    for (uint32_t i = 0; i < streams; i++) {
        ck_assert_int_eq(buf_append(&file, s[i].bytes.p, s[i].bytes.n, NULL), IMREC_OK);
        buf_free(&s[i].bytes);
    }
    const uint64_t header = file.n;
    ck_assert_int_eq(buf_append(&file, le, 8, NULL), IMREC_OK);
    put_u32(&file, 1);
    put_u32(&file, streams);
    for (uint32_t i = 0; i < streams; i++) {
        const uint8_t storage = (uint8_t)s[i].info.storage, element = (uint8_t)s[i].info.element;
        ck_assert_int_eq(buf_append(&file, &storage, 1, NULL), IMREC_OK);
        put_u32(&file, (uint32_t)strlen(s[i].info.name));
        ck_assert_int_eq(buf_append(&file, s[i].info.name, strlen(s[i].info.name), NULL), IMREC_OK);
        ck_assert_int_eq(buf_append(&file, &element, 1, NULL), IMREC_OK);
        put_u32(&file, s[i].info.dim);
    }
    store_le64(le, 12);
    store_le32(le + 8, n);
    store_le32(le + 12, n);
    ck_assert_int_eq(buf_append(&file, le, 16, NULL), IMREC_OK);
    store_le64(le, header);
    ck_assert_int_eq(buf_append(&file, le, 8, NULL), IMREC_OK);
    snprintf(path, sizeof(path), "%s", tmp_write(&dir, "h.cbf", file.p, file.n));
    buf_free(&file);
    return path;
}

/* Streams of files in an order of their own, all walked, as one of them is uneven. */
LOOP_TEST(files_are_found_whatever_the_order_of_their_streams, 0, 6) /* _i: order */
{
    static const char *const texts[] = {"a", "", "four", "a longer one", "23"};
    static const char orders[][6] = {"ILBMD", "BILMD", "MDLBI", "LMIDB", "BMILD", "IBLDM"};
    struct hand_stream s[5];
    for (uint32_t i = 0; i < 5; i++) {
        const char c = orders[_i][i];
        s[i].bytes = BUF_INIT(1 << 16);
        s[i].info = c == 'I'   ? (struct stream_info){.name = "image", .dim = 1}
                    : c == 'B' ? (struct stream_info){.name = "image_bytes", .dim = 2}
                    : c == 'L' ? (struct stream_info){.name = "label", .dim = 2}
                    : c == 'D' ? (struct stream_info){.name = "id", .dim = 4}
                               : (struct stream_info){.name = "more", .dim = 2};
        for (uint32_t k = 0; k < 5; k++) {
            const uint32_t n = (uint32_t)strlen(texts[k]);
            uint8_t padded[16] = {0};
            memcpy(padded, texts[k], n);
            if (c == 'M') {
                put_more(&s[i].bytes, k);
                continue;
            }
            put_u32(&s[i].bytes, c == 'I' ? (n + 3) / 4 : 1);
            if (c == 'I')
                ck_assert_int_eq(buf_append(&s[i].bytes, padded, (n + 3) / 4 * 4, NULL), IMREC_OK);
            for (uint32_t v = 0; c == 'D' && v < 4; v++)
                put(&s[i].bytes, false, (float)(v == 2 ? 1 : v * k));
            for (uint32_t v = 0; (c == 'B' || c == 'L') && v < 2; v++)
                put(&s[i].bytes, false, (float)(c == 'L' ? k + v : v == 1 ? n : 0));
        }
    }
    struct imrec_reader *r;
    struct imrec_record x;
    struct imrec_error err = {0};
    ck_assert_msg(imrec_reader_open(write_by_hand(s, 5, 5), 0, 1, &r, &err) == IMREC_OK, "%s",
                  err.message);
    for (uint32_t k = 0; k < 5; k++) {
        ck_assert_msg(imrec_reader_next(r, &x, &err) == IMREC_OK, "%s", err.message);
        ck_assert_uint_eq(x.image_size, strlen(texts[k]));
        ck_assert(memcmp(x.image, texts[k], x.image_size) == 0);
        ck_assert_uint_eq(x.id, ((uint64_t)k << 32) + (1 << 16) + 3 * k);
        ck_assert_uint_eq(x.label_count, 2);
        ck_assert(x.labels[0] == (float)k && x.labels[1] == (float)(k + 1));
    }
    ck_assert_int_eq(imrec_reader_next(r, &x, &err), IMREC_END);
    imrec_reader_close(r);
}

TEST(an_image_with_two_labels_fails_alone)
{
    struct hand_stream s[2] = {
        {{.name = "features", .dim = 3}, BUF_INIT(1 << 16)},
        {{.name = "labels", .dim = 2}, BUF_INIT(1 << 16)},
    };
    for (uint32_t k = 0; k < 3; k++) {
        put_u32(&s[0].bytes, 1);
        for (uint32_t i = 0; i < 3; i++)
            put(&s[0].bytes, false, (float)i);
        put_u32(&s[1].bytes, k == 1 ? 2 : 1);
        for (uint32_t i = 0; i < (k == 1 ? 4 : 2); i++)
            put(&s[1].bytes, false, (float)(i % 2));
    }
    struct imrec_batch b;
    struct imrec_error err;
    struct imrec_iter *it = pair_open(write_by_hand(s, 2, 3), "data_shape=3,1,1 batch_size=3");
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_ERR_DATA);
    ck_assert_ptr_nonnull(strstr(err.message, "sequence 1, byte "));
    ck_assert_ptr_nonnull(strstr(err.message, "stream 'labels': 2 samples, an image has one"));
    ck_assert(b.valid[0] == 1 && b.valid[1] == 0 && b.valid[2] == 1);
    ck_assert(b.labels[0] == 1 && b.labels[2] == 1);
    imrec_iter_close(it);
}

TEST(labels_that_are_not_there_take_no_memory)
{
    struct hand_stream s[2] = {
        {{.name = "features", .dim = 3}, BUF_INIT(1 << 22)},
        {{.name = "labels", .dim = 1 << 20}, BUF_INIT(1 << 22)},
    };
    for (uint32_t k = 0; k < 50000; k++) {
        put_u32(&s[0].bytes, 0);
        put_u32(&s[1].bytes, 0);
    }
    struct imrec_reader *r;
    struct imrec_error err = {0};
    ck_assert_int_eq(imrec_reader_open(write_by_hand(s, 2, 50000), 0, 1, &r, &err),
                     IMREC_ERR_CORRUPT);
    ck_assert_ptr_nonnull(strstr(err.message, "more bytes than there are"));
}
