/* Images augmented before they are encoded, and several records of each. */
#include "base/alloc.h"
#include "formats/recordio/image_record.h"
#include "formats/recordio/record_index.h"
#include "formats/recordio/recordio.h"
#include "formats/set/image_list.h"
#include "imrec/augmenter.h"
#include "imrec/codec.h"
#include "imrec/image.h"
#include "tests/support/built.h"
#include "tests/support/packing.h"
#include "tests/support/suite.h"

enum { W = 40, H = 30 };
static struct packing p;
static uint8_t pixels[W * H * 3];
static struct bytes rec, idx;

static void setup(void)
{
    struct codec *c;
    struct bytes png;
    memset(&p, 0, sizeof(p));
    p.dir = tmpdir_make();
    make_folder(&p.dir, "source");
    snprintf(p.source, sizeof(p.source), "%s/source", p.dir.path);
    imrec_pack_options_init(&p.o);
    p.o.encoding = IMREC_ENCODE_PNG;
    p.o.force = true;
    for (size_t i = 0; i < sizeof(pixels); i++)
        pixels[i] = (uint8_t)(i * 2654435761u >> 11);
    const struct imrec_image image = {pixels, W * 3, W, H, 3};
    if (!built_with("png"))
        exit(77);
    ck_assert_int_eq(codec_new(&c, &p.err), IMREC_OK);
    ck_assert_int_eq(codec_encode_png(c, &image, 3, &png, &p.err), IMREC_OK);
    tmp_write(&p.dir, "source/one.png", png.p, png.n);
    codec_free(c);
    rec = idx = (struct bytes){NULL, 0};
}

static void drop(void)
{
    free((void *)(uintptr_t)rec.p);
    free((void *)(uintptr_t)idx.p);
    rec = idx = (struct bytes){NULL, 0};
}

static void teardown(void)
{
    drop();
    packing_remove(&p);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

static enum imrec_status pack(const char *list)
{
    p.kept_count = 0;
    const struct imrec_pack_task task = {
        .list = kept_path(&p, "in.lst"), .root = p.source, .out = kept_path(&p, "out")};
    tmp_write(&p.dir, "in.lst", list, strlen(list));
    const enum imrec_status st = imrec_pack(&task, &p.o, &p.result, &p.err);
    drop();
    if (st == IMREC_OK) {
        rec = read_whole(tmp_path(&p.dir, "out.rec"));
        idx = read_whole(tmp_path(&p.dir, "out.idx"));
    }
    return st;
}

/* The n-th record. */
static struct image_record record_at(size_t n)
{
    struct index_cursor at;
    uint64_t key = 0, offset = 0;
    struct recordio_span span;
    struct image_record r;
    record_index_begin(&at, "out.idx", idx);
    for (size_t i = 0; i <= n; i++)
        ck_assert_int_eq(record_index_next(&at, &key, &offset, &p.err), IMREC_OK);
    ck_assert_int_eq(recordio_measure(rec.p + offset, rec.n - offset, offset, &span, &p.err),
                     IMREC_OK);
    const struct bytes whole = recordio_join((uint8_t *)(uintptr_t)rec.p + offset, &span);
    ck_assert_int_eq(image_record_parse(whole, &r, &p.err), IMREC_OK);
    ck_assert_uint_eq(r.id, key);
    return r;
}

/* Whether the first record shows these pixels. */
static bool shows(const struct imrec_image *want)
{
    struct imrec_decoder *d;
    struct imrec_image i;
    const struct image_record r = record_at(0);
    ck_assert_int_eq(imrec_decoder_new(&d, &p.err), IMREC_OK);
    ck_assert_int_eq(imrec_decoder_decode(d, r.image.p, r.image.n, 3, true, 1 << 20, &i, &p.err),
                     IMREC_OK);
    bool same = i.width == want->width && i.height == want->height;
    for (uint32_t y = 0; same && y < i.height; y++)
        same = memcmp(i.pixels + y * i.stride, want->pixels + y * want->stride,
                      (size_t)i.width * 3) == 0;
    imrec_decoder_free(d);
    return same;
}

static const char one[] = "7\t3.5\tone.png\n";

CASE(.setup = setup, .teardown = teardown)

TEST(an_image_keeps_its_size_and_what_is_not_asked_for_changes_nothing)
{
    const struct imrec_image same = {pixels, W * 3, W, H, 3};
    p.o.augment = "brightness=0 rand_crop=1";
    ck_assert_msg(pack(one) == IMREC_OK, "%s", p.err.message);
    ck_assert(shows(&same));
}

TEST(mirror_mirrors)
{
    const struct imrec_image turned = {pixels, W * 3, W, H, 3};
    imrec_image_mirror(&turned);
    p.o.augment = "mirror=1";
    ck_assert_int_eq(pack(one), IMREC_OK);
    ck_assert(shows(&turned));
}

TEST(data_shape_crops_the_centre)
{
    const struct imrec_image centre = {pixels + 5 * W * 3 + 10 * 3, W * 3, 20, 20, 3};
    p.o.augment = "data_shape=3,20,20";
    ck_assert_int_eq(pack(one), IMREC_OK);
    ck_assert(shows(&centre));
}

TEST(a_border_is_filled_and_cropped_as_the_iterator_does)
{
    static uint8_t framed[(W + 6) * (H + 6) * 3];
    memset(framed, 9, sizeof(framed));
    for (uint32_t y = 0; y < H; y++)
        memcpy(framed + ((y + 3) * (W + 6) + 3) * 3, pixels + y * W * 3, W * 3);
    const struct imrec_image want = {framed, (W + 6) * 3, W + 6, H + 6, 3};
    p.o.augment = "pad=3 fill_value=9 data_shape=3,36,46";
    ck_assert_int_eq(pack(one), IMREC_OK);
    ck_assert(shows(&want));
}

static const char *const many[] = {
    "max_rotate_angle=20 brightness=0.3 rand_mirror=1",
    "random_resized_crop=1 min_random_area=0.3 random_h=20 pca_noise=0.1",
    "rand_augment=2 gaussian_blur=1 random_erasing=1 hue=0.2",
    "resize=50 max_crop_size=30 min_crop_size=20 trivial_augment=1 random_grayscale=0.5",
};

LOOP_TEST(copies_have_ids_of_their_own_and_differ, 0, 4)
{
    p.o.augment = many[_i];
    p.o.copies = 3;
    ck_assert_msg(pack("7\t3.5\tone.png\n4\t1\tone.png\n") == IMREC_OK, "%s", p.err.message);
    ck_assert_uint_eq(p.result.packed, 6);
    for (size_t i = 0; i < 6; i++) {
        const struct image_record r = record_at(i);
        ck_assert_uint_eq(r.id, (i < 3 ? 21 : 12) + i % 3);
        ck_assert(image_record_label(&r, 0) == (i < 3 ? 3.5f : 1));
        for (size_t k = 0; k < i; k++) {
            const struct image_record other = record_at(k);
            ck_assert(r.image.n != other.image.n ||
                      memcmp(r.image.p, other.image.p, r.image.n) != 0);
        }
    }
}

LOOP_TEST(a_copy_depends_on_seed_and_id_not_on_threads_or_the_number_of_copies, 0, 4)
{
    uint8_t first[1 << 14];
    p.o.augment = many[_i];
    p.o.copies = 2;
    p.o.threads = 1;
    ck_assert_int_eq(pack(one), IMREC_OK);
    struct bytes image = record_at(1).image;
    const size_t n = image.n;
    ck_assert_uint_lt(n, sizeof(first));
    memcpy(first, image.p, n);
    p.o.copies = 5;
    p.o.threads = 4;
    ck_assert_int_eq(pack(one), IMREC_OK);
    image = record_at(1).image;
    ck_assert(image.n == n && memcmp(image.p, first, n) == 0);
    p.o.seed = 101;
    ck_assert_int_eq(pack(one), IMREC_OK);
    image = record_at(1).image;
    ck_assert(image.n != n || memcmp(image.p, first, n) != 0);
}

TEST(an_id_too_large_for_copies_is_skipped)
{
    p.o.augment = "mirror=1";
    p.o.copies = 2;
    ck_assert_int_eq(pack("9223372036854775808\t1\tone.png\n9223372036854775807\t1\tone.png\n"),
                     IMREC_OK);
    ck_assert_uint_eq(p.result.packed, 2);
    ck_assert_uint_eq(p.result.skipped, 2);
    ck_assert_uint_eq(record_at(1).id, UINT64_MAX);
}

TEST(grey_images_stay_grey)
{
    p.o.augment = "random_h=20 brightness=0.3 pca_noise=0.1 hue=0.2";
    p.o.color = 0;
    ck_assert_int_eq(pack(one), IMREC_ERR_ARGUMENT);
    p.o.augment = "brightness=0.3 max_rotate_angle=20";
    ck_assert_int_eq(pack(one), IMREC_OK);
}

TEST(grey_images_among_others_have_no_colours_changed)
{
    uint8_t grey[W * H];
    struct codec *c;
    struct bytes png;
    memcpy(grey, pixels, sizeof(grey));
    const struct imrec_image image = {grey, W, W, H, 1};
    ck_assert_int_eq(codec_new(&c, &p.err), IMREC_OK);
    ck_assert_int_eq(codec_encode_png(c, &image, 3, &png, &p.err), IMREC_OK);
    tmp_write(&p.dir, "source/one.png", png.p, png.n);
    codec_free(c);
    p.o.color = -1;
    p.o.augment = "saturation=0.9 random_h=90 random_l=90 hue=0.5 random_grayscale=1 pca_noise=1";
    ck_assert_msg(pack(one) == IMREC_OK, "%s", p.err.message);
    const struct image_record first = record_at(0);
    struct imrec_image_info info;
    ck_assert_int_eq(imrec_image_info(first.image.p, first.image.n, &info, &p.err), IMREC_OK);
    ck_assert_uint_eq(info.channels, 1);
    uint8_t same[W * H * 3];
    for (size_t i = 0; i < sizeof(same); i++)
        same[i] = grey[i / 3];
    ck_assert(shows(&(struct imrec_image){same, W * 3, W, H, 3}));
    p.o.augment = "saturation=0.9 brightness=0.3 contrast=0.3 rand_augment=4 gaussian_blur=1";
    p.o.copies = 40;
    ck_assert_int_eq(pack(one), IMREC_OK);
}

static const struct {
    const char *augment, *says;
} wrong[] = {
    {"mean_r=3", "mean_r does not"},
    {"mixup=0.2", "mixup does not"},
    {"batch_size=3", "batch_size does not"},
    {"seed=3", "seed does not"},
    {"rotatte=3", "did you mean rotate"},
    {"rotate", "takes key=value"},
    {"data_shape=1,9,9", "1 channels"},
    {"min_random_area=0.5", "random_resized_crop"},
    {"rotate_list=1,x", "rotate_list must be"},
    {"aug_seq=det_aug_default", "boxes"},
    {"rand_crop_prob=0.5", "rand_crop_prob does not"},
    {"aug_seq=mine", "augment calls no augmenters of your own (mine)"},
    {"aug_seq=/no/such/library.so:mine",
     "augment calls no augmenters of your own"}, /* nor loads one */
    {"aug_seq=aug_default,nobodys", "aug_seq has no augmenter 'nobodys'"},
};

static enum imrec_status
change_nothing(const struct imrec_augmenter_call *call, struct imrec_error *err)
{
    (void)call, (void)err;
    return IMREC_OK;
}

LOOP_TEST(a_wrong_key_is_refused_in_a_sentence, 0, COUNT(wrong))
{
    ck_assert_int_eq(imrec_augmenter_register("mine", change_nothing, NULL, NULL), IMREC_OK);
    p.o.augment = wrong[_i].augment;
    ck_assert_int_eq(pack(one), IMREC_ERR_ARGUMENT);
    ck_assert_msg(strstr(p.err.message, wrong[_i].says) != NULL, "%s", p.err.message);
}
