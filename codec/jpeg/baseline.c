/*
 * codec/jpeg/baseline.c - a region of a plain JPEG to rows of pixels.
 *
 * MCUs are decoded in the order of the bits; of each row of them only the columns around the
 * region are transformed, into the planes of samples that rows of pixels are made of.
 */
#include "codec/jpeg/baseline.h"

#include "base/alloc.h"
#include "codec/jpeg/codes.h"
#include "codec/jpeg/entropy.h"
#include "codec/jpeg/jpeg_planes.h"
#include "codec/jpeg/progressive.h"
#include "codec/jpeg/scan.h"
#include "codec/jpeg/tiled.h"
#include "codec/jpeg/together.h"

#include <string.h>

struct baseline {
    struct frame frame;
    struct jpeg_planes planes;
    struct scan scan;
    struct intervals intervals; /* that are not yet unstuffed */
    uint32_t to_restart;        /* MCUs until the bits end */
    uint32_t skipped;           /* MCUs that come next and nobody wants; the bits are before them */

    struct tiled *tiled;             /* once there was such an image; or NULL */
    struct progressive *progressive; /* the same */
    struct together *together;       /* once that was asked for */
    scan_run_fn *run;
    struct scratch bits;
    struct codes codes;
};

/* ---- life ------------------------------------------------------------------------------- */

struct baseline *baseline_new(void)
{
    struct baseline *b = imrec_zalloc(1, sizeof(*b));
    if (b == NULL)
        return NULL;
    b->planes.kernels = &baseline_kernels[cpu_level()];
    b->run = scan_run_best();
    return b;
}

void baseline_free(struct baseline *b)
{
    baseline_drop(b);
    if (b != NULL) {
        tiled_free(b->tiled);
        progressive_free(b->progressive);
        together_free(b->together);
    }
    imrec_free(b);
}

void baseline_drop(struct baseline *b)
{
    if (b == NULL)
        return;
    scratch_drop(&b->bits);
    scratch_drop(&b->planes.samples);
    tiled_drop(b->tiled);
    progressive_drop(b->progressive);
    together_drop(b->together);
}

size_t baseline_memory(const struct baseline *b)
{
    return b == NULL
               ? 0
               : sizeof(*b) + b->bits.bytes + b->planes.samples.bytes + tiled_memory(b->tiled) +
                     progressive_memory(b->progressive) + together_memory(b->together);
}

uint64_t
baseline_claim(size_t bytes, uint32_t width, uint32_t down, bool restarts, uint64_t coefficients)
{
    const uint64_t plain = bytes + ENTROPY_PADDING + planes_claim(width, down);
    if (coefficients > 0)
        return plain + progressive_claim(bytes, coefficients);
    return plain + (restarts ? tiled_claim(bytes) : 0);
}

/* ---- tables and bits ---------------------------------------------------------------------- */

static bool make_tables(struct baseline *b)
{
    const struct frame *p = &b->frame;
    for (uint32_t i = 0; i < p->components; i++)
        if (!codes_make(&b->codes, p, p->dc_of[i], p->ac_of[i]))
            return false;
    return true;
}

static void set_block(struct baseline *b, uint32_t component, uint32_t k)
{
    const struct frame *p = &b->frame;
    const struct plane *c = &b->planes.g.plane[component];
    b->scan.block[b->scan.blocks++] = (struct scan_block){
        .dc = &b->codes.dc[p->dc_of[component]],
        .ac = &b->codes.ac[p->ac_of[component]],
        .quant = p->quant[p->quant_of[component]],
        .component = component,
        .across = (uint8_t)(k % c->h),
        .down = (uint8_t)(k / c->h),
        .idct = b->planes.idct[component],
        .is_flat = c->block == 1,
        .stride = c->stride,
        .step = (size_t)c->h * c->block,
    };
}

static void set_blocks(struct baseline *b)
{
    b->scan.blocks = 0;
    for (uint32_t i = 0; i < b->frame.components; i++)
        for (uint32_t k = 0; k < b->planes.g.plane[i].h * b->planes.g.plane[i].v; k++)
            set_block(b, i, k);
}

/* Makes the next restart interval's bits those to be decoded. */
static bool begin_interval(struct baseline *b)
{
    size_t n;
    b->to_restart = intervals_mcus(&b->intervals);
    if (!intervals_unstuff(&b->intervals, b->bits.p, &n, ENTROPY_PADDING))
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
    b->intervals = planes_intervals(&b->planes, image);
    b->to_restart = 0;
    b->skipped = 0;
    return b->intervals.mcus_left > 0;
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
    for (uint32_t n; b->skipped > 0; b->skipped -= n) {
        if (b->to_restart == 0 && b->skipped >= (n = intervals_mcus(&b->intervals))) {
            if (!intervals_pass(&b->intervals))
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

static void aim_at_nothing(struct baseline *b)
{
    for (uint32_t i = 0; i < b->scan.blocks; i++)
        b->scan.block[i].wanted = false;
}

/* Which blocks of the MCUs from column `x` on are transformed, and to where. Returns the column
 * up to which that holds. */
static uint32_t aim(struct baseline *b, uint32_t x, uint32_t y)
{
    uint32_t end = b->planes.g.across;
    for (uint32_t i = 0; i < b->scan.blocks; i++) {
        struct scan_block *block = &b->scan.block[i];
        const struct plane *c = &b->planes.g.plane[block->component];
        block->wanted = span_holds(c->needed, y) && span_holds(c->mcus, x);
        if (span_holds(c->needed, y) && x < c->mcus.end)
            end = at_most(end, x < c->mcus.from ? c->mcus.from : c->mcus.end);
        if (block->wanted)
            block->out = plane_block(&b->planes.g, block->component, y * c->v + block->down,
                                     x * c->h + block->across);
    }
    return end;
}

/* Where every MCU leads to the next, all are read. So they are where it is for reading alone. */
static bool may_skip(const struct baseline *b)
{
    if (b->frame.restart == 0 || b->planes.request->sink == NULL)
        return false;
    for (uint32_t i = 0; i < b->scan.blocks; i++)
        if (b->scan.block[i].wanted)
            return false;
    return true;
}

static bool decode_mcu_row(struct baseline *b, uint32_t y)
{
    for (uint32_t x = 0, end; x < b->planes.g.across; x = end) {
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

static bool decode_rows(struct baseline *b)
{
    const struct baseline_request *q = b->planes.request;
    for (uint32_t y = 0; y < b->planes.g.rows; y++) {
        if (stop_asked(q->stop) || !decode_mcu_row(b, y))
            return false;
        if (q->sink != NULL)
            planes_give(&b->planes, y);
    }
    return true;
}

static enum baseline_result by_mcus(struct baseline *b)
{
    if (!make_tables(b))
        return BASELINE_DECLINED;
    if (!scratch_reserve(&b->bits, b->intervals.left.n + ENTROPY_PADDING))
        return BASELINE_NO_MEMORY;
    set_blocks(b);
    return decode_rows(b) ? BASELINE_DONE : BASELINE_DECLINED;
}

static enum baseline_result by_tiles(struct baseline *b)
{
    if (b->tiled == NULL && (b->tiled = tiled_new()) == NULL)
        return BASELINE_NO_MEMORY;
    const enum baseline_result result = tiled_decode(b->tiled, &b->frame, &b->planes, b->intervals);
    tiled_trim(b->tiled);
    return result;
}

static enum baseline_result by_scans(struct baseline *b, struct bytes image)
{
    if (b->progressive == NULL && (b->progressive = progressive_new()) == NULL)
        return BASELINE_NO_MEMORY;
    return progressive_decode(b->progressive, &b->codes, &b->frame, &b->planes, image);
}

static enum baseline_result
decode(struct baseline *b, struct bytes image, const struct baseline_request *request)
{
    if (!planes_begin(&b->planes, &b->frame, request))
        return BASELINE_NO_MEMORY;
    if (!begin_bits(b, image))
        return BASELINE_DECLINED;
    if (b->frame.has_scans)
        return by_scans(b, image);
    return tiled_suits(&b->frame, &b->planes) ? by_tiles(b) : by_mcus(b);
}

static bool has_channels(const struct frame *p, uint32_t channels)
{
    return p->components == 4 ? channels == 4 : channels == 1 || channels == 3;
}

enum baseline_result baseline_decode(struct baseline *b, struct bytes image, uint32_t width,
                                     uint32_t height, const struct baseline_request *request)
{
    struct frame *p = &b->frame;
    if (together_has(b->together, image, request)) {
        together_give(b->together, request);
        return BASELINE_DONE;
    }
    if (!frame_read(p, image) || p->width != width || p->height != height ||
        !has_channels(p, request->channels))
        return BASELINE_DECLINED;
    const enum baseline_result result = decode(b, image, request);
    scratch_trim(&b->bits);
    scratch_trim(&b->planes.samples);
    return result;
}

struct together *baseline_together(struct baseline *b)
{
    if (b != NULL && b->together == NULL)
        b->together = together_new();
    return b != NULL ? b->together : NULL;
}

uint64_t baseline_together_count(const struct baseline *b)
{
    return b == NULL ? 0 : together_count(b->together);
}
