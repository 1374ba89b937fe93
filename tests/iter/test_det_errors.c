/* Labels with boxes that are wrong: which record, which field, which value; and what is refused
 * before anything is read. */
#include "container/recordio_kind.h"
#include "formats/set/manifest.h"
#include "storage/fault.h"
#include "storage/source.h"
#include "tests/support/boxset.h"
#include "tests/support/suite.h"
#include "tests/support/tars.h"

#include <math.h>

enum { RECORDS = 20 };

static uint32_t spoil(uint32_t i, float *v, uint32_t n)
{
    switch (i) {
    case 2:
        v[0] = 1;
        break;
    case 5:
        v[1] = 4.5f;
        break;
    case 7:
        v[BOX_HEADER + 3] = 480; /* px */
        break;
    case 11:
        v[BOX_HEADER + 2] = NAN;
        break;
    case 13:
        return n - 1;
    case 17:
        v[0] = 3; /* one label: an image of a class */
        return 1;
    default:
        break;
    }
    return n;
}

static const struct {
    uint32_t record;
    const char *told;
} wrong[] = {
    {2, "label value 0 (header width) is 1; a whole number from 2 to"},
    {5, "label value 1 (object width) is 4.5; a whole number from 5 to"},
    {7, "xmax of object 0 is 480; coordinates are shares of the image's sides, from 0 to 1"},
    {11, "ymin of object 0 is nan"},
    {13, "values, which are not a header of 4 and whole objects of 6"},
    {17, "the label has 1 value"},
};
enum { WRONG = sizeof(wrong) / sizeof(wrong[0]) };

static int wrong_of(uint32_t record)
{
    for (int i = 0; i < WRONG; i++)
        if (wrong[i].record == record)
            return i;
    return -1;
}

TEST(a_label_that_is_wrong_fails_its_sample_and_says_where_and_why)
{
    struct box_set s = box_set_make(RECORDS, spoil);
    struct imrec_iter *it = box_open(&s, "batch_size=1");
    for (uint32_t i = 0; i < RECORDS; i++) {
        struct imrec_batch b;
        struct imrec_error err = {0};
        char where[256];
        const enum imrec_status st = imrec_iter_next(it, &b, &err);
        const int w = wrong_of(i);
        ck_assert_uint_eq(b.ids[0], 500 + i);
        if (w < 0) {
            ck_assert_int_eq(st, IMREC_OK);
            ck_assert_uint_gt(imrec_detections_of(b.labels).count, 0);
            continue;
        }
        snprintf(where, sizeof(where),
                 "boxes.rec: record at byte %llu, id %u: ", (unsigned long long)s.offset[i],
                 500 + i);
        ck_assert_int_eq(st, IMREC_ERR_DATA);
        ck_assert_uint_eq(err.offset, s.offset[i]);
        ck_assert_msg(strstr(err.message, where) && strstr(err.message, wrong[w].told), "%s",
                      err.message);
        ck_assert(b.status[0] == IMREC_ERR_CORRUPT && !b.valid[0]);
        ck_assert_uint_eq(imrec_detections_of(b.labels).count, 0);
        for (uint32_t k = 0; k < b.label_width; k++)
            ck_assert(b.labels[k] == 0);
    }
    imrec_iter_close(it);
    it = box_open(&s, "on_error=skip batch_size=64");
    struct imrec_batch b;
    ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
    ck_assert_uint_eq(b.failed, WRONG);
    imrec_iter_close(it);
    tmpdir_remove(&s.dir);
}

TEST(a_label_that_does_not_fit_its_room_fails)
{
    struct box_set s = box_set_make(RECORDS, NULL);
    struct imrec_iter *it = box_open(&s, "label_pad_width=15 batch_size=64");
    struct imrec_batch b;
    struct imrec_error err = {0};
    uint32_t wide = 0;
    for (uint32_t i = 0; i < RECORDS; i++)
        wide += box_image(i).boxes > 1;
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_ERR_DATA);
    ck_assert_uint_eq(b.failed, wide);
    ck_assert_msg(strstr(err.message, "but label_pad_width is 15") != NULL, "%s", err.message);
    imrec_iter_close(it);
    it = box_open(&s, "label_width=16 batch_size=64"); /* exactly so many */
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_ERR_DATA);
    ck_assert_msg(strstr(err.message, "but label_width is 16") != NULL, "%s", err.message);
    ck_assert_uint_eq(b.label_width, 20);
    imrec_iter_close(it);
    tmpdir_remove(&s.dir);
}

/* A manifest that says so is believed: nothing is read to know. */
static void write_manifest(struct box_set *s, uint32_t label_width, uint64_t more)
{
    struct buf text = BUF_INIT(1 << 20);
    struct imrec_error err;
    struct source *rec;
    ck_assert_int_eq(source_open(s->rec, &rec, NULL), IMREC_OK);
    struct manifest_shard shard = {.rec = {"boxes.rec", rec->size + more, 1}, .records = RECORDS};
    source_close(rec);
    const struct manifest m = {.packer = "test",
                               .shards = &shard,
                               .shard_count = 1,
                               .records = RECORDS,
                               .bytes = shard.rec.bytes,
                               .label_width = label_width};
    ck_assert_msg(manifest_write(&m, &text, &err) == IMREC_OK, "%s", err.message);
    tmp_write(&s->dir, "boxes.manifest.json", text.p, text.n);
    buf_free(&text);
}

TEST(the_manifest_knows_the_widest_label)
{
    struct box_set s = box_set_make(RECORDS, NULL);
    struct imrec_iter *it;
    struct imrec_batch b;
    struct imrec_error err = {0};
    write_manifest(&s, 100, 4); /* of another shard: it is not asked */
    it = box_open(&s, "");
    ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
    ck_assert_uint_eq(b.label_width, 4 + BOX_HEADER + BOX_CLASSES * BOX_WIDTH);
    imrec_iter_close(it);
    write_manifest(&s, 100, 0);
    it = box_open(&s, "");
    ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
    ck_assert_uint_eq(b.label_width, 104);
    imrec_iter_close(it);
    ck_assert_int_eq(box_try_open(&s, "label_pad_width=99", &it, &err), IMREC_ERR_ARGUMENT);
    ck_assert_msg(strstr(err.message, "label_pad_width is 99, but there is a label of 100 values"),
                  "%s", err.message);
    tmpdir_remove(&s.dir);
}

static uint32_t without_boxes(uint32_t i, float *label, uint32_t n)
{
    (void)i;
    (void)label;
    (void)n;
    return BOX_HEADER;
}

TEST(the_widest_label_may_be_in_any_shard_and_any_partition)
{
    struct box_set wide = box_set_make(RECORDS, NULL), narrow = box_set_make(3, without_boxes);
    char words[64];
    struct imrec_batch b;
    strcat(strcat(wide.rec, ";"), narrow.rec);
    for (int part = 0; part < 3; part++) {
        snprintf(words, sizeof(words), "num_parts=3 part_index=%d", part);
        struct imrec_iter *it = box_open(&wide, words);
        ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
        ck_assert_uint_eq(b.label_width, 4 + BOX_HEADER + BOX_CLASSES * BOX_WIDTH);
        imrec_iter_close(it);
    }
    tmpdir_remove(&wide.dir);
    tmpdir_remove(&narrow.dir);
}

/* The bytes read to find the widest label. */
static uint64_t bytes_for_the_widest(const struct box_set *s)
{
    char uri[2200];
    struct container container;
    uint32_t widest = 0;
    const struct fault_script none = {0};
    ck_assert_int_eq(fault_set("widest", &none, NULL), IMREC_OK);
    snprintf(uri, sizeof(uri), "fault://script=widest:%s", s->rec);
    const struct container_options o = {
        .path_imgrec = uri, .path_imgidx = "", .num_parts = 1, .cell_bytes = 1 << 18};
    ck_assert_int_eq(container_open(&o, &container, NULL), IMREC_OK);
    const uint64_t before = fault_counts("widest").bytes_read;
    ck_assert_int_eq(recordio_widest_label(&container, true, &widest, NULL), IMREC_OK);
    const uint64_t read = fault_counts("widest").bytes_read - before;
    ck_assert_uint_eq(widest, BOX_HEADER + BOX_CLASSES * BOX_WIDTH);
    container_close(&container);
    fault_forget("widest");
    return read;
}

static void write_index(struct box_set *s, uint32_t skip, uint64_t more)
{
    char text[RECORDS * 48] = "";
    for (uint32_t i = RECORDS; i-- > 0;) /* any order will do */
        if (i != skip)
            sprintf(text + strlen(text), "%u\t%llu\n", i,
                    (unsigned long long)(s->offset[i] + (i == 3 ? more : 0)));
    tmp_write(&s->dir, "boxes.idx", (const uint8_t *)text, strlen(text));
}

TEST(with_an_index_only_the_heads_are_read_for_the_widest_label)
{
    struct box_set s = box_set_make(RECORDS, NULL);
    const uint64_t all = bytes_for_the_widest(&s);
    write_index(&s, RECORDS, 0);
    ck_assert_uint_lt(bytes_for_the_widest(&s), all / 4);
    write_index(&s, 5, 0); /* one that is not of all records does not count */
    ck_assert_uint_ge(bytes_for_the_widest(&s), all);
    write_index(&s, RECORDS, 4);
    ck_assert_uint_ge(bytes_for_the_widest(&s), all);
    tmpdir_remove(&s.dir);
}

static const char *const refused[][2] = {
    {"aug_seq=det_default", "there are aug_default, det_aug_default"},
    {"aug_seq=aug_default", "label_width must be at least 1"},
    {"aug_seq=hue label_width=0", "label_width must be at least 1"},
    {"rand_crop=1", "does not go with rand_crop"},
    {"num_crop_sampler=33", "num_crop_sampler must be"},
    {"num_crop_sampler=3 max_crop_scales=0.5,0.6", "max_crop_scales has 2 numbers"},
    {"rand_pad_prob=1.5", "rand_pad_prob must be"},
    {"resize_mode=stretch", "one of force|shrink|fit"},
    {"memory_limit=1000000", "memory_limit"},
};

/* The original's 60 parameters, as its scripts may write them: with their defaults. */
TEST(every_parameter_of_the_original_is_known)
{
    struct box_set s = box_set_make(9, NULL);
    struct imrec_iter *it = box_open(
        &s,
        "path_imglist= aug_seq=det_aug_default label_width=-1 data_shape=(3,300,300) batch_size=4 "
        "preprocess_threads=4 verbose=True num_parts=1 part_index=0 shuffle_chunk_size=0 "
        "shuffle_chunk_seed=0 label_pad_width=0 label_pad_value=-1 shuffle=False seed=0 "
        "last_batch=repeat round_batch=True prefetch_buffer=4 ctx=gpu dtype=None resize=-1 "
        "rand_crop_prob=0 min_crop_scales=(0,) max_crop_scales=(1,) min_crop_aspect_ratios=(1,) "
        "max_crop_aspect_ratios=(1,) min_crop_overlaps=(0,) max_crop_overlaps=(1,) "
        "min_crop_sample_coverages=(0,) max_crop_sample_coverages=(1,) "
        "min_crop_object_coverages=(0,) max_crop_object_coverages=(1,) num_crop_sampler=1 "
        "crop_emit_mode=center emit_overlap_thresh=0.3 max_crop_trials=(25,) rand_pad_prob=0 "
        "max_pad_scale=1 max_random_hue=0 random_hue_prob=0 max_random_saturation=0 "
        "random_saturation_prob=0 max_random_illumination=0 random_illumination_prob=0 "
        "max_random_contrast=0 random_contrast_prob=0 rand_mirror_prob=0 fill_value=127 "
        "inter_method=1 resize_mode=force mean_img= mean_r=0 mean_g=0 mean_b=0 mean_a=0 std_r=0 "
        "std_g=0 std_b=0 std_a=0 scale=1");
    struct imrec_batch b;
    float most = 0;
    ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
    for (size_t i = 0; i < (size_t)4 * 3 * 300 * 300; i++)
        most = fmaxf(most, ((const float *)b.data)[i]);
    ck_assert(most > 200 && most <= 255); /* divided by nothing */
    imrec_iter_close(it);
    tmpdir_remove(&s.dir);
}

LOOP_TEST(options_that_cannot_be_are_refused_before_reading, 0, COUNT(refused))
{
    struct box_set s = box_set_make(1, NULL);
    struct imrec_iter *it = NULL;
    struct imrec_error err = {0};
    ck_assert_int_ne(box_try_open(&s, refused[_i][0], &it, &err), IMREC_OK);
    ck_assert_ptr_null(it);
    ck_assert_msg(strstr(err.message, refused[_i][1]) != NULL, "%s", err.message);
    tmpdir_remove(&s.dir);
}

TEST(samples_of_an_archive_have_classes_and_no_boxes)
{
    struct box_set s = box_set_make(1, NULL);
    struct buf tar = BUF_INIT(1 << 16);
    struct imrec_iter *it = NULL;
    struct imrec_error err = {0};
    tar_text(&tar, "a.jpg", "never read");
    tar_end(&tar);
    tmp_write(&s.dir, "a.tar", (const char *)tar.p, tar.n);
    snprintf(s.rec, sizeof(s.rec), "%s", tmp_path(&s.dir, "a.tar"));
    ck_assert_int_eq(box_try_open(&s, "label_pad_width=10", &it, &err), IMREC_ERR_UNSUPPORTED);
    ck_assert_ptr_null(it);
    ck_assert_ptr_nonnull(
        strstr(err.message, "a.tar: its images have no boxes, they have classes"));
    buf_free(&tar);
    tmpdir_remove(&s.dir);
}

TEST(a_mean_image_is_made_of_images_with_boxes_too)
{
    struct box_set s = box_set_make(RECORDS, NULL);
    char words[2200];
    struct imrec_batch b;
    snprintf(words, sizeof(words), "mean_img=%s batch_size=64 rand_crop_prob=0",
             tmp_path(&s.dir, "mean.bin"));
    struct imrec_iter *it = box_open(&s, words);
    double sum = 0;
    ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
    ck_assert_uint_eq(b.count, RECORDS);
    for (size_t i = 0; i < (size_t)RECORDS * 3 * 72 * 96; i++)
        sum += (double)((const float *)b.data)[i];
    ck_assert_double_eq_tol(sum / (RECORDS * 3 * 72 * 96), 0, 1e-3);
    imrec_iter_close(it);
    tmpdir_remove(&s.dir);
}
