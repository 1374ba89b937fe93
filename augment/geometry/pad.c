/* augment/geometry/pad.c - one colour around an image. */
#include "augment/geometry/pad.h"

#include "base/error.h"

#include <string.h>

static void clip(uint32_t begin, uint32_t length, uint32_t border, uint32_t size, uint32_t *first,
                 uint32_t *count)
{
    const int64_t n = size;
    int64_t at = (int64_t)begin - border, end = at + length;
    at = at < 0 ? 0 : at < n ? at : n - 1;
    end = end > n ? n : end > at ? end : at + 1;
    *first = (uint32_t)at;
    *count = (uint32_t)(end - at);
}

struct imrec_rect pad_source_region(const struct pad_job *j)
{
    struct imrec_rect r;
    clip(j->window.x, j->window.width, j->left, j->from_width, &r.x, &r.width);
    clip(j->window.y, j->window.height, j->top, j->from_height, &r.y, &r.height);
    return r;
}

static void fill_row(uint8_t *out, uint32_t pixels, const uint8_t *fill, uint32_t channels)
{
    if (channels < 4 && fill[0] == fill[1] && fill[1] == fill[2]) {
        memset(out, fill[0], (size_t)pixels * channels);
        return;
    }
    for (uint32_t x = 0; x < pixels; x++, out += channels)
        memcpy(out, fill, channels);
}

/* A row of the window of which the source has the pixels `row`. */
static void
make_row(const struct pad_job *j, struct imrec_rect r, const uint8_t *row, uint8_t *out, uint32_t c)
{
    const int64_t left = (int64_t)r.x + j->left - j->window.x;
    if (left < 0 || left + r.width > j->window.width) { /* the source is outside the window */
        fill_row(out, j->window.width, j->fill, c);
        return;
    }
    const uint32_t after = (uint32_t)left + r.width;
    fill_row(out, (uint32_t)left, j->fill, c);
    memcpy(out + (size_t)left * c, row, (size_t)r.width * c);
    fill_row(out + (size_t)after * c, j->window.width - after, j->fill, c);
}

enum imrec_status pad_window(const struct pad_job *j, const struct imrec_image *from,
                             struct image *to, struct imrec_error *err)
{
    const struct imrec_rect r = pad_source_region(j), w = j->window;
    const uint32_t c = from->channels;
    IMREC_TRY(image_resize_buffer(to, w.width, w.height, c, err));
    for (uint32_t y = 0; y < w.height; y++) {
        const int64_t at = (int64_t)w.y + y - j->top - r.y;
        uint8_t *out = to->view.pixels + (size_t)y * to->view.stride;
        if (at >= 0 && at < from->height)
            make_row(j, r, from->pixels + (size_t)at * from->stride, out, c);
        else
            fill_row(out, w.width, j->fill, c);
    }
    return IMREC_OK;
}
