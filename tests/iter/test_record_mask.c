/* A mask behind an image: found, refused, decoded; and what an iterator says of records without.
 */
#include "base/alloc.h"
#include "formats/recordio/record_mask.h"
#include "tests/support/built.h"
#include "tests/support/maskset.h"
#include "tests/support/suite.h"

/* "picture", a mask of such bytes, its trailer. */
static size_t put(uint8_t *out, const char *mask)
{
    const size_t n = strlen(mask);
    memcpy(out, "picture", 7);
    memcpy(out + 7, mask, n);
    record_mask_trailer((struct bytes){(const uint8_t *)mask, n}, out + 7 + n);
    return 7 + n + RECORD_MASK_TRAILER_BYTES;
}

CASE(.begin = built_with_png)

TEST(a_mask_is_what_stands_before_its_trailer)
{
    uint8_t bytes[64];
    const size_t n = put(bytes, "values");
    struct bytes image, mask;
    ck_assert_int_eq(record_mask_split((struct bytes){bytes, n}, &image, &mask, NULL), IMREC_OK);
    ck_assert(image.p == bytes && image.n == 7 && mask.n == 6 && mask.p == bytes + 7);
    ck_assert_mem_eq(bytes + 13 + 8, "\x8bmask1\r\n", 8);
    ck_assert_uint_eq(load_le32(bytes + 13), 6);
    for (size_t cut = 1; cut <= n; cut++) { /* of a record that was cut there is no mask */
        const size_t left = n - cut;
        ck_assert_int_eq(record_mask_split((struct bytes){bytes, left}, &image, &mask, NULL),
                         IMREC_OK);
        ck_assert(image.n == left && mask.n == 0);
    }
}

TEST(any_byte_of_mask_and_trailer_that_changes_is_noticed)
{
    uint8_t bytes[64];
    const size_t n = put(bytes, "values");
    struct bytes image, mask;
    struct imrec_error err;
    for (size_t i = 7; i < n - 8; i++) {
        bytes[i] ^= 0x40;
        ck_assert_int_eq(record_mask_split((struct bytes){bytes, n}, &image, &mask, &err),
                         IMREC_ERR_CORRUPT);
        ck_assert(image.n == n && mask.n == 0);
        ck_assert(strstr(err.message, i < 13 || i >= 17 ? "CRC-32C" : "the mask has") != NULL);
        bytes[i] ^= 0x40;
    }
    store_le32(bytes + 13, 0);
    ck_assert_int_eq(record_mask_split((struct bytes){bytes, n}, &image, &mask, &err),
                     IMREC_ERR_CORRUPT);
}

/* ---- in an iterator ------------------------------------------------------------------------- */

struct spoiled {
    struct mask_set set;
    struct imrec_writer *w;
    struct codec *c;
    struct mask_image p;
    struct bytes image;
    uint64_t n;
};

static void add(struct spoiled *s, struct bytes mask)
{
    const float label = (float)s->n;
    const enum imrec_status st =
        mask.n != 0
            ? imrec_writer_append_masked(s->w, s->n, &label, 1, s->n, s->image.p, s->image.n,
                                         mask.p, mask.n, NULL)
            : imrec_writer_append_image(s->w, s->n, &label, 1, s->n, s->image.p, s->image.n, NULL);
    ck_assert_int_eq(st, IMREC_OK);
    s->n++;
}

/* A whole one, and then six that are not. */
static struct spoiled make(void)
{
    struct spoiled s = {.set = {tmpdir_make(), ""}, .p = mask_image(1)};
    struct mask deep = {0};
    struct bytes b;
    snprintf(s.set.rec, sizeof(s.set.rec), "%s", tmp_path(&s.set.dir, "spoiled.rec"));
    ck_assert_int_eq(codec_new(&s.c, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_writer_open(s.set.rec, NULL, true, &s.w, NULL), IMREC_OK);
    s.image = mask_encode(s.c, &s.p);
    add(&s, mask_encode_mask(s.c, &s.p, 8));
    add(&s, (struct bytes){NULL, 0});
    const struct mask_image other = mask_image(2);
    add(&s, mask_encode_mask(s.c, &other, 8));
    add(&s, s.image); /* colours */
    add(&s, (struct bytes){(const uint8_t *)"no PNG", 6});
    b = mask_encode_mask(s.c, &s.p, 8);
    b.n -= b.n / 2;
    add(&s, b);
    ck_assert_int_eq(mask_resize_buffer(&deep, s.p.w, s.p.h, NULL), IMREC_OK);
    for (size_t i = 0; i < (size_t)s.p.w * s.p.h; i++)
        deep.values[i] = 300;
    deep.bits = 16;
    ck_assert_int_eq(codec_encode_mask(s.c, &deep, &b, NULL), IMREC_OK);
    add(&s, b);
    mask_free(&deep);
    ck_assert_int_eq(imrec_writer_commit(s.w, NULL), IMREC_OK);
    return s;
}

static void drop(struct spoiled *s)
{
    bytes_free(s->image);
    codec_free(s->c);
    tmpdir_remove(&s->set.dir);
}

TEST(records_whose_mask_is_missing_or_wrong_fail_alone)
{
    static const char *const reasons[] = {"",
                                          "the record has no mask",
                                          "its image",
                                          "a PNG of colours",
                                          "the mask is not a PNG",
                                          "png",
                                          "the value 300, which does not fit uint8"};
    struct spoiled s = make();
    struct imrec_iter *it = mask_open(&s.set, "batch_size=1");
    struct imrec_error err;
    struct imrec_batch b;
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        ck_assert_int_eq(imrec_iter_next(it, &b, &err), i == 0 ? IMREC_OK : IMREC_ERR_DATA);
        ck_assert_msg(i == 0 || strstr(err.message, reasons[i]) != NULL, "%s", err.message);
        const uint8_t *m = b.masks;
        for (size_t k = 0; i != 0 && k < 112 * 112; k++)
            MUST(m[k] == MASK_IGNORE);
    }
    imrec_iter_close(it);
    drop(&s);
}

TEST(without_masks_asked_for_all_images_are_read)
{
    struct spoiled s = make();
    struct imrec_iter *it = mask_open(&s.set, "batch_size=7 masks=none");
    struct imrec_error err;
    struct imrec_batch b;
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_OK);
    ck_assert(b.count == 7 && b.failed == 0 && b.masks == NULL && b.views[0].masks == NULL);
    imrec_iter_close(it);
    drop(&s);
}

LOOP_TEST(values_have_the_type_asked_for, 0, 2)
{
    static const char *const words[] = {"batch_size=2 masks=uint16 ignore_label=999",
                                        "batch_size=2 masks=int32 ignore_label=999"};
    struct spoiled s = make();
    struct imrec_batch b;
    struct imrec_iter *it = mask_open(&s.set, words[_i]);
    for (int batch = 0; batch < 4; batch++)
        (void)!imrec_iter_next(it, &b, NULL);
    ck_assert(b.slots == 1 && b.ids[0] == 6 && b.status[0] == IMREC_OK);
    for (size_t k = 0; k < 112 * 112; k++)
        MUST((_i == 0 ? ((const uint16_t *)b.masks)[k] : ((const int32_t *)b.masks)[k]) == 300);
    ck_assert_int_eq(imrec_iter_rewind(it, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_ERR_DATA); /* the second has none */
    for (size_t k = 112 * 112; k < 2 * 112 * 112; k++)
        MUST((_i == 0 ? ((const uint16_t *)b.masks)[k] : ((const int32_t *)b.masks)[k]) == 999);
    imrec_iter_close(it);
    drop(&s);
}

LOOP_TEST(what_cannot_be_mixed_is_refused, 0, 7)
{
    static const char *const words[] = {"mixup=0.2 dtype=float32",
                                        "cutmix=1 keypoints=1 label_width=3 masks=none",
                                        "mixup=1 dtype=float32 masks=none boxes=1",
                                        "ignore_label=256",
                                        "keypoints=2",
                                        "keypoints=2 label_width=6 keypoint_pairs=0-2",
                                        "keypoints=1 label_width=3 multi_crop=2x112"};
    struct spoiled s = make();
    struct imrec_iter *it;
    struct imrec_error err;
    ck_assert_int_eq(mask_try_open(&s.set, words[_i], &it, &err), IMREC_ERR_ARGUMENT);
    drop(&s);
}

/* Opening, and a batch of masks: whichever allocation fails is told. */
TEST(every_failing_allocation_is_an_error_and_nothing_leaks)
{
    struct spoiled s = make();
    struct imrec_error err = {0};
    struct imrec_batch b;
    bool ended = false;
    const long before = imrec_alloc_live();
    for (long n = 0; !ended && n < 2000; n++) {
        struct imrec_iter *it;
        imrec_alloc_fail_after(n);
        enum imrec_status st =
            mask_try_open(&s.set, "batch_size=1 preprocess_threads=1", &it, &err);
        if (st == IMREC_OK)
            st = imrec_iter_next(it, &b, &err);
        imrec_alloc_fail_after(-1);
        ck_assert_msg(st == IMREC_OK || st == IMREC_ERR_NO_MEMORY || st == IMREC_ERR_DATA ||
                          st == IMREC_ERR_LIMIT,
                      "allocation %ld: %d, %s", n, (int)st, err.message);
        imrec_iter_close(it);
        ck_assert_int_eq(imrec_alloc_live(), before);
        ended = st == IMREC_OK;
    }
    ck_assert(ended);
    drop(&s);
}
