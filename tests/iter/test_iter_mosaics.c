/* Slots of four samples: pixels, boxes, masks and keypoints of all of them agree; which ones they
 * are depends on data, seed and options alone; what cannot be a partner is passed over. */
#include "tests/support/boxset.h"
#include "tests/support/built.h"
#include "tests/support/composed.h"
#include "tests/support/masklook.h"
#include "tests/support/suite.h"

enum { RECORDS = 40, COLUMNS = 96, ROWS = 72, SAMPLE = ROWS * COLUMNS * 3 };

#define MOSAIC                                                                                     \
    "dtype=uint8 layout=NHWC fill_value=60 rand_mosaic_prob=1 min_box_area=0 min_box_side=0 "

/* ---- boxes -------------------------------------------------------------------------------- */

static bool is_class(const uint8_t *px, uint32_t class)
{
    const uint8_t a = px[(class + 1) % 3], b = px[(class + 2) % 3];
    return px[class] - (a > b ? a : b) > 105;
}

struct edges {
    double x0, y0, x1, y1; /* px */
    uint32_t class;
};

static struct edges edges_of(const struct imrec_detections *d, uint32_t k)
{
    const float *o = d->objects + (size_t)k * d->object_width;
    return (struct edges){(double)o[1] * d->columns, (double)o[2] * d->rows,
                          (double)o[3] * d->columns, (double)o[4] * d->rows, (uint32_t)o[0]};
}

static bool is_in(const struct edges *e, uint32_t x, uint32_t y, double beyond)
{
    return x + 0.5 > e->x0 - beyond && x + 0.5 < e->x1 + beyond && y + 0.5 > e->y0 - beyond &&
           y + 0.5 < e->y1 + beyond;
}

/* Every px of a class is in a box of it, and all px within a box are of its class. */
static void must_be_painted(const struct imrec_batch *b, uint32_t slot, const char *words)
{
    const struct imrec_detections d = imrec_detections_of(b->labels + slot * b->label_width);
    const uint8_t *px = (const uint8_t *)b->data + (size_t)slot * SAMPLE;
    MUST(d.columns == COLUMNS && d.rows == ROWS);
    for (uint32_t y = 0; y < ROWS; y++)
        for (uint32_t x = 0; x < COLUMNS; x++, px += 3)
            for (uint32_t class = 0; class < BOX_CLASSES; class ++) {
                bool near = false, deep = false;
                for (uint32_t k = 0; k < d.count; k++) {
                    const struct edges e = edges_of(&d, k);
                    near = near || (e.class == class && is_in(&e, x, y, 1.5));
                    deep = deep || (e.class == class && is_in(&e, x, y, -1.5));
                }
                if (is_class(px, class) ? !near : deep)
                    ck_abort_msg("%s: slot %u, class %u at %u, %u", words, slot, class, x, y);
            }
}

/* Objects of other samples than the slot's own; their last value says whose they are. */
static uint32_t count_strangers(const struct imrec_batch *b, uint32_t slot)
{
    const struct imrec_detections d = imrec_detections_of(b->labels + slot * b->label_width);
    const struct box_image own = box_image((uint32_t)b->ids[slot] - 500);
    uint32_t n = 0;
    MUST(d.header_width == BOX_HEADER && d.header[2] == (float)own.w);
    MUST(d.count == b->draws[slot].boxes);
    for (uint32_t k = 0; k < d.count; k++) {
        const float *o = d.objects + (size_t)k * d.object_width;
        const uint32_t record = (uint32_t)o[5] / 100;
        MUST(record < RECORDS && (uint32_t)o[5] % 100 == (uint32_t)o[0]);
        n += record + 500 != b->ids[slot];
    }
    return n;
}

static const char *const scenes[] = {
    "",
    "resize_mode=fit rand_mirror_prob=0.5 rand_flip=0.5",
    "max_mosaic_shift=0.5 min_mosaic_scale=0.5 max_mosaic_scale=1.5 resize_mode=fit resize=80",
    "max_mosaic_shift=0 resize_mode=shrink shuffle=1 num_views=3 batch_size=12",
    "rand_affine_prob=1 max_affine_shift=0.2 min_affine_scale=0.5 max_affine_scale=1.5",
};

CASE(.begin = built_with_png, .timeout = 60)

LOOP_TEST(boxes_of_all_four_samples_are_where_they_are_painted, 0, COUNT(scenes))
{
    struct box_set s = box_set_make(RECORDS, NULL);
    char words[1024];
    struct imrec_batch b;
    uint32_t strangers = 0, slots = 0;
    snprintf(words, sizeof(words), MOSAIC "%s", scenes[_i]);
    struct imrec_iter *it = box_open(&s, words);
    while (imrec_iter_next(it, &b, NULL) == IMREC_OK)
        for (uint32_t i = 0; i < b.count; i++, slots++) {
            MUST(b.draws[i].mosaic && b.draws[i].warped);
            must_be_painted(&b, i, words);
            strangers += count_strangers(&b, i);
        }
    ck_assert_uint_ge(slots, RECORDS);
    ck_assert_uint_gt(strangers, slots);
    imrec_iter_close(it);
    tmpdir_remove(&s.dir);
}

TEST(a_mosaic_comes_as_often_as_its_probability_says)
{
    struct box_set s = box_set_make(RECORDS, NULL);
    struct imrec_iter *it = box_open(&s, "rand_mosaic_prob=0.5");
    struct imrec_batch b;
    uint32_t mosaics = 0, slots = 0;
    for (int sweeps = 0; sweeps < 10;) {
        const enum imrec_status st = imrec_iter_next(it, &b, NULL);
        sweeps += st == IMREC_END;
        for (uint32_t i = 0; st == IMREC_OK && i < b.count; i++, slots++) {
            mosaics += b.draws[i].mosaic;
            MUST(b.draws[i].mosaic || count_strangers(&b, i) == 0);
        }
    }
    ck_assert(mosaics > slots * 0.4 && mosaics < slots * 0.6);
    imrec_iter_close(it);
    tmpdir_remove(&s.dir);
}

/* ---- masks and keypoints ------------------------------------------------------------------ */

/* A visible keypoint is on its dot. */
static uint32_t must_have_dots(struct view *v, const float *label)
{
    const struct imrec_detections d = imrec_detections_of(label);
    uint32_t seen = 0;
    for (uint32_t i = 0; i < d.count; i++) {
        const float *o = d.objects + (size_t)i * d.object_width;
        const double x = (double)o[5] * d.columns, y = (double)o[6] * d.rows;
        const bool inside = x >= 1 && y >= 1 && x < SIDE - 1 && y < SIDE - 1;
        if (o[7] <= 0 || !inside)
            continue;
        const uint8_t dot = (uint8_t)((uint32_t)o[0] + 3);
        MUST(o[7] == 2 && near(v->mask, (int)x, (int)y, dot, dot));
        seen++;
    }
    return seen;
}

LOOP_TEST(masks_and_keypoints_follow, 0, 2)
{
    static const char *const words[] = {
        "", "resize_mode=fit rand_affine_prob=1 max_affine_angle=180 max_affine_tilt=0.2"};
    static struct view v;
    struct mask_set s = mask_set_make(24);
    char all[1024];
    struct imrec_batch b;
    uint32_t pixels = 0, dots = 0;
    snprintf(all, sizeof(all),
             "label_width=-1 keypoints=1 aug_seq=det_aug_default fill_value=255 "
             "rand_mosaic_prob=1 min_mosaic_scale=0.6 rand_mirror_prob=0.5 %s",
             words[_i]);
    struct imrec_iter *it = mask_open(&s, all);
    while (imrec_iter_next(it, &b, NULL) == IMREC_OK)
        for (uint32_t i = 0; i < b.slots; i++) {
            look(&b, i, &v);
            pixels += must_agree(&v, all, b.ids[i]);
            dots += must_have_dots(&v, b.labels + (size_t)i * b.label_width);
        }
    ck_assert_msg(pixels > 2000 && dots > 50, "%u px, %u dots", pixels, dots);
    imrec_iter_close(it);
    tmpdir_remove(&s.dir);
}

/* ---- what a mosaic depends on ------------------------------------------------------------- */

static uint64_t hash_slot(const struct imrec_batch *b, uint32_t i)
{
    const uint64_t h = add_hash(b->ids[i], (const uint8_t *)b->data + (size_t)i * SAMPLE, SAMPLE);
    return add_hash(h, b->labels + (size_t)i * b->label_width, b->label_width * sizeof(float));
}

/* Windows of a few records each, so that a seek comes into the middle of one. */
#define ORDER                                                                                      \
    MOSAIC "rand_affine_prob=0.5 max_affine_angle=20 shuffle=1 seed=5 shuffle_window=8192 "        \
           "shuffle_chunk=4096 "

TEST(threads_batch_sizes_and_resumes_change_nothing)
{
    struct box_set s = box_set_make(RECORDS, NULL);
    only_the_order_must_matter(s.rec, BOX_WORDS, ORDER, hash_slot, 2 * RECORDS);
    tmpdir_remove(&s.dir);
}

/* ---- labels ------------------------------------------------------------------------------- */

TEST(labels_have_room_for_four_or_fail_their_sample)
{
    enum { WIDEST = BOX_HEADER + BOX_CLASSES * BOX_WIDTH };
    struct box_set s = box_set_make(RECORDS, NULL);
    struct imrec_batch b;
    struct imrec_error err = {0};
    struct imrec_iter *it = box_open(&s, MOSAIC);
    ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
    ck_assert_uint_eq(b.label_width, 4 + 2 + 4 * (WIDEST - 2));
    imrec_iter_close(it);
    it = box_open(&s, MOSAIC "label_pad_width=22 min_mosaic_scale=0.5 max_mosaic_scale=0.5");
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_ERR_DATA);
    ck_assert_ptr_nonnull(strstr(err.message, "its mosaic has "));
    ck_assert_ptr_nonnull(strstr(err.message, "but label_pad_width is 22"));
    ck_assert_uint_gt(b.failed, 0);
    imrec_iter_close(it);
    tmpdir_remove(&s.dir);
}

/* ---- partners that cannot be ---------------------------------------------------------------- */

enum { BAD = 3 };

static uint32_t spoil(uint32_t i, float *label, uint32_t n)
{
    if (i % 8 == BAD)
        label[0] = 1;
    return n;
}

TEST(records_that_fail_are_passed_over_and_fail_once)
{
    struct box_set s = box_set_make(RECORDS, spoil);
    struct imrec_batch b;
    uint32_t failed = 0, slots = 0;
    uint64_t want[RECORDS], got[RECORDS];
    char words[1024];
    struct imrec_iter *it = box_open(&s, MOSAIC "on_error=skip");
    while (imrec_iter_next(it, &b, NULL) == IMREC_OK)
        for (uint32_t i = 0; i < b.count; i++, slots++) {
            MUST((b.status[i] != IMREC_OK) == ((b.ids[i] - 500) % 8 == BAD));
            failed += b.status[i] != IMREC_OK;
            if (b.status[i] == IMREC_OK)
                must_be_painted(&b, i, "passed over");
        }
    ck_assert_uint_eq(slots, RECORDS);
    ck_assert_uint_eq(failed, RECORDS / 8);
    imrec_iter_close(it);
    for (int threads = 1; threads <= 4; threads += 3) {
        snprintf(words, sizeof(words), ORDER "on_error=replace preprocess_threads=%d", threads);
        it = box_open(&s, words);
        slot_hashes(it, hash_slot, threads == 1 ? want : got, RECORDS, 0, NULL);
        imrec_iter_close(it);
    }
    ck_assert_int_eq(memcmp(want, got, sizeof(want)), 0);
    tmpdir_remove(&s.dir);
}

static uint32_t widen(uint32_t i, float *label, uint32_t n)
{
    if (i != 5)
        return n;
    label[1] = BOX_WIDTH - 1;
    return BOX_HEADER + (n - BOX_HEADER) / BOX_WIDTH * (BOX_WIDTH - 1);
}

TEST(objects_of_two_widths_have_no_mosaic)
{
    struct box_set s = box_set_make(6, widen);
    struct imrec_error err = {0};
    struct imrec_batch b;
    struct imrec_iter *it = box_open(&s, MOSAIC);
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_ERR_DATA);
    ck_assert_ptr_nonnull(strstr(err.message, "all objects of a set must have the same number"));
    imrec_iter_close(it);
    tmpdir_remove(&s.dir);
}

TEST(a_lone_record_is_its_own_partner)
{
    struct box_set s = box_set_make(1, NULL);
    struct imrec_batch b;
    struct imrec_iter *it = box_open(&s, MOSAIC);
    ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
    must_be_painted(&b, 0, "alone");
    ck_assert_uint_eq(count_strangers(&b, 0), 0);
    imrec_iter_close(it);
    tmpdir_remove(&s.dir);
}

/* ---- sources that give pixels -----------------------------------------------------------------
 */

static enum imrec_status list_boxes(struct imrec_source_file *file, struct imrec_error *err)
{
    for (uint64_t i = 0; i < file->size; i++)
        if (file->add(file, i, 1, 500 + i, err) != IMREC_OK)
            return IMREC_ERR_DATA;
    return IMREC_OK;
}

static enum imrec_status parse_boxes(const struct imrec_source_call *call,
                                     struct imrec_source_sample *out, struct imrec_error *err)
{
    const struct box_image p = box_image((uint32_t)call->offset);
    uint8_t *pixels = call->room(call, (size_t)p.w * p.h * 3);
    (void)err;
    if (pixels == NULL)
        return IMREC_ERR_NO_MEMORY;
    box_paint_pixels(&p, pixels);
    out->label_count = box_label((uint32_t)call->offset, &p, call->labels);
    out->image = (struct imrec_image){pixels, (size_t)p.w * 3, p.w, p.h, 3};
    return IMREC_OK;
}

TEST(pixels_of_a_source_have_the_mosaics_of_a_png)
{
    static const struct imrec_source source = {.index = list_boxes, .parse = parse_boxes};
    static const char words[] = "dtype=uint8 layout=NHWC rand_mosaic_prob=0.7 label_pad_width=90 "
                                "draw_key=id";
    struct box_set s = box_set_make(RECORDS, NULL), of_pixels = s;
    uint64_t want[RECORDS], got[RECORDS];
    char all[1024];
    ck_assert_int_eq(imrec_source_register("boxes", &source, NULL, NULL), IMREC_OK);
    snprintf(of_pixels.rec, sizeof(of_pixels.rec), "%s",
             tmp_write(&s.dir, "pixels", (const uint8_t[RECORDS]){0}, RECORDS));
    struct imrec_iter *it = box_open(&s, words);
    slot_hashes(it, hash_slot, want, RECORDS, 0, NULL);
    imrec_iter_close(it);
    snprintf(all, sizeof(all), "%s source=boxes", words);
    it = box_open(&of_pixels, all);
    slot_hashes(it, hash_slot, got, RECORDS, 0, NULL);
    imrec_iter_close(it);
    ck_assert_int_eq(memcmp(want, got, sizeof(want)), 0);
    tmpdir_remove(&s.dir);
}

/* ---- refused, and failing ------------------------------------------------------------------- */

static const struct {
    const char *words, *says;
} refused[] = {
    {"rand_mosaic_prob=1 order=global path_imgidx=auto", "use order=local"},
    {"rand_mosaic_prob=1 images=image,depth:uint16", "further images"},
    {"rand_mosaic_prob=1 min_mosaic_scale=2", "the minimum is 2, the maximum 1"},
    {"rand_mosaic_prob=1 max_pixels=27647", "a canvas of twice data_shape's sides, 192 x 144 px"},
    {"rand_mosaic_prob=1 memory_limit=1000000", "memory_limit is 1000000 bytes"},
};

LOOP_TEST(what_does_not_go_with_mosaics_is_refused, 0, COUNT(refused))
{
    struct box_set s = box_set_make(2, NULL);
    struct imrec_error err = {0};
    struct imrec_iter *it = NULL;
    ck_assert_int_ne(box_try_open(&s, refused[_i].words, &it, &err), IMREC_OK);
    ck_assert_msg(strstr(err.message, refused[_i].says) != NULL, "%s", err.message);
    tmpdir_remove(&s.dir);
}

TEST(no_memory_is_an_error_wherever_it_is_missing)
{
    struct box_set s = box_set_make(8, NULL);
    missing_memory_must_be_told(s.rec, BOX_WORDS,
                                MOSAIC "masks=none preprocess_threads=1 batch_size=8");
    tmpdir_remove(&s.dir);
}
