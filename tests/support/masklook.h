/* tests/support/masklook.h - batches of images of maskset.h: what image, mask, boxes and
 * keypoints say must be the same, within a px. */
#ifndef IMREC_TESTS_MASKLOOK_H
#define IMREC_TESTS_MASKLOOK_H

#include "tests/support/maskset.h"

#include <math.h>

enum { SIDE = 112, UNKNOWN = 99 };

/* The class whose colour a pixel has; what is blended of several is nobody's. */
static inline uint32_t class_of(const uint8_t *px)
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
    uint8_t image[SIDE][SIDE], mask[SIDE][SIDE];
};

static inline void look(const struct imrec_batch *b, uint32_t slot, struct view *v)
{
    const uint8_t *px = (const uint8_t *)b->data + (size_t)slot * SIDE * SIDE * 3;
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++, px += 3)
            v->image[y][x] = (uint8_t)class_of(px);
    memcpy(v->mask, (const uint8_t *)b->masks + (size_t)slot * SIDE * SIDE, sizeof(v->mask));
}

static inline bool near(uint8_t in[SIDE][SIDE], int x, int y, uint8_t wanted, uint8_t or_this)
{
    for (int v = y > 0 ? y - 1 : 0; v <= y + 1 && v < SIDE; v++)
        for (int u = x > 0 ? x - 1 : 0; u <= x + 1 && u < SIDE; u++)
            if (in[v][u] == wanted || in[v][u] == or_this)
                return true;
    return false;
}

/* Counts pixels of classes that agree. Of those at the slot's edge the neighbours are not known. */
static inline uint32_t must_agree(struct view *v, const char *words, uint64_t id)
{
    uint32_t seen = 0;
    for (int y = 1; y < SIDE - 1; y++)
        for (int x = 1; x < SIDE - 1; x++) {
            const uint8_t told = v->mask[y][x], found = v->image[y][x];
            if (!near(v->image, x, y, told, UNKNOWN) ||
                (found != UNKNOWN && !near(v->mask, x, y, found, found)))
                ck_abort_msg("%s: image %d at %d, %d: the mask says %u, the image %u", words,
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
static inline struct place find(struct view *v, uint32_t a, uint32_t b)
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

static inline bool within(const struct place *p)
{
    return !p->cut && p->x0 > 1 && p->y0 > 1 && p->x1 < SIDE - 1 && p->y1 < SIDE - 1;
}

/* The keypoint is the middle of its dot, where that is wholly seen. */
static inline uint32_t must_have_dot(struct view *v, const float *point,
                                     const struct imrec_detections *d, uint32_t class,
                                     const char *words)
{
    const struct place dot = find(v, class + 3, class + 3);
    const double x = (double)point[0] * d->columns, y = (double)point[1] * d->rows;
    const bool inside = x >= 0 && y >= 0 && x < SIDE && y < SIDE;
    if (point[2] < 0) { /* outside of the slot, or of an image turned or framed in it */
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

static inline uint32_t must_have_boxes(struct view *v, const float *label, const char *words)
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
static inline bool keeps_colours(const struct imrec_draw *d)
{
    bool keeps = true;
    for (uint32_t i = 0; i < d->op_count; i++)
        keeps = keeps && d->op[i] <= IMREC_OP_ROTATE;
    return keeps;
}

struct mask_seen { /* and agreed */
    uint32_t pixels, dots;
};

/* Of a sweep of 3 x 112 x 112, HWC, uint8; closes the iterator. */
static inline struct mask_seen masks_must_agree(struct imrec_iter *it, const char *words)
{
    static struct view v;
    struct imrec_batch b;
    struct imrec_error err = {0};
    struct mask_seen seen = {0, 0};
    while (imrec_iter_next(it, &b, &err) == IMREC_OK)
        for (uint32_t slot = 0; slot < b.slots; slot++) {
            look(&b, slot, &v);
            if (!keeps_colours(&b.draws[slot]))
                continue;
            seen.pixels += must_agree(&v, words, b.ids[slot]);
            seen.dots += must_have_boxes(&v, b.labels + (size_t)slot * b.label_width, words);
        }
    ck_assert_msg(err.status == IMREC_OK, "%s: %s", words, err.message);
    imrec_iter_close(it);
    return seen;
}
#endif
