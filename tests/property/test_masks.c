/* Picture, mask, boxes and keypoints move together: what is painted into the picture is found again
 * where the three others say it is, whatever augmenter has moved it. */
#include "tests/support/maskset.h"
#include "tests/support/suite.h"

#include "tests/support/built.h"
#include <math.h>

enum { RECORDS = 24, SIDE = 112, UNKNOWN = 99 };

/* ---- looking ------------------------------------------------------------------------------- */

/* The class whose colour a pixel has; what is blended of several is nobody's. */
static uint32_t class_of(const uint8_t *px)
{
    const int r = px[0], g = px[1], b = px[2];
    for (int c = 0; c < 3; c++) {
        const int one = px[c], x = px[(c + 1) % 3], y = px[(c + 2) % 3];
        if (one > 180 && x < 60 && y < 60)
            return (uint32_t)c + 1;
        if (one < 60 && x > 180 && y > 180)
            return (uint32_t)c + 4;
    }
    if (abs(r - 60) < 25 && abs(g - 60) < 25 && abs(b - 60) < 25)
        return 0;
    return r > 245 && g > 245 && b > 245 ? MASK_IGNORE : UNKNOWN;
}

struct view {
    uint8_t picture[SIDE][SIDE], mask[SIDE][SIDE];
};

static void look(const struct imrec_batch *b, uint32_t slot, struct view *v)
{
    const uint8_t *px = (const uint8_t *)b->data + (size_t)slot * SIDE * SIDE * 3;
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++, px += 3)
            v->picture[y][x] = (uint8_t)class_of(px);
    memcpy(v->mask, (const uint8_t *)b->masks + (size_t)slot * SIDE * SIDE, sizeof(v->mask));
}

static bool near(uint8_t in[SIDE][SIDE], int x, int y, uint8_t wanted, uint8_t or_this)
{
    for (int v = y > 0 ? y - 1 : 0; v <= y + 1 && v < SIDE; v++)
        for (int u = x > 0 ? x - 1 : 0; u <= x + 1 && u < SIDE; u++)
            if (in[v][u] == wanted || in[v][u] == or_this)
                return true;
    return false;
}

/* Counts pixels of classes that agree. Of those at the slot's edge the neighbours are not known. */
static uint32_t must_agree(struct view *v, const char *words, uint64_t id)
{
    uint32_t seen = 0;
    for (int y = 1; y < SIDE - 1; y++)
        for (int x = 1; x < SIDE - 1; x++) {
            const uint8_t told = v->mask[y][x], found = v->picture[y][x];
            if (!near(v->picture, x, y, told, UNKNOWN) ||
                (found != UNKNOWN && !near(v->mask, x, y, found, found)))
                ck_abort_msg("%s: picture %d at %d, %d: the mask says %u, the picture %u", words,
                             (int)id, x, y, told, found);
            seen += told != MASK_IGNORE && told != 0;
        }
    return seen;
}

struct place {
    double x, y, x0, y0, x1, y1; /* middle; edges */
    uint32_t n;
    bool cut; /* by an edge within the slot */
};

/* Where the mask has one of two classes. */
static struct place find(struct view *v, uint32_t a, uint32_t b)
{
    struct place p = {0, 0, SIDE, SIDE, 0, 0, 0, false};
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            if (v->mask[y][x] == a || v->mask[y][x] == b) {
                p.x += x + 0.5, p.y += y + 0.5, p.n++;
                p.x0 = fmin(p.x0, x), p.y0 = fmin(p.y0, y);
                p.x1 = fmax(p.x1, x + 1), p.y1 = fmax(p.y1, y + 1);
                p.cut = p.cut || near(v->mask, x, y, MASK_IGNORE, MASK_IGNORE);
            }
    p.x /= p.n, p.y /= p.n;
    return p;
}

static bool within(const struct place *p)
{
    return !p->cut && p->x0 > 1 && p->y0 > 1 && p->x1 < SIDE - 1 && p->y1 < SIDE - 1;
}

/* The keypoint is the middle of its dot, where that is wholly seen. */
static uint32_t must_have_dot(struct view *v, const float *point, const struct imrec_detections *d,
                              uint32_t class, const char *words)
{
    const struct place dot = find(v, class + 3, class + 3);
    const double x = (double)point[0] * d->columns, y = (double)point[1] * d->rows;
    const bool inside = x >= 0 && y >= 0 && x < SIDE && y < SIDE;
    if (point[2] < 0) { /* outside of the slot, or of a picture turned or framed in it */
        MUST(!inside || near(v->mask, (int)x, (int)y, MASK_IGNORE, MASK_IGNORE));
        return 0;
    }
    MUST(point[2] == 2 && inside);
    if (dot.n < 9 || !within(&dot))
        return 0;
    if (fabs(dot.x - x) > 1 || fabs(dot.y - y) > 1)
        ck_abort_msg("%s: class %u: told %.2f, %.2f, the dot is at %.2f, %.2f", words, class, x, y,
                     dot.x, dot.y);
    return 1;
}

static uint32_t must_have_boxes(struct view *v, const float *label, const char *words)
{
    const struct imrec_detections d = imrec_detections_of(label);
    uint32_t dots = 0;
    for (uint32_t i = 0; i < d.count; i++) {
        const float *o = d.objects + (size_t)i * d.object_width;
        const uint32_t class = (uint32_t)o[0];
        const struct place p = find(v, class, class + 3);
        const double box[4] = {(double)o[1] * d.columns, (double)o[2] * d.rows,
                               (double)o[3] * d.columns, (double)o[4] * d.rows};
        const double found[4] = {p.x0, p.y0, p.x1, p.y1};
        for (int k = 0; k < 4 && p.n > 20; k++)
            if (fabs(box[k] - found[k]) > 1.5)
                ck_abort_msg("%s: class %u, edge %d: told %.2f, found %.2f", words, class, k,
                             box[k], found[k]);
        dots += must_have_dot(v, o + 5, &d, class, words);
    }
    return dots;
}

/* No operation has changed the colours. */
static bool keeps_colours(const struct imrec_draw *d)
{
    bool keeps = true;
    for (uint32_t i = 0; i < d->op_count; i++)
        keeps = keeps && d->op[i] <= IMREC_OP_ROTATE;
    return keeps;
}

static void must_move_together(const struct mask_set *s, const char *words, uint32_t least)
{
    static struct view v;
    char all[1024];
    struct imrec_batch b;
    struct imrec_error err = {0};
    uint32_t seen = 0, dots = 0;
    snprintf(all, sizeof(all), "label_width=-1 keypoints=1 %s%s", words,
             strstr(words, "det_aug_default") != NULL ? "" : " boxes=1");
    struct imrec_iter *it = mask_open(s, all);
    while (imrec_iter_next(it, &b, &err) == IMREC_OK)
        for (uint32_t slot = 0; slot < b.slots; slot++) {
            look(&b, slot, &v);
            if (!keeps_colours(&b.draws[slot]))
                continue;
            seen += must_agree(&v, words, b.ids[slot]);
            dots += must_have_boxes(&v, b.labels + (size_t)slot * b.label_width, words);
        }
    ck_assert_msg(err.status == IMREC_OK, "%s: %s", words, err.message);
    imrec_iter_close(it);
    ck_assert_msg(seen > 2000 && dots >= least, "%s: %u px and %u dots seen", words, seen, dots);
}

/* ---- augmenters ---------------------------------------------------------------------------- */

static const struct {
    const char *words;
    uint32_t dots; /* found, at least */
} recipes[] = {
    {"", 10},
    {"resize=112", 30},
    {"resize=112 inter_method=2", 30},
    {"resize=112 inter_method=3", 30},
    {"resize=112 inter_method=4", 30},
    {"resize=112 inter_method=0", 30},
    {"resize=112 antialias=1", 30},
    {"resize=200 rand_crop=1", 5},
    {"resize=90", 10}, /* enlarged again */
    {"mirror=1 resize=112", 30},
    {"rand_crop=1 rand_mirror=1", 10},
    {"random_resized_crop=1 min_random_area=0.3 max_aspect_ratio=0.3 rand_mirror=1", 10},
    {"random_resized_crop=1 rrc_style=torch min_random_area=0.2 antialias=1", 10},
    {"min_crop_size=60 max_crop_size=110 rand_crop=1", 5},
    {"resize=112 rotate=30", 20},
    {"resize=112 max_rotate_angle=180 rand_mirror=1", 20},
    {"resize=112 rotate_list=90,180,270", 30},
    {"resize=112 max_shear_ratio=0.3", 20},
    {"resize=112 min_random_scale=0.6 max_random_scale=1.5 rand_crop=1", 15},
    {"resize=112 max_aspect_ratio=0.3", 20},
    {"resize=112 pad=20 rand_crop=1", 20},
    {"resize=90 pad=30 max_rotate_angle=45 max_shear_ratio=0.2 rand_crop=1 rand_mirror=1", 20},
    {"resize=112 rand_augment=2 rand_augment_magnitude=20", 4},
    {"resize=112 trivial_augment=1 rand_mirror=1", 4},
    {"aug_seq=det_aug_default fill_value=255", 30},
    {"aug_seq=det_aug_default fill_value=255 rand_mirror_prob=0.5 resize_mode=fit", 30},
    {"aug_seq=det_aug_default fill_value=255 rand_mirror_prob=1 resize_mode=shrink resize=90", 30},
    {"aug_seq=det_aug_default fill_value=255 rand_pad_prob=1 max_pad_scale=2", 30},
    {"aug_seq=det_aug_default fill_value=255 rand_crop_prob=1 min_crop_scales=0.5 "
     "crop_emit_mode=overlap emit_overlap_thresh=0.1 rand_mirror_prob=0.5 rand_pad_prob=0.5 "
     "max_pad_scale=1.5 resize_mode=fit",
     8},
};

static struct mask_set set;

static void make(void)
{
    set = mask_set_make(RECORDS);
}

static void drop(void)
{
    tmpdir_remove(&set.dir);
}

START_TEST(picture_mask_boxes_and_keypoints_move_together)
{
    must_move_together(&set, recipes[_i].words, recipes[_i].dots);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("masks");
    TCase *t = tcase_create("masks");
    if (!built_with("png"))
        return 77;
    tcase_set_timeout(t, 60);
    tcase_add_unchecked_fixture(t, make, drop);
    tcase_add_loop_test(t, picture_mask_boxes_and_keypoints_move_together, 0,
                        (int)(sizeof(recipes) / sizeof(recipes[0])));
    suite_add_tcase(s, t);
    return suite_run(s);
}
