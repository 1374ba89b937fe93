/* tools/imrec_view_boxes.c - boxes drawn into a picture, and said beneath it. */
#include "tools/html.h"
#include "tools/imrec_view.h"

#include <math.h>
#include <string.h>

/* Colours that differ from each other and from most pictures; grey pictures get white. */
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

void sheet_frames(const struct imrec_image *image, const float *label)
{
    const struct imrec_detections d = imrec_detections_of(label);
    if (d.columns == 0 || d.columns > image->width || d.rows == 0 || d.rows > image->height)
        return;
    for (uint32_t i = 0; i < d.count; i++)
        frame(image, &d, d.objects + (size_t)i * d.object_width);
}

void sheet_boxes(struct sheet *s, const float *label)
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
