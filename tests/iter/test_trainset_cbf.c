/* The labelled photographs of the shared training set, packed as RecordIO, as CBF and as decoded
 * CBF: every way gives the same batches. */
#include "tests/support/built.h"
#include "tests/support/iter_pair.h"
#include "tests/support/shared.h"
#include "tests/support/suite.h"

enum { SIDE = 48, BYTES = SIDE * SIDE * 3 };

static struct tmpdir dir;
static char rec[400], idx[400], cbf[400], pixels[400];

static void pack(const char *root, const char *name, enum imrec_pack_format format, bool decoded,
                 uint32_t shards)
{
    struct imrec_pack_options o;
    struct imrec_pack_result result;
    struct imrec_error err;
    char out[400];
    snprintf(out, sizeof(out), "%s", tmp_path(&dir, name));
    const struct imrec_pack_task task = {.root = root, .out = out};
    imrec_pack_options_init(&o);
    o.resize = 64;
    o.center_crop = true;
    o.encoding = built_with("png") ? IMREC_ENCODE_PNG : IMREC_ENCODE_JPEG;
    o.quality = built_with("png") ? 1 : 95;
    o.format = format;
    o.pixels = decoded;
    o.shards = shards;
    o.cbf_chunk = 500000;
    ck_assert_msg(imrec_pack(&task, &o, &result, &err) == IMREC_OK, "%s", err.message);
    ck_assert_uint_gt(result.packed, 100);
    ck_assert_uint_ge(result.classes, 5);
}

static void make(const char *set)
{
    dir = tmpdir_make();
    const char *root = shared_path(set);
    pack(root, "a.rec", IMREC_PACK_REC, false, 2);
    pack(root, "b.cbf", IMREC_PACK_CBF, false, 3);
    pack(root, "c.cbf", IMREC_PACK_CBF, true, 0);
    snprintf(rec, sizeof(rec), "%s", tmp_path(&dir, "a-*.rec"));
    snprintf(idx, sizeof(idx), "%s", tmp_path(&dir, "a-*.idx"));
    snprintf(cbf, sizeof(cbf), "%s", tmp_path(&dir, "b-*.cbf"));
    snprintf(pixels, sizeof(pixels), "%s", tmp_path(&dir, "c.cbf"));
}

static const char *const sets[] = {"data/trainset/flowers5/train",
                                   "data/trainset/clothing10/train"};

START_TEST(photographs_come_out_the_same_whichever_way_they_were_packed) /* _i into sets */
{
    static const char *const ways[] = {
        "batch_size=32 preprocess_threads=3",
        "batch_size=64 shuffle=1 seed=5 last_batch=partial mirror=1",
        "batch_size=32 shuffle=1 seed=6 num_parts=3 part_index=1 equal_batches=1",
        "batch_size=50 shuffle=1 epoch_size=333 round_batch=1",
    };
    make(sets[_i]);
    for (size_t w = 0; w < sizeof(ways) / sizeof(ways[0]); w++) {
        char words[900], with_index[1400];
        snprintf(words, sizeof(words), "data_shape=3,%d,%d dtype=uint8 %s", SIDE, SIDE, ways[w]);
        snprintf(with_index, sizeof(with_index), "path_imgidx=%s %s", idx, words);
        iterators_must_agree(pair_open(cbf, words), pair_open(rec, with_index), BYTES, 40, words);
        if (built_with("png"))
            iterators_must_agree(pair_open(pixels, words), pair_open(rec, with_index), BYTES, 40,
                                 words);
    }
    tmpdir_remove(&dir);
}
END_TEST

/* ---- the other iterator ---------------------------------------------------------------------- */

static struct imrec_minibatch_source *open_source(const char *files)
{
    char file[500];
    struct imrec_error err;
    struct imrec_minibatch_config *c;
    struct imrec_minibatch_source *s;
    snprintf(file, sizeof(file), "file=%s", files);
    ck_assert_int_eq(imrec_minibatch_config_new(&c, &err), IMREC_OK);
    ck_assert_msg(imrec_minibatch_config_set(c, file, &err) == IMREC_OK, "%s", err.message);
    ck_assert_int_eq(imrec_minibatch_config_set(c, "randomize=false", &err), IMREC_OK);
    ck_assert_int_eq(imrec_minibatch_config_set(c, "epochSize=FULL_DATA_SWEEP", &err), IMREC_OK);
    ck_assert_msg(imrec_minibatch_source_open(imrec_minibatch_config_options(c), &s, &err) ==
                      IMREC_OK,
                  "%s", err.message);
    imrec_minibatch_config_free(c);
    return s;
}

static const struct imrec_minibatch_stream *
stream(const struct imrec_minibatch *m, const char *name)
{
    for (uint32_t i = 0; i < m->streams; i++)
        if (strcmp(m->stream[i].name, name) == 0)
            return &m->stream[i];
    ck_abort_msg("no stream %s", name);
}

START_TEST(decoded_photographs_come_out_of_both_iterators) /* _i into sets */
{
    struct imrec_minibatch m;
    struct imrec_batch b;
    struct imrec_error err;
    uint64_t images = 0;
    make(sets[_i]);
    struct imrec_minibatch_source *s = open_source(pixels);
    struct imrec_iter *it =
        pair_open(pixels, "data_shape=3,64,64 batch_size=32 last_batch=partial");
    for (;;) {
        const enum imrec_status st = imrec_minibatch_next(s, 32, NULL, 0, &m, &err);
        ck_assert_int_eq(imrec_iter_next(it, &b, &err), st);
        if (st == IMREC_END)
            break;
        ck_assert_msg(st == IMREC_OK, "%s", err.message);
        ck_assert_uint_eq(m.sequences, b.count);
        ck_assert(memcmp(stream(&m, "features")->values, b.data,
                         (size_t)b.count * 64 * 64 * 3 * sizeof(float)) == 0);
        for (uint32_t i = 0; i < b.count; i++)
            ck_assert(b.labels[i] == (float)stream(&m, "labels")->indices[i]);
        images += b.count;
    }
    ck_assert_uint_gt(images, 100);
    imrec_iter_close(it);
    imrec_minibatch_source_close(s);
    tmpdir_remove(&dir);
}
END_TEST

START_TEST(files_of_photographs_come_out_of_both_readers) /* _i into sets */
{
    struct imrec_minibatch m;
    struct imrec_reader *r;
    struct imrec_record x;
    struct imrec_error err;
    make(sets[_i]);
    struct imrec_minibatch_source *s = open_source(cbf);
    ck_assert_int_eq(imrec_reader_open(cbf, 0, 1, &r, &err), IMREC_OK);
    /* the longest stream counts: a minibatch holds what fits, and one image at least */
    while (imrec_minibatch_next(s, 50000, NULL, 0, &m, &err) == IMREC_OK) {
        const struct imrec_minibatch_stream *image = stream(&m, "image");
        for (uint64_t i = 0; i < m.sequences; i++) {
            ck_assert_int_eq(imrec_reader_next(r, &x, &err), IMREC_OK);
            const uint64_t at = image->row[i] * image->width + image->column[i];
            ck_assert_uint_eq(image->length[i], (x.image_size + 3) / 4);
            ck_assert(memcmp((const float *)image->values + at, x.image, x.image_size) == 0);
            ck_assert(x.labels[0] == (float)stream(&m, "label")->indices[i]);
        }
    }
    ck_assert_int_eq(imrec_reader_next(r, &x, &err), IMREC_END);
    imrec_reader_close(r);
    imrec_minibatch_source_close(s);
    tmpdir_remove(&dir);
}
END_TEST

int main(void)
{
    shared_or_skip();
    if (access(shared_path(sets[0]), R_OK) != 0) {
        printf("skipped: no training set\n");
        return 77;
    }
    Suite *s = suite_create("trainset cbf");
    TCase *tc = tcase_create("trainset");
    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, photographs_come_out_the_same_whichever_way_they_were_packed, 0, 2);
    tcase_add_loop_test(tc, decoded_photographs_come_out_of_both_iterators, 0, 2);
    tcase_add_loop_test(tc, files_of_photographs_come_out_of_both_readers, 0, 2);
    suite_add_tcase(s, tc);
    return suite_run(s);
}
