/* The Cifar iterator of the original's documentation, its parameters as they stand there, on
 * images of 32 x 32 px in ten classes that are made here. */
#include "tests/support/imageset.h"
#include "tests/support/suite.h"

#include <sys/stat.h>

enum { CLASSES = 10, OF_EACH = 105, RECORDS = CLASSES * OF_EACH, VALUES = 3 * 28 * 28 };

static const char *const parameters[] = {
    "path_imgrec=data/cifar/train.rec",
    "data_shape=(3,28,28)",
    "batch_size=100",
    "mean_img=data/cifar/cifar10_mean.bin",
    "rand_crop=True",
    "rand_mirror=True",
    "shuffle=False",
    "preprocess_threads=4",
    "prefetch_buffer=1",
};

static void make_shard(void)
{
    const struct image_set_options o = {.labels = 1, .side = 32};
    struct buf file = BUF_INIT((size_t)1 << 28), record = BUF_INIT((size_t)1 << 20);
    struct codec *c;
    ck_assert_int_eq(codec_new(&c, NULL), IMREC_OK);
    for (uint32_t i = 0; i < RECORDS; i++) {
        const float label = (float)(i % CLASSES);
        record.n = 0;
        ck_assert_int_eq(image_record_head(&record, &label, 1, false, i, 0, NULL), IMREC_OK);
        const struct bytes image = set_encode(c, &o, i);
        ck_assert_int_eq(buf_append(&record, image.p, image.n, NULL), IMREC_OK);
        ck_assert_int_eq(recordio_frame((struct bytes){record.p, record.n}, &file, NULL), IMREC_OK);
    }
    FILE *f = fopen("data/cifar/train.rec", "wb");
    ck_assert(f != NULL && fwrite(file.p, 1, file.n, f) == file.n && fclose(f) == 0);
    codec_free(c);
    buf_free(&file);
    buf_free(&record);
}

static struct imrec_iter *open_as_documented(void)
{
    struct imrec_iter_options o;
    struct imrec_iter *it;
    struct imrec_error err = {0};
    imrec_iter_options_init(&o);
    for (size_t i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++)
        ck_assert_msg(imrec_iter_options_set(&o, parameters[i], &err) == IMREC_OK, "%s",
                      err.message);
    ck_assert_msg(imrec_iter_open(&o, &it, &err) == IMREC_OK, "%s", err.message);
    return it;
}

struct pass {
    uint32_t of_class[CLASSES], batches, pad;
    double sum;
};

static void read_pass(struct imrec_iter *it, struct pass *p, float *first)
{
    struct imrec_batch b;
    memset(p, 0, sizeof(*p));
    for (; imrec_iter_next(it, &b, NULL) == IMREC_OK; p->batches++) {
        ck_assert_uint_eq(b.slots, 100);
        p->pad += b.pad;
        if (p->batches == 0)
            memcpy(first, b.data, VALUES * sizeof(*first));
        for (uint32_t i = 0; i < b.slots; i++) {
            if (!b.valid[i])
                continue;
            ck_assert_uint_eq((uint64_t)b.labels[i], b.ids[i] % CLASSES);
            p->of_class[(uint32_t)b.labels[i]]++;
            for (uint32_t k = 0; k < VALUES; k++)
                p->sum += ((const float *)b.data)[i * VALUES + k];
        }
    }
}

START_TEST(the_documented_cifar_iterator_reads_every_image_of_every_class)
{
    const struct tmpdir dir = tmpdir_make();
    static float first[3][VALUES];
    struct pass p;
    ck_assert(chdir(dir.path) == 0 && mkdir("data", 0777) == 0 && mkdir("data/cifar", 0777) == 0);
    make_shard();
    for (int run = 0; run < 2; run++) { /* the mean image is made, then read */
        struct imrec_iter *it = open_as_documented();
        ck_assert_int_gt(tmp_size("data/cifar/cifar10_mean.bin"), VALUES * 4);
        for (int sweep = 0; sweep < 2; sweep++) {
            read_pass(it, &p, first[run == 0 ? sweep : 2]);
            ck_assert_uint_eq(p.batches, 11);
            ck_assert_uint_eq(p.pad, 50);
            for (int k = 0; k < CLASSES; k++)
                ck_assert_uint_eq(p.of_class[k], OF_EACH);
            ck_assert(p.sum / RECORDS / VALUES > -0.5 && p.sum / RECORDS / VALUES < 0.5);
            if (run == 1)
                break;
        }
        imrec_iter_close(it);
    }
    ck_assert_int_ne(memcmp(first[0], first[1], sizeof(first[0])), 0); /* sweeps draw anew */
    ck_assert_int_eq(memcmp(first[0], first[2], sizeof(first[0])), 0); /* runs are equal */
    ck_assert_int_eq(chdir("/"), 0);
    tmpdir_remove(&dir);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("cifar");
    TCase *tc = tcase_create("cifar");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, the_documented_cifar_iterator_reads_every_image_of_every_class);
    suite_add_tcase(s, tc);
    return suite_run(s);
}
