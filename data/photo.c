#include "data/photo.h"

#include "base/alloc.h"
#include "data/scenes.h"

static void plan_size(struct photo *p, bool small, struct dice *d)
{
    static const int sizes[][2] = {/* as photographs on the web come: mostly 500 px, some odd */
                                   {500, 375}, {500, 375}, {500, 375}, {500, 375},
                                   {500, 333}, {500, 333}, {500, 334}, {375, 500},
                                   {375, 500}, {333, 500}, {500, 500}, {400, 300},
                                   {640, 480}, {533, 400}, {499, 331}, {600, 450}};
    const int i = dice_between(d, 0, 15);
    p->width = sizes[i][0];
    p->height = sizes[i][1];
    if (dice_percent(d, 8)) { /* cropped by hand */
        p->width = dice_between(d, 240, 800);
        p->height = dice_between(d, 240, 640);
    }
    if (small) {
        p->width = p->width / 5 + dice_between(d, 0, 3);
        p->height = p->height / 5 + dice_between(d, 0, 3);
    }
}

static struct jpeg_how plan_jpeg(struct dice *d)
{
    static const int qualities[16] = {70, 75, 75, 80, 80, 85, 85, 88,
                                      90, 90, 90, 92, 92, 95, 95, 96};
    const int sampling = dice_between(d, 0, 99);
    struct jpeg_how how = {.across = sampling < 35 ? 1 : 2, .down = sampling < 50 ? 1 : 2};
    how.quality = qualities[dice_between(d, 0, 15)];
    how.grey = dice_percent(d, 3);
    how.progressive = dice_percent(d, 6);
    how.restart_interval = dice_percent(d, 3) ? dice_between(d, 1, 40) : 0;
    if (dice_percent(d, 4))
        how.orientation = dice_between(d, 1, 8);
    return how;
}

struct photo photo_plan(uint64_t seed, int number, bool small)
{
    struct dice d = {seed * 0x2545f4914f6cdd1du + (uint64_t)number};
    struct photo p = {.scene = number % SCENES};
    d.state = dice_roll_long(&d);
    plan_size(&p, small, &d);
    p.jpeg = plan_jpeg(&d);
    p.seed = dice_roll_long(&d);
    return p;
}

static struct camera pick_camera(const struct photo *p, struct dice *d)
{
    struct camera how = {.white = {4096, 4096, 4096}, .grey = p->jpeg.grey};
    how.seed = dice_roll(d);
    how.noise = dice_between(d, 8, 48);
    how.blur = dice_between(d, 20, 150);
    how.sharpen = dice_between(d, 0, 110);
    how.vignette = dice_between(d, 0, 1500);
    how.contrast = dice_between(d, 0, 2200);
    const int warm = dice_between(d, -260, 320);
    how.white.r += warm;
    how.white.b -= warm;
    if (dice_percent(d, 12))
        how.noise *= 2; /* little light */
    return how;
}

uint8_t *photo_render(const struct photo *p)
{
    uint8_t *rgb = imrec_realloc(NULL, (size_t)p->width * (size_t)p->height, 3);
    if (rgb == NULL)
        return NULL;
    struct canvas c;
    canvas_init(&c, p->width, p->height);
    struct dice d = {p->seed};
    scenes[p->scene].paint(&c, &d);
    const struct camera how = pick_camera(p, &d);
    develop(&c, &how, rgb);
    canvas_free(&c);
    return rgb;
}

/* Where pixel (x, y) as stored lies in the upright image (EXIF 2.3, tag 274). */
static size_t upright_index(const struct photo *p, int x, int y)
{
    const int w = p->width, h = p->height;
    int ux = x, uy = y;
    switch (p->jpeg.orientation) {
    case 2:
        ux = w - 1 - x;
        break;
    case 3:
        ux = w - 1 - x, uy = h - 1 - y;
        break;
    case 4:
        uy = h - 1 - y;
        break;
    case 5:
        ux = y, uy = x;
        break;
    case 6:
        ux = w - 1 - y, uy = x;
        break;
    case 7:
        ux = w - 1 - y, uy = h - 1 - x;
        break;
    case 8:
        ux = y, uy = h - 1 - x;
        break;
    default:
        break;
    }
    return 3 * ((size_t)uy * (size_t)w + (size_t)ux);
}

uint8_t *photo_encode(const struct photo *p, const uint8_t *rgb, size_t *n)
{
    const bool turned = p->jpeg.orientation >= 5;
    const int width = turned ? p->height : p->width, height = turned ? p->width : p->height;
    if (p->jpeg.orientation < 2)
        return jpeg_write(rgb, width, height, &p->jpeg, n);
    uint8_t *stored = imrec_realloc(NULL, (size_t)width * (size_t)height, 3);
    if (stored == NULL)
        return NULL;
    uint8_t *out = stored;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++, out += 3)
            for (int k = 0; k < 3; k++)
                out[k] = rgb[upright_index(p, x, y) + (size_t)k];
    out = jpeg_write(stored, width, height, &p->jpeg, n);
    imrec_free(stored);
    return out;
}
