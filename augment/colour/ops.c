/* augment/colour/ops.c - operations of RandAugment, TrivialAugment and AutoAugment, with
 * torchvision's meanings on Pillow's images. */
#include "augment/colour/ops.h"

#include "augment/colour/blur.h"
#include "augment/colour/colour.h"
#include "augment/geometry/warp.h"

#include <math.h>
#include <string.h>

static uint8_t *row_of(const struct imrec_image *p, uint32_t y)
{
    return p->pixels + (size_t)y * p->stride;
}

/* ---- what moves --------------------------------------------------------------------------- */

bool op_moves(enum imrec_op op)
{
    return op >= IMREC_OP_SHEAR_X && op <= IMREC_OP_ROTATE;
}

/* Counter-clockwise about the middle of the pixels. */
static void rotation(float degrees, uint32_t width, uint32_t height, float m[6])
{
    const double turn = (double)degrees / 180 * 3.14159265358979323846;
    const double a = cos(turn), b = sin(turn);
    const double x = (width - 1.0) / 2, y = (height - 1.0) / 2;
    m[0] = (float)a, m[1] = (float)b, m[2] = (float)(x - a * x - b * y);
    m[3] = (float)-b, m[4] = (float)a, m[5] = (float)(y + b * x - a * y);
}

static void
set_matrix(enum imrec_op op, float magnitude, uint32_t width, uint32_t height, float m[6])
{
    if (op == IMREC_OP_ROTATE)
        rotation(magnitude, width, height, m);
    else if (op == IMREC_OP_SHEAR_X)
        m[1] = -magnitude, m[2] = -magnitude / 2; /* about the corner of the first pixel */
    else if (op == IMREC_OP_SHEAR_Y)
        m[3] = -magnitude, m[5] = -magnitude / 2;
    else
        m[op == IMREC_OP_TRANSLATE_X ? 2 : 5] = magnitude;
}

enum imrec_status op_move(enum imrec_op op, float magnitude, uint8_t fill,
                          const struct imrec_image *from, struct image *to,
                          struct resize_scratch *scratch, struct imrec_error *err)
{
    struct warp_job j = {.from_width = from->width,
                         .from_height = from->height,
                         .to_width = from->width,
                         .to_height = from->height,
                         .window = {0, 0, from->width, from->height},
                         .matrix = {1, 0, 0, 0, 1, 0},
                         .method = RESIZE_NEAREST};
    memset(j.fill, fill, 3);
    set_matrix(op, magnitude, from->width, from->height, j.matrix);
    const struct imrec_rect r = warp_source_region(&j);
    struct imrec_image part = *from;
    part.pixels = row_of(from, r.y) + (size_t)r.x * from->channels;
    part.width = r.width;
    part.height = r.height;
    return warp_window(&j, &part, to, scratch, err);
}

void op_path(enum imrec_op op, float magnitude, struct path *path)
{
    float m[6] = {1, 0, 0, 0, 1, 0};
    double exact[6];
    set_matrix(op, magnitude, path->width, path->height, m);
    for (int i = 0; i < 6; i++)
        exact[i] = (double)m[i];
    path_add_edge(path);
    path_add(path, exact, path->width, path->height);
}

/* ---- tables ------------------------------------------------------------------------------- */

static void count(const struct imrec_image *p, uint32_t histogram[3][256])
{
    const uint32_t n = p->channels < 3 ? 1 : 3;
    memset(histogram, 0, 3 * sizeof(histogram[0]));
    for (uint32_t y = 0; y < p->height; y++) {
        const uint8_t *px = row_of(p, y);
        for (uint32_t x = 0; x < p->width; x++, px += p->channels)
            for (uint32_t c = 0; c < n; c++)
                histogram[c][px[c]]++;
    }
}

/* The smallest and the largest value become 0 and 255. */
static void stretch(const uint32_t histogram[256], uint8_t map[256])
{
    int low = 0, high = 255;
    while (low < 255 && histogram[low] == 0)
        low++;
    while (high > 0 && histogram[high] == 0)
        high--;
    for (int v = 0; v < 256; v++) {
        const double scale = 255.0 / (high > low ? high - low : 1);
        const double out = high > low ? v * scale - low * scale : v;
        map[v] = (uint8_t)(out < 0 ? 0 : out > 255 ? 255 : out);
    }
}

/* Every value becomes as frequent as any other, as far as that goes. */
static void equalize(const uint32_t histogram[256], uint8_t map[256])
{
    uint64_t sum = 0, last = 0;
    for (int v = 0; v < 256; v++) {
        sum += histogram[v];
        last = histogram[v] != 0 ? histogram[v] : last;
    }
    const uint64_t step = (sum - last) / 255;
    uint64_t n = step / 2;
    for (int v = 0; v < 256; v++) {
        const uint64_t out = step != 0 ? n / step : (uint64_t)v;
        map[v] = (uint8_t)(out < 255 ? out : 255);
        n += histogram[v];
    }
}

static void by_histogram(enum imrec_op op, const struct imrec_image *p, enum cpu_level level)
{
    uint32_t histogram[3][256];
    uint8_t map[3][256];
    count(p, histogram);
    for (int c = 0; c < 3; c++) {
        if (op == IMREC_OP_EQUALIZE)
            equalize(histogram[c], map[c]);
        else
            stretch(histogram[c], map[c]);
    }
    colour_tables(p, (const uint8_t(*)[256])map, level);
}

static void
by_value(enum imrec_op op, float magnitude, const struct imrec_image *p, enum cpu_level level)
{
    uint8_t map[3][256];
    for (uint32_t v = 0; v < 256; v++) {
        if (op == IMREC_OP_POSTERIZE) /* 0 to 8 bits are kept */
            map[0][v] = (uint8_t)(v & 0xff00u >> (int)magnitude);
        else if (op == IMREC_OP_SOLARIZE_ADD)
            map[0][v] = (uint8_t)(v < 128 ? v + (uint32_t)magnitude : v);
        else if (op == IMREC_OP_INVERT)
            map[0][v] = (uint8_t)(255 - v);
        else
            map[0][v] = (uint8_t)((float)v < magnitude ? v : 255 - v);
    }
    memcpy(map[1], map[0], 256);
    memcpy(map[2], map[0], 256);
    colour_tables(p, (const uint8_t(*)[256])map, level);
}

/* ---- all ---------------------------------------------------------------------------------- */

enum imrec_status op_paint(enum imrec_op op, float magnitude, const struct imrec_image *p,
                           struct resize_scratch *scratch, enum cpu_level level,
                           struct imrec_error *err)
{
    switch (op) {
    case IMREC_OP_BRIGHTNESS:
        colour_brightness(p, magnitude, level);
        break;
    case IMREC_OP_COLOR:
        colour_saturation(p, &grey_of_pillow, magnitude, level);
        break;
    case IMREC_OP_CONTRAST:
        colour_contrast(p, &grey_of_pillow, magnitude, level);
        break;
    case IMREC_OP_SHARPNESS:
        return sharpen(p, magnitude, scratch, level, err);
    case IMREC_OP_POSTERIZE:
    case IMREC_OP_SOLARIZE:
    case IMREC_OP_INVERT:
    case IMREC_OP_SOLARIZE_ADD:
        by_value(op, magnitude, p, level);
        break;
    case IMREC_OP_AUTOCONTRAST:
    case IMREC_OP_EQUALIZE:
        by_histogram(op, p, level);
        break;
    default:
        break;
    }
    return IMREC_OK;
}
