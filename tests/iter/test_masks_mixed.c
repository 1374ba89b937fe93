/* Masks, boxes and keypoints where a batch has several images of a sample, mixes pairs, or runs
 * augmenters of the user's: they still say what the image shows. */
#include "tests/support/built.h"
#include "tests/support/masklook.h"
#include "tests/support/suite.h"

enum { RECORDS = 20 };

static struct mask_set set;

static void make(void)
{
    set = mask_set_make(RECORDS);
}

static void drop(void)
{
    tmpdir_remove(&set.dir);
}

/* ---- several images, and pairs --------------------------------------------------------------
 */

static const char *const shared[] = {
    "resize=112 rand_mirror=1 cutmix=1 batch_size=10",
    "resize=112 num_views=5 rand_mirror=1 rand_crop=1 pad=9",
    "multi_crop=3x112 random_resized_crop=1 multi_crop_area=0.3:1 rand_mirror=1",
    "resize=112 random_erasing=0.5 label_width=26 max_rotate_angle=20",
};

/* Masks of every tensor agree with its images; where they are erased, they cannot be compared. */
START_TEST(masks_of_views_and_pairs_are_those_of_their_images)
{
    static struct view v;
    char words[256];
    struct imrec_batch b;
    uint32_t seen = 0, images = 0;
    snprintf(words, sizeof(words), "label_width=26 %s", shared[_i]);
    struct imrec_iter *it = mask_open(&set, words);
    while (imrec_iter_next(it, &b, NULL) == IMREC_OK)
        for (uint32_t t = 0; t < b.view_count; t++) {
            struct imrec_batch one = b;
            one.data = b.views[t].data;
            one.masks = b.views[t].masks;
            for (uint32_t slot = 0; slot < b.slots; slot++, images++) {
                look(&one, slot, &v);
                if (b.views[t].draws[slot].erase_width == 0)
                    seen += must_agree(&v, words, b.ids[slot]);
            }
        }
    imrec_iter_close(it);
    ck_assert_msg(seen > 10000 && images >= RECORDS, "%s: %u px of %u", words, seen, images);
}
END_TEST

START_TEST(boxes_of_views_are_each_ones_own)
{
    const char *words = "label_width=-1 boxes=1 keypoints=1 resize=112 num_views=5 rand_mirror=1 "
                        "max_rotate_angle=30";
    const struct mask_seen seen = masks_must_agree(mask_open(&set, words), words);
    ck_assert(seen.pixels > 50000 && seen.dots > 100);
}
END_TEST

START_TEST(masks_have_the_shape_of_their_sweep)
{
    struct imrec_iter *it =
        mask_open(&set, "label_width=26 data_shape_schedule=1:3,64,48 batch_size=20");
    struct imrec_batch b;
    ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
    ck_assert(b.views[0].shape.width == 112 && b.masks != NULL);
    ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_END);
    ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
    ck_assert(b.views[0].shape.width == 48 && b.views[0].shape.height == 64);
    uint32_t seen = 0;
    for (size_t i = 0; i < (size_t)b.slots * 64 * 48; i++) {
        MUST(((const uint8_t *)b.masks)[i] <= 6);
        seen += ((const uint8_t *)b.masks)[i] != 0;
    }
    ck_assert_uint_gt(seen, 1000);
    imrec_iter_close(it);
}
END_TEST

START_TEST(keypoints_of_a_mirrored_image_change_places)
{
    /* the three dots as the label of one image, without boxes */
    struct imrec_iter *it;
    struct imrec_batch b[2];
    static const char *const words[] = {"", "mirror=1 keypoint_pairs=0-2"};
    struct tmpdir dir = tmpdir_make();
    struct imrec_writer *w;
    struct codec *c;
    struct mask_set one = {.dir = dir};
    const float label[10] = {7, 0.1f, 0.2f, 2, 0.5f, 0.5f, 1, 0.7f, 0.6f, 0};
    float got[2][10];
    const struct mask_image p = mask_image(1);
    snprintf(one.rec, sizeof(one.rec), "%s", tmp_path(&dir, "one.rec"));
    ck_assert_int_eq(codec_new(&c, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_writer_open(one.rec, NULL, true, &w, NULL), IMREC_OK);
    const struct bytes image = mask_encode(c, &p);
    ck_assert_int_eq(imrec_writer_append_image(w, 0, label, 10, 0, image.p, image.n, NULL),
                     IMREC_OK);
    ck_assert_int_eq(imrec_writer_commit(w, NULL), IMREC_OK);
    for (int i = 0; i < 2; i++) {
        char all[200];
        snprintf(all, sizeof(all),
                 "masks=none label_width=10 keypoints=3 batch_size=1 data_shape=3,%u,%u %s", p.h,
                 p.w, words[i]);
        it = mask_open(&one, all);
        ck_assert_int_eq(imrec_iter_next(it, &b[i], NULL), IMREC_OK);
        memcpy(got[i], b[i].labels, sizeof(got[i]));
        imrec_iter_close(it);
    }
    ck_assert(got[0][0] == 7 && got[1][0] == 7);
    for (int k = 0; k < 3; k++) { /* the whole image is shown: they lie where they lay */
        const float *was = label + 1 + 3 * k, *now = got[0] + 1 + 3 * k;
        const float *mirrored = got[1] + 1 + 3 * (2 - k);
        ck_assert(was[2] == now[2] && was[2] == mirrored[2]);
        if (was[2] == 0) {
            ck_assert(now[0] == was[0] && mirrored[0] == was[0]);
            continue;
        }
        ck_assert(fabsf(now[0] - was[0]) < 1e-5f && fabsf(now[1] - was[1]) < 1e-5f);
        ck_assert(fabsf(mirrored[0] - (1 - was[0])) < 1e-5f);
    }
    codec_free(c);
    bytes_free(image);
    tmpdir_remove(&dir);
}
END_TEST

/* ---- augmenters of the user's ------------------------------------------------------------------
 */

static void swap_rows(void *rows, size_t bytes, size_t stride, uint32_t n)
{
    uint8_t keep[4 * SIDE], *p = rows;
    for (uint32_t y = 0; y < n / 2; y++) {
        memcpy(keep, p + y * stride, bytes);
        memcpy(p + y * stride, p + (n - 1 - y) * stride, bytes);
        memcpy(p + (n - 1 - y) * stride, keep, bytes);
    }
}

/* Turns everything upside down: image, mask, boxes, keypoints. */
static enum imrec_status upside_down(const struct imrec_augmenter_call *c, struct imrec_error *err)
{
    const struct imrec_image *v = &c->image;
    (void)err;
    if (!c->boxes || c->keypoints != 1 || c->mask == NULL ||
        (c->mask_bits != 8 && c->mask_bits != 16))
        return IMREC_ERR_ARGUMENT;
    swap_rows(v->pixels, (size_t)v->width * v->channels, v->stride, v->height);
    swap_rows(c->mask, (size_t)v->width * 2, (size_t)v->width * 2, v->height);
    const uint32_t header = (uint32_t)c->labels[0], object = (uint32_t)c->labels[1];
    for (uint32_t i = header; i + object <= c->label_count; i += object) {
        float *o = c->labels + i;
        const float top = o[2];
        o[2] = 1 - o[4];
        o[4] = 1 - top;
        o[6] = 1 - o[6];
    }
    return IMREC_OK;
}

static enum imrec_status no_share(const struct imrec_augmenter_call *c, struct imrec_error *err)
{
    (void)err;
    c->labels[3] = 480;
    return IMREC_OK;
}

static void register_own(void)
{
    static bool done;
    if (done)
        return;
    done = true;
    ck_assert_int_eq(imrec_augmenter_register("upside_down", upside_down, NULL, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_augmenter_register("no_share", no_share, NULL, NULL), IMREC_OK);
}

static const char *const own[] = {
    "resize=112 aug_seq=aug_default,upside_down",
    "resize=112 rand_mirror=1 max_rotate_angle=20 aug_seq=upside_down",
    "resize=112 rand_augment=2 aug_seq=upside_down,rand_augment",
    "resize=112 rand_augment=2 rand_mirror=1 aug_seq=rand_augment,upside_down,upside_down",
};

START_TEST(augmenters_of_ones_own_are_shown_what_moves_and_may_change_it)
{
    char words[256];
    register_own();
    snprintf(words, sizeof(words), "label_width=-1 boxes=1 keypoints=1 %s", own[_i]);
    const struct mask_seen seen = masks_must_agree(mask_open(&set, words), own[_i]);
    ck_assert_msg(seen.pixels > 1000 && seen.dots >= 2, "%s: %u px, %u dots", own[_i], seen.pixels,
                  seen.dots);
}
END_TEST

START_TEST(what_an_augmenter_makes_of_boxes_is_checked)
{
    struct imrec_batch b;
    struct imrec_error err;
    register_own();
    struct imrec_iter *it = mask_open(
        &set, "label_width=-1 boxes=1 keypoints=1 resize=112 aug_seq=aug_default,no_share");
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_ERR_DATA);
    ck_assert_msg(strstr(err.message, "is 480; coordinates are shares") != NULL, "%s", err.message);
    imrec_iter_close(it);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("masks in batches of several and mixed images");
    TCase *t = tcase_create("masks");
    if (!built_with("png"))
        return 77;
    tcase_set_timeout(t, 60);
    tcase_add_unchecked_fixture(t, make, drop);
    tcase_add_loop_test(t, masks_of_views_and_pairs_are_those_of_their_images, 0,
                        (int)(sizeof(shared) / sizeof(shared[0])));
    tcase_add_test(t, boxes_of_views_are_each_ones_own);
    tcase_add_test(t, masks_have_the_shape_of_their_sweep);
    tcase_add_test(t, keypoints_of_a_mirrored_image_change_places);
    tcase_add_loop_test(t, augmenters_of_ones_own_are_shown_what_moves_and_may_change_it, 0,
                        (int)(sizeof(own) / sizeof(own[0])));
    tcase_add_test(t, what_an_augmenter_makes_of_boxes_is_checked);
    suite_add_tcase(s, t);
    return suite_run(s);
}
