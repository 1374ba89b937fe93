/* codec/jpeg/jpeg_planes.c - samples of an image's MCU rows, and rows of pixels made from them. */
#include "codec/jpeg/jpeg_planes.h"

#include "codec/jpeg/any_rows.h"

enum { MARGIN = 64 }; /* bytes before and after a row of samples: a repeated one, and vectors */

/* ---- samples ---------------------------------------------------------------------------- */

uint64_t planes_claim(uint32_t width, uint32_t down)
{
    const uint64_t samples = (uint64_t)width + 32 + 3 * MARGIN; /* of a row, whole MCUs */
    return samples * (RING * BLOCK * down + 2 * MOST_COMPONENTS);
}

/* Room for the rings, and for one row of pixels, and what it is mixed of, after them. */
static size_t line_bytes(const struct jpeg_planes *s)
{
    return ((size_t)s->request->region.width + 1) * 4 + KERNEL_SLACK;
}

/* MCU rows that are kept of a component. */
static uint32_t rows_kept(const struct plane *c, bool all)
{
    const uint32_t needed = c->needed.end > c->needed.from ? c->needed.end - c->needed.from : 0;
    return all && needed > RING ? needed : RING;
}

static bool reserve_planes(struct jpeg_planes *s, bool all, size_t most)
{
    const struct geometry *g = &s->g;
    size_t bytes = MARGIN;
    for (uint32_t i = 0; i < s->frame->components; i++) {
        struct plane *c = &s->g.plane[i];
        const uint32_t mcus = c->mcus.end > g->first ? c->mcus.end - g->first : 0;
        c->height = rows_kept(c, all) * c->v * c->block;
        c->stride = (size_t)mcus * c->h * c->block + 2 * MARGIN;
        c->rows = NULL;
        bytes += c->height * c->stride;
    }
    bytes += line_bytes(s) + any_row_room(s->frame, s->request->region.width);
    if (bytes > most || !scratch_reserve(&s->samples, bytes))
        return false;
    uint8_t *at = s->samples.p + MARGIN;
    for (uint32_t i = 0; i < s->frame->components; i++) {
        s->g.plane[i].rows = at;
        at += s->g.plane[i].height * s->g.plane[i].stride;
    }
    return true;
}

static idct_kernel *idct_of(const struct jpeg_planes *s, uint32_t block)
{
    const struct baseline_kernels *k = s->kernels;
    return block == BLOCK ? k->idct : block == 4 ? k->idct_4 : block == 2 ? k->idct_2 : k->idct_1;
}

static void
measure(struct jpeg_planes *s, const struct frame *frame, const struct baseline_request *request)
{
    s->frame = frame;
    s->request = request;
    s->next_row = request->region.y;
    const struct geometry_request wanted = {.region = request->region,
                                            .channels =
                                                request->sink == NULL ? 0 : request->channels,
                                            .denominator = request->denominator};
    geometry_measure(&s->g, frame, &wanted);
    for (uint32_t i = 0; i < frame->components; i++)
        s->idct[i] = idct_of(s, s->g.plane[i].block);
}

bool planes_begin(struct jpeg_planes *s, const struct frame *frame,
                  const struct baseline_request *request)
{
    measure(s, frame, request);
    return reserve_planes(s, false, SIZE_MAX);
}

bool planes_begin_all(struct jpeg_planes *s, const struct frame *frame,
                      const struct baseline_request *request, size_t most)
{
    measure(s, frame, request);
    return reserve_planes(s, true, most);
}

struct intervals planes_intervals(const struct jpeg_planes *s, struct bytes image)
{
    const struct frame *f = s->frame;
    return (struct intervals){.left = {image.p + f->entropy, image.n - f->entropy},
                              .mcus_left = s->g.across * s->g.down,
                              .restart = f->restart};
}

void planes_transform(const struct jpeg_planes *s, uint32_t component, const struct block_run *r)
{
    if (s->g.plane[component].block == BLOCK)
        s->kernels->idct_run(r);
    else
        idct_run_by(r, s->idct[component]);
}

/* ---- rows of pixels ----------------------------------------------------------------------- */

static uint8_t *pixel_line(const struct jpeg_planes *s)
{
    const struct plane *c = &s->g.plane[s->frame->components - 1];
    return c->rows + c->height * c->stride;
}

/* The samples beyond the image's edges that others are weighed with, of MCU row `y`. */
static void repeat_edges(struct jpeg_planes *s, uint32_t y)
{
    for (uint32_t i = 0; i < s->frame->components; i++) {
        const struct plane *c = &s->g.plane[i];
        const bool at_right = c->mcus.end == s->g.across;
        const uint32_t height = c->v * c->block, first = c->mcus.from * c->h * c->block;
        if (!c->is_smooth || c->across == 1 || c->mcus.end == 0 || !span_holds(c->needed, y))
            continue;
        for (uint32_t k = 0; k < height; k++) {
            uint8_t *row = plane_row(&s->g, i, y * height + k, first);
            uint8_t *end = row + (c->width - first);
            if (c->mcus.from == 0)
                row[-1] = row[0];
            if (at_right)
                end[0] = end[-1];
        }
    }
}

static void make_row(const struct jpeg_planes *s, uint32_t y, uint8_t *rgb)
{
    const struct baseline_kernels *k = s->kernels;
    const struct plane *chroma = &s->g.plane[1];
    const uint32_t x = s->g.left, h = chroma->across, v = chroma->down;
    struct kernel_row r = {.y = plane_row(&s->g, 0, y, x),
                           .n = s->request->region.x + s->request->region.width - x,
                           .rgb = rgb};
    if (s->frame->colour == COLOUR_GREY && s->request->channels == 3) {
        k->row_grey(&r);
        return;
    }
    if (!s->g.is_plain) {
        any_row(s, y, pixel_line(s) + line_bytes(s), rgb);
        return;
    }
    r.cb = plane_row(&s->g, 1, y / v, x / h);
    r.cr = plane_row(&s->g, 2, y / v, x / h);
    if (v == 2) {
        const uint32_t far = plane_far_row(chroma, y);
        r.cb_far = plane_row(&s->g, 1, far, x / h);
        r.cr_far = plane_row(&s->g, 2, far, x / h);
        k->row_420(&r);
    } else if (h == 2) {
        k->row_422(&r);
    } else {
        k->row_444(&r);
    }
}

/* The place of row `y` of the region in the caller's memory; NULL where the kernels, which write
 * whole vectors, and begin with an even column, cannot write there. */
static uint8_t *direct_row(const struct jpeg_planes *s, uint32_t y)
{
    const struct baseline_request *q = s->request;
    const size_t behind = (q->region.height - 1 - (size_t)y) * q->stride;
    if (q->direct == NULL || q->region.x != s->g.left || behind < KERNEL_SLACK)
        return NULL;
    return q->direct + y * q->stride;
}

static void give_row(struct jpeg_planes *s, uint32_t row)
{
    const struct baseline_request *q = s->request;
    const struct imrec_rect r = q->region;
    if (q->channels == 1 && !s->g.colour && s->g.plane[0].across * s->g.plane[0].down == 1) {
        q->sink(q->context, row - r.y, plane_row(&s->g, 0, row, r.x));
        return;
    }
    uint8_t *direct = q->channels == 3 ? direct_row(s, row - r.y) : NULL, *line = pixel_line(s);
    make_row(s, row, direct != NULL ? direct : line);
    if (direct == NULL)
        q->sink(q->context, row - r.y, line + (size_t)q->channels * (r.x - s->g.left));
}

static void give_rows(struct jpeg_planes *s, uint32_t y)
{
    const struct imrec_rect r = s->request->region;
    const bool waits = s->g.looks_below && y + 1 < s->g.down; /* for rows below */
    const uint32_t end = at_most((y + 1) * s->g.height - waits, r.y + r.height);
    for (; s->next_row < end; s->next_row++)
        give_row(s, s->next_row);
}

void planes_give(struct jpeg_planes *s, uint32_t y)
{
    repeat_edges(s, y);
    give_rows(s, y);
}
