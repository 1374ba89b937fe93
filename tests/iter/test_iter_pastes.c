/* Objects of another sample pasted into slots: pixels, masks and boxes are those of the two
 * samples, value by value; which ones depends on data, seed and options alone. */
#include "tests/support/built.h"
#include "tests/support/composed.h"
#include "tests/support/instancelook.h"
#include "tests/support/suite.h"

enum { RECORDS = 30, COLUMNS = 64, ROWS = 48, PIXELS = ROWS * COLUMNS, OBJECTS = 4, WIDTH = 6 };

#define PASTE "mask_kind=instance rand_copy_paste_prob=1 "

/* ---- images of noise, whose size is that of the slot ------------------------------------------
 */

struct noise {
    uint8_t pixels[PIXELS * 3];
    uint8_t mask[PIXELS]; /* 1 to 4: objects, which hide each other; 200: nobody's */
    uint32_t objects;
};

/* Every seventh image has no object. */
static void make_noise(uint32_t i, struct noise *n)
{
    struct dice d = {i + 900};
    n->objects = i % 7 == 6 ? 0 : 1 + (uint32_t)dice_below(&d, OBJECTS);
    for (size_t k = 0; k < sizeof(n->pixels); k++)
        n->pixels[k] = (uint8_t)dice_below(&d, 256);
    memset(n->mask, 0, sizeof(n->mask));
    memset(n->mask, 200, COLUMNS);
    for (uint32_t k = 1; k <= n->objects; k++) {
        const uint32_t w = 6 + (uint32_t)dice_below(&d, 30), h = 6 + (uint32_t)dice_below(&d, 24);
        const uint32_t x0 = (uint32_t)dice_below(&d, COLUMNS - w);
        const uint32_t y0 = (uint32_t)dice_below(&d, ROWS - h);
        for (uint32_t y = y0; y < y0 + h; y++)
            memset(n->mask + (size_t)y * COLUMNS + x0, (int)k, w);
    }
}

static uint32_t noise_label(uint32_t i, const struct noise *n, float *v)
{
    v[0] = 2, v[1] = WIDTH;
    for (uint32_t k = 0; k < n->objects; k++) {
        const float object[WIDTH] = {(float)k, 0.1f, 0.1f, 0.9f, 0.9f, (float)(100 * i + k + 1)};
        memcpy(v + 2 + (size_t)k * WIDTH, object, sizeof(object));
    }
    return 2 + n->objects * WIDTH;
}

struct noise_set {
    struct tmpdir dir;
    char rec[2048];
};

static void append(struct imrec_writer *w, struct codec *c, uint32_t i, const struct noise *n,
                   const float *label, uint32_t values)
{
    uint8_t pixels[sizeof(n->pixels)];
    struct mask m = {0};
    struct bytes png, mask;
    memcpy(pixels, n->pixels, sizeof(pixels));
    const struct imrec_image v = {pixels, (size_t)COLUMNS * 3, COLUMNS, ROWS, 3};
    ck_assert_int_eq(mask_resize_buffer(&m, COLUMNS, ROWS, NULL), IMREC_OK);
    m.bits = 8;
    for (size_t k = 0; k < PIXELS; k++)
        m.values[k] = n->mask[k];
    ck_assert_int_eq(codec_encode_png(c, &v, 1, &png, NULL), IMREC_OK);
    uint8_t *kept = malloc(png.n);
    memcpy(kept, png.p, png.n);
    ck_assert_int_eq(codec_encode_mask(c, &m, &mask, NULL), IMREC_OK);
    ck_assert_int_eq(
        imrec_writer_append_masked(w, i, label, values, 500 + i, kept, png.n, mask.p, mask.n, NULL),
        IMREC_OK);
    free(kept);
    mask_free(&m);
}

/* `spoil` may change the label of image i (and its length), or be NULL. */
static struct noise_set
make_set(uint32_t records, uint32_t (*spoil)(uint32_t i, float *label, uint32_t n))
{
    struct noise_set s = {tmpdir_make(), ""};
    struct imrec_writer *w;
    struct codec *c;
    static struct noise n;
    snprintf(s.rec, sizeof(s.rec), "%s", tmp_path(&s.dir, "noise.rec"));
    ck_assert_int_eq(codec_new(&c, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_writer_open(s.rec, NULL, true, &w, NULL), IMREC_OK);
    for (uint32_t i = 0; i < records; i++) {
        float label[2 + OBJECTS * WIDTH];
        make_noise(i, &n);
        uint32_t values = noise_label(i, &n, label);
        if (spoil != NULL)
            values = spoil(i, label, values);
        append(w, c, i, &n, label, values);
    }
    ck_assert_int_eq(imrec_writer_commit(w, NULL), IMREC_OK);
    codec_free(c);
    return s;
}

static uint32_t without_objects(uint32_t i, float *label, uint32_t n)
{
    (void)i;
    (void)label;
    return n < 2 ? n : 2;
}

#define NOISE_WORDS                                                                                \
    "aug_seq=det_aug_default label_width=-1 data_shape=3,48,64 batch_size=7 last_batch=partial "   \
    "dtype=uint8 layout=NHWC masks=uint8 preprocess_threads=2 verbose=0 record_draws=1"

static struct imrec_iter *noise_open(const struct noise_set *s, const char *words)
{
    return open_over(s->rec, NOISE_WORDS, words);
}

/* ---- every value ------------------------------------------------------------------------------
 */

struct shown { /* in a slot */
    const uint8_t *pixels, *mask;
    struct imrec_detections d;
    uint32_t own; /* record */
};

static struct shown shown_of(const struct imrec_batch *b, uint32_t slot)
{
    return (struct shown){(const uint8_t *)b->data + (size_t)slot * PIXELS * 3,
                          (const uint8_t *)b->masks + (size_t)slot * PIXELS,
                          imrec_detections_of(b->labels + (size_t)slot * b->label_width),
                          (uint32_t)b->ids[slot] - 500};
}

static uint32_t tag_of(const struct shown *s, uint32_t k)
{
    return (uint32_t)s->d.objects[(size_t)k * s->d.object_width + 5];
}

/* The record that objects were pasted from, or the own one: there is at most one other. */
static uint32_t partner_of(const struct shown *s, uint32_t *count)
{
    uint32_t from = s->own;
    *count = 0;
    for (uint32_t k = 0; k < s->d.count; k++) {
        const uint32_t record = tag_of(s, k) / 100;
        MUST(record == s->own ? *count == 0 : from == s->own || from == record);
        from = record == s->own ? from : record;
        *count += record != s->own;
    }
    return from;
}

/* Pixels are the own ones, or, where the mask shows a pasted object, those of its record. */
static void
must_be_the_two(const struct shown *s, const struct noise *own, const struct noise *other)
{
    for (uint32_t i = 0; i < PIXELS; i++) {
        const uint8_t value = s->mask[i];
        const bool object = value != 0 && value != MASK_IGNORE;
        MUST(!object || value <= s->d.count);
        const uint32_t tag = object ? tag_of(s, value - 1u) : 0;
        const struct noise *from = object && tag / 100 != s->own ? other : own;
        MUST(memcmp(s->pixels + (size_t)i * 3, from->pixels + (size_t)i * 3, 3) == 0);
        MUST(!object || from->mask[i] == tag % 100);
        MUST(value != 0 || own->mask[i] == 0);
    }
}

static bool has_tag(const struct shown *s, uint32_t tag)
{
    bool has = false;
    for (uint32_t k = 0; k < s->d.count; k++)
        has = has || tag_of(s, k) == tag;
    return has;
}

static bool is_pasted(const struct shown *s, const struct noise *other, uint32_t at)
{
    return other->mask[at] != 0 && other->mask[at] <= OBJECTS &&
           has_tag(s, 100 * partner_of(s, &(uint32_t){0}) + other->mask[at]);
}

/* Own objects are there as long as enough of them is. Returns how many are gone. */
static uint32_t must_keep_what_is_left(const struct shown *s, const struct noise *own,
                                       const struct noise *other, double least)
{
    uint32_t gone = 0;
    for (uint32_t k = 1; k <= own->objects; k++) {
        uint32_t all = 0, left = 0;
        for (uint32_t i = 0; i < PIXELS; i++) {
            const bool mine = own->mask[i] == k;
            all += mine;
            left += mine && !is_pasted(s, other, i);
        }
        const bool stays = left != 0 && left >= least * all;
        MUST(has_tag(s, 100 * s->own + k) == stays);
        gone += !stays && all != 0;
    }
    return gone;
}

static void must_be_tight(const struct shown *s)
{
    for (uint32_t k = 0; k < s->d.count; k++) {
        const float *o = s->d.objects + (size_t)k * s->d.object_width;
        uint32_t x0 = COLUMNS, y0 = ROWS, x1 = 0, y1 = 0;
        for (uint32_t i = 0; i < PIXELS; i++) {
            const uint32_t x = i % COLUMNS, y = i / COLUMNS;
            if (s->mask[i] != k + 1)
                continue;
            x0 = x < x0 ? x : x0, x1 = x + 1 > x1 ? x + 1 : x1;
            y0 = y < y0 ? y : y0, y1 = y + 1 > y1 ? y + 1 : y1;
        }
        MUST(o[1] == (float)x0 / COLUMNS && o[3] == (float)x1 / COLUMNS);
        MUST(o[2] == (float)y0 / ROWS && o[4] == (float)y1 / ROWS);
    }
}

CASE(.begin = built_with_png, .timeout = 120)

LOOP_TEST(every_value_is_that_of_one_of_two_samples, 0, 3)
{
    static const struct {
        const char *words;
        double left;
        uint32_t most;
    } all[] = {{PASTE "min_box_area=0 shuffle=1", 0, OBJECTS},
               {PASTE "min_box_area=0.5 max_copy_paste_objects=2", 0.5, 2},
               {PASTE "num_views=2 batch_size=8 max_copy_paste_objects=1", 0.1f, 1}};
    static struct noise own, other;
    struct noise_set s = make_set(RECORDS, NULL);
    char words[256];
    struct imrec_batch b;
    uint32_t slots = 0, pasted = 0, gone = 0, by_count[OBJECTS + 1] = {0};
    snprintf(words, sizeof(words), "%s min_box_side=0", all[_i].words);
    struct imrec_iter *it = noise_open(&s, words);
    for (int sweeps = 0; sweeps < 4;) {
        const enum imrec_status st = imrec_iter_next(it, &b, NULL);
        sweeps += st == IMREC_END;
        for (uint32_t i = 0; st == IMREC_OK && i < b.count; i++, slots++) {
            const struct shown v = shown_of(&b, i);
            uint32_t n;
            const uint32_t from = partner_of(&v, &n);
            make_noise(v.own, &own);
            make_noise(from, &other);
            if (from == v.own)
                memset(other.mask, 0, sizeof(other.mask));
            must_be_the_two(&v, &own, &other);
            must_be_tight(&v);
            gone += must_keep_what_is_left(&v, &own, &other, all[_i].left);
            MUST(n <= all[_i].most && n == b.draws[i].pasted && v.d.count == b.draws[i].boxes);
            by_count[n]++;
            pasted += n;
        }
    }
    ck_assert_msg(slots >= RECORDS && pasted > slots / 2 && gone >= 1, "%u slots, %u pasted, %u",
                  slots, pasted, gone);
    for (uint32_t n = 1; n <= all[_i].most; n++)
        ck_assert_msg(by_count[n] > 0, "never %u objects", n);
    imrec_iter_close(it);
    tmpdir_remove(&s.dir);
}

TEST(objects_are_pasted_as_often_as_their_probability_says)
{
    struct noise_set s = make_set(RECORDS, NULL);
    struct imrec_iter *it = noise_open(&s, "mask_kind=instance rand_copy_paste_prob=0.5");
    struct imrec_batch b;
    uint32_t pasted = 0, slots = 0;
    for (int sweeps = 0; sweeps < 10;) {
        const enum imrec_status st = imrec_iter_next(it, &b, NULL);
        sweeps += st == IMREC_END;
        for (uint32_t i = 0; st == IMREC_OK && i < b.count; i++, slots++)
            pasted += b.draws[i].pasted != 0;
    }
    ck_assert_msg(pasted > slots * 0.33 && pasted < slots * 0.53, "%u of %u", pasted, slots);
    imrec_iter_close(it);
    tmpdir_remove(&s.dir);
}

/* ---- nothing to paste -------------------------------------------------------------------------
 */

static const char *const alike[] = {
    "",
    "resize_mode=fit resize=60 rand_mirror_prob=0.5 rand_flip=0.5 fill_value=90",
    "rand_affine_prob=1 max_affine_angle=40 rand_crop_prob=0.5 min_crop_scales=0.5 "
    "rand_pad_prob=0.5 max_pad_scale=2 inter_method=10",
    "brightness=0.4 contrast=0.3 saturation=0.5 hue=0.2 pca_noise=0.3 gaussian_blur=0.5 "
    "random_grayscale=0.2 random_solarize=0.3 random_erasing=0.5",
    "max_random_hue=30 random_hue_prob=0.5 max_random_contrast=0.4 random_contrast_prob=0.5 "
    "rand_pad_prob=0.5 max_pad_scale=2 rand_mirror_prob=0.5",
    "rand_mosaic_prob=0.5 rand_affine_prob=0.5 max_affine_angle=10 brightness=0.3 resize=50",
    "dtype=float32 layout=NCHW mean_r=120 std_r=50 scale=0.5 random_erasing=0.5 erase_value=-1.5 "
    "erase_mode=pixel contrast=0.2",
    "data_shape_schedule=1:3,24,32 dtype=int8 mean_r=128 mean_g=128 mean_b=128 masks=int32",
    "num_views=3 batch_size=9 rand_mirror_prob=0.5 brightness=0.3 record_places=1",
};

/* Where the other sample has no object, a slot is as it is without any: pixels, mask, draw. */
LOOP_TEST(a_slot_without_pasted_objects_is_what_it_always_was, 0, COUNT(alike))
{
    struct noise_set s = make_set(RECORDS, without_objects);
    char words[1024];
    struct imrec_batch a, b;
    uint32_t slots = 0;
    snprintf(words, sizeof(words), "mask_kind=instance label_pad_width=80 %s", alike[_i]);
    struct imrec_iter *plain = noise_open(&s, words);
    snprintf(words, sizeof(words), PASTE "label_pad_width=80 %s", alike[_i]);
    struct imrec_iter *it = noise_open(&s, words);
    for (int sweeps = 0; sweeps < 2;) {
        const enum imrec_status st = imrec_iter_next(it, &b, NULL);
        ck_assert_int_eq(imrec_iter_next(plain, &a, NULL), st);
        sweeps += st == IMREC_END;
        if (st != IMREC_OK)
            continue;
        const struct imrec_view *v = &a.views[0];
        const size_t values =
            (size_t)b.slots * v->shape.channels * v->shape.width * v->shape.height;
        const size_t bytes = strstr(words, "float32") != NULL ? 4 : 1;
        ck_assert_int_eq(memcmp(a.data, b.data, values * bytes), 0);
        ck_assert_int_eq(memcmp(a.masks, b.masks, values / 3 * (strstr(words, "int32") ? 4 : 1)),
                         0);
        ck_assert_int_eq(memcmp(a.labels, b.labels, a.slots * a.label_width * sizeof(float)), 0);
        ck_assert_int_eq(memcmp(a.draws, b.draws, a.slots * sizeof(*a.draws)), 0);
        if (a.places != NULL)
            ck_assert_int_eq(memcmp(a.places, b.places, a.slots * sizeof(*a.places)), 0);
        slots += b.count;
    }
    ck_assert_uint_ge(slots, 2 * RECORDS);
    imrec_iter_close(it);
    imrec_iter_close(plain);
    tmpdir_remove(&s.dir);
}

/* ---- moved ------------------------------------------------------------------------------------
 */

#define DET "label_width=-1 keypoints=1 aug_seq=det_aug_default fill_value=255 "

static const char *const scenes[] = {
    DET,
    DET "resize_mode=fit rand_mirror_prob=0.5 rand_flip=0.5",
    DET "resize_mode=shrink resize=90 rand_crop_prob=1 min_crop_scales=0.3 max_crop_scales=0.8",
    DET "rand_affine_prob=1 max_affine_angle=180 max_affine_tilt=0.2 max_affine_shift=0.5",
    DET "rand_mosaic_prob=1 min_mosaic_scale=0.6 max_mosaic_shift=0.4 rand_mirror_prob=0.5",
    DET "rand_mosaic_prob=0.5 resize_mode=fit shuffle=1 num_views=2 batch_size=6",
};

LOOP_TEST(images_masks_boxes_and_keypoints_of_both_agree, 0, COUNT(scenes))
{
    struct mask_set s = mask_set_of(24, false);
    char words[1024];
    snprintf(words, sizeof(words), PASTE "%s", scenes[_i]);
    const struct instances_seen seen = look_at_all(mask_open(&s, words), words);
    ck_assert_msg(seen.slots >= 24 && seen.pixels > 5000 && seen.objects > 2 * seen.slots &&
                      seen.dots > 10,
                  "%s: %u slots, %u px, %u objects, %u dots", words, seen.slots, seen.pixels,
                  seen.objects, seen.dots);
    tmpdir_remove(&s.dir);
}

/* ---- what it depends on -----------------------------------------------------------------------
 */

static uint64_t hash_slot(const struct imrec_batch *b, uint32_t i)
{
    const struct shown v = shown_of(b, i);
    const uint64_t h = add_hash(b->ids[i], v.pixels, PIXELS * 3);
    return add_hash(add_hash(h, v.mask, PIXELS), b->labels + (size_t)i * b->label_width,
                    b->label_width * 4);
}

/* Windows of a few records each, so that a seek comes into the middle of one. */
#define ORDER                                                                                      \
    PASTE "rand_mosaic_prob=0.3 rand_affine_prob=0.5 max_affine_angle=20 shuffle=1 seed=5 "        \
          "rand_mirror_prob=0.5 shuffle_window=65536 shuffle_chunk=4096 "

TEST(threads_batch_sizes_and_resumes_change_nothing)
{
    struct noise_set s = make_set(RECORDS, NULL);
    only_the_order_must_matter(s.rec, NOISE_WORDS, ORDER, hash_slot, 2 * RECORDS);
    tmpdir_remove(&s.dir);
}

/* ---- labels -----------------------------------------------------------------------------------
 */

TEST(labels_have_room_for_two_or_fail_their_sample)
{
    enum { WIDEST = 2 + OBJECTS * WIDTH };
    struct noise_set s = make_set(RECORDS, NULL);
    struct imrec_batch b;
    struct imrec_error err = {0};
    struct imrec_iter *it = noise_open(&s, PASTE);
    ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
    ck_assert_uint_eq(b.label_width, 4 + 2 + 2 * (WIDEST - 2));
    imrec_iter_close(it);
    it = noise_open(&s, PASTE "rand_mosaic_prob=0.5");
    ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
    ck_assert_uint_eq(b.label_width, 4 + 2 + 5 * (WIDEST - 2));
    imrec_iter_close(it);
    it = noise_open(&s, PASTE "label_pad_width=26 on_error=skip");
    uint32_t failed = 0;
    while (imrec_iter_next(it, &b, &err) == IMREC_OK)
        failed += b.failed;
    ck_assert_uint_gt(failed, 0);
    imrec_iter_close(it);
    it = noise_open(&s, PASTE "label_pad_width=26 batch_size=30");
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_ERR_DATA);
    ck_assert_msg(strstr(err.message, " pasted objects it has a label of ") != NULL &&
                      strstr(err.message, "but label_pad_width is 26") != NULL,
                  "%s", err.message);
    imrec_iter_close(it);
    tmpdir_remove(&s.dir);
}

static uint32_t widen(uint32_t i, float *label, uint32_t n)
{
    if (i % 2 == 0 || n <= 2)
        return n;
    label[1] = WIDTH - 1;
    return 2 + (n - 2) / WIDTH * (WIDTH - 1);
}

TEST(objects_of_two_widths_are_not_in_one_label)
{
    struct noise_set s = make_set(6, widen);
    struct imrec_error err = {0};
    struct imrec_batch b;
    struct imrec_iter *it = noise_open(&s, PASTE "min_box_area=0 min_box_side=0");
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_ERR_DATA);
    ck_assert_msg(strstr(err.message, "all objects of a set must have the same number") != NULL,
                  "%s", err.message);
    imrec_iter_close(it);
    tmpdir_remove(&s.dir);
}

/* With mask_boxes=0 boxes are those of the labels, here all the same. */
TEST(boxes_stay_where_masks_do_not_bound_them)
{
    struct noise_set s = make_set(RECORDS, NULL);
    struct imrec_batch b;
    uint32_t seen = 0;
    struct imrec_iter *it = noise_open(&s, PASTE "mask_boxes=0");
    while (imrec_iter_next(it, &b, NULL) == IMREC_OK)
        for (uint32_t i = 0; i < b.count; i++) {
            const struct shown v = shown_of(&b, i);
            for (uint32_t k = 0; k < v.d.count; k++, seen++) {
                const float *o = v.d.objects + (size_t)k * v.d.object_width;
                MUST(fabs((double)o[1] - 0.1) < 1e-6 && fabs((double)o[4] - 0.9) < 1e-6);
            }
        }
    ck_assert_uint_gt(seen, RECORDS);
    imrec_iter_close(it);
    tmpdir_remove(&s.dir);
}

/* ---- partners that cannot be ------------------------------------------------------------------
 */

enum { BAD = 3 };

static uint32_t spoil(uint32_t i, float *label, uint32_t n)
{
    if (i % 8 == BAD)
        label[0] = 1;
    return n;
}

TEST(records_that_fail_are_passed_over_and_fail_once)
{
    struct noise_set s = make_set(RECORDS, spoil);
    struct imrec_batch b;
    uint32_t failed = 0, slots = 0;
    struct imrec_iter *it = noise_open(&s, PASTE "on_error=skip");
    while (imrec_iter_next(it, &b, NULL) == IMREC_OK)
        for (uint32_t i = 0; i < b.count; i++, slots++) {
            MUST((b.status[i] != IMREC_OK) == ((b.ids[i] - 500) % 8 == BAD));
            failed += b.status[i] != IMREC_OK;
        }
    ck_assert_uint_eq(slots, RECORDS);
    ck_assert_uint_eq(failed, (RECORDS + 7 - BAD) / 8);
    imrec_iter_close(it);
    tmpdir_remove(&s.dir);
}

TEST(a_lone_record_is_pasted_into_itself)
{
    static struct noise n;
    struct noise_set s = make_set(1, NULL);
    struct imrec_batch b;
    uint32_t more = 0; /* slots in which both are moved differently */
    make_noise(0, &n);
    struct imrec_iter *it = noise_open(&s, PASTE "rand_mirror_prob=0.5 num_views=8 batch_size=8");
    ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
    for (uint32_t i = 0; i < b.count; i++) {
        MUST(b.draws[i].boxes > 0 && b.draws[i].pasted > 0);
        more += b.draws[i].boxes > n.objects;
    }
    ck_assert_uint_gt(more, 0);
    imrec_iter_close(it);
    tmpdir_remove(&s.dir);
}

/* ---- refused, and failing ---------------------------------------------------------------------
 */

static const struct {
    const char *words, *says;
} refused[] = {
    {"rand_copy_paste_prob=1", "pastes objects by their masks: it needs"},
    {PASTE "aug_seq=aug_default boxes=1", "it needs aug_seq=det_aug_default"},
    {PASTE "masks=none", "mask_kind=instance says"},
    {"mask_kind=instance max_copy_paste_objects=3", "needs rand_copy_paste_prob"},
    {PASTE "order=global path_imgidx=auto", "rand_copy_paste_prob takes other samples of those"},
    {PASTE "images=image,depth:uint16", "rand_copy_paste_prob makes an image of several"},
    {PASTE "memory_limit=1000000", "memory_limit is 1000000 bytes"},
};

LOOP_TEST(what_does_not_go_with_pastes_is_refused, 0, COUNT(refused))
{
    struct noise_set s = make_set(2, NULL);
    struct imrec_error err = {0};
    struct imrec_iter *it = NULL;
    ck_assert_int_ne(try_open_over(s.rec, NOISE_WORDS, refused[_i].words, &it, &err), IMREC_OK);
    ck_assert_msg(strstr(err.message, refused[_i].says) != NULL, "%s", err.message);
    tmpdir_remove(&s.dir);
}

TEST(no_memory_is_an_error_wherever_it_is_missing)
{
    struct noise_set s = make_set(8, NULL);
    missing_memory_must_be_told(s.rec, NOISE_WORDS,
                                PASTE "preprocess_threads=1 batch_size=8 rand_mosaic_prob=0.5");
    tmpdir_remove(&s.dir);
}
