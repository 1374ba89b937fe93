/* on_error=replace where more than pixels goes with a sample: masks, boxes, keypoints, sounds. */
#include "tests/support/packing.h"

#include "tests/support/boxset.h"
#include "tests/support/maskset.h"
#include "tests/support/replacing.h"
#include "tests/support/suite.h"
#include "tests/support/wavs.h"

enum { RECORDS = 30, SOUNDS = 24, HEAD = 8 + 24 };

/* Every fourth record, and the last one: its image begins with bytes of none. */
static void spoil(const char *rec)
{
    struct imrec_reader *r;
    struct imrec_record x;
    uint64_t at[RECORDS], n = 0;
    ck_assert_int_eq(imrec_reader_open(rec, 0, 1, &r, NULL), IMREC_OK);
    while (imrec_reader_next(r, &x, NULL) == IMREC_OK)
        at[n++] = x.offset + HEAD + 4 * (x.label_count > 1 ? x.label_count : 0);
    imrec_reader_close(r);
    FILE *f = fopen(rec, "r+b");
    ck_assert_ptr_nonnull(f);
    for (uint64_t i = 0; i < n; i++)
        if (i % 4 == 1 || i + 1 == n) {
            ck_assert_int_eq(fseek(f, (long)at[i], SEEK_SET), 0);
            ck_assert_uint_eq(fwrite("no image at all", 15, 1, f), 1);
        }
    fclose(f);
}

static struct mask_set masks;
static struct box_set boxes;
static struct packing sounds;
static const char *way;

static struct imrec_iter *open_masks(const char *words)
{
    char all[1024];
    snprintf(all, sizeof(all), "dtype=float32 %s %s", way, words);
    return mask_open(&masks, all);
}

static const struct {
    const char *words;
    uint32_t rows;
} mask_ways[] = {
    {"boxes=1 keypoints=1 keypoint_pairs= rand_mirror=1 rand_crop=1", 1},
    {"boxes=1 keypoints=1 max_rotate_angle=30 shuffle=1", 1},
    {"boxes=1 keypoints=1 num_views=3 rand_crop=1", 3},
};

CASE(.timeout = 60)

LOOP_TEST(masks_boxes_and_keypoints_are_those_of_the_sample_that_is_delivered, 0,
          built_with("png") ? COUNT(mask_ways) : 0) /* _i: way */
{
    masks = mask_set_make(RECORDS);
    spoil(masks.rec);
    way = mask_ways[_i].words;
    ck_assert_uint_eq(replacing_must_hold(open_masks, mask_ways[_i].rows, 2, way), 2 * 8);
    tmpdir_remove(&masks.dir);
}

static struct imrec_iter *open_boxes(const char *words)
{
    char all[1024];
    snprintf(all, sizeof(all), "rand_crop_prob=1 min_crop_scales=0.4 rand_mirror_prob=0.5 %s",
             words);
    return box_open(&boxes, all);
}

TEST(boxes_of_the_detection_iterator_too)
{
    boxes = box_set_make(RECORDS, NULL);
    spoil(boxes.rec);
    ck_assert_uint_eq(replacing_must_hold(open_boxes, 1, 2, "boxes"), 2 * 8);
    tmpdir_remove(&boxes.dir);
}

static void pack_sounds(void)
{
    struct buf wav = BUF_INIT(1 << 24);
    char name[64];
    sounds.dir = tmpdir_make();
    make_folder(&sounds.dir, "source");
    make_folder(&sounds.dir, "source/a");
    for (uint32_t i = 0; i < SOUNDS; i++) {
        const struct tone t = {1, 8000, 1500 + 10 * i, 200 + 50.0 * i, 0.25, 0};
        wav_make(&wav, &t);
        snprintf(name, sizeof(name), "source/a/%02u.wav", i);
        tmp_write(&sounds.dir, name, wav.p, wav.n);
    }
    buf_free(&wav);
    snprintf(sounds.source, sizeof(sounds.source), "%s/source", sounds.dir.path);
    imrec_pack_options_init(&sounds.o);
}

static struct imrec_iter *open_sounds(const char *words)
{
    return open_over(
        tmp_path(&sounds.dir, "sounds.rec"),
        "audio=1 data_shape=1,1,1000 rand_crop=1 max_random_gain=6 verbose=0 shuffle=1", words);
}

TEST(sounds_are_replaced_by_sounds)
{
    pack_sounds();
    const char *rec = kept_path(&sounds, "sounds.rec");
    ck_assert_msg(packing_run(&sounds, rec) == IMREC_OK, "%s", sounds.err.message);
    spoil(rec);
    ck_assert_uint_eq(replacing_must_hold(open_sounds, 1, 2, "sounds"), 2 * 7);
    packing_remove(&sounds);
}
