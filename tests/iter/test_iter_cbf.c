/* tests/iter/test_iter_cbf.c - images packed as CBF come out as those packed as RecordIO do:
 * the same pixels, labels and ids in the same places. */
#include "tests/support/built.h"
#include "tests/support/iter_pair.h"
#include "tests/support/suite.h"

enum { FLOATS = 12 * 12 * 3 * 4 };

static struct packing p;

static void setup(void)
{
    packing_make(&p, true);
}

static void teardown(void)
{
    packing_remove(&p);
}

static const char *pack(const char *name, enum imrec_pack_format format, bool pixels)
{
    p.o.format = format;
    p.o.pixels = pixels;
    p.o.cbf_chunk = pixels ? 60000 : 6000; /* a few images each */
    const char *path = kept_path(&p, name);
    ck_assert_msg(packing_run(&p, path) == IMREC_OK, "%s", p.err.message);
    return path;
}

static const struct {
    const char *words;
    size_t sample_bytes;
} ways[] = {
    {"", FLOATS},
    {"shuffle=1 seed=7", FLOATS},
    {"shuffle=1 seed=8 batch_size=7 last_batch=partial preprocess_threads=5", FLOATS},
    {"shuffle=1 batch_size=9 round_batch=1 preprocess_threads=1 prefetch_buffer=1", FLOATS},
    {"batch_size=7 last_batch=wrap", FLOATS},
    {"batch_size=7 last_batch=drop shuffle=1", FLOATS},
    {"num_parts=3 part_index=0 shuffle=1", FLOATS},
    {"num_parts=3 part_index=1 batch_size=3", FLOATS},
    {"num_parts=5 part_index=4 shuffle=1 seed=3 equal_batches=1", FLOATS},
    {"num_parts=5 part_index=4 equal_batches=1 last_batch=repeat", FLOATS},
    {"num_parts=40 part_index=39", FLOATS}, /* nothing */
    {"num_parts=40 part_index=39 equal_batches=1", FLOATS},
    {"mirror=1 mean_r=120 mean_g=110 mean_b=100 std_r=58 scale=0.5", FLOATS},
    {"dtype=uint8 layout=NHWC resize=20", 12 * 12 * 3},
    {"dtype=float16 resize=14 inter_method=3", 12 * 12 * 3 * 2},
    {"data_shape=1,16,9 dtype=int8 mean_r=100", 16 * 9},
    {"data_shape=3,50,50 resize=40", 50 * 50 * 3 * 4}, /* made larger */
    {"keep_in_memory=1 shuffle=1 drop_behind=1", FLOATS},
    {"memory_limit=2G shuffle=1 num_parts=2 part_index=1", FLOATS},
    {"num_views=3 batch_size=9 shuffle=1", FLOATS},
};
enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

CASE(.timeout = 120, .setup = setup, .teardown = teardown)

LOOP_TEST(the_same_folder_gives_the_same_batches, 0, WAYS) /* _i: way */
{
    char with_index[400];
    const char *rec = pack("a.rec", IMREC_PACK_REC, false);
    const char *cbf = pack("b.cbf", IMREC_PACK_CBF, false);
    snprintf(with_index, sizeof(with_index), "path_imgidx=%s %s", tmp_path(&p.dir, "a.idx"),
             ways[_i].words);
    iterators_must_agree(pair_open(cbf, ways[_i].words), pair_open(rec, with_index),
                         ways[_i].sample_bytes, 25, ways[_i].words);
}

TEST(shards_and_partitions_are_those_of_an_index)
{
    char words[600], with_index[1200];
    p.o.shards = 4;
    pack("a.rec", IMREC_PACK_REC, false);
    pack("b.cbf", IMREC_PACK_CBF, false);
    const char *rec = kept_path(&p, "a-*.rec"), *idx = kept_path(&p, "a-*.idx");
    const char *cbf = kept_path(&p, "b-*.cbf");
    for (int parts = 1; parts < 12; parts++)
        for (int part = 0; part < parts; part += 1 + parts / 4) {
            snprintf(words, sizeof(words), "shuffle=%d num_parts=%d part_index=%d seed=%d",
                     parts % 2, parts, part, part);
            snprintf(with_index, sizeof(with_index), "%s path_imgidx=%s", words, idx);
            iterators_must_agree(pair_open(cbf, words), pair_open(rec, with_index), FLOATS, 14,
                                 words);
        }
}

TEST(a_folder_of_cbf_files_is_a_set)
{
    p.o.shards = 3;
    pack("a.rec", IMREC_PACK_REC, false);
    pack("source/b.cbf", IMREC_PACK_CBF, false);
    char words[600];
    snprintf(words, sizeof(words), "path_imgidx=%s", kept_path(&p, "a-*.idx"));
    iterators_must_agree(pair_open(p.source, "container=cbf"),
                         pair_open(kept_path(&p, "a-*.rec"), words), FLOATS, 14, "folder");
    iterators_must_agree(pair_open(p.source, "container=cbf path_imgidx=auto"),
                         pair_open(kept_path(&p, "a-*.rec"), "path_imgidx=auto"), FLOATS, 14,
                         "path_imgidx=auto");
}

/* The same pixels in files and as values: PNG loses nothing. */
static const struct {
    const char *words;
    size_t sample_bytes;
} decoded_ways[] = {
    {"data_shape=3,32,32", 32 * 32 * 3 * 4},
    {"shuffle=1 seed=7 rand_crop=1 rand_mirror=1 preprocess_threads=7", FLOATS},
    {"rand_crop=1 rand_mirror=1 mean_r=1.5 std_g=3 scale=2 layout=NHWC batch_size=7", FLOATS},
    {"resize=20 rand_crop=1 dtype=uint8 num_parts=3 part_index=1 round_batch=1", 12 * 12 * 3},
    {"resize=20 inter_method=3 dtype=float16 shuffle=1", 12 * 12 * 3 * 2},
    {"data_shape=3,40,50 mirror=1 shuffle=1", 40 * 50 * 3 * 4},
    {"data_shape=3,9,31 rand_crop=1 keep_in_memory=1", 9 * 31 * 3 * 4},
    {"max_rotate_angle=30 brightness=0.4 random_h=20 pad=3 rand_crop=1 shuffle=1", FLOATS},
    {"random_resized_crop=1 min_random_area=0.3 max_random_contrast=0.2 pca_noise=0.1", FLOATS},
    {"num_views=3 batch_size=9 rand_crop=1 rand_mirror=1", FLOATS},
    {"num_views=4 batch_size=8 random_resized_crop=1 min_random_area=0.3 hue=0.1", FLOATS},
    {"multi_crop=2x12,4x9 random_resized_crop=1 multi_crop_area=0.3:1,0.1:0.3", FLOATS},
    {"data_shape=3,9,9 data_shape_schedule=0:3,12,12;1:3,13,12 num_parts=2", FLOATS},
};
enum { DECODED_WAYS = sizeof(decoded_ways) / sizeof(decoded_ways[0]) };

LOOP_TEST(decoded_pixels_give_what_decoding_gives, 0, DECODED_WAYS) /* _i: way */
{
    if (!built_with("png"))
        return;
    p.o.center_crop = true;
    p.o.encoding = IMREC_ENCODE_PNG;
    p.o.quality = 1;
    const char *files = pack("a.cbf", IMREC_PACK_CBF, false);
    const char *pixels = pack("b.cbf", IMREC_PACK_CBF, true);
    iterators_must_agree(pair_open(pixels, decoded_ways[_i].words),
                         pair_open(files, decoded_ways[_i].words), decoded_ways[_i].sample_bytes,
                         20, decoded_ways[_i].words);
}

TEST(mean_images_are_the_same_whichever_way_they_are_made)
{
    char words[3][600];
    if (!built_with("png"))
        return;
    p.o.center_crop = true;
    p.o.encoding = IMREC_ENCODE_PNG;
    p.o.quality = 1;
    const char *path[] = {pack("a.rec", IMREC_PACK_REC, false),
                          pack("b.cbf", IMREC_PACK_CBF, false),
                          pack("c.cbf", IMREC_PACK_CBF, true)};
    for (int i = 0; i < 3; i++)
        snprintf(words[i], sizeof(words[i]), "mean_img=%s.mean", path[i]);
    iterators_must_agree(pair_open(path[1], words[1]), pair_open(path[0], words[0]), FLOATS, 9,
                         "files");
    iterators_must_agree(pair_open(path[2], words[2]), pair_open(path[0], words[0]), FLOATS, 9,
                         "pixels");
    expect_same_file(&p, "a.rec", "b.cbf", ".mean");
    expect_same_file(&p, "a.rec", "c.cbf", ".mean");
}

TEST(grey_values_stand_for_three_channels)
{
    if (!built_with("png"))
        return;
    p.o.center_crop = true;
    p.o.encoding = IMREC_ENCODE_PNG;
    p.o.quality = 1;
    p.o.color = 0;
    const char *files = pack("a.cbf", IMREC_PACK_CBF, false);
    const char *pixels = pack("b.cbf", IMREC_PACK_CBF, true);
    iterators_must_agree(pair_open(pixels, "rand_crop=1"), pair_open(files, "rand_crop=1"), FLOATS,
                         20, "3 channels");
    iterators_must_agree(pair_open(pixels, "data_shape=1,12,12"),
                         pair_open(files, "data_shape=1,12,12"), 12 * 12 * 4, 20, "1 channel");
}

static struct imrec_record next_record(struct imrec_reader *r)
{
    struct imrec_record x;
    struct imrec_error err = {0};
    ck_assert_msg(imrec_reader_next(r, &x, &err) == IMREC_OK, "%s", err.message);
    return x;
}

static struct imrec_image decode(struct imrec_decoder *d, const struct imrec_record *r)
{
    struct imrec_image image;
    ck_assert_int_eq(
        imrec_decoder_decode(d, r->image, r->image_size, 3, true, 1 << 20, &image, NULL), IMREC_OK);
    return image;
}

LOOP_TEST(decoded_images_are_read_as_files_of_the_same_pixels, 0, 2) /* _i: colour, grey */
{
    if (!built_with("png"))
        return;
    p.o.center_crop = true;
    p.o.resize = 33; /* rows that are no multiple of 4 */
    p.o.encoding = IMREC_ENCODE_PNG;
    p.o.quality = 1;
    p.o.color = 1 - _i;
    struct imrec_reader *a, *b;
    struct imrec_decoder *d, *e;
    ck_assert_int_eq(imrec_reader_open(pack("a.cbf", IMREC_PACK_CBF, false), 0, 1, &a, NULL),
                     IMREC_OK);
    ck_assert_int_eq(imrec_reader_open(pack("b.cbf", IMREC_PACK_CBF, true), 0, 1, &b, NULL),
                     IMREC_OK);
    ck_assert_int_eq(imrec_decoder_new(&d, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_decoder_new(&e, NULL), IMREC_OK);
    for (int i = 0; i < MADE_GOOD; i++) {
        const struct imrec_record x = next_record(a), y = next_record(b);
        const struct imrec_image left = decode(d, &x), right = decode(e, &y);
        ck_assert(x.id == y.id && x.label_count == 1 && x.labels[0] == y.labels[0]);
        ck_assert(left.width == 33 && right.width == 33 && right.height == 33);
        for (uint32_t row = 0; row < 33; row++)
            ck_assert(memcmp(left.pixels + row * (size_t)left.stride,
                             right.pixels + row * (size_t)right.stride, 99) == 0);
    }
    imrec_decoder_free(d);
    imrec_decoder_free(e);
    imrec_reader_close(a);
    imrec_reader_close(b);
}

TEST(random_crops_do_not_depend_on_threads_batches_or_chunks)
{
    const char *a = pack("a.cbf", IMREC_PACK_CBF, false);
    const char *words = "rand_crop=1 rand_mirror=1 shuffle=1 batch_size=6";
    char other[200];
    snprintf(other, sizeof(other), "%s preprocess_threads=7 prefetch_buffer=5", words);
    iterators_must_agree(pair_open(a, other), pair_open(a, words), FLOATS, 20, "threads");
    p.o.format = IMREC_PACK_CBF;
    p.o.cbf_chunk = 1 << 20;
    const char *b = kept_path(&p, "b.cbf");
    ck_assert_int_eq(packing_run(&p, b), IMREC_OK);
    iterators_must_agree(pair_open(b, words), pair_open(a, words), FLOATS, 20, "chunks");
}

TEST(random_crops_do_not_depend_on_the_partition)
{
    const char *a = pack("a.cbf", IMREC_PACK_CBF, false);
    struct imrec_batch all, b;
    char words[200];
    struct imrec_iter *whole = pair_open(a, "rand_crop=1 rand_mirror=1 batch_size=24");
    ck_assert_int_eq(imrec_iter_next(whole, &all, NULL), IMREC_OK);
    for (int part = 0; part < 5; part++) {
        snprintf(words, sizeof(words),
                 "rand_crop=1 rand_mirror=1 batch_size=5 num_parts=5 part_index=%d", part);
        struct imrec_iter *it = pair_open(a, words);
        ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
        const size_t at = (size_t)part * 5;
        ck_assert_uint_eq(b.ids[0], all.ids[at]);
        ck_assert(memcmp(b.data, (const uint8_t *)all.data + at * FLOATS, b.count * FLOATS) == 0);
        imrec_iter_close(it);
    }
    imrec_iter_close(whole);
}

TEST(a_list_of_other_images_gives_no_ids)
{
    struct imrec_batch b;
    p.o.center_crop = true;
    const char *a = pack("a.cbf", IMREC_PACK_CBF, true);
    const struct bytes list = read_whole(tmp_path(&p.dir, "a.lst"));
    tmp_write(&p.dir, "a.lst", list.p, list.n - 30); /* the last line is missing */
    free((void *)(uintptr_t)list.p);
    struct imrec_iter *it = pair_open(a, "num_parts=2 part_index=1 batch_size=12");
    ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
    for (uint32_t i = 0; i < 12; i++)
        ck_assert_uint_eq(b.ids[i], 12 + i);
    imrec_iter_close(it);
}

LOOP_TEST(a_position_is_found_again, 0, 7) /* _i: calls before it */
{
    struct imrec_batch b;
    struct imrec_error err;
    const char *json, *words = "shuffle=1 rand_crop=1 batch_size=7";
    const char *cbf = pack("a.cbf", IMREC_PACK_CBF, false);
    struct imrec_iter *left = pair_open(cbf, words), *right = pair_open(cbf, words);
    for (int i = 0; i < _i; i++)
        (void)!imrec_iter_next(left, &b, &err);
    ck_assert_int_eq(imrec_iter_position(left, &json, &err), IMREC_OK);
    ck_assert_msg(imrec_iter_seek(right, json, &err) == IMREC_OK, "%s", err.message);
    iterators_must_agree(right, left, FLOATS, 12, "position");
}

LOOP_TEST(a_position_of_one_of_equal_partitions_is_found_by_another, 0, 9) /* _i: calls before it */
{
    struct imrec_batch b;
    struct imrec_error err;
    char words[200];
    const char *json, *common = "shuffle=1 rand_crop=1 batch_size=2 num_parts=5 equal_batches=1";
    const char *cbf = pack("a.cbf", IMREC_PACK_CBF, false);
    struct imrec_iter *from = pair_open(cbf, common);
    snprintf(words, sizeof(words), "%s part_index=4", common); /* has four images of five */
    struct imrec_iter *left = pair_open(cbf, words), *right = pair_open(cbf, words);
    for (int i = 0; i < _i; i++) {
        (void)!imrec_iter_next(from, &b, &err);
        (void)!imrec_iter_next(left, &b, &err);
    }
    ck_assert_int_eq(imrec_iter_position(from, &json, &err), IMREC_OK);
    ck_assert_msg(imrec_iter_seek(right, json, &err) == IMREC_OK, "%s", err.message);
    imrec_iter_close(from);
    iterators_must_agree(right, left, FLOATS, 12, "position");
}

TEST(labels_of_a_list_stand_in_for_those_of_the_file)
{
    char words[700];
    const char *rec = pack("a.rec", IMREC_PACK_REC, false);
    const char *cbf = pack("b.cbf", IMREC_PACK_CBF, false);
    char list[4096] = "", *to = list;
    for (int i = 0; i < MADE_GOOD + MADE_BAD; i++)
        to += sprintf(to, "%d\t%d\t%d.5\tx\n", i, 100 + i, i);
    snprintf(words, sizeof(words), "path_imglist=%s label_width=2",
             tmp_write(&p.dir, "l.lst", list, (size_t)(to - list)));
    iterators_must_agree(pair_open(cbf, words), pair_open(rec, words), FLOATS, 12, words);
}
