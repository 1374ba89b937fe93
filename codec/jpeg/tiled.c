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
#include "codec/jpeg/lane_blocks.h"

#include <string.h>

enum {
    BLOCK_SIZE = BLOCK * BLOCK,
    BAND_BYTES = 1 << 20, /* of coefficients */
    MOST_PIECES = 256,    /* of a band */
    FEWEST_PIECES = 10,   /* below it one after the other is faster */
};

/* An interval that something is wanted of. */
struct tile {
    struct strip strip; /* to be decoded */
    bool is_whole;
};

struct tiled {
    const struct lane_kernels *kernels;
    struct lane_tables tables;
    struct scratch memory, bits;
    int16_t *coefficients; /* in `memory`, aligned; zeros between bands; NULL: no memory yet */
    struct tile tile[MOST_PIECES];
    struct lane_piece piece[MOST_PIECES];
    uint32_t tiles, begun; /* of this band */
    size_t used;           /* coefficients of it */
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

/* Coefficients of a row's tiles, maximum. */
static size_t row_room(const struct frame *f, const struct jpeg_planes *p)
{
    const size_t tiles = p->g.across / f->restart;
    return (size_t)p->g.across * mcu_blocks(f) * BLOCK_SIZE + tiles * LANE_SLACK;
}

bool tiled_suits(const struct frame *f, const struct jpeg_planes *p)
{
    if (kernels() == NULL || p->request->sink == NULL || f->restart == 0 ||
        p->g.across % f->restart != 0 || p->g.across / f->restart > MOST_PIECES ||
        (uint64_t)f->restart * mcu_blocks(f) > LANE_MOST_BLOCKS || !lanes_suit(f))
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
    t->tile[t->tiles] = (struct tile){{y, x, mcus}, mcus == j->f->restart};
    t->piece[t->tiles++] = (struct lane_piece){
        .bits = *bits,
        .bytes = (uint32_t)bytes,
        .blocks = mcus * j->blocks,
        .mcu = lane_mcu_of(j->f),
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
    return !piece->bad && (!tile->is_whole || (uint64_t)piece->bytes * 8 - piece->taken < 8);
}

static struct lane_piece *next_piece(void *context, struct lane_piece *done)
{
    struct tiled *t = context;
    (void)done;
    return t->begun < t->tiles ? &t->piece[t->begun++] : NULL;
}

/* Rows of MCUs from *y on, as many as there is room for. */
static bool decode_band(struct job *j, uint32_t *y)
{
    struct tiled *t = j->t;
    uint8_t *bits = t->bits.p;
    const struct lane_source source = {next_piece, t};
    t->tiles = t->begun = 0;
    t->used = 0;
    for (; *y < j->p->g.rows && has_room(j); (*y)++)
        if (!add_row(j, *y, &bits))
            return false;
    t->kernels->decode(&t->tables, &source);
    for (uint32_t i = 0; i < t->tiles; i++)
        if (!is_taken(&t->tile[i], &t->piece[i]))
            return false;
    return true;
}

/* ---- and to samples ------------------------------------------------------------------------- */

static bool transform_tile(const struct job *j, uint32_t i, const struct block_target *target)
{
    int32_t dc[MOST_COMPONENTS] = {0};
    return lane_blocks_transform(j->f, j->p, target, &j->t->tile[i].strip, dc, j->t->piece[i].out);
}

/* Samples of the rows of a band, and pixels of them. */
static bool give_band(const struct job *j, uint32_t y, uint32_t end)
{
    struct block_target target[LANE_MCU];
    for (uint32_t i = 0; y < end; y++) {
        lane_blocks_aim(j->f, j->p, y, target);
        for (; i < j->t->tiles && j->t->tile[i].strip.row == y; i++)
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
    struct job j = {.t = t, .f = f, .p = p, .v = v, .blocks = mcu_blocks(f)};
    if (!lanes_make_tables(&t->tables, f))
        return BASELINE_DECLINED;
    if (!reserve(&j))
        return BASELINE_NO_MEMORY;
    return decode_bands(&j) ? BASELINE_DONE : BASELINE_DECLINED;
}
