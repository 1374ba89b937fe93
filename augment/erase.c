/* augment/erase.c - a rectangle of a slot overwritten: a constant, a colour, or noise. */
#include "augment/erase.h"

#include "base/rng.h"

#include <string.h>

struct eraser {
    const struct recipe *r;
    struct sample_key key;
    enum imrec_dtype dtype;
    uint8_t pixel[4][4]; /* the values of each channel, as the slot stores them */
};

/* Block i of the noise: a pixel's channels. */
static void set_random(struct eraser *e, uint32_t i)
{
    const struct rng_block bits = draw_block(e->key, DRAW_NOISE + i);
    double normal[4];
    const bool real = dtype_is_real(e->dtype);
    if (real) {
        draw_normals(bits.v[0], bits.v[1], normal);
        draw_normals(bits.v[2], bits.v[3], normal + 2);
    }
    for (int c = 0; c < 4; c++) {
        const float whole = (float)(bits.v[c] >> 56) - (e->dtype == IMREC_INT8 ? 128 : 0);
        normalize_put(e->dtype, real ? (float)normal[c] : whole, e->pixel[c]);
    }
}

static void
put_row(struct eraser *e, const struct normalize_job *job, struct imrec_rect hole, uint32_t y)
{
    const size_t size = dtype_size(e->dtype), plane = (size_t)job->width * job->height;
    const bool planes = job->how.layout == IMREC_NCHW;
    const size_t row = (size_t)(hole.y + y) * job->width + hole.x;
    uint8_t *slot = job->out;
    for (uint32_t x = 0; x < hole.width; x++) {
        if (e->r->o->erase_mode == IMREC_ERASE_PIXEL)
            set_random(e, y * hole.width + x);
        for (uint32_t c = 0; c < job->channels; c++) {
            const size_t at = planes ? c * plane + row + x : (row + x) * job->channels + c;
            memcpy(slot + at * size, e->pixel[c], size);
        }
    }
}

void erase_slot(const struct recipe *r, const struct imrec_draw *d, struct sample_key key,
                const struct normalize_job *job)
{
    const struct imrec_rect hole = {d->erase_x, d->erase_y, d->erase_width, d->erase_height};
    struct eraser e = {.r = r, .key = key, .dtype = job->how.dtype};
    if (hole.width == 0)
        return;
    for (int c = 0; c < 4; c++)
        normalize_put(e.dtype, r->erase_value[c], e.pixel[c]);
    if (r->o->erase_mode == IMREC_ERASE_COLOR)
        set_random(&e, 0);
    for (uint32_t y = 0; y < hole.height; y++)
        put_row(&e, job, hole, y);
}
