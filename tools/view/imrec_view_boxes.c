/* tools/view/imrec_view_boxes.c - boxes, masks and keypoints drawn into an image, and said beneath
 * it.
 */
#include "tools/view/html.h"
#include "tools/view/imrec_view.h"

#include <math.h>
#include <string.h>

/* Colours that differ from each other and from most images; grey images get white. */
static const uint8_t *colour_of(const struct imrec_image *image, float class)
{
    static const uint8_t white[3] = {255, 255, 255};
    static const uint8_t colours[][3] = {{255, 40, 40}, {40, 255, 40}, {60, 110, 255},
                                         {255, 230, 0}, {255, 0, 255}, {0, 255, 255},
                                         {255, 140, 0}, {160, 80, 255}};
    const float n = sizeof(colours) / sizeof(colours[0]);
    const float which = fmodf(fabsf(class), n);
    return image->channels == 3 && which >= 0 ? colours[(int)which] : white;
}

static void dot(const struct imrec_image *image, uint32_t x, uint32_t y, const uint8_t *colour)
{
    memcpy(image->pixels + y * image->stride + (size_t)x * image->channels, colour,
           image->channels);
}

/* The pixel in which a share of a side ends. */
static uint32_t pixel_of(float share, uint32_t side, bool far)
{
    const float at = rintf(share * (float)side) - (far ? 1 : 0);
    return at < 0 ? 0 : at < (float)(side - 1) ? (uint32_t)at : side - 1;
}

static void frame(const struct imrec_image *image, const struct imrec_detections *d, const float *o)
{
    const uint8_t *colour = colour_of(image, o[0]);
    const uint32_t x0 = pixel_of(o[1], d->columns, false), x1 = pixel_of(o[3], d->columns, true);
    const uint32_t y0 = pixel_of(o[2], d->rows, false), y1 = pixel_of(o[4], d->rows, true);
    for (uint32_t x = x0; x <= x1; x++) {
        dot(image, x, y0, colour);
        dot(image, x, y1, colour);
    }
    for (uint32_t y = y0; y <= y1; y++) {
        dot(image, x0, y, colour);
        dot(image, x1, y, colour);
    }
}

static void draw_frames(const struct imrec_image *image, const float *label)
{
    const struct imrec_detections d = imrec_detections_of(label);
    if (d.columns == 0 || d.columns > image->width || d.rows == 0 || d.rows > image->height)
        return;
    for (uint32_t i = 0; i < d.count; i++)
        frame(image, &d, d.objects + (size_t)i * d.object_width);
}

/* ---- masks ------------------------------------------------------------------------------ */

static int64_t value_of(const void *masks, enum imrec_mask_type type, size_t i)
{
    return type == IMREC_MASK_UINT8    ? ((const uint8_t *)masks)[i]
           : type == IMREC_MASK_UINT16 ? ((const uint16_t *)masks)[i]
                                       : ((const int32_t *)masks)[i];
}

/* Whether a pixel lies at the edge of what has its value. */
static bool at_edge(const struct imrec_image *image, const void *masks, enum imrec_mask_type type,
                    size_t first, uint32_t x, uint32_t y)
{
    const size_t i = first + (size_t)y * image->width + x;
    const int64_t v = value_of(masks, type, i);
    return (x > 0 && value_of(masks, type, i - 1) != v) ||
           (x + 1 < image->width && value_of(masks, type, i + 1) != v) ||
           (y > 0 && value_of(masks, type, i - image->width) != v) ||
           (y + 1 < image->height && value_of(masks, type, i + image->width) != v);
}

/* Classes above 0, the background, get an outline, and a tint that leaves colours visible; what is
 * ignored stays as it is. */
static void tint(const struct imrec_image *image, const struct imrec_iter_options *o,
                 const void *masks, size_t first)
{
    for (uint32_t y = 0; y < image->height; y++)
        for (uint32_t x = 0; x < image->width; x++) {
            const int64_t v = value_of(masks, o->masks, first + (size_t)y * image->width + x);
            if (v <= 0 || v == o->ignore_label)
                continue;
            const uint8_t *colour = colour_of(image, (float)(v - 1));
            const int share = at_edge(image, masks, o->masks, first, x, y) ? 5 : 1; /* of 6 */
            uint8_t *px = image->pixels + y * image->stride + (size_t)x * image->channels;
            for (uint32_t c = 0; c < image->channels; c++)
                px[c] = (uint8_t)((px[c] * (6 - share) + colour[c] * share) / 6);
        }
}

/* ---- keypoints -------------------------------------------------------------------------- */

/* Where keypoints are: those of a slot, or of an object; shares of columns and rows. */
struct points {
    const float *at;
    uint32_t n, columns, rows;
};

/* A cross where it is visible, its four ends where it is hidden. */
static void cross(const struct imrec_image *image, const struct points *p, uint32_t i)
{
    const float *k = p->at + (size_t)i * 3;
    const uint8_t *colour = colour_of(image, (float)i + 3);
    if (!(k[2] > 0))
        return;
    const int64_t x0 = (int64_t)(k[0] * (float)p->columns);
    const int64_t y0 = (int64_t)(k[1] * (float)p->rows);
    for (int d = -3; d <= 3; d++) {
        if (k[2] < 2 && d > -3 && d < 3)
            continue;
        if (x0 + d >= 0 && x0 + d < image->width && y0 >= 0 && y0 < image->height)
            dot(image, (uint32_t)(x0 + d), (uint32_t)y0, colour);
        if (y0 + d >= 0 && y0 + d < image->height && x0 >= 0 && x0 < image->width)
            dot(image, (uint32_t)x0, (uint32_t)(y0 + d), colour);
    }
}

/* Those of the slot, or of its object number `which`. */
static bool points_of(const struct imrec_iter_options *o, const struct imrec_batch *b,
                      uint32_t slot, uint32_t which, struct points *out)
{
    const float *label = b->labels + (size_t)slot * b->label_width;
    const uint32_t n = (uint32_t)o->keypoints, values = 3 * n;
    if (!sheet_has_boxes(o)) {
        *out = (struct points){label + b->label_width - values, n, o->data_shape.width,
                               o->data_shape.height};
        return which == 0 && values <= b->label_width;
    }
    const struct imrec_detections d = imrec_detections_of(label);
    if (which >= d.count || values > d.object_width)
        return false;
    const float *object = d.objects + (size_t)which * d.object_width;
    *out = (struct points){object + d.object_width - values, n, d.columns, d.rows};
    return true;
}

static void say_points(FILE *out, const struct imrec_iter_options *o, const struct imrec_batch *b,
                       uint32_t slot)
{
    struct points p;
    uint32_t seen[3] = {0}; /* outside, hidden, visible */
    for (uint32_t w = 0; points_of(o, b, slot, w, &p); w++)
        for (uint32_t i = 0; i < p.n; i++)
            if (p.at[i * 3 + 2] != 0)
                seen[p.at[i * 3 + 2] < 0 ? 0 : p.at[i * 3 + 2] < 2 ? 1 : 2]++;
    fprintf(out, "keypoints: %" PRIu32 " visible, %" PRIu32 " hidden, %" PRIu32 " outside<br>",
            seen[2], seen[1], seen[0]);
}

static void say_boxes(struct sheet *s, const float *label)
{
    const struct imrec_detections d = imrec_detections_of(label);
    fprintf(s->out, "<figcaption><b>%" PRIu32 " %s</b>", d.count, d.count == 1 ? "box" : "boxes");
    for (uint32_t i = 0; i < d.count && i < 8; i++) {
        const float *o = d.objects + (size_t)i * d.object_width;
        const char *name = imrec_classes_name(s->classes, o[0]);
        fputs("<br>", s->out);
        if (name != NULL)
            html_text(s->out, name);
        else
            fprintf(s->out, "%.9g", (double)o[0]);
        fprintf(s->out, ": %.3f, %.3f to %.3f, %.3f", (double)o[1], (double)o[2], (double)o[3],
                (double)o[4]);
    }
    fputs(d.count > 8 ? "<br>...<br>" : "<br>", s->out);
}

/* ---- all -------------------------------------------------------------------------------- */

void sheet_marks(const struct imrec_image *image, const struct imrec_iter_options *o,
                 const struct imrec_batch *b, uint32_t slot)
{
    struct points p;
    if (b->status[slot] != IMREC_OK)
        return;
    if (b->masks != NULL)
        tint(image, o, b->masks, (size_t)slot * image->width * image->height);
    if (sheet_has_boxes(o))
        draw_frames(image, b->labels + (size_t)slot * b->label_width);
    for (uint32_t w = 0; o->keypoints > 0 && points_of(o, b, slot, w, &p); w++)
        for (uint32_t i = 0; i < p.n; i++)
            cross(image, &p, i);
}

void sheet_say_marks(struct sheet *s, const struct imrec_iter_options *o,
                     const struct imrec_batch *b, uint32_t slot)
{
    const float *label = b->labels + (size_t)slot * b->label_width;
    if (sheet_has_boxes(o))
        say_boxes(s, label);
    else
        sheet_label(s, label, s->unlabelled ? 0 : b->label_width);
    if (o->keypoints > 0 && b->status[slot] == IMREC_OK)
        say_points(s->out, o, b, slot);
}
