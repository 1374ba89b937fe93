/* augment/resize/resize.c - sizes, regions, and which way a resize goes. */
#include "augment/resize/resize.h"

#include "augment/resize/resize_kernels.h"
#include "augment/resize/resize_passes.h"
#include "base/error.h"

#include <string.h>

/* ---- sizes -------------------------------------------------------------------------------- */

static uint32_t at_least_1(uint64_t n)
{
    return n == 0 ? 1 : n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

void resize_shorter_side(uint32_t width, uint32_t height, int64_t shorter, uint32_t *to_width,
                         uint32_t *to_height)
{
    *to_width = width, *to_height = height;
    if (shorter <= 0)
        return;
    const uint64_t r = (uint64_t)shorter;
    if (height > width)
        *to_width = at_least_1(r), *to_height = at_least_1(r * height / width);
    else
        *to_height = at_least_1(r), *to_width = at_least_1(r * width / height);
}

uint32_t resize_to_cover(uint32_t width, uint32_t height, uint32_t crop_width, uint32_t crop_height,
                         struct resize_size to[2])
{
    uint32_t passes = 0;
    if (height < crop_height) {
        const float factor = (float)crop_height / (float)height;
        width = at_least_1((uint64_t)(factor * (float)width));
        height = crop_height;
        to[passes++] = (struct resize_size){width, height};
    }
    if (width < crop_width) {
        const float factor = (float)crop_width / (float)width;
        height = at_least_1((uint64_t)(factor * (float)height));
        width = crop_width;
        to[passes++] = (struct resize_size){width, height};
    }
    return passes;
}

/* Of a value of the result: places and weights of 8 taps, its share of 8 rows in 4 bytes, a
 * window's bytes and the weights of a block; of the source: weights in 4 bytes twice, a row of
 * sums. */
uint64_t resize_scratch_claim(uint32_t from_width, uint32_t to_width, uint32_t channels)
{
    enum { OF_RESULT = 128, OF_SOURCE = 20, LEAST = 16 << 10 };
    return LEAST + channels * ((uint64_t)to_width * OF_RESULT + (uint64_t)from_width * OF_SOURCE);
}

/* ---- the regions -------------------------------------------------------------------------- */

struct imrec_rect resize_source_region(const struct resize_job *job)
{
    const enum resize_kind kind = resize_kind(job);
    const struct resize_axis x = resize_axis(job->from_width, job->to_width);
    const struct resize_axis y = resize_axis(job->from_height, job->to_height);
    const struct resize_span columns = resize_axis_span(&x, kind, job->window.x, job->window.width);
    const struct resize_span rows = resize_axis_span(&y, kind, job->window.y, job->window.height);
    return (struct imrec_rect){columns.first, rows.first, columns.count, rows.count};
}

static bool inside(uint32_t begin, uint32_t length, uint32_t size)
{
    return length != 0 && begin < size && length <= size - begin;
}

static enum imrec_status
check(const struct resize_job *j, const struct imrec_image *from, struct imrec_error *err)
{
    if ((unsigned)j->method >= RESIZE_METHODS)
        return IMREC_REFUSE(err,
                            "inter_method of a resize is 0 (nearest), 1 (bilinear), 2 (cubic), "
                            "3 (area) or 4 (Lanczos), not %d",
                            (int)j->method);
    if (j->from_width == 0 || j->from_height == 0 ||
        !inside(j->window.x, j->window.width, j->to_width) ||
        !inside(j->window.y, j->window.height, j->to_height) || j->from_width > INT32_MAX ||
        j->from_height > INT32_MAX || j->to_width > INT32_MAX || j->to_height > INT32_MAX)
        return IMREC_REFUSE(err,
                            "a resize of %u x %u px to %u x %u px has no window of %u x %u px at "
                            "(%u, %u)",
                            j->from_width, j->from_height, j->to_width, j->to_height,
                            j->window.width, j->window.height, j->window.x, j->window.y);
    const struct imrec_rect r = resize_source_region(j);
    if (from->width != r.width || from->height != r.height ||
        (size_t)r.width * from->channels > UINT32_MAX)
        return IMREC_REFUSE(err, "a resize needs %u x %u px of its source, not %u x %u px", r.width,
                            r.height, from->width, from->height);
    return IMREC_OK;
}

/* ---- the simple ways ---------------------------------------------------------------------- */

static void run_copy(const struct resize_run *r)
{
    for (uint32_t y = 0; y < r->to->height; y++)
        memcpy(run_out(r, y), r->from->pixels + y * r->from->stride,
               (size_t)r->to->width * r->to->channels);
}

static enum imrec_status run_nearest(const struct resize_run *r, struct imrec_error *err)
{
    const uint32_t channels = r->from->channels, width = r->to->width;
    uint32_t *at = scratch_room(r->scratch, ROOM_FIRST, width, sizeof(*at));
    if (at == NULL)
        return scratch_no_memory(err);
    for (uint32_t x = 0; x < width; x++)
        at[x] = (nearest_at(&r->x, r->job->window.x + x) - r->region.x) * channels;
    for (uint32_t y = 0; y < r->to->height; y++) {
        IMREC_TRY(stop_check(r->scratch->stop, err));
        const uint8_t *row = run_row(r, nearest_at(&r->y, r->job->window.y + y));
        uint8_t *out = run_out(r, y);
        for (uint32_t x = 0; x < width; x++)
            for (uint32_t c = 0; c < channels; c++)
                *out++ = row[at[x] + c];
    }
    return IMREC_OK;
}

static void run_half(const struct resize_run *r)
{
    for (uint32_t y = 0; y < r->to->height; y++) {
        const uint8_t *row = r->from->pixels + (size_t)y * 2 * r->from->stride;
        r->kernels->half(row, row + r->from->stride, run_out(r, y), r->to->width, r->to->channels);
    }
}

static enum imrec_status run(const struct resize_run *r, struct imrec_error *err)
{
    switch (r->kind) {
    case KIND_COPY:
        run_copy(r);
        break;
    case KIND_NEAREST:
        return run_nearest(r, err);
    case KIND_LINEAR:
    case KIND_AREA_ENLARGE:
        return run_linear(r, err);
    case KIND_HALF:
        run_half(r);
        break;
    case KIND_AREA_WHOLE:
        return run_area_whole(r, err);
    case KIND_AREA:
        return run_area(r, err);
    case KIND_CUBIC:
    case KIND_LANCZOS:
        return run_taps(r, err);
    }
    return IMREC_OK;
}

enum imrec_status resize_window_into(const struct resize_job *job, const struct imrec_image *from,
                                     const struct imrec_image *to, struct resize_scratch *scratch,
                                     enum cpu_level level, struct imrec_error *err)
{
    IMREC_TRY(check(job, from, err));
    const struct resize_run r = {
        .job = job,
        .kind = resize_kind(job),
        .x = resize_axis(job->from_width, job->to_width),
        .y = resize_axis(job->from_height, job->to_height),
        .region = resize_source_region(job),
        .from = from,
        .to = to,
        .scratch = scratch,
        .kernels = &resize_kernels[level],
        .level = level,
    };
    return run(&r, err);
}

enum imrec_status resize_window(const struct resize_job *job, const struct imrec_image *from,
                                struct image *to, struct resize_scratch *scratch,
                                struct imrec_error *err)
{
    IMREC_TRY(check(job, from, err));
    IMREC_TRY(image_resize_buffer(to, job->window.width, job->window.height, from->channels, err));
    return resize_window_into(job, from, &to->view, scratch, cpu_level(), err);
}
