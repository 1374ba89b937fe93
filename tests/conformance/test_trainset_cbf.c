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
    suite_add_tcase(s, tc);
    return suite_run(s);
}
