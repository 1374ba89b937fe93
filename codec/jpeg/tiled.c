/*
 * codec/jpeg/tiled.c - images with restart markers in every row of MCUs.
 *
 * A band of MCU rows is decoded to coefficients first, each interval as far as somebody wants its
 * MCUs; then, row by row, blocks become samples and samples become pixels. A band is as large as
 * the second cache allows, and larger than the lanes are many, so that one that is done takes the
 * next interval.
 */
#include "codec/jpeg/tiled.h"

#include "base/alloc.h"
#include "codec/jpeg/lanes.h"

#include <string.h>

enum {
    BLOCK_SIZE = BLOCK * BLOCK,
    BAND_BYTES = 1 << 20, /* of coefficients */
    MOST_PIECES = 256,    /* of a band */
    FEWEST_PIECES = 10,   /* below it one after the other is faster */
};

/* An interval that something is wanted of. */
struct tile {
    uint32_t row, first, mcus; /* MCU row, column; those to be decoded */
    bool is_whole;
};

struct tiled {
    const struct lane_kernels *kernels;
    struct lane_tables tables;
    struct scratch memory, bits;
    int16_t *coefficients; /* in `memory`, aligned; zeros between bands; NULL: no memory yet */
    struct tile tile[MOST_PIECES];
    struct lane_piece piece[MOST_PIECES];
    uint32_t tiles;
    size_t used; /* coefficients of this band */
};

/* One decode. */
struct job {
    struct tiled *t;
    const struct frame *f;
    struct jpeg_planes *p;
    struct intervals v;
    uint32_t skipped; /* intervals that come next and nobody wants */
    uint32_t blocks;  /* of an MCU */
};

static bool g_always; /* tiled_use_always() */

/* ---- life ------------------------------------------------------------------------------- */

void tiled_use_always(bool yes)
{
    g_always = yes;
}

/* NULL: none that are faster. */
static const struct lane_kernels *kernels(void)
{
    const struct lane_kernels *k = &lane_kernels[cpu_level()];
    return k->is_faster || g_always ? k : NULL;
}

struct tiled *tiled_new(void)
{
    struct tiled *t = imrec_zalloc(1, sizeof(*t));
    if (t != NULL)
        t->kernels = kernels();
    return t;
}

void tiled_drop(struct tiled *t)
{
    if (t == NULL)
        return;
    scratch_drop(&t->memory);
    scratch_drop(&t->bits);
    t->coefficients = NULL;
}

void tiled_free(struct tiled *t)
{
    tiled_drop(t);
    imrec_free(t);
}

void tiled_trim(struct tiled *t)
{
    if (t != NULL)
        scratch_trim(&t->bits);
}

size_t tiled_memory(const struct tiled *t)
{
    return t == NULL ? 0 : sizeof(*t) + t->memory.bytes + t->bits.bytes;
}

uint64_t tiled_claim(size_t bytes)
{
    return sizeof(struct tiled) + BAND_BYTES + SCRATCH_ALIGNMENT + bytes +
           MOST_PIECES * LANE_PADDING;
}

/* ---- what is wanted ------------------------------------------------------------------------- */

static uint32_t blocks_of_mcu(const struct frame *f)
{
    return f->components == 1 ? 1 : f->h * f->v + 2;
}

/* Columns of MCUs of row `y` that something is wanted of. */
static struct span wanted_columns(const struct frame *f, const struct jpeg_planes *p, uint32_t y)
{
    struct span s = {p->g.across, 0};
    for (uint32_t i = 0; i < f->components; i++) {
        const struct plane *c = &p->g.plane[i];
        if (!span_holds(c->needed, y) || c->mcus.from >= c->mcus.end)
            continue;
        s.from = at_most(c->mcus.from, s.from);
        s.end = c->mcus.end > s.end ? c->mcus.end : s.end;
    }
    return s;
}

/* Intervals of a row that something is wanted of. */
static struct span wanted_intervals(const struct frame *f, struct span columns)
{
    if (columns.from >= columns.end)
        return (struct span){0, 0};
    return (struct span){columns.from / f->restart, divide_up(columns.end, f->restart)};
}

/* Coefficients of a row's tiles, maximum. */
static size_t row_room(const struct frame *f, const struct jpeg_planes *p)
{
    const size_t tiles = p->g.across / f->restart;
    return (size_t)p->g.across * blocks_of_mcu(f) * BLOCK_SIZE + tiles * LANE_SLACK;
}

/* Of blocks: luma, and one of each chroma, with the same tables; as many as the lanes know. */
static bool has_two_kinds(const struct frame *f)
{
    if (f->components != 3)
        return f->components == 1;
    return blocks_of_mcu(f) <= LANE_MCU && f->dc_of[1] == f->dc_of[2] &&
           f->ac_of[1] == f->ac_of[2] && f->across[0] == f->h && f->down[0] == f->v &&
           f->across[1] * f->down[1] * f->across[2] * f->down[2] == 1;
}

bool tiled_suits(const struct frame *f, const struct jpeg_planes *p)
{
    if (kernels() == NULL || p->request->sink == NULL || f->restart == 0 ||
        p->g.across % f->restart != 0 || p->g.across / f->restart > MOST_PIECES ||
        (uint64_t)f->restart * blocks_of_mcu(f) > LANE_MOST_BLOCKS || !has_two_kinds(f))
        return false;
    const uint64_t in_band = BAND_BYTES / sizeof(int16_t) / row_room(f, p);
    uint64_t tiles = 0;
    for (uint32_t y = 0, rows = 0; y < p->g.rows && rows < in_band; y++) {
        const struct span s = wanted_intervals(f, wanted_columns(f, p, y));
        tiles += s.end - s.from;
        rows += s.end > s.from;
    }
    return tiles >= FEWEST_PIECES || (g_always && tiles > 0);
}

/* ---- a band to coefficients ----------------------------------------------------------------- */

static bool make_tables(const struct job *j)
{
    const struct frame *f = j->f;
    struct lane_tables *t = &j->t->tables;
    const uint32_t kinds = f->components == 1 ? 1 : 2;
    for (uint32_t i = 0; i < kinds; i++)
        if (!lane_tables_make(t, i, &f->ac[f->ac_of[i]], &f->dc[f->dc_of[i]]))
            return false;
    t->blocks = j->blocks;
    for (uint32_t i = 0; i < j->blocks; i++)
        t->kind[i] = f->components == 3 && i >= f->h * f->v;
    return true;
}

static bool pass_skipped(struct job *j)
{
    for (; j->skipped > 0; j->skipped--)
        if (!intervals_pass(&j->v))
            return false;
    return true;
}

/* Adds the next interval, of row `y` and from column `x` on, of which `mcus` are wanted. */
static bool add_tile(struct job *j, uint32_t y, uint32_t x, uint32_t mcus, uint8_t **bits)
{
    struct tiled *t = j->t;
    size_t bytes;
    if (!pass_skipped(j) || !intervals_unstuff(&j->v, *bits, &bytes, LANE_PADDING) ||
        bytes > LANE_MOST_BYTES)
        return false;
    t->tile[t->tiles] = (struct tile){y, x, mcus, mcus == j->f->restart};
    t->piece[t->tiles++] = (struct lane_piece){
        .bits = *bits,
        .bytes = (uint32_t)bytes,
        .blocks = mcus * j->blocks,
        .out = t->coefficients + t->used,
    };
    t->used += (size_t)mcus * j->blocks * BLOCK_SIZE + LANE_SLACK;
    *bits += bytes + LANE_PADDING;
    return true;
}

static bool add_row(struct job *j, uint32_t y, uint8_t **bits)
{
    const uint32_t restart = j->f->restart, all = j->p->g.across / restart;
    const struct span columns = wanted_columns(j->f, j->p, y);
    const struct span s = wanted_intervals(j->f, columns);
    j->skipped += s.from;
    for (uint32_t i = s.from; i < s.end; i++) {
        const uint32_t x = i * restart;
        if (!add_tile(j, y, x, at_most(columns.end - x, restart), bits))
            return false;
    }
    j->skipped += all - s.end;
    return true;
}

static bool has_room(const struct job *j)
{
    const size_t row = row_room(j->f, j->p), tiles = j->p->g.across / j->f->restart;
    return (j->t->used + row) * sizeof(int16_t) <= BAND_BYTES && j->t->tiles + tiles <= MOST_PIECES;
}

/* Whole bytes that nobody took are what libjpeg warns of, where it reads them. */
static bool is_taken(const struct tile *tile, const struct lane_piece *piece)
{
    return !tile->is_whole || (uint64_t)piece->bytes * 8 - piece->taken < 8;
}

/* Rows of MCUs from *y on, as many as there is room for. */
static bool decode_band(struct job *j, uint32_t *y)
{
    struct tiled *t = j->t;
    uint8_t *bits = t->bits.p;
    t->tiles = 0;
    t->used = 0;
    for (; *y < j->p->g.rows && has_room(j); (*y)++)
        if (!add_row(j, *y, &bits))
            return false;
    if (!t->kernels->decode(&t->tables, t->piece, t->tiles))
        return false;
    for (uint32_t i = 0; i < t->tiles; i++)
        if (!is_taken(&t->tile[i], &t->piece[i]))
            return false;
    return true;
}

/* ---- coefficients to samples ---------------------------------------------------------------- */

/* One block of an MCU. */
struct target {
    const uint16_t *quant;
    uint32_t component;
    struct span mcus; /* that are wanted of the row */
    uint8_t *out;     /* of column 0, which may not be there */
    size_t stride, step;
};

static void aim(const struct job *j, uint32_t y, struct target *target)
{
    const struct frame *f = j->f;
    const struct geometry *g = &j->p->g;
    const uint32_t luma = j->blocks == 1 ? 1 : j->blocks - 2;
    for (uint32_t i = 0; i < j->blocks; i++) {
        const uint32_t c = i < luma ? 0 : i - luma + 1;
        const struct plane *plane = &g->plane[c];
        const uint32_t across = c == 0 ? i % plane->h : 0, down = c == 0 ? i / plane->h : 0;
        const bool wanted = span_holds(plane->needed, y) && plane->mcus.from < plane->mcus.end;
        target[i] = (struct target){.quant = f->quant[f->quant_of[c]],
                                    .component = c,
                                    .stride = plane->stride,
                                    .step = (size_t)plane->h * plane->block};
        if (!wanted)
            continue;
        target[i].mcus = plane->mcus;
        target[i].out =
            plane_block(g, c, y * plane->v + down, plane->mcus.from * plane->h + across);
    }
}

/* DC of blocks [from, end) of the MCUs, which are those of one component, out of its differences.
 */
static bool add_up(const struct job *j, uint32_t mcus, uint32_t from, uint32_t end, int16_t *zigzag)
{
    int32_t dc = 0;
    for (uint32_t x = 0; x < mcus; x++, zigzag += (size_t)j->blocks * BLOCK_SIZE)
        for (uint32_t b = from; b < end; b++) {
            int16_t *difference = zigzag + (size_t)b * BLOCK_SIZE;
            dc += *difference;
            if (dc != (int16_t)dc)
                return false;
            *difference = (int16_t)dc;
        }
    return true;
}

static bool add_up_all(const struct job *j, uint32_t mcus, int16_t *zigzag)
{
    const uint32_t luma = j->blocks == 1 ? 1 : j->blocks - 2;
    if (!add_up(j, mcus, 0, luma, zigzag))
        return false;
    for (uint32_t b = luma; b < j->blocks; b++)
        if (!add_up(j, mcus, b, b + 1, zigzag))
            return false;
    return true;
}

static void clear_blocks(int16_t *coef, size_t apart, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++, coef += apart)
        memset(coef, 0, BLOCK_SIZE * sizeof(*coef));
}

/* The blocks of one place of the tile's MCUs; their coefficients are zeros afterwards. */
static void transform(const struct job *j, const struct tile *tile, const struct target *target,
                      int16_t *zigzag)
{
    const size_t apart = (size_t)j->blocks * BLOCK_SIZE;
    const uint32_t end = tile->first + tile->mcus;
    const uint32_t from = target->mcus.from > tile->first ? target->mcus.from : tile->first;
    const uint32_t to = at_most(target->mcus.end, end);
    if (from >= to) {
        clear_blocks(zigzag, apart, tile->mcus);
        return;
    }
    clear_blocks(zigzag, apart, from - tile->first);
    clear_blocks(zigzag + (to - tile->first) * apart, apart, end - to);
    const struct block_run r = {.coef = zigzag + (from - tile->first) * apart,
                                .apart = apart,
                                .n = to - from,
                                .quant = target->quant,
                                .out = target->out + (from - target->mcus.from) * target->step,
                                .stride = target->stride,
                                .step = target->step};
    planes_transform(j->p, target->component, &r);
}

static bool transform_tile(const struct job *j, uint32_t i, const struct target *target)
{
    const struct tile *tile = &j->t->tile[i];
    int16_t *zigzag = j->t->piece[i].out;
    if (!add_up_all(j, tile->mcus, zigzag))
        return false;
    for (uint32_t b = 0; b < j->blocks; b++)
        transform(j, tile, &target[b], zigzag + b * BLOCK_SIZE);
    return true;
}

/* Samples of the rows of a band, and pixels of them. */
static bool give_band(const struct job *j, uint32_t y, uint32_t end)
{
    struct target target[LANE_MCU];
    for (uint32_t i = 0; y < end; y++) {
        aim(j, y, target);
        for (; i < j->t->tiles && j->t->tile[i].row == y; i++)
            if (!transform_tile(j, i, target))
                return false;
        planes_give(j->p, y);
    }
    return true;
}

/* ---- all ---------------------------------------------------------------------------------- */

static bool decode_bands(struct job *j)
{
    for (uint32_t y = 0; y < j->p->g.rows;) {
        const uint32_t first = y;
        if (stop_asked(j->p->request->stop) || !decode_band(j, &y) || !give_band(j, first, y)) {
            memset(j->t->coefficients, 0, BAND_BYTES);
            return false;
        }
    }
    return true;
}

/* The coefficients of a band, of zeros. */
static bool reserve(struct job *j)
{
    struct tiled *t = j->t;
    if (t->coefficients == NULL) {
        if (!scratch_reserve(&t->memory, BAND_BYTES + SCRATCH_ALIGNMENT))
            return false;
        t->coefficients = scratch_aligned(&t->memory);
        memset(t->coefficients, 0, BAND_BYTES);
    }
    return scratch_reserve(&t->bits, j->v.left.n + MOST_PIECES * LANE_PADDING);
}

enum baseline_result
tiled_decode(struct tiled *t, const struct frame *f, struct jpeg_planes *p, struct intervals v)
{
    struct job j = {.t = t, .f = f, .p = p, .v = v, .blocks = blocks_of_mcu(f)};
    if (!make_tables(&j))
        return BASELINE_DECLINED;
    if (!reserve(&j))
        return BASELINE_NO_MEMORY;
    return decode_bands(&j) ? BASELINE_DONE : BASELINE_DECLINED;
}
