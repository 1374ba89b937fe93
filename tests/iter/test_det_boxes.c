/* Boxes and pixels agree: boxes painted into images are found again in every batch. */
#include "tests/support/boxset.h"
#include "tests/support/suite.h"

#include <math.h>

enum { RECORDS = 60, COLUMNS = 96, ROWS = 72, SAMPLE = ROWS * COLUMNS * 3 };

/* ---- looking ------------------------------------------------------------------------------- */

struct found {
    uint32_t x0, y0, x1, y1; /* px; x1 <= x0: nowhere */
};

/* Where the colour of a class is: the other two channels are far below. */
static struct found look_for(const uint8_t *slot, uint32_t columns, uint32_t rows, uint32_t class)
{
    struct found f = {UINT32_MAX, UINT32_MAX, 0, 0};
    const uint32_t a = (class + 1) % 3, b = (class + 2) % 3;
    for (uint32_t y = 0; y < rows; y++)
        for (uint32_t x = 0; x < columns; x++) {
            const uint8_t *px = slot + ((size_t)y * COLUMNS + x) * 3;
            if (px[class] - (px[a] > px[b] ? px[a] : px[b]) <= 105)
                continue;
            f.x0 = x < f.x0 ? x : f.x0;
            f.y0 = y < f.y0 ? y : f.y0;
            f.x1 = x + 1 > f.x1 ? x + 1 : f.x1;
            f.y1 = y + 1 > f.y1 ? y + 1 : f.y1;
        }
    return f;
}

/* An edge may lie a px of the slot beside its box, and a px of the image that was resized before.
 */
static double slack(const struct imrec_draw *d, const char *words)
{
    if (d->warped) /* the tip of a corner is seen where half of a px is inside of it */
        return 2.5;
    if (strstr(words, "resize=90") == NULL)
        return 1.01;
    return 1.01 +
           fmax((double)d->fit_width / d->crop_width, (double)d->fit_height / d->crop_height);
}

/* Counts the boxes that were large enough to look for. */
static uint32_t must_agree(const struct imrec_batch *b, uint32_t slot, const char *words)
{
    const struct imrec_detections d = imrec_detections_of(b->labels + slot * b->label_width);
    const uint8_t *pixels = (const uint8_t *)b->data + (size_t)slot * SAMPLE;
    const uint32_t i = (uint32_t)b->ids[slot] - 500;
    const struct box_image p = box_image(i);
    const double most = slack(&b->draws[slot], words);
    uint32_t looked = 0;
    MUST(d.channels == 3 && d.rows <= ROWS && d.columns <= COLUMNS && d.header_width == BOX_HEADER);
    MUST(!strstr(words, "shrink") || b->draws[slot].warped ||
         (d.columns <= b->draws[slot].crop_width && d.rows <= b->draws[slot].crop_height));
    MUST(d.header[2] == (float)p.w && d.header[3] == (float)p.h && d.object_width == BOX_WIDTH);
    MUST(d.count <= p.boxes && d.count == b->draws[slot].boxes);
    for (uint32_t k = 0; k < d.count; k++) {
        const float *o = d.objects + (size_t)k * d.object_width;
        const double x0 = (double)o[1] * d.columns, x1 = (double)o[3] * d.columns;
        const double y0 = (double)o[2] * d.rows, y1 = (double)o[4] * d.rows;
        const uint32_t class = (uint32_t)o[0];
        MUST(o[5] == (float)(100 * i + class)); /* extra values go with their box */
        if (x1 - x0 < 3 || y1 - y0 < 3)
            continue;
        const struct found f = look_for(pixels, d.columns, d.rows, class);
        if (fabs(f.x0 - x0) > most || fabs(f.x1 - x1) > most || fabs(f.y0 - y0) > most ||
            fabs(f.y1 - y1) > most)
            ck_abort_msg("%s: image %u, class %u: told %.2f..%.2f, %.2f..%.2f, found %u..%u, "
                         "%u..%u",
                         words, i, class, x0, x1, y0, y1, f.x0, f.x1, f.y0, f.y1);
        looked++;
    }
    return looked;
}

/* Below and beside the image is fill_value. */
static void must_be_filled(const struct imrec_batch *b, uint32_t slot, uint8_t fill)
{
    const struct imrec_detections d = imrec_detections_of(b->labels + slot * b->label_width);
    const uint8_t *pixels = (const uint8_t *)b->data + (size_t)slot * SAMPLE;
    for (uint32_t y = 0; y < ROWS; y++)
        for (uint32_t x = y < d.rows ? d.columns : 0; x < COLUMNS; x++)
            MUST(pixels[((size_t)y * COLUMNS + x) * 3] == fill);
}

static const char *const geometries[] = {
    "",
    "rand_mirror_prob=0.5",
    "rand_pad_prob=1 max_pad_scale=2",
    "num_views=3 batch_size=12 rand_crop_prob=0.7 min_crop_scales=0.4 rand_pad_prob=0.5 "
    "max_pad_scale=2 rand_mirror_prob=0.5", /* each view with labels of its own */
    "rand_crop_prob=1 min_crop_scales=0.4 min_crop_aspect_ratios=0.5 max_crop_aspect_ratios=2",
    "rand_crop_prob=1 min_crop_scales=0.3 min_crop_aspect_ratios=0.5 max_crop_aspect_ratios=2 "
    "crop_emit_mode=overlap emit_overlap_thresh=0.2",
    "rand_crop_prob=0.8 num_crop_sampler=3 min_crop_scales=0.3 min_crop_aspect_ratios=0.5 "
    "max_crop_aspect_ratios=2 min_crop_overlaps=0.1,0.3,0 min_crop_object_coverages=0,0,0.9 "
    "rand_pad_prob=0.5 max_pad_scale=2.5 rand_mirror_prob=0.5 resize=90",
    "rand_affine_prob=1 max_affine_angle=30 min_affine_scale=0.7 max_affine_scale=1.4 "
    "max_affine_shear=10 max_affine_shift=0.2",
    "rand_affine_prob=0.7 max_affine_tilt=0.3 rand_mirror_prob=0.5 rand_flip=0.5 "
    "rand_crop_prob=0.5 min_crop_scales=0.5",
};
enum { GEOMETRIES = sizeof(geometries) / sizeof(geometries[0]) };
static const char *const modes[] = {"force", "shrink", "fit"};
static const int methods[] = {0, 1, 2, 3, 4, 9, 10};
enum { METHODS = 7 };

CASE(.timeout = 60)

LOOP_TEST(painted_boxes_are_found_where_labels_say, 0, 3 * GEOMETRIES)
{
    struct box_set s = box_set_make(RECORDS, NULL);
    const char *geometry = geometries[_i % GEOMETRIES], *mode = modes[_i / GEOMETRIES];
    for (int m = 0; m < METHODS; m++) {
        char words[600];
        struct imrec_batch b;
        struct imrec_error err;
        enum imrec_status st;
        uint32_t looked = 0, sweeps = 0;
        snprintf(words, sizeof(words),
                 "dtype=uint8 layout=NHWC resize_mode=%s inter_method=%d fill_value=99 %s", mode,
                 methods[m], geometry);
        struct imrec_iter *it = box_open(&s, words);
        while (sweeps < 2) {
            st = imrec_iter_next(it, &b, &err);
            sweeps += st == IMREC_END;
            ck_assert_msg(st == IMREC_OK || st == IMREC_END, "%s", err.message);
            for (uint32_t i = 0; st == IMREC_OK && i < b.count; i++) {
                looked += must_agree(&b, i, words);
                must_be_filled(&b, i, 99);
            }
        }
        ck_assert_msg(looked > RECORDS, "%s: only %u boxes", words, looked);
        imrec_iter_close(it);
    }
    tmpdir_remove(&s.dir);
}

/* ---- layout and independence ------------------------------------------------------------------
 */

static uint64_t hash(uint64_t h, const void *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        h = (h ^ ((const uint8_t *)p)[i]) * 0x100000001b3u;
    return h;
}

/* Of each image in a sweep, by id. */
static void hashes(const struct box_set *s, const char *geometry, const char *words, uint32_t sweep,
                   uint64_t *out)
{
    char all[1024];
    struct imrec_batch b;
    enum imrec_status st;
    snprintf(all, sizeof(all), "dtype=uint8 %s max_random_hue=40 random_hue_prob=0.5 %s", geometry,
             words);
    struct imrec_iter *it = box_open(s, all);
    for (uint32_t ends = 0; ends <= sweep; ends += st == IMREC_END) {
        st = imrec_iter_next(it, &b, NULL);
        for (uint32_t i = 0; st == IMREC_OK && i < b.count; i++) {
            uint64_t h = hash(1, (const uint8_t *)b.data + (size_t)i * SAMPLE, SAMPLE);
            out[b.ids[i] - 500] = hash(h, b.labels + i * b.label_width, b.label_width * 4);
        }
    }
    imrec_iter_close(it);
}

LOOP_TEST(batches_with_boxes_depend_on_seed_and_sweep_alone, 0, 3) /* of the last geometries */
{
    struct box_set s = box_set_make(RECORDS, NULL);
    const char *geometry = geometries[GEOMETRIES - 1 - _i];
    uint64_t want[RECORDS], got[RECORDS], other[RECORDS];
    uint32_t changed = 0;
    hashes(&s, geometry, "preprocess_threads=1 batch_size=1", 1, want);
    hashes(&s, geometry, "preprocess_threads=4 batch_size=16 shuffle=1 prefetch_buffer=5", 1, got);
    ck_assert_int_eq(memcmp(want, got, sizeof(want)), 0);
    hashes(&s, geometry, "", 0, other);
    for (int i = 0; i < RECORDS; i++)
        changed += other[i] != want[i];
    ck_assert_uint_gt(changed, RECORDS - 3);
    hashes(&s, geometry, "seed_aug=9", 1, other);
    ck_assert_int_ne(memcmp(want, other, sizeof(want)), 0);
    tmpdir_remove(&s.dir);
}

TEST(labels_have_the_originals_layout_and_room_for_the_widest)
{
    struct box_set s = box_set_make(RECORDS, NULL);
    struct imrec_iter *it = box_open(&s, "label_pad_value=-7");
    struct imrec_batch b;
    while (imrec_iter_next(it, &b, NULL) == IMREC_OK) {
        ck_assert_uint_eq(b.label_width, 4 + BOX_HEADER + BOX_CLASSES * BOX_WIDTH);
        for (uint32_t i = 0; i < b.count; i++) {
            const float *l = b.labels + i * b.label_width;
            const uint32_t record = (uint32_t)b.ids[i] - 500;
            const struct box_image p = box_image(record);
            float want[64];
            const uint32_t n = box_label(record, &p, want);
            MUST(l[0] == 3 && l[1] == ROWS && l[2] == COLUMNS && l[3] == (float)n);
            MUST(memcmp(l + 4, want, n * sizeof(float)) == 0); /* nothing was drawn */
            for (uint32_t k = 4 + n; k < b.label_width; k++)
                MUST(l[k] == -7);
        }
    }
    imrec_iter_close(it);
    it = box_open(&s, "label_pad_width=50");
    ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
    ck_assert_uint_eq(b.label_width, 54);
    imrec_iter_close(it);
    tmpdir_remove(&s.dir);
}

TEST(a_list_gives_labels_of_any_width)
{
    struct box_set s = box_set_make(3, NULL);
    char words[2200];
    static const char list[] = "500\t2\t5\t7\t0\t0\t0.5\t0.5\ta.jpg\n501\t2\t0\tb.jpg\n"
                               "502\t2\t5\t7\t0\t0\t0.5\t0.5\t8\t0.1\t0.1\t1\t1\tc.jpg\n";
    struct imrec_batch b;
    snprintf(words, sizeof(words), "path_imglist=%s",
             tmp_write(&s.dir, "a.lst", (const uint8_t *)list, sizeof(list) - 1));
    struct imrec_iter *it = box_open(&s, words);
    ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
    ck_assert_uint_eq(b.label_width, 16);
    for (uint32_t i = 0; i < 3; i++)
        ck_assert_uint_eq(imrec_detections_of(b.labels + i * 16).count, i == 1 ? 0 : 1 + i / 2);
    ck_assert(b.labels[2 * 16 + 4 + 7] == 8);
    imrec_iter_close(it);
    tmpdir_remove(&s.dir);
}

/* Hue and lightness change the image, not what is filled around it. */
TEST(colours_are_shifted_before_the_canvas_is_filled)
{
    struct box_set s = box_set_make(20, NULL);
    struct imrec_iter *it =
        box_open(&s, "dtype=uint8 layout=NHWC rand_pad_prob=1 max_pad_scale=4 fill_value=50 "
                     "max_random_contrast=0.9 random_contrast_prob=1 inter_method=0 resize=60");
    struct imrec_batch b;
    uint32_t corners = 0;
    while (imrec_iter_next(it, &b, NULL) == IMREC_OK)
        for (uint32_t i = 0; i < b.count; i++) {
            const struct imrec_draw *d = &b.draws[i];
            const uint8_t *px = (const uint8_t *)b.data + (size_t)i * SAMPLE;
            const uint32_t x = (d->pad_x + 1) * COLUMNS / d->width + 1;
            const uint32_t y = (d->pad_y + 1) * ROWS / d->height + 1;
            if (d->pad_x * COLUMNS < 2 * d->width || box_image((uint32_t)b.ids[i] - 500).y0[0] < 9)
                continue;
            MUST(px[0] == 50);
            const double want = fmin(255, BOX_BACKGROUND * (double)d->value_contrast);
            MUST(fabs(px[(y * COLUMNS + x) * 3] - want) <= 1);
            corners++;
        }
    ck_assert_uint_gt(corners, 5);
    imrec_iter_close(it);
    tmpdir_remove(&s.dir);
}

TEST(grey_images_and_those_with_alpha_have_the_same_boxes)
{
    struct box_set s = box_set_make(20, NULL);
    const char *geometry = geometries[GEOMETRIES - 2];
    char words[600];
    struct imrec_batch b[3];
    struct imrec_iter *it[3];
    static const int channels[3] = {1, 3, 4};
    for (int i = 0; i < 3; i++) {
        snprintf(words, sizeof(words),
                 "%s data_shape=%d,72,96 max_random_contrast=0.3 "
                 "random_contrast_prob=1 brightness=0.2",
                 geometry, channels[i]);
        it[i] = box_open(&s, words);
        ck_assert_int_eq(imrec_iter_next(it[i], &b[i], NULL), IMREC_OK);
    }
    for (uint32_t slot = 0; slot < b[0].count; slot++)
        for (int i = 0; i < 3; i++) {
            const float *want = b[1].labels + slot * b[1].label_width;
            const float *got = b[i].labels + slot * b[i].label_width;
            ck_assert(got[0] == (float)channels[i]);
            ck_assert_int_eq(memcmp(want + 1, got + 1, (b[1].label_width - 1) * 4), 0);
        }
    for (int i = 0; i < 3; i++)
        imrec_iter_close(it[i]);
    tmpdir_remove(&s.dir);
}
