/*
 * codec/jpeg/encode/jpeg_encoder.c - a row of MCUs after another, up to PIECE_MCUS at once: pixels
 * to samples, samples to quantized blocks, blocks to words; what becomes of words is said in
 * recode/symbol_words.h.
 *
 * Edges are as libjpeg makes them: samples beyond the image repeat its last ones, chroma after it
 * has been halved; luma blocks of an MCU that lie wholly outside have the DC of the block before
 * them and nothing else.
 */
#include "codec/jpeg/encode/jpeg_encoder.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/math.h"
#include "base/stop.h"
#include "codec/jpeg/encode/forward_kernels.h"
#include "codec/jpeg/encode/jpeg_heads.h"
#include "codec/jpeg/jpeg_scratch.h"
#include "codec/jpeg/recode/symbol_words.h"

#include <string.h>

enum {
    PIECE_MCUS = 128,
    SIDE = 8,
    BLOCK_VALUES = 64,
    COMPONENTS = 3,
};

/* A component of a piece: its samples, and its blocks, row by row. */
struct plane {
    uint8_t *samples;
    size_t stride;
    uint32_t across; /* blocks of a row that there is room for */
    int16_t *coef;
    uint64_t *occupied;
    int32_t dc; /* of the block before */
};

struct jpeg_encoder {
    const struct forward_kernels *kernels;
    struct symbol_words words;
    struct quantizer quantizer[2];
    struct scratch memory; /* of the planes */
    struct plane plane[COMPONENTS];
    uint8_t *full[2][2];     /* rows of Cb, of Cr, before they are halved */
    struct scan_block *list; /* the piece's blocks as the scan has them */
    uint32_t listed;

    const struct imrec_image *image;
    const struct stop *stop;
    uint32_t components, factor;     /* MCUs have factor x factor luma blocks */
    uint32_t mcus_across, mcus_down; /* of the image */
    uint32_t mcu_x, mcu_y;           /* of the next piece */
    bool tile;
};

enum imrec_status jpeg_encoder_new(struct jpeg_encoder **out, struct imrec_error *err)
{
    *out = imrec_zalloc(1, sizeof(**out));
    if (*out == NULL)
        return IMREC_NO_MEMORY(err, "no memory for a JPEG encoder");
    jpeg_encoder_use(*out, cpu_level());
    return IMREC_OK;
}

void jpeg_encoder_use(struct jpeg_encoder *e, enum cpu_level level)
{
    e->kernels = &forward_kernels[level];
}

void jpeg_encoder_drop(struct jpeg_encoder *e)
{
    if (e == NULL)
        return;
    words_drop(&e->words);
    scratch_drop(&e->memory);
}

void jpeg_encoder_free(struct jpeg_encoder *e)
{
    jpeg_encoder_drop(e);
    imrec_free(e);
}

size_t jpeg_encoder_memory(const struct jpeg_encoder *e)
{
    return e == NULL ? 0 : sizeof(*e) + words_memory(&e->words) + e->memory.bytes;
}

/* ---- memory of the planes ------------------------------------------------------------------- */

/* Hands out pieces of `at`, or measures where that is NULL. */
struct pool {
    uint8_t *at;
    size_t used;
};

static void *take(struct pool *p, size_t bytes)
{
    uint8_t *begin = p->at != NULL ? p->at + p->used : NULL;
    p->used += align_up(bytes, SCRATCH_ALIGNMENT);
    return begin;
}

static uint32_t factor_of(uint32_t channels, bool full_chroma)
{
    return channels == 3 && !full_chroma ? 2 : 1;
}

static uint32_t blocks_of_mcu(uint32_t channels, uint32_t factor)
{
    return channels == 1 ? 1 : factor * factor + 2;
}

static void place_plane(struct pool *pool, struct plane *p, uint32_t mcus, uint32_t factor)
{
    p->across = mcus * factor + FORWARD_BLOCKS;
    p->stride = (size_t)mcus * factor * SIDE + FORWARD_SLACK;
    p->samples = take(pool, p->stride * factor * SIDE + FORWARD_SLACK);
    p->coef = take(pool, (size_t)p->across * factor * BLOCK_VALUES * sizeof(*p->coef));
    p->occupied = take(pool, (size_t)p->across * factor * sizeof(*p->occupied));
}

/* Planes of that number of MCUs at `memory`, or nowhere; returns their bytes. */
static size_t
place(struct jpeg_encoder *e, uint32_t components, uint32_t factor, uint32_t mcus, uint8_t *memory)
{
    struct pool pool = {memory, 0};
    for (uint32_t c = 0; c < components; c++)
        place_plane(&pool, &e->plane[c], mcus, c == 0 ? factor : 1);
    for (int c = 0; c < 2; c++)
        for (int row = 0; row < 2; row++)
            e->full[c][row] = take(&pool, (size_t)mcus * factor * SIDE + FORWARD_SLACK);
    e->list = take(&pool, sizeof(*e->list) * mcus * blocks_of_mcu(components, factor));
    return pool.used;
}

static uint64_t words_of(uint64_t blocks)
{
    return blocks * BLOCK_WORDS + FORWARD_WORDS;
}

uint64_t jpeg_encoder_claim(uint32_t width, uint32_t height, uint32_t channels, bool full_chroma)
{
    struct jpeg_encoder e;
    const uint32_t factor = factor_of(channels, full_chroma), side = factor * SIDE;
    const uint64_t across = ceil_div(width, side), down = ceil_div(height, side);
    const uint32_t piece = (uint32_t)min_u64(across, PIECE_MCUS);
    const uint64_t words = words_of(blocks_of_mcu(channels, factor) * (across * down + piece));
    return sizeof(e) + place(&e, channels, factor, piece, NULL) + SCRATCH_ALIGNMENT +
           words_claim(words);
}

/* ---- pixels to samples ---------------------------------------------------------------------- */

/* The part of a row of MCUs that is made at once. */
struct piece {
    uint32_t mcus, x, y, pixels; /* its first pixel, and those of a row */
};

static struct piece next_piece(const struct jpeg_encoder *e)
{
    const uint32_t side = e->factor * SIDE, mcus = e->mcus_across - e->mcu_x;
    struct piece p = {
        .mcus = mcus < PIECE_MCUS ? mcus : PIECE_MCUS, .x = e->mcu_x * side, .y = e->mcu_y * side};
    p.pixels = (uint32_t)min_u64((uint64_t)p.mcus * side, e->image->width - p.x);
    return p;
}

/* The last of n samples once more, to the end of the piece. */
static void extend(uint8_t *row, uint32_t n, uint32_t to)
{
    memset(row + n, row[n - 1], to - n);
}

/* Row y of the image, which is there. */
static void convert(const struct jpeg_encoder *e, const struct piece *p, uint32_t y, uint8_t *luma,
                    uint8_t *cb, uint8_t *cr)
{
    const uint32_t to = p->mcus * e->factor * SIDE;
    const uint8_t *pixels =
        e->image->pixels + (size_t)y * e->image->stride + (size_t)p->x * e->components;
    if (e->components == 1)
        memcpy(luma, pixels, p->pixels);
    else
        e->kernels->colour(pixels, p->pixels, luma, cb, cr);
    extend(luma, p->pixels, to);
    if (e->components == 1)
        return;
    extend(cb, p->pixels, to);
    extend(cr, p->pixels, to);
}

static uint8_t *row_of(const struct plane *p, uint32_t row)
{
    return p->samples + row * p->stride;
}

/* A row of samples as the one before it. */
static void repeat(const struct plane *p, uint32_t row)
{
    memcpy(row_of(p, row), row_of(p, row - 1), p->stride);
}

static void fill_rows(struct jpeg_encoder *e, const struct piece *p)
{
    struct plane *q = e->plane;
    for (uint32_t row = 0; row < SIDE; row++) {
        if (p->y + row < e->image->height)
            convert(e, p, p->y + row, row_of(&q[0], row),
                    e->components > 1 ? row_of(&q[1], row) : NULL,
                    e->components > 1 ? row_of(&q[2], row) : NULL);
        else
            for (uint32_t c = 0; c < e->components; c++)
                repeat(&q[c], row);
    }
}

/* Two rows of luma, and one of chroma. */
static void fill_two(struct jpeg_encoder *e, const struct piece *p, uint32_t row)
{
    const uint32_t y = p->y + 2 * row, height = e->image->height;
    struct plane *q = e->plane;
    if (y >= height) {
        repeat(&q[0], 2 * row);
        repeat(&q[0], 2 * row + 1);
        repeat(&q[1], row);
        repeat(&q[2], row);
        return;
    }
    const int below = y + 1 < height; /* else it is the same row */
    convert(e, p, y, row_of(&q[0], 2 * row), e->full[0][0], e->full[1][0]);
    if (below)
        convert(e, p, y + 1, row_of(&q[0], 2 * row + 1), e->full[0][1], e->full[1][1]);
    else
        repeat(&q[0], 2 * row + 1);
    for (uint32_t c = 0; c < 2; c++)
        e->kernels->halve(e->full[c][0], e->full[c][below], p->mcus * SIDE, row_of(&q[1 + c], row));
}

/* ---- samples to blocks, blocks to words ----------------------------------------------------- */

static void transform(struct jpeg_encoder *e, const struct piece *p)
{
    for (uint32_t c = 0; c < e->components; c++) {
        struct plane *q = &e->plane[c];
        const uint32_t factor = c == 0 ? e->factor : 1;
        for (uint32_t row = 0; row < factor; row++) {
            const struct forward_blocks b = {.samples = row_of(q, row * SIDE),
                                             .stride = q->stride,
                                             .n = p->mcus * factor,
                                             .coef =
                                                 q->coef + (size_t)row * q->across * BLOCK_VALUES,
                                             .occupied = q->occupied + (size_t)row * q->across};
            e->kernels->blocks(&b, &e->quantizer[c > 0]);
        }
    }
}

/* A block of the scan; luma may be outside of the image. */
static void list_block(struct jpeg_encoder *e, uint32_t component, size_t at, bool is_inside)
{
    static const int16_t nothing[BLOCK_VALUES];
    struct plane *p = &e->plane[component];
    const int16_t *coef = is_inside ? p->coef + at * BLOCK_VALUES : nothing;
    const int32_t before = p->dc;
    if (is_inside)
        p->dc = coef[0];
    e->list[e->listed++] = (struct scan_block){.coef = coef,
                                               .occupied = is_inside ? p->occupied[at] : 0,
                                               .difference = (int16_t)(p->dc - before),
                                               .dc = component > 0 ? 2 : 0,
                                               .ac = component > 0 ? 3 : 1};
}

/* MCU m of the piece. */
static void list_mcu(struct jpeg_encoder *e, uint32_t m)
{
    const uint32_t x = (e->mcu_x + m) * e->factor, y = e->mcu_y * e->factor; /* in blocks */
    for (uint32_t c = 0; c < e->components; c++) {
        const uint32_t factor = c == 0 ? e->factor : 1;
        for (uint32_t row = 0; row < factor; row++)
            for (uint32_t i = 0; i < factor; i++)
                list_block(e, c, (size_t)row * e->plane[c].across + m * factor + i,
                           c > 0 || ((y + row) * SIDE < e->image->height &&
                                     (x + i) * SIDE < e->image->width));
    }
}

/* ---- the image ------------------------------------------------------------------------------ */

static void begin_interval(struct jpeg_encoder *e)
{
    for (uint32_t c = 0; c < COMPONENTS; c++)
        e->plane[c].dc = 0;
}

static enum imrec_status begin_words(void *context, struct imrec_error *err)
{
    struct jpeg_encoder *e = context;
    (void)err;
    e->mcu_x = e->mcu_y = 0;
    begin_interval(e);
    return IMREC_OK;
}

static enum imrec_status
next_words(void *context, struct symbol_words *w, enum words_next *next, struct imrec_error *err)
{
    struct jpeg_encoder *e = context;
    const struct piece p = next_piece(e);
    IMREC_TRY(stop_check(e->stop, err));
    if (!words_reserve(w, words_of(p.mcus * blocks_of_mcu(e->components, e->factor))))
        return IMREC_NO_MEMORY(err, "no memory to encode a JPEG");
    if (e->factor == 1)
        fill_rows(e, &p);
    else
        for (uint32_t row = 0; row < SIDE; row++)
            fill_two(e, &p, row);
    transform(e, &p);
    e->listed = 0;
    for (uint32_t m = 0; m < p.mcus; m++)
        list_mcu(e, m);
    words_append(w, e->kernels->words(e->list, e->listed, w->word + w->words));
    e->mcu_x += p.mcus;
    const bool row_ends = e->mcu_x == e->mcus_across;
    if (row_ends) {
        e->mcu_x = 0;
        e->mcu_y++;
    }
    *next = row_ends && (e->tile || e->mcu_y == e->mcus_down) ? WORDS_INTERVAL : WORDS_MORE;
    if (*next == WORDS_INTERVAL)
        begin_interval(e);
    return IMREC_OK;
}

static enum imrec_status begin_image(struct jpeg_encoder *e, const struct imrec_image *image,
                                     const struct jpeg_encoding *how, struct imrec_error *err)
{
    e->image = image;
    e->components = image->channels;
    e->factor = factor_of(image->channels, how->full_chroma);
    e->tile = how->tile;
    e->mcus_across = (uint32_t)ceil_div(image->width, e->factor * SIDE);
    e->mcus_down = (uint32_t)ceil_div(image->height, e->factor * SIDE);
    for (uint32_t table = 0; table < 2; table++) {
        uint8_t steps[BLOCK_VALUES];
        jpeg_steps(table, how->quality, steps);
        quantizer_make(&e->quantizer[table], steps);
    }
    const uint32_t piece = (uint32_t)min_u64(e->mcus_across, PIECE_MCUS);
    const size_t bytes = place(e, e->components, e->factor, piece, NULL);
    if (!scratch_reserve(&e->memory, bytes + SCRATCH_ALIGNMENT))
        return IMREC_NO_MEMORY(err, "no memory to encode a JPEG");
    (void)place(e, e->components, e->factor, piece, scratch_aligned(&e->memory));
    return IMREC_OK;
}

enum imrec_status jpeg_encode(struct jpeg_encoder *e, const struct imrec_image *image,
                              const struct jpeg_encoding *how, const struct stop *stop,
                              struct buf *out, struct imrec_error *err)
{
    const bool colour = image->channels == 3;
    struct jpeg_heads heads;
    bool done;
    e->stop = stop;
    IMREC_TRY(begin_image(e, image, how, err));
    jpeg_heads_make(&heads, image, how, how->tile ? e->mcus_across : 0);
    const struct word_file file = {.head = {heads.head, heads.head_bytes},
                                   .scan_head = {heads.scan_head, heads.scan_head_bytes},
                                   .has = {true, true, colour, colour},
                                   .shared = how->shared,
                                   .shared_most = how->shared_most};
    const uint32_t pieces = (uint32_t)ceil_div(e->mcus_across, PIECE_MCUS);
    const struct word_source from = {.context = e,
                                     .stop = stop,
                                     .pieces = (uint64_t)pieces * e->mcus_down,
                                     .begin = begin_words,
                                     .next = next_words};
    return words_write(&e->words, &from, &file, out, &done, err);
}
