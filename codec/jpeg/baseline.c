/*
 * codec/jpeg/baseline.c - a region of a plain JPEG to rows of pixels.
 *
 * MCU rows go through a ring that holds two of them as planes of samples: upsampled chroma
 * needs the row above and the row below. Of each MCU row only the columns around the region are
 * transformed; rows of pixels leave as soon as their neighbours are there. At the image's edges
 * (of its real samples, not of the padding in its last blocks) samples are repeated, as
 * libjpeg-turbo does.
 */
#include "codec/jpeg/baseline.h"

#include "base/alloc.h"
#include "codec/jpeg/entropy.h"
#include "codec/jpeg/geometry.h"
#include "codec/jpeg/scan.h"

#include <string.h>

enum {
    MARGIN = 64,          /* bytes before and after a row of samples: a repeated one, and vectors */
    KEPT_BYTES = 4 << 20, /* of buffers, between images */
};

struct storage {
    uint8_t *p;
    size_t bytes;
};

struct baseline {
    struct frame frame;
    const struct baseline_request *request;
    struct geometry g;
    struct scan scan;
    struct bytes left;   /* entropy-coded data not yet unstuffed */
    uint32_t to_restart; /* MCUs until the bits end */
    uint32_t mcus_left;  /* of the image, from the next of these bits on */
    uint32_t skipped;    /* MCUs that come next and nobody wants; the bits are before them */
    uint32_t next_restart;
    uint32_t next_row; /* of pixels, to be given */

    const struct baseline_kernels *kernels;
    scan_run_fn *run;
    struct storage bits, samples;
    struct huffman_ac ac[MOST_TABLES];
    struct huffman_dc dc[MOST_TABLES];
    struct huffman_spec made_ac[MOST_TABLES], made_dc[MOST_TABLES]; /* what they are of */
    bool has_ac[MOST_TABLES], has_dc[MOST_TABLES];
};

/* ---- life ------------------------------------------------------------------------------- */

struct baseline *baseline_new(void)
{
    struct baseline *b = imrec_zalloc(1, sizeof(*b));
    if (b == NULL)
        return NULL;
    b->kernels = &baseline_kernels[cpu_level()];
    b->run = scan_run_best();
    return b;
}

bool baseline_has_vectors(void)
{
    return cpu_level() != CPU_SCALAR;
}

static void drop_storage(struct storage *s)
{
    imrec_free(s->p);
    *s = (struct storage){0};
}

void baseline_free(struct baseline *b)
{
    baseline_drop(b);
    imrec_free(b);
}

void baseline_drop(struct baseline *b)
{
    if (b == NULL)
        return;
    drop_storage(&b->bits);
    drop_storage(&b->samples);
}

size_t baseline_memory(const struct baseline *b)
{
    return b == NULL ? 0 : sizeof(*b) + b->bits.bytes + b->samples.bytes;
}

static bool reserve(struct storage *s, size_t bytes)
{
    if (bytes <= s->bytes)
        return true;
    drop_storage(s);
    s->p = imrec_realloc(NULL, bytes, 1);
    s->bytes = s->p != NULL ? bytes : 0;
    return s->p != NULL;
}

/* One large image is no reason to hold its memory for ever. */
static void trim(struct storage *s)
{
    if (s->bytes > KEPT_BYTES)
        drop_storage(s);
}

uint64_t baseline_claim(size_t bytes, uint32_t width)
{
    const uint64_t samples = (uint64_t)width + 32 + 3 * MARGIN; /* of a row, whole MCUs */
    return bytes + ENTROPY_PADDING + samples * (RING * 2 * BLOCK + 2 * RING * BLOCK + 3);
}

/* Room for the rings, and for one row of pixels after them. */
static bool reserve_planes(struct baseline *b)
{
    const struct geometry *g = &b->g;
    size_t bytes = MARGIN;
    for (uint32_t i = 0; i < b->frame.components; i++) {
        struct plane *c = &b->g.plane[i];
        const uint32_t h = i == 0 ? 1 : b->frame.h, v = i == 0 ? 1 : b->frame.v;
        const uint32_t mcus = c->mcus.end > g->first ? c->mcus.end - g->first : 0;
        c->height = RING * g->mcu_height / v;
        c->stride = (size_t)mcus * (g->mcu_width / h) + 2 * MARGIN;
        c->rows = NULL;
        bytes += c->height * c->stride;
    }
    bytes += ((size_t)b->request->region.width + 1) * 3 + KERNEL_SLACK;
    if (!reserve(&b->samples, bytes))
        return false;
    uint8_t *at = b->samples.p + MARGIN;
    for (uint32_t i = 0; i < b->frame.components; i++) {
        b->g.plane[i].rows = at;
        at += b->g.plane[i].height * b->g.plane[i].stride;
    }
    return true;
}

static uint8_t *pixel_line(const struct baseline *b)
{
    const struct plane *c = &b->g.plane[b->frame.components - 1];
    return c->rows + c->height * c->stride;
}

/* ---- tables and bits ---------------------------------------------------------------------- */

static bool is_made(bool has, const struct huffman_spec *made, const struct huffman_spec *spec)
{
    return has && memcmp(made, spec, sizeof(*spec)) == 0;
}

static bool make_tables(struct baseline *b)
{
    const struct frame *p = &b->frame;
    for (uint32_t i = 0; i < p->components; i++) {
        const uint32_t dc = p->dc_of[i], ac = p->ac_of[i];
        if (!is_made(b->has_dc[dc], &b->made_dc[dc], &p->dc[dc])) {
            b->has_dc[dc] = huffman_make_dc(&b->dc[dc], &p->dc[dc]);
            b->made_dc[dc] = p->dc[dc];
        }
        if (!is_made(b->has_ac[ac], &b->made_ac[ac], &p->ac[ac])) {
            b->has_ac[ac] = huffman_make_ac(&b->ac[ac], &p->ac[ac]);
            b->made_ac[ac] = p->ac[ac];
        }
        if (!b->has_dc[dc] || !b->has_ac[ac])
            return false;
    }
    return true;
}

static void set_block(struct baseline *b, uint32_t component)
{
    const struct frame *p = &b->frame;
    b->scan.block[b->scan.blocks++] = (struct scan_block){
        .dc = &b->dc[p->dc_of[component]],
        .ac = &b->ac[p->ac_of[component]],
        .quant = p->quant[p->quant_of[component]],
        .component = component,
        .stride = b->g.plane[component].stride,
        .step = component == 0 ? b->g.mcu_width : BLOCK,
    };
}

static void set_blocks(struct baseline *b)
{
    b->scan.blocks = 0;
    for (uint32_t i = 0; i < b->frame.h * b->frame.v; i++)
        set_block(b, 0);
    for (uint32_t i = 1; i < b->frame.components; i++)
        set_block(b, i);
    b->scan.idct = b->kernels->idct;
}

/* MCUs of the next restart interval. */
static uint32_t interval_mcus(const struct baseline *b)
{
    return b->frame.restart == 0 ? b->mcus_left : at_most(b->frame.restart, b->mcus_left);
}

/* Moves past the marker after the next interval, which must be what the count of MCUs lets
 * expect. */
static bool pass_marker(struct baseline *b, uint8_t marker, size_t used)
{
    const bool is_last = interval_mcus(b) == b->mcus_left;
    if (marker != (is_last ? ENTROPY_END : ENTROPY_RESTART + b->next_restart % 8))
        return false;
    b->next_restart++;
    b->left = (struct bytes){b->left.p + used, b->left.n - used};
    return true;
}

/* Makes the next restart interval's bits those to be decoded. */
static bool begin_interval(struct baseline *b)
{
    size_t n, used;
    const uint8_t marker = entropy_unstuff(b->left, b->bits.p, &n, &used);
    b->to_restart = interval_mcus(b);
    if (!pass_marker(b, marker, used))
        return false;
    b->scan.bits = (struct scan_bits){.p = b->bits.p};
    b->scan.end = b->bits.p + n;
    memset(b->scan.dc, 0, sizeof(b->scan.dc));
    return true;
}

/* Whole bytes that nobody took are what libjpeg warns of. */
static bool end_interval(const struct baseline *b)
{
    return scan_left(&b->scan) < 8;
}

static bool begin_bits(struct baseline *b, struct bytes image)
{
    b->left = (struct bytes){image.p + b->frame.entropy, image.n - b->frame.entropy};
    b->mcus_left = b->g.across * b->g.down;
    b->next_restart = 0;
    b->to_restart = 0;
    b->skipped = 0;
    return b->mcus_left > 0;
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* The rest of a run begins `n` MCUs further to the right. */
static void move_on(struct scan *s, uint32_t n)
{
    for (uint32_t i = 0; i < s->blocks; i++)
        if (s->block[i].wanted)
            s->block[i].out += n * s->block[i].step;
}

/* Decodes `count` MCUs of a row, through restart markers. */
static bool decode_run(struct baseline *b, uint32_t count)
{
    while (count > 0) {
        if (b->to_restart == 0 && !begin_interval(b))
            return false;
        const uint32_t n = at_most(count, b->to_restart);
        if (!b->run(&b->scan, n))
            return false;
        b->to_restart -= n;
        b->mcus_left -= n;
        count -= n;
        if (b->to_restart == 0 && !end_interval(b))
            return false;
        move_on(&b->scan, n);
    }
    return true;
}

/* Goes past the MCUs that nobody wants. Intervals of these alone are not decoded, nor is what they
 * leave of the one that they begin in. */
static bool pass_skipped(struct baseline *b)
{
    for (uint32_t n; b->skipped > 0; b->skipped -= n, b->mcus_left -= n) {
        if (b->to_restart == 0 && b->skipped >= (n = interval_mcus(b))) {
            size_t used;
            const uint8_t marker = entropy_pass(b->left, &used);
            if (!pass_marker(b, marker, used))
                return false;
            continue;
        }
        if (b->to_restart == 0 && !begin_interval(b))
            return false;
        n = at_most(b->skipped, b->to_restart);
        if (n < b->to_restart && !b->run(&b->scan, n))
            return false;
        b->to_restart -= n;
    }
    return true;
}

static bool holds(struct span s, uint32_t i)
{
    return i >= s.from && i < s.end;
}

static void aim_at_nothing(struct baseline *b)
{
    for (uint32_t i = 0; i < b->scan.blocks; i++)
        b->scan.block[i].wanted = false;
}

/* Which blocks of the MCUs from column `x` on are transformed, and to where. Returns the column
 * up to which that holds. */
static uint32_t aim(struct baseline *b, uint32_t x, uint32_t y)
{
    uint32_t end = b->g.across, luma = 0;
    for (uint32_t i = 0; i < b->scan.blocks; i++) {
        struct scan_block *block = &b->scan.block[i];
        const struct plane *c = &b->g.plane[block->component];
        const uint32_t across = block->component == 0 ? luma % b->frame.h : 0;
        const uint32_t down = block->component == 0 ? luma / b->frame.h : 0;
        const uint32_t rows = block->component == 0 ? b->g.mcu_height : BLOCK;
        luma += block->component == 0;
        block->wanted = holds(c->needed, y) && holds(c->mcus, x);
        if (holds(c->needed, y) && x < c->mcus.end)
            end = at_most(end, x < c->mcus.from ? c->mcus.from : c->mcus.end);
        if (block->wanted)
            block->out = plane_row(&b->g, block->component, y * rows + down * BLOCK,
                                   x * (uint32_t)block->step + across * BLOCK);
    }
    return end;
}

/* Where every MCU leads to the next, all are read. So they are where it is for reading alone. */
static bool may_skip(const struct baseline *b)
{
    if (b->frame.restart == 0 || b->request->sink == NULL)
        return false;
    for (uint32_t i = 0; i < b->scan.blocks; i++)
        if (b->scan.block[i].wanted)
            return false;
    return true;
}

static bool decode_mcu_row(struct baseline *b, uint32_t y)
{
    for (uint32_t x = 0, end; x < b->g.across; x = end) {
        end = aim(b, x, y);
        if (may_skip(b)) {
            b->skipped += end - x;
            continue;
        }
        if (b->skipped > 0) {
            aim_at_nothing(b);
            if (!pass_skipped(b))
                return false;
            (void)aim(b, x, y);
        }
        if (!decode_run(b, end - x))
            return false;
    }
    return true;
}

/* The samples beyond the image's edges, of the chroma rows of MCU row `y`. */
static void repeat_edges(struct baseline *b, uint32_t y)
{
    for (uint32_t i = 1; i < b->frame.components; i++) {
        const struct plane *c = &b->g.plane[i];
        const bool at_right = c->mcus.end == b->g.across;
        for (uint32_t k = 0; k < BLOCK; k++) {
            uint8_t *row = plane_row(&b->g, i, y * BLOCK + k, c->mcus.from * BLOCK);
            uint8_t *end = row + (c->width - c->mcus.from * BLOCK);
            if (c->mcus.from == 0)
                row[-1] = row[0];
            if (at_right)
                end[0] = end[-1];
        }
    }
}

/* The chroma row that is next nearest to row `y` of the image. */
static uint32_t far_row(const struct plane *c, uint32_t y)
{
    if (y % 2 == 0)
        return y > 0 ? y / 2 - 1 : 0;
    return at_most(y / 2 + 1, c->all - 1);
}

static void make_row(const struct baseline *b, uint32_t y, uint8_t *rgb)
{
    const struct frame *p = &b->frame;
    const struct baseline_kernels *k = b->kernels;
    const uint32_t x = b->g.left;
    struct kernel_row r = {.y = plane_row(&b->g, 0, y, x),
                           .n = b->request->region.x + b->request->region.width - x,
                           .rgb = rgb};
    if (!b->g.colour) {
        k->row_grey(&r);
        return;
    }
    r.cb = plane_row(&b->g, 1, y / p->v, x / p->h);
    r.cr = plane_row(&b->g, 2, y / p->v, x / p->h);
    if (p->v == 2) {
        const uint32_t far = far_row(&b->g.plane[1], y);
        r.cb_far = plane_row(&b->g, 1, far, x / p->h);
        r.cr_far = plane_row(&b->g, 2, far, x / p->h);
        k->row_420(&r);
    } else if (p->h == 2) {
        k->row_422(&r);
    } else {
        k->row_444(&r);
    }
}

/* The place of row `y` of the region in the caller's memory; NULL where the kernels, which write
 * whole vectors, and begin with an even column, cannot write there. */
static uint8_t *direct_row(const struct baseline *b, uint32_t y)
{
    const struct baseline_request *q = b->request;
    const size_t behind = (q->region.height - 1 - (size_t)y) * q->stride;
    if (q->direct == NULL || q->region.x != b->g.left || behind < KERNEL_SLACK)
        return NULL;
    return q->direct + y * q->stride;
}

static void give_row(struct baseline *b, uint32_t row)
{
    const struct baseline_request *q = b->request;
    const struct imrec_rect r = q->region;
    if (q->channels == 1) {
        q->sink(q->context, row - r.y, plane_row(&b->g, 0, row, r.x));
        return;
    }
    uint8_t *direct = direct_row(b, row - r.y), *line = pixel_line(b);
    make_row(b, row, direct != NULL ? direct : line);
    if (direct == NULL)
        q->sink(q->context, row - r.y, line + 3 * (size_t)(r.x - b->g.left));
}

/* Gives all rows that can be made now that MCU row `y` is there. */
static void give_rows(struct baseline *b, uint32_t y)
{
    const struct imrec_rect r = b->request->region;
    const bool waits = b->g.colour && b->frame.v == 2 && y + 1 < b->g.down; /* for rows below */
    const uint32_t end = at_most((y + 1) * b->g.mcu_height - waits, r.y + r.height);
    for (; b->next_row < end; b->next_row++)
        give_row(b, b->next_row);
}

static bool decode_rows(struct baseline *b)
{
    b->next_row = b->request->region.y;
    for (uint32_t y = 0; y < b->g.rows; y++) {
        if (stop_asked(b->request->stop) || !decode_mcu_row(b, y))
            return false;
        if (b->request->sink == NULL)
            continue;
        if (b->g.colour && holds(b->g.plane[1].needed, y))
            repeat_edges(b, y);
        give_rows(b, y);
    }
    return true;
}

/* In halved chroma of one or two columns libjpeg does not interpolate. */
static bool is_wide_enough(const struct frame *p)
{
    return p->h == 1 || divide_up(p->width, p->h) > 2;
}

static enum baseline_result decode(struct baseline *b, struct bytes image)
{
    if (!make_tables(b))
        return BASELINE_DECLINED;
    geometry_measure(&b->g, &b->frame, b->request->region,
                     b->request->sink == NULL ? 0 : b->request->channels);
    if (!begin_bits(b, image))
        return BASELINE_DECLINED;
    if (!reserve_planes(b) || !reserve(&b->bits, b->left.n + ENTROPY_PADDING))
        return BASELINE_NO_MEMORY;
    set_blocks(b);
    return decode_rows(b) ? BASELINE_DONE : BASELINE_DECLINED;
}

enum baseline_result baseline_decode(struct baseline *b, struct bytes image, uint32_t width,
                                     uint32_t height, const struct baseline_request *request)
{
    struct frame *p = &b->frame;
    b->request = request;
    if ((request->channels != 1 && request->channels != 3) || !frame_read(p, image) ||
        p->width != width || p->height != height || !is_wide_enough(p))
        return BASELINE_DECLINED;
    const enum baseline_result result = decode(b, image);
    trim(&b->bits);
    trim(&b->samples);
    return result;
}
